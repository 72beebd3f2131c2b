# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# The guest's kernel log, from a marker on, and what must not be in it.

# log_mark NUMBER NAME: a line in the kernel log that says where a case begins.
log_mark() {
	echo "<6>rxo-case: $1 $2" >/dev/kmsg
}

# log_since NUMBER NAME: the kernel log after that line.
log_since() {
	dmesg | awk -v mark="rxo-case: $1 $2" 'found { print } index($0, mark) { found = 1 }'
}

# log_problems: lines of the input that tell of a kernel fault.
log_problems() {
	grep -E \
		-e 'WARNING:|BUG:|Oops|Kernel panic|Call Trace|general protection|KASAN|UBSAN|KCSAN' \
		-e 'refcount_t|list_(add|del) corruption|Bad page|Bad rss|double free|bad unlock' \
		-e 'soft lockup|hard LOCKUP|blocked for more than|hung task|rcu.*(stall|self-detected)' \
		-e 'DEADLOCK|possible recursive locking|possible circular|inconsistent lock state' \
		-e 'lock held when returning|suspicious RCU|scheduling while atomic|sleeping function' \
		-e 'possible (irq|deadlock)|invalid wait context|bad contention|held lock freed' \
		-e 'trying to register non-static key|locking correctness validator|MAX_LOCK' \
		-e 'ODEBUG|DEBUG_LOCKS_WARN|corrupted stack end|ref_tracker: .* users at' \
		-e 'leaked reference|reference already released' \
		-e 'unregister_netdevice: waiting|memory leak|unreferenced object' \
		-e 'kmemleak: [0-9]+ new|memory leak detector disabled|Memory pool empty' ||
		true
}
