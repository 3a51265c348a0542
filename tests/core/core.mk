# SPDX-License-Identifier: BSD-2-Clause
#
# The core: what boards in one program need, with their kernels, drivers and processes. It knows
# nothing of the annexes, which may leave a program each: a link without them shows it. And in
# each room, of core or annex, the files are in layers, but for what circles.txt has.

$(call commands,STEPPABLE,core-alone)

# Packets and their transports, processes, guests, links to other programs, files of packets,
# and the ways of the library that lead elsewhere.
ANNEX := emu/board/packets/% emu/nic/transport/% emu/nic/policy/% \
	 emu/serve/% emu/host/remote/% emu/window/% emu/fabric/udp% emu/fabric/capture.c \
	 lib/attach/% lib/sys_linux.c lib/sys_window.c lib/ways.c
CORE_SRC := $(filter-out $(ANNEX),$(EMU_SRC) $(DRV_SRC) $(LIB_SRC))
CORE_OBJ := $(call obj,$(CORE_SRC))
ALL_OBJ += $(call obj,tests/core/core.c)

$(B)/tests/core: $(O)/tests/core/core.o $(CORE_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# As they are built for Linux: another system layer has other ways back.
LAYERED := $(if $(VARIANT)$(filter-out linux,$(OS)),,$(EMU_OBJ) $(DRV_OBJ) $(LIB_OBJ))

## change	core-alone	the core links and works without the annexes; its lines, its budget, and no new circles
core-alone: $(B)/tests/core $(LAYERED)
	$(Q)$(B)/tests/core
	$(if $(LAYERED),$(Q)tests/core/circles tests/core/circles.txt $(LAYERED))
	$(Q)tests/core/fence $(CORE_OBJ:.o=.d)
