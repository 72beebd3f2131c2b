/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two cores, two memories and a link in one process, with virtual time: the
 * glue of the driver in miniature. Both ends may run a list of operations at the
 * same time. The link loses, repeats and delays chosen packets, or random ones.
 *
 * While it runs, every completion is checked when it happens: order, status,
 * and that the bytes are where they must be by then. All atomics of one end work
 * on one word of the other, so that each result says what was executed before. pair_check() says whether
 * all has happened exactly once and nothing else was touched.
 */
#ifndef PAIR_H
#define PAIR_H

#include "core/rxo_ack.h"
#include "core/rxo_order.h"
#include "core/rxo_reorder.h"
#include "core/rxo_req.h"
#include "core/rxo_resp.h"

#define PAIR_OPS	64
#define PAIR_AREA	(256 * 1024)
#define PAIR_LINK	4096
#define PAIR_FAULTS	4

struct pair_op {
	u8 opcode;		/* enum rxe_ordered_wr_opcode */
	u8 flags;		/* enum rxe_ordered_send_flags */
	u32 len;
};

enum pair_fate {
	PAIR_PASS,
	PAIR_DROP,
	PAIR_DUP,		/* and once more, arg packets later */
	PAIR_DELAY,		/* behind the next arg packets */
};

struct pair_cfg {
	u32 mtu;
	u32 window;
	u32 ack_every;
	u32 rd_part;		/* 0: as the core has it */
	u8 max_rd;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
	u32 psn[2];		/* first PSN that each end sends */
	u32 late;		/* a receive appears at the late + 1-th try */
	u32 ahead;		/* requests posted at a time */
	u32 burst;		/* packets sent in one step */
	u32 batch;		/* packets received in one step */
	bool ordered;		/* ordered completions, checked by pair_order.c */
	u64 overtaking;		/* of them */
	u8 rnr_timer;		/* code, 0: 1, the shortest */
	u32 credits;		/* receives posted at first, one more for each
				 * that completes; 0: any number
				 */
	bool tells;		/* and each end tells the other how many there are */
	bool exchange;		/* end 1 answers each message, end 0 waits for it */
	u32 forgets;		/* bit: this end keeps nothing that is ahead */
	/* random faults, percent */
	u32 loss, dup, delay, busy;
	u64 seed;
};

struct pair_fault {
	u64 nth;		/* packet, counted over both directions */
	enum pair_fate fate;
	u32 arg;
};

struct pair_packet {
	u8 b[RXO_MAX_HDR_LEN + RXO_MAX_MTU + RXO_ICRC_LEN];
	u32 len;
	u64 due;		/* not before so many packets were sent */
	u64 event;		/* when it was sent, see pair.event */
};

/* What an end keeps until it is due. */
struct pair_kept {
	struct rxo_reorder order;
	struct pair_packet pkt[RXO_REORDER_WINDOW];
};

struct pair_end {
	struct rxo_req req;
	struct rxo_resp resp;
	struct rxo_swqe swqe[PAIR_OPS];
	const struct pair_op *ops;
	u32 n_ops;
	u32 posted, completed;
	u32 off[PAIR_OPS];	/* of an operation, in all areas */
	/* Areas: own buffers, what the peer reads and writes, receives. */
	u8 local[PAIR_AREA];
	u8 target[PAIR_AREA];
	u8 recv[PAIR_AREA];
	u32 used;
	/* receive queue: operations of the peer that need one, in order */
	u32 recv_op;		/* of the one in use, or next */
	u32 recv_tries;
	bool recv_in_use;
	u32 recv_done;
	u32 n_recv;		/* receives taken */
	u32 n_recv_cqe;		/* receives completed */
	u64 placed;		/* SEND and WRITE bytes executed here */
	u64 word;		/* what the peer's atomics work on */
	u32 atomics;		/* executed here */
	struct pair_kept kept_req, kept_ans;
	u64 n_kept;
	/* link towards this end */
	struct pair_packet *in[PAIR_LINK];
	u32 n_in;
	u64 n_to;		/* packets sent to this end */
	/* Ordered completions. */
	struct rxo_order order;
	struct rxo_hold hold[PAIR_OPS];
	u64 sent_at[PAIR_OPS];	/* of a receive in hold: event of its message */
	u32 n_executed;		/* operations that the peer has executed */
	u64 executed_at[PAIR_OPS];	/* event */
};

struct pair {
	struct pair_cfg cfg;
	struct pair_end end[2];
	struct pair_fault fault[PAIR_FAULTS];
	u32 n_faults;
	u64 now;
	u64 n_packets;
	u64 n_steps;
	u64 n_acks;		/* ACK opcode packets sent */
	u64 event;		/* counts what happens at either end */
	u64 event_rx;		/* when the packet in hand was sent */
	u32 n_overtaken;	/* requests not completed when they had to be */
	u64 rng;
	struct pair_packet pool[2 * PAIR_LINK];
	struct pair_packet *free[2 * PAIR_LINK];
	u32 n_free;
	bool trace;
};

#define PAIR_RKEY	0x5151
#define PAIR_VA		0x7ffffff00000ull
#define PAIR_VA_WORD	0x7fffffe00008ull

void pair_init(struct pair *p, const struct pair_cfg *cfg,
	       const struct pair_op *ops0, u32 n0,
	       const struct pair_op *ops1, u32 n1);
void pair_add_fault(struct pair *p, u64 nth, enum pair_fate fate, u32 arg);
/* Until nothing more can happen. Fails the test if that takes too long. */
void pair_run(struct pair *p);
/* All completed, bytes right, each packet executed once, nothing else touched. */
void pair_check(const struct pair *p);

/* ------------------------------------------------------ pair_order.c, for pair.c */

void pair_order_start(struct pair *p, u32 side);
/* A packet has been sent, or executed by @side. */
void pair_order_sent(struct pair *p, struct pair_packet *pkt);
void pair_order_executed(struct pair *p, u32 side);
/* A receive of @side has ended: complete it or hold it. */
void pair_order_received(struct pair *p, u32 side);
/* Complete what need not be held any more. */
void pair_order_release(struct pair *p, u32 side);
/* May @side post another operation, take another receive? */
bool pair_order_may_post(const struct pair *p, u32 side);
bool pair_order_may_take(const struct pair *p, u32 side);

#endif /* PAIR_H */
