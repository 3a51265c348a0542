#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Every public call has its page in book/reference/, with all its sections and
# the prototype of the header, is listed in the index, and no page is left of a
# call that is gone.
set -u
cd "$(dirname "$0")/../.." || exit 2
bad=0

fail() {
	echo "$*"
	bad=1
}

flat() {	# white space out of the way
	tr -s '[:space:]' ' '
}

# The header on one line, without its comments: they name calls too.
header=$(flat <lib/faultline.h | sed 's,/\*,\n&,g; s,\*/,&\n,g' |
	grep -v '^/\*' | flat)
calls=$(echo "$header" | grep -o '\bfl_[a-z_]*(' | tr -d '(' | sort -u)
[ -n "$calls" ] || fail "lib/faultline.h has no calls"
for call in $calls; do
	page=book/reference/$call.adoc
	if [ ! -f "$page" ]; then
		fail "$page: missing"
		continue
	fi
	for section in Synopsis Arguments Returns Errors Notes "See also" \
		Source; do
		grep -q -x "== $section" "$page" ||
			fail "$page: no section '$section'"
	done
	# The prototype, from its first word to the semicolon.
	prototype=$(echo "$header" |
		grep -o "[a-z_0-9][a-z_0-9 ]*\*\?$call([^;]*);")
	[ -n "$prototype" ] || fail "$call: prototype not found"
	grep -v '^//' "$page" | flat | grep -q -F "$prototype" ||
		fail "$page: the synopsis is not '$prototype'"
	grep -q "xref:$call.adoc" book/reference/index.adoc ||
		fail "book/reference/index.adoc: $call is not listed"
done
for page in book/reference/fl_*.adoc; do
	call=$(basename "$page" .adoc)
	echo "$calls" | grep -q -x "$call" || fail "$page: no such call"
done

# Whatever a page refers to is there.
for page in book/reference/*.adoc; do
	for link in $(grep -o 'xref:[a-z_]*\.adoc' "$page" | sed 's/xref://'); do
		[ -f "book/reference/$link" ] || fail "$page: no $link"
	done
	for source in $(grep -o '`lib/[a-z_/]*\.[ch]`' "$page" | tr -d '`'); do
		[ -f "$source" ] || fail "$page: no $source"
	done
done
exit $bad
