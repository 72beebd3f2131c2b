/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Objects of the provider and what its files offer each other.
 *
 * Locks: one spin lock per work queue, held while entries are written and never
 * across a system call. Completion queues have none (rxo_ring.h). Nothing here
 * nests.
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
	struct ibv_cq ibcq;
	struct rxo_cq_ring ring;
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

struct rxo_qp {
	/*
	 * ibv_qp_to_qp_ex() looks for a flag word right behind a struct
	 * ibv_qp_ex, in every QP. That struct grew within level 34 (44: without
	 * wr_flush, 56: with it), so the flag may lie further back than our
	 * headers say. The zeros are what tells both: not an extended QP.
	 */
	union {
		struct ibv_qp ibqp;
		unsigned char extended[sizeof(struct ibv_qp_ex) + 64];
	};
	struct rxo_wq sq;
	struct rxo_wq rq;
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

static inline struct rxo_qp *to_rxo_qp(struct ibv_qp *qp)
{
	return rxo_container_of(qp, struct rxo_qp, ibqp);
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
int rxo_destroy_cq(struct ibv_cq *cq);
struct ibv_qp *rxo_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int rxo_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		 struct ibv_qp_init_attr *init_attr);
int rxo_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int rxo_destroy_qp(struct ibv_qp *qp);

/* post.c */
int rxo_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr);
int rxo_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr);

/* poll.c */
int rxo_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int rxo_req_notify_cq(struct ibv_cq *cq, int solicited_only);

#endif /* RXO_H */
