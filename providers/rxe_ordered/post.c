// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting: checks, ring entries, doorbell.
 *
 * The kernel copies each entry once and checks the copy, so the checks here
 * protect nobody; they exist because verbs report a bad request to the caller
 * who posts it and not as a failed completion.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "rxo.h"

/* The longest message of the transport. */
#define RXO_MAX_MSG	(1ULL << 31)

#define RXO_SEND_FLAGS                                                         \
	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED |             \
	 IBV_SEND_INLINE)

/* ---------------------------------------------------------------- doorbell */

/* Return: 0 or a positive errno. */
static int rxo_doorbell_ioctl(struct ibv_qp *qp)
{
	union {
		struct ib_uverbs_ioctl_hdr hdr;
		unsigned char room[sizeof(struct ib_uverbs_ioctl_hdr) +
				   sizeof(struct ib_uverbs_attr)];
	} cmd = {};

	cmd.hdr.length = sizeof(cmd);
	cmd.hdr.object_id = UVERBS_OBJECT_QP;
	cmd.hdr.method_id = RXE_ORDERED_METHOD_QP_DOORBELL;
	cmd.hdr.num_attrs = 1;
	cmd.hdr.driver_id = RXE_ORDERED_DRIVER_ID;
	cmd.hdr.attrs[0].attr_id = RXE_ORDERED_ATTR_QP_DOORBELL_QP_HANDLE;
	cmd.hdr.attrs[0].flags = UVERBS_ATTR_F_MANDATORY;
	cmd.hdr.attrs[0].data = qp->handle;

	while (ioctl(qp->context->cmd_fd, RDMA_VERBS_IOCTL, &cmd)) {
		if (errno != EINTR)
			return errno;
	}
	return 0;
}

/*
 * "Post no work requests": to a driver with shared rings that means look.
 *
 * Return: 0 or a positive errno.
 */
static int rxo_doorbell_write(struct ibv_qp *qp)
{
	struct ib_uverbs_post_send_resp resp = {};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		_Alignas(8) unsigned char room[sizeof(struct ib_uverbs_post_send)];
	} cmd = {};
	struct ib_uverbs_post_send core = {
		.response = (uintptr_t)&resp,
		.qp_handle = qp->handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	ssize_t n;

	static_assert(sizeof(cmd) == sizeof(cmd.hdr) + sizeof(core),
		      "the kernel expects no hole");
	cmd.hdr.command = IB_USER_VERBS_CMD_POST_SEND;
	cmd.hdr.in_words = sizeof(cmd) / 4;
	cmd.hdr.out_words = sizeof(resp) / 4;
	memcpy(cmd.room, &core, sizeof(core));

	do {
		n = write(qp->context->cmd_fd, &cmd, sizeof(cmd));
	} while (n < 0 && errno == EINTR);

	return n == (ssize_t)sizeof(cmd) ? 0 : n < 0 ? errno : EIO;
}

/*
 * Have the kernel look at the rings of a QP. No lock is held: entries are
 * published already, and a doorbell too many is harmless.
 */
static int rxo_doorbell(struct ibv_qp *qp)
{
	struct rxo_context *ctx = to_rxo_ctx(qp->context);
	int err;

	if (!atomic_load_explicit(&ctx->use_write, memory_order_relaxed)) {
		err = rxo_doorbell_ioctl(qp);
		if (err != ENOTTY && err != EPROTONOSUPPORT)
			return err;
		/* Partner: none, see struct rxo_context. */
		atomic_store_explicit(&ctx->use_write, true,
				      memory_order_relaxed);
	}
	return rxo_doorbell_write(qp);
}

/* ------------------------------------------------------------------ checks */

/*
 * The one place where lengths are added up and compared, for all ways to post.
 * The sum of 32-bit lengths is taken in 64 bits: at most 2^32 elements of less
 * than 2^32 bytes cannot overflow it.
 *
 * Return: 0 and the length of the message, or EINVAL.
 */
static int rxo_check_sges(const struct ibv_sge *sg, int num_sge,
			  uint32_t max_sge, uint32_t *length)
{
	uint64_t sum = 0;
	int i;

	if (num_sge < 0 || (uint32_t)num_sge > max_sge)
		return EINVAL;
	for (i = 0; i < num_sge; i++)
		sum += sg[i].length;
	if (sum > RXO_MAX_MSG)
		return EINVAL;

	*length = (uint32_t)sum;
	return 0;
}

/* EINVAL: no such opcode. EOPNOTSUPP: there is one, but not here. */
static int rxo_check_opcode(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_RDMA_READ:
		return 0;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_TSO:
	case IBV_WR_DRIVER1:
		return EOPNOTSUPP;
	default:
		return EINVAL;
	}
}

static int rxo_check_send(const struct rxo_qp *qp, const struct ibv_send_wr *wr,
			  uint32_t *length)
{
	int err;

	err = rxo_check_opcode(wr->opcode);
	if (err)
		return err;
	if (wr->send_flags & ~RXO_SEND_FLAGS)
		return EINVAL;

	err = rxo_check_sges(wr->sg_list, wr->num_sge, qp->sq.max_sge, length);
	if (err)
		return err;

	if (wr->send_flags & IBV_SEND_INLINE) {
		/* There is nothing to inline into a request for data. */
		if (wr->opcode == IBV_WR_RDMA_READ)
			return EINVAL;
		if (*length > qp->max_inline)
			return EINVAL;
	}
	return 0;
}

/* ----------------------------------------------------------------- entries */

/* Context: the lock of the send queue is held, the slot is ours. */
static void rxo_write_sqe(const struct rxo_qp *qp, const struct ibv_send_wr *wr,
			  uint32_t length, void *slot)
{
	struct rxe_ordered_sqe *sqe = slot;
	unsigned char *payload = (unsigned char *)(sqe + 1);
	bool is_inline = wr->send_flags & IBV_SEND_INLINE;
	int i;

	*sqe = (struct rxe_ordered_sqe){
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.flags = wr->send_flags | (qp->sig_all ? IBV_SEND_SIGNALED : 0),
		.num_sge = is_inline ? 0 : wr->num_sge,
		.inline_len = is_inline ? length : 0,
	};
	if (wr->opcode == IBV_WR_SEND_WITH_IMM ||
	    wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		sqe->imm_data = wr->imm_data;
	if (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM) {
		sqe->remote_addr = wr->wr.rdma.remote_addr;
		sqe->rkey = wr->wr.rdma.rkey;
	}

	for (i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sg = &wr->sg_list[i];

		if (!is_inline) {
			memcpy(payload, sg, sizeof(*sg));
			payload += sizeof(*sg);
		} else if (sg->length) {
			memcpy(payload, (void *)(uintptr_t)sg->addr,
			       sg->length);
			payload += sg->length;
		}
	}
}

/* Context: the lock of the receive queue is held, the slot is ours. */
static void rxo_write_rqe(const struct ibv_recv_wr *wr, void *slot)
{
	struct rxe_ordered_rqe *rqe = slot;

	*rqe = (struct rxe_ordered_rqe){
		.wr_id = wr->wr_id,
		.num_sge = wr->num_sge,
	};
	if (wr->num_sge)
		memcpy(rqe + 1, wr->sg_list,
		       wr->num_sge * sizeof(struct ibv_sge));
}

/* ----------------------------------------------------------------- posting */

/* States in which the send queue takes requests (or flushes them). */
static bool rxo_may_post_send(const struct ibv_qp *qp)
{
	switch (qp->state) {
	case IBV_QPS_RTS:
	case IBV_QPS_SQD:
	case IBV_QPS_SQE:
	case IBV_QPS_ERR:
		return true;
	default:
		return false;
	}
}

/**
 * rxo_post_send - post a chain of send requests
 * @ibqp: queue pair
 * @wr: chain
 * @bad_wr: on error, the first request that was not posted
 *
 * The chain is published and rung for once. If the doorbell fails the device is
 * gone and nothing of the chain will be executed: *@bad_wr is its first.
 *
 * Return: 0 or a positive errno.
 */
int rxo_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr)
{
	struct rxo_qp *qp = to_rxo_qp(ibqp);
	struct rxo_wq_ring *ring = &qp->sq.ring;
	struct ibv_send_wr *first = wr;
	uint32_t idx, length;
	int err = 0, bell;

	if (!rxo_may_post_send(ibqp)) {
		*bad_wr = wr;
		return EINVAL;
	}
	if (!ring->entries) {
		*bad_wr = wr;
		return ENOMEM;
	}

	pthread_spin_lock(&qp->sq.lock);
	for (idx = rxo_wq_begin(ring); wr; wr = wr->next, idx++) {
		err = rxo_check_send(qp, wr, &length);
		if (!err && rxo_wq_full(ring, idx))
			err = ENOMEM;
		if (err) {
			*bad_wr = wr;
			break;
		}
		rxo_write_sqe(qp, wr, length, rxo_wq_slot(ring, idx));
	}
	if (wr != first)
		rxo_wq_publish(ring, idx);
	pthread_spin_unlock(&qp->sq.lock);

	if (wr == first)
		return err;

	bell = rxo_doorbell(ibqp);
	if (bell) {
		*bad_wr = first;
		return bell;
	}
	return err;
}

/**
 * rxo_post_recv - post a chain of receive requests
 * @ibqp: queue pair
 * @wr: chain
 * @bad_wr: on error, the first request that was not posted
 *
 * No doorbell: the kernel looks when a message arrives. A QP in the error state
 * receives none, so there it asks to be told, to flush what was posted.
 *
 * Return: 0 or a positive errno.
 */
int rxo_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr)
{
	struct rxo_qp *qp = to_rxo_qp(ibqp);
	struct rxo_wq_ring *ring = &qp->rq.ring;
	struct ibv_recv_wr *first = wr;
	uint32_t idx, length;
	int err = 0, bell;

	if (ibqp->state == IBV_QPS_RESET || ibqp->srq) {
		*bad_wr = wr;
		return EINVAL;
	}
	if (!ring->entries) {
		*bad_wr = wr;
		return ENOMEM;
	}

	pthread_spin_lock(&qp->rq.lock);
	for (idx = rxo_wq_begin(ring); wr; wr = wr->next, idx++) {
		err = rxo_check_sges(wr->sg_list, wr->num_sge, qp->rq.max_sge,
				     &length);
		if (!err && rxo_wq_full(ring, idx))
			err = ENOMEM;
		if (err) {
			*bad_wr = wr;
			break;
		}
		rxo_write_rqe(wr, rxo_wq_slot(ring, idx));
	}
	if (wr != first)
		rxo_wq_publish(ring, idx);
	pthread_spin_unlock(&qp->rq.lock);

	if (wr == first || !rxo_wq_needs_doorbell(ring))
		return err;

	bell = rxo_doorbell(ibqp);
	if (bell) {
		*bad_wr = first;
		return bell;
	}
	return err;
}
