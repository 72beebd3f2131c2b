// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* By the programs ip and rdma, as a user would. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ladder_net.h"
#include "rxo.h"

#define NS_A	"rxo-ladder-a"
#define NS_B	"rxo-ladder-b"
#define NET_A	"rxo-lad-a"
#define NET_B	"rxo-lad-b"
#define MAX_ARGS 24

/* Run "WORD WORD ..."; @quiet: it may fail, and says nothing. */
static int run(const char *line, bool quiet)
{
	char copy[256], *argv[MAX_ARGS], *rest = copy;
	int n = 0, status, null;
	pid_t pid;

	snprintf(copy, sizeof(copy), "%s", line);
	while (n < MAX_ARGS - 1 && (argv[n] = strsep(&rest, " ")))
		n++;
	argv[n] = NULL;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		null = quiet ? open("/dev/null", O_WRONLY) : -1;
		if (null >= 0) {
			dup2(null, STDOUT_FILENO);
			dup2(null, STDERR_FILENO);
		}
		execvp(argv[0], argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	if (pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (!quiet)
		rxo_error("failed: %s", line);
	return -1;
}

static int run_all(const char *const *lines)
{
	for (; *lines; lines++)
		if (run(*lines, false))
			return -1;
	return 0;
}

void ladder_net_down(void)
{
	run("rdma link delete " LADDER_DEV_A, true);
	run("rdma link delete " LADDER_DEV_B, true);
	/* Either end takes the other along. */
	run("ip link delete " NET_B, true);
	run("ip -n " NS_A " link delete " NET_A, true);
	run("ip netns delete " NS_A, true);
	run("ip netns delete " NS_B, true);
}

int ladder_net_up(bool rxe)
{
	static const char *const side_a[] = {
		"ip netns add " NS_A,
		"ip -n " NS_A " link set lo up",
		NULL
	};
	static const char *const side_b[] = {
		"ip netns add " NS_B,
		"ip -n " NS_B " link set lo up",
		"ip -n " NS_B " link add " NET_B " type veth peer name " NET_A
		" netns " NS_A,
		"ip -n " NS_B " address add 198.51.100.2/24 dev " NET_B,
		"ip -n " NS_B " link set " NET_B " up",
		"ip netns exec " NS_B " rdma link add " LADDER_DEV_B
		" type rxe_ordered netdev " NET_B,
		NULL
	};
	static const char *const side_rxe[] = {
		"ip link add " NET_B " type veth peer name " NET_A
		" netns " NS_A,
		"ip address add 198.51.100.2/24 dev " NET_B,
		"ip link set " NET_B " up",
		"rdma link add " LADDER_DEV_B " type rxe netdev " NET_B,
		NULL
	};
	static const char *const end_a[] = {
		"ip -n " NS_A " address add 198.51.100.1/24 dev " NET_A,
		"ip -n " NS_A " link set " NET_A " up",
		"ip netns exec " NS_A " rdma link add " LADDER_DEV_A
		" type rxe_ordered netdev " NET_A,
		NULL
	};

	ladder_net_down();
	if (!run_all(side_a) && !run_all(rxe ? side_rxe : side_b) &&
	    !run_all(end_a))
		return 0;
	ladder_net_down();
	return -1;
}
