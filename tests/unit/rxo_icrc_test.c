// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Against a reference that shares nothing with the code: a bit-by-bit CRC over
 * a packet that is masked here again, from annex A17.3.3, and numbers that
 * Python's zlib gave.
 */
#include "core/rxo_icrc.h"
#include "t.h"

static u32 crc_bitwise(const u8 *p, size_t len)
{
	u32 crc = 0xffffffff;
	size_t i;
	int bit;

	for (i = 0; i < len; i++)
		for (bit = 0; bit < 8; bit++) {
			bool one = (crc ^ (u32)p[i] >> bit) & 1;

			crc = crc >> 1 ^ (one ? 0xedb88320 : 0);
		}
	return ~crc;
}

struct packet {
	u8 b[256];
	u32 ip, len;		/* IP header length; total without ICRC */
};

/* Bytes that no mask leaves as they are by chance. */
static struct packet make(bool ipv6, u32 payload)
{
	struct packet p = { .ip = ipv6 ? 40 : 20 };
	u32 i;

	p.len = p.ip + 8 + 12 + payload;
	for (i = 0; i < p.len; i++)
		p.b[i] = (u8)(i * 7 + 3);
	p.b[0] = ipv6 ? 0x65 : 0x45;
	return p;
}

static u32 icrc(const struct packet *p)
{
	const u8 *udp = p->b + p->ip, *bth = udp + 8;
	u32 crc, rest = p->len - p->ip - 20;
	__le32 end;
	u8 b[4];

	crc = p->ip == 40 ? rxo_icrc_begin_ipv6(p->b, udp, bth) :
			    rxo_icrc_begin_ipv4(p->b, udp, bth);
	/* In two pieces, as a fused copy would do it. */
	crc = rxo_env_crc32(crc, bth + 12, rest / 3);
	crc = rxo_env_crc32(crc, bth + 12 + rest / 3, rest - rest / 3);
	end = rxo_icrc_end(crc);
	memcpy(b, &end, 4);
	return (u32)b[0] | (u32)b[1] << 8 | (u32)b[2] << 16 | (u32)b[3] << 24;
}

static u32 reference(const struct packet *p)
{
	u8 m[8 + sizeof(p->b)];
	u8 *ip = m + 8, *udp = ip + p->ip;

	memset(m, 0xff, 8);
	memcpy(ip, p->b, p->len);
	if (p->ip == 20) {
		ip[1] = ip[8] = ip[10] = ip[11] = 0xff;
	} else {
		ip[0] |= 0x0f;
		ip[1] = ip[2] = ip[3] = ip[7] = 0xff;
	}
	udp[6] = udp[7] = 0xff;
	udp[8 + 4] = 0xff;
	return crc_bitwise(m, 8 + p->len);
}

T_TEST(env_crc32__check_value)
{
	T_EQ(~rxo_env_crc32(0xffffffff, "123456789", 9) & 0xffffffff,
	     0xcbf43926);
	T_EQ(crc_bitwise((const u8 *)"123456789", 9), 0xcbf43926);
}

T_TEST(icrc__equals_reference)
{
	u32 payload;
	int v6;

	for (v6 = 0; v6 < 2; v6++)
		for (payload = 0; payload <= 64; payload++) {
			struct packet p = make(v6, payload);

			t_context("ipv6 %d, payload %u", v6, payload);
			T_EQ(icrc(&p), reference(&p));
		}
}

T_TEST(icrc__known_answers)
{
	struct packet p4 = make(false, 24), p6 = make(true, 24);

	T_EQ(icrc(&p4), 0x1a95d0ef);
	T_EQ(icrc(&p6), 0x6609219a);
}

/* Which bytes may change on the way? Exactly those of the annex. */
static bool is_variant(const struct packet *p, u32 byte)
{
	u32 udp = p->ip;

	if (byte == udp + 6 || byte == udp + 7 || byte == udp + 12)
		return true;
	if (p->ip == 20)
		return byte == 1 || byte == 8 || byte == 10 || byte == 11;
	return byte == 1 || byte == 2 || byte == 3 || byte == 7;
}

T_TEST(icrc__ignores_variant_fields_only)
{
	int v6, bit;
	u32 i;

	for (v6 = 0; v6 < 2; v6++) {
		struct packet p = make(v6, 8);
		u32 before = icrc(&p);

		for (i = 0; i < p.len; i++) {
			for (bit = 0; bit < 8; bit++) {
				bool same = is_variant(&p, i) ||
					    (v6 && i == 0 && bit < 4);

				t_context("ipv6 %d, byte %u, bit %d", v6, i, bit);
				p.b[i] ^= (u8)(1 << bit);
				T_EQ(icrc(&p) == before, same);
				p.b[i] ^= (u8)(1 << bit);
			}
		}
	}
}
