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
		if (unit !~ /^(ns|times|GB\/s|CPUs|MB|Minstr\.)$/) wrong("unit")
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
expect 2 'no group nonesuch; there are: boards processes verbs ' 'a group that is not there' \
	$bench nonesuch
for seeds in x 2 -5 9999999 3x ''; do
	BENCH_SEEDS=$seeds expect 1 "BENCH_SEEDS=$seeds: not a number from 3" \
		"seeds '$seeds'" $bench seeds
done
BENCH_SWARM=nonesuch expect 0 'no figures: nonesuch is missing' 'no swarm' $bench seeds
expect 0 'no figures: ib_send_lat is missing (package perftest)' 'no perftest' \
	$without $bench verbs

expect 0 '' 'boards' $bench -o "$dir/boards" boards
expect 0 '' 'their table' bash -c 'well_formed "$@"' - "$dir/boards" 2
FAULTLINE=nonesuch expect 0 'no figures: nonesuch is missing' 'no boards' $bench boards
BENCH_SEEDS=3 expect 0 'valgrind is not here' 'three seeds' \
	$without $bench -o "$dir/seeds" seeds
expect 0 '' 'their table' bash -c 'well_formed "$@"' - "$dir/seeds" 4

# The same as CSV and as a picture, and where they are.
expect 0 "table: $dir/forms.txt" 'where the table is' \
	$without $bench -o "$dir/forms.txt" models
cp "$dir/out" "$dir/said"
expect 0 "figures: $dir/forms.csv" 'where the figures are' cat "$dir/said"
expect 0 "picture: $dir/forms.svg" 'where the picture is' cat "$dir/said"
csv_well_formed() {	# FILE ROWS
	awk -v rows="$2" '
	function wrong(what) { printf "line %d: %s: %s\n", NR, what, $0; bad = 1 }
	NR == 1 {
		if ($0 != "group,figure,unit,median,min,max,target,met,note") wrong("head")
		next
	}
	{
		s = $0
		for (n = 1; match(s, /^("([^"]|"")*"|[^",]*),/); n++) {
			field[n] = substr(s, 1, RLENGTH - 1)
			s = substr(s, RLENGTH + 1)
		}
		if (n != 9 || s !~ /^"([^"]|"")*"$/) wrong("fields")
		if (field[4] != "" && (field[5] + 0 > field[4] + 0 || field[4] + 0 > field[6] + 0))
			wrong("median and range")
		if (field[7] !~ /^([<>]= [0-9.]+)?$/) wrong("target")
		if (field[8] !~ /^(yes|no)?$/) wrong("met")
	}
	END { if (NR - 1 != rows) { print NR - 1 " rows, not " rows; bad = 1 } exit bad }' "$1"
}
# Each element ends that begins, and all is text; more of it with xmllint.
svg_well_formed() {	# FILE
	if type -P xmllint >/dev/null; then xmllint --noout "$1" || return; fi
	awk '
	{
		s = $0
		while (match(s, /<[^>]*>/)) {
			tag = substr(s, RSTART + 1, RLENGTH - 2)
			s = substr(s, RSTART + RLENGTH)
			if (tag ~ /\/$/) continue
			name = tag
			sub(/^\//, "", name)
			sub(/ .*/, "", name)
			if (tag !~ /^\//) open[++depth] = name
			else if (open[depth--] != name) { print NR ": " $0; bad = 1 }
		}
	}
	/&/ && !/&(amp|lt|gt);/ { print NR ": " $0; bad = 1 }
	END { exit bad || depth || NR < 20 }' "$1"
}
export -f csv_well_formed svg_well_formed
expect 0 '' 'the figures' bash -c 'csv_well_formed "$@"' - "$dir/forms.csv" 11
expect 0 '' 'the picture' bash -c 'svg_well_formed "$@"' - "$dir/forms.svg"
expect 0 '"8 B write, post to completion, inline: through engine and wire"' \
	'a row below another has the name of both' cat "$dir/forms.csv"
expect 2 'No such file' 'no such folder' $bench -o "$dir/none/x/forms.txt" models
mkdir "$dir/taken.csv"
expect 1 "$dir/taken.csv: Is a directory" 'no place for the figures' \
	$without $bench -o "$dir/taken.txt" models

# Instructions beside those on record, of the path that takes the least time.
counts() {	# LINE...: make the file
	printf '%s\n' "$@" > "$dir/counts"
}
compare="$bench --counts $dir/counts"
counts 'built another one' 'hit 300'
expect 77 'SKIP: valgrind is missing' 'no valgrind' $without $compare hit
if tools/doctor --have valgrind > /dev/null; then
	expect 77 "counts has counts of another one; this is " 'another compiler' $compare hit
	built="built $(sed -n 's/.*; this is //p' "$dir/out")"
	counts "$built" 'hit 1'
	expect 1 'GROWN' 'one instruction is not enough' $compare hit
	now=$(awk '/^hit/ { print $3 }' "$dir/out")
	counts "$built" "hit $now"
	expect 0 'none of 1 has grown' 'a count as it is' $compare hit
	counts "$built" "hit $((now * 95 / 100))"
	expect 1 '1 of 1 grown by more than 3 %' 'a count lowered by 5 %' $compare hit
	counts "$built" "hit $((now * 98 / 100))"
	expect 0 'none of 1 has grown' 'a count lowered by 2 %' $compare hit
	counts "$built" "hit $((now * 105 / 100))"
	expect 0 'shrunk by more than 3 %: make bench-counts RECORD=yes' \
		'a count raised by 5 %' $compare hit
	expect 1 'not on record' 'a path that is not on record' $compare packed
	expect 1 'no path is called nonesuch; there are' 'a path that is not there' $compare nonesuch
	expect 1 'no path is called nonesuch' 'the same beside one that is' $compare hit nonesuch
	counts "$built" 'nonesuch 5'
	expect 1 'counts:2: no path is called nonesuch' 'a count of nothing' $compare hit
	counts "$built" 'hit 5 6'
	expect 1 'counts:2: not a path and its instructions' 'a line too long' $compare hit
	: > "$dir/counts"
	expect 1 'counts does not say what it was counted with' 'an empty file' $compare hit
	expect 1 'No such file' 'no file' $bench --counts "$dir/none/counts" hit
	few='--few 10 --many 1010'
	expect 0 'SMMU' 'which parts they are in' tests/bench/parts $few hit packed
	cp "$dir/out" "$dir/said"
	expect 0 "in all                                  $now" 'and how many they are' \
		cat "$dir/said"
	expect 0 'emu/smmu/translate.c' 'which files' tests/bench/parts --files $few hit
	expect 1 'nothing is called nonesuch' 'parts of nothing' tests/bench/parts nonesuch
	expect 2 'tests/bench/parts [--files]' 'no path' tests/bench/parts --files
else
	skip 'instructions on record' 'no valgrind'
fi

# A peer of ours, which is built where libfabric's headers are.
if tools/doctor --have header:rdma/fabric.h > /dev/null; then
	peer=build/plain/bench/fabric_write
	expect 0 '' 'writes by libfabric' make -s WERROR=-Werror $peer
	expect 0 '.' 'so many ns one way' $peer 8 1
	expect 0 '.' 'so many ns each' $peer 8 32
	expect 2 'usage: fabric_write BYTES DEPTH' 'no depth' $peer 8
else
	skip 'writes by libfabric' 'no libfabric-dev'
fi

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
