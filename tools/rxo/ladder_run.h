/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The scenario: A sends, B answers as soon as it has received, and the ACK of what A
 * sent is lost. Which of A's two completions comes first?
 */
#ifndef LADDER_RUN_H
#define LADDER_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "pair.h"

/* Work request ids, of all queues. */
enum {
	LADDER_SEND1 = 1,	/* of A */
	LADDER_RECV1,		/* of B */
	LADDER_SEND2,		/* of B */
	LADDER_RECV2,		/* of A */
	LADDER_IDS
};

/**
 * struct ladder_run - one run, and what came of it
 * @a: port of the requester, an rxe_ordered device
 * @b: port of the responder
 * @ordered: A's queue pair has ordered completions
 * @qpn_a: number of A's queue pair
 * @qpn_b: of B's
 * @posted_ns: when the application has posted it, CLOCK_MONOTONIC; [id]
 * @polled_ns: when it has taken the completion
 * @order: ids as their completions were taken from the one CQ of A
 */
struct ladder_run {
	const struct pair_port *a;
	const struct pair_port *b;
	bool ordered;
	uint32_t qpn_a;
	uint32_t qpn_b;
	uint64_t posted_ns[LADDER_IDS];
	uint64_t polled_ns[LADDER_IDS];
	int order[2];
};

/**
 * ladder_run - run it once, with one acknowledgement lost
 * @run: ports and mode in, the rest out
 * @err: text of the reason, PAIR_ERR_LEN bytes
 *
 * Return: 0, or -1 and a text in @err: it could not be run, or did not end, or not
 * exactly one acknowledgement was lost.
 */
int ladder_run(struct ladder_run *run, char *err);

#endif /* LADDER_RUN_H */
