// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What core/rxo_env.h asks of its environment, in user space. */
#include "core/rxo_env.h"

static u32 rxo_env_crc_table[256];

__attribute__((constructor)) static void rxo_env_crc_init(void)
{
	u32 i, bit, c;

	for (i = 0; i < 256; i++) {
		c = i;
		for (bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
		rxo_env_crc_table[i] = c;
	}
}

u32 rxo_env_crc32(u32 crc, const void *p, size_t len)
{
	const u8 *b = p;

	while (len--)
		crc = crc >> 8 ^ rxo_env_crc_table[(crc ^ *b++) & 0xff];
	return crc;
}
