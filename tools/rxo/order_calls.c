// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "order_calls.h"

#define COMPLETIONS	300	/* of the traced run, at most */
#define SYSCALL_STOP	(SIGTRAP | 0x80)	/* by PTRACE_O_TRACESYSGOOD */

static void sleep_ms(unsigned int ms)
{
	struct timespec ts = { 0, ms * 1000000L };

	nanosleep(&ts, NULL);
}

/* ---------------------------------------------------------------- the consumer */

unsigned int order_watch_enter(struct order_watch *watch)
{
	unsigned int index;

	if (!watch)
		return 0;
	index = atomic_load(&watch->num);
	while (!atomic_compare_exchange_weak(&watch->num, &index, index + 1))
		;
	atomic_store(&watch->tid[index], gettid());
	while (!atomic_load(&watch->go))
		sleep_ms(1);
	atomic_store(&watch->is_active[index], true);
	return index;
}

void order_watch_leave(struct order_watch *watch, unsigned int index)
{
	if (watch)
		atomic_store(&watch->is_active[index], false);
}

/* Runs in the child. */
static int run_child(char (*dev)[IBV_SYSFS_NAME_MAX], const int *gid,
		     const struct order_params *params,
		     struct order_watch *watch)
{
	struct pair_port ports[2] = { 0 };
	struct order_params p = *params;
	struct order_result result;
	char err[PAIR_ERR_LEN];
	int i;

	for (i = 0; i < 2; i++)
		if (pair_open(&ports[i], dev[i], gid[i], err))
			return 1;
	p.a = &ports[0];
	p.b = &ports[1];
	p.watch = watch;
	if (p.completions > COMPLETIONS)
		p.completions = COMPLETIONS;
	if (order_run(&p, &result, err))
		return 1;
	watch->interrupted = result.interrupted;
	watch->wakeups = result.wakeups;
	pair_close(&ports[1]);
	pair_close(&ports[0]);
	return 0;
}

/* ------------------------------------------------------------------ the tracer */

/* Waits for all consumers to register and stops each once. */
static bool seize(pid_t child, struct order_watch *watch, unsigned int threads)
{
	unsigned int i;
	pid_t tid;

	for (i = 0; i < threads; i++) {
		while (!(tid = atomic_load(&watch->tid[i]))) {
			if (waitpid(child, NULL, WNOHANG))
				return false;
			sleep_ms(1);
		}
		if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD |
			   PTRACE_O_EXITKILL) ||
		    ptrace(PTRACE_INTERRUPT, tid, 0, 0))
			return false;
	}
	atomic_store(&watch->go, true);
	return true;
}

static bool is_counted(pid_t tid, struct order_watch *watch,
		       unsigned int threads)
{
	struct __ptrace_syscall_info info;
	unsigned int i;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	/* The holds; and the signal that ends the run. */
	if (info.entry.nr == SYS_nanosleep ||
	    info.entry.nr == SYS_clock_nanosleep ||
	    info.entry.nr == SYS_restart_syscall ||
	    info.entry.nr == SYS_rt_sigreturn)
		return false;
	for (i = 0; i < threads; i++)
		if (atomic_load(&watch->tid[i]) == tid)
			return atomic_load(&watch->is_active[i]);
	return false;
}

/* Until the child ends; returns the calls counted. */
static uint64_t trace(pid_t child, struct order_watch *watch,
		      unsigned int threads)
{
	uint64_t calls = 0;
	int status, sig;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			if (tid == child)
				break;
			continue;
		}
		sig = WSTOPSIG(status);
		if (sig == SYSCALL_STOP) {
			calls += is_counted(tid, watch, threads);
			sig = 0;
		} else if (status >> 16 == PTRACE_EVENT_STOP) {
			sig = 0;
		}
		ptrace(PTRACE_SYSCALL, tid, 0, sig);
	}
	return calls;
}

bool order_count_calls(char (*dev)[IBV_SYSFS_NAME_MAX], const int *gid,
		       const struct order_params *params, double *per_wakeup)
{
	struct order_watch *watch;
	uint64_t calls = 0;
	bool ok = false;
	pid_t child;

	watch = mmap(NULL, sizeof(*watch), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (watch == MAP_FAILED)
		return false;
	child = fork();
	if (!child)
		_exit(run_child(dev, gid, params, watch));
	if (child > 0 && seize(child, watch, params->threads)) {
		calls = trace(child, watch, params->threads);
		ok = watch->wakeups > 0;
	} else if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	if (ok)
		*per_wakeup = (double)(calls - watch->interrupted) /
			      watch->wakeups;
	munmap(watch, sizeof(*watch));
	return ok;
}
