// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a seed stands for. */
#include "sim.h"

enum subject {
	SUBJECT_WORLD = 1,
	SUBJECT_LINK,
	SUBJECT_CONN = 1000,
	SUBJECT_APP = 2000,
	SUBJECT_FATE = 3000,
	SUBJECT_GLUE = 4000,
};

static u32 pick(struct rng *r, const u32 *weight, u32 n)
{
	u32 sum = 0, i, x;

	for (i = 0; i < n; i++)
		sum += weight[i];
	x = rng_below(r, sum);
	for (i = 0; x >= weight[i]; i++)
		x -= weight[i];
	return i;
}

/* Between lo and hi, each order of magnitude as likely as the next. */
static u64 log_range(struct rng *r, u64 lo, u64 hi)
{
	u32 bits = 0, k;
	u64 v;

	while (lo << (bits + 1) <= hi)
		bits++;
	k = rng_below(r, bits + 1);
	v = (lo << k) + rng_next(r) % (lo << k);
	return min(v, hi);
}

/* -------------------------------------------------------------------- links */

static u32 plan_loss(struct rng *r)
{
	static const u32 weight[] = { 15, 20, 30, 35 };

	switch (pick(r, weight, ARRAY_SIZE(weight))) {
	case 0:
		return 0;
	case 1:
		return rng_range(r, 10, 1000);
	case 2:
		return rng_range(r, 1000, 5000);
	default:
		return rng_range(r, 5000, 20000);
	}
}

static void plan_link(struct sim_link *link, struct rng *r)
{
	memset(link, 0, sizeof(*link));
	link->ps_per_byte = (u32)log_range(r, 10, 8000);
	link->delay_ns = log_range(r, 200, 50 * NS_PER_US);
	link->loss = plan_loss(r);
	link->burst = rng_below(r, 3) ? 1 : rng_range(r, 2, 8);
	if (rng_below(r, 2))
		link->dup = (u32)log_range(r, 50, 10000);
	if (rng_below(r, 2))
		link->corrupt = (u32)log_range(r, 50, 3000);
	if (rng_below(r, 2)) {
		link->late = rng_below(r, 4) ? (u32)log_range(r, 50, 20000) :
					       100000;
		link->spread_ns = log_range(r, 500, 100 * NS_PER_US);
	}
	link->queue_ns = log_range(r, 20 * NS_PER_US, 500 * NS_PER_US);
}

static bool link_loses_nothing(const struct sim_link *l)
{
	return !l->loss && !l->corrupt;
}

/* There and back, with the queues half full. */
static u64 round_trip(const struct sim *sim)
{
	u64 ns = 0;
	u32 n;

	for (n = 0; n < 2; n++)
		ns += sim->link[n].delay_ns + sim->link[n].spread_ns +
		      sim->link[n].queue_ns / 2;
	return ns;
}

void sim_plan(struct sim *sim)
{
	static const u32 conns[] = { 30, 30, 25, 15 };
	struct rng r = rng_stream(sim->seed, SUBJECT_WORLD);
	struct rng l;
	u32 n;

	switch (pick(&r, conns, ARRAY_SIZE(conns))) {
	case 0:
		sim->n_conns = 1;
		break;
	case 1:
		sim->n_conns = rng_range(&r, 2, 4);
		break;
	case 2:
		sim->n_conns = rng_range(&r, 5, 16);
		break;
	default:
		sim->n_conns = rng_range(&r, 17, SIM_CONNS);
		break;
	}
	sim->target = rng_range(&r, 4000, 16000);
	sim->limit = 40 * sim->target + 400000;
	sim->end_at = U64_MAX;
	if (sim->deadlock) {
		sim->n_conns = 1;
		sim->target = sim->limit = U64_MAX;
		sim->end_at = sim->now + 600 * NS_PER_S;
	}
	for (n = 0; n < 2; n++) {
		l = rng_stream(sim->seed, SUBJECT_LINK + n);
		plan_link(&sim->link[n], &l);
		if (sim->deadlock)
			sim->link[n].loss = min(sim->link[n].loss, 1000u);
		if (sim->deadlock)
			sim->link[n].burst = 1;
	}
	sim->link_rng = rng_stream(sim->seed, SUBJECT_LINK + 100);
}

/* -------------------------------------------------------------- connections */

/*
 * Of what @side sends none gets lost, or it is asked for: answers come in order, and
 * a request that is overtaken is missed by the peer.
 */
static bool needs_no_timeout(const struct sim *sim, u32 side)
{
	return link_loses_nothing(&sim->link[0]) &&
	       link_loses_nothing(&sim->link[1]) && !sim->link[side].late;
}

static u8 plan_timeout(const struct sim *sim, u32 side, struct rng *r)
{
	u64 want = 3 * round_trip(sim) + 20 * NS_PER_US;
	u8 code = 1;

	if (needs_no_timeout(sim, side) && !rng_below(r, 3))
		return 0;
	while ((4096ull << code) < want)
		code++;
	/* Now and then shorter than a round trip. */
	if (!rng_below(r, 12))
		return (u8)max(1, code - (int)rng_range(r, 1, 4));
	return (u8)(code + rng_below(r, 4));
}

static u8 plan_rnr_timer(struct rng *r)
{
	/* Short ones mostly; 0 is the longest. */
	return rng_below(r, 40) ? (u8)rng_range(r, 1, 14) :
				  (u8)rng_below(r, 32);
}

static void plan_end(struct sim_conn *conn, u32 side, struct rng *r)
{
	struct sim_end_plan *p = &conn->plan.end[side];
	struct sim *sim = conn->sim;

	memset(p, 0, sizeof(*p));
	p->psn = rng_below(r, 2) ? 0xffffff - rng_below(r, 400) :
				   rng_below(r, 1 << 24);
	p->req = (struct rxo_req_cfg){
		.mtu = conn->plan.mtu,
		.pkey = RXO_DEFAULT_PKEY,
		.max_rd_atomic = (u8)(rng_below(r, 20) ? rng_range(r, 1, 16) : 0),
		.timeout = plan_timeout(sim, side, r),
		.retry_cnt = (u8)(rng_below(r, 4) ? 7 : rng_below(r, 8)),
		.rnr_retry = (u8)(rng_below(r, 4) ? 7 : rng_below(r, 7)),
		.window = (u32)log_range(r, 1, 256),
		.ack_every = (u32)log_range(r, 1, 64),
	};
	p->resp = (struct rxo_resp_cfg){
		.mtu = conn->plan.mtu,
		.pkey = RXO_DEFAULT_PKEY,
		.min_rnr_timer = plan_rnr_timer(r),
		.access = RXO_ACCESS_REMOTE_READ | RXO_ACCESS_REMOTE_WRITE |
			  RXO_ACCESS_REMOTE_ATOMIC,
		/* Not drawn, so that stored seeds stay what they are. */
		.credits = p->psn & 1,
	};
	p->rd_part = rng_below(r, 4) ? 0 : 1u << rng_range(r, 0, 4);
	p->depth = (u32)log_range(r, 1, SIM_SQ);
	p->rq = (u32)log_range(r, 1, SIM_RQ);
	p->tx_burst = (u32)log_range(r, 1, 64);
	p->rx_batch = (u32)log_range(r, 1, 64);
	if (!rng_below(r, 3))
		p->think_ns = log_range(r, 100, 200 * NS_PER_US);
	if (!rng_below(r, 3))
		p->recv_late_ns = log_range(r, 1000, 2 * NS_PER_MS);
	if (!rng_below(r, 3))
		p->busy = (u32)log_range(r, 50, 5000);
	/* Like a peer that keeps nothing, like ourselves, or short of room. */
	if (rng_below(r, 3))
		p->keep = rng_below(r, 3) ? RXO_REORDER_WINDOW :
					    (u32)log_range(r, 1, 64);
	p->ordered = p->req.timeout && rng_below(r, 2);
	if (!rng_below(r, 2)) {
		p->stall = (u32)log_range(r, 100, 20000);
		p->stall_ns = log_range(r, 1000, 50 * NS_PER_US);
	}
}

/* Each message waits for a receive that the peer posts when it gets one. */
static void plan_tight(struct sim_conn_plan *p, struct rng *r)
{
	u32 side;

	for (side = 0; side < 2; side++) {
		struct sim_end_plan *e = &p->end[side];

		e->rq = rng_range(r, 1, 2);
		e->depth = max(e->depth, 1u);
		e->req.rnr_retry = 7;
		e->resp.min_rnr_timer = (u8)rng_range(r, 1, 14);
	}
	memset(p->weight, 0, sizeof(p->weight));
	p->weight[RXE_ORDERED_WR_SEND] = 4;
	p->weight[RXE_ORDERED_WR_RDMA_WRITE] = 1;
}

/* Ten minutes of both ends out of receives, in ordered mode. */
static void plan_deadlock(struct sim_conn_plan *p)
{
	u32 side;

	for (side = 0; side < 2; side++) {
		struct sim_end_plan *e = &p->end[side];

		e->rq = 1;
		e->think_ns = e->recv_late_ns = e->busy = e->stall = 0;
		e->req.timeout = max(e->req.timeout, (u8)10);
		e->req.retry_cnt = 7;
		e->ordered = true;
		e->resp.min_rnr_timer = 14;
	}
	p->app = SIM_APP_TIGHT;
}

static void plan_troubles(struct sim_conn_plan *p, struct rng *r)
{
	if (!rng_below(r, 4))
		p->bad_op = (u32)log_range(r, 10, 1000);
	if (!rng_below(r, 5))
		p->bad_recv = (u32)log_range(r, 10, 500);
	if (!rng_below(r, 5))
		p->short_recv = (u32)log_range(r, 10, 1000);
	if (!rng_below(r, 4))
		p->kill_ns = log_range(r, NS_PER_MS, 100 * NS_PER_MS);
	if (!rng_below(r, 6))
		p->err_ns = log_range(r, NS_PER_MS, 100 * NS_PER_MS);
	if (!rng_below(r, 6))
		p->revoke_ns = log_range(r, NS_PER_MS, 100 * NS_PER_MS);
	if (!rng_below(r, 4))
		p->drain_ns = log_range(r, 200 * NS_PER_US, 20 * NS_PER_MS);
}

static void plan_workload(struct sim_conn_plan *p, struct rng *r)
{
	u32 i;

	p->app = rng_below(r, SIM_APP_COUNT);
	for (i = 0; i < ARRAY_SIZE(p->weight); i++)
		p->weight[i] = rng_below(r, 3) ? rng_range(r, 1, 10) : 0;
	p->weight[RXE_ORDERED_WR_SEND] += !p->weight[RXE_ORDERED_WR_SEND];
	p->signalled = rng_below(r, 2) ? 100000 : rng_below(r, 100000);
	p->solicited = rng_below(r, 50000);
	p->fence = rng_below(r, 2) ? 0 : rng_below(r, 50000);
}

/* A connection, and each that takes its place after it has failed. */
void sim_plan_conn(struct sim_conn *conn)
{
	static const u32 mtu_weight[] = { 70, 12, 8, 5, 5 };
	u32 subject = conn->index + conn->generation * SIM_CONNS;
	struct rng r = rng_stream(conn->sim->seed,
				  SUBJECT_CONN + ((u64)subject << 16));
	struct sim_conn_plan *p = &conn->plan;
	u32 side;

	memset(p, 0, sizeof(*p));
	p->mtu = 256u << pick(&r, mtu_weight, ARRAY_SIZE(mtu_weight));
	/* Up to one packet, a few, or many. */
	p->max_len = (u32)log_range(&r, 8, rng_below(&r, 8) ? 8 * 256 :
							     16 * p->mtu);
	p->area = p->max_len + rng_range(&r, 64, 2048);
	plan_workload(p, &r);
	for (side = 0; side < 2; side++)
		plan_end(conn, side, &r);
	for (side = 0; side < 2; side++) {
		/* A packet dropped for want of memory is as good as lost. */
		if (!p->end[!side].req.timeout)
			p->end[side].busy = 0;
		p->end[side].resp.max_dest_rd_atomic =
			max((u8)1, p->end[!side].req.max_rd_atomic);
		if (p->app == SIM_APP_ONE_WAY && side)
			p->end[side].depth = 0;
	}
	if (p->app == SIM_APP_TIGHT || conn->sim->deadlock)
		plan_tight(p, &r);
	if (conn->sim->deadlock)
		plan_deadlock(p);
	else
		plan_troubles(p, &r);
	conn->app = rng_stream(conn->sim->seed,
			       SUBJECT_APP + ((u64)subject << 16));
	conn->fate = rng_stream(conn->sim->seed,
				SUBJECT_FATE + ((u64)subject << 16));
	for (side = 0; side < 2; side++)
		conn->end[side].rng = rng_stream(conn->sim->seed, SUBJECT_GLUE +
						 ((u64)subject << 16) + side);
}
