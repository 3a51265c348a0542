#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/coverage/table finds a file that has less of its branches than the list demands.
set -u
cd "$(dirname "$0")/../.."
. tests/cmd/expect.inc

# Twenty conditions and a loop, so 42 branches; and an assertion.
src=$dir/room/a.c
obj=$dir/obj/${src%.c}.o
mkdir -p "$dir/room" "$(dirname "$obj")"
{
	echo '#include <assert.h>'
	echo 'static int n;'
	echo 'static void look(int i)'
	echo '{'
	echo '	assert(i >= 0);'
	for i in {1..20}; do
		echo "	if (i == $i)"
		echo "		n += $i;"
	done
	echo '}'
	echo 'int main(int c, char **v)'
	echo '{'
	echo '	for (; c > 0; c--)'
	echo '		look(c);'
	echo '	return !v[0];'
	echo '}'
} >"$src"
gcc -O0 --coverage -c -o "$obj" "$src" && gcc --coverage -o "$dir/a" "$obj" || exit 1

# The first so many of the conditions both ways, the others one way.
run_with()
{
	rm -f "${obj%.o}.gcda"
	# shellcheck disable=SC2046
	"$dir/a" $(seq 2 "$1")
}
table="tests/coverage/table --least $dir/least"
here="$dir/obj $src"

# shellcheck disable=SC2086
{
run_with 20
echo "$src 100" >"$dir/least"
expect 0 '42 of 42' 'what is taken is counted, and assert() is not' $table $here
run_with 18
expect 0 '40 of 42' 'two branches less are chance' $table $here
run_with 10
expect 1 "$src: tests take 76.2 % of its branches, it had 100 %" \
	'a file that has fallen is found' $table $here
$table --missed "$dir/missed" $here >"$dir/said"
expect 0 "$src:26:" 'and its lines are said with --missed' cat "$dir/missed"

echo "$src 76" >"$dir/least"
expect 1 '76 %, and no reason is behind it' 'below 85 % the list has a reason' $table $here
echo "$src 76 the rest would be luck" >"$dir/least"
expect 0 '32 of 42' 'with one it passes' $table $here
run_with 12
expect 0 '' '--update writes what there is' $table --update $here
expect 0 "$src 80 the rest would be luck" 'and keeps the reason' cat "$dir/least"
run_with 20
expect 0 '' 'a file that has risen' $table --update $here
expect 0 '' 'needs none' grep -qx "$src 100" "$dir/least"

: >"$dir/least"
run_with 10
expect 1 'a new file has at least 85 %' 'a new file has 85 %' $table $here
run_with 16
expect 0 '38 of 42' 'or more' $table $here
echo "$dir/room/b.c 100" >"$dir/least"
expect 1 "$dir/room/b.c: in the list, but not in the core" 'a file that has gone leaves the list' \
	$table $here
}
echo "1..$n"
exit $bad
