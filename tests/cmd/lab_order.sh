#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The exercise "Break the order" of the lab resend does what its sheet says: what is to be
# changed is there, the scenario then fails, and the trace shows it where the sheet says.
set -u
. tests/cmd/expect.inc
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
scenario=labs/resend/order.fl
sheet=labs/resend/README.adoc
was='if (!ahead)'
now='if (ahead >= 0)'

# line TRACE PATTERN: in which line of the trace this comes first; 0: nowhere
line()
{
	"$fl" trace "$dir/$1" | grep -n "$2" | sed 's/:.*//' | head -n 1 |
		grep . || echo 0
}

expect 0 'passed' 'in order the second WRITE stays' \
	"$fl" run --trace "$dir/good" $scenario
expect 0 '' 'the sheet says what to change' grep -qF "$now" $sheet
expect 0 '' 'and where' grep -qF "$was" $sheet
expect 0 '' 'it is there' grep -qF "$was" emu/nic/fw_order.c

# As a student does it: a line is changed, and what depends on it is made again.
mkdir -p "$dir/tree/build/plain"
tar -c --exclude=./build --exclude=./.git . | tar -x -C "$dir/tree"
cp -a build/plain/obj build/plain/*.a "$dir/tree/build/plain/"
sed -i "s/if (!ahead)/$now/" "$dir/tree/emu/nic/fw_order.c"
expect 0 '' 'the changed firmware builds' \
	make -s -C "$dir/tree" build/faultline
expect 1 'FAILED: expect data dst = second' 'out of order the first WRITE stays' \
	"$dir/tree/build/faultline" run --trace "$dir/bad" $scenario
expect 0 '' 'and both completions are good all the same' \
	sh -c "[ \$(\"$fl\" trace \"$dir/bad\" | grep -c 'FW_COMPLETE .*status=0') = 2 ]"

sed 's/16K cold/16K warm/' $scenario >"$dir/warm.fl"
expect 0 'passed' 'a warm buffer hides it' \
	"$dir/tree/build/faultline" run "$dir/warm.fl"

# Where the sheet says that it is seen. event=5: LANDED (fsm.def).
for t in good bad; do
	eval "${t}_hold=$(line $t 'FW_HOLD 2\.1\.')"
	eval "${t}_second=$(line $t 'FW_CHECK 2\.1\..*status=0')"
	eval "${t}_first=$(line $t 'RX_STATE 1\.1\..*event=5')"
done
expect 0 '' 'in order it is held, and judged once the first has landed' \
	test "$good_hold" -gt 0 -a "$good_hold" -lt "$good_first" \
	-a "$good_first" -lt "$good_second"
expect 0 '' 'out of order it is not held, and judged before the first has landed' \
	test "$bad_hold" -eq 0 -a "$bad_second" -gt 0 -a "$bad_second" -lt "$bad_first"
exit $bad
