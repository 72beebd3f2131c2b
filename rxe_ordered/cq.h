/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion queues: publish, consume, arm, overrun. Part 1 of the ordering
 * contract lives here. Knows no QP and no packet.
 *
 * The ring and the arm word are shared with the process and hostile; the
 * producer index that counts is cq->prod, private and under cq->lock.
 */
#ifndef RXO_CQ_H
#define RXO_CQ_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <rdma/uverbs_ioctl.h>

#include "core/rxo_ring.h"
#include "core/rxo_wqe.h"
#include "dev.h"
#include "umap.h"

struct rxo_cq {
	struct ib_cq ib;
	spinlock_t lock;	/* serialises producers: prod, overrun */
	u32 prod;		/* guarded by lock */
	bool overrun;		/* written under lock; never cleared */
	bool user;		/* set once: a process shares the ring */
	u32 entries;		/* power of two, set once */
	struct rxe_ordered_cq_hdr *hdr;
	struct rxe_ordered_wc *ring;
	struct rxo_umap *umap;
	struct mutex user_lock;
	struct list_head users;	/* guarded by user_lock */
	struct work_struct tell_users;	/* that it has overrun */
};

/*
 * Whoever adds completions and must know when somebody else's have made the CQ
 * overrun. @overrun is called in process context, under a mutex.
 */
struct rxo_cq_user {
	struct list_head entry;
	void (*overrun)(void *arg);
	void *arg;
};

static inline struct rxo_cq *rxo_cq_of(struct ib_cq *ib)
{
	return container_of(ib, struct rxo_cq, ib);
}

/**
 * rxo_cq_publish - add completions, and fire the arm if they match it
 * @cq: the queue
 * @cqe: @n completions, oldest first
 * @n: at least 1
 *
 * One notification at most, after all of them are visible. When the queue is
 * full the rest is lost, the CQ is overrun for good: IB_EVENT_CQ_ERR is raised
 * once, the caller moves its QP to ERR, and all users are told.
 *
 * Context: bottom halves off, no lock of this driver held. Calls the
 * completion handler directly. Return: false if the CQ is overrun.
 */
bool rxo_cq_publish(struct rxo_cq *cq, const struct rxo_cqe *cqe, u32 n);

/*
 * Process context. After _del() the user is not called any more. One that is added
 * after the overrun is not called either: see rxo_cq_has_overrun().
 */
void rxo_cq_add_user(struct rxo_cq *cq, struct rxo_cq_user *user);
void rxo_cq_del_user(struct rxo_cq *cq, struct rxo_cq_user *user);

/* False is true only until a user that has been added before is called. */
static inline bool rxo_cq_has_overrun(const struct rxo_cq *cq)
{
	return READ_ONCE(cq->overrun);
}

/*
 * The verb, for every door: kernel function, uverbs methods. @take receives the
 * entries that are about to be consumed, oldest first, in at most two
 * contiguous pieces, and may fail; nothing has been consumed then and the arm is
 * as before. It is called again, from the start, if another consumer or the
 * producer was faster. It is called with no entries before the CQ is armed.
 */
struct rxo_cq_sink {
	int (*take)(struct rxo_cq_sink *sink, const struct rxe_ordered_wc *first,
		    u32 nfirst, const struct rxe_ordered_wc *second,
		    u32 nsecond);
};

/**
 * rxo_cq_poll_rearm - consume completions, or arm the CQ if there are none
 * @cq: the queue
 * @num_entries: at least 1
 * @arm: RXE_ORDERED_ARM_SOLICITED or RXE_ORDERED_ARM_ANY
 * @sink: where completions go
 *
 * Context: process for a user CQ (a process that scribbles on its ring may keep
 * it busy for a while; fatal signals end that), any for a kernel CQ.
 * Return: how many, and the CQ is not armed; 0: it was empty and is armed;
 * negative, with nothing consumed and the arm unchanged: what the sink
 * returned, -EIO (empty and overrun, or the ring makes no sense), -EINTR.
 */
int rxo_cq_poll_rearm(struct rxo_cq *cq, u32 num_entries, u32 arm,
		      struct rxo_cq_sink *sink);

/**
 * rxo_cq_rearm_if_empty - the same without consuming
 * @cq: the queue
 * @arm: as above
 * @sink: gets the oldest completion if there is one, which stays in the queue
 *
 * Return: 1: not empty, and not armed; 0 and negative as above.
 */
int rxo_cq_rearm_if_empty(struct rxo_cq *cq, u32 arm, struct rxo_cq_sink *sink);

/* ib_device_ops */
int rxo_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  rxo_create_cq_arg *arg);
int rxo_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata);
int rxo_cq_poll(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int rxo_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* RXO_CQ_H */
