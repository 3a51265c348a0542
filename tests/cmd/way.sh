#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# make walk-of-a-write: the way begins and ends in the library, goes through driver
# and card, and its counts are those of its list. README's files are on it, in their order.
set -u
. tests/cmd/expect.inc
make="${MAKE:-make} -s --no-print-directory"
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
$make walk-of-a-write > "$dir/counts" 2>&1
expect 0 'files in' 'it is measured' head -n 1 "$dir/counts"
for file in lib/work.c emu/nic/engine_tx.c emu/smmu/walk.c kernel-ref/fl_fault.c emu/host/fault.c; do
	expect 0 '' "$file is on it" grep -q " $file\$" "$dir/counts"
done
$make walk-of-a-write LIST=yes > "$dir/list" 2>&1
expect 0 'lib/work.c' 'it begins where a request is posted' head -n 1 "$dir/list"
expect 0 'lib/cq.c' 'and ends where its completion is found, and the card hears so' \
	tail -n 6 "$dir/list"
listed=$(grep -c . "$dir/list")
expect 0 "; $listed changes of file" 'as many changes as the list has lines' head -n 1 "$dir/counts"
expect 0 '' 'nothing of the scheduler is in it' test "$(grep -c '^emu/sim' "$dir/list")" = 0

awk '/^## /{ on = /weekend/ } on && /^[|] [0-9]/ && !/again/' README.md |
	grep -o '`[^`]*[.]c`' | tr -d '`' > "$dir/path"
awk 'FNR == NR { if (!seen[$0]++) at[$0] = ++n; next }
	!at[$0] { print $0 ": not on the way"; next }
	at[$0] < last { print $0 ": comes before" }
	{ last = at[$0] }' "$dir/list" "$dir/path" > "$dir/wrong"
expect 0 '' 'the files that README names are on the way, in that order' test ! -s "$dir/wrong"
cat "$dir/wrong"
said=$(sed -n 's/^\([0-9]*\) files, some \([0-9]*\) lines.*/\1 \2/p' README.md)
expect 0 '' "README says how many they are" \
	test "${said% *}" = "$(sort -u "$dir/path" | wc -l)"
lines=$(xargs cat < "$dir/path" | wc -l)
expect 0 '' "and how many lines, within 200 ($lines)" \
	test $((lines - ${said#* })) -le 200 -a $((${said#* } - lines)) -le 200

# Under load more is sent again than the scenario expects.
sed '/^expect stat a blocks_resent/s/==.*/== 99/' book/pictures/one-write.fl > "$dir/load.fl"
for mode in threads processes; do
	$make walk-of-a-write WAY="$dir/load.fl" MODE=$mode > "$dir/$mode" 2>&1
	for file in lib/work.c emu/smmu/walk.c kernel-ref/fl_fault.c lib/cq.c; do
		expect 0 '' "$mode: $file is on it" grep -q " $file\$" "$dir/$mode"
	done
done
expect 0 '' 'a process asks through lib/attach' grep -q ' lib/attach/' "$dir/processes"
# It closes what it has not opened, before it does anything. (The last run was in processes.)
expect 0 '' 'who tidies up after processes is heard, too' \
	grep -q '/keep[.]c$' build/way/out/functions
$make walk-of-a-write WAY=tests/scenario/system_npf.fl > "$dir/packets" 2>&1
expect 0 '' 'packets go through their unit' grep -q ' emu/nic/transport/rc' "$dir/packets"
expect 0 '' 'and none through the block engine' \
	test "$(grep -c ' emu/nic/engine_[rt]x.c$' "$dir/packets")" = 0

printf 'board a\nprocess p on a\n' > "$dir/none.fl"
expect 2 'no WRITE was posted' 'a scenario without a request' \
	$make walk-of-a-write WAY="$dir/none.fl"
exit $bad
