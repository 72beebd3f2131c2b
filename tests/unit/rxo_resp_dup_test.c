// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Duplicates of core/rxo_resp.c: acknowledged, or read again from any PSN. Those
 * of atomics are in rxo_resp_atomic_test.c.
 */
#include "responder.h"

T_TEST(resp_rx__duplicates_are_acknowledged_with_the_newest)
{
	init();
	take(RXO_OP_SEND_ONLY, 10, 1);
	take(RXO_OP_WRITE_ONLY, 11, 1);
	take(RXO_OP_SEND_ONLY, 12, 1);
	T_EQ(rx(RXO_OP_SEND_ONLY, 10, 1), RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(!next.complete && !next.fatal);
	T_EQ(rx(RXO_OP_WRITE_ONLY, 11, 1), RXO_RESP_NONE);
	done(RXO_RES_OK);
	sends_ack(12, ACK, 3);
	sends_nothing();
	T_EQ(resp.n_dup, 2);
	T_EQ(resp.msn, 3);
	T_EQ(resp.epsn.v, 13);
}

/* What the newest packet was a READ: its PSNs are no PSNs of an ACK. */
T_TEST(resp_rx__duplicate_write_after_reads)
{
	init();
	take(RXO_OP_WRITE_ONLY, 10, 1);
	take_read(11, 300);
	take_read(13, 300);
	for (int i = 0; i < 4; i++)
		send();
	T_EQ(rx(RXO_OP_WRITE_ONLY, 10, 1), RXO_RESP_NONE);
	done(RXO_RES_OK);
	sends_ack(10, ACK, 1);
}

T_TEST(resp_rx__ack_of_a_duplicate_waits_for_replayed_responses)
{
	init();
	take_read(10, 300);
	send();
	send();
	take_ask(RXO_OP_WRITE_ONLY, 12, 1);
	sends_ack(12, ACK, 2);
	T_EQ(rx_read(10, 10, 300), RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_EQ(rx(RXO_OP_WRITE_ONLY, 12, 1), RXO_RESP_NONE);
	done(RXO_RES_OK);
	sends_data(RXO_OP_READ_RESP_FIRST, 10, 0, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 11, 256, 44);
	sends_ack(12, ACK, 2);
}

T_TEST(resp_rx__duplicate_read_from_any_psn)
{
	u32 from;

	for (from = 10; from < 14; from++) {
		t_context("from %u", from);
		init();
		take_read(10, 1000);
		for (int i = 0; i < 4; i++)
			send();
		T_EQ(rx_read(from, 10, 1000), RXO_RESP_NONE);
		done(RXO_RES_OK);
		for (u32 psn = from; psn < 14; psn++) {
			u8 op = psn == 13 ? RXO_OP_READ_RESP_LAST :
					    RXO_OP_READ_RESP_MIDDLE;

			if (psn == from)
				op = psn == 13 ? RXO_OP_READ_RESP_ONLY :
						 RXO_OP_READ_RESP_FIRST;
			sends_data(op, psn, (psn - 10) * 256,
				   psn == 13 ? 232 : 256);
			T_EQ(tx.pkt.msn, 1);
		}
		sends_nothing();
		T_EQ(resp.epsn.v, 14);
		T_EQ(resp.msn, 1);
	}
}

T_TEST(resp_rx__duplicate_read_that_is_still_pending)
{
	init();
	take_read(10, 1000);
	T_EQ(rx_read(10, 10, 1000), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_DUP);
	T_EQ(rx_read(12, 10, 1000), RXO_RESP_DROP);
	send();
	send();
	T_EQ(rx_read(12, 10, 1000), RXO_RESP_DROP);
	/* Sent already, and lost: from there again, and only once. */
	T_EQ(rx_read(11, 10, 1000), RXO_RESP_NONE);
	done(RXO_RES_OK);
	sends_data(RXO_OP_READ_RESP_FIRST, 11, 256, 256);
	sends_data(RXO_OP_READ_RESP_MIDDLE, 12, 512, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 13, 768, 232);
	sends_nothing();
}

T_TEST(resp_rx__duplicate_read_must_map_to_the_original)
{
	struct rxo_pkt good = packet(RXO_OP_READ_REQUEST, 11, 0), bad;

	init();
	take(RXO_OP_SEND_ONLY, 10, 1);
	take_read(11, 1000);
	for (int i = 0; i < 4; i++)
		send();
	good.psn = rxo_psn_make(12);
	good.va = VA + 256;
	good.dma_len = 744;

	bad = good;
	bad.dma_len++;			/* beyond the end */
	T_EQ(rx_pkt(&bad), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_DUP);
	bad = good;
	bad.dma_len = 0xffffffff;
	T_EQ(rx_pkt(&bad), RXO_RESP_DROP);
	bad = good;
	bad.dma_len = 0;
	T_EQ(rx_pkt(&bad), RXO_RESP_DROP);
	bad = good;
	bad.va--;
	T_EQ(rx_pkt(&bad), RXO_RESP_DROP);
	bad = good;
	bad.rkey++;
	T_EQ(rx_pkt(&bad), RXO_RESP_DROP);
	bad = good;
	bad.psn = rxo_psn_make(10);	/* that was a SEND */
	T_EQ(rx_pkt(&bad), RXO_RESP_DROP);
	bad = good;
	bad.psn = rxo_psn_make(9);
	T_EQ(rx_pkt(&bad), RXO_RESP_DROP);
	sends_nothing();

	T_EQ(rx_pkt(&good), RXO_RESP_NONE);
	sends_data(RXO_OP_READ_RESP_FIRST, 12, 256, 256);
	send();
	send();
	sends_nothing();
	/* A piece that ends inside is answered as just that piece. */
	bad = good;
	bad.dma_len = 300;
	T_EQ(rx_pkt(&bad), RXO_RESP_NONE);
	sends_data(RXO_OP_READ_RESP_FIRST, 12, 256, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 13, 512, 44);
	sends_nothing();
}

T_TEST(resp_rx__duplicate_read_without_resource)
{
	init();
	for (u32 psn = 10; psn < 13; psn++) {
		take_read(psn, 1);
		send();
	}
	T_EQ(rx_read(10, 10, 1), RXO_RESP_DROP);	/* two are kept */
	T_EQ(act.drop, RXO_DROP_DUP);
	T_EQ(rx_read(11, 11, 1), RXO_RESP_NONE);
	T_EQ(rx_read(12, 12, 1), RXO_RESP_NONE);
	sends_data(RXO_OP_READ_RESP_ONLY, 11, 0, 1);
	sends_data(RXO_OP_READ_RESP_ONLY, 12, 0, 1);
	sends_nothing();
}

/* A replay that is overtaken by so many new READs cannot be waited for. */
T_TEST(resp_rx__stale_replays_are_forgotten)
{
	init();
	take_read(10, 600);
	for (int i = 0; i < 3; i++)
		send();
	take_read(13, 1);
	send();
	T_EQ(rx_read(10, 10, 600), RXO_RESP_NONE);
	T_EQ(rx_read(13, 13, 1), RXO_RESP_NONE);
	take_read(14, 1);		/* 10 is no longer kept */
	sends_data(RXO_OP_READ_RESP_ONLY, 13, 0, 1);
	sends_data(RXO_OP_READ_RESP_ONLY, 14, 0, 1);
	sends_nothing();
}

/* A ring as large as it gets, all slots, jobs and resources wrapping. */
T_TEST(resp_rx__many_reads)
{
	init();
	cfg.max_dest_rd_atomic = RXO_MAX_RD_ATOMIC;
	start(0xfffff0);
	for (u32 round = 0; round < 5; round++) {
		u32 first = resp.epsn.v;

		for (u32 i = 0; i < RXO_MAX_RD_ATOMIC; i++)
			take_read((first + 2 * i) & RXO_PSN_MASK, 257);
		for (u32 i = 0; i < 2 * RXO_MAX_RD_ATOMIC; i++) {
			send();
			T_EQ(tx.pkt.psn.v, (first + i) & RXO_PSN_MASK);
		}
		sends_nothing();
		for (u32 i = RXO_MAX_RD_ATOMIC; i--;)
			T_EQ(rx_read((first + 2 * i) & RXO_PSN_MASK,
				     (first + 2 * i) & RXO_PSN_MASK, 257),
			     RXO_RESP_NONE);
		for (u32 i = 0; i < 2 * RXO_MAX_RD_ATOMIC; i++)
			send();
		sends_nothing();
	}
}

/* B19: nothing about the WRITE may change. */
T_TEST(resp_rx__read_replay_within_a_write)
{
	init();
	take_read(10, 300);
	send();
	send();
	T_EQ(rx_len(RXO_OP_WRITE_FIRST, 12, 256, 600), RXO_RESP_WRITE);
	done(RXO_RES_OK);
	T_EQ(rx_read(11, 10, 300), RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_EQ(rx_len(RXO_OP_WRITE_MIDDLE, 13, 256, 0), RXO_RESP_WRITE);
	T_EQ(act.va, VA + 256);
	done(RXO_RES_OK);
	sends_data(RXO_OP_READ_RESP_ONLY, 11, 256, 44);
	T_EQ(rx(RXO_OP_WRITE_FIRST, 12, 256), RXO_RESP_NONE);	/* duplicate */
	done(RXO_RES_OK);
	sends_ack(13, ACK, 1);
	T_EQ(rx_len(RXO_OP_WRITE_LAST, 14, 88, 0), RXO_RESP_WRITE);
	T_EQ(act.va, VA + 512);
	done(RXO_RES_OK);
	T_CHECK(!next.fatal);
	T_EQ(resp.msn, 2);
}


/* -------------------------------------------------- pieces of a READ again */

/* A duplicate READ of @n whole packets from @psn on, of the one at 10. */
static enum rxo_resp_kind rx_piece(u32 psn, u32 n)
{
	struct rxo_pkt pkt = packet(RXO_OP_READ_REQUEST, psn, 0);

	pkt.va = VA + (psn - 10) * cfg.mtu;
	pkt.dma_len = n * cfg.mtu;
	return rx_pkt(&pkt);
}

/* The piece goes first, and the rest of the answer is not forgotten. */
T_TEST(resp_dup_read__piece_while_the_rest_is_under_way)
{
	init();
	take_read(10, 6 * 256);
	sends_data(RXO_OP_READ_RESP_FIRST, 10, 0, 256);
	sends_data(RXO_OP_READ_RESP_MIDDLE, 11, 256, 256);
	sends_data(RXO_OP_READ_RESP_MIDDLE, 12, 512, 256);
	T_EQ(rx_piece(11, 1), RXO_RESP_NONE);
	sends_data(RXO_OP_READ_RESP_ONLY, 11, 256, 256);
	sends_data(RXO_OP_READ_RESP_FIRST, 13, 768, 256);
	sends_data(RXO_OP_READ_RESP_MIDDLE, 14, 1024, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 15, 1280, 256);
	sends_nothing();
}

T_TEST(resp_dup_read__pieces_that_meet)
{
	init();
	take_read(10, 6 * 256);
	sends_data(RXO_OP_READ_RESP_FIRST, 10, 0, 256);
	sends_data(RXO_OP_READ_RESP_MIDDLE, 11, 256, 256);
	/* Still to come. */
	T_EQ(rx_piece(13, 2), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_DUP);
	/* Partly sent: from there on. */
	T_EQ(rx_piece(11, 3), RXO_RESP_NONE);
	sends_data(RXO_OP_READ_RESP_FIRST, 11, 256, 256);
	sends_data(RXO_OP_READ_RESP_MIDDLE, 12, 512, 256);
	/* One piece in front, a second is one too many, and may come again. */
	T_EQ(rx_piece(12, 1), RXO_RESP_NONE);
	T_EQ(rx_piece(10, 1), RXO_RESP_DROP);
	sends_data(RXO_OP_READ_RESP_ONLY, 12, 512, 256);
	T_EQ(rx_piece(10, 1), RXO_RESP_NONE);
	sends_data(RXO_OP_READ_RESP_ONLY, 10, 0, 256);
	sends_data(RXO_OP_READ_RESP_FIRST, 13, 768, 256);
	sends_data(RXO_OP_READ_RESP_MIDDLE, 14, 1024, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 15, 1280, 256);
	/* Nothing pending: two pieces, in the order of the requests. */
	T_EQ(rx_piece(14, 1), RXO_RESP_NONE);
	T_EQ(rx_piece(11, 2), RXO_RESP_NONE);
	sends_data(RXO_OP_READ_RESP_FIRST, 11, 256, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 12, 512, 256);
	sends_data(RXO_OP_READ_RESP_ONLY, 14, 1024, 256);
	sends_nothing();
}

/* ---------------------------------------------- what was kept comes a second time */

/* Of a SEND of the PSNs 10 .. 13 the second packet is lost, the rest is kept. */
static void lose_11(bool nak_leaves)
{
	init();
	take(RXO_OP_SEND_FIRST, 10, 256);
	T_EQ(rx(RXO_OP_SEND_MIDDLE, 12, 256), RXO_RESP_AHEAD);
	T_EQ(rx(RXO_OP_SEND_LAST, 13, 1), RXO_RESP_AHEAD);
	if (nak_leaves)
		sends_ack(11, NAK_SEQ, 0);
}

static void take_kept(u8 op, u32 psn, u32 len, bool ackreq)
{
	struct rxo_pkt pkt = packet(op, psn, len);

	pkt.ackreq = ackreq;
	rxo_resp_unkeep(&resp, &pkt);
	T_EQ(rx_pkt(&pkt), RXO_RESP_RECV);
	done(RXO_RES_OK);
}

/* The missing packet comes, then what was kept, of which the last asks for an ACK. */
static void fill_11(bool ackreq)
{
	if (ackreq)
		take_ask(RXO_OP_SEND_MIDDLE, 11, 256);
	else
		take(RXO_OP_SEND_MIDDLE, 11, 256);
	take_kept(RXO_OP_SEND_MIDDLE, 12, 256, false);
	take_kept(RXO_OP_SEND_LAST, 13, 1, true);
	T_CHECK(next.complete);
	T_EQ(resp.epsn.v, 14);
}

static void again(u8 op, u32 psn, u32 len, bool ackreq)
{
	struct rxo_pkt pkt = packet(op, psn, len);

	pkt.ackreq = ackreq;
	T_EQ(rx_pkt(&pkt), RXO_RESP_NONE);
	done(RXO_RES_OK);
}

/*
 * A peer that goes back is acknowledged as if nothing had been kept: not before
 * it has sent the packet that asks.
 */
T_TEST(resp_kept__acknowledged_when_it_comes_again_and_asks)
{
	lose_11(true);
	fill_11(false);
	sends_nothing();
	again(RXO_OP_SEND_MIDDLE, 12, 256, false);
	sends_nothing();
	again(RXO_OP_SEND_LAST, 13, 1, true);
	sends_ack(13, ACK, 1);
	/* That ACK has been lost: from here on it is a duplicate like any other. */
	again(RXO_OP_SEND_MIDDLE, 12, 256, false);
	sends_ack(13, ACK, 1);
}

T_TEST(resp_kept__a_third_time_is_acknowledged_at_once)
{
	lose_11(true);
	fill_11(false);
	again(RXO_OP_SEND_MIDDLE, 12, 256, false);
	sends_nothing();
	/* What asked was lost, and the peer goes back once more. */
	again(RXO_OP_SEND_MIDDLE, 11, 256, false);
	sends_ack(13, ACK, 1);
	again(RXO_OP_SEND_MIDDLE, 12, 256, false);
	sends_ack(13, ACK, 1);
}

/* A peer that sends only what is missing, as ours, asks with it. */
T_TEST(resp_kept__acknowledged_with_what_was_missing)
{
	lose_11(true);
	fill_11(true);
	sends_ack(13, ACK, 1);
	sends_nothing();
}

/* No NAK has left, so nothing comes again. */
T_TEST(resp_kept__acknowledged_if_it_was_only_overtaken)
{
	lose_11(false);
	fill_11(false);
	sends_ack(13, ACK, 1);
	sends_nothing();
}

/* What comes again after an RNR wait fills no gap: nothing behind it was kept. */
T_TEST(resp_kept__acknowledged_after_an_rnr_wait)
{
	init();
	T_EQ(rx(RXO_OP_SEND_FIRST, 10, 256), RXO_RESP_RECV);
	done(RXO_RES_NO_RECV);
	T_CHECK(rxo_resp_next(&resp, &tx));
	T_EQ(rxo_aeth_type(tx.pkt.syndrome), RXO_AETH_RNR);
	rxo_resp_tx_done(&resp, &tx, RXO_RESP_TX_SENT, &next);
	take(RXO_OP_SEND_FIRST, 10, 256);
	T_EQ(rx(RXO_OP_SEND_LAST, 12, 1), RXO_RESP_AHEAD);
	take(RXO_OP_SEND_MIDDLE, 11, 256);
	take_kept(RXO_OP_SEND_LAST, 12, 1, true);
	sends_ack(12, ACK, 1);
}

/* What the network has refused is still to be sent. */
T_TEST(resp_kept__rewind)
{
	struct rxo_resp_mark mark;

	lose_11(true);
	fill_11(true);
	mark = rxo_resp_mark(&resp);
	sends_ack(13, ACK, 1);
	T_CHECK(!resp.filled);
	rxo_resp_rewind(&resp, &mark);
	T_CHECK(resp.filled);
	sends_ack(13, ACK, 1);
}
