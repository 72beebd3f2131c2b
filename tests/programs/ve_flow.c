// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receives that are missing, peers that are missing, flushing, overrun. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "ve.h"

/* ------------------------------------------------------------------------- RNR */

static void test_rnr_exceeded(enum ibv_wr_opcode opcode, const char *what)
{
	struct t_config config = { 0 };
	struct t_link l;
	uint64_t begin;

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.rnr_retry = 2;
	config.conn.min_rnr = 12;	/* 0.64 ms */
	t_link_open(&l, &config);
	begin = t_now_ms();
	ve_post(&l.a, opcode, NULL, 0, 0);
	t_wait_status(l.a.scq, IBV_WC_RNR_RETRY_EXC_ERR, what);
	t_true(t_now_ms() - begin < 2000, "%s: within 2 s (%llu ms)", what,
	       (unsigned long long)(t_now_ms() - begin));
	ve_expect_state(&l.a, IBV_QPS_ERR, what);
	ve_expect_state(&l.b, IBV_QPS_RTS, what);
	t_link_close(&l);
	ve_drop_events();
}

/* Retried without end, and received once there is a receive. */
static void test_rnr_endless(void)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct t_link l;
	struct ibv_wc wc[3];
	int i;

	t_link_open(&l, NULL);
	for (i = 0; i < 3; i++) {
		wr.wr_id = i;
		t_post_send(&l.a, &wr);
	}
	t_sleep_us(100000);
	t_is(t_drop_all(l.a.scq), 0, "completions before there is a receive");
	t_recv(&l.b, 3);
	t_is(t_wait(l.a.scq, wc, 3), 3, "completions when there are three");
	t_is(wc[2].wr_id, 2, "the last of them");
	t_is(wc[2].status, IBV_WC_SUCCESS, "its status");
	t_is(t_wait(l.b.rcq, wc, 3), 3, "receive completions");
	t_link_close(&l);
}

/* ----------------------------------------------------------- a peer that is gone */

static void unreachable(uint8_t timeout, uint8_t retry, unsigned int min_ms,
			unsigned int max_ms)
{
	struct t_config config = { 0 };
	struct t_link l;
	uint64_t ms;

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.timeout = timeout;
	config.conn.retry = retry;
	t_link_open(&l, &config);
	ibv_destroy_qp(l.b.qp);
	l.b.qp = NULL;
	ms = t_now_ms();
	ve_post(&l.a, IBV_WR_SEND, NULL, 0, 0);
	t_wait_status(l.a.scq, IBV_WC_RETRY_EXC_ERR, "a peer that is gone");
	ms = t_now_ms() - ms;
	t_true(ms >= min_ms && ms <= max_ms,
	       "timeout %u, %u retries: after %llu ms, from %u to %u expected",
	       timeout, retry, (unsigned long long)ms, min_ms, max_ms);
	ve_expect_state(&l.a, IBV_QPS_ERR, "a peer that is gone");
	t_link_close(&l);
	ve_drop_events();
}

static void test_unreachable(void)
{
	/* 16.8 and 134 ms, and for each retry once more; the standard allows 4 times. */
	unreachable(12, 0, 15, 1500);
	unreachable(12, 3, 60, 2000);
	unreachable(15, 1, 250, 3000);
}

/* Timeout 0: waits for ever, but the QP can be moved to ERR. */
static void test_no_timeout(void)
{
	struct t_config config = { 0 };
	struct t_link l;

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.timeout = 0;
	config.conn.retry = 0;
	t_link_open(&l, &config);
	ibv_destroy_qp(l.b.qp);
	l.b.qp = NULL;
	ve_post(&l.a, IBV_WR_SEND, NULL, 0, 0);
	t_sleep_us(500000);
	t_is(t_drop_all(l.a.scq), 0, "timeout 0: completions within 0.5 s");
	t_is(pair_to_err(l.a.qp), 0, "move to ERR");
	t_wait_status(l.a.scq, IBV_WC_WR_FLUSH_ERR, "what waited for the peer");
	t_link_close(&l);
}

/* -------------------------------------------------------------------- flushing */

static void expect_flushed(struct ibv_cq *cq, unsigned int n, uint64_t first,
			   const char *what)
{
	unsigned int i, bad_status = 0, bad_id = 0;
	struct ibv_wc wc[32];

	if (!t_is(t_wait(cq, wc, n), n, "%s: completions", what))
		return;
	for (i = 0; i < n; i++) {
		bad_status += wc[i].status != IBV_WC_WR_FLUSH_ERR;
		bad_id += wc[i].wr_id != first + i;
	}
	t_is(bad_status, 0, "%s: other than flushed", what);
	t_is(bad_id, 0, "%s: out of order", what);
}

static void post_sends(struct t_end *end, unsigned int n, uint64_t first,
		       int flags)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct ibv_send_wr wr = {
			.wr_id = first + i,
			.opcode = IBV_WR_SEND,
			.send_flags = flags,
		};
		int err = t_post_send(end, &wr);

		if (err)
			t_true(false, "post a send: %s", strerror(err));
	}
}

/* Unsignalled ones are flushed with a completion too. */
static void test_flush(void)
{
	struct t_link l;

	t_link_open(&l, NULL);
	t_recv(&l.a, 5);
	post_sends(&l.a, 3, 0, 0);		/* waiting for receives of b */
	post_sends(&l.a, 3, 3, IBV_SEND_SIGNALED);
	t_is(pair_to_err(l.a.qp), 0, "move to ERR");
	expect_flushed(l.a.scq, 6, 0, "sends posted before");
	expect_flushed(l.a.rcq, 5, 0, "receives posted before");
	post_sends(&l.a, 4, 6, IBV_SEND_SIGNALED);
	expect_flushed(l.a.scq, 4, 6, "sends posted in ERR");
	t_recv(&l.a, 4);
	expect_flushed(l.a.rcq, 4, 5, "receives posted in ERR");
	ve_expect_state(&l.a, IBV_QPS_ERR, "flushed");
	t_link_close(&l);
	ve_drop_events();
}

/* The first fails by itself, those behind it are flushed. */
static void test_flush_after_failure(void)
{
	struct t_link l;
	struct ibv_sge sge;

	t_link_open(&l, NULL);
	t_recv(&l.a, 2);
	sge = ve_sge(&l.a, 0, 8);
	sge.lkey ^= 1;
	ve_post(&l.a, IBV_WR_SEND, &sge, 0, 0);
	post_sends(&l.a, 3, 10, IBV_SEND_SIGNALED);
	t_wait_status(l.a.scq, IBV_WC_LOC_PROT_ERR, "the first");
	expect_flushed(l.a.scq, 3, 10, "those behind it");
	expect_flushed(l.a.rcq, 2, 0, "its receives");
	t_link_close(&l);
	ve_drop_events();
}

/* More than the driver takes in, or flushes, in one go. */
#define MANY	4000

/* By one call, so with one doorbell. */
static void post_many(struct t_end *end)
{
	static struct ibv_send_wr wr[MANY];
	struct ibv_send_wr *bad;
	unsigned int i;

	for (i = 0; i < MANY; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = i,
			.next = i + 1 < MANY ? &wr[i + 1] : NULL,
			.opcode = IBV_WR_SEND,
		};
	t_is(ibv_post_send(end->qp, wr, &bad), 0, "post many sends");
}

/* @n of them are there, the next ones in order. */
static void check_many(const struct ibv_wc *wc, unsigned int n, uint64_t first,
		       enum ibv_wc_status status, const char *what)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < n; i++)
		wrong += wc[i].status != status || wc[i].wr_id != first + i;
	t_is(wrong, 0, "%s: wrong completions", what);
}

static void test_many(void)
{
	struct t_config config = {
		.cqe = MANY, .send_wr = MANY, .recv_wr = MANY, .sig_all = true,
	};
	static struct ibv_wc wc[MANY];
	struct t_link l;

	t_link_open(&l, &config);
	t_recv(&l.b, MANY);
	post_many(&l.a);
	t_is(t_wait(l.a.scq, wc, MANY), MANY, "many sends");
	check_many(wc, MANY, 0, IBV_WC_SUCCESS, "many sends");

	/* b has no receives for these. */
	t_recv(&l.a, MANY);
	post_many(&l.a);
	t_is(pair_to_err(l.a.qp), 0, "move to ERR");
	t_is(t_wait(l.a.rcq, wc, 1), 1, "flushed receives");
	check_many(wc, 1, 0, IBV_WC_WR_FLUSH_ERR, "flushed receives");
	t_is(ibv_poll_cq(l.a.scq, MANY, wc), MANY, "flushed sends before those");
	check_many(wc, MANY, 0, IBV_WC_WR_FLUSH_ERR, "flushed sends");
	t_is(t_wait(l.a.rcq, wc, MANY - 1), MANY - 1, "flushed receives");
	check_many(wc, MANY - 1, 1, IBV_WC_WR_FLUSH_ERR, "flushed receives");
	t_link_close(&l);
	ve_drop_events();
}

#define STREAM	64

/* What message @i consists of; never VE_FILL. */
static unsigned char stream_byte(unsigned int i)
{
	return 0x80 + i;
}

/* The numbered messages of a stream, until the QP does not take one. */
static void *stream(void *arg)
{
	struct t_link *l = arg;
	unsigned int i;

	for (i = 0; i < STREAM; i++) {
		struct ibv_sge sge = ve_sge(&l->a, 8 * i, 8);
		struct ibv_send_wr wr = {
			.wr_id = i, .opcode = IBV_WR_SEND,
			.sg_list = &sge, .num_sge = 1,
		};

		memset(l->a.mem + 8 * i, stream_byte(i), 8);
		if (t_post_send(&l->a, &wr))
			break;
	}
	return NULL;
}

/* Message i is in receive i, or it is flushed and its room untouched. */
static unsigned int check_stream(struct t_link *l)
{
	unsigned int i, good = 0, wrong = 0;
	struct ibv_wc wc;

	for (i = 0; i < STREAM && t_wait(l->b.rcq, &wc, 1) == 1; i++) {
		const unsigned char *p = l->b.mem + 8 * i;
		bool ok = wc.status == IBV_WC_SUCCESS;

		good += ok;
		wrong += wc.wr_id != i ||
			 p[0] != (ok ? stream_byte(i) : VE_FILL) ||
			 p[7] != p[0] || (ok && good != i + 1) ||
			 (!ok && wc.status != IBV_WC_WR_FLUSH_ERR);
	}
	if (i != STREAM || wrong)
		t_true(false, "%u receives completed, %u of them wrongly", i,
		       wrong);
	return good;
}

/* One round, on two QPs in RESET. Return: was the stream cut in the middle? */
static bool cut_stream(struct t_link *l, unsigned int round)
{
	const volatile unsigned char *p = l->b.mem + 8 * (round % STREAM);
	pthread_t sender;
	unsigned int i;

	if (pair_connect(l->a.qp, l->a.port, l->b.qp, l->b.port, &l->conn))
		t_fatal("cannot connect again");
	memset(l->b.mem, VE_FILL, 8 * STREAM);
	for (i = 0; i < STREAM; i++) {
		struct ibv_sge sge = ve_sge(&l->b, 8 * i, 8);

		if (t_post_recv(&l->b, i, &sge, 1))
			t_fatal("cannot post a receive");
	}
	if (pthread_create(&sender, NULL, stream, l))
		t_fatal("cannot start a thread");
	/* From the start of the thread to the end of the stream. */
	while (round % 4 && *p == VE_FILL)
		sched_yield();
	if (pair_to_err(l->b.qp))
		t_true(false, "move to ERR under traffic");
	pthread_join(sender, NULL);
	i = check_stream(l);
	return i && i < STREAM;
}

/* The receiver is moved to ERR at any point of a stream. */
static void test_err_under_traffic(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	const char *thorough = getenv("RXO_THOROUGH");
	unsigned int n = thorough && *thorough == '1' ? 500 : 30;
	struct t_config config = { .unconnected = true };
	unsigned int i, cut = 0, failed = t_failed();
	struct t_link l;

	t_link_open(&l, &config);
	for (i = 0; i < n && t_failed() == failed; i++) {
		cut += cut_stream(&l, 7 * i);
		if (ibv_modify_qp(l.a.qp, &attr, IBV_QP_STATE) ||
		    ibv_modify_qp(l.b.qp, &attr, IBV_QP_STATE))
			t_fatal("cannot reset");
		t_drop_all(l.a.scq);
	}
	t_true(t_failed() == failed, "ERR at any point of a stream");
	t_note("%u of %u streams were cut in the middle", cut, n);
	t_link_close(&l);
	ve_drop_events();
}

/* RESET forgets everything without a completion, and the QP can be used again. */
static void test_reset(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct t_link l;

	t_link_open(&l, NULL);
	t_recv(&l.a, 5);
	post_sends(&l.a, 3, 0, IBV_SEND_SIGNALED);
	t_is(ibv_modify_qp(l.a.qp, &attr, IBV_QP_STATE), 0, "move to RESET");
	t_is(ibv_modify_qp(l.b.qp, &attr, IBV_QP_STATE), 0, "and the peer");
	t_sleep_us(20000);
	t_drop_all(l.a.scq);
	t_is(t_drop_all(l.a.rcq), 0, "receive completions after RESET");
	t_is(pair_connect(l.a.qp, l.a.port, l.b.qp, l.b.port, &l.conn), 0,
	     "connect again");
	t_deliver(&l, 5, 0);
	t_is(t_drop_all(l.b.rcq), 5, "messages after that");
	t_link_close(&l);
}

/* --------------------------------------------------------------------- overrun */

/* A send CQ that nobody polls: what is in it stays, the rest is an error. */
static void test_overrun(void)
{
	struct t_config config = { .cqe = 2, .sig_all = true };
	struct ibv_async_event event;
	struct ibv_wc wc[16];
	struct t_link l;
	bool seen = false;
	int i, n, cqe;

	t_link_open(&l, &config);
	cqe = l.a.scq->cqe;
	for (i = 0; i < cqe + 14; i++) {
		struct ibv_send_wr wr = {
			.wr_id = i,
			.opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = { (uintptr_t)l.b.mem, l.b.mr->rkey },
		};

		if (t_post_send(&l.a, &wr))
			break;
	}
	while (!seen && t_async(l.a.port, &event, 3000))
		seen = event.event_type == IBV_EVENT_CQ_ERR &&
		       event.element.cq == l.a.scq;
	t_true(seen, "IBV_EVENT_CQ_ERR for the CQ that overran");
	ve_expect_state(&l.a, IBV_QPS_ERR, "overrun of its send CQ");
	n = ibv_poll_cq(l.a.scq, 16, wc);
	t_is(n, cqe, "completions that it held");
	for (i = 0; i < n; i++)
		t_is(wc[i].wr_id, i, "wr_id of completion %d", i);
	t_true(ibv_poll_cq(l.a.scq, 16, wc) < 0, "then polling says that it overran");
	t_link_close(&l);
	ve_drop_events();
}

/* ------------------------------------------------- overrun of a CQ with many QPs */

static struct ibv_cq *shared;	/* of device A, for QPs that are created there */
static bool shared_for_receives;

static struct ibv_qp *create_shared(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr)
{
	if (pd == t_port[0].pd) {
		if (shared_for_receives)
			attr->recv_cq = shared;
		else
			attr->send_cq = shared;
	}
	return ibv_create_qp(pd, attr);
}

static void open_shared(struct t_link *l, bool for_receives, bool unconnected)
{
	struct t_config config = {
		.sig_all = true, .create = create_shared,
		.unconnected = unconnected,
	};

	shared_for_receives = for_receives;
	t_link_open(l, &config);
	if (!unconnected)
		t_recv(&l->a, 3);
}

/* Every QP of the CQ has said that it failed, once, and the CQ that it overran. */
static void expect_overrun_events(struct t_link *l, unsigned int n)
{
	unsigned int cq_err = 0, fatal[8] = { 0 }, other = 0, i;
	struct ibv_async_event event;

	for (i = 0; i < n + 1 && t_async(&t_port[0], &event, 3000); i++) {
		unsigned int k = 0;

		while (k < n && event.element.qp != l[k].a.qp)
			k++;
		if (event.event_type == IBV_EVENT_CQ_ERR &&
		    event.element.cq == shared)
			cq_err++;
		else if (event.event_type == IBV_EVENT_QP_FATAL && k < n)
			fatal[k]++;
		else
			other++;
	}
	t_is(cq_err, 1, "CQ with many QPs: IBV_EVENT_CQ_ERR");
	for (i = 0; i < n; i++)
		t_is(fatal[i], 1, "CQ with many QPs: IBV_EVENT_QP_FATAL of QP %u",
		     i);
	t_is(other, 0, "CQ with many QPs: other events");
}

/*
 * All QPs that use the CQ fail with it: one that is busy, one that is idle and
 * sends to it, one that only receives to it. A QP beside them does not, and one
 * that was in RESET cannot be connected any more.
 */
static void test_overrun_of_many(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct t_link l[3], unused, beside;
	int i;

	shared = ibv_create_cq(t_port[0].ctx, 4, NULL, NULL, 0);
	if (!shared)
		t_fatal("cannot create a CQ: %s", strerror(errno));
	open_shared(&l[0], false, false);
	open_shared(&l[1], false, false);
	open_shared(&l[2], true, false);
	open_shared(&unused, false, true);
	t_link_open(&beside, NULL);
	t_recv(&l[0].b, shared->cqe + 1);
	for (i = 0; i <= shared->cqe; i++)
		t_post_send(&l[0].a, &wr);

	expect_overrun_events(l, 3);
	for (i = 0; i < 3; i++)
		ve_expect_state(&l[i].a, IBV_QPS_ERR, "its CQ has overrun");
	expect_flushed(l[1].a.rcq, 3, 0, "receives of the idle QP");
	ve_expect_state(&unused.a, IBV_QPS_RESET, "its CQ has overrun, in RESET");
	t_true(pair_to_init(unused.a.qp, &unused.conn) != 0,
	       "RESET to INIT with a CQ that has overrun: refused");
	t_deliver(&beside, 2, 0);
	t_is(t_drop_all(shared), shared->cqe, "completions that the CQ held");
	for (i = 0; i < 3; i++)
		t_link_close(&l[i]);
	t_link_close(&unused);
	t_link_close(&beside);
	t_is(ibv_destroy_cq(shared), 0, "destroy the CQ");
	ve_drop_events();
}

void ve_flow(void)
{
	t_note("missing receives and peers, flushing");
	test_rnr_exceeded(IBV_WR_SEND, "SEND without a receive");
	test_rnr_exceeded(IBV_WR_RDMA_WRITE_WITH_IMM,
			  "WRITE_WITH_IMM without a receive");
	test_rnr_endless();
	test_unreachable();
	test_no_timeout();
	test_flush();
	test_flush_after_failure();
	test_many();
	test_err_under_traffic();
	test_reset();
	test_overrun();
	test_overrun_of_many();
}
