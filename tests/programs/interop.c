// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What data_integrity leaves out and a foreign peer may see differently: every
 * length from 0 to 300 at odd alignments, each operation across the wrap of its own
 * PSNs and across the middle of their range, and messages of all kinds in random
 * order. Both ways; every byte compared.
 */
#include <stdlib.h>

#include "di_message.h"
#include "t.h"
#include "t_link.h"

#define MAX_SHORT	300
#define LONG		65536
#define RANDOM_LEN	20000
#define RANDOM_MESSAGES	300

static unsigned int next_seed, random_state;

static unsigned int random_below(unsigned int n)
{
	return rand_r(&random_state) % n;
}

static void link_open(struct t_link *l, enum ibv_mtu mtu, uint32_t psn)
{
	struct t_config config = {
		.sge = 4, .mem = DI_MEM, .create = di_create_qp,
	};

	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	if (mtu && mtu < config.conn.mtu)
		config.conn.mtu = mtu;
	config.conn.psn = psn;
	t_link_open(l, &config);
}

/* One message, the rest of it at random. */
static bool message(struct t_link *l, bool from_a, enum di_op op, uint32_t len)
{
	struct di_message m = {
		.op = op,
		.len = len,
		.align_src = random_below(8),
		.align_dst = random_below(8),
		.sge_src = 1 + random_below(4),
		.sge_dst = 1 + random_below(4),
		.seed = next_seed++,
	};

	return from_a ? di_transfer(&l->a, &l->b, &m) :
			di_transfer(&l->b, &l->a, &m);
}

static const char *direction(bool from_a)
{
	return from_a ? "A to B" : "B to A";
}

/* -------------------------------------------------------------- short messages */

static void short_messages(bool from_a)
{
	unsigned int len, good = 0;
	enum di_op op;
	struct t_link l;

	link_open(&l, 0, 0);
	for (op = 0; op < DI_NUM_OPS && !t_failed(); op++)
		for (len = 0; len <= MAX_SHORT && !t_failed(); len++)
			good += message(&l, from_a, op, len);
	t_is(good, DI_NUM_OPS * (MAX_SHORT + 1), "%s, 0 to %d bytes",
	     direction(from_a), MAX_SHORT);
	t_link_close(&l);
}

/* ------------------------------------------------------------------------ PSNs */

/* The first message of a connection, and then one of another kind. */
static bool one_psn(enum ibv_mtu mtu, uint32_t psn, enum di_op op, bool from_a)
{
	struct t_link l;
	bool ok;

	link_open(&l, mtu, psn);
	ok = message(&l, from_a, op, LONG) &&
	     message(&l, from_a, (op + 2) % DI_NUM_OPS, LONG + 1) &&
	     message(&l, !from_a, op, 3);
	t_link_close(&l);
	return ok;
}

static void psns(enum ibv_mtu mtu, uint32_t psn)
{
	unsigned int i, good = 0;

	for (i = 0; i < 2 * DI_NUM_OPS && !t_failed(); i++)
		good += one_psn(mtu, psn, i / 2, i % 2);
	t_is(good, 2 * DI_NUM_OPS, "MTU %d, PSNs from %#x", 128 << mtu, psn);
}

static void all_psns(void)
{
	static const uint32_t first[] = {
		0, 0x7fff80, 0x7fffff, 0xffff80, 0xfffff0, 0xfffff8, 0xfffffe,
	};
	unsigned int i;

	for (i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		psns(IBV_MTU_256, first[i]);
		psns(IBV_MTU_1024, first[i]);
	}
}

/* ---------------------------------------------------------------------- random */

static void at_random(void)
{
	unsigned int i, good = 0;
	struct t_link l;

	link_open(&l, IBV_MTU_1024, 0xffff00);
	for (i = 0; i < RANDOM_MESSAGES && !t_failed(); i++)
		good += message(&l, random_below(2), random_below(DI_NUM_OPS),
				random_below(1 + random_below(RANDOM_LEN)));
	t_is(good, RANDOM_MESSAGES, "messages of all kinds");
	t_link_close(&l);
}

int main(int argc, char **argv)
{
	t_args(argc, argv, "Every length, every PSN, with a foreign peer.");
	random_state = t_options.seed;
	di_init();
	t_open();
	short_messages(true);
	short_messages(false);
	all_psns();
	at_random();
	t_close();
	return t_done();
}
