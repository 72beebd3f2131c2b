// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ordered completions on a live requester. The peer executes what arrives and says
 * so or not, sends messages in between, and its packets are lost or overtake each
 * other by less than the time that was promised. The oracle knows for each message
 * what the peer had executed by then.
 */
#include "core/rxo_ack.h"
#include "core/rxo_order.h"
#include "fuzz.h"

#define MTU	256
#define SLOTS	8
#define WAY	16	/* packets of the peer on their way */

enum kind { ACK, NAK, RNR, RESULT, MESSAGE };

struct packet {
	enum kind kind;
	struct rxo_psn psn;
	u8 opcode;		/* RESULT */
	u32 len;
	u32 executed;		/* MESSAGE: requests, by then */
	u64 before;		/* it has been overtaken: it comes before this */
};

struct world {
	struct rxo_req req;
	struct rxo_req_cfg cfg;
	struct rxo_swqe wqe[SLOTS];
	struct rxo_psn end[SLOTS];	/* of a request: behind its last PSN */
	struct rxo_order order;
	struct rxo_hold hold[SLOTS];
	u64 now;
	u32 posted, popped;
	struct rxo_psn posted_end;
	/* the peer */
	struct rxo_psn epsn;
	u32 executed;
	struct packet way[WAY];
	u32 n_way;
	/* messages */
	u32 sent, taken, completed;
	u32 needs[SLOTS];		/* requests executed when it was sent */
	/* probes since something was acknowledged */
	u32 probes;
	struct rxo_psn probe_una;
	bool calm;			/* nothing is lost any more */
};

static bool observable(const struct world *w, u32 i)
{
	return w->wqe[i % SLOTS].opcode != RXE_ORDERED_WR_RDMA_READ;
}

/* ---------------------------------------------------------------- completions */

/* The guarantee itself. */
static void complete(struct world *w, u32 message)
{
	u32 i;

	MUST(message == w->completed++);
	for (i = w->popped; i < w->needs[message % SLOTS]; i++)
		MUST(!observable(w, i));
}

static void release(struct world *w)
{
	struct rxo_hold *h;

	while ((h = rxo_order_release(&w->order, &w->req))) {
		MUST(h == &w->hold[w->completed % SLOTS]);
		complete(w, w->completed);
	}
	MUST(!w->order.oldest == (w->completed == w->taken));
}

/* All that was posted has ended, and after it all that was held. */
static void fail(struct world *w)
{
	struct rxo_req_done done;
	struct rxo_hold *h;

	while (rxo_req_pop(&w->req, true, &done))
		MUST(done.wr_id == w->popped++);
	MUST(w->popped == w->posted);
	while ((h = rxo_order_flush(&w->order))) {
		MUST(h == &w->hold[w->completed % SLOTS]);
		complete(w, w->completed);
	}
	MUST(w->completed == w->taken);
}

static void pop(struct world *w)
{
	struct rxo_req_done done;

	while (!w->req.failed && rxo_req_pop(&w->req, false, &done))
		MUST(done.wr_id == w->popped++);
	if (w->req.failed)
		fail(w);
	else
		release(w);
}

static void take_message(struct world *w, const struct packet *p)
{
	u32 id = w->taken++, i;
	struct rxo_hold *h = &w->hold[id % SLOTS];
	bool wait = w->order.oldest;

	w->needs[id % SLOTS] = p->executed;
	/* What has been sent in full and is not completed may have been executed. */
	for (i = w->popped; i != w->posted; i++)
		wait |= observable(w, i) &&
			!rxo_psn_after(w->end[i % SLOTS], w->req.max);
	/* In ERR nothing is held. */
	if (w->req.failed) {
		complete(w, id);
	} else if (rxo_order_is_idle(&w->order, &w->req) ||
		   !rxo_order_hold(&w->order, h, &w->req,
				   w->now)) {
		MUST(!wait);
		complete(w, id);
	} else {
		MUST(wait);
	}
}

/* ------------------------------------------------------------ the peer's packets */

static void take_answer(struct world *w, const struct packet *p)
{
	struct rxo_pkt pkt = { .psn = p->psn, .opcode = RXO_OP_ACK,
			       .syndrome = 0x1f };
	struct rxo_ack_act act;

	if (p->kind == RESULT) {
		pkt.opcode = p->opcode;
		pkt.payload_len = p->len;
	} else if (p->kind != ACK) {
		pkt.syndrome = p->kind == RNR ? rxo_aeth_make(RXO_AETH_RNR, 1) :
			       rxo_aeth_make(RXO_AETH_NAK, RXO_NAK_PSN);
	}
	rxo_ack_rx(&w->req, &pkt, w->now, &act);
	if (act.unexecuted) {
		MUST(p->kind == NAK || p->kind == RNR);
		rxo_order_nak(&w->order, act.psn, w->now);
	}
	if (act.kind == RXO_ACK_READ_DATA || act.kind == RXO_ACK_RESULT)
		rxo_ack_done(&w->req, &act, RXO_PLACED, w->now);
	if (rxo_ack_has_gap(&w->req))
		MUST(!rxo_ack_kept_due(&w->req, NULL, w->now));
}

static void deliver(struct world *w, u32 i)
{
	struct packet p = w->way[i];
	u32 k;

	for (k = 0; k < i; k++)
		w->way[k].before = min(w->way[k].before,
				       w->now + w->order.overtaking);
	w->n_way--;
	for (k = i; k < w->n_way; k++)
		w->way[k] = w->way[k + 1];
	if (p.kind == MESSAGE)
		take_message(w, &p);
	else if (!w->req.failed)
		take_answer(w, &p);
	pop(w);
}

static void emit(struct world *w, struct tape *t, const struct packet *p)
{
	/* A message is not lost for good: the peer would send it again. */
	if (!w->calm && p->kind != MESSAGE && !tape_pick(t, 4))
		return;
	if (w->n_way == WAY)
		deliver(w, 0);
	w->way[w->n_way] = *p;
	w->way[w->n_way++].before = U64_MAX;
}

static void emit_message(struct world *w, struct tape *t)
{
	struct packet p = { .kind = MESSAGE, .executed = w->executed };

	if (w->sent - w->completed == SLOTS)
		return;
	w->sent++;
	emit(w, t, &p);
}

static void emit_results(struct world *w, struct tape *t,
			 const struct rxo_req_act *act)
{
	struct packet p = { .kind = RESULT, .opcode = RXO_OP_ATOMIC_ACK };
	u32 i;

	for (i = 0; i < act->npsn; i++) {
		p.psn = rxo_psn_add(act->pkt.psn, i);
		if (act->pkt.opcode == RXO_OP_READ_REQUEST) {
			p.len = min(act->pkt.dma_len - i * MTU, (u32)MTU);
			p.opcode = act->npsn == 1 ? RXO_OP_READ_RESP_ONLY :
				   !i ? RXO_OP_READ_RESP_FIRST :
				   i + 1 < act->npsn ? RXO_OP_READ_RESP_MIDDLE :
				   RXO_OP_READ_RESP_LAST;
		}
		emit(w, t, &p);
	}
}

/* A packet of ours reaches the peer. */
static void execute(struct world *w, struct tape *t,
		    const struct rxo_req_act *act)
{
	enum rxo_class class = rxo_opcode_info(act->pkt.opcode)->class;
	bool result = class == RXO_CLASS_READ || class == RXO_CLASS_ATOMIC;
	struct packet p = { .kind = ACK, .psn = act->pkt.psn };

	if (rxo_psn_after(act->pkt.psn, w->epsn)) {
		p.kind = NAK;
		p.psn = w->epsn;
	} else if (rxo_psn_before(act->pkt.psn, w->epsn)) {
		p.psn = rxo_psn_sub(w->epsn, 1);
	} else if (!w->calm && class == RXO_CLASS_SEND && !tape_pick(t, 8)) {
		p.kind = RNR;
	} else {
		w->epsn = rxo_psn_add(w->epsn, act->npsn);
		while (w->executed != w->posted &&
		       !rxo_psn_after(w->end[w->executed % SLOTS], w->epsn))
			w->executed++;
	}
	if (!w->calm && !tape_pick(t, 4))
		emit_message(w, t);
	if (p.kind == ACK && result)
		emit_results(w, t, act);
	else if (p.kind != ACK || act->pkt.ackreq || tape_pick(t, 2))
		emit(w, t, &p);
}

/* -------------------------------------------------------------------- requester */

static void post(struct world *w, struct tape *t)
{
	static const u32 lengths[] = { 0, 1, 256, 600 };
	struct rxo_swqe *s;

	if (w->req.failed || !rxo_req_has_room(&w->req))
		return;
	s = rxo_req_slot(&w->req);
	*s = (struct rxo_swqe){
		.wr_id = w->posted, .raddr = 0x1000, .rkey = 3,
		.opcode = (u8)tape_pick(t, 7),
		.length = lengths[tape_pick(t, ARRAY_SIZE(lengths))],
	};
	if (rxo_req_is_atomic(s))
		s->length = RXO_ATOMIC_LEN;
	w->posted_end = rxo_psn_add(w->posted_end,
				    s->length ? (s->length - 1) / MTU + 1 : 1);
	w->end[w->posted++ % SLOTS] = w->posted_end;
	rxo_req_push(&w->req);
}

/* ... or is lost. */
static void arrive(struct world *w, struct tape *t,
		   const struct rxo_req_act *act)
{
	if (w->calm || tape_pick(t, 5))
		execute(w, t, act);
}

static bool send_next(struct world *w, struct tape *t)
{
	struct rxo_req_act act;

	rxo_req_next(&w->req, w->now, &act);
	if (act.kind != RXO_REQ_SEND)
		return false;
	rxo_req_sent(&w->req, &act, RXO_SENT, w->now);
	arrive(w, t, &act);
	return true;
}

/* It repeats one packet of a hold, asks for an answer, and changes nothing else. */
static void probe(struct world *w, struct tape *t)
{
	struct rxo_psn psn = w->req.psn, una = w->req.una;
	u8 retries = w->req.retry.retries_left;
	struct rxo_req_act act;

	if (!rxo_order_probe(&w->order, &w->req, w->now, &act))
		return;
	MUST(w->order.oldest && act.probe && act.pkt.ackreq);
	MUST(!rxo_psn_before(act.pkt.psn, una) &&
	     rxo_psn_before(act.pkt.psn, w->req.max));
	MUST(rxo_psn_eq(act.pkt.psn, rxo_psn_sub(w->order.oldest->need, 1)));
	w->probes = rxo_psn_eq(w->probe_una, una) ? w->probes + 1 : 1;
	w->probe_una = una;
	MUST(w->probes <= RXO_ORDER_PROBES);
	rxo_req_sent(&w->req, &act, RXO_SENT, w->now);
	rxo_order_probed(&w->order, &w->req, w->now);
	MUST(rxo_psn_eq(psn, w->req.psn));
	MUST(retries == w->req.retry.retries_left);
	arrive(w, t, &act);
}

/* ------------------------------------------------------------------------- time */

/* What was overtaken comes in time. */
static void advance(struct world *w, u64 to)
{
	u32 i = 0;

	while (i < w->n_way) {
		if (w->way[i].before > to) {
			i++;
			continue;
		}
		w->now = max(w->now, w->way[i].before - 1);
		deliver(w, i);
		i = 0;
	}
	w->now = max(w->now, to);
	if (w->now >= rxo_req_deadline(&w->req))
		rxo_req_expire(&w->req, w->now);
	pop(w);
}

/* Nothing is lost any more: all ends, and nothing stays behind. */
static void calm_down(struct world *w, struct tape *t)
{
	u32 i;

	w->calm = true;
	for (i = 0; i < 200 && !w->req.failed; i++) {
		while (send_next(w, t))
			if (w->req.failed)
				return;
		while (w->n_way)
			deliver(w, 0);
		if (w->popped == w->posted)
			break;
		if (rxo_req_deadline(&w->req) != U64_MAX)
			advance(w, rxo_req_deadline(&w->req));
	}
	while (w->n_way)
		deliver(w, 0);
	MUST(w->popped == w->posted && w->completed == w->sent);
	MUST(rxo_order_deadline(&w->order, &w->req) == U64_MAX);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct tape t = { data, size };
	static struct world w;

	memset(&w, 0, sizeof(w));
	w.cfg = (struct rxo_req_cfg){
		.mtu = MTU, .max_rd_atomic = 4, .retry_cnt = 7, .rnr_retry = 7,
		.timeout = 8 + (u8)tape_pick(&t, 4), .window = 20, .ack_every = 8,
	};
	w.now = 1;
	w.epsn = w.posted_end = w.probe_una = rxo_psn_make((u32)tape_get(&t, 3));
	rxo_req_init(&w.req, w.wqe, SLOTS - 1);
	rxo_req_start(&w.req, &w.cfg, w.epsn);
	rxo_order_init(&w.order, tape_pick(&t, 2) ? 0 : 2 + tape_get(&t, 2));
	while (t.left && !w.req.failed) {
		u32 what = tape_pick(&t, 32);

		if (what < 6)
			post(&w, &t);
		else if (what < 14)
			send_next(&w, &t);
		else if (what < 22 && w.n_way)
			deliver(&w, w.order.overtaking && what == 14 ?
				tape_pick(&t, w.n_way) : 0);
		else if (what < 25)
			emit_message(&w, &t);
		else if (what < 28)
			advance(&w, w.now + tape_get(&t, 2));
		else if (what < 30 &&
			 rxo_order_deadline(&w.order, &w.req) != U64_MAX)
			advance(&w, rxo_order_deadline(&w.order, &w.req));
		else if (what == 30 && rxo_req_deadline(&w.req) != U64_MAX)
			advance(&w, rxo_req_deadline(&w.req));
		if (!w.req.failed)
			probe(&w, &t);
	}
	calm_down(&w, &t);
	return 0;
}
