/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How many system calls does a wake-up cost?
 *
 * Counted, not assumed: a child process does a short run of its own, and its
 * parent traces the consumer threads, those only, and counts the calls that they
 * make on the way. The calls by which a completion is held are left out.
 */
#ifndef ORDER_CALLS_H
#define ORDER_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "order_run.h"

/**
 * struct order_watch - memory that the traced process shares with its tracer
 * @num: consumers that have registered
 * @tid: their thread ids
 * @is_active: do its calls count at present?
 * @go: set by the tracer when it is ready
 * @wakeups: events that the consumers took; 0 if the run failed
 * @interrupted: calls at the very end that were no wake-up
 */
struct order_watch {
	_Atomic unsigned int num;
	_Atomic pid_t tid[ORDER_MAX_THREADS];
	atomic_bool is_active[ORDER_MAX_THREADS];
	atomic_bool go;
	uint64_t wakeups;
	uint64_t interrupted;
};

/**
 * order_watch_enter - a consumer registers, and waits for its tracer
 * @watch: shared memory, or NULL if nobody watches
 *
 * Return: the index of the consumer.
 */
unsigned int order_watch_enter(struct order_watch *watch);

/**
 * order_watch_leave - its calls do not count any longer
 * @watch: as above
 * @index: as returned
 */
void order_watch_leave(struct order_watch *watch, unsigned int index);

/**
 * order_count_calls - count
 * @dev: names of the two devices
 * @gid: their GID indices
 * @params: what to run; the ports are opened by the child
 * @per_wakeup: calls per wake-up
 *
 * Call it when this process has no device open and no other thread.
 *
 * Return: whether they could be counted.
 */
bool order_count_calls(char (*dev)[IBV_SYSFS_NAME_MAX], const int *gid,
		       const struct order_params *params, double *per_wakeup);

#endif /* ORDER_CALLS_H */
