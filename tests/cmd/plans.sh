#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# faultline plans and faultline contest: the tables, what is wrong with a plan from a
# file, and that the book has the table as it is.
#
# checks: all
set -u
. tests/cmd/expect.inc

# --- plans

"$fl" plans --csv "$dir/one.csv" > "$dir/table" 2>&1
expect 0 '' 'every plan on every pattern' test $? = 0
sed '1,/^\$ build\/faultline plans$/d; /^----$/,$d' book/plans.adoc > "$dir/book"
expect 0 '' 'the book has the table as it is' cmp "$dir/table" "$dir/book"
"$fl" plans --csv "$dir/two.csv" > "$dir/again" 2>&1
expect 0 '' 'the same each time' cmp "$dir/table" "$dir/again"
expect 0 '' 'and the same for a spreadsheet' cmp "$dir/one.csv" "$dir/two.csv"
expect 0 '55' 'six patterns, nine plans and a line above' wc -l "$dir/one.csv"
expect 0 'pattern,plan,faults,avoided,pages_in,unused,evictions,time_ns' \
	'columns with names' head -n 1 "$dir/one.csv"
"$fl" plans --seed 2 --patterns random --plans block --csv "$dir/seed.csv" > "$dir/out" 2>&1
expect 1 '' 'another seed, other places' grep -q -x -F "$(tail -n 1 "$dir/seed.csv")" "$dir/one.csv"

# What each plan is for, in numbers: pages in and faults of pattern and plan.
value() {	# PATTERN PLAN COLUMN
	awk -F, -v p="$1" -v q="$2" -v c="$3" '$1 == p && $2 == q { print $c }' "$dir/one.csv"
}
less() {	# A B SENTENCE
	expect 0 '' "$3 ($1 below $2)" test "$1" -lt "$2"
}
for p in forward backward stride column random log; do
	expect 0 '' "$p: block brings in nothing in vain" test "$(value $p block 6)" = 0
done
less "$(value stride stride 3)" "$(($(value stride block 3) / 4))" 'stride finds a stride'
less "$(value column majority 3)" "$(($(value column block 3) / 4))" 'majority finds a column'
less "$(value backward history 3)" "$(($(value backward double 3) / 2))" \
	'history goes backwards, double does not'
less "$(value log double 3)" "$(($(value log block 3) / 2))" 'double follows a tail'
expect 0 '' 'nobody guesses at random places' \
	test "$(value random history 5)" = "$(value random block 5)"
less 0 "$(value random around:32 7)" 'around pushes pages out'

expect 2 "did you mean 'stride'" 'a pattern with a mistake' "$fl" plans --patterns strid
expect 2 "did you mean 'around:N'" 'a plan with a mistake' "$fl" plans --plans arond:4
expect 2 'from 1 to 256' 'a plan with a number that is none' "$fl" plans --plans block,around:0
expect 2 'from 64 to' 'fewer frames than a board needs' "$fl" plans --frames 3
expect 2 'from 1 to 64' 'nothing under way' "$fl" plans --depth 0
expect 2 'too many' 'an argument' "$fl" plans x
expect 1 'cannot write' 'a file that cannot be written' \
	"$fl" plans --patterns stride --plans block --csv "$dir/no/such"

# --- contest

plan() {	# FILE, the body on standard input
	{
		printf '#include "faultline/plan.h"\n'
		printf '#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n'
		printf 'void plan(const struct fl_plan_fault *fault, '
		printf 'struct fl_plan_state *state,\n\tstruct fl_plan_bring *bring)\n{\n'
		cat
		printf '}\n'
	} > "$dir/$1"
}
contest() {
	expect "$1" "$2" "$3" "$fl" contest "$dir/$4" --patterns stride
}

expect 0 'place' 'the example is measured' "$fl" contest tools/contest/example.c \
	--csv "$dir/contest.csv"
expect 0 '61' 'a row more for each pattern' wc -l "$dir/contest.csv"
"$fl" contest tools/contest/example.c > "$dir/first" 2>&1
"$fl" contest tools/contest/example.c > "$dir/second" 2>&1
expect 0 '' 'and the same each time' cmp "$dir/first" "$dir/second"

echo 'bring->now = fault->block;' | plan block.c
expect 0 '' 'the block, as the driver has it' sh -c "
	'$fl' contest '$dir/block.c' --csv '$dir/block.csv' > '$dir/out' &&
	sed -n 's/,block,/,/p' '$dir/block.csv' | sort | uniq -c |
		awk '\$1 != 2 { bad = 1 } END { exit bad || NR != 6 }'"
# It says nothing at all: the driver adds the page that is missing.
: | plan nothing.c
contest 0 'place' 'an empty answer' nothing.c
echo 'long i; for (i = 0; i < 20; i++) ((long *)bring)[i] = i % 2 ? -1 : random();
	for (i = 0; i < FL_PLAN_WORDS; i++) state->word[i] = random();' | plan wild.c
contest 0 'place' 'an answer without sense' wild.c
echo 'puts("hello"); fputs("there", stderr); bring->now = fault->block;' | plan loud.c
contest 0 'there' 'one that talks' loud.c

echo 'bring->nwo = fault->block;' | plan typo.c
contest 1 "did you mean 'now'" 'a mistake, in the words of the compiler' typo.c
contest 1 'it does not compile' 'and what follows from it' typo.c
echo 'int nothing;' > "$dir/none.c"
contest 1 'plan' 'a file without plan()' none.c
echo '#include "/etc/passwd"' > "$dir/reads.c"
contest 1 'it does not compile' 'a compiler that is to read what it may not' reads.c
echo 'if (state->word[0]++ == 3) *(volatile int *)8 = 1;' | plan crash.c
contest 1 'crashed at fault 4: signal 11' 'one that crashes' crash.c
echo 'abort();' | plan abort.c
contest 1 'crashed at fault 1: signal 6' 'one that gives up' abort.c
echo 'exit(7);' | plan leaves.c
contest 1 'ended by itself at fault 1, with status 7' 'one that leaves' leaves.c
echo 'for (;;) ;' | plan spins.c
contest 1 'gave no answer' 'one that never returns' spins.c
echo 'for (;;) pause();' | plan sleeps.c
contest 1 'gave no answer' 'one that sleeps' sleeps.c
echo 'plan(fault, state, bring); state->word[0]++;' | plan deep.c
contest 1 'crashed' 'one that calls itself' deep.c
echo 'if (fopen("/etc/passwd", "r")) bring->now = fault->block; else exit(9);' | plan opens.c
contest 1 'status 9' 'one that opens a file' opens.c
expect 2 'cannot read' 'no such file' "$fl" contest "$dir/no.c"
expect 2 '--tree FOLDER' 'no sources of Faultline' \
	"$fl" contest "$dir/block.c" --tree "$dir"
expect 2 'no C compiler' 'no compiler' env PATH="$dir" \
	"$(command -v "$fl")" contest "$dir/block.c"
expect 2 'something is missing' 'no plan' "$fl" contest
expect 0 'usage:' 'help' "$fl" contest --help
set -- "${TMPDIR:-/tmp}"/faultline-run.*/plan
expect 1 '' 'no program is left' test -e "$1"
echo "1..$n"
exit $bad
