// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* States of queue pairs, what queries say, creating with wrong sizes, objects in use. */
#include <errno.h>
#include <string.h>

#include "ve.h"

/* ----------------------------------------------------------------- transitions */

static void expect_refused_move(struct t_end *end, struct ibv_qp_attr *attr,
				int mask, const char *what)
{
	enum ibv_qp_state before = t_state(end->qp);
	int err = ibv_modify_qp(end->qp, attr, mask);

	t_true(err > 0, "%s: refused (%s)", what, strerror(err));
	t_is(t_state(end->qp), before, "%s: the state stays", what);
}

static void test_bad_moves_from_reset(struct t_end *end)
{
	struct ibv_qp_attr attr = { .port_num = 1 };
	const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			 IBV_QP_ACCESS_FLAGS;

	attr.qp_state = IBV_QPS_RTR;
	expect_refused_move(end, &attr, IBV_QP_STATE, "RESET to RTR");
	attr.qp_state = IBV_QPS_RTS;
	expect_refused_move(end, &attr, IBV_QP_STATE, "RESET to RTS");
	attr.qp_state = IBV_QPS_INIT;
	expect_refused_move(end, &attr, IBV_QP_STATE,
			    "RESET to INIT without attributes");
	attr.port_num = 2;
	expect_refused_move(end, &attr, mask, "INIT on port 2");
	attr.port_num = 0;
	expect_refused_move(end, &attr, mask, "INIT on port 0");
	attr.port_num = 1;
	attr.pkey_index = 1;
	expect_refused_move(end, &attr, mask, "INIT with pkey index 1");
	attr.pkey_index = 0;
	attr.cur_qp_state = IBV_QPS_RTS;
	expect_refused_move(end, &attr, mask | IBV_QP_CUR_STATE,
			    "INIT with a wrong current state");
}

static void test_bad_moves_from_init(struct t_link *l)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct pair_conn conn = l->conn;
	struct pair_port wrong = *l->a.port;

	expect_refused_move(&l->a, &attr, IBV_QP_STATE, "INIT to RTS");
	attr.qp_state = IBV_QPS_RTR;
	expect_refused_move(&l->a, &attr, IBV_QP_STATE,
			    "INIT to RTR without attributes");
	conn.mtu = 0;
	t_true(pair_to_rtr(l->a.qp, l->a.port, l->b.port, 100, &conn) > 0,
	       "RTR with path MTU 0: refused");
	conn.mtu = IBV_MTU_4096 + 1;
	t_true(pair_to_rtr(l->a.qp, l->a.port, l->b.port, 100, &conn) > 0,
	       "RTR with a path MTU above 4096: refused");
	conn = l->conn;
	wrong.gid_index = l->a.port->attr.gid_tbl_len - 1;
	t_true(pair_to_rtr(l->a.qp, &wrong, l->b.port, 100, &conn) > 0,
	       "RTR with an empty source GID: refused");
	wrong.gid_index = 100000;
	t_true(pair_to_rtr(l->a.qp, &wrong, l->b.port, 100, &conn) > 0,
	       "RTR with a source GID index out of range: refused");
	conn.rd_atomic = 255;
	t_true(pair_to_rtr(l->a.qp, l->a.port, l->b.port, 100, &conn) > 0,
	       "RTR with too many READs: refused");
	ve_expect_state(&l->a, IBV_QPS_INIT, "after all that");
}

static void test_moves(void)
{
	struct t_config config = { .unconnected = true };
	struct ibv_qp_attr attr = { 0 };
	struct t_link l;

	t_link_open(&l, &config);
	ve_expect_state(&l.a, IBV_QPS_RESET, "a new QP");
	test_bad_moves_from_reset(&l.a);
	t_is(pair_to_init(l.a.qp, &l.conn), 0, "RESET to INIT");
	t_is(pair_to_init(l.b.qp, &l.conn), 0, "the same of the peer");
	test_bad_moves_from_init(&l);
	t_is(pair_to_rtr(l.a.qp, l.a.port, l.b.port, l.b.qp->qp_num, &l.conn), 0,
	     "INIT to RTR");
	t_is(pair_to_rtr(l.b.qp, l.b.port, l.a.port, l.a.qp->qp_num, &l.conn), 0,
	     "the same of the peer");
	attr.qp_state = IBV_QPS_RTS;
	expect_refused_move(&l.a, &attr, IBV_QP_STATE,
			    "RTR to RTS without attributes");
	t_is(pair_to_rts(l.a.qp, &l.conn), 0, "RTR to RTS");
	t_is(pair_to_rts(l.b.qp, &l.conn), 0, "the same of the peer");
	attr.qp_state = IBV_QPS_INIT;
	expect_refused_move(&l.a, &attr, IBV_QP_STATE, "RTS to INIT");
	attr.qp_state = IBV_QPS_SQD;
	t_is(ibv_modify_qp(l.a.qp, &attr, IBV_QP_STATE), 0, "RTS to SQD");
	ve_expect_state(&l.a, IBV_QPS_SQD, "drained");
	attr.qp_state = IBV_QPS_RTS;
	t_is(ibv_modify_qp(l.a.qp, &attr, IBV_QP_STATE), 0, "SQD to RTS");
	t_deliver(&l, 3, 0);
	t_is(t_drop_all(l.b.rcq), 3, "messages after all that");
	t_is(pair_to_err(l.a.qp), 0, "RTS to ERR");
	expect_refused_move(&l.a, &attr, IBV_QP_STATE, "ERR to RTS");
	t_link_close(&l);
	ve_drop_events();
}

/* What is posted in SQD is sent when the QP is back in RTS. */
static void test_drain(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct t_link l;
	struct ibv_wc wc;

	t_link_open(&l, NULL);
	t_recv(&l.b, 1);
	t_is(ibv_modify_qp(l.a.qp, &attr, IBV_QP_STATE), 0, "RTS to SQD");
	ve_post(&l.a, IBV_WR_SEND, NULL, 0, 0);
	t_sleep_us(50000);
	t_is(ibv_poll_cq(l.a.scq, 1, &wc), 0, "completions in SQD");
	attr.qp_state = IBV_QPS_RTS;
	t_is(ibv_modify_qp(l.a.qp, &attr, IBV_QP_STATE), 0, "SQD to RTS");
	t_wait_status(l.a.scq, IBV_WC_SUCCESS, "what was posted in SQD");
	t_link_close(&l);
}

/* ---------------------------------------------------------------------- queries */

static void test_query_qp(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct t_config config = { 0 };
	struct t_link l;

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.psn = 0x123450;
	config.conn.timeout = 17;
	config.conn.retry = 5;
	config.conn.rnr_retry = 6;
	config.conn.min_rnr = 20;
	config.conn.mtu = IBV_MTU_512;
	t_link_open(&l, &config);
	t_is(ibv_query_qp(l.a.qp, &attr, 0xfffff, &init), 0, "query QP");
	t_is(attr.qp_state, IBV_QPS_RTS, "qp_state");
	t_is(attr.path_mtu, IBV_MTU_512, "path_mtu");
	t_is(attr.dest_qp_num, l.b.qp->qp_num, "dest_qp_num");
	t_is(attr.rq_psn, pair_psn(&l.conn, l.b.qp->qp_num), "rq_psn");
	t_is(attr.sq_psn, pair_psn(&l.conn, l.a.qp->qp_num), "sq_psn");
	t_is(attr.timeout, 17, "timeout");
	t_is(attr.retry_cnt, 5, "retry_cnt");
	t_is(attr.rnr_retry, 6, "rnr_retry");
	t_is(attr.min_rnr_timer, 20, "min_rnr_timer");
	t_is(attr.max_rd_atomic, l.conn.rd_atomic, "max_rd_atomic");
	t_is(attr.max_dest_rd_atomic, l.conn.rd_atomic, "max_dest_rd_atomic");
	/* Local write is implied and may be shown or not. */
	t_is(attr.qp_access_flags | IBV_ACCESS_LOCAL_WRITE, l.conn.access,
	     "qp_access_flags");
	t_is(attr.port_num, 1, "port_num");
	t_is(attr.ah_attr.is_global, 1, "is_global");
	t_is(attr.ah_attr.grh.sgid_index, l.a.port->gid_index, "sgid_index");
	t_true(!memcmp(&attr.ah_attr.grh.dgid, &l.b.port->gid,
		       sizeof(union ibv_gid)), "dgid");
	t_true(attr.cap.max_send_wr >= 128 && attr.cap.max_recv_wr >= 128 &&
	       attr.cap.max_send_sge >= 4 && attr.cap.max_inline_data >= 64,
	       "cap: %u sends, %u receives, %u SGEs, %u bytes inline",
	       attr.cap.max_send_wr, attr.cap.max_recv_wr,
	       attr.cap.max_send_sge, attr.cap.max_inline_data);
	t_true(init.send_cq == l.a.scq && init.recv_cq == l.a.rcq &&
	       init.qp_type == IBV_QPT_RC && !init.sq_sig_all, "init_attr");
	t_link_close(&l);
}

static void test_query_device(const struct pair_port *port)
{
	struct ibv_device_attr attr;
	struct ibv_port_attr p;

	t_is(ibv_query_device(port->ctx, &attr), 0, "query device");
	t_true(attr.max_qp > 0 && attr.max_cq > 0 && attr.max_mr > 0 &&
	       attr.max_pd > 0, "it has objects: %d QPs, %d CQs, %d MRs, %d PDs",
	       attr.max_qp, attr.max_cq, attr.max_mr, attr.max_pd);
	t_true(attr.max_qp_wr >= 128 && attr.max_cqe >= 256 &&
	       attr.max_sge >= 4 && attr.max_qp_rd_atom >= 1,
	       "of some size: %d requests, %d completions, %d SGEs, %d READs",
	       attr.max_qp_wr, attr.max_cqe, attr.max_sge,
	       attr.max_qp_rd_atom);
	t_is(attr.atomic_cap, IBV_ATOMIC_HCA, "atomics");
	t_is(attr.max_srq, 0, "SRQs");
	t_is(attr.phys_port_cnt, 1, "ports");
	t_true(attr.page_size_cap & 4096, "page sizes: %#llx",
	       (unsigned long long)attr.page_size_cap);
	t_is(ibv_query_port(port->ctx, 1, &p), 0, "query port 1");
	t_is(p.state, IBV_PORT_ACTIVE, "its state");
	t_is(p.link_layer, IBV_LINK_LAYER_ETHERNET, "its link layer");
	t_true(p.max_mtu == IBV_MTU_4096 && p.active_mtu <= p.max_mtu,
	       "its MTU: at %d of at most %d", 128 << p.active_mtu,
	       128 << p.max_mtu);
	t_true(p.gid_tbl_len > 0, "GIDs: %d", p.gid_tbl_len);
	t_true(ibv_query_port(port->ctx, 2, &p) != 0, "query port 2: refused");
}

/* -------------------------------------------------------------------- creating */

static void expect_no_qp(struct t_link *l, struct ibv_qp_cap cap,
			 enum ibv_qp_type type, const char *what)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = l->a.scq,
		.recv_cq = l->a.rcq,
		.qp_type = type,
		.cap = cap,
	};
	struct ibv_qp *qp = ibv_create_qp(l->a.port->pd, &attr);

	t_true(!qp, "create a QP %s: refused (%s)", what, strerror(errno));
	if (qp)
		ibv_destroy_qp(qp);
}

static void test_create(void)
{
	const struct ibv_qp_cap ok = { 16, 16, 1, 1, 0 };
	struct ibv_qp_cap cap;
	struct ibv_cq *cq;
	struct t_link l;

	t_link_open(&l, NULL);
	cap = ok;
	cap.max_send_wr = 1 << 30;
	expect_no_qp(&l, cap, IBV_QPT_RC, "for 2^30 sends");
	cap = ok;
	cap.max_recv_wr = ~0U;
	expect_no_qp(&l, cap, IBV_QPT_RC, "for 2^32-1 receives");
	cap = ok;
	cap.max_send_sge = 10000;
	expect_no_qp(&l, cap, IBV_QPT_RC, "with 10,000 SGEs");
	cap = ok;
	cap.max_inline_data = ~0U;
	expect_no_qp(&l, cap, IBV_QPT_RC, "with 2^32-1 bytes of inline data");
	expect_no_qp(&l, ok, IBV_QPT_UD, "of type UD");
	expect_no_qp(&l, ok, IBV_QPT_UC, "of type UC");
	cq = ibv_create_cq(l.a.port->ctx, 0, NULL, NULL, 0);
	t_true(!cq, "create a CQ of 0 entries: refused");
	cq = ibv_create_cq(l.a.port->ctx, 1 << 30, NULL, NULL, 0);
	t_true(!cq, "create a CQ of 2^30 entries: refused");
	cq = ibv_create_cq(l.a.port->ctx, 16, NULL, NULL, 1000);
	t_true(!cq, "create a CQ with completion vector 1000: refused");
	t_link_close(&l);
}

static void test_in_use(void)
{
	struct ibv_pd *pd;
	struct t_link l;

	t_link_open(&l, NULL);
	t_is(ibv_destroy_cq(l.a.scq), EBUSY, "destroy a CQ that a QP uses");
	pd = l.a.port->pd;
	t_is(ibv_dealloc_pd(pd), EBUSY, "deallocate a PD that a QP uses");
	t_deliver(&l, 2, 0);
	t_is(t_drop_all(l.b.rcq), 2, "messages after that");
	t_link_close(&l);
}

void ve_states(void)
{
	t_note("states, queries, objects");
	test_moves();
	test_drain();
	test_query_qp();
	test_query_device(&t_port[0]);
	test_create();
	test_in_use();
}
