# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Mistakes that only the debug kernel finds, each in its case or at the end of the run.

# shellcheck disable=SC2034 # for tests/vm/run
lane=virtual kernel=debug

# mistake KIND: the kernel goes on after its report.
mistake() {
	echo 0 >/proc/sys/kernel/panic_on_warn
	at_exit "echo 1 >/proc/sys/kernel/panic_on_warn"
	modprobe rxo_mistakes kind="$1"
	modprobe -r rxo_mistakes
}

case_mistake_sleep() { mistake sleep; }
case_mistake_use() { mistake use; }

# These two also show at the end: lockdep is off after its first report.
case_mistake_locks() { mistake locks; }
case_mistake_leak() { mistake leak; }
