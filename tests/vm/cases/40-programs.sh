# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Our own guest programs (tests/programs, built into build/tests): each gets the two
# devices and a GID index, prints what it does and exits 0 for a pass.

# program NAME OPTIONS...: in namespace A, with both devices by name.
program() {
	local name=$1 path=$RXO_BUILD/tests/$1
	shift
	need_file "$path"
	topo_pair 9000
	in_a timeout -k 2 50 "$path" --dev "$DEV_A" --dev "$DEV_B" \
		--gid "$(gid_index "$DEV_A" "$IP4_A")" "$@" || fail "$name exited with $?"
}
