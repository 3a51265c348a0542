# SPDX-License-Identifier: BSD-2-Clause
#
# The environment fails: each of the first MOST calls of the C library from each place, and
# signals at these calls. "make test-all" has a part of it.
#
#	JOBS_OF="run;send, UDP"	only jobs with one of these in their names

$(call commands,STEPPABLE,faults fault-programs)

# The library that makes a call fail, and the program that drives the jobs.
FAULT_SO := $(B)/faults/inject.so
FAULT_BIN := $(B)/faults/jobs $(B)/faults/pair $(B)/faults/guests
ALL_OBJ += $(call obj,$(filter-out %/inject.c,$(wildcard tests/faults/*.c)))
ifeq ($(B)$(OTHER_OS)$(OTHER_PAGE),build/plain)
test-programs plain-programs: $(FAULT_SO) $(FAULT_BIN)
endif

# It replaces calls of the C library, so the compiler must not build them in.
$(FAULT_SO): tests/faults/inject.c tests/faults/faults.h
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -std=gnu11 -O1 -g $(WARN) $(DEFINES) -I. -fPIC -shared -fno-builtin \
		-pthread -o $@ $< -ldl

$(B)/faults/jobs: $(call obj,tests/faults/jobs.c tests/faults/drive.c)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^

$(B)/faults/pair: $(O)/tests/faults/pair.o $(USER_LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

$(B)/faults/guests: $(O)/tests/faults/guests.o \
		$(if $(UNIT_SRC),$(call rigs,tests/faults/guests.c)) $(HARNESS_OBJ) \
		$(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(LINK_LIBS)

MOST ?= 10
FAULT_JOBS = $(B)/faults/jobs $(if $(JOBS_OF),--only "$(JOBS_OF)")
FAULT_WHAT = $(FAULTLINE) $(FAULT_SO) $(B)/faults/pair $(B)/faults/guests \
	     $(B)/labs/driver/grade labs/driver $(B)/faults/subject
# One job grades the tree's own solution of a lab, which passes all tests.
$(B)/faults/subject: $(call obj,tools/grade/subject.c $(wildcard labs/driver/subject*.c)) $(ARCHIVES)
	$(call say,LD)
	$(Q)$(LINK) $(LAB_ALONE) -o $@ $(filter %.o,$^) $(LINK_LIBS)

fault-programs: $(FAULTLINE) $(FAULT_SO) $(FAULT_BIN) $(B)/faults/subject $(B)/labs/driver/grade

## change	faults	calls of the C library fail at many places; MOST=, JOBS_OF=
faults: fault-programs
	$(FAULT_JOBS) --most $(MOST) $(FAULT_WHAT)
	$(FAULT_JOBS) --signals --most 2 $(FAULT_WHAT)
