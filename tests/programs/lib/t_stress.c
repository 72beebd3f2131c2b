// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "t.h"
#include "t_link.h"
#include "t_stress.h"

#define DEPTH		1024	/* messages under way */
#define PATIENCE_MS	20000	/* without progress: something is lost */
#define WAKE_SIGNAL	SIGUSR1
#define CROWD_EVERY	128	/* bursts */

void t_stress_open(struct t_stress *s, bool extended)
{
	char err[PAIR_ERR_LEN];

	if (t_options.threads < 1 || t_options.threads > T_STRESS_MAX_THREADS)
		t_fatal("--threads: from 1 to %d", T_STRESS_MAX_THREADS);
	s->total = t_options.completions;
	s->seen = calloc(s->total / 8 + 1, 1);
	if (!s->seen)
		t_fatal("no memory");
	if ((extended ? stream_open_ex : stream_open)(&s->stream, &t_port[0],
						      &t_port[1], DEPTH, err))
		t_fatal("%s", err);
}

void t_stress_close(struct t_stress *s)
{
	stream_close(&s->stream);
	free((void *)s->seen);
}

/* -------------------------------------------------------------------- threads */

static void on_signal(int nr)
{
	(void)nr;
}

void t_stress_start(struct t_stress *s, void *(*main)(void *), void *arg,
		    size_t size)
{
	struct sigaction action = { .sa_handler = on_signal };
	unsigned int i;

	sigaction(WAKE_SIGNAL, &action, NULL);
	for (i = 0; i < t_options.threads; i++)
		if (pthread_create(&s->threads[i], NULL, main,
				   (char *)arg + i * size))
			t_fatal("cannot start a thread");
}

void t_stress_join(struct t_stress *s)
{
	unsigned int i;

	s->stop = true;
	for (i = 0; i < t_options.threads; i++) {
		while (pthread_tryjoin_np(s->threads[i], NULL)) {
			pthread_kill(s->threads[i], WAKE_SIGNAL);
			t_sleep_us(2000);
		}
	}
}

/* ------------------------------------------------------------------ the sender */

struct feeder {
	struct t_stress *s;
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

/* Return: how many were sent; 0 also if that failed, which is an error. */
static int send_some(struct t_stress *s, uint32_t n)
{
	uint32_t left = s->total - s->stream.sent;
	char err[PAIR_ERR_LEN];
	int sent;

	sent = stream_send(&s->stream, n < left ? n : left, err);
	if (sent >= 0)
		return sent;
	t_note("%s", err);
	s->errors++;
	return 0;
}

/* As many as there is room for; nobody takes them meanwhile, and then everybody. */
static void crowd(struct t_stress *s)
{
	unsigned int i;

	s->gate = true;
	while (send_some(s, STREAM_CHAIN))
		;
	for (i = 0; i < t_options.threads; i++)
		pthread_kill(s->threads[i], WAKE_SIGNAL);
	t_sleep_us(1000);
	s->gate = false;
}

void t_stress_feed(struct t_stress *s)
{
	struct feeder f = { .s = s, .seed = t_options.seed };

	f.progress_ms = f.report_ms = t_now_ms();
	while (goes_on(&f)) {
		send_some(s, 1 + rand_r(&f.seed) %
			     (rand_r(&f.seed) % 4 ? STREAM_CHAIN : 4));
		if (s->crowded && !(rand_r(&f.seed) % CROWD_EVERY))
			crowd(s);
		if (rand_r(&f.seed) % 4)
			continue;
		while (s->stream.processed < s->stream.sent && goes_on(&f))
			t_sleep_us(rand_r(&f.seed) % 30);
	}
	/* Whatever comes twice, or too late, has time to come. */
	t_sleep_us(100000);
}

void t_stress_pass(const struct t_stress *s)
{
	while (s->gate && !s->stop)
		sched_yield();
}

/* --------------------------------------------------------------------- account */

bool t_stress_check(struct t_stress *s, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_RECV &&
	    (wc->wc_flags & IBV_WC_WITH_IMM) && stream_number(wc) < s->total)
		return true;
	s->errors++;
	return false;
}

void t_stress_account(struct t_stress *s, uint32_t number)
{
	uint8_t bit = 1 << (number & 7);

	if (atomic_fetch_or(&s->seen[number / 8], bit) & bit)
		s->twice++;
	s->stream.processed++;
}

uint32_t t_stress_lost(const struct t_stress *s)
{
	uint32_t i, lost = 0;

	for (i = 0; i < s->total; i++)
		lost += !(s->seen[i / 8] & 1 << (i & 7));
	return lost;
}

void t_stress_verdict(const struct t_stress *s)
{
	t_is(t_stress_lost(s), 0, "lost");
	t_is(s->twice, 0, "twice");
	t_is(s->errors, 0, "errors");
}
