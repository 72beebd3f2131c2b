# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # lane is for tests/vm/run
#
# Packets that no peer should send, to a queue pair on B, while two others on the
# same devices exchange messages and compare them: tests/malformed.

. "$(dirname "${BASH_SOURCE[0]}")/../../lib/guest-net.sh"

# python3 and scapy do not fit the memory root.
lane=race

# The groups in one go: it is the start of python that takes long here.
case_malformed_packets() {
	need_own_driver
	need_file "$RXO_BUILD/tests/victim"
	/usr/bin/python3 -c 'import scapy.contrib.roce' || skip "no python3-scapy"
	need_module tun
	topo_pair 9000
	wait_for 5 has_gid "$DEV_A" "$IP6_A"
	wait_for 5 has_gid "$DEV_B" "$IP6_B"
	TALK_SECONDS=290 TALK_PAUSE=50 talk_start "$DEV_A" "$IP4_A" "$DEV_B" "$IP4_B"
	in_a timeout -k 2 270 "$RXO_TREE/tests/malformed/attack" --victim "$RXO_BUILD/tests/victim" \
		--netdev "$NET_A" --mac "$(in_b cat "/sys/class/net/$NET_B/address")" --netns "$NS_B" \
		--devices "$DEV_A" "$DEV_B" --ip4 "$IP4_A" "$IP4_B" --ip6 "$IP6_A" "$IP6_B" \
		--gids4 "$(gid_find "$DEV_A" "$IP4_A")" "$(gid_find "$DEV_B" "$IP4_B")" \
		--gids6 "$(gid_find "$DEV_A" "$IP6_A")" "$(gid_find "$DEV_B" "$IP6_B")" \
		|| fail "attack exited with $?"
	still_talking "$DEV_A"
	talk_end
}
timeout_malformed_packets=300
