#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The device-tree overlays of the boards compile without a warning, apply to a tree
# that has the labels of Linux's zynqmp.dtsi, then hold what the driver reads, and are
# what the binding allows; and a wrong overlay is found. BASES="a.dtb ..." takes
# other trees (make board-patch: those of the boards themselves).
set -u
cd "$(dirname "$0")/../.." || exit 2
tools/doctor --have dtc fdtget fdtoverlay dt-validate dt-mk-schema dt-doc-validate ||
	exit 77
dir=$(mktemp -d "${TMPDIR:-/tmp}/faultline-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
n=0
bad=0
echo "KTAP version 1"
board=kernel-ref/board

# expect STATUS TEXT NAME FUNCTION...: as in expect.inc, for what is no program
expect()
{
	wanted=$1 text=$2 title=$3
	shift 3
	n=$((n + 1))
	"$@" > "$dir/out" 2>&1
	got_status=$?
	if [ $got_status -eq "$wanted" ] && grep -qF -- "$text" "$dir/out" "$dir/empty"
	then echo "ok $n - $title"
	else
		echo "not ok $n - $title"
		echo "# $*"
		echo "# exit status $got_status, wanted $wanted; wanted in the output: $text"
		sed 's/^/#   /' "$dir/out" | tail -20
		bad=1
	fi
}

# quiet COMMAND...: it succeeds and says nothing
quiet()
{
	said=$("$@" 2>&1) && [ -z "$said" ] && return 0
	printf '%s\n' "$said"
	return 1
}

compile()	# SOURCE RESULT
{
	# As the Makefile there.
	quiet dtc -Wno-avoid_unnecessary_addr_size -@ -i $board -I dts -O dtb -o "$2" "$1"
}

# Where a label is; Linux has moved some.
at()	# LABEL
{
	fdtget "$dir/tree.dtb" /__symbols__ "$1"
}

# is PROPERTY TYPE VALUE: of the card in $dir/tree.dtb
is()
{
	got=$(fdtget -t "$2" "$dir/tree.dtb" "$(at faultline)" "$1") && [ "$got" = "$3" ] && return 0
	echo "$1 is '$got', not '$3'"
	return 1
}

# What Linux keeps away from is where the firmware has its tables.
tables()
{
	want=$(echo 'R5_TABLES R5_TABLES_LOG2' | cpp -P -imacros rtl/zu/r5/board.h)
	set -- $want
	want="0 $(printf %x "$1") 0 $(printf %x $((1 << $2)))"
	got=$(fdtget -t x "$dir/tree.dtb" "$(at faultline_tables)" reg) &&
		[ "$got" = "$want" ] && return 0
	echo "the firmware's tables are at $got, not at $want"
	return 1
}

values()
{
	is compatible s "faultline,nic" && is reg x "0 fd800000 0 20000 0 a0000000 0 20000" &&
	is interrupts u "0 155 4 0 89 4 0 90 4" && is faultline,index u 0 &&
	is faultline,stream-base x 200 && is faultline,queue-bits u 32 && tables && is faultline,system u 0 &&
	is faultline,resolve u 1 && is dma-coherent s "" &&
	is interrupt-parent u "$(fdtget -t u "$dir/tree.dtb" "$(at gic)" phandle)"
}

# The SMMU's own driver has it, and the card says which one.
shared()
{
	is faultline,smmu u "$(fdtget -t u "$dir/tree.dtb" "$(at smmu)" phandle)" &&
	[ "$(fdtget "$dir/tree.dtb" "$(at smmu)" status)" = okay ]
}

not_shared()
{
	! fdtget "$dir/tree.dtb" "$(at faultline)" faultline,smmu 2>/dev/null &&
	[ "$(fdtget "$dir/tree.dtb" "$(at smmu)" status)" = disabled ]
}

# Linux loads it on the KV260, the boot image elsewhere.
firmware()	# BOARD
{
	got=$(fdtget -d none "$dir/tree.dtb" "$(at fpga_full)" firmware-name)
	case $1:$got in
	kv260:faultline.bit.bin|zcu102:none|qfdb:none) return 0 ;;
	esac
	echo "firmware-name is $got"
	return 1
}

# The schema alone decides about the card; it says so, or nothing. Its exit status
# is 0 either way.
valid()		# TREE
{
	quiet dt-validate -l faultline,nic -s "$dir/schema" "$1"
}

# names of properties: of the binding, and of what the driver asks for
same_names()
{
	sed -n 's/^  \(faultline,[a-z-]*\):$/\1/p' $board/faultline,nic.yaml |
		sort -u > "$dir/binding"
	grep -ho '"faultline,[a-z-]*"' kernel-ref/*.c $board/arm-smmu/*.c | tr -d '"' |
		grep -vx faultline,nic | sort -u > "$dir/driver"
	[ -s "$dir/driver" ] && diff "$dir/binding" "$dir/driver" &&
		grep -q '"faultline,nic"' kernel-ref/fl_platform.c
}

# What the binding gives as default is the driver's.
same_default()
{
	is faultline,stream-base u "$(($(sed -n \
		's/^#define FL_STREAM_BASE[[:space:]]*//p' kernel-ref/fl_dev.h)))"
}

echo > "$dir/empty"	# has the empty text
expect 0 "" "the binding is a valid schema" \
	quiet dt-doc-validate -u "$PWD/$board" "$PWD/$board/faultline,nic.yaml"
expect 0 "" "it can be used" dt-mk-schema -j -o "$dir/schema" "$PWD/$board"
expect 0 "" "binding and driver have the same properties" same_names

compile tests/data/zynqmp-base.dts "$dir/base.dtb" || bad=1
compile $board/shared-smmu.dtso "$dir/shared.dtbo" || bad=1
for base in ${BASES:-$dir/base.dtb}; do
	on=${BASES:+" on $(basename "$base" .dtb)"}
	for b in $board/*.dtso; do
		name=$(basename "$b" .dtso)
		# A board's own tree is for its overlay; no tree of the QFDB is public, but it
		# has the ZCU102's chip.
		case $(basename "$base" .dtb):$name in
		*:shared-smmu) continue ;;
		base:*|"$name:$name"|zcu102:qfdb) : ;;
		*) continue ;;
		esac
		expect 0 "" "$name: no warning" compile "$b" "$dir/$name.dtbo"
		expect 0 "" "$name: applies$on" \
			fdtoverlay -i "$base" -o "$dir/tree.dtb" "$dir/$name.dtbo"
		expect 0 "" "$name: values" values
		expect 0 "" "$name: the driver has the SMMU to itself" not_shared
		expect 0 "" "$name: stream IDs begin where the driver thinks" same_default
		expect 0 "" "$name: who loads the bitstream" firmware "$name"
		expect 0 "" "$name: the binding allows it" valid "$dir/tree.dtb"
		expect 0 "" "$name: applies with a shared SMMU$on" fdtoverlay -i "$base" \
			-o "$dir/tree.dtb" "$dir/$name.dtbo" "$dir/shared.dtbo"
		expect 0 "" "$name: the same values" values
		expect 0 "" "$name: SMMU and card name each other" shared
		expect 0 "" "$name: the binding allows that too" valid "$dir/tree.dtb"
	done
done

# --- wrong ones

# wrong WHAT CHANGE: is what is the same on all boards still right after CHANGE?

wrong()
{
	{ echo '/dts-v1/; /plugin/; / { };'; sed "$2" $board/faultline.dtsi; } > "$dir/w.dtso"
	# A change that changes nothing is a mistake of this test.
	cmp -s "$dir/w.dtso" "$dir/right.dtso" && return 3
	dtc -q -@ -I dts -O dtb -o "$dir/w.dtbo" "$dir/w.dtso" 2>&1 &&
	fdtoverlay -i "$dir/base.dtb" -o "$dir/tree.dtb" "$dir/w.dtbo" 2>&1 &&
	valid "$dir/tree.dtb"
}

finds()	# WHAT, the text that says so, CHANGE
{
	expect 1 "$2" "finds $1" wrong "$1" "$3"
}

{ echo '/dts-v1/; /plugin/; / { };'; cat $board/faultline.dtsi; } > "$dir/right.dtso"
finds "a missing interrupt" "interrupts: [[0, 155, 4], [0, 89, 4]]" \
	's/, <0 90 4>;/;/; /interrupt-names/d'
finds "a missing window" "reg: [[0, 4253024256, 0, 131072]]" \
	's/0x20000>,$/0x20000>;/; /a0000000 0x0/d; /reg-names/d'
finds "no window at all" "'reg' is a required property" '/reg = /d; /a0000000 0x0/d; /reg-names/d'
finds "interrupts in another order" "interrupt-names:0: 'smmu' was expected" \
	's/"smmu", "fault", "event"/"fault", "event", "smmu"/'
finds "a system that is none" "system:0:0: 200 is not one of [0, 1, 2, 3" \
	's/system = <0>/system = <200>/'
finds "stream IDs beyond 15 bits" "32704" 's/stream-base = <0x200>/stream-base = <0x7fc1>/'
finds "a property that nobody reads" "faultline,steam-base" 's/stream-base/steam-base/'
finds "a domain of the kernel's for the card" "iommus" 's/dma-coherent;/iommus = <\&smmu 0x200>;/'
finds "a label that the board does not have" "NOTFOUND" 's/&gic/\&gic2/'
echo "1..$n"
exit $bad
