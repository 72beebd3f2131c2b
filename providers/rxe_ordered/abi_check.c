// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All statements about layout and numbers that the provider relies on, checked
 * when it is compiled. Produces no code.
 */
#include "rxo.h"
#include "rxodv.h"

#define SIZE_IS(type, n)                                                       \
	static_assert(sizeof(struct type) == (n), "size of " #type);           \
	static_assert(sizeof(struct type) % 8 == 0, "multiple of 8: " #type)
#define AT(type, member, n)                                                    \
	static_assert(offsetof(struct type, member) == (n),                    \
		      #type "." #member)

/* The ABI with the kernel: the same for 32-bit and 64-bit processes. */
SIZE_IS(rxe_ordered_alloc_ucontext_resp, 16);
AT(rxe_ordered_alloc_ucontext_resp, max_inline, 4);
AT(rxe_ordered_alloc_ucontext_resp, max_sge, 8);

SIZE_IS(rxe_ordered_cq_hdr, RXE_ORDERED_RING_HDR_SIZE);
AT(rxe_ordered_cq_hdr, word, 0);
AT(rxe_ordered_cq_hdr, cons, 64);

SIZE_IS(rxe_ordered_wc, 64);
AT(rxe_ordered_wc, wr_id, 0);
AT(rxe_ordered_wc, status, 8);
AT(rxe_ordered_wc, opcode, 12);
AT(rxe_ordered_wc, vendor_err, 16);
AT(rxe_ordered_wc, byte_len, 20);
AT(rxe_ordered_wc, imm_data, 24);
AT(rxe_ordered_wc, qp_num, 28);
AT(rxe_ordered_wc, src_qp, 32);
AT(rxe_ordered_wc, wc_flags, 36);
AT(rxe_ordered_wc, reserved, 40);

SIZE_IS(rxe_ordered_create_cq_cmd, 8);
SIZE_IS(rxe_ordered_create_cq_resp, 24);
AT(rxe_ordered_create_cq_resp, mmap_size, 8);
AT(rxe_ordered_create_cq_resp, entries, 20);

SIZE_IS(rxe_ordered_wq_hdr, RXE_ORDERED_RING_HDR_SIZE);
AT(rxe_ordered_wq_hdr, prod, 0);
AT(rxe_ordered_wq_hdr, cons, 64);

SIZE_IS(rxe_ordered_sge, 16);
AT(rxe_ordered_sge, length, 8);
AT(rxe_ordered_sge, lkey, 12);

SIZE_IS(rxe_ordered_sqe, 64);
AT(rxe_ordered_sqe, opcode, 8);
AT(rxe_ordered_sqe, flags, 12);
AT(rxe_ordered_sqe, num_sge, 16);
AT(rxe_ordered_sqe, inline_len, 20);
AT(rxe_ordered_sqe, imm_data, 24);
AT(rxe_ordered_sqe, rkey, 28);
AT(rxe_ordered_sqe, remote_addr, 32);
AT(rxe_ordered_sqe, compare_add, 40);
AT(rxe_ordered_sqe, swap, 48);
AT(rxe_ordered_sqe, reserved, 56);

SIZE_IS(rxe_ordered_rqe, 16);
AT(rxe_ordered_rqe, num_sge, 8);

SIZE_IS(rxe_ordered_create_qp_cmd, 8);
SIZE_IS(rxe_ordered_create_qp_resp, 56);
AT(rxe_ordered_create_qp_resp, rq_mmap_offset, 16);
AT(rxe_ordered_create_qp_resp, sq_entries, 32);
AT(rxe_ordered_create_qp_resp, sq_stride, 36);
AT(rxe_ordered_create_qp_resp, rq_entries, 40);
AT(rxe_ordered_create_qp_resp, rq_stride, 44);

/* A completion is copied as words into struct ibv_wc. */
SIZE_IS(ibv_wc, RXO_WC_BYTES);
AT(ibv_wc, wr_id, offsetof(struct rxe_ordered_wc, wr_id));
AT(ibv_wc, status, offsetof(struct rxe_ordered_wc, status));
AT(ibv_wc, opcode, offsetof(struct rxe_ordered_wc, opcode));
AT(ibv_wc, vendor_err, offsetof(struct rxe_ordered_wc, vendor_err));
AT(ibv_wc, byte_len, offsetof(struct rxe_ordered_wc, byte_len));
AT(ibv_wc, imm_data, offsetof(struct rxe_ordered_wc, imm_data));
AT(ibv_wc, qp_num, offsetof(struct rxe_ordered_wc, qp_num));
AT(ibv_wc, src_qp, offsetof(struct rxe_ordered_wc, src_qp));
AT(ibv_wc, wc_flags, offsetof(struct rxe_ordered_wc, wc_flags));

/* Scatter-gather entries are copied whole. */
SIZE_IS(ibv_sge, sizeof(struct rxe_ordered_sge));
AT(ibv_sge, addr, offsetof(struct rxe_ordered_sge, addr));
AT(ibv_sge, length, offsetof(struct rxe_ordered_sge, length));
AT(ibv_sge, lkey, offsetof(struct rxe_ordered_sge, lkey));

/* Numbers are passed through. */
#define SAME(a, b) static_assert((int)(a) == (int)(b), #a " is " #b)
SAME(IBV_WR_RDMA_WRITE, RXE_ORDERED_WR_RDMA_WRITE);
SAME(IBV_WR_RDMA_WRITE_WITH_IMM, RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM);
SAME(IBV_WR_SEND, RXE_ORDERED_WR_SEND);
SAME(IBV_WR_SEND_WITH_IMM, RXE_ORDERED_WR_SEND_WITH_IMM);
SAME(IBV_WR_RDMA_READ, RXE_ORDERED_WR_RDMA_READ);
SAME(IBV_WR_ATOMIC_CMP_AND_SWP, RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP);
SAME(IBV_WR_ATOMIC_FETCH_AND_ADD, RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD);
SAME(IBV_SEND_FENCE, RXE_ORDERED_SEND_FENCE);
SAME(IBV_SEND_SIGNALED, RXE_ORDERED_SEND_SIGNALED);
SAME(IBV_SEND_SOLICITED, RXE_ORDERED_SEND_SOLICITED);
SAME(IBV_SEND_INLINE, RXE_ORDERED_SEND_INLINE);
SAME(RXODV_REARM_SOLICITED_ONLY, RXE_ORDERED_REARM_SOLICITED_ONLY);

/* The driver's part of a message begins where the core's ends. */
#define GLUED(core_type, drv_type)                                             \
	static_assert(sizeof(core_type) % 8 == 0 &&                            \
		      sizeof(RXO_MSG(core_type, drv_type)) ==                  \
			      sizeof(core_type) + sizeof(drv_type),            \
		      #core_type)
GLUED(struct ib_uverbs_get_context_resp, struct rxe_ordered_alloc_ucontext_resp);
GLUED(struct ibv_create_cq, struct rxe_ordered_create_cq_cmd);
GLUED(struct ib_uverbs_create_cq_resp, struct rxe_ordered_create_cq_resp);
GLUED(struct ibv_create_qp, struct rxe_ordered_create_qp_cmd);
GLUED(struct ib_uverbs_create_qp_resp, struct rxe_ordered_create_qp_resp);

/*
 * The ABI with libibverbs, level 34, on 64-bit machines. Measured on installed
 * binaries: the offsets that verbs_set_ops() reads, and what another provider
 * allocates and registers.
 */
#if UINTPTR_MAX == UINT64_MAX && RXO_PABI == 34
static_assert(sizeof(struct verbs_match_ent) == 24, "match entry");
static_assert(offsetof(struct verbs_match_ent, kind) == 20, "match kind");
static_assert(sizeof(struct verbs_device_ops) == 72, "device operations");
static_assert(offsetof(struct verbs_device_ops, match_table) == 16, "match");
static_assert(offsetof(struct verbs_device_ops, alloc_context) == 40, "open");
static_assert(offsetof(struct verbs_device_ops, alloc_device) == 56, "alloc");
static_assert(sizeof(struct verbs_device) == 712, "device");
static_assert(offsetof(struct verbs_device, ops) == 664, "device ops");
static_assert(sizeof(struct verbs_context) == 648, "context");
static_assert(sizeof(struct verbs_mr) == 56, "memory region");
static_assert(VERBS_QP_EX == 2, "flag of a QP with builders");
static_assert(offsetof(struct ibv_qp_ex, wr_atomic_write) == 344,
	      "the last member that every library of level 34 has");
static_assert(sizeof(struct ibv_qp_ex) >= 352, "the flag word is behind it");
static_assert(offsetof(struct ibv_cq_ex, start_poll) == 144, "extended CQ");
static_assert(sizeof(struct verbs_context_ops) == 0x260, "operations");
static_assert(offsetof(struct verbs_context_ops, alloc_pd) == 0x28, "order");
static_assert(offsetof(struct verbs_context_ops, create_cq) == 0x78, "order");
static_assert(offsetof(struct verbs_context_ops, create_cq_ex) == 0x80,
	      "order");
static_assert(offsetof(struct verbs_context_ops, create_qp) == 0x98, "order");
static_assert(offsetof(struct verbs_context_ops, create_qp_ex) == 0xa0,
	      "order");
static_assert(offsetof(struct verbs_context_ops, dealloc_pd) == 0xd0, "order");
static_assert(offsetof(struct verbs_context_ops, dereg_mr) == 0xe0, "order");
static_assert(offsetof(struct verbs_context_ops, destroy_cq) == 0xf8, "order");
static_assert(offsetof(struct verbs_context_ops, destroy_qp) == 0x110, "order");
static_assert(offsetof(struct verbs_context_ops, free_context) == 0x138,
	      "order");
static_assert(offsetof(struct verbs_context_ops, modify_qp) == 0x178, "order");
static_assert(offsetof(struct verbs_context_ops, poll_cq) == 0x1a8, "order");
static_assert(offsetof(struct verbs_context_ops, query_port) == 0x1e0, "order");
static_assert(offsetof(struct verbs_context_ops, reg_mr) == 0x220, "order");
#endif
