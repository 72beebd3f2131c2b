/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * When to give up and when to try again: transport time-out, RNR time, retry
 * counters (IBTA 9.7.5.2.8, 9.9.2.1). Knows times and counts, no packets.
 * All times are nanoseconds on the clock the caller passes in.
 */
#ifndef RXO_RETRY_H
#define RXO_RETRY_H

#include "rxo_env.h"

/* rnr_retry value that means "for ever". */
#define RXO_RNR_RETRY_FOREVER 7
/* IBTA 9.7.6.1.3: a time-out takes its time, and no more than four times that. */
#define RXO_RETRY_PATIENCE 4

struct rxo_retry {
	/* set at modify QP */
	u64 timeout_ns;		/* 4.096 us * 2^timeout, 0: no time-out */
	u8 retry_cnt;
	u8 rnr_retry;
	/* state */
	u8 retries_left;
	u8 rnr_left;
	bool waiting_ack;	/* something is outstanding: the timer runs */
	bool patient;		/* it takes RXO_RETRY_PATIENCE times as long */
	bool waiting_rnr;	/* told to wait by an RNR NAK */
	u64 ack_start;		/* when the ACK timer was last started */
	u64 rnr_deadline;
};

/* Attribute "timeout" (5 bits) to ns; 0 for 0. */
u64 rxo_retry_timeout_ns(u8 timeout);
/* RNR timer code (5 bits, IBTA table 45) to ns; code 0 is 655.36 ms. */
u64 rxo_retry_rnr_ns(u8 code);

/*
 * How long an answer takes. Only times of packets that were sent once go in
 * (Karn): it is not known which copy an answer belongs to. So a peer that has become
 * slow is noticed in another way: each answer that is late doubles what counts as late
 * until one has been timed again.
 */
struct rxo_rtt {
	u64 mean;		/* smoothed, 0: nothing is known yet */
	u64 dev;		/* smoothed distance from the mean */
	u8 doubled;		/* so often, RXO_RTT_DOUBLED at most */
};

#define RXO_RTT_DOUBLED 16

void rxo_rtt_sample(struct rxo_rtt *rtt, u64 ns);
/* An answer was late: the packet is sent again. */
void rxo_rtt_missed(struct rxo_rtt *rtt);
/*
 * An answer that takes longer is late. @least: none is sooner, but for the doubling.
 * @unknown: the same while nothing is known.
 */
u64 rxo_rtt_late(const struct rxo_rtt *rtt, u64 least, u64 unknown);

void rxo_retry_init(struct rxo_retry *r, u8 timeout, u8 retry_cnt, u8 rnr_retry);
/* New attributes; a counter is full again only if its attribute changes. */
void rxo_retry_modify(struct rxo_retry *r, u8 timeout, u8 retry_cnt,
		      u8 rnr_retry);
/* The peer has acknowledged something new: full counters, timer restarted. */
void rxo_retry_progress(struct rxo_retry *r, u64 now, bool outstanding);
/* The peer is at work on what it was asked for: the ACK timer, if it runs, restarts. */
void rxo_retry_alive(struct rxo_retry *r, u64 now);
/*
 * It is at work on what was sent again for nothing, so the last time-out came too
 * early: restart the timer, which takes as long as IBTA 9.7.6.1.3 allows at most.
 */
void rxo_retry_too_early(struct rxo_retry *r, u64 now);
/* A packet was sent: start the ACK timer if it does not run. */
void rxo_retry_sent(struct rxo_retry *r, u64 now);
/* What was sent will be sent again: no timer until it is. */
void rxo_retry_stop(struct rxo_retry *r);
/* Take one transport retry (time-out or sequence NAK). False: none is left. */
bool rxo_retry_take(struct rxo_retry *r);
/* Take one RNR retry and start the RNR wait. False: none is left. */
bool rxo_retry_take_rnr(struct rxo_retry *r, u8 code, u64 now);
/* Has the RNR wait ended, or was there none? */
bool rxo_retry_rnr_over(const struct rxo_retry *r, u64 now);
/* Has the ACK timer run out? */
bool rxo_retry_ack_late(const struct rxo_retry *r, u64 now);
/* Next instant at which something must happen, or U64_MAX. */
u64 rxo_retry_deadline(const struct rxo_retry *r);

#endif /* RXO_RETRY_H */
