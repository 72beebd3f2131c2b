# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Devices on every kind of netdev, and what the netdev does while they are there:
# it fails over, loses its carrier, gets another name, other addresses.

. "$(dirname "${BASH_SOURCE[0]}")/../../lib/guest-net.sh"

# on_top NETDEV-A NETDEV-B: addresses and a device on both, IPv4 and IPv6 traffic
# between them. TOP_A and TOP_B are the devices.
on_top() {
	TOP_A=rxoT$RXO_NR TOP_B=rxoU$RXO_NR
	addresses a "$1" $TOP4_A $TOP6_A
	addresses b "$2" $TOP4_B $TOP6_B
	link_add a "$TOP_A" "$1"
	link_add b "$TOP_B" "$2"
	talk "$TOP_A" $TOP4_A "$TOP_B" $TOP4_B
	talk "$TOP_A" $TOP6_A "$TOP_B" $TOP6_B
}

# ---- netdevs on netdevs ------------------------------------------------------------

# On a VLAN itself a device would have no GIDs: ib_core gives those of a VLAN to the
# device on the netdev below, which the kernel log says.
case_underlay_vlan_refused() {
	need_own_driver
	topo_net
	in_a ip link add link "$NET_A" name vlan type vlan id 5
	addresses a vlan $TOP4_A
	refused 'not supported' 5 "${EXEC_A[@]}" rdma link add "rxoT$RXO_NR" type rxe_ordered netdev vlan
	says "rxe_ordered: vlan: .*$NET_A" dmesg || fail "the kernel log has no line about it"
	not device_exists "rxoT$RXO_NR" || fail "it was added all the same"
}

case_underlay_vlan() {
	topo_pair
	in_a ip link add link "$NET_A" name vlan type vlan id 5
	in_b ip link add link "$NET_B" name vlan type vlan id 5
	addresses a vlan $TOP4_A $TOP6_A
	addresses b vlan $TOP4_B $TOP6_B
	talk "$DEV_A" $TOP4_A "$DEV_B" $TOP4_B
	talk "$DEV_A" $TOP6_A "$DEV_B" $TOP6_B
	talk "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	in_a ip link delete vlan
	wait_for 5 not has_gid "$DEV_A" $TOP4_A
}

# The VLAN is in another namespace than the netdev below it. Its addresses are in the
# table all the same, but the device does not speak for that namespace.
case_underlay_vlan_of_other_namespace() {
	local family
	need_own_driver
	topo_pair
	netns_make "c$RXO_NR"
	in_a ip link add link "$NET_A" name vlan type vlan id 5
	in_a ip link set vlan netns "c$RXO_NR"
	ip -n "c$RXO_NR" address add $TOP4_A/24 dev vlan
	ip -n "c$RXO_NR" address add $TOP6_A/64 dev vlan nodad
	ip -n "c$RXO_NR" link set vlan up
	for family in 4 6; do
		local own=TOP${family}_A
		if (wait_for 2 has_gid "$DEV_A" "${!own}") >/dev/null; then
			talk_options "$DEV_A" "${!own}" "$DEV_A" "${!own}"
			refused 'cannot connect' 10 "$RXO_BUILD/tests/lc_talk" "${TALK[@]}"
		fi
	done
}

case_underlay_macvlan() {
	topo_net
	in_a ip link add link "$NET_A" name mac type macvlan mode bridge
	on_top mac "$NET_B"
}

# Two macvlans of one netdev, one of them in the other namespace.
case_underlay_macvlan_siblings() {
	topo_net
	in_a ip link add link "$NET_A" name mac type macvlan mode bridge
	in_a ip link add link "$NET_A" name sibling type macvlan mode bridge
	in_a ip link set sibling netns "$NS_B"
	on_top mac sibling
}

case_underlay_bridge() {
	topo_net
	in_a ip link add bridge type bridge
	no_addresses a "$NET_A"
	in_a ip link set "$NET_A" master bridge
	on_top bridge "$NET_B"
}

# A device on a port of the bridge has the addresses of the bridge.
case_underlay_bridge_port() {
	topo_net
	in_a ip link add bridge type bridge
	no_addresses a "$NET_A"
	in_a ip link set "$NET_A" master bridge
	addresses a bridge $TOP4_A $TOP6_A
	addresses b "$NET_B" $TOP4_B $TOP6_B
	link_add a "rxoT$RXO_NR" "$NET_A"
	link_add b "rxoU$RXO_NR" "$NET_B"
	talk "rxoT$RXO_NR" $TOP4_A "rxoU$RXO_NR" $TOP4_B
	talk "rxoT$RXO_NR" $TOP6_A "rxoU$RXO_NR" $TOP6_B
}

case_underlay_tun() {
	topo_net
	tunnel tun tun tun
	on_top tun tun
	stop "$TUNNEL"
	wait_for 5 not device_exists "$TOP_A"
	wait_for 5 not device_exists "$TOP_B"
}

case_underlay_tap() {
	topo_net
	tunnel tap tap tap
	on_top tap tap
	stop "$TUNNEL"
	wait_for 5 not device_exists "$TOP_A"
	wait_for 5 not device_exists "$TOP_B"
}

# ---- bonds ---------------------------------------------------------------------------

# bonds: two veth pairs between the namespaces, and an active-backup bond of both at
# either end. (As a module it makes a bond of its own accord.)
bonds() {
	local x ns net
	modprobe bonding max_bonds=0 || skip "no module bonding"
	# Its netdevs end with their namespaces, in the background.
	at_exit "until modprobe -r bonding; do sleep 0.1; done"
	topo_net
	in_a ip link add more type veth peer name more netns "$NS_B"
	for x in A B; do
		ns=NS_$x net=NET_$x
		no_addresses "${x,}" "${!net}"
		ip -n "${!ns}" -batch - <<-END
		link add bond type bond mode active-backup miimon 20
		link set ${!net} down
		link set ${!net} master bond
		link set more down
		link set more master bond
		link set bond up
		END
	done
	wait_for 5 active_is a "$NET_A"
	wait_for 5 active_is b "$NET_B"
}

# active_is a|b NETDEV: does the bond use that one?
active_is() {
	[ "$("in_$1" cat /sys/class/net/bond/bonding/active_slave)" = "$2" ]
}

# The link in use goes down at A, so B loses its carrier; both change over, and back.
case_underlay_bond_failover() {
	bonds
	on_top bond bond
	talk_start "$TOP_A" $TOP4_A "$TOP_B" $TOP4_B
	in_a ip link set "$NET_A" down
	wait_for 10 active_is a more
	wait_for 10 active_is b more
	still_talking "$TOP_A"
	in_a ip link set "$NET_A" up
	in_a ip link set more down
	wait_for 10 active_is a "$NET_A"
	wait_for 10 active_is b "$NET_B"
	still_talking "$TOP_A"
	talk_end
	shows_port "$TOP_A" ACTIVE
}

timeout_underlay_bond_failover=120

# The veth pair in use is deleted under traffic; the bonds go on with the other.
case_underlay_bond_slave_removed() {
	bonds
	on_top bond bond
	talk_start "$TOP_A" $TOP6_A "$TOP_B" $TOP6_B
	in_a ip link delete "$NET_A"
	wait_for 10 active_is a more
	still_talking "$TOP_A"
	talk_end
}

timeout_underlay_bond_slave_removed=120

# ---- to oneself ------------------------------------------------------------------------

# Both queue pairs on one device: its own addresses, IPv4, IPv6 and link-local.
case_underlay_own_address() {
	topo_pair
	talk "$DEV_A" "$IP4_A" "$DEV_A" "$IP4_A"
	talk "$DEV_A" "$IP6_A" "$DEV_A" "$IP6_A"
	local own
	own=$(in_a ip -6 -o address show dev "$NET_A" scope link | grep -oE 'fe80:[0-9a-f:]*')
	talk "$DEV_A" "$own" "$DEV_A" "$own"
}

# As perftest does it: two processes, both directions, polling.
case_underlay_own_address_bidirectional() {
	local gid
	topo_pair
	gid=$(gid_index "$DEV_A" "$IP4_A")
	start a 50 ib_send_bw -F -b -n 200 -s 65536 -d "$DEV_A" -x "$gid"
	wait_for 15 listening "$JOB" 18515
	in_a timeout 40 ib_send_bw -F -b -n 200 -s 65536 -d "$DEV_A" -x "$gid" "$IP4_A"
	finish "$JOB" 10
}

case_underlay_dummy() {
	topo_net
	dummy_add a dummy $TOP4_A/24
	in_a ip address add $TOP6_A/64 dev dummy nodad
	link_add a "rxoT$RXO_NR" dummy
	talk "rxoT$RXO_NR" $TOP4_A "rxoT$RXO_NR" $TOP4_A
	talk "rxoT$RXO_NR" $TOP6_A "rxoT$RXO_NR" $TOP6_A
}

case_underlay_loopback() {
	topo_net
	in_a ip address add $TOP4_A/32 dev lo
	link_add a "rxoT$RXO_NR" lo
	talk "rxoT$RXO_NR" $TOP4_A "rxoT$RXO_NR" $TOP4_A
	talk "rxoT$RXO_NR" 127.0.0.1 "rxoT$RXO_NR" 127.0.0.1
	talk "rxoT$RXO_NR" ::1 "rxoT$RXO_NR" ::1
}

# tc turns what is sent round into what is received: the receiver runs while the sender
# sends, one within the other.
case_underlay_redirected() {
	need_own_driver
	need_tool tc
	need_module sch_ingress cls_matchall act_mirred
	topo_net
	dummy_add a round
	in_a sh -c 'cd /proc/sys/net/ipv4/conf && echo 1 >round/accept_local &&
		echo 0 >all/rp_filter && echo 0 >round/rp_filter'
	addresses a round $TOP4_A $TOP6_A
	link_add a "rxoT$RXO_NR" round
	in_a tc qdisc add dev lo clsact
	in_a tc filter add dev lo egress matchall action mirred ingress redirect dev round
	talk "rxoT$RXO_NR" $TOP4_A "rxoT$RXO_NR" $TOP4_A
	talk "rxoT$RXO_NR" $TOP6_A "rxoT$RXO_NR" $TOP6_A
	says 'Sent [1-9]' in_a tc -s filter show dev lo egress ||
		fail "nothing has been turned round"
}

# Two devices in one namespace: the stack delivers by loopback, so over IPv6 that just
# works. Over IPv4 ib_core asks for the peer's address on the wire when a queue pair
# goes to RTR, and nobody answers to one's own address: a time-out, until the
# administrator allows that, or enters the neighbour.
case_underlay_one_namespace() {
	local mac
	topo_pair
	in_a ip link add one type veth peer name two
	addresses a one $TOP4_A $TOP6_A
	addresses a two 10.82.0.1 fd82::1
	link_add a "rxoT$RXO_NR" one
	link_add a "rxoU$RXO_NR" two
	talk "rxoT$RXO_NR" $TOP6_A "rxoU$RXO_NR" fd82::1
	talk "rxoT$RXO_NR" $TOP6_A "$DEV_A" "$IP6_A"
	talk_options "rxoT$RXO_NR" $TOP4_A "rxoU$RXO_NR" 10.82.0.1
	refused 'connect the QPs: Connection timed out' 20 "$RXO_BUILD/tests/lc_talk" "${TALK[@]}"

	in_a sh -c 'cd /proc/sys/net/ipv4/conf && echo 1 >one/accept_local && echo 1 >two/accept_local'
	in_a ip neigh flush all
	talk "rxoT$RXO_NR" $TOP4_A "rxoU$RXO_NR" 10.82.0.1
	mac=$(in_a cat "/sys/class/net/$NET_A/address")
	in_a ip neigh replace "$IP4_A" lladdr "$mac" dev one
	in_a ip neigh replace $TOP4_A lladdr "$mac" dev "$NET_A"
	talk "rxoT$RXO_NR" $TOP4_A "$DEV_A" "$IP4_A"
}

# ---- carrier and MTU ------------------------------------------------------------------

# A netdev without carrier, one that is down: a device with its port down.
case_netdev_without_carrier() {
	topo_net
	in_b ip link set "$NET_B" down
	within 5 "${EXEC_A[@]}" rdma link add "rxoT$RXO_NR" type "$RXO_LINK_TYPE" netdev "$NET_A"
	at_exit "rdma link delete rxoT$RXO_NR"
	shows_port "rxoT$RXO_NR" DOWN
	within 5 "${EXEC_B[@]}" rdma link add "rxoU$RXO_NR" type "$RXO_LINK_TYPE" netdev "$NET_B"
	at_exit "rdma link delete rxoU$RXO_NR"
	shows_port "rxoU$RXO_NR" DOWN
	in_b ip link set "$NET_B" up
	wait_for 5 port_is "rxoT$RXO_NR" ACTIVE
	wait_for 5 port_is "rxoU$RXO_NR" ACTIVE
	talk "rxoT$RXO_NR" "$IP4_A" "rxoU$RXO_NR" "$IP4_B"
}

# events KIND: how often ibv_asyncwatch has said so.
events() {
	grep -c "$1" "$JOB_OUT" || true
}

# had_events ACTIVE ERR
had_events() {
	[ "$(events 'PORT_ACTIVE')" = "$1" ] && [ "$(events 'PORT_ERR')" = "$2" ]
}

# One event for each change, none for what is no change.
case_netdev_events_once() {
	need_tool ibv_asyncwatch
	topo_pair
	start host 40 stdbuf -oL ibv_asyncwatch -d "$DEV_A"
	wait_for 10 has_line FD "$JOB_OUT"
	in_a ip link set "$NET_A" down
	wait_for 5 had_events 0 1
	shows_port "$DEV_A" DOWN
	in_a ip link set "$NET_A" up
	wait_for 5 had_events 1 1
	shows_port "$DEV_A" ACTIVE
	in_b ip link set "$NET_B" down
	wait_for 5 had_events 1 2
	shows_port "$DEV_A" DOWN
	in_b ip link set "$NET_B" up
	wait_for 5 had_events 2 2
	shows_port "$DEV_A" ACTIVE
	in_a ip link set "$NET_A" mtu 9000
	in_a ip link set "$NET_A" promisc on
	in_a ip link set "$NET_A" promisc off
	in_a ip link set "$NET_A" down
	wait_for 5 had_events 2 3
	cat "$JOB_OUT"
}

# The MTU shrinks below what a connection uses: it goes on once there is room again.
case_netdev_mtu_shrinks() {
	topo_pair 9000
	talk_start "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	in_a ip link set "$NET_A" mtu 1500
	in_b ip link set "$NET_B" mtu 1500
	in_a ip link set "$NET_A" mtu 9000
	in_b ip link set "$NET_B" mtu 9000
	still_talking "$DEV_A"
	talk_end
}

mtu_is() {
	says "active_mtu:\s*$2 " ibv_devinfo -d "$1"
}

# Down to where there is no MTU left that a queue pair could have.
case_netdev_mtu_small() {
	local pair
	topo_pair 1500
	for pair in 608:512 607:256 576:256 352:256 68:256 1500:1024 65535:4096 1500:1024; do
		in_a ip link set "$NET_A" mtu "${pair%:*}"
		mtu_is "$DEV_A" "${pair#*:}" || fail "MTU ${pair%:*}: $(ibv_devinfo -d "$DEV_A" | grep mtu)"
	done
	# Below 1,280 there is no IPv6, and its addresses are gone.
	in_a ip link set "$NET_A" mtu 576
	in_b ip link set "$NET_B" mtu 576
	talk "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
}

# ---- names -----------------------------------------------------------------------------

ndev_is() {
	says "netdev $2( |\$)" in_a rdma link show "$1/1"
}

# The netdev gets another name under traffic (for which it is down for a moment).
case_name_netdev_renamed() {
	topo_pair
	talk_start "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	in_a ip link set "$NET_A" down
	in_a ip link set "$NET_A" name renamed
	in_a ip link set renamed up
	ndev_is "$DEV_A" renamed || fail "rdma link: $(in_a rdma link)"
	[ "$(in_a cat "/sys/class/infiniband/$DEV_A/ports/1/gid_attrs/ndevs/$(gid_index "$DEV_A" "$IP4_A")")" = renamed ] ||
		fail "the GID still has the old name"
	still_talking "$DEV_A"
	talk_end
}

case_name_netdev_15_characters() {
	local name=abcdefghijklmno
	topo_net
	dummy_add a $name $TOP4_A/24
	link_add a "rxoT$RXO_NR" $name
	ndev_is "rxoT$RXO_NR" $name || fail "rdma link: $(in_a rdma link)"
	talk "rxoT$RXO_NR" $TOP4_A "rxoT$RXO_NR" $TOP4_A
}

# Names of 63 characters, of one, of another driver's style.
case_name_device() {
	local name long
	need_own_driver
	topo_net
	long=$(printf 'a%.0s' {1..63})
	for name in "$long" x mlx5_0 rxe0; do
		link_add a "$name" "$NET_A"
		talk "$name" "$IP4_A" "$name" "$IP4_A"
		says "^ *${name}[[:space:]]" ibv_devices || fail "ibv_devices: $(ibv_devices)"
		within 5 rdma link delete "$name"
	done
	# (One that is longer ib_core cuts off.)
	refused 'invalid' 5 "${EXEC_A[@]}" rdma link add 'rxo%d' type rxe_ordered netdev "$NET_A"
}

# The device is renamed while programs have it open; they go on, others find it.
case_name_device_renamed_while_open() {
	topo_pair
	talk_start "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	at_exit "[ ! -e /sys/class/infiniband/other$RXO_NR ] || rdma link delete other$RXO_NR"
	within 5 rdma dev set "$DEV_A" name "other$RXO_NR"
	not device_exists "$DEV_A" || fail "the old name is still there"
	port_is "other$RXO_NR" ACTIVE || fail "the port is $(port_state "other$RXO_NR")"
	still_talking "other$RXO_NR"
	talk_end
	talk "other$RXO_NR" "$IP4_A" "$DEV_B" "$IP4_B"
	refused 'exist' 5 rdma dev set "$DEV_B" name "other$RXO_NR"
	watch_device "other$RXO_NR"
}

# ---- GIDs ------------------------------------------------------------------------------

# gids DEVICE: indices that hold a GID.
gids() {
	local i gid dir=/sys/class/infiniband/$1/ports/1/gids
	for ((i = 0; i < 256; i++)); do
		read -r gid <"$dir/$i"
		[ "$gid" = 0000:0000:0000:0000:0000:0000:0000:0000 ] || echo $i
	done
}

# Every GID of the table can be used. (Both sides have the same kinds, in one order.)
case_gid_each_index() {
	local index code=0
	topo_pair
	in_a ip address add 10.77.0.101/24 dev "$NET_A"
	in_b ip address add 10.77.0.102/24 dev "$NET_B"
	wait_for 5 has_gid "$DEV_A" 10.77.0.101
	wait_for 5 has_gid "$DEV_B" 10.77.0.102
	[ "$(gids "$DEV_A")" = "$(gids "$DEV_B")" ] || fail "different tables"
	for index in $(gids "$DEV_A"); do
		timeout -k 2 30 "$RXO_BUILD/tests/lc_talk" --dev-a "$DEV_A" --dev-b "$DEV_B" \
			--gid "$index" || fail "GID $index does not work"
	done
}

# Addresses that were there before the device and those that come after it, all of
# type RoCE v2; none is left when the netdev has none.
case_gid_before_and_after() {
	local index
	topo_pair
	for index in $(gids "$DEV_A"); do
		[ "$(cat "/sys/class/infiniband/$DEV_A/ports/1/gid_attrs/types/$index")" = "RoCE v2" ] ||
			fail "GID $index is of another type"
	done
	in_a ip address add 10.84.0.1/24 dev "$NET_A"
	in_b ip address add 10.84.0.2/24 dev "$NET_B"
	talk "$DEV_A" 10.84.0.1 "$DEV_B" 10.84.0.2
	no_addresses a "$NET_A"
	wait_for 5 not has_gid "$DEV_A" "$IP4_A"
	wait_for 5 not has_gid "$DEV_A" "$IP6_A"
	wait_for 5 not has_gid "$DEV_A" 10.84.0.1
	in_a ip address add "$IP4_A/24" dev "$NET_A"
	talk "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
}

# An address goes while a connection uses it: the connection ends by itself, with
# an error, and nothing is left of it.
case_gid_in_use_deleted() {
	topo_pair
	talk_start "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	in_a ip address delete "$IP4_A/24" dev "$NET_A"
	not finish "$TALKER" 30 || fail "traffic without an address"
	grep -E 'retry|completion' "$TALKER_OUT" || fail "$(cat "$TALKER_OUT")"
	in_a ip address add "$IP4_A/24" dev "$NET_A"
	talk "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
}

# Without an option that names a GID programs choose one that works.
case_gid_default() {
	need_tool ib_write_bw
	topo_pair
	start b 40 ib_write_bw -F -n 10 -s 4096 -d "$DEV_B"
	wait_for 15 listening "$JOB" 18515
	in_a timeout 30 ib_write_bw -F -n 10 -s 4096 -d "$DEV_A" "$IP4_B"
	finish "$JOB" 10
}

# ---- who may ---------------------------------------------------------------------------

# What udev does with its rule for /dev/infiniband/uverbs*, there being no udev here.
case_user_without_rights() {
	topo_pair
	chmod 0666 /dev/infiniband/uverbs*
	talk_options "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	prlimit --memlock=8388608 setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps=-all --bounding-set=-all \
		timeout -k 2 40 "$RXO_BUILD/tests/lc_talk" "${TALK[@]}" ||
		fail "not as a user without rights"
}
