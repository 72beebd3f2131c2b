// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/rxo_order.h"
#include "requester.h"

#define MS 1000000ull

static struct requester r;
static struct rxo_order o;
static struct rxo_hold hold[8];

/* Time-out 67 ms, PSN 10. */
static void start(u64 overtaking)
{
	r_init(&r);
	r.cfg.timeout = 14;
	r_start(&r, 10);
	rxo_order_init(&o, overtaking);
}

/* A receive ends; its completion is told by @id. Is it held? */
static bool ends(u32 id)
{
	bool idle = rxo_order_is_idle(&o, &r.req), held;

	hold[id].cqe.wr_id = id;
	held = rxo_order_hold(&o, &hold[id], &r.req, r.now);
	T_EQ(held, !idle);
	return held;
}

/* The oldest receive completes: it must be @id. */
static void released(u32 id)
{
	struct rxo_hold *h = rxo_order_release(&o, &r.req);

	T_CHECK(h);
	T_EQ(h->cqe.wr_id, id);
}

static bool none_released(void)
{
	return !rxo_order_release(&o, &r.req);
}

static void pop_all(void)
{
	while (r_pop(&r))
		;
}

/* A NAK, as the driver passes it on. */
static void nak(u32 psn, bool rnr)
{
	if (rnr)
		r_rnr(&r, psn);
	else
		r_nak(&r, psn, RXO_NAK_PSN);
	T_CHECK(r.ack.unexecuted);
	rxo_order_nak(&o, rxo_psn_make(psn), r.now);
	pop_all();
}

/* -------------------------------------------------------------------- hold */

T_TEST(order_hold__nothing_that_the_peer_can_have_executed)
{
	start(0);
	T_CHECK(!ends(0));		/* nothing posted */
	r_post(&r, SEND, SIG, 600);
	T_CHECK(!ends(0));		/* nothing sent */
	r_send(&r);
	r_send(&r);
	T_CHECK(!ends(0));		/* two packets of three sent */
	r_send(&r);
	T_CHECK(ends(0));
	T_EQ(o.n_hold, 1);
}

T_TEST(order_hold__no_more_once_it_is_completed)
{
	start(0);
	r_post(&r, WRITE, 0, 600);
	r_send_all(&r);
	r_ack(&r, 12);
	pop_all();
	T_CHECK(!ends(0));
	T_EQ(o.n_hold, 0);
}

/* Acknowledged is not completed: its completion has to be added first. */
T_TEST(order_hold__until_the_request_is_popped)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_ack(&r, 10);
	T_CHECK(ends(0));
	T_CHECK(none_released());
	pop_all();
	released(0);
	T_CHECK(none_released());
}

T_TEST(order_hold__a_read_alone_is_not_observed)
{
	start(0);
	r_post(&r, READ, SIG, 256);
	r_send_all(&r);
	T_CHECK(!ends(0));
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	r_ack(&r, 11);			/* its data is missing: all waits */
	pop_all();
	T_CHECK(none_released());
	r_data(&r, RXO_OP_READ_RESP_ONLY, 10, 256);
	pop_all();
	T_CHECK(none_released());
	r_send_all(&r);
	r_ack(&r, 11);
	pop_all();
	released(0);
}

/* What was sent once counts, even while it is to be sent again. */
T_TEST(order_hold__high_water_mark_after_go_back)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_time_out(&r);
	T_EQ(r.req.psn.v, 10);
	T_CHECK(ends(0));
	T_EQ(hold[0].need.v, 12);
	r_send(&r);
	r_ack(&r, 10);
	pop_all();
	T_CHECK(none_released());
	r_ack(&r, 11);			/* a late ACK for the first copy */
	pop_all();
	released(0);
}

T_TEST(order_release__oldest_first)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(1));
	T_CHECK(ends(2));
	r_ack(&r, 10);
	pop_all();
	released(0);
	T_CHECK(none_released());
	T_CHECK(ends(3));
	r_ack(&r, 11);
	pop_all();
	released(1);
	released(2);
	released(3);
	T_CHECK(none_released());
	T_CHECK(!ends(0));
}

/* One that needs nothing itself still stays behind one that does. */
T_TEST(order_release__nothing_overtakes_a_hold)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	r_ack(&r, 10);
	pop_all();
	T_CHECK(ends(1));
	released(0);
	released(1);
}

T_TEST(order_flush__all_oldest_first)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	T_CHECK(ends(1));
	T_EQ(rxo_order_flush(&o)->cqe.wr_id, 0);
	T_EQ(rxo_order_flush(&o)->cqe.wr_id, 1);
	T_CHECK(!rxo_order_flush(&o));
	T_CHECK(ends(2));		/* and the list is whole */
	T_EQ(rxo_order_flush(&o)->cqe.wr_id, 2);
}

/* PSNs that wrap under a QP that only reads never look outstanding. */
T_TEST(order_hold__very_many_reads)
{
	u32 i;

	start(0);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_ack(&r, 10);
	pop_all();
	for (i = 0; i < 4; i++) {
		r.req.una = rxo_psn_add(r.req.una, 1u << 22);
		r.req.psn = r.req.una;
		r.req.max = r.req.una;
		r_post(&r, READ, SIG, 1);
		r_send_all(&r);
		T_CHECK(!ends(0));
		r_data(&r, RXO_OP_READ_RESP_ONLY, r.req.una.v, 1);
		pop_all();
	}
}

/* --------------------------------------------------------------------- NAK */

/* The peer had not executed it when it sent the NAK, which came after M. */
T_TEST(order_nak__after_the_message_is_proof)
{
	int rnr;

	for (rnr = 0; rnr < 2; rnr++) {
		start(0);
		r_post(&r, SEND, SIG, 1);
		r_post(&r, SEND, SIG, 1);
		r_send_all(&r);
		T_CHECK(ends(0));
		nak(10, rnr);
		released(0);
		T_EQ(o.n_proven, 1);
		T_CHECK(ends(1));	/* not for those that come later */
		T_CHECK(none_released());
	}
}

/* A copy sent later may have been executed, and its ACK lost. */
T_TEST(order_nak__before_the_message_proves_nothing)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	nak(10, true);
	r.now += MS;
	r_send_all(&r);
	T_CHECK(ends(0));
	T_CHECK(none_released());
	r_ack(&r, 10);
	pop_all();
	released(0);
	T_EQ(o.n_proven, 0);
}

/* What is before its PSN has been executed, and must complete. */
T_TEST(order_nak__only_for_its_psn_and_later)
{
	start(0);
	r_post(&r, READ, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	nak(12, true);
	T_CHECK(none_released());	/* the data of the READ is missing */
	T_EQ(r.req.una.v, 10);
	r_data(&r, RXO_OP_READ_RESP_ONLY, 10, 1);
	pop_all();
	T_CHECK(none_released());
	r.now += MS;
	r_send_all(&r);
	r_ack(&r, 11);
	pop_all();
	released(0);			/* though 12 is not acknowledged */
	T_EQ(o.n_proven, 1);
}

/* Within this time the path may have put the NAK behind the message. */
T_TEST(order_nak__not_within_the_overtaking_time)
{
	start(5000);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	r.now += 5000;
	nak(10, true);
	T_CHECK(none_released());
	r.now += 1;
	nak(10, true);			/* one that the requester drops */
	T_EQ(r.ack.kind, RXO_ACK_DROP);
	released(0);
}

/* Older ones profit, younger ones do not yet. */
T_TEST(order_nak__proves_for_those_that_are_old_enough)
{
	start(5000);
	r_post(&r, READ, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	r.now += 3000;
	T_CHECK(ends(1));
	r.now += 2001;
	nak(11, false);
	r_data(&r, RXO_OP_READ_RESP_ONLY, 10, 1);
	pop_all();
	released(0);
	T_CHECK(none_released());
	r.now += 3000;
	nak(11, false);
	released(1);
	T_EQ(o.n_proven, 2);
}

/* A later NAK about less says more about all who are old enough. */
T_TEST(order_nak__the_last_one_counts)
{
	start(0);
	r_post(&r, READ, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	nak(12, true);
	T_CHECK(ends(1));
	nak(11, true);
	r_data(&r, RXO_OP_READ_RESP_ONLY, 10, 1);
	pop_all();
	released(0);
	released(1);
}

T_TEST(order_nak__other_answers_prove_nothing)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_ack(&r, 10);
	T_CHECK(!r.ack.unexecuted);
	r_rnr(&r, 10);			/* of before that ACK */
	T_CHECK(!r.ack.unexecuted);
	r_rnr(&r, 12);			/* about what was never sent */
	T_CHECK(!r.ack.unexecuted);
	r_nak(&r, 11, RXO_NAK_REM_ACCESS);
	T_CHECK(!r.ack.unexecuted);
}

/* ------------------------------------------------------------------- probe */

static struct rxo_req_act probe;

/* Something has been sent, its answer took 1 ms, several times: no deviation. */
static void time_answers(u32 n)
{
	for (; n; n--) {
		r_post(&r, SEND, SIG, 1);
		r_send_all(&r);
		r.now += MS;
		r_ack(&r, r.req.max.v - 1);
		pop_all();
	}
}

static bool probed(void)
{
	if (!rxo_order_probe(&o, &r.req, r.now, &probe))
		return false;
	rxo_req_sent(&r.req, &probe, RXO_SENT, r.now);
	rxo_order_probed(&o, &r.req, r.now);
	return true;
}

/* A probe is due @ns after now, and not before. */
static void probe_after(u64 ns)
{
	T_EQ(rxo_order_deadline(&o, &r.req), r.now + ns);
	r.now += ns - 1;
	T_CHECK(!probed());
	r.now++;
	T_CHECK(probed());
}

T_TEST(order_probe__the_last_packet_again_and_asks)
{
	start(0);
	T_EQ(rxo_order_deadline(&o, &r.req), U64_MAX);
	r_post(&r, WRITE, 0, 600);
	r_post(&r, READ, 0, 1);
	r_send_all(&r);
	T_EQ(rxo_order_deadline(&o, &r.req), U64_MAX);
	T_CHECK(ends(0));
	probe_after(10 * MS);		/* no answer timed yet */
	T_EQ(probe.pkt.psn.v, 12);
	T_EQ(probe.pkt.opcode, RXO_OP_WRITE_LAST);
	T_EQ(probe.len, 600 - 512);
	T_CHECK(probe.pkt.ackreq);
	T_EQ(r.req.psn.v, 14);		/* nothing else has changed */
	T_EQ(r.req.retry.retries_left, r.cfg.retry_cnt);
	T_EQ(o.n_probe, 1);
}

T_TEST(order_probe__backs_off_then_leaves_it_to_the_timer)
{
	u64 time_out;

	start(0);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	time_out = rxo_req_deadline(&r.req);
	T_CHECK(ends(0));
	probe_after(10 * MS);
	probe_after(r.req.retry.timeout_ns / 4);	/* sooner than 20 ms */
	T_EQ(rxo_req_deadline(&r.req), time_out);
	probe_after(r.req.retry.timeout_ns / 4);
	T_EQ(rxo_order_deadline(&o, &r.req), U64_MAX);
	r.now += 1000 * MS;
	T_CHECK(!probed());
	rxo_req_expire(&r.req, r.now);
	T_EQ(r.req.n_timeout, 1);
}

/* Three for each that is outstanding: an answer fills the number up again. */
T_TEST(order_probe__progress_starts_anew)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	r.now += 10 * MS;
	T_CHECK(probed());
	r.now += 20 * MS;
	T_CHECK(probed());
	r_ack(&r, 10);
	pop_all();
	T_CHECK(none_released());
	probe_after(r.req.retry.timeout_ns / 4);
	T_EQ(r.req.rtt.mean, 0);	/* nothing was timed: sent twice */
}

T_TEST(order_probe__adapts_to_the_answers)
{
	start(0);
	time_answers(500);
	T_EQ(r.req.rtt.mean, MS);
	T_CHECK(rxo_rtt_late(&r.req.rtt, 1, 0) < MS + MS / 100);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r.now += 17;
	T_CHECK(ends(0));
	probe_after(rxo_rtt_late(&r.req.rtt, 1, 0));
}

/* Not sooner than a peer that sleeps can answer, nor after the transport timer. */
T_TEST(order_probe__within_bounds)
{
	start(0);
	r.req.rtt.mean = 1000;
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	T_EQ(rxo_order_deadline(&o, &r.req), r.now + 200000);
	r.req.rtt.mean = 100 * MS;
	T_EQ(rxo_order_deadline(&o, &r.req),
	     r.now + r.req.retry.timeout_ns / 4);
}

T_TEST(order_probe__not_in_an_rnr_wait)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	nak(10, true);
	T_CHECK(ends(0));
	T_EQ(rxo_order_deadline(&o, &r.req), U64_MAX);
	/* Over, but it goes out again by itself and asks. */
	r.now += MS;
	rxo_req_expire(&r.req, r.now);
	T_EQ(rxo_order_deadline(&o, &r.req), U64_MAX);
	r_send_all(&r);
	probe_after(10 * MS);
}

T_TEST(order_probe__not_while_answers_arrive)
{
	u32 i;

	start(0);
	r_post(&r, READ, SIG, 256 * 20);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	for (i = 0; i < 19; i++) {
		r.now += 9 * MS;
		T_CHECK(!probed());
		r_data(&r, i ? RXO_OP_READ_RESP_MIDDLE : RXO_OP_READ_RESP_FIRST,
		       10 + i, 256);
	}
	probe_after(r.req.retry.timeout_ns / 4);
}

/* The peer has acknowledged all but the data of a READ: nothing to draw out. */
T_TEST(order_probe__not_for_a_read)
{
	start(0);
	r_post(&r, READ, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	r_nak(&r, 11, RXO_NAK_PSN);
	rxo_order_nak(&o, rxo_psn_make(11), r.now);
	r_send_all(&r);
	T_EQ(rxo_order_deadline(&o, &r.req), U64_MAX);
}

/* Its memory may be gone by now; the request itself may have been executed. */
T_TEST(order_probe__cannot_fail_the_request)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_CHECK(ends(0));
	r.now += 10 * MS;
	T_CHECK(rxo_order_probe(&o, &r.req, r.now, &probe));
	rxo_req_sent(&r.req, &probe, RXO_SENT_LOC_PROT, r.now);
	T_CHECK(!r_pop(&r));
	r_ack(&r, 10);
	r_ends(&r, 0, RXO_WC_SUCCESS);
}

/* ----------------------------------------------------------- round-trip time */

T_TEST(order_rtt__only_of_what_was_sent_once)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_time_out(&r);
	r_send_all(&r);
	r.now += MS;
	r_ack(&r, 10);
	T_EQ(r.req.rtt.mean, 0);
	time_answers(1);
	T_EQ(r.req.rtt.mean, MS);
}

/* An answer to an earlier packet does not end the measurement. */
T_TEST(order_rtt__of_the_packet_that_asked)
{
	start(0);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r.now += 300;
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r.now += 200;
	r_ack(&r, 11);
	T_EQ(r.req.rtt.mean, 500);
}
