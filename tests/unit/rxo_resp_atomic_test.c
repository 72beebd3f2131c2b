// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Atomics at the responder: executed once, answered as often as asked. */
#include "responder.h"

#define CAS	RXO_OP_CMP_SWAP
#define FAA	RXO_OP_FETCH_ADD

static void init_atomic(u8 limit)
{
	init();
	cfg.access |= RXO_ACCESS_REMOTE_ATOMIC;
	cfg.max_dest_rd_atomic = limit;
	start(10);
}

static struct rxo_pkt atomic_packet(u8 op, u32 psn)
{
	struct rxo_pkt pkt = packet(op, psn, 0);

	pkt.swap_add = 0x1122334455667788;
	pkt.compare = 7;
	return pkt;
}

static enum rxo_resp_kind rx_atomic(u8 op, u32 psn)
{
	struct rxo_pkt pkt = atomic_packet(op, psn);

	return rx_pkt(&pkt);
}

/* Received and executed; the memory held @orig. */
static void take_atomic(u8 op, u32 psn, u64 orig)
{
	T_EQ(rx_atomic(op, psn), RXO_RESP_ATOMIC);
	T_EQ(act.va, VA);
	T_EQ(act.rkey, KEY);
	T_EQ(act.pkt.opcode, op);
	T_EQ(act.pkt.swap_add, 0x1122334455667788);
	T_EQ(act.pkt.compare, 7);
	T_CHECK(!act.need_recv && !act.check && !act.len);
	act.orig = orig;
	done(RXO_RES_OK);
	T_CHECK(!next.complete && !next.fatal);
}

static void take_again(u8 op, u32 psn)
{
	T_EQ(rx_atomic(op, psn), RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(!next.complete && !next.fatal);
}

/* The next packet is the result of an atomic. */
static void sends_result(u32 psn, u64 orig, u32 msn)
{
	send();
	T_EQ(tx.pkt.opcode, RXO_OP_ATOMIC_ACK);
	T_EQ(tx.pkt.psn.v, psn);
	T_EQ(tx.pkt.orig, orig);
	T_EQ(tx.pkt.msn, msn);
	T_EQ(tx.pkt.syndrome, ACK);
	T_CHECK(!tx.is_read && !tx.len && !tx.pkt.pad && !tx.pkt.payload_len);
}

T_TEST(resp_atomic__answered_with_what_was_there)
{
	init_atomic(2);
	take_atomic(CAS, 10, 0xfedcba9876543210);
	T_EQ(resp.epsn.v, 11);
	T_EQ(resp.msn, 1);
	take_atomic(FAA, 11, 5);
	sends_result(10, 0xfedcba9876543210, 1);
	sends_result(11, 5, 2);
	sends_nothing();
}

/* The heart of it: never executed again, whatever happens in between. */
T_TEST(resp_atomic__duplicate_is_answered_from_what_was_saved)
{
	init_atomic(2);
	take_atomic(FAA, 10, 100);
	sends_result(10, 100, 1);
	take(RXO_OP_WRITE_ONLY, 11, 8);
	take_atomic(FAA, 12, 101);
	sends_result(12, 101, 3);
	for (int i = 0; i < 3; i++) {
		take_again(FAA, 10);
		take_again(FAA, 12);
		sends_result(10, 100, 1);
		sends_result(12, 101, 3);
		sends_nothing();
	}
	T_EQ(resp.epsn.v, 13);
	T_EQ(resp.msn, 3);
	T_EQ(resp.n_dup, 6);
}

/* Its answer has not left yet and will: one is enough. */
T_TEST(resp_atomic__duplicate_of_one_not_answered_yet)
{
	init_atomic(2);
	take_atomic(CAS, 10, 1);
	T_EQ(rx_atomic(CAS, 10), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_DUP);
	sends_result(10, 1, 1);
	take_again(CAS, 10);
	T_EQ(rx_atomic(CAS, 10), RXO_RESP_DROP);
	sends_result(10, 1, 1);
	sends_nothing();
}

T_TEST(resp_atomic__result_that_is_no_longer_saved)
{
	init_atomic(2);
	for (u32 psn = 10; psn < 13; psn++) {
		take_atomic(FAA, psn, psn);
		sends_result(psn, psn, psn - 9);
	}
	T_EQ(rx_atomic(FAA, 10), RXO_RESP_DROP);	/* two are kept */
	T_EQ(act.drop, RXO_DROP_DUP);
	sends_nothing();
	take_again(FAA, 11);
	take_again(FAA, 12);
	sends_result(11, 11, 2);
	sends_result(12, 12, 3);
	sends_nothing();
	T_EQ(resp.epsn.v, 13);
}

/* READs and atomics share what is kept, and what was agreed on. */
T_TEST(resp_atomic__reads_and_atomics_share_resources)
{
	init_atomic(2);
	take_atomic(FAA, 10, 1);
	sends_result(10, 1, 1);
	take_read(11, 300);
	sends_data(RXO_OP_READ_RESP_FIRST, 11, 0, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 12, 256, 44);
	take_again(FAA, 10);
	sends_result(10, 1, 1);
	take_atomic(CAS, 13, 2);
	sends_result(13, 2, 3);
	T_EQ(rx_atomic(FAA, 10), RXO_RESP_DROP);
	T_EQ(rx_read(12, 11, 300), RXO_RESP_NONE);
	sends_data(RXO_OP_READ_RESP_ONLY, 12, 256, 44);
	sends_nothing();
}

T_TEST(resp_atomic__duplicate_must_be_the_same_request)
{
	struct rxo_pkt bad;

	init_atomic(4);
	take_atomic(FAA, 10, 1);
	sends_result(10, 1, 1);
	take_read(11, 0);
	send();
	take(RXO_OP_SEND_ONLY, 12, 1);

	T_EQ(rx_atomic(CAS, 10), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_DUP);
	T_EQ(rx_atomic(FAA, 11), RXO_RESP_DROP);	/* an empty READ */
	T_EQ(rx_atomic(FAA, 12), RXO_RESP_DROP);	/* a SEND */
	T_EQ(rx_read(10, 10, 0), RXO_RESP_DROP);	/* READ of an atomic */
	bad = atomic_packet(FAA, 10);
	bad.va += 8;
	T_EQ(rx_pkt(&bad), RXO_RESP_DROP);
	bad = atomic_packet(FAA, 10);
	bad.rkey++;
	T_EQ(rx_pkt(&bad), RXO_RESP_DROP);
	sends_nothing();
	take_again(FAA, 10);
	sends_result(10, 1, 1);
}

/* An ACK that is cumulative must not get past a result that is owed. */
T_TEST(resp_atomic__order_of_answers)
{
	init_atomic(4);
	take_ask(RXO_OP_WRITE_ONLY, 10, 1);
	take_read(11, 300);
	take_atomic(FAA, 13, 9);
	take_ask(RXO_OP_SEND_ONLY, 14, 1);
	sends_data(RXO_OP_READ_RESP_FIRST, 11, 0, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 12, 256, 44);
	sends_result(13, 9, 3);
	sends_ack(14, ACK, 4);
	sends_nothing();
	/* A NAK for a gap waits too. */
	take_atomic(FAA, 15, 10);
	T_EQ(rx(RXO_OP_SEND_ONLY, 17, 1), RXO_RESP_AHEAD);
	done(RXO_RES_OK);
	sends_result(15, 10, 5);
	sends_ack(16, NAK_SEQ, 5);
	sends_nothing();
}

T_TEST(resp_atomic__more_than_was_agreed_on)
{
	init_atomic(2);
	take_atomic(FAA, 10, 1);
	take_read(11, 1);
	T_EQ(rx_atomic(FAA, 12), RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(next.fatal);
	T_EQ(next.event, RXO_RESP_EV_REQ);
	sends_result(10, 1, 1);
	sends_data(RXO_OP_READ_RESP_ONLY, 11, 0, 1);
	sends_ack(12, NAK_INV, 2);
	sends_nothing();

	init_atomic(0);
	rx_atomic(CAS, 10);
	refused(10, NAK_INV, RXO_RESP_EV_REQ);
}

T_TEST(resp_atomic__misaligned)
{
	for (u32 off = 1; off < 8; off++) {
		struct rxo_pkt pkt;

		t_context("offset %u", off);
		init_atomic(2);
		pkt = atomic_packet(off % 2 ? CAS : FAA, 10);
		pkt.va += off;
		rx_pkt(&pkt);
		refused(10, NAK_INV, RXO_RESP_EV_REQ);
	}
}

T_TEST(resp_atomic__without_the_right)
{
	init();			/* the QP does not grant it */
	rx_atomic(FAA, 10);
	refused(10, NAK_ACC, RXO_RESP_EV_ACCESS);

	init_atomic(2);		/* the region does not */
	T_EQ(rx_atomic(FAA, 10), RXO_RESP_ATOMIC);
	done(RXO_RES_ACCESS);
	T_CHECK(next.fatal && !next.complete);
	T_EQ(next.event, RXO_RESP_EV_ACCESS);
	T_EQ(resp.epsn.v, 10);
	sends_ack(10, NAK_ACC, 0);
	sends_nothing();
}

/* Not within a message; and nothing is executed when it is out of order. */
T_TEST(resp_atomic__in_its_place)
{
	init_atomic(2);
	take(RXO_OP_SEND_FIRST, 10, 256);
	T_EQ(rx_atomic(FAA, 11), RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(next.fatal);
	sends_ack(11, NAK_INV, 0);

	init_atomic(2);
	T_EQ(rx_atomic(FAA, 11), RXO_RESP_AHEAD);
	done(RXO_RES_OK);
	sends_ack(10, NAK_SEQ, 0);
	T_EQ(rx_atomic(FAA, 11), RXO_RESP_AHEAD);
	sends_nothing();
	take_atomic(FAA, 10, 1);
	take_atomic(FAA, 11, 2);
	sends_result(10, 1, 1);
	sends_result(11, 2, 2);
}

/* Before execution the packet may be given up, and comes again. */
T_TEST(resp_atomic__busy)
{
	init_atomic(1);
	T_EQ(rx_atomic(FAA, 10), RXO_RESP_ATOMIC);
	done(RXO_RES_BUSY);
	sends_nothing();
	take_atomic(FAA, 10, 3);
	sends_result(10, 3, 1);
}

/* A train of answers that the stack refuses, results and READs mixed. */
T_TEST(resp_atomic__rewind_over_several_answers)
{
	struct rxo_resp_mark mark;

	for (u32 n = 1; n <= 5; n++) {
		t_context("%u taken back", n);
		init_atomic(4);
		take_atomic(FAA, 10, 1);
		take_atomic(FAA, 11, 2);
		take_read(12, 300);
		take_atomic(CAS, 14, 3);
		sends_result(10, 1, 1);
		mark = rxo_resp_mark(&resp);
		for (u32 i = 0; i < n && i < 4; i++)
			send();
		rxo_resp_rewind(&resp, &mark);
		sends_result(11, 2, 2);
		sends_data(RXO_OP_READ_RESP_FIRST, 12, 0, 256);
		mark = rxo_resp_mark(&resp);
		for (u32 i = 0; i < n && i < 2; i++)
			send();
		rxo_resp_rewind(&resp, &mark);
		sends_data(RXO_OP_READ_RESP_LAST, 13, 256, 44);
		sends_result(14, 3, 4);
		sends_nothing();
	}
}

/* The newest with a PSN counts: an old one may be from before the wrap. */
T_TEST(resp_atomic__psn_wrapped_around)
{
	init_atomic(2);
	take_atomic(FAA, 10, 1);
	sends_result(10, 1, 1);
	resp.epsn = rxo_psn_make(10);	/* 2^24 WRITEs later */
	take_atomic(FAA, 10, 2);
	sends_result(10, 2, 2);
	take_again(FAA, 10);
	sends_result(10, 2, 2);
}

/* As many as there can be, all slots wrapping, answered in one go. */
T_TEST(resp_atomic__many)
{
	u32 first, i;

	init_atomic(RXO_MAX_RD_ATOMIC);
	start(0xffffd0);
	for (u32 round = 0; round < 3; round++) {
		struct rxo_resp_mark mark;
		u32 msn = resp.msn + 1;

		first = resp.epsn.v;
		for (i = 0; i < RXO_MAX_RD_ATOMIC; i++)
			take_atomic(FAA, (first + i) & RXO_PSN_MASK, i);
		mark = rxo_resp_mark(&resp);
		for (i = 0; i < RXO_MAX_RD_ATOMIC; i++)
			send();
		sends_nothing();
		rxo_resp_rewind(&resp, &mark);
		for (i = 0; i < RXO_MAX_RD_ATOMIC; i++)
			sends_result((first + i) & RXO_PSN_MASK, i, msn + i);
		sends_nothing();
		for (i = 0; i < RXO_MAX_RD_ATOMIC; i++)
			take_again(FAA, (first + i) & RXO_PSN_MASK);
		for (i = 0; i < RXO_MAX_RD_ATOMIC; i++)
			sends_result((first + i) & RXO_PSN_MASK, i, msn + i);
	}
}

T_TEST(resp_atomic__fewer_are_kept)
{
	init_atomic(2);
	take_atomic(FAA, 10, 1);
	take_atomic(FAA, 11, 2);
	sends_result(10, 1, 1);
	sends_result(11, 2, 2);
	cfg.max_dest_rd_atomic = 1;
	rxo_resp_modify(&resp, &cfg);
	T_EQ(rx_atomic(FAA, 10), RXO_RESP_DROP);
	take_again(FAA, 11);
	sends_result(11, 2, 2);
	sends_nothing();
}
