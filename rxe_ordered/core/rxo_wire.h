/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RoCE v2 transport headers: bytes to struct rxo_pkt and back.
 *
 * rxo_wire_parse() is the only place that reads header bytes, but for the number
 * of the QP whose owner is to parse the rest: rxo_wire_dqpn(). It yields a view
 * in which every field is in host order and every length has been checked, or a
 * reason to drop; nothing downstream touches raw header bytes.
 */
#ifndef RXO_WIRE_H
#define RXO_WIRE_H

#include "rxo_psn.h"
#include "rxo_opcode.h"

#define RXO_UDP_PORT		4791
#define RXO_BTH_LEN		12
#define RXO_ICRC_LEN		4
/* Longest header of the opcodes that parse: BTH + AtomicETH. */
#define RXO_MAX_HDR_LEN		48
#define RXO_DEFAULT_PKEY	0xffff
#define RXO_MIN_MTU		256
#define RXO_MAX_MTU		4096

/* AETH syndrome, IBTA 9.7.5.1.1: type in bits 5..6, value in bits 0..4. */
enum rxo_aeth_type {
	RXO_AETH_ACK = 0,
	RXO_AETH_RNR = 1,
	RXO_AETH_NAK = 3,
};

enum rxo_nak {
	RXO_NAK_PSN = 0,
	RXO_NAK_INV_REQ = 1,
	RXO_NAK_REM_ACCESS = 2,
	RXO_NAK_REM_OP = 3,
	RXO_NAK_INV_RD_REQ = 4,
};

/* Value of an ACK that limits nothing, for want of end-to-end credits. */
#define RXO_AETH_NO_CREDITS	0x1f

static inline u8 rxo_aeth_make(enum rxo_aeth_type type, u8 value)
{
	return (u8)((u8)type << 5 | (value & 0x1f));
}

static inline enum rxo_aeth_type rxo_aeth_type(u8 syndrome)
{
	return (enum rxo_aeth_type)(syndrome >> 5 & 3);
}

static inline u8 rxo_aeth_value(u8 syndrome)
{
	return syndrome & 0x1f;
}

/*
 * End-to-end credits, IBTA 9.7.7.2: the value of an ACK that says that @recvs receives
 * are posted, or of those as many as a value stands for.
 */
#define RXO_AETH_CREDITS_MAX	32768u

u8 rxo_aeth_credits_make(u32 recvs);
/* How many a value stands for; not RXO_AETH_NO_CREDITS. */
u32 rxo_aeth_credits(u8 value);

/* Why a packet was dropped. One counter each; names in rxo_drop_name(). */
enum rxo_drop {
	RXO_DROP_NONE = 0,
	RXO_DROP_SHORT,		/* shorter than its headers and ICRC */
	RXO_DROP_VERSION,	/* BTH transport version is not 0 */
	RXO_DROP_OPCODE,	/* opcode that this transport does not know */
	RXO_DROP_PAD,		/* pad count exceeds the payload */
	RXO_DROP_LENGTH,	/* payload length impossible for the opcode */
	RXO_DROP_PKEY,
	RXO_DROP_FRAME,		/* IP or UDP header unusable, or a fragment */
	RXO_DROP_ICRC,
	RXO_DROP_NO_QP,
	RXO_DROP_ADDR,		/* addresses do not match the QP's */
	RXO_DROP_QP_TYPE,	/* opcode is not of the QP's transport */
	RXO_DROP_STATE,		/* QP state does not take this packet */
	RXO_DROP_BACKLOG,	/* per-QP receive queue full */
	RXO_DROP_DUP,		/* duplicate that needs no answer */
	RXO_DROP_SEQ,		/* out of sequence, NAK already sent */
	RXO_DROP_STALE_ACK,	/* acknowledges what is already acknowledged */
	RXO_DROP_GHOST_ACK,	/* acknowledges what was never sent */
	RXO_DROP_RESPONSE,	/* read response that matches no request */
	RXO_DROP_NOMEM,
	RXO_DROP_KEEP,		/* arrived before its turn, no room to keep it */
	RXO_DROP_COUNT
};

const char *rxo_drop_name(enum rxo_drop drop);

/*
 * A packet without its payload bytes, host order. The fields of an extension
 * header are meaningful only if rxo_opcode_info(opcode)->hdrs has it.
 */
struct rxo_pkt {
	u8 opcode;
	u8 pad;			/* bytes of pad after the payload */
	u8 syndrome;		/* AETH */
	bool solicited;
	bool ackreq;
	bool migreq;
	u16 pkey;
	u32 dqpn;
	struct rxo_psn psn;
	u32 msn;		/* AETH */
	u64 va;			/* RETH, AtomicETH */
	u32 rkey;		/* RETH, AtomicETH, IETH */
	u32 dma_len;		/* RETH */
	u64 swap_add;		/* AtomicETH */
	u64 compare;		/* AtomicETH */
	u64 orig;		/* AtomicAckETH */
	__be32 imm;		/* ImmDt */
	u16 hdr_len;		/* BTH and extension headers */
	u32 payload_len;	/* without pad and ICRC */
};

/**
 * rxo_wire_parse - turn a UDP payload into a packet view
 * @buf: start of the BTH
 * @avail: bytes readable at @buf; at least min(@len, RXO_MAX_HDR_LEN)
 * @len: UDP payload length: headers, payload, pad and ICRC
 * @pkt: filled in on success, undefined otherwise
 *
 * Checks version, opcode, lengths and pad. Does not check ICRC, P_Key or QPN.
 */
enum rxo_drop rxo_wire_parse(const u8 *buf, u32 avail, u32 len,
			     struct rxo_pkt *pkt);

/* Destination QP of a packet; RXO_BTH_LEN bytes are readable at @buf. */
u32 rxo_wire_dqpn(const u8 *buf);

/**
 * rxo_wire_build - write BTH and extension headers
 * @pkt: opcode chooses the headers; hdr_len and payload_len are not read
 * @buf: room for RXO_MAX_HDR_LEN bytes
 *
 * Return: length written.
 */
u32 rxo_wire_build(const struct rxo_pkt *pkt, u8 *buf);

#endif /* RXO_WIRE_H */
