/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tracepoints, in tracefs under events/rxe_ordered. "dev" is the index that
 * "rdma dev" shows, "qpn" the number of the local queue pair.
 *
 * rxo_rx        a packet that has passed all checks, when its owner takes it
 * rxo_tx        a packet that has been built, before it leaves
 * rxo_drop      a packet that was dropped, and why: the name of its counter
 * rxo_fault     a fault injection rule has hit a packet
 * rxo_completion  a completion is about to be added to its CQ
 * rxo_arm       the kernel has armed a CQ (a process arms without it)
 * rxo_fire      a completion has taken the arm: the handler is called
 * rxo_timer     the timer of a queue pair has run out
 * rxo_state     a queue pair has changed its state
 * rxo_hold      a receive completion waits for the sends before it, up to psn
 * rxo_release   ... and waits no longer
 * rxo_probe     the last packet of a request is sent again, for its ACK
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rxe_ordered

#if !defined(RXO_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RXO_TRACE_H

#include <linux/tracepoint.h>

#include "core/rxo_wire.h"
#include "dev.h"

DECLARE_EVENT_CLASS(rxo_packet,
	TP_PROTO(const struct rxo_dev *dev, u32 qpn, const struct rxo_pkt *pkt,
		 u32 len),
	TP_ARGS(dev, qpn, pkt, len),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, len)
		__field(u8, op)
		__field(u8, syndrome)
		__field(bool, ackreq)
	),
	TP_fast_assign(
		__entry->dev = dev->ib.index;
		__entry->qpn = qpn;
		__entry->psn = pkt->psn.v;
		__entry->len = len;
		__entry->op = pkt->opcode;
		__entry->syndrome =
			rxo_opcode_info(pkt->opcode)->hdrs & RXO_HDR_AETH ?
			pkt->syndrome : 0;
		__entry->ackreq = pkt->ackreq;
	),
	TP_printk("dev=%u qpn=%u op=0x%02x psn=%u len=%u syndrome=0x%02x ackreq=%u",
		  __entry->dev, __entry->qpn, __entry->op, __entry->psn,
		  __entry->len, __entry->syndrome, __entry->ackreq)
);

DEFINE_EVENT(rxo_packet, rxo_rx,
	TP_PROTO(const struct rxo_dev *dev, u32 qpn, const struct rxo_pkt *pkt,
		 u32 len),
	TP_ARGS(dev, qpn, pkt, len)
);

DEFINE_EVENT(rxo_packet, rxo_tx,
	TP_PROTO(const struct rxo_dev *dev, u32 qpn, const struct rxo_pkt *pkt,
		 u32 len),
	TP_ARGS(dev, qpn, pkt, len)
);

TRACE_EVENT(rxo_drop,
	TP_PROTO(const struct rxo_dev *dev, enum rxo_drop why),
	TP_ARGS(dev, why),
	TP_STRUCT__entry(
		__field(u32, dev)
		__array(char, why, 24)
	),
	TP_fast_assign(
		__entry->dev = dev->ib.index;
		strscpy(__entry->why, rxo_drop_name(why), sizeof(__entry->why));
	),
	TP_printk("dev=%u why=%s", __entry->dev, __entry->why)
);

TRACE_EVENT(rxo_fault,
	TP_PROTO(const struct rxo_dev *dev, u32 qpn, const struct rxo_pkt *pkt,
		 const char *dir, const char *action),
	TP_ARGS(dev, qpn, pkt, dir, action),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, op)
		__field(u8, syndrome)
		__array(char, dir, 4)
		__array(char, action, 12)
	),
	TP_fast_assign(
		__entry->dev = dev->ib.index;
		__entry->qpn = qpn;
		__entry->psn = pkt->psn.v;
		__entry->op = pkt->opcode;
		__entry->syndrome =
			rxo_opcode_info(pkt->opcode)->hdrs & RXO_HDR_AETH ?
			pkt->syndrome : 0;
		strscpy(__entry->dir, dir, sizeof(__entry->dir));
		strscpy(__entry->action, action, sizeof(__entry->action));
	),
	TP_printk("dev=%u qpn=%u op=0x%02x psn=%u syndrome=0x%02x dir=%s action=%s",
		  __entry->dev, __entry->qpn, __entry->op, __entry->psn,
		  __entry->syndrome, __entry->dir, __entry->action)
);

TRACE_EVENT(rxo_completion,
	TP_PROTO(const struct rxo_dev *dev, u32 qpn, u64 wr_id, u32 opcode,
		 u32 status),
	TP_ARGS(dev, qpn, wr_id, opcode, status),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qpn)
		__field(u64, wr_id)
		__field(u32, opcode)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->dev = dev->ib.index;
		__entry->qpn = qpn;
		__entry->wr_id = wr_id;
		__entry->opcode = opcode;
		__entry->status = status;
	),
	TP_printk("dev=%u qpn=%u wr_id=%llu opcode=%u status=%u", __entry->dev,
		  __entry->qpn, __entry->wr_id, __entry->opcode,
		  __entry->status)
);

TRACE_EVENT(rxo_arm,
	TP_PROTO(const void *cq, u32 arm),
	TP_ARGS(cq, arm),
	TP_STRUCT__entry(
		__field(const void *, cq)
		__field(u32, arm)
	),
	TP_fast_assign(
		__entry->cq = cq;
		__entry->arm = arm;
	),
	TP_printk("cq=%p arm=%u", __entry->cq, __entry->arm)
);

TRACE_EVENT(rxo_fire,
	TP_PROTO(const void *cq),
	TP_ARGS(cq),
	TP_STRUCT__entry(
		__field(const void *, cq)
	),
	TP_fast_assign(
		__entry->cq = cq;
	),
	TP_printk("cq=%p", __entry->cq)
);

TRACE_EVENT(rxo_timer,
	TP_PROTO(const struct rxo_dev *dev, u32 qpn),
	TP_ARGS(dev, qpn),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qpn)
	),
	TP_fast_assign(
		__entry->dev = dev->ib.index;
		__entry->qpn = qpn;
	),
	TP_printk("dev=%u qpn=%u", __entry->dev, __entry->qpn)
);

/* States are numbered as by IBTA: RESET 0, INIT 1, RTR 2, RTS 3, SQD 4, ERR 6. */
TRACE_EVENT(rxo_state,
	TP_PROTO(const struct rxo_dev *dev, u32 qpn, u32 from, u32 to),
	TP_ARGS(dev, qpn, from, to),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->dev = dev->ib.index;
		__entry->qpn = qpn;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("dev=%u qpn=%u from=%u to=%u", __entry->dev, __entry->qpn,
		  __entry->from, __entry->to)
);

DECLARE_EVENT_CLASS(rxo_ordered,
	TP_PROTO(const struct rxo_dev *dev, u32 qpn, u32 psn, u64 wr_id),
	TP_ARGS(dev, qpn, psn, wr_id),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u64, wr_id)
	),
	TP_fast_assign(
		__entry->dev = dev->ib.index;
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->wr_id = wr_id;
	),
	TP_printk("dev=%u qpn=%u psn=%u wr_id=%llu", __entry->dev,
		  __entry->qpn, __entry->psn, __entry->wr_id)
);

DEFINE_EVENT(rxo_ordered, rxo_hold,
	TP_PROTO(const struct rxo_dev *dev, u32 qpn, u32 psn, u64 wr_id),
	TP_ARGS(dev, qpn, psn, wr_id)
);

DEFINE_EVENT(rxo_ordered, rxo_release,
	TP_PROTO(const struct rxo_dev *dev, u32 qpn, u32 psn, u64 wr_id),
	TP_ARGS(dev, qpn, psn, wr_id)
);

DEFINE_EVENT(rxo_ordered, rxo_probe,
	TP_PROTO(const struct rxo_dev *dev, u32 qpn, u32 psn, u64 wr_id),
	TP_ARGS(dev, qpn, psn, wr_id)
);

#endif /* RXO_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
