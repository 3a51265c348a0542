#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The firmware's image for the Cortex-R5: it links, fits and calls nothing that is not there; and
# on an R5 in QEMU it does what the same sources do here (tests/r5).
set -u
. tests/cmd/expect.inc
tools/doctor --have clang ld.lld llvm-nm llvm-readelf qemu-system-aarch64 || exit
echo "KTAP version 1"
make=${MAKE:-make}
r5=build/r5

expect 0 'of 65536 bytes' 'the image is made, and fits' "$make" --no-print-directory firmware-r5
expect 1 'the R5 does not have: __aeabi_memclr8' 'a call of nothing is found' \
	rtl/zu/r5/sizes $r5/emu/nic/fw.o
expect 0 '' 'linked with one segment for all' \
	ld.lld --omagic -e memcpy -o "$dir/one" $r5/rtl/zu/r5/bytes.o
expect 1 'can be written and executed' 'which is found' rtl/zu/r5/sizes "$dir/one"
sed 's/<< 16)/<< 12)/' $r5/r5.ld >"$dir/small.ld"
expect 1 'the code is larger than its memory' 'code that does not fit is found' \
	ld.lld -T "$dir/small.ld" -o "$dir/small" $(find $r5/emu $r5/rtl -name '*.o')

expect 0 '' 'the test of the image is made' \
	"$make" --no-print-directory SAN=plain build/plain/tests/test_r5
[ $bad -eq 0 ] || exit 1
build/plain/tests/test_r5 >"$dir/tests" || bad=1
grep -v -e '^KTAP' -e '^1\.\.' "$dir/tests"
echo "1..$((n + $(sed -n 's/^1\.\.//p' "$dir/tests")))"
exit $bad
