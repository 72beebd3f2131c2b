/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requester: turns send requests into packets and keeps them until they are
 * completed (IBTA 9.7.3-9.7.7). The half that listens to the peer's answers is
 * rxo_ack.h; both work on struct rxo_req.
 *
 * Three phases per packet: rxo_req_next() decides, the caller reads the payload
 * from memory and transmits, rxo_req_sent() commits. Nothing has changed if the
 * caller never commits.
 *
 * Context: the owner of the QP. No locks, clock or allocation in here.
 */
#ifndef RXO_REQ_H
#define RXO_REQ_H

#include "rxo_wire.h"
#include "rxo_wqe.h"
#include "rxo_retry.h"

/* A packet is sent again so often without a time-out or NAK, see rxo_req.c. */
#define RXO_REQ_EARLY	3
/* Packets under way after a time-out, until there is an answer. */
#define RXO_REQ_CAREFUL	8u

/* Set at modify QP; may change between packets where the verbs allow it. */
struct rxo_req_cfg {
	u32 mtu;		/* path MTU, payload bytes */
	u32 dqpn;
	u16 pkey;
	u8 max_rd_atomic;	/* outstanding READs and atomics */
	u8 timeout;		/* 5-bit codes as in the verbs */
	u8 retry_cnt;
	u8 rnr_retry;
	u32 window;		/* packets in flight at most, 1 .. 2^22 */
	u32 ack_every;		/* ask for an ACK at least this often, packets */
};

/* Does the peer keep packets that arrive behind a gap? See rxo_ack.c. */
enum rxo_keeps {
	RXO_KEEPS_NOT,
	RXO_KEEPS_MAYBE,
	RXO_KEEPS_YES,
};

struct rxo_req {
	struct rxo_req_cfg cfg;
	struct rxo_retry retry;
	/*
	 * Ring of private requests, free-running indices:
	 * tail <= cur <= head, head - tail <= mask + 1.
	 */
	struct rxo_swqe *wqe;	/* mask + 1 records, owned by the caller */
	u32 mask;
	u32 tail;		/* oldest that is not completed */
	u32 cur;		/* the one being sent; == head: nothing to send */
	u32 head;		/* next free */
	struct rxo_psn psn;	/* next to send; before max after a go-back */
	struct rxo_psn max;	/* high-water mark: first PSN never sent */
	struct rxo_psn una;	/* oldest not acknowledged */
	/*
	 * End of the newest request that the peer can observe (SEND, WRITE,
	 * atomic) with all packets sent at least once: the PSN behind its last.
	 * Not after una: there is none that is not acknowledged.
	 */
	struct rxo_psn observable;
	u32 rd_out;		/* READs and atomics sent and not completed */
	u32 recv_no;		/* begun requests that take a receive of the peer */
	/* End-to-end credits, IBTA 9.7.7.2. */
	bool limited;		/* the peer tells how many receives it has */
	u32 recv_limit;		/* it has one for each with a smaller recv_no */
	u32 since_ackreq;	/* packets since AckReq was last set */
	bool failed;		/* a request failed: nothing is sent any more */
	bool draining;		/* SQD: finish begun messages, start none */
	/* private to rxo_req.c and rxo_ack.c */
	u32 una_idx;		/* request that una lies in; tail .. una_idx - 1
				 * are complete
				 */
	u8 mtu_shift;
	u32 rd_part;		/* PSNs of one READ request at most, 2^n */
	bool rtt_timed;		/* the answer to rtt_psn, sent at rtt_from, is
				 * being timed
				 */
	u8 rtt_skip;		/* answers not to be timed before the next */
	struct rxo_psn rtt_psn;
	u64 rtt_from;
	struct rxo_rtt rtt;
	u64 active;		/* when something was last sent or heard */
	u8 early;		/* packets sent again before the time-out since
				 * una has moved, or of the READ it lies in
				 */
	u32 echoes;		/* READ responses asked for more than once */
	bool gap_known;		/* READ data missing at una was asked for again */
	struct rxo_psn gap_end;	/* as far as this */
	struct rxo_psn seen;	/* answers have been seen up to here at least */
	bool nak_ahead;		/* a sequence NAK from beyond una was heeded */
	/* One packet sent again instead of all: see rxo_ack.c. */
	bool repair;		/* the one at una is due */
	u32 repair_npsn;	/* READ: PSNs to ask for */
	bool repaired;		/* it has left, and una has not moved since */
	u32 careful;		/* PSNs in flight at most, until una moves */
	u8 keeps;		/* enum rxo_keeps */
	u32 n_plain;		/* sequence NAKs since that trust was lost */
	/* counters, monotonic */
	u64 n_retransmit;	/* packets sent again */
	u64 n_timeout;
	u64 n_early;		/* sent again before the time-out */
	u64 n_rnr;
	u64 n_seq_nak;
	u64 n_implied_nak;
};

enum rxo_req_kind {
	RXO_REQ_IDLE,		/* everything posted has been sent */
	RXO_REQ_WAIT,		/* cannot send now; see wait */
	RXO_REQ_SEND,		/* transmit pkt */
};

enum rxo_req_wait {
	RXO_WAIT_NONE,
	RXO_WAIT_WINDOW,	/* in-flight limit */
	RXO_WAIT_CREDITS,	/* a receive that the peer has not announced */
	RXO_WAIT_FENCE,
	RXO_WAIT_READ_LIMIT,	/* max_rd_atomic */
	RXO_WAIT_RNR,
	RXO_WAIT_DRAIN,
	RXO_WAIT_FAILED,	/* a failed request waits for those before it */
};

struct rxo_req_act {
	enum rxo_req_kind kind;
	enum rxo_req_wait wait;
	u32 slot;		/* index & mask of the request */
	u32 offset;		/* first payload byte within the message */
	u32 len;		/* payload bytes to put in this packet */
	u32 npsn;		/* PSNs that it takes: 1, or a READ's responses */
	bool retransmit;
	bool probe;		/* of rxo_req_probe() */
	bool repair;		/* out of turn: the packet at una */
	struct rxo_pkt pkt;	/* complete but for the payload */
};

enum rxo_req_result {
	RXO_SENT,		/* handed to the network (it may still be lost) */
	RXO_SENT_BUSY,		/* not sent, try the same packet later */
	RXO_SENT_LOC_PROT,	/* scatter list of the request is not accessible */
	RXO_SENT_LOC_QP_OP,	/* request cannot be executed here */
};

/* @wqe: array of @mask + 1 (a power of two) records. QP is in RESET. */
void rxo_req_init(struct rxo_req *req, struct rxo_swqe *wqe, u32 mask);
/* Enter RTS: set attributes and the first PSN. */
void rxo_req_start(struct rxo_req *req, const struct rxo_req_cfg *cfg,
		   struct rxo_psn first);
/* Change attributes later (RTS, SQD). */
void rxo_req_modify(struct rxo_req *req, const struct rxo_req_cfg *cfg);

/* Room for another request? */
bool rxo_req_has_room(const struct rxo_req *req);
/* The record to fill in; its slot is head & mask. Only if there is room. */
struct rxo_swqe *rxo_req_slot(struct rxo_req *req);
/* Take the record over. A record with a status other than success is a request
 * that failed validation: it fails in its turn.
 */
void rxo_req_push(struct rxo_req *req);

/* Could rxo_req_next() say anything but idle? Cheap enough to ask first. */
static inline bool rxo_req_has_next(const struct rxo_req *req)
{
	return req->cur != req->head || req->since_ackreq || req->repair;
}

void rxo_req_next(const struct rxo_req *req, u64 now, struct rxo_req_act *act);
void rxo_req_sent(struct rxo_req *req, const struct rxo_req_act *act,
		  enum rxo_req_result result, u64 now);

/*
 * The packet at @psn, the last one of a request that has been sent and is not
 * acknowledged, once more and with AckReq, to draw an answer. Commit with
 * rxo_req_sent() as usual: that costs no retry and fails no request.
 */
void rxo_req_probe(const struct rxo_req *req, struct rxo_psn psn,
		   struct rxo_req_act *act);

/* All before this PSN is completed, and the caller has popped it. */
struct rxo_psn rxo_req_completed(const struct rxo_req *req);

/*
 * Take back what has been committed as sent: @mark is a copy taken before, and
 * only RXO_SENT has been committed since.
 */
void rxo_req_rewind(struct rxo_req *req, const struct rxo_req *mark);

/* A request that has ended, oldest first. */
struct rxo_req_done {
	u32 slot;
	enum rxo_status status;
	bool wants_cqe;		/* signalled, or not successful */
	u8 wr_opcode;		/* enum rxe_ordered_wr_opcode */
	u64 wr_id;
	u32 byte_len;
};

/**
 * rxo_req_pop - take the oldest request if it has ended
 * @flush: the QP is in ERR: everything has ended, with a flush error unless it
 *	has a result of its own
 *
 * When a request with an error comes out, req->failed is set and the caller
 * moves the QP to ERR. Return: false if there is none.
 */
bool rxo_req_pop(struct rxo_req *req, bool flush, struct rxo_req_done *done);

/* All sent messages acknowledged and completed, none begun? (SQD drained) */
bool rxo_req_is_drained(const struct rxo_req *req);

/* Next instant for rxo_req_expire(), or U64_MAX. */
u64 rxo_req_deadline(const struct rxo_req *req);

/*
 * The clock has reached the deadline: end an RNR wait, send one packet again
 * because an answer is late, go back after a time-out, or fail the oldest
 * outstanding request when retries are used up. Then rxo_req_pop() and
 * rxo_req_next() as usual. Harmless when called early.
 */
void rxo_req_expire(struct rxo_req *req, u64 now);

/* Opcode of a successful completion. */
enum rxo_wc_opcode rxo_req_wc_opcode(u8 wr_opcode);

/* ------------------------------------------ between rxo_req.c and rxo_ack.c */

/*
 * A READ is asked for in parts of at most this many PSNs, so that PSNs which
 * meet stay comparable even for 2 GiB at the smallest MTU. To the peer each
 * part is a READ of its own; the PSNs are the same as without parts.
 */
#define RXO_READ_PART (1u << 22)

static inline struct rxo_swqe *rxo_req_at(const struct rxo_req *req, u32 idx)
{
	return &req->wqe[idx & req->mask];
}

static inline bool rxo_req_is_read(const struct rxo_swqe *wqe)
{
	return wqe->opcode == RXE_ORDERED_WR_RDMA_READ;
}

static inline bool rxo_req_is_atomic(const struct rxo_swqe *wqe)
{
	return wqe->opcode == RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP ||
	       wqe->opcode == RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD;
}

/* Is it acknowledged by its result, and counted against max_rd_atomic? */
static inline bool rxo_req_has_result(const struct rxo_swqe *wqe)
{
	return rxo_req_is_read(wqe) || rxo_req_is_atomic(wqe);
}

/* Does it take a receive request of the peer? */
static inline bool rxo_req_takes_recv(const struct rxo_swqe *wqe)
{
	return wqe->opcode == RXE_ORDERED_WR_SEND ||
	       wqe->opcode == RXE_ORDERED_WR_SEND_WITH_IMM ||
	       wqe->opcode == RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM;
}

/* First and last PSN of the part of a started READ that @psn lies in. */
struct rxo_req_part {
	struct rxo_psn first;
	struct rxo_psn last;
};

struct rxo_req_part rxo_req_part(const struct rxo_req *req,
				 const struct rxo_swqe *wqe,
				 struct rxo_psn psn);

/*
 * The peer has acknowledged all before @to (in una .. max). Completes SEND and
 * WRITE; stops at a READ or atomic, whose acknowledgement is its result, and at
 * a failed request. Return: did una get to @to?
 */
bool rxo_req_advance(struct rxo_req *req, struct rxo_psn to, u64 now);
/* An acknowledgement of all before una has the credit field @value. */
void rxo_req_credits(struct rxo_req *req, u8 value);
/* The READ packet, or the result of an atomic, at una has been placed. */
void rxo_req_advance_read(struct rxo_req *req, u64 now);
/* The next packet to send is @psn, of request @idx; it has been sent before. */
void rxo_req_go_back_to(struct rxo_req *req, u32 idx, struct rxo_psn psn);
/* It is una, and nothing is repaired out of turn. */
void rxo_req_go_back(struct rxo_req *req);
/* Go back to una at the price of a transport retry; none left: fail there. */
void rxo_req_retry(struct rxo_req *req);
/*
 * Send the packet at una again, out of turn, at the price of a transport retry;
 * of a READ ask for @npsn PSNs at most. None left: fail there.
 */
void rxo_req_repair(struct rxo_req *req, u32 npsn);
/* Request @idx has failed; keep an earlier verdict. Nothing after it is sent. */
void rxo_req_fail(struct rxo_req *req, u32 idx, enum rxo_status status);

#endif /* RXO_REQ_H */
