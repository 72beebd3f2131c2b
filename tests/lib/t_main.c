// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Runs the registered tests, or those whose name contains an argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "t.h"

static struct t_test *t_first;
static struct t_test **t_end = &t_first;
static jmp_buf t_return;
static char t_where[256];

void t_register(struct t_test *test)
{
	*t_end = test;
	t_end = &test->next;
}

void t_context(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(t_where, sizeof(t_where), format, ap);
	va_end(ap);
}

void t_fail(const char *file, int line, const char *format, ...)
{
	va_list ap;

	printf("%s:%d: ", file, line);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("%s%s\n", *t_where ? "; " : "", t_where);
	longjmp(t_return, 1);
}

static int t_is_chosen(const struct t_test *test, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (strstr(test->name, argv[i]))
			return 1;
	return argc < 2;
}

int main(int argc, char **argv)
{
	const struct t_test *volatile test;
	volatile int passed = 0, failed = 0;

	for (test = t_first; test; test = test->next) {
		if (!t_is_chosen(test, argc, argv))
			continue;
		*t_where = 0;
		if (setjmp(t_return)) {
			printf("FAILED %s\n", test->name);
			failed++;
			continue;
		}
		test->fn();
		passed++;
	}
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed || !passed ? EXIT_FAILURE : EXIT_SUCCESS;
}
