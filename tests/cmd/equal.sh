#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# faultline equal: two runs that are the same to the driver, and planted differences.
# (Runs on Linux are compared by tests/linux/equal.) And what a scenario must not say
# in mode vm, as far as no guest is needed to tell.
set -u
. tests/cmd/expect.inc

run()	# NAME SCENARIO OPTION...: the trace $dir/NAME
{
	name=$1 scenario=$2
	shift 2
	"$fl" run --trace "$dir/$name" "$@" "$scenario" >"$dir/log" ||
		{ cat "$dir/log"; bad=1; }
}
plant()	# NAME FROM SED-SCRIPT: the trace $dir/NAME is $dir/FROM with a difference
{
	sed "$3" "$dir/$2" >"$dir/$1"
	cmp -s "$dir/$1" "$dir/$2" && { echo "# $1: nothing planted"; bad=1; }
}

run cold tests/scenario/write_cold.fl
expect 0 'equal: 64 blocks, 0 differences' 'a run and itself' \
	"$fl" equal "$dir/cold" "$dir/cold"
sed 's/^board a$/set jitter = 3us\nboard a/' tests/scenario/write_cold.fl \
	>"$dir/jitter.fl"
run jitter "$dir/jitter.fl" --seed 7
expect 0 'equal: 64 blocks, 0 differences' 'another order of blocks' \
	"$fl" equal "$dir/cold" "$dir/jitter"

plant lost cold '/ DRV_RESOLVE 1\.5\.0 /d'
expect 1 '! RESOLVE r1+0x10000 pages=4 write error=0     | READY dest code=0' \
	'a request that is not made, side by side' \
	"$fl" equal "$dir/cold" "$dir/lost"
plant fewer cold '/ DRV_RESOLVE 1\.5\.0 /s/pages=4/pages=3/'
expect 1 'different: 64 blocks, 1 difference' 'a request for fewer pages' \
	"$fl" equal "$dir/cold" "$dir/fewer"
plant code cold '/ DRV_READY 1\.9\.0 /s/code=0/code=12/'
expect 1 '| READY dest code=12' 'another answer' \
	"$fl" equal "$dir/cold" "$dir/code"
plant order cold '/ DRV_WORK 1\.7\.0 /{h;d;};/ DRV_RESOLVE 1\.7\.0 /G'
expect 1 'different: 64 blocks, 1 difference' 'another order in one block' \
	"$fl" equal "$dir/cold" "$dir/order"
plant kind cold '/ DRV_IRQ_SMMU /s/fsr=0x80000402/fsr=0x80000408/'
expect 1 'IRQ_SMMU fsr=0x8' 'another kind of fault' \
	"$fl" equal "$dir/cold" "$dir/kind"
plant silent cold '/ DRV_IRQ_SMMU /d'
expect 1 'no IRQ_SMMU at all' 'an SMMU that never says why' \
	"$fl" equal "$dir/cold" "$dir/silent"
plant block cold '/ DRV_[A-Z_]* 1\.30\.0 /d'
for rule in around ahead shared failed zero-page; do
	expect 1 'board 1, transfer 1, block 30' \
		"a block that is not served, whatever --allow $rule" \
		"$fl" equal --allow $rule "$dir/cold" "$dir/block"
done

# A process of a guest that has no window says nothing of its own; the driver names its requests.
run read tests/scenario/system_ioguard.fl
plant quiet read '/\.LIB LIB_/d'
expect 0 ', 0 differences' 'requests that the driver read, and no event of the library' \
	"$fl" equal "$dir/read" "$dir/quiet"
plant deaf quiet '/ DRV_READY 1\.2\.0 /s/code=0/code=12/'
expect 1 '| READY dest code=12' 'of which one ends differently' \
	"$fl" equal "$dir/read" "$dir/deaf"

run again tests/scenario/evicted_again.fl
plant stale again '/ DRV_INVALIDATE 0\.0\.0 /d'
expect 1 'page r1+0x0' 'evicted pages that the card is not told of' \
	"$fl" equal "$dir/again" "$dir/stale"
expect 1 'INVALIDATE (kernel)' 'and no rule excuses that' \
	"$fl" equal --allow zero-page,around,ahead,shared,failed \
	"$dir/again" "$dir/stale"
expect 1 'INVALIDATE (kernel)' 'nor the reverse' \
	"$fl" equal --allow zero-page,around,ahead,shared,failed \
	"$dir/stale" "$dir/again"

run file tests/scenario/file_source.fl
plant around file '/ DRV_[A-Z_]* 2\.1\.0 /d'
expect 1 'board 0, transfer 2, block 1' 'a neighbour that does not fault' \
	"$fl" equal "$dir/file" "$dir/around"
expect 0 'equal' 'is what fault-around does' \
	"$fl" equal --allow around "$dir/file" "$dir/around"
expect 1 'different' 'but not in the small kernel' \
	"$fl" equal --allow around "$dir/around" "$dir/file"
run walk tests/scenario/touch_ahead.fl
plant part walk '/ DRV_RESOLVE 1\.1\.0 .*pages=16 /{x;s/^/x/;/^xx$/{x;d;};x;}'
expect 1 'different' 'a part that is not asked for ahead' \
	"$fl" equal "$dir/walk" "$dir/part"
expect 0 'equal' 'is what another beginning of the walk does' \
	"$fl" equal --allow ahead "$dir/walk" "$dir/part"
plant short walk '/ DRV_RESOLVE 1\.1\.0 .*pages=12 /s/pages=12/pages=11/'
expect 1 'different' 'but it ends where it ends' \
	"$fl" equal --allow ahead "$dir/walk" "$dir/short"
run refused tests/scenario/read_only_destination.fl
plant late refused '/ DRV_[A-Z_]* 1\.1\.0 /{p;s/ 1\.1\.0 / 1.2.0 /;}'
expect 1 'board 1, transfer 1, block 2' 'a transfer that fails, more or less' \
	"$fl" equal "$dir/refused" "$dir/late"
expect 0 'equal' 'is what the speed of the driver does' \
	"$fl" equal --allow failed "$dir/refused" "$dir/late"

expect 2 'zero-page, around, ahead, shared or failed' 'an unknown rule' \
	"$fl" equal --allow order "$dir/cold" "$dir/cold"
expect 2 'something is missing' 'one trace' "$fl" equal "$dir/cold"
expect 2 'this is not a trace' 'a file that is none' \
	"$fl" equal "$dir/cold" Makefile
sed '$a#lost 3' "$dir/cold" >"$dir/part"
expect 2 'has lost records' 'a trace with holes' \
	"$fl" equal "$dir/cold" "$dir/part"

# The book has the table that the command has.
"$fl" equal --rules >"$dir/rules"
missing=0
while IFS= read -r line; do
	[ -z "$line" ] || grep -qxF -- "$line" book/linux.adoc ||
		{ echo "# book/linux.adoc has no line: $line"; missing=1; }
done <"$dir/rules"
expect 0 '' 'the book has the table of differences' test $missing = 0
expect 0 '| `latch`, always' 'which is not empty' cat "$dir/rules"

# The list and the scenarios agree on what runs on Linux.
sed -n 's/^\(short\|long\|run\) \([a-z0-9_]*\).*/\2/p' tests/linux/equal.list |
	sort >"$dir/listed"
grep -l '^# modes:.* vm' tests/scenario/*.fl |
	sed 's,.*/,,; s,\.fl$,,' | sort >"$dir/marked"
expect 0 '' 'all scenarios of mode vm are in the list, and no others' \
	diff "$dir/listed" "$dir/marked"
expect 0 'write_cold' 'which is not empty' cat "$dir/listed"
# What `faultline systems` says about a row on Linux has been run.
"$fl" systems | sed '1,/^What differs/d; /^$/q' | sed '/^$/d' >"$dir/said"
not_run=
while read -r row text; do
	case $text in 'not run there yet') continue ;; esac
	[ "$row" = part ] && from='^connect' || from="^policy $row\\b"
	for name in $(cat "$dir/listed"); do
		grep -q "$from" "tests/scenario/$name.fl" && continue 2
	done
	not_run="$not_run $row"
done <"$dir/said"
expect 0 '' "each row that is said to run there has a scenario in the list$not_run" \
	test -z "$not_run"
expect 0 'ioguard' 'and something is said' cat "$dir/said"

vm()	# TEXT NAME LINE...: a scenario that mode vm refuses
{
	text=$1 name=$2
	shift 2
	printf '%s\n' 'board a' 'process p on a' "$@" >"$dir/no.fl"
	expect 2 "no.fl:$text" "$name" "$fl" run --mode vm "$dir/no.fl"
}
vm "3:1: 'starve' stands here; wanted in mode vm" 'no frames' 'starve a 3'
vm "3:16: 'frames' stands here" 'a budget of frames' 'board b frames=64'
vm "3:15: 'evictions' stands here" 'counters of the small kernel' \
	'expect stat a evictions == 0'
vm "3:15: 'pinned_peak' stands here" 'its highest counts' \
	'expect stat a pinned_peak == 0'
vm "3:14: 'MM_EVICT' stands here" 'events of the small kernel' \
	'expect count MM_EVICT == 0'
vm "8:14: 'd' stands here; wanted in mode vm: processes on at most 3 boards" \
	'four machines' 'board b' 'process q on b' 'board c' 'process r on c' \
	'board d' 'process s on d'
vm "4:20: 'tests/run' stands here" 'a file called run' \
	'buffer x in p file="LICENSE"' 'buffer y in p file="tests/run"'
# Linux does not tell what it maps; the small kernel does.
expect 2 "shadow.fl:17:18: 'loaded' stands here; wanted in mode vm: no look at it after a touch: Linux does not tell a driver which pages it maps" \
	'the shadow of netvm, as far as nobody tells' \
	"$fl" run --mode vm tests/scenario/system_netvm_shadow.fl
expect 2 "shadow.fl:21:15: 'redirected' stands here" 'and what follows from it' \
	"$fl" run --mode vm tests/scenario/system_netvm_shadow.fl
printf '%s\n' 'board a' 'process p on a' 'policy netvm' 'process q on a' 'buffer x in p 4K' \
	'buffer y in q 4K' 'touch x write' 'region x' 'region y' 'expect counter q loaded == 1' \
	'expect stat a redirected == 0' > "$dir/untouched.fl"
expect 1 'no guest comes' 'what was not touched, or is another row, may be looked at' \
	"$fl" run --mode vm --boot /bin/false "$dir/untouched.fl"
expect 2 'a program that can be run' 'nothing that boots a guest' \
	"$fl" run --mode vm --boot /no/such tests/scenario/write_cold.fl
expect 1 'board a: no guest comes (/bin/false)' 'a guest that does not come' \
	"$fl" run --mode vm --boot /bin/false tests/scenario/write_cold.fl
expect 2 'vm: faultline run' 'mode vm of another command' \
	"$fl" send --mode vm LICENSE

# A name is looked at before a guest is made.
expect 2 "no scenario 'nope' in tests/linux/equal.list" 'a scenario that is not there' \
	"${MAKE:-make}" -s vqfdb-equal SCENARIOS='write_cold nope' KERNEL=6.12
expect 0 '' 'and one that is' tests/linux/equal --names write_cold

echo "1..$n"
exit $bad
