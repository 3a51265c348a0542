#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The engine in Verilog behind the emulator: the engine's own tests, and every scenario
# with the same trace as with the engine in C, byte for byte. And what is said when
# there is no such engine.
set -u
. tests/cmd/expect.inc

expect 2 "make rtl-model" 'a plug-in that is not there' \
	env FAULTLINE_RTL="$dir/nothing" "$fl" run --engine rtl \
	tests/scenario/write_cold.fl
expect 2 "$dir/nothing" 'it is named' \
	env FAULTLINE_RTL="$dir/nothing" "$fl" run --engine rtl \
	tests/scenario/write_cold.fl
expect 2 'not verilator or cxxrtl' 'a simulator that is none' \
	${MAKE:-make} --no-print-directory rtl-model SIM=icarus
expect 2 'wanted: c, rtl, both' 'an engine that is none' \
	"$fl" run --engine rlt tests/scenario/write_cold.fl
echo text >"$dir/text"
expect 2 'cannot be loaded' 'a plug-in that is none' \
	env FAULTLINE_RTL="$dir/text" "$fl" run --engine both \
	tests/scenario/write_cold.fl
[ $bad = 0 ] || exit 1

tools/doctor --have verilator g++ || exit
${MAKE:-make} --no-print-directory rtl-model >"$dir/made" 2>&1 ||
	{ cat "$dir/made"; exit 1; }

expect 2 'a power of two, 64 to 65536' 'a length that no block of the random run has' \
	${MAKE:-make} --no-print-directory -s rtl-random LONGEST=100
expect 2 'a power of two, 64 to 65536' 'a length that no block of the competing run has' \
	${MAKE:-make} --no-print-directory -s rtl-compete LONGEST=100
expect 2 'a decimal number' 'a seed that is no number' \
	${MAKE:-make} --no-print-directory -s rtl-random SEED=1x
# test_engine_pair takes minutes on a model; make rtl-random does what it does.
for t in regs tx rx read verdict later; do
	${MAKE:-make} --no-print-directory -s "build/plain/tests/test_engine_$t" ||
		exit 1
	FAULTLINE_ENGINE=both "build/plain/tests/test_engine_$t" >"$dir/log" 2>&1 || {
		echo "# test_engine_$t on both engines:"
		grep -v '^ok' "$dir/log" | tail -n 30
		bad=1
	}
done

# Where the clock is the wall's: no trace to compare, so each call is.
head -c 100000 "$fl" >"$dir/file"
for e in rtl both; do
	for m in threads processes 'processes --udp'; do
		expect 0 'the two are equal' "send, $m, engine $e" \
			"$fl" send --engine $e --mode $m "$dir/file"
	done
	for m in threads processes; do
		expect 0 '' "run, $m, engine $e" \
			"$fl" run --engine $e --mode $m tests/scenario/write_cold_both.fl
	done
done

scenarios=0
for s in tests/scenario/*.fl; do
	for e in c rtl; do
		"$fl" run --engine $e --trace "$dir/$e" "$s" >"$dir/log.$e" 2>&1
		echo $? >>"$dir/log.$e"
	done
	scenarios=$((scenarios + 1))
	# Engine both compares each access of the Verilog with the model's, so it runs every system.
	case $s in
	*/system_* | */row_*)
		if ! "$fl" run --engine both "$s" >"$dir/log.both" 2>&1; then
			echo "# $s: --engine both:"
			tail -n 3 "$dir/log.both"
			bad=1
		fi
		;;
	esac
	cmp -s "$dir/log.c" "$dir/log.rtl" && cmp -s "$dir/c" "$dir/rtl" && continue
	echo "# $s: not the same with both engines:"
	cmp "$dir/c" "$dir/rtl"
	tail -n 3 "$dir/log.rtl"
	bad=1
done
[ $bad = 0 ] && echo "# $scenarios scenarios: the same traces from both engines"
exit $bad
