// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The verb, one check for each row of its result table and for each invariant:
 *
 *   I1 a result of 0 means armed, a result > 0 means not armed
 *   I2 one arm, at most one event, and only for what matches the arm
 *   I3 the first result after an event is not 0
 *   I4 between an event and the next result of 0 there is no further event
 *   I5 owners process completions in the order in which they were added
 *   I6 a completion is returned or announced
 *
 * (I5 with several threads is verb_stress.) An arm cannot be seen, so "armed" is:
 * one more completion, and an event comes; "not armed": none comes.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rxe_ordered-abi.h>

#include "stream.h"
#include "t.h"
#include "t_link.h"
#include "t_verb.h"
#include "verb_invariants.h"

#define ANY		0
#define SOLICITED	RXE_ORDERED_REARM_SOLICITED_ONLY
#define MAX_WC		64

const struct t_verb *verb;

/* -------------------------------------------------------------------- helpers */

/* The verb returns @want completions, numbered from @first on. */
static void expect_verb(struct t_link *l, int room, uint32_t flags, int want,
			uint32_t first, const char *what)
{
	struct ibv_wc wc[MAX_WC];
	int i, n;

	n = verb->poll_rearm(l->b.rcq, room, wc, flags);
	t_is(n, want, "result with room for %d, %s", room, what);
	for (i = 0; i < n; i++) {
		if (t_number(&wc[i]) == first + i)
			continue;
		t_is(t_number(&wc[i]), first + i, "number of completion %d", i);
		return;
	}
}

static void expect_empty(struct t_link *l, uint32_t flags)
{
	expect_verb(l, MAX_WC, flags, 0, 0, "empty");
}

/* Adds a solicited completion: whatever the arm, it fires. */
static void expect_not_armed(struct t_link *l, const char *what)
{
	t_deliver(l, 1, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 0, what);
}

static void expect_armed_any(struct t_link *l, const char *what)
{
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 1, what);
}

static void expect_armed_solicited(struct t_link *l, const char *what)
{
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 0, what);
	t_deliver(l, 1, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 1, what);
}

static void arm(struct t_link *l, int solicited_only)
{
	int err = ibv_req_notify_cq(l->b.rcq, solicited_only);

	if (err)
		t_fatal("ibv_req_notify_cq: %s", strerror(err));
}

/* ----------------------------------------------------------- the result table */

static void test_not_empty(struct t_link *l)
{
	t_deliver(l, 5, 0);
	expect_verb(l, 3, ANY, 3, 0, "of 5");
	expect_verb(l, MAX_WC, ANY, 2, 3, "of 2");
	t_deliver(l, 1, 0);
	expect_verb(l, 1, ANY, 1, 5, "of 1");
}

static void test_empty_arms(struct t_link *l)
{
	expect_empty(l, ANY);
	expect_armed_any(l, "after a result of 0");
	expect_verb(l, MAX_WC, ANY, 1, 0, "of 1");
	expect_empty(l, SOLICITED);
	expect_armed_solicited(l, "after a result of 0, solicited only");
	expect_verb(l, MAX_WC, ANY, 2, 1, "of 2");
}

/* k >= 1: not armed afterwards, whatever it was. */
static void test_not_empty_disarms(struct t_link *l)
{
	t_deliver(l, 2, 0);
	expect_verb(l, MAX_WC, ANY, 2, 0, "not armed");
	expect_not_armed(l, "after a result > 0, not armed before");
	expect_verb(l, MAX_WC, ANY, 1, 2, "not armed");

	expect_empty(l, SOLICITED);
	t_deliver(l, 2, 0);
	expect_verb(l, MAX_WC, SOLICITED, 2, 3, "armed for solicited ones");
	expect_not_armed(l, "after a result > 0, armed for solicited ones before");

	arm(l, 0);
	expect_verb(l, MAX_WC, ANY, 1, 5, "armed for any");
	expect_not_armed(l, "after a result > 0, armed for any before");
}

static void test_partial_disarms(struct t_link *l)
{
	t_deliver(l, 5, 0);
	arm(l, 0);
	expect_verb(l, 2, ANY, 2, 0, "of 5, armed for any");
	expect_not_armed(l, "after a result > 0 that left some behind");
	expect_verb(l, MAX_WC, ANY, 4, 2, "of 4");
}

static void test_overrun(void)
{
	struct t_config config = { .cqe = 4, .recv_wr = 64 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_async_event event;
	struct ibv_wc wc[MAX_WC];
	struct t_link l;
	int cqe, n, i;

	t_link_open(&l, &config);
	cqe = l.b.rcq->cqe;
	if (cqe > 32)
		t_fatal("the smallest CQ has %d entries", cqe);
	expect_empty(&l, SOLICITED);
	t_deliver(&l, cqe, 0);
	t_expect_events(l.b.channel, 0, "as long as there is room");
	t_recv(&l.b, 1);
	t_post_send(&l.a, &wr);
	t_expect_events(l.b.channel, 1, "when an armed CQ overruns");
	t_true(t_async(l.b.port, &event, 5000) &&
	       event.event_type == IBV_EVENT_CQ_ERR &&
	       event.element.cq == l.b.rcq, "IBV_EVENT_CQ_ERR for that CQ");
	n = verb->poll_rearm(l.b.rcq, MAX_WC, wc, ANY);
	t_is(n, cqe, "result of an overrun CQ that is not empty");
	for (i = 0; i < n; i++)
		if (t_number(&wc[i]) != (uint32_t)i)
			t_is(t_number(&wc[i]), i, "number of completion %d", i);
	t_is(verb->poll_rearm(l.b.rcq, MAX_WC, wc, ANY), -EIO,
	     "result of an overrun CQ that is empty");
	t_is(verb->rearm_if_empty(l.b.rcq, ANY), -EIO,
	     "the same of rearm_if_empty");
	t_link_close(&l);
	while (t_async(&t_port[0], &event, 0) || t_async(&t_port[1], &event, 0))
		;
}

/* Every wrong call on a CQ in the state that the caller has made. */
static void wrong_calls(struct t_link *l)
{
	static const uint32_t flags[] = { 2, 3, 0x80000000, 0xffffffff };
	struct ibv_wc wc[4];
	unsigned int i;

	t_is(verb->poll_rearm(l->b.rcq, 0, wc, ANY), -EINVAL, "room for 0");
	t_is(verb->poll_rearm(l->b.rcq, -1, wc, ANY), -EINVAL, "room for -1");
	t_is(verb->poll_rearm(l->b.rcq, INT_MIN, wc, ANY), -EINVAL,
	     "room for INT_MIN");
	t_is(verb->poll_rearm(l->b.rcq, 4, NULL, ANY), -EINVAL, "wc is NULL");
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		t_is(verb->poll_rearm(l->b.rcq, 4, wc, flags[i]), -EINVAL,
		     "flags %#x", flags[i]);
		t_is(verb->rearm_if_empty(l->b.rcq, flags[i]), -EINVAL,
		     "rearm_if_empty, flags %#x", flags[i]);
	}
}

static void test_wrong_arguments(struct t_link *l)
{
	t_note("empty and not armed");
	wrong_calls(l);
	expect_not_armed(l, "after wrong calls, not armed before");
	expect_verb(l, MAX_WC, ANY, 1, 0, "of 1");

	t_note("armed for solicited ones, 3 completions");
	expect_empty(l, SOLICITED);
	t_deliver(l, 3, 0);
	wrong_calls(l);
	expect_armed_solicited(l, "after wrong calls, armed before");
	expect_verb(l, MAX_WC, ANY, 5, 1, "of 5");
}

/* ------------------------------------------------------------------- flags, B03 */

/* Two arms, one after the other; the stronger of them is in force. */
static void test_arm_never_weakened(struct t_link *l)
{
	expect_empty(l, ANY);
	expect_empty(l, SOLICITED);
	expect_armed_any(l, "armed for any, then for solicited ones");
	t_drop_all(l->b.rcq);

	expect_empty(l, SOLICITED);
	expect_empty(l, ANY);
	expect_armed_any(l, "armed for solicited ones, then for any");
	t_drop_all(l->b.rcq);

	arm(l, 0);
	arm(l, 1);
	expect_armed_any(l, "ibv_req_notify_cq for any, then for solicited ones");
	t_drop_all(l->b.rcq);

	arm(l, 1);
	arm(l, 0);
	expect_armed_any(l, "ibv_req_notify_cq for solicited ones, then for any");
	t_drop_all(l->b.rcq);

	arm(l, 0);
	expect_empty(l, SOLICITED);
	expect_armed_any(l, "ibv_req_notify_cq for any, then the verb for solicited ones");
	t_drop_all(l->b.rcq);

	t_is(verb->rearm_if_empty(l->b.rcq, ANY), 0, "rearm_if_empty, any");
	t_is(verb->rearm_if_empty(l->b.rcq, SOLICITED), 0,
	     "rearm_if_empty, solicited");
	expect_armed_any(l, "rearm_if_empty for any, then for solicited ones");
}

static void test_error_is_solicited(struct t_link *l)
{
	struct ibv_wc wc[4];

	t_recv(&l->b, 3);
	expect_empty(l, SOLICITED);
	pair_to_err(l->b.qp);
	t_expect_events(l->b.channel, 1,
		      "of 3 flushed receives, armed for solicited ones");
	t_is(verb->poll_rearm(l->b.rcq, 4, wc, ANY), 3, "flushed receives");
	t_is(wc[0].status, IBV_WC_WR_FLUSH_ERR, "status");
	t_is(wc[0].wr_id, 0, "wr_id of the first");
	t_is(wc[2].wr_id, 2, "wr_id of the last");
}

/* ---------------------------------------------------------- the invariants, B04 */

static void test_one_event_per_arm(struct t_link *l)
{
	expect_empty(l, ANY);
	t_deliver(l, 10, 0);
	t_expect_events(l->b.channel, 1, "of 10 completions after one arm");
	t_deliver(l, 10, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 0, "of 10 more");
	expect_verb(l, MAX_WC, ANY, 20, 0, "of 20");
}

static void test_thousand_arms(struct t_link *l)
{
	int i, bad = 0;
	struct ibv_wc wc;

	for (i = 0; i < 1000; i++)
		bad += verb->poll_rearm(l->b.rcq, 1, &wc, ANY) != 0;
	t_is(bad, 0, "results other than 0 of 1,000 on an empty CQ");
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 1, "after 1,000 results of 0");
	t_drop_all(l->b.rcq);

	for (i = 0; i < 1000; i++)
		arm(l, 0);
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 1, "after 1,000 times ibv_req_notify_cq");
	t_drop_all(l->b.rcq);

	for (i = 0; i < 1000; i++)
		bad += verb->rearm_if_empty(l->b.rcq, i & 1) != 0;
	t_is(bad, 0, "results other than 0 of 1,000 rearm_if_empty");
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 1, "after 1,000 times rearm_if_empty");
}

/* From the event to the next result of 0 its taker owns the CQ. */
static void test_owner(struct t_link *l)
{
	t_deliver(l, 1, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 0, "of a CQ that its creator owns");
	expect_verb(l, MAX_WC, ANY, 1, 0, "of 1");
	expect_empty(l, ANY);
	t_deliver(l, 1, 0);
	t_expect_events(l->b.channel, 1, "that make an owner");
	t_deliver(l, 3, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 0, "before the owner has polled");
	expect_verb(l, 1, ANY, 1, 1, "first after an event");
	t_deliver(l, 1, IBV_SEND_SOLICITED);
	t_expect_events(l->b.channel, 0, "while the owner polls");
	expect_verb(l, MAX_WC, ANY, 4, 2, "of 4");
	expect_not_armed(l, "before the result of 0");
	expect_verb(l, MAX_WC, ANY, 1, 6, "of 1");
	expect_empty(l, ANY);
	expect_armed_any(l, "after the result of 0");
}

static void test_no_empty_wakeup(struct t_link *l)
{
	int i, empty = 0, missed = 0, again = 0, n;
	struct ibv_wc wc[4];

	expect_empty(l, ANY);
	for (i = 0; i < 500; i++) {
		t_deliver(l, 1, 0);
		if (!t_event(l->b.channel, 2000))
			missed++;
		n = verb->poll_rearm(l->b.rcq, 4, wc, i & 1);
		empty += n == 0;
		again += n > 0 && verb->poll_rearm(l->b.rcq, 4, wc, ANY) != 0;
	}
	t_is(missed, 0, "missing events of 500");
	t_is(empty, 0, "results of 0 right after an event");
	t_is(again, 0, "results other than 0 when that was all");
}

/* ----------------------------------------------- I3 to I6 against a busy device */

#define RACE_MESSAGES	12000
#define RACE_SPREAD_US	120	/* more than a message takes to arrive */

struct race {
	struct stream stream;
	char err[PAIR_ERR_LEN];
	bool failed;
	atomic_bool stop;
};

static void spin_us(unsigned int us)
{
	uint64_t until = t_now_us() + us;

	while (t_now_us() < until)
		;
}

/*
 * One message or two; the next ones come when these are processed, so that a lost
 * wake-up is lost for good. They arrive when the consumer calls the verb, sooner or
 * later by up to RACE_SPREAD_US.
 */
static void *race_sender(void *arg)
{
	struct race *r = arg;
	unsigned int seed = t_options.seed;
	uint32_t left;
	int n;

	while (r->stream.sent < RACE_MESSAGES && !r->stop) {
		left = RACE_MESSAGES - r->stream.sent;
		n = stream_send(&r->stream,
				left > 1 && rand_r(&seed) % 4 == 0 ? 2 : 1,
				r->err);
		if (n < 0) {
			r->failed = true;
			break;
		}
		while (r->stream.processed < r->stream.sent && !r->stop)
			sched_yield();
	}
	return NULL;
}

struct race_counts {
	unsigned int events, empty, disorder, seed;
	uint32_t expected;
};

static void race_owner(struct race *r, struct race_counts *c)
{
	struct ibv_wc wc[8];
	bool first = true;
	int i, n;

	while ((n = verb->poll_rearm(r->stream.recv_cq, 8, wc, ANY)) > 0) {
		for (i = 0; i < n; i++)
			c->disorder += stream_number(&wc[i]) != c->expected++;
		r->stream.processed += n;
		first = false;
		spin_us(rand_r(&c->seed) % RACE_SPREAD_US);
	}
	if (n < 0)
		t_true(false, "the verb in a race: result %d", n);
	c->empty += first;
}

static void test_race(void)
{
	struct race_counts c = { .seed = t_options.seed };
	struct race r = { 0 };
	pthread_t thread;

	if (stream_open(&r.stream, &t_port[0], &t_port[1], 256, r.err))
		t_fatal("%s", r.err);
	race_owner(&r, &c);
	c.empty = 0;
	pthread_create(&thread, NULL, race_sender, &r);
	while (c.expected < RACE_MESSAGES && t_event(r.stream.channel, T_WAIT_MS)) {
		c.events++;
		race_owner(&r, &c);
	}
	t_is(c.expected, RACE_MESSAGES, "completions in a race, %u events",
	     c.events);
	/* Lets the sender come to its end, whatever happened. */
	r.stop = true;
	pthread_join(thread, NULL);
	t_true(!r.failed, "the sender in a race%s%s", r.failed ? ": " : "", r.err);
	t_is(c.empty, 0, "empty wake-ups in a race");
	t_is(c.disorder, 0, "out of order in a race");
	stream_close(&r.stream);
}

/* -------------------------------------------------------------- rearm_if_empty */

static void test_rearm_if_empty(struct t_link *l)
{
	t_is(verb->rearm_if_empty(l->b.rcq, ANY), 0, "rearm_if_empty, empty");
	expect_armed_any(l, "after rearm_if_empty on an empty CQ");
	t_is(verb->rearm_if_empty(l->b.rcq, ANY), 1, "rearm_if_empty, not empty");
	expect_not_armed(l, "after rearm_if_empty on a CQ that is not empty");
	arm(l, 0);
	t_is(verb->rearm_if_empty(l->b.rcq, SOLICITED), 1,
	     "rearm_if_empty, not empty and armed");
	expect_not_armed(l, "after rearm_if_empty has removed an arm");
	expect_verb(l, MAX_WC, ANY, 3, 0, "nothing consumed");
	t_is(verb->rearm_if_empty(l->b.rcq, SOLICITED), 0,
	     "rearm_if_empty, empty, solicited");
	expect_armed_solicited(l, "after rearm_if_empty, solicited");
}

/* The classic verbs keep their meaning on the same CQ. */
static void test_with_classic_verbs(struct t_link *l)
{
	struct ibv_wc wc[4];

	t_deliver(l, 6, 0);
	t_is(ibv_poll_cq(l->b.rcq, 2, wc), 2, "ibv_poll_cq takes 2 of 6");
	expect_verb(l, 2, ANY, 2, 2, "the next 2");
	t_is(ibv_poll_cq(l->b.rcq, 4, wc), 2, "ibv_poll_cq takes the rest");
	t_is(t_number(&wc[0]), 4, "the first of them");
	expect_empty(l, ANY);
	t_is(ibv_poll_cq(l->b.rcq, 4, wc), 0, "ibv_poll_cq of an empty CQ");
	expect_armed_any(l, "after ibv_poll_cq, which leaves the arm alone");
	t_is(ibv_poll_cq(l->b.rcq, 4, wc), 1, "ibv_poll_cq after the event");
	arm(l, 1);
	expect_armed_solicited(l, "after ibv_req_notify_cq, solicited");
}

/* ------------------------------------------------------------------------ main */

struct test {
	const char *name;
	void (*run)(struct t_link *l);	/* on a fresh link, or */
	void (*run_alone)(void);
};

static const struct test tests[] = {
	{ "not empty: min(k, n), oldest first", test_not_empty, NULL },
	{ "empty: 0 and armed (I1)", test_empty_arms, NULL },
	{ "not empty: not armed (I1)", test_not_empty_disarms, NULL },
	{ "not empty, partly taken: not armed (I1)", test_partial_disarms, NULL },
	{ "overrun", NULL, test_overrun },
	{ "wrong arguments change nothing", test_wrong_arguments, NULL },
	{ "arming never weakens an arm", test_arm_never_weakened, NULL },
	{ "errors are solicited", test_error_is_solicited, NULL },
	{ "one arm, at most one event (I2)", test_one_event_per_arm, NULL },
	{ "1,000 arms, one event", test_thousand_arms, NULL },
	{ "no empty wake-up (I3)", test_no_empty_wakeup, NULL },
	{ "the taker of an event owns the CQ (I4)", test_owner, NULL },
	{ "against a busy device (I3, I5, I6)", NULL, test_race },
	{ "rearm_if_empty", test_rearm_if_empty, NULL },
	{ "beside the classic verbs", test_with_classic_verbs, NULL },
};

int main(int argc, char **argv)
{
	struct t_link link;
	unsigned int i;

	t_args(argc, argv, "Invariants of the poll-and-rearm verb.");
	verb = t_verb_find();
	t_open();
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		t_note("%s, by %s", tests[i].name, verb->name);
		if (tests[i].run_alone) {
			tests[i].run_alone();
			continue;
		}
		t_link_open(&link, NULL);
		tests[i].run(&link);
		t_drop_all(link.b.rcq);
		t_link_close(&link);
	}
	test_channels();
	test_foreign();
	t_close();
	return t_done();
}
