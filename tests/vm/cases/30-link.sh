# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Devices come and go: rdma link add and delete, several at a time, what an
# administrator may get wrong, and the port following its netdev.

PORT=4791

socket_open() {
	local hex
	hex=$(printf ':%04X ' $PORT)
	in_"$1" grep -qs "$hex" /proc/net/udp /proc/net/udp6
}

rdma_link_has() {
	says "link $1/1 " rdma link show
}

# ---- adding and deleting --------------------------------------------------------

case_link_add_delete() {
	local i
	topo_net
	for i in 1 2 3 4 5; do
		link_add a "rxoA$RXO_NR" "$NET_A"
		rdma_link_has "rxoA$RXO_NR" || fail "rdma link does not show it"
		says "netdev $NET_A" in_a rdma link show "rxoA$RXO_NR/1" || fail "rdma link shows no netdev"
		within 5 rdma link delete "rxoA$RXO_NR"
		not device_exists "rxoA$RXO_NR" || fail "deleted, but still there"
	done
}

case_link_several_devices() {
	local i
	topo_net
	for i in 1 2 3 4; do
		dummy_add a "many$i" "10.78.$i.1/24"
		link_add a "rxoM$RXO_NR$i" "many$i"
	done
	for i in 1 2 3 4; do
		gid_index "rxoM$RXO_NR$i" "10.78.$i.1"
	done
	within 5 rdma link delete "rxoM${RXO_NR}2"
	device_exists "rxoM${RXO_NR}1" && device_exists "rxoM${RXO_NR}3" || fail "deleting one took another"
}

# The port is taken with the first device of a namespace and given back with the last.
case_link_port_4791_follows_devices() {
	need_own_driver
	topo_net
	dummy_add a second
	not socket_open a || fail "UDP port $PORT is open before there is a device"
	link_add a "rxoA$RXO_NR" "$NET_A"
	link_add a "rxoS$RXO_NR" second
	socket_open a || fail "UDP port $PORT is not open"
	not socket_open b || fail "UDP port $PORT is open in another namespace"
	within 5 rdma link delete "rxoA$RXO_NR"
	socket_open a || fail "UDP port $PORT was closed with a device left"
	within 5 rdma link delete "rxoS$RXO_NR"
	wait_for 5 not socket_open a
}

case_link_autoload() {
	need_own_driver
	topo_net
	within 10 rmmod rxe_ordered 2>/dev/null || true
	link_add a "rxoA$RXO_NR" "$NET_A"
	[ -e /sys/module/rxe_ordered ] || fail "no module, but a device?"
}

# ---- what can go wrong ----------------------------------------------------------

case_link_refuse_missing_netdev() {
	topo_net
	refused 'no.*(device|netdev)|not (found|exist)|invalid' 5 \
		"${EXEC_A[@]}" rdma link add "rxoA$RXO_NR" type "$RXO_LINK_TYPE" netdev nosuch
	not device_exists "rxoA$RXO_NR" || fail "it was added all the same"
}

case_link_refuse_existing_name() {
	topo_net
	link_add a "rxoA$RXO_NR" "$NET_A"
	refused 'exist' 5 "${EXEC_B[@]}" rdma link add "rxoA$RXO_NR" type "$RXO_LINK_TYPE" netdev "$NET_B"
	port_is "rxoA$RXO_NR" ACTIVE || fail "the first device has suffered"
}

case_link_refuse_second_on_netdev() {
	topo_net
	link_add a "rxoA$RXO_NR" "$NET_A"
	refused 'exist|busy|in use' 5 "${EXEC_A[@]}" rdma link add "rxoS$RXO_NR" type "$RXO_LINK_TYPE" netdev "$NET_A"
	port_is "rxoA$RXO_NR" ACTIVE || fail "the first device has suffered"
}

case_link_refuse_not_ethernet() {
	need_own_driver
	topo_net
	in_a ip link add monitor type nlmon
	refused 'not supported|invalid' 5 \
		"${EXEC_A[@]}" rdma link add "rxoA$RXO_NR" type "$RXO_LINK_TYPE" netdev monitor
	not device_exists "rxoA$RXO_NR" || fail "it was added all the same"
}

# port_taken FAMILY ADDRESS: with someone else's socket on the port in that namespace,
# adding is refused with a clear word; without it, it works again.
port_taken() {
	local holder
	need_own_driver
	topo_net
	start a 30 /usr/bin/python3 -c "
import socket, time
s = socket.socket(socket.$1, socket.SOCK_DGRAM)
if socket.$1 == socket.AF_INET6:
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
s.bind(('$2', $PORT))
time.sleep(30)"
	holder=$JOB
	wait_for 10 socket_open a
	refused 'in use' 5 "${EXEC_A[@]}" rdma link add "rxoA$RXO_NR" type "$RXO_LINK_TYPE" netdev "$NET_A"
	says "rxe_ordered: $NET_A: .*$PORT" dmesg || fail "the kernel log has no line about port $PORT"
	not device_exists "rxoA$RXO_NR" || fail "it was added all the same"
	link_add b "rxoB$RXO_NR" "$NET_B"
	stop "$holder"
	wait_for 5 not socket_open a
	link_add a "rxoA$RXO_NR" "$NET_A"
}

# python3 does not fit the memory root.
lane_link_refuse_port_taken_ipv4=race
lane_link_refuse_port_taken_ipv6=race
case_link_refuse_port_taken_ipv4() { port_taken AF_INET 0.0.0.0; }
case_link_refuse_port_taken_ipv6() { port_taken AF_INET6 ::; }

# ---- the port follows the netdev --------------------------------------------------

case_port_state_follows_netdev() {
	topo_pair
	in_a ip link set "$NET_A" down
	wait_for 5 port_is "$DEV_A" DOWN
	# The other end of a veth pair loses its carrier.
	wait_for 5 port_is "$DEV_B" DOWN
	says 'state DOWN' rdma link show "$DEV_A/1" || fail "rdma link disagrees: $(rdma link)"
	in_a ip link set "$NET_A" up
	wait_for 5 port_is "$DEV_A" ACTIVE
	wait_for 5 port_is "$DEV_B" ACTIVE
	says 'state ACTIVE' rdma link show "$DEV_A/1" || fail "rdma link disagrees: $(rdma link)"
}

active_mtu_is() {
	says "active_mtu:\s*$2 " ibv_devinfo -d "$1"
}

case_port_mtu_follows_netdev() {
	local pair
	need_tool ibv_devinfo
	topo_pair 1500
	for pair in 1500:1024 9000:4096 2300:2048 1280:1024 1500:1024; do
		in_a ip link set "$NET_A" mtu "${pair%:*}"
		wait_for 5 active_mtu_is "$DEV_A" "${pair#*:}"
	done
	active_mtu_is "$DEV_B" 1024 || fail "the other device changed too"
}

case_port_gids_follow_addresses() {
	local address length options
	topo_pair
	for address in 10.77.5.1/24 fd77:5::abcd/64; do
		length=${address#*/} address=${address%/*}
		not has_gid "$DEV_A" "$address" || fail "$address is there before its time"
		options=()
		[[ $address != *:* ]] || options=(nodad)
		in_a ip address add "$address/$length" dev "$NET_A" "${options[@]}"
		wait_for 5 has_gid "$DEV_A" "$address"
		not has_gid "$DEV_B" "$address" || fail "$address is at the other device too"
		in_a ip address delete "$address/$length" dev "$NET_A"
		wait_for 5 not has_gid "$DEV_A" "$address"
	done
	has_gid "$DEV_A" "$IP4_A" && has_gid "$DEV_A" "$IP6_A" || fail "the first addresses are gone"
}

# Every GID is of type RoCE v2 and names the netdev.
case_port_gid_types() {
	local dir index type
	need_own_driver
	topo_pair
	dir=/sys/class/infiniband/$DEV_A/ports/1
	for index in $(gid_index "$DEV_A" "$IP4_A") $(gid_index "$DEV_A" "$IP6_A"); do
		type=$(cat "$dir/gid_attrs/types/$index")
		[ "$type" = "RoCE v2" ] || fail "GID $index is of type $type"
	done
	for ((index = 0; index < 16; index++)); do
		type=$(cat "$dir/gid_attrs/types/$index" 2>/dev/null || true)
		[ -z "$type" ] || [ "$type" = "RoCE v2" ] || fail "GID $index is of type $type"
	done
}

case_port_attributes() {
	need_tool ibv_devinfo
	topo_pair
	ibv_devinfo -v -d "$DEV_A" >/run/rxo/devinfo
	grep -qE 'state:\s*PORT_ACTIVE' /run/rxo/devinfo || fail "$(cat /run/rxo/devinfo)"
	grep -qE 'link_layer:\s*Ethernet' /run/rxo/devinfo || fail "$(cat /run/rxo/devinfo)"
	grep -qE 'max_mtu:\s*4096' /run/rxo/devinfo || fail "$(cat /run/rxo/devinfo)"
}
