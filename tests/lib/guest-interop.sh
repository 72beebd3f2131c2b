# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What cases need in which the in-tree rdma_rxe is the peer, see tests/interop/README.md:
#
#      initial namespace                            namespace $NS_B
#   ┌────────────────────┐                        ┌────────────────────┐
#   │ rdma_rxe:          │                        │ rxe_ordered:       │
#   │ $DEV_A on $NET_A ──┼──── the veth pair ─────┼── $NET_B, $DEV_B   │
#   └────────────────────┘                        └────────────────────┘
#
# "A to B" of the programs is rdma_rxe as the requester, "B to A" is our driver.

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
	net_ready
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

# interop_ipv6: from now on over IPv6.
interop_ipv6() {
	IP4_A=$IP6_A IP4_B=$IP6_B
}

# interop_counter NAME: of our device.
interop_counter() {
	cat "/sys/class/infiniband/$DEV_B/ports/1/hw_counters/$1"
}
