// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <infiniband/rxodv.h>

#include "t_ordered.h"

struct ibv_qp *t_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
			   uint32_t flags)
{
	struct rxodv_qp_init_attr ours = {
		.comp_mask = RXODV_QP_INIT_ATTR_MASK_CREATE_FLAGS,
		.create_flags = flags,
	};
	struct ibv_qp_init_attr_ex ex = {
		.send_cq = attr->send_cq, .recv_cq = attr->recv_cq,
		.cap = attr->cap, .qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd,
	};
	struct ibv_qp *qp = rxodv_create_qp(pd->context, &ex, &ours);

	attr->cap = ex.cap;
	return qp;
}

struct ibv_qp *t_create_ordered(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return t_create_qp(pd, attr, RXODV_QP_CREATE_ORDERED_COMPLETIONS);
}
