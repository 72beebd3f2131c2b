# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# perftest between the two namespaces: each program over IPv4 and IPv6, at MTU 1500
# and 9000, at sizes on both sides of the path MTU; and with completion events.
#
# The sizes of a case run side by side, each on a TCP port of its own: perftest
# spends most of its time sleeping and calibrating.

SIZES=(2 4095 4096 65536 1048579)
FIRST_PORT=18515

# perftest_find_gids FAMILY
perftest_find_gids() {
	local a=IP${1#ipv}_A b=IP${1#ipv}_B
	GID_A=$(gid_index "$DEV_A" "${!a}")
	GID_B=$(gid_index "$DEV_B" "${!b}")
}

# perftest_start a|b PROGRAM SIZE PORT OPTIONS...: sets JOB and JOB_OUT.
perftest_start() {
	local side=$1 program=$2 size=$3 port=$4
	local device=DEV_${1^} gid=GID_${1^}
	shift 4
	start "$side" 40 "$program" -d "${!device}" -x "${!gid}" -F -s "$size" -p "$port" "$@"
}

# perftest_result OUTPUT SIZE: a bandwidth or a latency above zero.
perftest_result() {
	local line
	line=$(grep -E "^ *$2 +[0-9]+ +" "$1") || fail "no result for $2 bytes: $(cat "$1")"
	says '[1-9]' echo "${line#*"$2"}" || fail "nothing but zeros for $2 bytes: $line"
	echo "$line"
}

# perftest_sizes PROGRAM FAMILY MTU OPTIONS...: servers in B, clients in A; all must
# succeed and the clients must report a result. Atomics have one size.
perftest_sizes() {
	local program=$1 family=$2 mtu=$3 i port servers=() clients=() outputs=()
	local sizes=("${SIZES[@]}")
	[[ $program != ib_atomic_* ]] || sizes=(8)
	shift 3
	need_tool "$program"
	topo_pair "$mtu"
	perftest_find_gids "$family"
	for i in "${!sizes[@]}"; do
		perftest_start b "$program" "${sizes[i]}" $((FIRST_PORT + i)) -n 10 "$@"
		servers+=("$JOB")
	done
	for i in "${!sizes[@]}"; do
		port=$((FIRST_PORT + i))
		wait_for 15 listening "${servers[i]}" "$port"
		perftest_start a "$program" "${sizes[i]}" "$port" -n 10 "$@" "$IP4_B"
		clients+=("$JOB")
		outputs+=("$JOB_OUT")
	done
	for i in "${!sizes[@]}"; do
		finish "${clients[i]}" 40 || fail "$program, ${sizes[i]} bytes, client: $(cat "${outputs[i]}")"
		finish "${servers[i]}" 10 || fail "$program, ${sizes[i]} bytes: the server failed"
		perftest_result "${outputs[i]}" "${sizes[i]}"
	done
}

# perftest_case KIND FAMILY MTU: defines the cases of one program.
perftest_case() {
	eval "case_perftest_${1}_${2}_$3() {
		perftest_sizes ib_$1 $2 $3
	}"
}

# Each program in both worlds; the other two mixtures differ below the transport only.
for program in send_bw send_lat write_bw write_lat read_bw read_lat atomic_bw atomic_lat; do
	perftest_case $program ipv4 1500
	perftest_case $program ipv6 9000
done
perftest_case send_bw ipv4 9000
perftest_case send_bw ipv6 1500
unset program

case_perftest_atomic_bw_compare() { perftest_sizes ib_atomic_bw ipv4 9000 -A CMP_AND_SWAP; }
case_perftest_atomic_lat_compare() { perftest_sizes ib_atomic_lat ipv4 1500 -A CMP_AND_SWAP; }

# With events. (Not the others: the write tests have no event mode, and ib_send_lat
# takes it for granted that an acknowledgement arrives before the answer.)
case_perftest_events_send_bw_1500() { perftest_sizes ib_send_bw ipv4 1500 -e; }
case_perftest_events_send_bw_9000() { perftest_sizes ib_send_bw ipv6 9000 -e; }
case_perftest_events_read_bw() { perftest_sizes ib_read_bw ipv4 1500 -e; }
case_perftest_events_read_lat() { perftest_sizes ib_read_lat ipv6 9000 -e; }
