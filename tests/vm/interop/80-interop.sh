# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# With the in-tree rdma_rxe as the peer, see tests/interop/README.md:
#
#      initial namespace                            namespace $NS_B
#   ┌────────────────────┐                        ┌────────────────────┐
#   │ rdma_rxe:          │                        │ rxe_ordered:       │
#   │ $DEV_A on $NET_A ──┼──── the veth pair ─────┼── $NET_B, $DEV_B   │
#   └────────────────────┘                        └────────────────────┘
#
# "A to B" of the programs is rdma_rxe as the requester, "B to A" is our driver.

INTEROP_PORT=18700

# interop_pair MTU [trains]: both devices; trains=N sends single packets.
interop_pair() {
	local mtu=$1 trains=${2:-Y} x
	need_own_driver
	need_module rdma_rxe
	at_exit "modprobe -r rdma_rxe"
	NS_B=b$RXO_NR NET_A=va$RXO_NR NET_B=vb$RXO_NR
	IP4_A=10.77.0.1 IP4_B=10.77.0.2 IP6_A=fd77::1 IP6_B=fd77::2
	DEV_A=rxe$RXO_NR DEV_B=rxoB$RXO_NR
	EXEC_A=(env)
	EXEC_B=(ip netns exec "$NS_B")
	netns_make "$NS_B"
	ip link add "$NET_A" mtu "$mtu" type veth peer name "$NET_B" mtu "$mtu" netns "$NS_B"
	at_exit "ip link delete $NET_A"
	for x in A B; do
		local net=NET_$x ip4=IP4_$x ip6=IP6_$x
		"in_${x,}" ip -batch - <<-END
		address add ${!ip4}/24 dev ${!net}
		address add ${!ip6}/64 dev ${!net} nodad
		link set ${!net} up
		END
	done
	RXO_LINK_TYPE=rxe link_add host "$DEV_A" "$NET_A"
	interop_trains "$trains"
	link_add b "$DEV_B" "$NET_B"
}

# interop_trains Y|N: for our devices added from now on.
interop_trains() {
	modprobe rxe_ordered
	echo "$1" >/sys/module/rxe_ordered/parameters/trains
	at_exit "echo Y >/sys/module/rxe_ordered/parameters/trains"
}

# interop_program NAME SECONDS OPTIONS...
interop_program() {
	local name=$1 seconds=$2 path=$RXO_BUILD/tests/$1 code=0
	shift 2
	need_file "$path"
	timeout -k 2 "$seconds" "$path" --dev-a "$DEV_A" --dev-b "$DEV_B" \
		--gid-a "$(gid_index "$DEV_A" "$IP4_A")" \
		--gid-b "$(gid_index "$DEV_B" "$IP4_B")" "$@" >/run/rxo/program 2>&1 || code=$?
	grep -vE '^ok [0-9]+ ([^#]|$)' /run/rxo/program || true
	[ $code != 77 ] || exit 77
	[ $code = 0 ] || fail "$name exited with $code"
}

interop_ipv6() {
	IP4_A=$IP6_A IP4_B=$IP6_B
}

# ---- every byte ------------------------------------------------------------------

# interop_bytes PROGRAM MTU FAMILY TRAINS
interop_bytes() {
	interop_pair "$2" "$4"
	[ "$3" = ipv4 ] || interop_ipv6
	interop_program "$1" 160
}

for trains in Y N; do
	for family in ipv4 ipv6; do
		name=interop_data_${family}_trains_$trains
		eval "case_$name() { interop_bytes data_integrity 9000 $family $trains; }"
		eval "timeout_$name=180"
		name=interop_lengths_${family}_trains_$trains
		eval "case_$name() { interop_bytes interop 9000 $family $trains; }"
		eval "timeout_$name=180"
	done
done
unset trains family name

# ---- a bad network ---------------------------------------------------------------

# interop_netem OPTIONS...: in both directions.
interop_netem() {
	need_tool tc
	need_module sch_netem
	in_a tc qdisc add dev "$NET_A" root netem "$@"
	in_b tc qdisc add dev "$NET_B" root netem "$@"
}

# interop_counter NAME: of our device.
interop_counter() {
	cat "/sys/class/infiniband/$DEV_B/ports/1/hw_counters/$1"
}

case_interop_loss() {
	interop_pair 9000
	interop_netem loss 1%
	interop_program interop 160 --completions 400
	[ "$(interop_counter retransmits)" -gt 0 ] || fail "nothing was lost, so nothing was shown"
}
timeout_interop_loss=180

# Whatever the checksums of the stack let through, the ICRC has to catch.
case_interop_corruption() {
	interop_pair 9000
	interop_netem corrupt 3%
	interop_program interop 160 --completions 400
	[ "$(interop_counter drop_icrc)" -gt 0 ] || fail "nothing was corrupted, so nothing was shown"
}
timeout_interop_corruption=180

# ---- perftest --------------------------------------------------------------------

# interop_end a|b SIZE PORT PROGRAM OPTIONS...: starts it on that side's device.
interop_end() {
	local side=$1 size=$2 port=$3 program=$4
	local device=DEV_${side^} gid=GID_${side^}
	shift 4
	# Left alone, perftest has as many READs outstanding as the other device can:
	# 128 of rdma_rxe are too many for ours.
	[[ $program != ib_read_* ]] || set -- -o 16 "$@"
	start "$side" 60 "$program" -F -n 20 -s "$size" -p "$port" -d "${!device}" \
		-x "${!gid}" "$@"
}

# interop_perftest PROGRAM CLIENT SERVER SERVER-ADDRESS: some sizes side by side. The
# client is the one that asks.
interop_perftest() {
	local program=$1 client=$2 server=$3 address=$4 size port=$INTEROP_PORT job
	local jobs=() outputs=()
	for size in 64 4095 65536 1048579; do
		port=$((port + 1))
		interop_end "$server" $size $port "$program"
		jobs+=("$JOB")
		wait_for 20 listening "$JOB" $port
		interop_end "$client" $size $port "$program" "$address"
		jobs+=("$JOB")
		outputs+=("$JOB_OUT")
	done
	for job in "${jobs[@]}"; do
		finish "$job" 60 || fail "$program asked by $client: $(cat "${outputs[@]}")"
	done
	grep -hE '^ *[0-9]+ +20 +' "${outputs[@]}"
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
	for kind in send write read; do
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
