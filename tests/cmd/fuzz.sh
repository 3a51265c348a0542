#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Fuzz targets: nothing breaks with the inputs that are kept, nor with some thousand new ones,
# the same each time; each target finds a mistake that is put where it looks; make fuzz runs
# libFuzzer.
cd "$(dirname "$0")/../.." || exit 2
mkdir -p build/fuzz
make="${MAKE:-make} --no-print-directory -s -j2"
out=$(mktemp -d "${TMPDIR:-/tmp}/faultline-test-XXXXXX")
trap 'rm -rf "$out"' EXIT INT TERM

$make SAN=asan fuzz-programs || exit 1
# Three reports, one after the other, become one.
tests/fuzz/run --check >"$out/check"
bad=$?
$make SAN=asan fuzz-planted >"$out/planted" || bad=1
if ! ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a >/dev/null 2>&1; then
	echo "ok 1 - make fuzz # SKIP no libFuzzer (libclang-rt-dev)"
elif $make fuzz FUZZ=frame FUZZ_RUNS=2000 >"$out/log" 2>&1 && grep -q '^frame: [0-9]* inputs' "$out/log"; then
	echo "ok 1 - make fuzz looks for inputs"
else
	bad=1
	echo "not ok 1 - make fuzz looks for inputs"
	sed 's/^/# /' "$out/log"
fi >"$out/search"
cat "$out/check" "$out/planted" "$out/search" | awk '
	/^KTAP|^1\.\./ { next }
	/^(not )?ok / { sub(/ok [0-9]+/, "ok " ++n) }
	{ print }
	END { print "1.." n }'
exit $bad
