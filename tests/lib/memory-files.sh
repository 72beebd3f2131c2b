# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2154 # root is of the script that sources this
#
# Sourced by scripts that put files of this machine into the memory of a guest, under
# their own paths below the folder $root: the programs that cases run again and again,
# what has been built, and the tests.

programs=(bash sh busybox awk cat chmod cp cut date dirname env grep head hostname ln ls mkdir
	mktemp mount nice printf prlimit rm sed seq setpriv setsid sleep sort tail tee timeout touch tr
	true uname wc dmesg strace stdbuf ip rdma tc ss modprobe rmmod insmod lsmod
	ibv_rc_pingpong ibv_devices ibv_devinfo ibv_asyncwatch
	ib_send_bw ib_write_bw ib_read_bw ib_atomic_bw
	ib_send_lat ib_write_lat ib_read_lat ib_atomic_lat)

# add FILE...: each under the same path, links followed.
add() {
	local file
	for file in "$@"; do
		[ ! -e "$root$file" ] || continue
		mkdir -p "$root$(dirname "$file")"
		cp -L "$file" "$root$file"
	done
}

add_programs() {
	local name path found=()
	for name in "${programs[@]}"; do
		path=$(type -P "$name") || continue
		found+=("$path")
	done
	for path in /usr/lib/*/libibverbs/librxe-rdmav*.so "$RXO_BUILD"/librxe_ordered* \
		"$RXO_BUILD"/rxo "$RXO_BUILD"/tests/*; do
		[ -f "$path" ] && found+=("$path")
	done
	add "${found[@]}"
	# shellcheck disable=SC2046 # one path each
	add $(ldd "${found[@]}" 2>/dev/null | grep -oE '/[^ :]+\.so[^ :]*' | sort -u)
}

# add_files: all of it, in a tree with the links that Debian's has.
add_files() {
	mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$root/"
	add /etc/passwd /etc/group /etc/ld.so.cache /etc/libibverbs.d/rxe.driver \
		/usr/libexec/coreutils/libstdbuf.so
	add_programs
	mkdir -p "$root$RXO_TREE"
	cp -r "$RXO_TREE/tests" "$root$RXO_TREE/"
	rm -r "$root$RXO_TREE"/tests/{fuzz,model,programs,sim,unit}
}

# pack FOLDER OUTPUT: as an initramfs.
pack() {
	(cd "$1" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) >"$2.tmp"
	mv "$2.tmp" "$2"
}
