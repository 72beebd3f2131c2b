/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Per-CPU event counters of a device, shown by "rdma statistic show link" and
 * sysfs hw_counters. Drop reasons of the core are counters too, one each.
 */
#ifndef RXO_STATS_H
#define RXO_STATS_H

#include <linux/percpu.h>
#include <rdma/ib_verbs.h>

#include "core/rxo_wire.h"

enum rxo_counter {
	RXO_CNT_RX_PACKETS,
	RXO_CNT_RX_BYTES,	/* UDP payload */
	RXO_CNT_TX_PACKETS,
	RXO_CNT_TX_BYTES,
	RXO_CNT_TX_BUSY,	/* tries refused by the stack */
	RXO_CNT_TX_NOMEM,	/* tries without memory for a packet or its route */
	RXO_CNT_TX_NO_ROUTE,	/* packets given up */
	RXO_CNT_TX_DROP,	/* packets dropped by the stack, or refused for long */
	RXO_CNT_RETRANSMIT,
	RXO_CNT_TIMEOUT,
	RXO_CNT_EARLY,
	RXO_CNT_RNR_RECEIVED,
	RXO_CNT_RNR_SENT,
	RXO_CNT_SEQ_NAK_RECEIVED,
	RXO_CNT_SEQ_NAK_SENT,
	RXO_CNT_IMPLIED_NAK,
	RXO_CNT_DUP_REQUEST,
	RXO_CNT_KEPT,		/* packets that arrived before their turn */
	RXO_CNT_CQ_OVERRUN,
	RXO_CNT_CNP_RECEIVED,
	RXO_CNT_FAULT_DROP,	/* injected, see fault.h */
	RXO_CNT_FAULT_DUP,
	RXO_CNT_FAULT_CORRUPT,
	RXO_CNT_FAULT_DELAY,
	RXO_CNT_FAULT_HOLD,
	RXO_CNT_FAULT_NO_ROOM,	/* lost while a fault was injected */
	RXO_CNT_ORDER_HOLD,	/* receives held back */
	RXO_CNT_ORDER_PROVEN,	/* of those, released by a NAK */
	RXO_CNT_ORDER_PROBE,	/* packets sent to draw out an ACK */
	RXO_CNT_DROP_FIRST,	/* + enum rxo_drop */
	RXO_CNT_COUNT = RXO_CNT_DROP_FIRST + RXO_DROP_COUNT,
};

struct rxo_stats {
	u64 c[RXO_CNT_COUNT];
};

/* Any context; racy against an interrupt on the same CPU only by design of
 * this_cpu_add(), which is safe.
 */
#define rxo_stat_add(dev, counter, n) \
	this_cpu_add((dev)->stats->c[counter], n)
#define rxo_stat_inc(dev, counter)	rxo_stat_add(dev, counter, 1)
#define rxo_stat_drop(dev, drop) \
	rxo_stat_inc(dev, RXO_CNT_DROP_FIRST + (drop))

/* Make the table of names. Once, before any device. */
void rxo_stats_init(void);

/* What ib_core shows; it frees it. NULL: no memory. */
struct rdma_hw_stats *rxo_stats_alloc(void);
/* Sum @stats up over all CPUs into @out. Return: the number of values. */
int rxo_stats_sum(const struct rxo_stats __percpu *stats,
		  struct rdma_hw_stats *out);

#endif /* RXO_STATS_H */
