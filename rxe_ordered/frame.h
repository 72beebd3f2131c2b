/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The headers in front of a RoCE v2 packet that its ICRC covers. */
#ifndef RXO_FRAME_H
#define RXO_FRAME_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "core/rxo_icrc.h"
#include "core/rxo_wire.h"

struct rxo_frame_hdr {
	union {
		struct iphdr ip4;	/* no options */
		struct ipv6hdr ip6;	/* no extension headers */
	};
	struct udphdr udp;
};

/* ICRC of the @len bytes from @bth on: headers, payload and pad. */
static inline __le32 rxo_frame_icrc(const struct rxo_frame_hdr *hdr, bool ipv6,
				    const u8 *bth, u32 len)
{
	const u8 *udp = (const u8 *)&hdr->udp;
	u32 crc;

	if (ipv6)
		crc = rxo_icrc_begin_ipv6((const u8 *)&hdr->ip6, udp, bth);
	else
		crc = rxo_icrc_begin_ipv4((const u8 *)&hdr->ip4, udp, bth);
	return rxo_icrc_end(rxo_env_crc32(crc, bth + RXO_BTH_LEN,
					  len - RXO_BTH_LEN));
}

#endif /* RXO_FRAME_H */
