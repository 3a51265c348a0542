#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The tools around the labs: marks, starter, grader, its record, what it is exported to.
# What the grader says of works is another test: make lab-check.
set -u
. tests/cmd/expect.inc
B=${B:-build/plain}
grade=$B/labs/walk/grade
make="${MAKE:-make} -s --no-print-directory"
eval "$(make -s --no-print-directory lab-env)"

mark() { printf '%s\n' "$@" > "$dir/marked.c"; }
parts() { printf '%s\n' "$@" > "$dir/parts"; }
with="$dir/marked.c $dir/parts"

mark 'int a;' '	/* tag::x-1[] */' '	secret;' '	/* end::x-1[] */' 'int b;' \
	'	/* tag::y-1[] */' '	of another;' '	/* end::y-1[] */'
parts "== 1 $dir/marked.c: one" '	(void)a;'
tools/lab/starter x $with > "$dir/starter" 2>&1
expect 0 'Step 1. One. Your code here.' 'a starter says where the step is' cat "$dir/starter"
expect 1 '' 'and nothing of the reference' grep secret "$dir/starter"
expect 0 '	(void)a;' 'it has what stands there instead' cat "$dir/starter"
expect 0 'Step 1 ends here.' 'and says how far it goes' cat "$dir/starter"
expect 0 'of another' 'what another lab asks for stays' cat "$dir/starter"
expect 1 '' 'and its marks do not' grep :: "$dir/starter"
parts '== 1 some/other.c: one'
mark 'int a;'
expect 1 'no part of lab y' 'a file without a part of the lab' tools/lab/starter y $with
parts "== 1 $dir/marked.c: one"
mark '// tag::x-1[]' 'secret' '// end::x-1[]'
expect 0 '// Step 1. One.' 'a starter in Verilog' tools/lab/starter x $with
mark '/* tag::x-1[] */' 'secret'
expect 1 'x-1 has no end' 'a part without an end' tools/lab/starter x $with
mark '/* tag::x-1[] */' '/* end::x-2[] */'
expect 1 'the end of x-2' 'an end of another part' tools/lab/starter x $with
mark '/* tag::x-1[] */' '/* end::x-1[] */' '/* tag::x-1[] */' '/* end::x-1[] */'
expect 1 'a second part x-1' 'a part that is there twice' tools/lab/starter x $with
mark '/* tag::x-2[] */' '/* end::x-2[] */'
expect 1 'nothing stands in for part x-2' 'a part that nothing stands in for' tools/lab/starter x $with
mark 'int a;'
expect 1 'no part for step 1' 'lines for a part that is not there' tools/lab/starter x $with
mark 'int a; /* tag::x-1[] */'
expect 1 'not a mark' 'a mark behind something else' tools/lab/starter x $with
expect 2 'cannot read' 'no parts at all' tools/lab/starter x "$dir/marked.c" "$dir/none"

expect 2 "there is no lab 'wlak'" 'an unknown lab' tools/lab/grade wlak --out "$dir/o"
for target in grade starter handout gradescope lab-batch lab-mutants; do
	expect 2 'which lab?' "make $target without a lab" $make $target
done
for target in grade starter handout gradescope lab-batch lab-check lab-mutants; do
	expect 2 "no lab wlak; there are: $(echo labs/*/lab.conf | sed 's,labs/,,g; s,/lab.conf,,g')" \
		"make $target of an unknown lab" $make $target LAB=wlak
done
expect 2 "no lab it's \$(x); there" 'a name that the shell would take for something' \
	$make grade "LAB=it's \$\$(x)"
expect 2 'no lab walk bank; there' 'two labs' $make grade 'LAB=walk bank'
expect 2 'there is no nothing.c' 'a file that is not there' \
	tools/lab/grade walk --out "$dir/o" nothing.c
expect 2 'an unknown option' 'an unknown option' "$grade" run --lab labs/walk --uot x
expect 2 'no test has this' 'a test that is not there' \
	"$grade" run --lab labs/walk --out "$dir/o" --only nosuch

expect 2 'NOT RUN (the lab walk has no such step)' 'a step on Linux that a lab has not' \
	tools/lab/linux walk --out "$dir/o"

# A rubric of one's own.
mkdir "$dir/lab"
cp labs/walk/lab.conf "$dir/lab/"
rubric() { printf '%s\n' "$@" > "$dir/lab/rubric.txt"; }
rubric 'Group' ' 99 a'
expect 2 "100 in all, not '99'" 'a rubric of 99 points' "$grade" list --lab "$dir/lab"
rubric 'Group' ' 50 a after b' ' 50 b'
expect 2 'no test above' 'a child before its parent' "$grade" list --lab "$dir/lab"
rubric 'Group' ' 50 a' ' 50 a'
expect 2 'a second time' 'a test that is there twice' "$grade" list --lab "$dir/lab"
rubric 'Group' ' x a'
expect 2 'points are a number' 'points that are no number' "$grade" list --lab "$dir/lab"
rubric ' 100 a'
expect 2 'no heading' 'a rubric without a heading' "$grade" list --lab "$dir/lab"
expect 1 '' 'every test of the rubric is there' sh -c "$grade list --lab labs/walk | grep 'not here'"

# One record, and what becomes of it.
head -c 32 /dev/urandom > "$dir/key"
head -c 32 /dev/urandom > "$dir/key2"
mkdir "$dir/work"
sed 's/, SMMU_CB_FSR_AFF, /, SMMU_CB_FSR_TF, /' emu/smmu/walk.c > "$dir/work/walk.c"
cp emu/smmu/tlb.c "$dir/work/"
expect 1 'came:     translation fault at level 3' 'a wrong step says what came' \
	tools/lab/grade walk --out "$dir/o" --key "$dir/key" "$dir/work"
cp "$dir/out" "$dir/said"
expect 0 'bank 0: read va 0x123456789abc' 'and what was done' cat "$dir/said"
expect 0 'SMMU_FAULT' 'it leaves the trace' cat "$dir/o/access_flag.trace"
expect 0 'digraph' 'and a picture of the fault' cat "$dir/o/access_flag.dot"
expect 0 'signed with this key' 'a record is verified' \
	"$grade" verify "$dir/o/record" --key "$dir/key"
expect 1 'not signed' 'not with another key' "$grade" verify "$dir/o/record" --key "$dir/key2"
sed 's/^name .*/name somebody else/' "$dir/o/record" > "$dir/changed"
expect 1 'not signed' 'nor when it was changed' "$grade" verify "$dir/changed" --key "$dir/key"
sed 's/points 0 3/points 3 3/' "$dir/o/record" > "$dir/changed"
expect 2 'not a line' 'a sum that is not the sum' "$grade" export text "$dir/changed"
sed 's/^	verdict wrong/	verdict splendid/' "$dir/o/record" > "$dir/changed"
expect 2 'not a line' 'a verdict that is none' "$grade" export text "$dir/changed"
expect 0 'not ok' 'KTAP' "$grade" export ktap "$dir/o/record"
expect 0 'lab,name,seed,score,max,first_level' 'CSV' "$grade" export csv "$dir/o/record"
expect 0 '"max_score": 3' 'Gradescope' "$grade" export gradescope "$dir/o/record"
cp "$dir/out" "$dir/said"
expect 0 '"visibility": "after_published"' 'hidden tests are hidden there' cat "$dir/said"
expect 2 'no such form' 'another form' "$grade" export xml "$dir/o/record"
if command -v python3 > /dev/null; then
	"$grade" export gradescope "$dir/o/record" > "$dir/json"
	expect 0 '' 'which is JSON' python3 -m json.tool "$dir/json"
else
	skip 'which is JSON' 'no python3'
fi
expect 1 'x\x0ascore 100 100' 'a name cannot be a line of the record' "$grade" run \
	--lab labs/walk --out "$dir/n" --name "x
score 100 100"
mkdir "$dir/four"
sed '/w->aborted = true;/d; s/if (!(desc & PTE_AF) && .*/if (0) {/' emu/smmu/walk.c \
	> "$dir/four/walk.c"
cp emu/smmu/tlb.c "$dir/four/"
expect 1 '1 more can tell what was done: make grade LAB=walk ONLY=flag_first' 'who fails four tests learns of the fourth' \
	tools/lab/grade walk --out "$dir/o4" "$dir/four"
cp "$dir/o/record" "$dir/first"
tools/lab/grade walk --out "$dir/o" --key "$dir/key" "$dir/work" > "$dir/said" 2>&1
expect 0 '' 'the same work gets the same record' sh -c \
	"grep -v '	ms ' $dir/first > $dir/a; grep -v '	ms ' $dir/o/record | cmp - $dir/a"

# What crashes, and what never ends.
sed 's/uint64_t next = desc & PTE_ADDR/uint64_t next = *(volatile uint64_t *)desc/' \
	emu/smmu/walk.c > "$dir/work/walk.c"
expect 1 'crashed: signal 11' 'a walk that crashes' \
	tools/lab/grade walk --out "$dir/o" --only four_levels "$dir/work"
# The same on every machine: what lies past an array, what is in a variable never set.
mkdir "$dir/past"
cp emu/nic/engine_rx.c "$dir/past"
sed 's/if (a->ctx >= e->cfg.contexts)/if (0)/' emu/nic/engine_tx.c > "$dir/past/engine_tx.c"
expect 1 'an index past the end of its array' 'an index that is not looked at' \
	tools/lab/grade resend --out "$dir/o" --only other_node "$dir/past"
if command -v clang > /dev/null; then
	clang_env=$($make CC=clang lab-env)
	expect 1 'an index past the end of its array' 'the same with clang' \
		sh -c "$clang_env"'
		tools/lab/grade resend --out "$1" --only other_node "$2"' sh "$dir/o" "$dir/past"
	expect 1 '' 'which has nothing else to say' grep -q . "$dir/o/build.log"
else
	skip 'the same with clang' 'no clang'
fi
# Changes that no test sees: of this step one, which means the same.
expect 0 ', 1 get all points' 'the reference is changed line by line' \
	tools/lab/mutants walk --part 1 --out "$dir/mutants"
cp "$dir/out" "$dir/said"
expect 0 'index_bits + 3 <= 6' 'and what nobody sees is shown' cat "$dir/said"
expect 2 'nothing to change' 'a step that there is not' \
	tools/lab/mutants walk --part 77 --out "$dir/mutants"
expect 2 'not the number of a step' 'a step that is no number' \
	tools/lab/mutants walk --part x --out "$dir/mutants"
unset=-ftrivial-auto-var-init=pattern
if echo 'int x;' | ${CC:-cc} $unset -Werror -x c -c -o "$dir/x.o" - 2> "$dir/said"; then
	sed 's/uint64_t next = desc & PTE_ADDR/int unset[64]; volatile int i = 64;\
		while (i--) if (!unset[i]) __builtin_trap();\
		&/' emu/smmu/walk.c > "$dir/work/walk.c"
	expect 0 'four_levels' 'what nobody has set is never 0' \
		tools/lab/grade walk --out "$dir/o" --only four_levels "$dir/work"
else
	skip 'what nobody has set is never 0' "the compiler has no $unset"
fi
{ printf '%s\n' '#include <stdio.h>' '#include <stdlib.h>' 'static void report(void) {' \
	'puts("==1==ERROR: AddressSanitizer: x\n    #0 0x1 in step emu/smmu/walk.c:7");' \
	'for (int i = 0; i < 99; i++) puts("  Shadow byte legend: much that nobody asked for");' \
	'fflush(0); exit(1); }'
	sed 's/uint64_t next = desc & PTE_ADDR/report(); &/' emu/smmu/walk.c
} > "$dir/work/walk.c"
expect 1 'printed:     #0 0x1 in step emu/smmu/walk.c:7' "a sanitizer's report is told from its top" \
	tools/lab/grade walk --out "$dir/o" --only four_levels "$dir/work"
sed '/p->level++;/d; /p->table = next;/d' emu/smmu/walk.c > "$dir/work/walk.c"
expect 1 'hung: it went on and on' 'a walk without an end is counted, not timed' \
	tools/lab/grade walk --out "$dir/o" --only four_levels "$dir/work"

# What waits, or does not read what it answers: a subject and a judge of its own.
cat > "$dir/judge.c" <<- 'END'
	#include "tools/grade/judge.h"
	static const char judge_text[] = { [0 ... 998] = 'x', 0 };
	static void ask(int n)
	{
		struct subject_msg m = { .op = 16 };

		while (n--)
			judge_ask(&m);
	}
	static void differ(void)
	{
		ask(1);
		judge_same("a list", judge_text, "");
	}
	JUDGE(first, "") { differ(); }
	JUDGE(second, "") { differ(); }
	JUDGE(third, "") { differ(); }
	JUDGE(fourth, "") { differ(); }
	JUDGE(few, "few questions") { ask(4); }
	JUDGE(many, "many questions") { ask(5000); }
END
seq -f 'JUDGE(slow%g, "few questions again") { ask(4); }' 22 >> "$dir/judge.c"
cat > "$dir/subject.c" <<- 'END'
	#include <poll.h>
	#include <unistd.h>
	#include "tools/grade/subject.h"
	int main(void)
	{
		static struct subject_msg m[6] = { { SUBJECT_HELLO, 1, { SUBJECT_MAGIC } } };
		int i;

		for (i = 1; i < 6; i++)
			m[i].op = 16, m[i].status = SUBJECT_DONE;
	#ifdef SLOW
		for (i = 0; i < 6 && !poll(0, 0, SLOW); i++)
			write(3, m + i, sizeof(*m));
	#else
		for (i = 0; write(3, m + !!i, sizeof(*m)) > 0; i++)
			;
	#endif
		return 0;
	}
END
sed 's/^wall_s:.*/wall_s: 1/; s/^cpu_s:.*/cpu_s: 5/' labs/walk/lab.conf > "$dir/lab/lab.conf"
rubric 'Group' ' 50 few' ' 50 many'
$LAB_COMPILE -w -c -o "$dir/judge.o" "$dir/judge.c"
$LAB_COMPILE -w -o "$dir/unread" "$dir/subject.c"
$LAB_COMPILE -w -DSLOW=600 -o "$dir/slow" "$dir/subject.c"
$LAB_LINK -o "$dir/judge" "$dir/judge.o" $(ls "$O"/tools/grade/*.o | grep -v subject) \
	"$B/libtools.a" "$B/libboard.a" "$B/libfaultline.a" "$B/libboard.a" $LAB_LIBS
expect 1 'hung: it was waited for, 1 s in all' 'a little sleep before each answer adds up' \
	"$dir/judge" run --lab "$dir/lab" --out "$dir/o" --subject "$dir/slow" --only few
# However long this machine takes for so many: that is no sleep.
mkdir "$dir/patient"
cp "$dir/lab/rubric.txt" "$dir/patient/"
sed 's/^wall_s:.*/wall_s: 60/' "$dir/lab/lab.conf" > "$dir/patient/lab.conf"
expect 1 'it does not read what it answers' 'answers to what was not read hold nobody up' \
	"$dir/judge" run --lab "$dir/patient" --out "$dir/o" --subject "$dir/unread" --only many

# Questions that are asked together, and those that nobody waits for.
cat > "$dir/together.c" <<- 'END'
	#include <stddef.h>
	#include "tools/grade/judge.h"
	static struct subject_msg question(uint64_t arg)
	{
		return (struct subject_msg){ .op = 16, .arg = { arg } };
	}
	static void ask(uint64_t arg)
	{
		struct subject_msg m = question(arg);

		judge_ask(&m);
	}
	static void check_answer(const struct subject_msg *m, const uint64_t *want)
	{
		judge_equal("the answer", m->arg[0], want[2]);
	}
	static void tell(uint64_t arg)
	{
		struct subject_msg m = question(arg);

		judge_tell(&m, NULL, NULL);
	}
	static void expect(uint64_t arg, uint64_t answer)
	{
		struct subject_msg m = question(arg);

		judge_tell(&m, check_answer, WANTS(0, 0, answer));
	}
	JUDGE(order, "all are answered, in their order")
	{
		struct subject_msg m[70];
		int i;

		for (i = 0; i < 100; i++)
			tell(1);
		for (i = 0; i < 70; i++)
			m[i] = question(1);
		judge_ask_all(m, 70);
		for (i = 0; i < 70; i++)
			judge_equal("answers until then", m[i].arg[0], 101 + i);
		tell(1);
		judge_did("a step");
		m[0] = question(1);
		judge_ask(m);
		judge_equal("answers in all", m[0].arg[0], 172);
		for (i = 0; i < 100; i++)
			expect(1, 173 + i);
		judge_settle();
		expect(1, 273);
	}
	JUDGE(crash, "the step at which it crashed is the last one")
	{
		judge_did("the first step");
		tell(1);
		judge_did("the second step");
		tell(0);
		judge_did("the third step");
		ask(1);
	}
	JUDGE(later, "the step whose answer was wrong is the last one")
	{
		judge_did("the first step");
		expect(1, 1);
		judge_did("the second step");
		expect(1, 3);
		judge_did("the third step");
		ask(1);
	}
	JUDGE(own, "the first wrong answer is the one that is reported")
	{
		tell(1);
		judge_did("the first step");
		expect(1, 7);
		judge_did("the second step");
		judge_equal("another number", 1, 2);
	}
	JUDGE(behind, "an answer that was not looked at") { ask(1); expect(1, 7); }
	JUDGE(last, "nothing is asked after that") { ask(1); tell(0); }
	JUDGE(forever, "the others get no answer")
	{
		struct subject_msg m[] = { question(1), question(2), question(1) };

		judge_ask_all(m, 3);
	}
END
cat > "$dir/counts.c" <<- 'END'
	#include <stdlib.h>
	#include "tools/grade/subject.h"
	struct trace *subject_trace(void) { return 0; }
	void subject_answer(struct subject_msg *m)
	{
		static uint64_t n;

		if (!m->arg[0])
			abort();
		if (m->arg[0] == 2)
			subject_runaway();
		m->arg[0] = ++n;
	}
END
rubric 'Group' ' 20 order' ' 20 crash' ' 20 last' ' 10 forever' ' 10 later' ' 10 own' ' 10 behind'
$LAB_COMPILE -w -c -o "$dir/together.o" "$dir/together.c"
$LAB_COMPILE -w -c -o "$dir/counts.o" "$dir/counts.c"
$LAB_LINK -o "$dir/counts" "$dir/counts.o" "$O/tools/grade/subject.o" "$B/libboard.a" \
	"$B/libfaultline.a" "$B/libboard.a" $LAB_LIBS
$LAB_LINK -o "$dir/together" "$dir/together.o" $(ls "$O"/tools/grade/*.o | grep -v subject) \
	"$B/libtools.a" "$B/libboard.a" "$B/libfaultline.a" "$B/libboard.a" $LAB_LIBS
together() { "$dir/together" run --lab "$dir/lab" --out "$dir/o" --subject "$dir/counts" --only "$1"; }
together order > "$dir/order" 2>&1
expect 0 '20 of 20  pass' 'questions are answered in their order' cat "$dir/order"
together crash > "$dir/crash" 2>&1
expect 0 'crashed: signal 6' 'a message without an answer can crash the subject' cat "$dir/crash"
expect 0 'the second step' 'the report ends with the step that crashed' cat "$dir/crash"
expect 1 '' 'and has no later one' grep 'the third step' "$dir/crash"
together later > "$dir/later" 2>&1
expect 0 'the second step' 'the report ends with the step whose answer was wrong' cat "$dir/later"
expect 0 'expected: 3' 'and says what was expected' cat "$dir/later"
expect 1 '' 'and has no later step' grep 'the third step' "$dir/later"
together own > "$dir/own" 2>&1
expect 0 'expected: 7' 'an answer that was wrong before another number was' cat "$dir/own"
expect 1 '' 'and nothing behind it' grep -e 'the second step' -e 'another number' "$dir/own"
together behind > "$dir/behind" 2>&1
expect 0 'expected: 7' 'an answer that nobody was waiting for at the end' cat "$dir/behind"
together last > "$dir/last" 2>&1
expect 0 'crashed: signal 6' 'and so can the last message of a test' cat "$dir/last"
together forever > "$dir/forever" 2>&1
expect 0 'hung: it went on and on' 'one of several that never ends' cat "$dir/forever"
"$dir/together" run --lab "$dir/lab" --out "$dir/o" --subject /bin/false --only later > "$dir/absent" 2>&1
expect 0 'did-not-start: it ended' 'a subject that does not start' cat "$dir/absent"
expect 1 '' 'and no step that was not done' grep 'the second step' "$dir/absent"

# A second for each of them, twenty in all; looked at below.
mkdir "$dir/lab2"
cp "$dir/lab/lab.conf" "$dir/lab2/"
{ echo Group && printf ' %s slow%s\n' $(seq -f '4 %g' 21) 16 22; } > "$dir/lab2/rubric.txt"
"$dir/judge" run --lab "$dir/lab2" --out "$dir/o2" --subject "$dir/slow" > /dev/null 2>&1 &
every=$!

# What is printed of what was wrong: not all, and it says so.
rubric 'Group' ' 25 first' ' 25 second' ' 25 third' ' 25 fourth'
cp labs/walk/lab.conf "$dir/lab/"
$LAB_COMPILE -w -DSLOW=1 -o "$dir/quick" "$dir/subject.c"
expect 1 'expected: (nothing)' 'nothing is a word, too' \
	"$dir/judge" run --lab "$dir/lab" --out "$dir/o" --subject "$dir/quick"
cp "$dir/out" "$dir/said"
expect 0 'xxx ...' 'what is cut says so' grep 'came: ' "$dir/said"
expect 0 'make grade LAB=walk ONLY=fourth' 'and how the fourth is seen' grep ONLY= "$dir/said"

# What a caller has open is nothing for a subject; who ends the grader, ends that.
{ printf '%s\n' '#include <fcntl.h>' '#include <stdio.h>' '#include <unistd.h>' \
	'__attribute__((constructor)) static void f(void) {' '#ifdef SLEEPS' 'for (;;) sleep(9);' \
	'#endif' 'for (int i = 4; i < 9999; i++)' \
	'if (fcntl(i, F_GETFD) >= 0) printf("left open: %d", i);' 'fflush(0); _exit(0); }'
	cat emu/smmu/walk.c; } > "$dir/work/walk.c"
expect 1 'did-not-start: it ended by itself' 'a subject looks for what its caller has open' \
	bash -c 'exec 150> "$0/leak"; tools/lab/grade walk --out "$0/o" --only first_level "$0/work"' \
	"$dir"
cp "$dir/out" "$dir/said"
expect 1 '' 'and there is nothing' grep 'left open' "$dir/said"
sed -i 's/ifdef SLEEPS/ifndef SLEEPS/' "$dir/work/walk.c"
tools/lab/grade walk --out "$dir/o" --only first_level "$dir/work" > "$dir/said" 2>&1 &
stays() {
	ls -l /proc/[0-9]*/cwd 2> /dev/null | grep -q -F "$dir/o/empty"
}
until_true 30 stays || echo "# no subject began"
kill $! $(ps -eo pid,ppid,args | awk -v of=$! -v dir="$dir/o" '$2 == of && index($0, dir) { print $1 }')
wait
until_true 5 eval '! stays'
expect 0 '' 'a grader that is ended leaves no judge and no subject' test $? = 0

mkdir "$dir/files"
cat "$B/labs/invalidate/starter/emu/sim/grace.c" tools/lab/cheats/floods.c > "$dir/files/grace.c"
expect 1 'its files hold more than 512 MB' 'files in memory are counted together' \
	tools/lab/grade invalidate --out "$dir/o" --only sync_once "$dir/files"

# The subject of driver plays the engine, which on other steppings has an erratum: all at once.
mkdir -p "$dir/errata/faultline" "$dir/obj/labs/driver" "$dir/obj/tools/grade"
device=faultline/device.h
sed 's/^\(#define DEV_ERR_[A-Z]* *\)0/\11/' "kernel-ref/include/$device" > "$dir/errata/$device"
compile="${LAB_COMPILE%% *} -I$dir/errata ${LAB_COMPILE#* }"
for f in labs/driver/subject*.c; do
	$compile $(sed -n 's/^flags: *//p' labs/driver/lab.conf) -c -o "$dir/obj/${f%.c}.o" "$f"
done
cp "$O/tools/grade/subject.o" "$dir/obj/tools/grade/"
mkdir "$dir/erring"
for f in $(sed -n 's/^files: *//p' labs/driver/lab.conf); do
	{ cat "$f"; echo '// mine'; } > "$dir/erring/${f##*/}"
done
expect 0 'score 100 of 100' 'the driver for a device with all errata' \
	env O="$dir/obj" LAB_COMPILE="$compile" tools/lab/grade driver --out "$dir/o" "$dir/erring"

# What does not build, and what lacks a file.
echo 'this is no C' > "$dir/work/walk.c"
expect 1 'it did not build' 'a file that is no C' tools/lab/grade walk --out "$dir/o" "$dir/work"
expect 0 'did-not-build' 'and the record says so' "$grade" export text "$dir/o/record"
"$grade" export text "$dir/o/record" > "$dir/told"
expect 1 '' 'and no test is listed, since none was run' grep '^ ' "$dir/told"
mkdir "$dir/driver"
cp "$dir/work/walk.c" "$dir/driver/fl_fault.c"
expect 2 'on Linux: NOT RUN (it did not build)' 'and no guest is booted for it' \
	$make grade LAB=driver ON=linux FILE="$dir/driver"
expect 0 '"stdout_visibility": "visible"' "Gradescope then shows the compiler's words" \
	"$grade" export gradescope "$dir/o/record"

# A lab in Verilog: whose lines the messages name.
if [ -x "$B/labs/engine/grade" ]; then
	mkdir "$dir/circuit"
	cp rtl/hdl/fl_ctl_tx.vh rtl/hdl/fl_ctl_write.vh rtl/hdl/fl_ctl_rx.vh "$dir/circuit/"
	echo 'END_OF_IT: redy <= 1;' >> "$dir/circuit/fl_ctl_tx.vh"
	expect 1 "fl_ctl_tx.vh:$(wc -l < "$dir/circuit/fl_ctl_tx.vh"):" \
		"an error in Verilog is told with the work's own line" \
		tools/lab/grade engine --out "$dir/o" --only sends "$dir/circuit"
	echo '// $time' > "$dir/circuit/fl_ctl_rx.vh"
	expect 1 'fl_ctl_rx.vh:1: "$": a circuit has no system tasks' 'and a system task is none' \
		tools/lab/grade engine --out "$dir/o" --only sends "$dir/circuit"
	part=$dir/circuit/fl_ctl_rx.vh
	circuit() {	# TEXT NAME: it has no points, and TEXT says why
		expect 1 "$1" "a circuit: $2" \
			tools/lab/grade engine --out "$dir/o" --only sends "$dir/circuit"
		rm -rf "$part"
	}
	cp rtl/hdl/fl_ctl_tx.vh "$dir/circuit/"
	echo 'endmodule' > "$part"
	circuit 'fl_ctl_rx.vh:1: "endmodule": a part of a module' 'defines no modules'
	ln -s "$PWD/rtl/hdl/fl_ctl_rx.vh" "$part"
	circuit 'fl_ctl_rx.vh is a link' 'a link'
	mkdir "$part"
	circuit 'fl_ctl_rx.vh is no file' 'a folder'
	mkfifo "$part"
	circuit 'fl_ctl_rx.vh is no file' 'a pipe'
	: > "$part"
	circuit 'fl_ctl_rx.vh is empty' 'nothing'
	sed 's/./&\x00/g' rtl/hdl/fl_ctl_rx.vh > "$part"
	circuit 'fl_ctl_rx.vh is no text' 'two bytes a character'
	dd if=/dev/zero of="$part" bs=1 count=1 seek=2147483647 2> /dev/null
	circuit 'fl_ctl_rx.vh is too large' 'gigabytes'
	for word in include line pragma define; do
		echo "\`$word \"rtl/hdl/fl_ctl_rx.vh\"" > "$part"
		circuit "fl_ctl_rx.vh:1: \`$word: no directives" "\`$word"
	done
	# Out of the case statement that it stands in, and into it again.
	outside() {
		{ cat rtl/hdl/fl_ctl_rx.vh; printf '%s\n' endcase end "$1" \
			'always @(posedge clk) begin' 'case (step)'; } > "$part"
	}
	outside 'genvar v; generate for (v = 0; v < 1; v = v) begin : g wire w; end endgenerate'
	circuit 'it did not build' 'a generate loop without an end'
	outside 'function f(input a); while (1) f = a; endfunction localparam X = f(1); wire w = X;'
	circuit 'it did not build' 'a constant that is never known'
	outside 'import "DPI-C" function void system(input string s);'
	circuit 'syntax error' "somebody else's C"
	outside 'reg [7:0] vast [0:2000000000]; always @(posedge clk) vast[step] <= step;'
	circuit 'it did not build' 'more memory than there is'
	{ cat rtl/hdl/fl_ctl_rx.vh; yes "7'd121: count <= 33'h1ffffffff;" | head -n 5000; } > "$part"
	tools/lab/grade engine --out "$dir/o" --only sends "$dir/circuit" > "$dir/said" 2>&1
	expect 0 'cut here' 'a flood of warnings is cut' cat "$dir/o/build.log"
	expect 1 '' 'and nothing large is left' sh -c "find '$dir/o' -type f -size +1024 | grep ."
	sed "s/\$/$(printf '\r')/" rtl/hdl/fl_ctl_rx.vh > "$part"
	expect 0 'score 3 of 3' 'an editor that ends lines with CR and LF costs nothing' \
		tools/lab/grade engine --out "$dir/o" --only sends "$dir/circuit"
else
	skip "an error in Verilog is told with the work's own line" 'the lab engine is not built'
fi

# Staff: a folder of submissions, the workflow, the overlap.
mkdir -p "$dir/all/one/emu/smmu" "$dir/all/two"
cp emu/smmu/walk.c emu/smmu/tlb.c "$dir/all/one/emu/smmu/"
sed 's/index_bits/bits/g; s/align_bits/more/g' emu/smmu/walk.c > "$dir/all/two/walk.c"
echo 'int main(void) { return 0; }' > "$dir/all/two/translate.c"
expect 0 'one: 100 of 100' 'a folder of submissions' \
	tools/lab/batch walk "$dir/all" --out "$dir/batch" --jobs 1
expect 0 'walk,"two",1,' 'scores as a table' cat "$dir/batch/scores.csv"
expect 0 'lab,name,seed,score,max,first_level' 'whose first line says what is in the columns' \
	head -n 1 "$dir/batch/scores.csv"
expect 0 1 'and no other line does' grep -c '^lab,' "$dir/batch/scores.csv"
expect 0 3 'a line for each submission' sh -c "wc -l < '$dir/batch/scores.csv'"
mkdir "$dir/nobody"
expect 1 "no submission in $dir/nobody" 'a folder without submissions' \
	tools/lab/batch walk "$dir/nobody" --out "$dir/batch0"
expect 1 '' 'leaves no table' test -e "$dir/batch0/scores.csv"
expect 0 'the starter' 'who has one file only gets the other from the starter' \
	cat "$dir/batch/two.txt"
expect 0 'command: make -s grade LAB=walk ONLY=first_level' 'the workflow for Classroom' \
	tools/lab/classroom walk

# Works that mean no good: no points, a word why, and nothing that stays.
hostile=$dir/hostile
given=$B/labs/walk/starter/emu/smmu/walk.c
mkdir -p "$hostile/link" "$hostile/inside/emu" "$hostile/huge" "$hostile/garbage" "$hostile/pipe" \
	"$hostile/endless" "$hostile/reads" "$hostile/words" "$hostile/bomb" "$hostile/Makefile" \
	"$hostile/two words" "$hostile/x.txt" "$hostile/two
lines"
mkdir -p "$hostile/folder/walk.c"
for name in assembly reference ident system marks changes linked empty zeros main others crlf \
	wide warns picks unique; do
	mkdir "$hostile/$name"
done
ln -s "$PWD/emu/smmu/walk.c" "$PWD/emu/smmu/tlb.c" "$hostile/link/"
ln -s "$PWD/emu/smmu" "$hostile/inside/emu/smmu"
ln -s "$dir/all/one" "$hostile/another"
dd if=/dev/zero of="$hostile/huge/walk.c" bs=1 count=1 seek=2147483647 2> /dev/null
head -c 50000 /dev/urandom > "$hostile/garbage/walk.c"
mkfifo "$hostile/pipe/walk.c"
with() { { cat "$given"; printf '%s\n' "$@"; } > "$hostile/$name/walk.c"; }
name=endless; with '#include "/dev/zero"'
name=reads; with '#include "/etc/passwd"' '#include "tests/harness.h"'
name=words; with '#include "/etc/passwd"' '#include "nope.h"'
name=assembly; with '#define J(a, b) a##b' 'J(__a, sm__)(".incbin \"/etc/passwd\"");'
name=reference; with 'static void f(void) __attribute__((weakref("x\n.incbin \"/etc/passwd\"\n#")));' \
	'void g(void) { f(); }'
name=ident; with '#ident "x\"\n.IncBin \"/etc/passwd\"\n.ident \"x"'
name=system; with '#include <../../etc/passwd>'
name=marks; with '#line 1 "/etc/passwd"' 'this is no C'
name=changes; with '#if __has_include("text") || __has_include("src/walk.c")' \
	'#include "/etc/passwd"' '#endif'
name=linked; with "#include \"$hostile/linked/x.h\""
ln -s "$PWD/emu/smmu/walk.c" "$hostile/linked/x.h"
: > "$hostile/empty/walk.c"
name=zeros; with 'int x;'
head -c 1 /dev/zero >> "$hostile/zeros/walk.c"
name=main; with 'int main(void) { return 0; }'
name=others; with 'void board_busy(void);' 'void board_busy(void) { }'
{ printf '\377\376'; sed 's/./&\x00/g' emu/smmu/walk.c; } > "$hostile/wide/walk.c"
name=picks; with 'void board_busy(void);' 'static void mine(void) { }' \
	'static void *pick(void) { return (void *)mine; }' \
	'void board_busy(void) __attribute__((ifunc("pick")));'
name=unique; with '__asm__(".globl board_busy\n.type board_busy, @gnu_unique_object\nboard_busy: ret");'
name=warns; with '#define A(x) x x x x x x x x x x x x x x x x' \
	'void g(int x) { A(A(A(x << 99;))) A(A(A(x << 98;))) }'
for f in walk tlb; do sed "s/\$/$(printf '\r')/" "emu/smmu/$f.c" > "$hostile/crlf/$f.c"; done
printf '%s\n' '#define A(x) x x x x x x x x x x x x x x x x' \
	'int a = A(A(A(A(A(A(A(A(A(1)))))))));' > "$hostile/bomb/walk.c"
for name in Makefile 'two words' 'two
lines' x.txt; do
	cp emu/smmu/walk.c emu/smmu/tlb.c "$hostile/$name/"
done
echo '/* mine */' >> "$hostile/Makefile/walk.c"
echo '#error' > "$hostile/Makefile/smmu_internal.h"
printf 'all $(shell touch %s/touched):\n' "$dir" > "$hostile/Makefile/Makefile"
mkdir "$dir/batch/gone"
echo 'not a record' > "$dir/batch/gone/record"
expect 1 'two words: 100 of 100' 'a folder with works that mean no good' \
	tools/lab/batch walk "$hostile" --out "$dir/batch" --jobs 2
cp "$dir/out" "$dir/said"
# hostile TEXT NAME WORK: it has nothing, and its text says why
hostile()
{
	expect 0 "$1" "$2" sh -c "grep -qx '$3: 0 of 100' $dir/said && cat '$dir/batch/$3.txt'"
}
hostile 'walk.c is a link' 'a link to the reference is no work' link
hostile 'walk.c is a link' 'nor is one in a folder that is a link' inside
hostile 'walk.c is too large' 'a file of gigabytes' huge
hostile 'it did not build' 'bytes that are no text' garbage
hostile 'walk.c is no file' 'a pipe' pipe
hostile 'did not come to its end' 'an include without an end' endless
hostile 'includes what it may not: /etc/passwd' 'includes of what is not its own' reads
hostile 'did not come to its end' 'an include that ends the look at includes' words
hostile 'did not build' 'a bomb of macros' bomb
hostile "has '.incbin' in its assembly" 'assembly, which could include what it likes' assembly
hostile "has '.incbin' in its assembly" 'assembly in an attribute' reference
hostile "has '.IncBin' in its assembly" 'and in a directive' ident
hostile 'did not build' 'a file that is found from where the system has its headers' system
hostile 'includes what it may not: #line "/etc/passwd"' 'lines that are said to be of another file' marks
hostile 'score' 'what is another text when it is looked at once more' changes
hostile 'includes what it may not' 'a header that is a link' linked
hostile 'walk.c is empty' 'an empty file' empty
hostile 'walk.c is no text' 'bytes of 0' zeros
hostile 'defines what another file does: main' 'a program of its own' main
hostile 'defines what another file does: board_busy' 'a name of the files that are given' others
hostile 'walk.c is no file' 'a folder' folder
hostile 'walk.c is no text' 'a text of two bytes a character' wide
hostile 'defines what another file does: board_busy' 'one that is looked for at the start' picks
hostile 'defines what another file does: board_busy' 'one that is there only once' unique
expect 0 'cut here' 'a flood of warnings is cut' cat "$dir/batch/warns/build.log"
expect 1 '' 'nothing large is left of any' sh -c "find '$dir/batch' -type f -size +1024 | grep ."
expect 0 'crlf: 100 of 100' 'an editor that ends lines with CR and LF costs nothing' cat "$dir/said"
expect 1 '' 'words of a file that was included are not told' \
	grep -l root: "$dir"/batch/*.txt
expect 1 '' 'bytes that a terminal would obey neither' \
	sh -c "LC_ALL=C tr -d '\\11\\12\\40-\\176' < $dir/batch/garbage.txt | grep -a ."
expect 0 'another: could not be graded: it is a link' "a link to somebody's work" cat "$dir/said"
expect 0 'x.txt: could not be graded: a name' 'a name that others would meet' cat "$dir/said"
expect 0 "lines': could not be graded: a name" 'a name of two lines' cat "$dir/said"
expect 0 'Makefile: 100 of 100' 'other files of a work are not looked at' cat "$dir/said"
expect 1 '' 'a Makefile neither' test -e "$dir/touched"
expect 1 '' 'scores of an earlier folder are not among these' grep gone "$dir/batch/scores.csv"
expect 1 '' 'no process is left' sh -c "ps -eo args | grep -F '$dir/batch' | grep -v -e grep -e 'sh -c'"

wait $every
expect 0 'the tests before it took all the time' 'a whole grade ends after so many seconds' \
	cat "$dir/o2/record"

if command -v sim_c > /dev/null; then
	expect 0 ' is in ' 'two that are alike' tools/lab/overlap walk "$dir/all"
else
	skip 'two that are alike' 'no sim_c (package similarity-tester)'
fi
exit $bad
