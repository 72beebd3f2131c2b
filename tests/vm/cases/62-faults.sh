# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # lane is for tests/vm/run
#
# Fault injection: each action, direction and selector, lines that are no rules, and
# everything that may go away while packets are delayed. In virtual time.

lane=virtual

# faults_pair: the topology, with the file of rules of each device.
faults_pair() {
	need_own_driver
	need_file "$RXO_BUILD/tests/lc_talk"
	topo_pair
	FAULTS_A=/sys/kernel/debug/rxe_ordered/$DEV_A/faults
	FAULTS_B=/sys/kernel/debug/rxe_ordered/$DEV_B/faults
}

# put FILE TEXT: in one write, which printf would make several of.
put() {
	cat >"$1" <<<"$2"
}

# rules FILE RULE...: these and no others.
rules() {
	local file=$1
	shift
	put "$file" "$(printf '%s\n' clear "$@")" || fail "refused: $*: $(cat "$file")"
}

# hits FILE [LINE]: of its rule in that line, the first.
hits() {
	sed -n "${2:-1}s/.* hit //p" "$1"
}

counter() {
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"
}

# talks RULE...: with these on A all bytes arrive, and each of them has hit.
talks() {
	local n
	rules "$FAULTS_A" "$@"
	timeout -k 2 60 "$RXO_BUILD/tests/lc_talk" "${TALK[@]}" --completions 1 >/dev/null ||
		fail "no traffic under: $*"
	cat "$FAULTS_A"
	for ((n = 1; n <= $#; n++)); do
		[ "$(hits "$FAULTS_A" $n)" -gt 0 ] || fail "this rule has hit nothing: ${!n}"
	done
}

talk_ready() {
	. "$RXO_TREE/tests/lib/guest-net.sh"
	talk_options "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
}

timeout_faults_actions=240
case_faults_actions() {
	local dir before
	faults_pair
	talk_ready
	for dir in rx tx; do
		before=$(counter "$DEV_A" fault_drops)
		talks "$dir any nth=5 every=50 drop"
		[ $(($(counter "$DEV_A" fault_drops) - before)) = "$(hits "$FAULTS_A")" ] ||
			fail "drops are not counted one by one"
		talks "$dir any nth=5 every=50 dup"
		talks "$dir any nth=5 every=50 delay=700"
		talks "$dir any nth=5 every=50 hold=3"
		grep -q 'waiting 0' "$FAULTS_A" || fail "packets still wait"
	done
	[ "$(counter "$DEV_A" fault_delays)" -gt 0 ] || fail "no delays counted"
	[ "$(counter "$DEV_A" fault_holds)" -gt 0 ] || fail "no holds counted"
	[ "$(counter "$DEV_A" fault_duplicates)" -gt 0 ] || fail "no duplicates counted"
	[ "$(counter "$DEV_A" fault_no_room)" = 0 ] || fail "packets lost for lack of room"
	[ "$(counter "$DEV_B" duplicate_requests)" -gt 0 ] || fail "B has seen no duplicates"
}

# What is spoiled is found by the ICRC of the receiver, each time.
case_faults_corrupt() {
	local before
	faults_pair
	talk_ready
	before=$(counter "$DEV_B" drop_icrc)
	talks "tx any nth=5 every=50 corrupt"
	[ $(($(counter "$DEV_B" drop_icrc) - before)) = "$(hits "$FAULTS_A")" ] ||
		fail "B has not found all that was spoiled"
	before=$(counter "$DEV_A" drop_icrc)
	talks "rx any nth=5 every=50 corrupt"
	[ $(($(counter "$DEV_A" drop_icrc) - before)) = "$(hits "$FAULTS_A")" ] ||
		fail "A has not found all that was spoiled"
}

case_faults_corrupt_ipv6() {
	local before
	faults_pair
	. "$RXO_TREE/tests/lib/guest-net.sh"
	talk_options "$DEV_A" "$IP6_A" "$DEV_B" "$IP6_B"
	before=$(counter "$DEV_B" drop_icrc)
	talks "tx any nth=5 every=50 corrupt"
	[ $(($(counter "$DEV_B" drop_icrc) - before)) = "$(hits "$FAULTS_A")" ] ||
		fail "B has not found all that was spoiled"
	talks "rx any nth=5 every=50 hold=2" "tx any nth=5 every=50 delay=50"
}

timeout_faults_kinds=120
case_faults_kinds() {
	faults_pair
	talk_ready
	# A sends and writes; both receive; B reads.
	talks "tx send nth=1 drop" "tx write nth=2 drop" "tx response nth=2 drop" \
		"tx ack nth=1 drop" "rx send nth=2 drop" "rx read nth=1 drop" "rx ack nth=2 drop"
	# A packet out of the middle brings a NAK; without that, a time-out.
	talks "tx send nth=20 drop" "rx nak nth=1 drop"
	talks "rx send nth=20 drop" "tx nak nth=1 drop"
}

timeout_faults_selectors=120
case_faults_selectors() {
	local qpn
	faults_pair
	talk_ready
	talks "tx any psn=50 count=2 drop" "rx any pct=2.5 seed=7 count=9 drop"
	[ "$(hits "$FAULTS_A")" -le 2 ] || fail "count=2 has hit more often"
	talk_start "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	qpn=$(rdma resource show qp link "$DEV_A/1" | sed -n 's/.* lqpn \([0-9]*\) .*/\1/p' | tail -n 1)
	rules "$FAULTS_A" "tx any qpn=$((qpn + 1)) drop" "tx any qpn=$qpn nth=4 drop" \
		"rx any qpn=$qpn count=3 drop"
	wait_for 20 hits_are 3 3
	wait_for 20 hits_are 2 1
	cat "$FAULTS_A"
	grep -q "qpn=$((qpn + 1)) drop # seen 0 hit 0" "$FAULTS_A" || fail "hit a QP that it does not name"
	hits_are 2 1 || fail "nth=4 has hit more than one"
	talk_end
}

# hits_are LINE NUMBER
hits_are() {
	[ "$(hits "$FAULTS_A" "$1")" = "$2" ]
}

# ---- lines that are no rules ---------------------------------------------------------

# refuses BYTES WHY: EINVAL, and the file says why.
refuses() {
	! printf '%b' "$1" >"$FAULTS_A" || fail "taken: $1"
	grep -qF "# refused: $2" "$FAULTS_A" || fail "for '$1' it says: $(cat "$FAULTS_A")"
}

case_faults_hostile_lines() {
	local i many='' text
	faults_pair
	refuses 'up ack drop\n' "not a direction (rx, tx): 'up'"
	refuses 'rx ack nth=0 drop' "not a number in range: 'nth=0'"
	refuses 'rx ack\n' 'no action at the end'
	refuses 'clea\n' "not a direction"
	refuses '\0\0\0' "not a direction (rx, tx): '???'"
	refuses 'rx any \033[31m\0377\n' "neither a selector nor an action: '?[31m?'"
	refuses "rx any $(printf 'x%.0s' {1..3000})" "neither a selector nor an action: 'xxxxxxxxxxxxxxxx"
	printf 'x%.0s' {1..9000} >/run/rxo/long
	refused 'too long' 5 busybox dd if=/run/rxo/long of="$FAULTS_A" bs=9000
	not grep -vq '^#' "$FAULTS_A" || fail "a wrong line has become a rule: $(cat "$FAULTS_A")"

	# What comes before a wrong line counts; empty lines and comments are none.
	! put "$FAULTS_A" $'\n# none\nrx ack drop\nrx ack drip\nrx nak drop' || fail "drip taken"
	[ "$(grep -c '^rx ack drop ' "$FAULTS_A")" = 1 ] || fail "$(cat "$FAULTS_A")"
	not grep -q '^rx nak' "$FAULTS_A" || fail "$(cat "$FAULTS_A")"

	for ((i = 0; i < 65; i++)); do many+=$'rx any psn=1 drop\n'; done
	! put "$FAULTS_A" $'clear\n'"$many" || fail "65 rules taken"
	grep -qF '# refused: too many rules' "$FAULTS_A" || fail "$(cat "$FAULTS_A")"
	[ "$(grep -c '^rx any psn=1 drop ' "$FAULTS_A")" = 64 ] || fail "$(cat "$FAULTS_A")"

	# What is read can be written.
	rules "$FAULTS_A" "tx any pct=0.25 seed=3 hold=2" "rx send qpn=0x11 delay=5"
	text=$(cat "$FAULTS_A")
	rules "$FAULTS_A"
	put "$FAULTS_A" "$text" || fail "refused: what was read"
	[ "$(cat "$FAULTS_A")" = "$text" ] || fail "$(cat "$FAULTS_A")"
	rules "$FAULTS_A"
	[ "$(cat "$FAULTS_A")" = "# waiting 0" ] || fail "clear leaves: $(cat "$FAULTS_A")"
}

# ---- atomics once ---------------------------------------------------------------------

# adds_once NUMBER RULE: so many additions, one after the other or 16 at a time, under
# that rule on B, which hits once; both ways, and each is executed once.
adds_once() {
	local again
	again=$(counter "$DEV_A" retransmits)
	rules "$FAULTS_B" "$2"
	program atomics 30 --threads 1 --completions "$1"
	[ "$(hits "$FAULTS_B")" = 1 ] || fail "hits of '$2': $(hits "$FAULTS_B")"
	[ "$(counter "$DEV_A" retransmits)" -gt "$again" ] || fail "A has repeated nothing"
}

# The request is lost and the same one executed later; or it was executed, the result
# is lost, and the repetition is answered with what was there then.
case_faults_atomic_once() {
	local before nth
	faults_pair
	for nth in 1 2 16 20; do
		adds_once 20 "rx atomic nth=$nth drop"
		before=$(counter "$DEV_B" duplicate_requests)
		adds_once 20 "tx response nth=$nth drop"
		[ "$(counter "$DEV_B" duplicate_requests)" -gt "$before" ] ||
			fail "B has seen no repetition of what it had executed"
	done
}

# ---- what may go away while packets wait ---------------------------------------------

# waiting_pair: packets of both directions wait at A, which ten seconds would end.
waiting_pair() {
	faults_pair
	CHECK_OBJECTS=0
	need_tool ib_send_bw
	. "$RXO_TREE/tests/lib/guest-net.sh"
	start b 60 ib_send_bw -F -b -d "$DEV_B" -x "$(gid_index "$DEV_B" "$IP4_B")" -n 5000000
	SERVER=$JOB
	wait_for 15 listening "$SERVER" 18515
	start a 60 ib_send_bw -F -b -d "$DEV_A" -x "$(gid_index "$DEV_A" "$IP4_A")" -n 5000000 "$IP4_B"
	CLIENT=$JOB
	wait_for 15 tx_packets_above "$DEV_A" 200
	rules "$FAULTS_A" "rx any delay=10000000" "tx any every=2 delay=10000000"
	wait_for 10 something_waits
}

something_waits() {
	[ "$(sed -n 's/# waiting //p' "$FAULTS_A")" -gt 1 ]
}

end_waiting() {
	stop "$CLIENT"
	stop "$SERVER"
}

# fresh_pair: whatever went away, a new pair works.
fresh_pair() {
	RXO_NR=${RXO_NR}x
	topo_pair
	talk_ready
	timeout -k 2 60 "$RXO_BUILD/tests/lc_talk" "${TALK[@]}" --completions 1 >/dev/null ||
		fail "a fresh pair does not work"
}

# No more wait than 1,024 for a device; what comes on top is lost, and counted.
case_faults_bounded() {
	faults_pair
	CHECK_OBJECTS=0
	need_tool ib_write_bw
	start b 60 ib_write_bw -F -q 16 -d "$DEV_B" -x "$(gid_index "$DEV_B" "$IP4_B")" -n 500000
	SERVER=$JOB
	wait_for 15 listening "$SERVER" 18515
	rules "$FAULTS_A" "tx any delay=10000000"
	start a 60 ib_write_bw -F -q 16 -d "$DEV_A" -x "$(gid_index "$DEV_A" "$IP4_A")" -n 500000 "$IP4_B"
	CLIENT=$JOB
	wait_for 10 no_room
	[ "$(sed -n 's/# waiting //p' "$FAULTS_A")" = 1024 ] || fail "$(cat "$FAULTS_A")"
	end_waiting
	wait_for 5 has_line '# waiting 0' "$FAULTS_A"
}

no_room() {
	[ "$(counter "$DEV_A" fault_no_room)" -gt 0 ]
}

case_faults_clear_frees() {
	waiting_pair
	rules "$FAULTS_A"
	[ "$(cat "$FAULTS_A")" = "# waiting 0" ] || fail "$(cat "$FAULTS_A")"
	end_waiting
}

case_faults_qp_frees() {
	waiting_pair
	end_waiting
	wait_for 5 has_line '# waiting 0' "$FAULTS_A"
	grep -q '^rx any delay' "$FAULTS_A" || fail "the rules went with the queue pair"
}

case_faults_device_frees() {
	waiting_pair
	within 5 rdma link delete "$DEV_A"
	[ ! -e "$FAULTS_A" ] || fail "the files are still there"
	end_waiting
	fresh_pair
}

case_faults_netdev_frees() {
	waiting_pair
	within 5 ip -n "$NS_A" link delete "$NET_A"
	wait_for 5 not device_exists "$DEV_A"
	end_waiting
	fresh_pair
}

case_faults_namespace_frees() {
	waiting_pair
	rules "$FAULTS_B" "rx any delay=10000000"
	within 5 ip netns delete "$NS_B"
	end_waiting
	wait_for 5 not device_exists "$DEV_B"
	fresh_pair
}

case_faults_module_frees() {
	waiting_pair
	within 5 rdma link delete "$DEV_B"
	stop "$SERVER"
	stop "$CLIENT"
	rules "$FAULTS_A" "tx any hold=1000"
	within 5 rmmod rxe_ordered
	[ ! -e /sys/kernel/debug/rxe_ordered ] || fail "the files have outlived the module"
	fresh_pair
}

# ---- names ---------------------------------------------------------------------------

# The files follow the name of the device, those that are open too.
case_faults_rename() {
	faults_pair
	exec 8<>"$FAULTS_A"
	rules "$FAULTS_A" "rx ack nth=1 drop"
	within 5 rdma dev set "$DEV_A" name other
	at_exit "[ ! -e /sys/class/infiniband/other ] || rdma link delete other"
	[ ! -e "$FAULTS_A" ] || fail "the old name is still there"
	FAULTS_A=/sys/kernel/debug/rxe_ordered/other/faults
	grep -q '^rx ack nth=1 drop' "$FAULTS_A" || fail "the rules have not moved"
	echo clear >&8
	[ "$(cat "$FAULTS_A")" = "# waiting 0" ] || fail "$(cat "$FAULTS_A")"
	within 5 rdma dev set other name "$DEV_A"
	exec 8>&-
	within 5 rdma link delete "$DEV_A"
}
