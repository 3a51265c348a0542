#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The walls around what builds a work: ways by which a source makes a compiler, an assembler, a
# linker or Verilator read or write what is not its own. Each is done without the walls, where it
# must succeed, and within them, where it must not; as this user, and as a plain one if this is
# root. Then the same through the grader, and what the names of works come to in scores.csv.
# What a subject tries when it runs: tests/unit/tools/test_os_escape.c.
set -u
. tests/cmd/expect.inc
top=$PWD
B=${B:-build/plain}
eval "$(make -s --no-print-directory lab-env)"
cc=${LAB_COMPILE%% *}
# Relative names alone: so it does not matter whether a plain user may search folders above.
cp "$B/labs/walk/grade" "$dir/grade"
mkdir "$dir/work"
cd "$dir" || exit 2
s=SECRET_OF_OTHERS
echo "this $s is" > secret
touch -d tomorrow secret
if ./grade confine --write work -- cat secret > /dev/null 2>&1; then
	echo 'SKIP: this kernel has no Landlock, or a container keeps it from us'
	exit 77
fi
printf 'char secret[] = "%s";\n' "$s" > header.h
# A program, a plug-in and a precompiled header that somebody else has made.
mkdir tools
printf '#!/bin/sh\necho %s >&2\nexit 1\n' $s > tools/as
cp tools/as tools/ld
chmod +x tools/as tools/ld
printf '#include <stdio.h>\n__attribute__((constructor)) static void f(void) { puts("%s"); }\n' \
	$s > plugin.c
$cc -shared -fPIC -o plugin.so plugin.c
$cc -o precompiled.gch header.h 2> /dev/null
$cc -c -x c -o header.o header.h
ar rc header.a header.o

# Has it come out, in what was made or said, or has something been made elsewhere?
came_out() { grep -q -a -r --exclude=x.c "$s" work || [ -e elsewhere ]; }

# within "OPTION..." COMMAND...: as $user
within() {
	options=$1
	shift
	# shellcheck disable=SC2086
	KEY=$s TMPDIR=work $user ./grade confine $options --write work -- "$@" > work/said 2>&1
}
bare() {
	shift
	# shellcheck disable=SC2086
	KEY=$s TMPDIR=work $user "$@" > work/said 2>&1
}

# way NAME TEXT COMMAND...: the text is work/x.c; -: there is none
way() {
	name=$1 text=$2
	shift 2
	for how in bare within; do
		rm -rf work elsewhere
		mkdir work
		[ "$text" = - ] || printf '%s\n' "$text" > work/x.c
		[ -z "$link" ] || ln -s ../secret "work/$link"
		[ -z "$user" ] || chown -R 65534 work
		$how "" "$@"
		came_out
		eval "$how=$?"
	done
	if [ $bare != 0 ] && [ "$may_not_be" ]; then
		echo "# not here: $name$who"
		skipped=$((skipped + 1))
		return
	fi
	ways=$((ways + 1))
	n=$((n + 1))
	if [ $bare = 0 ] && [ $within != 0 ]; then
		echo "ok $n - $name$who"
	else
		echo "not ok $n - $name$who"
		[ $bare = 0 ] || echo "# it does not succeed without the walls either"
		[ $within != 0 ] || echo "# it succeeds within the walls"
		sed 's/^/#   /' work/said | head -20
		bad=1
	fi
}

# Its directive stands on a line of its own in the assembly.
assembly() {
	printf '__asm__('
	printf '"%s\\n" ' "$@"
	printf ');\n'
}

ways_of_all() {
	obj="-c -o work/x.o work/x.c"
	# An assembler inside the compiler ignores the path that it is given.
	gas=
	echo 'int x;' | $cc -fno-integrated-as -x c -S -o work/x.s - 2> /dev/null &&
		gas=-fno-integrated-as may_not_be=yes	# clang: it has not all of gcc's ways
	# shellcheck disable=SC2086
	set -- $cc $obj
	way '.incbin' "$(assembly '.incbin \"secret\"')" "$@"
	way '.include' "$(assembly '.include \"secret\"')" "$@"
	way '.irep, the old name of .irp' \
		"$(assembly '.irep x,bin' '.inc\\x \"secret\"' '.endr')" "$@"
	way '.irp' "$(assembly '.irp x,bin' '.inc\\x \"secret\"' '.endr')" "$@"
	way '.irpc' "$(assembly '.irpc x,n' '.i\\x\\()cbin \"secret\"' '.endr')" "$@"
	way '.irepc' "$(assembly '.irepc x,n' '.i\\x\\()cbin \"secret\"' '.endr')" "$@"
	way '.macro' "$(assembly '.macro m x' '.inc\\x \"secret\"' '.endm' 'm bin')" "$@"
	way '.altmacro' "$(assembly '.altmacro' '.macro m x' '.inc&x \"secret\"' '.endm' 'm bin')" "$@"
	way 'an attribute with assembly' 'static void f(void) __attribute__((weakref("x\n.incbin \"secret\"\n#")));
		void g(void) { f(); }' "$@"
	way 'an #ident with assembly' '#ident "x\"\n.incbin \"secret\"\n.ident \"x"' "$@"
	way 'a section with assembly' '__attribute__((section(".x,\"a\"\n.incbin \"secret\"\n#"))) int x;' "$@"
	way 'a name with assembly' 'extern int v __asm__("v\n.incbin \"secret\"\n#"); int *p = &v;' "$@"
	way '#include' '#include "../secret"' "$@"
	way '#include of a whole path' '#include "/proc/self/cwd/secret"' "$@"
	way '#include of C' '#include "../header.h"' "$@"
	way '#import' '#import "../header.h"' "$@"
	way '#include_next' '#include_next "../header.h"' "$@" -I. -Iwork
	way '#include of a macro' '#define F "../header.h"
		#include F' "$@"
	way '#line' '#line 1 "secret"
		this is no C' "$@"
	way 'a mark of the preprocessor' '# 1 "secret"
		this is no C' "$@" -fpreprocessed
	way '__has_include' "#if __has_include(\"../secret\")
		char x[] = \"$s\";
		#endif" "$@"
	link=x.h
	way 'a link among the files' '#include "x.h"' "$@"
	way 'a link, in assembly' "$(assembly '.incbin \"work/x.h\"')" "$@"
	link=x.c
	way 'a link that is the file' - "$@"
	link=
	way 'a file of options' - "$cc" -c -o work/x.o @secret
	way 'an option that includes' 'int x;' "$@" -include header.h
	way 'an option that takes macros' 'int x = X;' "$@" -include secret
	way "the assembler's list" 'int x;' "$@" -Wa,-I.,--listing-lhs-width=9,-a,header.h
	way "somebody's assembler" 'int x;' "$@" $gas -Btools/
	way "somebody's linker" 'int main(void) { return 0; }' "$cc" -o work/x work/x.c -Btools/
	way 'a place elsewhere for the object' 'int x;' "$cc" -c -o elsewhere work/x.c
	way 'a place elsewhere for a list' 'int x;' "$@" -MD -MF elsewhere
	way 'a text for the linker that names a file' 'TARGET(binary) INPUT(secret)' \
		ld -r -o work/x work/x.c
	way 'a text that names an archive' 'INPUT(header.a)' \
		ld -r --whole-archive -o work/x work/x.c
	way "an object that is somebody's" - ld -r -o work/x header.o
	way 'an archive of such' - ar rc work/x.a header.o
	way 'names in such' - sh -c "nm header.o | sed s/secret/$s/"
	way 'a shell in their place' - sh -c 'cat secret'
	way 'a place elsewhere for a shell' - sh -c ': > elsewhere'
	way "a file's mode" - sh -c "chmod 640 work/../secret && echo $s"
	way "the grader's own variables" - sh -c 'echo "$KEY"'
	way 'the environment, as a file' - sh -c 'cat /proc/self/environ'
	way 'what other processes were called with' - sh -c "cat /proc/\$PPID/cmdline && echo $s"
	# Not every compiler has these.
	may_not_be=yes
	way '#embed' 'char x[] = {
		#embed "../secret"
		};' "$@" -std=c2x
	way 'a header that was compiled before' '#pragma GCC pch_preprocess "precompiled.gch"
		int x;' "$@" -fpreprocessed
	way 'a plug-in' 'int x;' "$@" -fplugin=./plugin.so
	[ -n "$gas" ] || way "older than somebody's file" "#pragma GCC dependency \"../secret\" $s" "$@"
	way 'Verilog that includes' '`include "secret"' \
		sh -c 'cp work/x.c work/x.v && verilator --lint-only work/x.v'
	way 'Verilog that includes, for Icarus' '`include "secret"' iverilog -E -o work/x work/x.c
	may_not_be=
}
user='' who='' link='' may_not_be='' skipped=0 ways=0
chmod 644 secret
ways_of_all
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
	chown -R 65534:65534 .
	user='setpriv --reuid=65534 --regid=65534 --clear-groups' who=', as a plain user'
	ways_of_all
	chown -R 0:0 .
	user='' who=''
fi
echo "# $ways ways, and $skipped that these tools do not have"
expect 0 '' 'the file is what it was' grep -q "$s" secret

# A compiler that uses too much is ended.
too_much() {	# NAME TEXT
	rm -rf work
	mkdir work
	printf '%s\n' "$2" > work/x.c
	within '' "$cc" -c -o work/x.o work/x.c
	expect 1 '' "$1 ends" test $? = 0
	expect 1 '' '... and leaves nothing large' sh -c "find work -size +204800 | grep ."
}
too_much 'an object of a terabyte' "$(assembly '.data' '.byte 1' '.space 1<<40' '.byte 1')"
[ -n "$gas" ] || too_much 'an array of a terabyte' 'char x[1ul << 40] = { 1 };'
too_much 'an object of ten gigabytes' "$(assembly '.data' '.fill 1280<<20, 8, 1')"
too_much 'a file that includes itself' '#include "x.c"'

# A compiler has no use for a network or for other processes.
rm -rf work
mkdir work
cat > try.c <<- 'END'
	#include <signal.h>
	#include <sys/socket.h>
	#include <unistd.h>
	int main(void) { return socket(AF_INET, SOCK_STREAM, 0) < 0 || kill(getppid(), 0); }
END
$cc -o try try.c
expect 0 '' 'a program of tools has network and processes' ./try
expect 1 '' '... and within the walls it has not' ./grade confine --read try --write work -- ./try
expect 2 'usage: grade confine' 'a call without a command' ./grade confine --write work --

# Through the grader.
cd "$top" || exit 2
given=$B/labs/walk/starter/emu/smmu/walk.c
all=$dir/all
batch="tools/lab/batch walk $all --out $dir/batch --jobs 2"
export TMPDIR="$dir"
with() { mkdir -p "$all/$name" && { cat "$given"; printf '%s\n' "$@"; } > "$all/$name/walk.c"; }
name=irep; with "$(assembly '.irep x,bin' ".inc\\\\x \\\"$dir/secret\\\"" '.endr')"
# The assembler makes this one's words, so that no look at the text finds them.
name=hides; with "$(assembly '.if 0' '.endif' '.altmacro' ".irepc x,n" \
	".i\\\\x\\\\()cbin \\\"$dir/secret\\\"" '.endr')"
name=hidden; with "$(assembly ".irep x,bin" ".inc\\\\x \\\"$top/labs/walk/rubric.txt\\\"" '.endr')"
name=asks; with "#if __has_include(\"$top/labs/walk/rubric.txt\")" "#error $s" '#endif'
name=reference; with '#include "emu/smmu/walk.c"'
name=hard; with '' && ln "$all/hard/walk.c" "$dir/another-name"
with_name() { mkdir -p "$all/$1" && echo '#error' > "$all/$1/walk.c"; }
long=$(printf 'n%.0s' $(seq 100))
for name in '=1+1' '@SUM(A1)' '+1' '-1' "'x" 'a"b' 'a;=1+1' "tab	x" "${long}1" "${long}2" \
	'back\slash' 'back\x5cslash' --key '-specs=x' '@secret' ' =1' 'two words'; do
	with_name "$name"
done
expect 0 'asks: 0 of 100' 'works with ways out, and with odd names, all get their records' $batch
cp "$dir/out" "$dir/said"
for name in irep hides hidden asks reference hard; do
	expect 0 "$name: 0 of 100" "$name gets nothing" cat "$dir/said"
done
expect 1 '' 'the secret is in no record and in no log' \
	grep -r -a -l --exclude-dir=src "$s" "$dir/batch"
expect 0 'reference includes what it may not: ' 'the report says that the reference is none of its files' \
	cat "$dir/batch/reference.txt"
expect 0 'has another name elsewhere (a hard link)' 'a file with two names is nobody'"'s work" \
	cat "$dir/batch/hard.txt"
expect 0 'compiled limits calls files' 'the record says what the compiler was kept from' \
	cat "$dir/batch/asks/record"

# A compiler that is not the system's, with a file of its own beside it.
mkdir "$dir/other"
echo : > "$dir/other/settings"
printf '#!/bin/sh\n. %s/settings\nexec %s "$@"\n' "$dir/other" "$cc" > "$dir/other/cc"
chmod +x "$dir/other/cc"
mkdir "$dir/two"
for f in walk tlb; do { cat "emu/smmu/$f.c" && echo '// mine'; } > "$dir/two/$f.c"; done
one="tools/lab/grade walk --out $dir/o --only first_level $dir/two"
elsewhere="$dir/other/cc ${LAB_COMPILE#* }"
expect 2 'LAB_TOOLS=FOLDER' 'a compiler elsewhere has to be named' \
	env LAB_COMPILE="$elsewhere" $one
expect 0 'score 4 of 4' '... and then works' \
	env LAB_COMPILE="$elsewhere" LAB_TOOLS="$dir/other" $one

# A kernel without Landlock: the grader grades, claims nothing, and says what to do.
cat > "$dir/older.c" <<- 'END'
	#include <errno.h>
	#include <linux/filter.h>
	#include <linux/seccomp.h>
	#include <stddef.h>
	#include <sys/prctl.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		struct sock_filter code[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog prog = { 4, code };
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
		execvp(argv[1], argv + 1);
		return argc;
	}
END
$cc -o "$dir/older" "$dir/older.c"
expect 0 'this system keeps a compiler from no file' 'without Landlock the report says so' \
	"$dir/older" $one
cp "$dir/out" "$dir/said"
expect 0 'score 4 of 4' '... and the work is graded' cat "$dir/said"
expect 1 '' '... and nobody is said to be kept from files' grep -w '^c.* files' "$dir/o/record"
sed '/^compiled/d' "$dir/o/record" > "$dir/early"
expect 0 'score 4 of 4' 'a record from before compilers had walls is read' \
	"$B/labs/walk/grade" export text "$dir/early"

if command -v sim_c > /dev/null; then
	mkdir -p "$dir/alike/-p" "$dir/alike/one"
	cp emu/smmu/walk.c "$dir/alike/-p/"
	cp emu/smmu/walk.c "$dir/alike/one/"
	ln -s one "$dir/alike/link"
	expect 0 '100 % of ' 'works that are alike, one with the name of an option' \
		tools/lab/overlap walk "$dir/alike"
	cp "$dir/out" "$dir/said"
	expect 1 '' 'a link is none of them' grep -w link "$dir/said"
else
	skip 'works that are alike, one with the name of an option' 'no sim_c (package similarity-tester)'
fi

csv() { expect 0 "walk,$2,1,0,100" "$1" cat "$dir/batch/scores.csv"; }
csv 'a name that is a formula is text' "\"'=1+1\""
csv 'so is one with @' "\"'@SUM(A1)\""
csv 'and with +' "\"'+1\""
csv 'and with -' "\"'-1\""
csv 'and with blanks before it' "\" '=1\""
csv 'and after what another spreadsheet takes for the end of a cell' "\"a;'=1+1\""
csv 'an apostrophe stays another name' "\"''x\""
csv 'a quote is doubled' '"a""b"'
csv 'a tab is written' '"tab\x09x"'
csv 'a backslash is two' '"back\\slash"'
csv 'so that no names meet' '"back\\x5cslash"'
csv 'a long name is whole' "\"${long}1\""
csv 'and another one is another' "\"${long}2\""
expect 0 "$(ls "$all" | wc -l)" 'as many names as works' \
	sh -c "sed 1d '$dir/batch/scores.csv' | cut -d, -f2 | sort -u | wc -l"
expect 2 'at most 1000 bytes' 'a name that is too long is said to be' \
	"$B/labs/walk/grade" run --lab labs/walk --out "$dir/n" --name "$(printf 'n%.0s' $(seq 1100))"
exit $bad
