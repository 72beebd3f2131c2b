// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Both ends send all the time. Each message says how many the sender had received
 * by then; who receives it must find that many of its own sends completed, if the
 * queue pairs have ordered completions (RXE_ORDERED_COMPLETIONS=1).
 *
 * With --receives 1 an end posts its only receive again when the last one has
 * completed, which ordered completions delay until the sends before it complete,
 * which wait for the peer's only receive: what could block must not.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#include "t.h"
#include "t_link.h"

#define OUTSTANDING	8	/* sends of each end */
#define SILENCE_MS	5000	/* an end without a receive for so long is stuck */

/* One end. */
struct side {
	struct t_end *end;
	uint32_t sent, completed;
	uint32_t received;
	uint32_t overtaken;	/* sends not completed when answered */
	uint64_t heard;		/* when something was last received, ms */
	uint64_t silence;	/* the longest, ms */
	bool wrong;		/* a completion that cannot be */
};

static bool send_more(struct side *s)
{
	struct ibv_send_wr wr = {
		.wr_id = s->sent,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(s->received),
	};

	if (s->sent - s->completed >= OUTSTANDING)
		return false;
	if (t_post_send(s->end, &wr))
		t_fatal("cannot post a send");
	s->sent++;
	return true;
}

static bool poll_sends(struct side *s)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(s->end->scq, 1, &wc);

	if (!n)
		return false;
	s->wrong |= n < 0 || wc.status != IBV_WC_SUCCESS ||
		    wc.wr_id != s->completed;
	s->completed++;
	return true;
}

static bool poll_recv(struct side *s)
{
	uint64_t now = t_now_ms();
	struct ibv_wc wc;
	int n = ibv_poll_cq(s->end->rcq, 1, &wc);

	if (now - s->heard > s->silence)
		s->silence = now - s->heard;
	if (!n)
		return false;
	s->wrong |= n < 0 || wc.status != IBV_WC_SUCCESS;
	s->heard = now;
	s->received++;
	while (poll_sends(s))
		;
	if ((int32_t)(ntohl(wc.imm_data) - s->completed) > 0)
		s->overtaken++;
	t_recv(s->end, 1);
	return true;
}

/* Return: was there anything to do? */
static bool work(struct side *s)
{
	bool any = poll_recv(s);

	any |= poll_sends(s);
	any |= send_more(s);
	return any;
}

static void arm(struct side *s)
{
	if (ibv_req_notify_cq(s->end->scq, 0) ||
	    ibv_req_notify_cq(s->end->rcq, 0))
		t_fatal("cannot arm a CQ");
}

static void sleep_until_event(struct side *a, struct side *b)
{
	struct pollfd fd[2] = {
		{ .fd = a->end->channel->fd, .events = POLLIN },
		{ .fd = b->end->channel->fd, .events = POLLIN },
	};

	poll(fd, 2, SILENCE_MS);
	while (t_event(a->end->channel, 0) || t_event(b->end->channel, 0))
		;
}

static bool is_stuck(const struct side *s)
{
	return s->wrong || t_now_ms() - s->heard > SILENCE_MS * t_slow();
}

/* Until the number of messages or the time is reached; false: one end is stuck. */
static bool stream(struct side *a, struct side *b)
{
	uint64_t end = t_now_ms() + t_options.seconds * 1000ull;
	bool any;

	a->heard = b->heard = t_now_ms();
	while (a->received < t_options.completions && t_now_ms() < end) {
		any = work(a);
		any |= work(b);
		if (any)
			continue;
		if (is_stuck(a) || is_stuck(b))
			return false;
		arm(a);
		arm(b);
		any = work(a);
		if (!(work(b) || any))
			sleep_until_event(a, b);
	}
	return true;
}

int main(int argc, char **argv)
{
	const char *env = getenv("RXE_ORDERED_COMPLETIONS");
	struct t_config config = {};
	struct side a = {}, b = {};
	uint64_t begin, us;
	struct t_link l;

	t_options.completions = UINT32_MAX;
	t_options.seconds = 600;
	t_options.receives = 64;
	t_args(argc, argv, "Both ends stream; what each has seen is in order.");
	t_open();
	pair_conn_init(&config.conn, &t_port[0], &t_port[1]);
	config.conn.min_rnr = 14;	/* 1.28 ms */
	t_link_open(&l, &config);
	a.end = &l.a;
	b.end = &l.b;
	t_recv(&l.a, t_options.receives);
	t_recv(&l.b, t_options.receives);

	begin = t_now_us();
	t_true(stream(&a, &b), "both ends go on");
	us = t_now_us() - begin;
	t_true(!a.wrong && !b.wrong, "each completion once, and successful");
	if (env && !strcmp(env, "1"))
		t_is(a.overtaken + b.overtaken, 0,
		     "receives that came before the sends they tell of");
	t_note("messages %u and %u overtaken %u longest_silence_ms %llu ns_per_message %llu",
	       a.received, b.received, a.overtaken + b.overtaken,
	       (unsigned long long)(a.silence > b.silence ? a.silence :
							    b.silence),
	       (unsigned long long)(us * 1000 / (a.received ? a.received : 1)));
	t_link_close(&l);
	t_close();
	return t_done();
}
