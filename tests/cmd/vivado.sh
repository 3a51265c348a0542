#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The scripts that make bitstreams: against a stand-in for Vivado (vivado.tcl) they name nothing
# that is not there, in an order that works; and what they build is what the device tree says:
# windows, interrupts, stream IDs. Mistakes in them are found.
set -u
cd "$(dirname "$0")/../.." || exit 2
tools/doctor --have tclsh iverilog dtc fdtget || exit 77
. tests/cmd/expect.inc
echo "KTAP version 1"

# expect, for functions of this file
timeout() {
	shift
	"$@"
}

run() {	# BOARD NODES: $dir/built
	tclsh tests/cmd/vivado.tcl "$dir/rtl/zu/$1.tcl" "$2" > "$dir/built" || {
		cat "$dir/built"
		return 1
	}
}

# What the card's node has of a property, as numbers.
tree() {	# PROPERTY
	fdtget -t u "$dir/base.dtbo" "$(fdtget "$dir/base.dtbo" /__symbols__ faultline)" "$1"
}

same() {	# WHAT A B
	[ "$2" = "$3" ] && return 0
	echo "$1: the device tree has $2, the bitstream $3"
	return 1
}

line() {	# PIN: the SPI of a line of pl_ps_irq0 (UG1085: 89 to 96)
	sed -n "s,^line card0/$1 ,,p" "$dir/built" | { read -r n && echo $((89 + n)); }
}

agree() {	# BOARD
	run "$1" 1 || return 1
	# shellcheck disable=SC2046
	set -- $(tree reg)
	same window "$(printf '0x%x 0x%x' "$6" "$8")" \
		"$(sed -n 's,^window card0/s_axil/reg0 ,,p' "$dir/built")" || return 1
	# shellcheck disable=SC2046
	set -- $(tree interrupts)
	same "fault line" "$5" "$(line irq_fault)" || return 1
	same "event line" "$8" "$(line irq_event)" || return 1
	case $(line irq_firmware) in
	"$5"|"$8") echo "the R5's line is the driver's"; return 1 ;;
	esac
	port=$(sed -n 's,^port card0 ps/S_AXI_HPC\([01]\)_FPD PORT \1$,\1,p' "$dir/built")
	cat > "$dir/t.v" <<-END
	module t;
		fl_zu_top #(.PORT(${port:-9})) card ();
		initial begin \$display("%0d", card.STREAM_BASE); \$finish(0); end
	endmodule
	END
	iverilog -g2005 -I rtl/gen -I rtl/hdl -y "$dir/rtl/zu" -y rtl/hdl -o "$dir/t.vvp" \
		"$dir/t.v" 2>"$dir/t.log" || { cat "$dir/t.log"; return 1; }
	same "stream base" "$(tree faultline,stream-base)" "$(vvp -n "$dir/t.vvp")"
}

closed() {	# BOARD NODES: no input is open that should not be
	run "$1" "$2" || return 1
	# One node leaves the network's second port alone.
	open=$(grep '^open' "$dir/built")
	[ "$2" = 1 ] && open=$(echo "$open" | grep -v 'net/[sm]1_axis')
	[ -z "$open" ] || { echo "$open"; return 1; }
}

wrong() {	# FILE CHANGE: do board and tree still agree?
	cp -r rtl/zu "$dir/rtl/"
	sed -i "$2" "$dir/rtl/zu/$1"
	# A change that changes nothing is a mistake of this test.
	cmp -s "$dir/rtl/zu/$1" "rtl/zu/$1" && return 3
	agree zcu102 && closed zcu102 2
	r=$?
	cp -r rtl/zu "$dir/rtl/"
	return $r
}

mkdir -p "$dir/rtl"
cp -r rtl/zu rtl/hdl rtl/gen "$dir/rtl/"
{ echo '/dts-v1/; /plugin/;'; cat kernel-ref/board/faultline.dtsi; } > "$dir/base.dts"
dtc -q -@ -I dts -O dtb -o "$dir/base.dtbo" "$dir/base.dts"

for b in zcu102 kv260; do
	for nodes in 1 2; do
		expect 0 "" "$b, nodes $nodes: no open input" closed $b $nodes
	done
	expect 0 "" "$b: agrees with the device tree" agree $b
done
run zcu102 1
expect 0 ".set. 0xFF41A040 = 0x3;" "what the boot image has to write first" \
	cat "$dir/build/zu/zcu102/regs.init"

finds() {	# WHAT TEXT FILE CHANGE
	expect 1 "$2" "finds $1" wrong "$3" "$4"
}
finds "a command that is none" "no command create_bd_wire" common.tcl \
	's/^	create_bd_cell -type ip/	create_bd_wire -type ip/'
finds "a cell before the design" "a cell: now is project" common.tcl '/^create_bd_design/d'
finds "a pin that is none" "no pin card0/irq_faults" common.tcl 's/n\/irq_fault /n\/irq_faults /'
finds "a parameter that is none" "has no parameter NRX" common.tcl 's/CONFIG.NRXC/CONFIG.NRX/'
finds "a port that is switched off" "no pin ps/saxihpc0_fpd_aclk" common.tcl \
	's/USE__S_AXI_GP0 1/USE__S_AXI_GP0 0/'
finds "registers elsewhere" "window: the device tree has 0xa0000000" common.tcl \
	's/driver 0xA0000000/driver 0xA1000000/'
finds "lines in another order" "fault line: the device tree has 89, the bitstream 90" common.tcl \
	'/irq_fault/s/\$c(irq)/[expr {$c(irq) + 1}]/; /irq_event/s/\[expr .*$/$c(irq)/'
finds "another port" "stream base: the device tree has 512, the bitstream 576" common.tcl \
	's/port 0 irq/port 1 irq/; s/USE__S_AXI_GP0/USE__S_AXI_GP1/'
finds "a card without reset" "open card0/aresetn" common.tcl \
	'/peripheral_aresetn card/d'
finds "a stream base that is another" "stream base: the device tree has 512" fl_zu_top.v \
	"s/15'h200 + /15'h240 + /"
echo "1..$n"
exit $bad
