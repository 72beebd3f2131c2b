# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# More for cases about networks and about the ends of things, beside guest.sh:
# netdevs on netdevs, the programs lc_talk, lc_watch and lc_tunnel.

# ---- netdevs ---------------------------------------------------------------------

# addresses a|b NETDEV IPV4 [IPV6]: given to it, and it is set up.
addresses() {
	"in_$1" ip address add "$3/24" dev "$2"
	[ $# -lt 4 ] || "in_$1" ip address add "$4/64" dev "$2" nodad
	"in_$1" ip link set "$2" up
}

# no_addresses a|b NETDEV
no_addresses() {
	"in_$1" ip address flush dev "$2"
}

# The addresses of what is put on top of the pair of topo_net.
TOP4_A=10.81.0.1 TOP4_B=10.81.0.2 TOP6_A=fd81::1 TOP6_B=fd81::2

# tunnel tun|tap NAME-A NAME-B: two netdevs and the program between them, TUNNEL.
tunnel() {
	need_file "$RXO_BUILD/tests/lc_tunnel"
	need_module tun
	start host 60 "$RXO_BUILD/tests/lc_tunnel" "$1" "$NS_A" "$2" "$NS_B" "$3"
	TUNNEL=$JOB
	wait_for 10 has_line ready "$JOB_OUT"
}

# shows_port DEVICE ACTIVE|DOWN: sysfs, rdma and ibv_devinfo say the same, now.
shows_port() {
	port_is "$1" "$2" || fail "sysfs says $(port_state "$1"), not $2"
	says "state $2" rdma link show "$1/1" || fail "rdma link does not say $2"
	says "PORT_$2" ibv_devinfo -d "$1" || fail "ibv_devinfo does not say $2"
}

# ---- traffic ---------------------------------------------------------------------

# talk_options DEVICE-A ADDRESS-A DEVICE-B ADDRESS-B: sets TALK, the options.
talk_options() {
	wait_for 5 has_gid "$1" "$2"
	wait_for 5 has_gid "$3" "$4"
	TALK=(--dev-a "$1" --dev-b "$3" --gid-a "$(gid_find "$1" "$2")"
		--gid-b "$(gid_find "$3" "$4")")
}

# talk DEVICE-A ADDRESS-A DEVICE-B ADDRESS-B: some of everything, bytes compared.
# The process is in the initial namespace; only the devices talk.
talk() {
	need_file "$RXO_BUILD/tests/lc_talk"
	talk_options "$@"
	timeout -k 2 40 "$RXO_BUILD/tests/lc_talk" "${TALK[@]}" || fail "no traffic: $*"
}

# talk_start DEVICE-A ADDRESS-A DEVICE-B ADDRESS-B: traffic until talk_end, but no
# longer than TALK_SECONDS, with TALK_PAUSE milliseconds between messages.
TALK_SECONDS=60 TALK_PAUSE=0
talk_start() {
	need_file "$RXO_BUILD/tests/lc_talk"
	talk_options "$@"
	rm -f /run/rxo/go
	start host "$TALK_SECONDS" env RXO_GO=/run/rxo/go \
		RXO_PAUSE="$TALK_PAUSE" "$RXO_BUILD/tests/lc_talk" "${TALK[@]}"
	TALKER=$JOB TALKER_OUT=$JOB_OUT
	wait_for 20 has_line talking "$TALKER_OUT"
}

talk_end() {
	touch /run/rxo/go
	finish "$TALKER" 20 || fail "the traffic failed: $(cat "$TALKER_OUT")"
	cat "$TALKER_OUT"
}

tx_packets() {
	local packets
	read -r packets <"/sys/class/infiniband/$1/ports/1/hw_counters/tx_packets"
	echo "$packets"
}

tx_packets_above() {
	[ "$(tx_packets "$1")" -gt "$2" ]
}

# still_talking DEVICE: it sends 200 packets more, and the program is there.
still_talking() {
	wait_for 20 tx_packets_above "$1" $(($(tx_packets "$1") + 200))
	running "$TALKER" || fail "the traffic has ended: $(cat "$TALKER_OUT")"
}

# ---- a device goes ---------------------------------------------------------------

# watch_start DEVICE-A ADDRESS-A DEVICE-B ADDRESS-B: lc_watch, with everything open
# and busy on A, which the case is to take away.
watch_start() {
	need_file "$RXO_BUILD/tests/lc_watch"
	talk_options "$@"
	CHECK_OBJECTS=0
	rm -f /run/rxo/go
	start host 60 env RXO_GO=/run/rxo/go "$RXO_BUILD/tests/lc_watch" "${TALK[@]}"
	WATCHER=$JOB WATCHER_OUT=$JOB_OUT
	wait_for 20 watch_says ready
}

watch_says() {
	running "$WATCHER" || fail "lc_watch has ended: $(cat "$WATCHER_OUT")"
	has_line "# $1" "$WATCHER_OUT"
}

# watch_seen: it has noticed, and tried what no longer works.
watch_seen() {
	wait_for 10 watch_says checked
}

# watch_end: all that it saw was as it should be.
watch_end() {
	local code=0
	touch /run/rxo/go
	finish "$WATCHER" 10 || code=$?
	grep -vE '^ok ' "$WATCHER_OUT" || true
	[ $code = 0 ] || fail "lc_watch exited with $code"
}
