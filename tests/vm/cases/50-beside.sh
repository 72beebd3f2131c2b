# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Beside the in-tree rdma_rxe, which up to 6.12 owns UDP port 4791 of the initial
# namespace: both work, and where they would collide the answer is clear.

RXE_PORT=18600

# rxe_beside: a device of rdma_rxe on one end of a veth pair in the initial namespace.
rxe_beside() {
	need_own_driver
	need_module rdma_rxe
	at_exit "modprobe -r rdma_rxe"
	ip link add beside type veth peer name beside_peer
	at_exit "ip link delete beside"
	ip address add 10.79.0.1/24 dev beside
	ip link set beside_peer up
	ip link set beside up
	rdma link add rxe_beside type rxe netdev beside
	at_exit "rdma link delete rxe_beside"
	wait_for 5 port_is rxe_beside ACTIVE
}

# pair_works DEVICE-A DEVICE-B
pair_works() {
	start b 30 ib_send_bw -F -n 10 -s 4096 -p $RXE_PORT -d "$DEV_B" -x "$(gid_index "$DEV_B" "$IP4_B")"
	wait_for 15 listening "$JOB" $RXE_PORT
	in_a timeout 30 ib_send_bw -F -n 10 -s 4096 -p $RXE_PORT -d "$DEV_A" \
		-x "$(gid_index "$DEV_A" "$IP4_A")" "$IP4_B"
	finish "$JOB" 10
}

case_beside_rdma_rxe() {
	rxe_beside
	topo_pair
	pair_works
	port_is rxe_beside ACTIVE || fail "rdma_rxe has suffered"
	within 5 rdma link delete "$DEV_A"
	port_is rxe_beside ACTIVE || fail "rdma_rxe has suffered"
}

case_beside_rdma_rxe_same_namespace() {
	rxe_beside
	ip link add mine type dummy
	at_exit "ip link delete mine"
	ip link set mine up
	refused 'in use' 5 rdma link add "rxoA$RXO_NR" type rxe_ordered netdev mine
	port_is rxe_beside ACTIVE || fail "rdma_rxe has suffered"
}

# The functions for consumers in the kernel: a module calls them on a CQ of each driver.
case_beside_kernel_functions() {
	rxe_beside
	topo_pair
	modprobe rxo_kernel_test device="$DEV_A" foreign=rxe_beside || {
		dmesg | grep rxo_kernel_test
		fail "see the kernel log"
	}
	modprobe -r rxo_kernel_test
	dmesg | grep 'rxo_kernel_test: [1-9].* checks, 0 failed' || fail "nothing was checked"
}
