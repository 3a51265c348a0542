#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The parts of the engine in Verilog: no warning from Verilator at the smallest and the
# largest block, each bench of rtl/tb passes in Icarus, and two cards are as fast as they were.
set -eu
cd "$(dirname "$0")/../.."
tools/doctor --have verilator iverilog
for v in rtl/hdl/*.v; do
	for log2 in 12 14 16; do
		block=
		! grep -q 'parameter BLOCK_LOG2' "$v" || block=-GBLOCK_LOG2=$log2
		verilator --lint-only -Wall --default-language 1364-2005 $block \
			-Irtl/gen -Irtl/hdl -y rtl/hdl "$v"
		[ -n "$block" ] || break
	done
done
rtl/tb/run
rtl/tb/run rate
