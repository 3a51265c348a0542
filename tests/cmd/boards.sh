#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# checks: all
#
# A fabric of 64 boards, each of which writes to the next: in lockstep (the same trace twice)
# and in threads; and what is refused beyond.
cd "$(dirname "$0")/../.." || exit 2
. tests/cmd/expect.inc

# A ring of N boards with a process on each.
ring() {
	awk -v n="$1" 'BEGIN {
		for (i = 0; i < n; i++) print "board n" i
		for (i = 0; i < n; i++) print "link n" i " n" (i + 1) % n
		for (i = 0; i < n; i++) {
			print "process p" i " on n" i
			print "buffer s" i " in p" i " 24K fill=random"
			print "buffer d" i " in p" i " 24K cold"
			print "region s" i
			print "region d" i
		}
		for (i = 0; i < n; i++)
			print "connect p" i " p" (i + 1) % n " as c" i
		for (i = 0; i < n; i++)
			print "post w" i ": write c" i " s" i " -> d" (i + 1) % n
		for (i = 0; i < n; i++) {
			print "wait w" i
			print "expect status w" i " ok"
			print "expect data d" (i + 1) % n " = s" i
		}
	}'
}

ring 64 >"$dir/ring.fl"
ring 65 >"$dir/more.fl"
udp=127.0.0.1:4790/127.0.0.1:4792
expect 0 "ring.fl: passed" "64 boards in lockstep" \
	$fl run --trace "$dir/1.trace" "$dir/ring.fl"
expect 0 "" "once more" $fl run --trace "$dir/2.trace" "$dir/ring.fl"
expect 0 "" "with the same trace" cmp "$dir/1.trace" "$dir/2.trace"
expect 0 "ring.fl: passed" "64 boards in threads" $fl run --mode threads "$dir/ring.fl"
expect 1 "a fabric has at most 64 boards" "the 65th is refused" $fl run "$dir/more.fl"
expect 1 "boards that have a link are nodes 0 to 15" "no link over UDP for others" \
	$fl board --first-node 16 --udp $udp/0 "x=$dir/socket"
expect 2 "'16' is not a node (0 to 15)" "nor to others" \
	$fl board --udp $udp/16 "x=$dir/socket"
exit $bad
