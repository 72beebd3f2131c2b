// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys, rights and ranges around every end that a region and the address space
 * have, against arithmetic that cannot overflow because it is wider; and where the
 * bytes that were granted lie, against the blocks of the region.
 */
#include "core/rxo_key.h"
#include "fuzz.h"

typedef unsigned __int128 wide;

static u64 number(struct tape *t)
{
	static const u64 edges[] = {
		0, 0x1000, 0x10000, 0x200000, 1ull << 31, 1ull << 32, 1ull << 63,
		U64_MAX - 0xfff, U64_MAX,
	};
	u32 i = tape_pick(t, 16);

	if (i >= ARRAY_SIZE(edges))
		return tape_get(t, i - ARRAY_SIZE(edges) + 2);
	return edges[i] + (u64)(s64)(s8)tape_get(t, 1);
}

/* Piece by piece, as the driver copies, it is in the region and in order. */
static void walk(const struct rxo_region *r, u32 shift, u64 va, u32 len)
{
	u64 first = r->va >> shift, size = 1ull << shift;
	u64 blocks = (u64)(((wide)r->va + r->len - 1) >> shift) - first + 1;
	u32 i;

	for (i = 0; len; i++) {
		u32 n = len;
		u64 offset, block = rxo_key_block(first, shift, va, &offset, &n);

		MUST(block < blocks);
		MUST(n && n <= len && offset + n <= size);
		MUST(((first + block) << shift) + offset == va);
		MUST(!i || !offset);
		va += n;
		len -= n;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u32 shifts[] = { 12, 13, 21, 30 };
	struct tape t = { data, size };
	u32 shift = shifts[tape_pick(&t, ARRAY_SIZE(shifts))];
	struct rxo_region r = {
		.key = (u32)tape_get(&t, 1), .pd = (u32)tape_get(&t, 1),
		.access = (u32)tape_get(&t, 1), .va = number(&t),
		.len = number(&t),
	};

	while (t.left) {
		/* Mostly what the region grants, so that the range decides. */
		u32 key = r.key ^ (tape_pick(&t, 16) == 15);
		u32 pd = r.pd ^ (tape_pick(&t, 16) == 15);
		u32 access = tape_pick(&t, 4) ? r.access : (u32)tape_get(&t, 1);
		u64 va = number(&t), len = number(&t), piece;
		bool fits, ok;

		va += tape_pick(&t, 2) ? r.va : 0;
		va += tape_pick(&t, 2) ? r.len : 0;
		fits = !len || (va >= r.va &&
				(wide)va + len <= (wide)r.va + r.len);
		ok = key == r.key && pd == r.pd && !(access & ~r.access) && fits;
		MUST((rxo_key_check(&r, key, pd, access, va, len) ==
		      RXO_KEY_OK) == ok);
		/* Registering refuses a region that wraps. */
		if (!ok || (wide)r.va + r.len > (wide)U64_MAX + 1)
			continue;
		piece = min(len, (u64)20000);
		walk(&r, shift, va, (u32)piece);
		walk(&r, shift, va + (len - piece), (u32)piece);
	}
	return 0;
}
