// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/rxo_wqe.h"
#include "t.h"

#define INL RXE_ORDERED_SEND_INLINE
#define SIG RXE_ORDERED_SEND_SIGNALED

static const struct rxo_sq_limits lim = { .max_sge = 4, .max_inline = 64 };

static struct rxe_ordered_sge sge[RXO_MAX_SGE];

static struct rxe_ordered_sqe send_entry(u32 opcode, u32 num_sge)
{
	return (struct rxe_ordered_sqe){
		.wr_id = 0x1122334455667788, .opcode = opcode,
		.flags = SIG, .num_sge = num_sge, .rkey = 9,
		.remote_addr = 0xabcdef, .imm_data = 0x01020304,
	};
}

static void set_lengths(u32 each)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i].length = each;
}

T_TEST(wqe_validate_send__fills_in)
{
	struct rxe_ordered_sqe e = send_entry(RXE_ORDERED_WR_RDMA_WRITE, 3);
	struct rxo_swqe w;

	set_lengths(1000);
	T_EQ(rxo_wqe_validate_send(&e, sge, &lim, &w), RXO_WC_SUCCESS);
	T_EQ(w.wr_id, e.wr_id);
	T_EQ(w.raddr, e.remote_addr);
	T_EQ(w.rkey, 9);
	T_EQ(w.length, 3000);
	T_CHECK(!memcmp(&w.imm, &e.imm_data, 4));
	T_EQ(w.opcode, RXE_ORDERED_WR_RDMA_WRITE);
	T_EQ(w.num_sge, 3);
	T_EQ(w.flags, SIG);
	T_EQ(w.status, 0);
	T_CHECK(!w.started);
}

T_TEST(wqe_validate_send__refusals)
{
	static const struct {
		u32 opcode, flags, num_sge, inline_len;
		u32 tail;	/* which of the last three fields is not zero */
		enum rxo_status status;
	} rows[] = {
		{ 2, 0, 0, 0, 0, RXO_WC_SUCCESS },
		{ 0, 0xf & ~INL, 4, 0, 0, RXO_WC_SUCCESS },
		{ 4, 0, 4, 0, 0, RXO_WC_SUCCESS },
		{ 7, 0, 1, 0, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 0xffffffff, 0, 1, 0, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 0x100, 0, 1, 0, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 2, 0x10, 1, 0, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 2, 0x80000000, 1, 0, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 2, 0x100, 1, 0, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 2, 0, 5, 0, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 2, 0, 0xffffffff, 0, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 2, 0, 0x101, 0, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 2, 0, 1, 1, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 2, INL, 0, 64, 0, RXO_WC_SUCCESS },
		{ 0, INL, 0, 0, 0, RXO_WC_SUCCESS },
		{ 2, INL, 0, 65, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 2, INL, 0, 0xffffffff, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 2, INL, 1, 8, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 4, INL, 0, 8, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 2, 0, 1, 0, 1, RXO_WC_LOC_QP_OP_ERR },
		{ 2, 0, 1, 0, 2, RXO_WC_LOC_QP_OP_ERR },
		{ 2, 0, 1, 0, 3, RXO_WC_LOC_QP_OP_ERR },
		{ 4, 0, 1, 0, 1, RXO_WC_LOC_QP_OP_ERR },
		{ 4, 0, 1, 0, 2, RXO_WC_LOC_QP_OP_ERR },
		/* Each segment has 8 bytes. */
		{ 5, 0, 1, 0, 0, RXO_WC_SUCCESS },
		{ 5, 0, 1, 0, 1, RXO_WC_SUCCESS },
		{ 5, 0, 1, 0, 2, RXO_WC_SUCCESS },
		{ 5, 0, 1, 0, 3, RXO_WC_LOC_QP_OP_ERR },
		{ 6, 0xf & ~INL, 1, 0, 1, RXO_WC_SUCCESS },
		{ 6, 0, 1, 0, 2, RXO_WC_LOC_QP_OP_ERR },
		{ 6, 0, 1, 0, 3, RXO_WC_LOC_QP_OP_ERR },
		{ 5, INL, 0, 8, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 6, INL, 0, 8, 0, RXO_WC_LOC_QP_OP_ERR },
		{ 5, 0, 0, 0, 0, RXO_WC_LOC_LEN_ERR },
		{ 6, 0, 2, 0, 0, RXO_WC_LOC_LEN_ERR },
	};
	struct rxo_swqe w;
	size_t i;

	set_lengths(8);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rxe_ordered_sqe e = send_entry(rows[i].opcode,
						      rows[i].num_sge);

		e.flags = rows[i].flags;
		e.inline_len = rows[i].inline_len;
		if (rows[i].tail)
			(&e.compare_add)[rows[i].tail - 1] = 1ull << 63;
		t_context("row %zu", i);
		T_EQ(rxo_wqe_validate_send(&e, sge, &lim, &w), rows[i].status);
		T_EQ(w.status, rows[i].status);
		T_EQ(w.wr_id, e.wr_id);
	}
}

T_TEST(wqe_validate_send__operands_of_atomics)
{
	struct rxe_ordered_sqe e = send_entry(5, 2);
	struct rxo_swqe w;

	sge[0].length = 5;
	sge[1].length = 3;
	e.compare_add = 0x1112131415161718;
	e.swap = 0x2122232425262728;
	T_EQ(rxo_wqe_validate_send(&e, sge, &lim, &w), RXO_WC_SUCCESS);
	T_EQ(w.opcode, RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP);
	T_EQ(w.length, 8);
	T_EQ(w.compare, 0x1112131415161718);
	T_EQ(w.swap_add, 0x2122232425262728);

	e.opcode = 6;
	e.swap = 0;
	T_EQ(rxo_wqe_validate_send(&e, sge, &lim, &w), RXO_WC_SUCCESS);
	T_EQ(w.opcode, RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD);
	T_EQ(w.swap_add, 0x1112131415161718);
	T_EQ(w.compare, 0);

	sge[1].length = 4;
	T_EQ(rxo_wqe_validate_send(&e, sge, &lim, &w), RXO_WC_LOC_LEN_ERR);
	sge[1].length = 2;
	T_EQ(rxo_wqe_validate_send(&e, sge, &lim, &w), RXO_WC_LOC_LEN_ERR);
}

T_TEST(wqe_validate_send__length_in_64_bits)
{
	struct rxe_ordered_sqe e = send_entry(RXE_ORDERED_WR_SEND, 2);
	struct rxo_swqe w;

	set_lengths(0x40000000);
	T_EQ(rxo_wqe_validate_send(&e, sge, &lim, &w), RXO_WC_SUCCESS);
	T_EQ(w.length, 0x80000000);
	sge[1].length++;
	T_EQ(rxo_wqe_validate_send(&e, sge, &lim, &w), RXO_WC_LOC_LEN_ERR);
	T_EQ(w.status, RXO_WC_LOC_LEN_ERR);
	/* a sum of 2^32 + 2 is not 2 */
	set_lengths(0x80000001);
	T_EQ(rxo_wqe_validate_send(&e, sge, &lim, &w), RXO_WC_LOC_LEN_ERR);
}

T_TEST(wqe_validate_send__limits_cannot_exceed_the_arrays)
{
	static const struct rxo_sq_limits wide = { 1000, 100000, false };
	struct rxe_ordered_sqe e = send_entry(RXE_ORDERED_WR_SEND, 33);
	struct rxo_swqe w;

	T_EQ(rxo_wqe_validate_send(&e, sge, &wide, &w), RXO_WC_LOC_QP_OP_ERR);
	e.num_sge = 0;
	e.flags = INL;
	e.inline_len = RXO_MAX_INLINE + 1;
	T_EQ(rxo_wqe_validate_send(&e, sge, &wide, &w), RXO_WC_LOC_QP_OP_ERR);
}

T_TEST(wqe_validate_send__sig_all)
{
	static const struct rxo_sq_limits sig = { 4, 64, true };
	struct rxe_ordered_sqe e = send_entry(RXE_ORDERED_WR_SEND, 0);
	struct rxo_swqe w;

	e.flags = RXE_ORDERED_SEND_FENCE;
	T_EQ(rxo_wqe_validate_send(&e, sge, &sig, &w), RXO_WC_SUCCESS);
	T_EQ(w.flags, RXE_ORDERED_SEND_FENCE | SIG);
	T_EQ(rxo_wqe_validate_send(&e, sge, &lim, &w), RXO_WC_SUCCESS);
	T_EQ(w.flags, RXE_ORDERED_SEND_FENCE);
}

T_TEST(wqe_validate_recv__rows)
{
	struct rxe_ordered_rqe e = { .wr_id = 77, .num_sge = 2 };
	struct rxo_rwqe w;

	set_lengths(0xffffffff);
	T_EQ(rxo_wqe_validate_recv(&e, sge, 2, &w), RXO_WC_SUCCESS);
	T_EQ(w.wr_id, 77);
	T_EQ(w.num_sge, 2);
	T_EQ(w.length, 2 * 0xffffffffull);
	T_EQ(rxo_wqe_validate_recv(&e, sge, 1, &w), RXO_WC_LOC_QP_OP_ERR);
	T_EQ(w.wr_id, 77);
	T_EQ(w.num_sge, 0);
	e.num_sge = 33;
	T_EQ(rxo_wqe_validate_recv(&e, sge, 1000, &w), RXO_WC_LOC_QP_OP_ERR);
	e.num_sge = 0;
	T_EQ(rxo_wqe_validate_recv(&e, sge, 2, &w), RXO_WC_SUCCESS);
	T_EQ(w.length, 0);
	e.reserved = 1;
	T_EQ(rxo_wqe_validate_recv(&e, sge, 2, &w), RXO_WC_LOC_QP_OP_ERR);
}
