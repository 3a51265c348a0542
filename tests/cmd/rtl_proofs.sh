#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What the data path in Verilog never does is proved; and a proof fails when the circuit is
# wrong, here by looking at no answer of the memory. And what is asked for that is not there.
set -u
. tests/cmd/expect.inc
tools/doctor --have yosys iverilog verilator g++ || exit

expect 2 "nothing to prove of 'rdd'; there are: answer axil cells ctl" 'a circuit that is none' \
	rtl/formal/prove rdd
expect 2 'rd has no property 99' 'a property that is none' rtl/formal/prove rd:99
expect 2 "no bug '99' in rtl/formal/bugs.list" 'a bug that is none' rtl/formal/bugs 99
expect 2 "no bench 'tb_none'; there are: tb_axil" 'a bench that is none' rtl/tb/run tb_none

# wrong FILE SED TEXT PROPERTY: with this edit the property is open, and is named.
wrong()
{
	sed "$2" "$1" >"$dir/$(basename "$1")"
	if cmp -s "$1" "$dir/$(basename "$1")"; then
		echo "# $1 is no longer wrong"
		bad=1
	fi
	expect 1 "$3" "a wrong circuit is not proved: $4" env HDL="$dir" rtl/formal/prove "$4"
	grep -q '^OPEN' "$dir/out" || bad=1
	rm "$dir/$(basename "$1")"
}
wrong rtl/hdl/fl_rd.v 's/refused <= 1;/refused <= 0;/' \
	'a block with a refused byte is never sent' rd:3
# A read that is taken in the same cycle as a write is lost.
wrong rtl/hdl/fl_axil.v 's/s_axil_arvalid && !take_write;/s_axil_arvalid;/' \
	'one access is taken at a time' axil:2
wrong rtl/zu/fl_port.v 's/read = s_axil_arvalid && !write;/read = s_axil_arvalid;/' \
	'one access is taken at a time' port:2

# Longer than what expect waits for. A race that nothing else sees:
if ! BY=compete rtl/formal/bugs 30 >"$dir/out" 2>&1 || ! grep -q '^| 30 .*| yes |' "$dir/out"; then
	echo '# READY lost beside an answer that waits: not found with everything at once'
	tail -n 5 "$dir/out"
	bad=1
fi
rtl/formal/prove || bad=1
exit $bad
