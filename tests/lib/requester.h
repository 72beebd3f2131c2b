/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A requester under test: post, send, answer, pop, one line each. */
#ifndef REQUESTER_H
#define REQUESTER_H

#include "core/rxo_ack.h"
#include "t.h"

#define WRITE	RXE_ORDERED_WR_RDMA_WRITE
#define WRITE_I	RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM
#define SEND	RXE_ORDERED_WR_SEND
#define SEND_I	RXE_ORDERED_WR_SEND_WITH_IMM
#define READ	RXE_ORDERED_WR_RDMA_READ
#define SIG	RXE_ORDERED_SEND_SIGNALED
#define SOL	RXE_ORDERED_SEND_SOLICITED
#define FENCE	RXE_ORDERED_SEND_FENCE

#define VA	0x123456789000ull
#define SLOTS	16

struct requester {
	struct rxo_req req;
	struct rxo_swqe wqe[SLOTS];
	struct rxo_req_cfg cfg;
	struct rxo_req_act act;		/* last decision */
	struct rxo_ack_act ack;
	struct rxo_req_done done;
	u64 now;
	u64 next_id;
};

static inline void r_start(struct requester *r, u32 first)
{
	rxo_req_init(&r->req, r->wqe, SLOTS - 1);
	rxo_req_start(&r->req, &r->cfg, rxo_psn_make(first));
}

/* mtu 256, plenty of everything, time-out 8.192 us, PSN 10 */
static inline void r_init(struct requester *r)
{
	memset(r, 0, sizeof(*r));
	r->cfg = (struct rxo_req_cfg){
		.mtu = 256, .dqpn = 0x222, .pkey = RXO_DEFAULT_PKEY,
		.max_rd_atomic = 4, .timeout = 1, .retry_cnt = 2,
		.rnr_retry = 2, .window = 64, .ack_every = 16,
	};
	r->now = 1000;
	r_start(r, 10);
}

static inline void r_post(struct requester *r, u8 opcode, u8 flags, u32 len)
{
	T_CHECK(rxo_req_has_room(&r->req));
	*rxo_req_slot(&r->req) = (struct rxo_swqe){
		.wr_id = r->next_id++, .opcode = opcode, .flags = flags,
		.length = len, .raddr = VA, .rkey = 0x77,
		.imm = cpu_to_be32(0xfeed),
	};
	rxo_req_push(&r->req);
}

static inline void r_post_bad(struct requester *r, enum rxo_status status)
{
	*rxo_req_slot(&r->req) = (struct rxo_swqe){
		.wr_id = r->next_id++, .status = (u8)status,
	};
	rxo_req_push(&r->req);
}

static inline enum rxo_req_kind r_next(struct requester *r)
{
	rxo_req_next(&r->req, r->now, &r->act);
	return r->act.kind;
}

static inline void r_sent(struct requester *r, enum rxo_req_result result)
{
	rxo_req_sent(&r->req, &r->act, result, r->now);
}

/* The next packet leaves; its PSN. */
static inline u32 r_send(struct requester *r)
{
	T_EQ(r_next(r), RXO_REQ_SEND);
	r_sent(r, RXO_SENT);
	return r->act.pkt.psn.v;
}

/* All that can be sent leaves; how many packets. */
static inline u32 r_send_all(struct requester *r)
{
	u32 n = 0;

	while (r_next(r) == RXO_REQ_SEND) {
		r_sent(r, RXO_SENT);
		T_CHECK(n++ < 1000);
	}
	return n;
}

static inline enum rxo_ack_kind r_answer(struct requester *r, u8 opcode,
					 u32 psn, u8 syndrome, u32 len)
{
	struct rxo_pkt pkt = {
		.opcode = opcode, .psn = rxo_psn_make(psn),
		.syndrome = syndrome, .payload_len = len,
	};

	rxo_ack_rx(&r->req, &pkt, r->now, &r->ack);
	return r->ack.kind;
}

static inline enum rxo_ack_kind r_ack(struct requester *r, u32 psn)
{
	return r_answer(r, RXO_OP_ACK, psn, 0x1f, 0);
}

static inline enum rxo_ack_kind r_nak(struct requester *r, u32 psn,
				      enum rxo_nak code)
{
	return r_answer(r, RXO_OP_ACK, psn, rxo_aeth_make(RXO_AETH_NAK,
							  (u8)code), 0);
}

static inline enum rxo_ack_kind r_rnr(struct requester *r, u32 psn)
{
	return r_answer(r, RXO_OP_ACK, psn, rxo_aeth_make(RXO_AETH_RNR, 1), 0);
}

/* A READ response that is taken and placed. */
static inline void r_data(struct requester *r, u8 opcode, u32 psn, u32 len)
{
	T_EQ(r_answer(r, opcode, psn, 0x1f, len), RXO_ACK_READ_DATA);
	rxo_ack_done(&r->req, &r->ack, RXO_PLACED, r->now);
}

static inline bool r_pop(struct requester *r)
{
	return rxo_req_pop(&r->req, false, &r->done);
}

/* The next to end is request @id, with @status. */
static inline void r_ends(struct requester *r, u64 id, enum rxo_status status)
{
	T_CHECK(r_pop(r));
	T_EQ(r->done.wr_id, id);
	T_EQ(r->done.status, status);
}

/* Nothing is to be popped; then the rest is flushed, from @id to @end - 1. */
static inline void r_flush(struct requester *r, u64 id, u64 end)
{
	T_CHECK(!r_pop(r));
	T_EQ(r_next(r), RXO_REQ_WAIT);
	T_EQ(r->act.wait, RXO_WAIT_FAILED);
	T_EQ(rxo_req_deadline(&r->req), U64_MAX);
	for (; id < end; id++) {
		T_CHECK(rxo_req_pop(&r->req, true, &r->done));
		T_EQ(r->done.wr_id, id);
		T_EQ(r->done.status, RXO_WC_WR_FLUSH_ERR);
		T_CHECK(r->done.wants_cqe);
	}
	T_CHECK(!rxo_req_pop(&r->req, true, &r->done));
}

/* The ACK timer runs out. */
static inline void r_time_out(struct requester *r)
{
	T_CHECK(rxo_req_deadline(&r->req) != U64_MAX);
	r->now = rxo_req_deadline(&r->req);
	rxo_req_expire(&r->req, r->now);
}

#endif /* REQUESTER_H */
