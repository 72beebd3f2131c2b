// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The side that forged packets are sent to: a queue pair on device B whose peer is
 * a number that nobody has on device A. Does what lines on its standard input say
 * and answers each with a line (tests/malformed/victim.py is at the other end):
 *
 *   qp MTU RECEIVES    a new queue pair in RTS, with that many receives posted, and
 *                      new memory -> qp NUMBER PEER RQ-PSN SQ-PSN KEY ADDRESS LENGTH
 *   send LENGTH        post a SEND  -> ok
 *   read LENGTH        post a READ  -> ok
 *   state              -> state NUMBER
 *   wc                 all completions so far -> wc STATUS:OPCODE:LENGTH ...
 *   memory             -> memory CHECKSUM intact|overrun; the bytes around the
 *                      region make it "overrun" when one of them has changed
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "t.h"
#include "t_link.h"

#define PEER	0x00beef
#define GUARD	8192
#define REGION	16384
#define ALL	(GUARD + REGION + GUARD)
/* Where what the queue pair itself sends and receives is, within the region. */
#define OWN	8192
#define ENTRIES	64

static struct t_config config = { .mem = 4096, .cqe = 2 * ENTRIES,
				  .send_wr = ENTRIES, .recv_wr = ENTRIES };
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static unsigned char *all;

static unsigned char *region(void)
{
	return all + GUARD;
}

static void fill(void)
{
	size_t i;

	for (i = 0; i < ALL; i++)
		all[i] = (unsigned char)(i * 7 + (i >> 8));
}

static bool is_intact(void)
{
	size_t i;

	for (i = 0; i < ALL; i++)
		if ((i < GUARD || i >= GUARD + REGION) &&
		    all[i] != (unsigned char)(i * 7 + (i >> 8)))
			return false;
	return true;
}

/* FNV-1a */
static uint64_t checksum(void)
{
	uint64_t sum = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < REGION; i++)
		sum = (sum ^ region()[i]) * 0x100000001b3ULL;
	return sum;
}

static void open_victim(void)
{
	all = mmap(NULL, ALL, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		t_fatal("no memory");
	cq = ibv_create_cq(t_port[1].ctx, config.cqe, NULL, NULL, 0);
	mr = ibv_reg_mr(t_port[1].pd, region(), REGION,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (!cq || !mr)
		t_fatal("no CQ or region: %s", strerror(errno));
}

static struct ibv_sge own_sge(uint32_t len)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)region() + OWN,
		.length = len,
		.lkey = mr->lkey,
	};
}

static void post_receives(unsigned int n)
{
	struct ibv_sge sge = own_sge(REGION - OWN);
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	while (n--)
		if (ibv_post_recv(qp, &wr, &bad))
			t_fatal("cannot post a receive");
}

static void connect_to_nobody(const struct pair_conn *conn)
{
	int err;

	err = pair_to_init(qp, conn);
	if (!err)
		err = pair_to_rtr(qp, &t_port[1], &t_port[0], PEER, conn);
	if (!err)
		err = pair_to_rts(qp, conn);
	if (err)
		t_fatal("cannot connect: %s", strerror(err));
}

static void drop_completions(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
}

static void new_qp(unsigned int mtu, unsigned int receives)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = ENTRIES, .max_recv_wr = ENTRIES,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct pair_conn conn;

	if (qp && ibv_destroy_qp(qp))
		t_fatal("cannot destroy the queue pair");
	drop_completions();
	fill();
	qp = ibv_create_qp(t_port[1].pd, &attr);
	if (!qp)
		t_fatal("no queue pair: %s", strerror(errno));
	pair_conn_init(&conn, &t_port[1], &t_port[0]);
	conn.psn = 0xfffffa;		/* a little before the wrap */
	conn.access |= IBV_ACCESS_REMOTE_ATOMIC;
	conn.timeout = 18;		/* 1 s */
	conn.mtu = IBV_MTU_256;
	while (128U << conn.mtu < mtu)
		conn.mtu++;
	connect_to_nobody(&conn);
	post_receives(receives);
	printf("qp %u %u %u %u %u %llu %u\n", qp->qp_num, PEER,
	       pair_psn(&conn, PEER), pair_psn(&conn, qp->qp_num), mr->rkey,
	       (unsigned long long)(uintptr_t)region(), REGION);
}

static void post(enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_sge sge = own_sge(len);
	struct ibv_send_wr *bad, wr = {
		.opcode = opcode,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = 0x10000, .rkey = 0x1234 },
	};

	puts(ibv_post_send(qp, &wr, &bad) ? "refused" : "ok");
}

static void show_completions(void)
{
	struct ibv_wc wc;

	printf("wc");
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		printf(" %d:%d:%u", wc.status, wc.opcode, wc.byte_len);
	puts("");
}

static void obey(const char *line)
{
	unsigned int a, b;

	if (sscanf(line, "qp %u %u", &a, &b) == 2)
		new_qp(a, b);
	else if (sscanf(line, "send %u", &a) == 1)
		post(IBV_WR_SEND, a);
	else if (sscanf(line, "read %u", &a) == 1)
		post(IBV_WR_RDMA_READ, a);
	else if (!strcmp(line, "state\n"))
		printf("state %d\n", t_state(qp));
	else if (!strcmp(line, "wc\n"))
		show_completions();
	else if (!strcmp(line, "memory\n"))
		printf("memory %llx %s\n", (unsigned long long)checksum(),
		       is_intact() ? "intact" : "overrun");
	else
		t_fatal("what is '%s'", line);
}

int main(int argc, char **argv)
{
	char line[128];

	t_args(argc, argv, "Does as told while forged packets come in.");
	setvbuf(stdout, NULL, _IOLBF, 0);
	t_open();
	open_victim();
	puts("ready");
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	if (qp)
		ibv_destroy_qp(qp);
	ibv_dereg_mr(mr);
	ibv_destroy_cq(cq);
	t_close();
	return 0;
}
