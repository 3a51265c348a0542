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
expect 2 'a number from 0 to 255' 'a board that is no number' "$fl" trace --board a "$t"
for form in '' '--story' '--dot sequence' '--dot walk'; do
	expect 1 'no transfer 999 in this trace; there is only 1' \
		"a transfer that is not there ${form:-as text}" "$fl" trace $form --xfer 999 "$t"
done
for form in '' '--dot states'; do
	expect 1 'no board 7 in this trace; there are 0 and 1' \
		"a board that is not there ${form:-as text}" "$fl" trace $form --board 7 "$t"
done
for form in '' '--story' '--dot sequence'; do
	expect 1 'no block 99 in transfer 1; there are 1 to 7' \
		"a block that is not there ${form:-as text}" "$fl" trace $form --xfer 1 --block 99 "$t"
done
expect 0 'RX_BURST 1.2.' 'only one block' "$fl" trace --block 2 "$t"
expect 1 '' 'and no other' sh -c "'$fl' trace --block 2 '$t' | grep -v '^#' | grep -v ' 1\.2\.'"
expect 1 "no fault 9999 in this trace; there are $(grep -c ' SMMU_FAULT ' "$t")" \
	'a fault that is not there' "$fl" trace --dot walk --fault 9999 "$t"
expect 2 'a number from 1 to' 'a transfer 0, which there never is' "$fl" trace --xfer 0 "$t"
expect 2 'a number from 0 to 255' 'a board beyond all, which was board 0' "$fl" trace --board 65536 "$t"
expect 2 '--fault is for --dot walk' 'a fault of the text' "$fl" trace --fault 1 "$t"
expect 2 '--event is for the text' 'an event in a picture' "$fl" trace --dot walk --event SMMU_FAULT "$t"
expect 2 '--told is for the text' 'words in a picture' "$fl" trace --dot walk --told "$t"
expect 2 '--board is for the text or --dot states' 'a board of a transfer' \
	"$fl" trace --dot sequence --board 1 "$t"
expect 2 'wanted: one of them' 'two forms' "$fl" trace --dot walk --story "$t"
printf '#faultline-trace 1\n' > "$dir/none"
expect 1 'no board 0 in this trace; there is none' 'a board of an empty trace' \
	"$fl" trace --board 0 "$dir/none"
expect 1 'no transfer in this trace' 'a story of an empty trace' "$fl" trace --story "$dir/none"
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
# print arrival: from the post to the last byte in memory, as the trace has it.
sed '/^expect/d' book/pictures/cold.fl > "$dir/arrival.fl"
name=$(sed -n 's/^post \([a-z0-9]*\):.*/\1/p' "$dir/arrival.fl" | head -n 1)
echo "print arrival $name" >> "$dir/arrival.fl"
expect 0 "$name arrival_ns" 'print arrival' "$fl" run --trace "$dir/a.trace" "$dir/arrival.fl"
expect 0 "arrival_ns $(awk '/ LIB_POST / { a = $2 } / RX_BURST / { z = $2 } END { print z - a }' \
	"$dir/a.trace")" 'it is what the trace says' "$fl" run "$dir/arrival.fl"
expect 1 'virtual time alone' 'arrivals in real time' "$fl" run --mode threads "$dir/arrival.fl"

# Packets: what a miss of the card's own table becomes, told in order.
"$fl" run --trace "$dir/npf.trace" tests/scenario/system_npf.fl >"$dir/out" 2>&1
for step in "post WRITE 64 KB" "fault record" "16 pages into the card's table" "RNR NAK, PSN 0" \
	"sends nothing for 0.640 ms" "an earlier one is missing" "the wait is over" \
	"RC_WRITE_LAST" "completion: ok"; do
	expect 0 "$step" "the story of a refused WRITE: $step" \
		"$fl" trace --story --xfer 1 "$dir/npf.trace"
done
expect 0 "Transfer 1; microseconds" 'it has no blocks' "$fl" trace --story --xfer 1 "$dir/npf.trace"
expect 0 "its READ waits for a page" 'the story of a READ' "$fl" trace --story --xfer 3 "$dir/npf.trace"
expect 0 "RNR NAK, PSN 0" 'the picture has it too' \
	"$fl" trace --dot sequence --xfer 1 "$dir/npf.trace"
"$fl" run --trace "$dir/backup.trace" tests/scenario/system_backup.fl >"$dir/out" 2>&1
expect 0 "datagram 0: 2 KB" 'the story of a datagram' "$fl" trace --story --xfer 1 "$dir/backup.trace"
# Its receive has a number of its own: the first of the receiver's.
for step in "into the backup ring" "copies 2 KB" "announces 1 from receive 0 on" "completion: ok"; do
	expect 0 "$step" "the story of its receive: $step" \
		"$fl" trace --story --xfer 16777217 "$dir/backup.trace"
done
"$fl" run --trace "$dir/netvm.trace" tests/scenario/system_netvm.fl >"$dir/out" 2>&1
for step in "fragment from 0 on" "into slot 0 of the system buffer" "acknowledges 0, redirected" \
	"out of credits" "copies 4 KB" "slot 0 is free"; do
	expect 0 "$step" "the story of fragments: $step" \
		"$fl" trace --story --xfer 1 "$dir/netvm.trace"
done
echo "print arrival w1" >"$dir/last"
cat tests/scenario/system_npf.fl "$dir/last" >"$dir/arrival.fl"
expect 0 "w1 arrival_ns" 'print arrival, of packets' "$fl" run "$dir/arrival.fl"

# An interrupt line goes up because of an event of the card or of the SMMU, and down because of its
# handler. For a miss in the card's own tables it goes up some time after the event.
lines_expect() # mode, scenario, its name here, further events that raise the card's line
{
	"$fl" run --mode "$1" --trace "$dir/lines.trace" "$2" > "$dir/out" 2>&1
	expect 0 'right' "$1, $3: an interrupt is the doing of what it is about" \
		awk -v more="${4:-}" '
		BEGIN {
			about["line=0"] = " SMMU_FAULT SMMU_MULTI SMMU_STALL SMMU_RAZWI "
			about["line=1"] = " ENG_FAULT "
			about["line=2"] = " FW_EVENT NIC_FAULT UD_DIVERT " more " "
		}
		{ split($1, n, "<"); event[n[1]] = $4 }
		$4 == "IRQ_RAISE" {
			lines++
			if (index(about[$6], " " event[n[2]] " ") == 0)
				wrong = wrong " " event[n[2]]
		}
		$4 == "IRQ_LOWER" && event[n[2]] !~ /^(IRQ_RAISE|DRV_IRQ_.*)$/ {
			wrong = wrong " down by " event[n[2]]
		}
		END { print lines && !wrong ? "right" : "wrong:" wrong " of " lines + 0 }
	' "$dir/lines.trace"
}
for mode in lockstep threads; do
	lines_expect $mode tests/scenario/system_npf.fl npf
	lines_expect $mode tests/scenario/row_rxe.fl rxe
	lines_expect $mode tests/scenario/row_droprc.fl droprc
	# A receive may be posted after its packet came: the driver is told of that, too.
	lines_expect $mode tests/scenario/system_backup.fl backup WIRE_RECV
	lines_expect $mode tests/scenario/system_netvm.fl netvm
	lines_expect $mode tests/scenario/write_cold.fl blocks
done
# The handler may lower the line while another thread still tells that it is high: once in seven runs.
for round in 1 2 3 4 5 6 7 8; do
	lines_expect threads tests/scenario/write_cold.fl "blocks, round $round"
done

# System ioguard: what the driver reads of a request is there because it was posted.
for mode in lockstep threads processes; do
	"$fl" run --mode $mode --trace "$dir/snoop.trace" tests/scenario/system_ioguard.fl > "$dir/out" 2>&1
	"$fl" trace "$dir/snoop.trace" > "$dir/snoop"
	expect 0 'right' "$mode: a request that was read was posted" awk '
		{ split($1, n, "<"); split($5, x, "."); event[n[1]] = $4; xfer[n[1]] = x[1] }
		$4 == "DRV_SNOOP" { seen++; cause[n[1]] = n[2] }
		END {
			for (s in cause)
				wrong += event[cause[s]] != "LIB_DOORBELL" || xfer[cause[s]] != xfer[s]
			print seen && !wrong ? "right" : "wrong: " wrong + 0 " of " seen + 0
		}' "$dir/snoop"
done

echo "1..$n"
exit $bad
