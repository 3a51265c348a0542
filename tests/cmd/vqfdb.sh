#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The virtual QFDB: the driver on a stock kernel in QEMU. One guest and two, the same
# counts as on the small kernel, the library's examples, the module in and out of
# use, an emulator that ends before its guest, and options that are wrong.
set -u
. tests/cmd/expect.inc
out=$dir/out

${MAKE:-make} --no-print-directory build/faultline guest >"$dir/made" 2>&1
made=$?
if [ $made != 0 ]; then
	cat "$dir/made"
	grep -q '^SKIP' "$dir/made" && exit 77
	exit $made
fi
command -v qemu-system-aarch64 >/dev/null ||
	{ echo "SKIP: qemu-system-aarch64 is missing (make install-deps)"; exit 77; }
image=$(cat build/linux/image-6.1)

run() {		# run NAME OPTION... JOB [FILE...]: logs in $dir/NAME
	name=$1
	shift
	tools/vqfdb/run --image "$image" --out "$dir/$name" --limit 100 \
		--initramfs build/vqfdb/initramfs-6.1 "$@"
}

count() {	# count TRACE EVENT
	awk -v event="$2" '$4 == event { n++ } END { print n + 0 }' "$1"
}

# "expect" runs a command; these are functions of the shell.
check() {	# check NAME COMMAND...
	n=$((n + 1))
	text=$1
	shift
	if "$@" >"$dir/said" 2>&1; then
		echo "ok $n - $text"
		return
	fi
	echo "not ok $n - $text"
	sed 's/^/# /' "$dir/said"
	# What was said last where it went wrong, if that was in a guest.
	for console in $(ls -t "$dir"/*/console.* 2>/dev/null | head -n 2); do
		echo "# $console:"
		tail -n 20 "$console" | sed 's/^/#   /'
	done
	bad=1
}

# --- the main job

head -c 300000 build/faultline >"$dir/some"
check 'two guests: a file arrives equal' \
	"${MAKE:-make}" --no-print-directory vqfdb NODES=2 VQFDB_OUT="$dir/two" \
	FILE="$dir/some" VQFDB="--limit 100"
check 'the receiver compared it' \
	grep -q '^received 300000 bytes.*, the same' "$dir/two/console.1"
build/faultline send --trace "$dir/small" "$dir/some" >/dev/null

same() {
	for event in LIB_POST LIB_DOORBELL LIB_COMPLETE FW_WQE FW_BLOCK \
		     FW_COMPLETE ENG_FAULT DRV_IRQ_FAULT DRV_WORK DRV_RESOLVE \
		     DRV_READY ENG_READY_REG DRV_MR DRV_MR_GONE DRV_BIND \
		     DRV_UNBIND RX_BURST; do
		there=$(count "$dir/two/trace" $event)
		here=$(count "$dir/small" $event)
		[ "$here" -gt 0 ] && [ "$there" = "$here" ] && continue
		echo "$event: $there on Linux, $here on the small kernel"
		return 1
	done
}
check 'its trace counts what the small kernel'"'"'s counts' same
expect 0 DRV_RESOLVE 'and it is a trace like any other' \
	build/faultline trace --event DRV_RESOLVE "$dir/two/trace"

# --- one guest: everything else in one boot

cat >"$dir/all" <<'END'
for job in send examples unbind hole; do
	echo "== $job"
	sh ./$job.job || exit 1
done
echo '== a 32-bit program'
narrow || exit 1
END
check 'one guest: processes, examples, the card goes and comes, holes' \
	run one --cpus 1 "$dir/all" tests/linux/send.job \
	tests/linux/examples.job tests/linux/unbind.job tests/linux/hole.job
check 'two processes of it' grep -q '^received.*the same' "$dir/one/console.0"

# --- two cards in one guest

cat >"$dir/second" <<'END'
[ -e /dev/faultline0 ] || exit 1
send --device /dev/faultline1 /programs/send
END
check 'two cards: the second works' run cards --cards 2 --cpus 1 "$dir/second"
own() {		# the driver's steps stand in the trace of their own card
	awk '$4 ~ /^DRV_/ { n[$3]++ } END { for (b in n) print b, n[b] }' \
		"$dir/cards/trace"
	awk '$4 ~ /^DRV_/ { n[$3]++ } END { for (b in n) cards++; exit cards != 1 }' \
		"$dir/cards/trace"
}
check 'and its driver tells its own board alone' own

# --- the emulator ends first

cat >"$dir/go_on" <<'END'
echo begin
send --times 100000 /programs/send
[ $? = 1 ] || exit 1
send /programs/send && exit 1
rmmod faultline
END
cat >"$dir/only_poll" <<'END'
card poll || exit 1
rmmod faultline
END
cat >"$dir/only_wait" <<'END'
card wait || exit 1
rmmod faultline
END
# death SIGNAL TEXT [JOB]: of the emulator, in the middle of the job
death() {
	rm -rf "$dir/death$1"
	run "death$1" --cpus 1 "$dir/${3:-go_on}" &
	guest=$!
	while_alive $guest grep -q -e '^received' -e '^waiting' "$dir/death$1/console.0" &&
		kill -"$1" "$(cat "$dir/death$1/boards.pid")"
	wait $guest
	# Status 1 when it was killed; the guest must be well in any case.
	grep -q '^vqfdb: exit 0' "$dir/death$1/console.0" &&
		grep -q "the card is gone: $2" "$dir/death$1/console.0"
}
check 'the emulator ends: the guest hears ENODEV' death TERM 'its emulator has ended'
check 'the emulator is killed: the guest finds out' death KILL \
	'its emulator does not answer'
check 'the same, while a process only polls' death KILL \
	'its emulator does not answer' only_poll
check 'the same, while a process only sleeps' death KILL \
	'its emulator does not answer' only_wait

# --- what a user can get wrong

some=tests/linux/send.job
expect 2 'KERNEL=7.0: there are 6.1' 'a kernel that nobody fetches' \
	make vqfdb KERNEL=7.0
expect 2 'SMMU=mine: there are own and linux' 'an SMMU of nobody' make vqfdb SMMU=mine
expect 2 'own or linux is wanted' 'the same, of a guest' tools/vqfdb/run --smmu mine $some
expect 2 '--nodes 3' 'three guests' tools/vqfdb/run --nodes 3 $some
expect 2 'no option --nothing' 'an option that does not exist' \
	tools/vqfdb/run --nothing 1 $some
expect 2 'wants a value' 'an option without its value' tools/vqfdb/run --limit
expect 2 'no JOB' 'no job' tools/vqfdb/run --image "$image"
expect 2 "'/nonexistent'" 'a kernel that is not there' \
	tools/vqfdb/run --image /nonexistent --initramfs "$image" $some
expect 2 'a kernel for arm64 is wanted' 'a kernel that is none' \
	tools/vqfdb/run --image build/faultline $some
expect 2 'an archive of cpio' 'a folder of the guest that is none' \
	tools/vqfdb/run --initramfs build/faultline $some
expect 2 'a number from 1 on' 'no memory' \
	tools/vqfdb/run --memory 0 --image "$image" --initramfs "$image" $some
if command -v flock >/dev/null; then
	mkdir "$dir/taken"
	expect 1 'another run is at work' 'two runs in one folder' \
		flock "$dir/taken/lock" tests/linux/run --out "$dir/taken"
fi
echo 'exit 7' >"$dir/fails"
if run seven --cpus 1 "$dir/fails" >/dev/null 2>&1
then check 'a job that fails' false
else check 'a job that fails' grep -q '^vqfdb: exit 7' "$dir/seven/console.0"
fi
echo 'echo "UBSAN: planted" >/dev/kmsg' >"$dir/complains"
if run splat --cpus 1 "$dir/complains" >/dev/null 2>&1
then check 'a kernel that complains' false
else check 'a kernel that complains' grep -q '^vqfdb: exit 3' "$dir/splat/console.0"
fi
expect 2 'a number from 1 on' 'not slow at all' tools/vqfdb/run --slow 0 $some
echo "1..$n"
exit $bad
