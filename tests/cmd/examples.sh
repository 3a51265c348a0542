#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Every example of the library runs on the emulator, in both modes, says what it
# should, and gives the same trace for the same seed; compiled for Linux, it
# asks for the card and says so when there is none, and as an ordinary process it
# uses a board that runs elsewhere: the same source, another name.
set -u
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d "${TMPDIR:-/tmp}/faultline-examples.XXXXXX") || exit 2
trap 'kill $board 2>/dev/null; wait $board 2>/dev/null; rm -rf "$work"' EXIT
bad=0
export FAULTLINE_DIR=$work
build/faultline board example >"$work/board" 2>&1 &
board=$!

fail() {
	echo "$*"
	[ -s "$work/out" ] && sed 's/^/    /' "$work/out"
	bad=1
}

# What an example must say, a pattern a line.
expected() {
	case $1 in
	memory)
		echo '^node [0-9]*, domain slot [0-9]*, blocks of [0-9]* bytes$'
		echo '^the mapped file is the file$'
		echo '^/nonexistent: no such file or object$'
		;;
	regions)
		echo '^on demand: 0 pages pinned$'
		echo '^pinned: 4 pages pinned$'
		echo '^all given back$'
		;;
	connect)
		echo '^two queue pairs of one node are connected$'
		echo '^once more: the queue pair is connected already$'
		;;
	write)
		echo '^write: every byte is in place$'
		echo '^[1-9][0-9]* faults, [1-9][0-9]* at the destination$'
		echo '^every byte is the same$'
		;;
	read)
		echo '^read 3: every byte is in place$'
		echo '^every byte is the same$'
		;;
	wait)
		echo '^after a millisecond: nothing came in the time'
		echo '^40 writes ended in the order in which they were posted$'
		;;
	errors)
		echo '^wrong key of the peer, 0: the peer does not allow it'
		echo '^wrong key of the peer, 1: an earlier work request'
		echo '^one byte too far, 0: the peer does not allow it'
		echo '^reading what may only be written, 0: the peer does not allow it'
		echo '^a region that is gone, 0: the peer does not allow it'
		;;
	*)
		return 1
		;;
	esac
}

check() {	# NAME HOW [ARGUMENT]: status 0 and what is expected
	local name=$1 how=$2 pattern

	timeout 60 "$program" "${@:3}" >"$work/out" 2>&1
	status=$?
	if [ $status != 0 ]; then
		fail "$name ($how): exit status $status"
		return
	fi
	while read -r pattern; do
		grep -q -e "$pattern" "$work/out" ||
			fail "$name ($how): no line like '$pattern'"
	done < <(expected "$name")
}

count=0
for source in lib/examples/*.c; do
	name=$(basename "$source" .c)
	expected "$name" >/dev/null || {
		fail "$name: this test does not know what it should say"
		continue
	}
	count=$((count + 1))
	for variant in plain asan; do
		program=build/$variant/examples/$name
		"${MAKE:-make}" --no-print-directory -s SAN=$variant \
			"$program" >"$work/out" 2>&1 || {
			fail "$name: it does not build"
			continue
		}
		for seed in 1 2 3; do
			export FAULTLINE_MODE=lockstep FAULTLINE_SEED=$seed
			check "$name" "$variant, lockstep, seed $seed"
		done
		export FAULTLINE_MODE=threads
		check "$name" "$variant, threads"
	done
	export FAULTLINE_MODE=lockstep FAULTLINE_SEED=7
	program=build/plain/examples/$name
	for i in 1 2; do
		FAULTLINE_TRACE=$work/trace$i timeout 60 "$program" \
			>"$work/out" 2>&1
	done
	[ -s "$work/trace1" ] || fail "$name: it left no trace"
	cmp "$work/trace1" "$work/trace2" >"$work/out" 2>&1 ||
		fail "$name: one seed, two traces"
	unset FAULTLINE_MODE FAULTLINE_SEED

	# The same source on Linux.
	"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -Ilib -Ikernel-ref/include \
		-pthread -o "$work/native" "$source" \
		build/plain/libfaultline.a >"$work/out" 2>&1 || {
		fail "$name: it does not compile for Linux"
		continue
	}
	if [ ! -e /dev/faultline0 ]; then
		"$work/native" >"$work/out" 2>&1
		status=$?
		if [ $status != 1 ] ||
		   ! grep -q 'no such file or object' "$work/out"; then
			fail "$name: status $status without a card"
		fi
	fi
	for i in $(seq 100); do
		grep -q ready "$work/board" && break
		sleep 0.1
	done
	program=$work/native
	check "$name" "a process of its own" emu:example
done
[ $count -gt 0 ] || fail "there are no examples"

# The mode is one of two.
FAULTLINE_MODE=dreaming build/plain/examples/write >"$work/out" 2>&1
[ $? = 2 ] && grep -q "lockstep or threads, not 'dreaming'" "$work/out" ||
	fail "an unknown mode should be refused with status 2"

# The board ends in order, and nobody left anything there.
kill -TERM $board
wait $board
status=$?
cp "$work/board" "$work/out"
[ $status = 0 ] && grep -q '^board example: 0 of [0-9]* frames in use, pages: 0 in swap' \
	"$work/board" || fail "the board ended with status $status"
exit $bad
