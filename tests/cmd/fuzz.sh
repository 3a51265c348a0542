#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Fuzz targets: nothing breaks with the inputs that are kept (programs of the usual compiler,
# no libFuzzer), nor with some thousand new ones from a fixed seed; and each target finds a
# mistake that is put where it looks.
cd "$(dirname "$0")/../.." || exit 2
mkdir -p build/fuzz
make="${MAKE:-make} --no-print-directory -s -j2"
out=$(mktemp -d "${TMPDIR:-/tmp}/faultline-test-XXXXXX")
trap 'rm -rf "$out"' EXIT INT TERM

# Make both builds; tests/fuzz/run says which programs could not be made.
$make SAN=asan fuzz-programs || exit 1
fuzzer=$(ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a 2>/dev/null)
if [ -n "$fuzzer" ]; then
	$make fuzz-both || exit 1
else
	rm -rf build/fuzz/fuzz
fi
# Two reports, one after the other, become one.
tests/fuzz/run --check >"$out/check"
bad=$?
if [ -n "$fuzzer" ]; then
	$make fuzz-planted >"$out/planted" || bad=1
else
	printf 'ok 1 - targets find mistakes # SKIP no libFuzzer (libclang-rt-dev)\n' >"$out/planted"
fi
cat "$out/check" "$out/planted" | awk '
	/^KTAP|^1\.\./ { next }
	/^(not )?ok / { sub(/ok [0-9]+/, "ok " ++n) }
	{ print }
	END { print "1.." n }'
exit $bad
