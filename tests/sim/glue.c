// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One end of a connection: feeds packets to the machines, executes what they
 * decide, and sends what they have to say. Memory that is short, a full queue
 * and a processor that is elsewhere are part of it.
 */
#include "sim.h"

/* --------------------------------------------------------------------- ICRC */

/* Addresses and ports are the same for all; the id stays zero. */
static u32 icrc_of(const u8 *b, u32 len)
{
	u8 ip[20] = { 0x45, [6] = 0x40, [8] = 64, [9] = 17,
		      [12] = 10, [15] = 1, [16] = 10, [19] = 2 };
	u8 udp[8] = { 0xc0, 0, RXO_UDP_PORT >> 8, RXO_UDP_PORT & 0xff };
	__le32 icrc;
	u32 crc;

	rxo_put_be16(ip + 2, (u16)(len + 28));
	rxo_put_be16(udp + 4, (u16)(len + 8));
	crc = rxo_icrc_begin_ipv4(ip, udp, b);
	crc = rxo_env_crc32(crc, b + RXO_BTH_LEN,
			    len - RXO_BTH_LEN - RXO_ICRC_LEN);
	icrc = rxo_icrc_end(crc);
	memcpy(&crc, &icrc, sizeof(crc));
	return crc;
}

void sim_icrc_put(u8 *b, u32 len)
{
	u32 icrc = icrc_of(b, len);

	memcpy(b + len - RXO_ICRC_LEN, &icrc, sizeof(icrc));
}

bool sim_icrc_ok(const u8 *b, u32 len)
{
	u32 icrc = icrc_of(b, len);

	return !memcmp(b + len - RXO_ICRC_LEN, &icrc, sizeof(icrc));
}

/* --------------------------------------------------------------- life cycle */

/* By how much a packet of the peer may be late, and still come. */
static u64 end_overtaking(const struct sim_end *e)
{
	const struct sim_link *l = &e->sim->link[e->side];

	return (l->late ? l->spread_ns : 0) + (l->dup ? 4 * l->delay_ns : 0);
}

void sim_end_start(struct sim_end *e)
{
	const struct sim_end_plan *plan = e->plan;
	struct rxo_resp_cfg resp = plan->resp;

	e->req_cfg = plan->req;
	e->req_cfg.dqpn = resp.dqpn = sim_peer(e)->qpn;
	rxo_req_init(&e->req, e->swqe, SIM_SQ - 1);
	rxo_req_start(&e->req, &e->req_cfg, rxo_psn_make(plan->psn));
	if (plan->rd_part)
		e->req.rd_part = plan->rd_part;
	rxo_resp_init(&e->resp);
	rxo_resp_start(&e->resp, &resp,
		       rxo_psn_make(sim_peer(e)->plan->psn));
	e->state = RXO_QPS_RTS;
	e->rx_first = e->rx_last = SIM_NONE;
	e->rx_count = 0;
	e->stall_until = 0;
	e->timer_at = U64_MAX;
	e->resume_at = 0;
	e->run_due = e->post_due = e->recv_due = false;
	e->drain_wanted = false;
	e->rq_head = e->rq_tail = e->rq_done = 0;
	e->recv_kept = false;
	e->msg_head = e->msg_tail = 0;
	e->received_at = e->refused_at = 0;
	rxo_order_init(&e->order, end_overtaking(e));
}

static void kept_forget(struct sim_end *e, struct sim_kept *kept)
{
	u32 slot;

	while (rxo_reorder_any(&kept->order, &slot)) {
		sim_packet_free(e->sim, kept->packet[slot]);
		rxo_reorder_remove(&kept->order, slot);
	}
}

/* What is left of it goes with it. */
void sim_end_stop(struct sim_end *e)
{
	u32 next;

	kept_forget(e, &e->kept_req);
	kept_forget(e, &e->kept_ans);
	for (; e->rx_count; e->rx_count--) {
		next = e->sim->packet[e->rx_first].next;
		sim_packet_free(e->sim, e->rx_first);
		e->rx_first = next;
	}
	e->sim->stats.held += e->order.n_hold;
	e->sim->stats.probes += e->order.n_probe;
}

void sim_end_error(struct sim_end *e)
{
	if (e->state == RXO_QPS_ERR)
		return;
	SIM_TRACE(e, "enters ERR");
	e->state = RXO_QPS_ERR;
	e->resume_at = 0;
	kept_forget(e, &e->kept_req);
	kept_forget(e, &e->kept_ans);
	e->sim->stats.errors++;
	/* The application hears of it, and tells the peer's in the end. */
	sim_at_end(e, e->sim->now, SIM_EV_POST);
	sim_at_end(sim_peer(e), e->sim->now + 50 * NS_PER_US, SIM_EV_POST);
}

/* SQD; the way back is taken when the send queue has drained. */
void sim_end_drain(struct sim_end *e)
{
	if (e->state != RXO_QPS_RTS)
		return;
	SIM_TRACE(e, "drains");
	e->state = RXO_QPS_SQD;
	e->req.draining = true;
	e->drain_wanted = true;
	sim_end_run(e);
}

/* Other attributes while nothing is outstanding, then on. True: it goes on. */
static bool end_drained(struct sim_end *e)
{
	if (!e->drain_wanted || e->state != RXO_QPS_SQD ||
	    !rxo_req_is_drained(&e->req))
		return false;
	oracle_drained(e);
	e->drain_wanted = false;
	if (e->req_cfg.max_rd_atomic)
		e->req_cfg.max_rd_atomic = (u8)rng_range(&e->rng, 1,
					sim_peer(e)->plan->resp.max_dest_rd_atomic);
	e->req_cfg.window = rng_range(&e->rng, 1, 2 * e->plan->req.window);
	e->req_cfg.rnr_retry = (u8)(rng_below(&e->rng, 3) ? 7 : 6);
	rxo_req_modify(&e->req, &e->req_cfg);
	e->req.draining = false;
	e->state = RXO_QPS_RTS;
	SIM_TRACE(e, "goes on, max_rd_atomic %u, window %u",
		  e->req_cfg.max_rd_atomic, e->req_cfg.window);
	return true;
}

/* -------------------------------------------------------------- completions */

static void end_recv_completes(struct sim_end *e,
			       const struct rxo_resp_next_act *next)
{
	oracle_receives(e, next);
	e->rq_done++;
	e->credit += next->status == RXO_WC_SUCCESS;
}

static void end_release(struct sim_end *e)
{
	struct rxo_hold *h;

	while ((h = rxo_order_release(&e->order, &e->req)))
		end_recv_completes(e, &e->held[h - e->hold]);
}

static void end_pop(struct sim_end *e)
{
	struct rxo_req_done done;

	while (rxo_req_pop(&e->req, e->state == RXO_QPS_ERR, &done)) {
		oracle_completes(e, &done);
		if (done.status != RXO_WC_SUCCESS)
			sim_end_error(e);
	}
	if (e->order.oldest && e->state != RXO_QPS_ERR)
		end_release(e);
}

static void end_follow(struct sim_end *e, const struct rxo_resp_next_act *next)
{
	u32 i = (e->rq_tail - 1) % SIM_RQ;

	if (!next->complete)
		return;
	if (!e->plan->ordered || rxo_order_is_idle(&e->order, &e->req) ||
	    !rxo_order_hold(&e->order, &e->hold[i], &e->req, e->sim->now)) {
		end_recv_completes(e, next);
		return;
	}
	SIM_TRACE(e, "holds receive %u", e->rq_tail - 1);
	e->held[i] = *next;
}

static void end_flush(struct sim_end *e)
{
	static const struct rxo_resp_next_act flushed = {
		.complete = true,
		.status = RXO_WC_WR_FLUSH_ERR,
		.opcode = RXO_WC_RECV,
	};

	struct rxo_hold *h;

	end_pop(e);
	oracle_popped(e);
	while ((h = rxo_order_flush(&e->order)))
		end_recv_completes(e, &e->held[h - e->hold]);
	if (e->resp.have_recv || e->recv_kept) {
		e->resp.have_recv = false;
		e->recv_kept = false;
		end_recv_completes(e, &flushed);
	}
	for (; e->rq_tail != e->rq_head; e->rq_tail++)
		end_recv_completes(e, &flushed);
}

/* The request that is in a slot of the send queue. */
static struct sim_op *end_op(struct sim_end *e, u32 slot)
{
	struct sim_flow *f = sim_flow(e);

	return sim_op(f, f->done + ((slot - f->done) & (SIM_SQ - 1)));
}

/* ----------------------------------------------------------- peer's requests */

static enum rxo_resp_result take_recv(struct sim_end *e)
{
	if (e->recv_kept) {
		e->recv_kept = false;
		return RXO_RES_OK;
	}
	if (e->rq_tail == e->rq_head)
		return RXO_RES_NO_RECV;
	e->rq_tail++;
	return e->rq[(e->rq_tail - 1) % SIM_RQ].fault == SIM_BAD_RECV ?
		RXO_RES_RECV_BAD : RXO_RES_OK;
}

static enum rxo_resp_result place_recv(struct sim_end *e,
				       const struct rxo_resp_act *act,
				       const u8 *payload)
{
	u32 idx = e->rq_tail - 1;
	const struct sim_recv *r = &e->rq[idx % SIM_RQ];

	if ((u64)act->offset + act->len > r->len)
		return RXO_RES_LOC_LEN;
	if (r->fault == SIM_BAD_RECV_LOCAL)
		return RXO_RES_LOC_PROT;
	memcpy(e->recv.mem + idx % e->plan->rq * e->slot + act->offset,
	       payload, act->len);
	return RXO_RES_OK;
}

static enum rxo_resp_result execute_atomic(struct sim_end *e,
					   struct rxo_resp_act *act)
{
	u8 *at = sim_memory_remote(e, act->rkey, act->va, 8);
	u64 new;

	if (!at)
		return RXO_RES_ACCESS;
	memcpy(&act->orig, at, 8);
	if (act->pkt.opcode == RXO_OP_FETCH_ADD)
		new = act->orig + act->pkt.swap_add;
	else
		new = act->orig == act->pkt.compare ? act->pkt.swap_add :
						      act->orig;
	memcpy(at, &new, 8);
	return RXO_RES_OK;
}

static enum rxo_resp_result execute(struct sim_end *e, struct rxo_resp_act *act,
				    const u8 *payload)
{
	enum rxo_resp_result res;
	u8 *to;

	if (act->kind == RXO_RESP_NONE)
		return RXO_RES_OK;
	if (act->check && !sim_memory_remote(e, act->rkey, act->check_va,
					     act->check_len))
		return RXO_RES_ACCESS;
	if (rng_chance(&e->rng, e->plan->busy) && !act->need_recv)
		return RXO_RES_BUSY;
	if (act->need_recv) {
		res = take_recv(e);
		if (res != RXO_RES_OK)
			return res;
		if (rng_chance(&e->rng, e->plan->busy)) {
			e->recv_kept = true;
			return RXO_RES_BUSY;
		}
	}
	switch (act->kind) {
	case RXO_RESP_RECV:
		return place_recv(e, act, payload);
	case RXO_RESP_WRITE:
		if (!act->len)
			return RXO_RES_OK;
		to = sim_memory_remote(e, act->rkey, act->va, act->len);
		if (!to)
			return RXO_RES_PLACE_ACCESS;
		memcpy(to, payload, act->len);
		return RXO_RES_OK;
	case RXO_RESP_ATOMIC:
		return execute_atomic(e, act);
	default:
		return RXO_RES_OK;
	}
}

/* Behind a gap: until it is filled, if there is room. */
static enum rxo_reorder_verdict keep(struct sim_end *e, struct sim_kept *kept,
				     struct rxo_psn next, struct rxo_psn psn,
				     u32 index)
{
	enum rxo_reorder_verdict verdict;
	u32 slot;

	verdict = rxo_reorder_add(&kept->order, next, psn, &slot);
	if (verdict != RXO_REORDER_KEEP)
		return verdict;
	if (kept->order.count > e->plan->keep) {
		rxo_reorder_remove(&kept->order, slot);
		return RXO_REORDER_FAR;
	}
	SIM_TRACE(e, "keeps psn %06x", psn.v);
	kept->packet[slot] = index;
	e->sim->stats.kept++;
	return RXO_REORDER_KEEP;
}

static const enum rxo_resp_result kept_results[] = {
	[RXO_REORDER_KEEP] = RXO_RES_OK,
	[RXO_REORDER_DUP] = RXO_RES_KEPT,
	[RXO_REORDER_FAR] = RXO_RES_BUSY,
};

/* True: the packet has been kept. */
static bool rx_request(struct sim_end *e, const struct rxo_pkt *pkt,
		       const u8 *payload, u32 index)
{
	struct rxo_resp_next_act next;
	enum rxo_resp_result res;
	enum rxo_reorder_verdict kept;
	struct rxo_resp_act act;

	rxo_resp_rx(&e->resp, pkt, &act);
	if (act.kind == RXO_RESP_DROP) {
		SIM_TRACE(e, "drops %s: %s", sim_trace_pkt(pkt),
			  rxo_drop_name(act.drop));
		return false;
	}
	if (act.kind == RXO_RESP_AHEAD) {
		kept = keep(e, &e->kept_req, e->resp.epsn, pkt->psn, index);
		rxo_resp_done(&e->resp, &act, kept_results[kept], &next);
		return kept == RXO_REORDER_KEEP;
	}
	res = execute(e, &act, payload);
	SIM_TRACE(e, "takes %s: kind %d, result %d", sim_trace_pkt(pkt),
		  act.kind, res);
	oracle_executes(e, pkt, &act, res, e->sim->packet[index].executed);
	rxo_resp_done(&e->resp, &act, res, &next);
	end_follow(e, &next);
	/* The peer will send everything again. */
	if (res == RXO_RES_NO_RECV)
		kept_forget(e, &e->kept_req);
	return false;
}

/* ------------------------------------------------------------ peer's answers */

static bool place_result(struct sim_end *e, const struct rxo_ack_act *act,
		       const u8 *payload)
{
	const struct sim_op *op = end_op(e, act->slot);

	SIM_CHECK(e, act->offset + act->len <= op->len,
		  "a result beyond the end of its buffer");
	if (op->fault == SIM_BAD_LOCAL)
		return false;
	memcpy(e->local.mem + act->slot * e->slot + act->offset, payload,
	       act->len);
	return true;
}

static bool rx_answer(struct sim_end *e, const struct rxo_pkt *pkt,
		      const u8 *payload, u32 index)
{
	struct rxo_ack_act act;
	bool ok;

	SIM_TRACE(e, "hears %s", sim_trace_pkt(pkt));
	oracle_hears(e, pkt);
	rxo_ack_rx(&e->req, pkt, e->sim->now, &act);
	if (act.unexecuted)
		rxo_order_nak(&e->order, pkt->psn,
			      e->sim->packet[index].arrived);
	if (act.kind == RXO_ACK_DROP) {
		SIM_TRACE(e, "drops it: %s", rxo_drop_name(act.drop));
		return false;
	}
	if (act.kind == RXO_ACK_AHEAD)
		return keep(e, &e->kept_ans, e->req.una, pkt->psn, index) ==
		       RXO_REORDER_KEEP;
	if (act.kind == RXO_ACK_RESULT)
		payload = (const u8 *)&act.orig;
	if (act.kind != RXO_ACK_TAKEN) {
		ok = place_result(e, &act, payload);
		rxo_ack_done(&e->req, &act, ok ? RXO_PLACED :
						 RXO_PLACE_LOC_PROT,
			     e->sim->now);
	}
	end_pop(e);
	return false;
}

/* Takes the packet over. @was_kept: its turn has come. */
static void rx_packet(struct sim_end *e, u32 index, bool was_kept)
{
	const struct sim_packet *p = &e->sim->packet[index];
	struct rxo_pkt pkt;
	bool kept = false;

	if (e->state != RXO_QPS_ERR &&
	    rxo_wire_parse(p->b, p->len, p->len, &pkt) == RXO_DROP_NONE) {
		if (was_kept && !rxo_opcode_info(pkt.opcode)->is_response)
			rxo_resp_unkeep(&e->resp, &pkt);
		kept = rxo_opcode_info(pkt.opcode)->is_response ?
			rx_answer(e, &pkt, p->b + pkt.hdr_len, index) :
			rx_request(e, &pkt, p->b + pkt.hdr_len, index);
	}
	if (!kept)
		sim_packet_free(e->sim, index);
}

/* ------------------------------------------------------- in turn after all */

static void feed(struct sim_end *e, struct sim_kept *kept, struct rxo_psn psn)
{
	u32 slot = rxo_reorder_slot(psn);
	u32 index = kept->packet[slot];

	rxo_reorder_remove(&kept->order, slot);
	rx_packet(e, index, true);
}

static void feed_requests(struct sim_end *e)
{
	struct rxo_psn psn;

	while (rxo_reorder_first(&e->kept_req.order, &psn) &&
	       !rxo_psn_after(psn, e->resp.epsn))
		feed(e, &e->kept_req, psn);
	rxo_resp_gap(&e->resp, e->kept_req.order.count);
}

static void feed_answers(struct sim_end *e)
{
	struct rxo_psn psn;
	bool any;

	while (e->state != RXO_QPS_ERR) {
		any = rxo_reorder_first(&e->kept_ans.order, &psn);
		if (!rxo_ack_kept_due(&e->req, any ? &psn : NULL, e->sim->now))
			break;
		feed(e, &e->kept_ans, psn);
	}
	end_pop(e);
}

static bool rx_batch(struct sim_end *e)
{
	u32 budget = e->plan->rx_batch;
	u32 index;

	while (e->rx_count && budget--) {
		index = e->rx_first;
		e->rx_first = e->sim->packet[index].next;
		e->rx_count--;
		rx_packet(e, index, false);
		if (rxo_ack_has_gap(&e->req))
			feed_answers(e);
		feed_requests(e);
		oracle_popped(e);
	}
	return e->rx_count;
}

/* ----------------------------------------------------------------- transmit */

/* A train that is refused as a whole: as if it had never been made up. */
static void try_resp_train(struct sim_end *e)
{
	struct rxo_resp_mark mark = rxo_resp_mark(&e->resp);
	u32 n = 1 + rng_below(&e->rng, 5);
	struct rxo_resp_next_act next;
	struct rxo_resp_tx tx;

	while (n-- && rxo_resp_next(&e->resp, &tx)) {
		rxo_resp_tx_done(&e->resp, &tx, RXO_RESP_TX_SENT, &next);
		if (!tx.is_read)
			break;
	}
	rxo_resp_rewind(&e->resp, &mark);
}

static bool is_refused(struct sim_end *e)
{
	u64 when;

	if (!sim_link_has_room(e, &when)) {
		e->resume_at = when;
		e->refused_at = e->sim->now;
		return true;
	}
	if (!rng_chance(&e->rng, e->plan->busy))
		return false;
	e->resume_at = e->sim->now + 1 + rng_below(&e->rng, 20000);
	return true;
}

static void tx_answer(struct sim_end *e, const struct rxo_resp_tx *tx)
{
	enum rxo_resp_tx_result res = RXO_RESP_TX_SENT;
	struct rxo_resp_next_act next;
	const u8 *from = NULL;
	static const u8 nothing[1];

	if (tx->is_read && tx->len) {
		from = sim_memory_remote(e, tx->rkey, tx->va, tx->len);
		if (!from)
			res = RXO_RESP_TX_ACCESS;
	}
	if (res == RXO_RESP_TX_SENT) {
		oracle_answers(e, &tx->pkt, from, tx->len);
		sim_link_send(e, &tx->pkt, from ? from : nothing, tx->len);
	} else {
		oracle_answer_refused(e, &tx->pkt);
	}
	rxo_resp_tx_done(&e->resp, tx, res, &next);
	end_follow(e, &next);
}

/* False: no room. */
static bool tx_answers(struct sim_end *e, u32 *budget)
{
	struct rxo_resp_next_act next;
	struct rxo_resp_tx tx;

	e->resp.recvs = e->rq_head - e->rq_tail + e->recv_kept;
	while (*budget && rxo_resp_has_tx(&e->resp) &&
	       rxo_resp_next(&e->resp, &tx)) {
		if (is_refused(e)) {
			rxo_resp_tx_done(&e->resp, &tx, RXO_RESP_TX_BUSY,
					 &next);
			try_resp_train(e);
			return false;
		}
		tx_answer(e, &tx);
		--*budget;
	}
	/* The NAK that ends the connection has left. */
	if (e->resp.failed && !rxo_resp_has_tx(&e->resp))
		sim_end_error(e);
	return true;
}

static void try_req_train(struct sim_end *e)
{
	struct rxo_req mark = e->req;
	u32 n = 1 + rng_below(&e->rng, 5);
	struct rxo_req_act act;

	while (n--) {
		rxo_req_next(&e->req, e->sim->now, &act);
		if (act.kind != RXO_REQ_SEND)
			break;
		rxo_req_sent(&e->req, &act, RXO_SENT, e->sim->now);
	}
	rxo_req_rewind(&e->req, &mark);
}

static enum rxo_req_result tx_request(struct sim_end *e,
				      const struct rxo_req_act *act)
{
	const struct sim_op *op = end_op(e, act->slot);

	/* The second half of the buffer cannot be read. */
	if (op->fault == SIM_BAD_LOCAL && !sim_has_result(op->opcode) &&
	    act->offset + act->len > op->len / 2)
		return RXO_SENT_LOC_PROT;
	oracle_sends(e, &act->pkt, act->len);
	sim_link_send(e, &act->pkt,
		      e->local.mem + act->slot * e->slot + act->offset,
		      act->len);
	return RXO_SENT;
}

/* A receive has been held for long: ask for the ACK that may be lost. */
static void tx_probe(struct sim_end *e, u32 *budget)
{
	struct rxo_req_act act;

	if (e->rx_count || !*budget ||
	    !rxo_order_probe(&e->order, &e->req, e->sim->now, &act))
		return;
	if (is_refused(e)) {
		rxo_req_sent(&e->req, &act, RXO_SENT_BUSY, e->sim->now);
		return;
	}
	SIM_TRACE(e, "probes");
	rxo_order_probed(&e->order, &e->req, e->sim->now);
	rxo_req_sent(&e->req, &act, tx_request(e, &act), e->sim->now);
	--*budget;
}

static void tx_requests(struct sim_end *e, u32 *budget)
{
	struct rxo_req_act act;

	act.kind = RXO_REQ_IDLE;
	if (e->order.oldest)
		tx_probe(e, budget);
	if (e->resume_at)
		return;
	while (*budget && rxo_req_has_next(&e->req)) {
		rxo_req_next(&e->req, e->sim->now, &act);
		if (act.kind != RXO_REQ_SEND)
			break;
		if (is_refused(e)) {
			rxo_req_sent(&e->req, &act, RXO_SENT_BUSY, e->sim->now);
			try_req_train(e);
			return;
		}
		rxo_req_sent(&e->req, &act, tx_request(e, &act), e->sim->now);
		--*budget;
	}
	if (act.kind == RXO_REQ_WAIT && act.wait == RXO_WAIT_FAILED)
		end_pop(e);
}

/* True: there is more to send now. */
static bool tx(struct sim_end *e)
{
	u32 budget = e->plan->tx_burst;

	if (e->resume_at > e->sim->now)
		return false;
	e->resume_at = 0;
	if (tx_answers(e, &budget) && budget && e->state != RXO_QPS_ERR)
		tx_requests(e, &budget);
	return !budget;
}

/* -------------------------------------------------------------------- owner */

static void set_timer(struct sim_end *e)
{
	u64 at = e->state == RXO_QPS_ERR ? U64_MAX : rxo_req_deadline(&e->req);

	if (e->resume_at)
		at = min(at, e->resume_at);
	else if (e->state != RXO_QPS_ERR)
		at = min(at, rxo_order_deadline(&e->order, &e->req));
	if (at >= e->timer_at)
		return;
	e->timer_at = at;
	sim_at_end(e, at, SIM_EV_TIMER);
}

static void run_later(struct sim_end *e, u64 at)
{
	if (e->run_due)
		return;
	e->run_due = true;
	sim_at_end(e, at, SIM_EV_RUN);
}

void sim_end_run(struct sim_end *e)
{
	bool more;

	if (e->stall_until > e->sim->now) {
		run_later(e, e->stall_until);
		return;
	}
	more = rx_batch(e);
	end_pop(e);
	if (e->state != RXO_QPS_ERR)
		more |= tx(e);
	more |= end_drained(e);
	if (e->state == RXO_QPS_ERR)
		end_flush(e);
	/* What is posted now leaves in the next step. */
	more |= sim_app_step(e);
	set_timer(e);
	if (more)
		run_later(e, e->sim->now + 1);
}

void sim_end_rx(struct sim_end *e, u32 packet)
{
	e->sim->packet[packet].next = SIM_NONE;
	if (e->rx_count++)
		e->sim->packet[e->rx_last].next = packet;
	else
		e->rx_first = packet;
	e->rx_last = packet;
	if (rng_chance(&e->rng, e->plan->stall) &&
	    e->stall_until <= e->sim->now)
		e->stall_until = e->sim->now +
				 rng_next(&e->rng) % e->plan->stall_ns;
	if (e->stall_until > e->sim->now)
		run_later(e, e->stall_until);
	else
		sim_end_run(e);
}

void sim_end_timer(struct sim_end *e)
{
	if (e->timer_at > e->sim->now)
		return;			/* an earlier one took its place */
	e->timer_at = U64_MAX;
	if (e->stall_until > e->sim->now) {
		run_later(e, e->stall_until);
		return;
	}
	if (e->state != RXO_QPS_ERR &&
	    e->sim->now >= rxo_req_deadline(&e->req)) {
		SIM_TRACE(e, "timer");
		rxo_req_expire(&e->req, e->sim->now);
		end_pop(e);
	}
	sim_end_run(e);
}
