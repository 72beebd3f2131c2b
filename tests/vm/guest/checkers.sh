# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The last case of every run on the debug kernel: its checkers were at work up to the
# end, and nothing that was allocated since boot is lost.

KMEMLEAK=/sys/kernel/debug/kmemleak

# lost_objects: what kmemleak takes for lost. Younger objects than 5 s it passes over,
# and those whose content has changed since the scan before.
lost_objects() {
	sleep 6
	echo scan >$KMEMLEAK
	echo scan >$KMEMLEAK
	cat $KMEMLEAK
}

# nothing_lost: shows what is, and returns 1.
nothing_lost() {
	local lost
	lost=$(lost_objects) || fail "kmemleak does not work"
	[ -n "$lost" ] || return 0
	echo "$lost"
	return 1
}

lockdep_is_on() {
	says 'debug_locks: *1$' cat /proc/lockdep_stats && return
	echo "lockdep has been switched off"
	return 1
}

# With the module there, so that stacks have names in them; then without it, since what
# its own data still points to is lost as well when the module goes.
case_checkers_clean() {
	local bad=0
	lockdep_is_on || bad=1
	nothing_lost || bad=1
	modprobe -r "$RXO_MODULE"
	[ $bad = 1 ] || nothing_lost || bad=1
	[ $bad = 0 ] || fail "see above"
}
timeout_checkers_clean=300
