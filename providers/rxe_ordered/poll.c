// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues after they exist: poll, arm, and the verb. No lock, no
 * system call; the algorithms are in rxo_ring.h. All of it keeps working when
 * the device is gone: what is in the ring is still returned.
 */
#include <errno.h>

#include "rxo.h"
#include "rxodv.h"

/**
 * rxo_poll_cq - take completions
 * @cq: completion queue
 * @num_entries: room in @wc
 * @wc: result
 *
 * Return: how many, or a negative errno: -EIO when there is none and the CQ has
 * overrun, so that there never will be one.
 */
int rxo_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	if (num_entries < 1)
		return num_entries ? -EINVAL : 0;

	return rxo_cq_poll(&to_rxo_cq(cq)->ring, num_entries, wc);
}

/**
 * rxo_req_notify_cq - arm, whatever the CQ holds
 * @cq: completion queue
 * @solicited_only: weaker arm; never weakens one that is present
 *
 * Without a completion channel nobody would be told; harmless.
 *
 * Return: 0 or a positive errno.
 */
int rxo_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return -rxo_cq_arm(&to_rxo_cq(cq)->ring,
			   solicited_only ? RXE_ORDERED_ARM_SOLICITED :
					    RXE_ORDERED_ARM_ANY);
}

/* ------------------------------------------------------------ direct verbs */

RXO_EXPORT bool rxodv_is_supported(struct ibv_device *device)
{
	return rxo_is_our_device(device);
}

/*
 * Checks that both verbs have in common. Foreign first: nothing can be said
 * about the arguments of a verb that does not exist there.
 */
static int rxo_check_rearm(struct ibv_cq *cq, uint32_t flags)
{
	if (!rxo_is_our_device(cq->context->device))
		return -EOPNOTSUPP;
	if (flags & ~(uint32_t)RXODV_REARM_SOLICITED_ONLY)
		return -EINVAL;
	return 0;
}

static unsigned int rxo_wanted_arm(uint32_t flags)
{
	return flags & RXODV_REARM_SOLICITED_ONLY ? RXE_ORDERED_ARM_SOLICITED :
						    RXE_ORDERED_ARM_ANY;
}

RXO_EXPORT int rxodv_poll_rearm_cq(struct ibv_cq *cq, int num_entries,
				   struct ibv_wc *wc, uint32_t flags)
{
	int err = rxo_check_rearm(cq, flags);

	if (err)
		return err;
	if (num_entries < 1 || !wc)
		return -EINVAL;

	return rxo_cq_poll_rearm(&to_rxo_cq(cq)->ring, num_entries, wc,
				 rxo_wanted_arm(flags));
}

RXO_EXPORT int rxodv_rearm_cq_if_empty(struct ibv_cq *cq, uint32_t flags)
{
	int err = rxo_check_rearm(cq, flags);

	if (err)
		return err;

	return rxo_cq_rearm_if_empty(&to_rxo_cq(cq)->ring,
				     rxo_wanted_arm(flags));
}
