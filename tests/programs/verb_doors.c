// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many completions of one CQ, taken by several threads through every door at once:
 * poll, extended poll, the verb by the library, the verb by ioctl, and the classic
 * arm followed by a poll. Each thread changes doors at random and sleeps when it
 * may: when it has armed the CQ and found it empty.
 *
 * Mixed like that nobody owns the CQ and wake-ups may be for nothing. What holds is
 * that every entry comes once, that those of one thread come in order, that no arm
 * gives two events, and that nobody sleeps over an entry. (All messages are
 * solicited ones, so both kinds of arm announce them.)
 *
 * Prints one line of counts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/rxodv.h>

#include "t.h"
#include "t_ioctl.h"
#include "t_link.h"
#include "t_stress.h"

#define BATCH	8	/* completions taken at a time, at most */

enum door { POLL, EXTENDED, LIBRARY, IOCTL, NOTIFY, NUM_DOORS };

static const char *const door_names[] = {
	"poll", "extended poll", "library", "ioctl", "notify",
};

struct doors {
	struct t_stress t;
	_Atomic uint64_t out_of_order;
};

struct consumer {
	struct doors *d;
	unsigned int seed;
	uint32_t next;		/* the least number that may come */
	uint64_t taken[NUM_DOORS];
	uint64_t arms[NUM_DOORS];
	uint64_t events;
};

/* ------------------------------------------------------------------- the doors */

static void process_one(struct consumer *c, enum door door,
			const struct ibv_wc *wc)
{
	uint32_t number = stream_number(wc);

	if (!t_stress_check(&c->d->t, wc))
		return;
	if (number < c->next)
		c->d->out_of_order++;
	c->next = number + 1;
	c->taken[door]++;
	t_stress_account(&c->d->t, number);
}

static int process(struct consumer *c, enum door door, const struct ibv_wc *wc,
		   int n)
{
	int i;

	if (n < 0)
		c->d->t.errors++;
	for (i = 0; i < n; i++)
		process_one(c, door, &wc[i]);
	return n;
}

static void read_current(struct ibv_cq_ex *cq, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc){
		.wr_id = cq->wr_id,
		.status = cq->status,
		.opcode = ibv_wc_read_opcode(cq),
		.wc_flags = ibv_wc_read_wc_flags(cq),
		.imm_data = ibv_wc_read_imm_data(cq),
	};
}

/* A session of up to @room completions. Return: how many. */
static int poll_extended(struct ibv_cq_ex *cq, int room, struct ibv_wc *wc)
{
	struct ibv_poll_cq_attr attr = {};
	int n = 0, err = ibv_start_poll(cq, &attr);

	if (err)
		return err == ENOENT ? 0 : -err;
	for (;;) {
		read_current(cq, &wc[n++]);
		if (n == room)
			break;
		err = ibv_next_poll(cq);
		if (err)
			break;
	}
	ibv_end_poll(cq);
	return err && err != ENOENT ? -err : n;
}

static int notify_and_poll(struct ibv_cq *cq, int room, struct ibv_wc *wc,
			   bool solicited)
{
	int err = ibv_req_notify_cq(cq, solicited);

	return err ? -err : ibv_poll_cq(cq, room, wc);
}

/* Once through one door. Return: the CQ was armed, and then it was empty. */
static bool take(struct consumer *c)
{
	struct stream *s = &c->d->t.stream;
	enum door door = rand_r(&c->seed) % NUM_DOORS;
	int n, room = 1 + rand_r(&c->seed) % BATCH;
	uint32_t flags = rand_r(&c->seed) % 2 ? RXODV_REARM_SOLICITED_ONLY : 0;
	struct ibv_wc wc[BATCH];

	switch (door) {
	case EXTENDED:
		n = poll_extended(s->recv_cq_ex, room, wc);
		break;
	case LIBRARY:
		n = rxodv_poll_rearm_cq(s->recv_cq, room, wc, flags);
		break;
	case IOCTL:
		n = t_ioctl_poll_rearm(s->recv_cq, room, wc, flags);
		break;
	case NOTIFY:
		n = notify_and_poll(s->recv_cq, room, wc, flags);
		break;
	default:
		n = ibv_poll_cq(s->recv_cq, room, wc);
	}
	n = process(c, door, wc, n);
	if (door == POLL || door == EXTENDED)
		return false;
	c->arms[door] += door == NOTIFY || !n;
	return !n;
}

/* ------------------------------------------------------------------ the threads */

static void *consumer_main(void *arg)
{
	struct consumer *c = arg;
	struct t_stress *t = &c->d->t;
	struct ibv_cq *cq;
	void *context;

	while (!t->stop) {
		t_stress_pass(t);
		if (!take(c))
			continue;
		/* Broken off by a signal when all is over. */
		if (ibv_get_cq_event(t->stream.channel, &cq, &context))
			continue;
		ibv_ack_cq_events(cq, 1);
		c->events++;
	}
	return NULL;
}

/* --------------------------------------------------------------------- verdict */

static int verdict(const struct doors *d, const struct consumer *c, uint64_t ms)
{
	uint64_t taken[NUM_DOORS] = {}, arms = 0, events = 0;
	unsigned int i, door;

	for (i = 0; i < t_options.threads; i++) {
		for (door = 0; door < NUM_DOORS; door++) {
			taken[door] += c[i].taken[door];
			arms += c[i].arms[door];
		}
		events += c[i].events;
	}
	printf("%u threads: %u completions in %llu.%llu s, %llu arms, %llu events: %llu out of order, %u lost, %llu twice, %llu errors\n",
	       t_options.threads, d->t.stream.processed,
	       (unsigned long long)ms / 1000, (unsigned long long)ms / 100 % 10,
	       (unsigned long long)arms, (unsigned long long)events,
	       (unsigned long long)d->out_of_order, t_stress_lost(&d->t),
	       (unsigned long long)d->t.twice, (unsigned long long)d->t.errors);
	t_is(d->out_of_order, 0, "out of order in a thread");
	t_stress_verdict(&d->t);
	t_true(events <= arms, "no more events than arms");
	/* Else the run has shown little. */
	t_true(events >= d->t.total / 1000, "threads slept often enough");
	for (door = 0; door < NUM_DOORS; door++)
		t_true(taken[door] >= d->t.total / 1000,
		       "%s: took %llu", door_names[door],
		       (unsigned long long)taken[door]);
	return t_done();
}

int main(int argc, char **argv)
{
	static struct consumer consumers[T_STRESS_MAX_THREADS];
	static struct doors d;
	unsigned int i;
	uint64_t begin;
	int ret;

	t_options.completions = 1000000;
	t_args(argc, argv, "One CQ, consumed and armed in every way at once.");
	t_open();
	t_stress_open(&d.t, true);
	d.t.stream.flags = IBV_SEND_SOLICITED;
	d.t.crowded = true;
	for (i = 0; i < t_options.threads; i++)
		consumers[i] = (struct consumer){ .d = &d,
						  .seed = t_options.seed + i };
	begin = t_now_ms();
	t_stress_start(&d.t, consumer_main, consumers, sizeof(consumers[0]));
	t_stress_feed(&d.t);
	t_stress_join(&d.t);
	ret = verdict(&d, consumers, t_now_ms() - begin);
	t_stress_close(&d.t);
	t_close();
	return ret;
}
