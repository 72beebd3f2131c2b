// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's and the provider's twin on one ring, with real threads, under
 * ThreadSanitizer: a producer, and consumers of which every second one calls the
 * kernel's verb. First owners only, then every entry point at once.
 *
 * What belongs to the owner, and what the device wrote before it published, is
 * in plain variables on purpose: the sanitizer then checks ownership (I4) and
 * the barriers from publish to consumer, too.
 *
 * Optional argument: completions in each case, default 20000.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ring_twins.h"

#define ENTRIES		16
#define THREADS		4
#define BATCH		5

/*
 * An entry is stored plainly while a consumer may copy it whose swap will fail.
 * Torn copies that are used after all have a number that does not exist.
 */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "race:rxo_cq_encode\n";
}

enum { SOL = RXE_ORDERED_ARM_SOLICITED, ANY = RXE_ORDERED_ARM_ANY };

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, \
				__func__, #cond);                              \
			exit(1);                                               \
		}                                                              \
	} while (0)

static struct tw_ring ring;
static unsigned int total;
static unsigned int *payload;	/* written before number i is published */
static atomic_uchar *seen;
static atomic_uint consumed, zeros, empty_wakeups, all_events;
static atomic_bool stop;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static unsigned int pending;	/* guarded by lock */

static uint64_t next;		/* of the owner, and of nobody else */
static bool busy;

void tw_overrun(void)
{
	CHECK(!"overrun");
}

void tw_event(void)
{
	atomic_fetch_add(&all_events, 1);
	pthread_mutex_lock(&lock);
	pending++;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&lock);
}

static bool wait_event(void)
{
	bool got;

	pthread_mutex_lock(&lock);
	while (!pending && !atomic_load(&stop))
		pthread_cond_wait(&cond, &lock);
	got = pending;
	pending -= got;
	pthread_mutex_unlock(&lock);
	return got;
}

static uint32_t random_of(uint32_t *s)
{
	*s = *s * 1664525 + 1013904223;
	return *s >> 8;
}

static void hold(uint32_t *seed)
{
	struct timespec t = { .tv_nsec = 10000 };
	uint32_t r = random_of(seed) % 128;

	if (r == 0)
		nanosleep(&t, NULL);
	else if (r < 16)
		sched_yield();
}

static void *device(void *arg)
{
	uint32_t seed = 1, room;
	unsigned int i, n;

	(void)arg;
	for (i = 0; i < total; i += n) {
		n = 1 + random_of(&seed) % 2;
		if (n > total - i)
			n = total - i;
		do {
			uint32_t cons = __atomic_load_n(&ring.hdr.cons,
							__ATOMIC_ACQUIRE);

			room = ENTRIES - (twk_private().prod - cons);
		} while (room < n && !sched_yield());
		payload[i] = i;
		payload[i + n - 1] = i + n - 1;
		/* Nobody comes for what is not solicited: some have to be. */
		CHECK(twk_publish(i, n, room < ENTRIES / 2 || i + n == total ||
				  random_of(&seed) % 8 == 0));
		hold(&seed);
	}
	return NULL;
}

static void count(const struct tw_got *got, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		CHECK(got->id[i] < total);
		CHECK(payload[got->id[i]] == got->id[i]);
		CHECK(atomic_fetch_add(&seen[got->id[i]], 1) == 0);
	}
	atomic_fetch_add(&consumed, n);
}

struct consumer {
	pthread_t thread;
	int number;
	unsigned int arm;
	bool mixed;
};

static int verb(const struct consumer *c, struct tw_got *got)
{
	return c->number % 2 ? twk_verb(BATCH, c->arm, got, TW_FINE) :
			       twu_verb(BATCH, c->arm, got);
}

/* Owners: the consumer loop of the contract. */
static void *owner(void *arg)
{
	const struct consumer *c = arg;
	uint32_t seed = c->number;
	struct tw_got got;
	int n, i, calls;

	while (wait_event()) {
		for (calls = 0; (n = verb(c, &got)) > 0; calls++) {
			if (!c->mixed) {
				CHECK(!busy);
				busy = true;
				for (i = 0; i < n; i++)
					CHECK(got.id[i] == next++);
			}
			hold(&seed);
			count(&got, n);
			if (!c->mixed)
				busy = false;
		}
		CHECK(n == 0);
		atomic_fetch_add(&zeros, 1);
		atomic_fetch_add(&empty_wakeups, !calls);
	}
	return NULL;
}

/*
 * Everybody at once. Whoever has disarmed the CQ by a verb goes on until it is
 * armed again; the rest may stop at any time.
 */
static void *chaos(void *arg)
{
	const struct consumer *c = arg;
	uint32_t seed = c->number;
	struct tw_got got;
	int n;

	while (!atomic_load(&stop)) {
		switch (random_of(&seed) % 8) {
		case 0:
			CHECK(twu_arm(SOL) == 0);
			break;
		case 1:
			CHECK(twk_notify(ANY) == 0);
			break;
		case 2:
			n = twk_verb(1, SOL, &got, TW_FAULT);
			CHECK(n == -EFAULT);
			break;
		case 3:
			n = twk_if_empty(ANY);
			CHECK(n == 0 || n == 1);
			if (!n)
				break;
			/* fall through */
		case 4:
			n = twu_if_empty(ANY);
			CHECK(n == 0 || n == 1);
			if (!n)
				break;
			/* fall through */
		case 5:
			while ((n = verb(c, &got)) > 0)
				count(&got, n);
			CHECK(n == 0);
			break;
		default:
			n = twu_poll(BATCH, &got);
			CHECK(n >= 0);
			count(&got, n);
		}
		hold(&seed);
	}
	return NULL;
}

static void wait_consumed(const char *what)
{
	struct timespec t = { .tv_nsec = 1000000 };
	unsigned int last = 0, now, idle = 0;

	while ((now = atomic_load(&consumed)) < total) {
		idle = now == last ? idle + 1 : 0;
		last = now;
		if (idle > 20000) {
			fprintf(stderr, "%s: stuck at %u of %u: a wake-up was lost\n",
				what, now, total);
			exit(1);
		}
		nanosleep(&t, NULL);
	}
}

static void test(const char *what, unsigned int arm, bool mixed)
{
	struct consumer consumer[THREADS];
	pthread_t producer;
	struct tw_got got;
	unsigned int i;

	twk_init(&ring, ENTRIES, UINT32_MAX - total / 2);
	twu_init(&ring, ENTRIES);
	payload = calloc(total, sizeof(*payload));
	seen = calloc(total, sizeof(*seen));
	CHECK(payload && seen);
	consumed = zeros = empty_wakeups = all_events = 0;
	pending = 0;
	next = 0;
	stop = false;

	/* The creator owns the CQ and gives it up. */
	CHECK(twu_verb(BATCH, arm, &got) == 0);
	for (i = 0; i < THREADS; i++) {
		consumer[i] = (struct consumer){ .number = i, .arm = arm,
						 .mixed = mixed };
		CHECK(!pthread_create(&consumer[i].thread, NULL, mixed && i >= 2 ?
				      chaos : owner, &consumer[i]));
	}
	CHECK(!pthread_create(&producer, NULL, device, NULL));
	pthread_join(producer, NULL);
	wait_consumed(what);
	pthread_mutex_lock(&lock);
	atomic_store(&stop, true);
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&lock);
	for (i = 0; i < THREADS; i++)
		pthread_join(consumer[i].thread, NULL);

	for (i = 0; i < total; i++)
		CHECK(seen[i] == 1);
	CHECK(twu_poll(BATCH, &got) == 0);
	if (!mixed) {
		CHECK(all_events <= zeros + 1);
		CHECK(empty_wakeups == 0 && pending == 0);
	}
	printf("ok %s: %u completions, %u events, %u empty wake-ups\n", what,
	       total, all_events, empty_wakeups);
	free(payload);
	free((void *)seen);
}

int main(int argc, char **argv)
{
	total = argc > 1 ? strtoul(argv[1], NULL, 0) : 20000;
	test("owners, any", ANY, false);
	test("owners, solicited", SOL, false);
	test("every entry point", ANY, true);
	printf("3 passed, 0 failed, 0 skipped\n");
	return 0;
}
