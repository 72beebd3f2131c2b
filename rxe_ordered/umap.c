// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ring memory: allocation, and mapping it into the process that owns it. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "dev.h"
#include "umap.h"

static unsigned int rxo_umap_npages(const struct rxo_umap *umap)
{
	return umap->size >> PAGE_SHIFT;
}

/* Also of what was made by half. */
static void rxo_umap_free_mem(struct rxo_umap *umap)
{
	unsigned int i;

	vunmap(umap->mem);
	for (i = 0; umap->pages && i < rxo_umap_npages(umap); i++)
		if (umap->pages[i])
			__free_page(umap->pages[i]);
	kvfree(umap->pages);
}

/* Not vmalloc_user(), which does none of what RXO_GFP_USER is for. */
static int rxo_umap_alloc_mem(struct rxo_umap *umap)
{
	gfp_t gfp = RXO_GFP_USER | __GFP_ZERO;
	unsigned int i, n = rxo_umap_npages(umap);

	umap->pages = kvcalloc(n, sizeof(*umap->pages), gfp);
	if (!umap->pages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		umap->pages[i] = alloc_page(gfp);
		if (!umap->pages[i])
			return -ENOMEM;
		cond_resched();
	}
	umap->mem = vmap(umap->pages, n, VM_MAP | VM_USERMAP, PAGE_KERNEL);
	return umap->mem ? 0 : -ENOMEM;
}

struct rxo_umap *rxo_umap_create(struct ib_ucontext *uctx, size_t size)
{
	struct rxo_umap *umap;
	int err;

	umap = kzalloc(sizeof(*umap), GFP_KERNEL_ACCOUNT);
	if (!umap)
		return ERR_PTR(-ENOMEM);
	umap->size = PAGE_ALIGN(size);
	err = rxo_umap_alloc_mem(umap);
	if (err)
		goto err_free;
	if (!uctx)
		return umap;

	/* From page 1 on, so that offset 0 never names a ring. */
	err = rdma_user_mmap_entry_insert_range(uctx, &umap->entry, umap->size,
						1, U32_MAX);
	if (err)
		goto err_free;
	return umap;

err_free:
	rxo_umap_free_mem(umap);
	kfree(umap);
	return ERR_PTR(err);
}

void rxo_umap_destroy(struct rxo_umap *umap)
{
	if (!umap)
		return;
	/* The entry's last reference, maybe that of an mmap() under way, frees. */
	if (umap->entry.ucontext)
		rdma_user_mmap_entry_remove(&umap->entry);
	else
		rxo_umap_free(&umap->entry);
}

u64 rxo_umap_offset(struct rxo_umap *umap)
{
	if (!umap->entry.ucontext)
		return 0;
	return rdma_user_mmap_get_offset(&umap->entry);
}

void rxo_umap_free(struct rdma_user_mmap_entry *entry)
{
	struct rxo_umap *umap = container_of(entry, struct rxo_umap, entry);

	/* Pages that a process still maps have a reference of their own. */
	rxo_umap_free_mem(umap);
	kfree(umap);
}

int rxo_umap_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct rxo_umap *umap;
	int err;

	/* Refuses private mappings, unknown offsets and anything but the whole. */
	entry = rdma_user_mmap_entry_get(uctx, vma);
	if (!entry)
		return -EINVAL;
	umap = container_of(entry, struct rxo_umap, entry);

	/* remap_vmalloc_range() adds VM_DONTEXPAND: mremap() cannot grow it. */
	vm_flags_set(vma, VM_DONTCOPY);
	err = remap_vmalloc_range(vma, umap->mem, 0);
	rdma_user_mmap_entry_put(entry);
	return err;
}
