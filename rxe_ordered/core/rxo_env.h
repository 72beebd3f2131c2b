/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The environment of the protocol core, and the only file that knows whether
 * it is built into the module or into a user-space test: integer and endian
 * types, memcpy and memset, assertions, big-endian bytes, the ABI header.
 * Everything else in core/ includes this and its own siblings, nothing more.
 */
#ifndef RXO_ENV_H
#define RXO_ENV_H

#ifdef __KERNEL__

#include <linux/types.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>

/*
 * A broken invariant of the core itself, never something that a packet or a
 * work request can cause. The machine then carries on with what it has.
 */
#define RXO_ASSERT(cond) ((void)WARN_ON_ONCE(!(cond)))

#else /* user space: tests, fuzzers, simulator */

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#define U8_MAX		((u8)~0U)
#define U16_MAX		((u16)~0U)
#define U32_MAX		((u32)~0U)
#define U64_MAX		((u64)~0ULL)

#define cpu_to_be16(x)	((__be16)htobe16(x))
#define cpu_to_be32(x)	((__be32)htobe32(x))
#define cpu_to_be64(x)	((__be64)htobe64(x))
#define be16_to_cpu(x)	((u16)be16toh(x))
#define be32_to_cpu(x)	((u32)be32toh(x))
#define be64_to_cpu(x)	((u64)be64toh(x))
#define cpu_to_le32(x)	((__le32)htole32(x))
#define le32_to_cpu(x)	((u32)le32toh(x))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Arguments of one type, as the kernel's versions demand. */
#define min(a, b) ({ __typeof__(a) min_a_ = (a); __typeof__(b) min_b_ = (b); \
		     min_a_ < min_b_ ? min_a_ : min_b_; })
#define max(a, b) ({ __typeof__(a) max_a_ = (a); __typeof__(b) max_b_ = (b); \
		     max_a_ > max_b_ ? max_a_ : max_b_; })

#define RXO_ASSERT(cond) do { if (!(cond)) abort(); } while (0)

#endif

#include <rdma/rxe_ordered-abi.h>

/*
 * CRC-32 (reflected polynomial 0xedb88320) of @len bytes on top of @crc, with
 * no inversion before or after. The module supplies the kernel's fastest,
 * tests/lib/ a table.
 */
u32 rxo_env_crc32(u32 crc, const void *p, size_t len);

/* Big-endian fields at any alignment. */

static inline u16 rxo_get_be16(const u8 *p)
{
	return (u16)(p[0] << 8 | p[1]);
}

static inline u32 rxo_get_be24(const u8 *p)
{
	return (u32)p[0] << 16 | (u32)p[1] << 8 | p[2];
}

static inline u32 rxo_get_be32(const u8 *p)
{
	return (u32)p[0] << 24 | rxo_get_be24(p + 1);
}

static inline u64 rxo_get_be64(const u8 *p)
{
	return (u64)rxo_get_be32(p) << 32 | rxo_get_be32(p + 4);
}

static inline void rxo_put_be16(u8 *p, u16 v)
{
	p[0] = (u8)(v >> 8);
	p[1] = (u8)v;
}

static inline void rxo_put_be24(u8 *p, u32 v)
{
	p[0] = (u8)(v >> 16);
	rxo_put_be16(p + 1, (u16)v);
}

static inline void rxo_put_be32(u8 *p, u32 v)
{
	rxo_put_be16(p, (u16)(v >> 16));
	rxo_put_be16(p + 2, (u16)v);
}

static inline void rxo_put_be64(u8 *p, u64 v)
{
	rxo_put_be32(p, (u32)(v >> 32));
	rxo_put_be32(p + 4, (u32)v);
}

#endif /* RXO_ENV_H */
