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
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "t.h"
#include "t_link.h"
#include "t_stress.h"
#include "t_verb.h"

#define HOLD_EVERY	64
#define BATCH		16	/* completions taken at a time */

struct stress {
	struct t_stress t;
	const struct t_verb *verb;
	_Atomic uint32_t owners;	/* threads between an event and a 0 */
	_Atomic uint32_t expected;	/* the owner's: number of the next one */
	_Atomic uint64_t out_of_order;
	_Atomic uint64_t overlaps;	/* a second owner */
};

struct consumer {
	struct stress *s;
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

	if (!t_stress_check(&s->t, wc))
		return;
	if (number % HOLD_EVERY == 0)
		hold(c);
	if (s->expected != number)
		s->out_of_order++;
	s->expected = number + 1;
	c->processed++;
	t_stress_account(&s->t, number);
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
		n = s->verb->poll_rearm(s->t.stream.recv_cq, BATCH, wc, 0);
		if (n <= 0)
			break;
		if (s->owners++)
			s->overlaps++;
		for (i = 0; i < n; i++)
			process_one(c, &wc[i]);
		total += n;
	}
	if (n < 0)
		s->t.errors++;
	return total;
}

static void *consumer_main(void *arg)
{
	struct consumer *c = arg;
	struct ibv_cq *cq;
	void *context;

	while (!c->s->t.stop) {
		/* Broken off by a signal when all is over. */
		if (ibv_get_cq_event(c->s->t.stream.channel, &cq, &context))
			continue;
		ibv_ack_cq_events(cq, 1);
		c->wakeups++;
		if (!own(c))
			c->empty++;
	}
	return NULL;
}

/* ------------------------------------------------------------------------ verdict */

static int verdict(const struct stress *s, const struct consumer *c, uint64_t ms)
{
	unsigned int i, n = t_options.threads, busy = 0;
	uint64_t wakeups = 0, empty = 0;

	for (i = 0; i < n; i++) {
		wakeups += c[i].wakeups;
		empty += c[i].empty;
		busy += c[i].processed > 0;
	}
	printf("%s, %u threads (%u had work): %u completions in %llu.%llu s, %llu events: %llu out of order, %llu empty wake-ups, %u lost, %llu twice, %llu second owners, %llu errors\n",
	       s->verb->name, n, busy, s->t.stream.processed,
	       (unsigned long long)ms / 1000, (unsigned long long)ms / 100 % 10,
	       (unsigned long long)wakeups, (unsigned long long)s->out_of_order,
	       (unsigned long long)empty, t_stress_lost(&s->t),
	       (unsigned long long)s->t.twice, (unsigned long long)s->overlaps,
	       (unsigned long long)s->t.errors);
	t_is(s->out_of_order, 0, "out of order");
	t_is(empty, 0, "empty wake-ups");
	t_is(s->overlaps, 0, "second owners");
	t_stress_verdict(&s->t);
	/* Else the run has shown little. */
	t_true(wakeups >= s->t.total / 1000, "the CQ was armed often enough: %llu times",
	       (unsigned long long)wakeups);
	t_true(busy > 1 || n == 1, "more than one thread had work");
	return t_done();
}

int main(int argc, char **argv)
{
	static struct consumer consumers[T_STRESS_MAX_THREADS];
	static struct stress s;
	struct ibv_wc wc;
	unsigned int i;
	uint64_t begin;
	int ret;

	t_options.completions = 1000000;
	t_args(argc, argv, "Many completions through the verb.");
	s.verb = t_verb_find();
	t_open();
	t_stress_open(&s.t, false);
	if (s.verb->poll_rearm(s.t.stream.recv_cq, 1, &wc, 0))
		t_fatal("the CQ cannot be armed");
	for (i = 0; i < t_options.threads; i++)
		consumers[i] = (struct consumer){ .s = &s,
						  .seed = t_options.seed + i };
	begin = t_now_ms();
	t_stress_start(&s.t, consumer_main, consumers, sizeof(consumers[0]));
	t_stress_feed(&s.t);
	t_stress_join(&s.t);
	ret = verdict(&s, consumers, t_now_ms() - begin);
	t_stress_close(&s.t);
	t_close();
	return ret;
}
