#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The page "add a system" of the book, followed to the letter in a copy of the tree: each
# "$ " line of a listing under "[.follow]" is typed, with the "> " lines that continue it, and
# says what stands below it; "..." alone in a line stands for any lines.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/cmd/expect.inc

page=${PAGE:-book/add_system.adoc}
mkdir -p "$dir/tree/build/plain"
tar -c --exclude=./build --exclude=./.git . | tar -x -C "$dir/tree"
# What is built already need not be built again.
cp -a build/plain/obj build/plain/*.a "$dir/tree/build/plain/"
cp -a build/gen build/faultline "$dir/tree/build/" 2>"$dir/said"

# A file for each command, N.sh, and one for what it is to say, N.want.
awk -v dir="$dir" '
	/^\[\.follow\]$/ { wait = 1; next }
	/^----$/ && wait { within = 1; wait = 0; next }
	/^----$/ { within = 0 }
	!within { next }
	/^\$ / { n++; print substr($0, 3) > (dir "/" n ".sh"); printf "" > (dir "/" n ".want"); next }
	/^> / { print substr($0, 3) > (dir "/" n ".sh"); next }
	{ print > (dir "/" n ".want") }
	END { print n + 0 > (dir "/commands") }
' "$page"

# said WANT GOT: the lines of WANT are those of GOT, but for "...".
said()
{
	awk -v want="$1" '
		{ got[++m] = $0 }
		END {
			while ((getline line < want) > 0) {
				if (line == "...") { any = 1; continue }
				for (at++; any && at <= m && got[at] != line; at++)
					;
				if (got[at] != line || at > m) {
					print "wanted: " line
					print "got:    " got[at]
					exit 1
				}
				any = 0
			}
			if (!any && at < m) { print "too much: " got[at + 1]; exit 1 }
		}' "$2"
}

followed()	# N
{
	(cd "$dir/tree" && MAKEFLAGS= sh "$dir/$1.sh") > "$dir/$1.got" 2>&1 || {
		cat "$dir/$1.got"
		return 1
	}
	said "$dir/$1.want" "$dir/$1.got"
}

commands=$(cat "$dir/commands")
for ((i = 1; i <= commands && !bad; i++)); do
	n=$((n + 1))
	if followed "$i" > "$dir/how" 2>&1; then
		echo "ok $n - $(head -n 1 "$dir/$i.sh")"
	else
		echo "not ok $n - $(head -n 1 "$dir/$i.sh")"
		sed 's/^/# /' "$dir/how"
		bad=1
	fi
done
expect 0 '' 'the page has commands' test "$commands" -ge 10
expect 0 '' 'the tree is as it was' test -z "$(grep MUTE kernel-ref/include/faultline/system.def)"

echo "1..$n"
exit $bad
