// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Arms an empty CQ --completions times, 1,000 unless said otherwise, each time after a
 * completion has used up the arm before, for a case that counts the system calls of
 * this process meanwhile. The messages come from a child, so that its doorbells are
 * not counted.
 *
 * Says "ready" and begins when the file RXO_GO exists; then it deletes the file, and
 * says nothing more until it exists again. --method is the way of arming: notify, or
 * the verb by library or ioctl. Last it counts events: one for each arm, so every arm
 * was one.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"
#include "t_link.h"
#include "t_verb.h"

#define RECEIVES	64	/* posted at a time */

/* What parent (1) and child (0) tell each other, without a system call. */
struct shared {
	_Atomic uint32_t qpn[2];	/* connected when both are set */
	_Atomic bool connected[2];
	_Atomic uint32_t wanted;	/* messages that the parent asks for */
};

static struct shared *shared;
static struct t_link link_;

/* The end that this process uses; the other process has one of its own. */
static struct t_end *connect_end(int side)
{
	struct t_config config = { .unconnected = true };
	struct t_end *end = side ? &link_.b : &link_.a;
	int err;

	t_open();
	t_link_open(&link_, &config);
	shared->qpn[side] = end->qp->qp_num;
	while (!shared->qpn[!side])
		sched_yield();
	err = pair_to_init(end->qp, &link_.conn);
	if (!err)
		err = pair_to_rtr(end->qp, end->port, &t_port[!side],
				  shared->qpn[!side], &link_.conn);
	if (!err)
		err = pair_to_rts(end->qp, &link_.conn);
	if (err)
		t_fatal("cannot connect: %s", strerror(err));
	if (side)
		t_recv(end, RECEIVES);
	shared->connected[side] = true;
	while (!shared->connected[!side])
		sched_yield();
	return end;
}

/* ------------------------------------------------------------------- the child */

static void send_what_is_wanted(struct t_end *end)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;
	uint32_t sent = 0;

	for (;;) {
		if (shared->wanted == sent) {
			sched_yield();
			continue;
		}
		if (t_post_send(end, &wr) || t_wait(end->scq, &wc, 1) != 1 ||
		    wc.status != IBV_WC_SUCCESS)
			_exit(1);
		sent++;
	}
}

static pid_t start_sender(void)
{
	pid_t pid = fork();

	if (pid < 0)
		t_fatal("fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	send_what_is_wanted(connect_end(0));
	return 0;
}

/* ------------------------------------------------------------------ the parent */

/* Return: an error, as a verb of the library reports it, or 0. */
static int arm(struct ibv_cq *cq, const struct t_verb *verb)
{
	struct ibv_wc wc;

	return verb ? verb->poll_rearm(cq, 1, &wc, 0) : ibv_req_notify_cq(cq, 0);
}

/* Arms, polls and posts of receives; the one system call lets the child run. */
static unsigned int arm_many(struct t_end *end, const struct t_verb *verb)
{
	unsigned int i;
	struct ibv_wc wc;

	for (i = 0; i < t_options.completions; i++) {
		if (arm(end->rcq, verb))
			return i;
		shared->wanted++;
		while (!ibv_poll_cq(end->rcq, 1, &wc))
			sched_yield();
		if (wc.status != IBV_WC_SUCCESS)
			return i;
		t_recv(end, 1);
	}
	return i;
}

static void wait_for_file(const char *path)
{
	while (access(path, F_OK))
		t_sleep_us(1000);
}

int main(int argc, char **argv)
{
	const char *go = getenv("RXO_GO");
	const struct t_verb *verb;
	unsigned int armed;
	struct t_end *end;
	pid_t sender;

	t_options.completions = 1000;
	t_args(argc, argv, "Many arms of an empty CQ.");
	if (!go)
		t_fatal("RXO_GO is not set");
	verb = strcmp(t_options.method, "notify") ? t_verb_find() : NULL;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		t_fatal("mmap: %s", strerror(errno));
	sender = start_sender();
	end = connect_end(1);
	t_note("ready");
	wait_for_file(go);
	armed = arm_many(end, verb);
	unlink(go);
	wait_for_file(go);

	t_is(armed, t_options.completions, "arms, %s", t_options.method);
	t_expect_events(end->channel, t_options.completions, "after them");
	kill(sender, SIGKILL);
	waitpid(sender, NULL, 0);
	t_link_close(&link_);
	t_close();
	return t_done();
}
