#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What the data path in Verilog never does is proved; and a proof fails when the circuit is
# wrong, here by looking at no answer of the memory.
set -eu
cd "$(dirname "$0")/../.."
tools/doctor --have yosys
rtl/formal/prove

work=$(mktemp -d "${TMPDIR:-/tmp}/faultline-wrong.XXXXXX")
trap 'rm -rf "$work"' EXIT
sed 's/refused <= 1;/refused <= 0;/' rtl/hdl/fl_rd.v >"$work/fl_rd.v"
if cmp -s rtl/hdl/fl_rd.v "$work/fl_rd.v"; then
	echo "# no longer wrong"
	exit 1
fi
if HDL=$work rtl/formal/prove rd:3 >"$work/out" 2>&1; then
	echo "# a wrong circuit was proved"
	exit 1
fi
grep -q '^OPEN.*refused byte' "$work/out"
