#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The Verilog includes compile, and every name that they share with the C headers has
# the same value there; a field's bits are those of its mask; the next-state functions
# give what the list of transitions says, for every state and event.
set -eu
cd "$(dirname "$0")/../.."
tools/doctor --have iverilog
work=$(mktemp -d "${TMPDIR:-/tmp}/faultline-vh.XXXXXX")
trap 'rm -rf "$work"' EXIT
contract=kernel-ref/include/faultline
cc=${CC:-cc}

# Names of both sides. A C name may be a macro or a member of an enum.
sed -n 's/^`define \([A-Z0-9_]*\) .*/\1/p' rtl/gen/*.vh | sort -u >"$work/v-names"
# Of what is in programmable logic: the DMA engine of the processing system is not.
headers="smmu_regs regs entries wire fsm device"
for h in $headers; do
	sed -n 's/^#define \([A-Z0-9_]*\) .*/\1/p' $contract/$h.h
	sed -n 's/^\t\([A-Z0-9_]*\) = .*/\1/p' $contract/$h.h
done | sort -u >"$work/c-names"
# WIRE_<header>_<FIELD> is three numbers in C, _BYTE and so on are C's alone.
comm -12 "$work/v-names" "$work/c-names" >"$work/names"
# Registers' fields: C has SHIFT and MASK, Verilog LSB and MSB.
sed -n 's/_SHIFT$//p' "$work/c-names" >"$work/fields"
[ -s "$work/names" ] && [ -s "$work/fields" ]

headers() {
	for h in $headers; do
		echo "#include \"faultline/$h.h\""
	done
}
{
	headers
	echo '#include <stdio.h>'
	echo '#define V(n) printf("%s %llx\n", #n, (unsigned long long)(n));'
	echo '#define F(n) printf("%s %d %d\n", #n, n##_SHIFT, \'
	echo '	63 - __builtin_clzll(n##_MASK));'
	echo 'int main(void) {'
	sed 's/.*/V(&)/' "$work/names"
	sed 's/.*/F(&)/' "$work/fields"
	for m in TX RX; do
		echo "for (int s = 0; s < 16; s++) for (int e = 0; e < 16; e++) {"
		echo "int n = s;"
		sed -n "s/^ARC($m, *\([A-Z_]*\), *\([A-Z_]*\), *\([A-Z_]*\),.*/\
if (s == FL_${m}_\1 \&\& e == FL_${m}_EV_\2) n = FL_${m}_\3;/p" $contract/fsm.def
		echo "printf(\"$m %d %d %d\\n\", s, e, n); }"
	done
	echo '}'
} >"$work/t.c"
{
	for v in smmu_regs regs entries wire fsm device; do
		echo "\`include \"rtl/gen/$v.vh\""
	done
	echo 'module t;'
	echo '`include "rtl/gen/fsm_next.vh"'
	echo 'integer s, e;'
	echo 'initial begin'
	# A concatenation would print a width's worth of zeros: %0h does not.
	sed 's/.*/$display("& %0h", `&);/' "$work/names"
	sed 's/.*/$display("& %0d %0d", `&_LSB, `&_MSB);/' "$work/fields"
	for m in tx rx; do
		echo "for (s = 0; s < 16; s = s + 1) for (e = 0; e < 16; e = e + 1)"
		echo "\$display(\"${m^^} %0d %0d %0d\", s, e, ${m}_next(s[3:0], e[3:0]));"
	done
	echo 'end'
	echo 'endmodule'
} >"$work/t.v"

$cc -std=gnu11 -w -Ikernel-ref/include -o "$work/t" "$work/t.c"
"$work/t" >"$work/c-values"
iverilog -g2005 -Wall -I. -o "$work/t.vvp" "$work/t.v" 2>&1 | tee "$work/warnings"
[ ! -s "$work/warnings" ]
vvp -n "$work/t.vvp" >"$work/v-values"
diff "$work/c-values" "$work/v-values"
echo "$(wc -l <"$work/c-values") values agree"
