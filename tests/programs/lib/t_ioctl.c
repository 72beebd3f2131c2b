// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "t_ioctl.h"

#define MAX_ATTRS	4

/* A call under construction; attributes follow the header without a hole. */
union command {
	struct ib_uverbs_ioctl_hdr hdr;
	unsigned char room[sizeof(struct ib_uverbs_ioctl_hdr) +
			   MAX_ATTRS * sizeof(struct ib_uverbs_attr)];
};

static void begin(union command *cmd, uint16_t object, uint16_t method,
		  uint32_t driver_id)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->hdr.object_id = object;
	cmd->hdr.method_id = method;
	cmd->hdr.driver_id = driver_id;
}

static void add(union command *cmd, uint16_t id, uint16_t len, uint64_t data)
{
	struct ib_uverbs_attr *attr = &cmd->hdr.attrs[cmd->hdr.num_attrs++];

	attr->attr_id = id;
	attr->len = len;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	attr->data = data;
}

/* Up to eight bytes of input travel in the attribute itself. */
static uint64_t in_place(const uint64_t *input, uint16_t len)
{
	return len <= 8 ? *input : (uintptr_t)input;
}

static int issue(union command *cmd, int fd)
{
	cmd->hdr.length = sizeof(cmd->hdr) +
			  cmd->hdr.num_attrs * sizeof(struct ib_uverbs_attr);
	return ioctl(fd, RDMA_VERBS_IOCTL, cmd) ? errno : 0;
}

void t_poll_rearm_init(struct t_poll_rearm *call, struct ibv_cq *cq,
		       struct rxe_ordered_wc *wc, unsigned int num,
		       uint32_t *count)
{
	*call = (struct t_poll_rearm){
		.fd = cq->context->cmd_fd,
		.handle = cq->handle,
		.wc = wc,
		.wc_len = num * sizeof(*wc),
		.has_wc = true,
		.flags_len = sizeof(uint32_t),
		.count = count,
		.count_len = sizeof(*count),
		.has_count = true,
		.driver_id = RXE_ORDERED_DRIVER_ID,
	};
}

int t_poll_rearm(const struct t_poll_rearm *call)
{
	union command cmd;

	begin(&cmd, UVERBS_OBJECT_CQ, RXE_ORDERED_METHOD_CQ_POLL_REARM,
	      call->driver_id);
	add(&cmd, RXE_ORDERED_ATTR_CQ_POLL_REARM_CQ_HANDLE, 0, call->handle);
	if (call->has_flags)
		add(&cmd, RXE_ORDERED_ATTR_CQ_POLL_REARM_FLAGS, call->flags_len,
		    in_place(&call->flags, call->flags_len));
	if (call->has_wc)
		add(&cmd, RXE_ORDERED_ATTR_CQ_POLL_REARM_WC, call->wc_len,
		    (uintptr_t)call->wc);
	if (call->has_count)
		add(&cmd, RXE_ORDERED_ATTR_CQ_POLL_REARM_COUNT, call->count_len,
		    (uintptr_t)call->count);
	return issue(&cmd, call->fd);
}

static void convert(const struct rxe_ordered_wc *from, struct ibv_wc *to)
{
	*to = (struct ibv_wc){
		.wr_id = from->wr_id,
		.status = from->status,
		.opcode = from->opcode,
		.vendor_err = from->vendor_err,
		.byte_len = from->byte_len,
		.imm_data = from->imm_data,
		.qp_num = from->qp_num,
		.src_qp = from->src_qp,
		.wc_flags = from->wc_flags,
	};
}

int t_ioctl_poll_rearm(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc,
		       uint32_t flags)
{
	struct rxe_ordered_wc raw[T_IOCTL_MAX_WC];
	struct t_poll_rearm call;
	uint32_t i, count = 0;
	int err;

	if (num_entries < 0)
		return -EINVAL;
	if (num_entries > T_IOCTL_MAX_WC)
		num_entries = T_IOCTL_MAX_WC;
	t_poll_rearm_init(&call, cq, wc ? raw : NULL, num_entries, &count);
	call.has_wc = wc;
	call.flags = flags;
	call.has_flags = true;
	err = t_poll_rearm(&call);
	if (err)
		return -err;
	for (i = 0; i < count; i++)
		convert(&raw[i], &wc[i]);
	return count;
}

void t_rearm_init(struct t_rearm *call, struct ibv_cq *cq, uint32_t *result)
{
	*call = (struct t_rearm){
		.fd = cq->context->cmd_fd,
		.handle = cq->handle,
		.flags_len = sizeof(uint32_t),
		.result = result,
		.result_len = sizeof(*result),
		.has_result = true,
	};
}

int t_rearm(const struct t_rearm *call)
{
	union command cmd;

	begin(&cmd, UVERBS_OBJECT_CQ, RXE_ORDERED_METHOD_CQ_REARM_IF_EMPTY,
	      RXE_ORDERED_DRIVER_ID);
	add(&cmd, RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_CQ_HANDLE, 0, call->handle);
	if (call->has_flags)
		add(&cmd, RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_FLAGS,
		    call->flags_len, in_place(&call->flags, call->flags_len));
	if (call->has_result)
		add(&cmd, RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_RESULT,
		    call->result_len, (uintptr_t)call->result);
	return issue(&cmd, call->fd);
}

int t_ioctl_rearm_if_empty(struct ibv_cq *cq, uint32_t flags)
{
	uint32_t result = 0;
	struct t_rearm call;
	int err;

	t_rearm_init(&call, cq, &result);
	call.flags = flags;
	call.has_flags = true;
	err = t_rearm(&call);
	return err ? -err : (int)result;
}

int t_ioctl_doorbell(int fd, uint32_t handle)
{
	union command cmd;

	begin(&cmd, UVERBS_OBJECT_QP, RXE_ORDERED_METHOD_QP_DOORBELL,
	      RXE_ORDERED_DRIVER_ID);
	add(&cmd, RXE_ORDERED_ATTR_QP_DOORBELL_QP_HANDLE, 0, handle);
	return issue(&cmd, fd);
}
