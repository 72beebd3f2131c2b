// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A UDP payload, in a heap block of its exact size. What parses has lengths
 * that add up, and building it again gives the same bytes where they count.
 */
#include "core/rxo_icrc.h"
#include "core/rxo_wire.h"
#include "fuzz.h"

static void check_packet(const u8 *b, u32 len, const struct rxo_pkt *pkt)
{
	const struct rxo_opcode_info *info = rxo_opcode_info(pkt->opcode);
	u8 again[RXO_MAX_HDR_LEN], bth[RXO_BTH_LEN];
	struct rxo_pkt twice;
	u32 n;

	MUST(info->class != RXO_CLASS_NONE);
	MUST(pkt->hdr_len == info->hdr_len);
	MUST(pkt->pad < 4 && pkt->payload_len <= RXO_MAX_MTU);
	MUST(pkt->hdr_len + pkt->payload_len + pkt->pad + RXO_ICRC_LEN == len);
	MUST((pkt->payload_len + pkt->pad) % 4 == 0);
	MUST(info->has_payload || !pkt->payload_len);
	MUST(pkt->psn.v <= RXO_PSN_MASK && pkt->dqpn <= 0xffffff);

	n = rxo_wire_build(pkt, again);
	MUST(n == pkt->hdr_len);
	/* Reserved bits are sent as zero. */
	memcpy(bth, b, sizeof(bth));
	bth[4] = 0;
	bth[8] &= 0x80;
	MUST(!memcmp(again, bth, sizeof(bth)));
	MUST(!memcmp(again + RXO_BTH_LEN, b + RXO_BTH_LEN, n - RXO_BTH_LEN));
	MUST(rxo_wire_parse(again, n, len, &twice) == RXO_DROP_NONE);
	MUST(!memcmp(&twice, pkt, sizeof(twice)));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct rxo_pkt pkt;
	enum rxo_drop drop;
	u32 len, avail;
	u8 *b;

	/* The first two bytes: how much longer it is than what is at hand. */
	if (size < 2 || size > 10000)
		return 0;
	avail = (u32)size - 2;
	len = avail;
	if (avail >= RXO_MAX_HDR_LEN)
		len += rxo_get_be16(data);
	b = malloc(avail ? avail : 1);
	memcpy(b, data + 2, avail);
	drop = rxo_wire_parse(b, avail, len, &pkt);
	MUST((u32)drop < RXO_DROP_COUNT && rxo_drop_name(drop));
	if (drop == RXO_DROP_NONE)
		check_packet(b, len, &pkt);
	free(b);
	return 0;
}
