#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# faultline predict, and that README and book quote what it says now.
set -u
. tests/cmd/expect.inc

expect 2 'unknown option' 'an option that is none' "$fl" predict --fit
expect 2 'predict' 'an argument' "$fl" predict qfdb
expect 0 '38000 ns' 'the fits alone' "$fl" predict --fits
# 40 s of CPU: on a loaded machine longer than expect waits.
"$fl" predict > "$dir/said" 2>&1
expect 0 '' 'figures and their ranges' test $? = 0

# The table: four lines with a ratio and a range.
grep '^[14] MB cold.* to [0-9.]*$' "$dir/said" > "$dir/table"
expect 0 '4' 'four figures are predicted' wc -l "$dir/table"
for f in README.md book/tables.adoc; do
	grep '^[14] MB cold.* to [0-9.]*$' "$f" > "$dir/quoted"
	expect 0 '' "$f quotes them as they are" cmp "$dir/table" "$dir/quoted"
done

# A figure lies within its own range, and a range is one.
awk '{ if ($NF + 0 < $(NF - 2) + 0 || $(NF - 3) + 0 < $(NF - 2) + 0 ||
		$(NF - 3) + 0 > $NF + 0 || $(NF - 2) + 0 == $NF + 0) bad = 1 }
	END { exit bad }' "$dir/table"
expect 0 '' 'each lies within its range' test $? = 0
echo "1..$n"
exit $bad
