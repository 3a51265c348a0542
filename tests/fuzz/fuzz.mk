# SPDX-License-Identifier: BSD-2-Clause
#
# Fuzz targets.
#
#	FUZZ_SECONDS=60	CPU time of each target; FUZZ="scenario frame": only these
#	FUZZ_RUNS=5000	instead: a number of inputs for each target, the same each time

$(call commands,STEPPABLE,fuzz-programs)
$(call commands,,fuzz fuzz-planted)

FUZZ_SRC := $(wildcard tests/fuzz/*.c)
ALL_OBJ += $(call obj,$(FUZZ_SRC))

# A target is one file and what all of them share. The program that searches for inputs has
# libFuzzer instead of replay.o and mutate.o.
FUZZ_BIN := $(patsubst tests/fuzz/fuzz_%.c,$(B)/fuzz/%,$(filter tests/fuzz/fuzz_%.c,$(FUZZ_SRC)))
FUZZ_MAIN ?= $(call obj,tests/fuzz/replay.c tests/fuzz/mutate.c)
FUZZ_SHARED := $(call obj,tests/fuzz/fuzz.c tests/fuzz/boards.c)
$(B)/fuzz/grader: $(call obj,$(foreach f,rubric record export judge talk,tools/grade/$(f).c))
$(FUZZ_BIN): $(B)/fuzz/%: $(O)/tests/fuzz/fuzz_%.o $(FUZZ_SHARED) $(filter %.o,$(FUZZ_MAIN)) $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(filter -%,$(FUZZ_MAIN)) $(LINK_LIBS)

fuzz-programs: $(FAULTLINE) $(FUZZ_BIN)

# Only clang has libFuzzer.
FUZZ_MAKE = $(MAKE) --no-print-directory B=build/fuzz CC=clang SAN=asan \
	    CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' FUZZ_MAIN=-fsanitize=fuzzer
## change	fuzz	fuzz targets, a minute each; FUZZ_SECONDS=, FUZZ=target
fuzz:
	@tools/doctor --have clang
	+@$(FUZZ_MAKE) $(if $(FUZZ),build/fuzz/faultline $(FUZZ:%=build/fuzz/fuzz/%),fuzz-programs)
	@tests/fuzz/run $(if $(FUZZ_RUNS),--runs $(FUZZ_RUNS),--seconds $(or $(FUZZ_SECONDS),60)) $(FUZZ)

# A mistake is planted in what each target tests; NAMES="scenario frame": only these targets.
## change	fuzz-planted	each fuzz target finds a planted mistake
fuzz-planted: fuzz-programs
	@B='$(B)' O='$(O)' PLANT_COMPILE='$(filter-out -MMD -MP,$(COMPILE)) $(INCLUDES) $(URCU_CFLAGS)' \
	PLANT_LINK='$(LINK)' PLANT_LIBS='$(LINK_LIBS)' \
	PLANT_SHARED='$(FUZZ_SHARED) $(FUZZ_MAIN)' tests/fuzz/plant $(NAMES)
