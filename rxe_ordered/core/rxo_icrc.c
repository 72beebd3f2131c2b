// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Invariant CRC: the masked copy of everything up to the BTH, hashed in one go
 * (IBTA annex A17.3.3). A router may change the masked fields.
 */
#include "rxo_icrc.h"

#define LRH_LEN		8	/* stands for the link header of InfiniBand */
#define IPV4_LEN	20
#define IPV6_LEN	40
#define UDP_LEN		8
#define BTH_LEN		12

static u32 rxo_icrc_begin(u8 *b, u32 ip_len, const u8 *udp, const u8 *bth)
{
	u8 *p = b + LRH_LEN + ip_len;

	memset(b, 0xff, LRH_LEN);
	memcpy(p, udp, UDP_LEN);
	memset(p + 6, 0xff, 2);			/* checksum */
	memcpy(p + UDP_LEN, bth, BTH_LEN);
	p[UDP_LEN + 4] = 0xff;			/* resv8a: FECN, BECN */
	return rxo_env_crc32(U32_MAX, b, LRH_LEN + ip_len + UDP_LEN + BTH_LEN);
}

u32 rxo_icrc_begin_ipv4(const u8 *ip, const u8 *udp, const u8 *bth)
{
	u8 b[LRH_LEN + IPV4_LEN + UDP_LEN + BTH_LEN];
	u8 *p = b + LRH_LEN;

	memcpy(p, ip, IPV4_LEN);
	p[1] = 0xff;				/* type of service */
	p[8] = 0xff;				/* time to live */
	memset(p + 10, 0xff, 2);		/* header checksum */
	return rxo_icrc_begin(b, IPV4_LEN, udp, bth);
}

u32 rxo_icrc_begin_ipv6(const u8 *ip, const u8 *udp, const u8 *bth)
{
	u8 b[LRH_LEN + IPV6_LEN + UDP_LEN + BTH_LEN];
	u8 *p = b + LRH_LEN;

	memcpy(p, ip, IPV6_LEN);
	p[0] |= 0x0f;				/* traffic class, high half */
	memset(p + 1, 0xff, 3);			/* low half, flow label */
	p[7] = 0xff;				/* hop limit */
	return rxo_icrc_begin(b, IPV6_LEN, udp, bth);
}

__le32 rxo_icrc_end(u32 crc)
{
	return cpu_to_le32(~crc);
}
