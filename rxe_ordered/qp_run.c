// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One owner per QP, nearly without waiting.
 *
 * qp->run holds a bit "owned" and bits for what there is to do. Bringing work
 * is one atomic step: whoever finds "owned" clear has become the owner and runs
 * the machines right here, in the context it is in; everyone else leaves its
 * bits and goes, because the owner lets go only by a compare-and-swap that finds
 * no work bit. So there is no lock, and a ping-pong runs to completion in the
 * system calls and softirqs it is in anyway.
 *
 * Past its budget the owner hands the ownership (not just the work) to a work
 * item. A process that must touch the state (modify, query, destroy) sets the
 * bit "ctl" and sleeps until the owner hands the ownership to it. A doorbell
 * that would otherwise add its request to the present owner's duties may want to
 * run it itself: see rxo_run_want().
 *
 * The atomic RMWs are fully ordered: they pair with each other, and make
 * everything one owner wrote visible to the next.
 */
#include <linux/ktime.h>

#include "qp_priv.h"
#include "trace.h"

static enum hrtimer_restart rxo_run_timer_cb(struct hrtimer *timer)
{
	struct rxo_qp *qp = container_of(timer, struct rxo_qp, timer);

	rxo_run_kick(qp, RXO_RUN_TIMER);
	return HRTIMER_NORESTART;
}

/* Pass on what the machines have counted since the last look. */
static void rxo_run_count_one(struct rxo_qp *qp, enum rxo_counter counter,
			      u64 now, u64 *seen)
{
	if (now == *seen)
		return;
	rxo_stat_add(qp->dev, counter, now - *seen);
	*seen = now;
}

static void rxo_run_count(struct rxo_qp *qp)
{
	const struct rxo_resp *resp = &qp->resp;
	const struct rxo_req *req = &qp->req;
	struct rxo_seen *seen = &qp->seen;
	const struct rxo_order *o = &qp->order;
	u64 sum;

	/* Nearly always nothing has happened, and one look has to tell. */
	sum = req->n_retransmit + req->n_timeout + req->n_early + req->n_rnr +
	      req->n_seq_nak + req->n_implied_nak + resp->n_dup +
	      resp->n_seq_nak + resp->n_rnr_nak + o->n_hold + o->n_proven +
	      o->n_probe;
	if (sum == seen->sum)
		return;
	seen->sum = sum;
	rxo_run_count_one(qp, RXO_CNT_RETRANSMIT, req->n_retransmit,
			  &seen->retransmit);
	rxo_run_count_one(qp, RXO_CNT_TIMEOUT, req->n_timeout, &seen->timeout);
	rxo_run_count_one(qp, RXO_CNT_EARLY, req->n_early, &seen->early);
	rxo_run_count_one(qp, RXO_CNT_RNR_RECEIVED, req->n_rnr, &seen->rnr);
	rxo_run_count_one(qp, RXO_CNT_SEQ_NAK_RECEIVED, req->n_seq_nak,
			  &seen->seq_nak);
	rxo_run_count_one(qp, RXO_CNT_IMPLIED_NAK, req->n_implied_nak,
			  &seen->implied_nak);
	rxo_run_count_one(qp, RXO_CNT_DUP_REQUEST, resp->n_dup, &seen->dup);
	rxo_run_count_one(qp, RXO_CNT_SEQ_NAK_SENT, resp->n_seq_nak,
			  &seen->seq_nak_sent);
	rxo_run_count_one(qp, RXO_CNT_RNR_SENT, resp->n_rnr_nak,
			  &seen->rnr_sent);
	rxo_run_count_one(qp, RXO_CNT_ORDER_HOLD, o->n_hold, &seen->hold);
	rxo_run_count_one(qp, RXO_CNT_ORDER_PROVEN, o->n_proven, &seen->proven);
	rxo_run_count_one(qp, RXO_CNT_ORDER_PROBE, o->n_probe, &seen->probe);
}

/*
 * The timer only ever runs too early: an expiry that has moved into the future
 * costs one look at the clock instead of a re-programming per packet.
 */
static void rxo_run_set_timer(struct rxo_qp *qp)
{
	u64 at = U64_MAX;

	if (rxo_qpfsm_may_complete(qp->state))
		at = rxo_req_deadline(&qp->req);
	/* A probe that is due cannot leave before that: no timer in the past. */
	if (qp->tx_resume)
		at = min(at, qp->tx_resume);
	else if (qp->order.oldest)
		at = min(at, rxo_order_deadline(&qp->order, &qp->req));
	if (at >= qp->timer_at)
		return;
	qp->timer_at = at;
	hrtimer_start(&qp->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

/* Share of the device's packets in flight, and who takes part. */
static void rxo_run_share_window(struct rxo_qp *qp)
{
	bool active = qp->req.tail != qp->req.head;
	u32 window;

	/*
	 * Only what is still outstanding after a step competes with others: a
	 * request that ends where it began costs no shared cache line.
	 */
	if (active != qp->active) {
		qp->active = active;
		atomic_add(active ? 1 : -1, &qp->dev->tx_active);
	}
	if (!active)
		return;
	window = RXO_DEV_WINDOW / max(1, atomic_read(&qp->dev->tx_active));
	window = clamp_t(u32, window, RXO_QP_WINDOW_MIN, RXO_QP_WINDOW);
	if (window != qp->req_cfg.window &&
	    rxo_qpfsm_may_complete(qp->state)) {
		qp->req_cfg.window = window;
		rxo_req_modify(&qp->req, &qp->req_cfg);
	}
}

static void rxo_run_drained(struct rxo_qp *qp)
{
	if (!qp->sqd_notify || !rxo_req_is_drained(&qp->req))
		return;
	qp->sqd_notify = false;
	rxo_wq_raise(qp, IB_EVENT_SQ_DRAINED);
}

/* The timer has fired, for whatever reason it was set. */
static void rxo_run_timer(struct rxo_qp *qp, u64 now)
{
	trace_rxo_timer(qp->dev, qp->obj.id);
	qp->timer_at = U64_MAX;
	if (qp->tx_resume && now >= qp->tx_resume)
		qp->tx_resume = 0;
	if (rxo_qpfsm_may_complete(qp->state) &&
	    now >= rxo_req_deadline(&qp->req))
		rxo_req_expire(&qp->req, now);
}

/* One pass over everything, bottom halves off. True: there is more to do. */
static bool rxo_run_step(struct rxo_qp *qp, int work)
{
	u64 now = ktime_get_ns();
	bool more;

	if (work & RXO_RUN_CQ_ERR)
		rxo_wq_cq_failed(qp);
	more = rxo_rx_drain(qp, RXO_STEP_BUDGET, now) >= RXO_STEP_BUDGET;
	if (work & RXO_RUN_TIMER)
		rxo_run_timer(qp, now);
	rxo_wq_complete_sends(qp);
	rxo_wq_publish(qp);

	if (rxo_qpfsm_is_flushing(qp->state)) {
		more |= rxo_wq_flush(qp, RXO_STEP_BUDGET);
	} else {
		if (work & RXO_RUN_SQ && rxo_qpfsm_may_complete(qp->state) &&
		    rxo_wq_fetch_send(qp))
			atomic_or(RXO_RUN_SQ, &qp->run);
		more |= rxo_tx_run(qp, RXO_STEP_BUDGET, now);
	}
	rxo_run_share_window(qp);
	rxo_wq_publish(qp);
	if (qp->state == RXO_QPS_SQD)
		rxo_run_drained(qp);
	rxo_run_count(qp);
	rxo_run_set_timer(qp);
	return more;
}

/*
 * After a step: let go, unless there is work. A waiting process comes first,
 * then a doorbell that wants to be the owner; what there is to do is theirs.
 * Return: the work bits of the next step; 0: no longer the owner.
 */
static int rxo_run_let_go(struct rxo_qp *qp, int work)
{
	int old = atomic_read(&qp->run), next, all;

	do {
		all = (old & RXO_RUN_WORK) | work;
		if (old & RXO_RUN_CTL)
			next = (old | all | RXO_RUN_MORE) & ~RXO_RUN_CTL;
		else if (!all || old & RXO_RUN_WANT)
			next = (old | all) & ~RXO_RUN_OWNED;
		else
			next = old & ~RXO_RUN_WORK;
	} while (!atomic_try_cmpxchg(&qp->run, &old, next));

	if (old & RXO_RUN_CTL) {
		complete(&qp->ctl_granted);
		return 0;
	}
	return next & RXO_RUN_OWNED ? all : 0;
}

/*
 * Run as the owner until there is nothing to do, at most @steps times; then hand
 * on to the workqueue. @work: taken out of qp->run.
 */
static void rxo_run(struct rxo_qp *qp, int work, int steps)
{
	bool more;

	while (work) {
		if (!steps--) {
			atomic_or(work, &qp->run);
			queue_work(rxo_wq, &qp->work);
			return;
		}
		local_bh_disable();
		rcu_read_lock();
		more = rxo_run_step(qp, work);
		rcu_read_unlock();
		/*
		 * In process context this runs the softirqs that the step has
		 * raised: on veth the peer receives here and now, so that the
		 * packets of one step are all that is ever queued on this CPU,
		 * and those of the next owner on another CPU do not overtake.
		 */
		local_bh_enable();
		work = rxo_run_let_go(qp, more ? RXO_RUN_MORE : 0);
	}
}

static int rxo_run_steps(void)
{
	return in_softirq() ? RXO_STEPS_SOFTIRQ : RXO_STEPS_PROCESS;
}

static int rxo_run_take_work(struct rxo_qp *qp)
{
	return atomic_fetch_andnot(RXO_RUN_WORK, &qp->run) & RXO_RUN_WORK;
}

static void rxo_run_work(struct work_struct *work)
{
	struct rxo_qp *qp = container_of(work, struct rxo_qp, work);

	/* The ownership came with the work item. */
	rxo_run(qp, rxo_run_take_work(qp) | RXO_RUN_MORE, RXO_STEPS_PROCESS);
}

void rxo_run_init(struct rxo_qp *qp)
{
	atomic_set(&qp->run, 0);
	skb_queue_head_init(&qp->rxq);
	hrtimer_init(&qp->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	qp->timer.function = rxo_run_timer_cb;
	qp->timer_at = U64_MAX;
	INIT_WORK(&qp->work, rxo_run_work);
	mutex_init(&qp->ctl_lock);
	init_completion(&qp->ctl_granted);
}

/* Nobody is at it and there is nothing to do: become the owner. */
static bool rxo_run_try_idle(struct rxo_qp *qp)
{
	return !atomic_cmpxchg(&qp->run, 0, RXO_RUN_OWNED);
}

/* Return: what to do as the owner; 0: another one does it. */
static int rxo_run_bring(struct rxo_qp *qp, int bits)
{
	if (rxo_run_try_idle(qp))
		return bits;
	if (atomic_fetch_or(bits | RXO_RUN_OWNED, &qp->run) & RXO_RUN_OWNED)
		return 0;
	return rxo_run_take_work(qp);
}

void rxo_run_kick(struct rxo_qp *qp, int bits)
{
	rxo_run(qp, rxo_run_bring(qp, bits), rxo_run_steps());
}

void rxo_run_rx(struct rxo_qp *qp, struct sk_buff *skb)
{
	/* So nothing is queued, and this one need not be either. */
	if (rxo_run_try_idle(qp)) {
		qp->rx_first = skb;
		rxo_run(qp, RXO_RUN_RX, rxo_run_steps());
		return;
	}
	skb_queue_tail(&qp->rxq, skb);
	rxo_run_kick(qp, RXO_RUN_RX);
}

/*
 * A request that answers a message comes while the QP is still owned by the
 * softirq that delivered that message and now acknowledges it. Left to that
 * owner it would wait for all this, and for the packets that this CPU has queued
 * meanwhile, while the CPU it was posted on has nothing to do. So the doorbell
 * asks for the ownership, which the owner gives up at the end of its step, with
 * all work bits, and takes it.
 *
 * It waits for RXO_WANT_NS at most. "want" is set only while a doorbell waits,
 * with preemption off, and it gives up only by a compare-and-swap that finds an
 * owner, who is then bound to do the work.
 *
 * Return: as rxo_run_bring().
 */
static int rxo_run_want(struct rxo_qp *qp)
{
	u64 end = ktime_get_ns() + RXO_WANT_NS;
	int old, next, work;

	preempt_disable();
	atomic_or(RXO_RUN_WANT, &qp->run);
	for (;;) {
		old = atomic_read(&qp->run);
		next = old & ~RXO_RUN_WANT;
		work = 0;
		if (!(old & RXO_RUN_OWNED) && old & RXO_RUN_WORK) {
			work = old & RXO_RUN_WORK;
			next = RXO_RUN_OWNED;
		}
		/* Somebody else may have taken the request up. */
		if ((work || !(old & RXO_RUN_SQ) || ktime_get_ns() >= end) &&
		    atomic_cmpxchg(&qp->run, old, next) == old)
			break;
		cpu_relax();
	}
	preempt_enable();
	return work;
}

void rxo_run_ring(struct rxo_qp *qp)
{
	int work = rxo_run_bring(qp, RXO_RUN_SQ);

	/* With many requests in the ring it is not the time of one that counts. */
	if (!work && rxo_wq_is_short(&qp->sq))
		work = rxo_run_want(qp);
	rxo_run(qp, work, RXO_STEPS_PROCESS);
}

void rxo_run_ctl_begin(struct rxo_qp *qp)
{
	int old;

	mutex_lock(&qp->ctl_lock);
	reinit_completion(&qp->ctl_granted);
	old = atomic_fetch_or(RXO_RUN_CTL | RXO_RUN_OWNED, &qp->run);
	if (old & RXO_RUN_OWNED)
		wait_for_completion(&qp->ctl_granted);
	else
		atomic_andnot(RXO_RUN_CTL, &qp->run);
}

void rxo_run_ctl_end(struct rxo_qp *qp)
{
	/* Requests may have been posted in a state that did not take them. */
	int work = rxo_run_take_work(qp) | RXO_RUN_MORE | RXO_RUN_SQ;

	/*
	 * Nobody else sets "ctl" while the mutex is held, so this runs, lets go
	 * or hands on to the workqueue, and does not come back to us.
	 */
	rxo_run(qp, work, RXO_STEPS_PROCESS);
	mutex_unlock(&qp->ctl_lock);
}

void rxo_run_stop(struct rxo_qp *qp)
{
	/*
	 * Only the owner starts the timer or queues the work item, and that is
	 * us. What still runs of them is the tail of a call that has already
	 * handed the ownership over.
	 */
	hrtimer_cancel(&qp->timer);
	cancel_work_sync(&qp->work);
	if (qp->active)
		atomic_dec(&qp->dev->tx_active);
	qp->active = false;
	mutex_unlock(&qp->ctl_lock);
}
