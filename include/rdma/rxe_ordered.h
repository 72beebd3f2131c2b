/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Kernel verbs that rxe_ordered adds to those of ib_core. rxodv.h has the same
 * verb for user space, and says what an event owner may rely on.
 */
#ifndef RDMA_RXE_ORDERED_H
#define RDMA_RXE_ORDERED_H

#include <rdma/ib_verbs.h>

/**
 * rxe_ordered_poll_rearm_cq - poll a CQ, or arm it if there is nothing to poll
 * @cq: a CQ of a kernel consumer, on an rxe_ordered device
 * @num_entries: most completions to return, at least 1
 * @wc: room for @num_entries completions
 * @flags: exactly one of IB_CQ_NEXT_COMP and IB_CQ_SOLICITED
 *
 * One indivisible step with respect to the device adding completions and to
 * every other poll or arm of this CQ. Arming never weakens an arm: "next
 * completion" stays that. A completion with an unsuccessful status counts as
 * solicited.
 *
 * A consumer that only calls this, from its completion handler on and until it
 * returns 0, owns the CQ in between: completions are processed in the order in
 * which they were added, on any number of CPUs, without a lock, and no handler
 * is called in vain::
 *
 *	while ((n = rxe_ordered_poll_rearm_cq(cq, N, wc, IB_CQ_NEXT_COMP)) > 0)
 *		process(wc, n);
 *
 * Context: any.
 *
 * Return:
 * * n > 0: n completions, oldest first, and the CQ is not armed.
 * * 0: the CQ was empty and is armed.
 * * -EOPNOTSUPP: not such a CQ; nothing was touched. Checked first.
 * * -EINVAL: bad argument, nothing has changed.
 * * -EIO: empty, and completions were lost because the CQ has overrun.
 */
int rxe_ordered_poll_rearm_cq(struct ib_cq *cq, int num_entries,
			      struct ib_wc *wc, enum ib_cq_notify_flags flags);

/**
 * rxe_ordered_rearm_cq_if_empty - arm a CQ unless it holds completions
 * @cq: a CQ of a kernel consumer, on an rxe_ordered device
 * @flags: exactly one of IB_CQ_NEXT_COMP and IB_CQ_SOLICITED
 *
 * As rxe_ordered_poll_rearm_cq(), but consumes nothing.
 *
 * Context: any.
 *
 * Return: 1: not empty, and not armed. 0: it was empty and is armed. Negative
 * as above.
 */
int rxe_ordered_rearm_cq_if_empty(struct ib_cq *cq,
				  enum ib_cq_notify_flags flags);

#endif /* RDMA_RXE_ORDERED_H */
