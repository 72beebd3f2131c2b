// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of RC opcodes (IBTA 9.2.1). A row says class, position and the list
 * of headers; lengths follow from the list.
 */
#include "rxo_opcode.h"

#define HDR_LEN(hdrs)						\
	(12 +							\
	 ((hdrs) & RXO_HDR_RETH ? 16 : 0) +			\
	 ((hdrs) & RXO_HDR_ATOMICETH ? 28 : 0) +		\
	 ((hdrs) & RXO_HDR_AETH ? 4 : 0) +			\
	 ((hdrs) & RXO_HDR_ATOMICACKETH ? 8 : 0) +		\
	 ((hdrs) & RXO_HDR_IMMDT ? 4 : 0) +			\
	 ((hdrs) & RXO_HDR_IETH ? 4 : 0))

#define ROW(class_, pos_, hdrs_, payload_) {			\
	.class = RXO_CLASS_##class_,				\
	.hdrs = (hdrs_),					\
	.pos = (pos_),						\
	.hdr_len = HDR_LEN(hdrs_),				\
	.has_payload = (payload_),				\
	.is_response = RXO_CLASS_##class_ >= RXO_CLASS_READ_RESP, \
}

#define FIRST	RXO_POS_FIRST
#define MIDDLE	0
#define LAST	RXO_POS_LAST
#define ONLY	(RXO_POS_FIRST | RXO_POS_LAST)

const struct rxo_opcode_info rxo_opcodes[256] = {
	[RXO_OP_SEND_FIRST]	 = ROW(SEND, FIRST, 0, true),
	[RXO_OP_SEND_MIDDLE]	 = ROW(SEND, MIDDLE, 0, true),
	[RXO_OP_SEND_LAST]	 = ROW(SEND, LAST, 0, true),
	[RXO_OP_SEND_LAST_IMM]	 = ROW(SEND, LAST, RXO_HDR_IMMDT, true),
	[RXO_OP_SEND_ONLY]	 = ROW(SEND, ONLY, 0, true),
	[RXO_OP_SEND_ONLY_IMM]	 = ROW(SEND, ONLY, RXO_HDR_IMMDT, true),
	[RXO_OP_SEND_LAST_INV]	 = ROW(SEND, LAST, RXO_HDR_IETH, true),
	[RXO_OP_SEND_ONLY_INV]	 = ROW(SEND, ONLY, RXO_HDR_IETH, true),

	[RXO_OP_WRITE_FIRST]	 = ROW(WRITE, FIRST, RXO_HDR_RETH, true),
	[RXO_OP_WRITE_MIDDLE]	 = ROW(WRITE, MIDDLE, 0, true),
	[RXO_OP_WRITE_LAST]	 = ROW(WRITE, LAST, 0, true),
	[RXO_OP_WRITE_LAST_IMM]	 = ROW(WRITE, LAST, RXO_HDR_IMMDT, true),
	[RXO_OP_WRITE_ONLY]	 = ROW(WRITE, ONLY, RXO_HDR_RETH, true),
	[RXO_OP_WRITE_ONLY_IMM]	 = ROW(WRITE, ONLY,
				       RXO_HDR_RETH | RXO_HDR_IMMDT, true),

	[RXO_OP_READ_REQUEST]	 = ROW(READ, ONLY, RXO_HDR_RETH, false),
	[RXO_OP_READ_RESP_FIRST] = ROW(READ_RESP, FIRST, RXO_HDR_AETH, true),
	[RXO_OP_READ_RESP_MIDDLE] = ROW(READ_RESP, MIDDLE, 0, true),
	[RXO_OP_READ_RESP_LAST]	 = ROW(READ_RESP, LAST, RXO_HDR_AETH, true),
	[RXO_OP_READ_RESP_ONLY]	 = ROW(READ_RESP, ONLY, RXO_HDR_AETH, true),

	[RXO_OP_ACK]		 = ROW(ACK, ONLY, RXO_HDR_AETH, false),

	[RXO_OP_CMP_SWAP]	 = ROW(ATOMIC, ONLY, RXO_HDR_ATOMICETH, false),
	[RXO_OP_FETCH_ADD]	 = ROW(ATOMIC, ONLY, RXO_HDR_ATOMICETH, false),
	[RXO_OP_ATOMIC_ACK]	 = ROW(ATOMIC_ACK, ONLY,
				       RXO_HDR_AETH | RXO_HDR_ATOMICACKETH,
				       false),
};
