// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* End-to-end credits at the requester, IBTA 9.7.7.2. */
#include "requester.h"

static struct requester r;

static enum rxo_ack_kind tells(u32 psn, u32 recvs)
{
	return r_answer(&r, RXO_OP_ACK, psn, rxo_aeth_credits_make(recvs), 0);
}

/* Connected, SEND 10 is acknowledged, and the peer has @recvs receives. */
static void init(u32 recvs)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	T_EQ(r_send(&r), 10);
	T_EQ(tells(10, recvs), RXO_ACK_TAKEN);
}

static void post(u8 opcode, u32 len, u32 n)
{
	while (n--)
		r_post(&r, opcode, SIG, len);
}

static void waits(enum rxo_req_wait wait)
{
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, wait);
}

/* Before it has said anything, and if it says that it does not say. */
T_TEST(credits__not_needed_at_a_peer_that_does_not_tell)
{
	r_init(&r);
	post(SEND, 300, 3);
	T_EQ(r_send_all(&r), 6);
	T_EQ(r_ack(&r, 15), RXO_ACK_TAKEN);
	post(SEND, 300, 3);
	T_EQ(r_send_all(&r), 6);
	T_EQ(r_ack(&r, 21), RXO_ACK_TAKEN);

	init(0);
	post(SEND, 1, 3);
	T_EQ(r_send_all(&r), 1);
	T_EQ(r_ack(&r, 11), RXO_ACK_TAKEN);
	T_EQ(r_send_all(&r), 2);
}

T_TEST(credits__as_many_sends_as_there_are_receives)
{
	init(2);
	post(SEND, 300, 4);
	T_EQ(r_send(&r), 11);
	T_EQ(r_send(&r), 12);
	T_EQ(r_send(&r), 13);
	T_CHECK(!r.act.pkt.ackreq);
	T_EQ(r_send(&r), 14);
	T_CHECK(r.act.pkt.ackreq);	/* as nothing follows */
	waits(RXO_WAIT_CREDITS);
	T_EQ(tells(12, 1), RXO_ACK_TAKEN);
	waits(RXO_WAIT_CREDITS);
	T_EQ(tells(14, 1), RXO_ACK_TAKEN);
	T_EQ(r_send_all(&r), 2);
	waits(RXO_WAIT_CREDITS);
}

/* One packet at a time, each of which asks: there is no other way to learn of more. */
T_TEST(credits__without_any_one_packet)
{
	u32 psn;

	init(0);
	post(SEND, 700, 2);
	for (psn = 11; psn < 14; psn++) {
		T_EQ(r_send(&r), psn);
		T_CHECK(r.act.pkt.ackreq);
		waits(RXO_WAIT_CREDITS);
		T_EQ(tells(psn, 0), RXO_ACK_TAKEN);
	}
	T_EQ(r_send(&r), 14);
	waits(RXO_WAIT_CREDITS);
	T_EQ(tells(14, 1), RXO_ACK_TAKEN);	/* the one in use */
	T_EQ(r_send_all(&r), 2);
}

/* The peer had none after all; then as always. */
T_TEST(credits__rnr)
{
	init(0);
	post(SEND, 1, 3);
	T_EQ(r_send(&r), 11);
	T_EQ(r_rnr(&r, 11), RXO_ACK_TAKEN);
	waits(RXO_WAIT_RNR);
	r_time_out(&r);
	T_EQ(r_send(&r), 11);
	T_CHECK(r.act.retransmit && r.act.pkt.ackreq);
	T_EQ(tells(11, 2), RXO_ACK_TAKEN);
	T_EQ(r_send_all(&r), 2);
}

T_TEST(credits__only_for_what_takes_a_receive)
{
	init(0);
	post(WRITE, 300, 2);
	post(READ, 1, 1);
	post(RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD, 8, 1);
	post(WRITE_I, 300, 1);
	T_EQ(r_send_all(&r), 6);
	waits(RXO_WAIT_CREDITS);
	T_EQ(r_answer(&r, RXO_OP_ACK, 14, 0, 0), RXO_ACK_TAKEN);
	r_data(&r, RXO_OP_READ_RESP_ONLY, 15, 1);
	T_EQ(r_answer(&r, RXO_OP_ATOMIC_ACK, 16, 0x1f, 0), RXO_ACK_RESULT);
	rxo_ack_done(&r.req, &r.ack, RXO_PLACED, r.now);
	/* The credits of results are those of ACKs: none is needed twice. */
	T_EQ(r_send(&r), 17);
	waits(RXO_WAIT_CREDITS);
	T_EQ(tells(17, 1), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 18);
}

T_TEST(credits__not_those_of_naks)
{
	init(0);
	post(SEND, 1, 2);
	T_EQ(r_send(&r), 11);
	T_EQ(r_answer(&r, RXO_OP_ACK, 11,
		      rxo_aeth_make(RXO_AETH_RNR, 30), 0), RXO_ACK_TAKEN);
	r_time_out(&r);
	T_EQ(r_send_all(&r), 1);
}

/* What is told later is more, but for ACKs that come late and for rounding. */
T_TEST(credits__are_not_taken_back)
{
	init(4);
	T_EQ(tells(10, 2), RXO_ACK_DROP);
	post(SEND, 1, 8);
	T_EQ(r_send_all(&r), 4);
	T_EQ(tells(12, 0), RXO_ACK_TAKEN);
	T_EQ(r_send_all(&r), 0);
	T_EQ(tells(11, 30), RXO_ACK_DROP);	/* old: there is no telling of what */
	waits(RXO_WAIT_CREDITS);
	T_EQ(tells(12, 3), RXO_ACK_DROP);	/* again, with more: unsolicited */
	T_EQ(r_send_all(&r), 1);
}

T_TEST(credits__going_back)
{
	init(2);
	post(SEND, 1, 3);
	T_EQ(r_send_all(&r), 2);
	r_time_out(&r);
	T_EQ(r_send(&r), 11);
	T_EQ(r_send(&r), 12);
	T_CHECK(r.act.pkt.ackreq);
	waits(RXO_WAIT_CREDITS);
}

T_TEST(credits__rewind)
{
	struct rxo_req mark;
	u32 n;

	init(2);
	post(SEND, 1, 4);
	for (n = 0; n < 3; n++) {
		mark = r.req;
		T_EQ(r_send_all(&r), 2);
		rxo_req_rewind(&r.req, &mark);
	}
	T_EQ(r_send_all(&r), 2);
	T_EQ(tells(12, 1), RXO_ACK_TAKEN);
	T_EQ(r_send_all(&r), 1);
}

/* The count of requests wraps like any other. */
T_TEST(credits__count_wraps)
{
	init(2);
	r.req.recv_no = 0xffffffff;
	T_EQ(tells(10, 2), RXO_ACK_DROP);
	r.req.recv_limit = 0xffffffff;
	T_EQ(tells(10, 2), RXO_ACK_DROP);
	post(SEND, 1, 4);
	T_EQ(r_send_all(&r), 2);
	T_EQ(tells(12, 1), RXO_ACK_TAKEN);
	T_EQ(r_send_all(&r), 1);
}
