// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* READs of a peer that answers, but later than the time-out expects. */
#include "requester.h"

static struct requester r;

/* Nothing is due until READ data comes just before a time-out, and starts it anew. */
static void r_patient_until(u32 psn, u8 syndrome, enum rxo_ack_kind kind,
			    u64 time_out)
{
	r.now += 8000;
	rxo_req_expire(&r.req, r.now);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	T_EQ(r_answer(&r, RXO_OP_READ_RESP_MIDDLE, psn, syndrome, 256),
	     kind);
	T_EQ(rxo_req_deadline(&r.req), r.now + time_out);
}

/*
 * A peer that answers slowly, and all that has timed out twice: the second answer to
 * the first READ is no reason to ask for the second READ again, as long as it lasts.
 */
T_TEST(ack_rx__echoes_of_a_read_are_waited_for)
{
	u64 time_out;
	u32 i;

	r_init(&r);
	r_post(&r, READ, SIG, 256 * 3);
	r_send_all(&r);
	r_time_out(&r);
	r_send_all(&r);
	r_data(&r, RXO_OP_READ_RESP_FIRST, 10, 256);
	r_data(&r, RXO_OP_READ_RESP_MIDDLE, 11, 256);
	r_data(&r, RXO_OP_READ_RESP_LAST, 12, 256);
	r_post(&r, READ, SIG, 1);
	r_send_all(&r);
	for (i = 10; i <= 12; i++)
		r_patient_until(i, 0x1f, RXO_ACK_DROP, 4 * 8192);
	/* No more than were asked for. */
	time_out = rxo_req_deadline(&r.req);
	r.now += 8000;
	T_EQ(r_answer(&r, RXO_OP_READ_RESP_MIDDLE, 12, 0x1f, 256),
	     RXO_ACK_DROP);
	T_EQ(rxo_req_deadline(&r.req), time_out);
	T_EQ(r.req.n_timeout, 1);
}

/* The peer works once in 9 us, and then answers the oldest request that it has. */
struct starved {
	u32 psn[64], head, tail;
};

static void starved_asked(struct starved *s)
{
	while (r_next(&r) == RXO_REQ_SEND) {
		r_sent(&r, RXO_SENT);
		s->psn[s->head++ % 64] = r.act.pkt.psn.v;
	}
}

static void starved_answers(struct starved *s)
{
	u32 psn = s->psn[s->tail++ % 64], i;

	for (i = 0; i < 2; i++) {
		if (r_answer(&r, i ? RXO_OP_READ_RESP_LAST :
				     RXO_OP_READ_RESP_FIRST,
			     psn + i, 0x1f, 256) == RXO_ACK_READ_DATA)
			rxo_ack_done(&r.req, &r.ack, RXO_PLACED, r.now);
	}
}

/*
 * Each READ times out before the peer gets to it. It costs a retry then, but there are
 * never more copies before the next one.
 */
T_TEST(ack_rx__a_peer_without_a_processor_is_not_given_up)
{
	struct starved s = {};
	u32 i;

	r_init(&r);
	for (i = 0; i < 20; i++) {
		r_post(&r, READ, SIG, 512);
		starved_asked(&s);
		do {
			r.now += 8192;
			rxo_req_expire(&r.req, r.now);
			starved_asked(&s);
			r.now += 808;
			starved_answers(&s);
			T_CHECK(s.head - s.tail <= 2);
		} while (!r_pop(&r));
		T_EQ(r.done.status, RXO_WC_SUCCESS);
	}
	T_CHECK(r.req.n_timeout <= 20);
}

/*
 * A peer that answers slowly, and in order: what was asked for again comes behind all
 * that it has to answer first. Until then each answer restarts the timer, once.
 */
T_TEST(ack_rx__answers_behind_a_gap_show_life)
{
	u64 time_out;
	u32 i;

	r_init(&r);
	r_post(&r, READ, SIG, 256 * 2);
	r_post(&r, READ, SIG, 256 * 5);
	r_send_all(&r);
	r_data(&r, RXO_OP_READ_RESP_FIRST, 10, 256);
	T_EQ(r_answer(&r, RXO_OP_READ_RESP_FIRST, 12, 0x1f, 256),
	     RXO_ACK_AHEAD);
	T_EQ(r_send(&r), 11);
	for (i = 13; i <= 15; i++)
		r_patient_until(i, 0, RXO_ACK_AHEAD, 8192);
	time_out = rxo_req_deadline(&r.req);
	r.now += 8000;
	T_EQ(r_answer(&r, RXO_OP_READ_RESP_MIDDLE, 15, 0, 256),
	     RXO_ACK_AHEAD);
	T_EQ(rxo_req_deadline(&r.req), time_out);
	T_EQ(r.req.n_timeout, 0);
}
