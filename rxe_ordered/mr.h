/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory regions: pinning, keys, and access to their bytes. Knows no PSN and no
 * packet.
 *
 * A reference (rxo_mr_get) keeps the region's pages and mapping usable; it must
 * be dropped within the handling of one packet, because deregistration waits
 * for it: after ibv_dereg_mr() returns nothing touches the memory any more.
 */
#ifndef RXO_MR_H
#define RXO_MR_H

#include "core/rxo_key.h"
#include "dev.h"

struct rxo_mr;

/*
 * Region whose l_key or r_key is @key, with a reference, or NULL. Caller is in an
 * RCU read-side section.
 */
struct rxo_mr *rxo_mr_get(struct rxo_dev *dev, u32 key);
void rxo_mr_put(struct rxo_mr *mr);

/* The access decision for this region; see rxo_key_check(). */
enum rxo_key_result rxo_mr_check(const struct rxo_mr *mr, u32 key, u32 pd,
				 u32 access, u64 va, u64 len);

/*
 * Kernel address of the byte at @va, which a successful check has covered, and
 * in *@len how many bytes follow contiguously, at most the *@len passed in.
 */
void *rxo_mr_ptr(const struct rxo_mr *mr, u64 va, u32 *len);

/* ib_device_ops */
struct ib_mr *rxo_mr_reg_user(struct ib_pd *ibpd, u64 start, u64 length,
			      u64 iova, int access, struct ib_udata *udata);
int rxo_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata);

#endif /* RXO_MR_H */
