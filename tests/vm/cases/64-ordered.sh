# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # lane is for tests/vm/run
#
# Ordered completions: the ladder with one ACK lost in both modes, what is held and
# how it ends, request and answer with and without loss. In virtual time.

lane=virtual

# ordered_pair: the topology; FAULTS_B is the file of rules of the responder.
ordered_pair() {
	need_own_driver
	need_file "$RXO_BUILD/tests/ordered" "$RXO_BUILD/tests/ordered_exchange"
	topo_pair 9000
	FAULTS_A=/sys/kernel/debug/rxe_ordered/$DEV_A/faults
	FAULTS_B=/sys/kernel/debug/rxe_ordered/$DEV_B/faults
}

# lose FILE RULE: this rule and no other.
lose() {
	cat >"$1" <<<"clear"$'\n'"$2" || fail "refused: $2"
}

counter() {
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"
}

# exchange 0|1 N [SECONDS]: N requests and answers, plain or ordered; OVERTAKEN is
# how many receives came before their sends.
exchange() {
	local code=0
	RXE_ORDERED_COMPLETIONS=$1 timeout -k 2 "${3:-50}" "$RXO_BUILD/tests/ordered_exchange" \
		--dev-a "$DEV_A" --dev-b "$DEV_B" --gid-a "$(gid_index "$DEV_A" "$IP4_A")" \
		--gid-b "$(gid_index "$DEV_B" "$IP4_B")" --completions "$2" \
		>/run/rxo/exchange || code=$?
	grep -vE '^ok ' /run/rxo/exchange || true
	[ $code = 0 ] || fail "exit code $code"
	OVERTAKEN=$(sed -n 's/.* overtaken \([0-9]*\) .*/\1/p' /run/rxo/exchange)
}

case_ordered_program() {
	ordered_pair
	program_outside ordered 50
}

# The first ACK of the responder is lost, nothing else: on an ordinary queue pair the
# receive comes first and the send after a time-out, on an ordered one the send comes
# first, after a probe.
timeout_ordered_ladder=120
case_ordered_ladder() {
	local i
	ordered_pair
	for i in 1 2 3 4 5; do
		lose "$FAULTS_B" "tx ack nth=1 drop"
		exchange 0 1
		[ "$OVERTAKEN" = 1 ] || fail "run $i, plain: overtaken $OVERTAKEN"
		[ "$(counter "$DEV_A" ordered_holds)" = $((i - 1)) ] || fail "run $i: held though plain"
		lose "$FAULTS_B" "tx ack nth=1 drop"
		exchange 1 1
		[ "$OVERTAKEN" = 0 ] || fail "run $i, ordered: overtaken $OVERTAKEN"
		[ "$(counter "$DEV_A" ordered_holds)" = $i ] || fail "run $i: nothing was held"
		[ "$(counter "$DEV_A" ordered_probes)" = $i ] || fail "run $i: not one probe"
	done
}

# Nothing lost: nothing held, nothing asked for.
timeout_ordered_no_loss=120
case_ordered_no_loss() {
	ordered_pair
	exchange 1 1000
	for device in "$DEV_A" "$DEV_B"; do
		[ "$(counter "$device" ordered_holds)" = 0 ] || fail "$device has held something"
		[ "$(counter "$device" ordered_probes)" = 0 ] || fail "$device has probed"
		[ "$(counter "$device" retransmits)" = 0 ] || fail "$device has sent again"
	done
}

# Thoroughly: a million exchanges, and five times as much loss.
timeout_ordered_ack_loss=1200
case_ordered_ack_loss() {
	ordered_pair
	if [ "$RXO_THOROUGH" = 1 ]; then
		lose "$FAULTS_A" "tx ack pct=5 seed=1 drop"
		lose "$FAULTS_B" "tx ack pct=5 seed=2 drop"
		exchange 1 1000000 1100
		[ "$(counter "$DEV_A" ordered_holds)" -gt 10000 ] || fail "little was held"
		return
	fi
	lose "$FAULTS_A" "tx ack pct=1 seed=1 drop"
	lose "$FAULTS_B" "tx ack pct=1 seed=2 drop"
	exchange 0 1000 100
	[ "$OVERTAKEN" -gt 0 ] || fail "plain: nothing was overtaken, so nothing is shown"
	exchange 1 3000 100
	[ "$(counter "$DEV_A" ordered_holds)" -gt 0 ] || fail "nothing was held"
	cat "$FAULTS_A" "$FAULTS_B"
}

# Losses of all kinds in both directions: repetitions, NAKs and probes get lost too.
timeout_ordered_loss=240
case_ordered_loss() {
	ordered_pair
	lose "$FAULTS_A" "tx any pct=2 seed=3 drop"
	lose "$FAULTS_B" "tx any pct=2 seed=4 drop"
	exchange 1 1000 200
}

# The state of a queue pair with ordered completions says so.
case_ordered_details() {
	ordered_pair
	need_file "$RXO_BUILD/tests/ordered_exchange"
	lose "$FAULTS_B" "tx ack drop"
	start a 40 env RXE_ORDERED_COMPLETIONS=1 "$RXO_BUILD/tests/ordered_exchange" \
		--dev-a "$DEV_A" --dev-b "$DEV_B" --gid-a "$(gid_index "$DEV_A" "$IP4_A")" \
		--gid-b "$(gid_index "$DEV_B" "$IP4_B")"
	wait_for 10 says 'drv_ordered_completions 1' rdma resource show qp link "$DEV_A/1" -dd
	wait_for 10 says 'drv_probes [1-9]' rdma resource show qp link "$DEV_A/1" -dd
	rdma resource show qp link "$DEV_A/1" -dd
	stop "$JOB"
}

# ---- both directions at once ----------------------------------------------------------

# stream 0|1 OPTIONS...: plain or ordered.
stream() {
	local code=0 mode=$1
	shift
	need_file "$RXO_BUILD/tests/ordered_stream"
	RXE_ORDERED_COMPLETIONS=$mode timeout -k 2 700 "$RXO_BUILD/tests/ordered_stream" \
		--dev-a "$DEV_A" --dev-b "$DEV_B" --gid-a "$(gid_index "$DEV_A" "$IP4_A")" \
		--gid-b "$(gid_index "$DEV_B" "$IP4_B")" "$@" >/run/rxo/stream || code=$?
	grep -vE '^ok ' /run/rxo/stream || true
	[ $code = 0 ] || fail "exit code $code"
	OVERTAKEN=$(sed -n 's/.* overtaken \([0-9]*\) .*/\1/p' /run/rxo/stream)
}

# What the modes cost is printed, and for the reader.
timeout_ordered_stream=240
case_ordered_stream() {
	ordered_pair
	for mode in 0 1 0 1; do
		stream $mode --completions 3000
	done
	lose "$FAULTS_A" "tx ack pct=2 seed=1 drop"
	lose "$FAULTS_B" "tx ack pct=2 seed=2 drop"
	stream 0 --completions 5000
	[ "$OVERTAKEN" -gt 0 ] || fail "plain: nothing was overtaken, so nothing is shown"
	stream 1 --completions 5000
}

# Both sides out of receives nearly all the time, rnr_retry 7. Thoroughly: ten minutes.
timeout_ordered_deadlock=720
case_ordered_deadlock() {
	local seconds=15
	[ "$RXO_THOROUGH" = 0 ] || seconds=600
	ordered_pair
	lose "$FAULTS_A" "tx any pct=0.1 seed=1 drop"
	lose "$FAULTS_B" "tx any pct=0.1 seed=2 drop"
	stream 1 --receives 1 --seconds $seconds
	[ "$(counter "$DEV_A" rnr_naks_received)" -gt 100 ] || fail "receives were there in time"
	[ "$(counter "$DEV_A" ordered_holds)" -gt 100 ] || fail "nothing was held"
}
