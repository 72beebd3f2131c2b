// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "requester.h"

static struct requester r;

#define FIRST	RXO_OP_READ_RESP_FIRST
#define MIDDLE	RXO_OP_READ_RESP_MIDDLE
#define LAST	RXO_OP_READ_RESP_LAST
#define ONLY	RXO_OP_READ_RESP_ONLY

/* ---------------------------------------------------------------- positive */

T_TEST(ack_rx__cumulative)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, WRITE, SIG, 300);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_EQ(r_ack(&r, 12), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_SUCCESS);
	T_CHECK(!r_pop(&r));
	T_EQ(r.req.una.v, 13);
}

T_TEST(ack_rx__part_of_a_message)
{
	r_init(&r);
	r_post(&r, WRITE, SIG, 600);
	r_send_all(&r);
	T_EQ(r_ack(&r, 10), RXO_ACK_TAKEN);
	T_EQ(r.req.una.v, 11);
	T_CHECK(!r_pop(&r));
	T_EQ(r_ack(&r, 11), RXO_ACK_TAKEN);
	T_CHECK(!r_pop(&r));
	T_EQ(r_ack(&r, 12), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_SUCCESS);
}

T_TEST(ack_rx__stale_ghost_and_foreign)
{
	r_init(&r);
	T_EQ(r_ack(&r, 10), RXO_ACK_DROP);	/* nothing was sent */
	T_EQ(r.ack.drop, RXO_DROP_GHOST_ACK);
	T_EQ(r_ack(&r, 9), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_STALE_ACK);
	r_post(&r, SEND, SIG, 600);
	r_send(&r);
	r_send(&r);
	T_EQ(r_ack(&r, 12), RXO_ACK_DROP);	/* exists, but was not sent */
	T_EQ(r.ack.drop, RXO_DROP_GHOST_ACK);
	T_EQ(r_nak(&r, 12, RXO_NAK_PSN), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_GHOST_ACK);
	T_EQ(r_ack(&r, 10), RXO_ACK_TAKEN);
	T_EQ(r_ack(&r, 10), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_STALE_ACK);
	T_EQ(r_nak(&r, 10, RXO_NAK_REM_OP), RXO_ACK_DROP);
	T_EQ(r_answer(&r, RXO_OP_ATOMIC_ACK, 11, 0x1f, 0), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_RESPONSE);
	T_EQ(r_answer(&r, ONLY, 11, 0x1f, 0), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_RESPONSE);	/* that is a SEND */
	T_EQ(r_answer(&r, ONLY, 10, 0x1f, 0), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_DUP);
	T_EQ(r_answer(&r, ONLY, 12, 0x1f, 0), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_RESPONSE);
	T_EQ(r.req.una.v, 11);
}

/* max counts, not the send pointer, which may have gone back. */
T_TEST(ack_rx__after_going_back)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 600);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_time_out(&r);
	T_EQ(r.req.psn.v, 10);
	T_EQ(r_ack(&r, 11), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_EQ(r_send(&r), 12);		/* what is acknowledged is skipped */
	T_EQ(r.act.pkt.opcode, RXO_OP_SEND_MIDDLE);
	T_EQ(r_ack(&r, 14), RXO_ACK_TAKEN);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	r_ends(&r, 1, RXO_WC_SUCCESS);
	r_ends(&r, 2, RXO_WC_SUCCESS);
	T_EQ(rxo_req_deadline(&r.req), U64_MAX);
}

T_TEST(ack_rx__psn_wrap)
{
	r_init(&r);
	r_start(&r, 0xfffffe);
	r_post(&r, SEND, SIG, 1000);
	T_EQ(r_send(&r), 0xfffffe);
	T_EQ(r_send(&r), 0xffffff);
	T_EQ(r_send(&r), 0);
	T_EQ(r_send(&r), 1);
	T_EQ(r_ack(&r, 2), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_GHOST_ACK);
	T_EQ(r_ack(&r, 0xffffff), RXO_ACK_TAKEN);
	T_EQ(r.req.una.v, 0);
	T_EQ(r_ack(&r, 0xffffff), RXO_ACK_DROP);
	r_time_out(&r);
	T_EQ(r_send(&r), 0);
	T_EQ(r.act.offset, 512);
	T_EQ(r_ack(&r, 1), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_SUCCESS);
}

/* -------------------------------------------------------------------- READ */

T_TEST(ack_rx__read_data_in_order)
{
	r_init(&r);
	r_post(&r, READ, SIG, 600);
	r_send_all(&r);
	r_data(&r, FIRST, 10, 256);
	T_EQ(r.ack.slot, 0);
	T_EQ(r.ack.offset, 0);
	T_EQ(r.ack.len, 256);
	T_CHECK(!r.ack.last);
	r_data(&r, MIDDLE, 11, 256);
	T_EQ(r.ack.offset, 256);
	T_CHECK(!r_pop(&r));
	r_data(&r, LAST, 12, 88);
	T_EQ(r.ack.offset, 512);
	T_EQ(r.ack.len, 88);
	T_CHECK(r.ack.last);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_EQ(r.req.rd_out, 0);
	T_EQ(r_answer(&r, LAST, 12, 0x1f, 88), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_DUP);
}

T_TEST(ack_rx__read_data_acknowledges_what_is_before)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, WRITE, SIG, 300);
	r_post(&r, READ, SIG, 1);
	r_send_all(&r);
	r_data(&r, ONLY, 13, 1);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_SUCCESS);
	r_ends(&r, 2, RXO_WC_SUCCESS);
}

T_TEST(ack_rx__read_response_must_fit)
{
	static const struct { u32 len, skip; u8 op; u32 bytes; } rows[] = {
		{ 600, 0, MIDDLE, 256 },	/* begins without FIRST */
		{ 600, 0, LAST, 256 },
		{ 600, 0, ONLY, 256 },
		{ 600, 0, FIRST, 255 },
		{ 600, 0, FIRST, 0 },
		{ 600, 1, FIRST, 256 },		/* begins twice */
		{ 600, 1, LAST, 256 },
		{ 600, 1, MIDDLE, 252 },
		{ 600, 2, MIDDLE, 88 },
		{ 600, 2, LAST, 87 },
		{ 600, 2, LAST, 89 },
		{ 600, 2, LAST, 256 },
		{ 600, 2, ONLY, 88 },
		{ 100, 0, FIRST, 100 },
		{ 100, 0, LAST, 100 },
		{ 100, 0, ONLY, 99 },
		{ 100, 0, ONLY, 256 },
		{ 0, 0, ONLY, 1 },
		{ 0, 0, FIRST, 0 },
	};
	size_t i;
	u32 k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		r_init(&r);
		r_post(&r, WRITE, SIG, 1);
		r_post(&r, READ, SIG, rows[i].len);
		r_post(&r, WRITE, SIG, 1);
		r_send_all(&r);
		for (k = 0; k < rows[i].skip; k++)
			r_data(&r, k ? MIDDLE : FIRST, 11 + k, 256);
		T_EQ(r_answer(&r, rows[i].op, 11 + k, 0x1f, rows[i].bytes),
		     RXO_ACK_TAKEN);
		r_ends(&r, 0, RXO_WC_SUCCESS);
		r_ends(&r, 1, RXO_WC_BAD_RESP_ERR);
		r_flush(&r, 2, 3);
	}
}

T_TEST(ack_done__no_access_to_the_buffer)
{
	r_init(&r);
	r_post(&r, READ, 0, 600);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	r_data(&r, FIRST, 10, 256);
	T_EQ(r_answer(&r, MIDDLE, 11, 0, 256), RXO_ACK_READ_DATA);
	rxo_ack_done(&r.req, &r.ack, RXO_PLACE_LOC_PROT, r.now);
	T_EQ(r_answer(&r, MIDDLE, 11, 0, 256), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_STATE);
	T_EQ(r_answer(&r, LAST, 12, 0x1f, 88), RXO_ACK_DROP);
	r_ends(&r, 0, RXO_WC_LOC_PROT_ERR);
	r_flush(&r, 1, 2);
}

/* What is kept is brought again as long as it is due; with @kept the oldest. */
static bool r_due(u32 kept)
{
	struct rxo_psn psn = rxo_psn_make(kept);

	return rxo_ack_kept_due(&r.req, &psn, r.now);
}

static bool r_nothing_due(void)
{
	return !rxo_ack_kept_due(&r.req, NULL, r.now);
}

/* A burst behind one lost response costs one request, for just that. */
T_TEST(ack_rx__gap_in_responses_is_asked_for_once)
{
	u32 psn;

	r_init(&r);
	r_post(&r, READ, SIG, 256 * 10);
	r_post(&r, READ, SIG, 1);
	r_send_all(&r);
	r_data(&r, FIRST, 10, 256);
	T_CHECK(!rxo_ack_has_gap(&r.req));
	T_EQ(r_answer(&r, MIDDLE, 12, 0, 256), RXO_ACK_AHEAD);
	T_CHECK(rxo_ack_has_gap(&r.req));
	T_CHECK(!r_due(12));
	T_EQ(r_send(&r), 11);
	T_EQ(r.act.pkt.dma_len, 256);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	for (psn = 13; psn < 19; psn++)
		T_EQ(r_answer(&r, MIDDLE, psn, 0, 256), RXO_ACK_AHEAD);
	T_EQ(r_answer(&r, ONLY, 20, 0x1f, 1), RXO_ACK_AHEAD);
	T_CHECK(!r_due(12));
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	T_EQ(r.req.n_implied_nak, 1);
	T_EQ(r.req.retry.retries_left, 1);
	r_data(&r, ONLY, 11, 256);
	for (psn = 12; psn < 19; psn++) {
		T_CHECK(r_due(psn));
		r_data(&r, MIDDLE, psn, 256);
	}
	/* 19 was lost, too: that is known now. */
	T_CHECK(!r_due(20));
	T_EQ(r.req.n_implied_nak, 2);
	T_EQ(r_send(&r), 19);
	T_EQ(r.act.pkt.dma_len, 256);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	r_data(&r, ONLY, 19, 256);
	T_CHECK(r_due(20));
	r_data(&r, ONLY, 20, 1);
	T_CHECK(r_nothing_due() && !rxo_ack_has_gap(&r.req));
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_SUCCESS);
	T_EQ(r.req.rd_out, 0);
}

/* Several missing: they come one by one, and are not asked for once more. */
T_TEST(ack_rx__answers_to_a_gap_are_waited_for)
{
	r_init(&r);
	r_post(&r, READ, SIG, 256 * 5);
	r_send_all(&r);
	r_data(&r, FIRST, 10, 256);
	T_EQ(r_answer(&r, MIDDLE, 13, 0, 256), RXO_ACK_AHEAD);
	T_EQ(r_send(&r), 11);
	T_EQ(r.act.pkt.dma_len, 512);
	r_data(&r, FIRST, 11, 256);
	T_CHECK(!r_due(13));
	T_EQ(r_answer(&r, LAST, 14, 0x1f, 256), RXO_ACK_AHEAD);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	r_data(&r, LAST, 12, 256);
	T_CHECK(r_due(13));
}

/* Nothing of what is behind the gap could be kept: the rest is asked for. */
T_TEST(ack_rx__what_was_not_kept_is_asked_for)
{
	r_init(&r);
	r_post(&r, READ, SIG, 256 * 5);
	r_post(&r, READ, SIG, 600);
	r_send_all(&r);
	T_EQ(r_answer(&r, MIDDLE, 11, 0, 256), RXO_ACK_AHEAD);
	T_EQ(r_answer(&r, MIDDLE, 16, 0, 256), RXO_ACK_AHEAD);
	T_EQ(r_send(&r), 10);
	T_EQ(r.act.pkt.dma_len, 256);
	r_data(&r, ONLY, 10, 256);
	T_CHECK(r_nothing_due());
	T_EQ(r_send(&r), 11);
	T_EQ(r.act.pkt.dma_len, 4 * 256);
	T_CHECK(r_nothing_due());
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	r_data(&r, FIRST, 11, 256);
	r_data(&r, MIDDLE, 12, 256);
	r_data(&r, MIDDLE, 13, 256);
	r_data(&r, LAST, 14, 256);
	/* 16 was seen, of the next one: ask for all of that. */
	T_CHECK(r_nothing_due());
	T_EQ(r_send(&r), 15);
	T_EQ(r.act.pkt.dma_len, 600);
}

/* The original comes after all, when it has been asked for again. */
T_TEST(ack_rx__late_response_fits_its_first_request)
{
	r_init(&r);
	r_post(&r, READ, SIG, 600);
	r_send_all(&r);
	r_data(&r, FIRST, 10, 256);
	T_EQ(r_answer(&r, LAST, 12, 0x1f, 88), RXO_ACK_AHEAD);
	T_EQ(r_send(&r), 11);
	r_data(&r, MIDDLE, 11, 256);
	T_EQ(r_answer(&r, ONLY, 11, 0x1f, 256), RXO_ACK_DROP);
	T_CHECK(r_due(12));
	r_data(&r, LAST, 12, 88);
	r_ends(&r, 0, RXO_WC_SUCCESS);

	/* Before the second request has left: it need not. */
	r_init(&r);
	r_post(&r, READ, SIG, 600);
	r_send_all(&r);
	T_EQ(r_answer(&r, MIDDLE, 11, 0x1f, 256), RXO_ACK_AHEAD);
	r_data(&r, FIRST, 10, 256);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	/* If 11 was not kept, there is a gap again. */
	T_CHECK(r_nothing_due());
	T_EQ(r_send(&r), 11);
}

/* Two READs repeated: each may be answered from FIRST at its own place. */
T_TEST(ack_rx__repeated_from_the_middle_with_another_behind)
{
	r_init(&r);
	r_post(&r, READ, SIG, 1000);
	r_post(&r, READ, SIG, 600);
	r_send_all(&r);
	r_data(&r, FIRST, 10, 256);
	r_time_out(&r);
	T_EQ(r_send(&r), 11);
	T_EQ(r_send(&r), 14);
	r_data(&r, FIRST, 11, 256);
	r_data(&r, MIDDLE, 12, 256);
	r_data(&r, LAST, 13, 232);
	r_data(&r, FIRST, 14, 256);
	r_data(&r, MIDDLE, 15, 256);
	r_data(&r, LAST, 16, 88);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_SUCCESS);
}

T_TEST(ack_rx__ack_beyond_a_read_is_an_implied_nak)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, READ, SIG, 600);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	T_EQ(r_ack(&r, 14), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_CHECK(!r_pop(&r));
	T_EQ(r.req.n_implied_nak, 1);
	T_EQ(r_send(&r), 11);
	T_EQ(r.act.pkt.opcode, RXO_OP_READ_REQUEST);
	T_EQ(r.act.pkt.dma_len, 600);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	/* Nothing of the READ may be completed by an ACK, ever. */
	T_EQ(r_ack(&r, 14), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_SEQ);
	T_EQ(r_ack(&r, 12), RXO_ACK_DROP);
	T_CHECK(r_nothing_due());
	T_CHECK(!r_pop(&r));
	r_data(&r, FIRST, 11, 256);
	r_data(&r, MIDDLE, 12, 256);
	r_data(&r, LAST, 13, 88);
	r_ends(&r, 1, RXO_WC_SUCCESS);
	T_CHECK(!r_pop(&r));
	/* The ACK for the WRITE is remembered. */
	T_CHECK(rxo_ack_has_gap(&r.req));
	T_CHECK(r_nothing_due());
	r_ends(&r, 2, RXO_WC_SUCCESS);
	T_EQ(rxo_req_deadline(&r.req), U64_MAX);
}

T_TEST(ack_rx__implied_naks_use_up_retries)
{
	r_init(&r);
	r.cfg.retry_cnt = 0;
	r_start(&r, 10);
	r_post(&r, READ, SIG, 1);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	T_EQ(r_ack(&r, 11), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_RETRY_EXC_ERR);
	r_flush(&r, 1, 2);

	r_init(&r);
	r_post(&r, READ, SIG, 1);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	r_ack(&r, 11);			/* one retry goes here, one by time */
	r_send_all(&r);
	r_time_out(&r);
	T_EQ(r_send_all(&r), 2);
	T_CHECK(!r_pop(&r));
	r_ack(&r, 11);
	r_ends(&r, 0, RXO_WC_RETRY_EXC_ERR);
}

/* -------------------------------------------------------------------- NAKs */

T_TEST(ack_rx__sequence_nak)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, WRITE, SIG, 1000);
	r_send_all(&r);
	T_EQ(r_nak(&r, 12, RXO_NAK_PSN), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_EQ(r.req.una.v, 12);
	T_EQ(r.req.n_seq_nak, 1);
	T_EQ(r.req.retry.retries_left, 1);
	/* Twice the same before anything was repeated costs nothing. */
	T_EQ(r_nak(&r, 12, RXO_NAK_PSN), RXO_ACK_DROP);
	T_EQ(r.req.retry.retries_left, 1);
	T_EQ(r_send(&r), 12);
	T_EQ(r.act.offset, 256);
	T_EQ(r_nak(&r, 12, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r.req.retry.retries_left, 0);
	T_EQ(r_send(&r), 12);
	T_EQ(r_nak(&r, 12, RXO_NAK_PSN), RXO_ACK_TAKEN);
	r_ends(&r, 1, RXO_WC_RETRY_EXC_ERR);
	r_flush(&r, 2, 2);
}

/* Twelve packets, 10 .. 21, and a NAK for 12: only that leaves, asking. */
static void r_one_is_missing(void)
{
	r_init(&r);
	r_post(&r, WRITE, SIG, 256 * 12);
	r_send_all(&r);
	T_EQ(r_nak(&r, 12, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 12);
	T_CHECK(r.act.repair && r.act.retransmit && r.act.pkt.ackreq);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	T_CHECK(rxo_req_deadline(&r.req) != U64_MAX);
}

T_TEST(ack_rx__peer_keeps_packets)
{
	r_one_is_missing();
	T_EQ(r_ack(&r, 21), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_EQ(r.req.keeps, RXO_KEEPS_YES);
	T_EQ(r.req.n_retransmit, 1);

	/* A NAK behind the next gap says the same. */
	r_one_is_missing();
	T_EQ(r_nak(&r, 15, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r.req.keeps, RXO_KEEPS_YES);
	T_EQ(r_send(&r), 15);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	/* The next one is missing, too: it may be so. */
	T_EQ(r_nak(&r, 16, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 16);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	T_EQ(r_ack(&r, 21), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_EQ(r.req.n_retransmit, 3);
}

T_TEST(ack_rx__peer_does_not_keep_packets)
{
	u32 psn;

	r_one_is_missing();
	T_EQ(r_ack(&r, 12), RXO_ACK_TAKEN);
	T_EQ(r.req.keeps, RXO_KEEPS_NOT);
	T_EQ(r.req.retry.retries_left, 2);
	for (psn = 13; psn < 22; psn++)
		T_EQ(r_send(&r), psn);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	/* From then on at once. */
	T_EQ(r_nak(&r, 14, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 14);
	T_CHECK(!r.act.repair);
	T_EQ(r_send(&r), 15);
}

/* One that did keep may be out of room for once. */
T_TEST(ack_rx__trust_is_lost_by_and_by)
{
	u32 i;

	r_one_is_missing();
	T_EQ(r_nak(&r, 15, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 15);
	T_EQ(r_ack(&r, 15), RXO_ACK_TAKEN);
	T_EQ(r.req.keeps, RXO_KEEPS_MAYBE);
	T_EQ(r_send_all(&r), 6);
	T_EQ(r_nak(&r, 17, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_send_all(&r), 1);
	T_EQ(r_ack(&r, 17), RXO_ACK_TAKEN);
	T_EQ(r.req.keeps, RXO_KEEPS_NOT);
	T_EQ(r_send_all(&r), 4);
	/* But it is asked again some time. */
	for (i = 1; i < 64; i++) {
		r.req.retry.retries_left = 2;
		T_EQ(r_nak(&r, 19, RXO_NAK_PSN), RXO_ACK_TAKEN);
		T_EQ(r_send_all(&r), 3);
	}
	r.req.retry.retries_left = 2;
	T_EQ(r_nak(&r, 19, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_send_all(&r), 1);
}

/* The packet that was asked for is a READ request: what follows is sent too. */
T_TEST(ack_rx__lost_read_request_goes_back)
{
	r_init(&r);
	r_post(&r, WRITE, SIG, 1);
	r_post(&r, READ, SIG, 600);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	T_EQ(r_nak(&r, 11, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 11);
	T_CHECK(!r.act.repair);
	T_EQ(r_send(&r), 14);

	/* And behind a repaired one, where an ACK does not say. */
	r_init(&r);
	r_post(&r, WRITE, SIG, 1);
	r_post(&r, READ, SIG, 600);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	T_EQ(r_nak(&r, 10, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 10);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	T_EQ(r_ack(&r, 10), RXO_ACK_TAKEN);
	T_EQ(r.req.keeps, RXO_KEEPS_MAYBE);
	T_EQ(r_send(&r), 11);
	T_EQ(r_send(&r), 14);
}

/* What has come of it otherwise, before the one packet has left. */
T_TEST(ack_rx__repair_is_called_off)
{
	r_one_is_missing();
	T_EQ(r_nak(&r, 15, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_ack(&r, 18), RXO_ACK_TAKEN);
	T_EQ(r_next(&r), RXO_REQ_IDLE);

	r_one_is_missing();
	T_EQ(r_nak(&r, 15, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_rnr(&r, 15), RXO_ACK_TAKEN);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	r.now += 10000;
	T_EQ(r_send(&r), 15);
	T_CHECK(!r.act.repair);
	T_EQ(r_ack(&r, 15), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 16);

	r_one_is_missing();
	T_EQ(r_nak(&r, 15, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_nak(&r, 15, RXO_NAK_REM_ACCESS), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_REM_ACCESS_ERR);
	r_flush(&r, 1, 1);
}

/*
 * A NAK for a packet that was only late, and comes before it is sent again. The peer has
 * said so once, and will not say that it has dropped what was behind.
 */
T_TEST(ack_rx__what_a_nak_asked_for_comes_by_itself)
{
	r_init(&r);
	r_post(&r, WRITE, SIG, 256 * 12);
	r_send_all(&r);
	T_EQ(r_nak(&r, 12, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_ack(&r, 12), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 13);
	T_EQ(r_send_all(&r), 8);
	T_EQ(r.req.keeps, RXO_KEEPS_MAYBE);

	/* One that keeps packets asks for what it misses. */
	r_one_is_missing();
	T_EQ(r_nak(&r, 15, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r.req.keeps, RXO_KEEPS_YES);
	T_EQ(r_ack(&r, 15), RXO_ACK_TAKEN);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
}

/* The repair is lost: the timer goes back, over everything, as answers come. */
T_TEST(ack_rx__lost_repair_times_out)
{
	r_one_is_missing();
	r_time_out(&r);
	T_EQ(r.req.n_timeout, 1);
	T_EQ(r_send_all(&r), RXO_REQ_CAREFUL);
	T_EQ(r_ack(&r, 15), RXO_ACK_TAKEN);
	T_EQ(r_send_all(&r), 2);
}

T_TEST(ack_rx__sequence_nak_beyond_a_read)
{
	r_init(&r);
	r_post(&r, READ, SIG, 600);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	r_data(&r, FIRST, 10, 256);
	T_EQ(r_nak(&r, 13, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r.req.n_implied_nak, 1);
	T_EQ(r_send(&r), 11);
	T_EQ(r_send(&r), 13);
}

/* The data before it has been asked for, so nothing else would draw attention to it. */
T_TEST(ack_rx__sequence_nak_behind_a_known_gap)
{
	u32 i;

	r_init(&r);
	for (i = 0; i < 3; i++)
		r_post(&r, READ, SIG, 600);
	r_send_all(&r);
	r_data(&r, FIRST, 10, 256);
	T_EQ(r_answer(&r, LAST, 12, 0x1f, 88), RXO_ACK_AHEAD);
	T_EQ(r_send(&r), 11);
	T_EQ(r_nak(&r, 13, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 13);
	T_EQ(r_send(&r), 16);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	T_CHECK(rxo_req_deadline(&r.req) != U64_MAX);
	T_EQ(r.req.retry.retries_left, 1);
	T_EQ(r_nak(&r, 13, RXO_NAK_PSN), RXO_ACK_DROP);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	/* One that says more is progress. */
	T_EQ(r_nak(&r, 16, RXO_NAK_PSN), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 16);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	T_CHECK(!r_pop(&r));
}

T_TEST(ack_rx__rnr)
{
	r_init(&r);
	r_post(&r, WRITE, SIG, 1);
	r_post(&r, SEND, SIG, 300);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	T_EQ(r_rnr(&r, 11), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_EQ(r.req.n_rnr, 1);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_RNR);
	T_EQ(rxo_req_deadline(&r.req), 1000 + 10000);
	T_EQ(r_rnr(&r, 11), RXO_ACK_DROP);	/* twice the same */
	T_EQ(r.req.retry.rnr_left, 1);
	rxo_req_expire(&r.req, 10999);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	r_time_out(&r);
	T_EQ(r.req.n_timeout, 0);
	T_EQ(r.now, 11000);
	T_EQ(r_send(&r), 11);
	T_EQ(r_rnr(&r, 11), RXO_ACK_TAKEN);
	r_time_out(&r);
	r_send_all(&r);
	T_EQ(r_rnr(&r, 11), RXO_ACK_TAKEN);	/* both retries are used */
	r_ends(&r, 1, RXO_WC_RNR_RETRY_EXC_ERR);
	r_flush(&r, 2, 3);
}

/* One packet after each wait, until the peer has taken it. */
T_TEST(ack_rx__rnr_again_and_again)
{
	int i;

	r_init(&r);
	r.cfg.rnr_retry = 7;
	r_start(&r, 10);
	for (i = 0; i < 10; i++)
		r_post(&r, SEND, 0, 300);
	r_send_all(&r);
	for (i = 0; i < 3; i++) {
		T_EQ(r_rnr(&r, 10), RXO_ACK_TAKEN);
		r_time_out(&r);
		T_EQ(r_send(&r), 10);
		T_CHECK(r.act.pkt.ackreq);
		T_EQ(r_next(&r), RXO_REQ_WAIT);
		T_EQ(r.act.wait, RXO_WAIT_WINDOW);
	}
	T_EQ(r_ack(&r, 10), RXO_ACK_TAKEN);
	for (i = 11; i < 30; i++)
		T_EQ(r_send(&r), i);
}

T_TEST(ack_rx__rnr_0_retries)
{
	r_init(&r);
	r.cfg.rnr_retry = 0;
	r_start(&r, 10);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_EQ(r_rnr(&r, 10), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_RNR_RETRY_EXC_ERR);
}

/* The wait ends at once when it turns out that the packet was executed. */
T_TEST(ack_rx__ack_ends_rnr_wait)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_rnr(&r, 10);
	T_EQ(r_ack(&r, 10), RXO_ACK_TAKEN);
	T_EQ(r_send(&r), 11);
}

/* The timer of RNR is looked at even if nobody called expire. */
T_TEST(ack_rx__rnr_wait_ends_by_the_clock)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_rnr(&r, 10);
	r.now += 10000;
	T_EQ(r_send(&r), 10);
	T_EQ(rxo_req_deadline(&r.req), r.now + 8192);
}

T_TEST(ack_rx__fatal_naks)
{
	static const struct { enum rxo_nak nak; enum rxo_status status; } rows[] = {
		{ RXO_NAK_INV_REQ, RXO_WC_REM_INV_REQ_ERR },
		{ RXO_NAK_REM_ACCESS, RXO_WC_REM_ACCESS_ERR },
		{ RXO_NAK_REM_OP, RXO_WC_REM_OP_ERR },
		{ RXO_NAK_INV_RD_REQ, RXO_WC_REM_INV_REQ_ERR },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		r_init(&r);
		r_post(&r, SEND, SIG, 1);
		r_post(&r, WRITE, 0, 600);
		r_post(&r, SEND, SIG, 1);
		r_send_all(&r);
		T_EQ(r_nak(&r, 12, rows[i].nak), RXO_ACK_TAKEN);
		T_EQ(r_next(&r), RXO_REQ_WAIT);
		T_EQ(r.act.wait, RXO_WAIT_FAILED);
		r_ends(&r, 0, RXO_WC_SUCCESS);
		r_ends(&r, 1, rows[i].status);
		r_flush(&r, 2, 3);
	}
}

T_TEST(ack_rx__reserved_syndromes_are_dropped)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_EQ(r_answer(&r, RXO_OP_ACK, 10, 0x40, 0), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_RESPONSE);
	T_EQ(r_answer(&r, RXO_OP_ACK, 10, 0x65, 0), RXO_ACK_DROP);
	T_EQ(r_answer(&r, RXO_OP_ACK, 10, 0x7f, 0), RXO_ACK_DROP);
	T_EQ(r.req.una.v, 10);
	T_CHECK(!r_pop(&r));
}

/* The NAK is for a later request, but a READ before it has lost data. */
T_TEST(ack_rx__fatal_nak_beyond_a_read)
{
	r_init(&r);
	r_post(&r, READ, SIG, 600);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, WRITE, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_data(&r, FIRST, 10, 256);
	T_EQ(r_nak(&r, 14, RXO_NAK_REM_ACCESS), RXO_ACK_TAKEN);
	T_CHECK(!r_pop(&r));
	T_EQ(r.req.n_implied_nak, 1);
	T_EQ(r_send(&r), 11);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_FAILED);
	r_data(&r, FIRST, 11, 256);
	T_CHECK(!r_pop(&r));
	r_data(&r, LAST, 12, 88);
	/* The NAK is remembered, and so is that what is before it has been executed. */
	T_CHECK(!rxo_ack_kept_due(&r.req, NULL, r.now));
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_SUCCESS);
	r_ends(&r, 2, RXO_WC_REM_ACCESS_ERR);
	r_flush(&r, 3, 4);
}

/* The same if that data has been asked for already, and it does not come. */
T_TEST(ack_rx__fatal_nak_behind_a_known_gap)
{
	r_init(&r);
	r_post(&r, READ, SIG, 600);
	r_post(&r, READ, SIG, 600);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	r_data(&r, FIRST, 10, 256);
	T_EQ(r_answer(&r, FIRST, 13, 0x1f, 256), RXO_ACK_AHEAD);
	T_EQ(r_send(&r), 11);
	T_EQ(r_nak(&r, 14, RXO_NAK_REM_ACCESS), RXO_ACK_TAKEN);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_FAILED);
	while (!r_pop(&r)) {
		r_time_out(&r);
		r_send_all(&r);
	}
	T_EQ(r.done.status, RXO_WC_RETRY_EXC_ERR);
	r_flush(&r, 1, 3);
}

/* The region goes away while a READ is answered: NAK inside its range. */
T_TEST(ack_rx__fatal_nak_within_a_read)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, READ, SIG, 1000);
	r_post(&r, WRITE, SIG, 1);
	r_send_all(&r);
	r_data(&r, FIRST, 11, 256);
	T_EQ(r_nak(&r, 13, RXO_NAK_REM_ACCESS), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_REM_ACCESS_ERR);
	r_flush(&r, 2, 3);
}

/* In a READ response a syndrome other than ACK counts as what it says. */
T_TEST(ack_rx__nak_in_a_read_response)
{
	r_init(&r);
	r_post(&r, READ, SIG, 100);
	r_send_all(&r);
	T_EQ(r_answer(&r, ONLY, 10, 0x62, 100), RXO_ACK_TAKEN);
	r_ends(&r, 0, RXO_WC_REM_ACCESS_ERR);

	r_init(&r);
	r_post(&r, READ, SIG, 100);
	r_send_all(&r);
	T_EQ(r_answer(&r, ONLY, 10, 0x21, 100), RXO_ACK_TAKEN);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_RNR);
}

T_TEST(ack_rx__failed_qp_takes_nothing)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_nak(&r, 10, RXO_NAK_REM_OP);
	r_ends(&r, 0, RXO_WC_REM_OP_ERR);
	T_EQ(r_ack(&r, 11), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_STATE);
	r_flush(&r, 1, 2);
}
