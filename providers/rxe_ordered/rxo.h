/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Objects of the provider and what its files offer each other.
 *
 * Locks: one spin lock per work queue, held while entries are written (with the
 * builders that is from wr_start to wr_complete, as verbs demand) and never
 * across a system call. Consuming a completion queue takes none (rxo_ring.h);
 * an extended CQ has a mutex from start_poll to end_poll, because there is one
 * current completion. It sleeps: what lies between is the caller's processing.
 * Nothing of ours nests.
 */
#ifndef RXO_H
#define RXO_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef RXO_STANDALONE
#include "rxo_abi34.h"
#else
#include <infiniband/driver.h>
#endif
#include <infiniband/verbs.h>

#include "rxo_ring.h"

/*
 * A command or response with the driver's part directly behind the core's. The
 * core's is only room, for the reason given in rxo_abi34.h; libibverbs fills it.
 */
#define RXO_MSG(core_type, drv_type)                                           \
	struct {                                                               \
		_Alignas(8) unsigned char core[sizeof(core_type)];             \
		drv_type drv;                                                  \
	}

/* The rest of the library is hidden. */
#define RXO_EXPORT	__attribute__((visibility("default")))

#define rxo_container_of(ptr, type, member)                                    \
	((type *)((char *)(ptr) - offsetof(type, member)))

struct rxo_context {
	struct verbs_context vctx;
	/*
	 * The kernel has no doorbell method, use write(). Set once, by whoever
	 * finds out first; relaxed, because everybody would find out the same.
	 */
	atomic_bool use_write;
};

struct rxo_cq {
	union {
		struct ibv_cq ibcq;
		struct ibv_cq_ex ibcqx;	/* of ibv_create_cq_ex() only */
	};
	struct rxo_cq_ring ring;
	/* Held from start_poll to end_poll; unused by a single-threaded CQ. */
	pthread_mutex_t session;
	struct ibv_wc current;		/* guarded by session */
	void *map;
	size_t map_size;
};

struct rxo_wq {
	struct rxo_wq_ring ring;	/* entries 0: there is no such queue */
	pthread_spinlock_t lock;	/* guards slots and prod of the ring */
	uint32_t max_sge;
	void *map;
	size_t map_size;
};

/* Data of a request: a list of buffers (inline only), or of sg elements. */
struct rxo_data {
	const struct ibv_sge *sg;
	const struct ibv_data_buf *buf;	/* NULL: the list is sg */
	size_t num;
};

/*
 * One send request, however it was posted. What an opcode does not use is
 * ignored and may be garbage.
 */
struct rxo_send {
	uint64_t wr_id;
	uint64_t remote_addr;
	uint64_t compare_add;		/* atomics */
	uint64_t swap;			/* compare and swap */
	enum ibv_wr_opcode opcode;
	unsigned int flags;		/* enum ibv_send_flags */
	uint32_t rkey;
	__be32 imm_data;
	struct rxo_data data;
};

/*
 * Requests between wr_start and wr_complete. Guarded by the lock of the send
 * queue, which is held for just that time. Entries are written to the ring at
 * once and published at the end, so rolling back is to publish nothing.
 */
struct rxo_builder {
	uint32_t first;			/* producer index at wr_start */
	uint32_t idx;			/* where the next entry goes */
	int err;			/* first error, positive; ends the building */
	bool is_open;			/* send is not written: its data may follow */
	struct rxo_send send;
};

/*
 * How far behind a struct ibv_qp_ex as our headers have it may the library's
 * flag word lie, see struct rxo_qp.
 */
#define RXO_QP_EX_GROWTH	64

struct rxo_qp {
	/*
	 * ibv_qp_to_qp_ex() looks for the flag VERBS_QP_EX in a word right
	 * behind a struct ibv_qp_ex, in every QP. That struct grows at its end,
	 * without a new level (44: no wr_flush, 56: with it), so where the word
	 * lies is known to the library we run with and not to our headers.
	 * Zeros in all the room say: no builders. If there are any,
	 * rxo_qp_mark_extended() finds the place by asking the library.
	 */
	union {
		struct ibv_qp ibqp;
		struct ibv_qp_ex ibqpx;
		unsigned char room[sizeof(struct ibv_qp_ex) +
				   RXO_QP_EX_GROWTH];
	};
	struct rxo_wq sq;
	struct rxo_wq rq;
	struct rxo_builder builder;
	uint32_t max_inline;		/* bytes; set once at create */
	bool sig_all;			/* every send is signalled */
};

static inline struct rxo_context *to_rxo_ctx(struct ibv_context *ctx)
{
	return rxo_container_of(ctx, struct rxo_context, vctx.context);
}

static inline struct rxo_cq *to_rxo_cq(struct ibv_cq *cq)
{
	return rxo_container_of(cq, struct rxo_cq, ibcq);
}

static inline struct rxo_cq *to_rxo_cqx(struct ibv_cq_ex *cq)
{
	return rxo_container_of(cq, struct rxo_cq, ibcqx);
}

static inline struct rxo_qp *to_rxo_qp(struct ibv_qp *qp)
{
	return rxo_container_of(qp, struct rxo_qp, ibqp);
}

static inline struct rxo_qp *to_rxo_qpx(struct ibv_qp_ex *qp)
{
	return rxo_container_of(qp, struct rxo_qp, ibqpx);
}

/* rxo.c */
bool rxo_is_our_device(struct ibv_device *device);

/* verbs.c */
int rxo_query_device_ex(struct ibv_context *ctx,
			const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size);
int rxo_query_port(struct ibv_context *ctx, uint8_t port_num,
		   struct ibv_port_attr *attr);
struct ibv_pd *rxo_alloc_pd(struct ibv_context *ctx);
int rxo_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *rxo_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  uint64_t hca_va, int access);
int rxo_dereg_mr(struct verbs_mr *mr);
struct ibv_cq *rxo_create_cq(struct ibv_context *ctx, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *rxo_create_cq_ex(struct ibv_context *ctx,
				   struct ibv_cq_init_attr_ex *attr);
int rxo_destroy_cq(struct ibv_cq *cq);
struct ibv_qp *rxo_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *rxo_create_qp_ex(struct ibv_context *ctx,
				struct ibv_qp_init_attr_ex *attr);
int rxo_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr);
int rxo_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int rxo_destroy_qp(struct ibv_qp *qp);

/* post.c */
int rxo_doorbell(struct ibv_qp *qp);
uint32_t rxo_send_begin(struct rxo_qp *qp);
int rxo_send_put(struct rxo_qp *qp, uint32_t idx, const struct rxo_send *send);
int rxo_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr);
int rxo_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr);

/* build.c */
bool rxo_builders_supported(uint64_t send_ops);
int rxo_builders_init(struct rxo_qp *qp, uint64_t send_ops);

/* poll.c */
int rxo_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int rxo_req_notify_cq(struct ibv_cq *cq, int solicited_only);

/* poll_ex.c */
void rxo_poll_ex_init(struct rxo_cq *cq, bool single_threaded);

#endif /* RXO_H */
