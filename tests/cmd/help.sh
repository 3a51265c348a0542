#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make help: lines of the makefiles, grouped by who types the commands; each names a command
# that exists, and a malformed line is found.
set -u
. tests/cmd/expect.inc
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

make -s help > "$dir/help" 2>&1
for group in try learn teach change hardware; do
	expect 0 '' "group $group has commands" grep -q "^To .*$group" "$dir/help"
done
make -pn help 2> /dev/null | sed -n 's/^\.PHONY: //p' | tr ' ' '\n' > "$dir/commands"
for command in $(sed -n 's/^  make \([a-z][a-z0-9-]*\) .*/\1/p' "$dir/help"); do
	expect 0 '' "make $command is a command" grep -q -x -e "$command" "$dir/commands"
done
expect 0 '' 'every room has its lines' test $n -ge 50

printf '# no line of help\n## tri\thello\ttext\n' > "$dir/group.mk"
expect 1 "group.mk:2: not a line of make help" 'an unknown group' tools/help "$dir/group.mk"
printf '## try\thello text\n' > "$dir/tabs.mk"
expect 1 "tabs.mk:1: not a line of make help" 'a line without tabs' tools/help "$dir/tabs.mk"

# In a handout: the commands that are in it, for its lab.
tools/help --lab bank --only 'all grade' Makefile labs/labs.mk > "$dir/help" 2>&1
expect 0 'make grade LAB=bank' 'a handout has its own lab' cat "$dir/help"
expect 1 '' 'and not what a teacher types' grep -e starter -e hello "$dir/help"
echo "1..$n"
exit $bad
