// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adding and deleting a device, over netlink and so by this very thread, with
 * allocations and copies failing one by one: each of the driver and of what it calls,
 * and a sample of the thousands of ib_core and sysfs. What could not be added is not
 * there. What was added, or could not be deleted, works: it is active, can be opened,
 * and a message gets through it.
 *
 * But for what ib_core keeps to itself: an address for which it could not allocate an
 * entry has no GID, so any other will do; and a device that ib_uverbs could not take, no
 * process can open, so those are counted.
 *
 * The device is on netdev "spare" of this namespace. Those of the options are not
 * looked at.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "fail_walk.h"
#include "t.h"
#include "t_link.h"

#define NAME		"rxo_spare"
#define NETDEV		"spare"

/*
 * Of some 4500 and 100 allocations every so many-th fails. Primes, so not in step with
 * how many a file of sysfs or an event takes.
 */
#define STRIDE_ADD	97
#define STRIDE_DELETE	7

/* -------------------------------------------------------------------- netlink */

struct message {
	struct nlmsghdr hdr;
	unsigned char attrs[256];
};

static int sock;

static void begin(struct message *m, unsigned int command)
{
	memset(m, 0, sizeof(*m));
	m->hdr.nlmsg_len = NLMSG_HDRLEN;
	m->hdr.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	m->hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
}

static void add(struct message *m, unsigned short type, const void *data,
		unsigned short len)
{
	struct nlattr attr = { .nla_len = NLA_HDRLEN + len, .nla_type = type };
	unsigned char *at = (unsigned char *)m + m->hdr.nlmsg_len;

	memcpy(at, &attr, sizeof(attr));
	memcpy(at + NLA_HDRLEN, data, len);
	m->hdr.nlmsg_len += NLA_ALIGN(attr.nla_len);
}

/*
 * The kernel acts in send(). It may not be able to allocate the answer: then there is
 * none, and the socket may have an error instead.
 */
static int ask(struct message *m)
{
	struct {
		struct nlmsghdr hdr;
		struct nlmsgerr err;
		unsigned char rest[512];
	} answer;
	ssize_t n;

	if (send(sock, m, m->hdr.nlmsg_len, 0) < 0)
		return errno;
	n = recv(sock, &answer, sizeof(answer), MSG_DONTWAIT);
	if (n < 0)
		return errno;
	if (n < (ssize_t)sizeof(answer.hdr) + 4 ||
	    answer.hdr.nlmsg_type != NLMSG_ERROR)
		return EPROTO;
	return -answer.err.error;
}

/* An answer, or an error, that came too late for its request. */
static void forget_answers(void)
{
	char buf[512];

	while (recv(sock, buf, sizeof(buf), MSG_DONTWAIT) >= 0 ||
	       errno != EAGAIN)
		;
}

/* --------------------------------------------------------------------- device */

static unsigned int without_uverbs;

static bool there(void)
{
	return !access("/sys/class/infiniband/" NAME, F_OK);
}

/* What libibverbs knows it by, or -1: it does not. */
static int find_index(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i, index = -1;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), NAME))
			index = ibv_get_device_index(list[i]);
	ibv_free_device_list(list);
	return index;
}

/* A message from the device to itself. */
static void use(void)
{
	char err[PAIR_ERR_LEN];
	struct pair_port port;
	struct t_link l;

	if (pair_open(&port, NAME, PAIR_GID_AUTO, err)) {
		t_true(false, "a device that can be opened: %s", err);
		return;
	}
	t_port[0] = t_port[1] = port;
	t_link_open(&l, NULL);
	t_deliver(&l, 1, 0);
	if (t_drop_all(l.b.rcq) != 1)
		t_true(false, "a message that arrives");
	t_link_close(&l);
	pair_close(&port);
}

/* ---------------------------------------------------------------------- steps */

static int add_link(void)
{
	struct message m;

	begin(&m, RDMA_NLDEV_CMD_NEWLINK);
	add(&m, RDMA_NLDEV_ATTR_DEV_NAME, NAME, sizeof(NAME));
	add(&m, RDMA_NLDEV_ATTR_LINK_TYPE, "rxe_ordered", sizeof("rxe_ordered"));
	add(&m, RDMA_NLDEV_ATTR_NDEV_NAME, NETDEV, sizeof(NETDEV));
	return ask(&m);
}

static uint32_t index_of_link;

static int delete_link(void)
{
	struct message m;

	begin(&m, RDMA_NLDEV_CMD_DELLINK);
	add(&m, RDMA_NLDEV_ATTR_DEV_INDEX, &index_of_link,
	    sizeof(index_of_link));
	return ask(&m);
}

static void use_added(void)
{
	int index = find_index();

	if (!there()) {
		t_true(false, "a device that was added");
	} else if (index < 0) {
		without_uverbs++;
		if (system("rdma link delete " NAME))
			t_fatal("a device that cannot be deleted");
	} else {
		use();
		index_of_link = index;
		if (delete_link() || there())
			t_true(false, "a device that can be deleted");
	}
}

/* The device is there if all that failed is the answer. */
static void undo_add(void)
{
	forget_answers();
	if (there())
		use_added();
}

static void begin_delete(void)
{
	int err = add_link();
	int index = find_index();

	if (err)
		t_fatal("cannot add a device: %s", strerror(err));
	if (index < 0)
		t_fatal("a device that libibverbs does not find");
	index_of_link = index;
}

static void use_deleted(void)
{
	if (there())
		t_true(false, "a device that is gone");
	else
		begin_delete();
}

static void undo_delete(void)
{
	forget_answers();
	if (there())
		use();
	else
		begin_delete();
}

static const struct fail_step adding_near = {
	"add a device, near the driver", add_link, use_added, undo_add,
}, adding = {
	"add a device", add_link, use_added, undo_add,
}, deleting = {
	"delete a device", delete_link, use_deleted, undo_delete,
};

int main(int argc, char **argv)
{
	t_args(argc, argv, "Devices, with allocations that fail one by one.");
	fail_prepare();
	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	if (sock < 0)
		t_fatal("netlink: %s", strerror(errno));

	/* This also loads the driver, whose functions are looked up then. */
	begin_delete();
	use();
	t_is(delete_link(), 0, "a device comes and goes when nothing fails");

	fail_near("rxe_ordered");
	fail_walk(&adding_near, 1, 1);
	fail_near(NULL);
	fail_walk(&adding, 1, STRIDE_ADD);
	t_note("devices without uverbs: %u", without_uverbs);
	begin_delete();
	fail_walk(&deleting, 1, STRIDE_DELETE);
	use();
	t_is(delete_link(), 0, "the last device can be deleted");

	close(sock);
	return t_done();
}
