#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# faultline board and send --mode processes: options that are wrong, sockets, every
# policy, two boards over UDP, a process under gdb and under valgrind.
set -u
. tests/cmd/expect.inc
export FAULTLINE_DIR="$dir/sockets"

head -c 300000 "$fl" > "$dir/some"
printf x > "$dir/one"
: > "$dir/empty"

# --- the main job between processes

expect 0 'the two are equal' 'a file arrives equal' \
	"$fl" send --mode processes "$dir/some"
expect 0 'FAULT at 0x' 'the story tells the fault' \
	"$fl" send --mode processes "$dir/some"
expect 0 'pages brought in 74,' 'as many pages came in as the file has' \
	"$fl" send --mode processes "$dir/some"
expect 0 'the two are equal' 'one byte' "$fl" send --mode processes "$dir/one"
expect 0 'is empty' 'an empty file is explained' \
	"$fl" send --mode processes "$dir/empty"
expect 0 'faults 0' 'a warm destination does not fault' \
	"$fl" send --mode processes --warm "$dir/some"
for p in part stall pin prefault; do
	for r in page block transfer; do
		expect 0 'the two are equal' "policy $p, resolve $r" \
			"$fl" send --mode processes --policy $p --resolve $r \
			"$dir/some"
	done
done
expect 0 'the two are equal' 'a cold source in stall mode' \
	"$fl" send --mode processes --cold-source --policy stall "$dir/some"
expect 0 'the two are equal' 'the trace is kept' \
	"$fl" send --mode processes --trace "$dir/trace" "$dir/some"
expect 0 'LIB_COMPLETE' 'it tells what the library did in another process' \
	cat "$dir/trace"
expect 0 'as many' 'each request is posted, and its completion taken' \
	sh -c '[ $(grep -c LIB_POST "$0") = $(grep -c LIB_COMPLETE "$0") ] && echo as many' \
	"$dir/trace"
expect 0 'the two are equal' 'packets are kept' \
	"$fl" send --mode processes --pcap "$dir/pcap" "$dir/some"
expect 0 '' 'all of them' sh -c 'test $(wc -c < "$0") -gt 600000' "$dir/pcap"
expect 0 'pages brought in 0,' 'a warm destination over UDP' \
	"$fl" send --mode processes --udp --warm "$dir/some"
expect 0 'refused 19, sent again 19,' 'a cold one' \
	"$fl" send --mode processes --udp "$dir/some"
expect 0 'the two are equal' 'over UDP' \
	"$fl" send --mode processes --udp "$dir/some"
expect 0 'the two are equal' 'over UDP, with a cold source, held' \
	"$fl" send --mode processes --udp --cold-source --policy stall \
	"$dir/some"
expect 2 'goes with --mode processes' 'UDP inside one process' \
	"$fl" send --udp "$dir/some"
expect 2 "--policy 'netvm'; wanted: a system whose packets cross a link" \
	'fragments of NetVM and a link' \
	"$fl" send --mode processes --udp --policy netvm "$dir/some"
expect 2 "--policy 'netvm'; wanted: a system whose packets cross a link" \
	'boards for them, and a link' \
	"$fl" board --policy netvm --udp 127.0.0.1:7001/127.0.0.1:7002/1 a

# --- options

expect 0 'usage: faultline board' 'help' "$fl" board --help
expect 2 'something is missing' 'no board' "$fl" board
expect 2 'a name of at most 31' 'a name with a blank' "$fl" board 'a b'
expect 2 'a name that is not given twice' 'one name twice' "$fl" board a a
expect 2 "a path with a '/'" 'a path that is none' "$fl" board a=b
mkdir -p "$dir/run/faultline"
chmod 777 "$dir/run/faultline"
expect 2 'set FAULTLINE_DIR' 'a folder for the socket that all may write to' \
	env -u FAULTLINE_DIR XDG_RUNTIME_DIR="$dir/run" "$fl" board a
expect 2 'File name too long' 'a path that no socket can have' \
	"$fl" board "a=/$(head -c 200 /dev/zero | tr '\0' x)"
expect 2 'a number from 64' 'no memory' "$fl" board --frames 1 a
expect 2 'a number from' 'memory in words' "$fl" board --frames many a
expect 2 'a number from 0 to 63' 'a node that no fabric has' \
	"$fl" board --first-node 64 a
expect 2 'pairs of boards' 'a link with nobody' "$fl" board --links a:c a b
expect 2 'pairs of boards' 'a link with itself' "$fl" board --links a:a a b
expect 2 'wanted: part, stall' 'a policy that is none' "$fl" board --policy none a
expect 2 'is not of the form' 'a UDP link without a peer' \
	"$fl" board --udp 127.0.0.1 a
expect 1 '--first-node' 'a UDP link to the own node' \
	"$fl" board --udp 127.0.0.1:7001/127.0.0.1:7002/0 a
printf x > "$dir/file"
expect 1 'is no socket' 'a file in the way of the socket' \
	"$fl" board "a=$dir/file"
expect 0 '' 'which is still there' test -s "$dir/file"
expect 1 'a: ' 'a folder that cannot be made' \
	"$fl" board "a=$dir/file/x/a.sock"

# --- boards that run

wait_for()	# TEXT FILE
{
	i=0
	while [ $i -lt 200 ] && ! grep -q "$1" "$2"; do
		sleep 0.1
		i=$((i + 1))
	done
}

"$fl" board a b > "$dir/said" 2>&1 &
board=$!
trap 'kill $board 2>/dev/null; wait $board 2>/dev/null; rm -rf "$dir"' EXIT INT TERM
wait_for ready "$dir/said"
expect 0 'srw------- ' 'the folder and the socket are the user'"'"'s own' \
	sh -c 'ls -ld "$0"; ls -l "$0"' "$FAULTLINE_DIR"
expect 1 '' 'nobody else may enter' \
	sh -c 'ls -ld "$0" | grep -v "^drwx------"' "$FAULTLINE_DIR"
expect 1 'is running already' 'a second board of one name' "$fl" board b
rm "$FAULTLINE_DIR/b.sock.lock"
expect 1 'is running already' 'a second board, the lock of the first deleted' \
	"$fl" board b

# A user's program: the library, nothing else.
expect 0 '' 'a program is compiled' "${CC:-cc}" -std=gnu11 -g -Wall -Wextra \
	-Ilib -Ikernel-ref/include -pthread -o "$dir/write" \
	lib/examples/write.c build/plain/libfaultline.a
expect 0 'every byte is the same' 'it runs' "$dir/write" emu:a
expect 1 'no such file' 'a board that does not exist' "$dir/write" emu:none
expect 0 'every byte is the same' 'it runs with a path' \
	"$dir/write" "emu:$FAULTLINE_DIR/b.sock"
expect 0 'exited normally' 'under gdb, which passes the signal on' \
	gdb -batch -ex 'handle SIGSEGV nostop noprint pass' -ex run \
	--args "$dir/write" emu:a
expect 0 'ERROR SUMMARY: 0 errors' 'under memcheck' \
	valgrind --vex-iropt-register-updates=allregs-at-mem-access \
	--error-exitcode=9 "$dir/write" emu:a
expect 0 'every byte is the same' 'with standard input and output closed' \
	sh -c '"$0" emu:a <&- | cat' "$dir/write"
kill -TERM $board
wait $board
expect 0 '' 'the boards ended in order' test $? -eq 0
expect 0 'board a: 0 of ' 'and nothing was left in a' cat "$dir/said"
expect 0 'board b: 0 of ' 'nor in b' cat "$dir/said"
expect 1 '' 'the sockets are gone' \
	sh -c 'ls -A "$0" | grep .' "$FAULTLINE_DIR"

echo "1..$n"
exit $bad
