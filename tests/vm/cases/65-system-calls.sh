# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # lane is for tests/vm/run
#
# What is done without a system call. In virtual time: a traced program is slow.

lane=virtual

# traced PID: does a tracer have it?
traced() {
	says '^TracerPid:[[:space:]]*[1-9]' cat "/proc/$1/status"
}

# calls_of NAME: how often, in the summary of strace.
calls_of() {
	awk -v name="$1" '$NF == name { n = $4 } END { print n + 0 }' /run/rxo/strace
}

# count_calls METHOD ARMS: the system calls of that many arms of an empty CQ, and of
# waiting for a file before and after them.
count_calls() {
	local program program_out child
	start a 50 env RXO_GO=/run/rxo/go "$RXO_BUILD/tests/arm_calls" --method "$1" --completions "$2" \
		--dev-a "$DEV_A" --gid-a "$(gid_index "$DEV_A" "$IP4_A")" \
		--dev-b "$DEV_B" --gid-b "$(gid_index "$DEV_B" "$IP4_B")"
	program=$JOB program_out=$JOB_OUT
	wait_for 20 has_line ready "$program_out"
	# Below timeout; env has executed the program in its place.
	read -r child <"/proc/$program/task/$program/children" || true
	start host 40 strace -c -f -o /run/rxo/strace -p "$child"
	wait_for 10 traced "$child"
	touch /run/rxo/go
	wait_for 20 test ! -e /run/rxo/go
	stop "$JOB"
	touch /run/rxo/go
	finish "$program" 20 || fail "arm_calls, $1: $(cat "$program_out")"
	rm /run/rxo/go
	[ "$(calls_of unlink)" = 1 ] || fail "strace has not seen it all: $(cat /run/rxo/strace)"
	echo "$1: $(calls_of ioctl) ioctl, $(calls_of write) write"
}

# Arming an empty CQ is no system call; only the method by ioctl is one, which shows
# that they are counted.
case_arm_without_system_call() {
	local method
	need_own_driver
	need_tool strace
	need_file "$RXO_BUILD/tests/arm_calls"
	topo_pair
	for method in notify library; do
		count_calls $method 1000
		[ "$(calls_of ioctl)" = 0 ] && [ "$(calls_of write)" = 0 ] || cat /run/rxo/strace
		[ "$(calls_of ioctl)" = 0 ] || fail "$method: arming is an ioctl"
		[ "$(calls_of write)" = 0 ] || fail "$method: arming is a write"
	done
	count_calls ioctl 50
	[ "$(calls_of ioctl)" = 50 ] || fail "not counted: $(cat /run/rxo/strace)"
}
timeout_arm_without_system_call=120
