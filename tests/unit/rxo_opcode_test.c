// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/rxo_opcode.h"
#include "t.h"

#define R RXO_HDR_RETH
#define A RXO_HDR_AETH
#define I RXO_HDR_IMMDT
#define E RXO_HDR_IETH
#define X RXO_HDR_ATOMICETH
#define Y RXO_HDR_ATOMICACKETH
#define F RXO_POS_FIRST
#define L RXO_POS_LAST

/* Written down again from IBTA table 38, opcode by opcode. */
static const struct {
	u8 opcode, class, pos, hdrs, len;
	bool payload, response;
} rows[] = {
	{ 0x00, RXO_CLASS_SEND, F, 0, 12, true, false },
	{ 0x01, RXO_CLASS_SEND, 0, 0, 12, true, false },
	{ 0x02, RXO_CLASS_SEND, L, 0, 12, true, false },
	{ 0x03, RXO_CLASS_SEND, L, I, 16, true, false },
	{ 0x04, RXO_CLASS_SEND, F | L, 0, 12, true, false },
	{ 0x05, RXO_CLASS_SEND, F | L, I, 16, true, false },
	{ 0x06, RXO_CLASS_WRITE, F, R, 28, true, false },
	{ 0x07, RXO_CLASS_WRITE, 0, 0, 12, true, false },
	{ 0x08, RXO_CLASS_WRITE, L, 0, 12, true, false },
	{ 0x09, RXO_CLASS_WRITE, L, I, 16, true, false },
	{ 0x0a, RXO_CLASS_WRITE, F | L, R, 28, true, false },
	{ 0x0b, RXO_CLASS_WRITE, F | L, R | I, 32, true, false },
	{ 0x0c, RXO_CLASS_READ, F | L, R, 28, false, false },
	{ 0x0d, RXO_CLASS_READ_RESP, F, A, 16, true, true },
	{ 0x0e, RXO_CLASS_READ_RESP, 0, 0, 12, true, true },
	{ 0x0f, RXO_CLASS_READ_RESP, L, A, 16, true, true },
	{ 0x10, RXO_CLASS_READ_RESP, F | L, A, 16, true, true },
	{ 0x11, RXO_CLASS_ACK, F | L, A, 16, false, true },
	{ 0x12, RXO_CLASS_ATOMIC_ACK, F | L, A | Y, 24, false, true },
	{ 0x13, RXO_CLASS_ATOMIC, F | L, X, 40, false, false },
	{ 0x14, RXO_CLASS_ATOMIC, F | L, X, 40, false, false },
	{ 0x16, RXO_CLASS_SEND, L, E, 16, true, false },
	{ 0x17, RXO_CLASS_SEND, F | L, E, 16, true, false },
};

T_TEST(opcode_info__all_256)
{
	const struct rxo_opcode_info *info;
	size_t i;
	int op;

	for (op = 0; op < 256; op++) {
		t_context("opcode 0x%02x", op);
		info = rxo_opcode_info((u8)op);
		T_CHECK(info);
		for (i = 0; i < ARRAY_SIZE(rows) && rows[i].opcode != op; i++)
			;
		if (i == ARRAY_SIZE(rows)) {
			T_EQ(info->class, RXO_CLASS_NONE);
			continue;
		}
		T_EQ(info->class, rows[i].class);
		T_EQ(info->pos, rows[i].pos);
		T_EQ(info->hdrs, rows[i].hdrs);
		T_EQ(info->hdr_len, rows[i].len);
		T_EQ(info->has_payload, rows[i].payload);
		T_EQ(info->is_response, rows[i].response);
	}
}
