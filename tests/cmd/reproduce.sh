#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# faultline reproduce, and that README and book quote what it says now.
set -u
. tests/cmd/expect.inc

expect 2 'unknown option' 'an option that is none' "$fl" reproduce --fits
expect 2 'qfdb, hops' 'an experiment that is none' "$fl" reproduce thesis
expect 2 'qfdb:' 'what an experiment without assumed values does not have' \
	"$fl" reproduce hops --sensitivity
expect 0 'experiment,figure,unit,published,model,mark,source' 'as CSV' \
	"$fl" reproduce hops --csv
cut -d, -f1 "$dir/out" | sort -u | tr '\n' ' ' > "$dir/names"
expect 0 'experiment hops' 'one experiment and no other' cat "$dir/names"

# All of them; a figure that the profile is fitted to, or that follows, is not off.
expect 0 '' 'nothing that is fitted is off' "$fl" reproduce
cp "$dir/out" "$dir/all"
# What operations on counters cost is fitted where it is the largest share; a bound is no figure
# to be met.
sed -n '/^netvm: /,/^$/p' "$dir/all" > "$dir/netvm"
expect 0 '' 'the cost of a wait queue' grep -q \
	'^a wait queue, over looking again and again * 18.2 % * 18.[0-9] % .* F ' "$dir/netvm"
expect 0 '' 'that of a semaphore is under its bound' grep -q \
	'^a counting semaphore, over sleeping * <=  12.6 % .* holds  P ' "$dir/netvm"
expect 0 4 'four bounds hold' grep -c ' <= .* holds ' "$dir/netvm"
for f in README.md book/tables.adoc; do
	sed -n '/^qfdb: /,/^ten times/p' "$f" > "$dir/quoted"
	sed -n '/^qfdb: /,/^ten times/p' "$dir/all" > "$dir/says"
	[ "$f" = README.md ] && sed -i -e '/^$/,$d' -e '/^```/,$d' "$dir/says" "$dir/quoted"
	expect 0 '' "$f has a quotation" test -s "$dir/quoted"
	expect 0 '' "$f quotes it as it is" cmp "$dir/says" "$dir/quoted"
done

# Each value that is assumed, within its bounds. 40 s of CPU: on a loaded machine longer
# than expect waits.
"$fl" reproduce qfdb --sensitivity > "$dir/said" 2>&1
expect 0 '' 'figures and their ranges' test $? = 0
grep '^[14] MB cold.* to [0-9.]*$' "$dir/said" > "$dir/table"
expect 0 '4' 'four figures are predicted' wc -l "$dir/table"
for f in README.md book/tables.adoc; do
	grep '^[14] MB cold.* to [0-9.]*$' "$f" > "$dir/quoted"
	expect 0 '' "$f quotes the ranges as they are" cmp "$dir/table" "$dir/quoted"
done
# What the book says of the choices that matter is what moves most.
for knob in board.contexts board.block mm.minor mm.pin; do
	line=$(grep "^  $knob " "$dir/said" | head -n 1)
	expect 0 '' "the book quotes $knob" grep -qF -- "$line" book/tables.adoc
done

# A figure lies within its own range, and a range is one.
awk '{ if ($NF + 0 < $(NF - 2) + 0 || $(NF - 3) + 0 < $(NF - 2) + 0 ||
		$(NF - 3) + 0 > $NF + 0 || $(NF - 2) + 0 == $NF + 0) bad = 1 }
	END { exit bad }' "$dir/table"
expect 0 '' 'each lies within its range' test $? = 0
echo "1..$n"
exit $bad
