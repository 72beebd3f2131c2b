// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Parsing and matching rules of fault injection. See fault_rule.h. */
#include "fault_rule.h"

#define RXO_FAULT_PPM		1000000
#define RXO_FAULT_PPM_PERCENT	(RXO_FAULT_PPM / 100)

static const char *const rxo_fault_dirs[RXO_FAULT_DIRS] = {
	[RXO_FAULT_RX] = "rx",
	[RXO_FAULT_TX] = "tx",
};

static const char *const rxo_fault_kinds[RXO_FAULT_KINDS] = {
	[RXO_FAULT_ACK] = "ack",
	[RXO_FAULT_NAK] = "nak",
	[RXO_FAULT_SEND] = "send",
	[RXO_FAULT_WRITE] = "write",
	[RXO_FAULT_READ] = "read",
	[RXO_FAULT_RESPONSE] = "response",
	[RXO_FAULT_ATOMIC] = "atomic",
	[RXO_FAULT_ANY] = "any",
};

static const struct {
	const char *name;
	u32 min;
	u32 max;
} rxo_fault_sels[RXO_FAULT_SELS] = {
	[RXO_FAULT_QPN] = { "qpn", 0, 0xffffff },
	[RXO_FAULT_PSN] = { "psn", 0, 0xffffff },
	[RXO_FAULT_NTH] = { "nth", 1, U32_MAX },
	[RXO_FAULT_EVERY] = { "every", 1, U32_MAX },
	[RXO_FAULT_COUNT] = { "count", 1, U32_MAX },
	[RXO_FAULT_PCT] = { "pct", 0, RXO_FAULT_PPM },
	[RXO_FAULT_SEED] = { "seed", 0, U32_MAX },
};

/* max 0: the action has no argument */
static const struct {
	const char *name;
	u32 max;
} rxo_fault_actions[RXO_FAULT_ACTIONS] = {
	[RXO_FAULT_PASS] = { "pass", 0 },
	[RXO_FAULT_DROP] = { "drop", 0 },
	[RXO_FAULT_DUP] = { "dup", 0 },
	[RXO_FAULT_CORRUPT] = { "corrupt", 0 },
	[RXO_FAULT_DELAY] = { "delay", RXO_FAULT_MAX_DELAY_US },
	[RXO_FAULT_HOLD] = { "hold", RXO_FAULT_MAX_HOLD },
};

const char *rxo_fault_dir_name(u8 dir)
{
	return rxo_fault_dirs[dir];
}

const char *rxo_fault_kind_name(u8 kind)
{
	return rxo_fault_kinds[kind];
}

const char *rxo_fault_sel_name(u8 sel)
{
	return rxo_fault_sels[sel].name;
}

const char *rxo_fault_action_name(u8 action)
{
	return rxo_fault_actions[action].name;
}

/* -------------------------------------------------------------------- words */

struct rxo_fault_word {
	const char *p;
	u32 len;
};

static bool rxo_fault_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Cut the next word off @rest. False: there is none. */
static bool rxo_fault_next(struct rxo_fault_word *rest,
			   struct rxo_fault_word *word)
{
	u32 n = 0;

	while (rest->len && rxo_fault_is_space(*rest->p)) {
		rest->p++;
		rest->len--;
	}
	word->p = rest->p;
	word->len = 0;
	if (!rest->len || *rest->p == '#')
		return false;
	while (n < rest->len && !rxo_fault_is_space(rest->p[n]))
		n++;
	word->len = n;
	rest->p += n;
	rest->len -= n;
	return true;
}

static bool rxo_fault_is(const struct rxo_fault_word *word, const char *text)
{
	return word->len == strlen(text) && !memcmp(word->p, text, word->len);
}

/* Is it "@name=value"? */
static bool rxo_fault_assigns(const struct rxo_fault_word *word,
			      const char *name, struct rxo_fault_word *value)
{
	u32 n = strlen(name);

	if (word->len <= n || memcmp(word->p, name, n) || word->p[n] != '=')
		return false;
	value->p = word->p + n + 1;
	value->len = word->len - n - 1;
	return true;
}

/* Index of the word in a table, or @n. */
static u32 rxo_fault_find(const struct rxo_fault_word *word,
			  const char *const *table, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (rxo_fault_is(word, table[i]))
			break;
	return i;
}

/* ------------------------------------------------------------------- numbers */

static u32 rxo_fault_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (u32)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (u32)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (u32)(c - 'A') + 10;
	return U32_MAX;
}

static bool rxo_fault_number(struct rxo_fault_word word, u32 *value)
{
	u32 base = 10, digit, i;
	u64 n = 0;

	if (word.len > 2 && word.p[0] == '0' && (word.p[1] | 0x20) == 'x') {
		base = 16;
		word.p += 2;
		word.len -= 2;
	}
	if (!word.len)
		return false;
	for (i = 0; i < word.len; i++) {
		digit = rxo_fault_digit(word.p[i]);
		if (digit >= base)
			return false;
		n = n * base + digit;
		if (n > U32_MAX)
			return false;
	}
	*value = (u32)n;
	return true;
}

/* Per cent with up to four decimals, to parts per million. */
static bool rxo_fault_percent(struct rxo_fault_word word, u32 *value)
{
	u32 unit = RXO_FAULT_PPM_PERCENT, digit, i;
	bool point = false, digits = false;
	u64 n = 0;

	for (i = 0; i < word.len; i++) {
		if (word.p[i] == '.' && !point) {
			point = true;
			continue;
		}
		digit = rxo_fault_digit(word.p[i]);
		if (digit > 9 || (point && unit == 1))
			return false;
		digits = true;
		if (point) {
			unit /= 10;
			n += digit * unit;
		} else {
			n = n * 10 + digit * unit;
		}
		if (n > RXO_FAULT_PPM)
			return false;
	}
	*value = (u32)n;
	return digits;
}

/* --------------------------------------------------------------------- parse */

/* NULL: taken; else what is wrong with it. */
static const char *rxo_fault_take_sel(struct rxo_fault_rule *rule, u32 sel,
				      struct rxo_fault_word value)
{
	u32 *to = &rule->sel[sel];
	bool ok;

	if (rule->given & 1U << sel)
		return "said twice";
	ok = sel == RXO_FAULT_PCT ? rxo_fault_percent(value, to) :
				    rxo_fault_number(value, to);
	if (!ok || *to < rxo_fault_sels[sel].min || *to > rxo_fault_sels[sel].max)
		return sel == RXO_FAULT_PCT ?
			"not a number from 0 to 100 with up to four decimals" :
			"not a number in range";
	rule->given |= 1U << sel;
	return NULL;
}

/* The same for an action. */
static const char *rxo_fault_take_action(struct rxo_fault_rule *rule, u8 action,
					 struct rxo_fault_word value)
{
	if (!rxo_fault_number(value, &rule->arg) || !rule->arg ||
	    rule->arg > rxo_fault_actions[action].max)
		return action == RXO_FAULT_DELAY ?
			"not a number of microseconds from 1 to 10000000" :
			"not a number of packets from 1 to 1000";
	rule->action = action;
	return NULL;
}

/* A selector or the action. */
static const char *rxo_fault_take(struct rxo_fault_rule *rule,
				  const struct rxo_fault_word *word)
{
	struct rxo_fault_word value;
	u32 i;

	for (i = 0; i < RXO_FAULT_SELS; i++)
		if (rxo_fault_assigns(word, rxo_fault_sels[i].name, &value))
			return rxo_fault_take_sel(rule, i, value);
	for (i = RXO_FAULT_DROP; i < RXO_FAULT_ACTIONS; i++) {
		if (!rxo_fault_actions[i].max) {
			if (!rxo_fault_is(word, rxo_fault_actions[i].name))
				continue;
			rule->action = (u8)i;
			return NULL;
		}
		if (rxo_fault_assigns(word, rxo_fault_actions[i].name, &value))
			return rxo_fault_take_action(rule, (u8)i, value);
	}
	return "neither a selector nor an action";
}

static const char *rxo_fault_parse_words(struct rxo_fault_word *rest,
					 struct rxo_fault_rule *rule,
					 struct rxo_fault_word *word)
{
	const char *what;

	rule->dir = (u8)rxo_fault_find(word, rxo_fault_dirs, RXO_FAULT_DIRS);
	if (rule->dir == RXO_FAULT_DIRS)
		return "not a direction (rx, tx)";
	if (!rxo_fault_next(rest, word))
		return "no kind of packet after the direction";
	rule->kind = (u8)rxo_fault_find(word, rxo_fault_kinds, RXO_FAULT_KINDS);
	if (rule->kind == RXO_FAULT_KINDS)
		return "not a kind of packet";
	while (rule->action == RXO_FAULT_PASS) {
		if (!rxo_fault_next(rest, word))
			return "no action at the end";
		what = rxo_fault_take(rule, word);
		if (what)
			return what;
	}
	if (rxo_fault_next(rest, word))
		return "the action is the last word";
	if (rule->given & 1U << RXO_FAULT_SEED &&
	    !(rule->given & 1U << RXO_FAULT_PCT))
		return "seed= goes with pct=";
	return NULL;
}

int rxo_fault_parse(const char *line, u32 len, struct rxo_fault_rule *rule,
		    struct rxo_fault_error *err)
{
	struct rxo_fault_word rest = { line, len }, word = { line, 0 };

	memset(rule, 0, sizeof(*rule));
	if (!rxo_fault_next(&rest, &word))
		return -ENODATA;
	err->what = rxo_fault_parse_words(&rest, rule, &word);
	if (!err->what) {
		rule->random = rule->sel[RXO_FAULT_SEED];
		return 0;
	}
	err->word = word.p;
	err->len = word.len;
	return -EINVAL;
}

/* --------------------------------------------------------------------- match */

enum rxo_fault_kind rxo_fault_kind_of(const struct rxo_pkt *pkt)
{
	switch (rxo_opcode_info(pkt->opcode)->class) {
	case RXO_CLASS_ACK:
		return rxo_aeth_type(pkt->syndrome) == RXO_AETH_ACK ?
			RXO_FAULT_ACK : RXO_FAULT_NAK;
	case RXO_CLASS_SEND:
		return RXO_FAULT_SEND;
	case RXO_CLASS_WRITE:
		return RXO_FAULT_WRITE;
	case RXO_CLASS_READ:
		return RXO_FAULT_READ;
	case RXO_CLASS_ATOMIC:
		return RXO_FAULT_ATOMIC;
	default:
		return RXO_FAULT_RESPONSE;
	}
}

/* A counter with its bits stirred: every seed gives another sequence. */
static u32 rxo_fault_draw(struct rxo_fault_rule *rule)
{
	u64 x = rule->random += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	return (u32)(x >> 32);
}

static bool rxo_fault_is_candidate(const struct rxo_fault_rule *rule,
				   const struct rxo_fault_pkt *pkt)
{
	if (rule->dir != pkt->dir)
		return false;
	if (rule->kind != RXO_FAULT_ANY && rule->kind != pkt->kind)
		return false;
	if (rule->given & 1U << RXO_FAULT_QPN &&
	    rule->sel[RXO_FAULT_QPN] != pkt->qpn)
		return false;
	return !(rule->given & 1U << RXO_FAULT_PSN) ||
	       rule->sel[RXO_FAULT_PSN] == pkt->psn;
}

/* Is it the turn of the candidate that has just been counted? */
static bool rxo_fault_is_turn(const struct rxo_fault_rule *rule)
{
	u64 nth = rule->sel[RXO_FAULT_NTH];
	u32 every = rule->sel[RXO_FAULT_EVERY];

	/* Zero: not given. */
	if (!every)
		return !nth || rule->seen == nth;
	return rule->seen >= nth && (rule->seen - nth) % every == 0;
}

bool rxo_fault_hits(struct rxo_fault_rule *rule,
		    const struct rxo_fault_pkt *pkt)
{
	u64 draw;

	if (!rxo_fault_is_candidate(rule, pkt))
		return false;
	rule->seen++;
	if (rule->given & 1U << RXO_FAULT_COUNT &&
	    rule->hits >= rule->sel[RXO_FAULT_COUNT])
		return false;
	if (!rxo_fault_is_turn(rule))
		return false;
	if (rule->given & 1U << RXO_FAULT_PCT) {
		draw = (u64)rxo_fault_draw(rule) * RXO_FAULT_PPM >> 32;
		if (draw >= rule->sel[RXO_FAULT_PCT])
			return false;
	}
	rule->hits++;
	return true;
}
