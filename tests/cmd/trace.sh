#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# faultline trace and run: filters, pictures, mistakes in files and options.
set -u
. tests/cmd/expect.inc

t="$dir/x.trace"
head -c 100000 "$fl" > "$dir/some"
expect 0 'equal' 'a trace is written' "$fl" send --trace "$t" "$dir/some"
expect 0 'LIB_POST' 'text' "$fl" trace "$t"
"$fl" trace "$t" > "$dir/again"
expect 0 '' 'the text of a trace is the trace' cmp "$t" "$dir/again"
expect 0 'SMMU_FAULT' 'only one event' "$fl" trace --event SMMU_FAULT "$t"
expect 1 '' 'and no other' sh -c "'$fl' trace --event SMMU_FAULT '$t' | grep -v SMMU_FAULT | grep -v '^#'"
expect 1 '' 'only one board' sh -c "'$fl' trace --board 1 '$t' | grep '^[^ ]* [^ ]* 0\\.'"
expect 0 'the bank latched a fault' 'with the meaning' "$fl" trace --told --event SMMU_FAULT "$t"
for k in sequence states walk; do
	expect 0 'digraph' "picture $k" "$fl" trace --dot $k "$t"
	expect 0 '#D55E00' "picture $k shows the fault in its colour" "$fl" trace --dot $k "$t"
	if command -v dot > /dev/null; then
		"$fl" trace --dot $k "$t" > "$dir/$k.dot"
		expect 0 '' "Graphviz draws $k without complaint" \
			sh -c "dot -Tsvg '$dir/$k.dot' 2>&1 > '$dir/$k.svg' | grep . && exit 1; grep -q '<svg' '$dir/$k.svg' && echo drawn"
	fi
done
expect 2 "did you mean 'sequence'" 'an unknown picture' "$fl" trace --dot sequenc "$t"
expect 2 "did you mean 'SMMU_FAULT'" 'an unknown event' "$fl" trace --event SMMU_FALT "$t"
expect 2 'a plain number' 'a board that is no number' "$fl" trace --board a "$t"
expect 1 'no such transfer' 'a transfer that is not there' "$fl" trace --dot sequence --xfer 999 "$t"
expect 1 'no such fault' 'a fault that is not there' "$fl" trace --dot walk --fault 9999 "$t"
expect 2 'cannot read this trace' 'a missing file' "$fl" trace "$dir/nothing"
expect 2 'this is not a trace' 'a file that is no trace' "$fl" trace "$dir/some"
sed '5s/ [A-Z_]* [0-9]*\.[0-9]*\.[0-9]* / NONSENSE 0.0.0 /' "$t" > "$dir/broken"
head -c 3000 "$t" > "$dir/cut"
expect 2 'broken:5:' 'a broken line has file, line and column' "$fl" trace "$dir/broken"
expect 2 'cut:' 'a trace that was cut off' "$fl" trace "$dir/cut"

printf 'board a\nbaord b\n' > "$dir/bad.fl"
printf 'board a\nexpect stat a page_ins == 1\n' > "$dir/fails.fl"
printf 'board a\nset link.mbps=5\n' > "$dir/late.fl"
printf 'set link.mps=5\nboard a\n' > "$dir/unknown.fl"
expect 2 "bad.fl:2:1:" 'a mistake in a scenario has file, line and column' "$fl" run "$dir/bad.fl"
expect 2 "did you mean 'board'" 'and the nearest word' "$fl" run "$dir/bad.fl"
expect 1 'expected: stat a page_ins == 1' 'a failed expectation says what was expected' "$fl" run "$dir/fails.fl"
expect 1 'got:      0' 'and what came' "$fl" run "$dir/fails.fl"
expect 1 '1.          0 ns  board a' 'with the transcript' "$fl" run "$dir/fails.fl"
expect 2 'before the first board' 'set after a board' "$fl" run "$dir/late.fl"
expect 2 "link.mps" 'an unknown value in set' "$fl" run "$dir/unknown.fl"
expect 2 'cannot read this scenario' 'a missing scenario' "$fl" run "$dir/nothing.fl"
expect 2 'something is missing' 'no scenario' "$fl" run
expect 0 'post NAME' 'the language is printed' "$fl" run --language
expect 0 'no mistakes' 'a scenario can be checked only' "$fl" run --check tests/scenario/write_cold.fl
expect 0 'passed' 'the command line wins over the scenario' \
	"$fl" run --policy stall --resolve page --profile qfdb --seed 3 tests/scenario/write_resident.fl
echo "1..$n"
exit $bad
