/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The access decision for local and remote keys, as a pure function: key,
 * rights, protection domain, and a range check that cannot overflow.
 */
#ifndef RXO_KEY_H
#define RXO_KEY_H

#include "rxo_env.h"

/* Same bits as enum ib_access_flags. */
enum rxo_access {
	RXO_ACCESS_LOCAL_READ = 0,
	RXO_ACCESS_LOCAL_WRITE = 1 << 0,
	RXO_ACCESS_REMOTE_WRITE = 1 << 1,
	RXO_ACCESS_REMOTE_READ = 1 << 2,
	RXO_ACCESS_REMOTE_ATOMIC = 1 << 3,
};

/* What a region grants; a copy, so that the decision needs no lock. */
struct rxo_region {
	u32 key;		/* full 32-bit l_key / r_key */
	u32 pd;			/* protection domain number */
	u32 access;		/* enum rxo_access bits */
	u64 va;			/* first byte, in the address space of the keys */
	u64 len;
};

enum rxo_key_result {
	RXO_KEY_OK = 0,
	RXO_KEY_BAD_KEY,
	RXO_KEY_BAD_PD,
	RXO_KEY_BAD_ACCESS,
	RXO_KEY_BAD_RANGE,
};

/**
 * rxo_key_check - may this access happen?
 * @region: what is granted
 * @key: key from the work request or packet
 * @pd: protection domain of the QP
 * @access: rights that are all needed
 * @va: first byte
 * @len: number of bytes; 0 is allowed anywhere (IBTA 9.7.4.1: no range check,
 *	and callers do not look up a region for it at all)
 */
enum rxo_key_result rxo_key_check(const struct rxo_region *region, u32 key,
				  u32 pd, u32 access, u64 va, u64 len);

/**
 * rxo_key_block - where bytes of a region lie
 * @first: number of the block that its first byte lies in: address >> @shift
 * @shift: log2 of the size of its blocks, which are aligned in the same address space
 * @va: first byte, for which rxo_key_check() has said that it may be accessed
 * @offset: set to where in the block it is
 * @len: how many bytes from there on; cut to what lies in this block
 *
 * Return: the block, counted from 0.
 */
static inline u64 rxo_key_block(u64 first, u32 shift, u64 va, u64 *offset,
				u32 *len)
{
	u64 size = 1ull << shift;

	*offset = va & (size - 1);
	*len = (u32)min((u64)*len, size - *offset);
	return (va >> shift) - first;
}

#endif /* RXO_KEY_H */
