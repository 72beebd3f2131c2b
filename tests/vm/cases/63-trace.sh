# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # lane is for tests/vm/run
#
# Tracepoints. In the virtual lane: switching them patches code, which a busy guest
# with two processors does not take well under emulation.

lane=virtual

# Each event is there after traffic that should have caused it.
case_trace_events() {
	local trace=/sys/kernel/tracing event
	need_own_driver
	need_file "$RXO_BUILD/tests/lc_talk" "$RXO_BUILD/tests/raw_ioctl"
	[ -e $trace/events ] || skip "no tracefs"
	. "$RXO_TREE/tests/lib/guest-net.sh"
	topo_pair
	talk_options "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	cat >"/sys/kernel/debug/rxe_ordered/$DEV_A/faults" <<<"rx ack nth=2 corrupt"
	at_exit "echo 0 >$trace/events/rxe_ordered/enable"
	at_exit "echo >$trace/trace"
	echo 1 >$trace/events/rxe_ordered/enable
	"$RXO_BUILD/tests/lc_talk" "${TALK[@]}" --completions 1 >/dev/null || fail "no traffic"
	"$RXO_BUILD/tests/raw_ioctl" "${TALK[@]}" >/dev/null || fail "no arm by ioctl"
	echo 0 >$trace/events/rxe_ordered/enable
	for event in 'rx: .* op=0x04 ' 'tx: .* op=0x04 ' 'rx: .* op=0x11 ' 'drop: .* why=icrc' \
		'fault: .* op=0x11 .* dir=rx action=corrupt' 'completion: .* status=0' \
		'arm: cq=' 'fire: cq=' 'timer: .* qpn=' 'state: .* from=2 to=3'; do
		grep -q "rxo_$event" $trace/trace || fail "no event rxo_$event"
	done
}
