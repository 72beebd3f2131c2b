/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Kernel side of the shared ring protocol (uapi/rdma/rxe_ordered-abi.h). Pure
 * functions over values that were loaded once; the loads, stores and
 * compare-and-swaps themselves belong to the caller (cq.c, qp.c).
 */
#ifndef RXO_RING_H
#define RXO_RING_H

#include "rxo_env.h"

static inline u32 rxo_arm_of(u64 word)
{
	return (word & RXE_ORDERED_CQ_ARM_MASK) >> RXE_ORDERED_CQ_ARM_SHIFT;
}

static inline u64 rxo_arm_set(u64 word, u32 arm)
{
	return (word & ~RXE_ORDERED_CQ_ARM_MASK) |
	       (u64)arm << RXE_ORDERED_CQ_ARM_SHIFT;
}

/* Entries a consumer may take; more than @entries means a hostile index. */
static inline u32 rxo_ring_used(u32 prod, u32 cons)
{
	return prod - cons;
}

static inline bool rxo_ring_is_sane(u32 prod, u32 cons, u32 entries)
{
	return rxo_ring_used(prod, cons) <= entries;
}

/**
 * rxo_arm_publish - next value of the arm word when completions are added
 * @old: the word as loaded; only its arm bits are trusted to mean anything
 * @prod: the kernel's private producer index after the completions
 * @solicited: does any of the completions count as solicited?
 * @overrun: has the CQ overrun (then an armed CQ fires whatever the arm)?
 * @fire: set to whether this step takes the arm
 */
static inline u64 rxo_arm_publish(u64 old, u32 prod, bool solicited,
				  bool overrun, bool *fire)
{
	u32 arm = rxo_arm_of(old);

	*fire = arm >= RXE_ORDERED_ARM_ANY ||
		(arm == RXE_ORDERED_ARM_SOLICITED && (solicited || overrun));
	if (*fire)
		arm = RXE_ORDERED_ARM_NONE;
	return rxo_arm_set(overrun ? RXE_ORDERED_CQ_OVERRUN : 0, arm) | prod;
}

#endif /* RXO_RING_H */
