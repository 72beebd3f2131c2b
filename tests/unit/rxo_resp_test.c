// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/rxo_key.h"
#include "core/rxo_resp.h"
#include "t.h"

#define VA	0x7000000000ull
#define KEY	0x99
#define NONE_OWED 0x1000000u

static struct rxo_resp resp;
static struct rxo_resp_cfg cfg;
static struct rxo_resp_act act;
static struct rxo_resp_next_act next;
static struct rxo_resp_tx tx;

static void start(u32 first)
{
	rxo_resp_init(&resp);
	rxo_resp_start(&resp, &cfg, rxo_psn_make(first));
}

static void init(void)
{
	cfg = (struct rxo_resp_cfg){
		.mtu = 256, .dqpn = 0x333, .pkey = RXO_DEFAULT_PKEY,
		.max_dest_rd_atomic = 2, .min_rnr_timer = 12,
		.access = RXO_ACCESS_REMOTE_WRITE | RXO_ACCESS_REMOTE_READ,
	};
	start(10);
}

static struct rxo_pkt packet(u8 op, u32 psn, u32 len)
{
	return (struct rxo_pkt){
		.opcode = op, .psn = rxo_psn_make(psn), .payload_len = len,
		.va = VA, .rkey = KEY, .dma_len = len,
		.imm = cpu_to_be32(0x1d),
	};
}

static enum rxo_resp_kind rx_pkt(const struct rxo_pkt *pkt)
{
	rxo_resp_rx(&resp, pkt, &act);
	return act.kind;
}

static enum rxo_resp_kind rx(u8 op, u32 psn, u32 len)
{
	struct rxo_pkt pkt = packet(op, psn, len);

	return rx_pkt(&pkt);
}

/* A WRITE or READ whose RETH says @total. */
static enum rxo_resp_kind rx_len(u8 op, u32 psn, u32 len, u32 total)
{
	struct rxo_pkt pkt = packet(op, psn, len);

	pkt.dma_len = total;
	return rx_pkt(&pkt);
}

/* A READ of what belongs to @psn in a READ that began at @first. */
static enum rxo_resp_kind rx_read(u32 psn, u32 first, u32 total)
{
	struct rxo_pkt pkt = packet(RXO_OP_READ_REQUEST, psn, 0);
	u32 off = rxo_psn_make(psn - first).v * cfg.mtu;

	pkt.va = VA + off;
	pkt.dma_len = total - off;
	return rx_pkt(&pkt);
}

static void done(enum rxo_resp_result result)
{
	rxo_resp_done(&resp, &act, result, &next);
}

/* Received and executed. */
static void take(u8 op, u32 psn, u32 len)
{
	T_CHECK(rx(op, psn, len) > RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(!next.fatal);
}

static void take_ask(u8 op, u32 psn, u32 len)
{
	struct rxo_pkt pkt = packet(op, psn, len);

	pkt.ackreq = true;
	T_CHECK(rx_pkt(&pkt) > RXO_RESP_NONE);
	done(RXO_RES_OK);
}

static void take_read(u32 psn, u32 total)
{
	T_EQ(rx_read(psn, psn, total), RXO_RESP_READ);
	done(RXO_RES_OK);
}

static void send(void)
{
	T_CHECK(rxo_resp_next(&resp, &tx));
	T_EQ(tx.pkt.dqpn, 0x333);
	T_EQ(tx.pkt.hdr_len, rxo_opcode_info(tx.pkt.opcode)->hdr_len);
	rxo_resp_tx_done(&resp, &tx, RXO_RESP_TX_SENT, &next);
}

/* The next packet is an ACK or NAK. */
static void sends_ack(u32 psn, u8 syndrome, u32 msn)
{
	send();
	T_EQ(tx.pkt.opcode, RXO_OP_ACK);
	T_EQ(tx.pkt.psn.v, psn);
	T_EQ(tx.pkt.syndrome, syndrome);
	T_EQ(tx.pkt.msn, msn);
	T_CHECK(!tx.is_read && !tx.len && !tx.pkt.pad);
}

/* The next packet is a READ response. */
static void sends_data(u8 op, u32 psn, u32 off, u32 len)
{
	send();
	T_CHECK(tx.is_read);
	T_EQ(tx.pkt.opcode, op);
	T_EQ(tx.pkt.psn.v, psn);
	T_EQ(tx.va, VA + off);
	T_EQ(tx.rkey, KEY);
	T_EQ(tx.len, len);
	T_EQ(tx.pkt.payload_len, len);
	T_EQ((tx.pkt.pad + len) % 4, 0);
	T_EQ(tx.pkt.syndrome, 0x1f);
}

static void sends_nothing(void)
{
	T_CHECK(!rxo_resp_has_tx(&resp));
	T_CHECK(!rxo_resp_next(&resp, &tx));
}

#define ACK	0x1f
#define NAK_SEQ	0x60
#define NAK_INV	0x61
#define NAK_ACC	0x62
#define NAK_OP	0x63
#define RNR12	0x2c

/* Refused by rxo_resp_rx(): NAK at @psn, fatal, event, and nothing after. */
static void refused(u32 psn, u8 syndrome, enum rxo_resp_event event)
{
	T_EQ(act.kind, RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(next.fatal);
	T_EQ(next.event, event);
	T_EQ(rx(RXO_OP_SEND_ONLY, psn, 1), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_STATE);
	T_CHECK(rxo_resp_has_tx(&resp));
	send();
	T_EQ(tx.pkt.opcode, RXO_OP_ACK);
	T_EQ(tx.pkt.psn.v, psn);
	T_EQ(tx.pkt.syndrome, syndrome);
	sends_nothing();
}

/* ------------------------------------------------------------------- SEND */

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
	T_EQ(rx(RXO_OP_SEND_ONLY, 12, 1), RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(!next.fatal && !next.complete);
	T_EQ(rx(RXO_OP_SEND_ONLY, 13, 1), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_SEQ);
	T_EQ(rx(RXO_OP_READ_REQUEST, 14, 0), RXO_RESP_DROP);
	sends_ack(11, NAK_SEQ, 1);	/* stands for the ACK too */
	sends_nothing();
	T_EQ(rx(RXO_OP_SEND_ONLY, 15, 1), RXO_RESP_DROP);
	sends_nothing();
	T_EQ(resp.n_seq_nak, 1);
	take(RXO_OP_SEND_ONLY, 11, 1);
	T_EQ(rx(RXO_OP_SEND_ONLY, 13, 1), RXO_RESP_NONE);	/* a new gap */
	done(RXO_RES_OK);
	sends_ack(12, NAK_SEQ, 2);
	T_EQ(resp.n_seq_nak, 2);
}

T_TEST(resp_rx__nak_waits_for_responses_and_is_overtaken)
{
	init();
	take_read(10, 300);
	T_EQ(rx(RXO_OP_SEND_ONLY, 13, 1), RXO_RESP_NONE);
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
	T_EQ(rx(RXO_OP_SEND_ONLY, 11, 1), RXO_RESP_NONE);
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
	T_EQ(rx(RXO_OP_SEND_ONLY, 1, 1), RXO_RESP_NONE);
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

/* -------------------------------------------------------------- duplicates */

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

T_TEST(resp_rx__duplicate_atomic_is_dropped)
{
	init();
	take(RXO_OP_SEND_ONLY, 10, 1);
	T_EQ(rx(RXO_OP_CMP_SWAP, 10, 0), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_DUP);
	sends_nothing();
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

/* ---------------------------------------------------------- broken messages */

struct step { u8 op; u32 len, total; };

T_TEST(resp_rx__invalid_requests)
{
	static const struct step rows[][2] = {
		/* order of opcodes */
		{ { RXO_OP_SEND_MIDDLE, 256, 0 } },
		{ { RXO_OP_SEND_LAST, 1, 0 } },
		{ { RXO_OP_WRITE_MIDDLE, 256, 0 } },
		{ { RXO_OP_WRITE_LAST_IMM, 1, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_FIRST, 256, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_ONLY, 1, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_WRITE_LAST, 1, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_WRITE_ONLY, 1, 1 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_READ_REQUEST, 0, 1 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_SEND_LAST, 44, 0 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_WRITE_ONLY, 44, 44 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_READ_REQUEST, 0, 1 } },
		/* length of a packet */
		{ { RXO_OP_SEND_FIRST, 255, 0 } },
		{ { RXO_OP_SEND_FIRST, 0, 0 } },
		{ { RXO_OP_SEND_FIRST, 260, 0 } },
		{ { RXO_OP_SEND_ONLY, 257, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_MIDDLE, 252, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_LAST, 0, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_LAST, 257, 0 } },
		{ { RXO_OP_WRITE_ONLY, 257, 257 } },
		{ { RXO_OP_WRITE_FIRST, 100, 300 } },
		/* length of a WRITE */
		{ { RXO_OP_WRITE_ONLY, 10, 9 } },
		{ { RXO_OP_WRITE_ONLY, 10, 11 } },
		{ { RXO_OP_WRITE_ONLY, 0, 1 } },
		{ { RXO_OP_WRITE_ONLY, 1, 0 } },
		{ { RXO_OP_WRITE_ONLY_IMM, 10, 0x80000001 } },
		{ { RXO_OP_WRITE_FIRST, 256, 255 } },
		{ { RXO_OP_WRITE_FIRST, 256, 0x80000001 } },
		{ { RXO_OP_WRITE_FIRST, 256, 0xffffffff } },
		{ { RXO_OP_WRITE_FIRST, 256, 256 }, { RXO_OP_WRITE_LAST, 1, 0 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_WRITE_LAST, 43, 0 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_WRITE_LAST, 45, 0 } },
		{ { RXO_OP_WRITE_FIRST, 256, 300 }, { RXO_OP_WRITE_MIDDLE, 256, 0 } },
		/* others */
		{ { RXO_OP_READ_REQUEST, 0, 0x80000001 } },
		{ { RXO_OP_CMP_SWAP, 0, 0 } },
		{ { RXO_OP_FETCH_ADD, 0, 0 } },
		{ { RXO_OP_SEND_ONLY_INV, 1, 0 } },
		{ { RXO_OP_SEND_FIRST, 256, 0 }, { RXO_OP_SEND_LAST_INV, 1, 0 } },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct step *s = rows[i];
		bool two = s[1].op || s[1].len;
		bool in_send = two && s[0].op == RXO_OP_SEND_FIRST;

		t_context("row %zu", i);
		init();
		if (two) {
			T_CHECK(rx_len(s[0].op, 10, s[0].len, s[0].total) >
				RXO_RESP_NONE);
			done(RXO_RES_OK);
		}
		s += two;
		T_EQ(rx_len(s->op, 10 + two, s->len, s->total), RXO_RESP_NONE);
		refused(10 + two, NAK_INV, RXO_RESP_EV_REQ);
		/* A receive in use is given back, flushed. */
		T_CHECK(!resp.have_recv);
		init();
		if (two) {
			rx_len(rows[i][0].op, 10, rows[i][0].len,
			       rows[i][0].total);
			done(RXO_RES_OK);
		}
		rx_len(s->op, 10 + two, s->len, s->total);
		done(RXO_RES_OK);
		T_EQ(next.complete, in_send);
		if (in_send)
			T_EQ(next.status, RXO_WC_WR_FLUSH_ERR);
	}
}

T_TEST(resp_rx__valid_extremes)
{
	init();
	T_EQ(rx_len(RXO_OP_WRITE_FIRST, 10, 256, 0x80000000), RXO_RESP_WRITE);
	init();
	T_EQ(rx_len(RXO_OP_READ_REQUEST, 10, 0, 0x80000000), RXO_RESP_READ);
	done(RXO_RES_OK);
	T_EQ(resp.epsn.v, 10 + (1 << 23));
	send();
	T_EQ(tx.pkt.opcode, RXO_OP_READ_RESP_FIRST);
	/* The last of those, asked for again. */
	T_EQ(rx_read(10 + (1 << 23) - 1, 10, 0x80000000), RXO_RESP_DROP);
	resp.job_tail = resp.job_head;
	T_EQ(rx_read(10 + (1 << 23) - 1, 10, 0x80000000), RXO_RESP_NONE);
	sends_data(RXO_OP_READ_RESP_ONLY, 10 + (1 << 23) - 1, 0x80000000 - 256,
		   256);
	init();
	take(RXO_OP_SEND_FIRST, 10, 256);
	resp.msg_off = RXO_MAX_MSG - 1;
	T_EQ(rx(RXO_OP_SEND_LAST, 11, 1), RXO_RESP_RECV);
	T_EQ(rx(RXO_OP_SEND_LAST, 11, 2), RXO_RESP_NONE);
	refused(11, NAK_INV, RXO_RESP_EV_REQ);
}

/* 2^23 PSNs may be outstanding, not one more. */
T_TEST(resp_rx__psns_stay_comparable)
{
	init();
	T_EQ(rx_len(RXO_OP_READ_REQUEST, 10, 0, 0x80000000), RXO_RESP_READ);
	done(RXO_RES_OK);
	T_EQ(rx_len(RXO_OP_READ_REQUEST, 10 + (1 << 23), 0, 1), RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(next.fatal);
	init();
	T_EQ(rx_len(RXO_OP_READ_REQUEST, 10, 0, 0x80000000 - 1024),
	     RXO_RESP_READ);
	done(RXO_RES_OK);
	take(RXO_OP_WRITE_ONLY, 10 + (1 << 23) - 4, 1);
	send();
	T_EQ(rx_len(RXO_OP_READ_REQUEST, 10 + (1 << 23) - 3, 0, 5 * 256),
	     RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(next.fatal);
}

T_TEST(resp_rx__access_flags_of_the_qp)
{
	init();
	cfg.access = RXO_ACCESS_REMOTE_READ;
	start(10);
	rx(RXO_OP_WRITE_ONLY, 10, 1);
	refused(10, NAK_ACC, RXO_RESP_EV_ACCESS);
	start(10);
	rx(RXO_OP_WRITE_ONLY, 10, 0);
	refused(10, NAK_ACC, RXO_RESP_EV_ACCESS);
	start(10);
	take_read(10, 1);

	cfg.access = RXO_ACCESS_REMOTE_WRITE;
	start(10);
	rx_read(10, 10, 1);
	refused(10, NAK_ACC, RXO_RESP_EV_ACCESS);
	start(10);
	take(RXO_OP_WRITE_ONLY, 10, 1);
	cfg.access = 0;
	rxo_resp_modify(&resp, &cfg);
	rx(RXO_OP_WRITE_ONLY, 11, 1);
	refused(11, NAK_ACC, RXO_RESP_EV_ACCESS);
}

T_TEST(resp_rx__responses_are_not_requests)
{
	init();
	T_EQ(rx(RXO_OP_ACK, 10, 0), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_QP_TYPE);
	T_EQ(rx(0x64, 10, 0), RXO_RESP_DROP);
	T_EQ(resp.epsn.v, 10);
}

/* ------------------------------------------------------ failed execution */

T_TEST(resp_done__failures)
{
	static const struct {
		u8 op;
		enum rxo_resp_result result;
		u8 syndrome;
		bool complete;
		enum rxo_status status;
		u32 opcode;
		enum rxo_resp_event event;
	} rows[] = {
		{ RXO_OP_SEND_ONLY, RXO_RES_LOC_LEN, NAK_INV, true,
		  RXO_WC_LOC_LEN_ERR, RXO_WC_RECV, RXO_RESP_EV_NONE },
		{ RXO_OP_SEND_ONLY, RXO_RES_LOC_PROT, NAK_OP, true,
		  RXO_WC_LOC_PROT_ERR, RXO_WC_RECV, RXO_RESP_EV_NONE },
		{ RXO_OP_SEND_ONLY, RXO_RES_RECV_BAD, NAK_OP, true,
		  RXO_WC_LOC_QP_OP_ERR, RXO_WC_RECV, RXO_RESP_EV_NONE },
		{ RXO_OP_WRITE_ONLY_IMM, RXO_RES_RECV_BAD, NAK_OP, true,
		  RXO_WC_LOC_QP_OP_ERR, RXO_WC_RECV_RDMA_WITH_IMM,
		  RXO_RESP_EV_NONE },
		{ RXO_OP_WRITE_ONLY, RXO_RES_ACCESS, NAK_ACC, false, 0, 0,
		  RXO_RESP_EV_ACCESS },
		{ RXO_OP_WRITE_ONLY, RXO_RES_PLACE_ACCESS, NAK_ACC, false, 0, 0,
		  RXO_RESP_EV_ACCESS },
		{ RXO_OP_WRITE_ONLY_IMM, RXO_RES_ACCESS, NAK_ACC, false, 0, 0,
		  RXO_RESP_EV_ACCESS },
		{ RXO_OP_WRITE_ONLY_IMM, RXO_RES_PLACE_ACCESS, NAK_ACC, true,
		  RXO_WC_LOC_ACCESS_ERR, RXO_WC_RECV_RDMA_WITH_IMM,
		  RXO_RESP_EV_ACCESS },
		{ RXO_OP_READ_REQUEST, RXO_RES_ACCESS, NAK_ACC, false, 0, 0,
		  RXO_RESP_EV_ACCESS },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		init();
		take_ask(RXO_OP_SEND_ONLY, 10, 1);
		T_CHECK(rx_len(rows[i].op, 11,
			       rows[i].op == RXO_OP_READ_REQUEST ? 0 : 4, 4) >
			RXO_RESP_NONE);
		done(rows[i].result);
		T_CHECK(next.fatal);
		T_EQ(next.event, rows[i].event);
		T_EQ(next.complete, rows[i].complete);
		if (rows[i].complete) {
			T_EQ(next.status, rows[i].status);
			T_EQ(next.opcode, rows[i].opcode);
		}
		T_CHECK(!resp.have_recv);
		T_EQ(resp.epsn.v, 11);
		T_EQ(rx(RXO_OP_SEND_ONLY, 11, 1), RXO_RESP_DROP);
		T_EQ(act.drop, RXO_DROP_STATE);
		T_EQ(rx(RXO_OP_SEND_ONLY, 10, 1), RXO_RESP_DROP);
		sends_ack(11, rows[i].syndrome, 1);
		sends_nothing();
	}
}

T_TEST(resp_done__failure_in_the_middle_completes_once)
{
	init();
	take(RXO_OP_SEND_FIRST, 10, 256);
	T_EQ(rx(RXO_OP_SEND_MIDDLE, 11, 256), RXO_RESP_RECV);
	T_CHECK(!act.need_recv);
	done(RXO_RES_LOC_LEN);
	T_CHECK(next.complete && next.fatal);
	T_EQ(next.status, RXO_WC_LOC_LEN_ERR);
	T_CHECK(!resp.have_recv);
	sends_ack(11, NAK_INV, 0);
}

/* ------------------------------------------------------------------ modify */

T_TEST(resp_modify__fewer_reads_are_kept)
{
	init();
	take_read(10, 1);
	take_read(11, 1);
	send();
	send();
	cfg.max_dest_rd_atomic = 1;
	cfg.mtu = 4096;			/* cannot change any more */
	rxo_resp_modify(&resp, &cfg);
	T_EQ(rx_read(10, 10, 1), RXO_RESP_DROP);
	cfg.mtu = 256;
	T_EQ(rx_read(11, 11, 1), RXO_RESP_NONE);
	take_read(12, 257);
	sends_data(RXO_OP_READ_RESP_FIRST, 12, 0, 256);
}
