#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The pictures of the book are those that this program draws; those drawn by hand are in DOT
# as well. "pictures.sh --write" draws them (make pictures); without it they are only compared.
set -eu
cd "$(dirname "$0")/../.."
fl=${FAULTLINE:-build/faultline}
tools/doctor --have dot
dir=$(mktemp -d "${TMPDIR:-/tmp}/faultline-pictures-XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
bad=0

# draw NAME: from its DOT
draw() {
	if [ "${write:-}" ]; then
		dot -Tsvg "book/pictures/$1.dot" > "book/pictures/$1.svg"
	fi
	grep -q '</svg>' "book/pictures/$1.svg" || {
		echo "book/pictures/$1.svg is missing: run make pictures"
		bad=1
	}
	# As with dpi= in the DOT: whoever shows it shows a part of it.
	grep -q 'transform="scale(1 1)' "book/pictures/$1.svg" || {
		echo "book/pictures/$1.svg is drawn larger than its frame"
		bad=1
	}
}

# from_run SCENARIO KIND NAME
from_run() {
	[ -f "$dir/$1" ] || "$fl" run --trace "$dir/$1" "book/pictures/$1.fl" > "$dir/out" || {
		cat "$dir/out"
		exit 1
	}
	"$fl" trace --dot "$2" "$dir/$1" > "$dir/$3.dot"
	if [ "${write:-}" ]; then
		cp "$dir/$3.dot" book/pictures/
	elif ! diff -u "book/pictures/$3.dot" "$dir/$3.dot"; then
		echo "book/pictures/$3.dot is stale: run make pictures, and look at it"
		bad=1
	fi
	draw "$3"
}

[ "${1:-}" = --write ] && write=yes
from_run one-write sequence sequence
from_run one-write states states
from_run one-write walk walk
for name in latch driver invalidate engine; do draw $name; done

# The picture that README and the book open the comparison with.
"$fl" compare --profile qfdb --hazards --svg "$dir/compare.svg" > "$dir/out"
if [ "${write:-}" ]; then
	cp "$dir/compare.svg" book/pictures/
elif ! cmp "$dir/compare.svg" book/pictures/compare.svg; then
	echo "book/pictures/compare.svg is stale: run make pictures, and look at it"
	bad=1
fi
exit $bad
