// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requester: cuts messages into packets, decides what may be sent now, goes
 * back, and gives out ended requests in order. See rxo_req.h.
 *
 * One PSN says everything about a packet: its request is the one whose range
 * holds it, its place in the message is psn - first. So going back is setting
 * psn, and nothing has to be restored.
 */
#include "rxo_req.h"

#define RXO_MAX_WINDOW (1u << 22)

/* How far @psn is into the message. Up to 2^23 - 1, so not a signed diff. */
static u32 rxo_req_dist(const struct rxo_swqe *wqe, struct rxo_psn psn)
{
	return (psn.v - wqe->first.v) & RXO_PSN_MASK;
}

/* An empty message is one packet, an empty READ has one response. */
static u32 rxo_req_npsn(const struct rxo_req *req, u32 length)
{
	return length ? ((length - 1) >> req->mtu_shift) + 1 : 1;
}

/*
 * A READ or atomic cannot be executed if the QP may have none outstanding.
 * Decided when its turn comes: the attribute may still change before that.
 */
static enum rxo_status rxo_req_status(const struct rxo_req *req,
				      const struct rxo_swqe *wqe)
{
	if (wqe->status)
		return wqe->status;
	if (!wqe->started && rxo_req_has_result(wqe) && !req->cfg.max_rd_atomic)
		return RXO_WC_LOC_QP_OP_ERR;
	return RXO_WC_SUCCESS;
}

/* ------------------------------------------------------------- life cycle */

static void rxo_req_set_cfg(struct rxo_req *req, const struct rxo_req_cfg *cfg)
{
	req->cfg = *cfg;
	req->cfg.window = max(min(cfg->window, RXO_MAX_WINDOW), 1u);
	req->cfg.ack_every = max(cfg->ack_every, 1u);
}

void rxo_req_init(struct rxo_req *req, struct rxo_swqe *wqe, u32 mask)
{
	memset(req, 0, sizeof(*req));
	req->wqe = wqe;
	req->mask = mask;
}

void rxo_req_start(struct rxo_req *req, const struct rxo_req_cfg *cfg,
		   struct rxo_psn first)
{
	rxo_req_set_cfg(req, cfg);
	rxo_retry_init(&req->retry, cfg->timeout, cfg->retry_cnt,
		       cfg->rnr_retry);
	RXO_ASSERT(cfg->mtu >= RXO_MIN_MTU && cfg->mtu <= RXO_MAX_MTU &&
		   !(cfg->mtu & (cfg->mtu - 1)));
	req->mtu_shift = 8;
	while (RXO_MAX_MTU >> 1 >= 1u << req->mtu_shift &&
	       cfg->mtu > 1u << req->mtu_shift)
		req->mtu_shift++;
	req->rd_part = RXO_READ_PART;
	req->psn = first;
	req->max = first;
	req->una = first;
	req->observable = first;
	req->seen = first;
	req->careful = RXO_MAX_WINDOW;
	req->keeps = RXO_KEEPS_MAYBE;
	req->una_idx = req->tail;
	req->cur = req->tail;
}

/* The path MTU is fixed from RTR on: message positions depend on it. */
void rxo_req_modify(struct rxo_req *req, const struct rxo_req_cfg *cfg)
{
	u32 mtu = req->cfg.mtu;

	rxo_req_set_cfg(req, cfg);
	req->cfg.mtu = mtu;
	rxo_retry_modify(&req->retry, cfg->timeout, cfg->retry_cnt,
			 cfg->rnr_retry);
}

bool rxo_req_has_room(const struct rxo_req *req)
{
	return req->head - req->tail <= req->mask;
}

struct rxo_swqe *rxo_req_slot(struct rxo_req *req)
{
	return rxo_req_at(req, req->head);
}

void rxo_req_push(struct rxo_req *req)
{
	RXO_ASSERT(rxo_req_has_room(req));
	rxo_req_slot(req)->started = false;
	rxo_req_slot(req)->asked_again = false;
	req->head++;
}

/* --------------------------------------------------------------- sending */

struct rxo_req_part rxo_req_part(const struct rxo_req *req,
				 const struct rxo_swqe *wqe, struct rxo_psn psn)
{
	u32 begin = rxo_req_dist(wqe, psn) & ~(req->rd_part - 1);
	u32 left = rxo_req_npsn(req, wqe->length) - begin;
	struct rxo_req_part part;

	part.first = rxo_psn_add(wqe->first, begin);
	part.last = rxo_psn_add(part.first, min(left, req->rd_part) - 1);
	return part;
}

/* PSNs that the packet at @psn of a started request takes. */
static u32 rxo_req_packet_npsn(const struct rxo_req *req,
			       const struct rxo_swqe *wqe, struct rxo_psn psn)
{
	struct rxo_req_part part;

	if (!rxo_req_is_read(wqe))
		return 1;
	part = rxo_req_part(req, wqe, psn);
	return rxo_req_dist(wqe, part.last) - rxo_req_dist(wqe, psn) + 1;
}

/*
 * Does the peer have a receive for it, as far as it has told? It is counted here, by
 * the place of its ACKs among the requests that take one, which needs no MSN to agree
 * on, and leaves alone those that take none.
 */
static bool rxo_req_has_credit(const struct rxo_req *req,
			       const struct rxo_swqe *wqe, u32 recv_no)
{
	return !req->limited || !rxo_req_takes_recv(wqe) ||
	       (s32)(req->recv_limit - recv_no) > 0;
}

/*
 * PSNs in flight at most. A peer that was not ready, or has no receive that it has told
 * of, may drop all but the first packet, wait after wait. So that one goes alone, and
 * asks for the ACK that lets the others go (IBTA 9.7.7.2: a limited request). Nothing
 * else would bring news of receives: posting one sends nothing. A peer that was not
 * heard for a time-out may be gone, or unable to keep up: it gets a few.
 */
static u32 rxo_req_window(const struct rxo_req *req, const struct rxo_swqe *wqe)
{
	if (!rxo_req_has_credit(req, wqe, wqe->recv_no))
		return 1;
	return min(req->careful, req->cfg.window);
}

/*
 * A READ that is longer than the window goes when it is alone: its responses are
 * paced by the peer.
 */
static bool rxo_req_has_window(const struct rxo_req *req,
			       const struct rxo_swqe *wqe, u32 npsn)
{
	u32 out = (u32)rxo_psn_diff(req->psn, req->una);
	u32 window = rxo_req_window(req, wqe);

	return !out || (npsn <= window && out <= window - npsn);
}

/* A private copy of what a request will look like once it is started. */
static struct rxo_swqe rxo_req_begun(const struct rxo_req *req,
				     const struct rxo_swqe *wqe)
{
	struct rxo_swqe w = *wqe;

	if (!w.started) {
		w.started = true;
		w.first = req->psn;
		w.last = rxo_psn_add(w.first,
				     rxo_req_npsn(req, w.length) - 1);
		w.recv_no = req->recv_no;
	}
	return w;
}

/*
 * What stops the request at cur, which exists, from being sent now? @begun is what it
 * is once it has begun.
 */
static enum rxo_req_wait rxo_req_obstacle(const struct rxo_req *req,
					  const struct rxo_swqe *wqe,
					  const struct rxo_swqe *begun, u32 npsn)
{
	bool never_sent = rxo_psn_eq(req->psn, req->max);

	if (!wqe->started && req->draining)
		return RXO_WAIT_DRAIN;
	/* IBTA 10.8.3.3: all earlier READs and atomics have to be complete. */
	if (!wqe->started && (wqe->flags & RXE_ORDERED_SEND_FENCE) &&
	    req->rd_out)
		return RXO_WAIT_FENCE;
	if (never_sent && rxo_req_has_result(wqe) &&
	    req->rd_out >= req->cfg.max_rd_atomic)
		return RXO_WAIT_READ_LIMIT;
	if (rxo_req_has_window(req, begun, npsn))
		return RXO_WAIT_NONE;
	return rxo_req_has_credit(req, begun, begun->recv_no) ?
	       RXO_WAIT_WINDOW : RXO_WAIT_CREDITS;
}

/*
 * Will request @idx + 1 be sent at once when the packets before @psn are out?
 * @psn is where it begins, or began; @wqe is request @idx, started.
 */
static bool rxo_req_follows(const struct rxo_req *req, u32 idx,
			    const struct rxo_swqe *wqe, struct rxo_psn psn)
{
	const struct rxo_swqe *next = rxo_req_at(req, idx + 1);
	u32 recv_no = wqe->recv_no + rxo_req_takes_recv(wqe);
	u32 npsn;

	if (idx + 1 == req->head || rxo_req_status(req, next))
		return false;
	if (!rxo_req_has_credit(req, next, recv_no))
		return false;
	if (next->started)
		return true;
	if (req->draining || (next->flags & RXE_ORDERED_SEND_FENCE))
		return false;
	if (!rxo_req_has_result(next))
		return true;
	npsn = min(rxo_req_npsn(req, next->length), req->rd_part);
	return req->rd_out < req->cfg.max_rd_atomic &&
	       (u32)rxo_psn_diff(psn, req->una) + npsn <= rxo_req_window(req, next);
}

/*
 * AckReq: the last packet before a pause always asks, so that the tail of what
 * was sent never waits for an answer that nobody owes; so does the end of each
 * signalled message, of a retransmission, and every ack_every-th packet. In
 * between, back-to-back messages share an acknowledgement. If what follows
 * turns out to be stuck after all, rxo_req_nudge() asks later.
 */
static bool rxo_req_wants_ack(const struct rxo_req *req, u32 idx,
			      const struct rxo_swqe *wqe, struct rxo_psn psn)
{
	struct rxo_psn next = rxo_psn_add(psn, 1);

	if (req->since_ackreq + 1 >= req->cfg.ack_every)
		return true;
	if ((u32)rxo_psn_diff(next, req->una) >= rxo_req_window(req, wqe))
		return true;
	if (rxo_psn_before(psn, req->max) && rxo_psn_eq(next, req->max))
		return true;
	if (!rxo_psn_eq(psn, wqe->last))
		return false;
	return (wqe->flags & RXE_ORDERED_SEND_SIGNALED) ||
	       !rxo_req_follows(req, idx, wqe, next);
}

static const u8 rxo_req_opcodes[][4] = {
	[RXE_ORDERED_WR_RDMA_WRITE] = {
		[0] = RXO_OP_WRITE_MIDDLE,
		[RXO_POS_FIRST] = RXO_OP_WRITE_FIRST,
		[RXO_POS_LAST] = RXO_OP_WRITE_LAST,
		[RXO_POS_FIRST | RXO_POS_LAST] = RXO_OP_WRITE_ONLY,
	},
	[RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM] = {
		[0] = RXO_OP_WRITE_MIDDLE,
		[RXO_POS_FIRST] = RXO_OP_WRITE_FIRST,
		[RXO_POS_LAST] = RXO_OP_WRITE_LAST_IMM,
		[RXO_POS_FIRST | RXO_POS_LAST] = RXO_OP_WRITE_ONLY_IMM,
	},
	[RXE_ORDERED_WR_SEND] = {
		[0] = RXO_OP_SEND_MIDDLE,
		[RXO_POS_FIRST] = RXO_OP_SEND_FIRST,
		[RXO_POS_LAST] = RXO_OP_SEND_LAST,
		[RXO_POS_FIRST | RXO_POS_LAST] = RXO_OP_SEND_ONLY,
	},
	[RXE_ORDERED_WR_SEND_WITH_IMM] = {
		[0] = RXO_OP_SEND_MIDDLE,
		[RXO_POS_FIRST] = RXO_OP_SEND_FIRST,
		[RXO_POS_LAST] = RXO_OP_SEND_LAST_IMM,
		[RXO_POS_FIRST | RXO_POS_LAST] = RXO_OP_SEND_ONLY_IMM,
	},
};

/* A READ request from the middle asks for what is missing of its part. */
static void rxo_req_fill_read(const struct rxo_req *req,
			      const struct rxo_swqe *wqe,
			      struct rxo_req_act *act)
{
	u32 from = act->offset;
	u64 to = (u64)from + ((u64)act->npsn << req->mtu_shift);

	act->pkt.opcode = RXO_OP_READ_REQUEST;
	act->pkt.va = wqe->raddr + from;
	act->pkt.rkey = wqe->rkey;
	act->pkt.dma_len = (u32)min(to, (u64)wqe->length) - from;
}

static void rxo_req_fill_atomic(const struct rxo_swqe *wqe,
				struct rxo_req_act *act)
{
	bool swaps = wqe->opcode == RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP;

	act->pkt.opcode = swaps ? RXO_OP_CMP_SWAP : RXO_OP_FETCH_ADD;
	act->pkt.va = wqe->raddr;
	act->pkt.rkey = wqe->rkey;
	act->pkt.swap_add = wqe->swap_add;
	act->pkt.compare = wqe->compare;
}

static void rxo_req_fill_data(const struct rxo_req *req, u32 idx,
			      const struct rxo_swqe *wqe, struct rxo_psn psn,
			      struct rxo_req_act *act)
{
	bool first = rxo_psn_eq(psn, wqe->first);
	bool last = rxo_psn_eq(psn, wqe->last);
	struct rxo_pkt *pkt = &act->pkt;

	act->len = min(wqe->length - act->offset, req->cfg.mtu);
	pkt->opcode = rxo_req_opcodes[wqe->opcode][(first ? RXO_POS_FIRST : 0) |
						   (last ? RXO_POS_LAST : 0)];
	pkt->payload_len = act->len;
	pkt->pad = -act->len & 3;
	pkt->ackreq = act->repair || rxo_req_wants_ack(req, idx, wqe, psn);
	/* Headers that the opcode does not have are not built. */
	pkt->va = wqe->raddr;
	pkt->rkey = wqe->rkey;
	pkt->dma_len = wqe->length;
	pkt->imm = wqe->imm;
	/* IBTA 9.2.3: a plain WRITE completes nothing that could be solicited. */
	pkt->solicited = last && wqe->opcode != RXE_ORDERED_WR_RDMA_WRITE &&
			 (wqe->flags & RXE_ORDERED_SEND_SOLICITED);
}

/* @wqe: request @idx, started. */
static void rxo_req_fill(const struct rxo_req *req, u32 idx,
			 const struct rxo_swqe *wqe, struct rxo_psn psn,
			 struct rxo_req_act *act)
{
	act->kind = RXO_REQ_SEND;
	act->slot = idx & req->mask;
	act->offset = rxo_req_dist(wqe, psn) << req->mtu_shift;
	act->npsn = rxo_req_packet_npsn(req, wqe, psn);
	if (act->repair)
		act->npsn = min(act->npsn, req->repair_npsn);
	act->retransmit = rxo_psn_before(psn, req->max);
	act->pkt.psn = psn;
	act->pkt.dqpn = req->cfg.dqpn;
	act->pkt.pkey = req->cfg.pkey;
	/* IBTA 17.2.8: a path that never migrates is in state Migrated. */
	act->pkt.migreq = true;
	if (rxo_req_is_read(wqe))
		rxo_req_fill_read(req, wqe, act);
	else if (rxo_req_is_atomic(wqe))
		rxo_req_fill_atomic(wqe, act);
	else
		rxo_req_fill_data(req, idx, wqe, psn, act);
	act->pkt.hdr_len = rxo_opcode_info(act->pkt.opcode)->hdr_len;
}

/*
 * Nothing can be sent now. If what was sent last did not ask for an ACK because
 * more was to follow at once, send that packet again and ask: a duplicate is
 * acknowledged, and with time-out 0 nothing else would ever draw the ACK.
 */
static void rxo_req_nudge(const struct rxo_req *req, struct rxo_req_act *act)
{
	struct rxo_psn psn = rxo_psn_sub(req->psn, 1);
	u32 idx = req->cur;

	if (!req->since_ackreq || !rxo_psn_before(req->una, req->psn))
		return;
	if (idx == req->head || !rxo_req_at(req, idx)->started ||
	    rxo_psn_eq(rxo_req_at(req, idx)->first, req->psn))
		idx--;
	if (rxo_req_has_result(rxo_req_at(req, idx)))
		return;		/* its result acknowledges what is before */
	act->wait = RXO_WAIT_NONE;
	rxo_req_fill(req, idx, rxo_req_at(req, idx), psn, act);
	act->pkt.ackreq = true;
}

static void rxo_req_wait(struct rxo_req_act *act, enum rxo_req_wait wait)
{
	act->kind = RXO_REQ_WAIT;
	act->wait = wait;
}

void rxo_req_next(const struct rxo_req *req, u64 now, struct rxo_req_act *act)
{
	const struct rxo_swqe *wqe = rxo_req_at(req, req->cur);
	struct rxo_swqe w;
	u32 npsn;

	memset(act, 0, sizeof(*act));
	if (req->failed) {
		rxo_req_wait(act, RXO_WAIT_FAILED);
		return;
	}
	if (!rxo_retry_rnr_over(&req->retry, now)) {
		rxo_req_wait(act, RXO_WAIT_RNR);
		return;
	}
	if (req->repair) {
		act->repair = true;
		rxo_req_fill(req, req->una_idx,
			     rxo_req_at(req, req->una_idx), req->una, act);
		return;
	}
	if (req->cur == req->head) {
		act->kind = RXO_REQ_IDLE;
		rxo_req_nudge(req, act);
		return;
	}
	if (rxo_req_status(req, wqe)) {
		rxo_req_wait(act, RXO_WAIT_FAILED);
		rxo_req_nudge(req, act);
		return;
	}
	w = rxo_req_begun(req, wqe);
	npsn = rxo_req_packet_npsn(req, &w, req->psn);
	rxo_req_wait(act, rxo_req_obstacle(req, wqe, &w, npsn));
	if (act->wait == RXO_WAIT_NONE)
		rxo_req_fill(req, req->cur, &w, req->psn, act);
	else
		rxo_req_nudge(req, act);
}

void rxo_req_probe(const struct rxo_req *req, struct rxo_psn psn,
		   struct rxo_req_act *act)
{
	u32 idx = req->una_idx;

	while (rxo_psn_after(psn, rxo_req_at(req, idx)->last))
		idx++;
	memset(act, 0, sizeof(*act));
	rxo_req_fill(req, idx, rxo_req_at(req, idx), psn, act);
	act->pkt.ackreq = true;
	act->probe = true;
}

/* The packet at req->psn is out. */
static void rxo_req_sent_next(struct rxo_req *req, const struct rxo_req_act *act)
{
	struct rxo_swqe *wqe = rxo_req_at(req, req->cur);
	struct rxo_psn next = rxo_psn_add(req->psn, act->npsn);
	struct rxo_swqe begun = rxo_req_begun(req, wqe);

	req->recv_no += !wqe->started && rxo_req_takes_recv(wqe);
	*wqe = begun;
	if (rxo_req_has_result(wqe) && !act->retransmit)
		req->rd_out++;
	/* Or it would not be comparable after very many READs. */
	if (rxo_req_is_read(wqe) && !rxo_psn_after(req->observable, req->una))
		req->observable = req->una;
	req->psn = next;
	if (rxo_psn_after(next, req->max))
		req->max = next;
	if (rxo_psn_after(next, wqe->last)) {
		req->cur++;
		if (rxo_psn_eq(next, req->max) && !rxo_req_is_read(wqe))
			req->observable = next;
	}
}

/*
 * One answer in eight is timed: enough to follow, and it costs next to nothing.
 * None that has to wait until something else has been repaired.
 */
static void rxo_req_time(struct rxo_req *req, const struct rxo_req_act *act,
			 bool asks, u64 now)
{
	req->active = now;
	if (act->retransmit) {
		req->rtt_timed = false;
		req->rtt_skip = 0;
	} else if (!req->rtt_timed && asks && !req->repaired) {
		if (req->rtt_skip) {
			req->rtt_skip--;
			return;
		}
		req->rtt_timed = true;
		req->rtt_psn = act->pkt.psn;
		req->rtt_from = now;
	}
}

void rxo_req_sent(struct rxo_req *req, const struct rxo_req_act *act,
		  enum rxo_req_result result, u64 now)
{
	u32 idx = req->tail + ((act->slot - req->tail) & req->mask);
	bool asks;

	if (act->kind != RXO_REQ_SEND || result == RXO_SENT_BUSY)
		return;
	if (act->probe && result != RXO_SENT)
		return;		/* the request itself is still under way */
	if (result != RXO_SENT) {
		rxo_req_fail(req, idx, result == RXO_SENT_LOC_PROT ?
			     RXO_WC_LOC_PROT_ERR : RXO_WC_LOC_QP_OP_ERR);
		return;
	}
	if (rxo_psn_eq(act->pkt.psn, req->psn))
		rxo_req_sent_next(req, act);
	asks = act->pkt.ackreq || rxo_req_has_result(rxo_req_at(req, idx));
	rxo_req_time(req, act, asks, now);
	if (act->retransmit) {
		req->n_retransmit++;
		rxo_req_at(req, idx)->asked_again = true;
		if (rxo_req_is_read(rxo_req_at(req, idx)))
			req->echoes = min(req->echoes + act->npsn,
					  RXO_READ_PART);
	}
	if (act->probe) {
		rxo_rtt_missed(&req->rtt);
		return;
	}
	if (act->repair) {
		req->repair = false;
		req->repaired = true;
	} else if (asks) {
		req->since_ackreq = 0;
	} else {
		req->since_ackreq++;
	}
	rxo_retry_sent(&req->retry, now);
}

/* What would then be sent for the first time has not begun either. */
void rxo_req_rewind(struct rxo_req *req, const struct rxo_req *mark)
{
	u32 end = req->cur == req->head ? req->head : req->cur + 1;
	u32 idx;

	for (idx = mark->cur; idx != end; idx++) {
		struct rxo_swqe *wqe = rxo_req_at(req, idx);

		if (wqe->started && !rxo_psn_before(wqe->first, mark->max))
			wqe->started = false;
	}
	*req = *mark;
}

/* --------------------------------------------- acknowledgement and failure */

/* Has una got past the beginning of a READ, and not to its end? */
static bool rxo_req_is_within_read(const struct rxo_req *req)
{
	const struct rxo_swqe *wqe = rxo_req_at(req, req->una_idx);

	return req->una_idx != req->head && wqe->started &&
	       rxo_req_is_read(wqe) && !rxo_psn_eq(req->una, wqe->first);
}

/* una has moved. */
static void rxo_req_moved(struct rxo_req *req, u64 now)
{
	if (rxo_psn_before(req->psn, req->una)) {
		req->psn = req->una;
		req->cur = req->una_idx;
	}
	if (req->rtt_timed && rxo_psn_after(req->una, req->rtt_psn)) {
		rxo_rtt_sample(&req->rtt, now - req->rtt_from);
		req->rtt_timed = false;
		req->rtt_skip = 7;
	}
	req->active = now;
	/* So often for each READ, however slowly its answers come. */
	if (!rxo_req_is_within_read(req))
		req->early = 0;
	/* A repair that is no longer due was for what has arrived after all. */
	if (req->repair || !rxo_psn_before(req->una, req->gap_end))
		req->gap_known = false;
	req->nak_ahead = false;
	req->repair = false;
	req->repaired = false;
	req->careful = RXO_MAX_WINDOW;
	if (rxo_psn_before(req->seen, req->una))
		req->seen = req->una;
	/* psn never stands behind a failed request, so that one cannot wait. */
	rxo_retry_progress(&req->retry, now,
			   rxo_psn_before(req->una, req->psn));
}

bool rxo_req_advance(struct rxo_req *req, struct rxo_psn to, u64 now)
{
	struct rxo_psn old = req->una;

	while (rxo_psn_before(req->una, to)) {
		const struct rxo_swqe *wqe = rxo_req_at(req, req->una_idx);

		if (wqe->status || rxo_req_has_result(wqe))
			break;
		if (!rxo_psn_after(to, wqe->last)) {
			req->una = to;
			break;
		}
		req->una = rxo_psn_add(wqe->last, 1);
		req->una_idx++;
	}
	if (!rxo_psn_eq(old, req->una))
		rxo_req_moved(req, now);
	return rxo_psn_eq(req->una, to);
}

/* What came in another order, or was rounded, does not take back what was told. */
void rxo_req_credits(struct rxo_req *req, u8 value)
{
	const struct rxo_swqe *wqe = rxo_req_at(req, req->una_idx);
	u32 limit = req->recv_no;

	if (value == RXO_AETH_NO_CREDITS) {
		req->limited = false;
		return;
	}
	if (req->una_idx != req->head && wqe->started)
		limit = wqe->recv_no;
	limit += rxo_aeth_credits(value);
	if (!req->limited || (s32)(limit - req->recv_limit) > 0)
		req->recv_limit = limit;
	req->limited = true;
}

void rxo_req_advance_read(struct rxo_req *req, u64 now)
{
	const struct rxo_swqe *wqe = rxo_req_at(req, req->una_idx);
	struct rxo_req_part part = rxo_req_part(req, wqe, req->una);

	if (rxo_psn_eq(req->una, part.last))
		req->rd_out--;
	if (rxo_psn_eq(req->una, wqe->last))
		req->una_idx++;
	req->una = rxo_psn_add(req->una, 1);
	rxo_req_moved(req, now);
}

void rxo_req_go_back_to(struct rxo_req *req, u32 idx, struct rxo_psn psn)
{
	req->psn = psn;
	req->cur = idx;
	req->since_ackreq = 0;
}

void rxo_req_go_back(struct rxo_req *req)
{
	rxo_req_go_back_to(req, req->una_idx, req->una);
	req->repair = false;
	req->repaired = false;
	rxo_retry_stop(&req->retry);
}

void rxo_req_repair(struct rxo_req *req, u32 npsn)
{
	if (!rxo_retry_take(&req->retry)) {
		rxo_req_fail(req, req->una_idx, RXO_WC_RETRY_EXC_ERR);
		return;
	}
	req->repair = true;
	req->repair_npsn = npsn;
	rxo_retry_stop(&req->retry);
}

void rxo_req_retry(struct rxo_req *req)
{
	if (rxo_retry_take(&req->retry))
		rxo_req_go_back(req);
	else
		rxo_req_fail(req, req->una_idx, RXO_WC_RETRY_EXC_ERR);
}

/*
 * The send pointer returns to the start of the failed request, where it stays;
 * those before it may still have to be sent again.
 */
void rxo_req_fail(struct rxo_req *req, u32 idx, enum rxo_status status)
{
	struct rxo_swqe *wqe = rxo_req_at(req, idx);

	if (wqe->status)
		return;
	wqe->status = (u8)status;
	req->repair &= idx != req->una_idx;
	if (wqe->started && (s32)(req->cur - idx) >= 0) {
		req->cur = idx;
		req->psn = idx == req->una_idx ? req->una : wqe->first;
	}
	if (idx == req->una_idx)
		rxo_retry_stop(&req->retry);
}

/* ------------------------------------------------------------- completion */

static void rxo_req_take(struct rxo_req *req, enum rxo_status status,
			 struct rxo_req_done *done)
{
	const struct rxo_swqe *wqe = rxo_req_at(req, req->tail);

	done->slot = req->tail & req->mask;
	done->status = status;
	done->wants_cqe = status != RXO_WC_SUCCESS ||
			  (wqe->flags & RXE_ORDERED_SEND_SIGNALED);
	done->wr_opcode = wqe->opcode;
	done->wr_id = wqe->wr_id;
	done->byte_len = wqe->length;
	req->tail++;
}

bool rxo_req_pop(struct rxo_req *req, bool flush, struct rxo_req_done *done)
{
	enum rxo_status own;

	if (req->tail == req->head)
		return false;
	if (req->tail != req->una_idx) {
		rxo_req_take(req, RXO_WC_SUCCESS, done);
		return true;
	}
	/* After one failure the rest is flushed, whatever would become of it. */
	own = req->failed ? RXO_WC_SUCCESS :
			    rxo_req_status(req, rxo_req_at(req, req->tail));
	if (own == RXO_WC_SUCCESS && !flush)
		return false;
	rxo_req_take(req, own ? own : RXO_WC_WR_FLUSH_ERR, done);
	req->failed = true;
	req->una_idx = req->tail;
	if ((s32)(req->tail - req->cur) > 0)
		req->cur = req->tail;
	return true;
}

struct rxo_psn rxo_req_completed(const struct rxo_req *req)
{
	if (req->tail == req->una_idx)
		return req->una;
	return rxo_req_at(req, req->tail)->first;
}

bool rxo_req_is_drained(const struct rxo_req *req)
{
	return rxo_psn_eq(req->una, req->max) && req->tail == req->una_idx &&
	       (req->tail == req->head ||
		!rxo_req_at(req, req->tail)->started);
}

/* ------------------------------------------------------------------ timer */

/*
 * Long before the time-out, which has to suit the slowest peer, an answer is late
 * by what others took. Mostly the last packet has been lost then, or one that was
 * sent again: the losses that no NAK reports. So the packet at una is sent once
 * more, which takes no retry and fails nothing: RXO_REQ_EARLY times at most until the
 * peer is heard again, each after twice the wait of the one before.
 *
 * What a READ takes depends on what the peer has to do before it, and answers that
 * nobody needs any more would hold up the next ones. So of a READ one packet is asked
 * for, RXO_REQ_EARLY times for the whole of it, and its answer tells whether the rest is
 * lost as well, see rxo_ack.c. Nor is a READ or atomic asked for of which it is not
 * known that the peer has executed it: it would execute a piece as a READ of its own, and
 * take the whole for something else later.
 *
 * It does not come sooner than this: the peer may be a virtual machine that has to
 * wait for its processor.
 */
#define RXO_REQ_EARLY_MIN_NS	1000000u

/* Of what has a result: has the peer executed what una lies in? */
static bool rxo_req_has_answered(const struct rxo_req *req,
				 const struct rxo_swqe *wqe)
{
	if (rxo_psn_before(req->una, req->seen))
		return true;
	return rxo_req_is_read(wqe) &&
	       !rxo_psn_eq(req->una, rxo_req_part(req, wqe, req->una).first);
}

static u64 rxo_req_early_deadline(const struct rxo_req *req)
{
	const struct rxo_swqe *wqe = rxo_req_at(req, req->una_idx);
	u64 late = rxo_rtt_late(&req->rtt, RXO_REQ_EARLY_MIN_NS, 0);

	if (!late || req->early >= RXO_REQ_EARLY ||
	    !req->retry.waiting_ack || req->retry.waiting_rnr)
		return U64_MAX;
	if (rxo_req_has_result(wqe) && !rxo_req_has_answered(req, wqe))
		return U64_MAX;
	/* With time-out 0 the application wants no retransmission. */
	return late <= req->retry.timeout_ns / 2 ? req->active + late : U64_MAX;
}

static bool rxo_req_is_late(const struct rxo_req *req, u64 now)
{
	u64 deadline = rxo_req_early_deadline(req);

	return deadline != U64_MAX && now >= deadline;
}

static void rxo_req_send_early(struct rxo_req *req)
{
	rxo_rtt_missed(&req->rtt);
	req->early++;
	req->n_early++;
	req->repair = true;
	req->repair_npsn = 1;
}

u64 rxo_req_deadline(const struct rxo_req *req)
{
	return req->failed ? U64_MAX : min(rxo_retry_deadline(&req->retry),
					   rxo_req_early_deadline(req));
}

void rxo_req_expire(struct rxo_req *req, u64 now)
{
	if (req->failed)
		return;
	if (req->retry.waiting_rnr && rxo_retry_rnr_over(&req->retry, now)) {
		req->retry.waiting_rnr = false;
		return;
	}
	if (rxo_retry_ack_late(&req->retry, now)) {
		req->n_timeout++;
		req->gap_known = false;
		rxo_req_retry(req);
		req->careful = min(req->careful, RXO_REQ_CAREFUL);
	} else if (rxo_req_is_late(req, now)) {
		rxo_req_send_early(req);
	}
}

enum rxo_wc_opcode rxo_req_wc_opcode(u8 wr_opcode)
{
	switch (wr_opcode) {
	case RXE_ORDERED_WR_RDMA_WRITE:
	case RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM:
		return RXO_WC_RDMA_WRITE;
	case RXE_ORDERED_WR_RDMA_READ:
		return RXO_WC_RDMA_READ;
	case RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP:
		return RXO_WC_COMP_SWAP;
	case RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD:
		return RXO_WC_FETCH_ADD;
	default:
		return RXO_WC_SEND;
	}
}
