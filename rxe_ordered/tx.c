// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Transmit: from the machines' decisions to skbs. By the owner of the QP,
 * bottom halves off, in an RCU read-side section.
 *
 * The IP header is built here, with its id chosen before the ICRC is computed,
 * because the ICRC covers the id. The UDP checksum is outside the ICRC.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>

#include "core/rxo_icrc.h"
#include "qp_priv.h"

/* Wait after the stack has refused a packet: doubles between these. */
#define RXO_TX_BACKOFF_MIN_NS	(20 * NSEC_PER_USEC)
#define RXO_TX_BACKOFF_MAX_NS	(1 * NSEC_PER_MSEC)
/*
 * Once the wait is at its maximum a refusal counts as a lost packet: a rule
 * that drops everything must end in a transport time-out, not in silence.
 */

/* A packet being built. */
struct rxo_tx {
	struct sk_buff *skb;
	u8 *bth;
	u8 *payload;
	u32 len;		/* BTH to ICRC */
};

/* Cached route, or a new one. NULL: none. The QP keeps the reference. */
static struct dst_entry *rxo_tx_dst(struct rxo_qp *qp)
{
	struct dst_entry *dst = qp->dst;

	if (dst && dst_check(dst, qp->dst_cookie))
		return dst;
	dst_release(dst);
	dst = rxo_net_route(qp->dev, &qp->av, &qp->dst_cookie);
	qp->dst = IS_ERR(dst) ? NULL : dst;
	return qp->dst;
}

static void rxo_tx_put_udp(struct rxo_qp *qp, struct rxo_tx *tx)
{
	struct udphdr *uh = skb_push(tx->skb, sizeof(*uh));

	skb_reset_transport_header(tx->skb);
	uh->source = qp->av.sport;
	uh->dest = htons(RXO_UDP_PORT);
	uh->len = htons(tx->skb->len);
	uh->check = 0;
}

static void rxo_tx_put_ipv4(struct rxo_qp *qp, struct rxo_tx *tx)
{
	struct iphdr *iph = skb_push(tx->skb, sizeof(*iph));

	skb_reset_network_header(tx->skb);
	tx->skb->protocol = htons(ETH_P_IP);
	*iph = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*iph) / 4,
		.tos = qp->av.tos,
		.tot_len = htons(tx->skb->len),
		.id = htons(qp->ip_id++),
		.frag_off = htons(IP_DF),
		.ttl = qp->av.hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr = qp->av.saddr,
		.daddr = qp->av.daddr,
	};
}

/* Over IPv6 a UDP checksum is compulsory; the device or the stack fills it in. */
static void rxo_tx_put_ipv6(struct rxo_qp *qp, struct rxo_tx *tx)
{
	struct udphdr *uh = udp_hdr(tx->skb);
	u32 udp_len = tx->skb->len;
	struct ipv6hdr *ip6h = skb_push(tx->skb, sizeof(*ip6h));

	skb_reset_network_header(tx->skb);
	tx->skb->protocol = htons(ETH_P_IPV6);
	ip6_flow_hdr(ip6h, qp->av.tos, htonl(qp->av.flow_label));
	ip6h->payload_len = htons(udp_len);
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = qp->av.hop_limit;
	ip6h->saddr = qp->av.saddr6;
	ip6h->daddr = qp->av.daddr6;

	uh->check = ~csum_ipv6_magic(&ip6h->saddr, &ip6h->daddr, udp_len,
				     IPPROTO_UDP, 0);
	tx->skb->ip_summed = CHECKSUM_PARTIAL;
	tx->skb->csum_start = skb_transport_header(tx->skb) - tx->skb->head;
	tx->skb->csum_offset = offsetof(struct udphdr, check);
}

/* skb with headers from the BTH on, room for the payload, pad in place. */
static bool rxo_tx_begin(struct rxo_qp *qp, const struct rxo_pkt *pkt, u32 len,
			 struct dst_entry *dst, struct rxo_tx *tx)
{
	u32 room = LL_RESERVED_SPACE(dst->dev) + sizeof(struct ipv6hdr) +
		   sizeof(struct udphdr);
	u32 hdr_len = rxo_opcode_info(pkt->opcode)->hdr_len;

	tx->len = hdr_len + len + pkt->pad + RXO_ICRC_LEN;
	tx->skb = alloc_skb(room + tx->len + dst->dev->needed_tailroom,
			    GFP_ATOMIC | __GFP_NOWARN);
	if (!tx->skb)
		return false;
	skb_reserve(tx->skb, room);
	tx->bth = skb_put(tx->skb, tx->len);
	tx->payload = tx->bth + hdr_len;
	rxo_wire_build(pkt, tx->bth);
	memset(tx->payload + len, 0, pkt->pad);
	return true;
}

static void rxo_tx_put_icrc(struct rxo_qp *qp, struct rxo_tx *tx)
{
	const u8 *ip = skb_network_header(tx->skb);
	const u8 *udp = skb_transport_header(tx->skb);
	u32 covered = tx->len - RXO_ICRC_LEN;
	__le32 icrc;
	u32 crc;

	if (qp->av.ipv6)
		crc = rxo_icrc_begin_ipv6(ip, udp, tx->bth);
	else
		crc = rxo_icrc_begin_ipv4(ip, udp, tx->bth);
	crc = rxo_env_crc32(crc, tx->bth + RXO_BTH_LEN, covered - RXO_BTH_LEN);
	icrc = rxo_icrc_end(crc);
	memcpy(tx->bth + covered, &icrc, sizeof(icrc));
}

/* The stack has no room: try the same packet again a little later. */
static bool rxo_tx_backs_off(struct rxo_qp *qp, u64 now)
{
	rxo_stat_inc(qp->dev, RXO_CNT_TX_BUSY);
	if (qp->tx_backoff_ns >= RXO_TX_BACKOFF_MAX_NS)
		return false;
	qp->tx_backoff_ns = max_t(u32, RXO_TX_BACKOFF_MIN_NS,
				  2 * qp->tx_backoff_ns);
	qp->tx_resume = now + qp->tx_backoff_ns;
	return true;
}

/* Headers, ICRC, and out. False: try the same packet again later. */
static bool rxo_tx_xmit(struct rxo_qp *qp, struct rxo_tx *tx,
			struct dst_entry *dst, u64 now)
{
	struct sk_buff *skb = tx->skb;
	int err;

	rxo_tx_put_udp(qp, tx);
	if (qp->av.ipv6)
		rxo_tx_put_ipv6(qp, tx);
	else
		rxo_tx_put_ipv4(qp, tx);
	rxo_tx_put_icrc(qp, tx);
	skb_dst_set_noref(skb, dst);
	skb->dev = dst->dev;

	if (qp->av.ipv6)
		err = ip6_local_out(qp->dev->net, NULL, skb);
	else
		err = ip_local_out(qp->dev->net, NULL, skb);
	if ((err == NET_XMIT_DROP || err == -ENOBUFS) &&
	    rxo_tx_backs_off(qp, now))
		return false;
	/* Any other error is a packet lost on the way. */
	if (!err)
		qp->tx_backoff_ns = 0;
	rxo_stat_inc(qp->dev, RXO_CNT_TX_PACKETS);
	rxo_stat_add(qp->dev, RXO_CNT_TX_BYTES, tx->len);
	return true;
}

/* ---------------------------------------------------------------- responder */

static enum rxo_resp_tx_result rxo_tx_send_resp(struct rxo_qp *qp,
						const struct rxo_resp_tx *rtx,
						u64 now)
{
	struct dst_entry *dst = rxo_tx_dst(qp);
	struct rxo_tx tx;

	if (!dst) {
		rxo_stat_inc(qp->dev, RXO_CNT_TX_NO_ROUTE);
		return RXO_RESP_TX_SENT;	/* lost on the way */
	}
	if (!rxo_tx_begin(qp, &rtx->pkt, rtx->len, dst, &tx))
		return rxo_tx_backs_off(qp, now) ? RXO_RESP_TX_BUSY :
						   RXO_RESP_TX_SENT;
	if (rtx->is_read &&
	    !rxo_key_read(qp, rtx->rkey, RXO_ACCESS_REMOTE_READ, rtx->va,
			  tx.payload, rtx->len)) {
		kfree_skb(tx.skb);
		return RXO_RESP_TX_ACCESS;
	}
	return rxo_tx_xmit(qp, &tx, dst, now) ? RXO_RESP_TX_SENT :
						RXO_RESP_TX_BUSY;
}

static u32 rxo_tx_run_resp(struct rxo_qp *qp, u32 budget, u64 now)
{
	struct rxo_resp_next_act next;
	enum rxo_resp_tx_result res;
	struct rxo_resp_tx rtx;

	while (budget && !qp->tx_resume && rxo_resp_next(&qp->resp, &rtx)) {
		budget--;
		res = rxo_tx_send_resp(qp, &rtx, now);
		rxo_resp_tx_done(&qp->resp, &rtx, res, &next);
		rxo_rx_resp_next(qp, &next);
	}
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

static enum rxo_req_result rxo_tx_send_req(struct rxo_qp *qp,
					   const struct rxo_req_act *act,
					   u64 now)
{
	struct dst_entry *dst = rxo_tx_dst(qp);
	struct rxo_tx tx;

	if (!dst) {
		rxo_stat_inc(qp->dev, RXO_CNT_TX_NO_ROUTE);
		return RXO_SENT;	/* lost on the way: the time-out decides */
	}
	if (!rxo_tx_begin(qp, &act->pkt, act->len, dst, &tx))
		return rxo_tx_backs_off(qp, now) ? RXO_SENT_BUSY : RXO_SENT;
	if (!rxo_tx_gather(qp, act, tx.payload)) {
		kfree_skb(tx.skb);
		return RXO_SENT_LOC_PROT;
	}
	return rxo_tx_xmit(qp, &tx, dst, now) ? RXO_SENT : RXO_SENT_BUSY;
}

static u32 rxo_tx_run_req(struct rxo_qp *qp, u32 budget, u64 now)
{
	struct rxo_req_act act;

	rxo_wq_fetch_send(qp);
	while (budget && !qp->tx_resume &&
	       !rxo_qpfsm_is_flushing(qp->state)) {
		rxo_req_next(&qp->req, now, &act);
		if (act.kind != RXO_REQ_SEND)
			break;
		budget--;
		rxo_req_sent(&qp->req, &act, rxo_tx_send_req(qp, &act, now),
			     now);
	}
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
