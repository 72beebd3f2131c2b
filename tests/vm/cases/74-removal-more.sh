# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What a program sees when its device goes (lc_watch): by rdma link delete, with the
# netdev, with the namespace, with the module. How long the end of a process with
# many queue pairs takes. And many devices coming and going.

. "$(dirname "${BASH_SOURCE[0]}")/../../lib/guest-net.sh"

# watched_pair: lc_watch on the two devices of topo_pair.
watched_pair() {
	need_own_driver
	topo_pair
	watch_start "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
}

case_gone_link_delete() {
	watched_pair
	within 5 rdma link delete "$DEV_A"
	not device_exists "$DEV_A" || fail "the device is still there"
	watch_seen
	watch_end
}

case_gone_netdev_delete() {
	watched_pair
	within 5 ip -n "$NS_A" link delete "$NET_A"
	wait_for 5 not device_exists "$DEV_A"
	watch_seen
	watch_end
}

case_gone_namespace() {
	watched_pair
	within 5 ip netns delete "$NS_A"
	wait_for 5 not device_exists "$DEV_A"
	watch_seen
	watch_end
}

# The module goes while the program has its descriptors open and its rings mapped; it
# looks at them and unmaps them when there is no module any more.
case_gone_module() {
	watched_pair
	within 5 rmmod rxe_ordered
	not device_exists "$DEV_A" || fail "the device has outlived its driver"
	watch_seen
	[ ! -e /sys/module/rxe_ordered ] || fail "the module is still there"
	watch_end
}

# Unloaded and loaded again, while a program still holds what was.
case_gone_module_and_back() {
	watched_pair
	within 5 rmmod rxe_ordered
	within 10 modprobe rxe_ordered
	link_add a "$DEV_A" "$NET_A"
	link_add b "$DEV_B" "$NET_B"
	talk "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	watch_seen
	watch_end
	talk "$DEV_A" "$IP6_A" "$DEV_B" "$IP6_B"
}

# Killed just when the device goes: one of the two takes the objects down.
case_gone_killed_meanwhile() {
	local child
	watched_pair
	# Below timeout, which is below nothing: env executes the program in its place.
	read -r child <"/proc/$WATCHER/task/$WATCHER/children" || true
	rdma link delete "$DEV_A" &
	kill -KILL "$child"
	wait_for 5 not running "$!"
	wait_for 5 not running "$WATCHER"
	wait_for 5 not device_exists "$DEV_A"
}

# ---- netdevs of all kinds, with queue pairs ---------------------------------------

# gone_with NETDEV-A ADDRESS: the netdev in namespace A is deleted while its device
# talks to itself.
gone_with() {
	link_add a "rxoG$RXO_NR" "$1"
	watch_start "rxoG$RXO_NR" "$2" "rxoG$RXO_NR" "$2"
	within 5 ip -n "$NS_A" link delete "$1"
	wait_for 5 not device_exists "rxoG$RXO_NR"
	watch_seen
	watch_end
}

case_gone_with_dummy() {
	topo_net
	dummy_add a gone 10.83.0.1/24
	gone_with gone 10.83.0.1
}

case_gone_with_macvlan() {
	topo_net
	in_a ip link add link "$NET_A" name gone type macvlan mode bridge
	addresses a gone 10.83.0.1
	gone_with gone 10.83.0.1
}

# The netdev under the macvlan goes, and takes it along.
case_gone_under_macvlan() {
	topo_net
	in_a ip link add link "$NET_A" name gone type macvlan mode bridge
	addresses a gone 10.83.0.1
	link_add a "rxoG$RXO_NR" gone
	watch_start "rxoG$RXO_NR" 10.83.0.1 "rxoG$RXO_NR" 10.83.0.1
	within 5 ip -n "$NS_A" link delete "$NET_A"
	wait_for 5 not device_exists "rxoG$RXO_NR"
	watch_seen
	watch_end
}

case_gone_with_tun() {
	topo_net
	tunnel tun gone other
	addresses a gone 10.83.0.1
	link_add a "rxoG$RXO_NR" gone
	watch_start "rxoG$RXO_NR" 10.83.0.1 "rxoG$RXO_NR" 10.83.0.1
	stop "$TUNNEL"
	wait_for 5 not device_exists "rxoG$RXO_NR"
	watch_seen
	watch_end
}

# ---- many -------------------------------------------------------------------------

# Devices come and go while ibv_devinfo opens whatever it finds: 500 of them in a
# thorough run, else as many as fit 40 s, but at least 50.
case_gone_500_times_beside_devinfo() {
	local i end=$((SECONDS + 40)) least=50
	need_tool ibv_devinfo
	[ "$RXO_THOROUGH" = 0 ] || least=500
	topo_net
	start host 1500 bash -c 'while :; do ibv_devinfo; done'
	for ((i = 0; i < 500 && (i < least || SECONDS < end); i++)); do
		in_a rdma link add "rxoC$RXO_NR" type "$RXO_LINK_TYPE" netdev "$NET_A"
		rdma link delete "rxoC$RXO_NR"
	done
	echo "$i times"
	running "$JOB" || fail "ibv_devinfo is not running any more"
	grep -c "rxoC$RXO_NR" "$JOB_OUT" || fail "ibv_devinfo has never seen a device"
	stop "$JOB"
	link_add a "rxoC$RXO_NR" "$NET_A"
}
timeout_gone_500_times_beside_devinfo=1800

# A process with 500 and with 2,000 queue pairs (on the debug kernel a fifth of that) is
# killed, exits, or cleans up.
case_gone_process_with_2000_qps() {
	need_own_driver
	need_file "$RXO_BUILD/tests/lc_many"
	topo_pair
	timeout -k 2 230 "$RXO_BUILD/tests/lc_many" --dev-a "$DEV_A" --dev-b "$DEV_B" \
		--gid-a "$(gid_index "$DEV_A" "$IP4_A")" \
		--gid-b "$(gid_index "$DEV_B" "$IP4_B")"
}
timeout_gone_process_with_2000_qps=240

# What a process does to its own rings, before and after the objects go.
case_gone_rings() {
	need_own_driver
	need_file "$RXO_BUILD/tests/lc_rings"
	topo_pair
	talk_options "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	timeout -k 2 50 "$RXO_BUILD/tests/lc_rings" "${TALK[@]}"
}
