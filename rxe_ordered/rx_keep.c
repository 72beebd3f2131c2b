// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that have arrived before their turn, kept until it comes. By the owner
 * of the QP.
 *
 * A packet is kept as a reference to its skb, which may be a train. How much
 * memory that holds is charged once for each skb, to the QP and to the device: a
 * peer that sends nothing but what is out of turn gets no further than that, and
 * beyond it packets are dropped as they would be if nothing were ever kept.
 */
#include <linux/netfilter.h>
#include <linux/slab.h>
#include <net/dst.h>

#include "qp_priv.h"
#include "rx.h"

struct rxo_kept {
	struct rxo_reorder order;
	struct {
		struct sk_buff *skb;
		u32 seg;	/* packet of the train */
	} slot[RXO_REORDER_WINDOW];
};

/* Room for @skb, on both accounts? */
static bool rxo_kept_charge(struct rxo_qp *qp, const struct sk_buff *skb)
{
	struct rxo_dev *dev = qp->dev;

	if (skb->truesize > RXO_QP_KEPT_BYTES - qp->kept_bytes)
		return false;
	if (atomic_add_return(skb->truesize, &dev->kept_bytes) >
	    RXO_DEV_KEPT_BYTES) {
		atomic_sub(skb->truesize, &dev->kept_bytes);
		return false;
	}
	qp->kept_bytes += skb->truesize;
	return true;
}

static void rxo_kept_uncharge(struct rxo_qp *qp, const struct sk_buff *skb)
{
	atomic_sub(skb->truesize, &qp->dev->kept_bytes);
	qp->kept_bytes -= skb->truesize;
}

/* Nothing of the network stack's may wait for us: not routes, flows or SAs. */
static void rxo_kept_detach(struct sk_buff *skb)
{
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
}

static struct rxo_kept *rxo_kept_table(struct rxo_kept **kept)
{
	if (!*kept)
		*kept = kzalloc(sizeof(**kept), GFP_ATOMIC | __GFP_NOWARN);
	return *kept;
}

enum rxo_drop rxo_kept_add(struct rxo_qp *qp, struct rxo_kept **where,
			   struct rxo_psn next, struct rxo_psn psn,
			   struct sk_buff *skb, u32 seg)
{
	struct rxo_kept *kept = rxo_kept_table(where);
	u32 slot;

	if (!kept)
		return RXO_DROP_NOMEM;
	switch (rxo_reorder_add(&kept->order, next, psn, &slot)) {
	case RXO_REORDER_DUP:
		return RXO_DROP_DUP;
	case RXO_REORDER_FAR:
		return RXO_DROP_SEQ;
	case RXO_REORDER_KEEP:
		break;
	}
	if (!RXO_RX_CB(skb)->kept) {
		rxo_kept_detach(skb);
		if (!rxo_kept_charge(qp, skb)) {
			rxo_reorder_remove(&kept->order, slot);
			return RXO_DROP_KEEP;
		}
	}
	RXO_RX_CB(skb)->kept++;
	kept->slot[slot].skb = skb_get(skb);
	kept->slot[slot].seg = seg;
	rxo_stat_inc(qp->dev, RXO_CNT_KEPT);
	return RXO_DROP_NONE;
}

bool rxo_kept_first(const struct rxo_kept *kept, struct rxo_psn *psn)
{
	return kept && rxo_reorder_first(&kept->order, psn);
}

static struct sk_buff *rxo_kept_remove(struct rxo_qp *qp, struct rxo_kept *kept,
				       u32 slot)
{
	struct sk_buff *skb = kept->slot[slot].skb;

	rxo_reorder_remove(&kept->order, slot);
	if (!--RXO_RX_CB(skb)->kept)
		rxo_kept_uncharge(qp, skb);
	return skb;
}

struct sk_buff *rxo_kept_take(struct rxo_qp *qp, struct rxo_kept *kept,
			      struct rxo_psn psn, u32 *seg)
{
	u32 slot = rxo_reorder_slot(psn);

	*seg = kept->slot[slot].seg;
	return rxo_kept_remove(qp, kept, slot);
}

void rxo_kept_purge(struct rxo_qp *qp, struct rxo_kept *kept)
{
	u32 slot;

	while (kept && rxo_reorder_any(&kept->order, &slot))
		kfree_skb(rxo_kept_remove(qp, kept, slot));
}

void rxo_kept_free(struct rxo_qp *qp)
{
	rxo_kept_purge(qp, qp->kept_req);
	rxo_kept_purge(qp, qp->kept_ans);
	kfree(qp->kept_req);
	kfree(qp->kept_ans);
	qp->kept_req = NULL;
	qp->kept_ans = NULL;
}
