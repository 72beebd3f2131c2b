# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Sourced by scripts that run on the host: where things are, and which kernels
# "6.1" and "6.12" stand for on this machine.

RXO_TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034 # for the scripts that source this
RXO_BUILD=${BUILD:-$RXO_TREE/build}
RXO_CACHE=${RXO_CACHE:-/var/cache/rxe_ordered}

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# The kernels of the tests are named by series. Each has a Debian package that
# always depends on the newest build of that series. "debug" is built from the source
# of 6.12, see tests/vm/build-debug-kernel.
headers_meta() {
	case $1 in
	6.1) echo linux-headers-amd64 ;;
	6.12) echo linux-headers-6.12-amd64 ;;
	*) die "no such kernel series: $1 (6.1, 6.12 and debug are known)" ;;
	esac
}

# kernel_release SERIES: the release whose headers are installed. The module is
# built against those, so the guest boots exactly that one.
kernel_release() {
	local meta release
	if [ "$1" = debug ]; then
		release=$(headers_version 6.12)
		echo "${release%%-*}-debug"
		return
	fi
	meta=$(headers_meta "$1")
	release=$(dpkg-query -W -f '${Depends}' "$meta" 2>/dev/null |
		grep -oE "linux-headers-$1\.[^ ,]*" | head -n 1 || true)
	[ -n "$release" ] || die "$meta is not installed or is not $1 (run tools/setup)"
	echo "${release#linux-headers-}"
}

# headers_version SERIES: of the package with those headers.
headers_version() {
	dpkg-query -W -f '${Version}' "linux-headers-$(kernel_release "$1")"
}

# commit_name: of this tree, whatever the tables in it say.
commit_name() {
	local name
	name=$(git -C "$RXO_TREE" describe --always --abbrev=12)
	git -C "$RXO_TREE" diff --quiet HEAD -- . ':!tests/evidence' || name+=-dirty
	echo "$name"
}
