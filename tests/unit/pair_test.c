// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requester against responder over a faulty link (tests/lib/pair.h): every
 * workload with every single packet lost, repeated or delayed, and random mixes.
 */
#include "pair.h"
#include "t.h"

#define W	RXE_ORDERED_WR_RDMA_WRITE
#define WI	RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM
#define S	RXE_ORDERED_WR_SEND
#define SI	RXE_ORDERED_WR_SEND_WITH_IMM
#define R	RXE_ORDERED_WR_RDMA_READ
#define CAS	RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP
#define FAA	RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD
#define SIG	RXE_ORDERED_SEND_SIGNALED
#define SOL	RXE_ORDERED_SEND_SOLICITED
#define FEN	RXE_ORDERED_SEND_FENCE

static struct pair pair;

static const struct pair_cfg plain = {
	.mtu = 256, .window = 64, .ack_every = 8, .max_rd = 4, .timeout = 14,
	.retry_cnt = 7, .rnr_retry = 7, .psn = { 100, 0x500000 },
	.ahead = PAIR_OPS, .burst = 4, .batch = 4,
};

/* Here packets overtake each other by anything that these runs can take. */
static const struct pair_cfg ordered = {
	.mtu = 256, .window = 64, .ack_every = 8, .max_rd = 4, .timeout = 14,
	.retry_cnt = 7, .rnr_retry = 7, .psn = { 100, 0x500000 },
	.ahead = PAIR_OPS, .burst = 4, .batch = 4, .ordered = true,
	.overtaking = 10000000,
};

/* Without and with ordered completions. */
static const struct pair_cfg *const modes[] = { &plain, &ordered };

struct workload {
	const char *name;
	const struct pair_op *ops[2];
	u32 n[2];
	/* deviations from plain; 0: none */
	u32 mtu, window, ack_every, max_rd, rd_part, late, ahead, burst, batch;
	u32 psn;
};

#define OPS(a) .ops = { a }, .n = { ARRAY_SIZE(a) }
#define OPS2(a, b) .ops = { a, b }, .n = { ARRAY_SIZE(a), ARRAY_SIZE(b) }

static const struct pair_op one_send[] = { { S, SIG, 100 } };
static const struct pair_op sizes[] = {
	{ S, SIG, 0 }, { W, SIG, 0 }, { R, SIG, 0 }, { WI, SIG | SOL, 0 },
	{ SI, SIG, 0 }, { S, SIG, 1 }, { W, SIG, 1 }, { R, SIG, 1 },
	{ S, SIG | SOL, 255 }, { S, SIG, 256 }, { S, SIG, 257 },
	{ W, SIG | SOL, 255 }, { W, SIG, 256 }, { W, SIG, 257 },
	{ R, SIG, 255 }, { R, SIG, 256 }, { R, SIG, 257 },
	{ SI, SIG, 511 }, { WI, SIG, 512 }, { R, SIG, 513 },
	{ WI, SIG, 1 }, { SI, SIG | SOL, 767 }, { W, SIG, 768 },
};
static const struct pair_op unsignalled[] = {
	{ S, 0, 10 }, { S, 0, 300 }, { W, 0, 10 }, { W, 0, 1000 }, { W, 0, 1 },
	{ W, 0, 2 }, { W, 0, 3 }, { W, 0, 4 }, { W, 0, 5 }, { W, 0, 6 },
	{ S, 0, 7 }, { S, 0, 8 }, { S, SIG, 9 },
};
static const struct pair_op long_ones[] = {
	{ W, SIG, 5000 }, { S, SIG, 5121 }, { R, SIG, 4999 }, { WI, SIG, 5120 },
};
static const struct pair_op reads[] = {
	{ R, SIG, 1500 }, { R, SIG, 700 }, { R, SIG, 0 }, { R, SIG, 256 },
	{ R, SIG, 1025 }, { R, SIG, 3 },
};
static const struct pair_op read_then_write[] = {
	{ R, SIG, 1024 }, { W, SIG, 1200 }, { R, SIG, 600 }, { S, SIG, 600 },
	{ W, 0, 40 }, { R, 0, 2000 }, { S, SIG, 1 },
};
static const struct pair_op fenced[] = {
	{ R, SIG, 1000 }, { W, SIG | FEN, 500 }, { W, 0, 10 }, { R, 0, 300 },
	{ S, SIG | FEN, 20 }, { R, SIG | FEN, 10 },
};
static const struct pair_op receives[] = {
	{ S, SIG, 600 }, { WI, SIG, 700 }, { SI, SIG, 0 }, { W, SIG, 300 },
	{ S, SIG, 1 }, { WI, 0, 1 }, { S, SIG, 256 },
};
static const struct pair_op mixed[] = {
	{ W, 0, 3000 }, { R, SIG, 3000 }, { S, SIG, 10 }, { W, 0, 3000 },
	{ R, 0, 1 }, { SI, 0, 513 }, { WI, SIG | SOL, 1025 }, { R, SIG, 256 },
};

static const struct pair_op adds[] = {
	{ FAA, SIG, 8 }, { FAA, SIG, 8 }, { FAA, 0, 8 }, { FAA, SIG, 8 },
	{ FAA, 0, 8 }, { FAA, 0, 8 }, { FAA, SIG, 8 }, { FAA, SIG, 8 },
	{ FAA, SIG, 8 }, { FAA, SIG, 8 },
};
static const struct pair_op atomics[] = {
	{ CAS, SIG, 8 }, { CAS, SIG, 8 }, { S, 0, 10 }, { CAS, 0, 8 },
	{ FAA, SIG, 8 }, { R, SIG, 600 }, { FAA, SIG, 8 }, { W, 0, 700 },
	{ CAS, SIG, 8 }, { CAS, SIG, 8 }, { R, SIG, 1 }, { FAA, 0, 8 },
	{ S, SIG, 1 }, { CAS, SIG, 8 }, { W, SIG, 20 }, { R, 0, 1100 },
};
static const struct pair_op fenced_atomics[] = {
	{ FAA, SIG, 8 }, { S, SIG | FEN, 300 }, { CAS, 0, 8 }, { FAA, FEN, 8 },
	{ R, 0, 600 }, { CAS, SIG | FEN, 8 }, { W, SIG | FEN, 1 },
};

static const struct workload workloads[] = {
	{ .name = "one send", OPS(one_send) },
	{ .name = "sizes", OPS(sizes) },
	{ .name = "sizes, posted one by one", OPS(sizes), .ahead = 1 },
	{ .name = "sizes, window 1", OPS(sizes), .window = 1 },
	{ .name = "unsignalled", OPS(unsignalled) },
	{ .name = "unsignalled, ACK rare", OPS(unsignalled), .ack_every = 1000,
	  .burst = 32, .batch = 32 },
	{ .name = "unsignalled, three ahead", OPS(unsignalled), .ahead = 3 },
	{ .name = "long", OPS(long_ones) },
	{ .name = "long, window 3, psn wrap", OPS(long_ones), .window = 3,
	  .psn = 0xfffff5 },
	{ .name = "long, mtu 1024, big batches", OPS(long_ones), .mtu = 1024,
	  .burst = 64, .batch = 64 },
	{ .name = "reads", OPS(reads) },
	{ .name = "reads, one outstanding", OPS(reads), .max_rd = 1 },
	{ .name = "reads, window smaller", OPS(reads), .window = 2 },
	{ .name = "reads in parts", OPS(reads), .rd_part = 2, .max_rd = 2 },
	{ .name = "reads in parts, psn wrap", OPS(reads), .rd_part = 4,
	  .psn = 0xfffffd },
	{ .name = "read then write", OPS(read_then_write) },
	{ .name = "read then write, packet by packet", OPS(read_then_write),
	  .burst = 1, .batch = 1 },
	{ .name = "read then write, all at once", OPS(read_then_write), .burst = 200,
	  .batch = 200 },
	{ .name = "read then write, small window", OPS(read_then_write), .window = 4 },
	{ .name = "fences", OPS(fenced) },
	{ .name = "fences, one read", OPS(fenced), .max_rd = 1 },
	{ .name = "adds", OPS(adds) },
	{ .name = "adds, all at once", OPS(adds), .max_rd = 16, .burst = 32,
	  .batch = 32 },
	{ .name = "adds, one outstanding", OPS(adds), .max_rd = 1 },
	{ .name = "adds, psn wrap", OPS(adds), .psn = 0xfffffc },
	{ .name = "atomics", OPS(atomics) },
	{ .name = "atomics, packet by packet", OPS(atomics), .burst = 1,
	  .batch = 1 },
	{ .name = "atomics, all at once", OPS(atomics), .max_rd = 16,
	  .burst = 200, .batch = 200 },
	{ .name = "atomics, one outstanding, late", OPS(atomics), .max_rd = 1,
	  .late = 1 },
	{ .name = "atomics, window 2", OPS(atomics), .window = 2 },
	{ .name = "atomics fenced", OPS(fenced_atomics) },
	{ .name = "atomics both ways, psn wrap", OPS2(atomics, adds),
	  .psn = 0xfffff6 },
	{ .name = "receives late", OPS(receives), .late = 2 },
	{ .name = "receives late, one by one", OPS(receives), .late = 1, .ahead = 1 },
	{ .name = "both directions", OPS2(mixed, mixed) },
	{ .name = "both directions, psn wrap", OPS2(mixed, read_then_write),
	  .psn = 0xfffffa },
	{ .name = "both directions, late", OPS2(receives, mixed), .late = 1 },
};

static void set_up(const struct workload *w, const struct pair_cfg *base)
{
	struct pair_cfg c = *base;

	c.mtu = w->mtu ? w->mtu : c.mtu;
	c.window = w->window ? w->window : c.window;
	c.ack_every = w->ack_every ? w->ack_every : c.ack_every;
	c.max_rd = w->max_rd ? (u8)w->max_rd : c.max_rd;
	c.rd_part = w->rd_part ? w->rd_part : c.rd_part;
	c.late = w->late ? w->late : c.late;
	c.ahead = w->ahead ? w->ahead : c.ahead;
	c.burst = w->burst ? w->burst : c.burst;
	c.batch = w->batch ? w->batch : c.batch;
	if (w->psn)
		c.psn[0] = c.psn[1] = w->psn;
	pair_init(&pair, &c, w->ops[0], w->n[0], w->ops[1], w->n[1]);
}

static u64 run_clean(const struct workload *w, const struct pair_cfg *cfg)
{
	set_up(w, cfg);
	pair_run(&pair);
	pair_check(&pair);
	return pair.n_packets;
}

/* Without faults nothing is sent twice and no timer fires. */
static void clean_run(const struct workload *w, const struct pair_cfg *cfg)
{
	size_t s;

	run_clean(w, cfg);
	for (s = 0; s < 2; s++) {
		const struct pair_end *e = &pair.end[s];

		T_EQ(e->req.n_timeout, 0);
		T_EQ(e->req.n_implied_nak, 0);
		if (w->late)
			continue;
		T_EQ(e->req.n_seq_nak, 0);
		T_EQ(e->req.n_retransmit, 0);
		T_EQ(e->order.n_probe, 0);
		T_EQ(e->resp.n_dup, 0);
		T_EQ(e->resp.n_seq_nak, 0);
	}
}

T_TEST(pair__clean_runs_repeat_nothing)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(workloads); i++) {
		t_context("workload '%s'", workloads[i].name);
		clean_run(&workloads[i], &plain);
		clean_run(&workloads[i], &ordered);
	}
}

static void sweep_one(const struct workload *w, const struct pair_cfg *cfg,
		      enum pair_fate fate, u32 arg)
{
	u64 nth, clean = run_clean(w, cfg);

	for (nth = 0; nth < clean; nth++) {
		t_context("workload '%s', %s, packet %llu", w->name,
			  cfg->ordered ? "ordered" : "plain", nth);
		set_up(w, cfg);
		pair_add_fault(&pair, nth, fate, arg);
		pair_run(&pair);
		pair_check(&pair);
		/* One fault: at most one time-out, and no storm. */
		T_CHECK(pair.end[0].req.n_timeout +
			pair.end[1].req.n_timeout <= 1);
		T_CHECK(pair.n_packets <= 3 * clean + 20);
	}
}

/* Which ends forget what is ahead: a bit each. */
static const u32 memories[] = { 0, 3, 1, 2 };

static void sweep_forgetting(enum pair_fate fate, u32 arg, u32 forgets)
{
	struct pair_cfg c;
	size_t i, m;

	for (m = 0; m < ARRAY_SIZE(modes); m++) {
		c = *modes[m];
		c.forgets = forgets;
		for (i = 0; i < ARRAY_SIZE(workloads); i++)
			sweep_one(&workloads[i], &c, fate, arg);
	}
}

static void sweep(enum pair_fate fate, u32 arg)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(memories); i++)
		sweep_forgetting(fate, arg, memories[i]);
}

T_TEST(pair__every_packet_lost)
{
	sweep(PAIR_DROP, 0);
}

T_TEST(pair__every_packet_twice)
{
	sweep(PAIR_DUP, 1);
	sweep(PAIR_DUP, 7);
}

T_TEST(pair__every_packet_late)
{
	sweep(PAIR_DELAY, 1);
	sweep(PAIR_DELAY, 3);
	sweep(PAIR_DELAY, 12);
}

static const struct pair_op bulk_write[] = { { W, SIG, 60 * 256 } };
static const struct pair_op bulk_send[] = { { S, SIG, 60 * 256 } };
static const struct pair_op bulk_read[] = { { R, SIG, 60 * 256 } };

static const struct workload bulk[] = {
	{ .name = "write", OPS(bulk_write), .burst = 8 },
	{ .name = "send", OPS(bulk_send), .burst = 64, .batch = 64 },
	{ .name = "read", OPS(bulk_read), .burst = 8 },
	{ .name = "read, slowly", OPS(bulk_read), .burst = 1, .batch = 1 },
	{ .name = "read, at once", OPS(bulk_read), .burst = 64, .batch = 64 },
};

/*
 * A lost packet costs that packet, and a NAK, ACK or request for it. Not the
 * last one: nothing behind it shows that it is missing.
 */
T_TEST(pair__one_loss_costs_one_packet)
{
	u64 nth, clean;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bulk); i++) {
		clean = run_clean(&bulk[i], &plain);
		for (nth = 0; nth < clean; nth++) {
			t_context("workload '%s', packet %llu", bulk[i].name,
				  nth);
			set_up(&bulk[i], &plain);
			pair_add_fault(&pair, nth, PAIR_DROP, 0);
			pair_run(&pair);
			pair_check(&pair);
			if (pair.end[0].req.n_timeout)
				continue;
			T_CHECK(pair.n_packets <= clean + 4);
			T_CHECK(pair.end[0].req.n_retransmit <= 2);
		}
	}
}

/* The same with an end that forgets: once a packet too much, then as ever. */
T_TEST(pair__a_forgetful_peer_costs_one_round_trip)
{
	struct pair_cfg c = plain;
	u64 first, clean;

	c.forgets = 2;
	set_up(&bulk[0], &c);
	pair_run(&pair);
	clean = pair.n_packets;
	set_up(&bulk[0], &c);
	pair_add_fault(&pair, 10, PAIR_DROP, 0);
	pair_run(&pair);
	pair_check(&pair);
	T_EQ(pair.end[0].req.n_timeout, 0);
	T_EQ(pair.end[0].req.keeps, RXO_KEEPS_NOT);
	first = pair.n_packets;
	T_CHECK(first > clean + 5);
	set_up(&bulk[0], &c);
	pair.end[0].req.keeps = RXO_KEEPS_NOT;
	pair_add_fault(&pair, 10, PAIR_DROP, 0);
	pair_run(&pair);
	pair_check(&pair);
	T_EQ(pair.end[0].req.n_timeout, 0);
	T_CHECK(first <= pair.n_packets + 64);
}

/* Two losses: the repetition is lost too, or something close by. */
T_TEST(pair__two_packets_lost)
{
	static const u32 distance[] = { 1, 2, 5, 9, 20 };
	u64 nth, clean;
	size_t i, d;

	for (i = 0; i < ARRAY_SIZE(workloads); i++) {
		clean = run_clean(&workloads[i], &ordered);
		for (nth = 0; nth < clean; nth++)
			for (d = 0; d < ARRAY_SIZE(distance); d++) {
				t_context("workload '%s', packets %llu, +%u",
					  workloads[i].name, nth, distance[d]);
				set_up(&workloads[i], &ordered);
				pair.cfg.forgets = memories[(nth + d) % 4];
				pair_add_fault(&pair, nth, PAIR_DROP, 0);
				pair_add_fault(&pair, nth + distance[d],
					       PAIR_DROP, 0);
				pair_run(&pair);
				pair_check(&pair);
			}
	}
}

T_TEST(pair__loss_and_duplicate)
{
	u64 nth, clean;
	size_t i;
	u32 d;

	for (i = 0; i < ARRAY_SIZE(workloads); i++) {
		clean = run_clean(&workloads[i], &ordered);
		for (nth = 0; nth < clean; nth++)
			for (d = 1; d < 4; d++) {
				t_context("workload '%s', packet %llu, %u",
					  workloads[i].name, nth, d);
				set_up(&workloads[i], &ordered);
				pair_add_fault(&pair, nth, PAIR_DROP, 0);
				pair_add_fault(&pair, nth + d, PAIR_DUP, 4);
				pair_run(&pair);
				pair_check(&pair);
			}
	}
}

/*
 * Many faults at once. The counters are refilled by progress, and with 10 % loss
 * eight losses in a row do not happen to these seeds.
 */
T_TEST(pair__random_faults)
{
	struct pair_cfg c = ordered;
	size_t i;

	for (c.seed = 1; c.seed <= 60; c.seed++)
		for (i = 0; i < ARRAY_SIZE(workloads); i++) {
			c.ordered = c.seed % 2;
			c.loss = c.seed % 4 * 3;
			c.dup = c.seed % 5 * 2;
			c.delay = c.seed % 3 * 4;
			c.busy = c.seed % 7 * 2;
			c.forgets = memories[c.seed % 4];
			t_context("workload '%s', seed %llu",
				  workloads[i].name, c.seed);
			set_up(&workloads[i], &c);
			pair_run(&pair);
			pair_check(&pair);
		}
}

/* Back-to-back unsignalled messages share acknowledgements. */
T_TEST(pair__acks_are_coalesced)
{
	static const struct workload w = {
		.name = "", OPS(unsignalled), .ack_every = 1000, .burst = 32,
		.batch = 32,
	};

	run_clean(&w, &plain);
	T_EQ(pair.n_acks, 1);
}

/* A receiver that is never ready costs one packet per RNR time, for ever. */
T_TEST(pair__rnr_forever)
{
	static const struct workload w = { .name = "", OPS(one_send), .late = 500 };

	run_clean(&w, &plain);
	T_EQ(pair.end[0].req.n_rnr, 500);
	T_EQ(pair.n_packets, 2 * 501);
	T_CHECK(pair.now >= 500 * 10000);
}
