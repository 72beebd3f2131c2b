// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Times and counters of retransmission (IBTA 9.7.6.1.3, 9.7.5.2.8, 9.9.2.4.1). */
#include "rxo_retry.h"

#define RXO_TIMEOUT_UNIT_NS	4096u
#define RXO_RNR_UNIT_NS		10000u

/* IBTA table 45, in units of 10 us. */
static const u32 rxo_retry_rnr_units[32] = {
	[0] = 65536,	/* the longest, not the shortest */
	[1] = 1,	[2] = 2,	[3] = 3,	[4] = 4,
	[5] = 6,	[6] = 8,	[7] = 12,	[8] = 16,
	[9] = 24,	[10] = 32,	[11] = 48,	[12] = 64,
	[13] = 96,	[14] = 128,	[15] = 192,	[16] = 256,
	[17] = 384,	[18] = 512,	[19] = 768,	[20] = 1024,
	[21] = 1536,	[22] = 2048,	[23] = 3072,	[24] = 4096,
	[25] = 6144,	[26] = 8192,	[27] = 12288,	[28] = 16384,
	[29] = 24576,	[30] = 32768,	[31] = 49152,
};

u64 rxo_retry_timeout_ns(u8 timeout)
{
	timeout &= 31;
	return timeout ? (u64)RXO_TIMEOUT_UNIT_NS << timeout : 0;
}

u64 rxo_retry_rnr_ns(u8 code)
{
	return (u64)rxo_retry_rnr_units[code & 31] * RXO_RNR_UNIT_NS;
}

void rxo_retry_init(struct rxo_retry *r, u8 timeout, u8 retry_cnt, u8 rnr_retry)
{
	memset(r, 0, sizeof(*r));
	r->retry_cnt = retry_cnt;
	r->rnr_retry = rnr_retry;
	r->retries_left = retry_cnt;
	r->rnr_left = rnr_retry;
	r->timeout_ns = rxo_retry_timeout_ns(timeout);
}

void rxo_retry_modify(struct rxo_retry *r, u8 timeout, u8 retry_cnt,
		      u8 rnr_retry)
{
	r->timeout_ns = rxo_retry_timeout_ns(timeout);
	if (retry_cnt != r->retry_cnt)
		r->retries_left = retry_cnt;
	if (rnr_retry != r->rnr_retry)
		r->rnr_left = rnr_retry;
	r->retry_cnt = retry_cnt;
	r->rnr_retry = rnr_retry;
}

void rxo_retry_progress(struct rxo_retry *r, u64 now, bool outstanding)
{
	r->retries_left = r->retry_cnt;
	r->rnr_left = r->rnr_retry;
	r->waiting_rnr = false;
	r->waiting_ack = outstanding;
	r->patient = false;
	r->ack_start = now;
}

void rxo_retry_alive(struct rxo_retry *r, u64 now)
{
	r->ack_start = now;
}

void rxo_retry_too_early(struct rxo_retry *r, u64 now)
{
	r->patient = true;
	r->ack_start = now;
}

void rxo_retry_sent(struct rxo_retry *r, u64 now)
{
	r->waiting_rnr = false;
	if (r->waiting_ack)
		return;
	r->waiting_ack = true;
	r->patient = false;
	r->ack_start = now;
}

void rxo_retry_stop(struct rxo_retry *r)
{
	r->waiting_ack = false;
}

bool rxo_retry_take(struct rxo_retry *r)
{
	if (!r->retries_left)
		return false;
	r->retries_left--;
	return true;
}

/*
 * An RNR NAK shows that the peer is alive, so it ends a row of time-outs: else
 * a peer that is not ready for long would use up the transport retries by the
 * few NAKs that get lost.
 */
bool rxo_retry_take_rnr(struct rxo_retry *r, u8 code, u64 now)
{
	if (r->rnr_retry != RXO_RNR_RETRY_FOREVER) {
		if (!r->rnr_left)
			return false;
		r->rnr_left--;
	}
	r->retries_left = r->retry_cnt;
	r->waiting_ack = false;
	r->waiting_rnr = true;
	r->rnr_deadline = now + rxo_retry_rnr_ns(code);
	return true;
}

bool rxo_retry_rnr_over(const struct rxo_retry *r, u64 now)
{
	return !r->waiting_rnr || now >= r->rnr_deadline;
}

/* Only if there is a time-out at all. */
static u64 rxo_retry_ack_deadline(const struct rxo_retry *r)
{
	return r->ack_start +
	       r->timeout_ns * (r->patient ? RXO_RETRY_PATIENCE : 1);
}

bool rxo_retry_ack_late(const struct rxo_retry *r, u64 now)
{
	return r->waiting_ack && !r->waiting_rnr && r->timeout_ns &&
	       now >= rxo_retry_ack_deadline(r);
}

u64 rxo_retry_deadline(const struct rxo_retry *r)
{
	if (r->waiting_rnr)
		return r->rnr_deadline;
	if (r->waiting_ack && r->timeout_ns)
		return rxo_retry_ack_deadline(r);
	return U64_MAX;
}

/* Gains of 1/8 and 1/4, and four deviations, as TCP has proven them. */
void rxo_rtt_sample(struct rxo_rtt *rtt, u64 ns)
{
	u64 off;

	rtt->doubled = 0;
	ns = max(ns, (u64)1);
	if (!rtt->mean) {
		rtt->mean = ns;
		rtt->dev = ns / 2;
		return;
	}
	off = ns > rtt->mean ? ns - rtt->mean : rtt->mean - ns;
	rtt->dev += off / 4 - rtt->dev / 4;
	rtt->mean += ns / 8 - rtt->mean / 8;
}

void rxo_rtt_missed(struct rxo_rtt *rtt)
{
	if (rtt->doubled < RXO_RTT_DOUBLED)
		rtt->doubled++;
}

u64 rxo_rtt_late(const struct rxo_rtt *rtt, u64 least, u64 unknown)
{
	u64 late = rtt->mean ? max(rtt->mean + 4 * rtt->dev, least) : unknown;

	return late << rtt->doubled;
}
