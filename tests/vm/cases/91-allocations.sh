# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # lane and kernel are for tests/vm/run
#
# Allocations that fail, which only the debug kernel can be made to do.

lane=virtual kernel=debug

# Everything that makes something, with each allocation of it failing in turn; in a short run
# with every fourth.
case_allocations_in_calls() {
	local path=$RXO_BUILD/tests/fail_nth
	need_file "$path"
	topo_pair 9000
	# Not in a namespace: "ip netns exec" hides debugfs.
	timeout -k 2 280 "$path" --dev-a "$DEV_A" --dev-b "$DEV_B" \
		--gid-a "$(gid_index "$DEV_A" "$IP4_A")" --gid-b "$(gid_index "$DEV_B" "$IP4_B")" \
		--completions "$(or_short 1 4)"
}
timeout_allocations_in_calls=300

# Devices come and go, with allocations failing in turn.
case_allocations_in_links() {
	local path=$RXO_BUILD/tests/fail_links
	need_file "$path"
	# In the initial namespace, as the program: "ip netns exec" hides debugfs.
	ip link add spare type dummy
	at_exit "ip link delete spare"
	ip address add 10.79.0.1/24 dev spare
	ip link set spare up
	timeout -k 2 50 "$path" --dev-a rxo_spare --dev-b rxo_spare
}

# Packets for which there is no memory are sent when there is. In the namespace of A, but not by
# "ip netns exec".
case_allocations_of_packets() {
	local point
	topo_pair
	in_a ip link set "$NET_A" gso_max_segs 1
	for point in failslab fail_page_alloc; do
		at_exit "echo 0 >/sys/kernel/debug/$point/probability"
	done
	EXEC_A=(busybox nsenter "--net=/run/netns/$NS_A")
	program starved 50
}
