// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions.
 *
 * Our device has no DMA device, so ib_core uses "virtual DMA": the DMA address
 * of a pinned page is its kernel virtual address, and physically contiguous
 * pages are contiguous there too. A region is an array of such addresses, one
 * for each block of the largest size that fits all of it; a region on huge
 * pages needs few.
 *
 * Everything in struct rxo_mr but the reference count is written before the
 * region is published and never changed, so no lock is needed.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/once.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

#include "mr.h"
#include "udata.h"

#define RXO_MR_ACCESS							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/* Block sizes: a page to 1 GiB. */
#define RXO_MR_PGSZ	GENMASK(30, PAGE_SHIFT)

struct rxo_mr {
	struct rxo_obj obj;	/* id is key >> 8 */
	struct ib_mr ib;
	struct rcu_head rcu;
	struct rxo_region region;
	struct ib_umem *umem;
	u64 first;		/* number of the first block: va >> shift */
	unsigned int shift;	/* log2 of the block size */
	void **blocks;		/* kernel address of each block's start */
};

static_assert((int)RXO_ACCESS_LOCAL_WRITE == (int)IB_ACCESS_LOCAL_WRITE);
static_assert((int)RXO_ACCESS_REMOTE_WRITE == (int)IB_ACCESS_REMOTE_WRITE);
static_assert((int)RXO_ACCESS_REMOTE_READ == (int)IB_ACCESS_REMOTE_READ);
static_assert((int)RXO_ACCESS_REMOTE_ATOMIC == (int)IB_ACCESS_REMOTE_ATOMIC);

struct rxo_mr *rxo_mr_get(struct rxo_dev *dev, u32 key)
{
	struct rxo_obj *obj = rxo_obj_get(&dev->mrs, key >> 8);

	return obj ? container_of(obj, struct rxo_mr, obj) : NULL;
}

void rxo_mr_put(struct rxo_mr *mr)
{
	rxo_obj_put(&mr->obj);
}

enum rxo_key_result rxo_mr_check(const struct rxo_mr *mr, u32 key, u32 pd,
				 u32 access, u64 va, u64 len)
{
	return rxo_key_check(&mr->region, key, pd, access, va, len);
}

void *rxo_mr_ptr(const struct rxo_mr *mr, u64 va, u32 *len)
{
	u64 offset;
	u64 block = rxo_key_block(mr->first, mr->shift, va, &offset, len);

	return mr->blocks[block] + offset;
}

/*
 * The low 8 bits of a key. Different for successive regions of the same index,
 * so that a key which outlives its region does not fit the next one.
 */
static u8 rxo_mr_variant(const struct rxo_obj *obj)
{
	static u32 salt;

	get_random_once(&salt, sizeof(salt));
	return hash_32(obj->id ^ salt, 8) + obj->gen;
}

static int rxo_mr_map(struct rxo_mr *mr, u64 iova)
{
	unsigned long pgsz = ib_umem_find_best_pgsz(mr->umem, RXO_MR_PGSZ, iova);
	struct ib_block_iter biter;
	size_t n, i = 0;

	/* The range wraps, or start and iova differ in their page offset. */
	if (!pgsz)
		return -EINVAL;

	n = ib_umem_num_dma_blocks(mr->umem, pgsz);
	mr->blocks = kvmalloc_array(n, sizeof(*mr->blocks), RXO_GFP_USER);
	if (!mr->blocks)
		return -ENOMEM;

	rdma_umem_for_each_dma_block(mr->umem, &biter, pgsz)
		mr->blocks[i++] =
			(void *)(uintptr_t)rdma_block_iter_dma_address(&biter);
	if (WARN_ON_ONCE(i != n))
		return -EIO;

	mr->shift = __ffs(pgsz);
	mr->first = iova >> mr->shift;
	return 0;
}

static void rxo_mr_free(struct rxo_mr *mr)
{
	kvfree(mr->blocks);
	ib_umem_release(mr->umem);
	kfree_rcu(mr, rcu);
}

static int rxo_mr_setup(struct rxo_mr *mr, struct rxo_pd *pd, u64 length,
			u64 iova, int access)
{
	struct rxo_dev *dev = rxo_dev_of(pd->ib.device);
	int err;

	err = rxo_mr_map(mr, iova);
	if (err)
		return err;
	err = rxo_obj_reserve(&dev->mrs, &mr->obj);
	if (err)
		return err;

	mr->region = (struct rxo_region){
		.key = mr->obj.id << 8 | rxo_mr_variant(&mr->obj),
		.pd = pd->id,
		.access = access & RXO_MR_ACCESS,
		.va = iova,
		.len = length,
	};
	mr->ib.lkey = mr->region.key;
	mr->ib.rkey = mr->region.key;
	return 0;
}

struct ib_mr *rxo_mr_reg_user(struct ib_pd *ibpd, u64 start, u64 length,
			      u64 iova, int access, struct ib_udata *udata)
{
	struct rxo_dev *dev = rxo_dev_of(ibpd->device);
	struct rxo_mr *mr;
	int err;

	err = rxo_udata_none(udata);
	if (err)
		return ERR_PTR(err);
	/* Optional flags, relaxed ordering among them, may be ignored. */
	if (access & ~(RXO_MR_ACCESS | IB_ACCESS_OPTIONAL))
		return ERR_PTR(-EOPNOTSUPP);
	if (!length || length > RXO_MAX_MR_SIZE)
		return ERR_PTR(-EINVAL);

	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = ib_umem_get(&dev->ib, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		mr->umem = NULL;
		goto err_free;
	}
	err = rxo_mr_setup(mr, rxo_pd_of(ibpd), length, iova, access);
	if (err)
		goto err_free;
	rxo_obj_publish(&dev->mrs, &mr->obj);
	return &mr->ib;

err_free:
	rxo_mr_free(mr);
	return ERR_PTR(err);
}

int rxo_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct rxo_mr *mr = container_of(ibmr, struct rxo_mr, ib);

	/* After this no packet uses the region, and none will. */
	rxo_obj_kill(&rxo_dev_of(ibmr->device)->mrs, &mr->obj);
	rxo_mr_free(mr);
	return 0;
}
