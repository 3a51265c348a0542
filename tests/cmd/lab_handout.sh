#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a course gives out works where nothing else is: the handout in an empty folder
# without a network, the autograder's zip as Gradescope unpacks it.
set -u
. tests/cmd/expect.inc
tree=$PWD
export CFLAGS=-O0	# tests of the kit, not of the compiler

# No network, where that can be had.
alone=
unshare -rn true 2> /dev/null && alone="unshare -rn"

tools/lab/handout walk "$dir/handout.tar.gz" > "$dir/said" 2>&1
mkdir "$dir/empty"
tar -C "$dir/empty" -xzf "$dir/handout.tar.gz"
work=$dir/empty/faultline-walk
expect 1 '' 'no right solution, planted bug or hidden test is in the handout' \
	sh -c "find $work/labs $work/tools | grep -e right -e bugs -e hidden -e cheats -e '/check\$'"
expect 1 '' 'nor the reference' grep -r 'APT_NOUSER | DESC_APT_RDONLY' "$work"
cd "$work" || exit 2
make_it() { timeout 280 $alone make -s -j2 "$@" > "$dir/built" 2>&1; }
make_it lab-walk
expect 2 'score 0 of 100' 'it builds there, and the starter gets what it should' \
	$alone make -s grade LAB=walk
expect 0 '4 tests are hidden, 13 points, not here' 'hidden tests are counted' \
	sh -c "make -s grade LAB=walk | tail -n 5"
cp "$tree/emu/smmu/walk.c" "$tree/emu/smmu/tlb.c" emu/smmu/
make_it lab-walk
expect 0 'score 87 of 100' 'with the reference in its place all that is there passes' \
	$alone make -s grade LAB=walk
expect 0 'the two are equal' 'and the whole system works on it' \
	sh -c "make -s -j2 && build/faultline send README.md"
cd "$tree" || exit 2

if command -v zip > /dev/null && command -v unzip > /dev/null; then
	tools/lab/gradescope walk "$dir/auto.zip" 7 > "$dir/said" 2>&1
	mkdir -p "$dir/g/source" "$dir/g/submission"
	unzip -q -d "$dir/g/source" "$dir/auto.zip"
	export AUTOGRADER="$dir/g/source"
	timeout 280 $alone "$AUTOGRADER/setup.sh" > "$dir/said" 2>&1
	cp emu/smmu/walk.c emu/smmu/tlb.c "$dir/g/submission/"
	expect 0 'score 100 of 100' 'the autograder runs' $alone "$AUTOGRADER/run_autograder"
	expect 0 '"score": 100' 'and leaves its results' cat "$dir/g/results/results.json"
	expect 1 '' 'the hidden tests are not there to be read' \
		sh -c "find $dir/g | grep hidden"
	cp "$AUTOGRADER/tree/emu/smmu/tlb.c" "$dir/g/submission/"
	expect 0 'fill' 'another submission, another score' $alone "$AUTOGRADER/run_autograder"
	expect 1 '' 'which is not 100' grep '"score": 100' "$dir/g/results/results.json"
fi
exit $bad
