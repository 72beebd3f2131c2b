/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Responder: the peer's requests (IBTA 9.7.4, 9.7.5, 9.7.7, 9.9.3).
 *
 * rxo_resp_rx() looks at a packet and returns one decision; the caller touches
 * memory as it says; rxo_resp_done() commits and may yield one more decision.
 * What has to be sent (ACK, NAK, results of READs and atomics) is pulled with
 * rxo_resp_next() at the end of a batch, so that acknowledgements coalesce and
 * an answer never overtakes results with smaller PSNs.
 *
 * Context: the owner of the QP.
 */
#ifndef RXO_RESP_H
#define RXO_RESP_H

#include "rxo_rdres.h"
#include "rxo_wqe.h"

struct rxo_resp_cfg {
	u32 mtu;
	u32 dqpn;
	u16 pkey;
	u8 max_dest_rd_atomic;
	u8 min_rnr_timer;	/* 5-bit code */
	u32 access;		/* QP access flags, enum rxo_access remote bits */
	bool credits;		/* tell the peer how many receives are posted */
};

struct rxo_resp {
	struct rxo_resp_cfg cfg;
	struct rxo_psn epsn;	/* expected */
	u32 msn;
	/* message in progress */
	u8 msg_class;		/* enum rxo_class, NONE between messages */
	u32 msg_off;		/* bytes placed so far */
	u64 wr_va;		/* WRITE: RETH of the message */
	u32 wr_rkey;
	u32 wr_len;
	bool have_recv;		/* a receive request is in use by the message */
	u32 recvs;		/* posted and not in use; the caller sets it before
				 * rxo_resp_next() if cfg.credits
				 */
	/* answers owed */
	bool ack_owed;
	struct rxo_psn ack_psn;	/* newest SEND or WRITE packet executed; what
				 * any ACK carries, since READs and atomics are
				 * acknowledged by their responses
				 */
	u32 ack_msn;		/* MSN after that packet */
	bool nak_owed;
	u8 nak_syndrome;
	struct rxo_psn nak_psn;
	bool seq_nak_sent;	/* one NAK per gap */
	bool rnr_nak_sent;	/* the peer starts over from epsn: keep nothing */
	/*
	 * Packets from beyond epsn were not kept, the newest of them at dropped_psn.
	 * Told: a NAK has left since then, and nothing that was kept has had its turn.
	 */
	bool dropped;
	bool dropped_told;
	struct rxo_psn dropped_psn;
	/*
	 * The packet that a NAK asked for has come, and nothing has been acknowledged
	 * since. A peer that goes back now sends what was kept a second time; so far
	 * it has got to the packet before @again, if it is known to have begun.
	 */
	bool filled;
	bool begun;
	struct rxo_psn again;
	struct rxo_rdres rd;	/* READs and atomics: kept, to be answered */
	bool failed;		/* class A/C error: nothing more is executed */
	bool fatal_due;		/* rxo_resp_rx() found it, not reported yet */
	/* counters, monotonic */
	u64 n_dup;
	u64 n_seq_nak;
	u64 n_rnr_nak;
};

enum rxo_resp_kind {
	RXO_RESP_DROP,		/* see drop */
	RXO_RESP_NONE,		/* taken; nothing to execute */
	RXO_RESP_RECV,		/* SEND data or an immediate: see below */
	RXO_RESP_WRITE,		/* WRITE data */
	RXO_RESP_READ,		/* READ request: check access, then commit */
	RXO_RESP_ATOMIC,	/* atomic: execute, once and for all */
	RXO_RESP_AHEAD,		/* behind a gap: keep it, or drop it, see drop */
};

/*
 * What the caller executes before rxo_resp_done().
 *
 * AHEAD: the caller may keep the packet (rxo_reorder.h) and bring it again once
 *	epsn has reached it; if it cannot, RXO_RES_BUSY, and if it has the packet
 *	already, RXO_RES_KEPT. When it has brought all that it can: rxo_resp_gap().
 * RECV: if need_recv, take the next receive request (none: RXO_RES_NO_RECV; bad
 *	entry: RXO_RES_RECV_BAD). Place len bytes at offset of its scatter list
 *	(not accessible: RXO_RES_LOC_PROT; beyond its length: RXO_RES_LOC_LEN).
 * WRITE: if check, check_len bytes at check_va of rkey need remote write
 *	(RXO_RES_ACCESS if refused; zero bytes are not checked). If need_recv (the
 *	last packet, with immediate) take a receive request first, then place len
 *	bytes at va (not accessible any more: RXO_RES_PLACE_ACCESS).
 * READ: check_len bytes at check_va of rkey need remote read.
 * ATOMIC: the 8 bytes at va of rkey, aligned, need remote atomic (RXO_RES_ACCESS
 *	if refused). Do in one indivisible step what pkt says (opcode, swap_add,
 *	compare), as a number of the memory's byte order, and set orig to what
 *	was there before.
 */
struct rxo_resp_act {
	enum rxo_resp_kind kind;
	enum rxo_drop drop;
	bool need_recv;
	bool check;
	bool last;		/* last packet of the message: the caller makes
				 * its last byte visible last
				 */
	u32 offset;
	u32 len;
	u64 va;
	u32 rkey;
	u64 check_va;
	u32 check_len;
	u64 orig;		/* ATOMIC: filled in by the caller */
	struct rxo_pkt pkt;	/* the packet, for the commit */
};

enum rxo_resp_result {
	RXO_RES_OK,
	RXO_RES_NO_RECV,	/* RNR */
	RXO_RES_RECV_BAD,	/* receive entry is malformed */
	RXO_RES_LOC_LEN,	/* message longer than the receive buffers */
	RXO_RES_LOC_PROT,	/* receive buffers are not accessible */
	RXO_RES_ACCESS,		/* remote access refused, no receive taken */
	RXO_RES_PLACE_ACCESS,	/* the region refused the write itself, after
				 * the receive, if one was needed, was taken
				 */
	RXO_RES_BUSY,		/* out of memory or the like: drop, peer retries.
				 * A receive request that was taken for this
				 * packet stays with the caller and serves the
				 * next need_recv.
				 */
	RXO_RES_KEPT,		/* AHEAD: one that is kept has come again */
};

/* Follow-up of a commit. complete and fatal may both be set. */
struct rxo_resp_next_act {
	bool complete;		/* complete the receive request in use */
	enum rxo_status status;
	u32 opcode;		/* enum rxo_wc_opcode */
	u32 byte_len;
	bool with_imm;
	__be32 imm;
	bool solicited;
	bool fatal;		/* move the QP to ERR once the NAK has been sent */
	enum rxo_resp_event {
		RXO_RESP_EV_NONE,
		RXO_RESP_EV_ACCESS,	/* IB_EVENT_QP_ACCESS_ERR */
		RXO_RESP_EV_REQ,	/* IB_EVENT_QP_REQ_ERR */
		RXO_RESP_EV_FATAL,	/* IB_EVENT_QP_FATAL */
	} event;
};

/* A packet to send. READ responses carry len bytes at va of rkey. */
struct rxo_resp_tx {
	bool is_read;
	u64 va;
	u32 rkey;
	u32 len;
	struct rxo_pkt pkt;
};

/* QP is in RESET. */
void rxo_resp_init(struct rxo_resp *resp);
/* Enter RTR: attributes and the first expected PSN. */
void rxo_resp_start(struct rxo_resp *resp, const struct rxo_resp_cfg *cfg,
		    struct rxo_psn first);
void rxo_resp_modify(struct rxo_resp *resp, const struct rxo_resp_cfg *cfg);

/* The turn of a packet that was kept has come; then rxo_resp_rx() as usual. */
void rxo_resp_unkeep(struct rxo_resp *resp, struct rxo_pkt *pkt);
/* @pkt: request class opcode, already validated, for this QP. */
void rxo_resp_rx(struct rxo_resp *resp, const struct rxo_pkt *pkt,
		 struct rxo_resp_act *act);
/*
 * Commit every decision but DROP. A message error found in rxo_resp_rx() itself
 * (bad opcode sequence, length) comes as kind NONE with the NAK owed and is
 * reported by this call as fatal.
 */
void rxo_resp_done(struct rxo_resp *resp, const struct rxo_resp_act *act,
		   enum rxo_resp_result result, struct rxo_resp_next_act *next);

/* Is rxo_resp_gap() due even if nothing is kept? */
static inline bool rxo_resp_has_dropped(const struct rxo_resp *resp)
{
	return resp->dropped;
}

/*
 * All that was kept up to epsn has been brought. Packets from beyond are @kept, or
 * have been dropped: ask for the one at epsn.
 */
void rxo_resp_gap(struct rxo_resp *resp, bool kept);

/* Is there anything to send? */
bool rxo_resp_has_tx(const struct rxo_resp *resp);
/* The next packet owed; false if none. Commit with rxo_resp_tx_done(). */
bool rxo_resp_next(const struct rxo_resp *resp, struct rxo_resp_tx *tx);

enum rxo_resp_tx_result {
	RXO_RESP_TX_SENT,
	RXO_RESP_TX_BUSY,	/* same packet again later */
	RXO_RESP_TX_ACCESS,	/* region is gone: NAK instead, then fatal */
};
void rxo_resp_tx_done(struct rxo_resp *resp, const struct rxo_resp_tx *tx,
		      enum rxo_resp_tx_result result,
		      struct rxo_resp_next_act *next);

/*
 * Take back what has been committed as sent: a mark taken before, and only
 * answers committed with RXO_RESP_TX_SENT since.
 */
struct rxo_resp_mark {
	struct rxo_rd_mark rd;
	bool ack_owed;
	bool nak_owed;
	bool filled;
	bool dropped_told;
	u64 n_seq_nak;
};

struct rxo_resp_mark rxo_resp_mark(const struct rxo_resp *resp);
void rxo_resp_rewind(struct rxo_resp *resp, const struct rxo_resp_mark *mark);

#endif /* RXO_RESP_H */
