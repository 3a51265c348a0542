#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs of rdma-core as Debian has them, unmodified, on two boards: faultline with.
set -u
seed=0
cd "$(dirname "$0")/../.." || exit 2
tools/doctor --have ibv_devinfo ib_write_bw || exit 77
make -s verbs || exit 1
. tests/cmd/expect.inc
export FAULTLINE_DIR="$dir/sockets"
mkdir "$FAULTLINE_DIR"

expect 0 'usage: faultline with' 'help' "$fl" with --help
expect 2 'no program' 'nothing to run' "$fl" with
expect 2 'no program' 'nothing to run behind --' "$fl" with --on a --
expect 127 'nonesuch: No such file' 'no such program' "$fl" with -- nonesuch
expect 2 "'--no'" 'an option that it does not have' "$fl" with --no a -- true
expect 3 '' 'the exit status is that of the program' "$fl" with -- sh -c 'exit 3'
expect 255 'No IB devices found' 'no board' "$fl" with -- ibv_devinfo
expect 1 'no such board is running' 'a board that is not there' \
	"$fl" with --on c -- ibv_devinfo

boards() {	# OPTION...
	"$fl" board "$@" a b > "$dir/board" 2>&1 &
	board=$!
	for _ in $(seq 600); do
		grep -q ready "$dir/board" && return
		sleep 0.1
	done
}

end_boards() {
	kill $board
	wait $board
}

# Both ends of a test of two: the client's output, with single blanks, and its exit status.
two() {	# PROGRAM OPTION...
	timeout 300 "$fl" with --on b -- "$@" -p $port > "$dir/server" 2>&1 &
	local server=$! status n
	for n in $(seq 100); do
		timeout 300 "$fl" with --on a -- "$@" -p $port 127.0.0.1 > "$dir/client" 2>&1
		status=$?
		# The server was not there yet.
		grep -q "Couldn't connect" "$dir/client" || break
		sleep 0.1
	done
	wait $server || status=$?
	tr -s ' ' < "$dir/client"
	[ $status = 0 ] || cat "$dir/server"
	return $status
}

export -f two
export fl dir port=$((20000 + $$ % 10000))
both() {	# STATUS TEXT NAME PROGRAM OPTION...
	expect "$1" "$2" "$3" bash -c 'two "$@"' two "${@:4}"
}

boards
expect 0 'hca_id:	fl_a' 'ibv_devinfo finds one board' "$fl" with --on a -- ibv_devinfo
expect 0 'hca_id:	fl_b' 'ibv_devinfo finds both' "$fl" with -- ibv_devinfo
expect 0 'PORT_ACTIVE' 'its port is up' "$fl" with --on b -- ibv_devinfo -v
expect 0 'port_lid:		2' 'its address is the node, from 1' "$fl" with --on b -- ibv_devinfo
for verb in write read; do
	both 0 ' 65536 100 ' "ib_${verb}_bw" ib_${verb}_bw -n 100
	both 0 ' 8388608 40 ' "ib_${verb}_bw, all sizes, four queue pairs" \
		ib_${verb}_bw -a -q 4 -n 10
	both 0 ' 2 100 ' "ib_${verb}_lat" ib_${verb}_lat -n 100
	both 0 ' 4096 100 ' "ib_${verb}_bw, both ways" ib_${verb}_bw -b -s 4096 -n 100
done
both 0 ' 64 100 ' 'ib_read_lat, which sleeps for each' ib_read_lat -e -s 64 -n 100
both 0 ' 4096 300 ' 'ib_read_bw, asleep, three queue pairs' \
	ib_read_bw -e -q 3 -s 4096 -n 100
for odp in '' --odp; do
	for verb in write read send; do
		both 0 ' 65536 100 ' "ib_${verb}_bw $odp" ib_${verb}_bw $odp -n 100
	done
done
both 0 ' 8 100 ' 'ib_atomic_bw' ib_atomic_bw -n 100
both 0 ' 8388608 10 ' 'ib_send_bw, all sizes' ib_send_bw -a -n 10
both 0 ' 2 100 ' 'ib_send_lat' ib_send_lat -n 100
both 0 ' 4096 100 ' 'ib_send_bw, both ways' ib_send_bw -b -s 4096 -n 100
both 0 ' 4096 300 ' 'ib_send_bw, a shared receive queue' \
	ib_send_bw --use-srq -r 64 -q 3 -s 4096 -n 100
both 0 ' 4096 100 ' 'ib_send_bw, asleep' ib_send_bw -e -s 4096 -n 100
both 0 ' 8 100 ' 'ib_atomic_lat, compare and swap' ib_atomic_lat -A CMP_AND_SWAP -n 100
both 0 '100 iters' 'ibv_rc_pingpong' ibv_rc_pingpong -n 100
both 0 '100 iters' 'ibv_rc_pingpong, on demand and asleep' ibv_rc_pingpong -o -e -n 100
both 0 '100 iters' 'ibv_rc_pingpong, by the new calls' ibv_rc_pingpong -N -n 100
both 0 '100 iters' 'ibv_ud_pingpong, and the bytes' ibv_ud_pingpong -c -n 100
both 0 '100 iters' 'ibv_ud_pingpong, asleep' ibv_ud_pingpong -e -n 100
both 0 ' 1000 100 ' 'ib_send_lat, datagrams' ib_send_lat -c UD -s 1000 -n 100
both 0 ' 4096 100 ' 'ib_send_bw, datagrams' ib_send_bw -c UD -s 4096 -n 100
FAULTLINE_SYSTEM=backup both 0 '100 iters' 'ibv_ud_pingpong with a backup ring' \
	ibv_ud_pingpong -c -n 100
FAULTLINE_SYSTEM=backup both 0 ' 1000 100 ' 'ib_send_lat with a backup ring' \
	ib_send_lat -c UD -s 1000 -n 100
for name in overlap segments events lists arrivals objects datagrams; do
	cc -std=gnu11 -O1 -pthread -o "$dir/$name" tests/verbs/$name.c tests/verbs/rig.c -libverbs || exit 1
done
for system in npf odp2 rxe; do
	for how in odp pinned; do
		FAULTLINE_SYSTEM=$system expect 0 'once each' "order and atomics, $system, $how" \
			timeout 100 "$fl" with --on a -- "$dir/overlap" $((++seed)) $how
		FAULTLINE_SYSTEM=$system expect 0 'in their places' "requests in pieces, $system, $how" \
			timeout 100 "$fl" with --on a -- "$dir/segments" 1 $how
	done
done
for system in npf rxe; do
	FAULTLINE_SYSTEM=$system expect 0 'told once' "asynchronous events, $system" \
		timeout 100 "$fl" with --on a -- "$dir/events"
	FAULTLINE_SYSTEM=$system expect 0 'up to the bad one' "lists of requests, $system" \
		timeout 100 "$fl" with --on a -- "$dir/lists"
	FAULTLINE_SYSTEM=$system expect 0 'what they must' "what completions say, $system" \
		timeout 100 "$fl" with --on a -- "$dir/arrivals"
	FAULTLINE_SYSTEM=$system expect 0 'is refused' "what makes no sense, $system" \
		timeout 100 "$fl" with --on a -- "$dir/objects"
done
for system in npf odp2 rxe droprc 'backup only' 'dropring only'; do
	FAULTLINE_SYSTEM=${system% *} expect 0 'where their handles say' "datagrams, $system" \
		timeout 100 "$fl" with --on a -- "$dir/datagrams" ${system#"${system% *}"}
done
FAULTLINE_SYSTEM=part expect 0 'is refused' 'a pair of blocks that failed says so' \
	timeout 100 "$fl" with --on a -- "$dir/objects" blocks
FAULTLINE_SYSTEM=part both 0 ' 65536 100 ' 'ib_write_bw by blocks' ib_write_bw -n 100
FAULTLINE_SYSTEM=nonesuch expect 1 'no such system; there are: part|' 'a system that is not there' \
	"$fl" with --on a -- ibv_devinfo
timeout 100 "$fl" with --on a -- "$dir/events" end > "$dir/end" 2>&1 &
end=$!
while_alive $end grep -q waiting "$dir/end"
end_boards
expect 0 'board a: 0 of ' 'nothing is left on a' cat "$dir/board"
expect 0 'board b: 0 of ' 'nor on b' cat "$dir/board"
wait $end
expect 0 'the device has ended' 'a program hears of the end of its board' cat "$dir/end"

# A board in each of two processes, joined over UDP.
there=$((30000 + $$ % 10000))
"$fl" board b --first-node 1 --udp 127.0.0.1:$there/127.0.0.1:$((there + 1))/0 > "$dir/far" 2>&1 &
far=$!
"$fl" board a --first-node 0 --udp 127.0.0.1:$((there + 1))/127.0.0.1:$there/1 > "$dir/near" 2>&1 &
near=$!
for _ in $(seq 600); do
	grep -q ready "$dir/far" && grep -q ready "$dir/near" && break
	sleep 0.1
done
both 0 ' 65536 100 ' 'ib_write_bw --odp, over UDP' ib_write_bw --odp -n 100
both 0 ' 4096 100 ' 'ib_read_bw, over UDP' ib_read_bw -s 4096 -n 100
both 0 ' 4096 100 ' 'ib_send_bw, over UDP' ib_send_bw -s 4096 -n 100
both 0 '100 iters' 'ibv_rc_pingpong, over UDP' ibv_rc_pingpong -o -e -n 100
both 0 '100 iters' 'ibv_ud_pingpong, over UDP' ibv_ud_pingpong -c -n 100
kill $far $near
wait $far
wait $near
expect 0 'board b: 0 of ' 'nothing is left of them' cat "$dir/far"

# The program uses 145 pages and may have 60.
boards --frames 256 --process-frames 60
for system in npf odp2 rxe; do
	FAULTLINE_SYSTEM=$system expect 0 'once each' "order and atomics, $system, little memory" \
		timeout 100 "$fl" with --on a -- "$dir/overlap" $((++seed)) odp
done
FAULTLINE_SYSTEM=npf expect 1 'failed: region' 'nobody can pin more than he may have' \
	"$fl" with --on a -- "$dir/overlap" 1 pinned
end_boards
expect 0 'board a: 0 of 256' 'nothing is left there' cat "$dir/board"

echo "1..$n"
exit $bad
