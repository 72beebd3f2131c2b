// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UDP port 4791 of each namespace, routes, and what a netdev says of its link.
 *
 * Locks: rxo_net.lock (a mutex, process context) guards users, sockets and the
 * device list's writers; packets read the list under RCU.
 */
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/rtnetlink.h>
#include <linux/wait_bit.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/inet_dscp.h>
#include <net/ip6_route.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/route.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "core/rxo_wire.h"
#include "net.h"

struct rxo_net {
	struct mutex lock;
	struct socket *sk4;
	struct socket *sk6;	/* NULL where IPv6 is off */
	struct list_head devs;	/* rxo_dev.net_list, RCU */
	unsigned int users;	/* length of devs: the port is open while > 0 */
	atomic_t refs;		/* of devices, from open to the end of close */
};

static unsigned int rxo_net_id;
static rxo_net_rx_t rxo_net_rx;

static int rxo_net_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	rxo_net_rx(sock_net(sk), skb);
	return 0;
}

/*
 * The stack cuts up a GSO skb before it reaches an encapsulation socket, unless
 * it is marked as a tunnel's. So mark ours, as the last thing before delivery:
 * after this a train goes through conntrack, policies and socket whole, and
 * rxo_net_rx() takes it as the packets it stands for. A clone shares the mark
 * with a copy that goes elsewhere: leave it alone, it arrives cut up.
 */
static unsigned int rxo_net_mark_train(void *priv, struct sk_buff *skb,
				       const struct nf_hook_state *state)
{
	const struct udphdr *uh;
	struct udphdr buf;

	if (!skb_is_gso(skb) || skb_cloned(skb) ||
	    !(skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4) ||
	    skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST)
		return NF_ACCEPT;
	uh = skb_header_pointer(skb, skb_transport_offset(skb), sizeof(buf),
				&buf);
	if (uh && uh->dest == htons(RXO_UDP_PORT))
		skb_shinfo(skb)->gso_type |= SKB_GSO_UDP_TUNNEL;
	return NF_ACCEPT;
}

static const struct nf_hook_ops rxo_net_hooks[] = {
	{
		.hook = rxo_net_mark_train,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	}, {
		.hook = rxo_net_mark_train,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP6_PRI_LAST,
	},
};

static int rxo_net_listen(struct net *net, int family, struct socket **out)
{
	/*
	 * No use_udp6_rx_checksums: a peer may leave the UDP checksum out over
	 * IPv6 too (rdma_rxe does), there is an ICRC. One that is there counts.
	 */
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(RXO_UDP_PORT),
		.ipv6_v6only = family == AF_INET6,
	};
	struct udp_tunnel_sock_cfg cfg = {
		.encap_type = 1,
		.encap_rcv = rxo_net_encap_rcv,
	};
	struct socket *sock = NULL;
	int err;

	err = udp_sock_create(net, &port, &sock);
	if (err)
		return err;
	if (!sock)		/* a kernel without IPv6 says 0 */
		return -EAFNOSUPPORT;
	setup_udp_tunnel_sock(net, sock, &cfg);
	udp_allow_gso(sock->sk);
	*out = sock;
	return 0;
}

static void rxo_net_unlisten(struct net *net, struct rxo_net *rn)
{
	nf_unregister_net_hooks(net, rxo_net_hooks, ARRAY_SIZE(rxo_net_hooks));
	udp_tunnel_sock_release(rn->sk4);
	rn->sk4 = NULL;
	if (rn->sk6)
		udp_tunnel_sock_release(rn->sk6);
	rn->sk6 = NULL;
}

static int rxo_net_listen_all(struct net *net, struct rxo_net *rn)
{
	int err;

	err = rxo_net_listen(net, AF_INET, &rn->sk4);
	if (err)
		return err;
	err = rxo_net_listen(net, AF_INET6, &rn->sk6);
	/* IPv6 may be off. */
	if (err && err != -EAFNOSUPPORT && err != -EPFNOSUPPORT)
		goto err_sk4;
	err = nf_register_net_hooks(net, rxo_net_hooks,
				    ARRAY_SIZE(rxo_net_hooks));
	if (err)
		goto err_sk6;
	return 0;

err_sk6:
	if (rn->sk6)
		udp_tunnel_sock_release(rn->sk6);
	rn->sk6 = NULL;
err_sk4:
	udp_tunnel_sock_release(rn->sk4);
	rn->sk4 = NULL;
	return err;
}

/*
 * Sets dev->net, with a reference that its exit waits for. A netdev leaves a
 * namespace that ends before that exit, and under RTNL.
 */
static struct rxo_net *rxo_net_get(struct rxo_dev *dev)
{
	struct rxo_net *rn = NULL;

	rtnl_lock();
	if (dev->ndev->reg_state == NETREG_REGISTERED) {
		dev->net = dev_net(dev->ndev);
		rn = net_generic(dev->net, rxo_net_id);
		atomic_inc(&rn->refs);
	}
	rtnl_unlock();
	return rn;
}

/* The namespace may be gone after this, and @rn with it: waking takes its address. */
static void rxo_net_put(struct rxo_net *rn)
{
	if (atomic_dec_and_test(&rn->refs))
		wake_up_var(&rn->refs);
}

int rxo_net_open(struct rxo_dev *dev)
{
	struct rxo_net *rn = rxo_net_get(dev);
	int err = 0;

	if (!rn)
		return -ENODEV;
	mutex_lock(&rn->lock);
	if (!rn->users)
		err = rxo_net_listen_all(dev->net, rn);
	if (!err) {
		rn->users++;
		list_add_tail_rcu(&dev->net_list, &rn->devs);
	}
	mutex_unlock(&rn->lock);
	if (err)
		rxo_net_put(rn);
	return err;
}

void rxo_net_close(struct rxo_dev *dev)
{
	struct rxo_net *rn = net_generic(dev->net, rxo_net_id);

	mutex_lock(&rn->lock);
	list_del_rcu(&dev->net_list);
	if (!--rn->users)
		rxo_net_unlisten(dev->net, rn);
	mutex_unlock(&rn->lock);
	synchronize_net();
	rxo_net_put(rn);
}

struct rxo_dev *rxo_net_dev_rcu(struct net *net, const struct net_device *ndev)
{
	struct rxo_net *rn = net_generic(net, rxo_net_id);
	struct rxo_dev *dev;

	list_for_each_entry_rcu(dev, &rn->devs, net_list)
		if (dev->ndev == ndev)
			return dev;
	return list_first_or_null_rcu(&rn->devs, struct rxo_dev, net_list);
}

static int __net_init rxo_net_ns_init(struct net *net)
{
	struct rxo_net *rn = net_generic(net, rxo_net_id);

	mutex_init(&rn->lock);
	INIT_LIST_HEAD(&rn->devs);
	return 0;
}

/*
 * A netdev that moves to the initial namespace when its own dies takes its
 * device down by a work item; that one still uses this namespace.
 */
static void __net_exit rxo_net_ns_exit(struct net *net)
{
	struct rxo_net *rn = net_generic(net, rxo_net_id);

	wait_var_event(&rn->refs, !atomic_read(&rn->refs));
}

static struct pernet_operations rxo_net_ops = {
	.init = rxo_net_ns_init,
	.exit = rxo_net_ns_exit,
	.id = &rxo_net_id,
	.size = sizeof(struct rxo_net),
};

int rxo_net_init(rxo_net_rx_t rx)
{
	rxo_net_rx = rx;
	return register_pernet_subsys(&rxo_net_ops);
}

void rxo_net_exit(void)
{
	unregister_pernet_subsys(&rxo_net_ops);
}

/* ------------------------------------------------------------------ routes */

/*
 * A netdev on top of ours may have been moved to another namespace. Its addresses
 * are in our table nevertheless, but they and its index mean nothing in ours.
 */
static int rxo_av_set_oif(struct rxo_av *av, const struct ib_gid_attr *sgid)
{
	const struct net *net = rxo_dev_of(sgid->device)->net;
	struct net_device *ndev;
	int err = 0;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	if (IS_ERR(ndev))
		err = PTR_ERR(ndev);
	else if (!net_eq(dev_net(ndev), net))
		err = -ENETUNREACH;
	else
		av->oif = ndev->ifindex;
	rcu_read_unlock();
	return err;
}

int rxo_av_init(struct rxo_av *av, const struct rdma_ah_attr *attr, u32 sqpn,
		u32 dqpn)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct ib_gid_attr *sgid = grh->sgid_attr;
	enum rdma_network_type type;

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !sgid)
		return -EINVAL;
	if (sgid->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EINVAL;
	type = rdma_gid_attr_network_type(sgid);

	memset(av, 0, sizeof(*av));
	av->ipv6 = type == RDMA_NETWORK_IPV6;
	av->tos = grh->traffic_class;
	av->hop_limit = grh->hop_limit ?: 1;
	av->flow_label = grh->flow_label & 0xfffff;
	av->sport = htons(rdma_get_udp_sport(av->flow_label, sqpn, dqpn));
	if (av->ipv6) {
		memcpy(&av->saddr6, sgid->gid.raw, sizeof(av->saddr6));
		memcpy(&av->daddr6, grh->dgid.raw, sizeof(av->daddr6));
	} else {
		if (!ipv6_addr_v4mapped((struct in6_addr *)grh->dgid.raw))
			return -EINVAL;
		memcpy(&av->saddr, sgid->gid.raw + 12, sizeof(av->saddr));
		memcpy(&av->daddr, grh->dgid.raw + 12, sizeof(av->daddr));
	}

	return rxo_av_set_oif(av, sgid);
}

/*
 * The netdev of the source GID is the way out, except to an address of this
 * host: that goes through loopback, which a bound lookup would not find.
 */
static struct dst_entry *rxo_net_route4(struct net *net,
					const struct rxo_av *av)
{
	struct flowi4 fl4 = {
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_tos = av->tos & INET_DSCP_MASK,
		.saddr = av->saddr,
		.daddr = av->daddr,
		.fl4_sport = av->sport,
		.fl4_dport = htons(RXO_UDP_PORT),
	};
	struct rtable *rt;

	if (inet_addr_type(net, av->daddr) != RTN_LOCAL)
		fl4.flowi4_oif = av->oif;
	rt = ip_route_output_key(net, &fl4);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

static struct dst_entry *rxo_net_route6(struct net *net,
					const struct rxo_av *av)
{
	struct flowi6 fl6 = {
		.flowi6_proto = IPPROTO_UDP,
		.flowlabel = ip6_make_flowinfo(av->tos,
					       htonl(av->flow_label)),
		.saddr = av->saddr6,
		.daddr = av->daddr6,
		.fl6_sport = av->sport,
		.fl6_dport = htons(RXO_UDP_PORT),
	};

	/* A link-local address is local only on the link it belongs to. */
	if (ipv6_addr_type(&av->daddr6) & IPV6_ADDR_LINKLOCAL ||
	    !ipv6_chk_addr(net, &av->daddr6, NULL, 0))
		fl6.flowi6_oif = av->oif;
	return ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
}

struct dst_entry *rxo_net_route(struct rxo_dev *dev, const struct rxo_av *av,
				u32 *cookie)
{
	struct dst_entry *dst;

	*cookie = 0;
	if (!av->ipv6)
		return rxo_net_route4(dev->net, av);
	dst = rxo_net_route6(dev->net, av);
	if (!IS_ERR(dst))
		*cookie = rt6_get_cookie((struct rt6_info *)dst);
	return dst;
}

/* ------------------------------------------------------------------- netdev */

enum ib_mtu rxo_net_mtu(const struct net_device *ndev)
{
	/* Largest IB MTU that fits with all headers, or 0 below 256. */
	return iboe_get_mtu(READ_ONCE(ndev->mtu));
}

enum ib_port_state rxo_net_port_state(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) ?
		IB_PORT_ACTIVE : IB_PORT_DOWN;
}
