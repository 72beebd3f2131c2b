// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive: from an skb to the machines, and what they decide to memory.
 *
 * rxo_rx_skb() runs in the softirq of the packet: parse, ICRC, QP look-up. The
 * rest runs by the owner of the QP, nearly always right there.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>

#include "core/rxo_icrc.h"
#include "qp_priv.h"

/* BTH opcode of a congestion notification packet (annex A17). */
#define RXO_OP_CNP 0x81

/* What a queued skb needs to be looked at again; the header is intact. */
struct rxo_rx_cb {
	u32 len;		/* UDP payload: BTH to ICRC */
	bool ipv6;
};

#define RXO_RX_CB(skb) ((struct rxo_rx_cb *)(skb)->cb)

static void rxo_rx_drop(struct rxo_dev *dev, struct sk_buff *skb,
			enum rxo_drop why)
{
	if (dev)
		rxo_stat_drop(dev, why);
	kfree_skb(skb);
}

/* ------------------------------------------------------------------ softirq */

/* IP and UDP headers usable, whole packet linear, skb->data at the BTH. */
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
	if (skb_linearize(skb))
		return RXO_DROP_NOMEM;
	skb_set_transport_header(skb, 0);
	__skb_pull(skb, sizeof(*uh));
	cb->len = len - sizeof(*uh);
	return RXO_DROP_NONE;
}

static bool rxo_rx_icrc_ok(const struct sk_buff *skb)
{
	u32 len = RXO_RX_CB(skb)->len - RXO_ICRC_LEN;
	const u8 *ip = skb_network_header(skb);
	const u8 *udp = skb_transport_header(skb);
	__le32 icrc;
	u32 crc;

	if (RXO_RX_CB(skb)->ipv6)
		crc = rxo_icrc_begin_ipv6(ip, udp, skb->data);
	else
		crc = rxo_icrc_begin_ipv4(ip, udp, skb->data);
	crc = rxo_env_crc32(crc, skb->data + RXO_BTH_LEN, len - RXO_BTH_LEN);
	memcpy(&icrc, skb->data + len, sizeof(icrc));
	return icrc == rxo_icrc_end(crc);
}

static bool rxo_rx_is_cnp(const struct sk_buff *skb)
{
	return RXO_RX_CB(skb)->len >= RXO_BTH_LEN && skb->data[0] == RXO_OP_CNP;
}

static struct rxo_qp *rxo_rx_find_qp_rcu(struct net *net, u32 qpn)
{
	struct rxo_obj *obj = rxo_obj_lookup_rcu(&rxo_qps, qpn);
	struct rxo_qp *qp = obj ? container_of(obj, struct rxo_qp, obj) : NULL;

	/* A QP of another namespace does not exist for this packet. */
	return qp && net_eq(qp->dev->net, net) ? qp : NULL;
}

void rxo_rx_skb(struct net *net, struct sk_buff *skb)
{
	struct rxo_dev *dev = rxo_net_dev_rcu(net, skb->dev);
	struct rxo_qp *qp;
	struct rxo_pkt pkt;
	enum rxo_drop why;

	why = rxo_rx_frame(skb);
	if (why)
		goto drop;
	if (rxo_rx_is_cnp(skb)) {
		if (dev)
			rxo_stat_inc(dev, RXO_CNT_CNP_RECEIVED);
		consume_skb(skb);
		return;
	}
	why = rxo_wire_parse(skb->data, RXO_RX_CB(skb)->len,
			     RXO_RX_CB(skb)->len, &pkt);
	if (why)
		goto drop;
	why = RXO_DROP_NO_QP;
	qp = rxo_rx_find_qp_rcu(net, pkt.dqpn);
	if (!qp)
		goto drop;
	dev = qp->dev;
	why = RXO_DROP_ICRC;
	if (!rxo_rx_icrc_ok(skb))
		goto drop;
	why = RXO_DROP_BACKLOG;
	if (skb_queue_len_lockless(&qp->rxq) >= RXO_RX_BACKLOG)
		goto drop;
	rxo_stat_inc(dev, RXO_CNT_RX_PACKETS);
	rxo_stat_add(dev, RXO_CNT_RX_BYTES, RXO_RX_CB(skb)->len);
	skb_queue_tail(&qp->rxq, skb);
	rxo_run_kick(qp, RXO_RUN_RX);
	return;
drop:
	rxo_rx_drop(dev, skb, why);
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
					const struct rxo_resp_act *act,
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
			RXO_RES_OK : RXO_RES_ACCESS;
	default:
		return RXO_RES_OK;
	}
}

/* Follow-up of a responder commit. ERR is entered when the NAK has left. */
void rxo_rx_resp_next(struct rxo_qp *qp, const struct rxo_resp_next_act *next)
{
	if (next->complete)
		rxo_wq_complete_recv(qp, next);
	if (next->fatal)
		qp->err_event = next->event;
}

static void rxo_rx_request(struct rxo_qp *qp, const struct rxo_pkt *pkt,
			   const u8 *payload)
{
	struct rxo_resp_next_act next;
	enum rxo_resp_result res;
	struct rxo_resp_act act;

	if (!rxo_qpfsm_may_respond(qp->state)) {
		rxo_stat_drop(qp->dev, RXO_DROP_STATE);
		return;
	}
	if (qp->state == RXO_QPS_RTR && !qp->comm_est) {
		qp->comm_est = true;
		rxo_wq_raise(qp, IB_EVENT_COMM_EST);
	}
	rxo_resp_rx(&qp->resp, pkt, &act);
	if (act.kind == RXO_RESP_DROP) {
		rxo_stat_drop(qp->dev, act.drop);
		return;
	}
	res = rxo_rx_exec(qp, &act, payload);
	/* A broken ring has ended the QP meanwhile: nothing is owed. */
	if (!rxo_qpfsm_may_respond(qp->state))
		return;
	rxo_resp_done(&qp->resp, &act, res, &next);
	rxo_rx_resp_next(qp, &next);
}

/* ------------------------------------------------------------- peer's answers */

static void rxo_rx_answer(struct rxo_qp *qp, const struct rxo_pkt *pkt,
			  const u8 *payload, u64 now)
{
	const struct rxo_swqe *wqe;
	struct rxo_ack_act act;
	bool ok;

	if (!rxo_qpfsm_may_complete(qp->state)) {
		rxo_stat_drop(qp->dev, RXO_DROP_STATE);
		return;
	}
	rxo_ack_rx(&qp->req, pkt, now, &act);
	switch (act.kind) {
	case RXO_ACK_DROP:
		rxo_stat_drop(qp->dev, act.drop);
		return;
	case RXO_ACK_READ_DATA:
		wqe = &qp->swqe[act.slot];
		ok = rxo_sge_write(qp, rxo_wq_sge(qp, act.slot), wqe->num_sge,
				   act.offset, payload, act.len, act.last);
		rxo_ack_done(&qp->req, &act,
			     ok ? RXO_PLACED : RXO_PLACE_LOC_PROT, now);
		break;
	case RXO_ACK_TAKEN:
		break;
	}
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

static enum rxo_drop rxo_rx_one(struct rxo_qp *qp, struct sk_buff *skb,
				u64 now)
{
	struct rxo_pkt pkt;
	enum rxo_drop why;

	if (!rxo_qpfsm_may_respond(qp->state))
		return RXO_DROP_STATE;
	if (!rxo_rx_is_peer(qp, skb))
		return RXO_DROP_ADDR;
	why = rxo_wire_parse(skb->data, RXO_RX_CB(skb)->len,
			     RXO_RX_CB(skb)->len, &pkt);
	if (why)
		return why;
	/* Membership bit does not count. */
	if ((pkt.pkey ^ RXO_DEFAULT_PKEY) & 0x7fff)
		return RXO_DROP_PKEY;
	if (rxo_opcode_info(pkt.opcode)->is_response)
		rxo_rx_answer(qp, &pkt, skb->data + pkt.hdr_len, now);
	else
		rxo_rx_request(qp, &pkt, skb->data + pkt.hdr_len);
	return RXO_DROP_NONE;
}

u32 rxo_rx_drain(struct rxo_qp *qp, u32 budget, u64 now)
{
	struct sk_buff *skb;
	enum rxo_drop why;
	u32 n = 0;

	while (n < budget && (skb = skb_dequeue(&qp->rxq))) {
		n++;
		why = rxo_rx_one(qp, skb, now);
		if (why)
			rxo_rx_drop(qp->dev, skb, why);
		else
			consume_skb(skb);
	}
	return n;
}
