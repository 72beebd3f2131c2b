# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # lane is for tests/vm/run
#
# The in-tree rdma_rxe as the peer: over a bad network, and perftest. In virtual time:
# rdma_rxe fills the backlog of its own CPU with the responses of a
# long READ and recovers by time-out, which takes as long as the machine is busy.

. "$(dirname "${BASH_SOURCE[0]}")/../../lib/guest-interop.sh"

lane=virtual

INTEROP_PORT=18700

# interop_mixed OPTIONS NETEM...: operations of all kinds, 16 of them under way both ways.
interop_mixed() {
	local options=$1
	shift
	interop_pair 9000
	spoil_net "$@"
	# shellcheck disable=SC2086 # none or several
	program mixed 160 --completions 400 $options
}

timeout_interop_loss=180
case_interop_loss() {
	interop_mixed "" loss 2% duplicate 5%
	[ "$(interop_counter retransmits)" -gt 0 ] || fail "nothing was lost, so nothing was shown"
}

# rdma_rxe as a requester gives up when what answers a READ or an atomic is overtaken, with
# another rdma_rxe as well, and warns on 6.12.
timeout_interop_reorder=180
case_interop_reorder() {
	interop_mixed "--from b" delay 1ms reorder 25%
	[ "$(interop_counter packets_kept)" -gt 0 ] || fail "nothing was overtaken, so nothing was shown"
}

# Whatever the checksums of the stack let through, the ICRC has to catch.
timeout_interop_corruption=180
case_interop_corruption() {
	interop_mixed "" corrupt 3%
	[ "$(interop_counter drop_icrc)" -gt 0 ] || fail "nothing was corrupted, so nothing was shown"
}

# ---- perftest --------------------------------------------------------------------

# interop_end a|b SIZE PORT PROGRAM OPTIONS...: starts it on that side's device.
interop_end() {
	local side=$1 size=$2 port=$3 program=$4
	local device=DEV_${side^} gid=GID_${side^}
	shift 4
	# Left alone, perftest has as many READs or atomics outstanding as the other device can:
	# 128 of rdma_rxe are too many for ours. Atomics have one size.
	[[ $program != ib_@(read|atomic)_* ]] || set -- -o 16 "$@"
	[[ $program = ib_atomic_* ]] || set -- -s "$size" "$@"
	# It spins, and rdma_rxe of 6.12 works in a kernel thread that has to come before it:
	# left out for 74 ms each time, it answers READs that have timed out meanwhile.
	start "$side" 60 nice -n 19 "$program" -F -n 20 -p "$port" -d "${!device}" -x "${!gid}" "$@"
}

# interop_perftest PROGRAM CLIENT SERVER SERVER-ADDRESS: one size after the other, as
# both ends poll and there is one processor. The client is the one that asks.
interop_perftest() {
	local program=$1 client=$2 server=$3 address=$4 size sizes=(64) server_job
	[[ $program != *_bw ]] || sizes=(4095 1048579)
	[[ $program != ib_atomic_* ]] || sizes=(8)
	for size in "${sizes[@]}"; do
		interop_end "$server" "$size" $INTEROP_PORT "$program"
		server_job=$JOB
		wait_for 20 listening "$JOB" $INTEROP_PORT
		interop_end "$client" "$size" $INTEROP_PORT "$program" "$address"
		finish "$JOB" 60 || fail "$program asked by $client: $(cat "$JOB_OUT")"
		finish "$server_job" 60 || fail "$program asked by $client: the other end failed"
		grep -E '^ *[0-9]+ +20 +' "$JOB_OUT" || fail "$program: no result"
	done
}

# interop_perftests MTU FAMILY: every program in both directions.
interop_perftests() {
	local kind what address_a address_b
	need_tool ib_send_bw
	interop_pair "$1"
	address_a=$IP4_A address_b=$IP4_B
	[ "$2" = ipv4 ] || interop_ipv6
	GID_A=$(gid_index "$DEV_A" "$IP4_A")
	GID_B=$(gid_index "$DEV_B" "$IP4_B")
	for kind in send write read atomic; do
		for what in bw lat; do
			interop_perftest ib_${kind}_$what a b "$address_b"
			interop_perftest ib_${kind}_$what b a "$address_a"
		done
	done
}

timeout_interop_perftest_9000_ipv4=300
case_interop_perftest_9000_ipv4() { interop_perftests 9000 ipv4; }
timeout_interop_perftest_1500_ipv6=300
case_interop_perftest_1500_ipv6() { interop_perftests 1500 ipv6; }
