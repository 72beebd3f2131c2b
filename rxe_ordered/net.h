/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The network side of a device: UDP port 4791 of its namespace, routes, and the
 * events of its netdev. Hands received packets up through one function pointer
 * set at init, because this floor does not know the one that parses them.
 */
#ifndef RXO_NET_H
#define RXO_NET_H

#include <linux/skbuff.h>
#include <net/dst.h>
#include <rdma/ib_verbs.h>

#include "dev.h"

/* Address vector of a connected QP, resolved when it moves to RTR. */
struct rxo_av {
	bool ipv6;
	u8 tos;			/* traffic class */
	u8 hop_limit;
	__be16 sport;		/* UDP source port, from the flow */
	u32 flow_label;
	int oif;		/* netdev the source GID belongs to */
	union {
		struct {
			__be32 saddr;
			__be32 daddr;
		};
		struct {
			struct in6_addr saddr6;
			struct in6_addr daddr6;
		};
	};
};

/*
 * @rx gets every packet for port 4791: skb->data at the UDP header, network
 * header set. It owns the skb. Softirq context, RCU read-side section.
 */
typedef void (*rxo_net_rx_t)(struct net *net, struct sk_buff *skb);

int rxo_net_init(rxo_net_rx_t rx);
void rxo_net_exit(void);

/*
 * @dev uses the port of dev->net, which open sets, from now on / no longer. Its
 * stats must exist in between; close waits for packets in hand, and must come
 * after all QPs of the device are gone. Process context, no RTNL. -EADDRINUSE:
 * the port is taken. -ENODEV: the netdev has gone.
 */
int rxo_net_open(struct rxo_dev *dev);
void rxo_net_close(struct rxo_dev *dev);

/* The device to count a packet for that belongs to no QP: the one on @ndev, or
 * any of the namespace. RCU read-side section. NULL if there is none.
 */
struct rxo_dev *rxo_net_dev_rcu(struct net *net, const struct net_device *ndev);

/* Fill @av from address attributes. Process context. */
int rxo_av_init(struct rxo_av *av, const struct rdma_ah_attr *attr, u32 sqpn,
		u32 dqpn);
/* Route for @av, with a reference, or ERR_PTR. Bottom halves may be off. */
struct dst_entry *rxo_net_route(struct rxo_dev *dev, const struct rxo_av *av,
				u32 *cookie);

enum ib_mtu rxo_net_mtu(const struct net_device *ndev);
enum ib_port_state rxo_net_port_state(const struct net_device *ndev);

#endif /* RXO_NET_H */
