// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the queue pairs of a device are doing, one a line, for debugfs.
 *
 * A reader does not become the owner of a QP: it must not stall traffic. So it
 * looks at plain fields of the struct rxo_qp, which RCU keeps, while the owner
 * changes them: each value was true at some instant, but not all at the same one. It
 * follows no pointer (rings and records go earlier than the struct).
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/seq_file.h>

#include "qp_priv.h"

/* Numbers have 24 bits. */
#define RXO_QPN_LIMIT	0xffffff

static const char *const rxo_status_states[] = {
	[RXO_QPS_RESET] = "RESET",
	[RXO_QPS_INIT] = "INIT",
	[RXO_QPS_RTR] = "RTR",
	[RXO_QPS_RTS] = "RTS",
	[RXO_QPS_SQD] = "SQD",
	[RXO_QPS_SQE] = "SQE",
	[RXO_QPS_ERR] = "ERR",
};

static const char *const rxo_status_waits[] = {
	[RXO_WAIT_NONE] = NULL,
	[RXO_WAIT_WINDOW] = "window",
	[RXO_WAIT_CREDITS] = "credits",
	[RXO_WAIT_FENCE] = "fence",
	[RXO_WAIT_READ_LIMIT] = "read-limit",
	[RXO_WAIT_RNR] = NULL,		/* shown with its time */
	[RXO_WAIT_DRAIN] = "drain",
	[RXO_WAIT_FAILED] = "failed",
};

static u64 rxo_status_us_left(u64 at, u64 now)
{
	return at > now ? div_u64(at - now, NSEC_PER_USEC) : 0;
}

/* What the send queue waits for; several things may be true. */
static void rxo_status_waits_for(const struct rxo_qp *qp, struct seq_file *s)
{
	const struct rxo_retry *retry = &qp->req.retry;
	u64 now = ktime_get_ns(), at;
	enum rxo_req_wait wait = READ_ONCE(qp->req_wait);

	at = READ_ONCE(qp->tx_resume);
	if (at)
		seq_printf(s, " network=%llu", rxo_status_us_left(at, now));
	if (READ_ONCE(retry->waiting_rnr)) {
		at = READ_ONCE(retry->rnr_deadline);
		seq_printf(s, " rnr=%llu", rxo_status_us_left(at, now));
	}
	if (READ_ONCE(qp->req.cur) != READ_ONCE(qp->req.head) &&
	    wait < ARRAY_SIZE(rxo_status_waits) && rxo_status_waits[wait])
		seq_printf(s, " %s", rxo_status_waits[wait]);
	if (READ_ONCE(retry->waiting_ack)) {
		at = READ_ONCE(retry->ack_start) + READ_ONCE(retry->timeout_ns);
		seq_printf(s, " ack=%llu", rxo_status_us_left(at, now));
	}
	if (READ_ONCE(qp->order.oldest))
		seq_puts(s, " held-receive");
}

static void rxo_status_line(const struct rxo_qp *qp, struct seq_file *s)
{
	enum rxo_qp_state state = READ_ONCE(qp->state);
	const struct rxo_req *req = &qp->req;
	u32 tail = READ_ONCE(req->tail), cur = READ_ONCE(req->cur);

	seq_printf(s, "qpn=%u state=%s peer=%u", qp->obj.id,
		   rxo_status_states[state], READ_ONCE(qp->attr.dest_qp_num));
	if (rxo_qpfsm_may_respond(state))
		seq_printf(s, " expects=%u", READ_ONCE(qp->resp.epsn.v));
	if (rxo_qpfsm_may_complete(state)) {
		seq_printf(s, " unacked=%u next=%u sent=%u unsent=%u reads=%u retries=%u waits:",
			   READ_ONCE(req->una.v), READ_ONCE(req->psn.v),
			   cur - tail, READ_ONCE(req->head) - cur,
			   READ_ONCE(req->rd_out),
			   READ_ONCE(req->retry.retries_left));
		rxo_status_waits_for(qp, s);
	}
	seq_putc(s, '\n');
}

/* The first QP of the device from number @pos on. */
static void *rxo_status_find(struct seq_file *s, loff_t *pos)
{
	unsigned long id = *pos;
	struct rxo_obj *obj;
	struct rxo_qp *qp;

	for (obj = xa_find(&rxo_qps.xa, &id, RXO_QPN_LIMIT, XA_PRESENT); obj;
	     obj = xa_find_after(&rxo_qps.xa, &id, RXO_QPN_LIMIT, XA_PRESENT)) {
		qp = container_of(obj, struct rxo_qp, obj);
		if (qp->dev != s->private)
			continue;
		*pos = id;
		return qp;
	}
	return NULL;
}

static void *rxo_status_start(struct seq_file *s, loff_t *pos)
	__acquires(RCU)
{
	rcu_read_lock();
	return rxo_status_find(s, pos);
}

static void *rxo_status_next(struct seq_file *s, void *qp, loff_t *pos)
{
	++*pos;
	return rxo_status_find(s, pos);
}

static void rxo_status_stop(struct seq_file *s, void *qp)
	__releases(RCU)
{
	rcu_read_unlock();
}

static int rxo_status_show(struct seq_file *s, void *qp)
{
	rxo_status_line(qp, s);
	return 0;
}

const struct seq_operations rxo_qp_status_ops = {
	.start = rxo_status_start,
	.next = rxo_status_next,
	.stop = rxo_status_stop,
	.show = rxo_status_show,
};
