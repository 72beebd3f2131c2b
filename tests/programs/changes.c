// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What modify QP may change while there is traffic, and that it takes effect: the
 * drain of the send queue, attributes in SQD and in RTS; acknowledgements that stand
 * for many packets, and what they tell of receives. For the virtual-time lane: the fault layer makes each
 * request take a while, so that there is traffic to change something under, and
 * times tell what was in force.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "t.h"
#include "t_link.h"

#define SLOW	1000		/* us for a packet */
#define SLOWER	30000
#define MANY	40
#define PIECE	(16 << 10)
#define SHORT	64

/* Each packet takes so long, on a slow kernel longer, as all else does. */
static void slow_down(unsigned int us)
{
	char rule[40];

	snprintf(rule, sizeof(rule), "rx any delay=%u", us * t_slow());
	t_rule(rule);
}

static void open_link(struct t_link *l, const struct pair_conn *conn)
{
	struct t_config config = {
		.mem = MANY * PIECE, .sig_all = true, .conn = *conn,
	};

	t_link_open(l, &config);
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		   const char *what)
{
	t_is(ibv_modify_qp(qp, attr, mask), 0, "%s", what);
}

static void move(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	modify(qp, &attr, IBV_QP_STATE, state == IBV_QPS_SQD ? "to SQD" :
							       "to RTS");
}

static bool is_draining(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
		t_fatal("cannot query a QP");
	return attr.sq_draining;
}

static void drain(struct ibv_qp *qp)
{
	move(qp, IBV_QPS_SQD);
	while (is_draining(qp))
		t_sleep_us(100);
}

/* Short READs, since their data takes time too; long WRITEs; empty SENDs. */
static void post(struct t_end *from, struct t_end *to, enum ibv_wr_opcode opcode,
		 unsigned int i)
{
	struct ibv_sge sge = { (uintptr_t)from->mem + i * PIECE,
			       opcode == IBV_WR_RDMA_READ ? SHORT : PIECE,
			       from->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = i, .opcode = opcode, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { (uintptr_t)to->mem + i * PIECE, to->mr->rkey },
	};

	if (opcode == IBV_WR_SEND)
		wr.num_sge = 0;
	if (t_post_send(from, &wr))
		t_fatal("cannot post");
}

/* The next @n of A's completions, from @first on. */
static void expect_sends(struct t_link *l, unsigned int first, unsigned int n,
			 const char *what)
{
	unsigned int i, wrong = 0;
	struct ibv_wc wc;

	for (i = 0; i < n && t_wait(l->a.scq, &wc, 1) == 1; i++)
		wrong += wc.wr_id != first + i || wc.status;
	t_is(i, n, "%s: completions", what);
	t_is(wrong, 0, "%s: out of order or failed", what);
}

/* ------------------------------------------------------------------------ drain */

static bool take_drained(struct t_end *end)
{
	struct ibv_async_event event;

	return t_async(end->port, &event, 2000) &&
	       event.event_type == IBV_EVENT_SQ_DRAINED &&
	       event.element.qp == end->qp;
}

/* While something is under way nothing changes that RTS would not allow either. */
static void expect_draining(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = 17, .min_rnr_timer = 9,
	};

	t_true(is_draining(qp), "it is draining");
	t_is(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL, "to RTS");
	t_is(ibv_modify_qp(qp, &attr, IBV_QP_TIMEOUT), EINVAL, "timeout");
	t_is(ibv_modify_qp(qp, &attr, IBV_QP_MIN_RNR_TIMER), 0, "min_rnr_timer");
	attr.qp_state = IBV_QPS_SQD;
	t_is(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL, "to SQD again");
	t_true(is_draining(qp), "it is still draining");
}

/* What has begun ends, what has not waits, and the other direction goes on. */
static void test_drain(const struct pair_conn *conn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};
	struct ibv_async_event event;
	unsigned int i, done;
	struct t_link l;
	struct ibv_wc wc;

	open_link(&l, conn);
	t_recv(&l.a, 1);
	for (i = 0; i < MANY; i++)
		memset(l.a.mem + i * PIECE, i + 1, PIECE);
	slow_down(SLOWER);
	for (i = 0; i < MANY; i++)
		post(&l.a, &l.b, IBV_WR_RDMA_WRITE, i);
	modify(l.a.qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
	       "to SQD under traffic");
	expect_draining(l.a.qp);
	t_true(take_drained(&l.a), "IBV_EVENT_SQ_DRAINED");
	t_true(!is_draining(l.a.qp), "it has drained");
	done = t_drop_all(l.a.scq);
	t_true(done > 0 && done < MANY, "%u of %d had begun", done, MANY);
	for (i = 0; i < MANY; i++)
		if (l.b.mem[i * PIECE] != (i < done ? i + 1 : 0) ||
		    l.b.mem[i * PIECE + PIECE - 1] != (i < done ? i + 1 : 0))
			t_true(false, "bytes of WRITE %u", i);
	post(&l.b, &l.a, IBV_WR_SEND, 7);
	t_is(t_wait(l.a.rcq, &wc, 1), 1, "a receive while drained");
	t_is(t_wait(l.b.scq, &wc, 1), 1, "which is acknowledged");
	t_sleep_us(50000);
	t_is(t_drop_all(l.a.scq), 0, "completions while drained");
	move(l.a.qp, IBV_QPS_RTS);
	expect_sends(&l, done, MANY - done, "the rest, in RTS");
	t_is(l.b.mem[MANY * PIECE - 1], MANY, "its last byte");

	modify(l.a.qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
	       "to SQD, idle");
	t_true(take_drained(&l.a), "IBV_EVENT_SQ_DRAINED at once");
	t_true(!t_async(l.a.port, &event, 0), "no event more");
	t_rule("clear");
	t_link_close(&l);
}

/* ------------------------------------------------------------- what may be changed */

static void expect_refused(struct ibv_qp *qp, int mask, const char *what)
{
	struct ibv_qp_attr attr = { .timeout = 1 }, before, after;
	struct ibv_qp_init_attr init;

	ibv_query_qp(qp, &before, 0xfffff, &init);
	t_is(ibv_modify_qp(qp, &attr, mask), EINVAL, "%s in RTS", what);
	ibv_query_qp(qp, &after, 0xfffff, &init);
	t_true(before.timeout == after.timeout &&
	       before.retry_cnt == after.retry_cnt &&
	       before.rnr_retry == after.rnr_retry &&
	       before.max_rd_atomic == after.max_rd_atomic &&
	       before.max_dest_rd_atomic == after.max_dest_rd_atomic,
	       "and nothing has changed");
}

static void test_allowed(const struct pair_conn *conn)
{
	struct ibv_qp_attr attr = {
		.timeout = 18, .retry_cnt = 3, .rnr_retry = 2, .max_rd_atomic = 5,
		.max_dest_rd_atomic = 6, .min_rnr_timer = 9,
	};
	struct ibv_qp_init_attr init;
	struct t_link l;

	open_link(&l, conn);
	expect_refused(l.a.qp, IBV_QP_TIMEOUT, "timeout");
	expect_refused(l.a.qp, IBV_QP_RETRY_CNT, "retry_cnt");
	expect_refused(l.a.qp, IBV_QP_RNR_RETRY, "rnr_retry");
	expect_refused(l.a.qp, IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic");
	expect_refused(l.a.qp, IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic");
	modify(l.a.qp, &attr, IBV_QP_MIN_RNR_TIMER, "min_rnr_timer in RTS");
	move(l.a.qp, IBV_QPS_SQD);
	attr.min_rnr_timer = 8;
	modify(l.a.qp, &attr, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
	       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, "all in SQD");
	attr = (struct ibv_qp_attr){ 0 };
	t_is(ibv_query_qp(l.a.qp, &attr, 0xfffff, &init), 0, "query");
	t_is(attr.timeout, 18, "timeout");
	t_is(attr.retry_cnt, 3, "retry_cnt");
	t_is(attr.rnr_retry, 2, "rnr_retry");
	t_is(attr.max_rd_atomic, 5, "max_rd_atomic");
	t_is(attr.max_dest_rd_atomic, 6, "max_dest_rd_atomic");
	t_is(attr.min_rnr_timer, 8, "min_rnr_timer");
	t_link_close(&l);
}

/* ----------------------------------------------------------------- in force at once */

/* The last completion of A: that status, after about so long. */
static void expect_failure(struct t_link *l, uint64_t since,
			   enum ibv_wc_status status, uint64_t us,
			   const char *what)
{
	struct ibv_wc wc;
	uint64_t took;

	if (!t_is(t_wait(l->a.scq, &wc, 1), 1, "%s: a completion", what))
		return;
	took = t_now_us() - since;
	t_is(wc.status, status, "%s: its status", what);
	t_true(took >= us && took < us + us / 10 + 3000 * t_slow(),
	       "%s: after %llu us, %llu expected", what,
	       (unsigned long long)took, (unsigned long long)us);
}

/* Between two messages of a stream; then the peer is gone. */
static void test_timeout(const struct pair_conn *conn)
{
	struct ibv_qp_attr attr = { .timeout = 12, .retry_cnt = 2 };
	unsigned int i;
	struct t_link l;
	uint64_t since;

	open_link(&l, conn);
	slow_down(SLOW);
	for (i = 0; i < 10; i++)
		post(&l.a, &l.b, IBV_WR_RDMA_WRITE, i);
	drain(l.a.qp);
	modify(l.a.qp, &attr, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT,
	       "timeout and retry_cnt");
	move(l.a.qp, IBV_QPS_RTS);
	expect_sends(&l, 0, 10, "timeout");
	t_rule("clear");
	t_rule("rx any drop");
	since = t_now_us();
	post(&l.a, &l.b, IBV_WR_SEND, 10);
	expect_failure(&l, since, IBV_WC_RETRY_EXC_ERR, 3 * (4096ULL << 12) / 1000,
		       "timeout");
	t_rule("clear");
	t_link_close(&l);
}

/* The responder's timer, in RTS; then the requester's count, in SQD. */
static void test_rnr(const struct pair_conn *conn)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = 18, .rnr_retry = 3 };
	struct pair_conn slow = *conn;
	struct t_link l;
	uint64_t since;

	slow.min_rnr = 26;		/* 81.92 ms */
	slow.rnr_retry = 6;
	open_link(&l, &slow);
	move(l.a.qp, IBV_QPS_SQD);
	modify(l.a.qp, &attr, IBV_QP_RNR_RETRY, "rnr_retry");
	move(l.a.qp, IBV_QPS_RTS);
	since = t_now_us();
	post(&l.a, &l.b, IBV_WR_SEND, 0);
	t_sleep_us(1000);		/* it waits for the first time */
	modify(l.b.qp, &attr, IBV_QP_MIN_RNR_TIMER, "min_rnr_timer");
	expect_failure(&l, since, IBV_WC_RNR_RETRY_EXC_ERR,
		       81920 + 2 * 5120, "RNR");
	t_link_close(&l);
}

/* 16 READs by A, and how long they take in milliseconds. */
static unsigned int read_ms(struct t_link *l, unsigned int first)
{
	uint64_t since = t_now_us();
	unsigned int i;

	for (i = 0; i < 16; i++)
		post(&l->a, &l->b, IBV_WR_RDMA_READ, first + i);
	expect_sends(l, first, 16, "READs");
	return (t_now_us() - since) / 1000;
}

static void limit(struct t_link *l, uint8_t at_a, uint8_t at_b)
{
	struct ibv_qp_attr attr = {
		.max_rd_atomic = at_a, .max_dest_rd_atomic = at_b,
	};

	drain(l->a.qp);
	drain(l->b.qp);
	modify(l->a.qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic");
	modify(l->b.qp, &attr, IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic");
	move(l->a.qp, IBV_QPS_RTS);
	move(l->b.qp, IBV_QPS_RTS);
}

/* Each takes a millisecond, or all of them do. Some are posted while it changes. */
static void test_reads(const struct pair_conn *conn)
{
	struct pair_conn reads = *conn;
	struct t_link l;
	unsigned int i, ms;

	reads.rd_atomic = 16;
	open_link(&l, &reads);
	for (i = 0; i < MANY; i++)
		memset(l.b.mem + i * PIECE, i + 1, PIECE);
	slow_down(SLOW);
	ms = read_ms(&l, 0);
	t_true(ms < 10 * t_slow(), "16 READs, 16 at a time: %u ms", ms);
	for (i = 16; i < 24; i++)
		post(&l.a, &l.b, IBV_WR_RDMA_READ, i);
	limit(&l, 1, 1);
	expect_sends(&l, 16, 8, "READs across the change");
	ms = read_ms(&l, 24);
	t_true(ms >= 16 * t_slow(), "16 READs, one at a time: %u ms", ms);
	limit(&l, 16, 16);
	ms = read_ms(&l, 0);
	t_true(ms < 10 * t_slow(), "16 READs, 16 again: %u ms", ms);
	for (i = 0; i < MANY; i++)
		if (memcmp(l.a.mem + i * PIECE, l.b.mem + i * PIECE, SHORT))
			t_true(false, "bytes of READ %u", i);
	t_rule("clear");
	t_link_close(&l);
}

/* ---------------------------------------------------------- acknowledgements */

/* A packet of the responder stands for many, if they come close together. */
static void test_coalescing(const struct pair_conn *conn)
{
	unsigned int i;
	struct t_link l;
	uint64_t acks, packets;

	open_link(&l, conn);
	packets = t_counter(1, "rx_packets");
	acks = t_counter(1, "tx_packets");
	for (i = 0; i < MANY; i++)
		post(&l.a, &l.b, IBV_WR_RDMA_WRITE, i);
	expect_sends(&l, 0, MANY, "a stream");
	packets = t_counter(1, "rx_packets") - packets;
	acks = t_counter(1, "tx_packets") - acks;
	t_true(packets >= MANY * PIECE / 1024 && acks * 8 <= packets,
	       "%llu packets were acknowledged by %llu",
	       (unsigned long long)packets, (unsigned long long)acks);
	t_link_close(&l);
}

/*
 * Receives come one by one, in time or not. A message for which the peer has told of none
 * goes by its first packet, so of what an RNR NAK refuses nothing but that goes again.
 */
static void test_credits(const struct pair_conn *conn)
{
	uint64_t again, refused, dropped;
	struct pair_conn slow = *conn;
	unsigned int i;
	struct t_link l;
	struct ibv_wc wc;

	slow.min_rnr = 14;		/* 1.28 ms */
	open_link(&l, &slow);
	t_recv(&l.b, 2);
	post(&l.a, &l.b, IBV_WR_SEND, 0);
	expect_sends(&l, 0, 1, "the first, which tells of one more");
	again = t_counter(0, "retransmits");
	refused = t_counter(0, "rnr_naks_received");
	dropped = t_counter(1, "drop_seq");
	for (i = 1; i < MANY; i++)
		post(&l.a, &l.b, IBV_WR_SEND, i);
	for (i = 0; i < MANY && t_wait(l.b.rcq, &wc, 1) == 1; i++)
		if (i > 0)
			t_recv(&l.b, 1);
	t_is(i, MANY, "messages received");
	expect_sends(&l, 1, MANY - 1, "messages, receives one by one");
	again = t_counter(0, "retransmits") - again;
	refused = t_counter(0, "rnr_naks_received") - refused;
	t_true(refused > 0 && refused < 2 * MANY, "%llu were refused",
	       (unsigned long long)refused);
	t_is(again, refused, "packets sent again");
	t_is(t_counter(1, "drop_seq") - dropped, 0, "packets sent in vain behind those");
	t_link_close(&l);
}

int main(int argc, char **argv)
{
	struct pair_conn conn;

	t_args(argc, argv, "Changes of attributes under traffic.");
	t_open();
	pair_conn_init(&conn, &t_port[0], &t_port[1]);
	conn.timeout = 17;		/* 0.54 s: nothing is repeated by it */
	test_drain(&conn);
	test_allowed(&conn);
	test_timeout(&conn);
	test_rnr(&conn);
	test_reads(&conn);
	test_coalescing(&conn);
	test_credits(&conn);
	t_close();
	return t_done();
}
