// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Bad requests: those refused when they are posted, and those that fail later. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ve.h"

/* ---------------------------------------------------------- refused when posted */

/* A positive errno, and bad_wr points at the request. */
static void expect_refused(struct t_end *end, struct ibv_send_wr *wr, int want,
			   const char *what)
{
	struct ibv_send_wr *bad = NULL;
	int err = ibv_post_send(end->qp, wr, &bad);

	t_true(err == want && bad == wr, "post %s: %s%s", what, strerror(want),
	       err == want ? (bad == wr ? "" : ", but bad_wr is wrong") :
	       " expected");
	if (err != want)
		t_is(err, want, "post %s: error", what);
}

static void test_bad_inline(struct t_link *l)
{
	struct ibv_sge huge[2] = {
		{ (uintptr_t)l->a.mem, 0x80000000, 0 },
		{ (uintptr_t)l->a.mem, 0x80000000, 0 },
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
		.sg_list = huge,
		.num_sge = 2,
	};

	expect_refused(&l->a, &wr, EINVAL, "inline, 2 x 2 GiB");
	huge[0].length = l->a.cap.max_inline_data + 1;
	wr.num_sge = 1;
	expect_refused(&l->a, &wr, EINVAL, "inline, one byte too many");
	wr.opcode = IBV_WR_RDMA_READ;
	huge[0].length = 8;
	expect_refused(&l->a, &wr, EINVAL, "inline READ");
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.num_sge = 2;
	huge[0].length = huge[1].length = 0x80000000;
	expect_refused(&l->a, &wr, EINVAL, "4 GiB");
}

static void test_bad_counts(struct t_link *l)
{
	struct ibv_sge sge[64] = { { 0 } };
	struct ibv_recv_wr *bad_recv = NULL, recv = { .sg_list = sge };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sge };
	int err;

	wr.num_sge = l->a.cap.max_send_sge + 1;
	expect_refused(&l->a, &wr, EINVAL, "one SGE too many");
	wr.num_sge = -1;
	expect_refused(&l->a, &wr, EINVAL, "num_sge -1");
	recv.num_sge = l->a.cap.max_recv_sge + 1;
	err = ibv_post_recv(l->a.qp, &recv, &bad_recv);
	t_is(err, EINVAL, "post a receive with one SGE too many");
	t_true(bad_recv == &recv, "bad_wr points at it");
	recv.num_sge = -1;
	t_is(ibv_post_recv(l->a.qp, &recv, &bad_recv), EINVAL,
	     "post a receive with num_sge -1");
}

static void test_bad_opcodes(struct t_link *l)
{
	struct ibv_send_wr wr = { .opcode = 77 };

	expect_refused(&l->a, &wr, EINVAL, "an opcode that does not exist");
	wr.opcode = IBV_WR_LOCAL_INV;
	expect_refused(&l->a, &wr, EOPNOTSUPP, "an invalidation");
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = 1 << 20;
	expect_refused(&l->a, &wr, EINVAL, "a flag that does not exist");
}

/* What stands before the bad one in the chain is executed. */
static void test_bad_chain(struct t_link *l)
{
	struct ibv_send_wr wr[4], *bad = NULL;
	struct ibv_wc wc[4];
	int i, err;

	for (i = 0; i < 4; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = i,
			.next = i < 3 ? &wr[i + 1] : NULL,
			.opcode = i == 2 ? 77 : IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
		};
	t_recv(&l->b, 4);
	err = ibv_post_send(l->a.qp, wr, &bad);
	t_is(err, EINVAL, "post a chain with a bad third request");
	t_is(bad - wr, 2, "bad_wr points at request");
	t_is(t_wait(l->a.scq, wc, 2), 2, "those before it complete");
	t_is(wc[1].wr_id, 1, "wr_id of the second");
	t_sleep_us(20000);
	t_is(t_drop_all(l->a.scq), 0, "those after it do not");
}

/* The QP has no peer that answers, so nothing leaves the queue. */
static void test_queue_full(void)
{
	struct t_config config = { .unconnected = true, .send_wr = 8,
				   .recv_wr = 8 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	uint32_t sends = 0, recvs = 0;
	struct t_link l;
	int err;

	t_link_open(&l, &config);
	pair_to_init(l.a.qp, &l.conn);
	pair_to_rtr(l.a.qp, l.a.port, l.b.port, l.b.qp->qp_num, &l.conn);
	pair_to_rts(l.a.qp, &l.conn);
	while (!(err = t_post_send(&l.a, &wr)) && sends < 100000)
		sends++;
	t_is(err, ENOMEM, "post to a full send queue");
	t_is(sends, l.a.cap.max_send_wr, "sends posted before that");
	while (!(err = t_post_recv(&l.a, 0, NULL, 0)) && recvs < 100000)
		recvs++;
	t_is(err, ENOMEM, "post to a full receive queue");
	t_is(recvs, l.a.cap.max_recv_wr, "receives posted before that");
	t_link_close(&l);
}

static void test_bad_states(void)
{
	struct t_config config = { .unconnected = true };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct ibv_recv_wr recv = { 0 }, *bad = NULL;
	struct t_link l;

	t_link_open(&l, &config);
	expect_refused(&l.a, &wr, EINVAL, "a send in RESET");
	t_is(ibv_post_recv(l.a.qp, &recv, &bad), EINVAL, "post a receive in RESET");
	t_true(bad == &recv, "bad_wr points at it");
	pair_to_init(l.a.qp, &l.conn);
	expect_refused(&l.a, &wr, EINVAL, "a send in INIT");
	t_is(ibv_post_recv(l.a.qp, &recv, &bad), 0, "post a receive in INIT");
	pair_to_rtr(l.a.qp, l.a.port, l.b.port, l.b.qp->qp_num, &l.conn);
	expect_refused(&l.a, &wr, EINVAL, "a send in RTR");
	t_link_close(&l);
}

/* ------------------------------------------------------------- failing later on */

enum local_fault {
	FAULT_LKEY,
	FAULT_OTHER_PD,
	FAULT_PAST_END,
	FAULT_BEFORE_BEGIN,
	FAULT_WRAP,
	FAULT_READ_ONLY,	/* only where the region is written to */
};

static const char *const fault_name[] = {
	[FAULT_LKEY] = "wrong lkey",
	[FAULT_OTHER_PD] = "lkey of another PD",
	[FAULT_PAST_END] = "one byte past the region",
	[FAULT_BEFORE_BEGIN] = "one byte before the region",
	[FAULT_WRAP] = "around 2^64",
	[FAULT_READ_ONLY] = "region without local write",
};

struct faulty {
	struct ibv_sge sge;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
};

static struct ibv_mr *must_register(struct ibv_pd *pd, struct t_end *end,
				    int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, end->mem, end->mem_len, access);

	if (!mr)
		t_fatal("cannot register memory: %s", strerror(errno));
	return mr;
}

static void make_faulty(struct faulty *f, struct t_end *end,
			enum local_fault fault)
{
	memset(f, 0, sizeof(*f));
	f->sge = ve_sge(end, 0, 5000);
	switch (fault) {
	case FAULT_LKEY:
		f->sge.lkey ^= 1;
		break;
	case FAULT_OTHER_PD:
		f->pd = ibv_alloc_pd(end->port->ctx);
		f->mr = must_register(f->pd, end, IBV_ACCESS_LOCAL_WRITE);
		f->sge.lkey = f->mr->lkey;
		break;
	case FAULT_PAST_END:
		f->sge.addr += end->mem_len - 4999;
		break;
	case FAULT_BEFORE_BEGIN:
		f->sge.addr -= 1;
		break;
	case FAULT_WRAP:
		f->sge.addr = 0xfffffffffffff000;
		break;
	case FAULT_READ_ONLY:
		f->mr = must_register(end->port->pd, end, 0);
		f->sge.lkey = f->mr->lkey;
		break;
	}
}

static void free_faulty(struct faulty *f)
{
	if (f->mr)
		ibv_dereg_mr(f->mr);
	if (f->pd)
		ibv_dealloc_pd(f->pd);
}

/* The requester's memory is at fault: its own error, the peer sees nothing. */
static void local_fault_of(enum ibv_wr_opcode opcode, const char *verb,
			   enum local_fault fault)
{
	struct ibv_sge recv;
	struct faulty f;
	struct t_link l;
	char what[96];

	snprintf(what, sizeof(what), "%s, %s", verb, fault_name[fault]);
	t_link_open(&l, NULL);
	make_faulty(&f, &l.a, fault);
	recv = ve_sge(&l.b, 0, 5000);
	t_post_recv(&l.b, 1, &recv, 1);
	ve_post(&l.a, opcode, &f.sge, (uintptr_t)l.b.mem, l.b.mr->rkey);
	t_wait_status(l.a.scq, IBV_WC_LOC_PROT_ERR, what);
	ve_expect_state(&l.a, IBV_QPS_ERR, what);
	ve_expect_state(&l.b, IBV_QPS_RTS, what);
	t_link_close(&l);
	free_faulty(&f);
	ve_drop_events();
}

/* The memory of a receive is at fault: an error at both ends. */
static void receive_fault(enum local_fault fault)
{
	struct ibv_sge sge;
	struct faulty f;
	struct t_link l;
	char what[96];

	snprintf(what, sizeof(what), "receive, %s", fault_name[fault]);
	t_link_open(&l, NULL);
	make_faulty(&f, &l.b, fault);
	t_post_recv(&l.b, 1, &f.sge, 1);
	sge = ve_sge(&l.a, 0, 5000);
	ve_post(&l.a, IBV_WR_SEND, &sge, 0, 0);
	t_wait_status(l.b.rcq, IBV_WC_LOC_PROT_ERR, what);
	t_wait_status(l.a.scq, IBV_WC_REM_OP_ERR, what);
	ve_expect_state(&l.b, IBV_QPS_ERR, what);
	t_link_close(&l);
	free_faulty(&f);
	ve_drop_events();
}

static void test_local_faults(void)
{
	enum local_fault fault;

	for (fault = FAULT_LKEY; fault <= FAULT_WRAP; fault++) {
		local_fault_of(IBV_WR_SEND, "SEND", fault);
		local_fault_of(IBV_WR_RDMA_WRITE, "WRITE", fault);
	}
	for (fault = FAULT_LKEY; fault <= FAULT_READ_ONLY; fault++) {
		local_fault_of(IBV_WR_RDMA_READ, "READ", fault);
		receive_fault(fault);
	}
}

/* Sent by one SEND, but the receive has room for less. */
static void test_too_long(uint32_t length, uint32_t room)
{
	struct ibv_sge send, recv;
	struct t_link l;

	t_link_open(&l, NULL);
	recv = ve_sge(&l.b, 0, room);
	memset(l.b.mem, VE_FILL, l.b.mem_len);
	t_post_recv(&l.b, 1, &recv, 1);
	send = ve_sge(&l.a, 0, length);
	ve_post(&l.a, IBV_WR_SEND, &send, 0, 0);
	t_note("%u bytes into a receive of %u", length, room);
	t_wait_status(l.b.rcq, IBV_WC_LOC_LEN_ERR, "receive that is too short");
	t_wait_status(l.a.scq, IBV_WC_REM_INV_REQ_ERR, "its sender");
	ve_expect_state(&l.b, IBV_QPS_ERR, "receive that is too short");
	t_is(l.b.mem[room], VE_FILL, "the byte behind it");
	t_link_close(&l);
	ve_drop_events();
}

void ve_local(void)
{
	struct t_link link;

	t_note("what the requester refuses");
	t_link_open(&link, NULL);
	test_bad_inline(&link);
	test_bad_counts(&link);
	test_bad_opcodes(&link);
	test_bad_chain(&link);
	t_deliver(&link, 1, 0);
	t_true(true, "after all that the QP still works");
	t_link_close(&link);
	test_queue_full();
	test_bad_states();
	test_local_faults();
	test_too_long(65, 64);
	test_too_long(20000, 5000);
	test_too_long(1, 0);
}
