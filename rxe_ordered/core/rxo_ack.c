// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Acknowledgements, NAKs and results. See rxo_ack.h.
 *
 * Everything is measured against una. It moves over SEND and WRITE when an
 * answer to something later arrives, because answers are cumulative (IBTA
 * 9.7.5.1.2), and over a READ one response at a time, over an atomic by its
 * result. An answer from beyond one whose data is missing says that the data was
 * lost: an implied NAK (IBTA 9.7.5.2.4, 9.9.2.2).
 */
#include "rxo_ack.h"

static void rxo_ack_drop(struct rxo_ack_act *act, enum rxo_drop drop)
{
	act->kind = RXO_ACK_DROP;
	act->drop = drop;
}

/*
 * una cannot get past a request that misses data at una. Ask again, once for each
 * gap: the answers that are on their way behind the lost one all say the same.
 * If the second request is lost too, the timer notices.
 */
static void rxo_ack_implied_nak(struct rxo_req *req, struct rxo_ack_act *act)
{
	if (rxo_req_at(req, req->una_idx)->status || req->gap_known ||
	    rxo_psn_eq(req->psn, req->una)) {
		rxo_ack_drop(act, RXO_DROP_SEQ);
		return;
	}
	req->n_implied_nak++;
	req->gap_known = true;
	rxo_req_retry(req);
}

static void rxo_ack_rx_ack(struct rxo_req *req, struct rxo_psn psn, u64 now,
			   struct rxo_ack_act *act)
{
	if (!rxo_req_advance(req, rxo_psn_add(psn, 1), now))
		rxo_ack_implied_nak(req, act);
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
	if (rxo_retry_take_rnr(&req->retry, code, now))
		rxo_req_go_back(req);
	else
		rxo_req_fail(req, req->una_idx, RXO_WC_RNR_RETRY_EXC_ERR);
}

static void rxo_ack_rx_seq_nak(struct rxo_req *req, struct rxo_psn psn, u64 now,
			       struct rxo_ack_act *act)
{
	req->n_seq_nak++;
	act->unexecuted = true;
	if (!rxo_req_advance(req, psn, now))
		rxo_ack_implied_nak(req, act);
	else if (!rxo_psn_eq(req->psn, psn))
		rxo_req_retry(req);
	/* else it is what will be sent next anyway */
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
 * The request that holds @psn has failed at the peer. If an earlier READ still
 * misses data, that comes first; the same NAK will come again for the request.
 */
static void rxo_ack_rx_fatal_nak(struct rxo_req *req, struct rxo_psn psn,
				 enum rxo_status status, u64 now,
				 struct rxo_ack_act *act)
{
	bool there = rxo_req_advance(req, psn, now);
	const struct rxo_swqe *wqe = rxo_req_at(req, req->una_idx);

	if (there || rxo_psn_in(psn, wqe->first, wqe->last))
		rxo_req_fail(req, req->una_idx, status);
	else
		rxo_ack_implied_nak(req, act);
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
		rxo_ack_rx_fatal_nak(req, pkt->psn, status, now, act);
		return;
	}
	rxo_ack_drop(act, RXO_DROP_RESPONSE);	/* reserved code */
}

/* The started request that @psn, in una .. max - 1, belongs to. */
static u32 rxo_ack_find(const struct rxo_req *req, struct rxo_psn psn)
{
	u32 idx = req->una_idx;

	while (rxo_psn_after(psn, rxo_req_at(req, idx)->last))
		idx++;
	return idx;
}

/*
 * Does the response stand where its opcode says, with the length that belongs
 * there? A request that was repeated from the middle is answered from FIRST.
 */
static bool rxo_ack_response_fits(const struct rxo_req *req,
				  const struct rxo_swqe *wqe,
				  const struct rxo_pkt *pkt, u32 len)
{
	struct rxo_req_part part = rxo_req_part(req, wqe, pkt->psn);
	bool begins = rxo_psn_eq(pkt->psn, part.first);
	bool again = rxo_psn_eq(pkt->psn, req->rd_again);
	bool ends = rxo_psn_eq(pkt->psn, part.last);

	if (pkt->payload_len != len)
		return false;
	switch (pkt->opcode) {
	case RXO_OP_READ_RESP_FIRST:
		return !ends && (begins || again);
	case RXO_OP_READ_RESP_MIDDLE:
		return !ends && !begins;
	case RXO_OP_READ_RESP_LAST:
		return ends && !begins;
	default:
		return ends && (begins || again);
	}
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
	if (!rxo_req_advance(req, pkt->psn, now)) {
		act->kind = RXO_ACK_TAKEN;
		rxo_ack_implied_nak(req, act);
		return;
	}
	if (wqe->status) {
		rxo_ack_drop(act, RXO_DROP_STATE);
		return;
	}
	act->slot = idx & req->mask;
	act->offset = ((pkt->psn.v - wqe->first.v) & RXO_PSN_MASK) <<
		      req->mtu_shift;
	act->len = min(wqe->length - act->offset, req->cfg.mtu);
	act->last = rxo_psn_eq(pkt->psn, wqe->last);
	act->kind = RXO_ACK_READ_DATA;
	if (!rxo_ack_response_fits(req, wqe, pkt, act->len)) {
		act->kind = RXO_ACK_TAKEN;
		rxo_req_fail(req, idx, RXO_WC_BAD_RESP_ERR);
	}
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
	if (!rxo_req_advance(req, pkt->psn, now)) {
		act->kind = RXO_ACK_TAKEN;
		rxo_ack_implied_nak(req, act);
		return;
	}
	if (wqe->status) {
		rxo_ack_drop(act, RXO_DROP_STATE);
		return;
	}
	act->kind = RXO_ACK_RESULT;
	act->slot = idx & req->mask;
	act->len = wqe->length;
	act->last = true;
	act->orig = pkt->orig;
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
