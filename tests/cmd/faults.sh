#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The environment fails: no memory, no thread, a full disk, streams that are closed, a signal at
# any moment. What a command does then. `make faults` has more of what jobs.c tries here.
. tests/cmd/expect.inc

make -s fault-programs >&2 || exit 1
jobs="build/plain/faults/jobs"
with="$fl build/plain/faults/inject.so build/plain/faults/pair build/plain/faults/guests
	build/plain/labs/driver/grade labs/driver build/plain/faults/subject"

# --- a call of the C library fails: each place once

some="run, lockstep;run, processes;run --check;help;trace;equal;attach;boards;vm;reproduce;grade"
expect 0 'ok 1 - run, lockstep' 'each place where a command calls the C library fails once' \
	$jobs --only "$some" $with
grep '^#' "$dir/out"
expect 0 'ok 1 - run, processes' 'INT and KILL at each such place leave nothing' \
	$jobs --signals --class process --only 'processes;UDP' $with
expect 0 'ok 1 - run, processes' 'nor where a name is made or removed' \
	$jobs --signals --class name --only 'processes' $with

# --- memory that is short, in all three modes

cat >"$dir/huge.fl" <<'END'
board a frames=64 swap=16
process p on a
buffer x in p 2M fill=random
END
for mode in lockstep threads; do
	expect 1 'process p on board a: no page comes to 0x' "no frame, $mode: who, where and why" \
		"$fl" run --mode $mode "$dir/huge.fl"
	cp "$dir/out" "$dir/said"
	expect 0 'huge.fl:3:1: FAILED: buffer x in p 2M' 'and in which line' cat "$dir/said"
done
expect 1 'has no frame left, and no room in swap: no page comes to 0x' 'no frame, processes' \
	"$fl" run --mode processes "$dir/huge.fl"
cp "$dir/out" "$dir/said"
expect 0 'huge.fl:3:1: FAILED: buffer x in p 2M' 'and in which line' cat "$dir/said"
for mode in lockstep threads processes; do
	for kb in 60000 200000 500000; do
		(ulimit -v $kb && exec "$fl" run --mode $mode tests/scenario/write_cold.fl) \
			>"$dir/said" 2>&1
		how=$?
		expect 0 'memory' "$kb KB of addresses, $mode: said" \
			sed 's/ENOMEM/no memory/' "$dir/said"
		expect 0 '' "and an ordinary exit status ($how)" test $how -eq 1 -o $how -eq 2
	done
done

# --- streams: output that is lost is an error, and a stream that was closed is nobody else's

if [ -w /dev/full ]; then
	for c in --help 'run --help' 'run --language' 'run tests/scenario/write_cold.fl' \
		"send $dir/huge.fl" "send --mode processes $dir/huge.fl" \
		"demo --out $dir/demo $dir/huge.fl" 'board a=/dev/null/x'; do
		"$fl" $c >/dev/full 2>"$dir/said"
		how=$?
		expect 0 '' "$c to a full disk: status $how" test $how -ne 0
		expect 0 '' 'and a message' test -s "$dir/said"
	done
fi
closed()	# COMMAND...: all three streams closed, then standard output alone
{
	"$fl" "$@" <&- >&- 2>&-
	how=$?
	expect 0 '' "$1, all streams closed: status $how" test $how -eq 1
	"$fl" "$@" <&- >&- 2>"$dir/said"
	expect 0 'cannot write to standard output' 'what is lost is said' cat "$dir/said"
	"$fl" "$@" <&- 2>&- >"$dir/said"
	how=$?
	expect 0 '' "$1 without standard input and error works" test $how -eq 0 -a -s "$dir/said"
}
closed run --trace "$dir/closed.trace" tests/scenario/write_cold.fl
"$fl" run --trace "$dir/open.trace" tests/scenario/write_cold.fl >"$dir/said"
expect 0 '' 'and its trace is the same' cmp "$dir/closed.trace" "$dir/open.trace"
closed run --mode processes tests/scenario/write_cold.fl
closed send "$dir/huge.fl"
closed send --mode processes "$dir/huge.fl"
"$fl" send --mode processes "$dir/huge.fl" <&- >"$dir/said" 2>&1
expect 0 'the two are equal' 'processes find each other without standard input' cat "$dir/said"

# --- folders: of a dead run they go, of a live one and of others they stay

mkdir "$dir/tmp" "$dir/tmp/faultline-run.locked" "$dir/tmp/faultline-run.dead00" \
	"$dir/tmp/faultline.other0"
touch "$dir/tmp/faultline-run.dead00/0.sock"
if command -v flock >/dev/null; then
	flock "$dir/tmp/faultline-run.locked" env TMPDIR="$dir/tmp" "$fl" run --mode processes \
		tests/scenario/write_cold.fl >"$dir/said"
	expect 0 'faultline-run.locked faultline.other0' 'only what nobody has is removed' \
		echo $(ls "$dir/tmp")
else
	skip 'only what nobody has is removed' 'no flock'
fi
echo "1..$n"
exit $bad
