// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fail_walk.h"
#include "t.h"

#define MAX_NTH		20000
/*
 * How many callers are looked at: the first few are the allocator's own, the rest is
 * enough for a socket of the driver, and too little for the files of sysfs.
 */
#define NEAR		"10"
#define ANYWHERE	"32"

static int fail_fd = -1;

/* ---------------------------------------------------------------- fault points */

static void set_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		t_skip_all("%s: %s", path, strerror(errno));
	close(fd);
}

static const char *const points[] = {
	"failslab", "fail_page_alloc", "fail_usercopy",
};

#define POINTS		(sizeof(points) / sizeof(points[0]))
#define ALLOCATIONS	2	/* of these */

/* Of the first so many. */
static void set_points(unsigned int n, const char *file, const char *text)
{
	char path[128];
	unsigned int i;

	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s",
			 points[i], file);
		set_file(path, text);
	}
}

/* @which: of the callers, require or reject. */
static void set_range(const char *which, unsigned long start, unsigned long end)
{
	char file[32], text[32];

	snprintf(file, sizeof(file), "%s-start", which);
	snprintf(text, sizeof(text), "%#lx", start);
	set_points(POINTS, file, text);
	snprintf(file, sizeof(file), "%s-end", which);
	snprintf(text, sizeof(text), "%#lx", end);
	set_points(POINTS, file, text);
}

void fail_prepare(void)
{
	/* No stack of each fault in the kernel log. */
	set_points(POINTS, "verbose", "0");
	set_points(ALLOCATIONS, "ignore-gfp-wait", "N");
	set_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N");
	set_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	fail_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_fd < 0)
		t_skip_all("no fail-nth: %s", strerror(errno));
}

/* From the first to the last function of a module. */
static void find_text(const char *module, unsigned long *start, unsigned long *end)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], name[64], type;
	unsigned long at;

	*start = ULONG_MAX;
	*end = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx %c %*s [%63[^]]]", &at, &type, name) != 3 ||
		    (type != 't' && type != 'T') || strcmp(name, module))
			continue;
		*start = at < *start ? at : *start;
		*end = at > *end ? at : *end;
	}
	if (f)
		fclose(f);
	if (*start >= *end)
		t_fatal("/proc/kallsyms has no functions of %s", module);
}

void fail_near(const char *module)
{
	unsigned long start = 0, end = ULONG_MAX;

	if (module)
		find_text(module, &start, &end);
	set_range("require", start, end);
	set_points(POINTS, "stacktrace-depth", NEAR);
}

/* A function of the kernel itself; the table is in the order of the addresses. */
static void find_function(const char *name, unsigned long *start, unsigned long *end)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], symbol[256];
	unsigned long at;

	*start = *end = 0;
	while (f && !*end && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx %*c %255s", &at, symbol) != 2)
			continue;
		if (*start && at > *start)
			*end = at;
		else if (!strcmp(symbol, name))
			*start = at;
	}
	if (f)
		fclose(f);
	if (!*end)
		t_fatal("/proc/kallsyms has no %s", name);
}

void fail_not_in(const char *function)
{
	unsigned long start = 0, end = 0;

	if (function)
		find_function(function, &start, &end);
	set_range("reject", start, end);
}

void fail_atomic_in(const char *module, const char *function)
{
	unsigned long start = 0, end = ULONG_MAX;

	fail_atomic(0);
	if (module)
		find_text(module, &start, &end);
	else if (function)
		find_function(function, &start, &end);
	set_range("require", start, end);
	set_points(POINTS, "stacktrace-depth", ANYWHERE);
	set_points(ALLOCATIONS, "ignore-gfp-wait", module || function ? "Y" : "N");
	set_points(ALLOCATIONS, "probability", module || function ? "100" : "0");
}

void fail_atomic(int times)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", times);
	set_points(ALLOCATIONS, "times", text);
}

/* The nth from now on fails. */
static void fail_begin(unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(fail_fd, text, n, 0) != n)
		t_fatal("fail-nth: %s", strerror(errno));
}

/*
 * Has it been reached? Nothing fails any more. To ask, and to say so, copies text as
 * well: either may be what fails.
 */
static bool fail_end(void)
{
	char text[16] = "";
	bool reached = pread(fail_fd, text, sizeof(text) - 1, 0) > 0 &&
		       text[0] == '0';

	if (pwrite(fail_fd, "0", 1, 0) != 1)
		fail_begin(0);
	return reached;
}

/* ----------------------------------------------------------------------- steps */

/* Returns how many have failed. */
static unsigned int walk(const struct fail_step *step, unsigned int stride)
{
	unsigned int nth;
	bool reached;
	int err;

	for (nth = 1; nth < MAX_NTH; nth += stride) {
		fail_begin(nth);
		err = step->make();
		reached = fail_end();
		if (!err)
			step->use();
		else if (step->undo)
			step->undo();
		if (!reached) {
			t_is(err, 0, "%s: once nothing fails", step->name);
			return (nth - 1) / stride;
		}
	}
	t_fatal("%s: no end", step->name);
}

void fail_walk(const struct fail_step *step, unsigned int n, unsigned int stride)
{
	unsigned int faults, before;

	for (; n; n--, step++) {
		before = t_failed();
		faults = walk(step, stride);
		t_true(t_failed() == before, "%s: %u faults, each clean",
		       step->name, faults);
		/* At least the copy of its arguments. */
		t_true(faults, "%s: something can fail", step->name);
	}
}
