// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The CRC-32 behind the ICRC. Goes through the crypto layer, because up to 6.13
 * only that has the carry-less-multiply version; falls back to the library.
 */
#include <crypto/hash.h>
#include <linux/crc32.h>

#include "crc.h"
#include "core/rxo_env.h"

/* Below this the set-up of the vector version costs more than it saves. */
#define RXO_CRC_SHASH_MIN	256

static struct crypto_shash *rxo_crc_tfm;	/* NULL: use the library */

int rxo_crc_init(void)
{
	struct crypto_shash *tfm = crypto_alloc_shash("crc32", 0, 0);

	if (!IS_ERR(tfm))
		rxo_crc_tfm = tfm;
	return 0;
}

void rxo_crc_exit(void)
{
	if (rxo_crc_tfm)
		crypto_free_shash(rxo_crc_tfm);
}

/* Apart, because its descriptor is large and the kernel may clear the stack. */
static noinline u32 rxo_crc_shash(u32 crc, const void *p, size_t len)
{
	SHASH_DESC_ON_STACK(desc, rxo_crc_tfm);

	desc->tfm = rxo_crc_tfm;
	/* The state of "crc32" is the bare running CRC. */
	*(u32 *)shash_desc_ctx(desc) = crc;
	if (crypto_shash_update(desc, p, len))
		return crc32_le(crc, p, len);
	return *(u32 *)shash_desc_ctx(desc);
}

u32 rxo_env_crc32(u32 crc, const void *p, size_t len)
{
	if (!rxo_crc_tfm || len < RXO_CRC_SHASH_MIN)
		return crc32_le(crc, p, len);
	return rxo_crc_shash(crc, p, len);
}
