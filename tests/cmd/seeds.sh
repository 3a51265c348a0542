#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Seeds: those that failed once pass; and tests/seeds finds a program that fails, says how
# to repeat it, and keeps nothing of those that pass.
cd "$(dirname "$0")/../.." || exit 2
. tests/cmd/expect.inc

# A stand-in for a test that fails for every third seed; it has the name of a real one, so
# that the table of kinds need not change.
mkdir -p "$dir/build/plain/tests" "$dir/build/asan/tests"
cat >"$dir/build/plain/tests/test_swarm" <<'END'
#!/bin/sh
# As the programs are called: --seed N [PART]
[ "$1" = --seed ] || exit 9
[ "$SWARM_SEEDS" = 1 ] || exit 9
[ $(($2 % 3)) = 0 ] && { echo "not ok 1 seed $2"; exit 1; }
case $3 in lockstep) echo "ok 1 a test in $3" ;; *) echo "1..0" ;; esac
END
chmod +x "$dir/build/plain/tests/test_swarm"
export SEEDS_BUILD=$dir/build

new="tests/seeds --new --dir $dir/seeds --jobs 1"
kept="tests/seeds --kept $dir/list"
failed=$dir/seeds/failed

expect 1 "FAILED test_swarm plain lockstep 12	# SWARM_SEEDS=1 " \
	"a seed that fails is a line that repeats it" \
	$new --start 10 --count 6 "test_swarm plain lockstep"
expect 0 "" "all that failed stand in the file" sh -c "[ \$(wc -l <$failed) = 2 ]"
expect 0 "" "of seeds that pass nothing is left" \
	sh -c "[ \$(ls $dir/seeds | wc -l) = 3 ]"
expect 1 "not ok 1 seed 12" "the line repeats it" sh -c "$(sed -n 's/.*# //p' "$failed" | head -n 1)"
sed 's/# .*/# a reason/' "$failed" >"$dir/list"
expect 1 "not ok 1 test_swarm plain lockstep 12 # a reason" \
	"a line of the file is a line of the list" $kept
echo "test_swarm plain lockstep 13	# it was mended" >"$dir/list"
expect 0 "ok 1 test_swarm plain lockstep 13 # it was mended" "a kept seed that passes" $kept
echo "test_swarm plain nothing 13" >"$dir/list"
expect 1 "no test of test_swarm has 'nothing' in its name" \
	"a kept seed for a test that is not there fails" $kept
echo "test_swarm asan lockstep 13" >"$dir/list"
expect 1 "no $dir/build/asan/tests/test_swarm" "so does one for a program that is not there" $kept
expect 0 "0 failed" "seeds that pass" $new --start 13 --count 1 "test_swarm plain lockstep"
expect 2 "there is no 'test_swarm plain'" "a kind that is not there" $new "test_swarm plain"
expect 2 "--minutes wants a number, not 'ten'" "no number" $new --minutes ten

unset SEEDS_BUILD
expect 0 "ok 1 " "the seeds of tests/data/seeds pass" tests/seeds --kept
echo "1..$n"
exit $bad
