#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# From an empty Debian 12 to one fault seen: what is missing is named and installed, and how long
# it takes.
set -u
cd "$(dirname "$0")/../.."
. tests/cmd/expect.inc

if [ "${CI:-}" != true ]; then
	skip 'make hello on an empty Debian' 'a minute and 100 MB of packages: tests/empty'
	echo "1..$n"
	exit $bad
fi
tests/empty > "$dir/all" 2>&1
status=$?
cut -c1-200 "$dir/all" > "$dir/told"
expect 0 '' 'make hello works on an empty Debian' test $status = 0
[ $status = 0 ] || sed 's/^/# /' "$dir/told" | tail -n 20
expect 0 '  gcc: the C compiler' 'what is missing is named' cat "$dir/told"
expect 0 'Installing with apt-get: gcc' 'and installed' cat "$dir/told"
expect 0 'completion: ok' 'and a fault is told of' cat "$dir/told"
sed -n 's/^\(real\|user\|sys\)\t/# make hello: &/p' "$dir/told"
echo "1..$n"
exit $bad
