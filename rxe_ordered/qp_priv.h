/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The QP as the files of its floor see it: qp.c (life and attributes), qp_run.c
 * (ownership), qp_wq.c (rings and completions), rx.c, tx.c.
 *
 * Ownership. All protocol state has one owner at a time, and there is no lock
 * around it. Whoever has work sets a bit in qp->run and tries to become the
 * owner in the same atomic step; the present owner sees the bit before it lets
 * go. See qp_run.c. "owner" below means: touched only by the owner.
 */
#ifndef RXO_QP_PRIV_H
#define RXO_QP_PRIV_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

#include "core/rxo_ack.h"
#include "core/rxo_key.h"
#include "core/rxo_order.h"
#include "core/rxo_qpfsm.h"
#include "core/rxo_reorder.h"
#include "core/rxo_req.h"
#include "core/rxo_resp.h"
#include "cq.h"
#include "net.h"
#include "qp.h"
#include "umap.h"

/* Bits of qp->run. */
enum rxo_run {
	RXO_RUN_OWNED = 1 << 0,
	RXO_RUN_SQ = 1 << 1,	/* look at the send ring */
	RXO_RUN_RX = 1 << 2,	/* look at the receive queue */
	RXO_RUN_TIMER = 1 << 3,	/* the timer has fired */
	RXO_RUN_CTL = 1 << 4,	/* a process waits to be made the owner */
	RXO_RUN_MORE = 1 << 5,	/* the owner left work behind for itself */
	RXO_RUN_WANT = 1 << 6,	/* a doorbell waits to be made the owner */
	RXO_RUN_CQ_ERR = 1 << 7,	/* one of its CQs has overrun */
};

#define RXO_RUN_WORK (RXO_RUN_SQ | RXO_RUN_RX | RXO_RUN_TIMER | \
		      RXO_RUN_MORE | RXO_RUN_CQ_ERR)

/* Packets that may wait for a QP's owner before more are dropped. */
#define RXO_RX_BACKLOG		1024
/* Packets a QP may have in flight; the veth backlog is 1,000 for a whole CPU. */
#define RXO_QP_WINDOW		128
/* Shared by all QPs of a device that are sending. */
#define RXO_DEV_WINDOW		768
#define RXO_QP_WINDOW_MIN	8
/* Memory that packets may hold which wait for their turn. */
#define RXO_QP_KEPT_BYTES	(2 << 20)
#define RXO_DEV_KEPT_BYTES	(16 << 20)
/* Ask for an acknowledgement at least this often. */
#define RXO_ACK_EVERY		32
/* Packets handled or sent in one go with bottom halves off. */
#define RXO_STEP_BUDGET		64
/* ... and work requests copied in, or flushed. */
#define RXO_STEP_REQUESTS	1024
/* Steps before the owner moves to the workqueue. */
#define RXO_STEPS_SOFTIRQ	4
#define RXO_STEPS_PROCESS	16
/* How long a doorbell waits to run its request itself; a step takes less. */
#define RXO_WANT_NS		(10 * NSEC_PER_USEC)
/* ... and with how many in the ring at most. */
#define RXO_WANT_REQUESTS	2
#define RXO_CQE_BATCH		32

/* A ring of work requests that the process writes. Owner. */
struct rxo_wq_ring {
	struct rxo_umap *umap;
	struct rxe_ordered_wq_hdr *hdr;
	u8 *slots;
	u32 entries;		/* power of two, set once */
	u32 stride;		/* set once */
	u32 max_sge;		/* set once */
	u32 next;		/* next entry to copy in, free running */
	u32 done;		/* receives: completed; done .. next - 1 are in use
				 * or held
				 */
	bool broken;		/* the process wrote an impossible index */
};

/* Completions that wait to be published. */
struct rxo_pending {
	u32 n;
	struct rxo_cq *cq[RXO_CQE_BATCH];
	struct rxo_cqe cqe[RXO_CQE_BATCH];
};

/* What of the machines' counters is in those of the device already. */
struct rxo_seen {
	u64 retransmit;
	u64 timeout;
	u64 early;
	u64 rnr;
	u64 seq_nak;
	u64 implied_nak;
	u64 dup;
	u64 seq_nak_sent;
	u64 rnr_sent;
	u64 hold;
	u64 proven;
	u64 probe;
	u64 sum;		/* of the machines' counters */
};

struct rxo_qp {
	struct rxo_obj obj;	/* id is the QP number */
	struct rcu_head rcu;
	struct rxo_dev *dev;	/* set once */
	struct ib_qp *ib;	/* set once; valid until destroy returns */
	struct rxo_cq *send_cq;	/* set once */
	struct rxo_cq *recv_cq;	/* set once */
	struct rxo_cq_user cq_user[2];	/* of the two; the CQ's */
	u32 pd;			/* set once */
	bool ordered;		/* set once: ordered completions */
	u64 overtaking;		/* set once, for rxo_order_init() */

	/* any context */
	atomic_t run;		/* enum rxo_run */
	struct sk_buff_head rxq;	/* own lock */

	struct hrtimer timer;
	struct work_struct work;
	struct mutex ctl_lock;	/* modify, query, destroy: one at a time */
	struct completion ctl_granted;

	/* owner */
	struct sk_buff *rx_first;	/* received before what is in rxq */
	struct rxo_kept *kept_req;	/* received before their turn, or */
	struct rxo_kept *kept_ans;	/* NULL: nothing ever was */
	u32 kept_bytes;
	enum rxo_qp_state state;
	enum rxo_resp_event err_event;	/* to raise when entering ERR */
	bool comm_est;		/* IB_EVENT_COMM_EST was raised */
	bool sqd_notify;	/* raise IB_EVENT_SQ_DRAINED when drained */
	bool active;		/* counted in dev->tx_active */
	u64 timer_at;		/* expiry of the running timer, U64_MAX: none */
	u64 tx_resume;		/* transmit again at, 0: now */
	enum rxo_req_wait req_wait;	/* of the last request looked at */
	u8 tx_tries;		/* since a packet has left */
	u8 tx_refused;		/* of those, by the stack */
	u16 ip_id;
	struct rxo_av av;	/* valid from RTR on */
	struct dst_entry *dst;	/* cached route or NULL */
	u32 dst_cookie;
	struct ib_qp_attr attr;	/* what modify QP set, for query QP */

	struct rxo_req req;
	struct rxo_req_cfg req_cfg;
	struct rxo_resp resp;
	struct rxo_resp_cfg resp_cfg;

	struct rxo_sq_limits sq_lim;
	struct rxo_wq_ring sq;
	struct rxo_wq_ring rq;
	struct rxo_swqe *swqe;	/* sq.entries records */
	u8 *sq_data;		/* sq.entries times sq_data_len */
	u32 sq_data_len;	/* scatter list or inline bytes of one request */
	struct rxo_rwqe rwqe;	/* receive request in use */
	struct rxo_order order;
	struct rxo_hold *hold;	/* rq.entries records, or NULL if not ordered */
	struct rxe_ordered_sge rsge[RXO_MAX_SGE];

	struct rxo_pending pending;

	struct rxo_seen seen;
};

static inline struct rxo_qp *rxo_qp_of(struct ib_qp *ib)
{
	return container_of(ib, struct rxo_ibqp, ib)->qp;
}

extern struct rxo_table rxo_qps;

/* ------------------------------------------------------------- qp_run.c */

void rxo_run_init(struct rxo_qp *qp);
/* Set work bits; run the machines here if nobody else does. Any context with
 * interrupts on.
 */
void rxo_run_kick(struct rxo_qp *qp, int bits);
/* The doorbell: there are new requests in the send ring. Process context. */
void rxo_run_ring(struct rxo_qp *qp);
/* A packet for this QP, as rx.c queues it. Softirq. */
void rxo_run_rx(struct rxo_qp *qp, struct sk_buff *skb);
/*
 * Become the owner and keep everyone else out; sleeps. After _begin() the
 * caller may touch all owner state. _end() lets go, running what has come up.
 */
void rxo_run_ctl_begin(struct rxo_qp *qp);
void rxo_run_ctl_end(struct rxo_qp *qp);
/* The owner for good: stop timer and work. Between _begin() and freeing. */
void rxo_run_stop(struct rxo_qp *qp);

/* ------------------------------------------------------ qp_wq.c, by the owner */

/* Few requests in the ring? Only a hint, the process writes it. Anyone. */
bool rxo_wq_is_short(const struct rxo_wq_ring *wq);
/* Copy new send requests in, RXO_STEP_REQUESTS at most. True: more. */
bool rxo_wq_fetch_send(struct rxo_qp *qp);
/* Receive requests to take, for the peer: what the process says is not checked. */
u32 rxo_wq_recvs(const struct rxo_qp *qp);
/* Take the next receive request into qp->rwqe and qp->rsge. */
enum rxo_resp_result rxo_wq_fetch_recv(struct rxo_qp *qp);
/*
 * Complete what has ended; moves the QP to ERR if a request has failed. In ERR
 * RXO_STEP_REQUESTS at most.
 */
void rxo_wq_complete_sends(struct rxo_qp *qp);
void rxo_wq_complete_recv(struct rxo_qp *qp,
			  const struct rxo_resp_next_act *next);
/*
 * Publish what is pending, in the order in which it was added, across both
 * queues: who has seen a completion finds all before it, on any CPU. Bottom
 * halves off.
 */
void rxo_wq_publish(struct rxo_qp *qp);
/* ERR: end everything posted with a flush error, within @budget. True: more. */
bool rxo_wq_flush(struct rxo_qp *qp, u32 budget);
void rxo_wq_enter_err(struct rxo_qp *qp);
/* One of its CQs has overrun. */
void rxo_wq_cq_failed(struct rxo_qp *qp);
void rxo_wq_raise(struct rxo_qp *qp, enum ib_event_type type);

/* Scatter list of a send request, and its inline bytes. */
static inline const struct rxe_ordered_sge *rxo_wq_sge(const struct rxo_qp *qp,
							u32 slot)
{
	return (const void *)(qp->sq_data + (size_t)slot * qp->sq_data_len);
}

/* --------------------------------------------------------------- rx.c, tx.c */

/* Handle up to @budget queued packets. Return: how many. */
u32 rxo_rx_drain(struct rxo_qp *qp, u32 budget, u64 now);
/* Send what the responder owes, then requests. True: more could be sent now. */
bool rxo_tx_run(struct rxo_qp *qp, u32 budget, u64 now);

/* Follow-up of a responder commit. ERR is entered when the NAK has left. */
void rxo_rx_resp_next(struct rxo_qp *qp, const struct rxo_resp_next_act *next);

/* ------------------------------------------------------------ rx_keep.c */

/*
 * Keep packet @seg of @skb until the turn of @psn; @next is awaited. @where: one
 * of the QP's two tables. Return: none, or why it is to be dropped.
 */
enum rxo_drop rxo_kept_add(struct rxo_qp *qp, struct rxo_kept **where,
			   struct rxo_psn next, struct rxo_psn psn,
			   struct sk_buff *skb, u32 seg);
/* The oldest that is kept. False: none. @kept may be NULL. */
bool rxo_kept_first(const struct rxo_kept *kept, struct rxo_psn *psn);
/* Take it out. Return: the skb, with a reference. */
struct sk_buff *rxo_kept_take(struct rxo_qp *qp, struct rxo_kept *kept,
			      struct rxo_psn psn, u32 *seg);
void rxo_kept_purge(struct rxo_qp *qp, struct rxo_kept *kept);
/* Both tables, for good. */
void rxo_kept_free(struct rxo_qp *qp);

/* -------------------------------------------------------------- qp_mem.c */

/* Does @key allow this? Zero bytes touch nothing and are always allowed. */
bool rxo_key_may_access(struct rxo_qp *qp, u32 key, u32 access, u64 va,
			u64 len);
/*
 * Copy from or to memory by key: checked and copied under one reference. False:
 * refused, nothing touched. @last: the last byte becomes visible last.
 */
bool rxo_key_read(struct rxo_qp *qp, u32 key, u32 access, u64 va, u8 *dst,
		  u32 len);
bool rxo_key_write(struct rxo_qp *qp, u32 key, u32 access, u64 va,
		   const u8 *src, u32 len, bool last);

/*
 * Execute the atomic @pkt, whose address is aligned: indivisible for everything
 * that uses the processor's atomics on this memory, so for all QPs of all
 * devices here and for programs. @orig: what was there. False: refused.
 */
bool rxo_key_atomic(struct rxo_qp *qp, const struct rxo_pkt *pkt, u64 *orig);

/*
 * Copy from or to a list of local segments. False: refused, or list too short.
 */
bool rxo_sge_read(struct rxo_qp *qp, const struct rxe_ordered_sge *sge, u32 n,
		  u32 offset, u8 *dst, u32 len);
bool rxo_sge_write(struct rxo_qp *qp, const struct rxe_ordered_sge *sge, u32 n,
		   u32 offset, const u8 *src, u32 len, bool last);

#endif /* RXO_QP_PRIV_H */
