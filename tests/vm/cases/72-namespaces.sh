# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Netdevs that move between namespaces, namespaces that end, and both modes of the
# RDMA subsystem: all devices in all namespaces (shared), each in one (exclusive).

. "$(dirname "${BASH_SOURCE[0]}")/../../lib/guest-net.sh"

# ---- shared ------------------------------------------------------------------------

# A netdev moves to another namespace: its device goes, as it would with the netdev.
# There a new one can be made, and it talks.
case_netns_netdev_moves() {
	need_own_driver
	topo_pair
	netns_make "c$RXO_NR"
	watch_start "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	within 5 ip -n "$NS_A" link set "$NET_A" netns "c$RXO_NR"
	wait_for 5 not device_exists "$DEV_A"
	watch_seen
	watch_end
	EXEC_A=(ip netns exec "c$RXO_NR")
	addresses a "$NET_A" "$IP4_A" "$IP6_A"
	link_add a "$DEV_A" "$NET_A"
	talk "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	within 5 ip -n "c$RXO_NR" link set "$NET_A" netns "$NS_A"
	wait_for 5 not device_exists "$DEV_A"
}

# A namespace ends with several devices in it, on netdevs that end with it.
case_netns_ends_with_devices() {
	local i
	topo_pair
	for i in 1 2 3 4; do
		dummy_add a "many$i" "10.78.$i.1/24"
		link_add a "rxoM$RXO_NR$i" "many$i"
	done
	within 5 ip netns delete "$NS_A"
	for i in "$DEV_A" "rxoM${RXO_NR}"{1,2,3,4}; do
		wait_for 5 not device_exists "$i"
	done
	# The other end of the veth pair went with it.
	wait_for 5 not device_exists "$DEV_B"
}

# usb_netdev: a netdev such as hardware has, of an emulated USB adapter and its
# other end, both in the initial namespace. USB is the one at A.
usb_netdev() {
	need_module cdc_ether dummy_hcd g_ether
	at_exit "modprobe -r g_ether dummy_hcd cdc_ether"
	wait_for 10 test -e /sys/class/net/usb0
	USB=usb0
}

# A netdev of hardware does not end with its namespace: it comes back to the initial
# one, without the device; that one went with the namespace.
case_netns_ends_hardware_comes_back() {
	need_own_driver
	topo_net
	usb_netdev
	ip link set $USB netns "$NS_A"
	addresses a $USB 10.85.0.1
	wait_for 5 carrier_at_a
	link_add a "rxoU$RXO_NR" $USB
	watch_start "rxoU$RXO_NR" 10.85.0.1 "rxoU$RXO_NR" 10.85.0.1
	within 5 ip netns delete "$NS_A"
	wait_for 5 test -e /sys/class/net/$USB
	wait_for 5 not device_exists "rxoU$RXO_NR"
	watch_seen
	watch_end
}

carrier_at_a() {
	says LOWER_UP in_a ip link show "$USB"
}

# ---- exclusive ---------------------------------------------------------------------

# exclusive: until the end of the case; possible only while there is no namespace
# besides the initial one, and those end in the background: with a TCP connection whose
# netdev went first after nearly two minutes.
exclusive() {
	need_own_driver
	need_tool ibv_rc_pingpong
	at_exit "until rdma system set netns shared 2>/dev/null; do sleep 0.1; done"
	wait_for 150 set_exclusive
}

set_exclusive() {
	rdma system set netns exclusive 2>/dev/null || {
		pause 1
		return 1
	}
}

# exclusive_add a|b DEVICE NETDEV
exclusive_add() {
	"in_$1" timeout 5 rdma link add "$2" type rxe_ordered netdev "$3"
	wait_for 5 says "link $2/1 state ACTIVE" "in_$1" rdma link show
}

# exclusive_pair: as topo_pair.
exclusive_pair() {
	exclusive
	topo_net
	DEV_A=rxoA$RXO_NR DEV_B=rxoB$RXO_NR
	at_exit "ip netns exec $NS_A rdma link delete $DEV_A 2>/dev/null || true"
	at_exit "ip netns exec $NS_B rdma link delete $DEV_B 2>/dev/null || true"
	exclusive_add a "$DEV_A" "$NET_A"
	exclusive_add b "$DEV_B" "$NET_B"
}

# exclusive_gid a|b DEVICE ADDRESS: gid_index, as that namespace sees it.
exclusive_gid() {
	gid_of "$3"
	wait_for 5 "in_$1" grep -qx "$GID_OF" -r "/sys/class/infiniband/$2/ports/1/gids"
	"in_$1" grep -lx "$GID_OF" -r "/sys/class/infiniband/$2/ports/1/gids" | sed 's,.*/,,'
}

# exclusive_talk: ping-pong, each side with the device of its namespace.
exclusive_talk() {
	start b 40 ibv_rc_pingpong -e -c -n 20 -d "$DEV_B" -g "$(exclusive_gid b "$DEV_B" "$IP4_B")"
	wait_for 15 listening "$JOB" 18515
	in_a timeout 30 ibv_rc_pingpong -e -c -n 20 -d "$DEV_A" \
		-g "$(exclusive_gid a "$DEV_A" "$IP4_A")" "$IP4_B"
	finish "$JOB" 10 || fail "server: $(cat "$JOB_OUT")"
}

# Each device is where its netdev is, and nowhere else.
timeout_netns_exclusive=200
case_netns_exclusive() {
	exclusive_pair
	not says "$DEV_A" in_b rdma link show || fail "A is seen in B"
	not says "$DEV_A" rdma link show || fail "A is seen in the initial namespace"
	not in_b ibv_devinfo -d "$DEV_A" || fail "A can be opened in B"
	not ibv_devinfo -d "$DEV_A" || fail "A can be opened in the initial namespace"
	exclusive_talk
	within 5 "${EXEC_A[@]}" rdma link delete "$DEV_A"
	not says "$DEV_A" in_a rdma link show || fail "deleted, but still there"
}

# A namespace ends with its device: that one ends too, it is not left over under
# another name in the initial one.
timeout_netns_exclusive_ends=200
case_netns_exclusive_ends() {
	exclusive_pair
	within 5 ip netns delete "$NS_A"
	wait_for 5 no_devices
	wait_for 5 not says link in_b rdma link show
}

# no_devices: in the initial namespace.
no_devices() {
	[ -z "$(rdma dev show)" ]
}

# An administrator moves the device to a namespace where its netdev is not: programs
# lose it, it is visible there, and it can be moved back and works again.
timeout_netns_exclusive_device_moves=200
case_netns_exclusive_device_moves() {
	exclusive_pair
	within 5 "${EXEC_A[@]}" rdma dev set "$DEV_A" netns "$NS_B"
	wait_for 5 says "$DEV_A" in_b rdma dev show
	not says "$DEV_A" in_a rdma dev show || fail "it is at both places"
	within 5 "${EXEC_B[@]}" rdma dev set "$DEV_A" netns "$NS_A"
	wait_for 5 says "$DEV_A" in_a rdma dev show
	exclusive_talk
	refused 'exist' 5 "${EXEC_B[@]}" rdma dev set "$DEV_B" name "$DEV_A"
}
