// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ordered completions between two ends: request and answer, the ladder with a lost
 * ACK, receive buffers that run out on both sides. pair_order.c checks the
 * guarantee at every completion.
 */
#include "pair.h"
#include "t.h"

#define S	RXE_ORDERED_WR_SEND
#define SIG	RXE_ORDERED_SEND_SIGNALED

static struct pair pair;

static const struct pair_op sends[] = {
	{ S, SIG, 100 }, { S, SIG, 0 }, { S, SIG, 700 }, { S, SIG, 1 },
	{ S, SIG, 256 }, { S, SIG, 30 }, { S, SIG, 1000 }, { S, SIG, 8 },
};

static struct pair_cfg base(void)
{
	return (struct pair_cfg){
		.mtu = 256, .window = 64, .ack_every = 8, .max_rd = 4,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.psn = { 0xfffffe, 7 }, .ahead = PAIR_OPS, .burst = 4,
		.batch = 4, .ordered = true,
	};
}

static void set_up(const struct pair_cfg *cfg)
{
	pair_init(&pair, cfg, sends, ARRAY_SIZE(sends), sends,
		  ARRAY_SIZE(sends));
}

static void run(const struct pair_cfg *cfg)
{
	set_up(cfg);
	pair_run(&pair);
	pair_check(&pair);
}

/* The ACK leaves before the answer, so nothing is ever held. */
T_TEST(pair_order__request_and_answer_without_loss)
{
	struct pair_cfg c = base();
	int i, side;

	c.exchange = true;
	for (i = 0; i < 125; i++) {		/* 1,000 exchanges */
		run(&c);
		for (side = 0; side < 2; side++) {
			T_EQ(pair.end[side].order.n_hold, 0);
			T_EQ(pair.end[side].order.n_probe, 0);
			T_EQ(pair.end[side].req.n_retransmit, 0);
		}
	}
}

/* How long the whole takes when packet 1, the first ACK, is lost. */
static u64 ladder(bool ordered)
{
	struct pair_cfg c = base();

	c.exchange = true;
	c.ordered = ordered;
	pair_init(&pair, &c, sends, 1, sends, 1);
	pair_add_fault(&pair, 1, PAIR_DROP, 0);
	pair_run(&pair);
	pair_check(&pair);
	return pair.now;
}

/* The oracle sees the receive overtake the send, unless it is held back. */
T_TEST(pair_order__ladder)
{
	u64 probe_ns, timeout_ns = rxo_retry_timeout_ns(14);

	ladder(false);
	T_EQ(pair.n_overtaken, 1);
	T_EQ(pair.end[0].req.n_timeout, 1);
	probe_ns = ladder(true);
	T_EQ(pair.n_overtaken, 0);
	T_EQ(pair.end[0].order.n_hold, 1);
	T_EQ(pair.end[0].order.n_probe, 1);
	T_EQ(pair.end[0].req.n_timeout, 0);
	T_CHECK(probe_ns < timeout_ns);
}

/* Each packet lost, and the one so much later too: probes may be lost as well. */
T_TEST(pair_order__exchange_with_two_losses)
{
	struct pair_cfg c = base();
	u64 nth, clean;
	u32 d;

	c.exchange = true;
	run(&c);
	clean = pair.n_packets;
	for (nth = 0; nth < clean; nth++)
		for (d = 1; d < 12; d++) {
			t_context("packets %llu, +%u", nth, d);
			set_up(&c);
			pair_add_fault(&pair, nth, PAIR_DROP, 0);
			pair_add_fault(&pair, nth + d, PAIR_DROP, 0);
			pair_run(&pair);
			pair_check(&pair);
		}
}

/*
 * Both ends have one receive, taken by a message whose completion is held until
 * the own next request is executed, which needs a receive of the other. Only the
 * NAKs that keep coming can tell that neither has executed anything.
 */
T_TEST(pair_order__both_out_of_receives)
{
	struct pair_cfg c = base();
	u32 credits, burst;
	u64 proven = 0;
	int side;

	for (credits = 1; credits < 4; credits++)
		for (burst = 1; burst < 20; burst++) {
			t_context("%u receives, bursts of %u", credits, burst);
			c.credits = credits;
			c.burst = c.batch = burst;
			run(&c);
			for (side = 0; side < 2; side++) {
				T_EQ(pair.end[side].req.n_timeout, 0);
				proven += pair.end[side].order.n_proven;
			}
		}
	T_CHECK(proven);
}

/* The same while the network fails, and keeps no order. */
T_TEST(pair_order__both_out_of_receives_with_faults)
{
	struct pair_cfg c = base();

	c.credits = 1;
	c.overtaking = 10000000;
	c.rnr_timer = 20;			/* 10 ms and more */
	for (c.seed = 1; c.seed <= 300; c.seed++) {
		t_context("seed %llu", c.seed);
		c.tells = c.seed % 2;
		c.loss = c.seed % 4 * 3;
		c.dup = c.seed % 5 * 2;
		c.delay = c.seed % 3 * 4;
		run(&c);
	}
}

/* Where each tells the other how many receives it has, nothing is sent in vain. */
T_TEST(pair_order__credits_instead_of_rnr)
{
	u64 again[2] = {}, refused[2] = {};
	struct pair_cfg c = base();
	u32 burst, i;
	int side;

	c.credits = 2;
	for (burst = 1; burst < 20; burst++)
		for (i = 0; i < 2; i++) {
			t_context("bursts of %u, %u", burst, i);
			c.tells = i;
			c.burst = c.batch = burst;
			run(&c);
			for (side = 0; side < 2; side++) {
				again[i] += pair.end[side].req.n_retransmit;
				refused[i] += pair.end[side].resp.n_rnr_nak;
			}
		}
	T_CHECK(refused[0] && again[0]);
	T_CHECK(!refused[1] && !again[1]);
}

/* Any losses and no reordering: NAKs release here, and must not do so early. */
T_TEST(pair_order__loss_on_a_path_that_keeps_order)
{
	struct pair_cfg c = base();

	for (c.seed = 1; c.seed <= 600; c.seed++) {
		t_context("seed %llu", c.seed);
		c.loss = 1 + c.seed % 15;
		c.credits = c.seed % 3;
		c.tells = c.credits && c.seed % 2;
		c.late = c.seed % 5 == 0;
		c.burst = c.batch = 1 + c.seed % 9;
		c.exchange = c.seed % 7 == 0;
		run(&c);
	}
}
