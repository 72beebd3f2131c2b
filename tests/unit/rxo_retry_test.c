// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/rxo_retry.h"
#include "t.h"

T_TEST(retry_timeout_ns__formula)
{
	u8 t;

	T_EQ(rxo_retry_timeout_ns(0), 0);
	for (t = 1; t < 32; t++) {
		t_context("code %u", t);
		T_EQ(rxo_retry_timeout_ns(t), 4096ull * (1ull << t));
	}
	T_EQ(rxo_retry_timeout_ns(14), 67108864);	/* 67.1 ms */
}

T_TEST(retry_rnr_ns__table)
{
	/* IBTA table 45, in units of 10 us, typed in as milliseconds there. */
	static const double ms[32] = {
		655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12,
		0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92,
		2.56, 3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72,
		40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
	};
	u8 c;

	for (c = 0; c < 32; c++) {
		t_context("code %u", c);
		T_EQ(rxo_retry_rnr_ns(c), (u64)(ms[c] * 1e6 + 0.5));
	}
}

T_TEST(retry_take__counts_down_and_progress_refills)
{
	struct rxo_retry r;

	rxo_retry_init(&r, 10, 2, 0);
	T_CHECK(rxo_retry_take(&r));
	T_CHECK(rxo_retry_take(&r));
	T_CHECK(!rxo_retry_take(&r));
	rxo_retry_progress(&r, 100, false);
	T_CHECK(rxo_retry_take(&r));
	rxo_retry_init(&r, 10, 0, 0);
	T_CHECK(!rxo_retry_take(&r));
}

T_TEST(retry_take_rnr__counts_and_waits)
{
	struct rxo_retry r;
	int i;

	rxo_retry_init(&r, 10, 2, 1);
	rxo_retry_sent(&r, 5);
	T_CHECK(rxo_retry_take_rnr(&r, 1, 1000));
	T_CHECK(r.waiting_rnr && !r.waiting_ack);
	T_EQ(rxo_retry_deadline(&r), 1000 + 10000);
	T_CHECK(!rxo_retry_rnr_over(&r, 10999));
	T_CHECK(rxo_retry_rnr_over(&r, 11000));
	T_CHECK(!rxo_retry_take_rnr(&r, 1, 20000));
	rxo_retry_progress(&r, 100, true);
	T_CHECK(!r.waiting_rnr && r.waiting_ack);
	T_CHECK(rxo_retry_take_rnr(&r, 1, 20000));

	rxo_retry_init(&r, 10, 2, RXO_RNR_RETRY_FOREVER);
	for (i = 0; i < 1000; i++)
		T_CHECK(rxo_retry_take_rnr(&r, 0, 0));
}

T_TEST(retry_take_rnr__is_a_sign_of_life)
{
	struct rxo_retry r;
	int i;

	rxo_retry_init(&r, 10, 1, RXO_RNR_RETRY_FOREVER);
	for (i = 0; i < 10; i++) {
		T_CHECK(rxo_retry_take(&r));
		T_CHECK(rxo_retry_take_rnr(&r, 1, 0));
	}
}

T_TEST(retry_deadline__starts_once_and_restarts_on_progress)
{
	struct rxo_retry r;

	rxo_retry_init(&r, 1, 7, 7);
	T_EQ(rxo_retry_deadline(&r), U64_MAX);
	rxo_retry_sent(&r, 100);
	T_EQ(rxo_retry_deadline(&r), 100 + 8192);
	rxo_retry_sent(&r, 200);
	T_EQ(rxo_retry_deadline(&r), 100 + 8192);
	T_CHECK(!rxo_retry_ack_late(&r, 8291));
	T_CHECK(rxo_retry_ack_late(&r, 8292));
	rxo_retry_progress(&r, 300, true);
	T_EQ(rxo_retry_deadline(&r), 300 + 8192);
	rxo_retry_progress(&r, 400, false);
	T_EQ(rxo_retry_deadline(&r), U64_MAX);
	rxo_retry_sent(&r, 500);
	rxo_retry_stop(&r);
	T_EQ(rxo_retry_deadline(&r), U64_MAX);
}

T_TEST(retry_deadline__timeout_0_is_none)
{
	struct rxo_retry r;

	rxo_retry_init(&r, 0, 7, 7);
	rxo_retry_sent(&r, 100);
	T_EQ(rxo_retry_deadline(&r), U64_MAX);
	T_CHECK(!rxo_retry_ack_late(&r, U64_MAX));
	/* Set later, it counts from when the wait began. */
	rxo_retry_modify(&r, 1, 7, 7);
	T_EQ(rxo_retry_deadline(&r), 100 + 8192);
}

T_TEST(retry_modify__does_not_refill_unchanged_counters)
{
	struct rxo_retry r;

	rxo_retry_init(&r, 10, 2, 2);
	rxo_retry_take(&r);
	rxo_retry_modify(&r, 10, 2, 2);
	T_EQ(r.retries_left, 1);
	rxo_retry_modify(&r, 10, 5, 6);
	T_EQ(r.retries_left, 5);
	T_EQ(r.rnr_left, 6);
}
