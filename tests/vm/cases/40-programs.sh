# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Our own guest programs: tests/programs, built into build/tests, and the command
# rxo. Each program gets the two devices and their GID indices, prints a line for
# each check and exits 0 for a pass.

case_program_data_integrity() {
	need_own_driver
	topo_pair 9000
	program data_integrity 100
}
timeout_program_data_integrity=120

# At an MTU of 1500 the path MTU ends at 1024; over IPv6.
case_program_data_integrity_ipv6() {
	need_own_driver
	topo_pair 1500
	IP4_A=$IP6_A IP4_B=$IP6_B
	program data_integrity 100
}
timeout_program_data_integrity_ipv6=120

# What atomics do, and who may work on one word at the same time.
case_program_atomics() {
	need_own_driver
	topo_pair
	program atomics 100
}
timeout_program_atomics=120

# ---- the verb ---------------------------------------------------------------------

case_program_verb_invariants_library() {
	need_own_driver
	topo_pair
	program verb_invariants 90
}
timeout_program_verb_invariants_library=100

case_program_verb_invariants_ioctl() {
	need_own_driver
	topo_pair
	program verb_invariants 90 --method ioctl
}
timeout_program_verb_invariants_ioctl=100

case_program_verb_invariants_mixed() {
	need_own_driver
	topo_pair
	program verb_invariants 90 --method mixed
}
timeout_program_verb_invariants_mixed=100

# The library on a device of the in-tree rdma_rxe. That one is held by nobody when
# the case ends, so it can be unloaded.
case_program_verb_foreign_device() {
	need_own_driver
	need_module rdma_rxe
	at_exit "modprobe -r rdma_rxe"
	ip link add foreign type dummy
	at_exit "ip link delete foreign"
	ip address add 10.80.0.1/24 dev foreign
	ip link set foreign up
	rdma link add rxe_foreign type rxe netdev foreign
	at_exit "rdma link delete rxe_foreign"
	wait_for 5 port_is rxe_foreign ACTIVE
	topo_pair
	program verb_invariants 90 --foreign rxe_foreign
	grep -q 'rxodv_poll_rearm_cq on a foreign CQ' /run/rxo/program || fail "it was not tested"
}
timeout_program_verb_foreign_device=110

case_program_raw_ioctl() {
	need_own_driver
	topo_pair
	program raw_ioctl 50
}

# 10^6 completions, 4 threads, and completions that are held.
case_program_verb_stress() {
	need_own_driver
	topo_pair
	program verb_stress 280 --completions $((1000000 / RXO_SLOW)) --threads 4
}
timeout_program_verb_stress=300

case_program_verb_stress_8_threads() {
	need_own_driver
	topo_pair
	program verb_stress 80 --completions $((100000 / RXO_SLOW)) --threads 8 --seed 2
}
timeout_program_verb_stress_8_threads=90

case_program_verb_stress_ioctl() {
	need_own_driver
	topo_pair
	program verb_stress 110 --completions $((200000 / RXO_SLOW)) --method ioctl --seed 3
}
timeout_program_verb_stress_ioctl=120

# The kernel and the library consume one CQ in turn.
case_program_verb_stress_mixed() {
	need_own_driver
	topo_pair
	program verb_stress 110 --completions $((200000 / RXO_SLOW)) --method mixed --seed 4
}
timeout_program_verb_stress_mixed=120

# Every door to one CQ at once: both polls, both ways to call the verb, the classic arm.
case_program_verb_doors() {
	need_own_driver
	topo_pair
	program verb_doors 280 --completions $((1000000 / RXO_SLOW)) --threads 4 --seed 5
}
timeout_program_verb_doors=300

# ---- errors -----------------------------------------------------------------------

case_program_verbs_errors() {
	need_own_driver
	topo_pair
	program verbs_errors 90
}
timeout_program_verbs_errors=100

# ---- rxo --------------------------------------------------------------------------

# rxo_fails CODE TEXT OPTIONS...: rxo must end with that code and say TEXT.
rxo_fails() {
	local want=$1 text=$2 output code=0
	shift 2
	output=$(timeout -k 2 10 "$RXO_BUILD/rxo" "$@" 2>&1) || code=$?
	echo "\$ rxo $*"
	echo "$output"
	[ $code = "$want" ] || fail "exit code $code, expected $want"
	grep -qE "$text" <<<"$output" || fail "should have said '$text'"
}

case_rxo_wrong_use() {
	need_file "$RXO_BUILD/rxo"
	need_own_driver
	topo_pair
	rxo_fails 2 'usage: rxo'
	rxo_fails 2 "no command 'nosuch'" nosuch
	rxo_fails 2 "no command 'nosuch'" help nosuch
	rxo_fails 2 "what is '--nosuch'" order --nosuch
	rxo_fails 2 "what is 'extra'" order extra
	rxo_fails 2 'not a number' order --threads 0
	rxo_fails 2 'not a number' order --threads 2,x
	rxo_fails 2 'not a number' order --completions -1
	rxo_fails 2 'not a number' order --hold 5s
	rxo_fails 1 "no RDMA device is named 'nosuch'" order --dev-a nosuch --dev-b "$DEV_B"
	rxo_fails 1 'no RoCE v2 GID at index 200' order --gid-a 200
	rxo_fails 1 'say which two' order --dev-a "$DEV_A"
	rxo_fails 0 '^rxo [0-9]' --version
	rxo_fails 0 'usage: rxo' help
	rxo_fails 0 'usage: rxo order' help order
	within 5 rdma link delete "$DEV_A"
	rxo_fails 1 'there are 1 rxe_ordered devices' order
}

# The two loops are seen out of order, the verb is not.
case_rxo_order() {
	need_file "$RXO_BUILD/rxo"
	need_own_driver
	topo_pair
	in_a timeout -k 2 160 "$RXO_BUILD/rxo" order --completions 5000 \
		--hold $((200 * RXO_SLOW)) --stall $((50 * RXO_SLOW))
}
timeout_rxo_order=180

case_rxo_order_json() {
	need_file "$RXO_BUILD/rxo"
	need_own_driver
	topo_pair
	in_a timeout -k 2 90 "$RXO_BUILD/rxo" order --json --threads 2 --completions 3000 \
		>/run/rxo/json || true
	python3 - /run/rxo/json <<-'END'
	import json, sys
	report = json.load(open(sys.argv[1]))
	verb = [row for row in report["rows"] if row["loop"] == "verb"]
	assert len(report["rows"]) == 3 and len(verb) == 1, report
	assert verb[0]["out_of_order"] == 0 and verb[0]["empty_wakeups"] == 0, report
	assert verb[0]["completions"] == 3000 and verb[0]["calls_per_wakeup"] >= 1, report
	END
}
timeout_rxo_order_json=100
lane_rxo_order_json=race

# On a device of another driver the loops run and the verb is said not to be there.
case_rxo_order_foreign() {
	need_file "$RXO_BUILD/rxo"
	need_own_driver
	need_module rdma_rxe
	at_exit "modprobe -r rdma_rxe"
	ip link add foreign type dummy
	at_exit "ip link delete foreign"
	ip address add 10.80.0.1/24 dev foreign
	ip link set foreign up
	rdma link add rxe_foreign type rxe netdev foreign
	at_exit "rdma link delete rxe_foreign"
	wait_for 5 port_is rxe_foreign ACTIVE
	refused 'verb +2  not supported' 50 "$RXO_BUILD/rxo" order --dev-a rxe_foreign \
		--dev-b rxe_foreign --threads 2 --completions 2000
}
