// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Acknowledgements, NAKs and results. See rxo_ack.h.
 *
 * Everything is measured against una. It moves over SEND and WRITE when an
 * answer to something later arrives, because answers are cumulative (IBTA
 * 9.7.5.1.2), and over a READ one response at a time, over an atomic by its
 * result. An answer from beyond one whose data is missing says that the data was
 * lost: an implied NAK (IBTA 9.7.5.2.4, 9.9.2.2). The answer is kept by the
 * caller, and only what is missing before it is asked for again.
 *
 * Going back. A peer that keeps packets which arrive behind a gap needs only the
 * one that it asks for, and then acknowledges far beyond it. One that does not
 * acknowledges just that one. The wire does not say which kind it is, so the
 * first sequence NAK is answered with the one packet, and what comes of it
 * decides, with no more than this one round trip lost on a peer of the other
 * kind: from then on everything is sent again at once. Now and then, in case
 * that it was just out of room, it is tried again.
 */
#include "rxo_ack.h"

static void rxo_ack_drop(struct rxo_ack_act *act, enum rxo_drop drop)
{
	act->kind = RXO_ACK_DROP;
	act->drop = drop;
}

/* Sequence NAKs after which a peer that does not keep packets is tried again. */
#define RXO_ACK_TRY_AGAIN	64

/* The started request that @psn, in una .. max - 1, belongs to. */
static u32 rxo_ack_find(const struct rxo_req *req, struct rxo_psn psn)
{
	u32 idx = req->una_idx;

	while (rxo_psn_after(psn, rxo_req_at(req, idx)->last))
		idx++;
	return idx;
}

/*
 * una cannot get past a request that misses data at una. Has that been asked for
 * again, or will it be anyway? Once is enough for each gap: the answers that are
 * on their way behind the lost one all say the same. If the second request is
 * lost too, the timer notices.
 */
static bool rxo_ack_asks(struct rxo_req *req)
{
	if (rxo_req_at(req, req->una_idx)->status || req->gap_known ||
	    rxo_psn_eq(req->psn, req->una))
		return false;
	req->n_implied_nak++;
	req->gap_known = true;
	return true;
}

/* A NAK that cannot be kept: it comes again if all is sent again. */
static void rxo_ack_implied_nak(struct rxo_req *req, struct rxo_ack_act *act)
{
	if (!rxo_ack_asks(req)) {
		rxo_ack_drop(act, RXO_DROP_SEQ);
		return;
	}
	req->gap_end = rxo_psn_add(req->una, 1);
	rxo_req_retry(req);
}

/* Ask for what @wqe misses, from una on and before @end if that is not NULL. */
static void rxo_ack_ask(struct rxo_req *req, const struct rxo_swqe *wqe,
			const struct rxo_psn *end)
{
	if (!rxo_ack_asks(req))
		return;
	req->gap_end = rxo_psn_add(rxo_req_part(req, wqe, req->una).last, 1);
	if (end && rxo_psn_before(*end, req->gap_end))
		req->gap_end = *end;
	rxo_req_repair(req, (u32)rxo_psn_diff(req->gap_end, req->una));
}

/*
 * An answer says that all before @seen has been executed, but una is stuck at a
 * READ; what is missing ends before @end. News is a sign of life: the peer answers in
 * order, so what was asked for again comes behind all that it has to answer first, and
 * that may take many time-outs. Return: was it news?
 */
static bool rxo_ack_ahead(struct rxo_req *req, struct rxo_psn seen,
			  struct rxo_psn end, u64 now)
{
	const struct rxo_swqe *wqe = rxo_req_at(req, req->una_idx);
	bool news = rxo_psn_after(seen, req->seen);

	if (wqe->status)
		return false;
	if (news) {
		req->seen = seen;
		rxo_retry_alive(&req->retry, now);
	}
	rxo_ack_ask(req, wqe, &end);
	return news;
}

bool rxo_ack_kept_due(struct rxo_req *req, const struct rxo_psn *kept, u64 now)
{
	const struct rxo_swqe *wqe;

	if (req->failed)
		return false;
	rxo_req_advance(req, req->seen, now);
	if (kept && !rxo_psn_after(*kept, req->una))
		return true;
	wqe = rxo_req_at(req, req->una_idx);
	if (rxo_ack_has_gap(req) && rxo_req_has_result(wqe))
		rxo_ack_ask(req, wqe, kept);
	return false;
}

/*
 * The packet at @old had been repaired; now una has moved, and the peer has @to
 * next. If it was repaired @early, because an answer was late, what comes of it proves
 * little: there may have been no gap, or one that is longer. Nor does it if the packet
 * has arrived by itself before it could be sent again.
 */
static void rxo_ack_judge(struct rxo_req *req, struct rxo_psn old,
			  struct rxo_psn to, bool early)
{
	if (!rxo_psn_eq(to, rxo_psn_add(old, 1))) {
		if (!early)
			req->keeps = RXO_KEEPS_YES;
		return;
	}
	if (rxo_psn_eq(req->una, req->psn))
		return;		/* nothing is missing behind it */
	if (early && req->keeps == RXO_KEEPS_YES)
		return;
	/* The answer to a READ will tell by itself whether that was kept. */
	if (!early && req->keeps &&
	    !rxo_req_has_result(rxo_req_at(req, req->una_idx))) {
		req->keeps--;
		req->n_plain = 0;
	}
	rxo_req_go_back(req);
}

static void rxo_ack_rx_ack(struct rxo_req *req, struct rxo_psn psn, u64 now,
			   struct rxo_ack_act *act)
{
	struct rxo_psn to = rxo_psn_add(psn, 1), old = req->una;
	bool early = req->early || req->repair;
	bool repaired = req->repaired || req->repair;
	bool there = rxo_req_advance(req, to, now);

	if (repaired && !rxo_psn_eq(req->una, old))
		rxo_ack_judge(req, old, to, early);
	if (!there && !rxo_ack_ahead(req, to, to, now))
		rxo_ack_drop(act, RXO_DROP_SEQ);
}

/* @psn is what the peer expects; it has executed all before (IBTA 9.7.5.2.8). */
static void rxo_ack_rx_rnr(struct rxo_req *req, struct rxo_psn psn, u8 code,
			   u64 now, struct rxo_ack_act *act)
{
	act->unexecuted = true;
	if (!rxo_req_advance(req, psn, now)) {
		rxo_ack_implied_nak(req, act);
		return;
	}
	if (req->retry.waiting_rnr) {
		rxo_ack_drop(act, RXO_DROP_DUP);	/* waits for it already */
		return;
	}
	req->n_rnr++;
	req->early = 0;
	if (!rxo_retry_take_rnr(&req->retry, code, now)) {
		rxo_req_fail(req, req->una_idx, RXO_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	rxo_req_go_back(req);
	req->careful = 1;
}

/*
 * A lost READ or atomic is cheaper sent again with all that follows it: its own
 * answers would hide what has become of the rest.
 */
static bool rxo_ack_may_repair(struct rxo_req *req)
{
	if (rxo_req_has_result(rxo_req_at(req, req->una_idx)))
		return false;
	if (req->keeps == RXO_KEEPS_NOT &&
	    ++req->n_plain >= RXO_ACK_TRY_AGAIN)
		req->keeps = RXO_KEEPS_MAYBE;
	return req->keeps != RXO_KEEPS_NOT;
}

/*
 * The packet at @psn is missing at the peer, and here READ data before it. The peer says
 * so once, so what follows from @psn on is sent again now, and not what comes between:
 * that has been executed. Should it say so again before una moves, that is no news.
 */
static void rxo_ack_rx_seq_nak_ahead(struct rxo_req *req, struct rxo_psn psn,
				     u64 now, struct rxo_ack_act *act)
{
	bool news = rxo_ack_ahead(req, psn, psn, now) || !req->nak_ahead;

	if (!news) {
		rxo_ack_drop(act, RXO_DROP_SEQ);
		return;
	}
	req->nak_ahead = true;
	if (rxo_psn_before(psn, req->psn))
		rxo_req_go_back_to(req, rxo_ack_find(req, psn), psn);
}

static void rxo_ack_rx_seq_nak(struct rxo_req *req, struct rxo_psn psn, u64 now,
			       struct rxo_ack_act *act)
{
	struct rxo_psn old = req->una;
	bool repaired = req->repaired && !req->early;

	req->n_seq_nak++;
	act->unexecuted = true;
	if (!rxo_req_advance(req, psn, now)) {
		rxo_ack_rx_seq_nak_ahead(req, psn, now, act);
		return;
	}
	if (rxo_psn_eq(req->psn, psn))
		return;		/* it is what will be sent next anyway */
	if (repaired && rxo_psn_diff(psn, old) > 1)
		req->keeps = RXO_KEEPS_YES;
	if (req->repair)
		rxo_ack_drop(act, RXO_DROP_DUP);
	else if (rxo_ack_may_repair(req))
		rxo_req_repair(req, 1);
	else
		rxo_req_retry(req);
}

static enum rxo_status rxo_ack_nak_status(u8 code)
{
	switch (code) {
	case RXO_NAK_INV_REQ:
	case RXO_NAK_INV_RD_REQ:
		return RXO_WC_REM_INV_REQ_ERR;
	case RXO_NAK_REM_ACCESS:
		return RXO_WC_REM_ACCESS_ERR;
	case RXO_NAK_REM_OP:
		return RXO_WC_REM_OP_ERR;
	default:
		return RXO_WC_SUCCESS;
	}
}

/*
 * The request that holds @psn has failed at the peer, and all before it has been
 * executed. The data of an earlier READ may still be on its way, or have been lost.
 */
static void rxo_ack_rx_fatal_nak(struct rxo_req *req, struct rxo_psn psn,
				 enum rxo_status status, u64 now)
{
	bool there = rxo_req_advance(req, psn, now);
	u32 idx = rxo_ack_find(req, psn);

	if (!there && idx != req->una_idx)
		rxo_ack_ahead(req, psn, psn, now);
	rxo_req_fail(req, idx, status);
}

/* @psn lies in una .. max - 1. */
static void rxo_ack_rx_aeth(struct rxo_req *req, const struct rxo_pkt *pkt,
			    u64 now, struct rxo_ack_act *act)
{
	u8 value = rxo_aeth_value(pkt->syndrome);
	enum rxo_status status;

	act->kind = RXO_ACK_TAKEN;
	switch (rxo_aeth_type(pkt->syndrome)) {
	case RXO_AETH_ACK:
		rxo_ack_rx_ack(req, pkt->psn, now, act);
		return;
	case RXO_AETH_RNR:
		rxo_ack_rx_rnr(req, pkt->psn, value, now, act);
		return;
	case RXO_AETH_NAK:
		if (value == RXO_NAK_PSN) {
			rxo_ack_rx_seq_nak(req, pkt->psn, now, act);
			return;
		}
		status = rxo_ack_nak_status(value);
		if (status == RXO_WC_SUCCESS)
			break;
		rxo_ack_rx_fatal_nak(req, pkt->psn, status, now);
		return;
	}
	rxo_ack_drop(act, RXO_DROP_RESPONSE);	/* reserved code */
}

/*
 * Does the response stand where its opcode says, with the length that belongs
 * there? What was asked for again has been cut in other ways, too.
 */
static bool rxo_ack_response_fits(const struct rxo_req *req,
				  const struct rxo_swqe *wqe,
				  const struct rxo_pkt *pkt, u32 len)
{
	struct rxo_req_part part = rxo_req_part(req, wqe, pkt->psn);
	bool begins = rxo_psn_eq(pkt->psn, part.first);
	bool ends = rxo_psn_eq(pkt->psn, part.last);

	if (pkt->payload_len != len)
		return false;
	if (wqe->asked_again)
		return true;
	switch (pkt->opcode) {
	case RXO_OP_READ_RESP_FIRST:
		return !ends && begins;
	case RXO_OP_READ_RESP_MIDDLE:
		return !ends && !begins;
	case RXO_OP_READ_RESP_LAST:
		return ends && !begins;
	default:
		return ends && begins;
	}
}

/* A result for @wqe at @psn: may it be placed now? If not, @act says why. */
static bool rxo_ack_is_in_turn(struct rxo_req *req, const struct rxo_swqe *wqe,
			       struct rxo_psn psn, u64 now,
			       struct rxo_ack_act *act)
{
	if (!rxo_req_advance(req, psn, now)) {
		act->kind = wqe->status ? RXO_ACK_DROP : RXO_ACK_AHEAD;
		act->drop = RXO_DROP_SEQ;
		rxo_ack_ahead(req, rxo_psn_add(psn, 1), psn, now);
		return false;
	}
	if (wqe->status) {
		rxo_ack_drop(act, RXO_DROP_STATE);
		return false;
	}
	return true;
}

/*
 * If a packet of @wqe was asked for early, and this is the answer to that: the peer
 * answers in order, so what else is missing of the READ has been lost, too. A piece ends
 * with LAST if it does not begin at the first PSN, says rdma_rxe.
 */
static void rxo_ack_rx_early(struct rxo_req *req, const struct rxo_swqe *wqe,
			     const struct rxo_pkt *pkt)
{
	struct rxo_psn end = rxo_psn_add(rxo_req_part(req, wqe, pkt->psn).last, 1);

	if (!req->early || !(rxo_opcode_info(pkt->opcode)->pos & RXO_POS_LAST))
		return;
	req->gap_known = false;
	if (rxo_psn_after(end, req->seen))
		req->seen = end;
}

static void rxo_ack_rx_read(struct rxo_req *req, const struct rxo_pkt *pkt,
			    u64 now, struct rxo_ack_act *act)
{
	u32 idx = rxo_ack_find(req, pkt->psn);
	const struct rxo_swqe *wqe = rxo_req_at(req, idx);

	if (!rxo_req_is_read(wqe)) {
		rxo_ack_drop(act, RXO_DROP_RESPONSE);
		return;
	}
	if (!rxo_ack_is_in_turn(req, wqe, pkt->psn, now, act))
		return;
	act->slot = idx & req->mask;
	act->offset = ((pkt->psn.v - wqe->first.v) & RXO_PSN_MASK) <<
		      req->mtu_shift;
	act->len = min(wqe->length - act->offset, req->cfg.mtu);
	act->last = rxo_psn_eq(pkt->psn, wqe->last);
	act->kind = RXO_ACK_READ_DATA;
	if (!rxo_ack_response_fits(req, wqe, pkt, act->len)) {
		act->kind = RXO_ACK_TAKEN;
		rxo_req_fail(req, idx, RXO_WC_BAD_RESP_ERR);
		return;
	}
	rxo_ack_rx_early(req, wqe, pkt);
}

/* The peer never executes it again, so the result is the one and only. */
static void rxo_ack_rx_atomic(struct rxo_req *req, const struct rxo_pkt *pkt,
			      u64 now, struct rxo_ack_act *act)
{
	u32 idx = rxo_ack_find(req, pkt->psn);
	const struct rxo_swqe *wqe = rxo_req_at(req, idx);

	if (!rxo_req_is_atomic(wqe)) {
		rxo_ack_drop(act, RXO_DROP_RESPONSE);
		return;
	}
	if (!rxo_ack_is_in_turn(req, wqe, pkt->psn, now, act))
		return;
	act->kind = RXO_ACK_RESULT;
	act->slot = idx & req->mask;
	act->len = wqe->length;
	act->last = true;
	act->orig = pkt->orig;
}

/*
 * READ data that has come before. The peer answers what was asked for in order, each
 * request as often as it was sent; for one that comes late this is the first sign
 * that all before it is being answered twice. Without more patience then, every
 * time-out would add to what the peer has to do: a peer that gets no processor for as
 * long as a time-out takes would have one READ more to repeat for each that it answers,
 * and each next one would use up more retries. It ends: there are no more of these than
 * were asked for.
 */
static void rxo_ack_echo(struct rxo_req *req, u64 now)
{
	if (!req->echoes)
		return;
	req->echoes--;
	rxo_retry_too_early(&req->retry, now);
}

/*
 * What an ACK says is dealt with, but for its credits. One that comes again for the
 * newest packet may have been sent for their sake alone (IBTA 9.7.7.2: unsolicited).
 */
static void rxo_ack_credits(struct rxo_req *req, const struct rxo_pkt *pkt)
{
	if (pkt->opcode == RXO_OP_ACK && !req->failed &&
	    rxo_aeth_type(pkt->syndrome) == RXO_AETH_ACK &&
	    rxo_psn_eq(rxo_psn_add(pkt->psn, 1), req->una))
		rxo_req_credits(req, rxo_aeth_value(pkt->syndrome));
}

void rxo_ack_rx(struct rxo_req *req, const struct rxo_pkt *pkt, u64 now,
		struct rxo_ack_act *act)
{
	const struct rxo_opcode_info *info = rxo_opcode_info(pkt->opcode);
	bool is_read = info->class == RXO_CLASS_READ_RESP;
	bool has_result = is_read || info->class == RXO_CLASS_ATOMIC_ACK;
	struct rxo_psn una = req->una;

	memset(act, 0, sizeof(*act));
	act->psn = pkt->psn;
	req->active = now;	/* the peer is alive, whatever it says */
	if (req->failed)
		rxo_ack_drop(act, RXO_DROP_STATE);
	else if (!has_result && info->class != RXO_CLASS_ACK)
		rxo_ack_drop(act, RXO_DROP_RESPONSE);
	else if (rxo_psn_before(pkt->psn, req->una))
		rxo_ack_drop(act, has_result ? RXO_DROP_DUP :
					       RXO_DROP_STALE_ACK);
	else if (!rxo_psn_before(pkt->psn, req->max))
		rxo_ack_drop(act, has_result ? RXO_DROP_RESPONSE :
					       RXO_DROP_GHOST_ACK);
	else if (!has_result || ((info->hdrs & RXO_HDR_AETH) &&
				 rxo_aeth_type(pkt->syndrome) != RXO_AETH_ACK))
		rxo_ack_rx_aeth(req, pkt, now, act);
	else if (is_read)
		rxo_ack_rx_read(req, pkt, now, act);
	else
		rxo_ack_rx_atomic(req, pkt, now, act);

	if (is_read && act->drop == RXO_DROP_DUP)
		rxo_ack_echo(req, now);
	rxo_ack_credits(req, pkt);
	if (act->kind == RXO_ACK_DROP && !rxo_psn_eq(una, req->una))
		act->kind = RXO_ACK_TAKEN;	/* it did move una */
}

void rxo_ack_done(struct rxo_req *req, const struct rxo_ack_act *act,
		  enum rxo_ack_result result, u64 now)
{
	if (act->kind != RXO_ACK_READ_DATA && act->kind != RXO_ACK_RESULT)
		return;
	RXO_ASSERT(rxo_psn_eq(req->una, act->psn));
	if (result == RXO_PLACED)
		rxo_req_advance_read(req, now);
	else
		rxo_req_fail(req, req->una_idx, RXO_WC_LOC_PROT_ERR);
}
