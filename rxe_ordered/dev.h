/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The device object and what hangs on it directly. */
#ifndef RXO_DEV_H
#define RXO_DEV_H

#include <linux/idr.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

#include "obj.h"
#include "stats.h"

#define RXO_VERSION		"0.1.0"
#define RXO_FW_VER		(0ULL << 32 | 1 << 16 | 0)	/* the same */

#define RXO_MAX_QP		0x10000
#define RXO_MAX_QP_WR		16384
#define RXO_MAX_CQ		0x10000
#define RXO_MAX_CQE		(1 << 20)
#define RXO_MAX_MR		0x40000
#define RXO_MAX_MR_SIZE		(1ULL << 40)
#define RXO_MAX_PD		0x10000
#define RXO_MAX_RD_PER_QP	64	/* == RXO_MAX_RD_ATOMIC */

/*
 * For memory whose size a process chooses. It pays for it; and what is not there,
 * or beyond the limit of its memory cgroup, is ENOMEM: no reason to kill anybody,
 * nor to complain in the kernel log.
 */
#define RXO_GFP_USER (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

struct rxo_fault;

struct rxo_dev {
	struct ib_device ib;		/* first: core allocates and frees us */
	struct net_device *ndev;	/* counted, whole life of the device */
	struct net *net;		/* namespace of ndev; outlives the device
					 * because rxo_net_close() comes last
					 */
	struct rxo_table mrs;		/* key >> 8 to struct rxo_mr */
	struct ida pd_ids;
	enum ib_port_state port_state;	/* as last told; NOP: not yet. RTNL */
	struct rxo_stats __percpu *stats;
	struct rxo_fault *fault;	/* set once */
	struct list_head net_list;	/* rxo_net_open() .. rxo_net_close() */
	bool trains;		/* send packets of one length as one GSO skb */
	atomic_t tx_active;	/* QPs that have requests outstanding */
	atomic_t kept_bytes;	/* of packets kept until it is their turn */
};

static inline struct rxo_dev *rxo_dev_of(struct ib_device *ib)
{
	return container_of(ib, struct rxo_dev, ib);
}

struct rxo_pd {
	struct ib_pd ib;
	u32 id;
};

static inline struct rxo_pd *rxo_pd_of(struct ib_pd *ib)
{
	return container_of(ib, struct rxo_pd, ib);
}

struct rxo_ucontext {
	struct ib_ucontext ib;
};

extern bool rxo_trains;			/* default of new devices */
extern bool rxo_ordered_default;	/* QPs of kernel consumers */
extern unsigned int rxo_overtaking_us;	/* for ordered QPs created from now on */
extern struct workqueue_struct *rxo_wq;	/* QP owners past their budget */

#endif /* RXO_DEV_H */
