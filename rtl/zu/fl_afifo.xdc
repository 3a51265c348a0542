# SPDX-License-Identifier: BSD-2-Clause
#
# Timing of fl_afifo (Vivado: add_files -fileset constrs_1, then
# set_property SCOPED_TO_REF fl_afifo [get_files fl_afifo.xdc]). NOT RUN in Vivado.
#
# The numbers cross in Gray code: one bit changes at a time, provided that no bit takes a whole
# period longer than another, or a later change would be seen before an earlier one. So their
# paths are bounded, though nothing relates the clocks: by 5 ns, less than a period of each
# (6.4 ns is the shortest, that of a MAC of 10 Gb/s).
set_max_delay -datapath_only -from [get_cells {w_gray_reg[*]}] -to [get_cells {w_gray_meta_reg[*]}] 5.0
set_max_delay -datapath_only -from [get_cells {r_gray_reg[*]}] -to [get_cells {r_gray_meta_reg[*]}] 5.0
set_bus_skew -from [get_cells {w_gray_reg[*]}] -to [get_cells {w_gray_meta_reg[*]}] 5.0
set_bus_skew -from [get_cells {r_gray_reg[*]}] -to [get_cells {r_gray_meta_reg[*]}] 5.0

# Question and answer of a reset stay until they are seen; but a number has to have become 0
# when the answer arrives that says so, so they too are bounded.
set_max_delay -datapath_only -from [get_cells {w_ask_reg w_ack_reg}] -to [get_cells {r_flag_meta_reg[*]}] 5.0
set_max_delay -datapath_only -from [get_cells {r_ask_reg r_ack_reg}] -to [get_cells {w_flag_meta_reg[*]}] 5.0

# A frame's length is in distributed memory, which is written with w_clk and read with r_clk two
# periods later at least. Words are in block memory, which has a clock for each side.
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports w_clk]] \
	-through [get_pins -hierarchical -filter {NAME =~ *bytes_of_reg*/O*}] \
	-to [get_clocks -of_objects [get_ports r_clk]] 5.0
