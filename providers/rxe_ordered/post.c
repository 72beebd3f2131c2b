// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting: checks, ring entries, doorbell. ibv_post_send() and the builders of
 * build.c meet in rxo_send_put().
 *
 * The kernel copies each entry once and checks the copy, so the checks here
 * protect nobody; they exist because verbs report a bad request to the caller
 * who posts it and not as a failed completion.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "rxo.h"

/* The longest message of the transport. */
#define RXO_MAX_MSG	(1U << 31)
/* Bytes that an atomic works on, and that its result has. */
#define RXO_ATOMIC_LEN	8

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

	return ioctl(qp->context->cmd_fd, RDMA_VERBS_IOCTL, &cmd) ? errno : 0;
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

	n = write(qp->context->cmd_fd, &cmd, sizeof(cmd));
	return n == (ssize_t)sizeof(cmd) ? 0 : n < 0 ? errno : EIO;
}

static int rxo_doorbell_once(struct ibv_qp *qp)
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

/* The call did not get through, and nothing is wrong with what it is about. */
static bool rxo_doorbell_passes(int err)
{
	return err == EINTR || err == EAGAIN || err == ENOMEM;
}

/**
 * rxo_doorbell - have the kernel look at the rings of a QP
 * @qp: queue pair
 *
 * Rings until it is heard or never will be. What it rings for is published, and
 * nobody can take it back, since the kernel may have read it when somebody else
 * rang: an error that passes must not become one of posting, or requests that
 * were reported as not posted would be executed. Nor can it wait for the next
 * post, which may depend on this one. ENOMEM is of write(): the kernel allocates
 * a few bytes there, and gets them unless it is about to kill this process.
 *
 * Context: no lock is held: entries are published already, and a doorbell too
 * many is harmless.
 *
 * Return: 0 or a positive errno: the device is gone, or the call is impossible.
 */
int rxo_doorbell(struct ibv_qp *qp)
{
	int err = rxo_doorbell_once(qp);

	while (rxo_doorbell_passes(err)) {
		sched_yield();
		err = rxo_doorbell_once(qp);
	}
	return err;
}

/* ------------------------------------------------------------------ checks */

/*
 * The data of a request, element by element, whatever kind of list it is.
 * The length of a buffer has as many bits as an address.
 */
static size_t rxo_piece(const struct rxo_data *data, size_t i,
			const void **addr)
{
	if (data->buf) {
		*addr = data->buf[i].addr;
		return data->buf[i].length;
	}
	*addr = (const void *)(uintptr_t)data->sg[i].addr;
	return data->sg[i].length;
}

/*
 * The one place where lengths are added up and compared, for all ways to post.
 * Each is compared with what is left before it is added: no sum can overflow.
 *
 * Return: 0 and the length of the message, or EINVAL.
 */
static int rxo_check_data(const struct rxo_data *data, uint32_t max_sge,
			  uint32_t max_length, uint32_t *length)
{
	uint32_t sum = 0;
	const void *addr;
	size_t i, len;

	if (!data->buf && data->num > max_sge)
		return EINVAL;
	for (i = 0; i < data->num; i++) {
		len = rxo_piece(data, i, &addr);
		if (len > max_length - sum)
			return EINVAL;
		sum += (uint32_t)len;
	}

	*length = sum;
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
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return 0;
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

static bool rxo_is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static int rxo_check_send(const struct rxo_qp *qp, const struct rxo_send *send,
			  uint32_t *length)
{
	uint32_t max_length = RXO_MAX_MSG;
	int err;

	err = rxo_check_opcode(send->opcode);
	if (err)
		return err;
	if (send->flags & ~RXO_SEND_FLAGS)
		return EINVAL;

	if (send->flags & IBV_SEND_INLINE) {
		/* There is nothing to inline into a request for data. */
		if (send->opcode == IBV_WR_RDMA_READ ||
		    rxo_is_atomic(send->opcode))
			return EINVAL;
		max_length = qp->max_inline;
	}
	err = rxo_check_data(&send->data, qp->sq.max_sge, max_length, length);
	if (err)
		return err;
	/* The result of an atomic fits the list exactly. */
	return rxo_is_atomic(send->opcode) && *length != RXO_ATOMIC_LEN ?
		       EINVAL : 0;
}

/* ----------------------------------------------------------------- entries */

static void rxo_write_sges(const struct rxo_data *data, void *to)
{
	if (data->num)
		memcpy(to, data->sg, data->num * sizeof(struct ibv_sge));
}

static void rxo_write_inline(const struct rxo_data *data, unsigned char *to)
{
	const void *addr;
	size_t i, len;

	for (i = 0; i < data->num; i++) {
		len = rxo_piece(data, i, &addr);
		if (len)
			memcpy(to, addr, len);
		to += len;
	}
}

/* Context: the lock of the send queue is held, the slot is ours. */
static void rxo_write_sqe(const struct rxo_qp *qp, const struct rxo_send *send,
			  uint32_t length, void *slot)
{
	struct rxe_ordered_sqe *sqe = slot;
	bool is_inline = send->flags & IBV_SEND_INLINE;

	*sqe = (struct rxe_ordered_sqe){
		.wr_id = send->wr_id,
		.opcode = send->opcode,
		.flags = send->flags | (qp->sig_all ? IBV_SEND_SIGNALED : 0),
		.num_sge = is_inline ? 0 : (uint32_t)send->data.num,
		.inline_len = is_inline ? length : 0,
	};
	if (send->opcode == IBV_WR_SEND_WITH_IMM ||
	    send->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		sqe->imm_data = send->imm_data;
	if (send->opcode != IBV_WR_SEND &&
	    send->opcode != IBV_WR_SEND_WITH_IMM) {
		sqe->remote_addr = send->remote_addr;
		sqe->rkey = send->rkey;
	}
	if (rxo_is_atomic(send->opcode))
		sqe->compare_add = send->compare_add;
	if (send->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		sqe->swap = send->swap;
	if (is_inline)
		rxo_write_inline(&send->data, (unsigned char *)(sqe + 1));
	else
		rxo_write_sges(&send->data, sqe + 1);
}

/* Context: the lock of the receive queue is held, the slot is ours. */
static void rxo_write_rqe(uint64_t wr_id, const struct rxo_data *data,
			  void *slot)
{
	struct rxe_ordered_rqe *rqe = slot;

	*rqe = (struct rxe_ordered_rqe){
		.wr_id = wr_id,
		.num_sge = (uint32_t)data->num,
	};
	rxo_write_sges(data, rqe + 1);
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
 * rxo_send_begin - index of the first entry to be written
 * @qp: queue pair
 *
 * Context: the lock of the send queue is held.
 */
uint32_t rxo_send_begin(struct rxo_qp *qp)
{
	/* Without a queue there is no page to read. */
	return qp->sq.ring.entries ? rxo_wq_begin(&qp->sq.ring) : 0;
}

/**
 * rxo_send_put - check one send request and write its entry, not published
 * @qp: queue pair
 * @idx: index of the entry
 * @send: the request
 *
 * All ways to post meet here, so that they accept the same requests and write
 * the same bytes.
 *
 * Context: the lock of the send queue is held.
 * Return: 0 or a positive errno.
 */
int rxo_send_put(struct rxo_qp *qp, uint32_t idx, const struct rxo_send *send)
{
	struct rxo_wq_ring *ring = &qp->sq.ring;
	uint32_t length;
	int err;

	if (!rxo_may_post_send(&qp->ibqp))
		return EINVAL;
	if (!ring->entries)
		return ENOMEM;
	err = rxo_check_send(qp, send, &length);
	if (err)
		return err;
	if (rxo_wq_full(ring, idx))
		return ENOMEM;

	rxo_write_sqe(qp, send, length, rxo_wq_slot(ring, idx));
	return 0;
}

static int rxo_put_wr(struct rxo_qp *qp, uint32_t idx,
		      const struct ibv_send_wr *wr)
{
	struct rxo_send send = {
		.wr_id = wr->wr_id,
		.remote_addr = wr->wr.rdma.remote_addr,
		.opcode = wr->opcode,
		.flags = wr->send_flags,
		.rkey = wr->wr.rdma.rkey,
		.imm_data = wr->imm_data,
		/* A negative number is far too many. */
		.data = { .sg = wr->sg_list, .num = wr->num_sge },
	};

	if (rxo_is_atomic(wr->opcode)) {
		send.remote_addr = wr->wr.atomic.remote_addr;
		send.rkey = wr->wr.atomic.rkey;
		send.compare_add = wr->wr.atomic.compare_add;
		send.swap = wr->wr.atomic.swap;
	}
	return rxo_send_put(qp, idx, &send);
}

/**
 * rxo_post_send - post a chain of send requests
 * @ibqp: queue pair
 * @wr: chain
 * @bad_wr: on error, the first request that was not posted
 *
 * The chain is published and rung for once. If the doorbell fails, for good, the
 * device is gone and nothing of the chain will be executed: *@bad_wr is its first.
 *
 * Return: 0 or a positive errno.
 */
int rxo_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr)
{
	struct rxo_qp *qp = to_rxo_qp(ibqp);
	struct ibv_send_wr *first = wr;
	uint32_t idx;
	int err = 0, bell;

	pthread_spin_lock(&qp->sq.lock);
	for (idx = rxo_send_begin(qp); wr; wr = wr->next, idx++) {
		err = rxo_put_wr(qp, idx, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (wr != first)
		rxo_wq_publish(&qp->sq.ring, idx);
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
		struct rxo_data data = {
			.sg = wr->sg_list, .num = wr->num_sge,
		};

		err = rxo_check_data(&data, qp->rq.max_sge, RXO_MAX_MSG,
				     &length);
		if (!err && rxo_wq_full(ring, idx))
			err = ENOMEM;
		if (err) {
			*bad_wr = wr;
			break;
		}
		rxo_write_rqe(wr->wr_id, &data, rxo_wq_slot(ring, idx));
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
