/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXO_COMPAT_RDMA_UVERBS_IOCTL_H
#define RXO_COMPAT_RDMA_UVERBS_IOCTL_H

#include_next <rdma/uverbs_ioctl.h>

/*
 * What create_cq gets as its last argument: the bundle from 6.11 on, before
 * that the udata inside of it. NULL for a kernel consumer either way.
 */
#ifdef RXO_HAVE_CREATE_CQ_BUNDLE
typedef struct uverbs_attr_bundle rxo_create_cq_arg;

static inline struct ib_udata *rxo_create_cq_udata(rxo_create_cq_arg *arg)
{
	return arg ? &arg->driver_udata : NULL;
}
#else
typedef struct ib_udata rxo_create_cq_arg;

static inline struct ib_udata *rxo_create_cq_udata(rxo_create_cq_arg *arg)
{
	return arg;
}
#endif

#endif /* RXO_COMPAT_RDMA_UVERBS_IOCTL_H */
