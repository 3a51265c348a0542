#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Ends that nobody planned: a guest's machine is killed in the middle of a transfer, a
# script that runs guests is killed or interrupted, a program in a guest hangs. The
# others hear of it, and nothing is left.
set -u
. tests/cmd/expect.inc

${MAKE:-make} --no-print-directory build/faultline guest GUEST_MORE=linux-tests >"$dir/made" 2>&1
made=$?
if [ $made != 0 ]; then
	cat "$dir/made"
	grep -q '^SKIP' "$dir/made" && exit 77
	exit $made
fi
command -v qemu-system-aarch64 >/dev/null ||
	{ echo "SKIP: qemu-system-aarch64 is missing (make install-deps)"; exit 77; }

result() {	# result STATUS NAME FILE...: what to show when it is not 0
	n=$((n + 1))
	status=$1 text=$2
	shift 2
	if [ "$status" = 0 ]; then
		echo "ok $n - $text"
		return
	fi
	echo "not ok $n - $text"
	tail -n 15 "$@" | sed 's/^/#   /'
	bad=1
}

# --- one of two guests

# Its 1500 blocks find no page, so it takes its time, also where this script is slow.
head -c 24000000 /dev/zero | tr '\0' x >"$dir/some"
cat >"$dir/job" <<'END'
case $FL_NODE in
0) send --to "$FL_PEER" /job/some & ;;
1) send --from "$FL_PEER" & ;;
esac
if [ $FL_NODE = 1 ]; then
	until [ "$(awk '/faultline-fault/ { print $2 }' /proc/interrupts)" -ge 20 ]; do
		:
	done
	echo "in the middle"
fi
wait $!
echo "the job ended with $?"
END
# killed GUEST WORDS: the machine of GUEST goes; the other's program says WORDS.
killed() {
	out=$dir/killed$1 other=$((1 - $1))
	tools/vqfdb/run --nodes 2 --limit 100 --out "$out" "$dir/job" "$dir/some" \
		>"$dir/said" 2>&1 &
	run=$!
	while_alive $run grep -q '^in the middle' "$out/console.1" &&
		kill -KILL "$(cat "$out/qemu.pid.$1")"
	wait $run
	[ $? = 1 ] && grep -q "guest $1: its QEMU was ended by signal 9" "$dir/said"
	result $? "guest $1 is killed: the script says so" "$dir/said"
	grep -qE "$2" "$out/console.$other" &&
		grep -q '^the job ended with 1' "$out/console.$other" &&
		grep -q '^vqfdb: exit 0' "$out/console.$other"
	result $? "the other guest's program says what it misses, and ends" \
		"$out/console.$other"
	[ "$(grep -c '^board qfdb.: 1 guest;' "$out/vm.log")" = 2 ] &&
		[ "$(grep -c 'the guest has gone while' "$out/vm.log")" = 1 ] &&
		grep -q "board qfdb$1: the guest has gone while 1 of its" "$out/vm.log"
	result $? "the emulator says whose guest has gone, and ends in order" \
		"$out/vm.log"
}
killed 1 '^send: sender: '
killed 0 '^send: (receiver: |the sender has gone)'

# --- a program that hangs

mkdir "$dir/programs"
cat >"$dir/programs/test_hangs" <<'END'
#!/bin/sh
echo 1..2
echo ok 1 this is well
while :; do sleep 1000; done
END
cat >"$dir/programs/test_works" <<'END'
#!/bin/sh
echo 1..1
echo ok 1 the next one has its turn
END
chmod +x "$dir"/programs/*
tests/linux/run --each 2 --programs "$dir/programs" --out "$dir/hangs" \
	-- test_hangs test_works >"$dir/said" 2>&1
[ $? = 1 ] && grep -q '^not ok .* test_hangs: hung, and was killed after' "$dir/said" &&
	grep -q '^ok .* test_works: the next one' "$dir/said"
result $? 'a program that hangs is killed, and is a test that failed' "$dir/said"

echo 'sleep 1000' >"$dir/sleeps"
expect 124 'guest 0: no end within 5 s' 'a guest that does not end is ended' \
	tools/vqfdb/run --limit 5 --out "$dir/limit" "$dir/sleeps"
expect 1 'on Linux: given up after 3 s: it hangs, or' "a lab's driver that does not end is given up" \
	tools/lab/linux driver --out "$dir/lab" --programs '' --limit 3 kernel-ref

# --- the script itself

# gone OUT: what it started, and the folder that it had. A zombie is gone, too: in a container
# process 1 may wait for nobody.
gone() {
	for pid in $(cat "$1/boards.pid" "$dir/qemu"); do
		! kill -0 "$pid" || grep -q ') Z ' "/proc/$pid/stat" || return 1
	done
	[ ! -d "$(cat "$dir/folder")" ]
}

# ended SIGNAL SCRIPT ARGUMENT...: the script goes by SIGNAL as soon as it has a guest
ended() {
	signal=$1 script=$2
	shift 2
	rm -rf "$dir/end"
	# What is started in the background ignores INT otherwise.
	env --default-signal=INT "$script" --out "$dir/end" "$@" >"$dir/said" 2>&1 &
	run=$!
	while_alive $run test -s "$dir/end/qemu.pid.0" &&
		cp "$dir/end/qemu.pid.0" "$dir/qemu" &&
		sed -n 's/.* card \(.*\)\/qfdb0\/card,.*/\1/p' "$dir/end/vm.log" \
			>"$dir/folder" &&
		[ -d "$(cat "$dir/folder")" ] &&
		kill -"$signal" $run
	started=$?
	wait $run
	[ $started = 0 ] && until_true 20 gone "$dir/end"
	result $? "$script gets $signal: nothing is left" "$dir/said"
}
for signal in INT KILL; do
	ended $signal tools/vqfdb/run "$dir/sleeps"
	ended $signal tests/linux/run --programs "$dir/programs" -- test_hangs
done
echo "1..$n"
exit $bad
