#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The pictures of the book are those that this program draws. "pictures.sh --write" draws them
# (make pictures); without it they are only compared.
set -eu
cd "$(dirname "$0")/../.."
fl=${FAULTLINE:-build/faultline}
tools/doctor --have dot
dir=$(mktemp -d "${TMPDIR:-/tmp}/faultline-pictures-XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM

"$fl" run --trace "$dir/trace" book/pictures/one-write.fl > "$dir/out" || {
	cat "$dir/out"
	exit 1
}
bad=0
for kind in sequence states walk; do
	"$fl" trace --dot $kind "$dir/trace" > "$dir/$kind.dot"
	if [ "${1:-}" = --write ]; then
		cp "$dir/$kind.dot" book/pictures/
		dot -Tsvg "$dir/$kind.dot" > book/pictures/$kind.svg
	elif ! diff -u book/pictures/$kind.dot "$dir/$kind.dot"; then
		echo "book/pictures/$kind.dot is stale: run make pictures, and look at it"
		bad=1
	fi
	grep -q '</svg>' book/pictures/$kind.svg
done
exit $bad
