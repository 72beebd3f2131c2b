// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/rxo_wire.h"
#include "t.h"

#define LEN(payload) ((u32)(RXO_BTH_LEN + (payload) + RXO_ICRC_LEN))

/* WRITE ONLY WITH IMMEDIATE, 5 bytes and 3 of pad, every field distinct. */
static const u8 write_imm[] = {
	0x0b, 0xb0, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56,
	0x80, 0xab, 0xcd, 0xef,
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	0x11, 0x12, 0x13, 0x14, 0x00, 0x00, 0x00, 0x05,
	0xa1, 0xa2, 0xa3, 0xa4,
	'h', 'e', 'l', 'l', 'o', 0, 0, 0,
	0xc1, 0xc2, 0xc3, 0xc4,
};

static enum rxo_drop parse(const u8 *b, u32 len, struct rxo_pkt *pkt)
{
	memset(pkt, 0xaa, sizeof(*pkt));
	return rxo_wire_parse(b, len, len, pkt);
}

T_TEST(wire_parse__fields)
{
	struct rxo_pkt pkt;

	T_EQ(parse(write_imm, sizeof(write_imm), &pkt), RXO_DROP_NONE);
	T_EQ(pkt.opcode, RXO_OP_WRITE_ONLY_IMM);
	T_EQ(pkt.pad, 3);
	T_CHECK(pkt.solicited);
	T_CHECK(!pkt.migreq);
	T_CHECK(pkt.ackreq);
	T_EQ(pkt.pkey, 0xffff);
	T_EQ(pkt.dqpn, 0x123456);
	T_EQ(rxo_wire_dqpn(write_imm), 0x123456);
	T_EQ(pkt.psn.v, 0xabcdef);
	T_EQ(pkt.va, 0x0102030405060708);
	T_EQ(pkt.rkey, 0x11121314);
	T_EQ(pkt.dma_len, 5);
	T_EQ(be32_to_cpu(pkt.imm), 0xa1a2a3a4);
	T_EQ(pkt.hdr_len, 32);
	T_EQ(pkt.payload_len, 5);
}

T_TEST(wire_parse__single_bits_of_the_bth)
{
	u8 b[LEN(0)] = { RXO_OP_SEND_ONLY };
	struct rxo_pkt pkt;

	T_EQ(parse(b, sizeof(b), &pkt), RXO_DROP_NONE);
	T_CHECK(!pkt.solicited && !pkt.migreq && !pkt.ackreq && !pkt.pad);
	b[1] = 0x40;
	T_EQ(parse(b, sizeof(b), &pkt), RXO_DROP_NONE);
	T_CHECK(!pkt.solicited && pkt.migreq && !pkt.ackreq);
	b[1] = 0x80;
	T_EQ(parse(b, sizeof(b), &pkt), RXO_DROP_NONE);
	T_CHECK(pkt.solicited && !pkt.migreq && !pkt.ackreq);
	/* Reserved bits, FECN and BECN among them, are not looked at. */
	b[1] = 0;
	b[4] = 0xff;
	b[8] = 0x7f;
	T_EQ(parse(b, sizeof(b), &pkt), RXO_DROP_NONE);
	T_CHECK(!pkt.ackreq && !pkt.psn.v && !pkt.dqpn);
}

T_TEST(wire_parse__drops)
{
	static const struct {
		u8 opcode, byte1;
		u32 len;
		enum rxo_drop drop;
	} rows[] = {
		{ RXO_OP_SEND_ONLY, 0x00, 0, RXO_DROP_SHORT },
		{ RXO_OP_SEND_ONLY, 0x00, LEN(0) - 1, RXO_DROP_SHORT },
		{ RXO_OP_SEND_ONLY, 0x00, LEN(0), RXO_DROP_NONE },
		{ RXO_OP_SEND_ONLY, 0x01, LEN(0), RXO_DROP_VERSION },
		{ RXO_OP_SEND_ONLY, 0x0f, LEN(0), RXO_DROP_VERSION },
		{ RXO_OP_SEND_ONLY_IMM, 0x00, LEN(3), RXO_DROP_SHORT },
		{ RXO_OP_SEND_ONLY_IMM, 0x00, LEN(4), RXO_DROP_NONE },
		{ RXO_OP_CMP_SWAP, 0x00, LEN(28), RXO_DROP_NONE },
		{ RXO_OP_CMP_SWAP, 0x00, LEN(27), RXO_DROP_SHORT },
		{ RXO_OP_CMP_SWAP, 0x00, LEN(32), RXO_DROP_LENGTH },
		{ RXO_OP_ATOMIC_ACK, 0x00, LEN(12), RXO_DROP_NONE },
		{ 0x15, 0x00, LEN(0), RXO_DROP_OPCODE },
		{ 0x18, 0x00, LEN(64), RXO_DROP_OPCODE },
		{ 0x64, 0x00, LEN(64), RXO_DROP_OPCODE },	/* UD SEND */
		{ 0x81, 0x00, LEN(64), RXO_DROP_OPCODE },	/* CNP */
		{ 0xff, 0x00, LEN(64), RXO_DROP_OPCODE },
		{ RXO_OP_SEND_ONLY, 0x10, LEN(0), RXO_DROP_PAD },
		{ RXO_OP_SEND_ONLY, 0x30, LEN(4), RXO_DROP_NONE },
		{ RXO_OP_SEND_ONLY, 0x00, LEN(1), RXO_DROP_LENGTH },
		{ RXO_OP_SEND_ONLY, 0x30, LEN(5), RXO_DROP_LENGTH },
		{ RXO_OP_SEND_ONLY, 0x00, LEN(4096), RXO_DROP_NONE },
		{ RXO_OP_SEND_ONLY, 0x30, LEN(4100), RXO_DROP_LENGTH },
		{ RXO_OP_SEND_ONLY, 0x00, LEN(4100), RXO_DROP_LENGTH },
		{ RXO_OP_READ_REQUEST, 0x00, LEN(16), RXO_DROP_NONE },
		{ RXO_OP_READ_REQUEST, 0x00, LEN(20), RXO_DROP_LENGTH },
		{ RXO_OP_READ_REQUEST, 0x10, LEN(16), RXO_DROP_PAD },
		{ RXO_OP_ACK, 0x00, LEN(4), RXO_DROP_NONE },
		{ RXO_OP_ACK, 0x00, LEN(8), RXO_DROP_LENGTH },
		{ RXO_OP_ACK, 0x30, LEN(8), RXO_DROP_LENGTH },
	};
	static u8 b[LEN(5000)];
	struct rxo_pkt pkt;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		b[0] = rows[i].opcode;
		b[1] = rows[i].byte1;
		T_EQ(parse(b, rows[i].len, &pkt), rows[i].drop);
	}
}

T_TEST(wire_parse__reads_no_byte_beyond_avail)
{
	struct rxo_pkt pkt;
	u32 len, n;
	int op;

	/* Exact-size heap blocks, so that ASan sees one byte too many. */
	for (op = 0; op < 256; op++) {
		for (len = 0; len <= 60; len++) {
			u8 *b = calloc(1, len ? len : 1);
			u32 avail = min(len, (u32)RXO_MAX_HDR_LEN);

			b[0] = (u8)op;
			n = rxo_wire_parse(b, avail, len, &pkt);
			T_CHECK(n < RXO_DROP_COUNT);
			free(b);
		}
	}
}

static struct rxo_pkt full_packet(u8 op)
{
	return (struct rxo_pkt){
		.opcode = op, .pad = 2, .syndrome = 0x65, .solicited = true,
		.ackreq = true, .migreq = true, .pkey = 0x8001,
		.dqpn = 0xfedcba, .psn = rxo_psn_make(0x13579b),
		.msn = 0x2468ac, .va = 0x8877665544332211,
		.rkey = 0xdeadbeef, .dma_len = 0x80000000,
		.swap_add = 0x1122334455667788, .compare = 0x99aabbccddeeff00,
		.orig = 0x0f1e2d3c4b5a6978, .imm = cpu_to_be32(0xcafef00d),
	};
}

T_TEST(wire_build__parses_back_for_every_opcode)
{
	int op;

	for (op = 0; op < 256; op++) {
		const struct rxo_opcode_info *info = rxo_opcode_info((u8)op);
		struct rxo_pkt in = full_packet((u8)op), out;
		u8 b[RXO_MAX_HDR_LEN + 4 + RXO_ICRC_LEN] = {};
		u32 len, body = info->has_payload ? 4 : 0;

		if (info->class == RXO_CLASS_NONE)
			continue;
		t_context("opcode 0x%02x", op);
		if (!info->has_payload)
			in.pad = 0;
		len = rxo_wire_build(&in, b);
		T_EQ(len, info->hdr_len);
		T_EQ(parse(b, len + body + RXO_ICRC_LEN, &out), RXO_DROP_NONE);
		T_EQ(out.opcode, in.opcode);
		T_EQ(out.pad, in.pad);
		T_CHECK(out.solicited && out.ackreq && out.migreq);
		T_EQ(out.pkey, in.pkey);
		T_EQ(out.dqpn, in.dqpn);
		T_EQ(out.psn.v, in.psn.v);
		T_EQ(out.payload_len, body ? 2 : 0);
		if (info->hdrs & RXO_HDR_AETH) {
			T_EQ(out.syndrome, in.syndrome);
			T_EQ(out.msn, in.msn);
		}
		if (info->hdrs & (RXO_HDR_RETH | RXO_HDR_ATOMICETH)) {
			T_EQ(out.va, in.va);
			T_EQ(out.rkey, in.rkey);
		}
		if (info->hdrs & RXO_HDR_RETH)
			T_EQ(out.dma_len, in.dma_len);
		if (info->hdrs & RXO_HDR_ATOMICETH) {
			T_EQ(out.swap_add, in.swap_add);
			T_EQ(out.compare, in.compare);
		}
		if (info->hdrs & RXO_HDR_ATOMICACKETH)
			T_EQ(out.orig, in.orig);
		if (info->hdrs & RXO_HDR_IMMDT)
			T_EQ(out.imm, in.imm);
		if (info->hdrs & RXO_HDR_IETH)
			T_EQ(out.rkey, in.rkey);
	}
}

T_TEST(wire_build__bytes)
{
	struct rxo_pkt pkt = {
		.opcode = RXO_OP_WRITE_ONLY_IMM, .pad = 3, .solicited = true,
		.ackreq = true, .pkey = 0xffff, .dqpn = 0x123456,
		.psn = rxo_psn_make(0xabcdef), .va = 0x0102030405060708,
		.rkey = 0x11121314, .dma_len = 5,
		.imm = cpu_to_be32(0xa1a2a3a4),
	};
	u8 b[RXO_MAX_HDR_LEN];

	T_EQ(rxo_wire_build(&pkt, b), 32);
	T_CHECK(!memcmp(b, write_imm, 32));
}

/* IBTA table 47. */
T_TEST(aeth__credits)
{
	static const u32 table[] = {
		0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
		768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
	};
	u32 n;
	u8 i;

	T_EQ(ARRAY_SIZE(table), RXO_AETH_NO_CREDITS);
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		t_context("value %u", i);
		T_EQ(rxo_aeth_credits(i), table[i]);
		T_EQ(rxo_aeth_credits_make(table[i]), i);
	}
	for (n = 0; n < 32768; n++) {
		t_context("%u receives", n);
		i = rxo_aeth_credits_make(n);
		T_CHECK(table[i] <= n && table[i + 1] > n);
	}
	T_EQ(rxo_aeth_credits_make(32769), 30);
	T_EQ(rxo_aeth_credits_make(0xffffffff), 30);
}

T_TEST(aeth__syndromes)
{
	T_EQ(rxo_aeth_make(RXO_AETH_ACK, RXO_AETH_NO_CREDITS), 0x1f);
	T_EQ(rxo_aeth_make(RXO_AETH_RNR, 12), 0x2c);
	T_EQ(rxo_aeth_make(RXO_AETH_NAK, RXO_NAK_REM_ACCESS), 0x62);
	T_EQ(rxo_aeth_type(0x62), RXO_AETH_NAK);
	T_EQ(rxo_aeth_type(0xe2), RXO_AETH_NAK);	/* bit 7 is reserved */
	T_EQ(rxo_aeth_value(0x62), RXO_NAK_REM_ACCESS);
}

T_TEST(drop_name__all_and_distinct)
{
	int i, j;

	for (i = 0; i < RXO_DROP_COUNT; i++) {
		t_context("reason %d", i);
		T_CHECK(rxo_drop_name((enum rxo_drop)i));
		for (j = 0; j < i; j++)
			T_CHECK(strcmp(rxo_drop_name((enum rxo_drop)i),
				       rxo_drop_name((enum rxo_drop)j)));
	}
	T_CHECK(!strcmp(rxo_drop_name(RXO_DROP_COUNT), "unknown"));
}
