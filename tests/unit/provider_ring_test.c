// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unit test of providers/rxe_ordered/rxo_ring.h, against a model of the device.
 *
 *   cc -std=gnu11 -O1 -g -Wall -Wextra -Werror -pthread -fsanitize=thread \
 *      -Iuapi -Iproviders/rxe_ordered tests/unit/provider_ring_test.c \
 *      -o /tmp/provider_ring_test && /tmp/provider_ring_test
 *
 * (from the top of the tree; without -fsanitize=thread it runs more laps per
 * second). Optional argument: completions per threaded case, default 100000.
 *
 * The device is one thread that publishes as rxe_ordered-abi.h says: entry
 * first, then one compare-and-swap that advances the index and takes or keeps
 * the arm. Events go through a queue with a mutex, as a completion channel does.
 *
 * What must not be touched by two threads at once under the verb (I4) is kept
 * in plain variables on purpose: ThreadSanitizer then proves ownership too.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* One preemption: see test_preempted(). */
static _Thread_local int step_left = -1;
static _Thread_local void (*step_action)(void);
static void ring_step(void)
{
	if (step_left >= 0 && step_left-- == 0)
		step_action();
}
#define RXO_RING_STEP()	ring_step()

#include "rxo_ring.h"

#define ENTRIES		64
#define MAX_THREADS	8
#define BATCH		7

/* Same layout as struct ibv_wc, which this test does without. */
struct wc {
	uint64_t wr_id;
	uint32_t status, opcode, vendor_err, byte_len, imm, qp_num, src_qp;
	uint32_t wc_flags, zero[2];
};
static_assert(sizeof(struct wc) == RXO_WC_BYTES, "one completion");

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, \
				__func__, #cond);                              \
			exit(1);                                               \
		}                                                              \
	} while (0)

/* -------------------------------------------------------------- the device */

struct device {
	struct rxe_ordered_cq_hdr hdr;
	struct rxe_ordered_wc slots[ENTRIES];
	struct rxo_cq_ring ring;
	uint32_t prod;		/* private: never read back from the page */
	uint64_t seq;		/* number of completions added */

	pthread_mutex_t lock;	/* guards the three below */
	pthread_cond_t cond;
	uint64_t events, pending;
	bool done;
};

static struct device *dev_new(uint32_t start)
{
	struct device *d = aligned_alloc(64, (sizeof(*d) + 63) / 64 * 64);

	CHECK(d);
	memset(d, 0, sizeof(*d));
	static_assert(offsetof(struct device, slots) ==
		      RXE_ORDERED_RING_HDR_SIZE, "entries follow the header");
	rxo_cq_ring_init(&d->ring, d, ENTRIES);
	d->prod = start;
	d->hdr.word = start;
	d->hdr.cons = start;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->cond, NULL);
	return d;
}

static void dev_free(struct device *d)
{
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->cond);
	free(d);
}

static void dev_event(struct device *d)
{
	pthread_mutex_lock(&d->lock);
	d->events++;
	d->pending++;
	pthread_cond_signal(&d->cond);
	pthread_mutex_unlock(&d->lock);
}

static uint32_t dev_held(struct device *d)
{
	return d->prod - atomic_load_explicit(d->ring.cons,
					      memory_order_acquire);
}

/* Add one completion. Return: an event was produced. */
static bool dev_publish(struct device *d, bool solicited)
{
	_Atomic uint64_t *e = d->ring.cqe +
			      (size_t)(d->prod % ENTRIES) * RXO_CQE_WORDS;
	uint64_t w, new;
	unsigned int i;
	bool fire;

	CHECK(dev_held(d) < ENTRIES);
	/* All used words carry the number, so a torn copy cannot hide. */
	for (i = 0; i < RXO_CQE_USED_WORDS; i++)
		atomic_store_explicit(&e[i], d->seq, memory_order_relaxed);
	d->seq++;
	d->prod++;

	w = atomic_load_explicit(d->ring.word, memory_order_relaxed);
	do {
		fire = rxo_word_arm(w) == RXE_ORDERED_ARM_ANY ||
		       (rxo_word_arm(w) == RXE_ORDERED_ARM_SOLICITED &&
			solicited);
		new = (w & ~RXE_ORDERED_CQ_PROD_MASK) | d->prod;
		if (fire)
			new = rxo_word_with_arm(new, RXE_ORDERED_ARM_NONE);
	} while (!atomic_compare_exchange_weak_explicit(
		d->ring.word, &w, new, memory_order_acq_rel,
		memory_order_relaxed));

	if (fire)
		dev_event(d);
	return fire;
}

static void dev_done(struct device *d)
{
	pthread_mutex_lock(&d->lock);
	d->done = true;
	pthread_cond_broadcast(&d->cond);
	pthread_mutex_unlock(&d->lock);
}

/* Return: an event was taken; false when there will be none any more. */
static bool dev_wait_event(struct device *d)
{
	bool got;

	pthread_mutex_lock(&d->lock);
	while (!d->pending && !d->done)
		pthread_cond_wait(&d->cond, &d->lock);
	got = d->pending;
	if (got)
		d->pending--;
	pthread_mutex_unlock(&d->lock);
	return got;
}

static unsigned int dev_arm(struct device *d)
{
	return rxo_word_arm(atomic_load(d->ring.word));
}

static bool wc_is(const struct wc *wc, uint64_t n)
{
	const uint64_t *w = (const void *)wc;
	unsigned int i;

	for (i = 0; i < RXO_CQE_USED_WORDS; i++)
		if (w[i] != n)
			return false;
	return w[RXO_CQE_USED_WORDS] == 0;
}

/* ------------------------------------------------------------ one at a time */

enum { NONE = RXE_ORDERED_ARM_NONE, SOL = RXE_ORDERED_ARM_SOLICITED,
       ANY = RXE_ORDERED_ARM_ANY };

/* I1 for every state of the word, wrap-around of the index included. */
static void test_verb_table(uint32_t start)
{
	struct wc wc[ENTRIES];
	int held, arm, want, num;

	for (held = 0; held <= ENTRIES; held += 1 + held / 3 * 2)
	for (arm = NONE; arm <= ANY; arm++)
	for (want = SOL; want <= ANY; want++)
	for (num = 1; num <= ENTRIES; num *= 4) {
		struct device *d = dev_new(start);
		int i, n, expect = held < num ? held : num;

		for (i = 0; i < held; i++)
			dev_publish(d, false);
		if (arm)
			CHECK(rxo_cq_arm(&d->ring, arm) == 0);

		/* What holds something is disarmed and keeps its contents. */
		if (held) {
			CHECK(rxo_cq_rearm_if_empty(&d->ring, want) == 1);
			CHECK(dev_arm(d) == NONE);
			if (arm)
				CHECK(rxo_cq_arm(&d->ring, arm) == 0);
		}

		n = rxo_cq_poll_rearm(&d->ring, num, wc, want);
		CHECK(n == expect);
		for (i = 0; i < n; i++)
			CHECK(wc_is(&wc[i], i));
		CHECK(dev_arm(d) == (n ? NONE : rxo_arm_max(arm, want)));

		/* The rest comes in order, then it is empty, then armed. */
		for (; n < held; n += i) {
			i = rxo_cq_poll(&d->ring, 3, wc);
			CHECK(i > 0 && wc_is(&wc[0], n));
		}
		CHECK(rxo_cq_poll(&d->ring, 3, wc) == 0);
		CHECK(rxo_cq_rearm_if_empty(&d->ring, want) == 0);
		CHECK(dev_arm(d) >= (unsigned int)want);
		CHECK(d->events == 0);
		dev_free(d);
	}
}

/* B03: any, then solicited stays any; solicited, then any becomes any. */
static void test_arm_strength(void)
{
	int first, second, how;
	struct wc wc[1];

	for (how = 0; how < 3; how++)
	for (first = SOL; first <= ANY; first++)
	for (second = SOL; second <= ANY; second++) {
		struct device *d = dev_new(0);
		bool fires = first == ANY || second == ANY;

		CHECK(rxo_cq_arm(&d->ring, first) == 0);
		if (how == 0)
			CHECK(rxo_cq_arm(&d->ring, second) == 0);
		if (how == 1)
			CHECK(!rxo_cq_poll_rearm(&d->ring, 1, wc, second));
		if (how == 2)
			CHECK(!rxo_cq_rearm_if_empty(&d->ring, second));
		CHECK(dev_publish(d, false) == fires);
		CHECK(dev_publish(d, true) == !fires);
		CHECK(d->events == 1);
		dev_free(d);
	}
}

/* B04: arming an idle CQ again and again, then one completion: one event. */
static void test_arm_again_and_again(void)
{
	struct device *d = dev_new(UINT32_MAX);
	struct wc wc[1];
	int i;

	for (i = 0; i < 1000; i++) {
		CHECK(rxo_cq_arm(&d->ring, ANY) == 0);
		CHECK(rxo_cq_poll_rearm(&d->ring, 1, wc, ANY) == 0);
		CHECK(rxo_cq_rearm_if_empty(&d->ring, ANY) == 0);
	}
	CHECK(dev_publish(d, false));
	CHECK(!dev_publish(d, false));
	CHECK(d->events == 1);
	CHECK(rxo_cq_poll_rearm(&d->ring, 1, wc, ANY) == 1 && wc_is(wc, 0));
	dev_free(d);
}

/* Overrun: what is there is returned, then -EIO, and the arm is not touched. */
static void test_overrun(void)
{
	unsigned int arm;

	for (arm = NONE; arm <= ANY; arm++) {
		struct device *d = dev_new(7);
		struct wc wc[4];

		dev_publish(d, false);
		if (arm)
			rxo_cq_arm(&d->ring, arm);
		atomic_fetch_or(d->ring.word, RXE_ORDERED_CQ_OVERRUN);
		CHECK(rxo_cq_arm(&d->ring, SOL) == 0);
		CHECK(rxo_cq_rearm_if_empty(&d->ring, ANY) == 1);
		CHECK(rxo_cq_poll_rearm(&d->ring, 4, wc, ANY) == 1);
		CHECK(dev_arm(d) == NONE);

		if (arm)
			atomic_fetch_or(d->ring.word,
					rxo_word_with_arm(0, arm));
		CHECK(rxo_cq_poll_rearm(&d->ring, 4, wc, ANY) == -EIO);
		CHECK(rxo_cq_rearm_if_empty(&d->ring, ANY) == -EIO);
		CHECK(rxo_cq_poll(&d->ring, 4, wc) == -EIO);
		CHECK(dev_arm(d) == arm);
		CHECK(rxo_cq_arm(&d->ring, ANY) == -EIO);
		dev_free(d);
	}
}

/* A page that somebody scribbled on: an error, no read past the ring. */
static void test_damage(void)
{
	uint32_t bad[] = { ENTRIES + 1, 1U << 31, UINT32_MAX };
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct device *d = dev_new(100);
		struct wc wc[ENTRIES];

		rxo_cq_arm(&d->ring, ANY);
		atomic_store(d->ring.word,
			     rxo_word_with_arm((uint32_t)(100 + bad[i]), ANY));
		CHECK(rxo_cq_poll(&d->ring, ENTRIES, wc) == -EIO);
		CHECK(rxo_cq_poll_rearm(&d->ring, ENTRIES, wc, ANY) == -EIO);
		CHECK(rxo_cq_rearm_if_empty(&d->ring, ANY) == -EIO);
		CHECK(dev_arm(d) == ANY);
		dev_free(d);
	}
}

static void test_wq(void)
{
	static _Alignas(64) unsigned char page[RXE_ORDERED_RING_HDR_SIZE + 4 * 32];
	struct rxo_wq_ring r;
	uint32_t i, start = UINT32_MAX - 1;

	rxo_wq_ring_init(&r, page, 4, 32);
	atomic_store(r.prod, start);
	atomic_store(r.cons, start);
	for (i = 0; i < 10; i++) {
		uint32_t p = rxo_wq_begin(&r);

		CHECK(p == start + i);
		if (i >= 4) {
			CHECK(rxo_wq_full(&r, p));
			atomic_fetch_add(r.cons, 1);
		}
		CHECK(!rxo_wq_full(&r, p));
		CHECK(rxo_wq_slot(&r, p) ==
		      page + RXE_ORDERED_RING_HDR_SIZE + (p & 3) * 32);
		rxo_wq_publish(&r, p + 1);
	}
}

/* ----------------------------------------------------------- one preemption */

/*
 * Every operation, interrupted before each of its accesses by every sequence of
 * up to three others. The outcome must be that of a model which runs them one
 * after the other, with the interrupted one (the outer) at some place among the
 * inner ones.
 *
 * The model of a verb has one liberty: it may take the arm off early, at an
 * instant when the queue holds something, and must then not end weaker than
 * what it took if it finds the queue empty. So a completion that is added
 * between may go unannounced, but it is then returned to somebody.
 */
enum op { OP_POLL, OP_VERB_SOL, OP_VERB_ANY, OP_IF_EMPTY_SOL, OP_IF_EMPTY_ANY,
	  OP_ARM_SOL, OP_ARM_ANY, OP_ADD, OP_ADD_SOL, OP_COUNT };

#define MAX_INNER	3

struct outcome {
	int held, events;
	unsigned int arm;
	int outer, inner[MAX_INNER];	/* results */
};

static unsigned int op_arm(enum op op)
{
	return op == OP_VERB_SOL || op == OP_IF_EMPTY_SOL || op == OP_ARM_SOL ?
	       SOL : ANY;
}

static int model_run(struct outcome *s, enum op op, unsigned int removed)
{
	int n = s->held;
	bool fire;

	switch (op) {
	case OP_VERB_SOL:
	case OP_VERB_ANY:
	case OP_IF_EMPTY_SOL:
	case OP_IF_EMPTY_ANY:
		s->arm = n ? NONE : rxo_arm_max(rxo_arm_max(s->arm, removed),
						op_arm(op));
		if (op > OP_VERB_ANY)
			return n > 0;
		/* fall through */
	case OP_POLL:
		s->held -= n > 0;
		return n > 0;
	case OP_ARM_SOL:
	case OP_ARM_ANY:
		s->arm = rxo_arm_max(s->arm, op_arm(op));
		return 0;
	default:
		fire = s->arm == ANY || (s->arm == SOL && op == OP_ADD_SOL);
		s->held++;
		s->events += fire;
		s->arm = fire ? NONE : s->arm;
		return fire;
	}
}

static int real_run(struct device *d, enum op op)
{
	struct wc wc[1];

	switch (op) {
	case OP_POLL:
		return rxo_cq_poll(&d->ring, 1, wc);
	case OP_VERB_SOL:
	case OP_VERB_ANY:
		return rxo_cq_poll_rearm(&d->ring, 1, wc, op_arm(op));
	case OP_IF_EMPTY_SOL:
	case OP_IF_EMPTY_ANY:
		return rxo_cq_rearm_if_empty(&d->ring, op_arm(op));
	case OP_ARM_SOL:
	case OP_ARM_ANY:
		return rxo_cq_arm(&d->ring, op_arm(op));
	default:
		return dev_publish(d, op == OP_ADD_SOL);
	}
}

static struct {
	struct device *d;
	enum op op[MAX_INNER];
	int n, ret[MAX_INNER];
	bool ran;
} inner;

static void inner_run(void)
{
	int i;

	inner.ran = true;
	for (i = 0; i < inner.n; i++)
		inner.ret[i] = real_run(inner.d, inner.op[i]);
}

/* One run of the model: the outer one at place @at, disarming at @early. */
static bool model_gives(const struct outcome *got, struct outcome s,
			enum op outer, int at, int early)
{
	unsigned int removed = NONE;
	int i;

	for (i = 0; i <= inner.n; i++) {
		if (i == early && i < at && s.held) {
			removed = s.arm;
			s.arm = NONE;
		}
		if (i == at && model_run(&s, outer, removed) != got->outer)
			return false;
		if (i < inner.n && model_run(&s, inner.op[i], NONE) !=
				   got->inner[i])
			return false;
	}
	return s.held == got->held && s.events == got->events &&
	       s.arm == got->arm;
}

static bool model_allows(const struct outcome *got, struct outcome start,
			 enum op outer)
{
	bool verb = outer >= OP_VERB_SOL && outer <= OP_IF_EMPTY_ANY;
	int at, early;

	for (at = 0; at <= inner.n; at++)
		for (early = verb ? 0 : at; early <= at; early++)
			if (model_gives(got, start, outer, at, early))
				return true;
	return false;
}

static void dev_restart(struct device *d, int held, unsigned int arm)
{
	uint32_t start = UINT32_MAX;

	d->prod = start;
	d->seq = 0;
	d->events = d->pending = 0;
	atomic_store(d->ring.cons, start);
	atomic_store(d->ring.word, start);
	while (held--)
		dev_publish(d, false);
	if (arm)
		rxo_cq_arm(&d->ring, arm);
}

/* Return: the outer operation has a step of this number. */
static bool preempt_once(int held, unsigned int arm, enum op outer, int step)
{
	struct device *d = inner.d;
	struct outcome got, start = { .held = held, .arm = arm };

	dev_restart(d, held, arm);
	inner.ran = false;
	step_action = inner_run;
	step_left = step;
	got.outer = real_run(d, outer);
	step_left = -1;
	if (!inner.ran)
		return false;

	memcpy(got.inner, inner.ret, sizeof(got.inner));
	got.held = (int)dev_held(d);
	got.events = (int)d->events;
	got.arm = dev_arm(d);
	if (model_allows(&got, start, outer))
		return true;

	fprintf(stderr, "held %d, arm %u, operation %d, at step %d then %d %d %d (%d of them): returns %d, leaves held %d, events %d, arm %u: no order gives that\n",
		held, arm, outer, step, inner.op[0], inner.op[1], inner.op[2],
		inner.n, got.outer, got.held, got.events, got.arm);
	exit(1);
}

static void test_preempted(void)
{
	int held, step, outer, seq, i, rest, cases = 0;
	int all = OP_COUNT * OP_COUNT * OP_COUNT;
	unsigned int arm;

	inner.d = dev_new(0);
	for (inner.n = 1; inner.n <= MAX_INNER; inner.n++)
	for (seq = 0; seq < all; seq++) {
		for (i = 0, rest = seq; i < MAX_INNER; i++, rest /= OP_COUNT)
			inner.op[i] = rest % OP_COUNT;
		for (i = inner.n; i < MAX_INNER && !inner.op[i]; i++)
			;
		if (i < MAX_INNER)
			continue;	/* same as a shorter sequence */

		for (outer = 0; outer < OP_ADD; outer++)
		for (held = 0; held <= 2; held++)
		for (arm = NONE; arm <= ANY; arm++) {
			for (step = 0; preempt_once(held, arm, outer, step);
			     step++)
				cases++;
			CHECK(step > 0);
		}
	}
	dev_free(inner.d);
	printf("ok %d preemptions\n", cases);
}

/* ---------------------------------------------------------------- threaded */

struct run {
	struct device *d;
	uint64_t total;
	unsigned int want;		/* arm the owners ask for */
	bool mixed;			/* pollers and armers interfere */
	_Atomic unsigned char *seen;
	atomic_uint_fast64_t consumed, zeros, empty_wakeups;
	atomic_bool stop;

	/* Of the owner, and of nobody else: no atomics (I4). */
	uint64_t next;
	bool busy;
};

static uint32_t next_random(uint32_t *s)
{
	*s = *s * 1664525 + 1013904223;
	return *s >> 8;
}

static atomic_uint seeds;	/* one for each thread */

/* Somebody holds a completion for a while. */
static void hold(uint32_t *seed)
{
	struct timespec t = { .tv_nsec = 20000 };
	uint32_t r = next_random(seed) % 64;

	if (r == 0)
		nanosleep(&t, NULL);
	else if (r < 8)
		sched_yield();
}

static void count(struct run *run, const struct wc *wc, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		CHECK(wc[i].wr_id < run->total && wc_is(&wc[i], wc[i].wr_id));
		CHECK(atomic_fetch_add(&run->seen[wc[i].wr_id], 1) == 0);
	}
	atomic_fetch_add(&run->consumed, n);
}

static void *device_thread(void *arg)
{
	struct run *run = arg;
	struct device *d = run->d;
	uint32_t seed = 1;

	while (d->seq < run->total) {
		uint32_t burst = 1 + next_random(&seed) % 5;

		for (; burst && d->seq < run->total; burst--) {
			/*
			 * With a solicited arm nobody comes before such a one,
			 * so there is one before the ring is full and at the
			 * end.
			 */
			bool sol = d->seq == run->total - 1 ||
				   dev_held(d) >= ENTRIES / 2 ||
				   next_random(&seed) % 16 == 0;

			while (dev_held(d) == ENTRIES)
				sched_yield();
			dev_publish(d, sol);
		}
		hold(&seed);
	}
	return NULL;
}

/* The consumer loop of rxodv.h. */
static void *owner_thread(void *arg)
{
	struct run *run = arg;
	struct wc wc[BATCH];
	uint32_t seed = atomic_fetch_add(&seeds, 1);
	int n, i, calls;

	while (dev_wait_event(run->d)) {
		for (calls = 0;; calls++) {
			n = rxo_cq_poll_rearm(&run->d->ring, BATCH, wc,
					      run->want);
			CHECK(n >= 0);
			if (n == 0)
				break;
			if (!run->mixed) {
				CHECK(!run->busy);
				run->busy = true;
			}
			hold(&seed);
			for (i = 0; !run->mixed && i < n; i++)
				CHECK(wc[i].wr_id == run->next++);
			count(run, wc, n);
			/* Ends before the call that may arm. */
			if (!run->mixed)
				run->busy = false;
		}
		atomic_fetch_add(&run->zeros, 1);
		if (calls == 0)
			atomic_fetch_add(&run->empty_wakeups, 1);
	}
	return NULL;
}

/* Everything at once, as a hostile or careless program would. */
static void *chaos_thread(void *arg)
{
	struct run *run = arg;
	struct wc wc[BATCH];
	uint32_t seed = atomic_fetch_add(&seeds, 1);
	int n;

	while (!atomic_load(&run->stop)) {
		switch (next_random(&seed) % 5) {
		case 0:
			n = rxo_cq_poll(&run->d->ring, BATCH, wc);
			break;
		case 1:
			n = rxo_cq_poll_rearm(&run->d->ring, BATCH, wc, SOL);
			break;
		case 2:
			n = rxo_cq_rearm_if_empty(&run->d->ring, ANY);
			CHECK(n == 0 || n == 1);
			continue;
		case 3:
			CHECK(rxo_cq_arm(&run->d->ring, SOL) == 0);
			continue;
		default:
			CHECK(rxo_cq_arm(&run->d->ring, ANY) == 0);
			continue;
		}
		CHECK(n >= 0);
		count(run, wc, n);
		hold(&seed);
	}
	return NULL;
}

static void wait_consumed(struct run *run, const char *what)
{
	struct timespec t = { .tv_nsec = 1000000 };
	uint64_t last = 0, now;
	int idle = 0;

	while ((now = atomic_load(&run->consumed)) < run->total) {
		idle = now == last ? idle + 1 : 0;
		last = now;
		if (idle > 20000) {
			fprintf(stderr, "%s: stuck at %llu of %llu: a wake-up was lost\n",
				what, (unsigned long long)now,
				(unsigned long long)run->total);
			exit(1);
		}
		nanosleep(&t, NULL);
	}
}

static void test_threads(const char *what, uint64_t total, int nthreads,
			 unsigned int want, bool mixed)
{
	struct run run = { .total = total, .want = want, .mixed = mixed };
	pthread_t device, thread[MAX_THREADS];
	struct wc wc[BATCH];
	int i, chaos = mixed ? nthreads / 2 : 0;
	uint64_t k;

	run.d = dev_new(UINT32_MAX - (uint32_t)total / 2);
	run.seen = calloc(total, 1);
	CHECK(run.seen);
	/* The creator owns the CQ and gives it up. */
	CHECK(rxo_cq_poll_rearm(&run.d->ring, BATCH, wc, want) == 0);

	for (i = 0; i < nthreads; i++)
		CHECK(!pthread_create(&thread[i], NULL, i < chaos ?
				      chaos_thread : owner_thread, &run));
	CHECK(!pthread_create(&device, NULL, device_thread, &run));
	pthread_join(device, NULL);
	wait_consumed(&run, what);
	atomic_store(&run.stop, true);
	dev_done(run.d);
	for (i = 0; i < nthreads; i++)
		pthread_join(thread[i], NULL);

	CHECK(rxo_cq_poll(&run.d->ring, BATCH, wc) == 0);
	for (k = 0; k < run.total; k++)
		CHECK(run.seen[k] == 1);
	if (!mixed) {
		/* I2: an event for an arm; the last arm is still there. */
		CHECK(run.d->events <= run.zeros + 1);
		CHECK(run.d->pending == 0);
		CHECK(run.empty_wakeups == 0);
		CHECK(dev_arm(run.d) == want);
	}
	printf("ok %-28s %d threads, %llu completions, %llu events, %llu empty wake-ups\n",
	       what, nthreads, (unsigned long long)run.total,
	       (unsigned long long)run.d->events,
	       (unsigned long long)run.empty_wakeups);
	free((void *)run.seen);
	dev_free(run.d);
}

int main(int argc, char **argv)
{
	uint64_t total = argc > 1 ? strtoull(argv[1], NULL, 0) : 100000;
	int n;

	test_verb_table(0);
	test_verb_table(UINT32_MAX - 5);
	test_arm_strength();
	test_arm_again_and_again();
	test_overrun();
	test_damage();
	test_wq();
	printf("ok tables\n");
	test_preempted();

	for (n = 1; n <= MAX_THREADS; n *= 2)
		test_threads("verb, any", total, n, ANY, false);
	test_threads("verb, solicited only", total, 4, SOL, false);
	for (n = 2; n <= MAX_THREADS; n *= 2)
		test_threads("all entry points at once", total, n, ANY, true);
	return 0;
}
