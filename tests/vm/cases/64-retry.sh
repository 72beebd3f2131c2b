# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # lane is for tests/vm/run
#
# Time-outs, RNR timers and retry counters against the formulas, and what may be
# changed while there is traffic. In virtual time.

lane=virtual

counter() {
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"
}

# Each RNR NAK is one packet sent and one received: 64 by the 32 codes, 28 by the
# retry counts, and up to 1,560 in the two seconds of the one that tries for ever.
# More would be a queue pair that does not wait.
timeout_retry_times=240
case_retry_times() {
	local program=$RXO_BUILD/tests/retry_times naks
	need_own_driver
	need_file "$program"
	topo_pair
	in_a timeout -k 2 220 "$program" --dev-a "$DEV_A" --dev-b "$DEV_B" \
		--gid-a "$(gid_index "$DEV_A" "$IP4_A")" \
		--gid-b "$(gid_index "$DEV_B" "$IP4_B")" || fail "retry_times exited with $?"
	naks=$(counter "$DEV_A" rnr_naks_received)
	echo "$naks RNR NAKs"
	[ "$naks" -gt $((300 + 1000 / RXO_SLOW)) ] && [ "$naks" -lt 1660 ] || fail "$naks RNR NAKs"
}

# Draining, attributes in SQD and RTS, acknowledgements that stand for many.
case_retry_changes() {
	need_own_driver
	topo_pair
	program_outside changes 50
}
