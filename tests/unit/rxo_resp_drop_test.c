// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What core/rxo_resp.c says of packets that came before their turn and were not kept. */
#include "responder.h"

static void ahead(u32 psn, enum rxo_resp_result result)
{
	T_EQ(rx(RXO_OP_SEND_ONLY, psn, 1), RXO_RESP_AHEAD);
	done(result);
	T_CHECK(!next.complete && !next.fatal);
}

static void drop(u32 psn)
{
	ahead(psn, RXO_RES_BUSY);
	rxo_resp_gap(&resp, false);
}

static void keep(u32 psn)
{
	ahead(psn, RXO_RES_OK);
	rxo_resp_gap(&resp, true);
}

static void take_kept(u32 psn)
{
	struct rxo_pkt pkt = packet(RXO_OP_SEND_ONLY, psn, 1);

	rxo_resp_unkeep(&resp, &pkt);
	T_EQ(rx_pkt(&pkt), RXO_RESP_RECV);
	done(RXO_RES_OK);
}

/* In turn, and nothing is kept. */
static void arrives(u32 psn)
{
	take(RXO_OP_SEND_ONLY, psn, 1);
	rxo_resp_gap(&resp, false);
}

/* The missing packet was only late: nobody has told the peer of the one behind it. */
T_TEST(resp_dropped__behind_a_packet_that_was_late)
{
	init();
	drop(11);
	arrives(10);
	sends_ack(11, NAK_SEQ, 1);
	sends_nothing();
	arrives(11);
	T_CHECK(!rxo_resp_has_dropped(&resp));
	sends_nothing();
	T_EQ(resp.n_seq_nak, 1);
}

/* The peer sends only what the NAK asks for, and the ACK takes all that was kept. */
T_TEST(resp_dropped__behind_what_was_kept)
{
	init();
	keep(11);
	drop(12);
	drop(13);
	sends_ack(10, NAK_SEQ, 0);
	take_ask(RXO_OP_SEND_ONLY, 10, 1);
	take_kept(11);
	rxo_resp_gap(&resp, false);
	sends_ack(12, NAK_SEQ, 2);	/* no ACK of its own for 10 */
	arrives(12);
	arrives(13);
	sends_nothing();
}

/* What is kept comes first. */
T_TEST(resp_dropped__behind_another_gap)
{
	init();
	keep(12);
	drop(13);
	sends_ack(10, NAK_SEQ, 0);
	take(RXO_OP_SEND_ONLY, 10, 1);
	rxo_resp_gap(&resp, true);
	sends_ack(11, NAK_SEQ, 1);
	take(RXO_OP_SEND_ONLY, 11, 1);
	take_kept(12);
	rxo_resp_gap(&resp, false);
	sends_ack(13, NAK_SEQ, 3);
	sends_nothing();
}

/* The NAK asks for it with all the rest. */
T_TEST(resp_dropped__before_the_nak_has_left)
{
	init();
	drop(11);
	drop(12);
	sends_ack(10, NAK_SEQ, 0);
	arrives(10);
	sends_nothing();
	arrives(11);
	T_CHECK(rxo_resp_has_dropped(&resp));
	arrives(12);
	T_CHECK(!rxo_resp_has_dropped(&resp));
	sends_nothing();
}

/* A NAK has left for 13 too, but 12 has been kept since: an ACK goes beyond 11. */
T_TEST(resp_dropped__told_and_then_more_is_kept)
{
	init();
	drop(11);
	sends_ack(10, NAK_SEQ, 0);
	drop(13);
	arrives(10);
	sends_ack(11, NAK_SEQ, 1);
	keep(12);
	take_ask(RXO_OP_SEND_ONLY, 11, 1);
	take_kept(12);
	rxo_resp_gap(&resp, false);
	sends_ack(13, NAK_SEQ, 3);
	sends_nothing();
}

/*
 * The NAK for 10 has left, and a peer that goes back has sent all again: 11 overtakes 10,
 * and its copy is still kept.
 */
T_TEST(resp_dropped__the_second_copy_of_what_waits)
{
	struct rxo_pkt pkt = packet(RXO_OP_SEND_ONLY, 11, 1);

	init();
	keep(11);
	keep(12);
	sends_ack(10, NAK_SEQ, 0);
	ahead(11, RXO_RES_KEPT);
	rxo_resp_gap(&resp, true);
	arrives(10);
	pkt.ackreq = true;
	rxo_resp_unkeep(&resp, &pkt);
	T_EQ(rx_pkt(&pkt), RXO_RESP_RECV);
	done(RXO_RES_OK);
	sends_ack(11, ACK, 2);
	sends_nothing();
}

/* Before the NAK has left it is the network that repeats. */
T_TEST(resp_dropped__a_second_copy_of_the_network)
{
	struct rxo_pkt pkt = packet(RXO_OP_SEND_ONLY, 11, 1);

	init();
	keep(11);
	ahead(11, RXO_RES_KEPT);
	sends_ack(10, NAK_SEQ, 0);
	arrives(10);
	pkt.ackreq = true;
	rxo_resp_unkeep(&resp, &pkt);
	T_EQ(rx_pkt(&pkt), RXO_RESP_RECV);
	done(RXO_RES_OK);
	sends_nothing();
	/* Now it comes again. */
	T_EQ(rx_pkt(&pkt), RXO_RESP_NONE);
	done(RXO_RES_OK);
}

/* One packet after the other, with all time in between to say something. */
static void sends_all(u32 *naks)
{
	while (rxo_resp_has_tx(&resp)) {
		send();
		*naks += tx.pkt.syndrome == NAK_SEQ;
	}
}

/*
 * A peer that goes back over all of its window, and a responder that keeps nothing:
 * one NAK for the gap, one for what was dropped after that.
 */
T_TEST(resp_dropped__a_window_that_comes_again)
{
	u32 naks, psn, gap;

	init();
	for (gap = 10; gap < 10 + 3 * 64; gap += 64) {
		naks = 0;
		for (psn = gap + 1; psn < gap + 64; psn++) {
			drop(psn);
			sends_all(&naks);
		}
		T_EQ(naks, 1);
		for (psn = gap; psn < gap + 64; psn++) {
			arrives(psn);
			sends_all(&naks);
		}
		T_EQ(naks, 2);
		/* It heeds that one, too. */
		for (psn = gap + 1; psn < gap + 64; psn++) {
			T_EQ(rx(RXO_OP_SEND_ONLY, psn, 1), RXO_RESP_NONE);
			done(RXO_RES_OK);
			rxo_resp_gap(&resp, false);
			sends_all(&naks);
		}
		T_EQ(naks, 2);
		T_EQ(resp.epsn.v, gap + 64);
	}
	T_EQ(resp.n_seq_nak, 3 * 2);
}

/* All of it in one batch: there is nothing to say any more when it has ended. */
T_TEST(resp_dropped__a_window_that_comes_again_at_once)
{
	u32 psn;

	init();
	drop(11);
	sends_ack(10, NAK_SEQ, 0);
	for (psn = 12; psn < 20; psn++)
		drop(psn);
	for (psn = 10; psn < 20; psn++)
		arrives(psn);
	sends_nothing();
	T_EQ(resp.n_seq_nak, 1);	/* those that were overtaken never left */
}

/* All comes again after the wait. */
T_TEST(resp_dropped__not_after_an_rnr_nak)
{
	init();
	drop(11);
	T_EQ(rx(RXO_OP_SEND_ONLY, 10, 1), RXO_RESP_RECV);
	done(RXO_RES_NO_RECV);
	rxo_resp_gap(&resp, false);
	sends_ack(10, RNR12, 0);
	T_EQ(rx(RXO_OP_SEND_ONLY, 11, 1), RXO_RESP_DROP);
	arrives(10);
	sends_nothing();
	T_EQ(resp.n_seq_nak, 0);
}

/* The packet comes twice, and meanwhile there is a receive: the peer hears nothing. */
T_TEST(resp_dropped__behind_an_rnr_nak_that_has_not_left)
{
	init();
	T_EQ(rx(RXO_OP_SEND_ONLY, 10, 1), RXO_RESP_RECV);
	done(RXO_RES_NO_RECV);
	rxo_resp_gap(&resp, false);
	T_EQ(rx(RXO_OP_SEND_ONLY, 11, 1), RXO_RESP_DROP);
	rxo_resp_gap(&resp, false);
	arrives(10);
	sends_ack(11, NAK_SEQ, 1);
	sends_nothing();
}

T_TEST(resp_dropped__not_after_a_failure)
{
	init();
	drop(12);
	T_EQ(rx(RXO_OP_SEND_MIDDLE, 10, 256), RXO_RESP_NONE);
	done(RXO_RES_OK);
	rxo_resp_gap(&resp, false);
	sends_ack(10, NAK_INV, 0);
	sends_nothing();
}

/* The newest counts, in whatever order they came, and across the wrap. */
T_TEST(resp_dropped__newest)
{
	init();
	start(0xfffffe);
	drop(1);
	drop(0xffffff);
	arrives(0xfffffe);
	arrives(0xffffff);
	T_CHECK(rxo_resp_has_dropped(&resp));
	sends_ack(0, NAK_SEQ, 2);
	arrives(0);
	arrives(1);
	T_CHECK(!rxo_resp_has_dropped(&resp));
	sends_nothing();
}

/* The network has refused the NAK. */
T_TEST(resp_dropped__rewind)
{
	struct rxo_resp_mark mark;

	init();
	drop(11);
	mark = rxo_resp_mark(&resp);
	sends_ack(10, NAK_SEQ, 0);
	rxo_resp_rewind(&resp, &mark);
	T_EQ(resp.n_seq_nak, 0);
	arrives(10);
	sends_ack(11, NAK_SEQ, 1);
	T_EQ(resp.n_seq_nak, 1);
}
