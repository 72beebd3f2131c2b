/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Private work-request and completion records, and the validation that turns a
 * copied ring entry into one. What is validated here is never read from the
 * shared ring again.
 */
#ifndef RXO_WQE_H
#define RXO_WQE_H

#include "rxo_psn.h"

#define RXO_MAX_SGE	32
#define RXO_MAX_INLINE	512
#define RXO_MAX_MSG	0x80000000u
/* Bytes that an atomic works on, and that its result has. */
#define RXO_ATOMIC_LEN	8

/* Completion status; same numbers as enum ib_wc_status. */
enum rxo_status {
	RXO_WC_SUCCESS = 0,
	RXO_WC_LOC_LEN_ERR = 1,
	RXO_WC_LOC_QP_OP_ERR = 2,
	RXO_WC_LOC_PROT_ERR = 4,
	RXO_WC_WR_FLUSH_ERR = 5,
	RXO_WC_BAD_RESP_ERR = 7,
	RXO_WC_LOC_ACCESS_ERR = 8,
	RXO_WC_REM_INV_REQ_ERR = 9,
	RXO_WC_REM_ACCESS_ERR = 10,
	RXO_WC_REM_OP_ERR = 11,
	RXO_WC_RETRY_EXC_ERR = 12,
	RXO_WC_RNR_RETRY_EXC_ERR = 13,
	RXO_WC_FATAL_ERR = 19,
	RXO_WC_GENERAL_ERR = 21,
};

/* Same numbers as enum ib_wc_opcode as user space sees it (ibv_wc_opcode). */
enum rxo_wc_opcode {
	RXO_WC_SEND = 0,
	RXO_WC_RDMA_WRITE = 1,
	RXO_WC_RDMA_READ = 2,
	RXO_WC_COMP_SWAP = 3,
	RXO_WC_FETCH_ADD = 4,
	RXO_WC_RECV = 128,
	RXO_WC_RECV_RDMA_WITH_IMM = 129,
};

enum rxo_wc_flags {
	RXO_WC_WITH_IMM = 1 << 1,	/* IBV_WC_WITH_IMM */
};

/* One completion, before it is encoded for user space or a kernel consumer. */
struct rxo_cqe {
	u64 wr_id;
	u32 status;		/* enum rxo_status */
	u32 opcode;		/* enum rxo_wc_opcode */
	u32 vendor_err;
	u32 byte_len;
	__be32 imm;
	u32 qpn;
	u32 src_qp;
	u32 flags;		/* enum rxo_wc_flags */
	bool solicited;		/* SE of the message; errors count anyway */
};

/*
 * A send request, private copy. The machines own everything but what is noted.
 * Its scatter list or inline bytes are kept by the glue under the same slot.
 */
struct rxo_swqe {
	u64 wr_id;
	u64 raddr;
	u64 swap_add;		/* atomics: as in AtomicETH */
	u64 compare;
	u32 rkey;
	u32 length;		/* message bytes; atomics: of the result */
	__be32 imm;
	u8 opcode;		/* enum rxe_ordered_wr_opcode */
	u8 num_sge;
	u8 flags;		/* enum rxe_ordered_send_flags */
	u8 status;		/* enum rxo_status once it has failed */
	struct rxo_psn first;	/* valid once sending has begun */
	struct rxo_psn last;
	bool started;		/* first, last and recv_no are assigned */
	bool asked_again;	/* READ: its answers may begin and end anywhere */
	u32 recv_no;		/* how many before it take a receive of the peer */
};

struct rxo_sq_limits {
	u32 max_sge;
	u32 max_inline;
	bool sig_all;		/* every request is signalled */
};

/**
 * rxo_wqe_validate_send - turn a copied send entry into a private record
 * @sqe: private copy of the fixed part
 * @sge: private copy of the scatter list, RXO_MAX_SGE entries readable; only
 *	the first sqe->num_sge are looked at, and only after it is checked
 * @lim: limits of the QP
 * @wqe: zeroed and filled in, on failure as far as wr_id and flags
 *
 * Return: RXO_WC_SUCCESS, RXO_WC_LOC_QP_OP_ERR (opcode, flags, counts, reserved
 * fields), RXO_WC_LOC_LEN_ERR (message longer than RXO_MAX_MSG, or room for the
 * result of an atomic that is not RXO_ATOMIC_LEN).
 */
enum rxo_status rxo_wqe_validate_send(const struct rxe_ordered_sqe *sqe,
				      const struct rxe_ordered_sge *sge,
				      const struct rxo_sq_limits *lim,
				      struct rxo_swqe *wqe);

/* A receive request in use. Its scatter list is kept by the glue. */
struct rxo_rwqe {
	u64 wr_id;
	u64 length;		/* sum of its scatter list, bytes */
	u32 num_sge;
};

/* As above for a receive entry; RXO_WC_LOC_QP_OP_ERR on a bad count. */
enum rxo_status rxo_wqe_validate_recv(const struct rxe_ordered_rqe *rqe,
				      const struct rxe_ordered_sge *sge,
				      u32 max_sge, struct rxo_rwqe *wqe);

#endif /* RXO_WQE_H */
