// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* See pair.h. */
#include <stdio.h>

#include "pair.h"
#include "t.h"

#define GAP		32	/* guard bytes between buffers */
#define GUARD		0xee
#define STEP_NS		1000
#define MAX_STEPS	200000

static u32 pair_random(struct pair *p)
{
	p->rng ^= p->rng << 13;
	p->rng ^= p->rng >> 7;
	p->rng ^= p->rng << 17;
	return (u32)(p->rng >> 11);
}

static bool pair_chance(struct pair *p, u32 percent)
{
	return percent && pair_random(p) % 100 < percent;
}

static u8 pattern(u32 side, u32 op, u32 byte)
{
	return (u8)((byte * 31 + byte / 251 + op * 7 + side * 101) | 1);
}

static bool op_is_write(const struct pair_op *op)
{
	return op->opcode == RXE_ORDERED_WR_RDMA_WRITE ||
	       op->opcode == RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM;
}

static bool op_is_send(const struct pair_op *op)
{
	return op->opcode == RXE_ORDERED_WR_SEND ||
	       op->opcode == RXE_ORDERED_WR_SEND_WITH_IMM;
}

static bool op_needs_recv(const struct pair_op *op)
{
	return op_is_send(op) ||
	       op->opcode == RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM;
}

static bool op_is_read(const struct pair_op *op)
{
	return op->opcode == RXE_ORDERED_WR_RDMA_READ;
}

static bool op_is_atomic(const struct pair_op *op)
{
	return op->opcode == RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP ||
	       op->opcode == RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD;
}

static __be32 op_imm(u32 side, u32 op)
{
	return cpu_to_be32(0xabc00000 | side << 16 | op);
}

/* ----------------------------------------------------------------- atomics */

static u64 word_add(u32 op)
{
	return 0x0102030405060708ull * (op + 1);
}

/* The word of the peer when operation @op of @me is executed: the model. */
static u64 word_before(const struct pair_end *me, u32 side, u32 op)
{
	u64 word = 0xfedcba9876543210ull + side;
	u32 i;

	for (i = 0; i < op; i++) {
		/* Every second swap compares with something else. */
		if (me->ops[i].opcode == RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD ||
		    (op_is_atomic(&me->ops[i]) && i % 2))
			word += word_add(i);
	}
	return word;
}

static void word_operands(const struct pair_end *me, u32 side, u32 op,
			  struct rxo_swqe *wqe)
{
	u64 before = word_before(me, side, op);

	wqe->swap_add = word_add(op);
	if (wqe->opcode != RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP)
		return;
	wqe->swap_add += before;
	wqe->compare = op % 2 ? before : before - 1;
}

/* ------------------------------------------------------------------ layout */

/* Each operation has its own place in every area of both ends. */
static void pair_lay_out(struct pair_end *end, const struct pair_op *ops, u32 n)
{
	u32 at = GAP, i;

	T_CHECK(n <= PAIR_OPS);
	end->ops = ops;
	end->n_ops = n;
	for (i = 0; i < n; i++) {
		end->off[i] = at;
		at += ops[i].len + GAP;
	}
	T_CHECK(at <= PAIR_AREA);
	end->used = at;
}

static void pair_fill(struct pair *p, u32 side)
{
	struct pair_end *me = &p->end[side], *peer = &p->end[!side];
	u32 i, k;

	memset(me->local, GUARD, me->used);
	memset(peer->target, GUARD, me->used);
	memset(peer->recv, GUARD, me->used);
	peer->word = word_before(me, side, 0);
	peer->atomics = 0;
	for (i = 0; i < me->n_ops; i++) {
		u8 *src = op_is_read(&me->ops[i]) ? peer->target : me->local;

		for (k = 0; k < me->ops[i].len; k++)
			src[me->off[i] + k] = pattern(side, i, k);
	}
}

static void pair_start_end(struct pair *p, u32 side)
{
	struct pair_end *me = &p->end[side];
	const struct pair_cfg *c = &p->cfg;
	struct rxo_req_cfg req = {
		.mtu = c->mtu, .dqpn = 0x100 + !side, .pkey = RXO_DEFAULT_PKEY,
		.max_rd_atomic = c->max_rd, .timeout = c->timeout,
		.retry_cnt = c->retry_cnt, .rnr_retry = c->rnr_retry,
		.window = c->window, .ack_every = c->ack_every,
	};
	struct rxo_resp_cfg resp = {
		.mtu = c->mtu, .dqpn = 0x100 + !side, .pkey = RXO_DEFAULT_PKEY,
		.max_dest_rd_atomic = c->max_rd, .min_rnr_timer = c->rnr_timer ? c->rnr_timer : 1,
		.access = 0xf, .credits = c->tells,
	};

	rxo_req_init(&me->req, me->swqe, PAIR_OPS - 1);
	rxo_req_start(&me->req, &req, rxo_psn_make(c->psn[side]));
	if (c->rd_part)
		me->req.rd_part = c->rd_part;
	rxo_resp_init(&me->resp);
	rxo_resp_start(&me->resp, &resp, rxo_psn_make(c->psn[!side]));
}

void pair_init(struct pair *p, const struct pair_cfg *cfg,
	       const struct pair_op *ops0, u32 n0,
	       const struct pair_op *ops1, u32 n1)
{
	u32 i, side;

	for (side = 0; side < 2; side++) {
		struct pair_end *me = &p->end[side];

		me->posted = me->completed = 0;
		me->recv_op = me->recv_tries = me->recv_done = 0;
		me->recv_in_use = false;
		me->placed = 0;
		me->n_recv = me->n_recv_cqe = 0;
		me->n_kept = 0;
		me->kept_req.order = me->kept_ans.order = (struct rxo_reorder){};
		me->n_in = 0;
		me->n_to = 0;
	}
	p->cfg = *cfg;
	p->n_faults = 0;
	p->now = 1000000;
	p->n_packets = p->n_steps = p->n_acks = 0;
	p->event = 0;
	p->n_overtaken = 0;
	p->rng = cfg->seed * 2 + 0x9e3779b97f4a7c15ull;
	p->trace = getenv("PAIR_TRACE");
	p->n_free = 0;
	for (i = 0; i < ARRAY_SIZE(p->pool); i++)
		p->free[p->n_free++] = &p->pool[i];
	pair_lay_out(&p->end[0], ops0, n0);
	pair_lay_out(&p->end[1], ops1, n1);
	pair_fill(p, 0);
	pair_fill(p, 1);
	pair_start_end(p, 0);
	pair_start_end(p, 1);
	pair_order_start(p, 0);
	pair_order_start(p, 1);
}

void pair_add_fault(struct pair *p, u64 nth, enum pair_fate fate, u32 arg)
{
	T_CHECK(p->n_faults < PAIR_FAULTS);
	p->fault[p->n_faults++] = (struct pair_fault){ nth, fate, arg };
}

/* -------------------------------------------------------------------- link */

static void pair_enqueue(struct pair *p, struct pair_end *to,
			 const struct pair_packet *pkt, u32 behind)
{
	struct pair_packet *copy;

	T_CHECK(p->n_free && to->n_in < PAIR_LINK);
	copy = p->free[--p->n_free];
	memcpy(copy->b, pkt->b, pkt->len);
	copy->len = pkt->len;
	copy->event = pkt->event;
	copy->due = behind ? to->n_to + behind : 0;
	to->in[to->n_in++] = copy;
}

static enum pair_fate pair_fate(struct pair *p, u32 *arg)
{
	u32 i;

	for (i = 0; i < p->n_faults; i++) {
		*arg = p->fault[i].arg;
		if (p->fault[i].nth == p->n_packets)
			return p->fault[i].fate;
	}
	*arg = 1 + pair_random(p) % 6;
	if (pair_chance(p, p->cfg.loss))
		return PAIR_DROP;
	if (pair_chance(p, p->cfg.dup))
		return PAIR_DUP;
	if (pair_chance(p, p->cfg.delay))
		return PAIR_DELAY;
	return PAIR_PASS;
}

static void pair_trace(const struct pair *p, u32 side, const struct rxo_pkt *pkt,
		       u32 len, enum pair_fate fate)
{
	static const char *const names[] = { "", " LOST", " TWICE", " LATE" };

	if (p->trace)
		printf("%6llu %9llu %s op %02x psn %06x len %u syn %02x%s%s\n",
		       p->n_packets, p->now, side ? "  <--" : "-->  ",
		       pkt->opcode, pkt->psn.v, len, pkt->syndrome,
		       pkt->ackreq ? " ackreq" : "", names[fate]);
}

/* Headers are built into bytes, and parsed again at the other end. */
static void pair_xmit(struct pair *p, u32 side, const struct rxo_pkt *pkt,
		      const u8 *payload, u32 len)
{
	struct pair_end *to = &p->end[!side];
	struct pair_packet out = {};
	enum pair_fate fate;
	u32 arg;

	out.len = rxo_wire_build(pkt, out.b);
	T_EQ(out.len, pkt->hdr_len);
	T_EQ(len, pkt->payload_len);
	memcpy(out.b + out.len, payload, len);
	out.len += len + pkt->pad + RXO_ICRC_LEN;
	T_EQ(out.len % 4, 0);
	p->n_acks += pkt->opcode == RXO_OP_ACK;
	pair_order_sent(p, &out);

	fate = pair_fate(p, &arg);
	pair_trace(p, side, pkt, len, fate);
	p->n_packets++;
	to->n_to++;
	if (fate == PAIR_PASS || fate == PAIR_DUP)
		pair_enqueue(p, to, &out, 0);
	if (fate == PAIR_DUP || fate == PAIR_DELAY)
		pair_enqueue(p, to, &out, arg);
}

/* Oldest packet that is due; with @force the first that is held back. */
static bool pair_dequeue(struct pair *p, struct pair_end *me, bool force,
			 struct pair_packet *pkt)
{
	u32 i;

	for (i = 0; i < me->n_in; i++) {
		if (!force && me->in[i]->due > me->n_to)
			continue;
		*pkt = *me->in[i];
		p->free[p->n_free++] = me->in[i];
		memmove(me->in + i, me->in + i + 1,
			(me->n_in - i - 1) * sizeof(*me->in));
		me->n_in--;
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------ oracle */

static void check_bytes(const u8 *area, const struct pair_end *owner, u32 side,
			u32 op)
{
	u32 k;

	for (k = 0; k < owner->ops[op].len; k++)
		T_EQ(area[owner->off[op] + k], pattern(side, op, k));
}

static void pair_invariants(const struct pair *p)
{
	u32 side;

	for (side = 0; side < 2; side++) {
		const struct rxo_req *r = &p->end[side].req;
		const struct rxo_resp *s = &p->end[side].resp;
		u32 out = (u32)rxo_psn_diff(r->max, r->una);

		T_CHECK(r->una_idx - r->tail <= r->head - r->tail);
		T_CHECK(r->cur - r->una_idx <= r->head - r->una_idx);
		T_CHECK(!rxo_psn_before(r->psn, r->una));
		T_CHECK(!rxo_psn_after(r->psn, r->max));
		T_CHECK(r->rd_out <= p->cfg.max_rd);
		if (!r->rd_out)
			T_CHECK(out <= p->cfg.window);
		T_CHECK(s->rd.job_head - s->rd.job_tail <= 2 * s->rd.res_count);
		T_CHECK(s->rd.res_count <= p->cfg.max_rd);
	}
}

/* Operation @op of @side has completed: done, and visible by now? */
static void pair_completed(const struct pair *p, u32 side,
			   const struct rxo_req_done *done)
{
	const struct pair_end *me = &p->end[side], *peer = &p->end[!side];
	u32 op = me->completed;

	T_EQ(done->wr_id, op);
	T_EQ(done->status, RXO_WC_SUCCESS);
	T_EQ(done->slot, op % PAIR_OPS);
	T_EQ(done->wr_opcode, me->ops[op].opcode);
	T_EQ(done->byte_len, me->ops[op].len);
	T_EQ(done->wants_cqe, !!(me->ops[op].flags & RXE_ORDERED_SEND_SIGNALED));
	if (op_is_atomic(&me->ops[op])) {
		u64 before = word_before(me, side, op);

		T_EQ(done->byte_len, RXO_ATOMIC_LEN);
		T_CHECK(!memcmp(me->local + me->off[op], &before,
				sizeof(before)));
	} else if (op_is_read(&me->ops[op]))
		check_bytes(me->local, me, side, op);
	else if (op_is_write(&me->ops[op]))
		check_bytes(peer->target, me, side, op);
	else
		check_bytes(peer->recv, me, side, op);
	if (op_needs_recv(&me->ops[op]))
		T_CHECK(peer->recv_done > op);
}

/* A receive of @side has completed, for operation recv_op of the peer. */
static void pair_received(struct pair *p, u32 side,
			  const struct rxo_resp_next_act *next)
{
	struct pair_end *me = &p->end[side], *peer = &p->end[!side];
	const struct pair_op *op = &peer->ops[me->recv_op];
	bool imm = op->opcode != RXE_ORDERED_WR_SEND;

	T_CHECK(me->recv_in_use);
	me->recv_in_use = false;
	T_EQ(next->status, RXO_WC_SUCCESS);
	T_EQ(next->byte_len, op->len);
	T_EQ(next->opcode, op_is_send(op) ? RXO_WC_RECV :
					    RXO_WC_RECV_RDMA_WITH_IMM);
	T_EQ(next->with_imm, imm);
	if (imm)
		T_EQ(next->imm, op_imm(!side, me->recv_op));
	T_EQ(next->solicited, !!(op->flags & RXE_ORDERED_SEND_SOLICITED));
	check_bytes(op_is_send(op) ? me->recv : me->target, peer, !side,
		    me->recv_op);
	me->recv_op++;
	me->recv_done = me->recv_op;
	me->recv_tries = 0;
	pair_order_received(p, side);
}

/* --------------------------------------------------------------- execution */

static enum rxo_resp_result pair_take_recv(struct pair *p, u32 side)
{
	struct pair_end *me = &p->end[side], *peer = &p->end[!side];

	T_CHECK(!me->recv_in_use);
	if (me->recv_tries++ < p->cfg.late || !pair_order_may_take(p, side))
		return RXO_RES_NO_RECV;
	me->recv_in_use = true;
	me->n_recv++;
	while (me->recv_op < peer->n_ops &&
	       !op_needs_recv(&peer->ops[me->recv_op]))
		me->recv_op++;
	T_CHECK(me->recv_op < peer->n_ops);
	return RXO_RES_OK;
}

static u8 *pair_target(struct pair_end *me, u32 rkey, u64 va, u32 len)
{
	T_EQ(rkey, PAIR_RKEY);
	T_CHECK(va >= PAIR_VA && va - PAIR_VA <= PAIR_AREA);
	T_CHECK(len <= PAIR_AREA - (va - PAIR_VA));
	return me->target + (va - PAIR_VA);
}

static void pair_exec_atomic(struct pair_end *me, struct rxo_resp_act *act)
{
	T_EQ(act->rkey, PAIR_RKEY);
	T_EQ(act->va, PAIR_VA_WORD);
	me->atomics++;
	act->orig = me->word;
	if (act->pkt.opcode == RXO_OP_FETCH_ADD)
		me->word += act->pkt.swap_add;
	else if (me->word == act->pkt.compare)
		me->word = act->pkt.swap_add;
}

static enum rxo_resp_result pair_exec(struct pair *p, u32 side,
				      struct rxo_resp_act *act,
				      const u8 *payload)
{
	struct pair_end *me = &p->end[side], *peer = &p->end[!side];
	enum rxo_resp_result res = RXO_RES_OK;

	if (act->kind == RXO_RESP_NONE)
		return RXO_RES_OK;
	if (pair_chance(p, p->cfg.busy))
		return RXO_RES_BUSY;
	if (act->check)
		pair_target(me, act->rkey, act->check_va, act->check_len);
	if (act->need_recv)
		res = pair_take_recv(p, side);
	if (res != RXO_RES_OK || act->kind == RXO_RESP_READ)
		return res;
	if (act->kind == RXO_RESP_ATOMIC) {
		pair_exec_atomic(me, act);
		return res;
	}
	if (act->kind == RXO_RESP_WRITE) {
		u8 *to = pair_target(me, act->rkey, act->va, act->len);

		memcpy(to, payload, act->len);
	} else {
		if (act->offset + act->len > peer->ops[me->recv_op].len)
			return RXO_RES_LOC_LEN;
		memcpy(me->recv + peer->off[me->recv_op] + act->offset, payload,
		       act->len);
	}
	me->placed += act->len;
	return RXO_RES_OK;
}

static void pair_follow_up(struct pair *p, u32 side,
			   const struct rxo_resp_next_act *next)
{
	T_CHECK(!next->fatal);
	if (next->complete)
		pair_received(p, side, next);
}

/* @next: what this end waits for. */
static enum rxo_resp_result
pair_keep(struct pair *p, u32 side, struct pair_kept *kept, struct rxo_psn next,
	  struct rxo_psn psn, const struct pair_packet *in)
{
	enum rxo_reorder_verdict verdict = RXO_REORDER_FAR;
	u32 slot;

	if (!(p->cfg.forgets >> side & 1))
		verdict = rxo_reorder_add(&kept->order, next, psn, &slot);
	if (verdict == RXO_REORDER_KEEP)
		kept->pkt[slot] = *in;
	p->end[side].n_kept += verdict == RXO_REORDER_KEEP;
	if (verdict == RXO_REORDER_DUP)
		return RXO_RES_KEPT;
	return verdict == RXO_REORDER_FAR ? RXO_RES_BUSY : RXO_RES_OK;
}

static void pair_take_kept(struct pair_kept *kept, struct rxo_psn psn,
			   struct pair_packet *in, struct rxo_pkt *pkt)
{
	u32 slot = rxo_reorder_slot(psn);

	*in = kept->pkt[slot];
	rxo_reorder_remove(&kept->order, slot);
	T_EQ(rxo_wire_parse(in->b, in->len, in->len, pkt), RXO_DROP_NONE);
	T_EQ(pkt->psn.v, psn.v);
}

static void pair_forget(struct pair_kept *kept)
{
	u32 slot;

	while (rxo_reorder_any(&kept->order, &slot))
		rxo_reorder_remove(&kept->order, slot);
}

static void pair_one_request(struct pair *p, u32 side,
			     const struct rxo_pkt *pkt,
			     const struct pair_packet *in)
{
	struct pair_end *me = &p->end[side];
	struct rxo_resp *resp = &me->resp;
	struct rxo_resp_next_act next;
	enum rxo_resp_result res;
	struct rxo_resp_act act;

	rxo_resp_rx(resp, pkt, &act);
	if (act.kind == RXO_RESP_DROP)
		return;
	res = act.kind == RXO_RESP_AHEAD ?
		pair_keep(p, side, &me->kept_req, resp->epsn, pkt->psn, in) :
		pair_exec(p, side, &act, in->b + pkt->hdr_len);
	rxo_resp_done(resp, &act, res, &next);
	pair_follow_up(p, side, &next);
	if (res == RXO_RES_NO_RECV)
		pair_forget(&me->kept_req);
}

static void pair_rx_request(struct pair *p, u32 side, const struct rxo_pkt *pkt,
			    const struct pair_packet *in)
{
	struct pair_end *me = &p->end[side];
	struct pair_packet kept;
	struct rxo_pkt kept_pkt;
	struct rxo_psn psn;

	pair_one_request(p, side, pkt, in);
	while (rxo_reorder_first(&me->kept_req.order, &psn) &&
	       !rxo_psn_after(psn, me->resp.epsn)) {
		pair_take_kept(&me->kept_req, psn, &kept, &kept_pkt);
		rxo_resp_unkeep(&me->resp, &kept_pkt);
		pair_one_request(p, side, &kept_pkt, &kept);
	}
	rxo_resp_gap(&me->resp, me->kept_req.order.count);
}

static void pair_pop(struct pair *p, u32 side)
{
	struct pair_end *me = &p->end[side];
	struct rxo_req_done done;

	while (rxo_req_pop(&me->req, false, &done)) {
		pair_completed(p, side, &done);
		me->completed++;
	}
	pair_order_release(p, side);
}

static void pair_one_response(struct pair *p, u32 side,
			      const struct rxo_pkt *pkt,
			      const struct pair_packet *in)
{
	struct pair_end *me = &p->end[side];
	const u8 *payload = in->b + pkt->hdr_len;
	struct rxo_ack_act act;

	rxo_ack_rx(&me->req, pkt, p->now, &act);
	if (act.unexecuted)
		rxo_order_nak(&me->order, pkt->psn, p->now);
	if (act.kind == RXO_ACK_AHEAD)
		pair_keep(p, side, &me->kept_ans, me->req.una, pkt->psn, in);
	if (act.kind == RXO_ACK_READ_DATA) {
		u32 op = (u32)me->swqe[act.slot].wr_id;

		T_EQ(act.len, pkt->payload_len);
		T_CHECK(act.offset + act.len <= me->ops[op].len);
		memcpy(me->local + me->off[op] + act.offset, payload, act.len);
		T_EQ(act.last, act.offset + act.len == me->ops[op].len);
		rxo_ack_done(&me->req, &act, RXO_PLACED, p->now);
	} else if (act.kind == RXO_ACK_RESULT) {
		u32 op = (u32)me->swqe[act.slot].wr_id;

		T_EQ(act.len, sizeof(act.orig));
		T_EQ(act.offset, 0);
		memcpy(me->local + me->off[op], &act.orig, sizeof(act.orig));
		rxo_ack_done(&me->req, &act, RXO_PLACED, p->now);
	}
	pair_pop(p, side);
}

static void pair_rx_response(struct pair *p, u32 side, const struct rxo_pkt *pkt,
			     const struct pair_packet *in)
{
	struct pair_end *me = &p->end[side];
	struct rxo_reorder *order = &me->kept_ans.order;
	struct pair_packet kept;
	struct rxo_pkt kept_pkt;
	struct rxo_psn psn;
	bool any;

	pair_one_response(p, side, pkt, in);
	while (rxo_ack_has_gap(&me->req) || order->count) {
		any = rxo_reorder_first(order, &psn);
		if (!rxo_ack_kept_due(&me->req, any ? &psn : NULL, p->now))
			break;
		pair_take_kept(&me->kept_ans, psn, &kept, &kept_pkt);
		pair_one_response(p, side, &kept_pkt, &kept);
	}
	pair_pop(p, side);
}

static void pair_rx(struct pair *p, u32 side, const struct pair_packet *in)
{
	struct rxo_pkt pkt;

	T_EQ(rxo_wire_parse(in->b, in->len, in->len, &pkt), RXO_DROP_NONE);
	T_EQ(pkt.dqpn, 0x100 + side);
	p->event_rx = in->event;
	if (rxo_opcode_info(pkt.opcode)->is_response)
		pair_rx_response(p, side, &pkt, in);
	else
		pair_rx_request(p, side, &pkt, in);
	pair_order_executed(p, side);
	pair_invariants(p);
}

/* ----------------------------------------------------------------- sending */

static void pair_post(struct pair *p, u32 side)
{
	struct pair_end *me = &p->end[side];

	while (me->posted < me->n_ops && pair_order_may_post(p, side) &&
	       me->posted - me->completed < p->cfg.ahead &&
	       rxo_req_has_room(&me->req)) {
		const struct pair_op *op = &me->ops[me->posted];

		*rxo_req_slot(&me->req) = (struct rxo_swqe){
			.wr_id = me->posted, .opcode = op->opcode,
			.flags = op->flags, .length = op->len,
			.raddr = PAIR_VA + me->off[me->posted],
			.rkey = PAIR_RKEY, .imm = op_imm(side, me->posted),
		};
		if (op_is_atomic(op)) {
			rxo_req_slot(&me->req)->raddr = PAIR_VA_WORD;
			word_operands(me, side, me->posted,
				      rxo_req_slot(&me->req));
		}
		rxo_req_push(&me->req);
		me->posted++;
	}
}

/* A train of answers that the stack refuses as a whole: nothing has happened. */
static void pair_refuse_resp(struct pair *p, u32 side)
{
	struct rxo_resp *resp = &p->end[side].resp;
	struct rxo_resp_mark mark = rxo_resp_mark(resp);
	struct rxo_resp_next_act next;
	struct rxo_resp_tx tx, again;
	u32 n = 1 + pair_random(p) % 5;

	rxo_resp_next(resp, &again);
	while (n-- && rxo_resp_next(resp, &tx)) {
		rxo_resp_tx_done(resp, &tx, RXO_RESP_TX_SENT, &next);
		if (tx.pkt.opcode == RXO_OP_ACK)
			break;
	}
	rxo_resp_rewind(resp, &mark);
	T_CHECK(rxo_resp_next(resp, &tx));
	T_CHECK(!memcmp(&tx, &again, sizeof(tx)));
}

/* The same with requests. */
static void pair_refuse_req(struct pair *p, u32 side)
{
	struct rxo_req *req = &p->end[side].req;
	struct rxo_req mark = *req;
	struct rxo_req_act act, again;
	u32 n = 1 + pair_random(p) % 5;

	rxo_req_next(req, p->now, &again);
	for (; n; n--) {
		rxo_req_next(req, p->now, &act);
		if (act.kind != RXO_REQ_SEND)
			break;
		rxo_req_sent(req, &act, RXO_SENT, p->now);
	}
	rxo_req_rewind(req, &mark);
	if (req->cur != req->head && rxo_psn_eq(req->psn, req->max))
		T_CHECK(!rxo_req_at(req, req->cur)->started ||
			rxo_psn_before(rxo_req_at(req, req->cur)->first,
				       req->max));
	rxo_req_next(req, p->now, &act);
	T_CHECK(!memcmp(&act, &again, sizeof(act)));
}

static u32 pair_tx_resp(struct pair *p, u32 side)
{
	struct pair_end *me = &p->end[side];
	struct rxo_resp_next_act next;
	struct rxo_resp_tx tx;
	u32 n = 0;

	me->resp.recvs = p->cfg.credits + me->n_recv_cqe - me->n_recv;
	while (n < p->cfg.burst && rxo_resp_next(&me->resp, &tx)) {
		const u8 *src = NULL;
		static const u8 nothing[1];

		T_CHECK(rxo_resp_has_tx(&me->resp));
		n++;
		if (pair_chance(p, p->cfg.busy)) {
			rxo_resp_tx_done(&me->resp, &tx, RXO_RESP_TX_BUSY,
					 &next);
			pair_refuse_resp(p, side);
			break;
		}
		if (tx.len)
			src = pair_target(me, tx.rkey, tx.va, tx.len);
		pair_xmit(p, side, &tx.pkt, src ? src : nothing, tx.len);
		rxo_resp_tx_done(&me->resp, &tx, RXO_RESP_TX_SENT, &next);
		pair_follow_up(p, side, &next);
	}
	return n;
}

/* Window and fence, by the packet that is about to leave. */
static void pair_may_leave(const struct pair *p, const struct pair_end *me,
			   const struct rxo_req_act *act)
{
	const struct rxo_swqe *wqe = &me->swqe[act->slot];
	u32 out = (u32)rxo_psn_diff(act->pkt.psn, me->req.una);

	T_CHECK(!out || out + act->npsn <= p->cfg.window);
	if (!wqe->started && (wqe->flags & RXE_ORDERED_SEND_FENCE))
		T_EQ(me->req.rd_out, 0);
}

static u32 pair_tx_probe(struct pair *p, u32 side)
{
	struct pair_end *me = &p->end[side];
	struct rxo_req_act act;
	u32 op;

	if (!rxo_order_probe(&me->order, &me->req, p->now, &act))
		return 0;
	T_CHECK(!me->req.retry.waiting_rnr);
	op = (u32)me->swqe[act.slot].wr_id;
	pair_xmit(p, side, &act.pkt, me->local + me->off[op] + act.offset,
		  act.len);
	rxo_req_sent(&me->req, &act, RXO_SENT, p->now);
	rxo_order_probed(&me->order, &me->req, p->now);
	return 1;
}

static u32 pair_tx_req(struct pair *p, u32 side)
{
	struct pair_end *me = &p->end[side];
	struct rxo_req_act act, again;
	u32 n = pair_tx_probe(p, side);

	while (n < p->cfg.burst) {
		u32 op;

		rxo_req_next(&me->req, p->now, &act);
		rxo_req_next(&me->req, p->now, &again);
		T_CHECK(!memcmp(&act, &again, sizeof(act)));
		if (act.kind != RXO_REQ_SEND)
			break;
		n++;
		if (pair_chance(p, p->cfg.busy)) {
			rxo_req_sent(&me->req, &act, RXO_SENT_BUSY, p->now);
			pair_refuse_req(p, side);
			break;
		}
		pair_may_leave(p, me, &act);
		op = (u32)me->swqe[act.slot].wr_id;
		T_CHECK(act.offset + act.len <= me->ops[op].len);
		pair_xmit(p, side, &act.pkt,
			  me->local + me->off[op] + act.offset, act.len);
		rxo_req_sent(&me->req, &act, RXO_SENT, p->now);
		pair_invariants(p);
	}
	return n;
}

/* --------------------------------------------------------------------- run */

static u32 pair_step(struct pair *p, bool force)
{
	struct pair_packet in;
	u32 side, n = 0, k;

	for (side = 0; side < 2; side++) {
		for (k = 0; k < p->cfg.batch &&
		     pair_dequeue(p, &p->end[side], force, &in); k++) {
			pair_rx(p, side, &in);
			n++;
			force = false;
		}
		pair_post(p, side);
		n += pair_tx_resp(p, side);
		n += pair_tx_req(p, side);
	}
	return n;
}

static bool pair_expire(struct pair *p)
{
	u64 at = U64_MAX;
	u32 side;

	for (side = 0; side < 2; side++) {
		const struct pair_end *me = &p->end[side];

		at = min(at, rxo_req_deadline(&me->req));
		at = min(at, rxo_order_deadline(&me->order, &me->req));
	}
	if (at == U64_MAX)
		return false;
	p->now = max(p->now, at);
	for (side = 0; side < 2; side++) {
		rxo_req_expire(&p->end[side].req, p->now);
		pair_pop(p, side);
	}
	return true;
}

void pair_run(struct pair *p)
{
	u32 busy = p->cfg.busy;

	for (;;) {
		T_CHECK(p->n_steps++ < MAX_STEPS);
		p->now += STEP_NS;
		if (pair_step(p, false) || pair_step(p, true))
			continue;
		if (rxo_resp_has_tx(&p->end[0].resp) ||
		    rxo_resp_has_tx(&p->end[1].resp))
			continue;		/* was busy by chance */
		if (!pair_expire(p) && !busy)
			return;
		if (p->end[0].completed == p->end[0].n_ops &&
		    p->end[1].completed == p->end[1].n_ops)
			return;
	}
}

static void check_area(const struct pair *p, u32 side, const u8 *area,
		       bool (*touched)(const struct pair_op *op))
{
	const struct pair_end *me = &p->end[side];
	u32 at = 0, i;

	for (i = 0; i < me->n_ops; i++) {
		for (; at < me->off[i]; at++)
			T_EQ(area[at], GUARD);
		if (touched(&me->ops[i])) {
			check_bytes(area, me, side, i);
			at += me->ops[i].len;
		}
	}
	for (; at < me->used; at++)
		T_EQ(area[at], GUARD);
}

static bool op_touches_target(const struct pair_op *op)
{
	return !op_is_send(op) && !op_is_atomic(op);
}

void pair_check(const struct pair *p)
{
	u32 side, i;

	for (side = 0; side < 2; side++) {
		const struct pair_end *me = &p->end[side];
		const struct pair_end *peer = &p->end[!side];
		u64 bytes = 0;
		u32 n_recv = 0, n_atomics = 0;

		T_EQ(me->completed, me->n_ops);
		T_CHECK(rxo_req_is_drained(&me->req));
		T_EQ(me->req.rd_out, 0);
		for (i = 0; i < me->n_ops; i++) {
			n_atomics += op_is_atomic(&me->ops[i]);
			if (!op_is_read(&me->ops[i]) &&
			    !op_is_atomic(&me->ops[i]))
				bytes += me->ops[i].len;
			if (op_needs_recv(&me->ops[i]))
				n_recv = i + 1;
		}
		/* Each SEND and WRITE packet and each atomic was executed once. */
		T_EQ(peer->placed, bytes);
		T_EQ(peer->atomics, n_atomics);
		T_EQ(peer->word, word_before(me, side, me->n_ops));
		T_EQ(peer->recv_done, n_recv);
		T_EQ(peer->n_recv_cqe, peer->n_recv);
		check_area(p, side, peer->target, op_touches_target);
		check_area(p, side, peer->recv, op_is_send);
	}
}
