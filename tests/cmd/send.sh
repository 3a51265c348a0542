#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# faultline send and demo: good files, bad files, every policy, options that are wrong.
set -u
. tests/cmd/expect.inc

head -c 100000 "$fl" > "$dir/some"
printf x > "$dir/one"
: > "$dir/empty"
head -c 4096 "$fl" > "$dir/page"
i=0
while [ $i -lt 64 ]; do head -c 1048576 /dev/urandom; i=$((i + 1)); done > "$dir/big"

expect 0 'the two are equal' 'a file arrives equal' "$fl" send "$dir/some"
expect 0 'FAULT at 0x' 'the story tells the fault' "$fl" send "$dir/some"
for f in one page some; do
	expect 0 "$(sha256sum < "$dir/$f" | cut -d ' ' -f 1)" \
		"the SHA-256 of $f is what sha256sum says" "$fl" send "$dir/$f"
done
expect 0 'profile qfdb' 'the profile is named' "$fl" send --profile qfdb "$dir/some"
expect 0 'the two are equal' 'one byte' "$fl" send "$dir/one"
expect 0 'the two are equal' 'one page' "$fl" send "$dir/page"
expect 0 'faults 0' 'a warm destination does not fault' "$fl" send --warm "$dir/some"
expect 0 'left on disk' 'a cold source' "$fl" send --cold-source "$dir/some"
expect 0 'the two are equal' 'a cold source in stall mode' \
	"$fl" send --cold-source --policy stall "$dir/some"
for p in part stall pin prefault; do
	for r in page block transfer around:5 double stride majority history; do
		expect 0 'the two are equal' "policy $p, resolve $r" \
			"$fl" send --policy $p --resolve $r "$dir/some"
	done
	expect 0 'the two are equal' "policy $p in threads" \
		"$fl" send --mode threads --policy $p "$dir/some"
done
expect 0 'the two are equal' 'a file of 64 MB' "$fl" send "$dir/big"
expect 0 'is empty' 'an empty file is explained' "$fl" send "$dir/empty"
expect 1 'cannot read' 'a missing file' "$fl" send "$dir/nothing"
expect 1 'a directory' 'a directory' "$fl" send "$dir"
expect 1 'not a regular file' 'a device' "$fl" send /dev/null
if [ "$(id -u)" -ne 0 ]; then
	chmod 0 "$dir/page"
	expect 1 'cannot read' 'an unreadable file' "$fl" send "$dir/page"
else
	expect 1 'cannot read' 'an unreadable file' "$fl" send /proc/self/mem/x
fi
expect 2 'something is missing' 'no file' "$fl" send
expect 2 'too many' 'two files' "$fl" send "$dir/one" "$dir/page"
expect 2 "did you mean '--warm'" 'an unknown option' "$fl" send --wram "$dir/one"
expect 2 'wants a value' 'an option without its value' "$fl" send "$dir/one" --seed
expect 2 'a plain number' 'a seed that is no number' "$fl" send --seed x "$dir/one"
expect 2 "did you mean 'stall'" 'an unknown policy' "$fl" send --policy stal "$dir/one"
expect 2 "did you mean 'lockstep'" 'an unknown mode' "$fl" send --mode lockstp "$dir/one"
expect 2 '--resolve' 'an unknown resolve' "$fl" send --resolve all "$dir/one"
expect 2 "did you mean 'around:N'" 'a plan with a mistake' \
	"$fl" send --resolve arond:4 "$dir/one"
for r in around around: around:0 around:-1 around:257 around:999999 around:4x; do
	expect 2 'from 1 to 256' "resolve $r" "$fl" send --resolve $r "$dir/one"
done
expect 2 'block, without a number' 'a number too many' \
	"$fl" send --resolve block:2 "$dir/one"
expect 0 'resolve around:256' 'as many pages as there may be' \
	"$fl" send --resolve around:256 "$dir/one"
expect 0 'the two are equal' 'a plan in threads' \
	"$fl" send --mode threads --resolve majority "$dir/some"
expect 0 'the two are equal' 'a plan with a number, in processes' \
	"$fl" send --mode processes --resolve around:8 "$dir/some"
expect 2 '--profile' 'an unknown profile' "$fl" send --profile nosuch "$dir/one"
expect 2 '--set' 'an unknown value of the profile' "$fl" send --set link.mps=1 "$dir/one"
expect 2 'cannot write the trace' 'a trace that cannot be written' \
	"$fl" send --trace "$dir/no/such/x" "$dir/one"
expect 2 "did you mean 'send'" 'an unknown subcommand' "$fl" sned
expect 2 'usage:' 'no subcommand' "$fl"
expect 0 'usage:' 'help' "$fl" --help
for c in send run trace demo; do
	expect 0 "usage: faultline $c" "help of $c" "$fl" $c --help
	expect 0 "usage: faultline $c" "the same, asked otherwise" "$fl" help $c
done
expect 0 '  reproduce ' 'help alone tells of all' "$fl" help
expect 2 "did you mean 'send'" 'help of an unknown subcommand' "$fl" help sned
expect 0 'All seven arrived equal' 'the demo' "$fl" demo --out "$dir/demo" "$dir/some"
expect 0 'digraph' 'the demo leaves pictures' cat "$dir/demo/block-sequence.dot"
expect 0 'is empty' 'the demo of an empty file' "$fl" demo --out "$dir/demo" "$dir/empty"
expect 1 'cannot make the folder' 'a demo that cannot write' \
	"$fl" demo --out "$dir/one/demo" "$dir/some"
printf 'board a\n' > "$dir/one.fl"
for c in 'send' "demo --out $dir/demo"; do
	"$fl" $c "$dir/one"
done > "$dir/said"
"$fl" run "$dir/one.fl" >> "$dir/said"
"$fl" run --check "$dir/one.fl" >> "$dir/said"
expect 0 '1 fault for 1 page; 1 block, refused 1 time' 'one of each in the demo' cat "$dir/said"
expect 0 '1 statement, 0 expectations' 'one statement' cat "$dir/said"
expect 1 '' 'of one thing nothing speaks as of many' grep -nE \
	'(^|[^0-9.])1 ([a-z]+ )?(byte|page|fault|block|time|request|statement|event)s' "$dir/said"

"$fl" send --seed 7 --trace "$dir/a.trace" "$dir/some" > /dev/null
"$fl" send --seed 7 --trace "$dir/b.trace" "$dir/some" > /dev/null
expect 0 '' 'the same seed gives the same trace, byte for byte' \
	cmp "$dir/a.trace" "$dir/b.trace"
echo "1..$n"
exit $bad
