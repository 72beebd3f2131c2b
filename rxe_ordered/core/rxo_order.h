/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Ordered completions: a receive that the peer sent after it had executed our
 * requests does not complete before those do, even if their ACK is lost.
 *
 * The PSN of an ACK is the requester's, so nothing in a message of the peer says
 * what it had executed by then. What it can have executed is known: requests all
 * of whose packets have been sent. So the completion of a message is held until
 * all of those are completed, or until a NAK proves that they had not been
 * executed when the message was sent.
 *
 * Covered are SEND, WRITE and atomics, and with them READs that precede one. Not
 * covered: an answer that the peer gives by a WRITE which is polled in memory, and
 * one that it gives on another QP.
 *
 * The caller asks rxo_order_hold() for each receive that ends, after popping the
 * requests that have ended; it calls rxo_order_release() when it has popped more
 * and after a NAK. It adds completions to the queues in the order in which it
 * gets them here.
 *
 * Context: the owner of the QP.
 */
#ifndef RXO_ORDER_H
#define RXO_ORDER_H

#include "rxo_req.h"

/* Probes for one hold before it is left to the transport timer. */
#define RXO_ORDER_PROBES	3

/*
 * A receive that has ended, waiting. One for each receive request that has been
 * taken and not completed; they are linked, not indexed, because those of a QP
 * need not lie side by side once receive requests come from a shared queue.
 */
struct rxo_hold {
	struct rxo_hold *next;	/* younger */
	u64 arrived;
	struct rxo_psn need;	/* all before this has to be completed */
	struct rxo_cqe cqe;	/* what to complete; the caller's */
};

struct rxo_order {
	struct rxo_hold *oldest;	/* NULL: nothing is held */
	struct rxo_hold *newest;
	/*
	 * Holds before this one need nothing from proven on: the peer had not
	 * executed it. NULL: that is true for all of them.
	 */
	struct rxo_hold *unproven;
	struct rxo_psn proven;
	u64 overtaking;		/* a packet is overtaken by this much at most, ns */
	u32 probes;		/* since something was acknowledged */
	struct rxo_psn probe_una;	/* una at that time */
	u64 probed;		/* time of the last one */
	/* counters, monotonic */
	u64 n_hold;
	u64 n_proven;		/* released by a NAK */
	u64 n_probe;
};

/* @overtaking: the path may delay a packet so long behind younger ones, ns. */
void rxo_order_init(struct rxo_order *o, u64 overtaking);

/* Is there nothing that a receive which ends now could have to wait for? */
static inline bool rxo_order_is_idle(const struct rxo_order *o,
				     const struct rxo_req *req)
{
	return !o->oldest && req->tail == req->una_idx &&
	       !rxo_psn_after(req->observable, req->una);
}

/*
 * A receive has ended: complete it now (false), or keep it (true)? Then @hold is
 * linked, and its cqe must be what to complete later. False if idle, which is
 * cheaper to ask first.
 */
bool rxo_order_hold(struct rxo_order *o, struct rxo_hold *hold,
		    const struct rxo_req *req, u64 now);

/*
 * An answer that says "unexecuted" (rxo_ack.h) has come. @arrived: when, not later
 * than it really did. Without overtaking it is enough that the calls have the order
 * of the packets.
 */
void rxo_order_nak(struct rxo_order *o, struct rxo_psn psn, u64 arrived);

/* The oldest receive if it may complete now, unlinked, or NULL. */
struct rxo_hold *rxo_order_release(struct rxo_order *o,
				   const struct rxo_req *req);
/* The oldest whatever it waits for, or NULL: the QP is in ERR, sends are flushed. */
struct rxo_hold *rxo_order_flush(struct rxo_order *o);

/* Next instant at which a probe is due, or U64_MAX. */
u64 rxo_order_deadline(const struct rxo_order *o, const struct rxo_req *req);
/*
 * If a probe is due, the packet to send. Commit it as a request (rxo_req_sent())
 * and, unless it could not leave and is to be tried again, here. False: none is due.
 */
bool rxo_order_probe(const struct rxo_order *o, const struct rxo_req *req,
		     u64 now, struct rxo_req_act *act);
void rxo_order_probed(struct rxo_order *o, const struct rxo_req *req, u64 now);

#endif /* RXO_ORDER_H */
