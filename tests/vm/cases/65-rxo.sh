# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # lane is for tests/vm/run
#
# The command rxo: fault, set, status, ladder. In virtual time.

lane=virtual

rxo() {
	"$RXO_BUILD/rxo" "$@"
}

need_rxo() {
	need_own_driver
	need_file "$RXO_BUILD/rxo"
}

case_rxo_fault() {
	need_rxo
	topo_pair
	rxo fault add "$DEV_A" rx ack nth=1 drop
	rxo fault add "$DEV_A" "tx any pct=0.5 seed=3 delay=100"
	says '^rx ack nth=1 drop # seen 0 hit 0$' rxo fault list "$DEV_A" || fail "first rule is missing"
	says '^tx any pct=0.5000 seed=3 delay=100 ' rxo fault list "$DEV_A" || fail "second rule is missing"
	refused "refused: neither a selector nor an action: 'drip'" 5 "$RXO_BUILD/rxo" fault add "$DEV_A" rx ack drip
	refused 'one line' 5 "$RXO_BUILD/rxo" fault add "$DEV_A" $'rx ack drop\ntx ack drop'
	refused "no rxe_ordered device is named 'none'" 5 "$RXO_BUILD/rxo" fault list none
	refused 'cannot be the name' 5 "$RXO_BUILD/rxo" fault list ../rxe_ordered
	rxo fault clear "$DEV_A"
	[ "$(rxo fault list "$DEV_A")" = '# waiting 0' ] || fail "rules are left"
}

case_rxo_set_trains() {
	local file
	need_rxo
	topo_pair
	file=/sys/kernel/debug/rxe_ordered/$DEV_A/trains
	rxo set "$DEV_A" trains off
	[ "$(cat "$file")" = N ] || fail "trains are on"
	rxo set "$DEV_A" trains on
	[ "$(cat "$file")" = Y ] || fail "trains are off"
	refused "neither on nor off" 5 "$RXO_BUILD/rxo" set "$DEV_A" trains maybe
	refused "no rxe_ordered device" 5 "$RXO_BUILD/rxo" set none trains on
}

# ---- ladder --------------------------------------------------------------------------

# ladder REPEAT OPTIONS...: it must show what it should that often, and leave nothing.
# Thoroughly: a hundred times.
ladder() {
	local repeat=$1
	shift
	[ "$RXO_THOROUGH" = 0 ] || repeat=100
	need_rxo
	rxo ladder --repeat "$repeat" "$@" >/run/rxo/ladder || fail "rxo ladder $*: $(cat /run/rxo/ladder)"
	cat /run/rxo/ladder
	grep -q "$repeat of $repeat" /run/rxo/ladder || fail "not $repeat of $repeat"
	not says rxo-ladder ip netns list || fail "a namespace is left"
	not says rxo_ladder rdma link || fail "a device is left"
	[ ! -e /sys/kernel/tracing/instances/rxo-ladder ] || fail "the trace is left"
}

# picture FIRST SECOND: one packet of the SVG is lost, and these complete in this order. That
# it is well-formed is for tests/unit/ladder_svg_test.
picture() {
	[ "$(grep -c 'class="lost"' /run/rxo/ladder.svg)" = 1 ] || fail "not one packet lost in the picture"
	grep -A99 "$1 completes" /run/rxo/ladder.svg | grep -q "$2 completes" || fail "not that order in the picture"
	grep -q '</svg>' /run/rxo/ladder.svg || fail "no whole picture"
}

timeout_rxo_ladder=1200
case_rxo_ladder() {
	# Where the module has not been loaded there are no tracepoints yet.
	rmmod rxe_ordered 2>/dev/null || true
	ladder 5 --svg /run/rxo/ladder.svg
	# The lost acknowledgement, and the two completions in this order.
	grep -q ' X<*-* ACK ' /run/rxo/ladder || fail "no lost acknowledgement in the picture"
	grep -A99 'recv2 completes' /run/rxo/ladder | grep -q 'send1 completes' || fail "not the default's order"
	picture recv2 send1
}

timeout_rxo_ladder_ordered=1200
case_rxo_ladder_ordered() {
	ladder 5 --ordered --svg /run/rxo/ladder.svg
	grep -A99 'send1 completes' /run/rxo/ladder | grep -q 'recv2 completes' || fail "not the ordered mode's order"
	grep -q 'recv2 held behind' /run/rxo/ladder || fail "nothing was held"
	picture send1 recv2
}

timeout_rxo_ladder_rxe=1200
case_rxo_ladder_rxe() {
	need_module rdma_rxe
	at_exit "rmmod rdma_rxe"
	ladder 3 --responder rxe
}

timeout_rxo_ladder_rxe_ordered=1200
case_rxo_ladder_rxe_ordered() {
	need_module rdma_rxe
	at_exit "rmmod rdma_rxe"
	ladder 3 --responder rxe --ordered
}

# With devices that are there already, and interrupted: they stay as they were.
case_rxo_ladder_devices() {
	need_rxo
	topo_pair
	rxo ladder --dev-a "$DEV_A" --dev-b "$DEV_B" || fail "no ladder with given devices"
	[ "$(rxo fault list "$DEV_A")" = '# waiting 0' ] || fail "a rule is left"
	refused "no RDMA device is named 'none'" 20 "$RXO_BUILD/rxo" ladder --dev-a "$DEV_A" --dev-b none
}

case_rxo_ladder_interrupted() {
	need_rxo
	start host 60 "$RXO_BUILD/rxo" ladder --repeat 1000000
	wait_for 20 ladder_runs
	stop "$JOB"
	not says rxo-ladder ip netns list || fail "a namespace is left"
	not says rxo_ladder rdma link || fail "a device is left"
	[ ! -e /sys/kernel/tracing/instances/rxo-ladder ] || fail "the trace is left"
}

ladder_runs() {
	grep -qs ' hit 1$' /sys/kernel/debug/rxe_ordered/rxo_ladder_a/faults
}

# ---- status --------------------------------------------------------------------------

# A requester whose acknowledgements are all lost waits for one; so does the window.
case_rxo_status() {
	need_rxo
	need_tool ib_write_bw
	CHECK_OBJECTS=0
	topo_pair
	[ "$(rxo status "$DEV_A")" = "$DEV_A:" ] || fail "queue pairs without programs"
	start b 60 ib_write_bw -F -q 3 -d "$DEV_B" -x "$(gid_index "$DEV_B" "$IP4_B")" -n 500000
	SERVER=$JOB
	wait_for 15 listening "$SERVER" 18515
	rxo fault add "$DEV_A" rx any drop
	start a 60 ib_write_bw -F -q 3 -d "$DEV_A" -x "$(gid_index "$DEV_A" "$IP4_A")" -n 500000 "$IP4_B"
	wait_for 15 says 'RTS .* window ack=[0-9]+$' rxo status "$DEV_A"
	rxo status
	[ "$(rxo status "$DEV_A" | grep -c ' RTS ')" = 3 ] || fail "not three queue pairs"
	says "^$DEV_B:$" rxo status || fail "the other device is missing"
	stop "$JOB"
	stop "$SERVER"
}
