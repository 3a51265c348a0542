#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a course gives out works where nothing else is: the handout in an empty folder
# without a network, the autograder's zip as Gradescope unpacks it.
#
#	STEPPED=build/step-7/device	of that stepping: make stepping-labs
#	LABS="walk bank"		these labs only
set -u
. tests/cmd/expect.inc
. tests/cmd/sheet.inc
tree=$PWD
device=${STEPPED:-}
unset STEPPED	# make in the handout would take it for its own
export CFLAGS=-O0	# tests of the kit, not of the compiler
# LABS=... of the make that runs this would hold for each make in a handout.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

# No network, where that can be had.
alone=
unshare -rn true 2> /dev/null && alone="unshare -rn"

# In a handout that is built, with the reference: all that the lab's sheet names is there, its
# commands run, and its questions have something to look at.
run_sheet()	# LAB
{
	sheet=labs/$1/README.adoc
	for path in $(sheet_paths "$sheet"); do
		expect 0 '' "$1's sheet names $path" test -e "$path"
	done
	build/faultline run --trace t.trace tests/scenario/write_cold.fl > "$dir/said" 2>&1
	sheet_commands "$sheet" > "$dir/commands"
	for path in $(sheet_paths "$sheet" | grep '\.fl$'); do
		echo "build/faultline run --trace t.trace $path"
	done >> "$dir/commands"
	# With the reference it would prove what rtl_proofs.sh proves of the tree's own circuit,
	# for two minutes: the files are the same, and a small one is proved with them.
	if [ -z "$device" ] && grep -q '^rtl/formal/prove ctl:1$' "$dir/commands"; then
		sed -i 's,^rtl/formal/prove ctl:1$,rtl/formal/prove rd:1,' "$dir/commands"
		for path in rtl/hdl rtl/gen rtl/formal/prove rtl/formal/ctl_props.vh; do
			expect 0 '' "$1: what is proved, $path, is the tree's" \
				diff -r "$path" "$tree/$path"
		done
	fi
	while read -r command; do
		case $command in rtl/formal/*) command -v yosys > /dev/null ||
			{ skip "$1's sheet: $command" 'no yosys'; continue; } ;;
		# Another build of everything: one lab's is enough.
		make*\ SAN=asan*) [ -n "$device" ] || [ "$1" = walk ] || continue ;;
		esac
		expect 0 '' "$1's sheet: $command" $alone sh -c "$command" < /dev/null
	done < "$dir/commands"
	expect 0 '' "$1's sheet names commands" test "$(wc -l < "$dir/commands")" -ge 6
	case $1 in
	walk) walk_answers ;;
	bank) bank_answers ;;
	esac
}

# The commands of the questions once more, for the trace that they leave.
walk_answers()
{
	expect 0 '' 'walk, question 1' sh -c "$(sheet_commands "$sheet" | grep -w three)"
	expect 0 'va=0x7e9c00001000' 'walk, question 1: the page after the first fault is walked' \
		sh -c "sed '1,/SMMU_FAULT/d' t.trace | grep '1.SMMU SMMU_WALK'"
	expect 0 'SMMU_TLBI' 'walk, question 2: an entry goes' cat t.trace
}

bank_answers()
{
	question=$(sheet_commands "$sheet" | grep -w three)
	expect 0 '' 'bank, question 1' sh -c "$question"
	expect 0 2 'bank, question 1: two pages of three are not described' \
		grep -c ' SMMU_MULTI ' t.trace
	expect 0 1 'bank, question 1: and one is' grep -c ' SMMU_FAULT ' t.trace
	expect 0 '' 'bank, question 2' sh -c "$question --policy stall"
	expect 0 'IRQ_LOWER' 'bank, question 2: the line falls before RESUME' \
		sh -c "sed -n '/DRV_IRQ_SMMU/,/SMMU_RESUME/p' t.trace"
}

# What the handout before was built into serves this one, whose files have all the same
# date: those that differ from the other's are new. A header that is not here is missed.
take_build()	# WORK
{
	if [ -d "$dir/before" ]; then
		(cd "$1" && find . -type f) | while read -r f; do
			cmp -s "$1/$f" "$dir/before/$f" || touch "$1/$f"
		done
		mv "$dir/before/build" "$1/build"
		rm -rf "$dir/before"
	fi
}

make_it() { timeout 280 $alone make -s -j2 "$@" > "$dir/built" 2>&1; }

for lab in ${LABS:-$(echo labs/*/lab.conf | sed 's,labs/,,g; s,/lab.conf,,g')}; do
	lab_can "$lab" "the handout of $lab" || continue
	files=$(sed -n 's/^files: *//p' "labs/$lab/lab.conf")
	start=$(sed -n 's/^start: *//p' "labs/$lab/lab.conf")
	# Points of the hidden tests, and how many these are.
	hidden=$(awk '/^\t.*hidden$/ { p += $1 } END { print p }' "labs/$lab/rubric.txt")
	many=$(grep -c '^	.*hidden$' "labs/$lab/rubric.txt")
	STEPPED=$device tools/lab/handout "$lab" "$dir/handout.tar.gz" > "$dir/said" 2>&1
	mkdir "$dir/$lab"
	tar -C "$dir/$lab" -xzf "$dir/handout.tar.gz"
	work=$dir/$lab/faultline-$lab
	expect 1 '' "$lab: no right solution, planted bug or hidden test is in the handout" \
		sh -c "find $work/labs $work/tools |
			grep -e right -e bugs -e hidden -e cheats -e 'lab/check\$'"
	for f in $files; do
		tools/lab/starter "$lab" "$f" > "$dir/starter"
		expect 0 '' 'nor the reference' cmp "$dir/starter" "$work/$f"
	done
	[ -z "$device" ] || expect 0 '' "$lab: the data sheet is that of the stepping" \
		cmp "$work/book/gen/device.adoc" "$device/book/gen/device.adoc"
	take_build "$work"
	cd "$work" || exit 2
	expect 0 "make grade LAB=$lab" 'it says itself what to do' cat README.md
	expect 0 "make grade LAB=$lab" 'and so does make help' make -s help
	expect 2 'make test is not in the handout' 'what is not in it says so' make -s test
	make_it "lab-$lab"
	expect 2 "score $start of 100" 'it builds there, and the starter gets what it should' \
		$alone make -s grade LAB="$lab"
	expect 0 "$many tests are hidden, $hidden points, not here" 'hidden tests are counted' \
		sh -c "make -s grade LAB=$lab | tail -n 5"
	for f in $files; do cp "$tree/$f" "$f"; done
	make_it "lab-$lab"
	expect 0 "score $((100 - hidden)) of 100" \
		'with the reference in its place all that is there passes' \
		$alone make -s grade LAB="$lab"
	[ -z "$(sed -n 's/^linux: *//p' "$tree/labs/$lab/lab.conf")" ] ||
		expect 0 '' 'what its step on Linux runs in a guest builds there' \
			$alone make -s -j2 linux-programs linux-tests
	expect 0 '' 'the whole system builds on it' $alone make -s -j2
	run_sheet "$lab"
	cd "$tree" || exit 2
	mv "$work" "$dir/before"
done

if command -v zip > /dev/null && command -v unzip > /dev/null; then
	STEPPED=$device tools/lab/gradescope walk "$dir/auto.zip" 7 > "$dir/said" 2>&1
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
else
	skip "the autograder's zip" 'no zip and unzip'
fi
exit $bad
