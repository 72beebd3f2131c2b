// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The CRC that core/rxo_env.h asks for, eight bytes at a time: the simulator
 * computes it twice for every packet.
 */
#include "core/rxo_env.h"

static u32 crc_table[8][256];

__attribute__((constructor)) static void crc_init(void)
{
	u32 i, k, c;

	for (i = 0; i < 256; i++) {
		c = i;
		for (k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
		crc_table[0][i] = c;
	}
	for (i = 0; i < 256; i++)
		for (k = 1; k < 8; k++)
			crc_table[k][i] = crc_table[k - 1][i] >> 8 ^
				crc_table[0][crc_table[k - 1][i] & 0xff];
}

u32 rxo_env_crc32(u32 crc, const void *p, size_t len)
{
	const u8 *b = p;
	u64 w;
	u32 k;

	for (; len >= 8; len -= 8, b += 8) {
		memcpy(&w, b, 8);
		w = le64toh(w) ^ crc;
		crc = 0;
		for (k = 0; k < 8; k++)
			crc ^= crc_table[7 - k][w >> 8 * k & 0xff];
	}
	while (len--)
		crc = crc >> 8 ^ crc_table[0][(crc ^ *b++) & 0xff];
	return crc;
}
