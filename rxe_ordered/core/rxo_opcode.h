/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * BTH opcodes: which headers follow, where in a message the packet stands, and
 * what class it is (IBTA 9.2.1, table of BTH opcodes). One const table; header
 * lengths are derived from the header list, never typed in.
 */
#ifndef RXO_OPCODE_H
#define RXO_OPCODE_H

#include "rxo_env.h"

/* Opcodes of the RC transport. Others are unknown to the parser. */
enum rxo_opcode {
	RXO_OP_SEND_FIRST = 0x00,
	RXO_OP_SEND_MIDDLE = 0x01,
	RXO_OP_SEND_LAST = 0x02,
	RXO_OP_SEND_LAST_IMM = 0x03,
	RXO_OP_SEND_ONLY = 0x04,
	RXO_OP_SEND_ONLY_IMM = 0x05,
	RXO_OP_WRITE_FIRST = 0x06,
	RXO_OP_WRITE_MIDDLE = 0x07,
	RXO_OP_WRITE_LAST = 0x08,
	RXO_OP_WRITE_LAST_IMM = 0x09,
	RXO_OP_WRITE_ONLY = 0x0a,
	RXO_OP_WRITE_ONLY_IMM = 0x0b,
	RXO_OP_READ_REQUEST = 0x0c,
	RXO_OP_READ_RESP_FIRST = 0x0d,
	RXO_OP_READ_RESP_MIDDLE = 0x0e,
	RXO_OP_READ_RESP_LAST = 0x0f,
	RXO_OP_READ_RESP_ONLY = 0x10,
	RXO_OP_ACK = 0x11,
	RXO_OP_ATOMIC_ACK = 0x12,
	RXO_OP_CMP_SWAP = 0x13,
	RXO_OP_FETCH_ADD = 0x14,
	RXO_OP_SEND_LAST_INV = 0x16,
	RXO_OP_SEND_ONLY_INV = 0x17,
};

enum rxo_hdr {
	RXO_HDR_RETH = 1 << 0,		/* 16 bytes */
	RXO_HDR_ATOMICETH = 1 << 1,	/* 28 bytes */
	RXO_HDR_AETH = 1 << 2,		/* 4 bytes */
	RXO_HDR_ATOMICACKETH = 1 << 3,	/* 8 bytes */
	RXO_HDR_IMMDT = 1 << 4,		/* 4 bytes */
	RXO_HDR_IETH = 1 << 5,		/* 4 bytes */
};

enum rxo_pos {
	RXO_POS_FIRST = 1 << 0,
	RXO_POS_LAST = 1 << 1,		/* FIRST | LAST: an "only" packet */
};

enum rxo_class {
	RXO_CLASS_NONE = 0,		/* unknown opcode */
	RXO_CLASS_SEND,
	RXO_CLASS_WRITE,
	RXO_CLASS_READ,
	RXO_CLASS_ATOMIC,
	RXO_CLASS_READ_RESP,
	RXO_CLASS_ACK,
	RXO_CLASS_ATOMIC_ACK,
};

struct rxo_opcode_info {
	u8 class;		/* enum rxo_class */
	u8 hdrs;		/* enum rxo_hdr bits, in wire order */
	u8 pos;			/* enum rxo_pos bits */
	u8 hdr_len;		/* BTH and extension headers, bytes */
	bool has_payload;	/* may carry payload bytes */
	bool is_response;	/* goes to the requester side */
};

/* By opcode; the rest is class RXO_CLASS_NONE. */
extern const struct rxo_opcode_info rxo_opcodes[256];

/* Class RXO_CLASS_NONE for an opcode that is not known. */
static inline const struct rxo_opcode_info *rxo_opcode_info(u8 opcode)
{
	return &rxo_opcodes[opcode];
}

#endif /* RXO_OPCODE_H */
