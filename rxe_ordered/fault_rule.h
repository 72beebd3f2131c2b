/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rules of fault injection: a line of text to a rule, and whether a packet is
 * one that the rule hits. Pure: no kernel API, so the unit tests build it too.
 *
 *   <rx|tx> <ack|nak|send|write|read|response|atomic|any>
 *       [qpn=N] [psn=N] [nth=K] [every=K] [count=M] [pct=P [seed=S]]
 *       <drop|dup|corrupt|delay=US|hold=K>
 *
 * A packet of the direction, kind, local QP number and PSN is a candidate. Of
 * the candidates the rule hits the K-th (nth), or each K-th (every; with nth
 * from that one on), or all; of these P per cent (up to four decimals, drawn by
 * a generator that S seeds); and after M hits (count) none any more.
 *
 * Numbers are decimal, or hexadecimal with 0x. '#' begins a comment.
 */
#ifndef RXO_FAULT_RULE_H
#define RXO_FAULT_RULE_H

#include "core/rxo_wire.h"

#define RXO_FAULT_MAX_DELAY_US	10000000
#define RXO_FAULT_MAX_HOLD	1000

enum rxo_fault_dir {
	RXO_FAULT_RX,
	RXO_FAULT_TX,
	RXO_FAULT_DIRS
};

enum rxo_fault_kind {
	RXO_FAULT_ACK,		/* positive acknowledgement */
	RXO_FAULT_NAK,		/* negative, RNR included */
	RXO_FAULT_SEND,
	RXO_FAULT_WRITE,
	RXO_FAULT_READ,		/* READ request */
	RXO_FAULT_RESPONSE,	/* to a READ or an atomic */
	RXO_FAULT_ATOMIC,	/* atomic request */
	RXO_FAULT_ANY,
	RXO_FAULT_KINDS
};

enum rxo_fault_sel {
	RXO_FAULT_QPN,
	RXO_FAULT_PSN,
	RXO_FAULT_NTH,
	RXO_FAULT_EVERY,
	RXO_FAULT_COUNT,
	RXO_FAULT_PCT,		/* in parts per million */
	RXO_FAULT_SEED,
	RXO_FAULT_SELS
};

enum rxo_fault_action {
	RXO_FAULT_PASS,		/* of no rule: no rule has hit */
	RXO_FAULT_DROP,
	RXO_FAULT_DUP,
	RXO_FAULT_CORRUPT,
	RXO_FAULT_DELAY,	/* for arg microseconds */
	RXO_FAULT_HOLD,		/* until arg packets of the QP have overtaken it */
	RXO_FAULT_ACTIONS
};

struct rxo_fault_rule {
	u8 dir;			/* enum rxo_fault_dir */
	u8 kind;		/* enum rxo_fault_kind */
	u8 action;		/* enum rxo_fault_action */
	u8 given;		/* BIT(enum rxo_fault_sel) that the line has */
	u32 sel[RXO_FAULT_SELS];
	u32 arg;		/* of the action */
	/* state */
	u64 seen;		/* candidates so far */
	u64 hits;
	u64 random;		/* of the generator */
};

struct rxo_fault_pkt {
	u8 dir;
	u8 kind;		/* never ANY */
	u32 qpn;		/* local */
	u32 psn;
};

/* What is wrong with a line, and the word of it that is. */
struct rxo_fault_error {
	const char *what;
	const char *word;	/* in the line; not terminated */
	u32 len;
};

/**
 * rxo_fault_parse - turn a line into a rule
 * @line: no NUL needed; any bytes
 * @len: of it
 * @rule: filled in, its counters zero
 * @err: filled in if the line is wrong
 *
 * Return: 0, -EINVAL for a wrong line, -ENODATA for one without words.
 */
int rxo_fault_parse(const char *line, u32 len, struct rxo_fault_rule *rule,
		    struct rxo_fault_error *err);

/* The kind of a packet that has been parsed. */
enum rxo_fault_kind rxo_fault_kind_of(const struct rxo_pkt *pkt);

/* Does @rule hit this packet? Counts. */
bool rxo_fault_hits(struct rxo_fault_rule *rule,
		    const struct rxo_fault_pkt *pkt);

/* Words of the enums, as in a rule. */
const char *rxo_fault_dir_name(u8 dir);
const char *rxo_fault_kind_name(u8 kind);
const char *rxo_fault_sel_name(u8 sel);
const char *rxo_fault_action_name(u8 action);

#endif /* RXO_FAULT_RULE_H */
