// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's and the provider's twin on one ring: every interleaving of up to
 * four operations, access by access, against a sequential specification.
 *
 * An operation is a function of the values that its accesses returned. So it is
 * run again from its beginning for each step: accesses that it made before are
 * answered from its log, the next one takes place, and at the one after that it
 * is left by longjmp. What is plain and not idempotent, the private state of the
 * producer that holds the lock, is put back in between. The search remembers
 * states (shared memory, logs, results, who ended before whom began), so each
 * is visited once and all orders are covered.
 *
 * At the end of each order there must be a sequence of the operations, in
 * agreement with who ended before whom began, in which the specification gives
 * the same results, entries, events and final state: linearizability. A verb has
 * one liberty, which is looked for only when nothing else fits, and which
 * test_strict() does not grant: it may take an arm away before its instant; if it
 * then does not return completions it ends with an arm at least as strong.
 *
 * A slot is free when it has been given back, which comes after the instant of
 * the verb that took the entry. So whether a publish may overrun is asked of the
 * ring and not of the specification.
 *
 * With the argument "all", more of those with four operations: half a minute.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring_twins.h"

#define ENTRIES		2
#define START		UINT32_MAX	/* the indices wrap at once */
#define MAX_OPS		4
#define MAX_LOG		96

enum { NONE = RXE_ORDERED_ARM_NONE, SOL = RXE_ORDERED_ARM_SOLICITED,
       ANY = RXE_ORDERED_ARM_ANY };

enum kind { PUBLISH, K_VERB, K_IF_EMPTY, K_NOTIFY, U_VERB, U_IF_EMPTY, U_POLL,
	    U_ARM };

struct op_type {
	const char *name;
	enum kind kind;
	int arm;		/* PUBLISH: is it solicited? */
	int num;
	enum tw_fail fail;
};

struct op {
	const struct op_type *type;
	uint64_t log[MAX_LOG];
	uint8_t used;
	bool done;
	bool full;		/* PUBLISH: no room, at some time under the lock */
	uint8_t added;		/* PUBLISH: how many found room */
	uint8_t before;		/* bit mask: those that had ended when it began */
	uint8_t events, overruns;
	struct tw_private priv;	/* as it was under the lock */
	int ret;
	uint64_t id[ENTRIES];	/* what it returned */
};

static struct world {
	struct tw_ring ring;
	int holder;		/* of the lock: operation + 1 */
	struct op op[MAX_OPS];
} world;

static int nops;
static struct { int held; unsigned int arm; } begin;

/* ------------------------------------------------------------- one transition */

static jmp_buf stop;
static int current_op;
static int pos;			/* in the log */
static bool stepped, in_data;

#define FAIL(...) do { fprintf(stderr, __VA_ARGS__); abort(); } while (0)

static bool is_data(const volatile void *p)
{
	const volatile char *c = p, *e = (void *)world.ring.entry;

	return c >= e && c < e + sizeof(world.ring.entry);
}

/*
 * Return: is the next access to be made? Otherwise *@value is what it gave. The
 * loads by which one entry after the other is copied are one step.
 */
static bool next_access(bool data, uint64_t *value)
{
	struct op *op = &world.op[current_op];

	if (pos < op->used) {
		*value = op->log[pos++];
		return false;
	}
	if (stepped && !(data && in_data))
		longjmp(stop, 1);
	stepped = true;
	in_data = data;
	if (pos == MAX_LOG)
		FAIL("an operation does not end\n");
	return true;
}

static void record(uint64_t value)
{
	struct op *op = &world.op[current_op];

	op->log[pos++] = value;
	op->used = pos;
}

static uint64_t fetch(const volatile void *p, size_t size)
{
	return size == 8 ? *(const volatile uint64_t *)p :
			   *(const volatile uint32_t *)p;
}

static void put(volatile void *p, size_t size, uint64_t value)
{
	if (size == 8)
		*(volatile uint64_t *)p = value;
	else
		*(volatile uint32_t *)p = (uint32_t)value;
}

/* Outside of a search: no steps, no log. */
static bool searching;

uint64_t tw_load(const volatile void *p, size_t size)
{
	uint64_t v = 0;

	if (!searching)
		return fetch(p, size);
	if (next_access(is_data(p), &v)) {
		v = fetch(p, size);
		record(v);
	}
	return v;
}

uint64_t tw_swap_if(volatile void *p, size_t size, uint64_t old, uint64_t new)
{
	uint64_t v = 0;

	if (!searching || next_access(false, &v)) {
		v = fetch(p, size);
		if (v == old)
			put(p, size, new);
		if (searching)
			record(v);
	}
	return v;
}

uint64_t tw_swap(volatile void *p, size_t size, uint64_t new)
{
	uint64_t v = 0;

	if (!searching || next_access(false, &v)) {
		v = fetch(p, size);
		put(p, size, new);
		if (searching)
			record(v);
	}
	return v;
}

/* A step of its own; advance() does not try it while another one holds it. */
void tw_lock(void)
{
	uint64_t v;

	if (!searching)
		return;
	if (next_access(false, &v)) {
		world.op[current_op].priv = twk_private();
		world.holder = current_op + 1;
		record(0);
	}
	twk_set_private(world.op[current_op].priv);
}

void tw_unlock(void)
{
	if (searching)
		world.holder = 0;
}

/* Both come after the last access of an operation, so only once. */
void tw_event(void)
{
	world.op[current_op].events++;
}

void tw_overrun(void)
{
	world.op[current_op].overruns++;
}

static int run(const struct op_type *t, int number, struct tw_got *got)
{
	switch (t->kind) {
	case PUBLISH:
		return twk_publish(10 + 10 * number, t->num, t->arm);
	case K_VERB:
		return twk_verb(t->num, t->arm, got, t->fail);
	case K_IF_EMPTY:
		return twk_if_empty(t->arm);
	case K_NOTIFY:
		return twk_notify(t->arm);
	case U_VERB:
		return twu_verb(t->num, t->arm, got);
	case U_IF_EMPTY:
		return twu_if_empty(t->arm);
	case U_POLL:
		return twu_poll(t->num, got);
	case U_ARM:
		return twu_arm(t->arm);
	}
	abort();
}

static bool returns_entries(enum kind k)
{
	return k == K_VERB || k == U_VERB || k == U_POLL;
}

/* Return: operation @i can make a step; it has. */
static bool advance(int i)
{
	struct op *op = &world.op[i];
	static struct tw_got got;
	int j;

	if (op->done || (world.holder && op->type->kind == PUBLISH &&
			 world.holder != i + 1))
		return false;
	for (j = 0; !op->used && j < nops; j++)
		op->before |= world.op[j].done << j;

	if (op->type->kind == PUBLISH && world.holder)
		op->full |= op->priv.prod - world.ring.hdr.cons +
			    op->type->num > ENTRIES;
	current_op = i;
	pos = 0;
	stepped = in_data = false;
	if (setjmp(stop))
		return true;
	op->ret = run(op->type, i, &got);
	op->done = true;
	op->added = twk_private().prod - op->priv.prod;
	if (returns_entries(op->type->kind) && op->ret > 0)
		memcpy(op->id, got.id, op->ret * sizeof(got.id[0]));
	return true;
}

/* -------------------------------------------------------------- specification */

struct spec {
	uint64_t queue[ENTRIES];
	int held;
	unsigned int arm;
	bool overrun;
};

struct place {			/* of an operation in the sequence */
	bool done;
	unsigned int early;	/* arm taken away before the instant */
	int takes;
	bool missed;		/* was added since, and would have fired it */
};

static bool liberty;

static unsigned int stronger(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

static bool is_verb(enum kind k)
{
	return k == K_VERB || k == U_VERB || k == K_IF_EMPTY || k == U_IF_EMPTY;
}

static bool spec_publish(struct spec *s, const struct op *op, int number)
{
	bool fires, sol = op->type->arm;
	int k, room = ENTRIES - s->held, n = op->type->num;

	if (s->overrun)
		return !op->ret && !op->events && !op->overruns;
	if (op->overruns ? !op->full || op->added >= n : op->added != n)
		return false;
	n = op->added;
	if (room < n)
		return false;
	s->overrun = op->overruns;
	for (k = 0; k < n; k++)
		s->queue[s->held++] = 10 + 10 * (uint64_t)number + k;
	fires = s->arm == ANY || (s->arm == SOL && (sol || s->overrun));
	if (fires)
		s->arm = NONE;
	return op->events == fires && op->ret == !s->overrun;
}

static bool spec_take(struct spec *s, const struct op *op)
{
	int k, n = s->held < op->type->num ? s->held : op->type->num;

	if (op->ret != n)
		return false;
	for (k = 0; k < n; k++)
		if (op->id[k] != s->queue[k])
			return false;
	s->held -= n;
	memmove(s->queue, s->queue + n, s->held * sizeof(s->queue[0]));
	return true;
}

static bool spec_verb(struct spec *s, const struct op *op,
		      const struct place *p)
{
	bool takes = returns_entries(op->type->kind);

	/*
	 * A failure changes nothing. The kernel's twin fires an arm that it had
	 * taken if something was added meanwhile.
	 */
	if (op->ret < 0) {
		if (op->ret == -EIO ? s->held || !s->overrun :
				      op->type->fail == TW_FINE)
			return false;
		if (op->events > (p->early != NONE))
			return false;
		/* The provider cannot fire; with -EIO it only puts it back. */
		if (p->missed && !op->events && op->type->kind < U_VERB)
			return false;
		if (!op->events)
			s->arm = stronger(s->arm, p->early);
		return true;
	}
	if (op->events)
		return false;
	if (s->held) {
		s->arm = NONE;
		return takes ? spec_take(s, op) : op->ret == 1;
	}
	s->arm = stronger(stronger(s->arm, p->early), op->type->arm);
	return op->ret == 0 && !s->overrun;
}

static bool spec_run(struct spec *s, int i, const struct place *p)
{
	const struct op *op = &world.op[i];

	switch (op->type->kind) {
	case PUBLISH:
		return spec_publish(s, op, i);
	case U_POLL:
		if (!s->held)
			return op->ret == (s->overrun ? -EIO : 0);
		return spec_take(s, op);
	case K_NOTIFY:
		s->arm = stronger(s->arm, op->type->arm);
		return op->ret == 0;
	case U_ARM:
		s->arm = stronger(s->arm, op->type->arm);
		/* It looks for emptiness after the arm, to say that it is in vain. */
		return op->ret == 0 || (op->ret == -EIO && s->overrun);
	default:
		return spec_verb(s, op, p);
	}
}

static bool spec_ends(const struct spec *s)
{
	uint64_t w = world.ring.hdr.word;
	uint32_t held = (uint32_t)w - world.ring.hdr.cons;
	uint32_t i;

	if (s->held != (int)held || s->overrun != !!(w & RXE_ORDERED_CQ_OVERRUN) ||
	    s->arm != (w & RXE_ORDERED_CQ_ARM_MASK) >> RXE_ORDERED_CQ_ARM_SHIFT)
		return false;
	for (i = 0; i < held; i++)
		if (world.ring.entry[(world.ring.hdr.cons + i) % ENTRIES].wr_id !=
		    s->queue[i])
			return false;
	return true;
}

/*
 * Operation @i added something: what would it have fired, had it not been taken?
 * (An overrun that adds nothing goes by unnoticed: the index is what is compared.)
 */
static void note_missed(struct place place[MAX_OPS], int i)
{
	const struct op *op = &world.op[i];
	int j;

	if (op->type->kind != PUBLISH || !op->added)
		return;
	for (j = 0; j < nops; j++)
		if (place[j].early == ANY ||
		    (place[j].early == SOL && (op->type->arm || op->overruns)))
			place[j].missed = true;
}

/* Is there a sequence that goes on from @s and explains what happened? */
static bool explain(struct spec s, const struct place place[MAX_OPS], int left)
{
	int i, j, done = 0;

	if (!left)
		return spec_ends(&s);
	for (i = 0; i < nops; i++)
		done |= place[i].done << i;

	for (i = 0; i < nops; i++) {
		struct place next[MAX_OPS];
		struct spec after = s;

		if (place[i].done || world.op[i].before & ~done)
			continue;
		for (j = 0; j < nops; j++)
			next[j] = place[j];

		next[i].done = true;
		note_missed(next, i);
		if (spec_run(&after, i, &place[i]) && explain(after, next, left - 1))
			return true;
		if (!liberty)
			continue;
		if (!is_verb(world.op[i].type->kind) || s.arm == NONE ||
		    place[i].takes == 2)
			continue;
		next[i] = place[i];
		next[i].takes++;
		next[i].early = stronger(place[i].early, s.arm);
		after = s;
		after.arm = NONE;
		if (explain(after, next, left))
			return true;
	}
	return false;
}

/* --------------------------------------------------------------------- search */

static struct {
	uint64_t states, orders, liberties, sets;
} total;
static bool strict;
static int verbs;		/* in the set */

/*
 * Verbs at a time that are indivisible without the liberty, all arms being "any".
 * Without the second look at the consumer index in front of the disarm it is one:
 * a verb that loaded the index long ago and the word just now believes in entries
 * that are gone, and disarms an empty CQ before it notices.
 */
#ifndef STRICT_VERBS
#define STRICT_VERBS	4
#endif

#define SEEN_BITS	22
static uint64_t *seen;
static uint32_t seen_used, *seen_list;

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static uint64_t state_hash(void)
{
	uint64_t h = 1;
	int i, j;

	h = mix(h, world.ring.hdr.word);
	h = mix(h, world.ring.hdr.cons);
	h = mix(h, world.holder);
	for (i = 0; i < ENTRIES; i++)
		h = mix(h, world.ring.entry[i].wr_id);
	for (i = 0; i < nops; i++) {
		const struct op *op = &world.op[i];

		h = mix(h, op->used | op->done << 8 | op->before << 16 |
			   op->events << 24 | (uint64_t)op->overruns << 32 |
			   (uint64_t)op->added << 40 | (uint64_t)op->full << 48);
		for (j = 0; j < op->used; j++)
			h = mix(h, op->log[j]);
	}
	return h ? h : 1;
}

/* Return: it is new. */
static bool remember(uint64_t h)
{
	uint32_t i = h >> (64 - SEEN_BITS);

	for (; seen[i]; i = (i + 1) % (1U << SEEN_BITS))
		if (seen[i] == h)
			return false;
	if (seen_used > 3U << (SEEN_BITS - 2))
		FAIL("too many states\n");
	seen[i] = h;
	seen_list[seen_used++] = i;
	return true;
}

static void forget_all(void)
{
	while (seen_used)
		seen[seen_list[--seen_used]] = 0;
}

static void describe(void)
{
	int i;

	fprintf(stderr, "no sequence explains this. Held %d, arm %u; then\n",
		begin.held, begin.arm);
	for (i = 0; i < nops; i++) {
		const struct op *op = &world.op[i];

		fprintf(stderr, "  %d %s: returned %d", i, op->type->name, op->ret);
		if (returns_entries(op->type->kind) && op->ret > 0)
			fprintf(stderr, " (first is %llu)",
				(unsigned long long)op->id[0]);
		fprintf(stderr, ", %d events, %d overruns, after the end of {",
			op->events, op->overruns);
		for (int j = 0; j < nops; j++)
			if (op->before >> j & 1)
				fprintf(stderr, " %d", j);
		fprintf(stderr, " }\n");
	}
	fprintf(stderr, "leaves held %d, word %#llx\n",
		(int)((uint32_t)world.ring.hdr.word - world.ring.hdr.cons),
		(unsigned long long)world.ring.hdr.word);
}

static void judge(void)
{
	struct place place[MAX_OPS] = {};
	struct spec s = { .held = begin.held, .arm = begin.arm };
	int i;

	for (i = 0; i < s.held; i++)
		s.queue[i] = 1 + i;
	total.orders++;
	liberty = false;
	if (explain(s, place, nops))
		return;
	liberty = true;
	total.liberties++;
	if (!(strict && verbs <= STRICT_VERBS) && explain(s, place, nops))
		return;
	describe();
	exit(1);
}

/* What changes in a step, less than the whole world. */
struct saved {
	struct rxe_ordered_cq_hdr hdr;
	struct rxe_ordered_wc entry[ENTRIES];
	struct tw_private priv;
	int holder;
	struct op op;
};

static void search(void)
{
	struct saved s;
	bool ended = true;
	int i;

	total.states++;
	s.hdr = world.ring.hdr;
	memcpy(s.entry, world.ring.entry, sizeof(s.entry));
	s.priv = twk_private();
	s.holder = world.holder;
	for (i = 0; i < nops; i++) {
		ended &= world.op[i].done;
		s.op = world.op[i];
		if (!advance(i))
			continue;
		if (remember(state_hash()))
			search();
		world.ring.hdr = s.hdr;
		memcpy(world.ring.entry, s.entry, sizeof(s.entry));
		twk_set_private(s.priv);
		world.holder = s.holder;
		world.op[i] = s.op;
	}
	if (ended)
		judge();
}

static void search_set(const struct op_type *const type[], int n, int held,
		       unsigned int arm)
{
	int i;

	nops = n;
	begin.held = held;
	begin.arm = arm;
	memset(&world, 0, sizeof(world));
	twk_init(&world.ring, ENTRIES, START);
	twu_init(&world.ring, ENTRIES);
	for (i = 0; i < held; i++)
		twk_publish(1 + i, 1, false);
	if (arm)
		twu_arm(arm);
	memset(world.op, 0, sizeof(world.op));
	for (i = verbs = 0; i < n; i++) {
		world.op[i].type = type[i];
		verbs += is_verb(type[i]->kind);
	}

	searching = true;
	search();
	searching = false;
	forget_all();
	total.sets++;
}

/* Every multiset of @n operations, from each state of the CQ. */
static void search_all(const struct op_type *types, int ntypes, int n,
		       unsigned int max_arm)
{
	const struct op_type *set[MAX_OPS];
	int at[MAX_OPS] = {}, i, held;
	unsigned int arm;

	for (;;) {
		for (i = 0; i < n; i++)
			set[i] = &types[at[i]];
		for (held = 0; held <= ENTRIES; held++)
			for (arm = NONE; arm <= max_arm; arm++)
				/* Verb-only use never leaves "any" on entries. */
				if (!strict || !held || arm == NONE)
					search_set(set, n, held, arm);
		for (i = n - 1; i >= 0 && at[i] == ntypes - 1; i--)
			;
		if (i < 0)
			return;
		for (at[i]++; ++i < n;)
			at[i] = at[i - 1];
	}
}

static bool everything;

#define LENGTH(a)	((int)(sizeof(a) / sizeof((a)[0])))

static void report(const char *what)
{
	printf("ok %-34s %llu sets, %llu states, %llu outcomes, %llu need a liberty\n",
	       what, (unsigned long long)total.sets,
	       (unsigned long long)total.states,
	       (unsigned long long)total.orders,
	       (unsigned long long)total.liberties);
	fflush(stdout);
	memset(&total, 0, sizeof(total));
}

/* Verb-only use, all arms "any". */
static void test_strict(void)
{
	static const struct op_type types[] = {
		{ "publish", PUBLISH, 1, 1, TW_FINE },
		{ "kernel verb 1", K_VERB, ANY, 1, TW_FINE },
		{ "kernel verb 2", K_VERB, ANY, 2, TW_FINE },
		{ "kernel rearm_if_empty", K_IF_EMPTY, ANY, 1, TW_FINE },
		{ "user verb 1", U_VERB, ANY, 1, TW_FINE },
		{ "user verb 2", U_VERB, ANY, 2, TW_FINE },
		{ "user rearm_if_empty", U_IF_EMPTY, ANY, 1, TW_FINE },
	};
	/* Where four are too many to be quick. */
	static const struct op_type few[] = {
		{ "publish", PUBLISH, 1, 1, TW_FINE },
		{ "kernel verb 1", K_VERB, ANY, 1, TW_FINE },
		{ "user verb 2", U_VERB, ANY, 2, TW_FINE },
		{ "user rearm_if_empty", U_IF_EMPTY, ANY, 1, TW_FINE },
	};
	int n;

	strict = true;
	for (n = 1; n <= 3; n++)
		search_all(types, LENGTH(types), n, ANY);
	report("verb-only, any, up to 3");
	if (everything)
		search_all(types, LENGTH(types), 4, ANY);
	else
		search_all(few, LENGTH(few), 4, ANY);
	report("verb-only, any, 4");
	strict = false;
}

static void test_everything(void)
{
	static const struct op_type types[] = {
		{ "publish", PUBLISH, 0, 1, TW_FINE },
		{ "publish solicited", PUBLISH, 1, 1, TW_FINE },
		{ "publish two", PUBLISH, 1, 2, TW_FINE },
		{ "kernel verb any", K_VERB, ANY, 2, TW_FINE },
		{ "kernel verb solicited", K_VERB, SOL, 1, TW_FINE },
		{ "kernel verb with a fault", K_VERB, ANY, 1, TW_FAULT },
		{ "kernel verb killed", K_VERB, SOL, 1, TW_KILLED },
		{ "kernel rearm_if_empty solicited", K_IF_EMPTY, SOL, 1, TW_FINE },
		{ "kernel notify any", K_NOTIFY, ANY, 0, TW_FINE },
		{ "user verb any", U_VERB, ANY, 1, TW_FINE },
		{ "user verb solicited", U_VERB, SOL, 2, TW_FINE },
		{ "user rearm_if_empty solicited", U_IF_EMPTY, SOL, 1, TW_FINE },
		{ "user poll", U_POLL, NONE, 1, TW_FINE },
		{ "user arm any", U_ARM, ANY, 0, TW_FINE },
		{ "user arm solicited", U_ARM, SOL, 0, TW_FINE },
	};
	int n;

	for (n = 1; n <= 3; n++)
		search_all(types, LENGTH(types), n, ANY);
	report("every entry point, up to 3");
}

static void test_four(void)
{
	static const struct op_type types[] = {
		{ "publish solicited", PUBLISH, 1, 1, TW_FINE },
		{ "kernel verb any", K_VERB, ANY, 2, TW_FINE },
		{ "user verb solicited", U_VERB, SOL, 1, TW_FINE },
		{ "user poll", U_POLL, NONE, 1, TW_FINE },
		{ "user arm any", U_ARM, ANY, 0, TW_FINE },
	};

	search_all(types, LENGTH(types), 4, everything ? ANY : NONE);
	report("every entry point, 4");
}

int main(int argc, char **argv)
{
	everything = argc > 1 && !strcmp(argv[1], "all");
	seen = calloc(1U << SEEN_BITS, sizeof(*seen));
	seen_list = calloc(1U << SEEN_BITS, sizeof(*seen_list));
	if (!seen || !seen_list)
		return 1;
	test_strict();
	test_everything();
	test_four();
	free(seen);
	free(seen_list);
	printf("3 passed, 0 failed, 0 skipped\n");
	return 0;
}
