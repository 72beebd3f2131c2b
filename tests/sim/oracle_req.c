// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a requester may send, what the answers that reach it mean, and which
 * completions may come of that (IBTA 9.7, 9.9, 10.7, 11.6.2). Sequence numbers
 * are positions in the stream of packets, so nothing here wraps.
 */
#include "sim.h"

/* The position that a PSN stands for, nearest to @near. */
s64 oracle_seq(u32 psn, u32 start, u64 near)
{
	u32 d = (psn - start - (u32)near) & 0xffffff;

	return (s64)near + (d < 0x800000 ? (s64)d : (s64)d - 0x1000000);
}

u32 oracle_npsn(const struct sim_conn *conn, u32 len)
{
	return len ? (len + conn->plan.mtu - 1) / conn->plan.mtu : 1;
}

static u64 end_of(const struct sim_op *op)
{
	return op->first + op->npsn;
}

/* The request that a position lies in, as far back as is remembered. */
struct sim_op *oracle_find(struct sim_flow *f, u64 seq, u32 *idx)
{
	u32 i = f->una_op < f->begun ? f->una_op : f->begun - 1;

	if (!f->begun || seq >= end_of(sim_op(f, f->begun - 1)))
		return NULL;
	while (seq >= end_of(sim_op(f, i)))
		i++;
	while (seq < sim_op(f, i)->first) {
		if (!i || f->posted - (i - 1) >= SIM_OPS)
			return NULL;
		i--;
	}
	*idx = i;
	return sim_op(f, i);
}

/* ------------------------------------------------------------------ sending */

static void begins(struct sim_end *e, struct sim_flow *f, u64 seq)
{
	struct sim_op *op = sim_op(f, f->begun);
	u32 i;

	SIM_CHECK(e, f->begun != f->posted, "sends what was never posted");
	SIM_CHECK(e, op->fault != SIM_BAD_ENTRY, "sends an invalid request");
	SIM_CHECK(e, !e->drain_wanted,
		  "begins a message while it drains");
	if (op->flags & RXE_ORDERED_SEND_FENCE)
		for (i = f->una_op; i != f->begun; i++)
			SIM_CHECK(e, !sim_has_result(sim_op(f, i)->opcode),
				  "request %u passes its fence", f->begun);
	op->begun = true;
	op->first = seq;
	op->npsn = oracle_npsn(e->conn, op->len);
	f->begun++;
}

/* The BTH opcode of packet @i of a request, table of IBTA 9.2.1. */
static u8 wire_opcode(const struct sim_op *op, u32 i)
{
	static const u8 base[] = {
		[RXE_ORDERED_WR_SEND] = 0x00,
		[RXE_ORDERED_WR_SEND_WITH_IMM] = 0x00,
		[RXE_ORDERED_WR_RDMA_WRITE] = 0x06,
		[RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM] = 0x06,
	};
	bool last = i + 1 == op->npsn;
	u8 imm = last && sim_has_imm(op->opcode);

	if (sim_is_read(op->opcode))
		return 0x0c;
	if (sim_is_atomic(op->opcode))
		return op->opcode == RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP ? 0x13 :
									 0x14;
	if (op->npsn == 1)
		return base[op->opcode] + 4 + imm;
	return base[op->opcode] + (last ? 2 + imm : i != 0);
}

/* Return: sequence numbers that the packet takes. */
static u32 check_read(struct sim_end *e, const struct sim_op *op, u32 off,
		      const struct rxo_pkt *pkt)
{
	SIM_CHECK(e, pkt->va == op->raddr + off && pkt->rkey == op->rkey,
		  "READ asks for the wrong place");
	SIM_CHECK(e, pkt->dma_len <= op->len - off &&
		  (pkt->dma_len == op->len - off ||
		   (pkt->dma_len && pkt->dma_len % e->conn->plan.mtu == 0)),
		  "READ asks for %u bytes at %u of %u", pkt->dma_len, off,
		  op->len);
	return oracle_npsn(e->conn, pkt->dma_len);
}

static u32 check_packet(struct sim_end *e, const struct sim_op *op, u32 i,
			const struct rxo_pkt *pkt, u32 len)
{
	u32 off = i * e->conn->plan.mtu;
	u32 want = min(op->len - off, e->conn->plan.mtu);
	bool last = i + 1 == op->npsn;

	SIM_CHECK(e, pkt->opcode == wire_opcode(op, i),
		  "opcode %02x for packet %u of %u", pkt->opcode, i, op->npsn);
	SIM_CHECK(e, pkt->dqpn == sim_peer(e)->qpn, "sends to another QP");
	if (sim_is_read(op->opcode))
		return check_read(e, op, off, pkt);
	if (sim_is_atomic(op->opcode)) {
		SIM_CHECK(e, pkt->va == op->raddr && pkt->rkey == op->rkey &&
			  pkt->swap_add == op->operand &&
			  (pkt->opcode == 0x14 || pkt->compare == op->compare),
			  "AtomicETH is wrong");
		return 1;
	}
	SIM_CHECK(e, len == want && pkt->payload_len == want,
		  "%u bytes instead of %u", len, want);
	SIM_CHECK(e, (len + pkt->pad) % 4 == 0 && pkt->pad < 4, "pad");
	if (sim_is_write(op->opcode) && !i)
		SIM_CHECK(e, pkt->va == op->raddr && pkt->rkey == op->rkey &&
			  pkt->dma_len == op->len, "RETH is wrong");
	if (last && sim_has_imm(op->opcode))
		SIM_CHECK(e, pkt->imm == op->imm, "immediate is wrong");
	SIM_CHECK(e, pkt->solicited ==
		  (last && (op->flags & RXE_ORDERED_SEND_SOLICITED) &&
		   op->opcode != RXE_ORDERED_WR_RDMA_WRITE),
		  "solicited bit is wrong");
	return 1;
}

static void check_reads(struct sim_end *e, struct sim_flow *f, u64 first,
			u32 npsn)
{
	u32 i = f->read_head++ % SIM_READS;

	f->read[i].first = first;
	f->read[i].last = first + npsn - 1;
	while (f->read[f->read_tail % SIM_READS].last < f->una)
		f->read_tail++;
	SIM_CHECK(e, f->read_head - f->read_tail <= e->req_cfg.max_rd_atomic,
		  "more READs and atomics outstanding than %u", e->req_cfg.max_rd_atomic);
}

/*
 * Without an answer a packet is sent again as often as retries allow, once more each
 * time to ask for an acknowledgement that was not asked for, and early, when the
 * answer is late.
 */
static void check_tries(struct sim_end *e, struct sim_flow *f)
{
	u32 most = 2 * (e->req_cfg.retry_cnt + 1) + 2 + RXO_REQ_EARLY +
		   (e->plan->ordered ? RXO_ORDER_PROBES : 0);

	f->tries++;
	SIM_CHECK(e, f->tries <= most, "packet sent %u times", f->tries);
}

/*
 * IBTA 9.7.7.2: what the peer has not told of a receive for goes by one packet at a
 * time, which asks.
 */
static void check_credits(struct sim_end *e, struct sim_flow *f, u32 idx, u64 seq,
			  const struct rxo_pkt *pkt)
{
	u32 before = f->una_recvs, i;

	if (!f->limited || !sim_takes_recv(sim_op(f, idx)->opcode))
		return;
	for (i = f->una_op; i != idx; i++)
		before += sim_takes_recv(sim_op(f, i)->opcode);
	if ((s32)(f->recv_limit - before) <= 0)
		SIM_CHECK(e, seq == f->una && pkt->ackreq,
			  "request %u is sent without a credit", idx);
}

void oracle_sends(struct sim_end *e, const struct rxo_pkt *pkt, u32 len)
{
	struct sim_flow *f = sim_flow(e);
	s64 at = oracle_seq(pkt->psn.v, e->plan->psn, f->una);
	u64 seq = (u64)at;
	struct sim_op *op;
	u32 npsn, idx = 0;

	SIM_CHECK(e, e->state != RXO_QPS_ERR && !f->failed,
		  "sends after an error");
	SIM_CHECK(e, at >= (s64)f->una && seq <= f->max,
		  "sends position %lld, not in %llu .. %llu", at,
		  (unsigned long long)f->una, (unsigned long long)f->max);
	SIM_CHECK(e, e->sim->now >= f->rnr_until, "does not wait after RNR");
	if (seq == f->max &&
	    (!f->begun || end_of(sim_op(f, f->begun - 1)) == seq))
		begins(e, f, seq);
	op = oracle_find(f, seq, &idx);
	SIM_CHECK(e, op, "sends what belongs to no request");
	npsn = check_packet(e, op, (u32)(seq - op->first), pkt, len);
	SIM_CHECK(e, seq == f->una ||
		  seq - f->una + npsn <= e->req_cfg.window,
		  "window: %llu + %u", (unsigned long long)(seq - f->una),
		  npsn);
	if (seq == f->max)
		check_credits(e, f, idx, seq, pkt);
	if (seq == f->max && sim_has_result(op->opcode))
		check_reads(e, f, seq, npsn);
	if (seq == f->una)
		check_tries(e, f);
	f->sent_at = e->sim->now;
	e->sim->stats.retransmits += seq < f->max;
	f->max = max(f->max, seq + npsn);
}

/* ------------------------------------------------------------------ hearing */

/* IBTA table 45, in units of 10 us: powers of two and three halves of them. */
static u64 rnr_ns(u32 code)
{
	u64 units = 65536;

	if (code == 1)
		units = 1;
	else if (code & 1)
		units = 3ull << (code - 3) / 2;
	else if (code)
		units = 1ull << code / 2;
	return units * 10 * NS_PER_US;
}

static void progress(struct sim_end *e, struct sim_flow *f, u64 una)
{
	f->una = una;
	while (f->una_op != f->begun && end_of(sim_op(f, f->una_op)) <= una)
		f->una_recvs += sim_takes_recv(sim_op(f, f->una_op++)->opcode);
	f->tries = una < f->max;	/* that one is out already */
	f->gap_told = f->acked > una;
	f->rnr_naks = 0;
	f->rnr_until = 0;
	f->progress_at = e->sim->now;
}

/* All before @to is acknowledged, but for what a result has to arrive of. */
static bool acknowledged(struct sim_end *e, struct sim_flow *f, u64 to)
{
	u64 una = f->una;
	u32 i;

	for (i = f->una_op; una < to; i++) {
		const struct sim_op *op = sim_op(f, i);

		if (sim_has_result(op->opcode))
			break;
		una = min(to, end_of(op));
	}
	if (una != f->una)
		progress(e, f, una);
	f->gap_told |= una != to;
	return una == to;
}

static void hears_rnr(struct sim_end *e, struct sim_flow *f, u64 seq, u32 code)
{
	if (!acknowledged(e, f, seq) || f->rnr_until > e->sim->now)
		return;
	f->rnr_naks++;
	/* It waited, and has not tried again yet. */
	if (f->rnr_until && !f->tries)
		return;
	f->tries = 0;
	f->rnr_until = e->sim->now + rnr_ns(code);
}

static void hears_nak(struct sim_end *e, struct sim_flow *f, u64 seq, u32 code)
{
	static const u8 status[] = {
		RXO_WC_SUCCESS, RXO_WC_REM_INV_REQ_ERR, RXO_WC_REM_ACCESS_ERR,
		RXO_WC_REM_OP_ERR, RXO_WC_REM_INV_REQ_ERR,
	};
	u32 idx;

	/* What comes before a gap has been executed, if READ data is missing there or not. */
	f->acked = max(f->acked, seq);
	acknowledged(e, f, seq);
	f->gap_told |= !code;
	if (code && code < ARRAY_SIZE(status) && oracle_find(f, seq, &idx)) {
		f->nak = status[code];
		f->nak_at = seq;
	}
}

/* A result that stands at una; what was acknowledged behind it follows. */
static void hears_response(struct sim_end *e, struct sim_flow *f, u64 seq)
{
	const struct sim_op *op;

	f->acked = max(f->acked, seq + 1);
	if (!acknowledged(e, f, seq))
		return;
	op = sim_op(f, f->una_op);
	if (!sim_has_result(op->opcode) || op->fault == SIM_BAD_LOCAL)
		return;
	progress(e, f, seq + 1);
	acknowledged(e, f, f->acked);
}

/* Of the newest packet that it has acknowledged, which may have been before. */
static void hears_credits(struct sim_flow *f, u32 value)
{
	u32 limit = f->una_recvs + oracle_credits(value);

	if (value == 31) {
		f->limited = false;
		return;
	}
	if (!f->limited || (s32)(limit - f->recv_limit) > 0)
		f->recv_limit = limit;
	f->limited = true;
}

void oracle_hears(struct sim_end *e, const struct rxo_pkt *pkt)
{
	struct sim_flow *f = sim_flow(e);
	s64 at = oracle_seq(pkt->psn.v, e->plan->psn, f->una);
	u64 seq = (u64)at;

	if (at + 1 == (s64)f->una && pkt->opcode == RXO_OP_ACK && !(pkt->syndrome >> 5))
		hears_credits(f, pkt->syndrome & 31);
	if (at < (s64)f->una || seq >= f->max)
		return;
	if (pkt->opcode != RXO_OP_ACK) {
		hears_response(e, f, seq);
		return;
	}
	switch (pkt->syndrome >> 5) {
	case 0:
		f->acked = max(f->acked, seq + 1);
		acknowledged(e, f, seq + 1);
		if (at + 1 == (s64)f->una)
			hears_credits(f, pkt->syndrome & 31);
		break;
	case 1:
		hears_rnr(e, f, seq, pkt->syndrome & 31);
		break;
	default:
		hears_nak(e, f, seq, pkt->syndrome & 31);
		break;
	}
}

/* -------------------------------------------------------------- completions */

/* All of it has happened, and its bytes are where they belong. */
static void check_success(struct sim_end *e, struct sim_flow *f,
			  struct sim_op *op)
{
	const struct sim_end *peer = sim_peer(e);
	u32 slot = f->done % SIM_SQ * e->slot;
	u8 *mem = e->local.mem + slot;

	SIM_CHECK(e, !f->failed && e->state != RXO_QPS_ERR,
		  "success after an error");
	SIM_CHECK(e, op->begun && end_of(op) <= f->una,
		  "request %u completes before it is acknowledged", f->done);
	SIM_CHECK(e, end_of(op) <= f->exec,
		  "request %u completes before it is executed", f->done);
	if (!sim_has_result(op->opcode))
		return;
	if (sim_is_atomic(op->opcode))
		SIM_CHECK(e, !memcmp(mem, &op->answer, 8),
			  "atomic %u has the wrong answer", f->done);
	else if (op->len && !op->racy)
		SIM_CHECK(e, !memcmp(mem, peer->target.shadow +
				     sim_memory_at(peer, op->raddr), op->len),
			  "READ %u has brought the wrong bytes", f->done);
	memcpy(e->local.shadow + slot, mem, op->len);
}

/* Has a NAK said that the oldest request has failed? */
static bool is_refused(struct sim_flow *f)
{
	u32 idx = 0;

	return f->nak && oracle_find(f, f->nak_at, &idx) && idx == f->done;
}

static void check_remote_error(struct sim_end *e, struct sim_flow *f,
			       u32 status)
{
	SIM_CHECK(e, f->nak == status && is_refused(f),
		  "status %u without such a NAK", status);
	SIM_CHECK(e, f->peer_error == status,
		  "status %u, but the peer met %u", status, f->peer_error);
}

static void check_error(struct sim_end *e, struct sim_flow *f,
			const struct sim_op *op, u32 status)
{
	SIM_CHECK(e, !f->failed, "a second error: %u", status);
	switch (status) {
	case RXO_WC_LOC_PROT_ERR:
		SIM_CHECK(e, op->fault == SIM_BAD_LOCAL, "protection error");
		break;
	case RXO_WC_LOC_QP_OP_ERR:
		SIM_CHECK(e, op->fault == SIM_BAD_ENTRY ||
			  (sim_has_result(op->opcode) &&
			   !e->req_cfg.max_rd_atomic), "operation error");
		break;
	case RXO_WC_RETRY_EXC_ERR:
		SIM_CHECK(e, f->done == f->una_op &&
			  (e->req_cfg.timeout || f->gap_told),
			  "retries of another request");
		SIM_CHECK(e, f->tries > e->req_cfg.retry_cnt,
			  "gives up after %u tries", f->tries);
		SIM_CHECK(e, !is_refused(f), "does not heed a NAK");
		break;
	case RXO_WC_RNR_RETRY_EXC_ERR:
		SIM_CHECK(e, f->done == f->una_op &&
			  e->req_cfg.rnr_retry != 7 &&
			  f->rnr_naks > e->req_cfg.rnr_retry,
			  "gives up after %u RNR NAKs", f->rnr_naks);
		break;
	default:
		check_remote_error(e, f, status);
		break;
	}
}

void oracle_completes(struct sim_end *e, const struct rxo_req_done *done)
{
	struct sim_flow *f = sim_flow(e);
	struct sim_op *op = sim_op(f, f->done);
	u32 slot = f->done % SIM_SQ * e->slot;

	SIM_TRACE(e, "completes %u: status %u", f->done, done->status);
	SIM_CHECK(e, f->done != f->posted, "completes what was never posted");
	SIM_CHECK(e, done->wr_id == f->done && done->slot == f->done % SIM_SQ,
		  "completes %llu instead of %u",
		  (unsigned long long)done->wr_id, f->done);
	SIM_CHECK(e, done->wants_cqe ==
		  (done->status != RXO_WC_SUCCESS ||
		   (op->flags & RXE_ORDERED_SEND_SIGNALED)),
		  "request %u: completion entry", f->done);
	if (op->fault != SIM_BAD_ENTRY)
		SIM_CHECK(e, done->wr_opcode == op->opcode &&
			  done->byte_len == op->len,
			  "completion is not that of request %u", f->done);
	if (done->status == RXO_WC_SUCCESS) {
		check_success(e, f, op);
	} else {
		if (done->status == RXO_WC_WR_FLUSH_ERR)
			SIM_CHECK(e, f->failed || e->state == RXO_QPS_ERR,
				  "flushed without an error");
		else
			check_error(e, f, op, done->status);
		f->failed = true;
		e->sim->stats.flushed++;
		if (sim_has_result(op->opcode))
			memcpy(e->local.shadow + slot, e->local.mem + slot,
			       op->len);
	}
	f->observed_done += !sim_is_read(op->opcode);
	f->done++;
	if ((s32)(f->una_op - f->done) < 0)
		f->una_op = f->done;
}

/* Nothing that is acknowledged waits. */
void oracle_popped(struct sim_end *e)
{
	struct sim_flow *f = sim_flow(e);
	const struct sim_op *op = sim_op(f, f->done);

	if (e->state == RXO_QPS_ERR)
		return;
	if (f->done != f->posted)
		SIM_CHECK(e, !op->begun || end_of(op) > f->una,
			  "request %u is acknowledged and not completed",
			  f->done);
}

void oracle_drained(struct sim_end *e)
{
	struct sim_flow *f = sim_flow(e);

	SIM_CHECK(e, f->begun == f->done && f->una == f->max,
		  "drained with requests outstanding");
}

/* ----------------------------------------------------------------- dead path */

static u64 cut_bound(struct sim_conn *conn, u32 side)
{
	const struct sim_end_plan *p = &conn->plan.end[side];
	const struct sim_flow *f = &conn->flow[side];
	struct sim *sim = conn->sim;
	u64 bound = 0;
	u32 n;

	for (n = 0; n < 2; n++)
		bound += 2 * (sim->link[n].delay_ns + sim->link[n].spread_ns +
			      sim->link[n].queue_ns) +
			 8 * sim->link[n].delay_ns +
			 conn->plan.end[n].stall_ns;
	bound += rnr_ns(conn->plan.end[!side].resp.min_rnr_timer);
	if (f->rnr_until > sim->now)
		bound += f->rnr_until - sim->now;
	return 2 * bound + (p->req.retry_cnt + 2) * (4096ull << p->req.timeout) +
	       NS_PER_MS;
}

/*
 * Still at it: it has sent, or found no room to, not long ago. IBTA 9.7.6.1.3: a time-out
 * is noticed after four times as long at most, and what still came may have begun it anew.
 */
static bool still_tries(const struct sim_end *e, const struct sim_flow *f)
{
	u64 last = max(f->sent_at, e->refused_at);

	return e->sim->now <= last + 5 * (4096ull << e->plan->req.timeout) +
			      e->plan->stall_ns;
}

/*
 * Whoever waited for an answer when the path died has been told by now, unless
 * others kept the link so busy that not all retries have been sent yet; how many
 * those are is bounded by itself.
 */
void oracle_check_cut(struct sim_conn *conn)
{
	u64 at = conn->flow[0].cut_at;
	u32 side;

	bool again = conn->sim->now == at;

	for (side = 0; side < 2 && !again; side++) {
		struct sim_flow *f = &conn->flow[side];

		if (f->done == f->posted || sim_op(f, f->done)->posted_at > at)
			continue;
		again = still_tries(&conn->end[side], f);
		SIM_CHECK(&conn->end[side], again,
			  "request %u hangs on a dead path", f->done);
	}
	if (again)
		sim_at(conn->sim, conn->sim->now +
		       max(cut_bound(conn, 0), cut_bound(conn, 1)),
		       SIM_EV_CUT_CHECK, conn->index, conn->generation);
}
