// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A responder in use: packets near the expected PSN, every outcome of their
 * execution, answers pulled now and then. Its decisions must keep to what the
 * peer was granted, and count receives right.
 */
#include "core/rxo_key.h"
#include "core/rxo_reorder.h"
#include "core/rxo_resp.h"
#include "fuzz.h"

#define MTU	256
#define VA	0x10000ull
#define KEY	5

struct world {
	struct rxo_resp resp;
	struct rxo_resp_cfg cfg;
	bool recv_taken;	/* a receive is in use */
	bool fatal;
	/* the message in progress, by the rules */
	u64 grant_va;
	u64 grant_len;
	struct rxo_reorder order;
	struct rxo_pkt kept[RXO_REORDER_WINDOW];
};

/* What the memory held when the atomic with this PSN was executed. */
static u64 held(struct rxo_psn psn)
{
	return psn.v * 0x9e3779b97f4a7c15ull;
}

static const u8 lengths[] = { 0, 1, 4, 88, 255 };

static u32 pick_payload(struct tape *t)
{
	u32 i = tape_pick(t, ARRAY_SIZE(lengths) + 6);

	return i < ARRAY_SIZE(lengths) ? lengths[i] : i == 5 ? MTU + 1 : MTU;
}

static struct rxo_pkt make_packet(struct world *w, struct tape *t)
{
	static const u32 totals[] = { 0, 1, 256, 257, 512, 600, 0x80000000,
				      0x80000001, 0xffffffff };
	struct rxo_pkt pkt = { .rkey = KEY };
	s32 ahead = (s32)tape_pick(t, 16);

	/* Mostly what is expected, else something near. */
	ahead = ahead < 8 ? 0 : ahead < 10 ? ahead - 7 : ahead - 16;
	pkt.opcode = (u8)tape_pick(t, 26);
	pkt.psn = rxo_psn_add(w->resp.epsn, (u32)ahead);
	pkt.ackreq = tape_pick(t, 2);
	pkt.payload_len = rxo_opcode_info(pkt.opcode)->has_payload ?
			  pick_payload(t) : 0;
	pkt.dma_len = totals[tape_pick(t, ARRAY_SIZE(totals))];
	pkt.va = VA + MTU * tape_pick(t, 4);
	if (tape_pick(t, 32) == 31)
		pkt.va += 4;
	if (tape_pick(t, 16) == 15)
		pkt.rkey = (u32)tape_get(t, 1);
	return pkt;
}

static void check_decision(struct world *w, const struct rxo_resp_act *act)
{
	bool first = rxo_opcode_info(act->pkt.opcode)->pos & RXO_POS_FIRST;

	if (act->kind == RXO_RESP_DROP || act->kind == RXO_RESP_NONE)
		return;
	MUST(!w->fatal);
	if (act->kind == RXO_RESP_AHEAD) {
		MUST(rxo_psn_after(act->pkt.psn, w->resp.epsn));
		return;
	}
	MUST(rxo_psn_eq(act->pkt.psn, w->resp.epsn));
	MUST(act->len <= MTU && act->len == act->pkt.payload_len);
	MUST((u64)act->offset + act->len <= RXO_MAX_MSG);
	if (act->need_recv)
		MUST(!w->recv_taken);
	if (act->kind == RXO_RESP_RECV)
		MUST(act->need_recv == !w->recv_taken);
	if (act->kind == RXO_RESP_READ)
		MUST(w->cfg.access & RXO_ACCESS_REMOTE_READ);
	if (act->kind == RXO_RESP_ATOMIC) {
		MUST(w->cfg.access & RXO_ACCESS_REMOTE_ATOMIC);
		MUST(!(act->va & 7) && act->va == act->pkt.va);
		MUST(!act->len && !act->need_recv);
	}
	if (act->kind != RXO_RESP_WRITE)
		return;
	MUST(w->cfg.access & RXO_ACCESS_REMOTE_WRITE);
	if (first) {
		w->grant_va = act->pkt.va;
		w->grant_len = act->pkt.dma_len;
		MUST(act->check == (act->pkt.dma_len > 0));
		MUST(act->check_len == act->pkt.dma_len);
	}
	MUST(act->va >= w->grant_va);
	MUST(act->va - w->grant_va + act->len <= w->grant_len);
	if (act->last)
		MUST(act->va - w->grant_va + act->len == w->grant_len);
}

static void check_next(struct world *w, const struct rxo_resp_next_act *next)
{
	if (next->complete) {
		MUST(w->recv_taken);
		w->recv_taken = false;
	}
	if (next->fatal) {
		w->fatal = true;
		MUST(!w->recv_taken);
	}
	MUST(w->resp.have_recv == w->recv_taken);
	MUST(w->resp.failed == w->fatal);
}

/* An outcome that the glue could have for this decision. */
static enum rxo_resp_result outcome(struct world *w, struct tape *t,
				    const struct rxo_resp_act *act)
{
	enum rxo_resp_result res = (enum rxo_resp_result)tape_pick(t, 40);

	if (act->kind == RXO_RESP_NONE || res > RXO_RES_BUSY)
		res = RXO_RES_OK;
	if (!act->need_recv &&
	    (res == RXO_RES_NO_RECV || res == RXO_RES_RECV_BAD))
		res = RXO_RES_OK;
	if (act->kind != RXO_RESP_RECV &&
	    (res == RXO_RES_LOC_LEN || res == RXO_RES_LOC_PROT))
		res = RXO_RES_ACCESS;
	if (act->kind == RXO_RESP_RECV &&
	    (res == RXO_RES_ACCESS || res == RXO_RES_PLACE_ACCESS))
		res = RXO_RES_OK;
	if (act->need_recv && res != RXO_RES_NO_RECV && res != RXO_RES_ACCESS &&
	    res != RXO_RES_BUSY)
		w->recv_taken = true;
	return res;
}

/* As rx.c keeps it, or now and then has no room. */
static enum rxo_resp_result keep(struct world *w, struct tape *t,
				 const struct rxo_pkt *pkt)
{
	u32 slot;

	if (tape_pick(t, 8) == 7)
		return RXO_RES_BUSY;
	switch (rxo_reorder_add(&w->order, w->resp.epsn, pkt->psn, &slot)) {
	case RXO_REORDER_KEEP:
		MUST(slot < RXO_REORDER_WINDOW);
		w->kept[slot] = *pkt;
		return RXO_RES_OK;
	case RXO_REORDER_DUP:
		return RXO_RES_KEPT;
	default:
		return RXO_RES_BUSY;
	}
}

static void receive_one(struct world *w, struct tape *t,
			const struct rxo_pkt *in)
{
	struct rxo_pkt pkt = *in;
	struct rxo_psn epsn = w->resp.epsn;
	struct rxo_resp_next_act next;
	enum rxo_resp_result res;
	struct rxo_resp_act act;

	rxo_resp_rx(&w->resp, &pkt, &act);
	check_decision(w, &act);
	if (act.kind == RXO_RESP_DROP) {
		MUST((u32)act.drop < RXO_DROP_COUNT && act.drop);
		return;
	}
	if (act.kind == RXO_RESP_AHEAD) {
		rxo_resp_done(&w->resp, &act, keep(w, t, &pkt), &next);
		MUST(!next.complete && !next.fatal);
		return;
	}
	act.orig = held(pkt.psn);
	res = outcome(w, t, &act);
	rxo_resp_done(&w->resp, &act, res, &next);
	check_next(w, &next);
	if (act.kind == RXO_RESP_NONE || res != RXO_RES_OK)
		MUST(rxo_psn_eq(epsn, w->resp.epsn));
}

static void receive(struct world *w, struct tape *t)
{
	struct rxo_pkt pkt = make_packet(w, t);
	struct rxo_psn psn;

	receive_one(w, t, &pkt);
	while (rxo_reorder_first(&w->order, &psn) &&
	       !rxo_psn_after(psn, w->resp.epsn)) {
		pkt = w->kept[rxo_reorder_slot(psn)];
		MUST(rxo_psn_eq(pkt.psn, psn));
		rxo_reorder_remove(&w->order, rxo_reorder_slot(psn));
		rxo_resp_unkeep(&w->resp, &pkt);
		receive_one(w, t, &pkt);
	}
	rxo_resp_gap(&w->resp, w->order.count);
	MUST(!w->order.count || w->fatal || w->resp.seq_nak_sent);
	MUST(!rxo_resp_has_dropped(&w->resp) ||
	     !rxo_psn_before(w->resp.dropped_psn, w->resp.epsn));
}

static void transmit(struct world *w, struct tape *t)
{
	struct rxo_resp_next_act next;
	enum rxo_resp_tx_result res = RXO_RESP_TX_SENT;
	struct rxo_resp_tx tx;
	bool any;
	u8 hdr[RXO_MAX_HDR_LEN];

	w->resp.recvs = (u32)t->left * 0x01000193;
	any = rxo_resp_next(&w->resp, &tx);
	MUST(any == rxo_resp_has_tx(&w->resp));
	if (!any)
		return;
	MUST(rxo_wire_build(&tx.pkt, hdr) == tx.pkt.hdr_len);
	if (tx.is_read) {
		MUST(tx.len <= MTU && tx.va >= VA);
		MUST(tx.va - VA + tx.len <= (u64)RXO_MAX_MSG + 4 * MTU);
		if (tape_pick(t, 64) == 63)
			res = RXO_RESP_TX_ACCESS;
	}
	if (tx.pkt.opcode == RXO_OP_ATOMIC_ACK)
		MUST(tx.pkt.orig == held(tx.pkt.psn));
	if (tape_pick(t, 16) == 15)
		res = RXO_RESP_TX_BUSY;
	rxo_resp_tx_done(&w->resp, &tx, res, &next);
	check_next(w, &next);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u8 limits[] = { 0, 1, 2, 4, RXO_MAX_RD_ATOMIC };
	struct tape t = { data, size };
	static struct world w;

	memset(&w, 0, sizeof(w));
	w.cfg = (struct rxo_resp_cfg){
		.mtu = MTU, .min_rnr_timer = 5,
		.max_dest_rd_atomic = limits[tape_pick(&t, ARRAY_SIZE(limits))],
		.credits = size & 1,
		.access = tape_pick(&t, 8) ? 0xe : (u32)tape_pick(&t, 16),
	};
	rxo_resp_init(&w.resp);
	rxo_resp_start(&w.resp, &w.cfg, rxo_psn_make((u32)tape_get(&t, 3)));
	while (t.left) {
		u32 what = tape_pick(&t, 32);

		if (what < 20) {
			receive(&w, &t);
		} else if (what < 31) {
			transmit(&w, &t);
		} else {
			w.cfg.max_dest_rd_atomic =
				limits[tape_pick(&t, ARRAY_SIZE(limits))];
			rxo_resp_modify(&w.resp, &w.cfg);
		}
		MUST(w.resp.rd.job_head - w.resp.rd.job_tail <= RXO_MAX_RD_JOBS);
		MUST(w.resp.rd.res_count <= w.cfg.max_dest_rd_atomic);
	}
	return 0;
}
