#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# make walk-of-a-write: the way begins and ends in the library, goes through driver
# and card, and its counts are those of its list.
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
printf 'board a\nprocess p on a\n' > "$dir/none.fl"
expect 2 'no WRITE was posted' 'a scenario without a request' \
	$make walk-of-a-write WAY="$dir/none.fl"
exit $bad
