#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/linux/report: whatever goes wrong in a guest is a test that failed.
cd "$(dirname "$0")/../.." || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
number=0 failed=0
# The last part of a pipe runs here, and so can count.
shopt -s lastpipe

# NAME WANTED STATUS ONLY PROGRAM...; the console comes on standard input. WANTED:
# the results in a row, o for ok and n for not ok.
check() {
	local name=$1 wanted=$2 got
	shift 2
	cat >"$dir/console"
	tests/linux/report "$dir/console" "$@" >"$dir/report"
	got=$(sed -n -e 's/^ok .*/o/p' -e 's/^not ok .*/n/p' "$dir/report" |
		tr -d '\n')
	number=$((number + 1))
	if [ "$got" = "$wanted" ] &&
	   grep -q -x "1..${#wanted}" "$dir/report"; then
		echo "ok $number $name"
	else
		echo "not ok $number $name"
		sed 's/^/# /' "$dir/report"
		failed=1
	fi
}

said() {	# PROGRAM PLAN STATUS RESULT...
	printf '== %s\r\nKTAP version 1\r\n1..%s\r\n' "$1" "$2"
	local program=$1 status=$3 i=0 word
	shift 3
	for word; do
		i=$((i + 1))
		printf '%s %d a sentence\r\n' "$word" $i
	done
	printf '== end %s %s\r\n' "$program" "$status"
}

echo "KTAP version 1"
{ said a 2 0 ok ok; said b 1 0 ok; } |
	check "two programs that passed are one report" oooo 0 '' a b
{ said a 2 1 ok 'not ok'; } |
	check "a test that failed is one that failed" ono 0 '' a
{ said a 3 0 ok ok; } |
	check "a program that said too little failed" oono 0 '' a
{ said a 2 142 ok; } |
	check "a program that was ended by a signal failed" ono 0 '' a
{ said a 1 1 ok; } |
	check "a status that no line explains is a failure" ono 0 '' a
{ said a 1 0 'not ok'; } |
	check "so is a line that the status hides" nno 0 '' a
{ said a 0 0; } |
	check "a program without tests failed" no 0 '' a
{ said a 0 2; said b 1 0 ok; } |
	check "unless tests were chosen by name" oo 0 part a b
{ said a 1 0 ok; } |
	check "a program that did not run failed" ono 0 '' a b
{ said a 1 0 ok; printf '== b\r\nKTAP version 1\r\n1..2\r\nok 1 x\r\n'; } |
	check "a guest that hangs in a program failed" oonn 124 '' a b
printf '== a\r\n1..2\r\nok 1 x\r\n== hung a 7\r\n== end a 137 7\r\n' |
	check "a program that was killed because it hung failed, once" ono 0 '' a
number=$((number + 1)) word='not ok'
grep -q '^not ok 2 a: hung, and was killed after 7 s, in test 2 of 2$' \
	"$dir/report" && word=ok || failed=1
echo "$word $number and the report says where"
echo | check "a guest that said nothing failed" nn 1 '' a
echo "1..$number"
exit $failed
