# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # lane is for tests/vm/run
#
# The network loses, repeats, delays and reorders. In virtual time, so that waiting
# costs nothing and results do not depend on the load of the machine.

lane=virtual

# perftest_start_pair PROGRAM OPTIONS...: sets SERVER, CLIENT and CLIENT_OUT. (Not
# ibv_rc_pingpong: it goes away without asking whether its last acknowledgement has
# arrived, and then its partner fails, by right.)
perftest_start_pair() {
	local program=$1
	shift
	need_tool "$program"
	start b 150 "$program" -F -d "$DEV_B" -x "$(gid_index "$DEV_B" "$IP4_B")" "$@"
	SERVER=$JOB
	wait_for 15 listening "$SERVER" 18515
	start a 150 "$program" -F -d "$DEV_A" -x "$(gid_index "$DEV_A" "$IP4_A")" "$@" "$IP4_B"
	CLIENT=$JOB CLIENT_OUT=$JOB_OUT
}

# gets_through PROGRAM OPTIONS...
gets_through() {
	perftest_start_pair "$@"
	finish "$CLIENT" 120 || {
		counters
		fail "$1, client: $(cat "$CLIENT_OUT")"
	}
	finish "$SERVER" 30 || fail "$1: the server failed"
	grep -A1 '#bytes' "$CLIENT_OUT" || fail "$1: no result"
}

# Sleeping on events where perftest can: polling is what uses up virtual time. (The
# latency test cannot, see 10-perftest.sh.)
all_get_through() {
	gets_through ib_send_lat -n 50 -s 4096
	gets_through ib_send_bw -e -n 20 -s 65536
	gets_through ib_read_bw -e -n 20 -s 65536
	gets_through ib_write_bw -n 10 -s 32768
}

# counter DEVICE NAME: a hardware counter.
counter() {
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"
}

# counters: all that are not zero, of both devices.
counters() {
	local device
	for device in "$DEV_A" "$DEV_B"; do
		(cd "/sys/class/infiniband/$device/ports/1/hw_counters" && grep -H '[1-9]' ./*) |
			sed "s/^/$device: /"
	done
}

timeout_loss_drop=180
case_loss_drop() {
	topo_pair
	spoil_net loss 5%
	all_get_through
	[ "$(counter "$DEV_A" retransmits)" -gt 0 ] || fail "nothing was lost, so nothing was shown"
}

timeout_loss_duplicate=180
case_loss_duplicate() {
	topo_pair
	spoil_net duplicate 20%
	all_get_through
}

timeout_loss_delay=180
case_loss_delay() {
	topo_pair
	spoil_net delay 20ms
	all_get_through
}

timeout_loss_reorder=180
case_loss_reorder() {
	topo_pair
	spoil_net delay 2ms reorder 25%
	all_get_through
}

timeout_loss_all_kinds=180
case_loss_all_kinds() {
	topo_pair
	spoil_net delay 1ms loss 2% duplicate 5% reorder 10%
	all_get_through
}

# ---- many operations under way ---------------------------------------------------

# mixed_gets_through NETEM...: operations of all kinds on one queue pair, 16 of them under
# way both ways, across the wrap of the PSNs, every byte compared: what is sent again must
# not upset what else is under way.
mixed_gets_through() {
	need_own_driver
	topo_pair 9000
	spoil_net "$@"
	program mixed 150 --completions $((1000 / RXO_SLOW))
	counters
}

timeout_loss_mixed=170
case_loss_mixed() {
	mixed_gets_through loss 2% duplicate 5%
	[ "$(counter "$DEV_B" duplicate_requests)" -gt 0 ] || fail "nothing came twice, so nothing was shown"
}

timeout_loss_mixed_reorder=170
case_loss_mixed_reorder() {
	mixed_gets_through delay 1ms loss 1% reorder 25%
	[ "$(counter "$DEV_B" packets_kept)" -gt 0 ] || fail "nothing was overtaken, so nothing was shown"
}

# Whatever the checksums of the stack let through, the ICRC has to catch.
timeout_loss_mixed_corruption=170
case_loss_mixed_corruption() {
	mixed_gets_through corrupt 3%
	[ "$(counter "$DEV_B" drop_icrc)" -gt 0 ] || fail "nothing was corrupted, so nothing was shown"
}

# ---- one thing at a time ---------------------------------------------------------

# Nothing gets through any more: the requester gives up by itself after its retries.
case_loss_blackout() {
	topo_pair
	perftest_start_pair ib_send_bw -e -n 100000 -s 4096
	wait_for 15 sent_packets
	spoil_net loss 100%
	not finish "$CLIENT" 40 || fail "traffic over a dead network succeeded"
	grep -E 'Failed status 12|syndrom|retry' "$CLIENT_OUT" || fail "client: $(cat "$CLIENT_OUT")"
	stop "$SERVER"
}

# The network stack takes nothing any more. What it has refused for long is given up and
# counted as that, not as sent.
case_loss_refused() {
	local sent
	topo_pair
	perftest_start_pair ib_send_bw -e -n 100000 -s 4096
	wait_for 15 sent_packets
	in_a tc qdisc add dev "$NET_A" root pfifo limit 0
	pause 0.02
	sent=$(counter "$DEV_A" tx_packets)
	not finish "$CLIENT" 40 || fail "traffic that cannot leave succeeded"
	grep -E 'Failed status 12|syndrom|retry' "$CLIENT_OUT" || fail "client: $(cat "$CLIENT_OUT")"
	stop "$SERVER"
	counters
	[ "$(counter "$DEV_A" tx_busy)" -gt 0 ] || fail "nothing was refused"
	[ "$(counter "$DEV_A" tx_drops)" -gt 0 ] || fail "what was given up is not counted"
	[ "$(counter "$DEV_A" tx_packets)" = "$sent" ] || fail "what was given up counts as sent"
}

sent_packets() {
	[ "$(counter "$DEV_A" tx_packets)" -gt 100 ]
}

# Every lost request is sent again and every lost result answered again, from what was
# saved: 4 x 10,000 additions on one counter are 40,000, and no answer comes twice.
timeout_loss_atomics=280
case_loss_atomics() {
	local path=$RXO_BUILD/tests/atomics
	need_own_driver
	need_file "$path"
	topo_pair
	spoil_net loss 2%
	in_a timeout -k 2 260 "$path" --dev-a "$DEV_A" --dev-b "$DEV_B" \
		--gid-a "$(gid_index "$DEV_A" "$IP4_A")" \
		--gid-b "$(gid_index "$DEV_B" "$IP4_B")" --threads 4 --completions 10000
	counters
	[ "$(counter "$DEV_B" duplicate_requests)" -gt 0 ] || fail "no answer was lost, so nothing was shown"
}

# Others on the same processor hardly notice. On average: a softirq that takes in 64 trains,
# 35 ms in this lane, is charged to the process that it interrupts. When that is ping, the
# scheduler of 6.12 lets it wait until the others have had as much.
timeout_loss_ping_alive=240
case_loss_ping_alive() {
	local answers average
	topo_pair
	spoil_net delay 1ms loss 1% reorder 25%
	perftest_start_pair ib_write_bw -q 4 -n 100 -s 65536
	wait_for 15 sent_packets
	in_a busybox ping -c 30 -i 0.1 -W 2 "$IP4_B" >/run/rxo/ping || true
	tail -n 2 /run/rxo/ping
	finish "$CLIENT" 120 || fail "client: $(cat "$CLIENT_OUT")"
	finish "$SERVER" 30 || fail "the server failed"
	answers=$(sed -n 's/.* \([0-9]*\) packets received.*/\1/p' /run/rxo/ping)
	average=$(sed -n 's|.*min/avg/max = [^/]*/\([0-9]*\).*|\1|p' /run/rxo/ping)
	[ "$answers" -ge 25 ] || fail "$answers of 30 pings were answered"
	[ "$average" -lt 50 ] || fail "a ping took $average ms"
}

# Queue pairs end while what they have sent is under way, is sent again, waits for time-outs.
timeout_loss_storm=180
case_loss_storm() {
	topo_pair 9000
	spoil_net delay 5ms loss 10% reorder 25%
	program qp_storm 160 --completions "$(or_short 25 5)"
}
