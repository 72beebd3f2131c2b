# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What cases in the guest are written with.
#
#      namespace $NS_A                              namespace $NS_B
#   ┌────────────────────┐                        ┌────────────────────┐
#   │ $DEV_A on $NET_A ──┼──── the veth pair ─────┼── $NET_B, $DEV_B   │
#   │ $IP4_A, $IP6_A     │                        │   $IP4_B, $IP6_B   │
#   └────────────────────┘                        └────────────────────┘
#
# Names carry the number of the case, RXO_NR. guest_cleanup takes down all that the
# functions here have made; what else a case makes, it removes itself or registers
# with at_exit.

CLEANUPS=()             # commands, run last to first
JOBS=()                 # background processes, ended before anything else
DEVICES=()              # RDMA devices that must end with the objects they began with
declare -A AT_START     # the objects of each
CHECK_OBJECTS=1         # a case that ends with programs cut off may clear it
RXO_NR=${RXO_NR:-0}

# ---- verdicts ------------------------------------------------------------------

fail() {
	echo "fail: $*"
	exit 1
}

skip() {
	echo "skip: $*"
	exit 77
}

need_tool() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null || skip "no $tool"
	done
}

need_file() {
	local file
	for file in "$@"; do
		[ -e "$file" ] || skip "no ${file#"$RXO_TREE"/}"
	done
}

need_module() {
	local module
	for module in "$@"; do
		modprobe "$module" || skip "no module $module"
	done
}

# For cases about what only our driver does.
need_own_driver() {
	[ "$RXO_LINK_TYPE" = rxe_ordered ] || skip "not with the stand-in $RXO_LINK_TYPE"
}

# ---- waiting -------------------------------------------------------------------

# wait_for SECONDS COMMAND...: until the command succeeds, or fail. (On a slow kernel
# it is more than that, as with timeout: tests/vm/guest/slow.)
wait_for() {
	local seconds=$(($1 * RXO_SLOW))
	local end=$((${EPOCHREALTIME/./} + seconds * 1000000))
	shift
	until "$@"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || fail "not within $seconds s: $*"
		pause 0.05
	done
}

# pause SECONDS: sleeps without a process, of which polling would take many.
exec {SILENCE}<>/run/rxo/silence
pause() {
	read -rt "$1" -u "$SILENCE" || true
}

# within SECONDS COMMAND...: the command must succeed in that time. It must be a
# program, not a function.
within() {
	local seconds=$1 code=0
	shift
	timeout -k 2 "$seconds" "$@" || code=$?
	[ $code != 124 ] && [ $code != 137 ] || fail "took longer than $seconds s: $*"
	[ $code = 0 ] || fail "exit code $code: $*"
}

# refused TEXT SECONDS COMMAND...: the program must fail in time and say TEXT, an
# extended regular expression.
refused() {
	local text=$1 seconds=$2 output code=0
	shift 2
	output=$(timeout -k 2 "$seconds" "$@" 2>&1) || code=$?
	echo "\$ $*"
	echo "$output"
	[ $code != 0 ] || fail "should have been refused: $*"
	[ $code != 124 ] && [ $code != 137 ] || fail "took longer than $seconds s: $*"
	grep -qiE "$text" <<<"$output" || fail "should have said '$text'"
}

not() {
	! "$@"
}

# says PATTERN COMMAND...: does a line of its output match that extended regular expression?
says() {
	local pattern=$1 output
	shift
	output=$("$@") && match "$pattern" <<<"$output"
}

# match PATTERN: grep -qE without a process, for what is short or asked again and again.
match() {
	local line
	while IFS= read -r line || [ -n "$line" ]; do
		[[ ! $line =~ $1 ]] || return 0
	done
	return 1
}

# has_line PATTERN FILE
has_line() {
	match "$1" 2>/dev/null <"$2"
}

# ---- programs ------------------------------------------------------------------

in_a() { "${EXEC_A[@]}" "$@"; }
in_b() { "${EXEC_B[@]}" "$@"; }

# start a|b|host SECONDS COMMAND...: runs it in the background, no longer than that;
# JOB is its process, JOB_OUT the file with its output.
start() {
	local where=("${EXEC_A[@]}") seconds=$2
	[ "$1" = b ] && where=("${EXEC_B[@]}")
	[ "$1" = host ] && where=(env)
	shift 2
	JOB_OUT=/run/rxo/job-$RXO_NR-${#JOBS[@]}
	"${where[@]}" timeout -k 2 "$seconds" "$@" >"$JOB_OUT" 2>&1 </dev/null &
	JOB=$!
	JOBS+=("$JOB")
}

running() {
	kill -0 "$1" 2>/dev/null
}

# finish PID SECONDS: the job must end in that time; its exit code is returned.
finish() {
	local code=0
	wait_for "$2" not running "$1"
	wait "$1" || code=$?
	return $code
}

# stop PID: ends a job of start().
stop() {
	running "$1" || return 0
	kill -TERM "$1"
	wait_for 5 not running "$1"
}

# listening PID PORT: does the namespace of that process listen on the TCP port?
listening() {
	local hex
	printf -v hex ':%04X' "$2"
	has_line "$hex 0*:0000 0A" "/proc/$1/net/tcp" || has_line "$hex 0*:0000 0A" "/proc/$1/net/tcp6"
}

# ---- objects that must not leak --------------------------------------------------

device_exists() {
	[ -e "/sys/class/infiniband/$1" ]
}

# objects DEVICE: "qp 0 cq 0 ..." as the kernel counts them.
objects() {
	local text
	text=$(rdma resource show "$1" 2>/dev/null) || true
	[[ $text =~ ^[^\ ]+\ [^\ ]+\ (.*)\ ctx\ [0-9]+(.*)$ ]] || return 0
	echo "${BASH_REMATCH[1]}${BASH_REMATCH[2]}"
}

same_objects() {
	[ "$(objects "$1")" = "${AT_START[$1]}" ]
}

# watch_device DEVICE: from now on it has to end with the objects that it has now.
watch_device() {
	DEVICES+=("$1")
	AT_START[$1]=$(objects "$1")
}

check_objects() {
	local device
	for device in "${DEVICES[@]}"; do
		device_exists "$device" || continue
		(wait_for 3 same_objects "$device") >/dev/null && continue
		echo "left over on $device: $(objects "$device") (at first ${AT_START[$device]})"
		return 1
	done
}

# ---- taking down ---------------------------------------------------------------

at_exit() {
	CLEANUPS+=("$*")
}

# take_down: one process for all of it.
take_down() {
	local i commands=()
	for ((i = ${#CLEANUPS[@]} - 1; i >= 0; i--)); do
		commands+=("${CLEANUPS[i]}")
	done
	# shellcheck disable=SC2016 # for that shell to expand
	[ ${#commands[@]} = 0 ] || timeout -k 2 $((10 * ${#commands[@]})) bash -c '
		bad=0
		for command; do
			eval "$command" || { echo "cleanup failed: $command"; bad=1; }
		done
		exit $bad' take_down "${commands[@]}"
}

# guest_cleanup CODE: the end of every case.
guest_cleanup() {
	local code=$1 pid
	set +eE
	trap - ERR EXIT
	for pid in "${JOBS[@]}"; do
		(stop "$pid") || kill -KILL "$pid"
		wait "$pid" 2>/dev/null
	done
	[ $CHECK_OBJECTS = 0 ] || check_objects || [ "$code" != 0 ] || code=1
	take_down || [ "$code" != 0 ] || code=1
	exit "$code"
}

# ---- the two namespaces --------------------------------------------------------

# netns_add NAME...: without anything in them.
netns_add() {
	local name batch=
	for name; do
		at_exit "[ ! -e /run/netns/$name ] || ip netns delete $name"
		batch+="netns add $name"$'\n'
	done
	ip -batch - <<<"$batch"
}

# netns_make NAME
netns_make() {
	netns_add "$1"
	ip -n "$1" link set lo up
}

# topo_net [MTU]: two namespaces and the veth pair, addresses set, no devices.
topo_net() {
	local mtu=${1:-1500} x
	NS_A=a$RXO_NR NS_B=b$RXO_NR NET_A=va$RXO_NR NET_B=vb$RXO_NR
	IP4_A=10.77.0.1 IP4_B=10.77.0.2 IP6_A=fd77::1 IP6_B=fd77::2
	EXEC_A=(ip netns exec "$NS_A")
	EXEC_B=(ip netns exec "$NS_B")
	netns_add "$NS_A" "$NS_B"
	# Of peers with the same index the kernel thinks that they are one netdev, and tells of
	# their carrier up to a second later.
	ip -n "$NS_A" link add "$NET_A" index 10 mtu "$mtu" type veth \
		peer name "$NET_B" mtu "$mtu" netns "$NS_B"
	for x in A B; do
		local ns=NS_$x net=NET_$x ip4=IP4_$x ip6=IP6_$x
		ip -n "${!ns}" -batch - <<-END
		link set lo up
		address add ${!ip4}/24 dev ${!net}
		address add ${!ip6}/64 dev ${!net} nodad
		link set ${!net} up
		END
	done
	[ "$mtu" -lt 1280 ] || net_ready
}

# net_ready: the link-local addresses, without which nobody is asked for his, come after
# the carrier. (With a smaller MTU there is no IPv6.)
net_ready() {
	wait_for 5 says 'inet6 fe80' in_a ip -6 address show dev "$NET_A" scope link -tentative
	wait_for 5 says 'inet6 fe80' in_b ip -6 address show dev "$NET_B" scope link -tentative
}

# spoil_net OPTIONS...: netem, in both directions of the pair. First the neighbours get to know
# each other: ib_core waits a second for one, and it is asked for once a second, so that one
# packet lost of those would be a QP that cannot be connected.
spoil_net() {
	local mac_a mac_b
	need_tool tc
	need_module sch_netem
	mac_a=$(in_a cat "/sys/class/net/$NET_A/address")
	mac_b=$(in_b cat "/sys/class/net/$NET_B/address")
	in_a ip -batch - <<-END
	neighbour replace $IP4_B lladdr $mac_b nud permanent dev $NET_A
	neighbour replace $IP6_B lladdr $mac_b nud permanent dev $NET_A
	END
	in_b ip -batch - <<-END
	neighbour replace $IP4_A lladdr $mac_a nud permanent dev $NET_B
	neighbour replace $IP6_A lladdr $mac_a nud permanent dev $NET_B
	END
	in_a tc qdisc add dev "$NET_A" root netem "$@"
	in_b tc qdisc add dev "$NET_B" root netem "$@"
}

# dummy_add a|b NAME [ADDRESS/LENGTH]: one more netdev, without a peer.
dummy_add() {
	"in_$1" ip link add "$2" type dummy
	[ $# -lt 3 ] || "in_$1" ip address add "$3" dev "$2"
	"in_$1" ip link set "$2" up
}

# port_state DEVICE: such as "4: ACTIVE".
port_state() {
	local state=gone
	read -r state 2>/dev/null <"/sys/class/infiniband/$1/ports/1/state" || true
	echo "$state"
}

port_is() {
	has_line ": $2\$" "/sys/class/infiniband/$1/ports/1/state"
}

# link_add a|b|host DEVICE NETDEV: as a user would, then wait for the active port.
# The device has to end with the objects that it has then.
link_add() {
	local where=("${EXEC_A[@]}")
	[ "$1" = b ] && where=("${EXEC_B[@]}")
	[ "$1" = host ] && where=(env)
	at_exit "[ ! -e /sys/class/infiniband/$2 ] || rdma link delete $2"
	within 20 "${where[@]}" rdma link add "$2" type "$RXO_LINK_TYPE" netdev "$3"
	wait_for 20 port_is "$2" ACTIVE
	watch_device "$2"
}

# topo_pair [MTU]: all of it, devices included.
topo_pair() {
	topo_net "${1:-1500}"
	DEV_A=rxoA$RXO_NR DEV_B=rxoB$RXO_NR
	link_add a "$DEV_A" "$NET_A"
	link_add b "$DEV_B" "$NET_B"
}

# ---- our own programs ------------------------------------------------------------

# or_short N M: how often; M in a short run.
or_short() {
	echo "$((RXO_SHORT ? $2 : $1))"
}

# program NAME SECONDS OPTIONS...: one of tests/programs, in namespace A; what it
# prints that is not "ok" is shown, all of it goes to a file.
program() {
	run_program in_a "$@"
}

# program_outside NAME SECONDS OPTIONS...: the same in the initial namespace, where
# debugfs is.
program_outside() {
	run_program env "$@"
}

run_program() {
	local space=$1 name=$2 seconds=$3 path=$RXO_BUILD/tests/$2 code=0
	shift 3
	need_file "$path"
	"$space" timeout -k 2 "$seconds" "$path" --dev-a "$DEV_A" --dev-b "$DEV_B" \
		--gid-a "$(gid_index "$DEV_A" "$IP4_A")" \
		--gid-b "$(gid_index "$DEV_B" "$IP4_B")" "$@" >/run/rxo/program 2>&1 || code=$?
	grep -vE '^ok [0-9]+ ([^#]|$)' /run/rxo/program || true
	[ $code != 77 ] || exit 77
	[ $code = 0 ] || fail "$name exited with $code"
}

# ---- GIDs ----------------------------------------------------------------------

# gid_of ADDRESS: sets GID_OF, as sysfs writes it: eight groups of four digits.
gid_of() {
	local group head tail missing groups
	if [[ $1 != *:* ]]; then
		IFS=. read -ra group <<<"$1"
		printf -v GID_OF '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "${group[@]}"
		return
	fi
	head=${1%%::*} tail=
	[[ $1 == *::* ]] && tail=${1#*::}
	IFS=: read -ra head <<<"$head"
	IFS=: read -ra tail <<<"$tail"
	groups=("${head[@]}")
	for ((missing = 8 - ${#head[@]} - ${#tail[@]}; missing > 0; missing--)); do groups+=(0); done
	GID_OF=
	for group in "${groups[@]}" "${tail[@]}"; do
		printf -v GID_OF '%s:%04x' "$GID_OF" $((16#$group))
	done
	GID_OF=${GID_OF#:}
}

# gid_find DEVICE ADDRESS: prints the index of that GID, or returns 1.
gid_find() {
	local gid i dir=/sys/class/infiniband/$1/ports/1/gids
	gid_of "$2"
	for ((i = 0; i < 256; i++)); do
		read -r gid 2>/dev/null <"$dir/$i" || return 1
		[ "$gid" = "$GID_OF" ] || continue
		echo $i
		return
	done
	return 1
}

has_gid() {
	gid_find "$@" >/dev/null
}

# gid_index DEVICE ADDRESS: the same, after it has had time to show up.
gid_index() {
	wait_for 5 has_gid "$1" "$2"
	gid_find "$1" "$2"
}
