// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/rxo_key.h"
#include "t.h"

#define LW RXO_ACCESS_LOCAL_WRITE
#define RW RXO_ACCESS_REMOTE_WRITE
#define RR RXO_ACCESS_REMOTE_READ
#define TOP 0xfffffffffffff000ull

static const struct rxo_region mid = {
	.key = 0x1234, .pd = 7, .access = LW | RR, .va = 0x10000, .len = 0x1000,
};
/* Ends at the last byte of the address space. */
static const struct rxo_region top = {
	.key = 0x1234, .pd = 7, .access = LW | RW | RR, .va = TOP, .len = 0x1000,
};
static const struct rxo_region all = {
	.key = 0x1234, .pd = 7, .access = RW, .va = 0, .len = U64_MAX,
};

T_TEST(key_check__rows)
{
	static const struct {
		const struct rxo_region *r;
		u32 key, pd, access;
		u64 va, len;
		enum rxo_key_result result;
	} rows[] = {
		{ &mid, 0x1234, 7, RR, 0x10000, 0x1000, RXO_KEY_OK },
		{ &mid, 0x1234, 7, 0, 0x10fff, 1, RXO_KEY_OK },
		{ &mid, 0x1234, 7, LW | RR, 0x10800, 0x800, RXO_KEY_OK },
		{ &mid, 0x1235, 7, RR, 0x10000, 1, RXO_KEY_BAD_KEY },
		{ &mid, 0x11234, 7, RR, 0x10000, 1, RXO_KEY_BAD_KEY },
		{ &mid, 0x1234, 8, RR, 0x10000, 1, RXO_KEY_BAD_PD },
		{ &mid, 0x1234, 7, RW, 0x10000, 1, RXO_KEY_BAD_ACCESS },
		{ &mid, 0x1234, 7, RW | RR, 0x10000, 1, RXO_KEY_BAD_ACCESS },
		{ &mid, 0x1234, 7, RR, 0x10000, 0x1001, RXO_KEY_BAD_RANGE },
		{ &mid, 0x1234, 7, RR, 0xffff, 1, RXO_KEY_BAD_RANGE },
		{ &mid, 0x1234, 7, RR, 0xffff, 2, RXO_KEY_BAD_RANGE },
		{ &mid, 0x1234, 7, RR, 0x11000, 1, RXO_KEY_BAD_RANGE },
		{ &mid, 0x1234, 7, RR, 0x10fff, 2, RXO_KEY_BAD_RANGE },
		/* va + len wraps to something that looks right */
		{ &mid, 0x1234, 7, RR, 0x10800, U64_MAX - 0x7ff, RXO_KEY_BAD_RANGE },
		{ &mid, 0x1234, 7, RR, U64_MAX, 0x10002, RXO_KEY_BAD_RANGE },
		{ &mid, 0x1234, 7, RR, TOP, 0x80000000, RXO_KEY_BAD_RANGE },
		/* nothing is nowhere out of range */
		{ &mid, 0x1234, 7, RR, 0, 0, RXO_KEY_OK },
		{ &mid, 0x1234, 7, RW, 0, 0, RXO_KEY_BAD_ACCESS },
		{ &top, 0x1234, 7, RW, TOP, 0x1000, RXO_KEY_OK },
		{ &top, 0x1234, 7, RW, U64_MAX, 1, RXO_KEY_OK },
		{ &top, 0x1234, 7, RW, U64_MAX, 2, RXO_KEY_BAD_RANGE },
		{ &top, 0x1234, 7, RW, 0, 1, RXO_KEY_BAD_RANGE },
		{ &all, 0x1234, 7, RW, 0, U64_MAX, RXO_KEY_OK },
		{ &all, 0x1234, 7, RW, U64_MAX, 1, RXO_KEY_BAD_RANGE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		T_EQ(rxo_key_check(rows[i].r, rows[i].key, rows[i].pd,
				   rows[i].access, rows[i].va, rows[i].len),
		     rows[i].result);
	}
}
