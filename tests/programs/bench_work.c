// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How much work is a message? Both ends of a connection in one process and one
 * thread, so that on one processor in virtual time nothing else is counted. Prints
 * "METRIC NANOSECONDS" for each way to use the connection, per message.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "t.h"
#include "t_link.h"

#define SHORT	64
#define LONG	65536
#define CHAIN	32

static void poll_one(struct ibv_cq *cq, const char *what)
{
	struct ibv_wc wc;
	int n;

	/* The other driver may need a kernel thread to get on. */
	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		sched_yield();
	if (n < 0 || wc.status != IBV_WC_SUCCESS)
		t_fatal("%s: %s", what, n < 0 ? "cannot poll" :
			ibv_wc_status_str(wc.status));
}

static void post_recv(struct t_end *end, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->mem, .length = len, .lkey = end->mr->lkey,
	};

	if (t_post_recv(end, 0, &sge, 1))
		t_fatal("cannot post a receive");
}

/* @n requests in one call, the last one signalled. */
static void post(struct t_end *from, struct t_end *to, enum ibv_wr_opcode opcode,
		 uint32_t len, unsigned int n)
{
	struct ibv_send_wr wr[CHAIN] = {};
	struct ibv_sge sge = {
		.addr = (uintptr_t)from->mem, .length = len, .lkey = from->mr->lkey,
	};
	unsigned int i;

	for (i = 0; i < n; i++) {
		wr[i].opcode = opcode;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].send_flags = i == n - 1 ? IBV_SEND_SIGNALED : 0;
		wr[i].wr.rdma.remote_addr = (uintptr_t)to->mem;
		wr[i].wr.rdma.rkey = to->mr->rkey;
		wr[i].next = i == n - 1 ? NULL : &wr[i + 1];
	}
	if (t_post_send(from, wr))
		t_fatal("cannot post a send");
}

static void send_and_wait(struct t_end *from, struct t_end *to, uint32_t len,
			  unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		post_recv(to, len);
	post(from, to, IBV_WR_SEND, len, n);
	for (i = 0; i < n; i++)
		poll_one(to->rcq, "receive");
	poll_one(from->scq, "send");
}

/* Like perftest's ib_send_lat: the answer is posted before the send has ended. */
static void ping_pong(struct t_link *l, unsigned int n)
{
	struct t_end *from = &l->a, *to = &l->b, *swap;
	unsigned int i;

	post_recv(to, SHORT);
	post(from, to, IBV_WR_SEND, SHORT, 1);
	for (i = 0; i < n; i++) {
		poll_one(to->rcq, "receive");
		post_recv(from, SHORT);
		post(to, from, IBV_WR_SEND, SHORT, 1);
		poll_one(from->scq, "send");
		swap = from;
		from = to;
		to = swap;
	}
	poll_one(to->rcq, "receive");
	poll_one(from->scq, "send");
}

static void singles(struct t_link *l, unsigned int n)
{
	while (n--)
		send_and_wait(&l->a, &l->b, SHORT, 1);
}

static void chains(struct t_link *l, unsigned int n)
{
	for (; n >= CHAIN; n -= CHAIN)
		send_and_wait(&l->a, &l->b, SHORT, CHAIN);
}

static void long_sends(struct t_link *l, unsigned int n)
{
	while (n--)
		send_and_wait(&l->a, &l->b, LONG, 1);
}

static void one_sided(struct t_link *l, enum ibv_wr_opcode opcode, uint32_t len,
		      unsigned int n)
{
	while (n--) {
		post(&l->a, &l->b, opcode, len, 1);
		poll_one(l->a.scq, "request");
	}
}

static void writes(struct t_link *l, unsigned int n)
{
	one_sided(l, IBV_WR_RDMA_WRITE, SHORT, n);
}

static void long_writes(struct t_link *l, unsigned int n)
{
	one_sided(l, IBV_WR_RDMA_WRITE, LONG, n);
}

static void long_reads(struct t_link *l, unsigned int n)
{
	one_sided(l, IBV_WR_RDMA_READ, LONG, n);
}

static const struct {
	const char *metric;
	void (*run)(struct t_link *l, unsigned int n);
	unsigned int part;	/* of the messages that are asked for: 1 / part */
} ways[] = {
	{ "pingpong.64", ping_pong, 1 },
	{ "send.64", singles, 1 },
	{ "chain.64", chains, 1 },
	{ "write.64", writes, 1 },
	{ "send.64k", long_sends, 16 },
	{ "write.64k", long_writes, 16 },
	{ "read.64k", long_reads, 16 },
};

int main(int argc, char **argv)
{
	struct t_config config = { .cqe = 256, .sge = 1, .mem = LONG };
	struct t_link l;
	unsigned int i, n;
	uint64_t start;

	t_options.completions = 4096;
	t_args(argc, argv, "How much work is a message?");
	t_open();
	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	t_link_open(&l, &config);
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		n = t_options.completions / ways[i].part;
		ways[i].run(&l, n);	/* caches and counters warm */
		start = t_now_us();
		ways[i].run(&l, n);
		printf("%s %.0f\n", ways[i].metric,
		       (t_now_us() - start) * 1000.0 / n);
	}
	t_link_close(&l);
	t_close();
	return 0;
}
