# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Programs that do to what they share with the kernel whatever they can, beside one
# that must not notice.

# hostile NAME SECONDS OPTIONS...: a program of tests/programs, on both devices.
hostile() {
	local name=$1 seconds=$2 path=$RXO_BUILD/tests/$1 code=0
	shift 2
	need_file "$path"
	in_a timeout -k 2 "$seconds" "$path" --dev-a "$DEV_A" --dev-b "$DEV_B" \
		--gid-a "$(gid_index "$DEV_A" "$IP4_A")" \
		--gid-b "$(gid_index "$DEV_B" "$IP4_B")" "$@" >/run/rxo/program 2>&1 || code=$?
	grep -vE '^ok [0-9]+ ([^#]|$)' /run/rxo/program || true
	[ $code != 77 ] || exit 77
	[ $code = 0 ] || fail "$name exited with $code"
}

# The arm word, the indices and the entries of every ring, by a thread and by a child.
case_hostile_rings() {
	need_own_driver
	topo_pair
	hostile scribble 160
}
timeout_hostile_rings=180
