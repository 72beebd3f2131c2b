// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Events in the order of virtual time, the links, and the lives of connections. */
#include <stdarg.h>
#include <stdlib.h>

#include "sim.h"

void sim_fail(const struct sim_end *e, const char *format, ...)
{
	struct sim *sim = e->sim;
	va_list ap;
	int n;

	n = snprintf(sim->failure, sizeof(sim->failure),
		     "at %llu ns, connection %u.%u, side %u: ",
		     (unsigned long long)sim->now, e->conn->index,
		     e->conn->generation, e->side);
	va_start(ap, format);
	vsnprintf(sim->failure + n, sizeof(sim->failure) - n, format, ap);
	va_end(ap);
	longjmp(sim->failed, 1);
}

/* ------------------------------------------------------------------- events */

static bool event_before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

void sim_at(struct sim *sim, u64 at, enum sim_event_kind kind, u32 arg,
	    u32 generation)
{
	struct sim_event ev = {
		.at = max(at, sim->now), .order = sim->order++,
		.kind = kind, .arg = arg, .generation = generation,
	};
	u32 i = sim->n_events++;

	if (i == sim->max_events) {
		sim->max_events *= 2;
		sim->heap = realloc(sim->heap,
				    sim->max_events * sizeof(*sim->heap));
		if (!sim->heap)
			abort();
	}
	for (; i && event_before(&ev, &sim->heap[(i - 1) / 2]); i = (i - 1) / 2)
		sim->heap[i] = sim->heap[(i - 1) / 2];
	sim->heap[i] = ev;
}

static struct sim_event next_event(struct sim *sim)
{
	struct sim_event *h = sim->heap, first = h[0], last;
	u32 i = 0, child, n = --sim->n_events;

	last = h[n];
	while ((child = 2 * i + 1) < n) {
		child += child + 1 < n && event_before(&h[child + 1], &h[child]);
		if (!event_before(&h[child], &last))
			break;
		h[i] = h[child];
		i = child;
	}
	h[i] = last;
	return first;
}

void sim_at_end(struct sim_end *e, u64 at, enum sim_event_kind kind)
{
	sim_at(e->sim, at, kind, e->conn->index * 2 + e->side,
	       e->conn->generation);
}

/* -------------------------------------------------------------------- links */

void sim_packet_free(struct sim *sim, u32 index)
{
	sim->free[sim->n_free++] = index;
}

bool sim_link_has_room(const struct sim_end *e, u64 *when)
{
	const struct sim_link *l = &e->sim->link[!e->side];

	if (l->free_at <= e->sim->now + l->queue_ns)
		return true;
	*when = l->free_at - l->queue_ns / 2;
	return false;
}

/* Lost in bursts whose mean is as planned, with the same share in the long run. */
static bool link_loses(struct sim *sim, struct sim_link *l)
{
	if (sim->now < l->down_until)
		return true;
	if (l->burst <= 1)
		return rng_chance(&sim->link_rng, l->loss);
	if (l->in_burst)
		l->in_burst = rng_below(&sim->link_rng, l->burst);
	else
		l->in_burst = rng_chance(&sim->link_rng, l->loss / l->burst);
	return l->in_burst;
}

/* Bits that the ICRC covers; the addresses are the other end's business. */
static void link_damage(struct sim *sim, struct sim_packet *p)
{
	u8 bits = (u8)rng_range(&sim->link_rng, 1, 255);
	u32 at;

	p->damaged = true;
	if (!rng_below(&sim->link_rng, 8) && p->len > 20) {
		p->len -= 4 * rng_range(&sim->link_rng, 1, (p->len - 16) / 4);
		return;
	}
	do {
		at = rng_below(&sim->link_rng, p->len);
	} while (at == 4);		/* FECN, BECN: a router may change it */
	p->b[at] ^= bits;
}

static void link_carry(struct sim *sim, struct sim_link *l,
		       struct sim_packet *p, u32 index, u64 extra)
{
	u64 at = l->free_at + l->delay_ns + extra;

	if (rng_chance(&sim->link_rng, l->corrupt)) {
		link_damage(sim, p);
		sim->stats.damaged++;
	}
	if (rng_chance(&sim->link_rng, l->late)) {
		at += rng_next(&sim->link_rng) % (l->spread_ns + 1);
		sim->stats.overtaken++;
	}
	sim_at(sim, at, SIM_EV_ARRIVE, index, 0);
}

static struct sim_packet *packet_get(struct sim *sim, u32 *index)
{
	if (!sim->n_free)
		return NULL;
	*index = sim->free[--sim->n_free];
	return &sim->packet[*index];
}

static void packet_copy(struct sim_packet *to, const struct sim_packet *from)
{
	memcpy(to->b, from->b, from->len);
	to->len = from->len;
	to->to = from->to;
	to->damaged = from->damaged;
	to->executed = from->executed;
}

static void packet_build(struct sim_end *from, struct sim_packet *p,
			 const struct rxo_pkt *pkt, const u8 *payload, u32 len)
{
	u32 at = rxo_wire_build(pkt, p->b);

	memcpy(p->b + at, payload, len);
	at += len;
	memset(p->b + at, 0, pkt->pad);
	p->len = at + pkt->pad + RXO_ICRC_LEN;
	sim_icrc_put(p->b, p->len);
	p->to = !from->side;
	p->damaged = false;
	p->executed = sim_peer_flow(from)->observed;
}

void sim_link_send(struct sim_end *from, const struct rxo_pkt *pkt,
		   const u8 *payload, u32 len)
{
	struct sim *sim = from->sim;
	struct sim_link *l = &sim->link[!from->side];
	struct sim_packet *p, *copy;
	u32 index, again;

	sim->stats.packets++;
	from->conn->packets++;
	SIM_CHECK(from, sim->stats.packets < sim->limit,
		  "livelock: %llu packets", (unsigned long long)sim->limit);
	l->free_at = max(l->free_at, sim->now) +
		     (u64)(len + 70) * l->ps_per_byte / 1000;
	if (link_loses(sim, l) || from->conn->cut[!from->side] || !sim->n_free) {
		sim->stats.lost++;
		SIM_TRACE(from, "sends %s LOST", sim_trace_pkt(pkt));
		return;
	}
	SIM_TRACE(from, "sends %s", sim_trace_pkt(pkt));
	p = packet_get(sim, &index);
	packet_build(from, p, pkt, payload, len);
	if (rng_chance(&sim->link_rng, l->dup) &&
	    (copy = packet_get(sim, &again))) {
		packet_copy(copy, p);
		sim->stats.repeated++;
		link_carry(sim, l, copy, again,
			   rng_next(&sim->link_rng) % (4 * l->delay_ns));
	}
	link_carry(sim, l, p, index, 0);
}

/* The connection that a packet names, if it exists and the bytes are right. */
static struct sim_end *packet_owner(struct sim *sim, const struct sim_packet *p)
{
	struct rxo_pkt pkt;
	struct sim_end *e;

	if (rxo_wire_parse(p->b, p->len, p->len, &pkt) != RXO_DROP_NONE ||
	    !sim_icrc_ok(p->b, p->len))
		return NULL;
	e = &sim->conn[pkt.dqpn % SIM_CONNS].end[p->to];
	return pkt.dqpn == e->qpn && !e->conn->over ? e : NULL;
}

/* -------------------------------------------------------------- connections */

static void plan_fate(struct sim_conn *conn, u64 mean, enum sim_event_kind kind)
{
	if (mean)
		sim_at(conn->sim, conn->sim->now +
		       rng_next(&conn->fate) % (2 * mean), kind, conn->index,
		       conn->generation);
}

void sim_conn_born(struct sim_conn *conn)
{
	struct sim *sim = conn->sim;
	u32 side;

	sim_plan_conn(conn);
	memset(conn->flow, 0, sizeof(conn->flow));
	conn->over = conn->cut[0] = conn->cut[1] = false;
	conn->born = sim->now;
	for (side = 0; side < 2; side++) {
		struct sim_end *e = &conn->end[side];

		e->sim = sim;
		e->conn = conn;
		e->side = side;
		e->plan = &conn->plan.end[side];
		e->qpn = (conn->generation * 2 + side) * SIM_CONNS + conn->index;
	}
	sim_memory_init(conn);
	for (side = 0; side < 2; side++)
		sim_end_start(&conn->end[side]);
	for (side = 0; side < 2; side++)
		sim_app_start(&conn->end[side]);
	sim->stats.connections++;
	plan_fate(conn, conn->plan.kill_ns, SIM_EV_KILL);
	plan_fate(conn, conn->plan.err_ns, SIM_EV_ERR);
	plan_fate(conn, conn->plan.revoke_ns, SIM_EV_REVOKE);
	plan_fate(conn, conn->plan.drain_ns, SIM_EV_DRAIN);
}

/* Both ends idle or dead: look at everything once more, and begin anew. */
static void conn_check_over(struct sim_conn *conn)
{
	struct sim *sim = conn->sim;
	u32 side;

	if (conn->over || !sim_app_is_over(&conn->end[0]) ||
	    !sim_app_is_over(&conn->end[1]))
		return;
	oracle_ended(conn);
	conn->over = true;
	for (side = 0; side < 2; side++)
		sim_end_stop(&conn->end[side]);
	if (sim->stats.packets < sim->target && sim->now < sim->end_at) {
		sim_at(sim, sim->now + 1000, SIM_EV_REBORN, conn->index,
		       conn->generation);
		return;
	}
	if (++sim->n_over == sim->n_conns)
		sim->ended_at = sim->now;
}

static void conn_kill(struct sim_conn *conn)
{
	u32 ways = rng_range(&conn->fate, 1, 3);
	u32 side;

	/* With no time-out nobody would ever notice. */
	for (side = 0; side < 2; side++)
		if (!conn->plan.end[side].req.timeout)
			return;
	for (side = 0; side < 2; side++) {
		conn->cut[side] = ways & 1 << side;
		conn->flow[side].cut_at = conn->sim->now;
	}
	SIM_TRACE(&conn->end[0], "path is cut, ways %u", ways);
	sim_at(conn->sim, conn->sim->now, SIM_EV_CUT_CHECK, conn->index,
	       conn->generation);
}

static void conn_event(struct sim *sim, const struct sim_event *ev)
{
	struct sim_conn *conn = &sim->conn[ev->arg];
	struct sim_end *e = &conn->end[rng_below(&conn->fate, 2)];

	if (ev->kind == SIM_EV_REBORN) {
		conn->generation++;
		sim_conn_born(conn);
		return;
	}
	if (conn->over)
		return;
	switch (ev->kind) {
	case SIM_EV_KILL:
		conn_kill(conn);
		break;
	case SIM_EV_CUT_CHECK:
		oracle_check_cut(conn);
		break;
	case SIM_EV_ERR:
		SIM_TRACE(e, "is moved to ERR");
		sim_end_error(e);
		sim_end_run(e);
		break;
	case SIM_EV_REVOKE:
		SIM_TRACE(e, "memory is deregistered");
		e->revoked = true;
		break;
	case SIM_EV_DRAIN:
		sim_end_drain(e);
		plan_fate(conn, conn->plan.drain_ns, SIM_EV_DRAIN);
		break;
	default:
		break;
	}
}

/* ---------------------------------------------------------------------- run */

static void arrive(struct sim *sim, u32 index)
{
	struct sim_packet *p = &sim->packet[index];
	struct sim_end *e = packet_owner(sim, p);

	if (!e) {
		sim_packet_free(sim, index);
		return;
	}
	SIM_CHECK(e, !p->damaged, "a damaged packet got through the ICRC");
	p->arrived = sim->now;
	sim_end_rx(e, index);
	conn_check_over(e->conn);
}

static void end_event(struct sim *sim, const struct sim_event *ev)
{
	struct sim_conn *conn = &sim->conn[ev->arg / 2];
	struct sim_end *e = &conn->end[ev->arg % 2];

	if (conn->generation != ev->generation || conn->over)
		return;
	switch (ev->kind) {
	case SIM_EV_RUN:
		e->run_due = false;
		sim_end_run(e);
		break;
	case SIM_EV_TIMER:
		sim_end_timer(e);
		break;
	case SIM_EV_POST:
		e->post_due = false;
		sim_app_post(e);
		sim_end_run(e);
		break;
	default:
		e->recv_due = false;
		sim_app_post_recvs(e);
		break;
	}
	conn_check_over(conn);
}

static void event(struct sim *sim, const struct sim_event *ev)
{
	if (ev->kind == SIM_EV_ARRIVE) {
		arrive(sim, ev->arg);
	} else if (ev->kind <= SIM_EV_RECV) {
		end_event(sim, ev);
	} else if (sim->conn[ev->arg].generation == ev->generation) {
		conn_event(sim, ev);
		conn_check_over(&sim->conn[ev->arg]);
	}
}

static void begin(struct sim *sim, u64 seed)
{
	u32 i;

	sim->seed = seed;
	sim->now = 1 * NS_PER_S;
	sim->n_over = 0;
	sim->drain_at = 0;
	sim->n_events = 0;
	sim->order = 0;
	sim->n_free = 0;
	for (i = SIM_PACKETS; i--;)
		sim->free[sim->n_free++] = i;
	memset(&sim->stats, 0, sizeof(sim->stats));
	*sim->failure = 0;
	sim_plan(sim);
	for (i = 0; i < sim->n_conns; i++) {
		sim->conn[i].sim = sim;
		sim->conn[i].index = i;
		sim->conn[i].generation = 0;
		sim->conn[i].packets = 0;
		memset(sim->conn[i].end, 0, sizeof(sim->conn[i].end));
		sim_conn_born(&sim->conn[i]);
	}
}

/* Those that are idle will see no event any more. */
static void end_posting(struct sim *sim)
{
	u32 i;

	sim->drain_at = sim->now;
	for (i = 0; i < sim->n_conns; i++)
		conn_check_over(&sim->conn[i]);
}

/* Hours after the last post something still hangs. */
#define PATIENCE_NS (3600 * NS_PER_S)

/* Of two that wait for each other one gets on every time. */
static void check_alive(struct sim *sim)
{
	struct sim_end *e = sim->conn[0].end;
	u64 last = max(e[0].received_at, e[1].received_at);

	last = max(last, sim->conn[0].born);
	SIM_CHECK(&e[0], sim->now < last + 5 * NS_PER_S,
		  "deadlock: nothing received for 5 s");
}

static void run(struct sim *sim)
{
	struct sim_event ev;
	u32 i;

	while (sim->n_over < sim->n_conns && sim->n_events) {
		ev = next_event(sim);
		sim->now = ev.at;
		if (sim->drain_at && sim->now > sim->drain_at + PATIENCE_NS)
			break;
		if (sim->deadlock)
			check_alive(sim);
		SIM_CHECK(&sim->conn[0].end[0], sim->order / 64 < sim->limit,
			  "livelock: %llu events",
			  (unsigned long long)sim->order);
		event(sim, &ev);
		if (!sim->drain_at && (sim->stats.packets >= sim->target ||
				       sim->now >= sim->end_at))
			end_posting(sim);
	}
	for (i = 0; i < sim->n_conns; i++)
		SIM_CHECK(&sim->conn[i].end[0], sim->conn[i].over,
			  "stuck: side 0 has completed %u of %u, side 1 %u of %u",
			  sim->conn[i].flow[0].done, sim->conn[i].flow[0].posted,
			  sim->conn[i].flow[1].done, sim->conn[i].flow[1].posted);
}

bool sim_run(struct sim *sim, u64 seed)
{
	if (setjmp(sim->failed))
		return false;
	begin(sim, seed);
	run(sim);
	return true;
}

void sim_open(struct sim *sim)
{
	memset(sim, 0, sizeof(*sim));
	sim->max_events = 4096;
	sim->heap = malloc(sim->max_events * sizeof(*sim->heap));
	sim->packet = malloc(SIM_PACKETS * sizeof(*sim->packet));
	sim->free = malloc(SIM_PACKETS * sizeof(*sim->free));
	sim->conn = calloc(SIM_CONNS, sizeof(*sim->conn));
	if (!sim->heap || !sim->packet || !sim->free || !sim->conn)
		abort();
}

void sim_close(struct sim *sim)
{
	u32 i;

	for (i = 0; i < SIM_CONNS; i++)
		sim_memory_free(&sim->conn[i]);
	free(sim->heap);
	free(sim->packet);
	free(sim->free);
	free(sim->conn);
}
