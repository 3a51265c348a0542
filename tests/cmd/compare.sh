#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# faultline compare: every system in one table, what it says of it, and what may be asked for.
set -u
. tests/cmd/expect.inc

# --- the table

"$fl" compare --csv "$dir/one.csv" --svg "$dir/one.svg" > "$dir/one" 2>&1
expect 0 '' 'a WRITE under every system' test $? = 0
"$fl" compare --systems part,stall --csv "$dir/two.csv" --svg "$dir/two.svg" > "$dir/two" 2>&1
"$fl" compare write --systems part,stall --csv "$dir/write.csv" --svg "$dir/write.svg" > "$dir/write" 2>&1
expect 0 '' 'write is what is meant' cmp "$dir/two" "$dir/write"
expect 0 '' 'the same for a spreadsheet' cmp "$dir/two.csv" "$dir/write.csv"
expect 0 '' 'and as a picture' cmp "$dir/two.svg" "$dir/write.svg"
# Datagrams have no WRITE.
names=$("$fl" systems | awk '/^system /{ on = 1; next } on && !NF { exit } on && $4 != "ud" { print $1 }')
expect 2 'datagrams have no WRITE' 'a system that cannot do it' "$fl" compare --systems backup
for row in $names; do
	expect 0 '' "$row has a line" grep -q "^$row  *[0-9e]" "$dir/one"
	expect 0 '' "and one for a spreadsheet" grep -q "^$row,ideal," "$dir/one.csv"
	expect 0 '' "and one in the picture" grep -q ">$row</text>" "$dir/one.svg"
done
expect 0 '' 'no line more' test "$(wc -l < "$dir/one.csv")" = "$(($(echo "$names" | wc -l) + 1))"
expect 0 '</svg>' 'the picture is whole' tail -n 1 "$dir/one.svg"
if command -v xmllint > /dev/null; then
	expect 0 '' 'and well formed' xmllint --noout "$dir/one.svg"
else
	skip 'the picture is well formed' 'no xmllint'
fi

# A stream is of datagrams.
expect 0 'a stream of 300 packets into a ring of 16, cold' 'a stream' \
	"$fl" compare stream count=300 depth=16 --csv "$dir/stream.csv"
for row in backup dropring; do
	expect 0 '' "$row has a line" grep -q "^$row,ideal,ok" "$dir/stream.csv"
done
expect 0 '' 'and nobody else' test "$(wc -l < "$dir/stream.csv")" = 3
expect 2 'a stream is of datagrams' 'not with blocks' "$fl" compare stream --systems part
expect 2 'a power of two' 'a ring that is none' "$fl" compare stream depth=3
expect 2 'cold=0% or cold=100%' 'a ring that is half cold' "$fl" compare stream cold=50%

# What each is for, in numbers: column NAME of a row.
value() {	# FILE ROW NAME
	awk -F, -v row="$2" -v name="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		$1 == row { print $at }' "$1"
}
equal() {	# A B SENTENCE
	expect 0 '' "$3 ($1 is $2)" test "$1" = "$2"
}
less() {	# A B SENTENCE
	expect 0 '' "$3 ($1 below $2)" test "$1" -lt "$2"
}
one="$dir/one.csv"
equal "$(value "$one" part faults)" 64 'a fault for each block of a megabyte'
equal "$(value "$one" part resent)" 64 'and each block once more'
equal "$(value "$one" stall resent)" 0 'none with the SMMU that holds it'
less "$(value "$one" stall payload_bytes)" "$(value "$one" part payload_bytes)" 'so less on the wire'
equal "$(value "$one" pin faults)" 0 'nothing is missed by what is pinned'
less 0 "$(value "$one" pin pinned_peak)" 'which has a price'
less "$(value "$one" pin transfer_ns)" "$(value "$one" pin total_ns)" 'and needs its time'
less 0 "$(value "$one" drop dropped)" 'silence'
less "$(value "$one" part total_ns)" "$(value "$one" drop total_ns)" 'that costs time-outs'
less 0 "$(value "$one" part irqs_fault)" 'interrupts of the card'
less 0 "$(value "$one" part cpu_work_ns)" 'work in the kernel'
quick=$(tail -n +2 "$one" | awk -F, '$3 == "ok"' | sort -t, -k 6n | head -n 1 | cut -d, -f1)
expect 0 "With set-up, $quick is the quickest" 'the sentence names the quickest' cat "$dir/one"

expect 0 'pattern random' 'a pattern' "$fl" compare random --systems part
expect 0 '4 times 8 bytes there and back' 'a pingpong' \
	"$fl" compare pingpong bytes=8 count=4 --systems part
expect 0 'operation' 'with times of an operation' "$fl" compare pingpong count=2 --systems pin
expect 0 '2 READs of 64 KB, 50% of source cold' 'keys' \
	"$fl" compare read bytes=64K count=2 cold=50% side=source --systems stall,part
"$fl" compare read --systems stall,part > "$dir/order"
expect 0 'stall' 'in the order of the list' sed -n 5p "$dir/order"
expect 0 "each system's home" 'at home' "$fl" compare bytes=64K --profile home --csv "$dir/home.csv"
for row in $names; do
	home=$(sed -n "/^SYSTEM($(echo "$row" | tr a-z A-Z),/p" kernel-ref/include/faultline/system.def |
		sed 's/.*"\(.*\)",$/\1/')
	equal "$(value "$dir/home.csv" "$row" profile)" "$home" "$row at home"
done
expect 0 'seeds 1 to 3 (medians)' 'three seeds' \
	"$fl" compare random --systems part --seeds 3 --csv "$dir/three.csv"
less "$(value "$dir/three.csv" part least_ns)" "$(value "$dir/three.csv" part most_ns)" \
	'that differ'
expect 0 'peer dies' 'what gets in the way' \
	"$fl" compare bytes=64K --hazards --csv "$dir/hazards.csv" --svg "$dir/hazards.svg"
for hazard in pressure remap loss 'peer dies' rights; do
	expect 0 '' "$hazard is in the picture" grep -q ">$hazard</text>" "$dir/hazards.svg"
	for row in $names; do
		expect 0 '' "$hazard has an outcome for $row" \
			test -n "$(value "$dir/hazards.csv" "$row" "$hazard")"
	done
done
equal "$(value "$dir/hazards.csv" pin pressure)" 'no start' 'pinned memory has to be there'
# Where the card keeps frames that were pinned it does not see what the process does.
grep -v -E '^(inserted|pulp),' "$dir/hazards.csv" > "$dir/others.csv"
expect 1 '' 'nobody hangs or loses data' grep -E 'HANG|WRONG DATA|BROKEN' "$dir/others.csv"
expect 1 '' 'with tables of the driver'"'"'s nobody hangs either' grep -E 'HANG|BROKEN' "$dir/hazards.csv"
for row in inserted pulp; do
	equal "$(value "$dir/hazards.csv" $row remap)" 'WRONG DATA' "$row does not see a remap"
done
# A cache that hears of it does, and one that does not loses data, too.
equal "$(value "$dir/hazards.csv" pincache remap)" 'ok' 'pincache hears of a remap'
"$fl" compare --systems pincache --hook no --hazards --csv "$dir/deaf.csv" > "$dir/said"
equal "$(value "$dir/deaf.csv" pincache remap)" 'WRONG DATA' 'without a hook it does not'
# What is kept leaves no memory, if the bound lets it; a bound that fits is only slow.
"$fl" compare --systems pincache bytes=64K count=16 --hazards --csv "$dir/kept.csv" > "$dir/said"
equal "$(value "$dir/kept.csv" pincache pressure)" 'error ENOMEM' 'pins without a bound that fits'
"$fl" compare --systems pincache --cache 128K bytes=64K count=16 --hazards \
	--csv "$dir/kept.csv" > "$dir/said"
case "$(value "$dir/kept.csv" pincache pressure)" in
x*) slow=yes ;;
*) slow=no ;;
esac
equal "$slow" yes 'with a bound that fits it comes through'
# What gets in its way: a packet that is lost costs a time-out, and who is alone gives up.
"$fl" compare stream count=300 --hazards --csv "$dir/stream.csv" > "$dir/said"
equal "$(value "$dir/stream.csv" backup rights)" 'error local-fault' 'a ring that is read-only'
equal "$(value "$dir/stream.csv" backup 'peer dies')" 'error ETIMEDOUT' 'a receiver that dies'
equal "$(value "$dir/stream.csv" dropring 'peer dies')" 'error ETIMEDOUT' 'the same, without a backup ring'
case "$(value "$dir/stream.csv" backup loss) $(value "$dir/stream.csv" backup pressure)" in
'x'*' x'*) slow=yes ;;
*) slow=no ;;
esac
equal "$slow" yes 'with the ring it comes through losses, and with half of its pages'
equal "$(value "$dir/stream.csv" backup remap)" - 'a stream has no remap'
expect 0 'remap: a stream has no pause in which that could be done.' 'and that is said' \
	cat "$dir/said"
expect 0 'pressure: it is too small for that' 'a ring of eight has no half' \
	"$fl" compare stream count=50 depth=8 --hazards
expect 0 'HANG' 'a wait without end is seen' \
	"$fl" compare bytes=4K --systems part --set mm.minor=20000000000
expect 0 'Table, picture and traces are in' 'a folder' \
	"$fl" compare bytes=16K --systems part,pin --out "$dir/out.d/deep"
for f in table.txt table.csv compare.svg part.trace pin.trace part-walk.dot; do
	expect 0 '' "with $f" test -s "$dir/out.d/deep/$f"
done
# Packets go through no context: all that there is to show is written, for each row.
"$fl" compare bytes=16K --systems npf,part,netvm --out "$dir/packets" > "$dir/said"
expect 0 'npf, netvm: no picture of states, since packets go through no context' 'no states' \
	cat "$dir/said"
expect 0 'npf, netvm: no picture of a walk, since its pages were missed in a table of the card' \
	'no walk' cat "$dir/said"
for f in npf-sequence.dot part-sequence.dot part-states.dot part-walk.dot netvm-sequence.dot \
	netvm.trace; do
	expect 0 '' "with $f" test -s "$dir/packets/$f"
done
for f in npf-states.dot npf-walk.dot netvm-states.dot; do
	expect 1 '' "without $f" test -e "$dir/packets/$f"
done
"$fl" compare bytes=16K --systems part,pin > "$dir/said"
expect 0 '' 'the table as printed' cmp "$dir/said" "$dir/out.d/deep/table.txt"

# --- what is wrong

expect 2 "did you mean 'part'" 'a system with a mistake' "$fl" compare --systems prat
expect 2 'wanted: part, ' 'and what there is' "$fl" compare --systems pin,nothing
expect 2 'each system once' 'a system twice' "$fl" compare --systems pin,part,pin
expect 2 'wanted: part, ' 'no system' "$fl" compare --systems ''
expect 2 "did you mean 'pingpong'" 'a work with a mistake' "$fl" compare pigpong
expect 2 'write, read, pingpong, stream, forward' 'and what there is' "$fl" compare zzz
expect 2 "did you mean 'bytes='" 'a key with a mistake' "$fl" compare write byte=4K
expect 2 'depth=, cold=, side=' 'a key that a work does not have' "$fl" compare stride bytes=4K
expect 2 'a key that write has' 'a second work' "$fl" compare write read
expect 2 'from 1 to 16M' 'no bytes' "$fl" compare bytes=0
expect 2 'from 1 to 16M' 'too many bytes' "$fl" compare bytes=17M
expect 2 'from 1 to 256' 'no request' "$fl" compare count=0
expect 2 'from 1 to 64' 'nothing under way' "$fl" compare depth=65
expect 2 'from 0% to 100%' 'more than all' "$fl" compare cold=101%
expect 2 'source, destination or both' 'a side that is none' "$fl" compare side=left
expect 2 'at most 64M' 'too much in all' "$fl" compare bytes=16M count=5
expect 2 'home: each system' 'a profile that is none' "$fl" compare --profile qfbd
expect 2 'from 1 to 64' 'no seed' "$fl" compare --seeds 0
expect 2 'cannot write' 'a table that cannot be written' "$fl" compare --csv "$dir/no/such"
expect 2 'cannot write' 'a picture that cannot be written' "$fl" compare --svg "$dir/no/such"
expect 2 'cannot make the folder' 'a folder that cannot be made' "$fl" compare --out "$dir/one/x"
if [ -w /dev/full ]; then
	expect 1 'cannot write /dev/full' 'a full disk' "$fl" compare --systems pin --csv /dev/full
fi
expect 0 'usage: faultline compare' 'help' "$fl" compare --help
echo "1..$n"
exit $bad
