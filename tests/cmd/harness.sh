#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The tests of the tests: a harness or a runner that cannot fail would make every
# other result worthless. Small programs and scripts that pass, fail, crash, hang,
# skip and litter; what the harness and tests/run say of them.
set -u
cd "$(dirname "$0")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/faultline-self.XXXXXX") || exit 2
litter=tests/.left-by-the-self-test-$$
shm=/dev/shm/faultline-self-test-$$
trap 'rm -rf "$work" "$litter" "$shm"' EXIT
cc=${CC:-cc}
count=0
bad=0
# Others may work in this tree while this runs.
export FAULTLINE_SHARED_TREE=1
unset CI

result() {	# STATUS NAME
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count $2"
	else
		echo "not ok $count $2"
		sed 's/^/# /' "$work/out"
		bad=1
	fi
}

# says NAME STATUS TEXT...: the last output has each TEXT, its status is STATUS
says() {
	local name=$1 want=$2 text ok=0
	shift 2
	[ "$status" = "$want" ] || { ok=1; echo "status $status" >>"$work/out"; }
	for text; do
		grep -q -F -- "$text" "$work/out" ||
			{ ok=1; echo "should say: $text" >>"$work/out"; }
	done
	result $ok "$name"
}

lacks() {	# NAME TEXT
	local ok=0
	grep -q -F -- "$2" "$work/out" && ok=1
	result $ok "$1"
}

ended() {	# PID NAME: it is no more, or waits only to be collected
	local i
	for i in 1 2 3 4 5 6 7 8 9 10; do
		if ! kill -0 "$1" 2>/dev/null ||
		   grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; then
			result 0 "$2"
			return
		fi
		sleep 0.1	# a signal takes its time
	done
	result 1 "$2"
}

program() {	# NAME: a test program from standard input
	{ echo '#include "tests/harness.h"'; cat; } >"$work/$1.c"
	$cc -std=gnu11 -D_GNU_SOURCE= -I. -o "$work/$1" "$work/$1.c" tests/harness.c || exit 2
}

script() {	# NAME: a script from standard input
	{ echo '#!/bin/bash'; cat; } >"$work/$1.sh"
	chmod +x "$work/$1.sh"
}

use() {		# COMMAND...
	"$@" >"$work/out" 2>&1 </dev/null
	status=$?
}

runs() {	# NAME...: through the runner
	local list=() name
	for name; do
		list+=("$work/$name")
	done
	use tests/run "${list[@]}"
}

program good <<'END'
TEST("one thing holds") { STEP("did %d", 7); EXPECT_EQ(1, 1); }
TEST("another thing holds") { EXPECT_STR("a", "a"); EXPECT_MEM("ab", "ab", 2); }
END
program wrong <<'END'
#include <stdio.h>
static void undo(void *arg) { printf("# undone %s\n", (char *)arg); }
TEST("first") { EXPECT_EQ(1, 1); }
TEST("second")
{
	test_cleanup(undo, "it");
	STEP("set up %s", "a thing");
	EXPECT_LE(1, 2);
	fprintf(stderr, "the device caught fire\n");
	EXPECT_EQ(2 + 2, 5);
	printf("# never here\n");
}
TEST("third") { EXPECT_MEM("abc", "axc", 3); }
TEST("fourth") { EXPECT_STR("left", "right"); }
TEST("fifth") { EXPECT_GE(1, 2); }
TEST("sixth") { EXPECT(0); }
TEST("seventh") { EXPECT_NE(3, 3); }
TEST("eighth") { EXPECT_LE(3, 2); }
END
program skips <<'END'
TEST("not here") { test_skip("no such machine"); }
TEST("here") { EXPECT(1); }
END
program crashes <<'END'
#include <stdlib.h>
TEST("before") { EXPECT(1); }
TEST("dies") { abort(); }
TEST("after") { EXPECT(1); }
END
program stops <<'END'
#include <stdlib.h>
TEST("before") { EXPECT(1); }
TEST("leaves with status 0") { exit(0); }
TEST("after") { EXPECT(1); }
END
script yes <<<'exit 0'
script no <<<'echo because; exit 3'
script hangs <<<'sleep 600 & echo $! >'"$work/hangs.pid"'; sleep 600'
script lazy <<<'echo "SKIP: no tool"; exit 77'
script lazymake <<<'echo "SKIP: no tool"; echo "make: Error 77"; exit 2'
script unplanned <<<'echo "KTAP version 1"; echo "ok 1 a"'
script short <<<'echo "1..2"; echo "ok 1 a"'
script empty <<<'echo "KTAP version 1"; echo "1..0"'
script lies <<<'echo "1..1"; echo "ok 1 a"; exit 1'
script litters <<<'echo x >'"$litter"
script forgets <<<'echo x >"$TMPDIR/forgotten"'
script leaves <<<'setsid sleep 300 >/dev/null 2>&1 & echo $! >'"$work/leaves.pid
	# Until it has become what the runner is to find.
	until grep -q sleep /proc/\$!/cmdline; do sleep 0.01; done"
script ends <<<'setsid sleep 2 >/dev/null 2>&1 &'
script shares <<<'echo x >'"$shm"
script others <<<'env -u FAULTLINE_TEST_RUN setsid sleep 300 >/dev/null 2>&1 9>'"$shm &
	echo \$! >$work/others.pid
	until grep -q sleep /proc/\$!/cmdline; do sleep 0.01; done"
script counts <<<'tools/event-names | grep -v -x LIB_POST | sed "s/$/ 1/" \
	>>"$FAULTLINE_EVENT_COUNTS"
	echo "LIB_POST 0" >>"$FAULTLINE_EVENT_COUNTS"'
script allcounts <<<'tools/event-names | sed "s/$/ 1/" >>"$FAULTLINE_EVENT_COUNTS"'

echo "KTAP version 1"
echo "1..65"

use "$work/good"
says "a test that holds is ok" 0 "1..2" "ok 1 one thing holds" "ok 2 another"
lacks "a test that holds prints no transcript" "did 7"
use "$work/good" -v
says "-v prints what was done and what held" 0 "1. did 7" "holds:"
use "$work/good" -l
says "-l lists the names" 0 "one thing holds" "another thing holds"
use "$work/good" another
says "a part of a name chooses tests" 0 "1..1" "ok 1 another thing holds"
use "$work/good" nonsense
says "a name that no test has is an error" 2 "no test has 'nonsense'"
use "$work/good" --what
says "an unknown option is an error" 2 "unknown option '--what'"
use "$work/wrong" --seed 42
says "a failed expectation shows steps, seed, place, both values" 1 \
	"not ok 2 second" "1. set up a thing" "seed 42" "wrong.c:" \
	"got 4 (0x4), wanted == 5"
lacks "a failed expectation ends its test" "never here"
says "what must be undone is undone when a test fails" 1 "# undone it"
says "the other tests run on" 1 "ok 1 first" "not ok 8 eighth"
says "each kind of expectation can fail" 1 "not ok 3" "not ok 4" "not ok 5" \
	"not ok 6" "not ok 7" "byte 1 of 3 is 0x62, wanted 0x78" \
	'got "left", wanted "right"'
use "$work/skips"
says "a skipped test says why" 0 "ok 1 not here # SKIP no such machine" "ok 2 here"

runs good yes.sh
says "results are counted" 0 "6 passed, 0 failed"
result "$([ "$(tail -n 1 "$work/out")" = "6 passed, 0 failed" ]; echo $?)" \
	"the result is the last line and has nothing else"
runs wrong
says "failed tests are counted and shown" 1 "4 passed, 7 failed" "| not ok 2 second"
sed -n '/^what failed, again:$/,$p' "$work/out" >"$work/end"
result "$(grep -q -F '| not ok 2 second' "$work/end" && grep -q "FAILED.*wrong$" \
	"$work/end"; echo $?)" "what failed stands again at the end"
result "$(grep -q -F 'got 4 (0x4), wanted == 5' "$work/end"; echo $?)" \
	"with what is said of it"
result "$(grep -q -F '| the device caught fire' "$work/end"; echo $?)" \
	"and with what a program that it started said of itself"
says "with the command that runs it alone" 1 "    alone: $work/wrong"
says "each line says how many there are, and the time" 1 "[1/1  0:0"
runs no.sh yes.sh
says "a script's status is its result" 1 "4 passed, 1 failed" "| because"
runs crashes
says "a program that crashes has failed" 1 "4 passed, 1 failed"
runs stops
says "a program that ends early with status 0 has failed" 1 "4 passed, 1 failed"
runs unplanned.sh
says "KTAP without a plan has failed" 1 "4 passed, 1 failed"
runs short.sh
says "fewer results than planned have failed" 1 "4 passed, 1 failed"
runs empty.sh
says "a program without a test has failed" 1 "3 passed, 1 failed"
runs lies.sh
says "all ok with a bad status has failed" 1 "4 passed, 1 failed"
runs does-not-exist
says "a program that is not there has failed" 1 "3 passed, 1 failed"
use tests/run
says "nothing to run is a failure" 1 "no test was given" "3 passed, 1 failed"
use tests/run --nonsense
says "an unknown option of the runner is an error" 2 "tests/run [--jobs N]"

runs lazy.sh
says "a skipped script is counted apart" 0 "3 passed, 0 failed, 1 skipped" "no tool"
runs lazymake.sh
says "a skip reaches through make" 0 "3 passed, 0 failed, 1 skipped"
runs skips
says "a skipped test of a program is counted apart" 0 "4 passed, 0 failed, 1 skipped"
CI=true runs lazy.sh
says "CI does not allow a skip" 1 "3 passed, 1 failed" "CI=true does not allow"
CI=true runs skips
says "CI does not allow a skip inside a program" 1 "4 passed, 1 failed"

FAULTLINE_TEST_TIMEOUT=1 runs hangs.sh
says "a test that hangs is ended" 1 "3 passed, 1 failed" "ended after 1 s"
ended "$(cat "$work/hangs.pid")" "the whole group of a hanging test is ended"
runs leaves.sh
says "a process that is left is found" 1 "3 passed, 1 failed" "no process is left" \
	"sleep 300"
ended "$(cat "$work/leaves.pid")" "a process that is left is ended"
runs ends.sh
says "one that is about to end is not" 0 "4 passed, 0 failed"
runs forgets.sh
says "a file that a test left in its TMPDIR is found" 1 "4 passed, 1 failed" \
	"/forgotten"
FAULTLINE_SHARED_TREE='' runs shares.sh
says "shared memory that is left is found" 1 "| $(basename "$shm")"
rm -f "$shm"
FAULTLINE_SHARED_TREE='' runs others.sh
lacks "that of another run beside it is not" "| $(basename "$shm")"
kill "$(cat "$work/others.pid")"
rm -f "$shm"
FAULTLINE_SHARED_TREE='' runs litters.sh
says "a file that is left is found" 1 "| ?? $litter"
rm -f "$litter"
runs litters.sh
says "in a shared tree a new file is shown only" 0 "4 passed, 0 failed" "$litter"
rm -f "$litter"

use tests/run --events "$work/counts.sh"
says "an event that no test emits is a failure, by name" 1 "| LIB_POST"
lacks "an event that was emitted is not named" "| APP_NOTE"
use tests/run --events "$work/allcounts.sh"
says "with every event emitted nothing fails" 0 "5 passed, 0 failed"

mkdir -p "$work/plain" "$work/asan"
script plain/looks <<<'[ "${FAULTLINE_CHECKS:-}" = all ]'
cp "$work/plain/looks.sh" "$work/plain/looks"
script plain/says <<<'# checks: all
	[ "${FAULTLINE_CHECKS:-}" = all ]'
script asan/not <<<'# checks: all
	[ -z "${FAULTLINE_CHECKS+is there}" ]'
script not <<<'[ -z "${FAULTLINE_CHECKS+is there}" ]'
FAULTLINE_CHECKS=all runs plain/looks plain/says.sh asan/not.sh not.sh
says "all is looked at in programs without a sanitizer, and where a script says so" 0 \
	"7 passed, 0 failed"

use tests/run make:help
says "a make target is a test" 0 "4 passed, 0 failed"
use tests/run make:no-such-target
says "a make target that fails is a failed test" 1 "3 passed, 1 failed"

printf '#!/bin/sh\necho "$@" >>%s/calls\n' "$work" >"$work/fake"
printf '# modes: lockstep threads\n' >"$work/both.fl"
printf '# nothing\n' >"$work/one.fl"
use tests/run "$work/both.fl@threads@2@$work/no-such-program"
says "a scenario without its program has failed" 1 "3 passed, 1 failed"
use tests/run "$work/both.fl"
says "a scenario runs in its modes, three times each" 0 "[6/6 "
use tests/run --short "$work/both.fl"
says "after each change once in each" 0 "[2/2 " "@lockstep@1@" "@threads@1@"
use tests/run --tested "$work/both.fl"
says "after that with real time by the other seeds alone" 0 "[5/5 " "@lockstep@1@" "@threads@2@"
lacks "and not once more by the first" "@threads@1@"
program rounds <<'END'
TEST("all that there are")
{
	EXPECT(!test_is_short());
	EXPECT_EQ(test_rounds(100), 100);
}
TEST("a quarter of them, and one at least")
{
	EXPECT(test_is_short());
	EXPECT_EQ(test_rounds(100), 25);
	EXPECT_EQ(test_rounds(2), 1);
	EXPECT_EQ(test_rounds(1), 1);
}
END
FAULTLINE_TESTS=short use tests/run "$work/rounds"
says "a program runs all of its rounds, whatever the environment says" 1 "4 passed, 1 failed" "not ok 2"
use tests/run --short "$work/rounds"
says "and a quarter after each change" 1 "4 passed, 1 failed" "not ok 1"
chmod +x "$work/fake"
use tests/run "$work/one.fl@lockstep@3@$work/fake"
says "a scenario's status is its result" 0 "4 passed, 0 failed"
cp "$work/calls" "$work/out" && status=0
says "a scenario is given its mode and seed" 0 "run $work/one.fl --mode lockstep --seed 3"
cat >"$work/traces" <<'END'
#!/bin/sh
[ "$2" = --trace ] && echo "what happened" >"$3"
exit 1
END
chmod +x "$work/traces"
use tests/run "$work/one.fl@lockstep@3@$work/traces"
says "one that fails: how it runs alone, and its trace" 1 \
	"    alone: $work/traces run $work/one.fl --mode lockstep --seed 3" \
	"    trace: build/failed/one-3.trace"
result "$(grep -q -x 'what happened' build/failed/one-3.trace; echo $?)" "the trace is there"
rm -f build/failed/one-3.trace

use tools/doctor --have no-such-tool
says "doctor says what is missing and skips" 77 "SKIP: no-such-tool is missing"
use env FAULTLINE_INSTALL=no CC=no-such-cc PATH="$work:/usr/bin:/bin" tools/doctor
says "doctor fails when make cannot work" 1 "make cannot work"
exit $bad
