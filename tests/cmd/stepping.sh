#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Another stepping of the device: the same seed draws the same one, another seed
# another; scenarios and a lab work on it, and wrong values are refused. What takes
# longer: make stepping-test.
set -u
. tests/cmd/expect.inc
tree=$PWD
test_make="make -s -j2 CFLAGS=-O0"

for wrong in abc 0 07 -1 1000000 '1 2' "'" 7x; do
	expect 2 'is not a number from 1 to 999999' "STEPPING=$wrong is refused" \
		make -s STEPPING="$wrong" all
done
expect 2 'make modules is for the device as it is committed' \
	'what is of the usual device alone says so' make -s STEPPING=7 modules

expect 0 '' 'a stepping is drawn' make -s STEPPING=7 build/step-7/device/done.mk
build/step 7 . "$dir/again" > "$dir/said" 2>&1
build/step 8 . "$dir/other" >> "$dir/said" 2>&1
def=kernel-ref/include/faultline
expect 0 '' 'the same seed draws the same' cmp "$dir/again/$def/regs.def" \
	build/step-7/device/$def/regs.def
for f in regs entries wire device; do
	expect 1 'differ' "another seed another $f.def" cmp "$dir/again/$def/$f.def" \
		"$dir/other/$def/$f.def"
done

# The generator looks at each as it looks at the usual one.
for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
	rm -rf "$dir/other"
	expect 0 '' "stepping $number is one that the generator takes" sh -c '
		build/step "$2" . "$1/other" &&
		${CC:-cc} -std=gnu11 -O0 -w -D_GNU_SOURCE= -I"$1/other/emu" \
			-I"$1/other/kernel-ref/include" -I. -Iemu -Ilib -Itools \
			-Ikernel-ref/include -o "$1/gen" tools/gen/*.c &&
		"$1/gen" "$1/other"' sh "$dir" "$number"
done
expect 1 'these sources are of stepping 7 already' 'a stepping has no steppings' \
	build/step 8 "$dir/again" "$dir/more"
expect 1 'is no number from 1' 'the program looks at its number too' \
	build/step 7x . "$dir/more"

# What it says is looked at twice.
timeout 500 make -s -j2 stepping-test SHORT=1 STEPPINGS=7 > "$dir/scenarios" 2>&1
expect 0 "stepping 7: write_cold_both" 'scenarios run there' \
	grep '^ok.*write_cold_both' "$dir/scenarios"
expect 1 '' 'and every one works' grep -e '^not ok' -e 'Error' "$dir/scenarios"

# The labs of that course; what was built above is used again.
for lab in labs/*/lab.conf; do
	lab=$(basename "$(dirname "$lab")")
	lab_can "$lab" "the lab $lab on stepping 7" || continue
	start=$(sed -n 's/^start: *//p' "labs/$lab/lab.conf")
	timeout 500 $test_make STEPPING=7 B=build/step-7/test "lab-$lab" > "$dir/said" 2>&1
	# As a work, so that it is compiled: the tree's own text is there already.
	rm -rf "$dir/work"
	mkdir "$dir/work"
	for f in $(sed -n 's/^files: *//p' "labs/$lab/lab.conf"); do
		{ cat "$f"; echo '// mine'; } > "$dir/work/${f##*/}"
	done
	expect 0 'score 100 of 100' "$lab: the reference gets all points there" \
		$test_make STEPPING=7 B=build/step-7/test grade LAB="$lab" FILE="$dir/work"
	expect 2 "score $start of 100" 'and the starter what it should' \
		$test_make STEPPING=7 B=build/step-7/test grade LAB="$lab" \
			FILE="build/step-7/test/labs/$lab/starter"
	STEPPED=build/step-7/device tools/lab/handout --tree "$lab" "$dir/tree" > "$dir/said" 2>&1
	expect 0 '' 'a handout has the data sheet of the stepping' \
		cmp "$dir/tree/book/gen/device.adoc" build/step-7/device/book/gen/device.adoc
	rm -rf "$dir/tree"
done

# One handed out; all of them: make stepping-labs.
expect 0 'files' 'a handout of the stepping is made' \
	make -s STEPPING=7 handout LAB=resend
tar -C "$dir" -xzf build/step-7/labs/faultline-resend.tar.gz
cd "$dir/faultline-resend" || exit 2
expect 0 '' 'with its headers' cmp $def/regs.h "$tree/build/step-7/device/$def/regs.h"
expect 0 'Erratum' 'and its data sheet' cat book/gen/device.adoc
expect 2 'these sources are of stepping 7 already' 'and it is of no other' \
	make -s STEPPING=8 all
expect 0 '' 'nothing in it needs to be generated' \
	sh -c 'make -s generate && cmp rtl/gen/regs.vh "$1"' sh \
	"$tree/build/step-7/device/rtl/gen/regs.vh"
cd "$tree" || exit 2
exit $bad
