// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A requester in use, against a peer that answers anything: requests end once
 * and in order, nothing is sent or placed that was not posted.
 */
#include "core/rxo_ack.h"
#include "core/rxo_reorder.h"
#include "fuzz.h"

#define MTU	256
#define SLOTS	8

struct world {
	struct rxo_req req;
	struct rxo_req_cfg cfg;
	struct rxo_swqe wqe[SLOTS];
	u64 now;
	u64 posted, ended;
	bool failed;		/* a request has failed: all later ones flush */
	u64 read_at[SLOTS];	/* bytes of a result that were placed, in order */
	struct rxo_reorder order;
	struct rxo_pkt kept[RXO_REORDER_WINDOW];
};

static void post(struct world *w, struct tape *t)
{
	static const u32 lengths[] = { 0, 1, 256, 257, 600, 1500, 5000,
				       RXO_MAX_MSG };
	struct rxo_swqe *s;

	if (!rxo_req_has_room(&w->req))
		return;
	s = rxo_req_slot(&w->req);
	*s = (struct rxo_swqe){
		.wr_id = w->posted++, .raddr = 0x1000, .rkey = 3,
		.opcode = (u8)tape_pick(t, 7), .flags = (u8)tape_pick(t, 8),
		.length = lengths[tape_pick(t, ARRAY_SIZE(lengths))],
	};
	if (rxo_req_is_atomic(s))
		s->length = RXO_ATOMIC_LEN;
	if (tape_pick(t, 32) == 31)
		s->status = RXO_WC_LOC_QP_OP_ERR;
	w->read_at[w->req.head & (SLOTS - 1)] = 0;
	rxo_req_push(&w->req);
}

static void pop(struct world *w, bool flush)
{
	struct rxo_req_done done;

	while (rxo_req_pop(&w->req, flush, &done)) {
		MUST(done.wr_id == w->ended++);
		MUST(done.wr_opcode <= 6);
		if (w->failed)
			MUST(done.status == RXO_WC_WR_FLUSH_ERR);
		if (done.status == RXO_WC_SUCCESS && done.wr_opcode >= 4)
			MUST(w->read_at[done.slot] == done.byte_len);
		if (done.status)
			MUST(done.wants_cqe);
		w->failed |= done.status != RXO_WC_SUCCESS;
		MUST(w->failed == w->req.failed);
	}
	MUST(w->ended <= w->posted);
	if (flush)
		MUST(w->ended == w->posted);
}

static void send(struct world *w, struct tape *t)
{
	struct rxo_req_act act;
	const struct rxo_swqe *s;
	u8 hdr[RXO_MAX_HDR_LEN];
	u32 how;

	rxo_req_next(&w->req, w->now, &act);
	if (act.kind != RXO_REQ_SEND)
		return;
	MUST(!w->req.failed);
	s = &w->wqe[act.slot];
	MUST(s->wr_id >= w->ended && s->wr_id < w->posted);
	MUST(!s->status);
	MUST((u64)act.offset + act.len <= s->length);
	MUST(act.len <= MTU && act.len == act.pkt.payload_len);
	if (rxo_req_is_atomic(s)) {
		MUST(rxo_opcode_info(act.pkt.opcode)->class == RXO_CLASS_ATOMIC);
		MUST(act.pkt.va == s->raddr && !act.len);
	}
	if (act.pkt.opcode == RXO_OP_READ_REQUEST) {
		MUST(act.pkt.va == s->raddr + act.offset);
		MUST((u64)act.offset + act.pkt.dma_len <= s->length);
	}
	MUST(rxo_wire_build(&act.pkt, hdr) == act.pkt.hdr_len);
	how = tape_pick(t, 32);
	rxo_req_sent(&w->req, &act,
		     how == 31 ? RXO_SENT_LOC_PROT :
		     how == 30 ? RXO_SENT_LOC_QP_OP :
		     how == 29 ? RXO_SENT_BUSY : RXO_SENT, w->now);
}

static void answer_one(struct world *w, struct tape *t,
		       const struct rxo_pkt *pkt)
{
	struct rxo_ack_act act;
	u32 slot;
	u64 *at;

	rxo_ack_rx(&w->req, pkt, w->now, &act);
	if (act.kind == RXO_ACK_AHEAD && tape_pick(t, 8) != 7 &&
	    rxo_reorder_add(&w->order, w->req.una, pkt->psn, &slot) ==
	    RXO_REORDER_KEEP)
		w->kept[slot] = *pkt;
	if (act.kind != RXO_ACK_READ_DATA && act.kind != RXO_ACK_RESULT)
		return;
	MUST((act.kind == RXO_ACK_RESULT) ==
	     rxo_req_is_atomic(&w->wqe[act.slot]));
	at = &w->read_at[act.slot];
	MUST(act.offset == *at);
	MUST(act.kind == RXO_ACK_RESULT || act.len == pkt->payload_len);
	MUST((u64)act.offset + act.len <= w->wqe[act.slot].length);
	*at += act.len;
	MUST(act.last == (*at == w->wqe[act.slot].length));
	rxo_ack_done(&w->req, &act, tape_pick(t, 32) == 31 ?
		     RXO_PLACE_LOC_PROT : RXO_PLACED, w->now);
}

/* Mostly about what is outstanding, with a length that would fit. */
static void answer(struct world *w, struct tape *t)
{
	struct rxo_pkt pkt = {};
	u32 span = (u32)rxo_psn_diff(w->req.max, w->req.una) + 4;
	struct rxo_psn psn;
	bool any;

	pkt.opcode = (u8)(RXO_OP_READ_RESP_FIRST + tape_pick(t, 7));
	pkt.psn = rxo_psn_add(w->req.una, tape_pick(t, 4) ? 0 :
			      (u32)tape_get(t, 2) % span - 2);
	pkt.syndrome = tape_pick(t, 2) ? 0x1f : (u8)tape_get(t, 1);
	if (rxo_opcode_info(pkt.opcode)->has_payload)
		pkt.payload_len = tape_pick(t, 2) ? MTU :
				  (u32)tape_get(t, 2) % (MTU + 1);
	answer_one(w, t, &pkt);
	while (rxo_ack_has_gap(&w->req) || w->order.count) {
		any = rxo_reorder_first(&w->order, &psn);
		if (!rxo_ack_kept_due(&w->req, any ? &psn : NULL, w->now))
			break;
		MUST(any && !rxo_psn_after(psn, w->req.una));
		pkt = w->kept[rxo_reorder_slot(psn)];
		rxo_reorder_remove(&w->order, rxo_reorder_slot(psn));
		answer_one(w, t, &pkt);
	}
}

static void check(const struct world *w)
{
	const struct rxo_req *r = &w->req;

	MUST(r->head - r->tail <= SLOTS);
	MUST(r->una_idx - r->tail <= r->head - r->tail);
	MUST(r->cur - r->una_idx <= r->head - r->una_idx);
	if (r->failed)
		return;
	MUST(!rxo_psn_before(r->psn, r->una) && !rxo_psn_after(r->psn, r->max));
	MUST(r->rd_out <= 4);
}

static void configure(struct world *w, struct tape *t)
{
	w->cfg = (struct rxo_req_cfg){
		.mtu = MTU, .max_rd_atomic = (u8)tape_pick(t, 5),
		.timeout = (u8)tape_pick(t, 4), .retry_cnt = (u8)tape_pick(t, 8),
		.rnr_retry = (u8)tape_pick(t, 8), .window = tape_pick(t, 20),
		.ack_every = tape_pick(t, 8),
	};
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct tape t = { data, size };
	static struct world w;

	memset(&w, 0, sizeof(w));
	configure(&w, &t);
	rxo_req_init(&w.req, w.wqe, SLOTS - 1);
	rxo_req_start(&w.req, &w.cfg, rxo_psn_make((u32)tape_get(&t, 3)));
	if (tape_pick(&t, 2))
		w.req.rd_part = 4;
	while (t.left) {
		u32 what = tape_pick(&t, 64);

		if (what < 14) {
			post(&w, &t);
		} else if (what < 34) {
			send(&w, &t);
		} else if (what < 58) {
			answer(&w, &t);
		} else if (what < 61) {
			w.now = min(rxo_req_deadline(&w.req), w.now + 1000000);
			rxo_req_expire(&w.req, w.now);
		} else if (what < 62) {
			w.req.draining = !w.req.draining;
		} else if (what < 63) {
			configure(&w, &t);
			rxo_req_modify(&w.req, &w.cfg);
		}
		pop(&w, false);
		check(&w);
	}
	pop(&w, true);
	MUST(rxo_req_deadline(&w.req) == U64_MAX || !w.req.failed);
	return 0;
}
