#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make hello: one fault is told in a few lines, and where the picture is.
set -u
cd "$(dirname "$0")/../.."
. tests/cmd/expect.inc

tools/hello "$dir/a" > "$dir/told" 2>&1
expect 0 '' 'hello ends well' test $? = 0
expect 0 '' 'hello needs at most 30 lines' test "$(wc -l < "$dir/told")" -le 30
for what in 'post WRITE 4 KB' '! peer.s SMMU .*FAULT at 0x' 'REFUSED: pages are missing' \
	'+ peer.s driver .*kernel: 1 page in' 'READY: send block 1 again' \
	'ACK: block 1 has landed' 'completion: ok'; do
	expect 0 '' "hello tells: $what" grep -q -e "$what" "$dir/told"
done
if command -v dot > /dev/null; then
	expect 0 "$dir/a/sequence.svg" 'it says where the picture is' cat "$dir/told"
	expect 0 '' 'and there it is' grep -q 'REFUSED' "$dir/a/sequence.svg"
	for kind in sequence walk; do
		expect 0 '' "whole: $kind" grep -q 'scale(1 1)' "$dir/a/$kind.svg"
	done
fi

# A machine with no more than is needed.
mkdir "$dir/bin"
for tool in sh cat dirname mkdir rm grep; do ln -s "$(command -v $tool)" "$dir/bin/"; done
expect 0 "$dir/b/sequence.dot" 'without Graphviz there is what it would draw' \
	env PATH="$dir/bin" tools/hello "$dir/b"
expect 0 'digraph' 'and it is there' cat "$dir/b/walk.dot"
expect 1 'no transfer 999 in this trace; there is only 1' 'a story of a transfer that is not there' \
	"$fl" trace --story --xfer 999 "$dir/a/one.trace"
"$fl" run --trace "$dir/cold" tests/scenario/write_cold_page.fl > "$dir/ran"
expect 0 'other blocks:' 'of many blocks one is told, the others are counted' \
	"$fl" trace --story "$dir/cold"
echo "1..$n"
exit $bad
