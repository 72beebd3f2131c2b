# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Devices, netdevs, namespaces and the module go away while programs have queue
# pairs open and busy. Everything returns within 5 s, the programs can be ended, and
# afterwards a fresh pair works.

# busy_pair OPTIONS...: a ping-pong without end between the two devices; SERVER and
# CLIENT are its processes.
busy_pair() {
	need_own_driver
	need_tool ibv_rc_pingpong
	topo_pair
	CHECK_OBJECTS=0
	start b 60 ibv_rc_pingpong -d "$DEV_B" -g "$(gid_index "$DEV_B" "$IP4_B")" -n 100000000 "$@"
	SERVER=$JOB
	wait_for 15 listening "$SERVER" 18515
	start a 60 ibv_rc_pingpong -d "$DEV_A" -g "$(gid_index "$DEV_A" "$IP4_A")" -n 100000000 "$@" "$IP4_B"
	CLIENT=$JOB
	wait_for 15 qp_in_rts "$DEV_A"
	wait_for 15 qp_in_rts "$DEV_B"
}

qp_in_rts() {
	says 'state RTS' rdma resource show qp link "$1/1"
}

end_busy_pair() {
	stop "$CLIENT"
	stop "$SERVER"
}

# still_works: a fresh pair of devices, and traffic between them.
still_works() {
	topo_pair_again
	start b 30 ibv_rc_pingpong -d "$DEV_B" -g "$(gid_index "$DEV_B" "$IP4_B")" -n 20
	wait_for 15 listening "$JOB" 18515
	in_a timeout 30 ibv_rc_pingpong -d "$DEV_A" -g "$(gid_index "$DEV_A" "$IP4_A")" -n 20 "$IP4_B" ||
		fail "a fresh pair does not work"
}

# topo_pair_again: under other names than the first.
topo_pair_again() {
	RXO_NR=${RXO_NR}x
	topo_pair
}

# ---- rdma link delete -------------------------------------------------------------

case_removal_link_delete_polling() {
	busy_pair
	within 5 rdma link delete "$DEV_A"
	not device_exists "$DEV_A" || fail "the device is still there"
	within 5 rdma link delete "$DEV_B"
	end_busy_pair
	still_works
}

case_removal_link_delete_sleeping() {
	busy_pair -e
	within 5 rdma link delete "$DEV_A"
	within 5 rdma link delete "$DEV_B"
	end_busy_pair
	still_works
}

# A program that sleeps on its completion channel is woken by the end of the device.
case_removal_wakes_sleepers() {
	busy_pair -e
	within 5 rdma link delete "$DEV_A"
	not finish "$CLIENT" 10 || fail "the program took the end of its device for a success"
	end_busy_pair
}

# ---- the netdev or its namespace ----------------------------------------------------

case_removal_netdev() {
	busy_pair
	within 5 ip -n "$NS_A" link delete "$NET_A"
	wait_for 5 not device_exists "$DEV_A"
	# The other end of the veth pair went with it.
	wait_for 5 not device_exists "$DEV_B"
	end_busy_pair
	still_works
}

case_removal_netdev_down() {
	busy_pair
	within 5 ip -n "$NS_A" link set "$NET_A" down
	wait_for 5 port_is "$DEV_A" DOWN
	end_busy_pair
	within 5 rdma link delete "$DEV_A"
}

case_removal_namespace() {
	busy_pair
	end_busy_pair
	within 5 ip netns delete "$NS_A"
	wait_for 5 not device_exists "$DEV_A"
}

# ---- the module -----------------------------------------------------------------------

# Unloading with programs at work either is refused and changes nothing, or takes the
# devices along; both at once.
case_removal_module_in_use() {
	local code=0
	busy_pair
	timeout -k 2 5 rmmod rxe_ordered || code=$?
	[ $code != 124 ] && [ $code != 137 ] || fail "rmmod took longer than 5 s"
	if [ $code = 0 ]; then
		not device_exists "$DEV_A" || fail "the device has outlived its driver"
	else
		qp_in_rts "$DEV_A" || fail "the refused rmmod has broken the queue pair"
	fi
	end_busy_pair
	rmmod rxe_ordered 2>/dev/null || true
	still_works
}

# Once the devices are gone nothing of the module is held by a program that still
# has them open.
case_removal_module_after_delete() {
	busy_pair
	within 5 rdma link delete "$DEV_A"
	within 5 rdma link delete "$DEV_B"
	running "$CLIENT" || running "$SERVER" || echo "note: both programs had ended by themselves"
	within 5 rmmod rxe_ordered
	end_busy_pair
	still_works
}

# With devices but no program the module takes its devices with it.
case_removal_module_with_devices() {
	need_own_driver
	topo_pair
	within 5 rmmod rxe_ordered
	not device_exists "$DEV_A" || fail "the device has outlived its driver"
	still_works
}

# killed PID: the program that this job runs, without a chance to clean up.
killed() {
	local child
	read -r child <"/proc/$1/task/$1/children" || true
	kill -KILL "$child"
	wait_for 5 not running "$1"
}

case_removal_killed_programs() {
	busy_pair
	killed "$CLIENT"
	killed "$SERVER"
	CHECK_OBJECTS=1
}
