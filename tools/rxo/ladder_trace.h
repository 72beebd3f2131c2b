/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the tracepoints of the driver say of two queue pairs, as packets and notes. */
#ifndef LADDER_TRACE_H
#define LADDER_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define LADDER_MAX_PACKETS	64
#define LADDER_MAX_NOTES	64

enum ladder_side { LADDER_A, LADDER_B };

/**
 * struct ladder_packet - one packet between the two
 * @from: who has sent it
 * @name: what it is
 * @psn: its number
 * @sent_ns: when; 0: not seen (rdma_rxe has no such tracepoint)
 * @seen_ns: when the other side has taken it; 0: never, or not seen
 * @lost: by fault injection, at @seen_ns
 */
struct ladder_packet {
	enum ladder_side from;
	const char *name;
	uint32_t psn;
	uint64_t sent_ns;
	uint64_t seen_ns;
	bool lost;
};

/* Something that happens at one side: in its queue pair or its application. */
struct ladder_note {
	enum ladder_side side;
	bool app;
	uint64_t at_ns;
	char text[48];
};

struct ladder_trace {
	struct ladder_packet packet[LADDER_MAX_PACKETS];
	struct ladder_note note[LADDER_MAX_NOTES];
	unsigned int packets;
	unsigned int notes;
};

/**
 * ladder_trace_on - begin to trace, in an instance of its own
 *
 * Return: 0, or -1; what is wrong has been said then.
 */
int ladder_trace_on(void);

/**
 * ladder_trace_off - end it, and remove the instance
 */
void ladder_trace_off(void);

/**
 * ladder_trace_begin - forget what has been traced so far
 */
void ladder_trace_begin(void);

/**
 * ladder_trace_get - what has been traced since
 * @trace: filled in
 * @qpn_a: queue pair of A
 * @qpn_b: of B; not seen if it is not of our driver
 */
int ladder_trace_get(struct ladder_trace *trace, uint32_t qpn_a,
		     uint32_t qpn_b);

/**
 * ladder_trace_read - the same from a file that holds the text of a trace
 */
void ladder_trace_read(struct ladder_trace *trace, FILE *file, uint32_t qpn_a,
		       uint32_t qpn_b);

/**
 * ladder_trace_note - add a note
 */
void ladder_trace_note(struct ladder_trace *trace, enum ladder_side side,
		       bool app, uint64_t at_ns, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

#endif /* LADDER_TRACE_H */
