# SPDX-License-Identifier: BSD-2-Clause
#
# Another stepping of the device (STEPPING=7): the same behaviour, with other numbers. What
# is drawn and generated lies in build/step-7/device, with its data sheet.
#
#	STEPPINGS="1 2"	which ones; SHORT=1: scenarios only
#	LABS="walk bank"	stepping-labs: only these labs

$(call commands,STEPPABLE,stepping-test stepping-labs stepped)

# Its sources, and a generator that was compiled with them. The file is included, so that
# make has it before anything is compiled.
ifneq ($(STEPPED),)
build/step: $(wildcard tools/step/*.[ch]) tools/streams.h
	@mkdir -p build
	$(call say,CC)
	$(Q)$(CC) -std=gnu11 -O1 -g $(WARN) -I. -o $@ $(filter %.c,$^)

$(STEPPED)/done.mk: build/step $(GEN_SRC) $(wildcard tools/gen/*.h) $(DEFS) \
		$(wildcard emu/sim/profiles/*.profile)
	$(call say,STEP)
	$(Q)rm -rf $(@D)
	$(Q)build/step $(STEPPING) . $(@D)
	$(Q)$(CC) -std=gnu11 -O1 $(WARN) $(DEFINES) $(INCLUDES) -o $(@D)/gen $(GEN_SRC)
	$(Q)$(@D)/gen $(@D)
	$(Q)touch $@
include $(STEPPED)/done.mk

$(O)/emu/sim/timing.o: DEFINES += -DPROFILES='"$(STEPPED)/emu/sim/profiles/"'
endif

STEPPINGS ?= 7
## change	stepping-test	tests on other devices; STEPPINGS="1 2", SHORT=1
stepping-test:
	+@bad=0; for s in $(STEPPINGS); do \
		$(MAKE) --no-print-directory -s STEPPING=$$s CFLAGS='-O0' \
			B=build/step-$$s/test stepped || bad=1; \
	done; exit $$bad

## teach	stepping-labs	test the handouts of the labs on other devices; LABS="walk bank"
stepping-labs:
	+@bad=0; for s in $(STEPPINGS); do \
		$(MAKE) --no-print-directory -s STEPPING=$$s build/step-$$s/device/done.mk && \
		STEPPED=build/step-$$s/device LABS='$(LABS)' tests/cmd/lab_handout.sh || bad=1; \
	done; exit $$bad

# A test that says "variants: not-stepped" expects bytes of the usual device.
STEPPING_SRC := $(if $(SHORT),,$(filter-out $(call variant,not-stepped),$(UNIT_SRC)))
stepped: $(FAULTLINE) $(call unit_here,$(STEPPING_SRC))
	@tests/stepped $(STEPPING) $(FAULTLINE) $(filter $(B)/tests/%,$^)
