# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Cases that must not pass, one for each thing that the harness looks for, and a few
# that must; tests/vm/self-test knows which. Run with rdma_rxe as the driver.

# shellcheck disable=SC2034 # for tests/vm/run
{
	timeout_bad_slow=3
	timeout_fatal_hang=600
}

case_good_empty() { true; }
case_good_pair() { topo_pair; gid_index "$DEV_A" "$IP6_A"; }
case_good_skip() { need_tool no-such-tool; }

# Runs after the bad ones, which have left namespaces behind.
case_good_tidy() { [ ! -d /run/netns ] || [ -z "$(ls -A /run/netns)" ]; }

case_bad_exit() { false; echo "not reached"; }
case_bad_fail() { fail "as it should"; }
case_bad_slow() { sleep 60; }
case_bad_wait() { wait_for 1 false; }
case_bad_log() { echo '<4>WARNING: CPU: 0 PID: 1 at made/up.c:1' >/dev/kmsg; }
case_bad_within() { within 1 sleep 5; }
case_bad_not_refused() { refused '.' 2 true; }
case_bad_refused_otherwise() { refused 'busy' 2 ls /nonexistent; }
case_bad_left_process() { setsid sleep 300 & }
case_bad_left_namespace() { ip netns add "forgotten$RXO_NR"; }

case_bad_left_process_and_namespace() {
	setsid sleep 300 &
	ip netns add "forgotten$RXO_NR"
}

case_bad_left_device() {
	ip link add "forgotten$RXO_NR" type dummy
	rdma link add "forgotten$RXO_NR" type "$RXO_LINK_TYPE" netdev "forgotten$RXO_NR"
}

# The baseline of the device is falsified: as if an object had stayed behind.
case_bad_left_object() {
	topo_pair
	AT_START["$DEV_A"]="pd 0 cq 0"
}

case_fatal_panic() { echo c >/proc/sysrq-trigger; }
case_fatal_reboot() { echo b >/proc/sysrq-trigger; }
case_fatal_power_off() { echo o >/proc/sysrq-trigger; sleep 30; }
case_fatal_hang() { sleep 500; }
