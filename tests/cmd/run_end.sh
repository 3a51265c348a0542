#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# faultline run and send that are interrupted or killed: the folder that they had and what they
# started go. Mode vm has a script here that only sleeps, instead of a guest; what is
# left when that of guests is ended: tests/cmd/vqfdb_end.sh.
set -u
. tests/cmd/expect.inc

cat >"$dir/sleeps" <<END
#!/bin/sh
echo \$\$ >$dir/script
trap 'sleep 0.3; touch $dir/late; exit 130' TERM
sleep 60 &
echo \$! >$dir/sleeper
wait
END
chmod +x "$dir/sleeps"
cat >"$dir/long.fl" <<'END'
board a
process p on a
repeat 1000000000
	sleep 1ms
end
END
mkdir "$dir/tmp"

has_folder() { ls "$dir"/tmp/faultline-run.*/"$1"; }
empty() { [ -z "$(ls "$dir/tmp")" ]; }
# The script knows what to do with a signal by then.
sleeps() { [ -s "$dir/sleeper" ]; }
ended() { ! kill -0 "$(cat "$dir/script")"; }

# interrupted SIGNAL READY FILE OPTION...: SIGNAL comes as soon as FILE is in its folder, and READY
interrupted() {
	signal=$1 ready=$2 file=$3
	shift 3
	rm -f "$dir/script" "$dir/sleeper" "$dir/late"
	# What is started in the background ignores INT otherwise.
	TMPDIR=$dir/tmp env --default-signal=INT "$fl" run "$@" "$dir/long.fl" \
		</dev/null >"$dir/said" 2>&1 &
	run=$!
	until_true 20 has_folder "$file" && until_true 20 $ready && kill -"$signal" $run
	started=$?
	wait $run 2>/dev/null
	how=$?
	expect 0 '' "$*: it had a folder when $signal came" test $started = 0
	expect 0 '' 'and ends by that' test $how -gt 128
	until_true 20 empty
	expect 0 '' 'the folder goes' test -z "$(ls "$dir/tmp")"
}
for signal in INT TERM KILL; do
	interrupted $signal sleeps 0/port.1 --mode vm --boot "$dir/sleeps"
	until_true 20 ended
	expect 0 '' 'and the script, which has the time it needs' test -e "$dir/late"
	kill "$(cat "$dir/sleeper")"
	interrupted $signal true 0.sock --mode processes
done
expect 0 'passed' 'who ends by himself leaves no folder either' \
	env TMPDIR="$dir/tmp" "$fl" run --mode processes tests/scenario/write_cold.fl
expect 0 '' 'at once' test -z "$(ls "$dir/tmp")"

# --- at any moment, with all that there is: a board of another process, a fork server and two
# processes of it, and a minder for each of two folders

head -c 30000000 /dev/zero >"$dir/large"
# A zombie is gone, too: in a container process 1 may wait for nobody.
group_gone() { ! ps -eo pgid=,stat= | awk -v g="$1" '$1 == g && $2 !~ /^Z/' | grep -q .; }

# cut SIGNAL WHO SECONDS: after so long it comes to the program, or to its whole group, as from
# a terminal
cut() {
	TMPDIR=$dir/tmp setsid env --default-signal=INT "$fl" send --mode processes --udp \
		"$dir/large" </dev/null >"$dir/said" 2>&1 &
	run=$!
	until_true 20 kill -0 -$run
	sleep "$3"
	[ "$2" = group ] && whom=-$run || whom=$run
	kill -"$1" "$whom"
	wait $run 2>/dev/null
	how=$?
	expect 0 '' "$1 to the $2 after $3 s ends it" test $how -gt 128
	until_true 20 group_gone $run
	expect 0 '' 'no process is left' test $? = 0
	# Nobody was left who could remove the folders: the next program does.
	[ "$1 $2" != 'KILL group' ] ||
		TMPDIR=$dir/tmp "$fl" run --mode processes tests/scenario/write_cold.fl >"$dir/said"
	until_true 20 empty
	expect 0 '' 'no folder' test -z "$(ls "$dir/tmp")"
}
for moment in 0.03 0.1 0.4; do
	for signal in 'TERM program' 'KILL program' 'INT group' 'KILL group'; do
		# shellcheck disable=SC2086
		cut $signal $moment
	done
done
echo "1..$n"
exit $bad
