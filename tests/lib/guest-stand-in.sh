# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Sourced after guest.sh when the harness is tried with the in-tree rdma_rxe. Up to
# 6.12 that one receives in the initial namespace only, so both ends of the pair
# live there, and routing rules make packets take the veth pair rather than lo.

netns_make() {
	:
}

topo_net() {
	local mtu=${1:-1500} x
	NS_A=none NS_B=none NET_A=va$RXO_NR NET_B=vb$RXO_NR
	IP4_A=10.77.0.1 IP4_B=10.77.0.2 IP6_A=fd77::1 IP6_B=fd77::2
	EXEC_A=(env) EXEC_B=(env)
	ip link add "$NET_A" mtu "$mtu" type veth peer name "$NET_B" mtu "$mtu"
	at_exit "ip link delete $NET_A"
	for x in A B; do
		local net=NET_$x ip4=IP4_$x ip6=IP6_$x
		echo 1 >"/proc/sys/net/ipv4/conf/${!net}/accept_local"
		echo 0 >"/proc/sys/net/ipv4/conf/${!net}/rp_filter"
		ip address add "${!ip4}/24" dev "${!net}"
		ip address add "${!ip6}/64" dev "${!net}" nodad
		ip link set "${!net}" up
	done
	echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
	stand_in_routes -4 "$IP4_A" "$IP4_B"
	stand_in_routes -6 "$IP6_A" "$IP6_B"
}

dummy_add() {
	ip link add "$2" type dummy
	at_exit "ip link delete $2"
	[ $# -lt 3 ] || ip address add "$3" dev "$2"
	ip link set "$2" up
}

# stand_in_routes -4|-6 A B: what comes in from the pair is local; what goes out to
# the other end takes the pair; all else as usual.
stand_in_routes() {
	ip "$1" rule add pref 5 iif "$NET_A" lookup local
	ip "$1" rule add pref 5 iif "$NET_B" lookup local
	ip "$1" rule add pref 10 from "$2" to "$3" lookup 101
	ip "$1" rule add pref 10 from "$3" to "$2" lookup 102
	ip "$1" route add "$3" dev "$NET_A" src "$2" table 101
	ip "$1" route add "$2" dev "$NET_B" src "$3" table 102
	if says '^0:.*local' ip "$1" rule show; then
		ip "$1" rule add pref 20 lookup local
		ip "$1" rule delete pref 0
	fi
	at_exit "ip $1 rule delete pref 5; ip $1 rule delete pref 5;" \
		"ip $1 rule delete pref 10; ip $1 rule delete pref 10"
}
