#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Profile qfdb is fitted to three published figures: 38 us for a one-page write whose
# destination faults, 1.3 us for a small message over one hop, 82 % of 10 Gb/s for a
# large resident transfer. Prints what comes out; fails when one is off by more than a
# thousandth: the fits are exact, and `faultline predict` keeps them so.
set -eu
fl=${FAULTLINE:-build/faultline}
out=$("$fl" run tests/scenario/fit_one_page.fl)
bad=0

check() # name, line, unit, wanted
{
	got=$(printf '%s\n' "$out" | sed -n "s/^$2 //p")
	[ -n "$got" ] || { echo "not ok - $1: nothing was printed"; bad=1; return; }
	if [ $((got * 1000)) -ge $(($4 * 999)) ] && [ $((got * 1000)) -le $(($4 * 1001)) ]
	then echo "ok - $1: $got $3, wanted $4"
	else echo "not ok - $1: $got $3, wanted $4"; bad=1
	fi
}

check "one-page destination fault" "fault time_ns" ns 38000
check "small message, first hop" "small time_ns" ns 1300
check "large resident transfer" "large rate_mbps" Mb/s 8200
exit $bad
