// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stream.h"

static int failed(char *err, const char *what, int code)
{
	snprintf(err, PAIR_ERR_LEN, "%s: %s", what, strerror(code));
	return -1;
}

/* -------------------------------------------------------------- open, close */

static struct ibv_qp *create_qp(const struct pair_port *port, struct ibv_cq *cq,
				uint32_t send, uint32_t recv)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = send,
			.max_recv_wr = recv,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	return ibv_create_qp(port->pd, &attr);
}

static void create_recv_cq(struct stream *s, const struct pair_port *b,
			   bool extended)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = s->depth,
		.cq_context = s,
		.channel = s->channel,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};

	if (!extended) {
		s->recv_cq = ibv_create_cq(b->ctx, s->depth, s, s->channel, 0);
		return;
	}
	s->recv_cq_ex = ibv_create_cq_ex(b->ctx, &attr);
	if (s->recv_cq_ex)
		s->recv_cq = ibv_cq_ex_to_cq(s->recv_cq_ex);
}

static int create_all(struct stream *s, const struct pair_port *a,
		      const struct pair_port *b, bool extended, char *err)
{
	struct pair_conn conn;
	int ret;

	s->channel = ibv_create_comp_channel(b->ctx);
	if (!s->channel)
		return failed(err, "cannot create a completion channel", errno);
	s->send_cq = ibv_create_cq(a->ctx, s->depth, NULL, NULL, 0);
	if (!s->send_cq)
		return failed(err, "cannot create a CQ", errno);
	create_recv_cq(s, b, extended);
	if (!s->recv_cq)
		return failed(err, "cannot create a CQ", errno);
	s->send_qp = create_qp(a, s->send_cq, s->depth, 1);
	if (!s->send_qp)
		return failed(err, "cannot create a QP", errno);
	s->recv_qp = create_qp(b, s->recv_cq, 1, s->depth);
	if (!s->recv_qp)
		return failed(err, "cannot create a QP", errno);

	pair_conn_init(&conn, a, b);
	ret = pair_connect(s->send_qp, a, s->recv_qp, b, &conn);
	return ret ? failed(err, "cannot connect the QPs", ret) : 0;
}

static int open_either(struct stream *s, const struct pair_port *a,
		       const struct pair_port *b, uint32_t depth, bool extended,
		       char *err)
{
	memset(s, 0, sizeof(*s));
	s->depth = depth;
	if (!create_all(s, a, b, extended, err))
		return 0;
	stream_close(s);
	return -1;
}

int stream_open(struct stream *s, const struct pair_port *a,
		const struct pair_port *b, uint32_t depth, char *err)
{
	return open_either(s, a, b, depth, false, err);
}

int stream_open_ex(struct stream *s, const struct pair_port *a,
		   const struct pair_port *b, uint32_t depth, char *err)
{
	return open_either(s, a, b, depth, true, err);
}

void stream_close(struct stream *s)
{
	if (s->send_qp)
		ibv_destroy_qp(s->send_qp);
	if (s->recv_qp)
		ibv_destroy_qp(s->recv_qp);
	if (s->send_cq)
		ibv_destroy_cq(s->send_cq);
	if (s->recv_cq)
		ibv_destroy_cq(s->recv_cq);
	if (s->channel)
		ibv_destroy_comp_channel(s->channel);
	memset(s, 0, sizeof(*s));
}

/* --------------------------------------------------------------------- send */

/* Receives for all the messages that may be under way. */
static int post_receives(struct stream *s, char *err)
{
	struct ibv_recv_wr wr[STREAM_CHAIN], *bad;
	uint32_t i, n, want;
	int ret;

	want = atomic_load(&s->processed) + s->depth - s->received;
	while (want >= STREAM_CHAIN / 2) {
		n = want < STREAM_CHAIN ? want : STREAM_CHAIN;
		for (i = 0; i < n; i++)
			wr[i] = (struct ibv_recv_wr){
				.wr_id = s->received + i,
				.next = i + 1 < n ? &wr[i + 1] : NULL,
			};
		ret = ibv_post_recv(s->recv_qp, wr, &bad);
		if (ret)
			return failed(err, "cannot post a receive", ret);
		s->received += n;
		want -= n;
	}
	return 0;
}

/* Completions of the sender: one stands for STREAM_CHAIN messages. */
static int reap(struct stream *s, char *err)
{
	struct ibv_wc wc[16];
	int i, n;

	do {
		n = ibv_poll_cq(s->send_cq, 16, wc);
		if (n < 0)
			return failed(err, "cannot poll the CQ of the sender", EIO);
		for (i = 0; i < n; i++) {
			if (wc[i].status != IBV_WC_SUCCESS) {
				snprintf(err, PAIR_ERR_LEN, "message %u: %s",
					 (unsigned int)wc[i].wr_id,
					 ibv_wc_status_str(wc[i].status));
				return -1;
			}
			s->done = wc[i].wr_id + 1;
		}
	} while (n > 0);
	return 0;
}

static int post_sends(struct stream *s, uint32_t n, char *err)
{
	struct ibv_send_wr wr[STREAM_CHAIN], *bad;
	uint32_t i, number;
	int ret;

	for (i = 0; i < n; i++) {
		number = s->sent + i;
		wr[i] = (struct ibv_send_wr){
			.wr_id = number,
			.next = i + 1 < n ? &wr[i + 1] : NULL,
			.opcode = IBV_WR_SEND_WITH_IMM,
			.imm_data = htonl(number),
			.send_flags = s->flags |
				      ((number + 1) % STREAM_CHAIN ? 0 :
				       IBV_SEND_SIGNALED),
		};
	}
	ret = ibv_post_send(s->send_qp, wr, &bad);
	if (ret)
		return failed(err, "cannot post a send", ret);
	s->sent += n;
	return 0;
}

int stream_send(struct stream *s, uint32_t n, char *err)
{
	uint32_t room;

	if (post_receives(s, err) || reap(s, err))
		return -1;

	/* A receive that is posted, and a slot in the send queue. */
	room = s->received - s->sent;
	if (s->depth - (s->sent - s->done) < room)
		room = s->depth - (s->sent - s->done);
	if (n > room)
		n = room;
	if (n > STREAM_CHAIN)
		n = STREAM_CHAIN;
	if (n && post_sends(s, n, err))
		return -1;
	return n;
}

uint32_t stream_number(const struct ibv_wc *wc)
{
	return ntohl(wc->imm_data);
}
