/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets that arrived before their turn: which PSNs are kept, in which slot,
 * and which of them comes next. The packets themselves are the caller's.
 *
 * Nothing that is kept is ever placed out of turn; a loss then costs the peer
 * the lost packet instead of all that were under way behind it.
 */
#ifndef RXO_REORDER_H
#define RXO_REORDER_H

#include "rxo_psn.h"

/* PSNs from the expected one on that may be kept; a power of two. */
#define RXO_REORDER_WINDOW 128

struct rxo_reorder {
	u64 map[RXO_REORDER_WINDOW / 64];	/* bit PSN % window: kept */
	struct rxo_psn base;	/* nothing before it is kept */
	u32 count;
};

enum rxo_reorder_verdict {
	RXO_REORDER_KEEP,	/* the packet belongs into the slot */
	RXO_REORDER_DUP,	/* the slot has it already */
	RXO_REORDER_FAR,	/* beyond the window, or not ahead at all */
};

/**
 * rxo_reorder_add - may the packet at @psn be kept?
 * @next: the PSN that is waited for
 * @slot: where to keep it
 *
 * On KEEP it counts as kept; undo with rxo_reorder_remove().
 */
enum rxo_reorder_verdict rxo_reorder_add(struct rxo_reorder *r,
					 struct rxo_psn next,
					 struct rxo_psn psn, u32 *slot);
void rxo_reorder_remove(struct rxo_reorder *r, u32 slot);

/* The oldest PSN that is kept. False: none is. */
bool rxo_reorder_first(const struct rxo_reorder *r, struct rxo_psn *psn);

/* Any slot in use, for emptying. False: none is. */
bool rxo_reorder_any(const struct rxo_reorder *r, u32 *slot);

static inline u32 rxo_reorder_slot(struct rxo_psn psn)
{
	return psn.v % RXO_REORDER_WINDOW;
}

#endif /* RXO_REORDER_H */
