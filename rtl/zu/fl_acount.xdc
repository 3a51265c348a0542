# SPDX-License-Identifier: BSD-2-Clause
#
# Timing of fl_acount (SCOPED_TO_REF fl_acount): why, fl_afifo.xdc says. NOT RUN in Vivado.
set_max_delay -datapath_only -from [get_cells {gray_reg[*]}] -to [get_cells {gray_meta_reg[*]}] 5.0
set_bus_skew -from [get_cells {gray_reg[*]}] -to [get_cells {gray_meta_reg[*]}] 5.0
