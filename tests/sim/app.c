// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The programs at both ends: what is posted, and when. */
#include "sim.h"

static bool app_is_done(const struct sim_end *e)
{
	return e->sim->stats.packets >= e->sim->target ||
	       e->sim->now >= e->sim->end_at;
}

static u32 draw_len(struct sim_end *e)
{
	const struct sim_conn_plan *p = &e->conn->plan;
	struct rng *r = &e->conn->app;
	u32 len, bits;

	switch (rng_below(r, 8)) {
	case 0:
		return 0;
	case 1:
	case 2:		/* about where a packet more is needed */
		len = p->mtu * rng_below(r, p->max_len / p->mtu + 2) +
		      rng_below(r, 3) - 1;
		return min(len, p->max_len);
	default:
		bits = 32 - (u32)__builtin_clz(p->max_len);
		len = rng_below(r, 1u << rng_range(r, 1, bits));
		return min(len, p->max_len);
	}
}

static u8 draw_opcode(struct sim_end *e)
{
	const u32 *w = e->conn->plan.weight;
	u32 sum = 0, x;
	u8 op;

	for (op = 0; op <= RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD; op++)
		sum += w[op];
	x = rng_below(&e->conn->app, sum);
	for (op = 0; x >= w[op]; op++)
		x -= w[op];
	return op;
}

static u8 draw_flags(struct sim_end *e)
{
	const struct sim_conn_plan *p = &e->conn->plan;
	struct rng *r = &e->conn->app;

	return (u8)((rng_chance(r, p->signalled) ?
		     RXE_ORDERED_SEND_SIGNALED : 0) |
		    (rng_chance(r, p->solicited) ?
		     RXE_ORDERED_SEND_SOLICITED : 0) |
		    (rng_chance(r, p->fence) ? RXE_ORDERED_SEND_FENCE : 0));
}

/* An empty message touches nothing that could be wrong. */
static u8 draw_fault(struct sim_end *e, const struct sim_op *op)
{
	static const u8 faults[] = {
		SIM_BAD_ENTRY, SIM_BAD_LOCAL, SIM_BAD_KEY, SIM_BAD_RANGE,
	};
	struct rng *r = &e->conn->app;

	if (!rng_chance(r, e->conn->plan.bad_op))
		return SIM_GOOD;
	if (!op->len)
		return SIM_BAD_ENTRY;
	if (sim_is_atomic(op->opcode) && !rng_below(r, 4))
		return SIM_BAD_ALIGN;
	return faults[rng_below(r, sim_is_send(op->opcode) ? 2 : 4)];
}

/* Small numbers at few places, so that a comparison is often true. */
static void draw_atomic(struct sim_end *e, struct sim_op *op)
{
	const struct sim_end *peer = sim_peer(e);
	struct rng *r = &e->conn->app;
	u64 first = (peer->va + 7) & ~7ull;

	op->len = 8;
	op->raddr = first + 8 * rng_below(r, 4);
	op->operand = rng_below(r, 3);
	if (op->opcode == RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP)
		memcpy(&op->compare, peer->target.shadow +
		       sim_memory_at(peer, op->raddr), sizeof(op->compare));
}

static void draw_op(struct sim_end *e, struct sim_op *op, bool message)
{
	struct sim_end *peer = sim_peer(e);
	struct rng *r = &e->conn->app;

	memset(op, 0, sizeof(*op));
	op->opcode = draw_opcode(e);
	if (message && !sim_takes_recv(op->opcode))
		op->opcode = RXE_ORDERED_WR_SEND;
	op->flags = draw_flags(e);
	op->len = draw_len(e);
	op->imm = (__be32)rng_next(r);
	op->pattern = rng_next(r);
	op->rkey = peer->rkey;
	op->raddr = peer->va +
		    rng_below(r, e->conn->plan.area - op->len + 1);
	if (sim_is_atomic(op->opcode))
		draw_atomic(e, op);
	op->fault = draw_fault(e, op);
	if (op->fault == SIM_BAD_KEY)
		op->rkey ^= 1u << rng_below(r, 32);
	if (op->fault == SIM_BAD_RANGE && sim_is_atomic(op->opcode))
		op->raddr = (peer->va + e->conn->plan.area) & ~7ull;
	else if (op->fault == SIM_BAD_RANGE)
		op->raddr = peer->va + e->conn->plan.area - op->len +
			    rng_range(r, 1, op->len);
	if (op->fault == SIM_BAD_ALIGN)
		op->raddr += rng_range(r, 1, 7);
	op->posted_at = e->sim->now;
}

static void post(struct sim_end *e, bool message)
{
	static const struct rxo_sq_limits lim = { .max_sge = 1 };
	struct sim_flow *f = sim_flow(e);
	struct sim_op *op = sim_op(f, f->posted);
	u32 at = f->posted % SIM_SQ * e->slot;
	struct rxe_ordered_sqe sqe = {};
	struct rxe_ordered_sge sge = {};
	struct rxo_swqe *wqe;

	draw_op(e, op, message);
	sim_pattern(e->local.mem + at, op->pattern, 0, op->len);
	memcpy(e->local.shadow + at, e->local.mem + at, op->len);
	sqe.wr_id = f->posted;
	sqe.opcode = op->opcode;
	sqe.flags = op->flags;
	sqe.num_sge = 1;
	sqe.rkey = op->rkey;
	sqe.remote_addr = op->raddr;
	sqe.reserved = op->fault == SIM_BAD_ENTRY;
	if (op->opcode == RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP) {
		sqe.compare_add = op->compare;
		sqe.swap = op->operand;
	} else if (sim_is_atomic(op->opcode)) {
		sqe.compare_add = op->operand;
	}
	memcpy(&sqe.imm_data, &op->imm, sizeof(sqe.imm_data));
	sge.length = op->len;
	wqe = rxo_req_slot(&e->req);
	wqe->status = (u8)rxo_wqe_validate_send(&sqe, &sge, &lim, wqe);
	rxo_req_push(&e->req);
	SIM_TRACE(e, "posts %u: opcode %u, flags %x, %u bytes, fault %u",
		  f->posted, op->opcode, op->flags, op->len, op->fault);
	f->posted++;
	e->sim->stats.ops++;
	e->sim->stats.bytes += op->len;
}

static bool may_post(const struct sim_end *e)
{
	const struct sim_flow *f = &e->conn->flow[e->side];
	u32 out = f->posted - f->done;

	return out < e->plan->depth && rxo_req_has_room(&e->req) &&
	       (e->conn->plan.app != SIM_APP_ANSWER || e->credit);
}

/* Requests that are late: they can only be flushed. */
static void post_late(struct sim_end *e)
{
	for (; e->late_posts; e->late_posts--)
		if (rxo_req_has_room(&e->req))
			post(e, false);
	for (; e->late_recvs && e->rq_head - e->rq_done < e->plan->rq;
	     e->late_recvs--)
		e->rq[e->rq_head++ % SIM_RQ] = (struct sim_recv){};
}

/*
 * What an application does about a peer that it knows to be gone: wait for what
 * is outstanding, unless that could take for ever.
 */
static void peer_is_gone(struct sim_end *e)
{
	const struct sim_flow *f = sim_flow(e);

	if (e->state == RXO_QPS_ERR || sim_peer(e)->state != RXO_QPS_ERR)
		return;
	e->knows_peer_gone = true;
	if (f->posted == f->done || !e->req_cfg.timeout)
		sim_end_error(e);
}

void sim_app_post(struct sim_end *e)
{
	bool message;

	peer_is_gone(e);
	if (e->state == RXO_QPS_ERR) {
		post_late(e);
		return;
	}
	while (!app_is_done(e) && may_post(e)) {
		message = e->conn->plan.app == SIM_APP_ANSWER &&
			  rng_below(&e->conn->app, 2);
		post(e, message);
		e->credit -= message;
	}
}

static void post_recv(struct sim_end *e)
{
	const struct sim_conn_plan *p = &e->conn->plan;
	struct sim_recv *r = &e->rq[e->rq_head % SIM_RQ];
	struct rng *rng = &e->conn->app;

	r->len = p->max_len;
	r->fault = SIM_GOOD;
	if (rng_chance(rng, p->short_recv))
		r->len = rng_below(rng, p->max_len + 1);
	if (rng_chance(rng, p->bad_recv))
		r->fault = rng_below(rng, 2) ? SIM_BAD_RECV :
					       SIM_BAD_RECV_LOCAL;
	e->rq_head++;
}

void sim_app_post_recvs(struct sim_end *e)
{
	if (e->state == RXO_QPS_ERR)
		return;
	while (e->rq_head - e->rq_done < e->plan->rq)
		post_recv(e);
	SIM_TRACE(e, "has posted receives up to %u", e->rq_head);
}

static void later(struct sim_end *e, bool *due, u64 within,
		  enum sim_event_kind kind)
{
	if (*due)
		return;
	*due = true;
	sim_at_end(e, e->sim->now + 1 + rng_next(&e->conn->app) % within, kind);
}

bool sim_app_step(struct sim_end *e)
{
	u32 posted = sim_flow(e)->posted;

	/* What it has waited for may have ended well: no event would come any more. */
	if (e->knows_peer_gone)
		peer_is_gone(e);
	if (e->state == RXO_QPS_ERR)
		return false;
	if (e->rq_head - e->rq_done < e->plan->rq) {
		if (e->plan->recv_late_ns)
			later(e, &e->recv_due, e->plan->recv_late_ns,
			      SIM_EV_RECV);
		else
			sim_app_post_recvs(e);
	}
	if (e->plan->think_ns && may_post(e) && !app_is_done(e))
		later(e, &e->post_due, e->plan->think_ns, SIM_EV_POST);
	else if (!e->plan->think_ns)
		sim_app_post(e);
	return sim_flow(e)->posted != posted;
}

void sim_app_start(struct sim_end *e)
{
	struct rng *r = &e->conn->app;

	e->knows_peer_gone = false;
	e->credit = e->side ? 0 : rng_range(r, 1, 4);
	e->late_posts = rng_below(r, 4);
	e->late_recvs = rng_below(r, 4);
	sim_at_end(e, e->sim->now + 1, SIM_EV_RUN);
}

bool sim_app_is_over(const struct sim_end *e)
{
	const struct sim_flow *f = &e->conn->flow[e->side];

	if (f->posted != f->done)
		return false;
	if (e->state == RXO_QPS_ERR)
		return e->rq_head == e->rq_done && !e->late_posts;
	return app_is_done(e) && e->state == RXO_QPS_RTS;
}
