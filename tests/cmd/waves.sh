#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# make waves: the waves of a block that faults at both ends, and what GTKWave needs to show
# them with its states by name. GTKWave itself is not wanted here.
set -eu
cd "$(dirname "$0")/../.."
tools/doctor --have iverilog
work=$(mktemp -d "${TMPDIR:-/tmp}/faultline-waves.XXXXXX")
trap 'rm -rf "$work"' EXIT
out=$work/waves
"${MAKE:-make}" --no-print-directory waves WAVES="$out" >"$work/said"
grep -q "^with states by name: gtkwave $out/fault.gtkw\$" "$work/said"
bad=0
complain() { echo "# $*"; bad=1; }

# What is to be shown is there, with its width.
awk '$1 == "$scope" { in_waves = $3 == "waves" }
	in_waves && $1 == "$var" { print "waves." $5 ($3 > 1 ? "[" ($3 - 1) ":0]" : "") }' \
	"$out/fault.vcd" | sort >"$work/there"
grep '^waves\.' "$out/fault.gtkw" | sort >"$work/shown"
[ "$(wc -l <"$work/shown")" -gt 20 ]
sort -u "$work/shown" | comm -13 "$work/there" - | grep . && complain 'is shown, but not in the waves'

grep -q '^[[:space:]]*1ns$' "$out/fault.vcd" || complain 'time is not in ns'
# The window begins with all of it: 2^zoom units are 200 pixels of some 1000.
end=$(sed -n 's/^#//p' "$out/fault.vcd" | tail -n 1)
awk -v end="$end" '/^\*-/ { z = substr($1, 3); n = end / 2 ^ z * 200 } END {
	exit n < 700 || n > 1100 }' "$out/fault.gtkw" || complain 'the zoom does not show the whole run'

# Every file of names is there, and has a name for each value of its states.
sed -n 's/^^[0-9]* //p' "$out/fault.gtkw" | sort -u >"$work/files"
for name in fsm_tx fsm_rx ctl rd walk wr resp; do
	grep -qx "$out/$name.names" "$work/files" || complain "$name.names is not used"
done
for m in TX RX; do
	sed -n "s/^FSTATE($m, *\([A-Z]*\), *\([0-9]*\),.*/\2 \1/p" \
		kernel-ref/include/faultline/fsm.def >"$work/want"
	sed '/^#/d; s/?.*?//' "$out/fsm_${m,,}.names" | cmp - "$work/want" || complain "names of $m"
done
for part in ctl:64 rd:4 walk:6 wr:8; do
	name=${part%:*}
	sed '/^#/d' "$out/$name.names" | awk -v least="${part#*:}" '$1 != NR - 1 || NF != 2 { exit 1 }
		END { exit NR < least }' || complain "$name.names has a gap"
done

# With these names, the waves tell the story of the book. Identifiers are text: 2 is not "2.".
id=$(awk '$1 == "$var" && $5 == "tx0" { print $4; exit }' "$out/fault.vcd")
awk -v id="$id" 'FNR == NR { if (!/^#/) { sub(/.*\?/, "", $2); name[$1] = $2 } next }
	$1 ~ /^b[01]+$/ && $2 "" == id {
		v = 0
		for (i = 2; i <= length($1); i++)
			v = 2 * v + substr($1, i, 1)
		print name[v]
	}' "$out/fsm_tx.names" "$out/fault.vcd" | tr '\n' ' ' >"$work/story"
[ "$(cat "$work/story")" = "FREE READY SRCFAULT READY FLYING DSTFAULT READY FLYING DONE FREE " ] ||
	complain "the block went through $(cat "$work/story")"
exit $bad
