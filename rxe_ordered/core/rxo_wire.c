// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RoCE v2 transport headers, bytes to struct rxo_pkt and back. Knows layouts
 * (IBTA 9.2 to 9.3) and nothing about connections.
 */
#include "rxo_wire.h"

#define BTH_SE		0x80	/* byte 1: solicited event */
#define BTH_MIGREQ	0x40
#define BTH_PAD_SHIFT	4
#define BTH_PAD_MASK	3
#define BTH_TVER_MASK	0x0f
#define BTH_ACKREQ	0x80	/* byte 8 */

static const char *const rxo_drop_names[RXO_DROP_COUNT] = {
	[RXO_DROP_NONE] = "none",
	[RXO_DROP_SHORT] = "short",
	[RXO_DROP_VERSION] = "version",
	[RXO_DROP_OPCODE] = "opcode",
	[RXO_DROP_PAD] = "pad",
	[RXO_DROP_LENGTH] = "length",
	[RXO_DROP_PKEY] = "pkey",
	[RXO_DROP_FRAME] = "frame",
	[RXO_DROP_ICRC] = "icrc",
	[RXO_DROP_NO_QP] = "no_qp",
	[RXO_DROP_ADDR] = "addr",
	[RXO_DROP_QP_TYPE] = "qp_type",
	[RXO_DROP_STATE] = "state",
	[RXO_DROP_BACKLOG] = "backlog",
	[RXO_DROP_DUP] = "dup",
	[RXO_DROP_SEQ] = "seq",
	[RXO_DROP_STALE_ACK] = "stale_ack",
	[RXO_DROP_GHOST_ACK] = "ghost_ack",
	[RXO_DROP_RESPONSE] = "response",
	[RXO_DROP_NOMEM] = "nomem",
	[RXO_DROP_KEEP] = "keep",
};

const char *rxo_drop_name(enum rxo_drop drop)
{
	if ((u32)drop >= RXO_DROP_COUNT)
		return "unknown";
	return rxo_drop_names[drop];
}

u32 rxo_wire_dqpn(const u8 *buf)
{
	return rxo_get_be24(buf + 5);
}

static void rxo_wire_parse_bth(const u8 *b, struct rxo_pkt *pkt)
{
	pkt->opcode = b[0];
	pkt->solicited = b[1] & BTH_SE;
	pkt->migreq = b[1] & BTH_MIGREQ;
	pkt->pad = b[1] >> BTH_PAD_SHIFT & BTH_PAD_MASK;
	pkt->pkey = rxo_get_be16(b + 2);
	pkt->dqpn = rxo_wire_dqpn(b);
	pkt->ackreq = b[8] & BTH_ACKREQ;
	pkt->psn = rxo_psn_make(rxo_get_be24(b + 9));
}

/* Extension headers stand in the order of enum rxo_hdr. */
static void rxo_wire_parse_ext(const u8 *b, u8 hdrs, struct rxo_pkt *pkt)
{
	if (hdrs & RXO_HDR_RETH) {
		pkt->va = rxo_get_be64(b);
		pkt->rkey = rxo_get_be32(b + 8);
		pkt->dma_len = rxo_get_be32(b + 12);
		b += 16;
	}
	if (hdrs & RXO_HDR_ATOMICETH) {
		pkt->va = rxo_get_be64(b);
		pkt->rkey = rxo_get_be32(b + 8);
		pkt->swap_add = rxo_get_be64(b + 12);
		pkt->compare = rxo_get_be64(b + 20);
		b += 28;
	}
	if (hdrs & RXO_HDR_AETH) {
		pkt->syndrome = b[0];
		pkt->msn = rxo_get_be24(b + 1);
		b += 4;
	}
	if (hdrs & RXO_HDR_ATOMICACKETH) {
		pkt->orig = rxo_get_be64(b);
		b += 8;
	}
	if (hdrs & RXO_HDR_IMMDT) {
		memcpy(&pkt->imm, b, sizeof(pkt->imm));
		b += 4;
	}
	if (hdrs & RXO_HDR_IETH)
		pkt->rkey = rxo_get_be32(b);
}

/*
 * What is left between headers and ICRC is payload and pad, and pads it to a
 * multiple of four bytes (IBTA 9.2.3, PadCnt).
 */
static enum rxo_drop rxo_wire_parse_body(const struct rxo_opcode_info *info,
					 u32 body, struct rxo_pkt *pkt)
{
	if (body & 3)
		return RXO_DROP_LENGTH;
	if (pkt->pad > body)
		return RXO_DROP_PAD;
	if (body && !info->has_payload)
		return RXO_DROP_LENGTH;
	pkt->payload_len = body - pkt->pad;
	if (pkt->payload_len > RXO_MAX_MTU)
		return RXO_DROP_LENGTH;
	return RXO_DROP_NONE;
}

enum rxo_drop rxo_wire_parse(const u8 *buf, u32 avail, u32 len,
			     struct rxo_pkt *pkt)
{
	const struct rxo_opcode_info *info;

	if (len < RXO_BTH_LEN + RXO_ICRC_LEN || avail < RXO_BTH_LEN)
		return RXO_DROP_SHORT;
	if (buf[1] & BTH_TVER_MASK)
		return RXO_DROP_VERSION;
	info = rxo_opcode_info(buf[0]);
	if (info->class == RXO_CLASS_NONE)
		return RXO_DROP_OPCODE;
	if (len < (u32)info->hdr_len + RXO_ICRC_LEN || avail < info->hdr_len)
		return RXO_DROP_SHORT;

	memset(pkt, 0, sizeof(*pkt));
	pkt->hdr_len = info->hdr_len;
	rxo_wire_parse_bth(buf, pkt);
	rxo_wire_parse_ext(buf + RXO_BTH_LEN, info->hdrs, pkt);
	return rxo_wire_parse_body(info, len - info->hdr_len - RXO_ICRC_LEN,
				   pkt);
}

static void rxo_wire_build_bth(const struct rxo_pkt *pkt, u8 *b)
{
	b[0] = pkt->opcode;
	b[1] = (u8)((pkt->solicited ? BTH_SE : 0) |
		    (pkt->migreq ? BTH_MIGREQ : 0) |
		    (pkt->pad & BTH_PAD_MASK) << BTH_PAD_SHIFT);
	rxo_put_be16(b + 2, pkt->pkey);
	b[4] = 0;
	rxo_put_be24(b + 5, pkt->dqpn);
	b[8] = pkt->ackreq ? BTH_ACKREQ : 0;
	rxo_put_be24(b + 9, pkt->psn.v);
}

static void rxo_wire_build_ext(const struct rxo_pkt *pkt, u8 hdrs, u8 *b)
{
	if (hdrs & RXO_HDR_RETH) {
		rxo_put_be64(b, pkt->va);
		rxo_put_be32(b + 8, pkt->rkey);
		rxo_put_be32(b + 12, pkt->dma_len);
		b += 16;
	}
	if (hdrs & RXO_HDR_ATOMICETH) {
		rxo_put_be64(b, pkt->va);
		rxo_put_be32(b + 8, pkt->rkey);
		rxo_put_be64(b + 12, pkt->swap_add);
		rxo_put_be64(b + 20, pkt->compare);
		b += 28;
	}
	if (hdrs & RXO_HDR_AETH) {
		b[0] = pkt->syndrome;
		rxo_put_be24(b + 1, pkt->msn);
		b += 4;
	}
	if (hdrs & RXO_HDR_ATOMICACKETH) {
		rxo_put_be64(b, pkt->orig);
		b += 8;
	}
	if (hdrs & RXO_HDR_IMMDT) {
		memcpy(b, &pkt->imm, sizeof(pkt->imm));
		b += 4;
	}
	if (hdrs & RXO_HDR_IETH)
		rxo_put_be32(b, pkt->rkey);
}

u32 rxo_wire_build(const struct rxo_pkt *pkt, u8 *buf)
{
	const struct rxo_opcode_info *info = rxo_opcode_info(pkt->opcode);

	RXO_ASSERT(info->class != RXO_CLASS_NONE);
	rxo_wire_build_bth(pkt, buf);
	rxo_wire_build_ext(pkt, info->hdrs, buf + RXO_BTH_LEN);
	return info->class == RXO_CLASS_NONE ? RXO_BTH_LEN : info->hdr_len;
}

u8 rxo_aeth_credits_make(u32 recvs)
{
	u32 n = 0;

	recvs = min(recvs, RXO_AETH_CREDITS_MAX);
	while (recvs >> (n + 1))
		n++;
	if (!n)
		return (u8)recvs;
	return (u8)(2 * n + (recvs >> (n - 1) & 1));
}

/* Powers of two, and between them three halves of those. */
u32 rxo_aeth_credits(u8 value)
{
	u32 n = value / 2;

	if (value < 2)
		return value;
	return value & 1 ? 3u << (n - 1) : 1u << n;
}
