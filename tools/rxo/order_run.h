/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One run of "rxo order": a stream of messages, and threads that sleep on one
 * completion channel and consume one CQ with one of three loops.
 */
#ifndef ORDER_RUN_H
#define ORDER_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "pair.h"

struct order_watch;

enum order_loop {
	ORDER_LOOP_SINGLE,	/* arm; while (poll > 0) process */
	ORDER_LOOP_DOUBLE,	/* drain; arm; drain again */
	ORDER_LOOP_VERB,	/* while (poll_rearm > 0) process */
};

/**
 * struct order_params - what to run
 * @a: the port that sends
 * @b: the port that receives, may be the same
 * @loop: the loop of the consumers
 * @threads: how many consumers
 * @completions: how many messages
 * @hold_us: how long a held completion is held
 * @hold_every: one in so many completions is held
 * @stall_us: how long a thread is stalled at most after each call on the CQ
 * @batch: completions taken at a time, at most ORDER_MAX_BATCH
 * @watch: who counts the system calls of the consumers, or NULL
 */
struct order_params {
	const struct pair_port *a;
	const struct pair_port *b;
	enum order_loop loop;
	unsigned int threads;
	uint32_t completions;
	unsigned int hold_us;
	unsigned int hold_every;
	unsigned int stall_us;
	unsigned int batch;
	struct order_watch *watch;
};

#define ORDER_MAX_BATCH		64
#define ORDER_MAX_THREADS	64

/**
 * struct order_result - what was seen
 * @processed: completions
 * @out_of_order: of these, processed after one that was added later
 * @wakeups: events taken
 * @empty: of these, the thread then found nothing at all
 * @interrupted: times that a consumer was woken to end, not by an event
 * @seconds: from the first message to the last completion
 */
struct order_result {
	uint64_t processed;
	uint64_t out_of_order;
	uint64_t wakeups;
	uint64_t empty;
	uint64_t interrupted;
	double seconds;
};

/**
 * order_run - run it
 * @params: what
 * @result: filled in
 * @err: text of the reason of a failure, PAIR_ERR_LEN bytes
 *
 * Return: 0, or -1 and a text in @err.
 */
int order_run(const struct order_params *params, struct order_result *result,
	      char *err);

#endif /* ORDER_RUN_H */
