/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A responder under test: receive, execute, transmit, one line each. */
#ifndef RESPONDER_H
#define RESPONDER_H

#include "core/rxo_key.h"
#include "core/rxo_resp.h"
#include "t.h"

#define VA	0x7000000000ull
#define KEY	0x99

static struct rxo_resp resp;
static struct rxo_resp_cfg cfg;
static struct rxo_resp_act act;
static struct rxo_resp_next_act next;
static struct rxo_resp_tx tx;

static inline void start(u32 first)
{
	rxo_resp_init(&resp);
	rxo_resp_start(&resp, &cfg, rxo_psn_make(first));
}

static inline void init(void)
{
	cfg = (struct rxo_resp_cfg){
		.mtu = 256, .dqpn = 0x333, .pkey = RXO_DEFAULT_PKEY,
		.max_dest_rd_atomic = 2, .min_rnr_timer = 12,
		.access = RXO_ACCESS_REMOTE_WRITE | RXO_ACCESS_REMOTE_READ,
	};
	start(10);
}

static inline struct rxo_pkt packet(u8 op, u32 psn, u32 len)
{
	return (struct rxo_pkt){
		.opcode = op, .psn = rxo_psn_make(psn), .payload_len = len,
		.va = VA, .rkey = KEY, .dma_len = len,
		.imm = cpu_to_be32(0x1d),
	};
}

static inline enum rxo_resp_kind rx_pkt(const struct rxo_pkt *pkt)
{
	rxo_resp_rx(&resp, pkt, &act);
	return act.kind;
}

static inline enum rxo_resp_kind rx(u8 op, u32 psn, u32 len)
{
	struct rxo_pkt pkt = packet(op, psn, len);

	return rx_pkt(&pkt);
}

/* A WRITE or READ whose RETH says @total. */
static inline enum rxo_resp_kind rx_len(u8 op, u32 psn, u32 len, u32 total)
{
	struct rxo_pkt pkt = packet(op, psn, len);

	pkt.dma_len = total;
	return rx_pkt(&pkt);
}

/* A READ of what belongs to @psn in a READ that began at @first. */
static inline enum rxo_resp_kind rx_read(u32 psn, u32 first, u32 total)
{
	struct rxo_pkt pkt = packet(RXO_OP_READ_REQUEST, psn, 0);
	u32 off = rxo_psn_make(psn - first).v * cfg.mtu;

	pkt.va = VA + off;
	pkt.dma_len = total - off;
	return rx_pkt(&pkt);
}

static inline void done(enum rxo_resp_result result)
{
	rxo_resp_done(&resp, &act, result, &next);
}

/* Received and executed. */
static inline void take(u8 op, u32 psn, u32 len)
{
	T_CHECK(rx(op, psn, len) > RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(!next.fatal);
}

static inline void take_ask(u8 op, u32 psn, u32 len)
{
	struct rxo_pkt pkt = packet(op, psn, len);

	pkt.ackreq = true;
	T_CHECK(rx_pkt(&pkt) > RXO_RESP_NONE);
	done(RXO_RES_OK);
}

static inline void take_read(u32 psn, u32 total)
{
	T_EQ(rx_read(psn, psn, total), RXO_RESP_READ);
	done(RXO_RES_OK);
}

static inline void send(void)
{
	T_CHECK(rxo_resp_next(&resp, &tx));
	T_EQ(tx.pkt.dqpn, 0x333);
	T_EQ(tx.pkt.hdr_len, rxo_opcode_info(tx.pkt.opcode)->hdr_len);
	rxo_resp_tx_done(&resp, &tx, RXO_RESP_TX_SENT, &next);
}

/* The next packet is an ACK or NAK. */
static inline void sends_ack(u32 psn, u8 syndrome, u32 msn)
{
	send();
	T_EQ(tx.pkt.opcode, RXO_OP_ACK);
	T_EQ(tx.pkt.psn.v, psn);
	T_EQ(tx.pkt.syndrome, syndrome);
	T_EQ(tx.pkt.msn, msn);
	T_CHECK(!tx.is_read && !tx.len && !tx.pkt.pad);
}

/* The next packet is a READ response. */
static inline void sends_data(u8 op, u32 psn, u32 off, u32 len)
{
	send();
	T_CHECK(tx.is_read);
	T_EQ(tx.pkt.opcode, op);
	T_EQ(tx.pkt.psn.v, psn);
	T_EQ(tx.va, VA + off);
	T_EQ(tx.rkey, KEY);
	T_EQ(tx.len, len);
	T_EQ(tx.pkt.payload_len, len);
	T_EQ((tx.pkt.pad + len) % 4, 0);
	T_EQ(tx.pkt.syndrome, 0x1f);
}

static inline void sends_nothing(void)
{
	T_CHECK(!rxo_resp_has_tx(&resp));
	T_CHECK(!rxo_resp_next(&resp, &tx));
}

#define ACK	0x1f
#define NAK_SEQ	0x60
#define NAK_INV	0x61
#define NAK_ACC	0x62
#define NAK_OP	0x63
#define RNR12	0x2c

/* Refused by rxo_resp_rx(): NAK at @psn, fatal, event, and nothing after. */
static inline void refused(u32 psn, u8 syndrome, enum rxo_resp_event event)
{
	T_EQ(act.kind, RXO_RESP_NONE);
	done(RXO_RES_OK);
	T_CHECK(next.fatal);
	T_EQ(next.event, event);
	T_EQ(rx(RXO_OP_SEND_ONLY, psn, 1), RXO_RESP_DROP);
	T_EQ(act.drop, RXO_DROP_STATE);
	T_CHECK(rxo_resp_has_tx(&resp));
	send();
	T_EQ(tx.pkt.opcode, RXO_OP_ACK);
	T_EQ(tx.pkt.psn.v, psn);
	T_EQ(tx.pkt.syndrome, syndrome);
	sends_nothing();
}

#endif /* RESPONDER_H */
