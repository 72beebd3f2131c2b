// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * usage: lc_tunnel tun|tap NAMESPACE-A NAME-A NAMESPACE-B NAME-B
 *
 * Two tun or tap netdevs in two namespaces, and what goes out of one comes in at
 * the other until the program ends; then both are gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "lc_tunnel: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void enter(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(path);
	close(fd);
}

static int make(const char *kind, const char *ns, const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_NO_PI };
	int fd;

	ifr.ifr_flags |= strcmp(kind, "tap") ? IFF_TUN : IFF_TAP;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	enter(ns);
	fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr))
		die(name);
	return fd;
}

/* A netdev that is down takes nothing: that packet is lost, as on any wire. */
static void copy(int from, int to)
{
	static char packet[65536 + 64];
	ssize_t n = read(from, packet, sizeof(packet));

	if (n < 0 && errno != EAGAIN)
		die("read");
	if (n > 0 && write(to, packet, n) < 0 && errno != EIO && errno != EAGAIN)
		die("write");
}

int main(int argc, char **argv)
{
	struct pollfd pfd[2];

	if (argc != 6) {
		fprintf(stderr, "usage: lc_tunnel tun|tap NS NAME NS NAME\n");
		return 2;
	}
	pfd[0].fd = make(argv[1], argv[2], argv[3]);
	pfd[1].fd = make(argv[1], argv[4], argv[5]);
	pfd[0].events = pfd[1].events = POLLIN;
	puts("ready");
	fflush(stdout);
	while (poll(pfd, 2, -1) > 0) {
		/* A netdev that has been deleted. */
		if ((pfd[0].revents | pfd[1].revents) & (POLLERR | POLLHUP))
			return 0;
		if (pfd[0].revents)
			copy(pfd[0].fd, pfd[1].fd);
		if (pfd[1].revents)
			copy(pfd[1].fd, pfd[0].fd);
	}
	return 0;
}
