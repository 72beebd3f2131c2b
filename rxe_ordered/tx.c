// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Transmit: from the machines' decisions to skbs. By the owner of the QP,
 * bottom halves off, in an RCU read-side section.
 *
 * Consecutive packets of one length leave as a train: one UDP GSO skb, one
 * route, one transmit, and on veth one receive. Segmentation, wherever it
 * happens, makes of it exactly the packets that would have left one by one. It
 * counts the IP id up, so the ICRC of packet i covers id + i; that is why the IP
 * header is built here, before the ICRC is computed. The UDP checksum is outside
 * the ICRC.
 *
 * A train is filled from decision to decision, each committed when its packet
 * has been added. If the stack then refuses the whole, the machine goes back to
 * the mark taken at the start: nothing has happened.
 */
#include <linux/percpu.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <net/udp.h>

#include "fault.h"
#include "frame.h"
#include "qp_priv.h"
#include "trace.h"
#include "tx.h"

/*
 * Wait before a packet that could not leave is tried again: doubles with each try,
 * so often at most, 41 ms.
 */
#define RXO_TX_WAIT_NS		(20 * NSEC_PER_USEC)
#define RXO_TX_WAIT_DOUBLED	11
/*
 * After so many tries what the stack refuses counts as lost: a rule that drops
 * everything must end in a transport time-out, not in silence. Not so without memory:
 * that says nothing about the peer, and on a QP without a time-out what is lost is
 * lost for ever.
 */
#define RXO_TX_REFUSALS		7

/* What a receiver accepts in one piece, see rx.c; and the stack's own limit. */
#define RXO_TX_MAX_SEGS		64
#define RXO_TX_MAX_BYTES	(U16_MAX - sizeof(struct ipv6hdr) - \
				 sizeof(struct udphdr))

/* Payload pages of trains. Only with bottom halves off. */
static DEFINE_PER_CPU(struct page_frag, rxo_tx_frag);

/* One or more packets being built. */
struct rxo_tx {
	struct sk_buff *skb;
	struct dst_entry *dst;
	u32 seg_len;		/* BTH to ICRC, of every packet but the last */
	u32 max_segs;		/* 1: all in the linear part */
	u32 nsegs;
	u32 len;		/* of all packets so far */
	bool ended;		/* the last packet was shorter: no more */
	u8 *seg;		/* the packet being added */
	u32 this_len;
	struct rxo_frame_hdr hdr;	/* of the packet added last */
};

void rxo_tx_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct page_frag *frag = per_cpu_ptr(&rxo_tx_frag, cpu);

		if (frag->page)
			put_page(frag->page);
		frag->page = NULL;
	}
}

/* Cached route, or a new one, or an error. The QP keeps the reference. */
static struct dst_entry *rxo_tx_dst(struct rxo_qp *qp)
{
	struct dst_entry *dst = qp->dst;

	if (dst && dst_check(dst, qp->dst_cookie))
		return dst;
	dst_release(dst);
	dst = rxo_net_route(qp->dev, &qp->av, &qp->dst_cookie);
	qp->dst = IS_ERR(dst) ? NULL : dst;
	return dst;
}

/* What the stack says when an allocation has failed; the latter not only then. */
static bool rxo_tx_is_nomem(int err)
{
	return err == -ENOMEM || err == -ENOBUFS;
}

/* ------------------------------------------------------------------ headers */

static void rxo_tx_fill_hdr(const struct rxo_qp *qp, u16 id, u32 len,
			    struct rxo_frame_hdr *hdr)
{
	const struct rxo_av *av = &qp->av;
	u32 udp_len = len + sizeof(hdr->udp);

	if (av->ipv6) {
		ip6_flow_hdr(&hdr->ip6, av->tos, htonl(av->flow_label));
		hdr->ip6.payload_len = htons(udp_len);
		hdr->ip6.nexthdr = IPPROTO_UDP;
		hdr->ip6.hop_limit = av->hop_limit;
		hdr->ip6.saddr = av->saddr6;
		hdr->ip6.daddr = av->daddr6;
	} else {
		hdr->ip4 = (struct iphdr){
			.version = 4,
			.ihl = sizeof(hdr->ip4) / 4,
			.tos = av->tos,
			.tot_len = htons(udp_len + sizeof(hdr->ip4)),
			.id = htons(id),
			.frag_off = htons(IP_DF),
			.ttl = av->hop_limit,
			.protocol = IPPROTO_UDP,
			.saddr = av->saddr,
			.daddr = av->daddr,
		};
	}
	hdr->udp = (struct udphdr){
		.source = av->sport,
		.dest = htons(RXO_UDP_PORT),
		.len = htons(udp_len),
	};
}

/*
 * A UDP checksum is compulsory over IPv6 and for segmentation; the device or the
 * stack fills it in. A single packet over IPv4 goes without: it has an ICRC.
 */
static void rxo_tx_want_csum(struct sk_buff *skb, bool ipv6)
{
	struct udphdr *uh = udp_hdr(skb);
	u32 len = ntohs(uh->len);

	if (ipv6)
		uh->check = ~csum_ipv6_magic(&ipv6_hdr(skb)->saddr,
					     &ipv6_hdr(skb)->daddr, len,
					     IPPROTO_UDP, 0);
	else
		uh->check = ~csum_tcpudp_magic(ip_hdr(skb)->saddr,
					       ip_hdr(skb)->daddr, len,
					       IPPROTO_UDP, 0);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

static void rxo_tx_put_hdr(struct rxo_qp *qp, struct rxo_tx *tx)
{
	bool ipv6 = qp->av.ipv6;
	struct sk_buff *skb = tx->skb;
	struct rxo_frame_hdr *hdr = &tx->hdr;

	/* That of a single packet is there. */
	if (tx->nsegs > 1)
		rxo_tx_fill_hdr(qp, qp->ip_id, tx->len, hdr);
	memcpy(skb_push(skb, sizeof(hdr->udp)), &hdr->udp, sizeof(hdr->udp));
	skb_reset_transport_header(skb);
	if (ipv6)
		memcpy(skb_push(skb, sizeof(hdr->ip6)), &hdr->ip6,
		       sizeof(hdr->ip6));
	else
		memcpy(skb_push(skb, sizeof(hdr->ip4)), &hdr->ip4,
		       sizeof(hdr->ip4));
	skb_reset_network_header(skb);
	skb->protocol = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP);

	if (ipv6 || tx->nsegs > 1)
		rxo_tx_want_csum(skb, ipv6);
	if (tx->nsegs > 1) {
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
		skb_shinfo(skb)->gso_size = tx->seg_len;
		skb_shinfo(skb)->gso_segs = tx->nsegs;
	}
}

/* ------------------------------------------------------------------ building */

static u32 rxo_tx_pkt_len(const struct rxo_pkt *pkt, u32 len)
{
	return rxo_opcode_info(pkt->opcode)->hdr_len + len + pkt->pad +
	       RXO_ICRC_LEN;
}

/* @want: packets that may follow each other with the length of this one. */
static bool rxo_tx_begin(struct rxo_qp *qp, const struct rxo_pkt *pkt, u32 len,
			 u32 want, struct rxo_tx *tx)
{
	u32 room;

	*tx = (struct rxo_tx){ .dst = rxo_tx_dst(qp) };
	if (IS_ERR(tx->dst))
		return false;
	tx->seg_len = rxo_tx_pkt_len(pkt, len);
	tx->max_segs = 1;
	if (READ_ONCE(qp->dev->trains))
		tx->max_segs = min3(want, (u32)RXO_TX_MAX_SEGS,
				    (u32)(RXO_TX_MAX_BYTES / tx->seg_len));
	room = LL_RESERVED_SPACE(tx->dst->dev) + sizeof(struct rxo_frame_hdr);
	tx->skb = alloc_skb(room + tx->dst->dev->needed_tailroom +
			    (tx->max_segs == 1 ? tx->seg_len : 0),
			    GFP_ATOMIC | __GFP_NOWARN);
	if (!tx->skb)
		return false;
	skb_reserve(tx->skb, room);
	return true;
}

/*
 * Headers of the next packet. Return: where its payload goes, or NULL if there
 * is no room for it in this skb.
 */
static u8 *rxo_tx_add(struct rxo_tx *tx, const struct rxo_pkt *pkt, u32 len)
{
	struct page_frag *frag = this_cpu_ptr(&rxo_tx_frag);
	u8 *payload;

	tx->this_len = rxo_tx_pkt_len(pkt, len);
	if (tx->ended || tx->nsegs == tx->max_segs ||
	    tx->this_len > tx->seg_len)
		return NULL;
	if (tx->max_segs == 1) {
		tx->seg = skb_put(tx->skb, tx->this_len);
	} else {
		if (skb_shinfo(tx->skb)->nr_frags == MAX_SKB_FRAGS ||
		    !skb_page_frag_refill(tx->this_len, frag,
					  GFP_ATOMIC | __GFP_NOWARN))
			return NULL;
		tx->seg = (u8 *)page_address(frag->page) + frag->offset;
	}
	payload = tx->seg + rxo_wire_build(pkt, tx->seg);
	memset(payload + len, 0, pkt->pad);
	return payload;
}

static void rxo_tx_add_frag(struct rxo_tx *tx)
{
	struct page_frag *frag = this_cpu_ptr(&rxo_tx_frag);
	struct sk_buff *skb = tx->skb;
	int n = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, n, frag->page, frag->offset)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[n - 1],
				  tx->this_len);
	} else {
		get_page(frag->page);
		skb_fill_page_desc(skb, n, frag->page, frag->offset,
				   tx->this_len);
	}
	frag->offset += tx->this_len;
	skb->len += tx->this_len;
	skb->data_len += tx->this_len;
	skb->truesize += tx->this_len;
}

/* The payload is in place: the packet is part of the skb. */
static void rxo_tx_added(struct rxo_qp *qp, struct rxo_tx *tx)
{
	u32 covered = tx->this_len - RXO_ICRC_LEN;
	__le32 icrc;

	rxo_tx_fill_hdr(qp, qp->ip_id + tx->nsegs, tx->this_len, &tx->hdr);
	icrc = rxo_frame_icrc(&tx->hdr, qp->av.ipv6, tx->seg, covered);
	memcpy(tx->seg + covered, &icrc, sizeof(icrc));
	if (tx->max_segs > 1)
		rxo_tx_add_frag(tx);
	tx->ended = tx->this_len < tx->seg_len;
	tx->len += tx->this_len;
	tx->nsegs++;
}

/* Try the same packet again a little later. */
static void rxo_tx_back_off(struct rxo_qp *qp, u64 now)
{
	qp->tx_resume = now + ((u64)RXO_TX_WAIT_NS << qp->tx_tries);
	if (qp->tx_tries < RXO_TX_WAIT_DOUBLED)
		qp->tx_tries++;
}

/*
 * The stack has no room, or no memory for what it does with a packet. False: this
 * has been going on for long.
 */
static bool rxo_tx_backs_off(struct rxo_qp *qp, u64 now)
{
	rxo_stat_inc(qp->dev, RXO_CNT_TX_BUSY);
	if (qp->tx_refused >= RXO_TX_REFUSALS)
		return false;
	qp->tx_refused++;
	rxo_tx_back_off(qp, now);
	return true;
}

/* @err: of the stack. What it has dropped the time-out repairs. */
static void rxo_tx_count(struct rxo_qp *qp, const struct rxo_tx *tx, int err)
{
	if (!err) {
		qp->tx_tries = 0;
		qp->tx_refused = 0;
	} else if (err != NET_XMIT_CN) {
		rxo_stat_add(qp->dev, RXO_CNT_TX_DROP, tx->nsegs);
		return;
	}
	rxo_stat_add(qp->dev, RXO_CNT_TX_PACKETS, tx->nsegs);
	rxo_stat_add(qp->dev, RXO_CNT_TX_BYTES, tx->len);
}

/* False: refused, to be tried again later. */
static bool rxo_tx_xmit(struct rxo_qp *qp, struct rxo_tx *tx, u64 now)
{
	struct sk_buff *skb = tx->skb;
	int err;

	rxo_tx_put_hdr(qp, tx);
	skb_dst_set_noref(skb, tx->dst);
	skb->dev = tx->dst->dev;
	if (rxo_fault_is_on() &&
	    rxo_fault_tx(qp->dev, skb, qp->obj.id, tx->seg_len))
		err = 0;
	else if (qp->av.ipv6)
		err = ip6_local_out(qp->dev->net, NULL, skb);
	else
		err = ip_local_out(qp->dev->net, NULL, skb);
	if ((err == NET_XMIT_DROP || rxo_tx_is_nomem(err)) &&
	    rxo_tx_backs_off(qp, now))
		return false;
	qp->ip_id += tx->nsegs;
	rxo_tx_count(qp, tx, err);
	return true;
}

/*
 * Nothing could be built. Without a route the packet is lost on the way and the
 * time-out decides; without memory it is tried again. False: try again.
 */
static bool rxo_tx_is_lost(struct rxo_qp *qp, const struct rxo_tx *tx, u64 now)
{
	if (IS_ERR(tx->dst) && !rxo_tx_is_nomem(PTR_ERR(tx->dst))) {
		rxo_stat_inc(qp->dev, RXO_CNT_TX_NO_ROUTE);
		return true;
	}
	rxo_stat_inc(qp->dev, RXO_CNT_TX_NOMEM);
	rxo_tx_back_off(qp, now);
	return false;
}

/* ---------------------------------------------------------------- responder */

/* Payload of a READ response. False: the region is gone. */
static bool rxo_tx_gather_resp(struct rxo_qp *qp,
			       const struct rxo_resp_tx *rtx, u8 *dst)
{
	return !rtx->is_read || rxo_key_read(qp, rtx->rkey,
					     RXO_ACCESS_REMOTE_READ, rtx->va,
					     dst, rtx->len);
}

static void rxo_tx_resp_done(struct rxo_qp *qp, const struct rxo_resp_tx *rtx,
			     enum rxo_resp_tx_result result)
{
	struct rxo_resp_next_act next;

	rxo_resp_tx_done(&qp->resp, rtx, result, &next);
	rxo_rx_resp_next(qp, &next);
}

/* Is it likely that another answer of this length can follow at once? */
static bool rxo_tx_answer_follows(const struct rxo_qp *qp,
				  const struct rxo_resp_tx *rtx)
{
	switch (rtx->pkt.opcode) {
	case RXO_OP_READ_RESP_MIDDLE:
		return true;
	case RXO_OP_READ_RESP_ONLY:
	case RXO_OP_ATOMIC_ACK:
		return rxo_rdres_has_many(&qp->resp.rd);
	default:
		/* The AETH of a first response makes it longer than the next. */
		return false;
	}
}

/* Answers from @rtx on, as many as fit one skb. Return: how many. */
static u32 rxo_tx_send_resp(struct rxo_qp *qp, struct rxo_resp_tx *rtx,
			    u32 budget, u64 now)
{
	struct rxo_resp_mark mark = rxo_resp_mark(&qp->resp);
	struct rxo_tx tx;
	u8 *payload;

	if (!rxo_tx_answer_follows(qp, rtx))
		budget = 1;
	if (!rxo_tx_begin(qp, &rtx->pkt, rtx->len, budget, &tx)) {
		rxo_tx_resp_done(qp, rtx, rxo_tx_is_lost(qp, &tx, now) ?
				 RXO_RESP_TX_SENT : RXO_RESP_TX_BUSY);
		return 1;
	}
	do {
		payload = rxo_tx_add(&tx, &rtx->pkt, rtx->len);
		if (!payload || !rxo_tx_gather_resp(qp, rtx, payload))
			break;
		rxo_tx_added(qp, &tx);
		trace_rxo_tx(qp->dev, qp->obj.id, &rtx->pkt, rtx->len);
		rxo_tx_resp_done(qp, rtx, RXO_RESP_TX_SENT);
	} while (tx.nsegs < tx.max_segs && rxo_resp_next(&qp->resp, rtx) &&
		 rtx->pkt.opcode != RXO_OP_ACK);

	if (!tx.nsegs) {
		kfree_skb(tx.skb);
		rxo_tx_resp_done(qp, rtx, payload ? RXO_RESP_TX_ACCESS :
				 rxo_tx_is_lost(qp, &tx, now) ?
				 RXO_RESP_TX_SENT : RXO_RESP_TX_BUSY);
		return 1;
	}
	if (!rxo_tx_xmit(qp, &tx, now))
		rxo_resp_rewind(&qp->resp, &mark);
	return tx.nsegs;
}

static u32 rxo_tx_run_resp(struct rxo_qp *qp, u32 budget, u64 now)
{
	struct rxo_resp_tx rtx;

	if (rxo_resp_has_tx(&qp->resp))
		qp->resp.recvs = rxo_wq_recvs(qp);
	while (budget && !qp->tx_resume && rxo_resp_has_tx(&qp->resp) &&
	       rxo_resp_next(&qp->resp, &rtx))
		budget -= min(budget, rxo_tx_send_resp(qp, &rtx, budget, now));
	/* The NAK that ends the connection has left. */
	if (qp->resp.failed && !rxo_resp_has_tx(&qp->resp))
		rxo_wq_enter_err(qp);
	return budget;
}

/* ---------------------------------------------------------------- requester */

/* Payload of a request packet, from inline bytes or the scatter list. */
static bool rxo_tx_gather(struct rxo_qp *qp, const struct rxo_req_act *act,
			  u8 *dst)
{
	const struct rxo_swqe *wqe = &qp->swqe[act->slot];
	const struct rxe_ordered_sge *sge = rxo_wq_sge(qp, act->slot);

	if (!act->len)
		return true;
	if (wqe->flags & RXE_ORDERED_SEND_INLINE) {
		memcpy(dst, (const u8 *)sge + act->offset, act->len);
		return true;
	}
	return rxo_sge_read(qp, sge, wqe->num_sge, act->offset, dst, act->len);
}

/* Is it likely that another packet of this length can follow at once? */
static bool rxo_tx_has_follower(const struct rxo_qp *qp,
				const struct rxo_req_act *act)
{
	const struct rxo_opcode_info *info = rxo_opcode_info(act->pkt.opcode);

	if (info->pos & RXO_POS_LAST)
		return qp->req.head - qp->req.cur > 1;
	/* The RETH of a first WRITE makes it longer than the next. */
	return info->class == RXO_CLASS_SEND || !(info->pos & RXO_POS_FIRST);
}

/* Requests from @act on, as many as fit one skb. Return: how many. */
static u32 rxo_tx_send_req(struct rxo_qp *qp, struct rxo_req_act *act,
			   u32 budget, u64 now)
{
	struct rxo_req mark;
	struct rxo_tx tx;
	u8 *payload;

	if (!rxo_tx_has_follower(qp, act))
		budget = 1;
	mark = qp->req;
	if (!rxo_tx_begin(qp, &act->pkt, act->len, budget, &tx)) {
		rxo_req_sent(&qp->req, act, rxo_tx_is_lost(qp, &tx, now) ?
			     RXO_SENT : RXO_SENT_BUSY, now);
		return 1;
	}
	do {
		payload = rxo_tx_add(&tx, &act->pkt, act->len);
		if (!payload || !rxo_tx_gather(qp, act, payload))
			break;
		rxo_tx_added(qp, &tx);
		trace_rxo_tx(qp->dev, qp->obj.id, &act->pkt, act->len);
		rxo_req_sent(&qp->req, act, RXO_SENT, now);
		if (tx.nsegs == tx.max_segs)
			break;
		rxo_req_next(&qp->req, now, act);
	} while (act->kind == RXO_REQ_SEND);

	if (!tx.nsegs) {
		kfree_skb(tx.skb);
		rxo_req_sent(&qp->req, act, payload ? RXO_SENT_LOC_PROT :
			     rxo_tx_is_lost(qp, &tx, now) ?
			     RXO_SENT : RXO_SENT_BUSY, now);
		return 1;
	}
	if (!rxo_tx_xmit(qp, &tx, now))
		rxo_req_rewind(&qp->req, &mark);
	return tx.nsegs;
}

/*
 * A receive has been held for long: ask for the ACK that may be lost. Not with
 * packets waiting, it may be among those.
 */
static u32 rxo_tx_probe(struct rxo_qp *qp, u32 budget, u64 now)
{
	struct rxo_req_act act;

	if (qp->tx_resume || !skb_queue_empty_lockless(&qp->rxq) ||
	    !rxo_order_probe(&qp->order, &qp->req, now, &act))
		return budget;
	trace_rxo_probe(qp->dev, qp->obj.id, act.pkt.psn.v,
			qp->swqe[act.slot].wr_id);
	budget -= rxo_tx_send_req(qp, &act, 1, now);
	/* One that could not leave is still due. */
	if (!qp->tx_resume)
		rxo_order_probed(&qp->order, &qp->req, now);
	return budget;
}

static u32 rxo_tx_run_req(struct rxo_qp *qp, u32 budget, u64 now)
{
	struct rxo_req_act act;

	act.kind = RXO_REQ_IDLE;
	act.wait = RXO_WAIT_NONE;

	if (qp->order.oldest)
		budget = rxo_tx_probe(qp, budget, now);
	while (budget && !qp->tx_resume && rxo_req_has_next(&qp->req) &&
	       !rxo_qpfsm_is_flushing(qp->state)) {
		rxo_req_next(&qp->req, now, &act);
		if (act.kind != RXO_REQ_SEND)
			break;
		budget -= min(budget, rxo_tx_send_req(qp, &act, budget, now));
	}
	WRITE_ONCE(qp->req_wait, act.wait);
	/* A request that failed here, with none before it, has no answer. */
	if (act.kind == RXO_REQ_WAIT && act.wait == RXO_WAIT_FAILED)
		rxo_wq_complete_sends(qp);
	return budget;
}

bool rxo_tx_run(struct rxo_qp *qp, u32 budget, u64 now)
{
	if (qp->tx_resume || !rxo_qpfsm_may_respond(qp->state))
		return false;
	budget = rxo_tx_run_resp(qp, budget, now);
	if (budget && rxo_qpfsm_may_complete(qp->state))
		budget = rxo_tx_run_req(qp, budget, now);
	return !budget;
}
