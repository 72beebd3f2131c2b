// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The consumers of "rxo order", and the thread that feeds them.
 *
 * All consumers do the same: sleep in ibv_get_cq_event(), acknowledge, run the
 * loop. Processing a completion means to note its number; a completion that is
 * held is slept on before that. It is out of order if one that was added later
 * has been noted already.
 *
 * After every call on the CQ, whichever, the thread is stalled for some
 * microseconds, as an interrupt or a slower arm would do it. Where arming is no
 * system call, this is what makes the gaps between the calls of loop 2 visible in
 * a short run.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/rxodv.h>

#include "order_calls.h"
#include "order_run.h"
#include "stream.h"

#define DEPTH		1024	/* messages under way */
#define BACKLOG		8	/* messages that wait for the consumers, at most */
#define PATIENCE_S	20	/* without progress: something is lost */
#define WAKE_SIGNAL	SIGUSR1

struct run {
	const struct order_params *p;
	struct stream stream;
	_Atomic uint32_t next;		/* one past the highest number noted */
	_Atomic uint64_t out_of_order;
	atomic_bool stop;
	atomic_bool failed;		/* a verb has failed in a consumer */
};

struct consumer {
	struct run *run;
	pthread_t thread;
	uint64_t wakeups;
	uint64_t empty;
	uint64_t interrupted;
	unsigned int seed;
};

/* Does nothing but break off the read that it comes into. */
static void on_signal(int nr)
{
	(void)nr;
}

static void sleep_us(unsigned int us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000L };

	nanosleep(&ts, NULL);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void spin_us(unsigned int us)
{
	double until = now() + us * 1e-6;

	while (now() < until)
		;
}

/* Comes after every call on the CQ. */
static void stall(struct consumer *c)
{
	spin_us(rand_r(&c->seed) % (c->run->p->stall_us + 1));
}

/* --------------------------------------------------------------- processing */

static void note(struct run *r, uint32_t number)
{
	uint32_t next = atomic_load(&r->next);

	while (number >= next) {
		if (atomic_compare_exchange_weak(&r->next, &next, number + 1))
			goto out;
	}
	atomic_fetch_add(&r->out_of_order, 1);
out:
	atomic_fetch_add(&r->stream.processed, 1);
}

static void process(struct consumer *c, const struct ibv_wc *wc, int n)
{
	const struct order_params *p = c->run->p;
	int i;

	for (i = 0; i < n; i++) {
		uint32_t number = stream_number(&wc[i]);

		if (wc[i].status != IBV_WC_SUCCESS) {
			atomic_store(&c->run->failed, true);
			return;
		}
		if (number % p->hold_every == p->hold_every - 1)
			sleep_us(p->hold_us);
		note(c->run, number);
	}
}

/* ---------------------------------------------------------------- the loops */

static int poll_once(struct consumer *c, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(c->run->stream.recv_cq, c->run->p->batch, wc);

	stall(c);
	return n;
}

static int poll_rearm(struct consumer *c, struct ibv_wc *wc)
{
	int n = rxodv_poll_rearm_cq(c->run->stream.recv_cq, c->run->p->batch,
				    wc, 0);

	stall(c);
	return n;
}

static void arm(struct consumer *c)
{
	if (ibv_req_notify_cq(c->run->stream.recv_cq, 0))
		atomic_store(&c->run->failed, true);
	stall(c);
}

/* while (take > 0) process; returns how many there were. */
static uint64_t drain(struct consumer *c, struct ibv_wc *wc,
		      int (*take)(struct consumer *c, struct ibv_wc *wc))
{
	uint64_t total = 0;
	int n;

	while ((n = take(c, wc)) > 0) {
		process(c, wc, n);
		total += n;
	}
	if (n < 0)
		atomic_store(&c->run->failed, true);
	return total;
}

static uint64_t one_wakeup(struct consumer *c, struct ibv_wc *wc)
{
	uint64_t total;

	switch (c->run->p->loop) {
	case ORDER_LOOP_SINGLE:
		arm(c);
		return drain(c, wc, poll_once);
	case ORDER_LOOP_DOUBLE:
		total = drain(c, wc, poll_once);
		arm(c);
		return total + drain(c, wc, poll_once);
	default:
		return drain(c, wc, poll_rearm);
	}
}

/* ---------------------------------------------------------------- consumers */

static void *consumer_main(void *arg)
{
	struct ibv_wc wc[ORDER_MAX_BATCH];
	struct consumer *c = arg;
	struct run *r = c->run;
	struct ibv_cq *cq;
	unsigned int index;
	void *context;

	index = order_watch_enter(r->p->watch);
	while (!atomic_load(&r->stop)) {
		if (ibv_get_cq_event(r->stream.channel, &cq, &context)) {
			c->interrupted++;
			continue;
		}
		ibv_ack_cq_events(cq, 1);
		c->wakeups++;
		if (!one_wakeup(c, wc))
			c->empty++;
	}
	order_watch_leave(r->p->watch, index);
	return NULL;
}

static int start_consumers(struct run *r, struct consumer *c, char *err)
{
	unsigned int i;
	int ret;

	for (i = 0; i < r->p->threads; i++) {
		c[i].run = r;
		c[i].seed = i + 1;
		ret = pthread_create(&c[i].thread, NULL, consumer_main, &c[i]);
		if (ret) {
			snprintf(err, PAIR_ERR_LEN, "cannot start a thread: %s",
				 strerror(ret));
			break;
		}
	}
	return i;
}

/* Signals take those who sleep out of the read that waits for an event. */
static void stop_consumers(struct run *r, struct consumer *c, int n)
{
	int i;

	atomic_store(&r->stop, true);
	for (i = 0; i < n; i++) {
		while (pthread_tryjoin_np(c[i].thread, NULL)) {
			pthread_kill(c[i].thread, WAKE_SIGNAL);
			sleep_us(2000);
		}
	}
}

/* --------------------------------------------------------------------- feed */

struct feeder {
	struct run *run;
	char *err;
	unsigned int seed;
	uint32_t last;		/* processed when there last was progress */
	double since;		/* when that was */
};

static int check_progress(struct feeder *f)
{
	uint32_t processed = atomic_load(&f->run->stream.processed);

	if (atomic_load(&f->run->failed)) {
		snprintf(f->err, PAIR_ERR_LEN, "a consumer failed");
		return -1;
	}
	if (processed != f->last) {
		f->last = processed;
		f->since = now();
	} else if (now() - f->since > PATIENCE_S) {
		snprintf(f->err, PAIR_ERR_LEN,
			 "no progress for %d s: %u of %u completions", PATIENCE_S,
			 processed, f->run->p->completions);
		return -1;
	}
	return 0;
}

/*
 * Messages one by one. On average the next comes when a held completion is let
 * go: so that the consumers now and again find the CQ empty, and messages arrive
 * at each point of what they do then.
 */
static int feed(struct run *r, char *err)
{
	struct feeder f = { .run = r, .err = err, .seed = 1, .since = now() };
	int sent;

	while (atomic_load(&r->stream.processed) < r->p->completions) {
		if (check_progress(&f))
			return -1;
		spin_us(rand_r(&f.seed) % (2 * r->p->hold_us + 1));
		if (r->stream.sent == r->p->completions ||
		    r->stream.sent - atomic_load(&r->stream.processed) >= BACKLOG)
			continue;
		sent = stream_send(&r->stream, 1, err);
		if (sent < 0)
			return -1;
	}
	return 0;
}

/* ---------------------------------------------------------------------- run */

/* Whoever creates the CQ owns it and gives it away by arming it. */
static int first_arm(struct run *r, char *err)
{
	struct ibv_wc wc;
	int ret;

	if (r->p->loop == ORDER_LOOP_VERB)
		ret = rxodv_poll_rearm_cq(r->stream.recv_cq, 1, &wc, 0);
	else
		ret = ibv_req_notify_cq(r->stream.recv_cq, 0);
	if (ret)
		snprintf(err, PAIR_ERR_LEN, "cannot arm the CQ: %s",
			 strerror(abs(ret)));
	return ret ? -1 : 0;
}

static void sum_up(const struct run *r, const struct consumer *c,
		   struct order_result *result)
{
	unsigned int i;

	result->processed = r->stream.processed;
	result->out_of_order = r->out_of_order;
	for (i = 0; i < r->p->threads; i++) {
		result->wakeups += c[i].wakeups;
		result->empty += c[i].empty;
		result->interrupted += c[i].interrupted;
	}
}

static int run_consumers(struct run *r, struct order_result *result, char *err)
{
	struct consumer consumers[ORDER_MAX_THREADS] = { 0 };
	unsigned int started;
	double begin;
	int ret = -1;

	if (first_arm(r, err))
		return -1;
	started = start_consumers(r, consumers, err);
	begin = now();
	if (started == r->p->threads)
		ret = feed(r, err);
	result->seconds = now() - begin;
	stop_consumers(r, consumers, started);
	if (!ret)
		sum_up(r, consumers, result);
	return ret;
}

int order_run(const struct order_params *params, struct order_result *result,
	      char *err)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct run run = { .p = params };
	int ret;

	memset(result, 0, sizeof(*result));
	sigaction(WAKE_SIGNAL, &action, NULL);
	if (stream_open(&run.stream, params->a, params->b, DEPTH, err))
		return -1;
	ret = run_consumers(&run, result, err);
	stream_close(&run.stream);
	return ret;
}
