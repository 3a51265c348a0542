# SPDX-License-Identifier: BSD-2-Clause
#
# Bitstream for a Zynq UltraScale+ (Vivado, batch mode). A file per board sets what differs and
# sources this one. NOT RUN ON A BOARD, nor in Vivado: tests/cmd/vivado.sh runs it against a
# stand-in that knows the commands.
#
#	board		Vivado's board files, without their version
#	nrxc		receive contexts (fl_zu_top): as block RAM allows
#	nodes		1: one card, which hears itself. 2: a second one on S_AXI_HPC1_FPD
#
# What the device tree says (kernel-ref/board/faultline.dtsi) is in the table of cards.

set here [file dirname [file normalize [info script]]]
set out [file normalize $here/../../build/zu/$name]

# A card: its node, registers for driver and R5, port, first line of pl_ps_irq0.
set window 0x20000
set cards {
	{node 0 driver 0xA0000000 firmware 0x80000000 port 0 irq 0}
	{node 1 driver 0xA0020000 firmware 0x80020000 port 1 irq 3}
}
set cards [lrange $cards 0 [expr {$nodes - 1}]]

proc cell {name vlnv args} {
	create_bd_cell -type ip -vlnv xilinx.com:ip:$vlnv $name
	if {[llength $args]} {
		set_property -dict $args [get_bd_cells $name]
	}
}

proc wires {from to} {
	connect_bd_intf_net [get_bd_intf_pins $from] [get_bd_intf_pins $to]
}

proc wire {from args} {
	foreach to $args {
		connect_bd_net [get_bd_pins $from] [get_bd_pins $to]
	}
}

# ---- project ----

create_project -force faultline $out
set_property board_part [lindex [lsort -dictionary [get_board_parts $board:*]] end] \
	[current_project]
add_files [glob $here/*.v $here/../hdl/*.v $here/../hdl/*.vh $here/../gen/*.vh]
set_property file_type {Verilog Header} [get_files *.vh]
set_property include_dirs [list $here/../gen $here/../hdl] [current_fileset]
update_compile_order -fileset sources_1

# ---- processing system ----

create_bd_design faultline_bd
cell ps zynq_ultra_ps_e
apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e \
	-config {apply_board_preset 1} [get_bd_cells ps]
# All ports of 128 bits, as they are after reset: then a bitstream that Linux loads fits too.
set_property -dict [list \
	CONFIG.PSU__USE__M_AXI_GP0 1 CONFIG.PSU__MAXIGP0__DATA_WIDTH 128 \
	CONFIG.PSU__USE__M_AXI_GP1 0 \
	CONFIG.PSU__USE__M_AXI_GP2 1 CONFIG.PSU__MAXIGP2__DATA_WIDTH 128 \
	CONFIG.PSU__USE__S_AXI_GP0 1 CONFIG.PSU__SAXIGP0__DATA_WIDTH 128 \
	CONFIG.PSU__AFI0_COHERENCY 1 \
	CONFIG.PSU__USE__IRQ0 1 \
	CONFIG.PSU__FPGA_PL0_ENABLE 1 CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ $mhz \
] [get_bd_cells ps]
if {$nodes == 2} {
	set_property -dict [list \
		CONFIG.PSU__USE__S_AXI_GP1 1 CONFIG.PSU__SAXIGP1__DATA_WIDTH 128 \
		CONFIG.PSU__AFI1_COHERENCY 1 \
	] [get_bd_cells ps]
}

cell reset proc_sys_reset
wire ps/pl_clk0 reset/slowest_sync_clk ps/maxihpm0_fpd_aclk ps/maxihpm0_lpd_aclk
wire ps/pl_resetn0 reset/ext_reset_in

# Registers may go through an interconnect: their addresses are known.
foreach {side master} {driver M_AXI_HPM0_FPD firmware M_AXI_HPM0_LPD} {
	cell $side smartconnect CONFIG.NUM_SI 1 CONFIG.NUM_MI $nodes
	wires ps/$master $side/S00_AXI
	wire ps/pl_clk0 $side/aclk
	wire reset/interconnect_aresetn $side/aresetn
}
cell irq xlconcat CONFIG.NUM_PORTS [expr {3 * $nodes}]
wire irq/dout ps/pl_ps_irq0

# ---- cards ----

create_bd_cell -type module -reference fl_zu_net net
set_property CONFIG.PORTS $nodes [get_bd_cells net]
wire ps/pl_clk0 net/aclk
wire reset/peripheral_aresetn net/aresetn

foreach card $cards {
	array set c $card
	set n $c(node)
	create_bd_cell -type module -reference fl_zu_top card$n
	set_property -dict [list CONFIG.NODE $n CONFIG.PORT $c(port) CONFIG.NRXC $nrxc] \
		[get_bd_cells card$n]
	wire ps/pl_clk0 card$n/aclk ps/saxihpc$c(port)_fpd_aclk
	wire reset/peripheral_aresetn card$n/aresetn

	# Nothing in between: an interconnect refuses what it does not know, and adds to the ID.
	wires card$n/m_axi ps/S_AXI_HPC$c(port)_FPD
	wires driver/M0${n}_AXI card$n/s_axil
	wires firmware/M0${n}_AXI card$n/s_axil_fw
	wires card$n/m_axis net/s${n}_axis
	wires net/m${n}_axis card$n/s_axis
	wire card$n/irq_fault irq/In$c(irq)
	wire card$n/irq_event irq/In[expr {$c(irq) + 1}]
	wire card$n/irq_firmware irq/In[expr {$c(irq) + 2}]

	foreach {side port} {driver s_axil firmware s_axil_fw} {
		assign_bd_address -offset $c($side) -range $window \
			-target_address_space [get_bd_addr_spaces ps/Data] \
			[get_bd_addr_segs card$n/$port/reg0]
	}
}
foreach pin {link_delay link_drop link_twice} {
	wire card0/$pin net/$pin
}
# What the cards may reach is for Vivado's checks only: nothing decodes it.
assign_bd_address

# ---- for the boot image: "[init] regs.init" ----

# LPD_SLCR.lpd_apu, before the CPUs start: snoops of the ports reach their caches, inner and
# outer shareable.
file mkdir $out
set f [open $out/regs.init w]
puts $f ".set. 0xFF41A040 = 0x3;"
close $f

# ---- bitstream ----

validate_bd_design
save_bd_design
add_files [make_wrapper -files [get_files faultline_bd.bd] -top]
set_property top faultline_bd_wrapper [current_fileset]
launch_runs impl_1 -to_step write_bitstream -jobs 2
wait_on_run impl_1
if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} {
	error "no bitstream: see $out"
}
write_hw_platform -fixed -include_bit -force $out/faultline.xsa
