// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work rings and completions of a QP. A ring entry is copied out once and
 * validated; from then on only the copy counts. All by the owner of the QP.
 */
#include <linux/ktime.h>

#include "qp_priv.h"
#include "trace.h"

/* As many as are in flight can end at once, and are completed at once. */
static_assert(RXO_QP_WINDOW <= RXO_STEP_REQUESTS);

void rxo_wq_raise(struct rxo_qp *qp, enum ib_event_type type)
{
	struct ib_event ev = {
		.device = &qp->dev->ib,
		.element.qp = qp->ib,
		.event = type,
	};

	if (qp->ib->event_handler)
		qp->ib->event_handler(&ev, qp->ib->qp_context);
}

/* How many entries the process has posted and we have not copied. */
static u32 rxo_wq_avail(struct rxo_wq_ring *wq)
{
	u32 n;

	if (wq->broken)
		return 0;
	/* Pairs with the provider's store-release after it wrote the entry. */
	n = rxo_ring_used(smp_load_acquire(&wq->hdr->prod), wq->next);
	if (n <= wq->entries)
		return n;
	wq->broken = true;
	return 0;
}

static void *rxo_wq_entry(struct rxo_wq_ring *wq)
{
	return wq->slots + (size_t)(wq->next & (wq->entries - 1)) * wq->stride;
}

/*
 * An index that cannot be is the end of this QP: what the process meant is
 * unknown. It hurts nobody else.
 */
static void rxo_wq_check_broken(struct rxo_qp *qp, struct rxo_wq_ring *wq)
{
	if (!wq->broken || rxo_qpfsm_is_flushing(qp->state))
		return;
	qp->err_event = RXO_RESP_EV_FATAL;
	rxo_wq_enter_err(qp);
}

/* ------------------------------------------------------------------- sends */

static void rxo_wq_copy_send(struct rxo_qp *qp)
{
	struct rxo_swqe *wqe = rxo_req_slot(&qp->req);
	u32 slot = qp->req.head & qp->req.mask;
	u8 *data = qp->sq_data + (size_t)slot * qp->sq_data_len;
	const u8 *src = rxo_wq_entry(&qp->sq);
	struct rxe_ordered_sqe sqe;
	u32 len;

	memcpy(&sqe, src, sizeof(sqe));
	barrier();	/* the copy is what is looked at, not the ring */
	if (sqe.flags & RXE_ORDERED_SEND_INLINE)
		len = min(sqe.inline_len, qp->sq_data_len);
	else
		len = min(sqe.num_sge, qp->sq_lim.max_sge) *
		      sizeof(struct rxe_ordered_sge);
	memcpy(data, src + sizeof(sqe), len);
	wqe->status = rxo_wqe_validate_send(&sqe, rxo_wq_sge(qp, slot),
					    &qp->sq_lim, wqe);
}

bool rxo_wq_is_short(const struct rxo_wq_ring *wq)
{
	return rxo_ring_used(READ_ONCE(wq->hdr->prod),
			     READ_ONCE(wq->hdr->cons)) <= RXO_WANT_REQUESTS;
}

bool rxo_wq_fetch_send(struct rxo_qp *qp)
{
	u32 n = rxo_wq_avail(&qp->sq), budget = RXO_STEP_REQUESTS;

	for (; n && budget && rxo_req_has_room(&qp->req); n--, budget--) {
		rxo_wq_copy_send(qp);
		rxo_req_push(&qp->req);
		qp->sq.next++;
	}
	/* More posted than the ring holds outstanding cannot be either. */
	if (n && budget)
		qp->sq.broken = true;
	rxo_wq_check_broken(qp, &qp->sq);
	return n && !qp->sq.broken;
}

static void rxo_wq_add_cqe(struct rxo_qp *qp, struct rxo_cq *cq,
			   const struct rxo_cqe *cqe)
{
	struct rxo_pending *pending = &qp->pending;

	if (pending->n == RXO_CQE_BATCH)
		rxo_wq_publish(qp);
	pending->cq[pending->n] = cq;
	pending->cqe[pending->n] = *cqe;
	pending->n++;
	trace_rxo_completion(qp->dev, qp->obj.id, cqe->wr_id, cqe->opcode,
			     cqe->status);
}

static void rxo_wq_add_send_cqe(struct rxo_qp *qp,
				const struct rxo_req_done *done)
{
	struct rxo_cqe cqe = {
		.wr_id = done->wr_id,
		.status = done->status,
		.opcode = rxo_req_wc_opcode(done->wr_opcode),
		.byte_len = done->byte_len,
		.qpn = qp->obj.id,
	};

	rxo_wq_add_cqe(qp, qp->send_cq, &cqe);
}

/* ------------------------------------------------- receives that have ended */

static void rxo_wq_add_recv_cqe(struct rxo_qp *qp, const struct rxo_cqe *cqe)
{
	rxo_wq_add_cqe(qp, qp->recv_cq, cqe);
	qp->rq.done++;
	/* The slot is free; pairs with the provider's acquire. */
	smp_store_release(&qp->rq.hdr->cons, qp->rq.done);
}

/* The receive that was taken last has ended. False: it may complete now. */
static bool rxo_wq_hold_recv(struct rxo_qp *qp, const struct rxo_cqe *cqe)
{
	struct rxo_hold *hold = &qp->hold[(qp->rq.next - 1) &
					  (qp->rq.entries - 1)];

	if (rxo_order_is_idle(&qp->order, &qp->req))
		return false;
	/* The time after the message has arrived is on the safe side. */
	if (!rxo_order_hold(&qp->order, hold, &qp->req, ktime_get_ns()))
		return false;
	hold->cqe = *cqe;
	trace_rxo_hold(qp->dev, qp->obj.id, rxo_psn_sub(hold->need, 1).v,
		       cqe->wr_id);
	return true;
}

static void rxo_wq_release_recvs(struct rxo_qp *qp)
{
	struct rxo_hold *hold;

	while ((hold = rxo_order_release(&qp->order, &qp->req))) {
		trace_rxo_release(qp->dev, qp->obj.id,
				  rxo_psn_sub(hold->need, 1).v,
				  hold->cqe.wr_id);
		rxo_wq_add_recv_cqe(qp, &hold->cqe);
	}
}

/* ------------------------------------------------------ sends that have ended */

void rxo_wq_complete_sends(struct rxo_qp *qp)
{
	bool flush = rxo_qpfsm_is_flushing(qp->state);
	u32 tail = qp->req.tail, budget = RXO_STEP_REQUESTS;
	struct rxo_req_done done;

	if (tail == qp->req.head ||
	    (!flush && !rxo_qpfsm_may_complete(qp->state)))
		return;
	while (budget-- && rxo_req_pop(&qp->req, flush, &done)) {
		if (done.wants_cqe)
			rxo_wq_add_send_cqe(qp, &done);
		if (done.status != RXO_WC_SUCCESS && !flush) {
			rxo_wq_enter_err(qp);
			break;
		}
	}
	/* The slots are free; pairs with the provider's acquire. */
	if (tail != qp->req.tail)
		smp_store_release(&qp->sq.hdr->cons, qp->req.tail);
	if (qp->order.oldest && !rxo_qpfsm_is_flushing(qp->state))
		rxo_wq_release_recvs(qp);
}

/* ---------------------------------------------------------------- receives */

/*
 * A process has at most as many receives posted as the ring has entries, and a
 * receive counts until it is completed, however long it is held.
 */
static u32 rxo_wq_avail_recv(struct rxo_qp *qp)
{
	struct rxo_wq_ring *rq = &qp->rq;
	u32 n = rxo_wq_avail(rq);

	if (n <= rq->entries - (rq->next - rq->done))
		return n;
	rq->broken = true;
	return 0;
}

u32 rxo_wq_recvs(const struct rxo_qp *qp)
{
	const struct rxo_wq_ring *rq = &qp->rq;

	return min(rxo_ring_used(READ_ONCE(rq->hdr->prod), rq->next),
		   rq->entries - (rq->next - rq->done));
}

enum rxo_resp_result rxo_wq_fetch_recv(struct rxo_qp *qp)
{
	const u8 *src = rxo_wq_entry(&qp->rq);
	struct rxe_ordered_rqe rqe;
	enum rxo_status status;

	if (!rxo_wq_avail_recv(qp)) {
		rxo_wq_check_broken(qp, &qp->rq);
		return RXO_RES_NO_RECV;
	}
	memcpy(&rqe, src, sizeof(rqe));
	barrier();	/* the copy is what is looked at, not the ring */
	memcpy(qp->rsge, src + sizeof(rqe),
	       min(rqe.num_sge, qp->rq.max_sge) * sizeof(*qp->rsge));
	status = rxo_wqe_validate_recv(&rqe, qp->rsge, qp->rq.max_sge,
				       &qp->rwqe);
	qp->rq.next++;
	return status == RXO_WC_SUCCESS ? RXO_RES_OK : RXO_RES_RECV_BAD;
}

void rxo_wq_complete_recv(struct rxo_qp *qp,
			  const struct rxo_resp_next_act *next)
{
	struct rxo_cqe cqe = {
		.wr_id = qp->rwqe.wr_id,
		.status = next->status,
		.opcode = next->opcode,
		.byte_len = next->byte_len,
		.imm = next->imm,
		.qpn = qp->obj.id,
		.src_qp = qp->attr.dest_qp_num,
		.flags = next->with_imm ? RXO_WC_WITH_IMM : 0,
		.solicited = next->solicited,
	};

	if (!qp->ordered || rxo_qpfsm_is_flushing(qp->state) ||
	    !rxo_wq_hold_recv(qp, &cqe))
		rxo_wq_add_recv_cqe(qp, &cqe);
}

static void rxo_wq_flush_recv(struct rxo_qp *qp)
{
	static const struct rxo_resp_next_act flushed = {
		.status = RXO_WC_WR_FLUSH_ERR,
		.opcode = RXO_WC_RECV,
	};

	rxo_wq_complete_recv(qp, &flushed);
}

/* -------------------------------------------------------------- completion */

void rxo_wq_publish(struct rxo_qp *qp)
{
	struct rxo_pending *pending = &qp->pending;
	bool ok = true;
	u32 i, next;

	if (!pending->n)
		return;
	/* In order of completion, across both queues. */
	for (i = 0; i < pending->n; i = next) {
		next = i + 1;
		while (next < pending->n && pending->cq[next] == pending->cq[i])
			next++;
		ok &= rxo_cq_publish(pending->cq[i], &pending->cqe[i], next - i);
	}
	pending->n = 0;
	if (!ok)
		rxo_wq_cq_failed(qp);
}

/* ------------------------------------------------------------------- errors */

static enum ib_event_type rxo_wq_event_type(enum rxo_resp_event ev)
{
	switch (ev) {
	case RXO_RESP_EV_ACCESS:
		return IB_EVENT_QP_ACCESS_ERR;
	case RXO_RESP_EV_REQ:
		return IB_EVENT_QP_REQ_ERR;
	default:
		return IB_EVENT_QP_FATAL;
	}
}

void rxo_wq_enter_err(struct rxo_qp *qp)
{
	enum rxo_resp_event ev = qp->err_event;

	if (rxo_qpfsm_is_flushing(qp->state))
		return;
	trace_rxo_state(qp->dev, qp->obj.id, qp->state, RXO_QPS_ERR);
	qp->state = RXO_QPS_ERR;
	qp->err_event = RXO_RESP_EV_NONE;
	qp->tx_resume = 0;
	rxo_kept_purge(qp, qp->kept_req);
	rxo_kept_purge(qp, qp->kept_ans);
	if (ev != RXO_RESP_EV_NONE)
		rxo_wq_raise(qp, rxo_wq_event_type(ev));
	/*
	 * From here on a posted receive must be flushed, so the process has to
	 * say when it posts. Full barrier between the flag and our look at the
	 * index; pairs with the provider's barrier between index and flag.
	 */
	WRITE_ONCE(qp->rq.hdr->flags, RXE_ORDERED_WQ_NEED_DOORBELL);
	smp_mb();
	atomic_or(RXO_RUN_MORE, &qp->run);
}

void rxo_wq_cq_failed(struct rxo_qp *qp)
{
	/* In RESET nothing ends, and modify will not let it out. */
	if (qp->state == RXO_QPS_RESET || rxo_qpfsm_is_flushing(qp->state))
		return;
	qp->err_event = RXO_RESP_EV_FATAL;
	rxo_wq_enter_err(qp);
}

bool rxo_wq_flush(struct rxo_qp *qp, u32 budget)
{
	bool more = rxo_wq_fetch_send(qp);
	struct rxo_hold *hold;

	rxo_wq_complete_sends(qp);
	if (more || qp->req.tail != qp->req.head)
		return true;
	/* All requests have ended, so these may too, as what they are. */
	for (; budget && (hold = rxo_order_flush(&qp->order)); budget--)
		rxo_wq_add_recv_cqe(qp, &hold->cqe);
	if (!budget)
		return true;
	if (qp->resp.have_recv) {
		qp->resp.have_recv = false;
		rxo_wq_flush_recv(qp);
	}
	for (; budget; budget--) {
		if (rxo_wq_fetch_recv(qp) == RXO_RES_NO_RECV)
			return false;
		rxo_wq_flush_recv(qp);
	}
	return true;
}
