# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The in-tree rdma_rxe as the peer: every byte, and atomics.

. "$(dirname "${BASH_SOURCE[0]}")/../../lib/guest-interop.sh"

# interop_bytes PROGRAM MTU FAMILY TRAINS
interop_bytes() {
	interop_pair "$2" "$4"
	[ "$3" = ipv4 ] || interop_ipv6
	program "$1" 160
}

for trains in Y N; do
	for family in ipv4 ipv6; do
		name=interop_data_${family}_trains_$trains
		eval "case_$name() { interop_bytes data_integrity 9000 $family $trains; }"
		eval "timeout_$name=180"
		name=interop_lengths_${family}_trains_$trains
		eval "case_$name() { interop_bytes interop 9000 $family $trains; }"
		eval "timeout_$name=180"
	done
done
unset trains family name

# ---- atomics ---------------------------------------------------------------------

case_interop_atomics() {
	interop_pair 9000
	program atomics 160
}
timeout_interop_atomics=180

case_interop_loss_atomics() {
	interop_pair 9000
	spoil_net loss 2%
	program atomics 160 --completions 2000
	[ "$(interop_counter duplicate_requests)" -gt 0 ] || fail "no answer was lost, so nothing was shown"
}
timeout_interop_loss_atomics=180
