// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Holding receives back, releasing them, and drawing out a lost ACK. See
 * rxo_order.h.
 *
 * Both what holds need and when they arrived only grow from older to younger. So
 * the oldest is released first, and what a NAK proves, it proves for the first
 * few: one mark and one PSN say it for all.
 */
#include "rxo_order.h"

/*
 * A probe goes out when an answer is late, but not sooner than this after the
 * last sign of life: the peer may be a process that has to be woken.
 */
#define RXO_PROBE_MIN_NS	200000u
/* Until the first answer has been timed. */
#define RXO_PROBE_START_NS	10000000u

void rxo_order_init(struct rxo_order *o, u64 overtaking)
{
	memset(o, 0, sizeof(*o));
	o->overtaking = overtaking;
}

bool rxo_order_hold(struct rxo_order *o, struct rxo_hold *hold,
		    const struct rxo_req *req, u64 now)
{
	struct rxo_psn done = rxo_req_completed(req);

	if (!o->oldest && !rxo_psn_after(req->observable, done))
		return false;
	hold->next = NULL;
	hold->arrived = now;
	hold->need = rxo_psn_after(req->observable, done) ? req->observable :
							    done;
	if (o->oldest)
		o->newest->next = hold;
	else
		o->oldest = hold;
	o->newest = hold;
	if (!o->unproven)
		o->unproven = hold;
	o->n_hold++;
	return true;
}

/*
 * The NAK was sent after every message that arrived longer ago than a packet is
 * overtaken by at most. One that came before the message proves nothing, since a
 * copy sent later may have been executed and its ACK lost.
 */
static bool rxo_order_is_behind(const struct rxo_order *o,
				const struct rxo_hold *h, u64 arrived)
{
	return !o->overtaking || arrived > h->arrived + o->overtaking;
}

void rxo_order_nak(struct rxo_order *o, struct rxo_psn psn, u64 arrived)
{
	struct rxo_hold *h = o->unproven;

	if (!o->oldest || !rxo_order_is_behind(o, o->oldest, arrived))
		return;
	while (h && rxo_order_is_behind(o, h, arrived))
		h = h->next;
	o->unproven = h;
	o->proven = psn;
}

/* Does the oldest hold profit from a NAK? */
static bool rxo_order_is_proven(const struct rxo_order *o)
{
	return o->oldest != o->unproven &&
	       rxo_psn_before(o->proven, o->oldest->need);
}

/* What the oldest hold waits for. */
static struct rxo_psn rxo_order_need(const struct rxo_order *o)
{
	return rxo_order_is_proven(o) ? o->proven : o->oldest->need;
}

struct rxo_hold *rxo_order_flush(struct rxo_order *o)
{
	struct rxo_hold *h = o->oldest;

	if (!h)
		return NULL;
	o->oldest = h->next;
	if (o->unproven == h)
		o->unproven = h->next;
	return h;
}

struct rxo_hold *rxo_order_release(struct rxo_order *o,
				   const struct rxo_req *req)
{
	struct rxo_psn done = rxo_req_completed(req);

	if (!o->oldest || rxo_psn_after(rxo_order_need(o), done))
		return NULL;
	if (rxo_order_is_proven(o) && rxo_psn_after(o->oldest->need, done))
		o->n_proven++;
	return rxo_order_flush(o);
}

/* ------------------------------------------------------------------ probes */

/* Probes without an answer so far. */
static u32 rxo_order_probes(const struct rxo_order *o,
			    const struct rxo_req *req)
{
	return rxo_psn_eq(o->probe_una, req->una) ? o->probes : 0;
}

/*
 * How long to wait for a sign of life. Never so long that the transport timer
 * would be first.
 */
static u64 rxo_order_patience(const struct rxo_req *req)
{
	u64 late = rxo_rtt_late(&req->rtt, RXO_PROBE_MIN_NS,
				RXO_PROBE_START_NS);

	return min(late, req->retry.timeout_ns / 4);
}

/*
 * No probe for what will be sent again anyway, as after an RNR wait or a time-out:
 * that asks for an answer itself. Nor if the oldest hold waits for the data of a
 * READ only: the peer has acknowledged the rest by its NAK.
 */
static bool rxo_order_may_probe(const struct rxo_order *o,
				const struct rxo_req *req)
{
	return o->oldest && !req->failed &&
	       !rxo_order_is_proven(o) &&
	       rxo_psn_after(o->oldest->need, req->una) &&
	       !rxo_psn_after(o->oldest->need, req->psn) &&
	       rxo_order_probes(o, req) < RXO_ORDER_PROBES;
}

/*
 * The ACK timer starts anew with everything that is acknowledged, so its start is
 * the last sign of life.
 */
u64 rxo_order_deadline(const struct rxo_order *o, const struct rxo_req *req)
{
	u32 probes = rxo_order_probes(o, req);
	u64 from;

	if (!rxo_order_may_probe(o, req))
		return U64_MAX;
	from = max(o->oldest->arrived, req->retry.ack_start);
	if (probes)
		from = max(from, o->probed);
	return from + rxo_order_patience(req);
}

bool rxo_order_probe(const struct rxo_order *o, const struct rxo_req *req,
		     u64 now, struct rxo_req_act *act)
{
	if (now < rxo_order_deadline(o, req))
		return false;
	rxo_req_probe(req, rxo_psn_sub(o->oldest->need, 1), act);
	return true;
}

void rxo_order_probed(struct rxo_order *o, const struct rxo_req *req, u64 now)
{
	o->probes = rxo_order_probes(o, req) + 1;
	o->probe_una = req->una;
	o->probed = now;
	o->n_probe++;
}
