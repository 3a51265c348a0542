#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The book is true and can be made; and what is wrong in it is found.
set -u
cd "$(dirname "$0")/../.."
tools/doctor --have asciidoctor asciidoctor-pdf dot iverilog || exit 77
. tests/cmd/expect.inc

# On a loaded machine these take longer than expect lets them; what is looked for they
# say only when all went well.
tools/book/check > "$dir/checked" 2>&1
tools/book/make html pdf --out "$dir/book" > "$dir/log" 2>&1
expect 0 'nothing found' 'names and commands of the book are right' cat "$dir/checked"
expect 0 'book/faultline.html' 'the book as HTML' grep '^the book: ' "$dir/log"
expect 0 'book/faultline.pdf' 'the book as PDF' grep '^the book: ' "$dir/log"
expect 0 '' 'the HTML shows code of the tree' grep -q 'SMMU_SCTLR_AFFD\|SMMU_CB_SCTLR_AFFD' "$dir/book/faultline.html"

# What the labs ask for: in the usual book some of it, in the students' one nothing.
tools/book/make html --students --out "$dir/book" > "$dir/log" 2>&1
expect 0 'faultline-students.html' "the students' edition" cat "$dir/log"
for f in $(sed -n 's/^files: *//p' labs/*/lab.conf); do
	awk '/ end::[a-z]+-[0-9]+\[\]/ { within = 0 }
		within { gsub(/^[ \t]+/, ""); if (length() > 30) print }
		/ tag::[a-z]+-[0-9]+\[\]/ { within = 1 }' "$f"
done > "$dir/wanted"
for edition in faultline faultline-students; do
	sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' "$dir/book/$edition.html" > "$dir/$edition"
done
expect 0 '' 'the book has code that a lab asks for' grep -qF -f "$dir/wanted" "$dir/faultline"
expect 1 '' "the students' edition has none" grep -F -f "$dir/wanted" "$dir/faultline-students"
expect 0 'Step 2 of the lab engine.' 'but says where it is' cat "$dir/faultline-students"

# spoil: a book of one chapter, with standard input in it
spoil()
{
	rm -rf "$dir/spoilt"
	mkdir "$dir/spoilt"
	cp -r book/reference book/pictures "$dir/spoilt/"
	{ printf '= A chapter\n\nText.\n'; cat; } > "$dir/spoilt/chapter.adoc"
	printf '= A book\n:doctype: book\n\ninclude::chapter.adoc[leveloffset=+1]\n' \
		> "$dir/spoilt/index.adoc"
}
made() { expect 1 "$1" "$2" tools/book/make html --book "$dir/spoilt" --out "$dir/made"; }
found() { expect 1 "$1" "$2" tools/book/check "$dir/spoilt"; }

printf '\n[source]\n----\ninclude::{src}/emu/smmu/walk.c[tag=walk-99]\n----\n' | spoil
made 'walk-99' 'a lost tag fails the build'
printf '\n[source]\n----\ninclude::{src}/emu/smmu/wlak.c[]\n----\n' | spoil
made 'wlak.c' 'a lost file fails the build'
printf '\nSee xref:nowhere[].\n' | spoil
made 'nowhere' 'a dead reference fails the build'
printf '\nSee xref:chapter.adoc#nowhere[there].\n' | spoil
made 'nowhere' 'a dead reference into another chapter fails the build'
printf '\nSee link:trace.adoc[there].\n' | spoil
found 'a link to a file' 'a link to a file is found'
printf '\nIt takes `event\n-> owner`.\n' | spoil
found 'would be printed with other signs' 'code that would come out as other signs is found'
printf '\nThen comes SMMU_FALT.\n' | spoil
found 'SMMU_FALT is no event' 'an event that is no more is found'
printf '\nThen `SCTLR.CFREX` is set.\n' | spoil
found 'CFREX is in none' 'a register that is no more is found'
printf '\n[source,c,from=emu/smmu/walk.c]\n----\nstatic bool walk_begin(\n----\n' | spoil
found 'has no such line' 'a quote that is no longer right is found'
printf '\n[.run]\n----\n$ build/faultline run tests/scenario/write_cold.fl\nfailed\n----\n' | spoil
found 'says something else now' 'output that has changed is found'
printf '\n[.run]\n----\n$ build/faultline run tests/scenario/nothing.fl\n...\n----\n' | spoil
found 'ended with status 2' 'a command that fails is found'
printf '\nTwo events, SMMU_FAULT and DRV_READY; `SCTLR.CFRE`, `EBUSY`, `+a->b+`.\n\n' > "$dir/good"
printf '[source,c,from=emu/smmu/walk.c]\n----\nswitch (desc_kind(desc, p->level)) {\n...\n}\n----\n' >> "$dir/good"
printf '[.run]\n----\n$ echo a; echo b\n...\nb\n$ echo c\n...\n----\n' >> "$dir/good"
spoil < "$dir/good"
expect 0 'nothing found' 'and what is right is let pass' tools/book/check "$dir/spoilt"
expect 0 'faultline.html' 'and made' \
	tools/book/make html --book "$dir/spoilt" --out "$dir/made"
echo "1..$n"
exit $bad
