// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ring entries as a hostile process writes them. The scatter list has just as
 * many entries as the ABI promises, on the heap.
 */
#include "core/rxo_wqe.h"
#include "fuzz.h"

static void check_send(const struct rxe_ordered_sqe *sqe,
		       const struct rxe_ordered_sge *sge,
		       const struct rxo_sq_limits *lim)
{
	bool atomic = sqe->opcode == RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP ||
		      sqe->opcode == RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD;
	struct rxo_swqe wqe;
	enum rxo_status status;
	u64 sum = sqe->inline_len;
	u32 i;

	memset(&wqe, 0xa5, sizeof(wqe));
	status = rxo_wqe_validate_send(sqe, sge, lim, &wqe);
	MUST(wqe.status == status && wqe.wr_id == sqe->wr_id && !wqe.started);
	MUST(status == RXO_WC_SUCCESS || status == RXO_WC_LOC_QP_OP_ERR ||
	     status == RXO_WC_LOC_LEN_ERR);
	if (lim->sig_all)
		MUST(wqe.flags & RXE_ORDERED_SEND_SIGNALED);
	if (status == RXO_WC_LOC_QP_OP_ERR)
		return;
	MUST(sqe->opcode <= 6 && wqe.opcode == sqe->opcode);
	MUST(atomic || (!sqe->compare_add && !sqe->swap));
	MUST(!sqe->reserved);
	MUST(sqe->num_sge <= lim->max_sge && sqe->num_sge <= RXO_MAX_SGE);
	MUST(sqe->inline_len <= lim->max_inline &&
	     sqe->inline_len <= RXO_MAX_INLINE);
	MUST(!sqe->num_sge || !sqe->inline_len);
	for (i = 0; i < sqe->num_sge; i++)
		sum += sge[i].length;
	MUST((status == RXO_WC_SUCCESS) ==
	     (atomic ? sum == RXO_ATOMIC_LEN : sum <= RXO_MAX_MSG));
	if (status == RXO_WC_SUCCESS)
		MUST(wqe.length == sum && wqe.num_sge == sqe->num_sge);
}

static void check_recv(const struct rxe_ordered_rqe *rqe,
		       const struct rxe_ordered_sge *sge, u32 max_sge)
{
	struct rxo_rwqe wqe;

	if (rxo_wqe_validate_recv(rqe, sge, max_sge, &wqe)) {
		MUST(!wqe.num_sge && !wqe.length);
		return;
	}
	MUST(wqe.num_sge <= max_sge && wqe.num_sge <= RXO_MAX_SGE);
	MUST(wqe.length <= (u64)wqe.num_sge * U32_MAX);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct tape t = { data, size };
	struct rxo_sq_limits lim;
	struct rxe_ordered_sge *sge = calloc(RXO_MAX_SGE, sizeof(*sge));
	struct rxe_ordered_sqe sqe;
	struct rxe_ordered_rqe rqe;
	u32 i;

	lim.max_sge = (u32)tape_get(&t, 1);
	lim.max_inline = (u32)tape_get(&t, 2);
	lim.sig_all = tape_get(&t, 1) & 1;
	for (i = 0; i < sizeof(sqe); i++)
		((u8 *)&sqe)[i] = (u8)tape_get(&t, 1);
	for (i = 0; i < sizeof(rqe); i++)
		((u8 *)&rqe)[i] = (u8)tape_get(&t, 1);
	for (i = 0; i < RXO_MAX_SGE * sizeof(*sge); i++)
		((u8 *)sge)[i] = (u8)tape_get(&t, 1);
	check_send(&sqe, sge, &lim);
	check_recv(&rqe, sge, lim.max_sge);
	free(sge);
	return 0;
}
