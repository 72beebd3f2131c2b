/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Ring memory that a process maps. The kernel's own pointer stays valid until
 * rxo_umap_destroy(); the process's mapping stays valid until it unmaps, even
 * past the life of the device or the module (plain pages, no vm_ops of ours),
 * and is not inherited by fork.
 */
#ifndef RXO_UMAP_H
#define RXO_UMAP_H

#include <rdma/ib_verbs.h>

struct rxo_umap {
	struct rdma_user_mmap_entry entry;
	void *mem;		/* zeroed at creation */
	struct page **pages;	/* of mem */
	size_t size;		/* page multiple */
};

/* @uctx NULL: memory for a kernel consumer, no mapping. ERR_PTR on failure. */
struct rxo_umap *rxo_umap_create(struct ib_ucontext *uctx, size_t size);
/* No new mappings from here on. NULL is fine. Process context. */
void rxo_umap_destroy(struct rxo_umap *umap);
/* Offset for mmap(); 0 without a context. */
u64 rxo_umap_offset(struct rxo_umap *umap);

/* ib_device_ops */
int rxo_umap_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma);
void rxo_umap_free(struct rdma_user_mmap_entry *entry);

#endif /* RXO_UMAP_H */
