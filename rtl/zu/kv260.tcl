# SPDX-License-Identifier: BSD-2-Clause
#
# KV260 (K26 module, XCK26, 144 block RAMs of 36 Kb). In the root of the tree:
#
#	vivado -mode batch -source rtl/zu/kv260.tcl [-tclargs NODES]
#
# The result: build/zu/kv260/faultline.xsa. Linux wants the bitstream in it as
# /lib/firmware/faultline.bit.bin, made by bootgen (-arch zynqmp -process_bitstream bin).
set name kv260
set board xilinx.com:kv260_som:part0
set mhz 150
set nrxc 8
set nodes [expr {[llength $argv] ? [lindex $argv 0] : 1}]
source [file join [file dirname [file normalize [info script]]] common.tcl]
