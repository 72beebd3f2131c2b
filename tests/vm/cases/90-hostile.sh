# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Programs that do to what they share with the kernel whatever they can, beside one
# that must not notice.

# The arm word, the indices and the entries of every ring, by a thread and by a child; in a
# short run a third of that, once.
case_hostile_rings() {
	need_own_driver
	topo_pair
	program scribble 160 --completions "$(or_short 2 0)"
}
timeout_hostile_rings=180

# The same as loss_storm on two processors, with less delay so that more is under way.
case_hostile_storm() {
	topo_pair 9000
	spoil_net delay 1ms loss 5%
	program qp_storm 80 --completions 25
}
timeout_hostile_storm=100
