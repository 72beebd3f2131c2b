// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Order: messages, acknowledgements, sequence, RNR. */
#include "responder.h"

/* ------------------------------------------------------------------- SEND */

/* What is in use for a message that has not ended counts: so does the MSN. */
T_TEST(resp_credits__receives_are_told)
{
	init();
	cfg.credits = true;
	start(10);
	resp.recvs = 5;
	take_ask(RXO_OP_SEND_ONLY, 10, 1);
	resp.recvs = 4;
	sends_ack(10, 4, 1);
	take_ask(RXO_OP_SEND_FIRST, 11, 256);
	resp.recvs = 3;
	sends_ack(11, 4, 1);
	take_ask(RXO_OP_SEND_LAST, 12, 1);
	sends_ack(12, 3, 2);
	take_read(13, 300);
	resp.recvs = 1000;		/* 768 is 19 */
	send();
	T_EQ(tx.pkt.syndrome, 19);
	send();
	T_EQ(tx.pkt.syndrome, 19);
	resp.recvs = 0;
	take_ask(RXO_OP_WRITE_ONLY, 15, 1);
	sends_ack(15, 0, 4);
}

T_TEST(resp_rx__send_only)
{
	struct rxo_pkt pkt;

	init();
	pkt = packet(RXO_OP_SEND_ONLY_IMM, 10, 77);
	pkt.solicited = true;
	T_EQ(rx_pkt(&pkt), RXO_RESP_RECV);
	T_CHECK(act.need_recv && act.last && !act.check);
	T_EQ(act.offset, 0);
	T_EQ(act.len, 77);
	done(RXO_RES_OK);
	T_CHECK(next.complete && next.with_imm && next.solicited);
	T_CHECK(!next.fatal);
	T_EQ(next.status, RXO_WC_SUCCESS);
	T_EQ(next.opcode, RXO_WC_RECV);
	T_EQ(next.byte_len, 77);
	T_EQ(be32_to_cpu(next.imm), 0x1d);
	T_EQ(resp.msn, 1);
	T_EQ(resp.epsn.v, 11);
	sends_nothing();			/* nobody asked */
}

T_TEST(resp_rx__send_of_three_packets)
{
	init();
	T_EQ(rx(RXO_OP_SEND_FIRST, 10, 256), RXO_RESP_RECV);
	T_CHECK(act.need_recv && !act.last);
	done(RXO_RES_OK);
	T_CHECK(!next.complete);
	T_EQ(rx(RXO_OP_SEND_MIDDLE, 11, 256), RXO_RESP_RECV);
	T_CHECK(!act.need_recv && !act.last);
	T_EQ(act.offset, 256);
	done(RXO_RES_OK);
	T_EQ(resp.msn, 0);
	T_EQ(rx(RXO_OP_SEND_LAST, 12, 5), RXO_RESP_RECV);
	T_CHECK(!act.need_recv && act.last);
	T_EQ(act.offset, 512);
	done(RXO_RES_OK);
	T_CHECK(next.complete && !next.with_imm);
	T_EQ(next.byte_len, 517);
	T_EQ(resp.msn, 1);
	/* The next message needs its own receive. */
	T_EQ(rx(RXO_OP_SEND_ONLY, 13, 0), RXO_RESP_RECV);
	T_CHECK(act.need_recv);
	T_EQ(act.offset, 0);
}

/* ------------------------------------------------------------------ WRITE */

T_TEST(resp_rx__write_of_three_packets)
{
	init();
	T_EQ(rx_len(RXO_OP_WRITE_FIRST, 10, 256, 600), RXO_RESP_WRITE);
	T_CHECK(act.check && !act.need_recv && !act.last);
	T_EQ(act.check_va, VA);
	T_EQ(act.check_len, 600);
	T_EQ(act.va, VA);
	T_EQ(act.rkey, KEY);
	done(RXO_RES_OK);
	T_EQ(rx_len(RXO_OP_WRITE_MIDDLE, 11, 256, 0), RXO_RESP_WRITE);
	T_CHECK(!act.check);
	T_EQ(act.va, VA + 256);
	T_EQ(act.rkey, KEY);
	done(RXO_RES_OK);
	T_EQ(rx_len(RXO_OP_WRITE_LAST_IMM, 12, 88, 0), RXO_RESP_WRITE);
	T_CHECK(act.need_recv && act.last);
	T_EQ(act.va, VA + 512);
	T_EQ(act.len, 88);
	done(RXO_RES_OK);
	T_CHECK(next.complete && next.with_imm);
	T_EQ(next.opcode, RXO_WC_RECV_RDMA_WITH_IMM);
	T_EQ(next.byte_len, 600);
	T_EQ(resp.msn, 1);
}

T_TEST(resp_rx__write_only)
{
	init();
	T_EQ(rx(RXO_OP_WRITE_ONLY, 10, 256), RXO_RESP_WRITE);
	T_CHECK(act.check && act.last && !act.need_recv);
	done(RXO_RES_OK);
	T_CHECK(!next.complete);
	T_EQ(resp.msn, 1);
	T_EQ(rx(RXO_OP_WRITE_ONLY, 11, 0), RXO_RESP_WRITE);
	T_CHECK(!act.check);		/* no byte, no region */
	done(RXO_RES_OK);
	T_EQ(rx(RXO_OP_WRITE_ONLY_IMM, 12, 1), RXO_RESP_WRITE);
	T_CHECK(act.need_recv);
}

/* -------------------------------------------------------------- ACK owed */

T_TEST(resp_next__acks_are_coalesced)
{
	init();
	take(RXO_OP_SEND_ONLY, 10, 1);
	take_ask(RXO_OP_SEND_ONLY, 11, 1);
	take_ask(RXO_OP_WRITE_ONLY, 12, 1);
	take(RXO_OP_SEND_ONLY, 13, 1);
	sends_ack(13, ACK, 4);
	sends_nothing();
}

T_TEST(resp_next__ack_in_the_middle_of_a_message)
{
	init();
	take_ask(RXO_OP_SEND_FIRST, 10, 256);
	sends_ack(10, ACK, 0);
	take(RXO_OP_SEND_LAST, 11, 1);
	sends_nothing();
}

T_TEST(resp_next__busy_sends_the_same_again)
{
	init();
	take_ask(RXO_OP_SEND_ONLY, 10, 1);
	T_CHECK(rxo_resp_next(&resp, &tx));
	rxo_resp_tx_done(&resp, &tx, RXO_RESP_TX_BUSY, &next);
	sends_ack(10, ACK, 1);
	take_read(11, 300);
	T_CHECK(rxo_resp_next(&resp, &tx));
	rxo_resp_tx_done(&resp, &tx, RXO_RESP_TX_BUSY, &next);
	sends_data(RXO_OP_READ_RESP_FIRST, 11, 0, 256);
}

/* ------------------------------------------------------------------- READ */

T_TEST(resp_rx__read)
{
	init();
	T_EQ(rx_read(10, 10, 600), RXO_RESP_READ);
	T_CHECK(act.check);
	T_EQ(act.check_va, VA);
	T_EQ(act.check_len, 600);
	T_EQ(act.rkey, KEY);
	done(RXO_RES_OK);
	T_EQ(resp.epsn.v, 13);
	T_EQ(resp.msn, 1);
	sends_data(RXO_OP_READ_RESP_FIRST, 10, 0, 256);
	T_EQ(tx.pkt.msn, 1);
	sends_data(RXO_OP_READ_RESP_MIDDLE, 11, 256, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 12, 512, 88);
	sends_nothing();
}

T_TEST(resp_rx__read_sizes)
{
	static const struct { u32 len; u8 op[2]; u32 bytes[2], n; } rows[] = {
		{ 0, { 0x10 }, { 0 }, 1 },
		{ 1, { 0x10 }, { 1 }, 1 },
		{ 256, { 0x10 }, { 256 }, 1 },
		{ 257, { 0x0d, 0x0f }, { 256, 1 }, 2 },
		{ 512, { 0x0d, 0x0f }, { 256, 256 }, 2 },
	};
	size_t i;
	u32 k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		init();
		start(0xffffff);
		T_EQ(rx_read(0xffffff, 0xffffff, rows[i].len), RXO_RESP_READ);
		T_EQ(act.check, rows[i].len > 0);
		done(RXO_RES_OK);
		for (k = 0; k < rows[i].n; k++)
			sends_data(rows[i].op[k], (0xffffff + k) & RXO_PSN_MASK,
				   256 * k, rows[i].bytes[k]);
		sends_nothing();
		T_EQ(resp.epsn.v, (0xffffff + k) & RXO_PSN_MASK);
	}
}

T_TEST(resp_rx__read_limit)
{
	init();
	take_read(10, 300);
	take_read(12, 300);
	T_EQ(rx_read(14, 14, 300), RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(next.fatal);
	T_EQ(next.event, RXO_RESP_EV_REQ);
	/* What was executed is still answered, then comes the NAK. */
	sends_data(RXO_OP_READ_RESP_FIRST, 10, 0, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 11, 256, 44);
	sends_data(RXO_OP_READ_RESP_FIRST, 12, 0, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 13, 256, 44);
	sends_ack(14, NAK_INV, 2);
	sends_nothing();

	init();				/* one answered: room again */
	take_read(10, 1);
	take_read(11, 1);
	send();
	take_read(12, 1);

	init();
	cfg.max_dest_rd_atomic = 0;
	start(10);
	rx_read(10, 10, 1);
	refused(10, NAK_INV, RXO_RESP_EV_REQ);
}

/* An ACK never comes before responses with smaller PSNs. */
T_TEST(resp_next__order_of_ack_and_responses)
{
	init();
	take_ask(RXO_OP_SEND_ONLY, 10, 1);
	take_read(11, 300);
	sends_ack(10, ACK, 1);		/* not the MSN after the READ */
	take_ask(RXO_OP_WRITE_ONLY, 13, 1);
	sends_data(RXO_OP_READ_RESP_FIRST, 11, 0, 256);
	T_EQ(tx.pkt.msn, 2);
	sends_data(RXO_OP_READ_RESP_LAST, 12, 256, 44);
	sends_ack(13, ACK, 3);
	sends_nothing();
}

T_TEST(resp_next__ack_between_two_reads)
{
	init();
	take_read(10, 1);
	take_ask(RXO_OP_WRITE_ONLY, 11, 1);
	take_read(12, 1);
	sends_data(RXO_OP_READ_RESP_ONLY, 10, 0, 1);
	sends_ack(11, ACK, 2);
	sends_data(RXO_OP_READ_RESP_ONLY, 12, 0, 1);
	sends_nothing();
}

T_TEST(resp_tx_done__region_has_gone)
{
	init();
	take_read(10, 600);
	take_read(13, 600);
	take_ask(RXO_OP_SEND_FIRST, 16, 256);
	send();
	T_CHECK(rxo_resp_next(&resp, &tx));
	rxo_resp_tx_done(&resp, &tx, RXO_RESP_TX_ACCESS, &next);
	T_CHECK(next.fatal);
	T_EQ(next.event, RXO_RESP_EV_ACCESS);
	T_CHECK(next.complete);		/* the SEND that will not end */
	T_EQ(next.status, RXO_WC_WR_FLUSH_ERR);
	T_CHECK(!resp.have_recv);
	T_EQ(rx(RXO_OP_SEND_LAST, 17, 1), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_STATE);
	send();
	T_EQ(tx.pkt.psn.v, 11);
	T_EQ(tx.pkt.syndrome, NAK_ACC);
	sends_nothing();
}

/* --------------------------------------------------------------- sequence */

T_TEST(resp_rx__one_nak_per_gap)
{
	init();
	take_ask(RXO_OP_SEND_ONLY, 10, 1);
	T_EQ(rx(RXO_OP_SEND_ONLY, 12, 1), RXO_RESP_AHEAD);
	done(RXO_RES_OK);
	T_CHECK(!next.fatal && !next.complete);
	T_EQ(rx(RXO_OP_SEND_ONLY, 13, 1), RXO_RESP_AHEAD);
	T_EQ(act.drop, RXO_DROP_SEQ);
	T_EQ(rx(RXO_OP_READ_REQUEST, 14, 0), RXO_RESP_AHEAD);
	sends_ack(11, NAK_SEQ, 1);	/* stands for the ACK too */
	sends_nothing();
	T_EQ(rx(RXO_OP_SEND_ONLY, 15, 1), RXO_RESP_AHEAD);
	sends_nothing();
	T_EQ(resp.n_seq_nak, 1);
	take(RXO_OP_SEND_ONLY, 11, 1);
	T_EQ(rx(RXO_OP_SEND_ONLY, 13, 1), RXO_RESP_AHEAD);	/* a new gap */
	done(RXO_RES_OK);
	sends_ack(12, NAK_SEQ, 2);
	T_EQ(resp.n_seq_nak, 2);
}

/* What is kept behind it is brought again; one more gap is news at once. */
T_TEST(resp_gap__is_reported_once)
{
	init();
	T_EQ(rx(RXO_OP_SEND_ONLY, 11, 1), RXO_RESP_AHEAD);
	T_EQ(rx(RXO_OP_SEND_ONLY, 13, 1), RXO_RESP_AHEAD);
	sends_ack(10, NAK_SEQ, 0);
	rxo_resp_gap(&resp, true);
	sends_nothing();
	take_ask(RXO_OP_SEND_ONLY, 10, 1);
	take(RXO_OP_SEND_ONLY, 11, 1);
	rxo_resp_gap(&resp, true);
	rxo_resp_gap(&resp, true);
	sends_ack(12, NAK_SEQ, 2);	/* no ACK of its own for 10 */
	sends_nothing();
	T_EQ(resp.n_seq_nak, 2);
}

/* The peer sends all of it again when the time is over. */
T_TEST(resp_rx__nothing_is_kept_behind_an_rnr_nak)
{
	init();
	T_EQ(rx(RXO_OP_SEND_ONLY, 10, 1), RXO_RESP_RECV);
	done(RXO_RES_NO_RECV);
	T_EQ(rx(RXO_OP_SEND_ONLY, 11, 1), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_SEQ);
	sends_ack(10, RNR12, 0);
	take(RXO_OP_SEND_ONLY, 10, 1);
	T_EQ(rx(RXO_OP_SEND_ONLY, 12, 1), RXO_RESP_AHEAD);
	sends_ack(11, NAK_SEQ, 1);
}

T_TEST(resp_gap__not_after_a_failure)
{
	init();
	T_EQ(rx(RXO_OP_SEND_MIDDLE, 10, 256), RXO_RESP_NONE);
	done(RXO_RES_OK);
	rxo_resp_gap(&resp, true);
	sends_ack(10, NAK_INV, 0);
	sends_nothing();
}

T_TEST(resp_rx__nak_waits_for_responses_and_is_overtaken)
{
	init();
	take_read(10, 300);
	T_EQ(rx(RXO_OP_SEND_ONLY, 13, 1), RXO_RESP_AHEAD);
	done(RXO_RES_OK);
	sends_data(RXO_OP_READ_RESP_FIRST, 10, 0, 256);
	sends_data(RXO_OP_READ_RESP_LAST, 11, 256, 44);
	T_CHECK(rxo_resp_has_tx(&resp));
	take_ask(RXO_OP_SEND_ONLY, 12, 1);	/* it was only late */
	sends_ack(12, ACK, 2);
	sends_nothing();
}

T_TEST(resp_rx__a_busy_packet_is_news_when_it_is_missing)
{
	init();
	rx(RXO_OP_SEND_ONLY, 11, 1);
	done(RXO_RES_OK);
	sends_ack(10, NAK_SEQ, 0);
	T_EQ(rx(RXO_OP_SEND_ONLY, 10, 1), RXO_RESP_RECV);
	done(RXO_RES_BUSY);
	T_EQ(resp.epsn.v, 10);
	T_CHECK(!resp.have_recv);
	T_EQ(rx(RXO_OP_SEND_ONLY, 11, 1), RXO_RESP_AHEAD);
	done(RXO_RES_OK);
	sends_ack(10, NAK_SEQ, 0);
}

T_TEST(resp_rx__psn_wrap)
{
	init();
	start(0xffffff);
	take_ask(RXO_OP_SEND_ONLY, 0xffffff, 1);
	sends_ack(0xffffff, ACK, 1);
	T_EQ(rx(RXO_OP_SEND_ONLY, 0xffffff, 1), RXO_RESP_NONE);
	done(RXO_RES_OK);
	sends_ack(0xffffff, ACK, 1);
	T_EQ(rx(RXO_OP_SEND_ONLY, 1, 1), RXO_RESP_AHEAD);
	done(RXO_RES_OK);
	sends_ack(0, NAK_SEQ, 1);
	take(RXO_OP_SEND_ONLY, 0, 1);
	T_EQ(resp.epsn.v, 1);
}

T_TEST(resp_rx__msn_wraps_at_24_bits)
{
	init();
	resp.msn = 0xffffff;
	take_ask(RXO_OP_SEND_ONLY, 10, 1);
	sends_ack(10, ACK, 0);
	resp.msn = 0xffffff;
	take_read(11, 1);
	send();
	T_EQ(tx.pkt.msn, 0);
}

/* -------------------------------------------------------------------- RNR */

T_TEST(resp_done__rnr)
{
	init();
	take_ask(RXO_OP_WRITE_ONLY, 10, 1);
	T_EQ(rx(RXO_OP_SEND_FIRST, 11, 256), RXO_RESP_RECV);
	done(RXO_RES_NO_RECV);
	T_CHECK(!next.complete && !next.fatal);
	/* What follows is dropped without a NAK. */
	T_EQ(rx(RXO_OP_SEND_LAST, 12, 1), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_SEQ);
	sends_ack(11, RNR12, 1);
	sends_nothing();
	T_EQ(rx(RXO_OP_SEND_ONLY, 13, 1), RXO_RESP_DROP);
	sends_nothing();
	T_EQ(resp.epsn.v, 11);
	T_EQ(resp.msg_class, RXO_CLASS_NONE);
	/* Again, and again not ready. */
	T_EQ(rx(RXO_OP_SEND_FIRST, 11, 256), RXO_RESP_RECV);
	T_CHECK(act.need_recv);
	done(RXO_RES_NO_RECV);
	sends_ack(11, RNR12, 1);
	T_EQ(resp.n_rnr_nak, 2);
	take(RXO_OP_SEND_FIRST, 11, 256);
	take(RXO_OP_SEND_LAST, 12, 1);
	T_CHECK(next.complete);
	T_EQ(next.byte_len, 257);
}

T_TEST(resp_done__rnr_of_the_last_write_packet)
{
	init();
	T_EQ(rx_len(RXO_OP_WRITE_FIRST, 10, 256, 257), RXO_RESP_WRITE);
	done(RXO_RES_OK);
	T_EQ(rx_len(RXO_OP_WRITE_LAST_IMM, 11, 1, 0), RXO_RESP_WRITE);
	T_CHECK(act.need_recv);
	done(RXO_RES_NO_RECV);
	sends_ack(11, RNR12, 0);
	T_EQ(resp.msg_off, 256);
	T_EQ(rx_len(RXO_OP_WRITE_LAST_IMM, 11, 1, 0), RXO_RESP_WRITE);
	T_CHECK(act.need_recv);
	T_EQ(act.va, VA + 256);
	done(RXO_RES_OK);
	T_CHECK(next.complete);
	T_EQ(next.byte_len, 257);
}

T_TEST(resp_done__rnr_nak_is_overtaken)
{
	init();
	rx(RXO_OP_SEND_ONLY, 10, 1);
	done(RXO_RES_NO_RECV);
	take_ask(RXO_OP_SEND_ONLY, 10, 1);
	sends_ack(10, ACK, 1);
	sends_nothing();
}
