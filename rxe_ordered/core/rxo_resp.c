// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Responder: sequence, message rules, duplicates, the answers owed. See
 * rxo_resp.h for the calls.
 *
 * Answers leave in an order in which none contradicts an earlier one at a
 * requester that takes them as cumulative: an ACK waits for results of READs and
 * atomics with smaller PSNs, a NAK, which stands for the expected PSN, for all.
 */
#include "rxo_key.h"
#include "rxo_resp.h"

void rxo_resp_init(struct rxo_resp *resp)
{
	memset(resp, 0, sizeof(*resp));
}

void rxo_resp_start(struct rxo_resp *resp, const struct rxo_resp_cfg *cfg,
		    struct rxo_psn first)
{
	resp->cfg = *cfg;
	rxo_rdres_start(&resp->rd, cfg->mtu, cfg->max_dest_rd_atomic);
	resp->epsn = first;
	resp->ack_psn = rxo_psn_sub(first, 1);
}

/* The path MTU is fixed from RTR on. */
void rxo_resp_modify(struct rxo_resp *resp, const struct rxo_resp_cfg *cfg)
{
	u32 mtu = resp->cfg.mtu;

	resp->cfg = *cfg;
	resp->cfg.mtu = mtu;
	rxo_rdres_set_limit(&resp->rd, cfg->max_dest_rd_atomic);
}

/* ---------------------------------------------------------------- receive */

static void rxo_resp_owe_nak(struct rxo_resp *resp, struct rxo_psn psn,
			     u8 syndrome)
{
	resp->nak_owed = true;
	resp->nak_psn = psn;
	resp->nak_syndrome = syndrome;
}

static void rxo_resp_fail(struct rxo_resp *resp, enum rxo_nak nak)
{
	rxo_resp_owe_nak(resp, resp->epsn,
			 rxo_aeth_make(RXO_AETH_NAK, (u8)nak));
	resp->failed = true;
}

/* The peer broke a rule: rxo_resp_done() reports it. */
static void rxo_resp_refuse(struct rxo_resp *resp, struct rxo_resp_act *act,
			    enum rxo_nak nak)
{
	act->kind = RXO_RESP_NONE;
	rxo_resp_fail(resp, nak);
	resp->fatal_due = true;
}

/* IBTA 9.7.5.2.4: a gap is reported once, until the missing packet arrives. */
static void rxo_resp_ask(struct rxo_resp *resp)
{
	if (resp->seq_nak_sent || resp->failed)
		return;
	rxo_resp_owe_nak(resp, resp->epsn,
			 rxo_aeth_make(RXO_AETH_NAK, RXO_NAK_PSN));
	resp->seq_nak_sent = true;
	resp->begun = false;
}

static void rxo_resp_dropped(struct rxo_resp *resp, struct rxo_psn psn)
{
	if (!resp->dropped || rxo_psn_after(psn, resp->dropped_psn))
		resp->dropped_psn = psn;
	resp->dropped = true;
	resp->dropped_told = false;
}

/*
 * A peer that hears a NAK sends all from there on again, or the one packet first; an
 * ACK of no more than that one has it send the rest. It does not send again by itself
 * what was dropped if it has never heard a NAK, as the missing packet was only late, or
 * if it sent that behind one, or if the ACK is for what was kept, too.
 */
void rxo_resp_gap(struct rxo_resp *resp, bool kept)
{
	if (resp->dropped && rxo_psn_before(resp->dropped_psn, resp->epsn))
		resp->dropped = false;
	if (kept || (resp->dropped && !resp->dropped_told))
		rxo_resp_ask(resp);
}

/*
 * After an RNR NAK the peer sends everything again, so there is no use in
 * keeping what arrives meanwhile. It may still be overtaken, too.
 */
static void rxo_resp_rx_ahead(struct rxo_resp *resp, struct rxo_resp_act *act)
{
	act->kind = resp->rnr_nak_sent ? RXO_RESP_DROP : RXO_RESP_AHEAD;
	act->drop = RXO_DROP_SEQ;
	if (resp->rnr_nak_sent && resp->nak_owed)
		rxo_resp_dropped(resp, act->pkt.psn);
	rxo_resp_ask(resp);
}

/* All before @next, or more. */
static void rxo_resp_sent_again(struct rxo_resp *resp, struct rxo_psn next)
{
	if (!resp->begun || rxo_psn_after(next, resp->again))
		resp->again = next;
	resp->begun = true;
}

/*
 * A NAK has asked for the packet at epsn, and here it is, before @next. Some peers
 * send only this one again, and ask for an ACK; most send everything from here
 * again, and what was kept is new to them then. An ACK of all that is kept would
 * come before they have sent it: one that counts what it has sent from where it
 * went back may take it as seen (rdma_rxe does) and, should the last packet be lost
 * now, wait for ever. So what was kept is acknowledged when it comes again and
 * asks, as if it had not been kept, unless it has come again while it waited.
 */
static void rxo_resp_fills(struct rxo_resp *resp, struct rxo_psn next)
{
	if (!resp->seq_nak_sent || resp->nak_owed || resp->rnr_nak_sent)
		return;
	resp->filled = true;
	rxo_resp_sent_again(resp, next);
}

void rxo_resp_unkeep(struct rxo_resp *resp, struct rxo_pkt *pkt)
{
	pkt->ackreq &= !resp->filled || rxo_psn_before(pkt->psn, resp->again);
	resp->dropped_told = false;
}

/* Is it the first repetition of what was kept, see rxo_resp_fills()? */
static bool rxo_resp_was_kept(struct rxo_resp *resp, const struct rxo_pkt *pkt)
{
	if (!resp->filled || rxo_psn_before(pkt->psn, resp->again))
		return false;
	rxo_resp_sent_again(resp, rxo_psn_add(pkt->psn, 1));
	return true;
}

/*
 * Executed before; nothing about the message in progress changes. A SEND or
 * WRITE is acknowledged again, cumulatively (IBTA 9.7.5.1.2). A READ is executed
 * again, an atomic only answered again (IBTA 9.7.5.1.5, 9.9.3); either is
 * dropped if it is older than what is kept.
 */
static void rxo_resp_rx_dup(struct rxo_resp *resp, const struct rxo_pkt *pkt,
			    u8 class, struct rxo_resp_act *act)
{
	resp->n_dup++;
	act->kind = RXO_RESP_NONE;
	if (class != RXO_CLASS_READ && class != RXO_CLASS_ATOMIC) {
		resp->ack_owed |= pkt->ackreq || !rxo_resp_was_kept(resp, pkt);
	} else if (!rxo_rdres_replay(&resp->rd, pkt)) {
		act->kind = RXO_RESP_DROP;
		act->drop = RXO_DROP_DUP;
	}
}

/* IBTA 9.7.4.1.2 to 9.7.4.1.4: order of opcodes, supported ones. */
static bool rxo_resp_is_in_message(const struct rxo_resp *resp,
				   const struct rxo_opcode_info *info)
{
	if (info->hdrs & RXO_HDR_IETH)
		return false;		/* not offered */
	if (resp->msg_class == RXO_CLASS_NONE)
		return info->pos & RXO_POS_FIRST;
	return info->class == resp->msg_class && !(info->pos & RXO_POS_FIRST);
}

/* IBTA 9.7.4.1.6. */
static bool rxo_resp_length_fits(const struct rxo_resp *resp, u8 pos, u32 len)
{
	if (!(pos & RXO_POS_LAST))
		return len == resp->cfg.mtu;
	return len <= resp->cfg.mtu && (len || (pos & RXO_POS_FIRST));
}

static void rxo_resp_rx_send(struct rxo_resp *resp, u8 pos,
			     struct rxo_resp_act *act)
{
	u32 len = act->pkt.payload_len;

	/* The sum must stay a legal message, whatever the receive buffers. */
	if (resp->msg_off > RXO_MAX_MSG - len) {
		rxo_resp_refuse(resp, act, RXO_NAK_INV_REQ);
		return;
	}
	act->kind = RXO_RESP_RECV;
	act->need_recv = !resp->have_recv;
	act->last = pos & RXO_POS_LAST;
	act->offset = resp->msg_off;
	act->len = len;
}

static void rxo_resp_rx_write(struct rxo_resp *resp, u8 pos, bool with_imm,
			      struct rxo_resp_act *act)
{
	const struct rxo_pkt *pkt = &act->pkt;
	bool first = pos & RXO_POS_FIRST;
	bool last = pos & RXO_POS_LAST;
	u64 va = first ? pkt->va : resp->wr_va;
	u32 total = first ? pkt->dma_len : resp->wr_len;
	u32 off = first ? 0 : resp->msg_off;

	if (!(resp->cfg.access & RXO_ACCESS_REMOTE_WRITE)) {
		rxo_resp_refuse(resp, act, RXO_NAK_REM_ACCESS);
		return;
	}
	/* All lengths together are what the RETH announced, no more, no less. */
	if (total > RXO_MAX_MSG || pkt->payload_len > total - off ||
	    (last && pkt->payload_len != total - off)) {
		rxo_resp_refuse(resp, act, RXO_NAK_INV_REQ);
		return;
	}
	act->kind = RXO_RESP_WRITE;
	act->check = first && total;
	act->check_va = va;
	act->check_len = total;
	act->need_recv = last && with_imm && !resp->have_recv;
	act->last = last;
	act->offset = off;
	act->len = pkt->payload_len;
	act->va = va + off;
	act->rkey = first ? pkt->rkey : resp->wr_rkey;
}

static void rxo_resp_rx_read(struct rxo_resp *resp, struct rxo_resp_act *act)
{
	const struct rxo_pkt *pkt = &act->pkt;

	if (!(resp->cfg.access & RXO_ACCESS_REMOTE_READ)) {
		rxo_resp_refuse(resp, act, RXO_NAK_REM_ACCESS);
		return;
	}
	/* IBTA 9.7.4.1.3: more than was agreed on. */
	if (pkt->dma_len > RXO_MAX_MSG ||
	    rxo_rdres_is_full(&resp->rd)) {
		rxo_resp_refuse(resp, act, RXO_NAK_INV_REQ);
		return;
	}
	act->kind = RXO_RESP_READ;
	act->last = true;
	act->check = pkt->dma_len;
	act->check_va = pkt->va;
	act->check_len = pkt->dma_len;
	act->va = pkt->va;
	act->rkey = pkt->rkey;
}

static void rxo_resp_rx_atomic(struct rxo_resp *resp, struct rxo_resp_act *act)
{
	const struct rxo_pkt *pkt = &act->pkt;

	if (!(resp->cfg.access & RXO_ACCESS_REMOTE_ATOMIC)) {
		rxo_resp_refuse(resp, act, RXO_NAK_REM_ACCESS);
		return;
	}
	/* IBTA 9.4.5: aligned; 9.7.4.1.3: more than was agreed on. */
	if (pkt->va & 7 || rxo_rdres_is_full(&resp->rd)) {
		rxo_resp_refuse(resp, act, RXO_NAK_INV_REQ);
		return;
	}
	act->kind = RXO_RESP_ATOMIC;
	act->last = true;
	act->va = pkt->va;
	act->rkey = pkt->rkey;
}

static void rxo_resp_rx_expected(struct rxo_resp *resp,
				 const struct rxo_opcode_info *info,
				 struct rxo_resp_act *act)
{
	u32 npsn = rxo_rdres_npsn(&resp->rd, &act->pkt);

	rxo_resp_fills(resp, rxo_psn_add(resp->epsn, npsn));
	/* Present again: should it fail for a moment, a new gap is news. */
	resp->seq_nak_sent = false;
	resp->rnr_nak_sent = false;

	if (!rxo_resp_is_in_message(resp, info) ||
	    !rxo_rdres_has_span(&resp->rd, resp->epsn, npsn)) {
		rxo_resp_refuse(resp, act, RXO_NAK_INV_REQ);
		return;
	}
	if (info->class == RXO_CLASS_READ) {
		rxo_resp_rx_read(resp, act);
		return;
	}
	if (info->class == RXO_CLASS_ATOMIC) {
		rxo_resp_rx_atomic(resp, act);
		return;
	}
	if (!rxo_resp_length_fits(resp, info->pos, act->pkt.payload_len))
		rxo_resp_refuse(resp, act, RXO_NAK_INV_REQ);
	else if (info->class == RXO_CLASS_SEND)
		rxo_resp_rx_send(resp, info->pos, act);
	else
		rxo_resp_rx_write(resp, info->pos, info->hdrs & RXO_HDR_IMMDT,
				  act);
}

void rxo_resp_rx(struct rxo_resp *resp, const struct rxo_pkt *pkt,
		 struct rxo_resp_act *act)
{
	const struct rxo_opcode_info *info = rxo_opcode_info(pkt->opcode);

	memset(act, 0, sizeof(*act));
	act->pkt = *pkt;
	if (info->is_response || info->class == RXO_CLASS_NONE) {
		act->drop = RXO_DROP_QP_TYPE;	/* kind is DROP */
		return;
	}
	if (resp->failed) {
		act->drop = RXO_DROP_STATE;
		return;
	}
	if (rxo_psn_after(pkt->psn, resp->epsn))
		rxo_resp_rx_ahead(resp, act);
	else if (rxo_psn_before(pkt->psn, resp->epsn))
		rxo_resp_rx_dup(resp, pkt, info->class, act);
	else
		rxo_resp_rx_expected(resp, info, act);
}

/* ----------------------------------------------------------------- commit */

/* The receive request in use, if any, ends with @status. */
static void rxo_resp_end_recv(struct rxo_resp *resp, enum rxo_status status,
			      struct rxo_resp_next_act *next)
{
	next->complete = true;
	next->status = status;
	next->opcode = resp->msg_class == RXO_CLASS_WRITE ?
		       RXO_WC_RECV_RDMA_WITH_IMM : RXO_WC_RECV;
	resp->have_recv = false;
}

static void rxo_resp_fatal(struct rxo_resp *resp, enum rxo_resp_event event,
			   struct rxo_resp_next_act *next)
{
	next->fatal = true;
	next->event = event;
	/* The message will not end: its receive is flushed like the rest. */
	if (resp->have_recv && !next->complete)
		rxo_resp_end_recv(resp, RXO_WC_WR_FLUSH_ERR, next);
}

static void rxo_resp_event_of(struct rxo_resp *resp,
			      struct rxo_resp_next_act *next)
{
	bool access = rxo_aeth_value(resp->nak_syndrome) == RXO_NAK_REM_ACCESS;

	rxo_resp_fatal(resp, access ? RXO_RESP_EV_ACCESS : RXO_RESP_EV_REQ,
		       next);
}

static void rxo_resp_complete_msg(struct rxo_resp *resp,
				  const struct rxo_opcode_info *info,
				  const struct rxo_resp_act *act,
				  struct rxo_resp_next_act *next)
{
	resp->msn = (resp->msn + 1) & 0xffffff;
	next->with_imm = info->hdrs & RXO_HDR_IMMDT;
	if (info->class == RXO_CLASS_SEND || next->with_imm) {
		next->complete = true;
		next->status = RXO_WC_SUCCESS;
		next->opcode = info->class == RXO_CLASS_SEND ?
			       RXO_WC_RECV : RXO_WC_RECV_RDMA_WITH_IMM;
		next->byte_len = act->offset + act->len;
		next->imm = act->pkt.imm;
		next->solicited = act->pkt.solicited;
		resp->have_recv = false;
	}
	resp->msg_class = RXO_CLASS_NONE;
	resp->msg_off = 0;
}

/* A SEND or WRITE packet has been executed. */
static void rxo_resp_took_data(struct rxo_resp *resp,
			       const struct rxo_opcode_info *info,
			       const struct rxo_resp_act *act,
			       struct rxo_resp_next_act *next)
{
	const struct rxo_pkt *pkt = &act->pkt;

	if (info->class == RXO_CLASS_WRITE && (info->pos & RXO_POS_FIRST)) {
		resp->wr_va = pkt->va;
		resp->wr_rkey = pkt->rkey;
		resp->wr_len = pkt->dma_len;
	}
	resp->msg_class = info->class;
	resp->msg_off = act->offset + act->len;
	resp->have_recv |= act->need_recv;
	if (act->last)
		rxo_resp_complete_msg(resp, info, act, next);
	resp->ack_psn = pkt->psn;
	resp->ack_msn = resp->msn;
	resp->ack_owed |= pkt->ackreq;
}

static void rxo_resp_took(struct rxo_resp *resp, const struct rxo_resp_act *act,
			  struct rxo_resp_next_act *next)
{
	const struct rxo_pkt *pkt = &act->pkt;
	u32 npsn = 1;

	RXO_ASSERT(rxo_psn_eq(pkt->psn, resp->epsn));
	if (act->kind == RXO_RESP_READ || act->kind == RXO_RESP_ATOMIC) {
		/* IBTA C9-148: a READ counts when it is executed, not sent. */
		resp->msn = (resp->msn + 1) & 0xffffff;
		npsn = rxo_rdres_npsn(&resp->rd, pkt);
		rxo_rdres_add(&resp->rd, pkt, act->orig, resp->msn);
	} else {
		rxo_resp_took_data(resp, rxo_opcode_info(pkt->opcode), act,
				   next);
	}
	resp->epsn = rxo_psn_add(resp->epsn, npsn);
	/* A NAK that asked for this packet has been overtaken by it. */
	resp->nak_owed = false;
}

/* IBTA 9.7.5.2.8: nothing has changed; the peer sends the same packet again. */
static void rxo_resp_not_ready(struct rxo_resp *resp)
{
	rxo_resp_owe_nak(resp, resp->epsn,
			 rxo_aeth_make(RXO_AETH_RNR, resp->cfg.min_rnr_timer));
	/* The packets behind are dropped without a NAK of their own. */
	resp->seq_nak_sent = true;
	resp->rnr_nak_sent = true;
	resp->n_rnr_nak++;
}

/*
 * Execution failed for good (IBTA 9.9.3, classes A and C). An error of the
 * receive request is reported by its completion, one that the peer caused by
 * an event; a WRITE with immediate that is refused when its receive has been
 * taken is a local access error of that receive (IBTA 11.6.2).
 */
static void rxo_resp_failed(struct rxo_resp *resp,
			    const struct rxo_resp_act *act,
			    enum rxo_resp_result result,
			    struct rxo_resp_next_act *next)
{
	const struct rxo_opcode_info *info = rxo_opcode_info(act->pkt.opcode);
	enum rxo_resp_event event = RXO_RESP_EV_NONE;

	resp->msg_class = info->class;
	switch (result) {
	case RXO_RES_LOC_LEN:
		rxo_resp_fail(resp, RXO_NAK_INV_REQ);
		rxo_resp_end_recv(resp, RXO_WC_LOC_LEN_ERR, next);
		break;
	case RXO_RES_LOC_PROT:
		rxo_resp_fail(resp, RXO_NAK_REM_OP);
		rxo_resp_end_recv(resp, RXO_WC_LOC_PROT_ERR, next);
		break;
	case RXO_RES_RECV_BAD:
		rxo_resp_fail(resp, RXO_NAK_REM_OP);
		rxo_resp_end_recv(resp, RXO_WC_LOC_QP_OP_ERR, next);
		break;
	default:
		rxo_resp_fail(resp, RXO_NAK_REM_ACCESS);
		event = RXO_RESP_EV_ACCESS;
		if (result == RXO_RES_PLACE_ACCESS && act->need_recv)
			rxo_resp_end_recv(resp, RXO_WC_LOC_ACCESS_ERR, next);
		break;
	}
	rxo_resp_fatal(resp, event, next);
}

void rxo_resp_done(struct rxo_resp *resp, const struct rxo_resp_act *act,
		   enum rxo_resp_result result, struct rxo_resp_next_act *next)
{
	memset(next, 0, sizeof(*next));
	if (act->kind == RXO_RESP_DROP)
		return;
	if (act->kind == RXO_RESP_AHEAD) {
		if (result == RXO_RES_BUSY)
			rxo_resp_dropped(resp, act->pkt.psn);
		else if (result == RXO_RES_KEPT && !resp->nak_owed)
			rxo_resp_sent_again(resp, rxo_psn_add(act->pkt.psn, 1));
		return;
	}
	if (act->kind == RXO_RESP_NONE) {
		if (resp->fatal_due)
			rxo_resp_event_of(resp, next);
		resp->fatal_due = false;
		return;
	}
	if (result == RXO_RES_OK)
		rxo_resp_took(resp, act, next);
	else if (result == RXO_RES_NO_RECV)
		rxo_resp_not_ready(resp);
	else if (result != RXO_RES_BUSY)
		rxo_resp_failed(resp, act, result, next);
}

/* --------------------------------------------------------------- transmit */

bool rxo_resp_has_tx(const struct rxo_resp *resp)
{
	return resp->ack_owed || resp->nak_owed || rxo_rdres_has_job(&resp->rd);
}

/*
 * Of any acknowledgement. The receive in use is one that the MSN does not count yet,
 * so to the peer it is still to be used.
 */
static u8 rxo_resp_ack_syndrome(const struct rxo_resp *resp)
{
	u8 value = RXO_AETH_NO_CREDITS;

	if (resp->cfg.credits)
		value = rxo_aeth_credits_make(resp->recvs + resp->have_recv);
	return rxo_aeth_make(RXO_AETH_ACK, value);
}

static void rxo_resp_fill_ack(struct rxo_psn psn, u8 syndrome, u32 msn,
			      struct rxo_resp_tx *tx)
{
	tx->pkt.opcode = RXO_OP_ACK;
	tx->pkt.psn = psn;
	tx->pkt.syndrome = syndrome;
	tx->pkt.msn = msn;
}

/* The result of a READ, of which this is a piece, or of an atomic. */
static void rxo_resp_fill_result(const struct rxo_resp *resp,
				 struct rxo_resp_tx *tx)
{
	struct rxo_rd_src src;

	rxo_rdres_next(&resp->rd, &tx->pkt, &src);
	tx->pkt.syndrome = rxo_resp_ack_syndrome(resp);
	tx->is_read = tx->pkt.opcode != RXO_OP_ATOMIC_ACK;
	tx->va = src.va;
	tx->rkey = src.rkey;
	tx->len = tx->pkt.payload_len;
}

bool rxo_resp_next(const struct rxo_resp *resp, struct rxo_resp_tx *tx)
{
	bool has_job = rxo_rdres_has_job(&resp->rd);

	memset(tx, 0, sizeof(*tx));
	tx->pkt.dqpn = resp->cfg.dqpn;
	tx->pkt.pkey = resp->cfg.pkey;
	tx->pkt.migreq = true;	/* IBTA 17.2.8, as in requests */

	if (resp->nak_owed && !has_job)
		rxo_resp_fill_ack(resp->nak_psn, resp->nak_syndrome, resp->msn,
				  tx);
	else if (resp->ack_owed && !rxo_rdres_owes_before(&resp->rd, resp->ack_psn))
		rxo_resp_fill_ack(resp->ack_psn,
				  rxo_resp_ack_syndrome(resp), resp->ack_msn,
				  tx);
	else if (has_job)
		rxo_resp_fill_result(resp, tx);
	else
		return false;
	tx->pkt.hdr_len = rxo_opcode_info(tx->pkt.opcode)->hdr_len;
	return true;
}

/* The region of a READ has gone between two of its responses. */
static void rxo_resp_tx_refused(struct rxo_resp *resp, struct rxo_psn psn,
				struct rxo_resp_next_act *next)
{
	rxo_rdres_cancel(&resp->rd);
	resp->ack_owed = false;
	resp->failed = true;
	resp->fatal_due = false;
	rxo_resp_owe_nak(resp, psn,
			 rxo_aeth_make(RXO_AETH_NAK, RXO_NAK_REM_ACCESS));
	rxo_resp_event_of(resp, next);
}

static void rxo_resp_nak_left(struct rxo_resp *resp, u8 syndrome)
{
	resp->nak_owed = false;
	resp->dropped_told = true;
	resp->n_seq_nak += syndrome == rxo_aeth_make(RXO_AETH_NAK, RXO_NAK_PSN);
}

void rxo_resp_tx_done(struct rxo_resp *resp, const struct rxo_resp_tx *tx,
		      enum rxo_resp_tx_result result,
		      struct rxo_resp_next_act *next)
{
	memset(next, 0, sizeof(*next));
	if (result == RXO_RESP_TX_BUSY)
		return;
	if (tx->is_read && result == RXO_RESP_TX_ACCESS) {
		rxo_resp_tx_refused(resp, tx->pkt.psn, next);
	} else if (tx->pkt.opcode != RXO_OP_ACK) {
		rxo_rdres_sent(&resp->rd);
	} else {
		/* A NAK acknowledges all before it. */
		resp->ack_owed = false;
		resp->filled = false;
		if (rxo_aeth_type(tx->pkt.syndrome) != RXO_AETH_ACK)
			rxo_resp_nak_left(resp, tx->pkt.syndrome);
	}
}

struct rxo_resp_mark rxo_resp_mark(const struct rxo_resp *resp)
{
	return (struct rxo_resp_mark){
		.rd = rxo_rdres_mark(&resp->rd),
		.ack_owed = resp->ack_owed,
		.nak_owed = resp->nak_owed,
		.filled = resp->filled,
		.dropped_told = resp->dropped_told,
		.n_seq_nak = resp->n_seq_nak,
	};
}

void rxo_resp_rewind(struct rxo_resp *resp, const struct rxo_resp_mark *mark)
{
	rxo_rdres_rewind(&resp->rd, &mark->rd);
	resp->ack_owed = mark->ack_owed;
	resp->nak_owed = mark->nak_owed;
	resp->filled = mark->filled;
	resp->dropped_told = mark->dropped_told;
	resp->n_seq_nak = mark->n_seq_nak;
}
