/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs of the rxe_ordered provider: the atomic poll-and-rearm verb, and
 * queue pairs with ordered completions.
 *
 * Consumer loop of a program that sleeps in ibv_get_cq_event(), the whole of it
 * (the thread that took the event owns the CQ until the verb returns 0):
 *
 *	while ((n = rxodv_poll_rearm_cq(cq, N, wc, 0)) > 0)
 *		process(wc, n);
 *
 * With no other call that polls or arms the CQ, completions are processed in
 * the order in which they were added, on any number of threads, without a lock,
 * and no thread wakes for nothing.
 */
#ifndef __RXODV_H__
#define __RXODV_H__

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of the two verbs below. */
enum rxodv_rearm_flags {
	/* Announce only the next solicited (or unsuccessful) completion. */
	RXODV_REARM_SOLICITED_ONLY = 1 << 0,
};

/**
 * rxodv_is_supported - does this device offer the direct verbs?
 * @device: any verbs device
 *
 * Return: true if @device is driven by rxe_ordered.
 */
bool rxodv_is_supported(struct ibv_device *device);

/**
 * rxodv_poll_rearm_cq - return completions, or arm the CQ if it has none
 * @cq: a CQ of an rxe_ordered device
 * @num_entries: room in @wc, at least 1
 * @wc: receives the completions, oldest first
 * @flags: 0 (next completion) or RXODV_REARM_SOLICITED_ONLY
 *
 * One indivisible step with respect to the device adding completions and to
 * every other poll or arm of @cq, extended poll included: what is current
 * between ibv_start_poll() and ibv_end_poll() has left the CQ. Arming never
 * weakens an arm that is present. Thread safe; takes no lock.
 *
 * Return: n > 0, n completions and the CQ is not armed; 0, the CQ was empty and
 * is armed. Negative, with nothing consumed and the arm unchanged: -EINVAL
 * (@num_entries < 1, NULL @wc, unknown flag), -EOPNOTSUPP (not our CQ), -EIO
 * (empty, and the CQ has overrun or its device is gone).
 */
int rxodv_poll_rearm_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc,
			uint32_t flags);

/**
 * rxodv_rearm_cq_if_empty - arm the CQ if it has no completions
 * @cq: a CQ of an rxe_ordered device
 * @flags: as for rxodv_poll_rearm_cq()
 *
 * For programs that consume with the extended poll API.
 *
 * Return: 0, the CQ was empty and is armed; 1, it was not empty and is now not
 * armed; negative as for rxodv_poll_rearm_cq().
 */
int rxodv_rearm_cq_if_empty(struct ibv_cq *cq, uint32_t flags);

/* Which members of struct rxodv_qp_init_attr are valid. */
enum rxodv_qp_init_attr_mask {
	RXODV_QP_INIT_ATTR_MASK_CREATE_FLAGS = 1 << 0,
};

enum rxodv_qp_create_flags {
	/*
	 * A receive completes only after all requests of this QP that the peer
	 * had executed before it sent the message, also if their ACK is lost.
	 */
	RXODV_QP_CREATE_ORDERED_COMPLETIONS = 1 << 0,
};

struct rxodv_qp_init_attr {
	uint64_t comp_mask;	/* enum rxodv_qp_init_attr_mask */
	uint32_t create_flags;	/* enum rxodv_qp_create_flags */
};

/**
 * rxodv_create_qp - create a queue pair with what only rxe_ordered has
 * @context: context of an rxe_ordered device
 * @attr: as for ibv_create_qp_ex()
 * @rxo_attr: the rest, or NULL
 *
 * Return: the QP, or NULL with errno: EOPNOTSUPP if @context is not of our device
 * or a bit is not known, else as ibv_create_qp_ex().
 */
struct ibv_qp *rxodv_create_qp(struct ibv_context *context,
			       struct ibv_qp_init_attr_ex *attr,
			       const struct rxodv_qp_init_attr *rxo_attr);

#ifdef __cplusplus
}
#endif

#endif /* __RXODV_H__ */
