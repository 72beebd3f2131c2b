// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ordered completions of one queue pair: what is refused, what is held when the
 * acknowledgements to it are lost, and in which order all of it ends. Loses them
 * itself, by rules of the fault layer, so it needs root and debugfs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "t.h"
#include "t_link.h"
#include "t_ordered.h"

/* ------------------------------------------------------------------- helpers */

/* Both kinds of completions in one CQ, scq, at both ends. */
static struct ibv_qp *create_one_cq(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr)
{
	attr->recv_cq = attr->send_cq;
	return t_create_ordered(pd, attr);
}

static void open_link(struct t_link *l, struct t_config *config)
{
	if (!config->conn.mtu)
		pair_conn_init(&config->conn, &t_port[0], &t_port[1]);
	if (!config->create)
		config->create = create_one_cq;
	config->sig_all = true;
	t_link_open(l, config);
}

static void send_one(struct t_end *end, uint64_t id)
{
	struct ibv_send_wr wr = { .wr_id = id, .opcode = IBV_WR_SEND };

	if (t_post_send(end, &wr))
		t_fatal("cannot post a send");
}

/*
 * A sends, its acknowledgement is lost, B answers: A has taken the answer, since B
 * has been told so, and holds it.
 */
static void hold_one(struct t_link *l, uint64_t id)
{
	struct ibv_wc wc;

	t_rule("tx ack drop");
	send_one(&l->a, id);
	t_is(t_wait(l->b.scq, &wc, 1), 1, "the message arrives");
	send_one(&l->b, id);
	t_is(t_wait(l->b.scq, &wc, 1), 1, "the answer is acknowledged");
	t_is(ibv_poll_cq(l->a.scq, 1, &wc), 0, "completions while it is held");
}

static void expect(struct ibv_cq *cq, enum ibv_wc_opcode opcode, uint64_t id,
		   enum ibv_wc_status status)
{
	struct ibv_wc wc;

	if (!t_is(t_wait(cq, &wc, 1), 1, "a completion"))
		return;
	t_is(wc.status, status, "its status, number %llu",
	     (unsigned long long)id);
	t_is(wc.wr_id, id, "its wr_id");
	if (status == IBV_WC_SUCCESS)
		t_is(wc.opcode, opcode, "its opcode");
}

#define expect_send(l, id, status) \
	expect((l)->a.scq, IBV_WC_SEND, id, IBV_WC_##status)
#define expect_recv(l, id, status) \
	expect((l)->a.scq, IBV_WC_RECV, id, IBV_WC_##status)

/* ------------------------------------------------------------------ refusals */

static void test_refusals(void)
{
	struct t_config config = { .create = t_create_ordered };
	struct ibv_qp_attr attr = { .timeout = 0 };
	struct ibv_qp_init_attr init;
	struct t_link l;

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.unconnected = true;
	t_link_open(&l, &config);
	l.conn.timeout = 0;
	t_is(pair_connect(l.a.qp, l.a.port, l.b.qp, l.b.port, &l.conn), EINVAL,
	     "RTS with time-out 0");
	t_is(t_state(l.a.qp), IBV_QPS_RTR, "and it stays where it was");
	t_link_close(&l);

	config.unconnected = false;
	t_link_open(&l, &config);
	attr.qp_state = IBV_QPS_SQD;
	t_is(ibv_modify_qp(l.a.qp, &attr, IBV_QP_STATE), 0, "RTS to SQD");
	t_is(ibv_modify_qp(l.a.qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT),
	     EINVAL, "time-out 0 in SQD");
	t_is(ibv_query_qp(l.a.qp, &attr, IBV_QP_TIMEOUT, &init), 0, "query");
	t_is(attr.timeout, l.conn.timeout, "the time-out as it was");
	t_link_close(&l);

	memset(&init, 0, sizeof(init));
	errno = 0;
	t_true(!t_create_qp(t_port[0].pd, &init, 1U << 31) && errno == EOPNOTSUPP,
	       "unknown flag");
}

/* --------------------------------------------------------------------- holds */

/* The ACK that is drawn out releases it, the send first. */
static void test_released(void)
{
	struct t_config config = {};
	struct t_link l;

	open_link(&l, &config);
	t_recv(&l.a, 2);
	t_recv(&l.b, 2);
	hold_one(&l, 7);
	t_rule("clear");
	expect_send(&l, 7, SUCCESS);
	expect_recv(&l, 0, SUCCESS);
	t_link_close(&l);
}

/* A receive that is held has not made room for another. */
static void test_counts_as_posted(void)
{
	struct t_config config = { .recv_wr = 2 };
	struct t_link l;

	open_link(&l, &config);
	t_recv(&l.a, l.a.cap.max_recv_wr);
	t_recv(&l.b, 1);
	hold_one(&l, 7);
	t_is(t_post_recv(&l.a, 99, NULL, 0), ENOMEM, "one more receive");
	t_rule("clear");
	expect_send(&l, 7, SUCCESS);
	expect_recv(&l, 0, SUCCESS);
	t_is(t_post_recv(&l.a, 99, NULL, 0), 0, "one more receive");
	t_link_close(&l);
}

/* Sends, then what is held, then what was never used. */
static void test_error(void)
{
	struct t_config config = {};
	struct t_link l;

	open_link(&l, &config);
	t_recv(&l.a, 3);
	t_recv(&l.b, 2);
	hold_one(&l, 7);
	t_is(pair_to_err(l.a.qp), 0, "move to ERR");
	expect_send(&l, 7, WR_FLUSH_ERR);
	expect_recv(&l, 0, SUCCESS);
	expect_recv(&l, 1, WR_FLUSH_ERR);
	expect_recv(&l, 2, WR_FLUSH_ERR);
	t_rule("clear");
	t_link_close(&l);
}

static void test_retries_used_up(void)
{
	struct t_config config = {};
	struct t_link l;

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.timeout = 14;	/* 67 ms */
	config.conn.retry = 1;
	open_link(&l, &config);
	t_recv(&l.a, 2);
	t_recv(&l.b, 2);
	hold_one(&l, 7);
	expect_send(&l, 7, RETRY_EXC_ERR);
	expect_recv(&l, 0, SUCCESS);
	expect_recv(&l, 1, WR_FLUSH_ERR);
	t_rule("clear");
	t_link_close(&l);
}

/* The peer's message fails at us: it is behind what is held too. */
static void test_bad_message(void)
{
	struct t_config config = {};
	struct t_link l;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
	};

	open_link(&l, &config);
	t_recv(&l.a, 3);
	t_recv(&l.b, 2);
	hold_one(&l, 7);
	sge = (struct ibv_sge){ (uintptr_t)l.b.mem, 8, l.b.mr->lkey };
	t_is(t_post_send(&l.b, &wr), 0, "too long a message for the receive");
	expect_send(&l, 7, WR_FLUSH_ERR);
	expect_recv(&l, 0, SUCCESS);
	expect_recv(&l, 1, LOC_LEN_ERR);
	expect_recv(&l, 2, WR_FLUSH_ERR);
	t_rule("clear");
	t_link_close(&l);
}

static void test_reset(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct t_config config = {};
	struct ibv_wc wc;
	struct t_link l;

	open_link(&l, &config);
	t_recv(&l.a, 2);
	t_recv(&l.b, 2);
	hold_one(&l, 7);
	t_is(ibv_modify_qp(l.a.qp, &attr, IBV_QP_STATE), 0, "move to RESET");
	t_is(ibv_modify_qp(l.b.qp, &attr, IBV_QP_STATE), 0, "and the peer");
	t_is(ibv_poll_cq(l.a.scq, 1, &wc), 0, "completions after RESET");
	t_rule("clear");
	t_is(pair_connect(l.a.qp, l.a.port, l.b.qp, l.b.port, &l.conn), 0,
	     "connect again");
	t_recv(&l.a, 1);
	t_recv(&l.b, 1);
	send_one(&l.a, 8);
	send_one(&l.b, 8);
	t_is(t_wait(l.a.scq, &wc, 1) + t_wait(l.a.scq, &wc, 1), 2,
	     "completions of the new connection");
	t_is(ibv_poll_cq(l.a.scq, 1, &wc), 0, "and no more");
	t_link_close(&l);
}

/* Destroyed while something is held; nothing is left behind. */
static void test_destroy(void)
{
	struct t_config config = {};
	struct t_link l;

	open_link(&l, &config);
	t_recv(&l.a, 2);
	t_recv(&l.b, 2);
	hold_one(&l, 7);
	t_is(ibv_destroy_qp(l.a.qp), 0, "destroy");
	l.a.qp = NULL;
	t_rule("clear");
	t_link_close(&l);
}

/* ----------------------------------------------------------------------- NAKs */

static void set_overtaking(unsigned int us)
{
	FILE *f = fopen("/sys/module/rxe_ordered/parameters/overtaking_us", "w");

	if (!f || fprintf(f, "%u", us) < 0 || fclose(f))
		t_fatal("overtaking_us: %s", strerror(errno));
}

/*
 * B answers a message that it has no receive for. A NAK proves that it had not
 * executed it, if that came so long after the answer.
 */
static void test_nak(unsigned int overtaking_us)
{
	struct t_config config = {};
	uint64_t since, took;
	struct t_link l;
	struct ibv_wc wc;

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.min_rnr = 12;	/* 0.64 ms from NAK to NAK */
	config.conn.timeout = 17;
	set_overtaking(overtaking_us);
	open_link(&l, &config);
	t_recv(&l.a, 1);
	send_one(&l.a, 7);
	since = t_now_us();
	send_one(&l.b, 7);
	t_is(t_wait(l.b.scq, &wc, 1), 1, "the answer is acknowledged");
	expect_recv(&l, 0, SUCCESS);
	took = t_now_us() - since;
	t_true(took >= overtaking_us && took < overtaking_us + 3000 * t_slow(),
	       "released by a NAK %u us later: after %llu us", overtaking_us,
	       (unsigned long long)took);
	t_recv(&l.b, 1);
	expect_send(&l, 7, SUCCESS);
	t_link_close(&l);
	set_overtaking(0);
}

int main(int argc, char **argv)
{
	t_args(argc, argv, "Ordered completions of one queue pair.");
	t_open();
	test_refusals();
	test_released();
	test_counts_as_posted();
	test_error();
	test_retries_used_up();
	test_bad_message();
	test_reset();
	test_destroy();
	test_nak(0);
	test_nak(20000);
	t_close();
	return t_done();
}
