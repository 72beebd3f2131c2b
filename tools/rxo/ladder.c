// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rxo ladder: the order of two completions across one lost acknowledgement. Options,
 * the repetitions, and what they must show. The work is done by a child, so that
 * what has been set up is taken down whatever becomes of it.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "debugfs.h"
#include "ladder_draw.h"
#include "ladder_net.h"
#include "ladder_run.h"
#include "ladder_trace.h"
#include "rxo.h"

#define WAIT_PORT_MS	10000

struct options {
	const char *dev[2];
	const char *svg;
	unsigned int repeat;
	bool ordered;
	bool rxe;
	bool trace;
};

static volatile sig_atomic_t child, stopped;

static void ladder_usage(void)
{
	puts("usage: rxo ladder [OPTIONS]\n"
	     "\n"
	     "Two devices: the requester sends, the responder's program answers as soon as it\n"
	     "has received, and the acknowledgement of what the requester has sent is lost,\n"
	     "just this one. Draws what happens, from the tracepoints of the driver, and\n"
	     "checks in which order the requester's completions come: the receive before the\n"
	     "send, or with --ordered the send before the receive. Exits with 0 if so each\n"
	     "time. Without --dev-a and --dev-b it makes two namespaces, a veth pair and two\n"
	     "devices, and takes them down again. Only root may run it.\n"
	     "\n"
	     "  --ordered               a queue pair with ordered completions\n"
	     "  --responder rxe         answer with rdma_rxe, in the initial namespace\n"
	     "  --dev-a, --dev-b NAME   requester and responder, devices that are there\n"
	     "  --repeat N              that often (1); the last time, or the first that is\n"
	     "                          wrong, is drawn\n"
	     "  --svg FILE              draw it as SVG too\n"
	     "  --no-trace              do not trace, nor draw");
}

/* ------------------------------------------------------------------ options */

static int parse_option(int c, const char *arg, struct options *o)
{
	char *end;

	switch (c) {
	case 'a':
	case 'b':
		o->dev[c - 'a'] = arg;
		return 0;
	case 'o':
		o->ordered = true;
		return 0;
	case 's':
		o->svg = arg;
		return 0;
	case 't':
		o->trace = false;
		return 0;
	case 'n':
		o->repeat = strtoul(arg, &end, 10);
		if (*arg >= '0' && *arg <= '9' && !*end && o->repeat)
			return 0;
		rxo_error("--repeat: '%s' is not a number", arg);
		return -1;
	case 'r':
		o->rxe = !strcmp(arg, "rxe");
		if (o->rxe || !strcmp(arg, "rxe_ordered"))
			return 0;
		rxo_error("--responder: '%s' is neither rxe nor rxe_ordered",
			  arg);
		return -1;
	default:
		return -1;
	}
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option table[] = {
		{ "dev-a", required_argument, NULL, 'a' },
		{ "dev-b", required_argument, NULL, 'b' },
		{ "ordered", no_argument, NULL, 'o' },
		{ "responder", required_argument, NULL, 'r' },
		{ "repeat", required_argument, NULL, 'n' },
		{ "svg", required_argument, NULL, 's' },
		{ "no-trace", no_argument, NULL, 't' },
		{ 0 },
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (c == '?' || c == ':') {
			rxo_error("ladder: what is '%s'? (try 'rxo help ladder')",
				  argv[optind - 1]);
			return -1;
		}
		if (parse_option(c, optarg, o))
			return -1;
	}
	if (optind < argc || !o->dev[0] != !o->dev[1] || (o->dev[0] && o->rxe)) {
		rxo_error("ladder: --dev-a and --dev-b go together, and nothing else makes devices then (try 'rxo help ladder')");
		return -1;
	}
	return 0;
}

/* --------------------------------------------------------------------- draw */

static void add_program(struct ladder_trace *trace, const struct ladder_run *run)
{
	ladder_trace_note(trace, LADDER_A, true, run->posted_ns[LADDER_SEND1],
			  "posts send1");
	ladder_trace_note(trace, LADDER_B, true, run->polled_ns[LADDER_RECV1],
			  "takes recv1");
	ladder_trace_note(trace, LADDER_B, true, run->posted_ns[LADDER_SEND2],
			  "posts send2");
	ladder_trace_note(trace, LADDER_A, true, run->polled_ns[LADDER_SEND1],
			  "takes send1");
	ladder_trace_note(trace, LADDER_A, true, run->polled_ns[LADDER_RECV2],
			  "takes recv2");
	ladder_trace_note(trace, LADDER_B, true, run->polled_ns[LADDER_SEND2],
			  "takes send2");
}

static int draw(const struct options *o, const struct ladder_run *run)
{
	static struct ladder_trace trace;
	char title[128];
	FILE *file;
	int ret;

	if (ladder_trace_get(&trace, run->qpn_a, run->qpn_b))
		return -1;
	add_program(&trace, run);
	ladder_draw_text(&trace, stdout);
	if (!o->svg)
		return 0;
	snprintf(title, sizeof(title), "One lost acknowledgement, %s, responder %s",
		 o->ordered ? "ordered completions" : "default",
		 o->rxe ? "rdma_rxe" : "rxe_ordered");
	file = fopen(o->svg, "we");
	if (file)
		ladder_draw_svg(&trace, title, file);
	ret = file ? fclose(file) : -1;
	if (ret)
		rxo_error("%s: %s", o->svg, strerror(errno));
	return ret;
}

/* ----------------------------------------------------------------------- run */

static bool is_as_expected(const struct options *o, const struct ladder_run *run)
{
	return run->order[0] == (o->ordered ? LADDER_SEND1 : LADDER_RECV2);
}

static int repeat(const struct options *o, struct ladder_run *run)
{
	unsigned int i, right = 0;
	char err[PAIR_ERR_LEN];

	for (i = 1; i <= o->repeat; i++) {
		if (o->trace)
			ladder_trace_begin();
		if (ladder_run(run, err)) {
			rxo_error("run %u: %s", i, err);
			return RXO_EXIT_FAILED;
		}
		right += is_as_expected(o, run);
		if (right < i || i == o->repeat)
			break;
	}
	if (o->trace && draw(o, run))
		return RXO_EXIT_FAILED;
	printf("%s, %u of %u: %s first\n", o->ordered ? "ordered" : "default",
	       right, o->repeat, o->ordered ? "send" : "receive");
	if (right == o->repeat)
		return RXO_EXIT_OK;
	rxo_error("run %u: the %s completed first", i,
		  o->ordered ? "receive" : "send");
	return RXO_EXIT_FAILED;
}

static bool has_ipv4_gid(const struct pair_port *port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(port->gid.raw, mapped, sizeof(mapped));
}

/* Ports and GIDs of devices that have just been made take a moment. */
static int open_port(struct pair_port *port, const char *name, bool wait)
{
	static const struct timespec pause = { .tv_nsec = 20000000 };
	char err[PAIR_ERR_LEN];
	int tries = wait ? WAIT_PORT_MS / 20 : 1;

	while (tries--) {
		if (!pair_open(port, name, PAIR_GID_AUTO, err)) {
			if (!wait || has_ipv4_gid(port))
				return 0;
			pair_close(port);
			snprintf(err, sizeof(err), "%s has no IPv4 address", name);
		}
		if (tries)
			nanosleep(&pause, NULL);
	}
	rxo_error("%s", err);
	return -1;
}

static int run_child(const struct options *o)
{
	struct pair_port a = { 0 }, b = { 0 };
	struct ladder_run run = { .a = &a, .b = &b, .ordered = o->ordered };
	bool made = !o->dev[0];
	int ret = RXO_EXIT_FAILED;

	if (!open_port(&a, made ? LADDER_DEV_A : o->dev[0], made) &&
	    !open_port(&b, made ? LADDER_DEV_B : o->dev[1], made))
		ret = repeat(o, &run);
	pair_close(&a);
	pair_close(&b);
	return ret;
}

/* -------------------------------------------------------------------- parent */

static void pass_on(int signal)
{
	stopped = 1;
	if (child > 0)
		kill(child, signal);
}

static int run_and_wait(const struct options *o)
{
	pid_t parent = getpid();
	int status = 0;

	fflush(NULL);
	child = fork();
	if (child < 0) {
		rxo_error("cannot fork: %s", strerror(errno));
		return RXO_EXIT_FAILED;
	}
	if (!child) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(RXO_EXIT_FAILED);
		exit(run_child(o));
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : RXO_EXIT_FAILED;
}

static int trace_and_run(const struct options *o)
{
	int ret;

	if (o->trace && ladder_trace_on())
		return RXO_EXIT_FAILED;
	ret = stopped ? RXO_EXIT_FAILED : run_and_wait(o);
	if (o->trace)
		ladder_trace_off();
	return ret;
}

static int set_up_and_run(const struct options *o)
{
	bool made = !o->dev[0];
	int ret;

	/* This loads the module, if need be: there are no tracepoints before. */
	if (made && ladder_net_up(o->rxe))
		return RXO_EXIT_FAILED;
	ret = trace_and_run(o);
	/* Its device goes otherwise, and the rule with it. */
	if (!made && debugfs_write(o->dev[0], "faults", "clear\n"))
		ret = RXO_EXIT_FAILED;
	if (made)
		ladder_net_down();
	return ret;
}

static int ladder_main(int argc, char **argv)
{
	struct options o = { .repeat = 1, .trace = true };
	struct sigaction action = { .sa_handler = pass_on };

	if (parse(argc, argv, &o))
		return RXO_EXIT_USAGE;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	return set_up_and_run(&o);
}

const struct rxo_command rxo_ladder_command = {
	.name = "ladder",
	.summary = "lose one acknowledgement, and draw what becomes of the order of completions",
	.usage = ladder_usage,
	.main = ladder_main,
};
