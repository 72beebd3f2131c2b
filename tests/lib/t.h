/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Unit tests in one process. T_TEST(function__case) { ... } registers itself;
 * a failed check ends its test and no other. t_main.c runs them.
 */
#ifndef T_H
#define T_H

#include <stdio.h>

struct t_test {
	const char *name;
	void (*fn)(void);
	struct t_test *next;
};

void t_register(struct t_test *test);
/* Ends the running test. The context is printed with the failure. */
_Noreturn void t_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What to say besides, when a check fails in a loop: row, seed, position. */
void t_context(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define T_TEST(name_)							\
	static void name_(void);					\
	__attribute__((constructor)) static void name_##_register(void)	\
	{								\
		static struct t_test test = { .name = #name_, .fn = name_ }; \
		t_register(&test);					\
	}								\
	static void name_(void)

#define T_CHECK(cond) do {						\
	if (!(cond))							\
		t_fail(__FILE__, __LINE__, "%s", #cond);		\
} while (0)

#define T_EQ(a, b) do {							\
	unsigned long long a_ = (unsigned long long)(a);		\
	unsigned long long b_ = (unsigned long long)(b);		\
	if (a_ != b_)							\
		t_fail(__FILE__, __LINE__, "%s == %s: %llu (0x%llx), %llu (0x%llx)", \
		       #a, #b, a_, a_, b_, b_);				\
} while (0)

#endif /* T_H */
