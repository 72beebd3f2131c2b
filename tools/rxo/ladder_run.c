// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/rxodv.h>

#include "debugfs.h"
#include "ladder_run.h"

#define LENGTH		8		/* of a message */
#define LIMIT_NS	20000000000ULL	/* for each completion */
#define NUM_WR		4

struct end {
	struct ibv_cq *cq;	/* of both queues, so that it shows their order */
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char mem[2 * LENGTH];
};

static int failed(char *err, const char *what, int code)
{
	snprintf(err, PAIR_ERR_LEN, "%s: %s", what, strerror(code));
	return -1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* -------------------------------------------------------------- open, close */

static struct ibv_qp *create_qp(struct end *end, const struct pair_port *port,
				bool ordered)
{
	struct rxodv_qp_init_attr more = {
		.comp_mask = RXODV_QP_INIT_ATTR_MASK_CREATE_FLAGS,
		.create_flags = RXODV_QP_CREATE_ORDERED_COMPLETIONS,
	};
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = {
			.max_send_wr = NUM_WR,
			.max_recv_wr = NUM_WR,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = port->pd,
	};

	return ordered ? rxodv_create_qp(port->ctx, &attr, &more) :
			 ibv_create_qp_ex(port->ctx, &attr);
}

static void end_close(struct end *end)
{
	if (end->qp)
		ibv_destroy_qp(end->qp);
	if (end->mr)
		ibv_dereg_mr(end->mr);
	if (end->cq)
		ibv_destroy_cq(end->cq);
}

static int end_open(struct end *end, const struct pair_port *port, bool ordered,
		    char *err)
{
	end->cq = ibv_create_cq(port->ctx, 2 * NUM_WR, NULL, NULL, 0);
	if (!end->cq)
		return failed(err, "no completion queue", errno);
	end->mr = ibv_reg_mr(port->pd, end->mem, sizeof(end->mem),
			     IBV_ACCESS_LOCAL_WRITE);
	if (!end->mr)
		return failed(err, "no memory region", errno);
	end->qp = create_qp(end, port, ordered);
	if (!end->qp)
		return failed(err, ordered ?
			      "no queue pair with ordered completions" :
			      "no queue pair", errno);
	return 0;
}

/* ----------------------------------------------------------------- requests */

static int post_recv(struct end *end, int id, char *err)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->mem + LENGTH,
		.length = LENGTH,
		.lkey = end->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
	}, *bad;
	int ret = ibv_post_recv(end->qp, &wr, &bad);

	return ret ? failed(err, "cannot post a receive", ret) : 0;
}

static int post_send(struct end *end, int id, struct ladder_run *run, char *err)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->mem,
		.length = LENGTH,
		.lkey = end->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	}, *bad;
	int ret;

	run->posted_ns[id] = now_ns();
	ret = ibv_post_send(end->qp, &wr, &bad);
	return ret ? failed(err, "cannot post a send", ret) : 0;
}

/* The next completion of an end: its id, or -1. */
static int take(struct end *end, struct ladder_run *run, char *err)
{
	static const struct timespec pause = { .tv_nsec = 20000 };
	uint64_t limit = now_ns() + LIMIT_NS;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(end->cq, 1, &wc))) {
		if (now_ns() > limit) {
			snprintf(err, PAIR_ERR_LEN, "no completion");
			return -1;
		}
		nanosleep(&pause, NULL);
	}
	if (n < 0 || wc.status != IBV_WC_SUCCESS || wc.wr_id >= LADDER_IDS) {
		snprintf(err, PAIR_ERR_LEN, "a request has failed: %s",
			 n < 0 ? "polling" : ibv_wc_status_str(wc.status));
		return -1;
	}
	run->polled_ns[wc.wr_id] = now_ns();
	return wc.wr_id;
}

/* -------------------------------------------------------------------- fault */

/* Until now it may have been another queue pair's: one write, no code patched. */
static int lose_one_ack(const struct ladder_run *run, char *err)
{
	char rule[64];
	int ret;

	snprintf(rule, sizeof(rule), "clear\nrx ack qpn=%u nth=1 drop\n",
		 run->qpn_a);
	ret = debugfs_write(ibv_get_device_name(run->a->ctx->device), "faults",
			    rule);
	return ret ? failed(err, "cannot lose an acknowledgement", ret) : 0;
}

static int check_lost(const struct ladder_run *run, char *err)
{
	char *text = debugfs_read(ibv_get_device_name(run->a->ctx->device),
				  "faults");
	int ret = text && strstr(text, " hit 1\n") ? 0 : -1;

	if (ret)
		snprintf(err, PAIR_ERR_LEN,
			 "not exactly one acknowledgement was lost");
	free(text);
	return ret;
}

/* ------------------------------------------------------------------ scenario */

static int play(struct ladder_run *run, struct end *a, struct end *b, char *err)
{
	int i;

	if (post_recv(a, LADDER_RECV2, err) || post_recv(b, LADDER_RECV1, err))
		return -1;
	if (post_send(a, LADDER_SEND1, run, err))
		return -1;
	if (take(b, run, err) != LADDER_RECV1)
		return -1;
	if (post_send(b, LADDER_SEND2, run, err))
		return -1;
	for (i = 0; i < 2; i++) {
		run->order[i] = take(a, run, err);
		if (run->order[i] < 0)
			return -1;
	}
	return take(b, run, err) == LADDER_SEND2 ? 0 : -1;
}

static int connect_and_play(struct ladder_run *run, struct end *a,
			    struct end *b, char *err)
{
	struct pair_conn conn;
	int ret;

	pair_conn_init(&conn, run->a, run->b);
	run->qpn_a = a->qp->qp_num;
	run->qpn_b = b->qp->qp_num;
	ret = pair_connect(a->qp, run->a, b->qp, run->b, &conn);
	if (ret)
		return failed(err, "cannot connect the queue pairs", ret);
	if (lose_one_ack(run, err) || play(run, a, b, err))
		return -1;
	return check_lost(run, err);
}

int ladder_run(struct ladder_run *run, char *err)
{
	struct end a = { 0 }, b = { 0 };
	int ret;

	snprintf(err, PAIR_ERR_LEN, "completions in an impossible order");
	ret = end_open(&a, run->a, run->ordered, err);
	if (!ret)
		ret = end_open(&b, run->b, false, err);
	if (!ret)
		ret = connect_and_play(run, &a, &b, err);
	end_close(&a);
	end_close(&b);
	return ret;
}
