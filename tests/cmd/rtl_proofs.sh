#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What the data path in Verilog never does is proved; and a proof fails when the circuit is
# wrong, here by looking at no answer of the memory. And what is asked for that is not there.
set -u
. tests/cmd/expect.inc
tools/doctor --have yosys iverilog || exit

expect 2 "nothing to prove of 'rdd'; there are: ctl rd" 'a circuit that is none' \
	rtl/formal/prove rdd
expect 2 'rd has no property 99' 'a property that is none' rtl/formal/prove rd:99
expect 2 "no bug '99' in rtl/formal/bugs.list" 'a bug that is none' rtl/formal/bugs 99
expect 2 "no bench 'tb_none'; there are: tb_card" 'a bench that is none' rtl/tb/run tb_none

sed 's/refused <= 1;/refused <= 0;/' rtl/hdl/fl_rd.v >"$dir/fl_rd.v"
if cmp -s rtl/hdl/fl_rd.v "$dir/fl_rd.v"; then
	echo "# no longer wrong"
	bad=1
fi
expect 1 'a block with a refused byte is never sent' 'a wrong circuit is not proved' \
	env HDL="$dir" rtl/formal/prove rd:3
grep -q '^OPEN' "$dir/out" || bad=1

# Longer than what expect waits for.
rtl/formal/prove || bad=1
exit $bad
