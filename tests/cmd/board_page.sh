#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What book/board.adoc names is there: files, targets of make, overlays, messages of
# the driver, and its numbers are those of the device tree.
set -u
cd "$(dirname "$0")/../.." || exit 2
page=book/board.adoc
bad=0

fail() {
	echo "$page: $*"
	bad=1
}

# Paths of the tree, not those below another; what is in build/ is made.
for f in $(grep -oE '(^|[^/[:alnum:]_-])(kernel-ref|tests|book|lib|rtl)/[A-Za-z0-9_,./-]*' $page |
	   sed 's/^[^a-z]//; s/[.,:]*$//' | sort -u); do
	case $f in
	lib/libfaultline.a|lib/firmware/*) continue ;;
	esac
	[ -e "$f" ] || fail "no $f"
done
for f in $(grep -o 'link:[a-z_]*\.adoc' $page | sed 's/link://'); do
	[ -f "book/$f" ] || fail "no book/$f"
done
grep -q '^include::board.adoc' book/index.adoc || fail "not in the index"

targets=$(grep -o '`make [a-z0-9-]*' $page | sed 's/`make //' | sort -u)
[ -n "$targets" ] || fail "names no target of make"
for t in $targets; do
	case $t in
	-*) continue ;;
	esac
	grep -q "^$t:" Makefile */*.mk */*/*.mk */*/*/*.mk || fail "make $t is no target"
done
for t in $(grep -o 'make -C kernel-ref/board [a-z]*' $page | sed 's/.* //' | sort -u); do
	grep -q "^$t:" kernel-ref/board/Makefile || fail "make -C kernel-ref/board $t: no target"
done

# Each overlay has its row, and each row its overlay.
for o in kernel-ref/board/*.dtso; do
	o=$(basename "$o" .dtso)
	grep -q "^| \`$o\` |" $page || fail "overlay $o is not explained"
done

# Messages that a user may see are those of the sources.
for m in 'no faultline,smmu: apply the overlay shared-smmu too' 'banks free' \
	 'firmware does not answer command'; do
	grep -q -F "$m" $page || fail "does not explain '$m'"
	grep -r -q -F "$m" --include='*.c' kernel-ref || fail "nobody says '$m'"
done

number() {	# of the contract's headers
	sed -n "s/^#define $1[[:space:]]*\(0x[0-9A-Fa-f]*\).*/\1/p" kernel-ref/include/faultline/*.h
}
for n in NIC_ENG_ID_RESET NIC_FW_ID_RESET; do
	grep -q "$(number $n)" $page || fail "$n is not $(number $n)"
done
grep -q '0xa0000000 0x0 0x20000' kernel-ref/board/faultline.dtsi &&
	grep -q '`devmem 0xa0000000`' $page || fail "the card is elsewhere"
exit $bad
