// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting with the builders of struct ibv_qp_ex: wr_start, requests and their
 * data one call after the other, wr_complete.
 *
 * A request is open until its data arrives, the next one begins or the session
 * ends; then it goes the way of every other request, rxo_send_put(). None of the
 * calls in between can fail, so the first error is kept for wr_complete and what
 * follows it is ignored. Nothing is published before wr_complete.
 *
 * Context of all functions of a session: the lock of the send queue, taken by
 * wr_start and dropped by wr_complete or wr_abort.
 */
#include <errno.h>
#include <string.h>

#include "rxo.h"

/* ---------------------------------------------------------------- requests */

/* Write the open request, if there is one. */
static void rxo_wr_close(struct rxo_qp *qp)
{
	struct rxo_builder *b = &qp->builder;

	if (!b->is_open)
		return;
	b->is_open = false;
	b->err = rxo_send_put(qp, b->idx, &b->send);
	if (!b->err)
		b->idx++;
}

/*
 * Begin a request. Whether its data is inline is told by the call that sets
 * them; the flag is ignored because programs that share code with
 * ibv_post_send() leave it set.
 *
 * Return: where to fill in what is particular to the opcode.
 */
static struct rxo_send *rxo_wr_open(struct ibv_qp_ex *qpx,
				    enum ibv_wr_opcode opcode)
{
	struct rxo_qp *qp = to_rxo_qpx(qpx);
	struct rxo_builder *b = &qp->builder;

	rxo_wr_close(qp);
	b->send = (struct rxo_send){
		.wr_id = qpx->wr_id,
		.opcode = opcode,
		.flags = qpx->wr_flags & ~(unsigned int)IBV_SEND_INLINE,
	};
	b->is_open = !b->err;
	return &b->send;
}

static void rxo_wr_send(struct ibv_qp_ex *qpx)
{
	rxo_wr_open(qpx, IBV_WR_SEND);
}

static void rxo_wr_send_imm(struct ibv_qp_ex *qpx, __be32 imm_data)
{
	rxo_wr_open(qpx, IBV_WR_SEND_WITH_IMM)->imm_data = imm_data;
}

static struct rxo_send *rxo_wr_open_rdma(struct ibv_qp_ex *qpx,
					 enum ibv_wr_opcode opcode,
					 uint32_t rkey, uint64_t remote_addr)
{
	struct rxo_send *send = rxo_wr_open(qpx, opcode);

	send->rkey = rkey;
	send->remote_addr = remote_addr;
	return send;
}

static void rxo_wr_rdma_write(struct ibv_qp_ex *qpx, uint32_t rkey,
			      uint64_t remote_addr)
{
	rxo_wr_open_rdma(qpx, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void rxo_wr_rdma_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey,
				  uint64_t remote_addr, __be32 imm_data)
{
	rxo_wr_open_rdma(qpx, IBV_WR_RDMA_WRITE_WITH_IMM, rkey,
			 remote_addr)->imm_data = imm_data;
}

static void rxo_wr_rdma_read(struct ibv_qp_ex *qpx, uint32_t rkey,
			     uint64_t remote_addr)
{
	rxo_wr_open_rdma(qpx, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void rxo_wr_atomic_cmp_swp(struct ibv_qp_ex *qpx, uint32_t rkey,
				  uint64_t remote_addr, uint64_t compare,
				  uint64_t swap)
{
	struct rxo_send *send = rxo_wr_open_rdma(qpx, IBV_WR_ATOMIC_CMP_AND_SWP,
						 rkey, remote_addr);

	send->compare_add = compare;
	send->swap = swap;
}

static void rxo_wr_atomic_fetch_add(struct ibv_qp_ex *qpx, uint32_t rkey,
				    uint64_t remote_addr, uint64_t add)
{
	rxo_wr_open_rdma(qpx, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey,
			 remote_addr)->compare_add = add;
}

/* -------------------------------------------------------------------- data */

/* The lists are the caller's and end with the call, so the entry is written. */
static void rxo_wr_set_data(struct ibv_qp_ex *qpx, struct rxo_data data,
			    unsigned int flags)
{
	struct rxo_qp *qp = to_rxo_qpx(qpx);
	struct rxo_builder *b = &qp->builder;

	if (b->err)
		return;
	/* No request, or one that has its data. */
	if (!b->is_open) {
		b->err = EINVAL;
		return;
	}
	b->send.data = data;
	b->send.flags |= flags;
	rxo_wr_close(qp);
}

static void rxo_wr_set_sge_list(struct ibv_qp_ex *qpx, size_t num_sge,
				const struct ibv_sge *sg_list)
{
	rxo_wr_set_data(qpx, (struct rxo_data){ .sg = sg_list, .num = num_sge },
			0);
}

static void rxo_wr_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr,
			   uint32_t length)
{
	struct ibv_sge sg = { .addr = addr, .length = length, .lkey = lkey };

	rxo_wr_set_sge_list(qpx, 1, &sg);
}

static void rxo_wr_set_inline_data_list(struct ibv_qp_ex *qpx, size_t num_buf,
					const struct ibv_data_buf *buf_list)
{
	rxo_wr_set_data(qpx, (struct rxo_data){ .buf = buf_list, .num = num_buf },
			IBV_SEND_INLINE);
}

static void rxo_wr_set_inline_data(struct ibv_qp_ex *qpx, void *addr,
				   size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	rxo_wr_set_inline_data_list(qpx, 1, &buf);
}

/* ----------------------------------------------------------------- session */

static void rxo_wr_start(struct ibv_qp_ex *qpx)
{
	struct rxo_qp *qp = to_rxo_qpx(qpx);
	struct rxo_builder *b = &qp->builder;

	pthread_spin_lock(&qp->sq.lock);
	b->first = b->idx = rxo_send_begin(qp);
	b->err = 0;
	b->is_open = false;
}

/*
 * Publish all or nothing. As in rxo_post_send(): a doorbell that fails means
 * that the device is gone and that nothing will be executed.
 *
 * Return: 0 or a positive errno.
 */
static int rxo_wr_complete(struct ibv_qp_ex *qpx)
{
	struct rxo_qp *qp = to_rxo_qpx(qpx);
	struct rxo_builder *b = &qp->builder;
	bool is_new;
	int err;

	rxo_wr_close(qp);
	err = b->err;
	is_new = !err && b->idx != b->first;
	if (is_new)
		rxo_wq_publish(&qp->sq.ring, b->idx);
	pthread_spin_unlock(&qp->sq.lock);

	return is_new ? rxo_doorbell(&qp->ibqp) : err;
}

static void rxo_wr_abort(struct ibv_qp_ex *qpx)
{
	pthread_spin_unlock(&to_rxo_qpx(qpx)->sq.lock);
}

/* ---------------------------------------------------------------- creation */

/**
 * rxo_builders_supported - can a QP have builders for these operations?
 * @send_ops: enum ibv_qp_create_send_ops_flags
 */
bool rxo_builders_supported(uint64_t send_ops)
{
	const uint64_t ours = IBV_QP_EX_WITH_RDMA_WRITE |
			      IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			      IBV_QP_EX_WITH_SEND |
			      IBV_QP_EX_WITH_SEND_WITH_IMM |
			      IBV_QP_EX_WITH_RDMA_READ |
			      IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			      IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

	return !(send_ops & ~ours);
}

/*
 * Set the flag that ibv_qp_to_qp_ex() looks for, where this library looks for
 * it: from the end of the shortest struct ibv_qp_ex of this level on, set it and
 * ask. See struct rxo_qp. A place that was wrong is zero again: to a newer
 * library it is an operation that we do not have.
 */
static bool rxo_qp_mark_extended(struct rxo_qp *qp)
{
	const uint32_t flag = VERBS_QP_EX, none = 0;
	size_t at = offsetof(struct ibv_qp_ex, wr_atomic_write) +
		    sizeof(qp->ibqpx.wr_atomic_write);

	for (; at + sizeof(flag) <= sizeof(qp->room); at += sizeof(flag)) {
		memcpy(qp->room + at, &flag, sizeof(flag));
		if (ibv_qp_to_qp_ex(&qp->ibqp))
			return true;
		memcpy(qp->room + at, &none, sizeof(none));
	}
	return false;
}

/**
 * rxo_builders_init - give a QP its builders
 * @qp: queue pair, not yet seen by anybody else
 * @send_ops: for which rxo_builders_supported() said yes; operations that were
 *	not asked for have none
 *
 * Return: 0, or EOPNOTSUPP with a libibverbs that has them somewhere else.
 */
int rxo_builders_init(struct rxo_qp *qp, uint64_t send_ops)
{
	struct ibv_qp_ex *qpx = &qp->ibqpx;

	if (!rxo_qp_mark_extended(qp))
		return EOPNOTSUPP;

	qpx->wr_start = rxo_wr_start;
	qpx->wr_complete = rxo_wr_complete;
	qpx->wr_abort = rxo_wr_abort;
	qpx->wr_set_sge = rxo_wr_set_sge;
	qpx->wr_set_sge_list = rxo_wr_set_sge_list;
	qpx->wr_set_inline_data = rxo_wr_set_inline_data;
	qpx->wr_set_inline_data_list = rxo_wr_set_inline_data_list;

	if (send_ops & IBV_QP_EX_WITH_SEND)
		qpx->wr_send = rxo_wr_send;
	if (send_ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		qpx->wr_send_imm = rxo_wr_send_imm;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE)
		qpx->wr_rdma_write = rxo_wr_rdma_write;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		qpx->wr_rdma_write_imm = rxo_wr_rdma_write_imm;
	if (send_ops & IBV_QP_EX_WITH_RDMA_READ)
		qpx->wr_rdma_read = rxo_wr_rdma_read;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		qpx->wr_atomic_cmp_swp = rxo_wr_atomic_cmp_swp;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		qpx->wr_atomic_fetch_add = rxo_wr_atomic_fetch_add;
	return 0;
}
