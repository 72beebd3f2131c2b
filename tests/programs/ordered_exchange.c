// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Request and answer, --completions times, and how often the completion of a
 * receive came before that of the send it answers: it must not on queue pairs with
 * ordered completions, which RXE_ORDERED_COMPLETIONS=1 makes of all of these. Sends
 * and receives have CQs of their own: who has seen the receive must find the send.
 */
#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "t_link.h"

#define DEPTH	16	/* receives posted */

/* One end of the exchange. */
struct side {
	struct t_end *end;
	uint32_t sent, received;
	uint32_t completed;	/* sends */
	uint32_t overtaken;	/* sends not completed when answered */
	bool wrong;		/* a completion that cannot be */
};

static void send_next(struct side *s)
{
	struct ibv_send_wr wr = {
		.wr_id = s->sent++,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (t_post_send(s->end, &wr))
		t_fatal("cannot post a send");
}

static void poll_sends(struct side *s)
{
	struct ibv_wc wc[4];
	int i, n;

	while ((n = ibv_poll_cq(s->end->scq, 4, wc)) > 0)
		for (i = 0; i < n; i++) {
			s->wrong |= wc[i].status != IBV_WC_SUCCESS ||
				    wc[i].wr_id != s->completed;
			s->completed++;
		}
	s->wrong |= n < 0;
}

/* Did the next message arrive? Everything sent before it has been answered. */
static bool poll_recv(struct side *s)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(s->end->rcq, 1, &wc);

	if (!n)
		return false;
	s->wrong |= n < 0 || wc.status != IBV_WC_SUCCESS;
	s->received++;
	poll_sends(s);
	s->overtaken += s->completed < s->sent;
	t_recv(s->end, 1);
	return true;
}

/* Return: whether all exchanges took place. */
static bool exchange(struct side *a, struct side *b, uint32_t total)
{
	uint64_t heard = t_now_ms();

	send_next(a);
	while (a->received < total && !a->wrong && !b->wrong) {
		if (poll_recv(b)) {
			send_next(b);
		} else if (poll_recv(a)) {
			heard = t_now_ms();
			if (a->sent < total)
				send_next(a);
		} else if (t_now_ms() - heard > 20000) {
			return false;
		}
	}
	return a->received == total;
}

int main(int argc, char **argv)
{
	const char *env = getenv("RXE_ORDERED_COMPLETIONS");
	bool ordered = env && !strcmp(env, "1");
	struct side a = {}, b = {};
	uint64_t begin, us;
	uint32_t overtaken;
	struct t_link l;

	t_options.completions = 1000;
	t_args(argc, argv, "The order of completions of requests and answers.");
	t_open();
	t_link_open(&l, NULL);
	a.end = &l.a;
	b.end = &l.b;
	t_recv(&l.a, DEPTH);
	t_recv(&l.b, DEPTH);

	begin = t_now_us();
	t_true(exchange(&a, &b, t_options.completions), "%u exchanges",
	       t_options.completions);
	us = t_now_us() - begin;
	t_true(!a.wrong && !b.wrong, "each completion once, and successful");
	overtaken = a.overtaken + b.overtaken;
	if (ordered)
		t_is(overtaken, 0, "sends overtaken by their answers");
	t_note("exchanges %u overtaken %u ns_per_exchange %llu", a.received,
	       overtaken,
	       (unsigned long long)(us * 1000 / (a.received ? a.received : 1)));
	t_link_close(&l);
	t_close();
	return t_done();
}
