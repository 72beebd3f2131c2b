/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The ABI between the rxe_ordered kernel driver and its user-space provider.
 * Nothing but types and constants.
 *
 * Rules:
 *  - Every struct is a multiple of 8 bytes and has the same layout for 32-bit
 *    and 64-bit processes.
 *  - Reserved fields must be zero when user space writes them (-EINVAL
 *    otherwise) and are zero when the kernel writes them.
 *  - Unknown flag bits are refused with -EINVAL.
 *  - A command that is shorter than its struct is refused with -EINVAL; one
 *    that is longer is accepted only if the tail is zero (-EOPNOTSUPP).
 *    A response is truncated to the caller's length, never padded past it,
 *    except where a creation verb cannot be used without all of it (-EINVAL).
 *  - Structs grow only at the end. Existing fields never change.
 *
 * Shared rings are input only: the kernel copies an entry out once, validates
 * the copy and never looks at the entry again. No kernel state lives in them.
 */
#ifndef RXE_ORDERED_ABI_H
#define RXE_ORDERED_ABI_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

/* uverbs ABI version of the driver, in sysfs as abi_version. */
#define RXE_ORDERED_ABI_VERSION		1

/*
 * RDMA driver id. Numbers below 1000 are handed out by the kernel; this one is
 * the characters "RXO" and is what the provider matches on.
 */
#define RXE_ORDERED_DRIVER_ID		0x52584f

/* Alignment and size of the header in front of the entries of every ring. */
#define RXE_ORDERED_RING_HDR_SIZE	128

/* ------------------------------------------------------------------ context */

/* Response of "get context". */
struct rxe_ordered_alloc_ucontext_resp {
	__u32 comp_mask;	/* 0 */
	__u32 max_inline;	/* upper bound of max_inline_data, bytes */
	__u32 max_sge;		/* scatter-gather entries per work request */
	__u32 reserved;
};

/* ------------------------------------------------------- completion queue */

/*
 * The arm word: producer index, arm state and overrun in one 64-bit word, so
 * that "add a completion and take the arm" and "arm if there is nothing" are
 * one compare-and-swap each. Indices run freely modulo 2^32.
 *
 *   bits  0..31  producer index
 *   bits 32..33  arm state, enum rxe_ordered_arm
 *   bit  34      nothing will be added any more: the CQ has overrun, or its
 *                device is gone
 *   bits 35..63  zero
 */
#define RXE_ORDERED_CQ_PROD_MASK	0xffffffffULL
#define RXE_ORDERED_CQ_ARM_SHIFT	32
#define RXE_ORDERED_CQ_ARM_MASK		(3ULL << RXE_ORDERED_CQ_ARM_SHIFT)
#define RXE_ORDERED_CQ_OVERRUN		(1ULL << 34)

/* Ordered by strength: arming takes the maximum, so it never weakens an arm. */
enum rxe_ordered_arm {
	RXE_ORDERED_ARM_NONE = 0,
	RXE_ORDERED_ARM_SOLICITED = 1,
	RXE_ORDERED_ARM_ANY = 2,
};

/*
 * Header of the CQ ring, at offset 0 of the mapping. Entries of type struct
 * rxe_ordered_wc follow at RXE_ORDERED_RING_HDR_SIZE; entry i of the free
 * running index lies in slot i & (entries - 1).
 *
 * word: written by the kernel (publish, arm, disarm) and by the process (arm,
 *	disarm), by compare-and-swap only.
 * cons: consumer index, advanced by compare-and-swap by whoever consumes, and
 *	only after the entries have been copied out.
 */
struct rxe_ordered_cq_hdr {
	__aligned_u64 word;
	__u8 pad0[56];
	__u32 cons;
	__u8 pad1[60];
};

/* One completion: the ring entry, and what the poll-and-rearm method returns. */
struct rxe_ordered_wc {
	__aligned_u64 wr_id;
	__u32 status;		/* enum ibv_wc_status */
	__u32 opcode;		/* enum ibv_wc_opcode */
	__u32 vendor_err;
	__u32 byte_len;
	__u32 imm_data;		/* as on the wire, or the invalidated rkey */
	__u32 qp_num;
	__u32 src_qp;
	__u32 wc_flags;		/* enum ibv_wc_flags */
	__u32 reserved[6];
};

struct rxe_ordered_create_cq_cmd {
	__u32 comp_mask;	/* 0 */
	__u32 flags;		/* 0 */
};

struct rxe_ordered_create_cq_resp {
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
	__u32 comp_mask;	/* 0 */
	__u32 entries;		/* power of two */
};

/* --------------------------------------------------------- work requests */

/*
 * Header of a send or receive ring, at offset 0 of the mapping.
 * prod: advanced by the process with store-release after the entry is written.
 * cons: advanced by the kernel when a request no longer occupies its slot;
 *	for the process to find free room. The kernel never reads it back.
 * flags: written by the kernel, enum rxe_ordered_wq_flags. A process that posts
 *	receives looks at it after the store to prod and a full barrier.
 *
 * Moving the QP to RESET sets all three to zero.
 */
struct rxe_ordered_wq_hdr {
	__u32 prod;
	__u8 pad0[60];
	__u32 cons;
	__u32 flags;
	__u8 pad1[56];
};

enum rxe_ordered_wq_flags {
	/* Receive ring: ring the doorbell after posting (the QP flushes). */
	RXE_ORDERED_WQ_NEED_DOORBELL = 1 << 0,
};

struct rxe_ordered_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/* Same numbers as enum ibv_wr_opcode; others are refused. */
enum rxe_ordered_wr_opcode {
	RXE_ORDERED_WR_RDMA_WRITE = 0,
	RXE_ORDERED_WR_RDMA_WRITE_WITH_IMM = 1,
	RXE_ORDERED_WR_SEND = 2,
	RXE_ORDERED_WR_SEND_WITH_IMM = 3,
	RXE_ORDERED_WR_RDMA_READ = 4,
	RXE_ORDERED_WR_ATOMIC_CMP_AND_SWP = 5,
	RXE_ORDERED_WR_ATOMIC_FETCH_AND_ADD = 6,
};

/* Same bits as enum ibv_send_flags. */
enum rxe_ordered_send_flags {
	RXE_ORDERED_SEND_FENCE = 1 << 0,
	RXE_ORDERED_SEND_SIGNALED = 1 << 1,
	RXE_ORDERED_SEND_SOLICITED = 1 << 2,
	RXE_ORDERED_SEND_INLINE = 1 << 3,
};

/*
 * Send ring entry. sge[num_sge] or inline_len bytes of inline data follow at
 * offset sizeof(struct rxe_ordered_sqe). The stride is chosen by the kernel.
 *
 * An atomic works on the 8 bytes at remote_addr, as a number in the byte order
 * of the peer, and writes what they were before to its scatter list, which has
 * room for 8 bytes exactly, in the byte order of this machine.
 */
struct rxe_ordered_sqe {
	__aligned_u64 wr_id;
	__u32 opcode;		/* enum rxe_ordered_wr_opcode */
	__u32 flags;		/* enum rxe_ordered_send_flags */
	__u32 num_sge;		/* 0 with RXE_ORDERED_SEND_INLINE */
	__u32 inline_len;	/* 0 without RXE_ORDERED_SEND_INLINE */
	__u32 imm_data;		/* as on the wire */
	__u32 rkey;
	__aligned_u64 remote_addr;
	__aligned_u64 compare_add;	/* atomics; zero otherwise */
	__aligned_u64 swap;		/* compare and swap; zero otherwise */
	__aligned_u64 reserved;
};

/* Receive ring entry; sge[num_sge] follow. */
struct rxe_ordered_rqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
};

/* ----------------------------------------------------------- queue pair */

enum rxe_ordered_create_qp_flags {
	/*
	 * A receive completes only after all requests of this QP that the peer
	 * had executed before it sent the message. Time-out 0 is refused.
	 */
	RXE_ORDERED_CREATE_QP_ORDERED_COMPLETIONS = 1 << 0,
};

struct rxe_ordered_create_qp_cmd {
	__u32 comp_mask;	/* 0 */
	__u32 flags;		/* enum rxe_ordered_create_qp_flags */
};

struct rxe_ordered_create_qp_resp {
	__aligned_u64 sq_mmap_offset;
	__aligned_u64 sq_mmap_size;
	__aligned_u64 rq_mmap_offset;
	__aligned_u64 rq_mmap_size;
	__u32 sq_entries;	/* power of two */
	__u32 sq_stride;	/* bytes, multiple of 16 */
	__u32 rq_entries;	/* power of two */
	__u32 rq_stride;	/* bytes, multiple of 16 */
	__u32 comp_mask;	/* 0 */
	__u32 reserved;
};

/* ------------------------------------------- methods of the driver namespace */

/*
 * On UVERBS_OBJECT_CQ.
 *
 * RXE_ORDERED_METHOD_CQ_POLL_REARM: return completions, or arm the CQ if there
 * are none, in one indivisible step.
 *   CQ_HANDLE  the CQ
 *   FLAGS	u32, 0 or RXE_ORDERED_REARM_SOLICITED_ONLY; optional, 0 when absent
 *   WC		array of struct rxe_ordered_wc; its length sets num_entries:
 *		a multiple of the struct, at least one, at most 65,535 bytes
 *   COUNT	u32: how many were returned. 0: the CQ was empty and is armed.
 *		n > 0: n completions, oldest first, and the CQ is not armed.
 * Errors, with nothing consumed and the arm unchanged: -EINVAL (length, unknown
 * flag), -EFAULT (WC or COUNT cannot be written), -EIO (empty, and the CQ has
 * overrun or its device is gone).
 * Beside other consumers, or arms of other strengths, an arm may be taken out a
 * moment before the result is known; unless completions are returned, one at least
 * as strong is put back, or the event is sent.
 *
 * RXE_ORDERED_METHOD_CQ_REARM_IF_EMPTY: the same without consuming.
 *   RESULT	u32. 0: empty, and armed. 1: not empty, and not armed.
 *
 * On UVERBS_OBJECT_QP.
 *
 * RXE_ORDERED_METHOD_QP_DOORBELL: look at the rings of this QP now.
 */
enum rxe_ordered_cq_methods {
	RXE_ORDERED_METHOD_CQ_POLL_REARM = (1U << UVERBS_ID_NS_SHIFT),
	RXE_ORDERED_METHOD_CQ_REARM_IF_EMPTY,
};

enum rxe_ordered_cq_poll_rearm_attrs {
	RXE_ORDERED_ATTR_CQ_POLL_REARM_CQ_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	RXE_ORDERED_ATTR_CQ_POLL_REARM_FLAGS,
	RXE_ORDERED_ATTR_CQ_POLL_REARM_WC,
	RXE_ORDERED_ATTR_CQ_POLL_REARM_COUNT,
};

enum rxe_ordered_cq_rearm_if_empty_attrs {
	RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_CQ_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_FLAGS,
	RXE_ORDERED_ATTR_CQ_REARM_IF_EMPTY_RESULT,
};

enum rxe_ordered_rearm_flags {
	RXE_ORDERED_REARM_SOLICITED_ONLY = 1 << 0,
};

enum rxe_ordered_qp_methods {
	RXE_ORDERED_METHOD_QP_DOORBELL = (1U << UVERBS_ID_NS_SHIFT),
};

enum rxe_ordered_qp_doorbell_attrs {
	RXE_ORDERED_ATTR_QP_DOORBELL_QP_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

#endif /* RXE_ORDERED_ABI_H */
