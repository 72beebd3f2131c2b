# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# ibv_rc_pingpong of rdma-core, polling and sleeping on completion events. -c makes
# it check what it received.

# pingpong ADDRESS-OF-A ADDRESS-OF-B OPTIONS...
pingpong() {
	local a=$1 b=$2 server server_out
	shift 2
	need_tool ibv_rc_pingpong
	start b 40 ibv_rc_pingpong -d "$DEV_B" -g "$(gid_index "$DEV_B" "$b")" -c "$@"
	server=$JOB server_out=$JOB_OUT
	wait_for 15 listening "$server" 18515
	start a 40 ibv_rc_pingpong -d "$DEV_A" -g "$(gid_index "$DEV_A" "$a")" -c "$@" "$IP4_B"
	finish "$JOB" 40 || fail "client: $(cat "$JOB_OUT")"
	finish "$server" 10 || fail "server: $(cat "$server_out")"
	grep -E 'bytes in|iters in' "$JOB_OUT" || fail "no result: $(cat "$JOB_OUT")"
}

pingpong_both() {
	topo_pair "$1"
	shift
	pingpong "$IP4_A" "$IP4_B" "$@"
	pingpong "$IP6_A" "$IP6_B" "$@"
}

case_pingpong_polled_1500() { pingpong_both 1500 -n 200 -s 4096; }
case_pingpong_polled_9000() { pingpong_both 9000 -m 4096 -n 50 -s 65536; }
case_pingpong_events_1500() { pingpong_both 1500 -e -n 200 -s 4096; }
case_pingpong_events_9000() { pingpong_both 9000 -e -m 4096 -n 50 -s 65536; }
case_pingpong_small_mtu() { pingpong_both 1500 -m 256 -n 50 -s 5000; }
