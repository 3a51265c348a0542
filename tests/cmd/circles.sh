#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/core/circles finds a circle that was planted, and nothing where there is none.
set -u
cd "$(dirname "$0")/../.."
. tests/cmd/expect.inc

# Three files of a room, each of which calls the next; c.c calls nothing so far. Another room
# has a file that calls the first.
mkdir -p "$dir/obj/emu/room" "$dir/obj/emu/other"
object()	# ROOM/NAME TEXT
{
	echo "$2" > "$dir/$(basename "$1").c"
	${CC:-cc} -c -o "$dir/obj/emu/$1.o" "$dir/$(basename "$1").c"
}
object room/a 'int b(void); int a(void) { return b(); }'
object room/b 'int c(void); int b(void) { return c() + 1; }'
object room/c 'int c(void) { return 1; }'
object other/d 'int a(void); int d(void) { return a(); }'
all="$dir/obj/emu/room/a.o $dir/obj/emu/room/b.o $dir/obj/emu/room/c.o $dir/obj/emu/other/d.o"
: > "$dir/none"

# shellcheck disable=SC2086
{
expect 0 '' 'layers have no circle' tests/core/circles "$dir/none" $all
object room/c 'int d(void); int c(void) { return d(); }'
expect 0 '' 'what goes through another room is none of this one' tests/core/circles "$dir/none" $all
object room/c 'int a(void); int c(void) { return a(); }'
expect 1 'emu/room: a circle among its files' 'one that was planted is found' \
	tests/core/circles "$dir/none" $all
expect 1 'emu/room/c.c needs emu/room/a.c: a' 'with the symbol that closes it' \
	tests/core/circles "$dir/none" $all
echo 'emu/room/c.c emu/room/a.c a says when c is over' > "$dir/list"
expect 0 '' 'a way back that has a reason stays' tests/core/circles "$dir/list" $all
echo 'emu/room/c.c emu/room/a.c' > "$dir/bare"
expect 1 'no reason' 'one without a reason does not' tests/core/circles "$dir/bare" $all
object room/b 'int a(void); int b(void) { return a(); }'
expect 1 'emu/room/b.c needs emu/room/a.c: a' 'a second circle is found beside it' \
	tests/core/circles "$dir/list" $all
object room/b 'int c(void); int b(void) { return c() + 1; }'
object room/c 'int c(void) { return 1; }'
expect 1 'emu/room/c.c is no way back to emu/room/a.c' 'what is no circle any more leaves the list' \
	tests/core/circles "$dir/list" $all
object room/c 'int (*up)(void); int c(void) { return up(); }'
expect 0 '' 'a call through a pointer is no circle' tests/core/circles "$dir/none" $all
expect 2 'usage' 'without objects it says how it is called' tests/core/circles "$dir/none"
expect 2 'cannot be read' 'a list that is not there is an error' \
	tests/core/circles "$dir/nowhere" $all
}
echo "1..$n"
exit $bad
