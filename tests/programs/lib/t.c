// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <getopt.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pair.h"
#include "t.h"

static unsigned int checks, failures;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

/* ------------------------------------------------------------------- checks */

static void begin_output(void)
{
	static bool begun;

	if (!begun) {
		begun = true;
		setvbuf(stdout, NULL, _IOLBF, 0);
		puts("KTAP version 1");
	}
}

static void report(bool ok, const char *fmt, va_list args, const char *tail)
{
	pthread_mutex_lock(&output);
	begin_output();
	checks++;
	failures += !ok;
	printf("%s %u ", ok ? "ok" : "not ok", checks);
	vprintf(fmt, args);
	puts(tail);
	pthread_mutex_unlock(&output);
}

bool t_true(bool ok, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(ok, fmt, args, "");
	va_end(args);
	return ok;
}

bool t_is(long long saw, long long want, const char *fmt, ...)
{
	char tail[64];
	va_list args;

	if (saw == want)
		snprintf(tail, sizeof(tail), ": %lld", saw);
	else
		snprintf(tail, sizeof(tail), ": expected %lld, saw %lld", want,
			 saw);
	va_start(args, fmt);
	report(saw == want, fmt, args, tail);
	va_end(args);
	return saw == want;
}

void t_skip(const char *fmt, ...)
{
	va_list args;

	pthread_mutex_lock(&output);
	begin_output();
	checks++;
	printf("ok %u # SKIP ", checks);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	pthread_mutex_unlock(&output);
}

static void line(const char *start, const char *fmt, va_list args)
{
	pthread_mutex_lock(&output);
	begin_output();
	fputs(start, stdout);
	vprintf(fmt, args);
	putchar('\n');
	fflush(stdout);
	pthread_mutex_unlock(&output);
}

void t_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line("# ", fmt, args);
	va_end(args);
}

void t_skip_all(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line("skip: ", fmt, args);
	va_end(args);
	exit(T_SKIPPED);
}

void t_fatal(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line("Bail out! ", fmt, args);
	va_end(args);
	exit(1);
}

unsigned int t_failed(void)
{
	return failures;
}

int t_done(void)
{
	printf("1..%u\n", checks);
	printf("# %u checks, %u failed\n", checks, failures);
	return failures || !checks ? 1 : 0;
}

/* ------------------------------------------------------------------ options */

struct t_options t_options = {
	.gid = { PAIR_GID_AUTO, PAIR_GID_AUTO },
	.method = "library",
	.threads = 4,
	.seed = 1,
};

static const struct option table[] = {
	{ "dev-a", required_argument, NULL, 'a' },
	{ "dev-b", required_argument, NULL, 'b' },
	{ "gid-a", required_argument, NULL, 'A' },
	{ "gid-b", required_argument, NULL, 'B' },
	{ "gid", required_argument, NULL, 'g' },
	{ "foreign", required_argument, NULL, 'f' },
	{ "method", required_argument, NULL, 'm' },
	{ "completions", required_argument, NULL, 'n' },
	{ "threads", required_argument, NULL, 't' },
	{ "seed", required_argument, NULL, 's' },
	{ "seconds", required_argument, NULL, 'S' },
	{ "receives", required_argument, NULL, 'r' },
	{ "from", required_argument, NULL, 'F' },
	{ 0 },
};

static void __attribute__((noreturn)) usage(const char *name, const char *about)
{
	fprintf(stderr,
		"usage: %s --dev-a DEVICE --dev-b DEVICE [OPTIONS]\n"
		"%s\n"
		"  --gid-a, --gid-b, --gid INDEX   GID of A, of B, of both\n"
		"  --foreign DEVICE                one of another driver\n"
		"  --method library|ioctl|mixed    how the verb is called, or\n"
		"           notify                 ibv_req_notify_cq() instead\n"
		"  --completions N --threads N --seed N\n"
		"  --seconds N --receives N --from a|b\n", name, about);
	exit(2);
}

static unsigned int number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > 0xffffffff) {
		fprintf(stderr, "'%s' is not a number\n", text);
		exit(2);
	}
	return n;
}

static void set_option(int c, const char *arg)
{
	uint32_t *const numbers[] = {
		['n'] = &t_options.completions,
		['t'] = &t_options.threads,
		['s'] = &t_options.seed,
		['S'] = &t_options.seconds,
		['r'] = &t_options.receives,
	};

	switch (c) {
	case 'a':
	case 'b':
		t_options.dev[c - 'a'] = arg;
		break;
	case 'A':
	case 'B':
		t_options.gid[c - 'A'] = number(arg);
		break;
	case 'g':
		t_options.gid[0] = t_options.gid[1] = number(arg);
		break;
	case 'f':
		t_options.foreign = arg;
		break;
	case 'm':
		t_options.method = arg;
		break;
	case 'F':
		if (strcmp(arg, "a") && strcmp(arg, "b")) {
			fprintf(stderr, "--from is a or b, not '%s'\n", arg);
			exit(2);
		}
		t_options.from = *arg;
		break;
	default:
		*numbers[c] = number(arg);
	}
}

void t_args(int argc, char **argv, const char *about)
{
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (c == '?')
			usage(argv[0], about);
		set_option(c, optarg);
	}
	if (optind < argc || !t_options.dev[0] || !t_options.dev[1] ||
	    (strcmp(t_options.method, "library") &&
	     strcmp(t_options.method, "ioctl") &&
	     strcmp(t_options.method, "mixed") &&
	     strcmp(t_options.method, "notify")))
		usage(argv[0], about);
}

/* --------------------------------------------------------------------- time */

uint64_t t_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

uint64_t t_now_ms(void)
{
	return t_now_us() / 1000;
}

void t_sleep_us(unsigned int us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000L };

	nanosleep(&ts, NULL);
}

unsigned int t_slow(void)
{
	const char *slow = getenv("RXO_SLOW");

	return slow ? number(slow) : 1;
}
