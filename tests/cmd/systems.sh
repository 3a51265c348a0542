#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# faultline systems: every row has one name everywhere, and each of them carries a WRITE and a READ,
# but those of datagrams, which carry messages alone.
set -u
. tests/cmd/expect.inc

expect 2 'too many arguments' 'an argument' "$fl" systems part
expect 2 'unknown option' 'an option that is none' "$fl" systems --policy part
expect 0 "$("$fl" systems | sed '/^$/q' | cut -d' ' -f1 | paste -sd'|' | sed 's/|$//') what" \
	'the help names all of them' "$fl" send --help
expect 0 'system    tables' 'the rows and their columns' "$fl" systems
# The first lines, up to the empty one, name a row each.
names=$("$fl" systems | sed '/^$/q' | cut -d' ' -f1)
expect 0 '' 'there are rows' test -n "$names"
cat > "$dir/both.fl" <<'END'
set fw.tries = 1000
board a
board b
link a b
process p on a
process q on b
buffer src in p 96K fill=random
buffer dst in q 96K cold
buffer back in p 96K cold
region src
region dst
region back
connect p q as c
post w: write c src -> dst
post r: read c back <- dst
wait w r
expect status w ok
expect status r ok
expect data dst = src
expect data back = src
END
# A row whose requests end at once at a missing page: the program tries again.
cat > "$dir/again.fl" <<'END'
set fw.tries = 1000
board a
board b
link a b
process p on a
process q on b
buffer src in p 4K fill=random
buffer dst in q 4K cold
buffer back in p 4K cold
region src
region dst
region back
connect p q as c
post w: write c src -> dst
wait w
expect status w fault-fast
sleep 100ms
resume c
post w: write c src -> dst
post r: read c back <- dst
wait w r
expect status w ok
expect status r fault-fast
sleep 100ms
resume c
post r: read c back <- dst
wait r
expect status r ok
expect data dst = src
expect data back = src
END
cp "$dir/both.fl" "$dir/most.fl"
for row in $names; do
	case $row in
	abort) cp "$dir/again.fl" "$dir/both.fl" ;;
	# Each page waits for the acknowledgement timer, in threads by the clock on the wall.
	droprc) sed 's/ 96K/ 16K/; s/^wait.*/& within=60s/' "$dir/most.fl" > "$dir/both.fl" ;;
	# It has no READ.
	netvm) sed -e '/^post r/d; /status r/d; /back/d' -e 's/^wait w r/wait w/' \
		"$dir/most.fl" > "$dir/both.fl" ;;
	*) cp "$dir/most.fl" "$dir/both.fl" ;;
	esac
	lines=$(grep -ci "^SYSTEM($row," kernel-ref/include/faultline/system.def)
	expect 0 '' "$row is one row" test "$lines" = 1
	expect 0 '' "$row is in the book's table" grep -q "^|\`$row\`" book/gen/system.adoc
	case $row in
	backup | dropring)
		expect 0 '0 failed' 'a message' "$fl" run "tests/scenario/system_$row.fl"
		expect 2 'a system that has WRITEs' 'and no file' "$fl" send --policy "$row" "$dir/both.fl"
		continue ;;
	esac
	expect 0 '0 failed' "a WRITE and a READ, as an option" \
		"$fl" run --policy "$row" "$dir/both.fl"
	expect 0 '0 failed' "in threads" "$fl" run --mode threads --policy "$row" "$dir/both.fl"
	sed "s/^set.*/&\npolicy $row/" "$dir/both.fl" > "$dir/named.fl"
	expect 0 '0 failed' "and as a statement" "$fl" run "$dir/named.fl"
	expect 0 'the two are equal' "a file" "$fl" send --policy "$row" "$dir/both.fl"
done
cp "$dir/most.fl" "$dir/both.fl"
# Who keeps the tables: pins, faults, and what becomes of memory that is replaced.
tables()
{
	sed "s/^board a/policy $1 resolve=page\n&/" > "$dir/tables.fl" <<'END'
board a
board b
link a b
process p on a
process q on b
buffer src in p 64K fill=random
buffer dst in q 64K cold
region src
region dst
connect p q as c
post w: write c src -> dst
wait w
expect status w ok
END
	cat >> "$dir/tables.fl"
	expect 0 '0 failed' "$2" "$fl" run "$dir/tables.fl"
}
tables inserted 'inserted: pinned beforehand, no fault' <<'END'
expect counter q pinned_pages == 16
expect counter q faults == 0
END
tables pulp 'pulp: a fault a page, pinned by it' <<'END'
expect counter q pinned_pages == 16
expect counter q faults == 16
END
tables stall 'stall: a fault a page, nothing pinned' <<'END'
expect counter q pinned_pages == 0
expect counter q faults == 16
END
for row in pin part; do
	tables $row "$row: the card sees what the process has now" <<'END'
remap dst
post x: write c src -> dst
wait x
expect data dst = src
expect count ORPHAN_ACCESS == 0
END
done
for row in inserted pulp; do
	tables $row "$row: the card has what the process had" <<'END'
remap dst
post x: write c src -> dst
wait x
expect status x ok
expect data dst = zero
expect count ORPHAN_ACCESS >= 1
END
done
# Regions that are kept: the keys of policy, the options, and what becomes of replaced memory.
keeps()
{
	cat > "$dir/keeps.fl" <<-END
	policy $1
	board a
	board b
	link a b
	process p on a
	process q on b
	buffer src in p 64K fill=random
	buffer dst in q 64K cold
	region src
	region dst
	connect p q as c
	post w: write c src -> dst
	wait w
	deregister dst
	remap dst
	region dst
	post x: write c src -> dst
	wait x
	expect status x ok
	expect data dst = $2
	END
}
keeps pincache src
expect 0 '0 failed' 'pincache hears of a remap' "$fl" run "$dir/keeps.fl"
keeps 'pincache hook=no' zero
expect 0 '0 failed' 'without a hook it does not' "$fl" run "$dir/keeps.fl"
expect 1 'expect data dst = zero' 'an option overrides' "$fl" run --hook yes "$dir/keeps.fl"
expect 1 'EDQUOT' 'a cache that is too small' "$fl" run --cache 60K "$dir/keeps.fl"
expect 1 'expect data dst = zero' 'keys of a system that an option overrides' \
	"$fl" run --policy pin "$dir/keeps.fl"
keeps 'pin' src
expect 0 '0 failed' 'pinned in tables of the process' "$fl" run "$dir/keeps.fl"
expect 0 'the two are equal' 'a file through a small cache' \
	"$fl" send --policy pincache --cache 8K "$dir/keeps.fl"
expect 1 'EDQUOT' 'one that has no room for a page' \
	"$fl" send --policy pincache --cache 1 "$dir/keeps.fl"
expect 0 'the two are equal' 'between processes' \
	"$fl" send --mode processes --policy pincache --hook no "$dir/keeps.fl"
head -c 20000 "$fl" >"$dir/some"
expect 0 'the two are equal' 'between processes, through a small cache' \
	"$fl" send --mode processes --policy pincache --cache 8K "$dir/some"
expect 0 'the two are equal' 'and over UDP' \
	"$fl" send --mode processes --udp --policy pincache --cache 8K "$dir/some"
expect 1 'EDQUOT' 'between processes, one that has no room for a page' \
	"$fl" send --mode processes --policy pincache --cache 1 "$dir/keeps.fl"
expect 2 "0' stands here; wanted: a size of at least one byte" 'a bound of nothing' \
	sh -c 'echo "policy pincache cache=0" > "$1/no.fl"; "$2" run "$1/no.fl"' - "$dir" "$fl"
expect 2 "'maybe' stands here; wanted: yes or no" 'a hook that is none' \
	sh -c 'echo "policy pincache hook=maybe" > "$1/no.fl"; "$2" run "$1/no.fl"' - "$dir" "$fl"
for key in cache=64K hook=no; do
	expect 2 'wanted: cache= and hook= with pincache' "$key of a system that has no cache" \
		sh -c 'echo "policy part $3" > "$1/no.fl"; "$2" run "$1/no.fl"' - "$dir" "$fl" $key
done
expect 2 'a size of at least one byte' 'nor as an option' \
	"$fl" run --policy pincache --cache 0 "$dir/keeps.fl"
expect 2 "wanted: yes, no" 'a hook that is none' "$fl" run --hook maybe "$dir/keeps.fl"
expect 2 'wanted: --policy pincache' 'a cache where there is none' \
	"$fl" send --policy pin --cache 1M "$dir/keeps.fl"
expect 2 'wanted: --policy pincache' 'a hook where there is none' "$fl" send --hook no "$dir/keeps.fl"

echo "policy prat" > "$dir/wrong.fl"
expect 2 "did you mean 'part'" 'a row that is none' "$fl" run "$dir/wrong.fl"
expect 2 'wanted: part, stall' 'nor as an option' "$fl" run --policy none "$dir/both.fl"

# Rows of one's own: each kind of mistake is named with its place, and with what would be right.
derived()	# LINE TEXT NAME
{
	printf 'policy part\n%s\n' "$1" > "$dir/derived.fl"
	expect 2 "derived.fl:2:$2" "$3" "$fl" run --check "$dir/derived.fl"
}
derived 'system mine like=part rw=wait' "26: 'wait' stands here; wanted: rw=refuse or rw=drop or ir=hold iw=hold rr=hold rw=hold tells=resume or iw=abort rw=abort tells=status" \
	'a verdict that this miss cannot have'
derived 'system mine like=part ir=drop' "26: 'drop' stands here; wanted: ir=park" 'nor this one'
derived 'system mine like=pulp rw=wait' "26: 'wait' stands here; wanted: rw=hold" 'one that only stalls'
derived 'system mine like=abort rr=refuse' "27: 'refuse' stands here; wanted: rr=wait or rr=drop or rr=abort or ir=hold" \
	'one that ends its requests'
derived 'system mine like=part rw=hold' "26: 'hold' stands here; wanted: ir=hold iw=hold" \
	'stalled here and not there'
derived 'system mine like=stall rr=wait' "27: 'wait' stands here; wanted: ir=hold iw=hold" \
	'the other way round'
derived 'system mine like=stall tells=ready' "30: 'ready' stands here; wanted: tells=resume" \
	'stalled, and never resumed'
derived 'system mine like=part tells=resume' "29: 'resume' stands here; wanted: tells=ready" \
	'resumed, and never stalled'
derived 'system mine like=prat' "18: 'prat' stands here; wanted: part, stall" 'like a row that is none'
derived 'system mine rw=drop' "8: 'mine' stands here; wanted: like=SYSTEM" 'like no row'
derived 'system part like=stall' "8: 'part' stands here; wanted: another name" 'a name that is taken'
derived 'system mine like=part rw=dorp' "26: 'dorp' stands here; wanted: park, hold" 'a value that is none'
derived 'system mine like=part wr=drop' "23: 'wr' stands here" 'a column that is none'
derived 'system mine like=part rw=drop rw=drop' "31: 'rw' stands here; wanted: each option once" 'twice'
derived 'system mine like=part transport=tcp' "33: 'tcp' stands here; wanted: block" 'a transport that is none'
derived 'system mine like=part transport=rc' "33: 'rc' stands here; wanted: transport=block" \
	'a transport that the rest does not fit'
derived 'system mine like=npf tables=process transport=rc' "29: 'process' stands here; wanted: tables=nic" \
	'tables that it does not have'
derived 'system mine like=npf transport=rc tells=ready' "41: 'ready' stands here; wanted: tells=token or tells=pages or tells=table" \
	'an answer that it does not have'
derived 'system mine like=npf iw=park' "25: 'park' stands here; wanted: iw=drop or iw=rewind or iw=sleep" \
	'responses that are parked'
derived 'system mine like=part iw=drop' "26: 'drop' stands here; wanted: iw=park" 'responses that are dropped on blocks'
derived 'system mine like=npf rw=refuse' "25: 'refuse' stands here; wanted: rw=drop or rw=rnr or rw=sleep" \
	'blocks refused where there are none'
derived 'system mine like=npf before=snoop' "29: 'snoop' stands here; wanted: before=nothing or before=pin" \
	'requests read that the driver cannot ring'
derived 'policy mine' "8: 'mine' stands here; wanted: part, stall" 'a system that is declared nowhere'
printf 'system a like=part\nsystem a like=part\n' > "$dir/twice.fl"
expect 2 'this system is declared in line 1' 'one that is declared twice' "$fl" run --check "$dir/twice.fl"
# What was offered is right.
echo 'system mine like=part iw=abort rw=abort tells=status' > "$dir/offer.fl"
echo 'system yours like=part ir=hold iw=hold rr=hold rw=hold tells=resume' >> "$dir/offer.fl"
expect 0 '' 'what those messages offer' "$fl" run --check "$dir/offer.fl"
{ echo 'system a like=part rw=drop'; sed 's/^set.*/&\npolicy a/' "$dir/both.fl"; } > "$dir/good.fl"
expect 0 '0 failed' 'and one that is right' "$fl" run "$dir/good.fl"
expect 0 '0 failed' 'which an option overrides' "$fl" run --policy stall "$dir/good.fl"

# What reading requests first costs, as the book has it: LIB_POST to LIB_COMPLETE, in us.
cost() {	# SYSTEM SIZE
	cat > "$dir/cost.fl" <<-END
	policy $1
	board a
	board b
	link a b
	process p on a
	process q on b
	buffer src in p 1M fill=random
	buffer dst in q 1M warm
	region src
	region dst
	connect p q as c
	post w1: write c src -> dst
	wait w1
	post w2: write c src -> dst $2
	wait w2
	END
	"$fl" run --trace "$dir/cost" "$dir/cost.fl" > "$dir/said" &&
		awk '/LIB_POST 2\./ { a = $2 } /LIB_COMPLETE 2\./ { printf "%.2f", ($2 - a) / 1000 + 1e-6 }' \
			"$dir/cost"
}
for size in 4K 64K 256K 1M; do
	line=$(echo "$size" | sed 's/K/ KB/; s/M/ MB/')
	line="|$line |$(cost part $size) |$(cost ioguard $size) |"
	expect 0 '' "$line stands in the book" grep -qF "$line" book/systems.adoc
done

echo "1..$n"
exit $bad
