// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * usage: sim [--trace] [--stats] [--stop] [--deadlock] [--seconds N] FIRST [LAST]
 *
 * Runs the seeds FIRST .. LAST, and stops after N seconds, or at the first failure. Prints each seed that
 * fails, and last a line of sums. Exits 0 if none failed.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

static struct sim sim;

/* An assertion of the core, or a sanitizer: say which seed it was. */
static void say_seed(void)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "seed %llu: FAILED: crashed\n",
			 (unsigned long long)sim.seed);

	if (write(STDOUT_FILENO, text, (size_t)n) < 0)
		_exit(2);
}

static void on_signal(int number)
{
	say_seed();
	signal(number, SIG_DFL);
	raise(number);
}

void __asan_on_error(void);
void __asan_on_error(void)
{
	say_seed();
}

static void add(struct sim_stats *to, const struct sim_stats *from)
{
	u64 *t = (u64 *)to;
	const u64 *f = (const u64 *)from;
	size_t i;

	for (i = 0; i < sizeof(*to) / sizeof(*t); i++)
		t[i] += f[i];
}

static void print_sums(const struct sim_stats *s, u64 seeds, u64 failed)
{
	printf("seeds %llu packets %llu lost %llu repeated %llu damaged %llu "
	       "overtaken %llu ops %llu connections %llu errors %llu "
	       "retransmits %llu kept %llu held %llu probes %llu failed %llu\n",
	       (unsigned long long)seeds, (unsigned long long)s->packets,
	       (unsigned long long)s->lost, (unsigned long long)s->repeated,
	       (unsigned long long)s->damaged, (unsigned long long)s->overtaken,
	       (unsigned long long)s->ops, (unsigned long long)s->connections,
	       (unsigned long long)s->errors, (unsigned long long)s->retransmits,
	       (unsigned long long)s->kept, (unsigned long long)s->held,
	       (unsigned long long)s->probes, (unsigned long long)failed);
}

static u64 seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec;
}

static _Noreturn void usage(void)
{
	fprintf(stderr, "usage: sim [--trace] [--stats] [--stop] [--deadlock] "
		"[--seconds N] FIRST [LAST]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct sim_stats sum = {};
	u64 first, last, seed, limit = 0, begin = seconds(), n = 0, failed = 0;
	bool stats = false, stop = false;
	int i;

	sim_open(&sim);
	for (i = 1; i < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--trace"))
			sim.trace = true;
		else if (!strcmp(argv[i], "--stats"))
			stats = true;
		else if (!strcmp(argv[i], "--stop"))
			stop = true;
		else if (!strcmp(argv[i], "--deadlock"))
			sim.deadlock = true;
		else if (!strcmp(argv[i], "--seconds") && i + 1 < argc)
			limit = strtoull(argv[++i], NULL, 0);
		else
			usage();
	}
	if (i == argc)
		usage();
	first = strtoull(argv[i], NULL, 0);
	last = i + 1 < argc ? strtoull(argv[i + 1], NULL, 0) : first;
	signal(SIGABRT, on_signal);
	signal(SIGSEGV, on_signal);
	for (seed = first; seed <= last && !(stop && failed); seed++) {
		if (limit && seconds() - begin >= limit)
			break;
		if (!sim_run(&sim, seed)) {
			printf("seed %llu: FAILED: %s\n",
			       (unsigned long long)seed, sim.failure);
			failed++;
		}
		if (stats) {
			printf("seed %llu: ", (unsigned long long)seed);
			print_sums(&sim.stats, 1, 0);
		}
		fflush(stdout);
		add(&sum, &sim.stats);
		n++;
	}
	print_sums(&sum, n, failed);
	sim_close(&sim);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
