# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Sourced by scripts that fetch Debian packages without installing them.

apt_quiet() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq -o APT::Sandbox::User=root \
		-o DPkg::Lock::Timeout=300 "$@" >&2
}

# download PACKAGE VERSION: leaves the package in the present folder.
download() {
	apt_quiet download "$1=$2" 2>/dev/null && return
	echo "${0##*/}: refreshing the package lists" >&2
	apt_quiet update || true
	apt_quiet download "$1=$2"
}

# renew_headers SERIES: when the archive has moved on, the installed headers have to
# follow it.
renew_headers() {
	echo "${0##*/}: $1 has been superseded, upgrading its headers" >&2
	apt_quiet install -y --no-install-recommends "$(headers_meta "$1")"
}
