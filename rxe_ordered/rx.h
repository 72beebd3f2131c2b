/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What rx.c and rx_keep.c know of a received skb. */
#ifndef RXO_RX_H
#define RXO_RX_H

#include <linux/skbuff.h>

/*
 * What is known of a queued skb: one packet, or a train of them that the stack
 * has not cut up. skb->data is at the first BTH.
 */
struct rxo_rx_cb {
	u32 len;		/* UDP payload of all: first BTH to last ICRC */
	u32 seg_len;		/* of every packet but the last */
	u32 nsegs;
	u32 kept;		/* packets of it that are kept, see rx_keep.c */
	bool ipv6;
	u64 bad;		/* bit i: packet i has a wrong ICRC */
	u64 arrived;		/* for rxo_order_nak(); 0 if it needs none */
};

#define RXO_RX_CB(skb) ((struct rxo_rx_cb *)(skb)->cb)

static_assert(sizeof(struct rxo_rx_cb) <= sizeof_field(struct sk_buff, cb));

#endif /* RXO_RX_H */
