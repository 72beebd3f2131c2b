// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rxo order: the two classic loops and the verb side by side. Options, the table,
 * and what it must show.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/rxodv.h>

#include "order_calls.h"
#include "order_run.h"
#include "rxo.h"

#define MAX_COUNTS	8	/* thread counts in --threads */

struct options {
	char dev[2][IBV_SYSFS_NAME_MAX];
	int gid[2];
	unsigned int threads[MAX_COUNTS];
	unsigned int num_threads;
	unsigned int completions;
	unsigned int hold_us;
	unsigned int hold_every;
	unsigned int stall_us;
	unsigned int batch;
	bool json;
};

struct row {
	struct order_params params;
	struct order_result result;
	double calls;		/* per wake-up */
	bool has_calls;
	bool is_supported;
};

static const char *const loop_name[] = {
	[ORDER_LOOP_SINGLE] = "loop 1",
	[ORDER_LOOP_DOUBLE] = "loop 2",
	[ORDER_LOOP_VERB] = "verb",
};

/* ------------------------------------------------------------------ options */

static void order_usage(void)
{
	puts("usage: rxo order [OPTIONS]\n"
	     "\n"
	     "Threads sleep on one completion channel and consume one CQ, with each of\n"
	     "three loops in turn; one completion in a few is held for a while before it\n"
	     "is processed:\n"
	     "  loop 1  arm; while (poll > 0) process\n"
	     "  loop 2  drain; arm; drain again\n"
	     "  verb    while (poll_rearm > 0) process\n"
	     "Exits with 0 if the verb processes all completions in order and without an\n"
	     "empty wake-up, and both loops are seen not to; with 1 otherwise.\n"
	     "\n"
	     "  --dev-a DEVICE     the device that sends, and\n"
	     "  --dev-b DEVICE     the one that receives, may be the same\n"
	     "                     (the two rxe_ordered devices, if there are just two)\n"
	     "  --gid-a, --gid-b INDEX   GIDs (an IPv4-mapped RoCE v2 one)\n"
	     "  --threads N,N,...  how many threads (2,4)\n"
	     "  --completions N    per row of the table (10000)\n"
	     "  --hold US          how long a completion is held, microseconds (200)\n"
	     "  --hold-every N     one in N completions is held (2)\n"
	     "  --stall US         how long a thread is stalled at most after each call on\n"
	     "                     the CQ, whichever, as by an interrupt (50)\n"
	     "  --batch N          completions taken at a time (4)\n"
	     "  --json             print JSON instead of a table\n"
	     "\n"
	     "Out of order: processed after a completion that was added later.\n"
	     "Empty wake-up: an event, and then nothing to be found.\n"
	     "Calls per wake-up: system calls of the consumers, the holds not counted, in a\n"
	     "short run of its own that is traced; '-' if this user may not trace.");
}

static int parse_number(const char *name, const char *text, unsigned int min,
			unsigned int max, unsigned int *value)
{
	unsigned long long n;
	char *end;

	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || n < min || n > max) {
		rxo_error("--%s: '%s' is not a number from %u to %u", name,
			  text, min, max);
		return -1;
	}
	*value = n;
	return 0;
}

static int parse_threads(const char *text, struct options *o)
{
	char copy[64], *word, *rest = copy;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy)) {
		rxo_error("--threads: too long");
		return -1;
	}
	o->num_threads = 0;
	while ((word = strsep(&rest, ","))) {
		if (o->num_threads == MAX_COUNTS) {
			rxo_error("--threads: at most %d counts", MAX_COUNTS);
			return -1;
		}
		if (parse_number("threads", word, 1, ORDER_MAX_THREADS,
				 &o->threads[o->num_threads++]))
			return -1;
	}
	return 0;
}

static int parse_name(const char *name, const char *text, char *dev)
{
	if (snprintf(dev, IBV_SYSFS_NAME_MAX, "%s", text) < IBV_SYSFS_NAME_MAX)
		return 0;
	rxo_error("--%s: '%s' cannot be the name of a device", name, text);
	return -1;
}

static int parse_option(const struct option *opt, const char *arg,
			struct options *o)
{
	unsigned int value = 0;
	int ret = 0;

	switch (opt->val) {
	case 'a':
	case 'b':
		return parse_name(opt->name, arg, o->dev[opt->val - 'a']);
	case 'A':
	case 'B':
		ret = parse_number(opt->name, arg, 0, 1023, &value);
		o->gid[opt->val - 'A'] = value;
		return ret;
	case 't':
		return parse_threads(arg, o);
	case 'n':
		return parse_number(opt->name, arg, 1, 1000000000,
				    &o->completions);
	case 'u':
		return parse_number(opt->name, arg, 0, 1000000, &o->hold_us);
	case 'e':
		return parse_number(opt->name, arg, 1, 1000000000,
				    &o->hold_every);
	case 's':
		return parse_number(opt->name, arg, 0, 1000000, &o->stall_us);
	case 'c':
		return parse_number(opt->name, arg, 1, ORDER_MAX_BATCH,
				    &o->batch);
	default:
		o->json = true;
		return 0;
	}
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option table[] = {
		{ "dev-a", required_argument, NULL, 'a' },
		{ "dev-b", required_argument, NULL, 'b' },
		{ "gid-a", required_argument, NULL, 'A' },
		{ "gid-b", required_argument, NULL, 'B' },
		{ "threads", required_argument, NULL, 't' },
		{ "completions", required_argument, NULL, 'n' },
		{ "hold", required_argument, NULL, 'u' },
		{ "hold-every", required_argument, NULL, 'e' },
		{ "stall", required_argument, NULL, 's' },
		{ "batch", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int c, i;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", table, &i)) != -1) {
		if (c == '?' || c == ':') {
			rxo_error("order: what is '%s'? (try 'rxo help order')",
				  argv[optind - 1]);
			return -1;
		}
		if (parse_option(&table[i], optarg, o))
			return -1;
	}
	if (optind < argc) {
		rxo_error("order: what is '%s'? (try 'rxo help order')",
			  argv[optind]);
		return -1;
	}
	return 0;
}

/* Names that were not given. */
static int default_devices(struct options *o)
{
	char names[2][IBV_SYSFS_NAME_MAX];
	int n;

	if (o->dev[0][0] && o->dev[1][0])
		return 0;
	n = pair_find_devices(names, 2, rxodv_is_supported);
	if (o->dev[0][0] || o->dev[1][0] || n != 2) {
		rxo_error("there are %d rxe_ordered devices; say which two with --dev-a and --dev-b",
			  n);
		return -1;
	}
	memcpy(o->dev, names, sizeof(names));
	return 0;
}

/* -------------------------------------------------------------------- output */

static void print_header(const struct options *o)
{
	printf("%s to %s, %u completions per row, one in %u held for %u us,\nstalls of up to %u us, up to %u at a time\n\n",
	       o->dev[0], o->dev[1], o->completions, o->hold_every, o->hold_us,
	       o->stall_us, o->batch);
	printf("%-6s  %7s  %12s  %14s  %11s  %13s  %7s\n", "", "threads",
	       "out of order", "empty wake-ups", "events/1000",
	       "calls/wake-up", "seconds");
}

static void print_row(const struct row *row)
{
	const struct order_result *r = &row->result;

	printf("%-6s  %7u", loop_name[row->params.loop], row->params.threads);
	if (!row->is_supported) {
		puts("  not supported on this device");
		return;
	}
	printf("  %12llu  %14llu  %11.1f", (unsigned long long)r->out_of_order,
	       (unsigned long long)r->empty, 1000.0 * r->wakeups / r->processed);
	if (row->has_calls)
		printf("  %13.2f", row->calls);
	else
		printf("  %13s", "-");
	printf("  %7.1f\n", r->seconds);
	fflush(stdout);
}

static void print_json_row(const struct row *row)
{
	const struct order_params *p = &row->params;
	const struct order_result *r = &row->result;

	printf("    {\"loop\": \"%s\", \"threads\": %u, \"supported\": %s",
	       loop_name[p->loop], p->threads,
	       row->is_supported ? "true" : "false");
	if (row->is_supported)
		printf(", \"completions\": %llu, \"out_of_order\": %llu, \"empty_wakeups\": %llu, \"events\": %llu, \"seconds\": %.3f",
		       (unsigned long long)r->processed,
		       (unsigned long long)r->out_of_order,
		       (unsigned long long)r->empty,
		       (unsigned long long)r->wakeups, r->seconds);
	if (row->has_calls)
		printf(", \"calls_per_wakeup\": %.3f", row->calls);
	putchar('}');
}

static void print_json(const struct options *o, const struct row *rows,
		       unsigned int n, const char *problem)
{
	unsigned int i;

	printf("{\n  \"dev_a\": \"%s\", \"dev_b\": \"%s\",\n", o->dev[0],
	       o->dev[1]);
	printf("  \"hold_us\": %u, \"hold_every\": %u, \"stall_us\": %u, \"batch\": %u,\n",
	       o->hold_us, o->hold_every, o->stall_us, o->batch);
	puts("  \"rows\": [");
	for (i = 0; i < n; i++) {
		print_json_row(&rows[i]);
		puts(i + 1 < n ? "," : "");
	}
	printf("  ],\n  \"shown\": %s\n}\n", problem ? "false" : "true");
}

/* ----------------------------------------------------------------- the claim */

/* What a row fails to show, or NULL. */
static const char *row_problem(const struct row *row)
{
	const struct order_result *r = &row->result;

	if (!row->is_supported)
		return "the verb is not supported on this device";
	if (row->params.loop == ORDER_LOOP_VERB) {
		if (r->out_of_order)
			return "the verb has processed completions out of order";
		if (r->empty)
			return "the verb has woken threads for nothing";
		return NULL;
	}
	/* One thread alone cannot overtake itself. */
	if (row->params.threads > 1 && !r->out_of_order)
		return "a classic loop was not seen out of order, so this run proves nothing (more completions, longer holds?)";
	return NULL;
}

static const char *find_problem(const struct row *rows, unsigned int n)
{
	const char *problem;
	unsigned int i;

	for (i = 0; i < n; i++) {
		problem = row_problem(&rows[i]);
		if (problem)
			return problem;
	}
	return NULL;
}

/* ----------------------------------------------------------------------- run */

static unsigned int make_rows(const struct options *o,
			      const struct pair_port *ports, struct row *rows)
{
	enum order_loop loop;
	unsigned int i, n = 0;

	for (loop = ORDER_LOOP_SINGLE; loop <= ORDER_LOOP_VERB; loop++) {
		for (i = 0; i < o->num_threads; i++, n++) {
			rows[n].params = (struct order_params){
				.a = &ports[0],
				.b = &ports[1],
				.loop = loop,
				.threads = o->threads[i],
				.completions = o->completions,
				.hold_us = o->hold_us,
				.hold_every = o->hold_every,
				.stall_us = o->stall_us,
				.batch = o->batch,
			};
		}
	}
	return n;
}

static int open_ports(const struct options *o, struct pair_port *ports)
{
	char err[PAIR_ERR_LEN];
	int i;

	for (i = 0; i < 2; i++) {
		if (!pair_open(&ports[i], o->dev[i], o->gid[i], err))
			continue;
		rxo_error("%s", err);
		if (i)
			pair_close(&ports[0]);
		return -1;
	}
	return 0;
}

/* With no device open: the runs that are traced have a process of their own. */
static void count_calls(struct options *o, struct row *rows, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (rows[i].is_supported)
			rows[i].has_calls =
				order_count_calls(o->dev, o->gid,
						  &rows[i].params,
						  &rows[i].calls);
}

static int run_rows(const struct options *o, struct row *rows, unsigned int n)
{
	char err[PAIR_ERR_LEN];
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (rows[i].is_supported &&
		    order_run(&rows[i].params, &rows[i].result, err)) {
			rxo_error("%s, %u threads: %s",
				  loop_name[rows[i].params.loop],
				  rows[i].params.threads, err);
			return -1;
		}
		if (!o->json)
			print_row(&rows[i]);
	}
	return 0;
}

static int run(struct options *o)
{
	struct row rows[3 * MAX_COUNTS] = { 0 };
	struct pair_port ports[2];
	const char *problem;
	unsigned int i, n;
	int ret;

	n = make_rows(o, ports, rows);
	if (open_ports(o, ports))
		return RXO_EXIT_FAILED;
	for (i = 0; i < n; i++)
		rows[i].is_supported = rows[i].params.loop != ORDER_LOOP_VERB ||
			rxodv_is_supported(ports[1].ctx->device);
	pair_close(&ports[1]);
	pair_close(&ports[0]);

	if (!o->json)
		print_header(o);
	count_calls(o, rows, n);
	if (open_ports(o, ports))
		return RXO_EXIT_FAILED;
	ret = run_rows(o, rows, n);
	pair_close(&ports[1]);
	pair_close(&ports[0]);
	if (ret)
		return RXO_EXIT_FAILED;

	problem = find_problem(rows, n);
	if (o->json)
		print_json(o, rows, n, problem);
	if (problem)
		rxo_error("not shown: %s", problem);
	return problem ? RXO_EXIT_FAILED : RXO_EXIT_OK;
}

static int order_main(int argc, char **argv)
{
	struct options o = {
		.gid = { PAIR_GID_AUTO, PAIR_GID_AUTO },
		.threads = { 2, 4 },
		.num_threads = 2,
		.completions = 10000,
		.hold_us = 200,
		.hold_every = 2,
		.stall_us = 50,
		.batch = 4,
	};

	if (parse(argc, argv, &o))
		return RXO_EXIT_USAGE;
	if (default_devices(&o))
		return RXO_EXIT_FAILED;
	return run(&o);
}

const struct rxo_command rxo_order_command = {
	.name = "order",
	.summary = "show in which order completions are processed, with and without the verb",
	.usage = order_usage,
	.main = order_main,
};
