// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bytes between packets and memory regions, by key. Every access checks the key
 * again under a reference of its own: a region may go between two packets.
 * By the owner of the QP.
 */
#include <linux/atomic.h>

#include "mr.h"
#include "qp_priv.h"

/*
 * Programs poll the last byte of a WRITE, so it must not become visible before
 * the rest; a string move may store in any order.
 */
static void rxo_copy_last(u8 *dst, const u8 *src, u32 len)
{
	memcpy(dst, src, len - 1);
	/* Pairs with the poller's load of the last byte, in program order. */
	smp_wmb();
	WRITE_ONCE(dst[len - 1], src[len - 1]);
}

/* Into a region that covers the range. */
static void rxo_mr_write(struct rxo_mr *mr, u64 va, const u8 *src, u32 len,
			 bool last)
{
	u32 n;
	u8 *dst;

	while (len) {
		n = len;
		dst = rxo_mr_ptr(mr, va, &n);
		if (last && n == len)
			rxo_copy_last(dst, src, n);
		else
			memcpy(dst, src, n);
		va += n;
		src += n;
		len -= n;
	}
}

static void rxo_mr_read(struct rxo_mr *mr, u64 va, u8 *dst, u32 len)
{
	u32 n;

	while (len) {
		n = len;
		memcpy(dst, rxo_mr_ptr(mr, va, &n), n);
		va += n;
		dst += n;
		len -= n;
	}
}

/* Region of @key if it allows this, with a reference, or NULL. */
static struct rxo_mr *rxo_key_get(struct rxo_qp *qp, u32 key, u32 access,
				  u64 va, u64 len)
{
	struct rxo_mr *mr = rxo_mr_get(qp->dev, key);

	if (!mr)
		return NULL;
	if (rxo_mr_check(mr, key, qp->pd, access, va, len) == RXO_KEY_OK)
		return mr;
	rxo_mr_put(mr);
	return NULL;
}

bool rxo_key_may_access(struct rxo_qp *qp, u32 key, u32 access, u64 va,
			u64 len)
{
	struct rxo_mr *mr;

	if (!len)
		return true;
	mr = rxo_key_get(qp, key, access, va, len);
	if (!mr)
		return false;
	rxo_mr_put(mr);
	return true;
}

bool rxo_key_write(struct rxo_qp *qp, u32 key, u32 access, u64 va,
		   const u8 *src, u32 len, bool last)
{
	struct rxo_mr *mr;

	if (!len)
		return true;
	mr = rxo_key_get(qp, key, access, va, len);
	if (!mr)
		return false;
	rxo_mr_write(mr, va, src, len, last);
	rxo_mr_put(mr);
	return true;
}

bool rxo_key_read(struct rxo_qp *qp, u32 key, u32 access, u64 va, u8 *dst,
		  u32 len)
{
	struct rxo_mr *mr;

	if (!len)
		return true;
	mr = rxo_key_get(qp, key, access, va, len);
	if (!mr)
		return false;
	rxo_mr_read(mr, va, dst, len);
	rxo_mr_put(mr);
	return true;
}

bool rxo_key_atomic(struct rxo_qp *qp, const struct rxo_pkt *pkt, u64 *orig)
{
	u32 n = RXO_ATOMIC_LEN;
	struct rxo_mr *mr;
	atomic64_t *word;

	mr = rxo_key_get(qp, pkt->rkey, RXO_ACCESS_REMOTE_ATOMIC, pkt->va, n);
	if (!mr)
		return false;
	/* As aligned as the address of the key: a region keeps page offsets. */
	word = rxo_mr_ptr(mr, pkt->va, &n);
	if (pkt->opcode == RXO_OP_CMP_SWAP)
		*orig = atomic64_cmpxchg(word, pkt->compare, pkt->swap_add);
	else
		*orig = atomic64_fetch_add(pkt->swap_add, word);
	rxo_mr_put(mr);
	return true;
}

bool rxo_sge_read(struct rxo_qp *qp, const struct rxe_ordered_sge *sge, u32 n,
		  u32 offset, u8 *dst, u32 len)
{
	u32 chunk;

	for (; n && len; n--, sge++) {
		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		chunk = min(len, sge->length - offset);
		if (!rxo_key_read(qp, sge->lkey, RXO_ACCESS_LOCAL_READ,
				  sge->addr + offset, dst, chunk))
			return false;
		dst += chunk;
		len -= chunk;
		offset = 0;
	}
	return !len;
}

bool rxo_sge_write(struct rxo_qp *qp, const struct rxe_ordered_sge *sge, u32 n,
		   u32 offset, const u8 *src, u32 len, bool last)
{
	u32 chunk;

	for (; n && len; n--, sge++) {
		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		chunk = min(len, sge->length - offset);
		if (!rxo_key_write(qp, sge->lkey, RXO_ACCESS_LOCAL_WRITE,
				   sge->addr + offset, src, chunk,
				   last && chunk == len))
			return false;
		src += chunk;
		len -= chunk;
		offset = 0;
	}
	return !len;
}
