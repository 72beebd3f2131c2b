/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Allocations of this thread, and its copies from and to itself, that fail one by one; and
 * those for packets, of whoever. Needs a kernel with fault injection
 * (/proc/thread-self/fail-nth), and root.
 */
#ifndef FAIL_WALK_H
#define FAIL_WALK_H

/**
 * struct fail_step - something that is made while an allocation or copy fails
 * @name: what
 * @make: makes it: 0 or an errno. Only in here something fails
 * @use: makes use of all that was made, and takes it down
 * @undo: after @make has failed, or NULL if that leaves nothing
 */
struct fail_step {
	const char *name;
	int (*make)(void);
	void (*use)(void);
	void (*undo)(void);
};

/**
 * fail_prepare - set fault injection up; without it the program is skipped
 */
void fail_prepare(void);

/**
 * fail_near - from now on only what a module allocates fails: itself, or by what it calls
 * and that calls, a few levels down
 * @module: its name, or NULL: everything again
 */
void fail_near(const char *module);

/**
 * fail_not_in - what a function of the kernel calls for does not fail
 * @function: its name, or NULL: no exception
 */
void fail_not_in(const char *function);

/**
 * fail_atomic_in - allocations that fail_atomic() lets fail: those that may not sleep
 * @module: of a module, or of what it calls
 * @function: or of a function of the kernel
 *
 * With NULL for both, none, and all is as after fail_prepare().
 */
void fail_atomic_in(const char *module, const char *function);

/**
 * fail_atomic - let them fail from now on
 * @times: so many, -1: all. Of slabs and of pages, each
 */
void fail_atomic(int times);

/**
 * fail_walk - each step, with its first allocation failing, its second, ... until it
 * gets through without one that fails
 * @step: @n of them
 * @stride: after the first only every @stride-th fails
 */
void fail_walk(const struct fail_step *step, unsigned int n, unsigned int stride);

/* All of an array of steps. */
#define FAIL_WALK(steps, stride) \
	fail_walk(steps, sizeof(steps) / sizeof((steps)[0]), stride)

#endif /* FAIL_WALK_H */
