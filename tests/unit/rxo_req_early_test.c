// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What is sent again before the time-out, because an answer is late. */
#include "requester.h"

#define MS 1000000ull

static struct requester r;
static struct rxo_req_act again;	/* the last that was sent early */

/* Time-out 67 ms, PSN 10; answers are known to take 4 ms, and no longer. */
static void start(void)
{
	r_init(&r);
	r.cfg.timeout = 14;
	r_start(&r, 10);
	r.req.rtt.mean = 4 * MS;
}

/* Nothing happens for @ns, then one packet is sent again, at no price. */
static u32 early_after(u64 ns)
{
	u64 time_out = rxo_retry_deadline(&r.req.retry);
	u64 n = r.req.n_early;
	u32 left = r.req.retry.retries_left;

	T_EQ(rxo_req_deadline(&r.req), r.now + ns);
	rxo_req_expire(&r.req, r.now + ns - 1);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	r_time_out(&r);
	T_EQ(r.req.n_early, n + 1);
	T_EQ(r_send(&r), r.req.una.v);
	again = r.act;
	T_CHECK(again.retransmit);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	T_EQ(r.req.retry.retries_left, left);
	T_EQ(rxo_retry_deadline(&r.req.retry), time_out);
	T_EQ(r.req.n_timeout, 0);
	return again.pkt.psn.v;
}

T_TEST(req_early__the_last_packet_is_lost)
{
	start();
	r_post(&r, SEND, SIG, 600);
	r_send_all(&r);
	r.now += MS;
	r_ack(&r, 11);
	T_EQ(early_after(4 * MS), 12);
	T_CHECK(again.pkt.ackreq);
	r_ack(&r, 12);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_EQ(rxo_req_deadline(&r.req), U64_MAX);
}

T_TEST(req_early__backs_off_then_leaves_it_to_the_timer)
{
	u64 sent;

	start();
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	sent = r.now;
	early_after(4 * MS);
	early_after(8 * MS);
	early_after(16 * MS);
	T_EQ(rxo_req_deadline(&r.req), sent + (4096 << 14));
	r_time_out(&r);
	T_EQ(r.req.n_timeout, 1);
	T_EQ(r.req.retry.retries_left, r.cfg.retry_cnt - 1u);
	/* The peer has still not been heard. */
	T_EQ(r_send(&r), 10);
	T_EQ(rxo_req_deadline(&r.req), r.now + (4096 << 14));
}

T_TEST(req_early__progress_starts_anew)
{
	start();
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	early_after(4 * MS);
	early_after(8 * MS);
	r_ack(&r, 10);
	T_EQ(r.req.keeps, RXO_KEEPS_MAYBE);
	/* A peer that keeps nothing may have dropped the rest. */
	T_EQ(r_send(&r), 11);
	r.req.rtt = (struct rxo_rtt){ .mean = 4 * MS };
	early_after(4 * MS);
}

T_TEST(req_early__an_rnr_nak_starts_anew)
{
	start();
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	early_after(4 * MS);
	r_rnr(&r, 10);
	T_EQ(rxo_req_deadline(&r.req), r.now + 10000);
	r_time_out(&r);
	T_EQ(r_send(&r), 10);
	early_after(8 * MS);		/* nothing was timed meanwhile */
}

T_TEST(req_early__only_if_it_is_known_what_is_late)
{
	start();
	r.req.rtt.mean = 0;
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_EQ(rxo_req_deadline(&r.req), r.now + (4096 << 14));
	r.req.rtt.mean = 1;		/* a peer may have to be woken */
	T_EQ(rxo_req_deadline(&r.req), r.now + MS);
	r.req.rtt.mean = 34 * MS;	/* the timer is as good */
	T_EQ(rxo_req_deadline(&r.req), r.now + (4096 << 14));
}

T_TEST(req_early__not_with_timeout_0)
{
	start();
	r.cfg.timeout = 0;
	rxo_req_modify(&r.req, &r.cfg);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_EQ(rxo_req_deadline(&r.req), U64_MAX);
	rxo_req_expire(&r.req, U64_MAX);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
}

T_TEST(req_early__not_while_packets_leave)
{
	u32 i;

	start();
	for (i = 0; i < 10; i++) {
		r_post(&r, WRITE, SIG, 1);
		T_EQ(r_send(&r), 10 + i);
		T_EQ(rxo_req_deadline(&r.req), r.now + 4 * MS);
		r.now += 3 * MS;
		rxo_req_expire(&r.req, r.now);
	}
	T_EQ(r.req.n_early, 0);
}

/* It may be the request that was lost: then a piece would be a READ of its own. */
T_TEST(req_early__not_for_a_result_before_its_request_is_executed)
{
	start();
	r_post(&r, READ, SIG, 600);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	T_EQ(rxo_req_deadline(&r.req), r.now + (4096 << 14));
	r_data(&r, RXO_OP_READ_RESP_FIRST, 10, 256);
	r_data(&r, RXO_OP_READ_RESP_MIDDLE, 11, 256);
	r_data(&r, RXO_OP_READ_RESP_LAST, 12, 88);
	r.req.rtt = (struct rxo_rtt){ .mean = 4 * MS };
	T_EQ(early_after(4 * MS), 13);
}

/* A READ of the PSNs 10 .. 13 of which the first has come. */
static void start_read(void)
{
	start();
	r_post(&r, READ, SIG, 1000);
	r_send_all(&r);
	r_data(&r, RXO_OP_READ_RESP_FIRST, 10, 256);
	r.req.rtt = (struct rxo_rtt){ .mean = 4 * MS };
}

static void asks_for(u32 psn, u32 npsn, u32 len)
{
	T_EQ(again.pkt.opcode, RXO_OP_READ_REQUEST);
	T_EQ(again.pkt.psn.v, psn);
	T_EQ(again.npsn, npsn);
	T_EQ(again.pkt.va, VA + (psn - 10) * 256);
	T_EQ(again.pkt.dma_len, len);
}

/* The end has been lost. */
T_TEST(req_early__one_packet_of_a_read_then_the_rest)
{
	start_read();
	early_after(4 * MS);
	asks_for(11, 1, 256);
	r_data(&r, RXO_OP_READ_RESP_ONLY, 11, 256);
	T_CHECK(rxo_ack_has_gap(&r.req));
	T_CHECK(!rxo_ack_kept_due(&r.req, NULL, r.now));
	T_EQ(r_send(&r), 12);
	again = r.act;
	asks_for(12, 2, 1000 - 512);
	r_data(&r, RXO_OP_READ_RESP_FIRST, 12, 256);
	r_data(&r, RXO_OP_READ_RESP_LAST, 13, 1000 - 768);
	T_CHECK(!rxo_ack_has_gap(&r.req));
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_EQ(rxo_req_deadline(&r.req), U64_MAX);
}

/* What was missing has been asked for again, and that is lost, too. */
T_TEST(req_early__a_repetition_of_a_read)
{
	struct rxo_psn kept = rxo_psn_make(13);

	start_read();
	T_EQ(r_answer(&r, RXO_OP_READ_RESP_LAST, 13, 0x1f, 1000 - 768),
	     RXO_ACK_AHEAD);
	T_EQ(r_send(&r), 11);
	again = r.act;
	asks_for(11, 2, 512);
	early_after(4 * MS);
	asks_for(11, 1, 256);
	r_data(&r, RXO_OP_READ_RESP_LAST, 11, 256);	/* of rdma_rxe */
	T_CHECK(!rxo_ack_kept_due(&r.req, &kept, r.now));
	T_EQ(r_send(&r), 12);
	again = r.act;
	asks_for(12, 1, 256);
	r_data(&r, RXO_OP_READ_RESP_ONLY, 12, 256);
	T_CHECK(rxo_ack_kept_due(&r.req, &kept, r.now));
}

/* The peer has all the time that the time-out gives it, at the price of three packets. */
T_TEST(req_early__a_slow_read_is_not_asked_for_without_end)
{
	u32 psn;

	start();
	r_post(&r, READ, SIG, 16 * 256);
	r_send_all(&r);
	r_data(&r, RXO_OP_READ_RESP_FIRST, 10, 256);
	r.req.rtt = (struct rxo_rtt){ .mean = 4 * MS };
	for (psn = 11; psn < 14; psn++) {
		T_EQ(early_after(4 * MS << (psn - 11)), psn);
		T_EQ(again.npsn, 1);
		r_data(&r, RXO_OP_READ_RESP_MIDDLE, psn, 256);
		T_CHECK(!rxo_ack_has_gap(&r.req));
	}
	T_EQ(rxo_req_deadline(&r.req), r.now + (4096 << 14));
	/* Those that were asked for twice say that it is at work. */
	r.now += MS;
	T_EQ(r_answer(&r, RXO_OP_READ_RESP_ONLY, 11, 0x1f, 256), RXO_ACK_DROP);
	T_EQ(rxo_req_deadline(&r.req), r.now + 4 * (4096 << 14));
	for (; psn < 25; psn++)
		r_data(&r, RXO_OP_READ_RESP_MIDDLE, psn, 256);
	r_data(&r, RXO_OP_READ_RESP_LAST, psn, 256);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r.req.rtt = (struct rxo_rtt){ .mean = 4 * MS };
	early_after(4 * MS);
}

T_TEST(req_early__a_repetition_of_an_atomic)
{
	start();
	r_post(&r, RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD, SIG, 8);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	T_EQ(rxo_req_deadline(&r.req), r.now + (4096 << 14));
	T_EQ(r_ack(&r, 11), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 10);
	r.req.rtt = (struct rxo_rtt){ .mean = 4 * MS };
	T_EQ(early_after(4 * MS), 10);
}

/* The wait begins with what was heard last, if only an old answer. */
T_TEST(req_early__not_while_the_peer_is_heard)
{
	start();
	r_post(&r, WRITE, SIG, 1);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	r_ack(&r, 10);
	r.req.rtt = (struct rxo_rtt){ .mean = 4 * MS };
	r.now += 3 * MS;
	T_EQ(r_ack(&r, 10), RXO_ACK_DROP);
	T_EQ(early_after(4 * MS), 11);
}

/* A peer that has become slow is not asked early for ever. */
T_TEST(req_early__learns)
{
	u32 i;

	start();
	for (i = 0; i < 12; i++) {
		r_post(&r, SEND, SIG, 1);
		r_send_all(&r);
		r.now += 20 * MS;
		rxo_req_expire(&r.req, r.now);
		r_send_all(&r);
		r_ack(&r, 10 + i);
	}
	T_CHECK(r.req.n_early >= 1 && r.req.n_early <= 4);
}

/* What was sent twice is not timed: it would count the waits for what was lost. */
T_TEST(req_early__losses_do_not_slow_it_down)
{
	u32 i;

	start();
	for (i = 0; i < 1000; i++) {
		r_post(&r, SEND, SIG, 1);
		r_send_all(&r);
		if (i % 3 == 1) {
			r_time_out(&r);
			r_send_all(&r);
		}
		r.now += 4 * MS;
		r_ack(&r, 10 + i);
		r_ends(&r, i, RXO_WC_SUCCESS);
	}
	T_EQ(r.req.n_early, 333);
	T_EQ(r.req.n_timeout, 0);
	T_EQ(rxo_rtt_late(&r.req.rtt, 1, 0), 4 * MS);
}

/* Nothing is concluded from what the peer says to it. */
T_TEST(req_early__does_not_judge_the_peer)
{
	start();
	r_post(&r, WRITE, SIG, 8 * 256);
	r_send_all(&r);
	early_after(4 * MS);
	r_ack(&r, 14);			/* the ACK had been lost */
	T_EQ(r.req.keeps, RXO_KEEPS_MAYBE);
	early_after(8 * MS);
	T_EQ(r_nak(&r, 17, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r.req.keeps, RXO_KEEPS_MAYBE);
}

T_TEST(req_early__a_peer_that_keeps_is_not_flooded)
{
	start();
	r.req.keeps = RXO_KEEPS_YES;
	r_post(&r, WRITE, SIG, 8 * 256);
	r_send_all(&r);
	early_after(4 * MS);
	r_ack(&r, 10);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	early_after(8 * MS);
	T_EQ(r.req.keeps, RXO_KEEPS_YES);
}

/* What stands behind a repetition says nothing about how long answers take. */
T_TEST(req_early__answers_behind_a_repair_are_not_timed)
{
	start();
	r_post(&r, WRITE, SIG, 600);
	r_send_all(&r);
	r.req.rtt_timed = false;
	T_EQ(r_nak(&r, 10, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 10);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	r.now += 30 * MS;
	r_ack(&r, 13);
	T_EQ(r.req.rtt.mean, 4 * MS);
	T_EQ(r.req.rtt.dev, 0);
}
