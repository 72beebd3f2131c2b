/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The driver's uverbs methods by ioctl() alone, as a program would issue them
 * that does not have the library.
 */
#ifndef T_IOCTL_H
#define T_IOCTL_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/rxe_ordered-abi.h>

/**
 * struct t_poll_rearm - one call of the poll-and-rearm method
 * @fd: of the context
 * @handle: of the CQ
 * @wc: array of completions; @wc_len its length in bytes
 * @has_wc: send the attribute at all
 * @flags: the flags attribute, @flags_len bytes of it; @has_flags send it at all
 * @count: where the count goes, @count_len bytes; @has_count send it at all
 * @driver_id: in the header
 */
struct t_poll_rearm {
	int fd;
	uint32_t handle;
	void *wc;
	uint16_t wc_len;
	bool has_wc;
	uint64_t flags;
	uint16_t flags_len;
	bool has_flags;
	void *count;
	uint16_t count_len;
	bool has_count;
	uint32_t driver_id;
};

/**
 * t_poll_rearm_init - a call with nothing wrong
 * @call: filled in
 * @cq: CQ
 * @wc: room for @num completions
 * @count: where the count goes
 */
void t_poll_rearm_init(struct t_poll_rearm *call, struct ibv_cq *cq,
		       struct rxe_ordered_wc *wc, unsigned int num,
		       uint32_t *count);

/**
 * t_poll_rearm - issue it
 * @call: as it is to be
 *
 * Return: 0 or a positive errno.
 */
int t_poll_rearm(const struct t_poll_rearm *call);

/**
 * t_ioctl_poll_rearm - the verb
 *
 * Arguments and result as rxodv_poll_rearm_cq(); at most T_IOCTL_MAX_WC entries.
 */
int t_ioctl_poll_rearm(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc,
		       uint32_t flags);

#define T_IOCTL_MAX_WC	256

/**
 * t_ioctl_rearm_if_empty - the other verb
 *
 * Arguments and result as rxodv_rearm_cq_if_empty().
 */
int t_ioctl_rearm_if_empty(struct ibv_cq *cq, uint32_t flags);

/**
 * struct t_rearm - one call of the rearm-if-empty method
 *
 * Members as those of struct t_poll_rearm; @result is where the result goes.
 */
struct t_rearm {
	int fd;
	uint32_t handle;
	uint64_t flags;
	uint16_t flags_len;
	bool has_flags;
	void *result;
	uint16_t result_len;
	bool has_result;
};

/**
 * t_rearm_init - a call with nothing wrong
 * @call: filled in
 * @cq: CQ
 * @result: where the result goes
 */
void t_rearm_init(struct t_rearm *call, struct ibv_cq *cq, uint32_t *result);

/**
 * t_rearm - issue it
 * @call: as it is to be
 *
 * Return: 0 or a positive errno.
 */
int t_rearm(const struct t_rearm *call);

/**
 * t_ioctl_doorbell - the method on a QP
 * @fd: of the context
 * @handle: of the QP
 *
 * Return: 0 or a positive errno.
 */
int t_ioctl_doorbell(int fd, uint32_t handle);

#endif /* T_IOCTL_H */
