// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "requester.h"

static struct requester r;

T_TEST(req_next__opcodes_and_lengths)
{
	static const struct {
		u8 wr;
		u32 len;
		u8 op[3];
		u32 bytes[3], n;
	} rows[] = {
		{ SEND, 0, { 0x04 }, { 0 }, 1 },
		{ SEND, 256, { 0x04 }, { 256 }, 1 },
		{ SEND, 257, { 0x00, 0x02 }, { 256, 1 }, 2 },
		{ SEND, 512, { 0x00, 0x02 }, { 256, 256 }, 2 },
		{ SEND, 513, { 0x00, 0x01, 0x02 }, { 256, 256, 1 }, 3 },
		{ SEND_I, 1, { 0x05 }, { 1 }, 1 },
		{ SEND_I, 600, { 0x00, 0x01, 0x03 }, { 256, 256, 88 }, 3 },
		{ WRITE, 0, { 0x0a }, { 0 }, 1 },
		{ WRITE, 300, { 0x06, 0x08 }, { 256, 44 }, 2 },
		{ WRITE_I, 2, { 0x0b }, { 2 }, 1 },
		{ WRITE_I, 768, { 0x06, 0x07, 0x09 }, { 256, 256, 256 }, 3 },
	};
	size_t i;
	u32 k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		r_init(&r);
		r_post(&r, rows[i].wr, SIG, rows[i].len);
		for (k = 0; k < rows[i].n; k++) {
			T_EQ(r_send(&r), 10 + k);
			T_EQ(r.act.pkt.opcode, rows[i].op[k]);
			T_EQ(r.act.pkt.payload_len, rows[i].bytes[k]);
			T_EQ(r.act.len, rows[i].bytes[k]);
			T_EQ(r.act.offset, 256 * k);
			T_EQ((rows[i].bytes[k] + r.act.pkt.pad) % 4, 0);
			T_CHECK(r.act.pkt.pad < 4);
			T_EQ(r.act.pkt.va, VA);
			T_EQ(r.act.pkt.rkey, 0x77);
			T_EQ(r.act.pkt.dma_len, rows[i].len);
			T_EQ(be32_to_cpu(r.act.pkt.imm), 0xfeed);
			T_EQ(r.act.pkt.dqpn, 0x222);
			T_EQ(r.act.pkt.pkey, 0xffff);
			T_EQ(r.act.pkt.hdr_len,
			     rxo_opcode_info(rows[i].op[k])->hdr_len);
			T_EQ(r.act.npsn, 1);
			T_CHECK(!r.act.retransmit);
		}
		T_EQ(r_next(&r), RXO_REQ_IDLE);
	}
}

T_TEST(req_next__changes_nothing)
{
	static struct rxo_req before;

	r_init(&r);
	r_post(&r, SEND, SIG, 300);
	before = r.req;
	r_next(&r);
	r_sent(&r, RXO_SENT_BUSY);
	r_next(&r);
	T_EQ(r.act.pkt.psn.v, 10);
	T_CHECK(!memcmp(&before, &r.req, sizeof(before)));
	T_CHECK(!r.wqe[0].started);
}

T_TEST(req_next__all_mtus)
{
	u32 mtu;

	for (mtu = 256; mtu <= 4096; mtu *= 2) {
		t_context("mtu %u", mtu);
		r_init(&r);
		r.cfg.mtu = mtu;
		r_start(&r, 10);
		r_post(&r, SEND, SIG, mtu);
		r_post(&r, SEND, SIG, mtu + 1);
		r_post(&r, READ, SIG, 3 * mtu + 1);
		T_EQ(r_send_all(&r), 1 + 2 + 1);
		T_EQ(r.act.len, 0);
		T_EQ(r.req.psn.v, 10 + 1 + 2 + 4);
	}
}

T_TEST(req_next__read)
{
	static const struct { u32 len, npsn; } rows[] = {
		{ 0, 1 }, { 1, 1 }, { 256, 1 }, { 257, 2 }, { 1024, 4 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		r_init(&r);
		r_post(&r, READ, SIG, rows[i].len);
		r_post(&r, SEND, SIG, 1);
		T_EQ(r_send(&r), 10);
		T_EQ(r.act.pkt.opcode, RXO_OP_READ_REQUEST);
		T_EQ(r.act.npsn, rows[i].npsn);
		T_EQ(r.act.pkt.dma_len, rows[i].len);
		T_EQ(r.act.pkt.va, VA);
		T_EQ(r.act.len, 0);
		T_EQ(r.act.pkt.payload_len, 0);
		T_EQ(r.act.pkt.pad, 0);
		T_CHECK(!r.act.pkt.ackreq && !r.act.pkt.solicited);
		T_EQ(r_send(&r), 10 + rows[i].npsn);
	}
}

T_TEST(req_next__solicited_on_the_last_packet_of_what_completes_a_receive)
{
	static const struct { u8 wr; bool solicited; } rows[] = {
		{ SEND, true }, { SEND_I, true }, { WRITE_I, true },
		{ WRITE, false }, { READ, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		r_init(&r);
		r_post(&r, rows[i].wr, SIG | SOL, 300);
		r_send(&r);
		T_CHECK(!r.act.pkt.solicited);
		if (rows[i].wr == READ)
			continue;
		r_send(&r);
		T_EQ(r.act.pkt.solicited, rows[i].solicited);
		r_init(&r);
		r_post(&r, rows[i].wr, SIG, 3);
		r_send(&r);
		T_CHECK(!r.act.pkt.solicited);
	}
}

/* ----------------------------------------------------------------- AckReq */

T_TEST(req_ackreq__last_packet_of_the_last_request)
{
	r_init(&r);
	r_post(&r, SEND, 0, 600);
	r_post(&r, WRITE, 0, 1);
	r_post(&r, WRITE, 0, 300);
	while (r.req.cur != r.req.head) {
		bool tail;

		r_send(&r);
		tail = r.req.cur == r.req.head;
		T_EQ(r.act.pkt.ackreq, tail);
	}
}

T_TEST(req_ackreq__signalled)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 300);
	r_post(&r, SEND, 0, 1);
	r_send(&r);
	T_CHECK(!r.act.pkt.ackreq);
	r_send(&r);
	T_CHECK(r.act.pkt.ackreq);
}

T_TEST(req_ackreq__every_nth_packet)
{
	u32 i;

	r_init(&r);
	r.cfg.ack_every = 3;
	r_start(&r, 10);
	r_post(&r, WRITE, 0, 256 * 8);
	for (i = 1; i <= 8; i++) {
		r_send(&r);
		T_EQ(r.act.pkt.ackreq, i % 3 == 0 || i == 8);
	}
}

T_TEST(req_ackreq__window_closes)
{
	u32 i;

	r_init(&r);
	r.cfg.window = 5;
	r_start(&r, 10);
	r_post(&r, WRITE, 0, 256 * 20);
	for (i = 1; i <= 5; i++) {
		r_send(&r);
		T_EQ(r.act.pkt.ackreq, i == 5);
	}
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_WINDOW);
	r_ack(&r, 12);
	T_EQ(r_send(&r), 15);
	T_EQ(r_send(&r), 16);
	T_EQ(r_send(&r), 17);
	T_CHECK(r.act.pkt.ackreq);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
}

/* Whatever follows that cannot be sent at once: the tail before it asks. */
T_TEST(req_ackreq__before_a_pause)
{
	r_init(&r);			/* fence */
	r_post(&r, READ, 0, 1);
	r_post(&r, WRITE, 0, 1);
	r_post(&r, WRITE, FENCE, 1);
	r_send(&r);
	r_send(&r);
	T_CHECK(r.act.pkt.ackreq);

	r_init(&r);			/* a READ that may go: it acknowledges */
	r_post(&r, WRITE, 0, 1);
	r_post(&r, READ, 0, 1);
	r_send(&r);
	T_CHECK(!r.act.pkt.ackreq);

	r_init(&r);			/* a READ that may not */
	r.cfg.max_rd_atomic = 1;
	r_start(&r, 10);
	r_post(&r, READ, 0, 1);
	r_post(&r, WRITE, 0, 1);
	r_post(&r, READ, 0, 1);
	r_send(&r);
	r_send(&r);
	T_CHECK(r.act.pkt.ackreq);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_READ_LIMIT);

	r_init(&r);			/* a READ that does not fit the window */
	r_post(&r, WRITE, 0, 1);
	r_post(&r, READ, 0, 64 * 256);
	r_send(&r);
	T_CHECK(r.act.pkt.ackreq);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_WINDOW);
	r_ack(&r, 10);
	T_EQ(r_send(&r), 11);

	r_init(&r);			/* a request that has failed */
	r_post(&r, WRITE, 0, 1);
	r_post_bad(&r, RXO_WC_LOC_QP_OP_ERR);
	r_send(&r);
	T_CHECK(r.act.pkt.ackreq);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_FAILED);
}

/* The next request fails only when it is read from memory: ask afterwards. */
T_TEST(req_nudge__after_a_local_failure)
{
	u32 max;

	r_init(&r);
	r.cfg.timeout = 0;
	r_start(&r, 10);
	r_post(&r, WRITE, 0, 300);
	r_post(&r, WRITE, 0, 600);
	r_send(&r);
	r_send(&r);
	T_CHECK(!r.act.pkt.ackreq);
	r_send(&r);
	T_EQ(r_next(&r), RXO_REQ_SEND);
	r_sent(&r, RXO_SENT_LOC_PROT);
	T_CHECK(!r_pop(&r));
	max = r.req.max.v;

	T_EQ(r_send(&r), 11);
	T_CHECK(r.act.pkt.ackreq && r.act.retransmit);
	T_EQ(r.act.pkt.opcode, RXO_OP_WRITE_LAST);
	T_EQ(r.act.offset, 256);
	T_EQ(r.act.len, 44);
	T_EQ(r.act.slot, 0);
	T_EQ(r.req.max.v, max);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_FAILED);

	r_ack(&r, 11);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_LOC_PROT_ERR);
	r_flush(&r, 2, 2);
}

/* What was sent before the failure is a READ: its responses are the answer. */
T_TEST(req_nudge__not_for_a_read)
{
	r_init(&r);
	r_post(&r, READ, 0, 1);
	r_post(&r, WRITE, 0, 600);
	r_send(&r);
	r_send(&r);
	r_next(&r);
	r_sent(&r, RXO_SENT_LOC_PROT);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_FAILED);
	r_data(&r, RXO_OP_READ_RESP_ONLY, 10, 1);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_LOC_PROT_ERR);
}

T_TEST(req_nudge__when_the_window_shrinks)
{
	r_init(&r);
	r_post(&r, WRITE, 0, 256 * 30);
	r_send(&r);
	r_send(&r);
	r_send(&r);
	T_CHECK(!r.act.pkt.ackreq);
	r.cfg.window = 2;
	rxo_req_modify(&r.req, &r.cfg);
	T_EQ(r_send(&r), 12);
	T_CHECK(r.act.pkt.ackreq);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_WINDOW);
}

T_TEST(req_nudge__when_draining_starts)
{
	r_init(&r);
	r_post(&r, WRITE, 0, 1);
	r_post(&r, WRITE, 0, 1);
	r_send(&r);
	T_CHECK(!r.act.pkt.ackreq);
	r.req.draining = true;
	T_EQ(r_send(&r), 10);
	T_CHECK(r.act.pkt.ackreq);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_DRAIN);
	T_CHECK(!rxo_req_is_drained(&r.req));
	r_ack(&r, 10);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_CHECK(rxo_req_is_drained(&r.req));
}

/* ------------------------------------------------------------------ limits */

T_TEST(req_next__window_and_long_reads)
{
	r_init(&r);
	r.cfg.window = 4;
	r_start(&r, 10);
	r_post(&r, READ, 0, 256 * 10);	/* longer, but alone */
	r_post(&r, WRITE, 0, 1);
	T_EQ(r_send(&r), 10);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_WINDOW);
	r_data(&r, RXO_OP_READ_RESP_FIRST, 10, 256);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	for (u32 psn = 11; psn < 17; psn++)
		r_data(&r, RXO_OP_READ_RESP_MIDDLE, psn, 256);
	T_EQ(r_send(&r), 20);
}

T_TEST(req_next__read_limit)
{
	r_init(&r);
	r.cfg.max_rd_atomic = 2;
	r_start(&r, 10);
	r_post(&r, READ, 0, 10);
	r_post(&r, READ, 0, 10);
	r_post(&r, READ, 0, 10);
	T_EQ(r_send_all(&r), 2);
	T_EQ(r.act.wait, RXO_WAIT_READ_LIMIT);
	r_data(&r, RXO_OP_READ_RESP_ONLY, 10, 10);
	T_EQ(r_send_all(&r), 1);
	T_EQ(r.req.rd_out, 2);
}

T_TEST(req_next__read_limit_counts_no_repetition)
{
	r_init(&r);
	r.cfg.max_rd_atomic = 1;
	r_start(&r, 10);
	r_post(&r, READ, 0, 1000);
	r_send(&r);
	r_time_out(&r);
	T_EQ(r.req.rd_out, 1);
	T_EQ(r_send(&r), 10);
	T_EQ(r.req.rd_out, 1);
}

T_TEST(req_next__no_reads_allowed)
{
	r_init(&r);
	r.cfg.max_rd_atomic = 0;
	r_start(&r, 10);
	r_post(&r, WRITE, 0, 1);
	r_post(&r, READ, 0, 10);
	r_post(&r, WRITE, 0, 1);
	r_send(&r);
	T_CHECK(r.act.pkt.ackreq);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_FAILED);
	T_CHECK(!r_pop(&r));
	r_ack(&r, 10);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_LOC_QP_OP_ERR);
	r_flush(&r, 2, 3);
}

T_TEST(req_next__fence_waits_for_reads_only)
{
	r_init(&r);
	r_post(&r, WRITE, 0, 1);
	r_post(&r, WRITE, FENCE, 1);
	T_EQ(r_send_all(&r), 2);	/* writes do not hold it */
	r_post(&r, READ, 0, 300);
	r_post(&r, SEND, FENCE, 1);
	T_EQ(r_send_all(&r), 1);
	T_EQ(r.act.wait, RXO_WAIT_FENCE);
	r_data(&r, RXO_OP_READ_RESP_FIRST, 12, 256);
	T_EQ(r_send_all(&r), 0);
	r_data(&r, RXO_OP_READ_RESP_LAST, 13, 44);
	T_EQ(r_send_all(&r), 1);
}

T_TEST(req_next__drain_finishes_what_has_begun)
{
	r_init(&r);
	r_post(&r, WRITE, 0, 600);
	r_post(&r, WRITE, 0, 1);
	r_send(&r);
	r.req.draining = true;
	T_EQ(r_send_all(&r), 2);
	T_EQ(r.act.wait, RXO_WAIT_DRAIN);
	T_CHECK(r.act.kind == RXO_REQ_WAIT);
	r_ack(&r, 12);
	T_CHECK(!rxo_req_is_drained(&r.req));	/* not popped yet */
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_CHECK(rxo_req_is_drained(&r.req));
	r.req.draining = false;
	T_EQ(r_send_all(&r), 1);
}

/* 2 GiB at the smallest MTU: two parts, PSNs stay comparable. */
T_TEST(req_next__read_in_parts)
{
	u32 part = RXO_READ_PART;

	r_init(&r);
	r_post(&r, READ, SIG, RXO_MAX_MSG);
	T_EQ(r_send(&r), 10);
	T_EQ(r.act.npsn, part);
	T_EQ(r.act.pkt.dma_len, RXO_MAX_MSG / 2);
	T_EQ(r_next(&r), RXO_REQ_WAIT);		/* longer than the window */
	r.req.una = rxo_psn_make(10 + part - 1);	/* nearly all came */
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	r_data(&r, RXO_OP_READ_RESP_LAST, 10 + part - 1, 256);
	T_CHECK(!r.ack.last);
	T_EQ(r.req.rd_out, 0);
	T_EQ(r_send(&r), 10 + part);
	T_EQ(r.act.npsn, part);
	T_EQ(r.act.pkt.va, VA + RXO_MAX_MSG / 2);
	T_EQ(r.act.pkt.dma_len, RXO_MAX_MSG / 2);
	T_EQ(r.req.psn.v, (10 + 2 * part) & RXO_PSN_MASK);
	r_data(&r, RXO_OP_READ_RESP_FIRST, 10 + part, 256);
	T_EQ(r.ack.offset, RXO_MAX_MSG / 2);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	r.req.una = rxo_psn_make(10 + 2 * part - 1);
	r_data(&r, RXO_OP_READ_RESP_LAST, 10 + 2 * part - 1, 256);
	T_CHECK(r.ack.last);
	r_ends(&r, 0, RXO_WC_SUCCESS);
}

T_TEST(req_next__write_of_2_gib_is_counted_right)
{
	r_init(&r);
	r.cfg.window = 1u << 22;
	r_start(&r, 10);
	r_post(&r, WRITE, SIG, RXO_MAX_MSG);
	r_send(&r);
	T_EQ(r.act.pkt.opcode, RXO_OP_WRITE_FIRST);
	/* Jump to the last packet. */
	r.req.una = r.req.psn = r.req.max = r.wqe[0].last;
	T_EQ(r_send(&r), 10 + (1u << 23) - 1);
	T_EQ(r.act.pkt.opcode, RXO_OP_WRITE_LAST);
	T_EQ(r.act.offset, RXO_MAX_MSG - 256);
	T_EQ(r.act.len, 256);
	r_ack(&r, r.act.pkt.psn.v);
	r_ends(&r, 0, RXO_WC_SUCCESS);
}

/* --------------------------------------------------------------- indices */

T_TEST(req_push__ring_is_full_and_indices_wrap)
{
	u32 i;

	r_init(&r);
	r.req.tail = r.req.cur = r.req.head = r.req.una_idx = 0xfffffff8;
	for (i = 0; i < SLOTS; i++)
		r_post(&r, SEND, SIG, 1);
	T_CHECK(!rxo_req_has_room(&r.req));
	T_EQ(r_send_all(&r), SLOTS);
	T_EQ(r.act.kind, RXO_REQ_IDLE);
	r_ack(&r, 10 + SLOTS - 1);
	for (i = 0; i < SLOTS; i++) {
		r_ends(&r, i, RXO_WC_SUCCESS);
		T_EQ(r.done.slot, (0xfffffff8 + i) % SLOTS);
	}
	T_CHECK(!r_pop(&r));
	T_EQ(r.req.tail, 8);
	T_CHECK(rxo_req_has_room(&r.req));
}

/* ------------------------------------------------------------------- timer */

T_TEST(req_deadline__runs_while_something_is_outstanding)
{
	r_init(&r);
	T_EQ(rxo_req_deadline(&r.req), U64_MAX);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	T_EQ(rxo_req_deadline(&r.req), U64_MAX);
	r_send_all(&r);
	T_EQ(rxo_req_deadline(&r.req), 1000 + 8192);
	r.now = 3000;
	r_ack(&r, 10);
	T_EQ(rxo_req_deadline(&r.req), 3000 + 8192);
	r_ack(&r, 11);
	T_EQ(rxo_req_deadline(&r.req), U64_MAX);
}

T_TEST(req_deadline__none_with_timeout_0)
{
	r_init(&r);
	r.cfg.timeout = 0;
	r_start(&r, 10);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_EQ(rxo_req_deadline(&r.req), U64_MAX);
	rxo_req_expire(&r.req, U64_MAX);
	T_EQ(r.req.n_timeout, 0);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
}

T_TEST(req_expire__early_is_harmless)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	rxo_req_expire(&r.req, 1000 + 8191);
	T_EQ(r.req.n_timeout, 0);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
}

T_TEST(req_expire__goes_back_into_the_middle_of_a_message)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 10);
	r_post(&r, WRITE, SIG, 1000);
	r_post(&r, SEND, SIG, 300);
	T_EQ(r_send_all(&r), 7);
	T_EQ(r.req.n_retransmit, 0);
	r_ack(&r, 12);
	r_time_out(&r);
	T_EQ(r.req.n_timeout, 1);
	T_EQ(rxo_req_deadline(&r.req), U64_MAX);
	T_EQ(r_send(&r), 13);
	T_EQ(r.act.pkt.opcode, RXO_OP_WRITE_MIDDLE);
	T_EQ(r.act.offset, 512);
	T_EQ(r.act.slot, 1);
	T_CHECK(r.act.retransmit && !r.act.pkt.ackreq);
	T_EQ(r_send(&r), 14);
	T_EQ(r.act.pkt.opcode, RXO_OP_WRITE_LAST);
	T_EQ(r.act.len, 1000 - 768);
	T_EQ(r_send(&r), 15);
	T_EQ(r_send(&r), 16);
	T_CHECK(r.act.pkt.ackreq);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	T_EQ(r.req.n_retransmit, 4);
	T_EQ(r.req.max.v, 17);
}

/* The end of what was sent asks, though its message goes on. */
T_TEST(req_expire__repetition_ends_with_ackreq)
{
	r_init(&r);
	r_post(&r, WRITE, 0, 2000);
	r_send(&r);
	r_send(&r);
	r_send(&r);
	r_time_out(&r);
	T_EQ(r_send(&r), 10);
	T_CHECK(!r.act.pkt.ackreq);
	T_EQ(r_send(&r), 11);
	T_EQ(r_send(&r), 12);
	T_CHECK(r.act.pkt.ackreq && r.act.retransmit);
	T_EQ(r_send(&r), 13);
	T_CHECK(!r.act.pkt.ackreq && !r.act.retransmit);
}

T_TEST(req_expire__asks_again_for_the_rest_of_a_read)
{
	r_init(&r);
	r_post(&r, READ, SIG, 1000);
	r_post(&r, READ, SIG, 10);
	r_send_all(&r);
	r_data(&r, RXO_OP_READ_RESP_FIRST, 10, 256);
	r_data(&r, RXO_OP_READ_RESP_MIDDLE, 11, 256);
	r_time_out(&r);
	T_EQ(r_send(&r), 12);
	T_EQ(r.act.pkt.opcode, RXO_OP_READ_REQUEST);
	T_EQ(r.act.npsn, 2);
	T_EQ(r.act.pkt.va, VA + 512);
	T_EQ(r.act.pkt.dma_len, 488);
	T_EQ(r_send(&r), 14);
	/* Answered from FIRST, or by what is left of the first answer. */
	r_data(&r, RXO_OP_READ_RESP_FIRST, 12, 256);
	r_data(&r, RXO_OP_READ_RESP_LAST, 13, 232);
	T_CHECK(r.ack.last);
	T_EQ(r.ack.offset, 768);
	r_data(&r, RXO_OP_READ_RESP_ONLY, 14, 10);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_SUCCESS);
}

T_TEST(req_expire__retries_are_counted_exactly)
{
	u32 i;

	r_init(&r);
	r_post(&r, SEND, 0, 1);		/* unsignalled: a failure completes */
	r_post(&r, SEND, SIG, 1);
	for (i = 0; i <= r.cfg.retry_cnt; i++) {
		T_EQ(r_send_all(&r), 2);
		T_CHECK(!r_pop(&r));
		r_time_out(&r);
	}
	T_EQ(r.req.n_timeout, 3);
	r_ends(&r, 0, RXO_WC_RETRY_EXC_ERR);
	T_CHECK(r.done.wants_cqe);
	r_flush(&r, 1, 2);
}

/* A dead peer costs a few packets for each retry, however wide the window is. */
T_TEST(req_expire__few_are_repeated_without_an_answer)
{
	u32 i;

	r_init(&r);
	r_post(&r, SEND, SIG, 100 * 256);
	T_EQ(r_send_all(&r), 64);
	for (i = 0; i < r.cfg.retry_cnt; i++) {
		r_time_out(&r);
		T_EQ(r_send_all(&r), RXO_REQ_CAREFUL);
		T_CHECK(r.act.kind == RXO_REQ_WAIT && r.act.wait == RXO_WAIT_WINDOW);
	}
	r_ack(&r, 10);
	T_EQ(r_send_all(&r), 57);
	r_rnr(&r, 11);
	r_time_out(&r);
	T_EQ(r_send_all(&r), 1);
	r_time_out(&r);
	T_EQ(r_send_all(&r), 1);		/* it was not ready before that */
	r_ack(&r, 40);
	T_EQ(r_send_all(&r), 64);
}

T_TEST(req_expire__progress_refills)
{
	u32 i;

	r_init(&r);
	r_post(&r, SEND, SIG, 10 * 256);
	for (i = 0; i < 9; i++) {
		r_send_all(&r);
		r_time_out(&r);
		r_send_all(&r);
		r_time_out(&r);
		r_send_all(&r);
		r_ack(&r, 10 + i);
	}
	T_CHECK(!r_pop(&r));
	T_EQ(r.req.una.v, 19);
}

/* -------------------------------------------------------------- completion */

T_TEST(req_pop__unsignalled_success_wants_no_completion)
{
	r_init(&r);
	r_post(&r, SEND, 0, 1);
	r_post(&r, SEND, SIG, 2);
	r_send_all(&r);
	r_ack(&r, 11);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_CHECK(!r.done.wants_cqe);
	r_ends(&r, 1, RXO_WC_SUCCESS);
	T_CHECK(r.done.wants_cqe);
	T_EQ(r.done.byte_len, 2);
	T_EQ(r.done.wr_opcode, SEND);
}

T_TEST(req_pop__failed_validation_waits_for_its_turn)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post_bad(&r, RXO_WC_LOC_LEN_ERR);
	r_post(&r, SEND, SIG, 1);
	T_EQ(r_send_all(&r), 1);
	T_EQ(r.act.wait, RXO_WAIT_FAILED);
	T_CHECK(!r_pop(&r));
	r_time_out(&r);			/* the one before is still cared for */
	T_EQ(r_send_all(&r), 1);
	r_ack(&r, 10);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_LOC_LEN_ERR);
	T_CHECK(r.req.failed);
	r_flush(&r, 2, 3);
}

T_TEST(req_pop__failed_first)
{
	r_init(&r);
	r_post_bad(&r, RXO_WC_LOC_QP_OP_ERR);
	r_post_bad(&r, RXO_WC_LOC_LEN_ERR);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	r_ends(&r, 0, RXO_WC_LOC_QP_OP_ERR);
	r_flush(&r, 1, 2);
}

T_TEST(req_pop__flush_keeps_what_had_succeeded)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, 0, 600);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_ack(&r, 11);			/* all of the first, part of the next */
	T_CHECK(rxo_req_pop(&r.req, true, &r.done));
	T_EQ(r.done.status, RXO_WC_SUCCESS);
	T_CHECK(rxo_req_pop(&r.req, true, &r.done));
	T_EQ(r.done.status, RXO_WC_WR_FLUSH_ERR);
	T_CHECK(r.done.wants_cqe);
	r_flush(&r, 2, 3);
	/* Posted late: flushed too. */
	r_post(&r, SEND, SIG, 1);
	T_CHECK(rxo_req_pop(&r.req, true, &r.done));
	T_EQ(r.done.status, RXO_WC_WR_FLUSH_ERR);
	T_EQ(r_ack(&r, 13), RXO_ACK_DROP);
}

T_TEST(req_sent__local_failure_of_a_repetition)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_time_out(&r);
	r_send(&r);
	r_next(&r);
	T_EQ(r.act.pkt.psn.v, 11);
	r_sent(&r, RXO_SENT_LOC_PROT);
	/* The third is acknowledged too, but an error has been decided on. */
	r_send_all(&r);
	r_ack(&r, 12);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_LOC_PROT_ERR);
	r_flush(&r, 2, 3);
}

T_TEST(req_sent__local_failure_in_the_middle)
{
	r_init(&r);
	r_post(&r, SEND, SIG, 300);
	r_post(&r, SEND, SIG, 1000);
	r_post(&r, SEND, SIG, 1);
	r_send(&r);
	r_send(&r);
	r_send(&r);
	r_next(&r);
	r_sent(&r, RXO_SENT_LOC_QP_OP);
	T_CHECK(!r_pop(&r));
	r_send_all(&r);
	r_nak(&r, 10, RXO_NAK_PSN);	/* the first still needs repeating */
	T_EQ(r_send(&r), 10);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	r_ack(&r, 10);
	T_EQ(r_send(&r), 11);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	r_ack(&r, 11);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_LOC_QP_OP_ERR);
	r_flush(&r, 2, 3);
}

/* A train that the stack refuses: in SQD what never left has not begun. */
T_TEST(req_rewind__nothing_has_begun)
{
	struct rxo_req mark;

	r_init(&r);
	r_post(&r, SEND, SIG, 600);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, READ, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	T_EQ(r_send(&r), 10);
	mark = r.req;
	T_EQ(r_send_all(&r), 5);
	rxo_req_rewind(&r.req, &mark);
	r.req.draining = true;
	/* The first has begun, and ends. */
	T_EQ(r_send(&r), 11);
	T_CHECK(r_send(&r) == 12 && r.act.pkt.ackreq);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_DRAIN);
	T_CHECK(!rxo_req_is_drained(&r.req));
	r_ack(&r, 12);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_CHECK(rxo_req_is_drained(&r.req));
	T_EQ(r.req.rd_out, 0);
	r.req.draining = false;
	T_EQ(r_send_all(&r), 3);
	T_EQ(r.req.max.v, 16);
}

/* The same on the way back: what had been sent before stays begun. */
T_TEST(req_rewind__repetitions_stay_begun)
{
	struct rxo_req mark;

	r_init(&r);
	r_post(&r, SEND, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	r_time_out(&r);
	r_post(&r, SEND, SIG, 1);
	mark = r.req;
	T_EQ(r_send_all(&r), 3);
	rxo_req_rewind(&r.req, &mark);
	r.req.draining = true;
	T_EQ(r_send_all(&r), 2);
	T_EQ(r.act.wait, RXO_WAIT_DRAIN);
}

T_TEST(req_wc_opcode__rows)
{
	T_EQ(rxo_req_wc_opcode(SEND), RXO_WC_SEND);
	T_EQ(rxo_req_wc_opcode(SEND_I), RXO_WC_SEND);
	T_EQ(rxo_req_wc_opcode(WRITE), RXO_WC_RDMA_WRITE);
	T_EQ(rxo_req_wc_opcode(WRITE_I), RXO_WC_RDMA_WRITE);
	T_EQ(rxo_req_wc_opcode(READ), RXO_WC_RDMA_READ);
}
