# SPDX-License-Identifier: BSD-2-Clause
#
# ZCU102 (XCZU9EG, 912 block RAMs of 36 Kb). In the root of the tree:
#
#	vivado -mode batch -source rtl/zu/zcu102.tcl [-tclargs NODES]
#
# The result: build/zu/zcu102/faultline.xsa, for boot image and bitstream.
set name zcu102
set board xilinx.com:zcu102:part0
set mhz 150
set nrxc 32
set nodes [expr {[llength $argv] ? [lindex $argv 0] : 1}]
source [file join [file dirname [file normalize [info script]]] common.tcl]
