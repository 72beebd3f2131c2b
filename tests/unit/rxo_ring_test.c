// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/rxo_ring.h"
#include "t.h"

T_TEST(ring_is_sane__index_wrap)
{
	T_EQ(rxo_ring_used(2, 0xfffffffe), 4);
	T_CHECK(rxo_ring_is_sane(2, 0xfffffffe, 4));
	T_CHECK(!rxo_ring_is_sane(3, 0xfffffffe, 4));
	T_CHECK(!rxo_ring_is_sane(0, 1, 4));
}

T_TEST(arm_publish__rows)
{
	static const struct {
		u32 arm;
		bool solicited, overrun, fire;
		u32 after;
	} rows[] = {
		{ RXE_ORDERED_ARM_NONE, false, false, false, 0 },
		{ RXE_ORDERED_ARM_NONE, true, true, false, 0 },
		{ RXE_ORDERED_ARM_SOLICITED, false, false, false,
		  RXE_ORDERED_ARM_SOLICITED },
		{ RXE_ORDERED_ARM_SOLICITED, true, false, true, 0 },
		{ RXE_ORDERED_ARM_SOLICITED, false, true, true, 0 },
		{ RXE_ORDERED_ARM_ANY, false, false, true, 0 },
		{ 3, false, false, true, 0 },	/* a process may write this */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		/* The old index and the unused bits are not believed. */
		u64 old = rxo_arm_set(0xfffffff8deadbeefull, rows[i].arm);
		bool fire;
		u64 word = rxo_arm_publish(old, 0xfffffff0, rows[i].solicited,
					   rows[i].overrun, &fire);

		t_context("row %zu", i);
		T_EQ(fire, rows[i].fire);
		T_EQ(rxo_arm_of(word), rows[i].after);
		T_EQ((u32)word, 0xfffffff0);
		T_EQ(!!(word & RXE_ORDERED_CQ_OVERRUN), rows[i].overrun);
		T_EQ(word >> 35, 0);
	}
}
