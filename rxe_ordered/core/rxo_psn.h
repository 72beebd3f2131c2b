/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packet sequence numbers: 24 bits, serial arithmetic (IBTA vol. 1, 9.7.2).
 *
 * A PSN is a struct so that "<" and "+" on it do not compile. Two PSNs can be
 * compared only when they are less than 2^23 apart, which the window limits of
 * the machines guarantee for every pair that meets.
 */
#ifndef RXO_PSN_H
#define RXO_PSN_H

#include "rxo_env.h"

#define RXO_PSN_MASK 0xffffffu

struct rxo_psn {
	u32 v;
};

static inline struct rxo_psn rxo_psn_make(u32 v)
{
	return (struct rxo_psn){ .v = v & RXO_PSN_MASK };
}

static inline struct rxo_psn rxo_psn_add(struct rxo_psn p, u32 n)
{
	return rxo_psn_make(p.v + n);
}

static inline struct rxo_psn rxo_psn_sub(struct rxo_psn p, u32 n)
{
	return rxo_psn_make(p.v - n);
}

static inline bool rxo_psn_eq(struct rxo_psn a, struct rxo_psn b)
{
	return a.v == b.v;
}

/* How far @a is after @b; negative if it is before. */
static inline s32 rxo_psn_diff(struct rxo_psn a, struct rxo_psn b)
{
	return (s32)((a.v - b.v) << 8) >> 8;
}

static inline bool rxo_psn_before(struct rxo_psn a, struct rxo_psn b)
{
	return rxo_psn_diff(a, b) < 0;
}

static inline bool rxo_psn_after(struct rxo_psn a, struct rxo_psn b)
{
	return rxo_psn_diff(a, b) > 0;
}

/* Is @p in the closed range [@first, @last]? */
static inline bool rxo_psn_in(struct rxo_psn p, struct rxo_psn first,
			      struct rxo_psn last)
{
	return !rxo_psn_before(p, first) && !rxo_psn_after(p, last);
}

#endif /* RXO_PSN_H */
