/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Checks and their output (KTAP), and the options that all test programs take.
 *
 * A program calls t_args() first and returns t_done(). Exit codes: 0 all checks
 * passed, 1 one failed or the test could not go on, 2 wrong options, 77 skipped.
 */
#ifndef T_H
#define T_H

#include <stdbool.h>
#include <stdint.h>

#define T_SKIPPED	77

/* ------------------------------------------------------------------- checks */

/**
 * t_true - a check
 * @ok: did it hold?
 * @fmt: what was to be so
 *
 * Return: @ok.
 */
bool t_true(bool ok, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * t_is - a check of a number
 * @saw: what it is
 * @want: what it should be
 * @fmt: what it is the number of
 *
 * Return: whether they are equal.
 */
bool t_is(long long saw, long long want, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * t_skip - a check that cannot be made here
 * @fmt: what, and why
 */
void t_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * t_note - a remark
 * @fmt: text
 */
void t_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * t_skip_all - end the program: none of it can be tested here
 * @fmt: the reason
 */
void t_skip_all(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/**
 * t_fatal - end the program: what the test itself needs does not work
 * @fmt: what
 */
void t_fatal(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/**
 * t_failed - how many checks have failed so far
 */
unsigned int t_failed(void);

/**
 * t_done - the plan, and the exit code
 */
int t_done(void);

/* ------------------------------------------------------------------ options */

struct t_options {
	const char *dev[2];
	int gid[2];		/* or PAIR_GID_AUTO */
	const char *foreign;	/* device of another driver, or NULL */
	const char *method;	/* library, ioctl, mixed or notify */
	uint32_t completions;
	unsigned int threads;
	unsigned int seed;
	unsigned int seconds;	/* how long at most */
	unsigned int receives;	/* posted at a time */
	char from;		/* the only requester, a or b; 0: both */
};

extern struct t_options t_options;

/**
 * t_args - read the options
 * @about: one line on what the program tests
 *
 * Ends the program when they are wrong. t_options may hold defaults before.
 */
void t_args(int argc, char **argv, const char *about);

/* --------------------------------------------------------------------- time */

/**
 * t_now_us - microseconds of a clock that only goes forward
 */
uint64_t t_now_us(void);

/**
 * t_now_ms - the same in milliseconds
 */
uint64_t t_now_ms(void);

/**
 * t_sleep_us - sleep
 * @us: microseconds
 */
void t_sleep_us(unsigned int us);

/**
 * t_slow - how many times slower than usual the kernel is (RXO_SLOW, or 1)
 *
 * For whatever limits how long something may take.
 */
unsigned int t_slow(void);

#endif /* T_H */
