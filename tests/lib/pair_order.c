// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ordered completions of a pair, and the oracle that checks the guarantee itself:
 * when a receive completes, every observable operation of this end that the peer
 * had executed before it sent the message has been completed. The oracle knows
 * when that was, from its own PSNs and a count of events.
 */
#include "pair.h"
#include "t.h"

void pair_order_start(struct pair *p, u32 side)
{
	struct pair_end *me = &p->end[side];

	rxo_order_init(&me->order, p->cfg.overtaking);
	me->n_executed = 0;
}

void pair_order_sent(struct pair *p, struct pair_packet *pkt)
{
	pkt->event = ++p->event;
}

/* PSNs of operation @op of @side, counted from its first operation. */
static u32 op_npsn(const struct pair *p, u32 side, u32 op)
{
	u32 len = p->end[side].ops[op].len;

	return len ? (len - 1) / p->cfg.mtu + 1 : 1;
}

void pair_order_executed(struct pair *p, u32 side)
{
	u32 seen = (p->end[side].resp.epsn.v - p->cfg.psn[!side]) & RXO_PSN_MASK;
	struct pair_end *peer = &p->end[!side];
	u32 end = 0, op;

	for (op = 0; op < peer->n_ops; op++) {
		end += op_npsn(p, !side, op);
		if (end > seen)
			return;
		if (op < peer->n_executed)
			continue;
		peer->executed_at[op] = ++p->event;
		peer->n_executed++;
	}
}

static bool is_observable(const struct pair_op *op)
{
	return op->opcode != RXE_ORDERED_WR_RDMA_READ;
}

/* A receive of @side completes; its message was sent at @sent. */
static void pair_order_complete(struct pair *p, u32 side, u64 sent)
{
	struct pair_end *me = &p->end[side];
	u32 op;

	me->n_recv_cqe++;
	for (op = me->completed; op < me->n_executed; op++)
		p->n_overtaken += me->executed_at[op] < sent &&
				  is_observable(&me->ops[op]);
	T_CHECK(!p->cfg.ordered || !p->n_overtaken);
}

void pair_order_received(struct pair *p, u32 side)
{
	struct pair_end *me = &p->end[side];
	u32 slot = (me->n_recv - 1) % PAIR_OPS;
	struct rxo_hold *hold = &me->hold[slot];

	me->sent_at[slot] = p->event_rx;
	if (!p->cfg.ordered ||
	    rxo_order_is_idle(&me->order, &me->req) ||
	    !rxo_order_hold(&me->order, hold, &me->req, p->now))
		pair_order_complete(p, side, p->event_rx);
	else
		hold->cqe.wr_id = me->n_recv - 1;
}

void pair_order_release(struct pair *p, u32 side)
{
	struct pair_end *me = &p->end[side];
	struct rxo_hold *hold;

	while ((hold = rxo_order_release(&me->order, &me->req))) {
		T_EQ(hold->cqe.wr_id, me->n_recv_cqe);
		pair_order_complete(p, side,
				    me->sent_at[hold->cqe.wr_id % PAIR_OPS]);
	}
}

bool pair_order_may_post(const struct pair *p, u32 side)
{
	const struct pair_end *me = &p->end[side];

	return !p->cfg.exchange || me->posted < me->n_recv_cqe + !side;
}

bool pair_order_may_take(const struct pair *p, u32 side)
{
	const struct pair_end *me = &p->end[side];

	return !p->cfg.credits || me->n_recv < p->cfg.credits + me->n_recv_cqe;
}
