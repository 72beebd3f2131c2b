// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * usage: order_cost 0|1 N
 *
 * N requests and answers of 64 bytes between two cores, without (0) and with (1)
 * ordered completions, and nothing around them but headers built and parsed: to
 * count instructions. Exits 1 if something was held or asked for.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/rxo_ack.h"
#include "core/rxo_order.h"
#include "core/rxo_req.h"
#include "core/rxo_resp.h"

#define LEN	64
#define SLOTS	16

struct end {
	struct rxo_req req;
	struct rxo_resp resp;
	struct rxo_swqe swqe[SLOTS];
	struct rxo_order order;
	struct rxo_hold hold;
	u8 sent[LEN], received[LEN];
	u32 n_recv;
};

static struct end end[2];
static bool ordered;
static u64 now;

static void die(const char *why)
{
	fprintf(stderr, "order_cost: %s\n", why);
	exit(1);
}

static void start(struct end *e, u32 psn, u32 peer_psn)
{
	const struct rxo_req_cfg req = {
		.mtu = 4096, .dqpn = 17, .pkey = RXO_DEFAULT_PKEY,
		.max_rd_atomic = 1, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .window = 128, .ack_every = 32,
	};
	const struct rxo_resp_cfg resp = {
		.mtu = 4096, .dqpn = 17, .pkey = RXO_DEFAULT_PKEY,
		.max_dest_rd_atomic = 1,
	};

	rxo_req_init(&e->req, e->swqe, SLOTS - 1);
	rxo_req_start(&e->req, &req, rxo_psn_make(psn));
	rxo_resp_init(&e->resp);
	rxo_resp_start(&e->resp, &resp, rxo_psn_make(peer_psn));
	rxo_order_init(&e->order, 0);
}

static void rx_request(struct end *e, const struct rxo_pkt *pkt,
		       const u8 *payload)
{
	struct rxo_resp_next_act next;
	struct rxo_resp_act act;

	rxo_resp_rx(&e->resp, pkt, &act);
	memcpy(e->received, payload, act.len);
	rxo_resp_done(&e->resp, &act, RXO_RES_OK, &next);
	if (!next.complete)
		die("a message did not complete");
	if (ordered && !rxo_order_is_idle(&e->order, &e->req) &&
	    rxo_order_hold(&e->order, &e->hold, &e->req, now))
		die("a receive was held");
	e->n_recv++;
}

static void rx_answer(struct end *e, const struct rxo_pkt *pkt)
{
	struct rxo_req_done done;
	struct rxo_ack_act act;

	rxo_ack_rx(&e->req, pkt, now, &act);
	if (act.unexecuted)
		rxo_order_nak(&e->order, pkt->psn, now);
	while (rxo_req_pop(&e->req, false, &done))
		;
}

static void transfer(struct end *to, const struct rxo_pkt *out,
		     const u8 *payload, u32 len)
{
	u8 b[RXO_MAX_HDR_LEN + LEN + RXO_ICRC_LEN] = {};
	u32 n = rxo_wire_build(out, b);
	struct rxo_pkt in;

	memcpy(b + n, payload, len);
	n += len + RXO_ICRC_LEN;
	if (rxo_wire_parse(b, n, n, &in))
		die("a packet was refused");
	if (rxo_opcode_info(in.opcode)->is_response)
		rx_answer(to, &in);
	else
		rx_request(to, &in, b + in.hdr_len);
}

/* As a step of the driver does: answers, then requests, then the timer. */
static void step(struct end *e, struct end *peer)
{
	struct rxo_resp_next_act next;
	struct rxo_req_act act;
	struct rxo_resp_tx tx;
	u64 at;

	now += 1000;
	while (rxo_resp_has_tx(&e->resp) && rxo_resp_next(&e->resp, &tx)) {
		transfer(peer, &tx.pkt, e->sent, 0);
		rxo_resp_tx_done(&e->resp, &tx, RXO_RESP_TX_SENT, &next);
	}
	while (rxo_req_has_next(&e->req)) {
		rxo_req_next(&e->req, now, &act);
		if (act.kind != RXO_REQ_SEND)
			break;
		/* Sent before it arrives, else the answer would be first. */
		rxo_req_sent(&e->req, &act, RXO_SENT, now);
		transfer(peer, &act.pkt, e->sent, act.len);
	}
	at = rxo_req_deadline(&e->req);
	if (e->order.oldest)
		at = min(at, rxo_order_deadline(&e->order, &e->req));
	if (at < now)
		die("a timer has run out");
}

static void post(struct end *e)
{
	*rxo_req_slot(&e->req) = (struct rxo_swqe){
		.opcode = RXE_ORDERED_WR_SEND, .length = LEN,
		.flags = RXE_ORDERED_SEND_SIGNALED,
	};
	rxo_req_push(&e->req);
}

int main(int argc, char **argv)
{
	u32 i, n;

	if (argc != 3)
		die("usage: order_cost 0|1 N");
	ordered = argv[1][0] == '1';
	n = (u32)atoi(argv[2]);
	start(&end[0], 1, 2);
	start(&end[1], 2, 1);
	for (i = 0; i < n; i++) {
		post(&end[0]);
		step(&end[0], &end[1]);		/* request */
		post(&end[1]);
		step(&end[1], &end[0]);		/* ACK, answer */
		step(&end[0], &end[1]);		/* ACK */
	}
	if (end[0].n_recv != n || end[1].n_recv != n ||
	    end[1].req.tail != end[1].req.head)
		die("not all has arrived");
	return 0;
}
