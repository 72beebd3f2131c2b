// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many completions through the verb with several threads on one channel and one
 * CQ: nothing out of order, nobody woken for nothing, nothing lost, nothing twice.
 *
 * The threads share what belongs to the owner of the CQ without any lock: if there
 * ever are two owners at once, that is seen. One completion in 64 is held for 50 to
 * 200 us, by sleeping, spinning or yielding. Messages come in bursts with pauses,
 * so that the CQ runs empty, and is armed, thousands of times.
 *
 * Prints one line of counts. --method library|ioctl|mixed says how the verb is
 * called.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"
#include "t.h"
#include "t_link.h"
#include "t_verb.h"

#define DEPTH		1024	/* messages under way */
#define HOLD_EVERY	64
#define BATCH		16	/* completions taken at a time */
#define PATIENCE_MS	20000	/* without progress: something is lost */
#define MAX_THREADS	64
#define WAKE_SIGNAL	SIGUSR1

struct stress {
	const struct t_verb *verb;
	struct stream stream;
	uint32_t total;
	atomic_bool stop;
	_Atomic uint32_t owners;	/* threads between an event and a 0 */
	_Atomic uint32_t expected;	/* the owner's: number of the next one */
	_Atomic uint8_t *seen;		/* a bit for each number */

	_Atomic uint64_t out_of_order;
	_Atomic uint64_t overlaps;	/* a second owner */
	_Atomic uint64_t twice;
	_Atomic uint64_t errors;	/* a bad completion, or a verb that failed */
};

struct consumer {
	struct stress *s;
	pthread_t thread;
	uint64_t wakeups;
	uint64_t empty;
	uint64_t processed;
	unsigned int seed;
};

/* ----------------------------------------------------------------- the consumers */

static void hold(struct consumer *c)
{
	unsigned int us = 50 + rand_r(&c->seed) % 151;
	uint64_t until;

	switch (rand_r(&c->seed) % 3) {
	case 0:
		t_sleep_us(us);
		break;
	case 1:
		sched_yield();
		break;
	default:
		until = t_now_us() + us;
		while (t_now_us() < until)
			;
	}
}

static void process_one(struct consumer *c, const struct ibv_wc *wc)
{
	struct stress *s = c->s;
	uint32_t number = stream_number(wc);
	uint8_t bit = 1 << (number & 7);

	if (wc->status != IBV_WC_SUCCESS || wc->opcode != IBV_WC_RECV ||
	    !(wc->wc_flags & IBV_WC_WITH_IMM) || number >= s->total) {
		s->errors++;
		return;
	}
	if (number % HOLD_EVERY == 0)
		hold(c);
	if (s->expected != number)
		s->out_of_order++;
	s->expected = number + 1;
	if (atomic_fetch_or(&s->seen[number / 8], bit) & bit)
		s->twice++;
	c->processed++;
	s->stream.processed++;
}

/* From an event to a result of 0; returns how many there were. */
static uint64_t own(struct consumer *c)
{
	struct stress *s = c->s;
	struct ibv_wc wc[BATCH];
	uint64_t total = 0;
	int i, n;

	if (s->owners++)
		s->overlaps++;
	for (;;) {
		/* A result of 0 gives the CQ away, before the verb returns. */
		s->owners--;
		n = s->verb->poll_rearm(s->stream.recv_cq, BATCH, wc, 0);
		if (n <= 0)
			break;
		if (s->owners++)
			s->overlaps++;
		for (i = 0; i < n; i++)
			process_one(c, &wc[i]);
		total += n;
	}
	if (n < 0)
		s->errors++;
	return total;
}

static void *consumer_main(void *arg)
{
	struct consumer *c = arg;
	struct ibv_cq *cq;
	void *context;

	while (!c->s->stop) {
		/* Broken off by a signal when all is over. */
		if (ibv_get_cq_event(c->s->stream.channel, &cq, &context))
			continue;
		ibv_ack_cq_events(cq, 1);
		c->wakeups++;
		if (!own(c))
			c->empty++;
	}
	return NULL;
}

static void on_signal(int nr)
{
	(void)nr;
}

static void start(struct stress *s, struct consumer *c, unsigned int n)
{
	struct sigaction action = { .sa_handler = on_signal };
	unsigned int i;

	sigaction(WAKE_SIGNAL, &action, NULL);
	for (i = 0; i < n; i++) {
		c[i].s = s;
		c[i].seed = t_options.seed + i;
		if (pthread_create(&c[i].thread, NULL, consumer_main, &c[i]))
			t_fatal("cannot start a thread");
	}
}

static void stop(struct stress *s, struct consumer *c, unsigned int n)
{
	unsigned int i;

	s->stop = true;
	for (i = 0; i < n; i++) {
		while (pthread_tryjoin_np(c[i].thread, NULL)) {
			pthread_kill(c[i].thread, WAKE_SIGNAL);
			t_sleep_us(2000);
		}
	}
}

/* -------------------------------------------------------------------- the sender */

struct feeder {
	struct stress *s;
	unsigned int seed;
	uint32_t last;		/* processed when there last was progress */
	uint64_t progress_ms;	/* when that was */
	uint64_t report_ms;
};

/* False when all is over: done, an error, or nothing has moved for too long. */
static bool goes_on(struct feeder *f)
{
	uint32_t processed = f->s->stream.processed;
	uint64_t now = t_now_ms();

	if (processed != f->last) {
		f->last = processed;
		f->progress_ms = now;
	} else if (now - f->progress_ms > PATIENCE_MS) {
		t_note("no progress for %d ms", PATIENCE_MS);
		return false;
	}
	if (now - f->report_ms > 10000) {
		f->report_ms = now;
		t_note("%u of %u", processed, f->s->total);
	}
	return processed < f->s->total && !f->s->errors;
}

/*
 * Bursts of one message up to a whole chain. After some of them nothing more is
 * sent until all is processed: then a lost wake-up is lost for good.
 */
static void feed(struct stress *s)
{
	struct feeder f = { .s = s, .seed = t_options.seed };
	char err[PAIR_ERR_LEN];
	uint32_t left, n;

	f.progress_ms = f.report_ms = t_now_ms();
	while (goes_on(&f)) {
		left = s->total - s->stream.sent;
		n = 1 + rand_r(&f.seed) % (rand_r(&f.seed) % 4 ? STREAM_CHAIN : 4);
		if (stream_send(&s->stream, n < left ? n : left, err) < 0)
			t_fatal("%s", err);
		if (rand_r(&f.seed) % 4)
			continue;
		while (s->stream.processed < s->stream.sent && goes_on(&f))
			t_sleep_us(rand_r(&f.seed) % 30);
	}
	/* Whatever comes twice, or too late, has time to come. */
	t_sleep_us(100000);
}

/* ------------------------------------------------------------------------ verdict */

static uint32_t count_lost(const struct stress *s)
{
	uint32_t i, lost = 0;

	for (i = 0; i < s->total; i++)
		lost += !(s->seen[i / 8] & 1 << (i & 7));
	return lost;
}

static int verdict(const struct stress *s, const struct consumer *c,
		   unsigned int n, uint64_t ms)
{
	uint64_t wakeups = 0, empty = 0;
	uint32_t lost = count_lost(s);
	unsigned int i, busy = 0;

	for (i = 0; i < n; i++) {
		wakeups += c[i].wakeups;
		empty += c[i].empty;
		busy += c[i].processed > 0;
	}
	printf("%s, %u threads (%u had work): %u completions in %llu.%llu s, %llu events: %llu out of order, %llu empty wake-ups, %u lost, %llu twice, %llu second owners, %llu errors\n",
	       s->verb->name, n, busy, s->stream.processed,
	       (unsigned long long)ms / 1000, (unsigned long long)ms / 100 % 10,
	       (unsigned long long)wakeups, (unsigned long long)s->out_of_order,
	       (unsigned long long)empty, lost, (unsigned long long)s->twice,
	       (unsigned long long)s->overlaps, (unsigned long long)s->errors);
	t_is(s->out_of_order, 0, "out of order");
	t_is(empty, 0, "empty wake-ups");
	t_is(lost, 0, "lost");
	t_is(s->twice, 0, "twice");
	t_is(s->overlaps, 0, "second owners");
	t_is(s->errors, 0, "errors");
	/* Else the run has shown little. */
	t_true(wakeups >= s->total / 1000, "the CQ was armed often enough: %llu times",
	       (unsigned long long)wakeups);
	t_true(busy > 1 || n == 1, "more than one thread had work");
	return t_done();
}

int main(int argc, char **argv)
{
	static struct consumer consumers[MAX_THREADS];
	static struct stress s;
	char err[PAIR_ERR_LEN];
	struct ibv_wc wc;
	uint64_t begin;
	int ret;

	t_options.completions = 1000000;
	t_args(argc, argv, "Many completions through the verb.");
	if (t_options.threads < 1 || t_options.threads > MAX_THREADS)
		t_fatal("--threads: from 1 to %d", MAX_THREADS);
	s.verb = t_verb_find();
	s.total = t_options.completions;
	s.seen = calloc(s.total / 8 + 1, 1);
	if (!s.seen)
		t_fatal("no memory");
	t_open();
	if (stream_open(&s.stream, &t_port[0], &t_port[1], DEPTH, err))
		t_fatal("%s", err);
	if (s.verb->poll_rearm(s.stream.recv_cq, 1, &wc, 0))
		t_fatal("the CQ cannot be armed");
	begin = t_now_ms();
	start(&s, consumers, t_options.threads);
	feed(&s);
	stop(&s, consumers, t_options.threads);
	ret = verdict(&s, consumers, t_options.threads, t_now_ms() - begin);
	stream_close(&s.stream);
	t_close();
	free((void *)s.seen);
	return ret;
}
