/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Invariant CRC of RoCE v2 (IBTA annex A17.3.3): CRC-32 over eight bytes of
 * ones, the IP and UDP headers with their variant fields set to ones, the BTH
 * with its resv8a byte set to ones, and the rest of the packet up to the ICRC.
 *
 * Use: crc = rxo_icrc_begin_ipv4/6(...), which covers everything up to and
 * including the BTH; then crc = rxo_env_crc32(crc, bytes, n) over the extension
 * headers, payload and pad, in any number of pieces; then rxo_icrc_end(crc).
 */
#ifndef RXO_ICRC_H
#define RXO_ICRC_H

#include "rxo_env.h"

/* @ip: 20-byte IPv4 header without options. @udp: 8 bytes. @bth: 12 bytes. */
u32 rxo_icrc_begin_ipv4(const u8 *ip, const u8 *udp, const u8 *bth);

/* @ip: 40-byte IPv6 header, UDP follows directly. */
u32 rxo_icrc_begin_ipv6(const u8 *ip, const u8 *udp, const u8 *bth);

/* Return: the four ICRC bytes as they stand on the wire (a little-endian word). */
__le32 rxo_icrc_end(u32 crc);

#endif /* RXO_ICRC_H */
