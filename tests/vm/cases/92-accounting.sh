# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # lane is for tests/vm/run
#
# Who pays for kernel memory. On one processor, so that little is charged in advance.

lane=virtual

# A memory cgroup grows with the rings, queues and regions of its processes, and where it
# has no room they are refused. The debug kernel has no memory cgroups.
case_accounting() {
	local dir=/run/rxo/cgroup
	mkdir "$dir"
	mount -t cgroup2 cgroup2 "$dir" || skip "no cgroups"
	at_exit "busybox umount $dir"
	echo +memory >"$dir/cgroup.subtree_control" || skip "no memory cgroups"
	mkdir "$dir/payer"
	at_exit "busybox rmdir $dir/payer"
	topo_pair
	export RXO_CGROUP=$dir/payer
	program_outside accounting 50
}
