// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Atomics at the requester: sent, counted with READs, ended by their result. */
#include "requester.h"

#define CAS	RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP
#define FAA	RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD
#define RESULT	RXO_OP_ATOMIC_ACK
#define ONLY	RXO_OP_READ_RESP_ONLY

static struct requester r;

static void post_atomic(u8 opcode, u8 flags)
{
	struct rxo_swqe *wqe = rxo_req_slot(&r.req);

	r_post(&r, opcode, flags, RXO_ATOMIC_LEN);
	wqe->swap_add = 0x1122334455667788;
	wqe->compare = 0x99;
}

static enum rxo_ack_kind answer(u32 psn, u64 orig)
{
	struct rxo_pkt pkt = {
		.opcode = RESULT, .psn = rxo_psn_make(psn), .syndrome = 0x1f,
		.orig = orig,
	};

	rxo_ack_rx(&r.req, &pkt, r.now, &r.ack);
	return r.ack.kind;
}

/* A result that is taken and placed. */
static void result(u32 psn, u64 orig)
{
	T_EQ(answer(psn, orig), RXO_ACK_RESULT);
	T_EQ(r.ack.orig, orig);
	T_EQ(r.ack.len, RXO_ATOMIC_LEN);
	T_EQ(r.ack.offset, 0);
	T_CHECK(r.ack.last);
	rxo_ack_done(&r.req, &r.ack, RXO_PLACED, r.now);
}

T_TEST(req_atomic__packet_and_completion)
{
	static const struct {
		u8 wr, op;
		enum rxo_wc_opcode wc;
	} rows[] = {
		{ CAS, RXO_OP_CMP_SWAP, RXO_WC_COMP_SWAP },
		{ FAA, RXO_OP_FETCH_ADD, RXO_WC_FETCH_ADD },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		r_init(&r);
		post_atomic(rows[i].wr, SIG);
		T_EQ(r_send(&r), 10);
		T_EQ(r.act.pkt.opcode, rows[i].op);
		T_EQ(r.act.pkt.va, VA);
		T_EQ(r.act.pkt.rkey, 0x77);
		T_EQ(r.act.pkt.swap_add, 0x1122334455667788);
		T_EQ(r.act.pkt.compare, 0x99);
		T_EQ(r.act.npsn, 1);
		T_CHECK(!r.act.len && !r.act.pkt.payload_len && !r.act.pkt.pad);
		T_EQ(r.act.pkt.hdr_len, 40);
		T_CHECK(!r_pop(&r));
		result(10, 5);
		T_EQ(r.ack.slot, 0);
		r_ends(&r, 0, RXO_WC_SUCCESS);
		T_EQ(r.done.byte_len, 8);
		T_EQ(rxo_req_wc_opcode(r.done.wr_opcode), rows[i].wc);
		T_CHECK(rxo_req_is_drained(&r.req));
		T_EQ(rxo_req_deadline(&r.req), U64_MAX);
	}
}

T_TEST(req_atomic__counts_against_the_limit)
{
	r_init(&r);
	r.cfg.max_rd_atomic = 2;
	r_start(&r, 10);
	post_atomic(FAA, 0);
	r_post(&r, READ, 0, 10);
	post_atomic(CAS, 0);
	T_EQ(r_send_all(&r), 2);
	T_EQ(r.act.wait, RXO_WAIT_READ_LIMIT);
	T_EQ(r.req.rd_out, 2);
	result(10, 1);
	T_EQ(r_send(&r), 12);
	T_EQ(r.req.rd_out, 2);
	r_time_out(&r);			/* repetitions do not count */
	T_EQ(r_send(&r), 11);
	T_EQ(r_send(&r), 12);
	T_CHECK(r.act.retransmit);
	T_EQ(r.req.rd_out, 2);
	r_data(&r, ONLY, 11, 10);
	result(12, 2);
	T_EQ(r.req.rd_out, 0);
}

/* Fewer than are outstanding: none is added until enough have ended. */
T_TEST(req_atomic__limit_changes_under_traffic)
{
	r_init(&r);
	for (int i = 0; i < 6; i++)
		post_atomic(FAA, SIG);
	T_EQ(r_send_all(&r), 4);
	r.cfg.max_rd_atomic = 1;
	rxo_req_modify(&r.req, &r.cfg);
	for (u32 psn = 10; psn < 13; psn++) {
		result(psn, psn);
		T_EQ(r_next(&r), RXO_REQ_WAIT);
		T_EQ(r.act.wait, RXO_WAIT_READ_LIMIT);
	}
	r_time_out(&r);			/* what was sent may be sent again */
	T_EQ(r_send(&r), 13);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	result(13, 13);
	T_EQ(r_send_all(&r), 1);
	r.cfg.max_rd_atomic = 4;
	rxo_req_modify(&r.req, &r.cfg);
	T_EQ(r_send_all(&r), 1);
	result(14, 14);
	result(15, 15);
	for (u64 id = 0; id < 6; id++)
		r_ends(&r, id, RXO_WC_SUCCESS);
}

T_TEST(req_atomic__none_allowed)
{
	r_init(&r);
	r.cfg.max_rd_atomic = 0;
	r_start(&r, 10);
	post_atomic(CAS, 0);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_FAILED);
	r_ends(&r, 0, RXO_WC_LOC_QP_OP_ERR);
}

T_TEST(req_atomic__fence_waits_for_the_result)
{
	r_init(&r);
	post_atomic(FAA, 0);
	r_post(&r, SEND, FENCE, 1);
	T_EQ(r_send_all(&r), 1);
	T_EQ(r.act.wait, RXO_WAIT_FENCE);
	result(10, 1);
	T_EQ(r_send(&r), 11);
}

/* A fence on an atomic holds it back; without one it need not wait. */
T_TEST(req_atomic__fence_on_the_atomic)
{
	r_init(&r);
	r_post(&r, READ, 0, 1);
	post_atomic(FAA, FENCE);
	T_EQ(r_send_all(&r), 1);
	T_EQ(r.act.wait, RXO_WAIT_FENCE);
	r_init(&r);
	r_post(&r, READ, 0, 1);
	post_atomic(FAA, 0);
	T_EQ(r_send_all(&r), 2);
}

/* Its result acknowledges what is before; an ACK from behind is an implied NAK. */
T_TEST(req_atomic__implied_nak)
{
	r_init(&r);
	r_post(&r, WRITE, SIG, 1);
	post_atomic(FAA, SIG);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_EQ(r_ack(&r, 12), RXO_ACK_TAKEN);	/* no result of 11 */
	r_ends(&r, 0, RXO_WC_SUCCESS);
	T_CHECK(!r_pop(&r));
	T_EQ(r.req.n_implied_nak, 1);
	T_EQ(r.req.una.v, 11);
	T_EQ(r_ack(&r, 12), RXO_ACK_DROP);	/* asked for already */
	T_EQ(r.ack.drop, RXO_DROP_SEQ);
	T_EQ(r_send(&r), 11);
	T_EQ(r.act.pkt.opcode, RXO_OP_FETCH_ADD);
	T_CHECK(r.act.retransmit);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	result(11, 1);
	r_ends(&r, 1, RXO_WC_SUCCESS);
	/* The ACK is remembered. */
	T_CHECK(!rxo_ack_kept_due(&r.req, NULL, r.now));
	r_ends(&r, 2, RXO_WC_SUCCESS);

	r_init(&r);			/* a plain ACK is no result */
	post_atomic(FAA, SIG);
	r_send(&r);
	T_EQ(r_ack(&r, 10), RXO_ACK_TAKEN);
	T_CHECK(!r_pop(&r));
	T_EQ(r_send(&r), 10);

	r_init(&r);			/* results with a gap */
	post_atomic(FAA, SIG);
	post_atomic(FAA, SIG);
	r_send_all(&r);
	T_EQ(answer(11, 2), RXO_ACK_AHEAD);
	T_EQ(r.req.n_implied_nak, 1);
	T_CHECK(!r_pop(&r));
	T_EQ(r_send(&r), 10);
}

T_TEST(req_atomic__result_acknowledges_what_is_before)
{
	r_init(&r);
	r_post(&r, WRITE, SIG, 600);
	post_atomic(CAS, SIG);
	r_send_all(&r);
	result(13, 0);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_SUCCESS);
}

T_TEST(req_atomic__answers_that_do_not_belong)
{
	r_init(&r);
	post_atomic(FAA, SIG);
	r_post(&r, READ, SIG, 1);
	r_post(&r, SEND, SIG, 1);
	r_send_all(&r);
	T_EQ(r_answer(&r, ONLY, 10, 0x1f, 8), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_RESPONSE);
	result(10, 1);
	T_EQ(answer(10, 1), RXO_ACK_DROP);	/* again */
	T_EQ(r.ack.drop, RXO_DROP_DUP);
	T_EQ(answer(11, 1), RXO_ACK_DROP);	/* that is a READ */
	T_EQ(r.ack.drop, RXO_DROP_RESPONSE);
	T_EQ(answer(12, 1), RXO_ACK_DROP);	/* that is a SEND */
	T_EQ(r.ack.drop, RXO_DROP_RESPONSE);
	T_EQ(answer(13, 1), RXO_ACK_DROP);	/* never sent */
	T_EQ(r.ack.drop, RXO_DROP_RESPONSE);
	T_EQ(r.req.una.v, 11);
}

T_TEST(req_atomic__refused_by_the_peer)
{
	static const u8 opcodes[] = { RXO_OP_ACK, RESULT };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		t_context("opcode %02x", opcodes[i]);
		r_init(&r);
		r_post(&r, WRITE, 0, 1);
		post_atomic(FAA, 0);
		post_atomic(FAA, 0);
		r_send_all(&r);
		T_EQ(r_answer(&r, opcodes[i], 11, 0x62, 0), RXO_ACK_TAKEN);
		T_CHECK(r_pop(&r));
		T_EQ(r.done.status, RXO_WC_SUCCESS);
		T_CHECK(!r.done.wants_cqe);
		r_ends(&r, 1, RXO_WC_REM_ACCESS_ERR);
		T_EQ(r.done.byte_len, 8);
		T_EQ(answer(12, 1), RXO_ACK_DROP);
		T_EQ(r.ack.drop, RXO_DROP_STATE);
		r_flush(&r, 2, 3);
	}
}

T_TEST(req_atomic__no_room_for_the_result)
{
	r_init(&r);
	post_atomic(FAA, 0);
	r_post(&r, SEND, 0, 1);
	r_send_all(&r);
	T_EQ(answer(10, 1), RXO_ACK_RESULT);
	rxo_ack_done(&r.req, &r.ack, RXO_PLACE_LOC_PROT, r.now);
	T_EQ(answer(10, 1), RXO_ACK_DROP);
	T_EQ(r.ack.drop, RXO_DROP_STATE);
	r_ends(&r, 0, RXO_WC_LOC_PROT_ERR);
	r_flush(&r, 1, 2);
}

/* What went last is an atomic: nobody needs to be asked for an ACK. */
T_TEST(req_atomic__no_nudge)
{
	r_init(&r);
	r_post(&r, WRITE, 0, 1);
	post_atomic(FAA, 0);
	r_send(&r);
	T_CHECK(!r.act.pkt.ackreq);
	r_send(&r);
	T_EQ(r_next(&r), RXO_REQ_IDLE);
	T_CHECK(!rxo_req_has_next(&r.req));

	r_init(&r);			/* one that may not go yet is no answer */
	r.cfg.max_rd_atomic = 1;
	r_start(&r, 10);
	post_atomic(FAA, 0);
	r_post(&r, WRITE, 0, 1);
	post_atomic(FAA, 0);
	r_send(&r);
	r_send(&r);
	T_CHECK(r.act.pkt.ackreq);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_READ_LIMIT);
}

/* The same when the one behind it has failed: the result is the answer. */
T_TEST(req_atomic__no_nudge_after_a_local_failure)
{
	r_init(&r);
	post_atomic(FAA, 0);
	r_post(&r, WRITE, 0, 600);
	r_send(&r);
	r_send(&r);
	T_EQ(r_next(&r), RXO_REQ_SEND);
	r_sent(&r, RXO_SENT_LOC_PROT);
	T_EQ(r_next(&r), RXO_REQ_WAIT);
	T_EQ(r.act.wait, RXO_WAIT_FAILED);
	result(10, 1);
	r_ends(&r, 0, RXO_WC_SUCCESS);
	r_ends(&r, 1, RXO_WC_LOC_PROT_ERR);
}
