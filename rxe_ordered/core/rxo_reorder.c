// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See rxo_reorder.h. What is kept lies within one window from base, so the slot
 * tells the PSN. base moves up with what is waited for, but never past a packet
 * that is still kept: then the window is only as far as that one leaves it.
 */
#include "rxo_reorder.h"

static bool rxo_reorder_has(const struct rxo_reorder *r, u32 slot)
{
	return r->map[slot / 64] >> (slot % 64) & 1;
}

enum rxo_reorder_verdict rxo_reorder_add(struct rxo_reorder *r,
					 struct rxo_psn next,
					 struct rxo_psn psn, u32 *slot)
{
	struct rxo_psn first;

	r->base = rxo_reorder_first(r, &first) && rxo_psn_before(first, next) ?
		  first : next;
	if (!rxo_psn_after(psn, next) ||
	    (u32)rxo_psn_diff(psn, r->base) >= RXO_REORDER_WINDOW)
		return RXO_REORDER_FAR;
	*slot = rxo_reorder_slot(psn);
	if (rxo_reorder_has(r, *slot))
		return RXO_REORDER_DUP;
	r->map[*slot / 64] |= 1ull << (*slot % 64);
	r->count++;
	return RXO_REORDER_KEEP;
}

void rxo_reorder_remove(struct rxo_reorder *r, u32 slot)
{
	RXO_ASSERT(rxo_reorder_has(r, slot));
	r->map[slot / 64] &= ~(1ull << (slot % 64));
	r->count--;
}

bool rxo_reorder_first(const struct rxo_reorder *r, struct rxo_psn *psn)
{
	u32 i;

	for (i = 0; r->count && i < RXO_REORDER_WINDOW; i++) {
		*psn = rxo_psn_add(r->base, i);
		if (rxo_reorder_has(r, rxo_reorder_slot(*psn)))
			return true;
	}
	return false;
}

bool rxo_reorder_any(const struct rxo_reorder *r, u32 *slot)
{
	for (*slot = 0; r->count && *slot < RXO_REORDER_WINDOW; (*slot)++)
		if (rxo_reorder_has(r, *slot))
			return true;
	return false;
}
