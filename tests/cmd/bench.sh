#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The table of make bench: well formed, and one line for what is missing. No time is looked at.
set -u
cd "$(dirname "$0")/../.." || exit 2
make -s bench-programs || exit 1
. tests/cmd/expect.inc
bench=build/plain/bench/bench
export FAULTLINE=$fl
# Folders for PATH: with nothing, and with perftest alone.
mkdir "$dir/none" "$dir/some"

without="/usr/bin/env PATH=$dir/none"
perftest_alone="/usr/bin/env PATH=$dir/some"

# Each line is a row, a title, or a line of prose; a row's columns hold what they should.
well_formed() {	# TABLE ROWS
	awk -v rows="$2" '
	function wrong(what) { printf "line %d: %s: %s\n", NR, what, $0; bad = 1 }
	NR == 1 { if (!/^figure +unit +median +min..max +trace +target +met/) wrong("head"); next }
	/^$/ { title = 1; next }
	title { title = 0; if (!/^  /) next }
	/^  [^ ]/ && substr($0, 45, 10) !~ /^ [A-Za-z.\/]+ *$/ { next }
	{
		unit = substr($0, 46, 9); met = substr($0, 102, 4)
		median = substr($0, 56, 8); range = substr($0, 65, 17)
		gsub(/ /, "", unit); gsub(/ /, "", median); gsub(/ /, "", range); gsub(/ /, "", met)
		if (unit !~ /^(ns|times|GB\/s|CPUs|Minstr\.)$/) wrong("unit")
		if (met !~ /^(yes|NO|-)$/) wrong("met")
		if (median == "-" && range == "-") { seen++; next }
		n = split(range, end, /\.\./)
		if (median !~ /^[0-9.]+$/ || n != 2 || end[1] + 0 > median + 0 ||
		    median + 0 > end[2] + 0) wrong("median and range")
		seen++
	}
	END { if (seen != rows) { print seen + 0 " rows, not " rows; bad = 1 } exit bad }' "$1"
}
export -f well_formed

expect 0 'evict 1 clean page' 'testbeds that the benches run end as they should' $bench faults
expect 2 'no group nonesuch; there are: processes verbs ' 'a group that is not there' \
	$bench nonesuch
for seeds in x 2 -5 9999999 3x ''; do
	BENCH_SEEDS=$seeds expect 1 "BENCH_SEEDS=$seeds: not a number from 3" \
		"seeds '$seeds'" $bench seeds
done
BENCH_SWARM=nonesuch expect 0 'no figures: nonesuch is missing' 'no swarm' $bench seeds
expect 0 'no figures: ib_send_lat is missing (package perftest)' 'no perftest' \
	$without $bench verbs

BENCH_SEEDS=3 expect 0 'valgrind is not here' 'three seeds' \
	$without $bench -o "$dir/seeds" seeds
expect 0 '' 'their table' bash -c 'well_formed "$@"' - "$dir/seeds" 4

if tools/doctor --have ib_write_bw header:infiniband/verbs.h > /dev/null; then
	ln -s "$(type -P env)" "$(type -P true)" "$(type -P ib_send_lat)" \
		"$(type -P ib_write_bw)" "$dir/some"
	FAULTLINE=nonesuch expect 0 'no figures: sh: ' 'no program that runs perftest' \
		$perftest_alone $bench verbs
	make -s verbs || exit 1
	expect 0 'missing: package libfabric-bin' 'perftest on boards, no peer' \
		$perftest_alone $bench -o "$dir/verbs" verbs
	expect 0 '' 'its table' bash -c 'well_formed "$@"' - "$dir/verbs" 12
else
	skip 'perftest on boards' 'no perftest, or no libibverbs-dev'
fi

echo "1..$n"
exit $bad
