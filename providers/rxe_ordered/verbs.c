// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects: queries, protection domains, memory regions, completion queues and
 * queue pairs, up to and including the mapping of their rings. Everything here
 * is a system call; nothing here is on the data path.
 *
 * Errors: functions that return a pointer return NULL and leave the reason in
 * errno, the others return a positive errno, as verbs do. When the device is
 * gone the kernel answers EIO and that is passed on.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rxo.h"
#include "rxodv.h"

/**
 * rxo_query_device_ex - query device attributes
 * @ctx: context
 * @input: must be NULL or empty
 * @attr: result
 * @attr_size: size of the struct the caller was compiled with
 *
 * Serves ibv_query_device() too, with the size of the old struct.
 */
int rxo_query_device_ex(struct ibv_context *ctx,
			const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	size_t resp_size = sizeof(resp);
	uint64_t ver;
	int ret;

	ret = ibv_cmd_query_device_any(ctx, input, attr, attr_size, &resp,
				       &resp_size);
	if (ret)
		return ret;

	/* Convention of the kernel: 16 bits each for three numbers. */
	ver = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%u", (unsigned int)(ver >> 32) & 0xffff,
		 (unsigned int)(ver >> 16) & 0xffff,
		 (unsigned int)ver & 0xffff);
	return 0;
}

/**
 * rxo_query_port - query port attributes
 * @ctx: context
 * @port_num: from 1
 * @attr: result
 */
int rxo_query_port(struct ibv_context *ctx, uint8_t port_num,
		   struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd = {};

	return ibv_cmd_query_port(ctx, port_num, attr, &cmd, sizeof(cmd));
}

/**
 * rxo_alloc_pd - allocate a protection domain
 * @ctx: context
 */
struct ibv_pd *rxo_alloc_pd(struct ibv_context *ctx)
{
	struct ib_uverbs_alloc_pd_resp resp = {};
	struct ibv_alloc_pd cmd = {};
	struct ibv_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	if (ibv_cmd_alloc_pd(ctx, pd, &cmd, sizeof(cmd), &resp, sizeof(resp))) {
		free(pd);
		return NULL;
	}
	return pd;
}

/**
 * rxo_dealloc_pd - free a protection domain
 * @pd: unused by any other object, EBUSY otherwise
 */
int rxo_dealloc_pd(struct ibv_pd *pd)
{
	int ret = ibv_cmd_dealloc_pd(pd);

	if (!ret)
		free(pd);
	return ret;
}

/**
 * rxo_reg_mr - register memory
 * @pd: protection domain
 * @addr: start of the memory
 * @length: bytes
 * @hca_va: address by which requests name the first byte
 * @access: enum ibv_access_flags
 */
struct ibv_mr *rxo_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  uint64_t hca_va, int access)
{
	struct ib_uverbs_reg_mr_resp resp = {};
	struct ibv_reg_mr cmd = {};
	struct verbs_mr *mr;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;

	if (ibv_cmd_reg_mr(pd, addr, length, hca_va, access, mr, &cmd,
			   sizeof(cmd), &resp, sizeof(resp))) {
		free(mr);
		return NULL;
	}
	return &mr->ibv_mr;
}

/**
 * rxo_dereg_mr - undo rxo_reg_mr()
 * @mr: memory region
 */
int rxo_dereg_mr(struct verbs_mr *mr)
{
	int ret = ibv_cmd_dereg_mr(mr);

	if (!ret)
		free(mr);
	return ret;
}

/* ------------------------------------------------------------------- rings */

/*
 * Map a ring that the kernel described. What it says is checked against itself,
 * so that a kernel and a library that do not fit fail here and not by reading
 * past the mapping.
 *
 * Return: the mapping, or NULL with errno.
 */
static void *rxo_map_ring(int fd, uint64_t offset, uint64_t size,
			  uint32_t entries, uint32_t stride)
{
	void *p;

	if (!entries || entries > (1U << 30) || (entries & (entries - 1)) ||
	    size > SIZE_MAX ||
	    size < RXE_ORDERED_RING_HDR_SIZE + (uint64_t)entries * stride) {
		errno = EPROTO;
		return NULL;
	}

	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		 (off_t)offset);
	return p == MAP_FAILED ? NULL : p;
}

/* ------------------------------------------------------- completion queues */

/*
 * Both kinds of CQ. Neither passes flags to the kernel, so the plain command
 * serves: one path, and one less function of a private ABI.
 */
static struct rxo_cq *rxo_cq_create(struct ibv_context *ctx, int cqe,
				    struct ibv_comp_channel *channel,
				    int comp_vector)
{
	RXO_MSG(struct ibv_create_cq, struct rxe_ordered_create_cq_cmd)
		cmd = {};
	RXO_MSG(struct ib_uverbs_create_cq_resp,
		struct rxe_ordered_create_cq_resp) resp = {};
	struct rxo_cq *cq;
	int err;

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;

	err = pthread_mutex_init(&cq->session, NULL);
	if (err)
		goto err_free;

	err = ibv_cmd_create_cq(ctx, cqe, channel, comp_vector, &cq->ibcq,
				(void *)cmd.core, sizeof(cmd),
				(void *)resp.core, sizeof(resp));
	if (err)
		goto err_mutex;

	cq->map_size = resp.drv.mmap_size;
	cq->map = rxo_map_ring(ctx->cmd_fd, resp.drv.mmap_offset,
			       resp.drv.mmap_size, resp.drv.entries,
			       sizeof(struct rxe_ordered_wc));
	if (!cq->map) {
		err = errno;
		goto err_destroy;
	}

	rxo_cq_ring_init(&cq->ring, cq->map, resp.drv.entries);
	return cq;

err_destroy:
	/* Its mutex is still all zeros, which is a valid unlocked one. */
	ibv_cmd_destroy_cq(&cq->ibcq);
err_mutex:
	pthread_mutex_destroy(&cq->session);
err_free:
	free(cq);
	errno = err;
	return NULL;
}

/**
 * rxo_create_cq - create a completion queue
 * @ctx: context
 * @cqe: entries wanted at least
 * @channel: where events go, or NULL
 * @comp_vector: completion vector
 */
struct ibv_cq *rxo_create_cq(struct ibv_context *ctx, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct rxo_cq *cq = rxo_cq_create(ctx, cqe, channel, comp_vector);

	return cq ? &cq->ibcq : NULL;
}

/*
 * No timestamps, VLAN, flow tag or tag matching: a completion does not have
 * them. No parent domain: there are none here. Overrun is not ignored: what the
 * ring has no room for is lost, and programs are to learn of it.
 */
static bool rxo_can_create_cq_ex(const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->comp_mask & ~(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS)
		return false;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	    (attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
		return false;
	return !(attr->wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS);
}

/**
 * rxo_create_cq_ex - create a completion queue with extended poll
 * @ctx: context
 * @attr: what is wanted; EOPNOTSUPP if any of it cannot be given
 */
struct ibv_cq_ex *rxo_create_cq_ex(struct ibv_context *ctx,
				   struct ibv_cq_init_attr_ex *attr)
{
	struct rxo_cq *cq;

	if (!rxo_can_create_cq_ex(attr)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	/* The kernel sees 32 bits again and refuses what would be negative. */
	cq = rxo_cq_create(ctx, (int)attr->cqe, attr->channel,
			   (int)attr->comp_vector);
	if (!cq)
		return NULL;

	rxo_poll_ex_init(cq, (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
			     (attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED));
	return &cq->ibcqx;
}

/**
 * rxo_destroy_cq - destroy a completion queue
 * @ibcq: completion queue
 *
 * Waits, in libibverbs, until all its events are acknowledged.
 */
int rxo_destroy_cq(struct ibv_cq *ibcq)
{
	struct rxo_cq *cq = to_rxo_cq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;

	munmap(cq->map, cq->map_size);
	pthread_mutex_destroy(&cq->session);
	free(cq);
	return 0;
}

/* ------------------------------------------------------------- queue pairs */

/* Context: create. A queue with no entries is legal and always full. */
static int rxo_wq_init(struct rxo_wq *wq, int fd, uint64_t offset,
		       uint64_t size, uint32_t entries, uint32_t stride,
		       uint32_t max_sge, size_t min_stride)
{
	int err;

	if (!entries)
		return pthread_spin_init(&wq->lock, PTHREAD_PROCESS_PRIVATE);

	if (stride % 16 || stride < min_stride)
		return EPROTO;

	wq->map = rxo_map_ring(fd, offset, size, entries, stride);
	if (!wq->map)
		return errno;
	wq->map_size = size;
	wq->max_sge = max_sge;
	rxo_wq_ring_init(&wq->ring, wq->map, entries, stride);

	err = pthread_spin_init(&wq->lock, PTHREAD_PROCESS_PRIVATE);
	if (err)
		munmap(wq->map, wq->map_size);
	return err;
}

static void rxo_wq_fini(struct rxo_wq *wq)
{
	pthread_spin_destroy(&wq->lock);
	if (wq->ring.entries)
		munmap(wq->map, wq->map_size);
}

static int rxo_qp_init_queues(struct rxo_qp *qp, int fd,
			      const struct rxe_ordered_create_qp_resp *resp,
			      const struct ibv_qp_cap *cap)
{
	size_t sges = (size_t)cap->max_send_sge * sizeof(struct rxe_ordered_sge);
	size_t payload = sges > cap->max_inline_data ? sges :
						       cap->max_inline_data;
	int err;

	err = rxo_wq_init(&qp->sq, fd, resp->sq_mmap_offset,
			  resp->sq_mmap_size, resp->sq_entries,
			  resp->sq_stride, cap->max_send_sge,
			  sizeof(struct rxe_ordered_sqe) + payload);
	if (err)
		return err;

	sges = (size_t)cap->max_recv_sge * sizeof(struct rxe_ordered_sge);
	err = rxo_wq_init(&qp->rq, fd, resp->rq_mmap_offset,
			  resp->rq_mmap_size, resp->rq_entries,
			  resp->rq_stride, cap->max_recv_sge,
			  sizeof(struct rxe_ordered_rqe) + sges);
	if (err)
		rxo_wq_fini(&qp->sq);
	return err;
}

/* For programs that do not know of it. */
static bool rxo_wants_ordered(void)
{
	const char *env = getenv("RXE_ORDERED_COMPLETIONS");

	return env && !strcmp(env, "1");
}

/* @flags: enum rxe_ordered_create_qp_flags */
static struct rxo_qp *rxo_qp_create(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr,
				    uint32_t flags)
{
	RXO_MSG(struct ibv_create_qp, struct rxe_ordered_create_qp_cmd)
		cmd = { .drv.flags = flags };
	RXO_MSG(struct ib_uverbs_create_qp_resp,
		struct rxe_ordered_create_qp_resp) resp = {};
	struct rxo_qp *qp;
	int err;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;

	if (rxo_wants_ordered())
		cmd.drv.flags |= RXE_ORDERED_CREATE_QP_ORDERED_COMPLETIONS;
	err = ibv_cmd_create_qp(pd, &qp->ibqp, attr, (void *)cmd.core,
				sizeof(cmd), (void *)resp.core, sizeof(resp));
	if (err)
		goto err_free;

	qp->max_inline = attr->cap.max_inline_data;
	qp->sig_all = attr->sq_sig_all;

	err = rxo_qp_init_queues(qp, pd->context->cmd_fd, &resp.drv,
				 &attr->cap);
	if (err)
		goto err_destroy;
	return qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->ibqp);
err_free:
	free(qp);
	errno = err;
	return NULL;
}

/**
 * rxo_create_qp - create a queue pair
 * @pd: protection domain
 * @attr: what is wanted; its cap is overwritten by what was granted
 */
struct ibv_qp *rxo_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct rxo_qp *qp = rxo_qp_create(pd, attr, 0);

	return qp ? &qp->ibqp : NULL;
}

/* Return: 0; EINVAL without a PD; EOPNOTSUPP for what we do not have. */
static int rxo_check_create_qp_ex(const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t ours = IBV_QP_INIT_ATTR_PD |
			      IBV_QP_INIT_ATTR_CREATE_FLAGS |
			      IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (attr->comp_mask & ~ours)
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd)
		return EINVAL;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) &&
	    attr->create_flags)
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
	    !rxo_builders_supported(attr->send_ops_flags))
		return EOPNOTSUPP;
	return 0;
}

static struct ibv_qp *rxo_qp_create_ex(struct ibv_qp_init_attr_ex *attr,
				       uint32_t flags)
{
	struct ibv_qp_init_attr plain = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
	};
	struct rxo_qp *qp;
	int err;

	err = rxo_check_create_qp_ex(attr);
	if (err) {
		errno = err;
		return NULL;
	}
	qp = rxo_qp_create(attr->pd, &plain, flags);
	if (!qp)
		return NULL;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		err = rxo_builders_init(qp, attr->send_ops_flags);
		if (err) {
			rxo_destroy_qp(&qp->ibqp);
			errno = err;
			return NULL;
		}
	}
	attr->cap = plain.cap;
	return &qp->ibqp;
}

/**
 * rxo_create_qp_ex - create a queue pair, with builders if asked for
 * @ctx: context
 * @attr: what is wanted; its cap is overwritten by what was granted
 */
struct ibv_qp *rxo_create_qp_ex(struct ibv_context *ctx,
				struct ibv_qp_init_attr_ex *attr)
{
	(void)ctx;	/* that of the PD */

	return rxo_qp_create_ex(attr, 0);
}

/**
 * rxodv_create_qp - see rxodv.h
 */
RXO_EXPORT struct ibv_qp *
rxodv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		const struct rxodv_qp_init_attr *rxo_attr)
{
	const uint64_t masks = RXODV_QP_INIT_ATTR_MASK_CREATE_FLAGS;
	const uint32_t known = RXODV_QP_CREATE_ORDERED_COMPLETIONS;
	uint32_t flags = 0;

	if (rxo_attr && rxo_attr->comp_mask & RXODV_QP_INIT_ATTR_MASK_CREATE_FLAGS)
		flags = rxo_attr->create_flags;
	if (!rxo_is_our_device(context->device) || flags & ~known ||
	    (rxo_attr && rxo_attr->comp_mask & ~masks)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return rxo_qp_create_ex(attr, flags ?
				RXE_ORDERED_CREATE_QP_ORDERED_COMPLETIONS : 0);
}

/**
 * rxo_query_qp - query a queue pair
 * @qp: queue pair
 * @attr: result
 * @attr_mask: enum ibv_qp_attr_mask
 * @init_attr: result
 */
int rxo_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd = {};

	return ibv_cmd_query_qp(qp, attr, attr_mask, init_attr, &cmd,
				sizeof(cmd));
}

/**
 * rxo_modify_qp - modify a queue pair
 * @qp: queue pair; libibverbs notes its new state after we return
 * @attr: new values
 * @attr_mask: which of them
 *
 * RESET needs nothing here: what was posted is dropped by the kernel, which
 * sets the indices of both rings to zero.
 */
int rxo_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct ibv_modify_qp cmd = {};

	return ibv_cmd_modify_qp(qp, attr, attr_mask, &cmd, sizeof(cmd));
}

/**
 * rxo_destroy_qp - destroy a queue pair
 * @ibqp: queue pair
 *
 * Waits, in libibverbs, until all its events are acknowledged.
 */
int rxo_destroy_qp(struct ibv_qp *ibqp)
{
	struct rxo_qp *qp = to_rxo_qp(ibqp);
	int ret;

	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret)
		return ret;

	rxo_wq_fini(&qp->rq);
	rxo_wq_fini(&qp->sq);
	free(qp);
	return 0;
}
