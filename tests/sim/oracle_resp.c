// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a responder may execute, what its memory has to hold, which receives
 * complete, and what it may answer (IBTA 9.7.4, 9.7.5, 9.9.3, 11.6.2).
 */
#include "sim.h"

/* ---------------------------------------------------------------- execution */

/* The bytes of a packet are now at @at of the area, and nothing else changed. */
static void placed(struct sim_end *e, struct sim_area *area, u32 at,
		   const struct sim_op *op, u32 off, u32 n)
{
	sim_pattern(area->shadow + at, op->pattern, off, n);
	SIM_CHECK(e, !memcmp(area->mem + at, area->shadow + at, n),
		  "wrong bytes at %u of the message", off);
}

/* READs that were executed before and whose data may be read again. */
static void spoils_reads(struct sim_end *e, struct sim_flow *f, u64 va, u32 n)
{
	u32 at = sim_memory_at(e, va), i;

	for (i = f->una_op; (s32)(f->exec_op - i) > 0; i++) {
		struct sim_op *op = sim_op(f, i);

		if (sim_is_read(op->opcode) &&
		    sim_memory_at(e, op->raddr) < at + n &&
		    at < sim_memory_at(e, op->raddr) + op->len)
			op->racy = true;
	}
}

static void executes_send(struct sim_end *e, struct sim_flow *f,
			  const struct sim_op *op, u32 off, u32 n)
{
	const struct sim_recv *r = &e->rq[f->recv_used % SIM_RQ];

	SIM_CHECK(e, f->recv_used != e->rq_head, "takes a receive that is not there");
	SIM_CHECK(e, r->fault == SIM_GOOD && off + n <= r->len,
		  "uses a receive that does not fit");
	placed(e, &e->recv, f->recv_used % e->plan->rq * e->slot + off, op,
	       off, n);
}

static void executes_write(struct sim_end *e, struct sim_flow *f,
			   const struct sim_op *op, u32 off, u32 n)
{
	if (!op->len)
		return;
	SIM_CHECK(e, !e->revoked && op->fault != SIM_BAD_KEY &&
		  op->fault != SIM_BAD_RANGE, "forbidden WRITE is executed");
	placed(e, &e->target, sim_memory_at(e, op->raddr + off), op, off, n);
	spoils_reads(e, f, op->raddr + off, n);
}

/* Exactly once, and the answer is what was there before. */
static void executes_atomic(struct sim_end *e, struct sim_flow *f,
			    struct sim_op *op, u64 orig)
{
	u32 at = sim_memory_at(e, op->raddr);
	u64 new;

	SIM_CHECK(e, !e->revoked && (op->fault == SIM_GOOD ||
				     op->fault == SIM_BAD_LOCAL),
		  "forbidden atomic is executed");
	memcpy(&op->answer, e->target.shadow + at, 8);
	SIM_CHECK(e, orig == op->answer, "atomic found %llx instead of %llx",
		  (unsigned long long)orig, (unsigned long long)op->answer);
	if (op->opcode == RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD)
		new = op->answer + op->operand;
	else
		new = op->answer == op->compare ? op->operand : op->answer;
	memcpy(e->target.shadow + at, &new, 8);
	SIM_CHECK(e, !memcmp(e->target.mem + at, &new, 8),
		  "atomic stored something else");
	spoils_reads(e, f, op->raddr, 8);
}

static void message_ends(struct sim_end *e, struct sim_flow *f,
			 const struct sim_op *op, u64 executed)
{
	struct sim_msg *m;

	f->exec_op++;
	f->exec_off = 0;
	if (!sim_is_read(op->opcode))
		f->observed++;
	if (!sim_takes_recv(op->opcode))
		return;
	SIM_CHECK(e, f->recv_used != e->rq_head, "takes a receive that is not there");
	f->recv_used++;
	m = &e->msg[e->msg_head++ % ARRAY_SIZE(e->msg)];
	*m = (struct sim_msg){
		.len = op->len,
		.with_imm = sim_has_imm(op->opcode),
		.is_write = sim_is_write(op->opcode),
		.solicited = op->flags & RXE_ORDERED_SEND_SOLICITED,
		.imm = op->imm,
		.must_be_done = executed,
	};
}

static void executed_well(struct sim_end *e, struct sim_flow *f,
			  const struct rxo_pkt *pkt, u64 orig, u64 executed)
{
	struct sim_op *op = sim_op(f, f->exec_op);
	u32 n = pkt->payload_len, off = f->exec_off;

	SIM_CHECK(e, f->exec_op != f->begun, "executes what was never sent");
	SIM_CHECK(e, f->exec - op->first == off / e->conn->plan.mtu,
		  "executes a packet of another message");
	if (sim_is_read(op->opcode)) {
		n = pkt->dma_len;
		/* A part of it may be within the range. */
		SIM_CHECK(e, !n || (!e->revoked && op->fault != SIM_BAD_KEY &&
			  op->raddr - e->va + off + n <= e->conn->plan.area),
			  "forbidden READ is executed");
		f->exec += oracle_npsn(e->conn, n) - 1;
	} else if (sim_is_atomic(op->opcode)) {
		n = 8;
		executes_atomic(e, f, op, orig);
	} else {
		SIM_CHECK(e, n == min(op->len - off, e->conn->plan.mtu),
			  "executes %u bytes", n);
		if (sim_is_send(op->opcode))
			executes_send(e, f, op, off, n);
		else
			executes_write(e, f, op, off, n);
	}
	f->exec++;
	f->exec_off += n;
	f->no_recv = false;
	if (f->exec == op->first + op->npsn)
		message_ends(e, f, op, executed);
}

static void executed_badly(struct sim_end *e, struct sim_flow *f, u32 status,
			   u32 recv_status, bool reason)
{
	SIM_CHECK(e, reason, "fails without a reason");
	f->peer_error = status;
	f->peer_error_at = f->exec;
	f->recv_error = recv_status;
}

void oracle_executes(struct sim_end *e, const struct rxo_pkt *pkt,
		     const struct rxo_resp_act *act, enum rxo_resp_result res,
		     u64 executed)
{
	struct sim_flow *f = sim_peer_flow(e);
	s64 at = oracle_seq(pkt->psn.v, sim_peer(e)->plan->psn, f->exec);
	const struct sim_op *op = sim_op(f, f->exec_op);
	const struct sim_recv *r = &e->rq[f->recv_used % SIM_RQ];

	if (act->kind == RXO_RESP_NONE) {
		/* Taken for a duplicate, a gap, or a mistake of the peer's. */
		if (at == (s64)f->exec && op->fault == SIM_BAD_ALIGN)
			executed_badly(e, f, RXO_WC_REM_INV_REQ_ERR, 0, true);
		return;
	}
	SIM_CHECK(e, at == (s64)f->exec, "executes %lld instead of %llu", at,
		  (unsigned long long)f->exec);
	SIM_CHECK(e, !f->peer_error, "executes after an error");
	switch (res) {
	case RXO_RES_OK:
		executed_well(e, f, pkt, act->orig, executed);
		break;
	case RXO_RES_KEPT:	/* not of what is executed */
	case RXO_RES_BUSY:
		break;
	case RXO_RES_NO_RECV:
		SIM_CHECK(e, f->recv_used == e->rq_head, "overlooks a receive");
		f->no_recv = true;
		break;
	case RXO_RES_ACCESS:
	case RXO_RES_PLACE_ACCESS:
		executed_badly(e, f, RXO_WC_REM_ACCESS_ERR,
			       act->need_recv && res != RXO_RES_ACCESS ?
			       RXO_WC_LOC_ACCESS_ERR : 0,
			       e->revoked || op->fault == SIM_BAD_KEY ||
			       op->fault == SIM_BAD_RANGE);
		break;
	case RXO_RES_LOC_LEN:
		executed_badly(e, f, RXO_WC_REM_INV_REQ_ERR,
			       RXO_WC_LOC_LEN_ERR, op->len > r->len);
		break;
	case RXO_RES_RECV_BAD:
		executed_badly(e, f, RXO_WC_REM_OP_ERR, RXO_WC_LOC_QP_OP_ERR,
			       r->fault == SIM_BAD_RECV);
		break;
	case RXO_RES_LOC_PROT:
		executed_badly(e, f, RXO_WC_REM_OP_ERR, RXO_WC_LOC_PROT_ERR,
			       r->fault == SIM_BAD_RECV_LOCAL);
		break;
	}
}

/* ----------------------------------------------------------------- receives */

static void check_message(struct sim_end *e,
			  const struct rxo_resp_next_act *next)
{
	const struct sim_msg *m = &e->msg[e->msg_tail % ARRAY_SIZE(e->msg)];

	SIM_CHECK(e, e->msg_tail != e->msg_head,
		  "a receive completes without a message");
	e->msg_tail++;
	SIM_CHECK(e, next->byte_len == m->len, "received %u bytes instead of %u",
		  next->byte_len, m->len);
	SIM_CHECK(e, next->opcode == (m->is_write ? RXO_WC_RECV_RDMA_WITH_IMM :
				      RXO_WC_RECV), "receive opcode");
	SIM_CHECK(e, next->with_imm == m->with_imm &&
		  (!m->with_imm || next->imm == m->imm), "immediate");
	SIM_CHECK(e, next->solicited == m->solicited, "solicited");
}

/*
 * The guarantee of ordered completions: whatever of ours the peer had executed
 * when it sent this message has been completed by now.
 */
static void check_order(struct sim_end *e, const struct sim_msg *m)
{
	const struct sim_flow *f = sim_flow(e);

	if (!e->plan->ordered)
		return;
	SIM_CHECK(e, f->observed_done >= m->must_be_done,
		  "received what was sent after %llu requests, completed %llu",
		  (unsigned long long)m->must_be_done,
		  (unsigned long long)f->observed_done);
	SIM_CHECK(e, e->state != RXO_QPS_ERR || f->done == f->posted,
		  "a held receive passes what is flushed");
}

void oracle_receives(struct sim_end *e, const struct rxo_resp_next_act *next)
{
	const struct sim_msg *m = &e->msg[e->msg_tail % ARRAY_SIZE(e->msg)];
	struct sim_flow *f = sim_peer_flow(e);

	SIM_TRACE(e, "completes receive %u: status %u, %u bytes", e->rq_done,
		  next->status, next->byte_len);
	SIM_CHECK(e, e->rq_done != e->rq_head, "completes a receive too many");
	if (next->status == RXO_WC_SUCCESS) {
		check_message(e, next);
		check_order(e, m);
		e->received_at = e->sim->now;
		return;
	}
	if (next->status == RXO_WC_WR_FLUSH_ERR) {
		SIM_CHECK(e, e->state == RXO_QPS_ERR || f->peer_error,
			  "a receive is flushed without an error");
		SIM_CHECK(e, !f->recv_error, "a failed receive is flushed");
		return;
	}
	SIM_CHECK(e, next->status == f->recv_error, "receive status %u",
		  next->status);
	f->recv_error = 0;
}

/* ------------------------------------------------------------------ answers */

/* Messages that have been executed up to and including this position. */
static u32 messages_up_to(struct sim_flow *f, s64 seq)
{
	u32 n = f->exec_op;

	while (n && f->posted - (n - 1) < SIM_OPS &&
	       (s64)(sim_op(f, n - 1)->first + sim_op(f, n - 1)->npsn) > seq + 1)
		n--;
	return n;
}

static void answers_result(struct sim_end *e, struct sim_flow *f,
			 const struct rxo_pkt *pkt, s64 seq, const u8 *payload,
			 u32 len)
{
	u32 mtu = e->conn->plan.mtu, idx = 0, off, at;
	const struct sim_op *op;

	SIM_CHECK(e, seq < (s64)f->exec, "answers what it has not executed");
	op = seq < 0 ? NULL : oracle_find(f, (u64)seq, &idx);
	if (!op)
		return;		/* an old one, sent again */
	if (pkt->opcode == RXO_OP_ATOMIC_ACK) {
		SIM_CHECK(e, sim_is_atomic(op->opcode) &&
			  pkt->orig == op->answer, "answer to request %u", idx);
		return;
	}
	SIM_CHECK(e, sim_is_read(op->opcode), "answers what is not a READ");
	off = (u32)((u64)seq - op->first) * mtu;
	SIM_CHECK(e, len == min(op->len - off, mtu), "response of %u bytes", len);
	SIM_CHECK(e, pkt->opcode == 0x0e || sim_peer(e)->plan->rd_part ||
		  pkt->msn == ((idx + 1) & 0xffffff),
		  "MSN %u in the response to request %u", pkt->msn, idx);
	if (!len)
		return;
	at = sim_memory_at(e, op->raddr + off);
	SIM_CHECK(e, payload == e->target.mem + at,
		  "response from the wrong place");
	SIM_CHECK(e, !memcmp(payload, e->target.shadow + at, len),
		  "memory is not what it should be");
}

static u32 nak_status(u32 code)
{
	switch (code) {
	case 1:
	case 4:
		return RXO_WC_REM_INV_REQ_ERR;
	case 2:
		return RXO_WC_REM_ACCESS_ERR;
	default:
		return RXO_WC_REM_OP_ERR;
	}
}

static void answers_nak(struct sim_end *e, struct sim_flow *f, s64 seq,
			u8 syndrome)
{
	u32 code = syndrome & 31;

	if (syndrome >> 5 == 1) {
		SIM_CHECK(e, seq == (s64)f->exec, "RNR NAK for %lld", seq);
		SIM_CHECK(e, f->no_recv, "RNR NAK without a reason");
		SIM_CHECK(e, code == e->plan->resp.min_rnr_timer, "RNR timer");
	} else if (!code) {
		SIM_CHECK(e, seq == (s64)f->exec, "sequence NAK for %lld", seq);
	} else {
		SIM_CHECK(e, f->peer_error == nak_status(code) &&
			  seq == (s64)f->peer_error_at, "NAK code %u for %lld",
			  code, seq);
	}
}

/* Of the receives for which no message has ended as many as there is a value for. */
static void check_credits(struct sim_end *e, struct sim_flow *f, u32 value)
{
	u32 n = e->rq_head - f->recv_used;

	if (!e->plan->resp.credits)
		SIM_CHECK(e, value == 31, "credits of a peer without");
	else
		SIM_CHECK(e, value < 31 && oracle_credits(value) <= n &&
			  (value == 30 || oracle_credits(value + 1) > n),
			  "credits %u with %u receives", value, n);
}

void oracle_answers(struct sim_end *e, const struct rxo_pkt *pkt,
		    const u8 *payload, u32 len)
{
	struct sim_flow *f = sim_peer_flow(e);
	s64 seq = oracle_seq(pkt->psn.v, sim_peer(e)->plan->psn, f->exec);
	bool ack = !(pkt->syndrome >> 5);

	SIM_CHECK(e, e->state != RXO_QPS_ERR, "answers after an error");
	SIM_CHECK(e, pkt->dqpn == sim_peer(e)->qpn, "answers another QP");
	if (ack && !f->peer_error)
		check_credits(e, f, pkt->syndrome & 31);
	if (pkt->opcode != RXO_OP_ACK) {
		answers_result(e, f, pkt, seq, payload, len);
		return;
	}
	if (ack)
		SIM_CHECK(e, seq < (s64)f->exec,
			  "acknowledges %lld, has executed up to %llu", seq,
			  (unsigned long long)f->exec);
	else
		answers_nak(e, f, seq, pkt->syndrome);
	/* To the peer each part of a READ is one. */
	if (sim_peer(e)->plan->rd_part)
		return;
	SIM_CHECK(e, pkt->msn == ((ack ? messages_up_to(f, seq) : f->exec_op) &
				  0xffffff),
		  "MSN %u at %lld", pkt->msn, seq);
}

/* The memory that a READ is to be answered from has gone. */
void oracle_answer_refused(struct sim_end *e, const struct rxo_pkt *pkt)
{
	struct sim_flow *f = sim_peer_flow(e);

	SIM_CHECK(e, e->revoked, "refuses a READ without a reason");
	f->peer_error = RXO_WC_REM_ACCESS_ERR;
	f->peer_error_at = (u64)oracle_seq(pkt->psn.v, sim_peer(e)->plan->psn,
					   f->exec);
}

/* ---------------------------------------------------------------------- end */

void oracle_ended(struct sim_conn *conn)
{
	u32 side;

	for (side = 0; side < 2; side++) {
		struct sim_end *e = &conn->end[side];
		struct sim_flow *f = &conn->flow[side];

		SIM_CHECK(e, f->done == f->posted, "requests are left");
		SIM_CHECK(e, e->msg_head == e->msg_tail,
			  "a message was received and not completed");
		SIM_CHECK(e, e->state == RXO_QPS_ERR ||
			  f->exec == f->max, "packets were not executed");
		SIM_CHECK(e, sim_area_is_right(&e->target) &&
			  sim_area_is_right(&e->recv) &&
			  sim_area_is_right(&e->local),
			  "a byte was written that nobody was to touch");
	}
}
