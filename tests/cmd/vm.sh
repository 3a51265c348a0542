#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# faultline vm: what is wrong with a command line is said with what would be right.
# (What it does with guests: tests/unit/window/test_window_vm.c.)
set -u
. tests/cmd/expect.inc

expect 0 'usage: faultline vm' 'help' "$fl" vm --help
expect 0 'memory-backend-file,id=ram,mem-path=DIR/ram,share=on' \
	'help tells what QEMU needs' "$fl" vm --help
expect 0 '  vm ' 'the command is listed' "$fl" --help
expect 2 'something is missing' 'no folder' "$fl" vm
expect 2 'has at most 31 letters' 'a folder that is called like two' \
	"$fl" vm "$dir/a:b"
expect 2 'a path of at most 98 letters' 'a path that no socket can have' \
	"$fl" vm "/$(head -c 200 /dev/zero | tr '\0' x)"
expect 2 'whose name no other has' 'two folders of one name' \
	"$fl" vm "$dir/x" "$dir//x/"
expect 2 'No such file' 'a folder that cannot be made' "$fl" vm "$dir/no/x"
expect 2 'pairs of boards' 'a link with nobody' \
	"$fl" vm --links x:z "$dir/x" "$dir/y"
expect 2 'pairs of boards' 'the same link twice' \
	"$fl" vm --links x:y,y:x "$dir/x" "$dir/y"
expect 2 'a number from 0 to 62' 'two nodes where the fabric has one' \
	"$fl" vm --first-node 63 "$dir/x" "$dir/y"
expect 2 "--udp '127.0.0.1'" 'a link over UDP without a peer' \
	"$fl" vm --udp 127.0.0.1 "$dir/x"
expect 1 'a board of this process or another link has that node' \
	'a link to itself' "$fl" vm --udp 127.0.0.1:47801/127.0.0.1:47802/0 "$dir/x"
expect 2 'unknown option' 'an option of the driver, which is in the guest' \
	"$fl" vm --policy stall "$dir/x"
expect 2 'cannot write the trace' 'a trace that cannot be written' \
	"$fl" vm --trace "$dir/no/trace" "$dir/x"
mkdir -p "$dir/y"
printf x > "$dir/y/card"
expect 1 'is no socket' 'a file in the way of the socket' "$fl" vm "$dir/y"
expect 0 '' 'which is still there' test -s "$dir/y/card"
printf x > "$dir/file"
expect 1 'Not a directory' 'a file instead of a folder' "$fl" vm "$dir/file"

echo "1..$n"
exit $bad
