// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive: from an skb to the machines, and what they decide to memory.
 *
 * rxo_rx_skb() runs in the softirq of the packet: QP look-up and ICRC. The rest
 * runs by the owner of the QP, nearly always right there.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "fault.h"
#include "frame.h"
#include "qp_priv.h"
#include "rx.h"
#include "trace.h"

/* BTH opcode of a congestion notification packet (annex A17). */
#define RXO_OP_CNP 0x81

/* Longest segment that can be valid: headers, payload, pad and ICRC. */
#define RXO_RX_MAX_SEG	(RXO_MAX_HDR_LEN + RXO_MAX_MTU + 3 + RXO_ICRC_LEN)
/* Most segments of a train: what the stack puts together at most. */
#define RXO_RX_MAX_SEGS	64

/* For a packet that is not in one piece. Bottom halves off. */
static DEFINE_PER_CPU(u8 [RXO_RX_MAX_SEG], rxo_rx_bounce);

static void rxo_rx_drop(struct rxo_dev *dev, enum rxo_drop why)
{
	if (!dev)
		return;
	rxo_stat_drop(dev, why);
	trace_rxo_drop(dev, why);
}

/* ----------------------------------------------------------------- segments */

static u32 rxo_rx_seg_len(const struct sk_buff *skb, u32 i)
{
	const struct rxo_rx_cb *cb = RXO_RX_CB(skb);

	return min(cb->seg_len, cb->len - i * cb->seg_len);
}

/*
 * Bytes of packet @i in one piece, valid until the next call on this CPU. Our
 * own trains have each packet within one fragment, so nothing is copied.
 */
static const u8 *rxo_rx_seg(const struct sk_buff *skb, u32 i)
{
	u32 off = i * RXO_RX_CB(skb)->seg_len;
	u32 len = rxo_rx_seg_len(skb, i);
	u32 in_frags = off - skb_headlen(skb);
	u8 *bounce;
	int f;

	if (off + len <= skb_headlen(skb))
		return skb->data + off;
	if (off >= skb_headlen(skb) && !skb_has_frag_list(skb)) {
		for (f = 0; f < skb_shinfo(skb)->nr_frags; f++) {
			const skb_frag_t *frag = &skb_shinfo(skb)->frags[f];

			if (in_frags + len <= skb_frag_size(frag))
				return skb_frag_address(frag) + in_frags;
			if (in_frags < skb_frag_size(frag))
				break;
			in_frags -= skb_frag_size(frag);
		}
	}
	bounce = *this_cpu_ptr(&rxo_rx_bounce);
	return skb_copy_bits(skb, off, bounce, len) ? NULL : bounce;
}

/* The headers that packet @i will have, or had: what its ICRC covers. */
static void rxo_rx_seg_hdr(const struct sk_buff *skb, u32 i, bool same_id,
			   struct rxo_frame_hdr *hdr)
{
	u32 udp_len = sizeof(struct udphdr) + rxo_rx_seg_len(skb, i);

	if (RXO_RX_CB(skb)->ipv6) {
		hdr->ip6 = *ipv6_hdr(skb);
		hdr->ip6.payload_len = htons(udp_len);
	} else {
		hdr->ip4 = *ip_hdr(skb);
		hdr->ip4.tot_len = htons(sizeof(struct iphdr) + udp_len);
		if (!same_id)
			hdr->ip4.id = htons(ntohs(ip_hdr(skb)->id) + i);
	}
	hdr->udp = *udp_hdr(skb);
	hdr->udp.len = htons(udp_len);
}

static bool rxo_rx_crc_ok(const struct sk_buff *skb, const u8 *seg, u32 len,
			  const struct rxo_frame_hdr *hdr)
{
	__le32 icrc;

	memcpy(&icrc, seg + len - RXO_ICRC_LEN, sizeof(icrc));
	return icrc == rxo_frame_icrc(hdr, RXO_RX_CB(skb)->ipv6, seg,
				   len - RXO_ICRC_LEN);
}

/*
 * Segmentation counts the IP id up from packet to packet; a NIC that has put
 * packets together may have had a constant one.
 */
static bool rxo_rx_icrc_ok(const struct sk_buff *skb, u32 i, const u8 *seg)
{
	u32 len = rxo_rx_seg_len(skb, i);
	struct rxo_frame_hdr hdr;

	rxo_rx_seg_hdr(skb, i, false, &hdr);
	if (rxo_rx_crc_ok(skb, seg, len, &hdr))
		return true;
	if (!i || RXO_RX_CB(skb)->ipv6)
		return false;
	rxo_rx_seg_hdr(skb, i, true, &hdr);
	return rxo_rx_crc_ok(skb, seg, len, &hdr);
}

/* ------------------------------------------------------------------ softirq */

/* gso_size and gso_segs may come from a tap or packet socket: recount. */
static enum rxo_drop rxo_rx_count(struct sk_buff *skb)
{
	struct rxo_rx_cb *cb = RXO_RX_CB(skb);

	cb->seg_len = max(cb->len, 1U);
	cb->nsegs = 1;
	if (skb_is_gso(skb)) {
		cb->seg_len = skb_shinfo(skb)->gso_size;
		if (!cb->seg_len)
			return RXO_DROP_FRAME;
		cb->nsegs = DIV_ROUND_UP(cb->len, cb->seg_len);
		if (cb->nsegs > RXO_RX_MAX_SEGS)
			return RXO_DROP_FRAME;
	}
	return cb->seg_len > RXO_RX_MAX_SEG ? RXO_DROP_LENGTH : RXO_DROP_NONE;
}

/* IP and UDP headers usable; leaves skb->data at the BTH. */
static enum rxo_drop rxo_rx_frame(struct sk_buff *skb)
{
	struct rxo_rx_cb *cb = RXO_RX_CB(skb);
	const struct udphdr *uh;
	u32 len;

	if (!pskb_may_pull(skb, sizeof(*uh)))
		return RXO_DROP_SHORT;
	uh = (const struct udphdr *)skb->data;
	len = ntohs(uh->len);
	if (len < sizeof(*uh) || len > skb->len)
		return RXO_DROP_FRAME;
	/* The ICRC covers a header of fixed size, right before UDP. */
	if (ip_hdr(skb)->version == 4) {
		cb->ipv6 = false;
		if (ip_hdr(skb)->ihl != 5)
			return RXO_DROP_FRAME;
	} else {
		cb->ipv6 = true;
		if (skb->data - skb_network_header(skb) !=
		    sizeof(struct ipv6hdr))
			return RXO_DROP_FRAME;
	}
	skb_set_transport_header(skb, 0);
	__skb_pull(skb, sizeof(*uh));
	cb->len = len - sizeof(*uh);
	cb->kept = 0;
	return rxo_rx_count(skb);
}

static struct rxo_qp *rxo_rx_find_qp_rcu(struct net *net, u32 qpn)
{
	struct rxo_obj *obj = rxo_obj_lookup_rcu(&rxo_qps, qpn);
	struct rxo_qp *qp = obj ? container_of(obj, struct rxo_qp, obj) : NULL;

	/* A QP of another namespace does not exist for this packet. */
	return qp && net_eq(qp->dev->net, net) ? qp : NULL;
}

/* Which packets have a wrong ICRC? What is too short for one fails to parse. */
static u64 rxo_rx_find_bad(const struct sk_buff *skb)
{
	const u8 *seg;
	u64 bad = 0;
	u32 i;

	for (i = 0; i < RXO_RX_CB(skb)->nsegs; i++) {
		if (rxo_rx_seg_len(skb, i) < RXO_BTH_LEN + RXO_ICRC_LEN)
			continue;
		seg = rxo_rx_seg(skb, i);
		if (seg && !rxo_rx_icrc_ok(skb, i, seg))
			bad |= BIT_ULL(i);
	}
	return bad;
}

static void rxo_rx_cnp(struct net *net, struct sk_buff *skb)
{
	struct rxo_dev *dev = rxo_net_dev_rcu(net, skb->dev);

	if (dev)
		rxo_stat_inc(dev, RXO_CNT_CNP_RECEIVED);
	consume_skb(skb);
}

/*
 * Before anything is checked that a fault is to break. True: taken. What names no
 * QP has no device whose rules would apply.
 */
static bool rxo_rx_is_faulty(struct net *net, struct sk_buff *skb)
{
	const struct rxo_rx_cb *cb = RXO_RX_CB(skb);
	u32 len = rxo_rx_seg_len(skb, 0);
	const u8 *seg = rxo_rx_seg(skb, 0);
	struct rxo_pkt pkt;
	struct rxo_qp *qp;

	if (!seg || rxo_wire_parse(seg, len, len, &pkt))
		return false;
	qp = rxo_rx_find_qp_rcu(net, pkt.dqpn);
	return qp && rxo_fault_rx(qp->dev, skb, pkt.dqpn, cb->len, cb->seg_len);
}

/*
 * Headers are usable, skb->data is at the BTH; or @why not. The first packet names
 * the QP; they are all parsed by its owner.
 */
static void rxo_rx_take(struct net *net, struct sk_buff *skb, enum rxo_drop why)
{
	struct rxo_rx_cb *cb = RXO_RX_CB(skb);
	struct rxo_dev *dev = NULL;
	struct rxo_qp *qp;
	const u8 *seg;

	if (why)
		goto drop;
	why = RXO_DROP_SHORT;
	seg = rxo_rx_seg(skb, 0);
	if (!seg || rxo_rx_seg_len(skb, 0) < RXO_BTH_LEN)
		goto drop;
	if (seg[0] == RXO_OP_CNP) {
		rxo_rx_cnp(net, skb);
		return;
	}
	why = RXO_DROP_NO_QP;
	qp = rxo_rx_find_qp_rcu(net, rxo_wire_dqpn(seg));
	if (!qp)
		goto drop;
	dev = qp->dev;
	why = RXO_DROP_BACKLOG;
	if (skb_queue_len_lockless(&qp->rxq) >= RXO_RX_BACKLOG)
		goto drop;
	cb->arrived = qp->overtaking ? ktime_get_ns() : 0;
	cb->bad = rxo_rx_find_bad(skb);
	rxo_stat_add(dev, RXO_CNT_RX_PACKETS, cb->nsegs);
	rxo_stat_add(dev, RXO_CNT_RX_BYTES, cb->len);
	rxo_run_rx(qp, skb);
	return;
drop:
	rxo_rx_drop(dev ?: rxo_net_dev_rcu(net, skb->dev), why);
	kfree_skb(skb);
}

void rxo_rx_skb(struct net *net, struct sk_buff *skb)
{
	enum rxo_drop why = rxo_rx_frame(skb);

	if (!why && rxo_fault_is_on() && rxo_rx_is_faulty(net, skb))
		return;
	rxo_rx_take(net, skb, why);
}

void rxo_rx_passed(struct net *net, struct sk_buff *skb)
{
	rxo_rx_take(net, skb, rxo_rx_frame(skb));
}

/* ----------------------------------------------------------- peer's requests */

static enum rxo_resp_result rxo_rx_exec_recv(struct rxo_qp *qp,
					     const struct rxo_resp_act *act,
					     const u8 *payload)
{
	if ((u64)act->offset + act->len > qp->rwqe.length)
		return RXO_RES_LOC_LEN;
	if (!rxo_sge_write(qp, qp->rsge, qp->rwqe.num_sge, act->offset, payload,
			   act->len, act->last))
		return RXO_RES_LOC_PROT;
	return RXO_RES_OK;
}

static enum rxo_resp_result rxo_rx_exec(struct rxo_qp *qp,
					struct rxo_resp_act *act,
					const u8 *payload)
{
	u32 access = act->kind == RXO_RESP_READ ? RXO_ACCESS_REMOTE_READ :
						  RXO_ACCESS_REMOTE_WRITE;
	enum rxo_resp_result res;

	if (act->check && !rxo_key_may_access(qp, act->rkey, access, act->check_va,
					  act->check_len))
		return RXO_RES_ACCESS;
	if (act->need_recv) {
		res = rxo_wq_fetch_recv(qp);
		if (res != RXO_RES_OK)
			return res;
	}
	switch (act->kind) {
	case RXO_RESP_RECV:
		return rxo_rx_exec_recv(qp, act, payload);
	case RXO_RESP_WRITE:
		return rxo_key_write(qp, act->rkey, access, act->va, payload,
				     act->len, act->last) ?
			RXO_RES_OK : RXO_RES_PLACE_ACCESS;
	case RXO_RESP_ATOMIC:
		return rxo_key_atomic(qp, &act->pkt, &act->orig) ?
			RXO_RES_OK : RXO_RES_ACCESS;
	default:
		return RXO_RES_OK;
	}
}

/* Behind a gap: until it is filled, if there is room. */
static enum rxo_resp_result
rxo_rx_keep(struct rxo_qp *qp, struct rxo_kept **where, struct rxo_psn next,
	    struct rxo_psn psn, struct sk_buff *skb, u32 seg)
{
	enum rxo_drop why = rxo_kept_add(qp, where, next, psn, skb, seg);

	if (!why)
		return RXO_RES_OK;
	rxo_rx_drop(qp->dev, why);
	return why == RXO_DROP_DUP ? RXO_RES_KEPT : RXO_RES_BUSY;
}

/* Follow-up of a responder commit. ERR is entered when the NAK has left. */
void rxo_rx_resp_next(struct rxo_qp *qp, const struct rxo_resp_next_act *next)
{
	if (next->complete)
		rxo_wq_complete_recv(qp, next);
	if (next->fatal)
		qp->err_event = next->event;
}

/* @seg: the packet's place in @skb. */
static void rxo_rx_request(struct rxo_qp *qp, const struct rxo_pkt *pkt,
			   const u8 *payload, struct sk_buff *skb, u32 seg)
{
	struct rxo_resp_next_act next;
	enum rxo_resp_result res;
	struct rxo_resp_act act;

	if (!rxo_qpfsm_may_respond(qp->state)) {
		rxo_rx_drop(qp->dev, RXO_DROP_STATE);
		return;
	}
	if (qp->state == RXO_QPS_RTR && !qp->comm_est) {
		qp->comm_est = true;
		rxo_wq_raise(qp, IB_EVENT_COMM_EST);
	}
	rxo_resp_rx(&qp->resp, pkt, &act);
	if (act.kind == RXO_RESP_DROP) {
		rxo_rx_drop(qp->dev, act.drop);
		return;
	}
	if (act.kind == RXO_RESP_AHEAD) {
		res = rxo_rx_keep(qp, &qp->kept_req, qp->resp.epsn, pkt->psn,
				  skb, seg);
		rxo_resp_done(&qp->resp, &act, res, &next);
		return;
	}
	res = rxo_rx_exec(qp, &act, payload);
	/* A broken ring has ended the QP meanwhile: nothing is owed. */
	if (!rxo_qpfsm_may_respond(qp->state))
		return;
	rxo_resp_done(&qp->resp, &act, res, &next);
	rxo_rx_resp_next(qp, &next);
	/* The peer will send everything again. */
	if (res == RXO_RES_NO_RECV)
		rxo_kept_purge(qp, qp->kept_req);
}

/* ------------------------------------------------------------- peer's answers */

static void rxo_rx_answer(struct rxo_qp *qp, const struct rxo_pkt *pkt,
			  const u8 *payload, u64 arrived, u64 now,
			  struct sk_buff *skb, u32 seg)
{
	const struct rxo_swqe *wqe;
	struct rxo_ack_act act;
	bool ok;

	if (!rxo_qpfsm_may_complete(qp->state)) {
		rxo_rx_drop(qp->dev, RXO_DROP_STATE);
		return;
	}
	rxo_ack_rx(&qp->req, pkt, now, &act);
	if (act.unexecuted)
		rxo_order_nak(&qp->order, pkt->psn, arrived);
	switch (act.kind) {
	case RXO_ACK_DROP:
		rxo_rx_drop(qp->dev, act.drop);
		return;
	case RXO_ACK_RESULT:
		payload = (const u8 *)&act.orig;
		fallthrough;
	case RXO_ACK_READ_DATA:
		wqe = &qp->swqe[act.slot];
		ok = rxo_sge_write(qp, rxo_wq_sge(qp, act.slot), wqe->num_sge,
				   act.offset, payload, act.len, act.last);
		rxo_ack_done(&qp->req, &act,
			     ok ? RXO_PLACED : RXO_PLACE_LOC_PROT, now);
		break;
	case RXO_ACK_AHEAD:
		rxo_rx_keep(qp, &qp->kept_ans, qp->req.una, pkt->psn, skb,
			    seg);
		break;
	case RXO_ACK_TAKEN:
		break;
	}
	rxo_wq_complete_sends(qp);
}

/* ------------------------------------------------------- in turn after all */

/* A packet that was kept. It has passed all checks when it arrived. */
static void rxo_rx_feed(struct rxo_qp *qp, struct rxo_kept *kept,
			struct rxo_psn psn, u64 now)
{
	struct sk_buff *skb;
	struct rxo_pkt pkt;
	const u8 *bth;
	u32 seg, len;

	skb = rxo_kept_take(qp, kept, psn, &seg);
	bth = rxo_rx_seg(skb, seg);
	len = rxo_rx_seg_len(skb, seg);
	if (!bth || rxo_wire_parse(bth, len, len, &pkt) != RXO_DROP_NONE) {
		rxo_rx_drop(qp->dev, RXO_DROP_SHORT);
	} else if (rxo_opcode_info(pkt.opcode)->is_response) {
		rxo_rx_answer(qp, &pkt, bth + pkt.hdr_len,
			      RXO_RX_CB(skb)->arrived, now, skb, seg);
	} else {
		rxo_resp_unkeep(&qp->resp, &pkt);
		rxo_rx_request(qp, &pkt, bth + pkt.hdr_len, skb, seg);
	}
	consume_skb(skb);
}

static void rxo_rx_feed_requests(struct rxo_qp *qp, u64 now)
{
	struct rxo_psn psn;
	bool kept;

	while ((kept = rxo_kept_first(qp->kept_req, &psn)) &&
	       !rxo_psn_after(psn, qp->resp.epsn))
		rxo_rx_feed(qp, qp->kept_req, psn, now);
	rxo_resp_gap(&qp->resp, kept);
}

static void rxo_rx_feed_answers(struct rxo_qp *qp, u64 now)
{
	struct rxo_psn psn;
	bool any;

	do {
		any = rxo_kept_first(qp->kept_ans, &psn);
		if (!rxo_ack_kept_due(&qp->req, any ? &psn : NULL, now))
			break;
		rxo_rx_feed(qp, qp->kept_ans, psn, now);
	} while (rxo_qpfsm_may_complete(qp->state));
	rxo_wq_complete_sends(qp);
}

/* -------------------------------------------------------------------- owner */

/* Are the addresses those of the connection? */
static bool rxo_rx_is_peer(const struct rxo_qp *qp, const struct sk_buff *skb)
{
	const struct rxo_av *av = &qp->av;

	if (av->ipv6 != RXO_RX_CB(skb)->ipv6)
		return false;
	if (av->ipv6)
		return ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &av->daddr6) &&
		       ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &av->saddr6);
	return ip_hdr(skb)->saddr == av->daddr &&
	       ip_hdr(skb)->daddr == av->saddr;
}

static enum rxo_drop rxo_rx_one(struct rxo_qp *qp, struct sk_buff *skb, u32 i,
				u64 now)
{
	u32 len = rxo_rx_seg_len(skb, i);
	const u8 *seg = rxo_rx_seg(skb, i);
	struct rxo_pkt pkt;
	enum rxo_drop why;

	if (RXO_RX_CB(skb)->bad & BIT_ULL(i))
		return RXO_DROP_ICRC;
	if (!seg)
		return RXO_DROP_SHORT;
	why = rxo_wire_parse(seg, len, len, &pkt);
	if (why)
		return why;
	/* A train may have been forged of packets for several. */
	if (pkt.dqpn != qp->obj.id)
		return RXO_DROP_NO_QP;
	/* Membership bit does not count. */
	if ((pkt.pkey ^ RXO_DEFAULT_PKEY) & 0x7fff)
		return RXO_DROP_PKEY;
	trace_rxo_rx(qp->dev, qp->obj.id, &pkt, pkt.payload_len);
	if (rxo_opcode_info(pkt.opcode)->is_response) {
		rxo_rx_answer(qp, &pkt, seg + pkt.hdr_len,
			      RXO_RX_CB(skb)->arrived, now, skb, i);
		if (unlikely(rxo_ack_has_gap(&qp->req)))
			rxo_rx_feed_answers(qp, now);
	} else {
		rxo_rx_request(qp, &pkt, seg + pkt.hdr_len, skb, i);
		if (unlikely(qp->kept_req || rxo_resp_has_dropped(&qp->resp)))
			rxo_rx_feed_requests(qp, now);
	}
	return RXO_DROP_NONE;
}

static void rxo_rx_train(struct rxo_qp *qp, struct sk_buff *skb, u64 now)
{
	enum rxo_drop why;
	u32 i;

	for (i = 0; i < RXO_RX_CB(skb)->nsegs; i++) {
		if (!rxo_qpfsm_may_respond(qp->state))
			why = RXO_DROP_STATE;
		else if (!rxo_rx_is_peer(qp, skb))
			why = RXO_DROP_ADDR;
		else
			why = rxo_rx_one(qp, skb, i, now);
		if (why)
			rxo_rx_drop(qp->dev, why);
	}
}

static struct sk_buff *rxo_rx_pop(struct rxo_qp *qp)
{
	struct sk_buff *skb = qp->rx_first;

	if (skb)
		qp->rx_first = NULL;
	else if (!skb_queue_empty_lockless(&qp->rxq))
		skb = skb_dequeue(&qp->rxq);
	return skb;
}

u32 rxo_rx_drain(struct rxo_qp *qp, u32 budget, u64 now)
{
	struct sk_buff *skb;
	u32 n = 0;

	while (n < budget && (skb = rxo_rx_pop(qp))) {
		n += RXO_RX_CB(skb)->nsegs;
		rxo_rx_train(qp, skb, now);
		consume_skb(skb);
	}
	return n;
}
