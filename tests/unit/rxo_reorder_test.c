// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/rxo_reorder.h"
#include "t.h"

#define W	RXO_REORDER_WINDOW

static struct rxo_reorder r;

static enum rxo_reorder_verdict add(u32 next, u32 psn)
{
	enum rxo_reorder_verdict verdict;
	u32 slot = ~0u;

	verdict = rxo_reorder_add(&r, rxo_psn_make(next), rxo_psn_make(psn),
				  &slot);
	if (verdict == RXO_REORDER_KEEP)
		T_EQ(slot, rxo_reorder_slot(rxo_psn_make(psn)));
	return verdict;
}

static void take(u32 psn)
{
	struct rxo_psn first;

	T_CHECK(rxo_reorder_first(&r, &first));
	T_EQ(first.v, psn & RXO_PSN_MASK);
	rxo_reorder_remove(&r, rxo_reorder_slot(first));
}

static void start(void)
{
	memset(&r, 0, sizeof(r));
}

T_TEST(reorder_first__in_order_of_psn)
{
	struct rxo_psn psn;

	start();
	T_CHECK(!rxo_reorder_first(&r, &psn));
	T_EQ(add(10, 15), RXO_REORDER_KEEP);
	T_EQ(add(10, 12), RXO_REORDER_KEEP);
	T_EQ(add(10, 11), RXO_REORDER_KEEP);
	T_EQ(r.count, 3);
	take(11);
	T_EQ(add(12, 13), RXO_REORDER_KEEP);
	take(12);
	take(13);
	take(15);
	T_CHECK(!rxo_reorder_first(&r, &psn));
}

T_TEST(reorder_add__limits)
{
	start();
	T_EQ(add(10, 10), RXO_REORDER_FAR);
	T_EQ(add(10, 9), RXO_REORDER_FAR);
	T_EQ(add(10, 10 + W), RXO_REORDER_FAR);
	T_EQ(add(10, 10 + W - 1), RXO_REORDER_KEEP);
	T_EQ(add(10, 10 + W - 1), RXO_REORDER_DUP);
	T_EQ(add(10, 10 + 0x7fffff), RXO_REORDER_FAR);
	T_EQ(add(10, 10 - 0x7fffff), RXO_REORDER_FAR);
	T_EQ(r.count, 1);
}

T_TEST(reorder_add__whole_window_across_the_wrap)
{
	u32 next = 0xffffff - W / 2, i;

	start();
	for (i = W - 1; i; i--)
		T_EQ(add(next, next + i), RXO_REORDER_KEEP);
	T_EQ(r.count, W - 1);
	for (i = 1; i < W; i++)
		T_EQ(add(next, next + i), RXO_REORDER_DUP);
	for (i = 1; i < W; i++)
		take(next + i);
	T_EQ(r.count, 0);
}

/* What is waited for may jump over what is kept: that comes out first. */
T_TEST(reorder_add__overtaken_packets_keep_their_slots)
{
	start();
	T_EQ(add(10, 11), RXO_REORDER_KEEP);
	T_EQ(add(10, 20), RXO_REORDER_KEEP);
	T_EQ(add(15, 11 + W), RXO_REORDER_FAR);
	T_EQ(add(15, 10 + W), RXO_REORDER_KEEP);
	take(11);
	T_EQ(add(15, 11 + W), RXO_REORDER_KEEP);
	take(20);
	take(10 + W);
	take(11 + W);
}

T_TEST(reorder_any__empties)
{
	u32 slot, n = 0, i;

	start();
	T_CHECK(!rxo_reorder_any(&r, &slot));
	for (i = 1; i < 100; i += 7)
		add(0, i);
	for (; rxo_reorder_any(&r, &slot); n++)
		rxo_reorder_remove(&r, slot);
	T_EQ(n, 15);
	T_EQ(r.count, 0);
}
