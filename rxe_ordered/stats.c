// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names of the counters, and summing them up. */
#include "stats.h"

/* "No reason to drop" is not shown: entry i beyond it is counter i + 1. */
#define RXO_STAT_COUNT		(RXO_CNT_COUNT - 1)

static const char *const rxo_stat_names[RXO_CNT_DROP_FIRST] = {
	[RXO_CNT_RX_PACKETS] = "rx_packets",
	[RXO_CNT_RX_BYTES] = "rx_bytes",
	[RXO_CNT_TX_PACKETS] = "tx_packets",
	[RXO_CNT_TX_BYTES] = "tx_bytes",
	[RXO_CNT_TX_BUSY] = "tx_busy",
	[RXO_CNT_TX_NOMEM] = "tx_no_memory",
	[RXO_CNT_TX_NO_ROUTE] = "tx_no_route",
	[RXO_CNT_TX_DROP] = "tx_drops",
	[RXO_CNT_RETRANSMIT] = "retransmits",
	[RXO_CNT_TIMEOUT] = "timeouts",
	[RXO_CNT_EARLY] = "early_retransmits",
	[RXO_CNT_RNR_RECEIVED] = "rnr_naks_received",
	[RXO_CNT_RNR_SENT] = "rnr_naks_sent",
	[RXO_CNT_SEQ_NAK_RECEIVED] = "sequence_naks_received",
	[RXO_CNT_SEQ_NAK_SENT] = "sequence_naks_sent",
	[RXO_CNT_IMPLIED_NAK] = "implied_naks",
	[RXO_CNT_DUP_REQUEST] = "duplicate_requests",
	[RXO_CNT_KEPT] = "packets_kept",
	[RXO_CNT_CQ_OVERRUN] = "cq_overruns",
	[RXO_CNT_CNP_RECEIVED] = "cnps_received",
	[RXO_CNT_FAULT_DROP] = "fault_drops",
	[RXO_CNT_FAULT_DUP] = "fault_duplicates",
	[RXO_CNT_FAULT_CORRUPT] = "fault_corruptions",
	[RXO_CNT_FAULT_DELAY] = "fault_delays",
	[RXO_CNT_FAULT_HOLD] = "fault_holds",
	[RXO_CNT_FAULT_NO_ROOM] = "fault_no_room",
	[RXO_CNT_ORDER_HOLD] = "ordered_holds",
	[RXO_CNT_ORDER_PROVEN] = "ordered_nak_releases",
	[RXO_CNT_ORDER_PROBE] = "ordered_probes",
};

static char rxo_stat_drop_names[RXO_DROP_COUNT][32];
static struct rdma_stat_desc rxo_stat_descs[RXO_STAT_COUNT];

static_assert(RXO_DROP_NONE == 0);

static unsigned int rxo_stat_counter(unsigned int i)
{
	return i < RXO_CNT_DROP_FIRST ? i : i + 1;
}

void __init rxo_stats_init(void)
{
	unsigned int i, drop;

	for (i = 0; i < RXO_CNT_DROP_FIRST; i++)
		rxo_stat_descs[i].name = rxo_stat_names[i];
	for (; i < RXO_STAT_COUNT; i++) {
		drop = rxo_stat_counter(i) - RXO_CNT_DROP_FIRST;
		snprintf(rxo_stat_drop_names[drop],
			 sizeof(rxo_stat_drop_names[drop]), "drop_%s",
			 rxo_drop_name(drop));
		rxo_stat_descs[i].name = rxo_stat_drop_names[drop];
	}
}

struct rdma_hw_stats *rxo_stats_alloc(void)
{
	return rdma_alloc_hw_stats_struct(rxo_stat_descs, RXO_STAT_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int rxo_stats_sum(const struct rxo_stats __percpu *stats,
		  struct rdma_hw_stats *out)
{
	const struct rxo_stats *s;
	unsigned int cpu, i;

	for (i = 0; i < RXO_STAT_COUNT; i++)
		out->value[i] = 0;
	for_each_possible_cpu(cpu) {
		s = per_cpu_ptr(stats, cpu);
		for (i = 0; i < RXO_STAT_COUNT; i++)
			out->value[i] += READ_ONCE(s->c[rxo_stat_counter(i)]);
	}
	return RXO_STAT_COUNT;
}
