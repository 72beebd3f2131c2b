/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A stream that several threads consume, and the account of it: every message
 * once, none lost, no standstill. How they consume it is up to the program.
 */
#ifndef T_STRESS_H
#define T_STRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "stream.h"

#define T_STRESS_MAX_THREADS	64

/**
 * struct t_stress - what the threads share
 * @stream: where the messages come from
 * @total: how many there will be
 * @crowded: let entries pile up now and then, see t_stress_pass()
 * @gate: closed while they do
 * @stop: all is over
 * @seen: a bit for each message
 * @twice: messages that came more than once
 * @errors: bad completions, and whatever else the program counts as one
 * @threads: the consumers, t_options.threads of them
 */
struct t_stress {
	struct stream stream;
	uint32_t total;
	bool crowded;
	atomic_bool gate;
	atomic_bool stop;
	_Atomic uint8_t *seen;
	_Atomic uint64_t twice;
	_Atomic uint64_t errors;
	pthread_t threads[T_STRESS_MAX_THREADS];
};

/**
 * t_stress_open - make the stream, of t_options.completions messages
 * @s: filled in
 * @extended: with a CQ for extended polling
 *
 * Whatever goes wrong ends the program.
 */
void t_stress_open(struct t_stress *s, bool extended);

/**
 * t_stress_close - undo t_stress_open()
 */
void t_stress_close(struct t_stress *s);

/**
 * t_stress_start - start the consumers
 * @main: what they do until @stop of the stress is set; calls that block may be
 *	broken off by a signal at any time
 * @arg: for each, @size bytes apart
 */
void t_stress_start(struct t_stress *s, void *(*main)(void *), void *arg,
		    size_t size);

/**
 * t_stress_join - set @stop and wait for them
 */
void t_stress_join(struct t_stress *s);

/**
 * t_stress_feed - send everything, return when it has been processed
 *
 * Bursts of one message up to a whole chain. After some of them nothing more is
 * sent until all is processed: then a lost wake-up is lost for good. Gives up
 * when nothing has moved for a long time, or at the first error.
 */
void t_stress_feed(struct t_stress *s);

/**
 * t_stress_pass - a consumer waits while entries pile up
 *
 * With @crowded, t_stress_feed() closes a gate at times, wakes everybody, fills the
 * CQ and opens the gate: then all threads go for the same entries.
 */
void t_stress_pass(const struct t_stress *s);

/**
 * t_stress_check - is that the completion of a message?
 * @wc: completion
 *
 * Return: its number is that of a message, and it was a success. If not, that is
 * an error.
 */
bool t_stress_check(struct t_stress *s, const struct ibv_wc *wc);

/**
 * t_stress_account - a message has been processed
 * @number: its number
 */
void t_stress_account(struct t_stress *s, uint32_t number);

/**
 * t_stress_verdict - the checks: nothing lost, nothing twice, no error
 */
void t_stress_verdict(const struct t_stress *s);

/**
 * t_stress_lost - how many messages were never processed
 */
uint32_t t_stress_lost(const struct t_stress *s);

#endif /* T_STRESS_H */
