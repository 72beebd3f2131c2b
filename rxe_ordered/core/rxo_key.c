// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The access decision (IBTA 10.6.3, 9.7.4.1.5), on a copy of what is granted. */
#include "rxo_key.h"

enum rxo_key_result rxo_key_check(const struct rxo_region *region, u32 key,
				  u32 pd, u32 access, u64 va, u64 len)
{
	u64 off = va - region->va;

	if (region->key != key)
		return RXO_KEY_BAD_KEY;
	if (region->pd != pd)
		return RXO_KEY_BAD_PD;
	if (access & ~region->access)
		return RXO_KEY_BAD_ACCESS;
	if (!len)
		return RXO_KEY_OK;
	/* In terms of the offset, so that va + len is never formed. */
	if (va < region->va || len > region->len || off > region->len - len)
		return RXO_KEY_BAD_RANGE;
	return RXO_KEY_OK;
}
