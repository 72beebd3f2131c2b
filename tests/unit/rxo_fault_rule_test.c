// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fault_rule.h"
#include "t.h"

/* A copy of exactly that size, so that ASan sees a byte read too many. */
static int parse_bytes(const char *line, size_t len,
		       struct rxo_fault_rule *rule,
		       struct rxo_fault_error *err, char *word)
{
	char *copy = malloc(len ?: 1);
	int ret;

	memcpy(copy, line, len);
	ret = rxo_fault_parse(copy, (u32)len, rule, err);
	word[0] = 0;
	if (ret == -EINVAL) {
		T_CHECK(err->len < 64);
		T_CHECK(err->word >= copy && err->word + err->len <= copy + len);
		memcpy(word, err->word, err->len);
		word[err->len] = 0;
	}
	free(copy);
	return ret;
}

static int parse(const char *line, struct rxo_fault_rule *rule)
{
	struct rxo_fault_error err;
	char word[64];

	return parse_bytes(line, strlen(line), rule, &err, word);
}

static struct rxo_fault_rule rule_of(const char *line)
{
	struct rxo_fault_rule rule;

	t_context("%s", line);
	T_EQ(parse(line, &rule), 0);
	return rule;
}

T_TEST(fault_parse__every_word)
{
	struct rxo_fault_rule r;

	r = rule_of("rx ack qpn=17 psn=0xABCdef nth=3 every=4 count=5 pct=0.5 seed=6 delay=10000000");
	T_EQ(r.dir, RXO_FAULT_RX);
	T_EQ(r.kind, RXO_FAULT_ACK);
	T_EQ(r.action, RXO_FAULT_DELAY);
	T_EQ(r.arg, 10000000);
	T_EQ(r.given, (1 << RXO_FAULT_SELS) - 1);
	T_EQ(r.sel[RXO_FAULT_QPN], 17);
	T_EQ(r.sel[RXO_FAULT_PSN], 0xabcdef);
	T_EQ(r.sel[RXO_FAULT_NTH], 3);
	T_EQ(r.sel[RXO_FAULT_EVERY], 4);
	T_EQ(r.sel[RXO_FAULT_COUNT], 5);
	T_EQ(r.sel[RXO_FAULT_PCT], 5000);
	T_EQ(r.sel[RXO_FAULT_SEED], 6);
	T_EQ(r.seen + r.hits, 0);
}

T_TEST(fault_parse__directions_kinds_actions)
{
	static const char *const kinds[] = {
		"ack", "nak", "send", "write", "read", "response", "atomic",
		"any",
	};
	static const struct {
		const char *word;
		u8 action;
		u32 arg;
	} actions[] = {
		{ "drop", RXO_FAULT_DROP, 0 },
		{ "dup", RXO_FAULT_DUP, 0 },
		{ "corrupt", RXO_FAULT_CORRUPT, 0 },
		{ "delay=1", RXO_FAULT_DELAY, 1 },
		{ "hold=1000", RXO_FAULT_HOLD, 1000 },
	};
	struct rxo_fault_rule r;
	char line[64];
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (j = 0; j < ARRAY_SIZE(actions); j++) {
			snprintf(line, sizeof(line), "%s %s %s",
				 j & 1 ? "tx" : "rx", kinds[i],
				 actions[j].word);
			r = rule_of(line);
			T_EQ(r.dir, j & 1 ? RXO_FAULT_TX : RXO_FAULT_RX);
			T_EQ(r.kind, i);
			T_EQ(r.action, actions[j].action);
			T_EQ(r.arg, actions[j].arg);
			T_EQ(r.given, 0);
			T_CHECK(!strcmp(rxo_fault_kind_name(r.kind), kinds[i]));
		}
	}
}

T_TEST(fault_parse__space_and_comments)
{
	struct rxo_fault_rule r;

	rule_of("  rx\tack   drop  \r\n");
	rule_of("rx ack drop # seen 3 hit 1");
	rule_of("rx ack drop #");
	T_EQ(parse("", &r), -ENODATA);
	T_EQ(parse(" \t ", &r), -ENODATA);
	T_EQ(parse("# rx ack drop", &r), -ENODATA);
}

T_TEST(fault_parse__percent)
{
	static const struct {
		const char *text;
		u32 ppm;
	} good[] = {
		{ "0", 0 }, { "0.0001", 1 }, { "0.5", 5000 }, { ".5", 5000 },
		{ "1", 10000 }, { "1.", 10000 }, { "12.3456", 123456 },
		{ "100", 1000000 }, { "100.0000", 1000000 },
		{ "00000000000000000000000001", 10000 },
	};
	static const char *const bad[] = {
		"", ".", "100.0001", "101", "1.2.3", "1.23456", "-1", "1e1",
		"99999999999999999999999", "268435456", "0x1", "a",
	};
	struct rxo_fault_rule r;
	char line[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		snprintf(line, sizeof(line), "rx any pct=%s drop", good[i].text);
		T_EQ(rule_of(line).sel[RXO_FAULT_PCT], good[i].ppm);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(line, sizeof(line), "rx any pct=%s drop", bad[i]);
		t_context("%s", line);
		T_EQ(parse(line, &r), -EINVAL);
	}
}

T_TEST(fault_parse__wrong_lines)
{
	static const struct {
		const char *line;
		const char *word;	/* that is to blame */
	} bad[] = {
		{ "up ack drop", "up" },
		{ "rxx ack drop", "rxx" },
		{ "r ack drop", "r" },
		{ "rx", "" },
		{ "rx drop", "drop" },
		{ "rx acks drop", "acks" },
		{ "rx ack", "" },
		{ "rx ack # drop", "" },
		{ "rx ack nth=1", "" },
		{ "rx ack dropp", "dropp" },
		{ "rx ack drop drop", "drop" },
		{ "rx ack drop nth=1", "nth=1" },
		{ "rx ack nth=1 nth=2 drop", "nth=2" },
		{ "rx ack nth drop", "nth" },
		{ "rx ack nth= drop", "nth=" },
		{ "rx ack nth=0 drop", "nth=0" },
		{ "rx ack nth=-1 drop", "nth=-1" },
		{ "rx ack nth=+1 drop", "nth=+1" },
		{ "rx ack nth=1x drop", "nth=1x" },
		{ "rx ack nth=0x drop", "nth=0x" },
		{ "rx ack nth=4294967296 drop", "nth=4294967296" },
		{ "rx ack nth=99999999999999999999999999 drop",
		  "nth=99999999999999999999999999" },
		{ "rx ack every=0 drop", "every=0" },
		{ "rx ack count=0 drop", "count=0" },
		{ "rx ack qpn=0x1000000 drop", "qpn=0x1000000" },
		{ "rx ack psn=16777216 drop", "psn=16777216" },
		{ "rx ack seed=1 drop", "" },
		{ "rx ack drop=1", "drop=1" },
		{ "rx ack delay", "delay" },
		{ "rx ack delay=", "delay=" },
		{ "rx ack delay=0", "delay=0" },
		{ "rx ack delay=10000001", "delay=10000001" },
		{ "rx ack hold=0", "hold=0" },
		{ "rx ack hold=1001", "hold=1001" },
		{ "rx ack pass", "pass" },
		{ "RX ack drop", "RX" },
		{ "rx,ack,drop", "rx,ack,drop" },
	};
	struct rxo_fault_error err;
	struct rxo_fault_rule r;
	char word[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		t_context("%s", bad[i].line);
		T_EQ(parse_bytes(bad[i].line, strlen(bad[i].line), &r, &err,
				 word), -EINVAL);
		T_CHECK(err.what && err.what[0]);
		T_CHECK(!strcmp(word, bad[i].word));
	}
}

/* Every way to cut a good line short, and to put any byte into it. */
T_TEST(fault_parse__any_bytes)
{
	static const char line[] = "tx send qpn=1 nth=2 pct=3.5 seed=4 hold=5";
	struct rxo_fault_error err;
	struct rxo_fault_rule r;
	char copy[sizeof(line)], word[64];
	size_t i;
	int c;

	for (i = 0; i < strlen(line); i++) {
		t_context("%zu bytes", i);
		T_CHECK(parse_bytes(line, i, &r, &err, word) < 0);
	}
	for (i = 0; i < strlen(line); i++) {
		for (c = 0; c < 256; c++) {
			memcpy(copy, line, sizeof(line));
			copy[i] = (char)c;
			parse_bytes(copy, strlen(line), &r, &err, word);
		}
	}
}

/* --------------------------------------------------------------------- match */

static const struct rxo_fault_pkt ack = {
	.dir = RXO_FAULT_RX, .kind = RXO_FAULT_ACK, .qpn = 17, .psn = 100,
};

/* Which of @n packets like @pkt are hit: one bit each. */
static u64 hits(const char *line, const struct rxo_fault_pkt *pkt, u32 n)
{
	struct rxo_fault_rule r = rule_of(line);
	u64 bits = 0, count = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		if (!rxo_fault_hits(&r, pkt))
			continue;
		bits |= 1ULL << i;
		count++;
	}
	T_EQ(r.hits, count);
	return bits;
}

T_TEST(fault_hits__turns)
{
	T_EQ(hits("rx ack drop", &ack, 8), 0xff);
	T_EQ(hits("rx ack nth=1 drop", &ack, 8), 0x01);
	T_EQ(hits("rx ack nth=3 drop", &ack, 8), 0x04);
	T_EQ(hits("rx ack every=3 drop", &ack, 8), 0x24);
	T_EQ(hits("rx ack nth=2 every=3 drop", &ack, 8), 0x92);
	T_EQ(hits("rx ack every=1 drop", &ack, 8), 0xff);
	T_EQ(hits("rx ack count=2 drop", &ack, 8), 0x03);
	T_EQ(hits("rx ack every=2 count=2 drop", &ack, 8), 0x0a);
}

T_TEST(fault_hits__selectors)
{
	struct rxo_fault_rule r;
	struct rxo_fault_pkt p;
	u8 kind;

	T_EQ(hits("rx ack qpn=17 drop", &ack, 1), 1);
	T_EQ(hits("rx ack qpn=18 drop", &ack, 1), 0);
	T_EQ(hits("rx ack qpn=0 drop", &ack, 1), 0);
	T_EQ(hits("rx ack psn=100 drop", &ack, 1), 1);
	T_EQ(hits("rx ack psn=0 drop", &ack, 1), 0);
	T_EQ(hits("tx ack drop", &ack, 1), 0);
	for (kind = 0; kind < RXO_FAULT_ANY; kind++) {
		p = ack;
		p.kind = kind;
		T_EQ(hits("rx ack drop", &p, 1), kind == RXO_FAULT_ACK);
		T_EQ(hits("rx any drop", &p, 1), 1);
	}

	/* What is no candidate is not counted. */
	r = rule_of("rx ack qpn=17 nth=2 drop");
	p = ack;
	p.qpn = 18;
	T_CHECK(!rxo_fault_hits(&r, &ack));
	T_CHECK(!rxo_fault_hits(&r, &p));
	T_EQ(r.seen, 1);
	T_CHECK(rxo_fault_hits(&r, &ack));
}

T_TEST(fault_hits__percent)
{
	struct rxo_fault_rule r, again;
	u32 i, n = 0;

	T_EQ(hits("rx any pct=0 drop", &ack, 64), 0);
	T_EQ(hits("rx any pct=100 drop", &ack, 64), U64_MAX);
	T_EQ(hits("rx any pct=50 seed=7 drop", &ack, 64),
	     hits("rx any pct=50 seed=7 drop", &ack, 64));
	T_CHECK(hits("rx any pct=50 seed=7 drop", &ack, 64) !=
		hits("rx any pct=50 seed=8 drop", &ack, 64));
	T_EQ(hits("rx any pct=50 drop", &ack, 64),
	     hits("rx any pct=50 seed=0 drop", &ack, 64));

	/* 0.5 % of 200,000 is 1,000; five standard deviations are 158. */
	r = rule_of("rx any pct=0.5 seed=1 drop");
	again = r;
	for (i = 0; i < 200000; i++) {
		n += rxo_fault_hits(&r, &ack);
		rxo_fault_hits(&again, &ack);
	}
	T_CHECK(n > 842 && n < 1158);
	T_EQ(again.hits, n);
	T_EQ(r.seen, 200000);
}

T_TEST(fault_kind_of__opcodes)
{
	static const struct {
		u8 opcode;
		u8 syndrome;
		u8 kind;
	} rows[] = {
		{ RXO_OP_ACK, 0x1f, RXO_FAULT_ACK },
		{ RXO_OP_ACK, 0x00, RXO_FAULT_ACK },
		{ RXO_OP_ACK, 0x21, RXO_FAULT_NAK },
		{ RXO_OP_ACK, 0x60, RXO_FAULT_NAK },
		{ RXO_OP_SEND_FIRST, 0, RXO_FAULT_SEND },
		{ RXO_OP_SEND_ONLY_IMM, 0, RXO_FAULT_SEND },
		{ RXO_OP_WRITE_MIDDLE, 0, RXO_FAULT_WRITE },
		{ RXO_OP_WRITE_LAST_IMM, 0, RXO_FAULT_WRITE },
		{ RXO_OP_READ_REQUEST, 0, RXO_FAULT_READ },
		{ RXO_OP_READ_RESP_FIRST, 0, RXO_FAULT_RESPONSE },
		{ RXO_OP_READ_RESP_MIDDLE, 0, RXO_FAULT_RESPONSE },
		{ RXO_OP_READ_RESP_ONLY, 0, RXO_FAULT_RESPONSE },
		{ RXO_OP_ATOMIC_ACK, 0, RXO_FAULT_RESPONSE },
		{ RXO_OP_CMP_SWAP, 0, RXO_FAULT_ATOMIC },
		{ RXO_OP_FETCH_ADD, 0, RXO_FAULT_ATOMIC },
	};
	struct rxo_pkt pkt = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_context("row %zu", i);
		pkt.opcode = rows[i].opcode;
		pkt.syndrome = rows[i].syndrome;
		T_EQ(rxo_fault_kind_of(&pkt), rows[i].kind);
	}
}
