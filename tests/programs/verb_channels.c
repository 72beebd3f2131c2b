// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion channels and the verb: many CQs on one channel, unacknowledged
 * events, and waiting without blocking.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "t.h"
#include "t_link.h"
#include "verb_invariants.h"

#define NUM_CQS		16

/* ------------------------------------------------------- 16 CQs on one channel */

struct many {
	struct t_link link[NUM_CQS];
	struct ibv_comp_channel *channel;
};

/* Links whose receive CQs are all on one channel; the CQ context is the index. */
static void many_open(struct many *m)
{
	struct t_config config = { .cqe = 16, .send_wr = 16, .recv_wr = 16,
				   .sge = 1, .max_inline = 16, .mem = 4096,
				   .unconnected = true };
	struct t_config qp = config;
	long i;

	m->channel = t_channel(&t_port[1]);
	for (i = 0; i < NUM_CQS; i++) {
		struct t_link *l = &m->link[i];

		t_link_open(l, &config);
		ibv_destroy_qp(l->b.qp);
		ibv_destroy_cq(l->b.rcq);
		l->b.rcq = ibv_create_cq(l->b.port->ctx, 16, (void *)i,
					 m->channel, 0);
		if (!l->b.rcq)
			t_fatal("cannot create a CQ: %s", strerror(errno));
		l->b.qp = t_qp(&l->b, &qp);
		errno = pair_connect(l->a.qp, l->a.port, l->b.qp, l->b.port,
				     &l->conn);
		if (errno)
			t_fatal("cannot connect: %s", strerror(errno));
	}
}

static void many_close(struct many *m)
{
	int i;

	for (i = 0; i < NUM_CQS; i++)
		t_link_close(&m->link[i]);
	t_is(ibv_destroy_comp_channel(m->channel), 0, "destroy the channel of 16 CQs");
}

static void test_many_cqs(void)
{
	static struct many m;
	int i, bad_cq = 0, bad_context = 0, bad_result = 0, missing = 0;
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	many_open(&m);
	for (i = 0; i < NUM_CQS; i++)
		bad_result += verb->poll_rearm(m.link[i].b.rcq, 1, &wc, 0) != 0;
	/* In an order that is not that of creation. */
	for (i = 0; i < NUM_CQS; i++) {
		int k = i * 7 % NUM_CQS;

		t_deliver(&m.link[k], 1, 0);
		if (ibv_get_cq_event(m.channel, &cq, &context)) {
			missing++;
			continue;
		}
		ibv_ack_cq_events(cq, 1);
		bad_cq += cq != m.link[k].b.rcq;
		bad_context += context != (void *)(long)k;
		bad_result += verb->poll_rearm(cq, 1, &wc, 0) != 1;
	}
	t_is(missing, 0, "missing events of 16 CQs on one channel");
	t_is(bad_cq, 0, "events with the wrong CQ");
	t_is(bad_context, 0, "events with the wrong CQ context");
	t_is(bad_result, 0, "unexpected results");
	t_is(t_events(m.channel), 0, "events beyond that");
	many_close(&m);
}

/* ---------------------------------------------------------- two arms, two events */

static void test_two_events(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	struct t_link l;
	void *context;
	int i, n = 0;

	t_link_open(&l, NULL);
	for (i = 0; i < 2; i++) {
		t_is(verb->poll_rearm(l.b.rcq, 1, &wc, 0), 0, "arm %d", i + 1);
		t_deliver(&l, 1, 0);
		/* Polled, but the event stays in the channel. */
		t_is(verb->poll_rearm(l.b.rcq, 1, &wc, 0), 1, "completion %d",
		     i + 1);
	}
	while (!ibv_get_cq_event(l.b.channel, &cq, &context))
		n++;
	t_is(n, 2, "events after two arms and two completions");
	ibv_ack_cq_events(l.b.rcq, n);
	t_link_close(&l);
}

/* ------------------------------------------------- destroy waits for the last ack */

struct destroyer {
	struct ibv_cq *cq;
	atomic_bool done;
	int err;
};

static void *destroy_main(void *arg)
{
	struct destroyer *d = arg;

	d->err = ibv_destroy_cq(d->cq);
	atomic_store(&d->done, true);
	return NULL;
}

static void test_destroy_waits(void)
{
	struct destroyer d = { 0 };
	struct ibv_wc wc;
	pthread_t thread;
	struct t_link l;
	void *context;

	t_link_open(&l, NULL);
	verb->poll_rearm(l.b.rcq, 1, &wc, 0);
	t_deliver(&l, 1, 0);
	if (ibv_get_cq_event(l.b.channel, &d.cq, &context))
		t_fatal("no event: %s", strerror(errno));
	ibv_destroy_qp(l.b.qp);
	l.b.qp = NULL;
	l.b.rcq = NULL;
	pthread_create(&thread, NULL, destroy_main, &d);
	t_sleep_us(200000);
	t_true(!atomic_load(&d.done), "ibv_destroy_cq waits for the acknowledgement");
	ibv_ack_cq_events(d.cq, 1);
	pthread_join(thread, NULL);
	t_is(d.err, 0, "ibv_destroy_cq after the acknowledgement");
	t_link_close(&l);
}

/* ------------------------------------------------------------- without blocking */

static int epoll_ready(int epfd, int ms)
{
	struct epoll_event event;

	return epoll_wait(epfd, &event, 1, ms);
}

static void expect_no_event(struct t_link *l)
{
	struct ibv_cq *cq;
	void *context;
	int ret = ibv_get_cq_event(l->b.channel, &cq, &context);

	t_true(ret == -1 && errno == EAGAIN,
	       "ibv_get_cq_event with nothing there: -1 and EAGAIN");
}

static void epoll_round(struct t_link *l, int epfd, const char *mode)
{
	struct ibv_wc wc;
	int i;

	t_is(epoll_ready(epfd, T_QUIET_MS), 0, "%s: ready without an arm", mode);
	expect_no_event(l);
	for (i = 0; i < 3; i++) {
		t_is(verb->poll_rearm(l->b.rcq, 1, &wc, 0), 0, "%s: arm", mode);
		t_is(epoll_ready(epfd, T_QUIET_MS), 0,
		     "%s: ready without a completion", mode);
		t_deliver(l, 1, 0);
		t_is(epoll_ready(epfd, 2000), 1, "%s: ready", mode);
		t_true(t_event(l->b.channel, 0) == l->b.rcq,
		       "%s: the event is that of the CQ", mode);
		expect_no_event(l);
		t_is(verb->poll_rearm(l->b.rcq, 1, &wc, 0), 1,
		     "%s: completion", mode);
	}
}

static void test_epoll(uint32_t trigger, const char *mode)
{
	struct epoll_event event = { .events = EPOLLIN | trigger };
	struct t_link l;
	int epfd;

	t_link_open(&l, NULL);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (epfd < 0 || epoll_ctl(epfd, EPOLL_CTL_ADD, l.b.channel->fd, &event))
		t_fatal("epoll: %s", strerror(errno));
	epoll_round(&l, epfd, mode);
	close(epfd);
	t_link_close(&l);
}

void test_channels(void)
{
	t_note("completion channels");
	test_many_cqs();
	test_two_events();
	test_destroy_waits();
	test_epoll(0, "level-triggered");
	test_epoll(EPOLLET, "edge-triggered");
}
