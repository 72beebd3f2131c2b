/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The requester's ear: acknowledgements, NAKs and READ responses (IBTA 9.7.5.1,
 * 9.7.7, 9.9.2). Works on struct rxo_req, which see.
 *
 * rxo_ack_rx() decides; for READ data the caller places the payload, for an
 * atomic its result, and commits with rxo_ack_done(). After either, rxo_req_pop() until it returns false, then
 * rxo_req_next().
 */
#ifndef RXO_ACK_H
#define RXO_ACK_H

#include "rxo_req.h"

enum rxo_ack_kind {
	RXO_ACK_DROP,		/* see drop; nothing changed */
	RXO_ACK_TAKEN,		/* state advanced, no data to place */
	RXO_ACK_READ_DATA,	/* place payload, then rxo_ack_done() */
	RXO_ACK_RESULT,		/* the same with orig, in host byte order */
	RXO_ACK_AHEAD,		/* data or a result behind missing data: keep it until
				 * rxo_ack_kept_due(), or drop it, see drop
				 */
};

struct rxo_ack_act {
	enum rxo_ack_kind kind;
	enum rxo_drop drop;
	u32 slot;		/* READ_DATA, RESULT: the request */
	u32 offset;		/* where in its scatter list the payload goes */
	u32 len;
	bool last;		/* last byte of the READ */
	u64 orig;		/* RESULT: what the memory was, len bytes */
	bool unexecuted;	/* whatever the kind: a NAK, sent when the peer
				 * had executed neither psn nor anything later
				 */
	struct rxo_psn psn;
};

enum rxo_ack_result {
	RXO_PLACED,
	RXO_PLACE_LOC_PROT,	/* scatter list is not accessible */
};

/* @pkt: response class opcode, already validated, for this QP. */
void rxo_ack_rx(struct rxo_req *req, const struct rxo_pkt *pkt, u64 now,
		struct rxo_ack_act *act);
void rxo_ack_done(struct rxo_req *req, const struct rxo_ack_act *act,
		  enum rxo_ack_result result, u64 now);

/* Have answers from beyond una been seen? Then the next call is needed. */
static inline bool rxo_ack_has_gap(const struct rxo_req *req)
{
	return rxo_psn_before(req->una, req->seen);
}

/**
 * rxo_ack_kept_due - is it the turn of what is kept?
 * @kept: the oldest READ response that is kept, NULL: none
 *
 * After each answer. True: bring it to rxo_ack_rx() now, and ask again. False:
 * what is missing before it has been asked for, if anything is.
 */
bool rxo_ack_kept_due(struct rxo_req *req, const struct rxo_psn *kept, u64 now);

#endif /* RXO_ACK_H */
