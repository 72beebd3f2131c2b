// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ring entries, already copied out of shared memory, to private records. A user
 * may have put any bytes there; nothing that passes here needs checking again.
 */
#include "rxo_wqe.h"

/* The layout is ABI: the same numbers are checked by the provider. */
static_assert(sizeof(struct rxe_ordered_sqe) == 64, "send entry");
static_assert(sizeof(struct rxe_ordered_rqe) == 16, "receive entry");
static_assert(sizeof(struct rxe_ordered_sge) == 16, "scatter entry");
static_assert(sizeof(struct rxe_ordered_wc) == 64, "completion entry");

#define RXO_SEND_FLAGS (RXE_ORDERED_SEND_FENCE | RXE_ORDERED_SEND_SIGNALED | \
			RXE_ORDERED_SEND_SOLICITED | RXE_ORDERED_SEND_INLINE)

/* @num_sge has been checked. */
static u64 rxo_wqe_sge_sum(const struct rxe_ordered_sge *sge, u32 num_sge)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < num_sge; i++)
		sum += sge[i].length;
	return sum;
}

static bool rxo_wqe_is_atomic(u32 opcode)
{
	return opcode == RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD;
}

static bool rxo_wqe_send_is_wellformed(const struct rxe_ordered_sqe *sqe,
				       const struct rxo_sq_limits *lim)
{
	bool is_inline = sqe->flags & RXE_ORDERED_SEND_INLINE;

	if (sqe->reserved)
		return false;
	if (sqe->opcode > RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD)
		return false;
	/* An operand that the opcode does not have is a reserved field. */
	if (sqe->swap && sqe->opcode != RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP)
		return false;
	if (sqe->compare_add && !rxo_wqe_is_atomic(sqe->opcode))
		return false;
	if (sqe->flags & ~RXO_SEND_FLAGS)
		return false;
	/* There is nothing to inline into a request for data. */
	if (is_inline && sqe->opcode >= RXE_ORDERED_WR_RDMA_READ)
		return false;
	if (is_inline)
		return !sqe->num_sge && sqe->inline_len <= lim->max_inline &&
		       sqe->inline_len <= RXO_MAX_INLINE;
	return !sqe->inline_len && sqe->num_sge <= lim->max_sge &&
	       sqe->num_sge <= RXO_MAX_SGE;
}

enum rxo_status rxo_wqe_validate_send(const struct rxe_ordered_sqe *sqe,
				      const struct rxe_ordered_sge *sge,
				      const struct rxo_sq_limits *lim,
				      struct rxo_swqe *wqe)
{
	u64 len;

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = sqe->wr_id;
	wqe->flags = sqe->flags & RXO_SEND_FLAGS;
	if (lim->sig_all)
		wqe->flags |= RXE_ORDERED_SEND_SIGNALED;

	if (!rxo_wqe_send_is_wellformed(sqe, lim)) {
		wqe->status = RXO_WC_LOC_QP_OP_ERR;
		return RXO_WC_LOC_QP_OP_ERR;
	}
	wqe->opcode = (u8)sqe->opcode;
	wqe->num_sge = (u8)sqe->num_sge;

	len = sqe->inline_len + rxo_wqe_sge_sum(sge, sqe->num_sge);
	if (len > RXO_MAX_MSG ||
	    (rxo_wqe_is_atomic(sqe->opcode) && len != RXO_ATOMIC_LEN)) {
		wqe->status = RXO_WC_LOC_LEN_ERR;
		return RXO_WC_LOC_LEN_ERR;
	}
	wqe->length = (u32)len;
	wqe->raddr = sqe->remote_addr;
	wqe->rkey = sqe->rkey;
	memcpy(&wqe->imm, &sqe->imm_data, sizeof(wqe->imm));
	if (sqe->opcode == RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP) {
		wqe->compare = sqe->compare_add;
		wqe->swap_add = sqe->swap;
	} else {
		wqe->swap_add = sqe->compare_add;
	}
	return RXO_WC_SUCCESS;
}

enum rxo_status rxo_wqe_validate_recv(const struct rxe_ordered_rqe *rqe,
				      const struct rxe_ordered_sge *sge,
				      u32 max_sge, struct rxo_rwqe *wqe)
{
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = rqe->wr_id;
	if (rqe->reserved || rqe->num_sge > max_sge ||
	    rqe->num_sge > RXO_MAX_SGE)
		return RXO_WC_LOC_QP_OP_ERR;
	wqe->num_sge = rqe->num_sge;
	wqe->length = rxo_wqe_sge_sum(sge, rqe->num_sge);
	return RXO_WC_SUCCESS;
}
