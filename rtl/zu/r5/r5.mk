# SPDX-License-Identifier: BSD-2-Clause
#
# The firmware as an image for a Cortex-R5 of the Zynq UltraScale+.

$(call commands,,firmware-r5)

R5 := build/r5
R5_ELF := $(R5)/faultline-r5.elf
R5_TARGET := --target=armv7r-none-eabi -mcpu=cortex-r5 -mfloat-abi=soft
R5_INCLUDES := -I. -Iemu -Ikernel-ref/include -Irtl/zu/r5
R5_CC = clang $(R5_TARGET) -mthumb -ffreestanding -nostdlib -std=gnu11 -Os \
	-ffunction-sections -fdata-sections -Wall -Wextra -Werror $(R5_INCLUDES)
R5_SRC := $(wildcard emu/nic/fw*.c rtl/zu/r5/*.c)
R5_OBJ := $(patsubst %.c,$(R5)/%.o,$(R5_SRC)) $(R5)/rtl/zu/r5/start.o
R5_HEADERS := $(wildcard emu/nic/*.h emu/nic/transport/*.h emu/trace/*.h rtl/zu/r5/*.h \
	      kernel-ref/include/faultline/*.h) $(DEFS) rtl/zu/r5/r5.mk

$(R5)/rtl/zu/r5/bytes.o: R5_CC += -fno-builtin
$(R5)/%.o: %.c $(R5_HEADERS)
	@mkdir -p $(@D)
	$(call say,R5)
	$(Q)$(R5_CC) -c -o $@ $<

$(R5)/%.o: %.S $(R5_HEADERS)
	@mkdir -p $(@D)
	$(call say,R5)
	$(Q)clang $(R5_TARGET) $(R5_INCLUDES) -Wa,--fatal-warnings -c -o $@ $<

$(R5)/r5.ld: rtl/zu/r5/r5.ld rtl/zu/r5/board.h rtl/zu/r5/r5.mk
	@mkdir -p $(@D)
	$(Q)clang -E -P -x c $(R5_INCLUDES) -o $@ $<

$(R5_ELF): $(R5_OBJ) $(R5)/r5.ld
	$(call say,LD)
	$(Q)ld.lld --gc-sections --fatal-warnings --no-undefined -Map=$(R5)/faultline-r5.map \
		-T $(R5)/r5.ld -o $@ $(R5_OBJ)

## hardware	firmware-r5	the firmware as an image for the Cortex-R5, build/r5/faultline-r5.elf
firmware-r5:
	@tools/doctor --have clang ld.lld llvm-nm llvm-readelf
	+@$(MAKE) --no-print-directory $(R5_ELF)
	@rtl/zu/r5/sizes $(R5_ELF)

# The image in QEMU, whose card a test plays.
R5_TEST := $(B)/tests/test_r5
R5_TEST_OBJ := $(call obj,$(wildcard tests/r5/*.c) tests/rig/fw.c tests/rig/fw_engine.c)
ALL_OBJ += $(filter $(O)/tests/r5/%,$(R5_TEST_OBJ))
$(filter $(O)/tests/r5/%,$(R5_TEST_OBJ)): INCLUDES += -Irtl/zu/r5
$(R5_TEST): $(R5_TEST_OBJ) $(HARNESS_OBJ) $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(LINK_LIBS)
