// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/rxo_psn.h"
#include "t.h"

T_TEST(psn_diff__rows)
{
	static const struct {
		u32 a, b;
		s32 diff;
	} rows[] = {
		{ 0, 0, 0 },
		{ 1, 0, 1 },
		{ 0, 1, -1 },
		{ 0, 0xffffff, 1 },
		{ 0xffffff, 0, -1 },
		{ 5, 0xfffffb, 10 },
		{ 0x7fffff, 0, 0x7fffff },
		{ 0x800000, 0, -0x800000 },
		{ 0, 0x7fffff, -0x7fffff },
		{ 0xffffff, 0x7fffff, -0x800000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rxo_psn a = rxo_psn_make(rows[i].a);
		struct rxo_psn b = rxo_psn_make(rows[i].b);

		t_context("row %zu", i);
		T_EQ((u32)rxo_psn_diff(a, b), (u32)rows[i].diff);
		T_EQ(rxo_psn_before(a, b), rows[i].diff < 0);
		T_EQ(rxo_psn_after(a, b), rows[i].diff > 0);
		T_EQ(rxo_psn_eq(a, b), rows[i].diff == 0);
	}
}

T_TEST(psn_add__wraps_at_24_bits)
{
	T_EQ(rxo_psn_add(rxo_psn_make(0xffffff), 1).v, 0);
	T_EQ(rxo_psn_add(rxo_psn_make(0xfffff0), 0x20).v, 0x10);
	T_EQ(rxo_psn_sub(rxo_psn_make(0), 1).v, 0xffffff);
	T_EQ(rxo_psn_sub(rxo_psn_make(3), 8).v, 0xfffffb);
	T_EQ(rxo_psn_make(0xff123456).v, 0x123456);
}

T_TEST(psn_in__closed_range_over_the_wrap)
{
	struct rxo_psn first = rxo_psn_make(0xfffffe);
	struct rxo_psn last = rxo_psn_make(1);

	T_CHECK(!rxo_psn_in(rxo_psn_make(0xfffffd), first, last));
	T_CHECK(rxo_psn_in(rxo_psn_make(0xfffffe), first, last));
	T_CHECK(rxo_psn_in(rxo_psn_make(0), first, last));
	T_CHECK(rxo_psn_in(rxo_psn_make(1), first, last));
	T_CHECK(!rxo_psn_in(rxo_psn_make(2), first, last));
	T_CHECK(rxo_psn_in(first, first, first));
}
