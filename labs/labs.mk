# SPDX-License-Identifier: BSD-2-Clause
#
# The labs: what a course types. labs/README.md says how a lab is made.
#
#	LAB=walk	which lab
#	FILE=...	make grade: files or folders of the work (usual: this tree's)
#	SEED=N		of the tests' random numbers (usual: 1)
#	ONLY=PART	make grade: only tests with this in their names
#	KEY=FILE	make grade, lab-batch: signs the record with the key in this file
#	ON=linux	make grade: then the lab's step on a real Linux too, if it has one

LABS := $(patsubst labs/%/lab.conf,%,$(wildcard labs/*/lab.conf))
$(call commands,STEPPABLE HANDED,grade lab-linux lab-named lab-known lab-env $(LABS:%=lab-%))
$(call commands,STEPPABLE,starter handout gradescope lab-check lab-mutants lab-batch)

LAB_OUT := $(B)/labs
LAB_OBJ := $(call obj,$(wildcard tools/grade/*.c labs/*/*.c labs/*/tests/*.c labs/*/hidden/*.c))
# A handout has no other tests than the labs'.
LAB_RIG_OBJ := $(call obj,$(wildcard tests/rig/smmu_bank.c))
ALL_OBJ += $(LAB_OBJ) $(filter-out $(ALL_OBJ),$(LAB_RIG_OBJ))
# The subject of the lab driver stands in for the driver.
SHIM_OBJ += $(filter %/driver/subject.o %/driver/subject_questions.o,$(LAB_OBJ))
# What make asks of them all, read once: LAB:KEY:WORD for each word.
LAB_CONF := $(shell awk 'FNR == 1 { split(FILENAME, part, "/") } \
	/^(files|uses|language): / { for (i = 2; i <= NF; i++) print part[2] ":" $$1 $$i }' \
	$(LABS:%=labs/%/lab.conf) /dev/null)
lab_value = $(patsubst $(1):$(2):%,%,$(filter $(1):$(2):%,$(LAB_CONF)))
lab_files = $(call lab_value,$(1),files)
# A lab may use another lab's tests, or a rig of the unit tests: sources of the judge.
lab_shared = $(filter-out %/subject.c,$(filter %.c,$(call lab_value,$(1),uses)))
GRADE_OBJ := $(call obj,$(filter-out tools/grade/subject.c,$(wildcard tools/grade/*.c)))
# For tools/lab/grade and the scripts that call it, which use -MD instead: -MMD does not list
# headers of the system's folders.
LAB_COMPILE = $(filter-out -MMD -MP,$(COMPILE)) $(INCLUDES) $(URCU_CFLAGS) \
	      $(LAB_GUARD) $(LAB_QUIET)
# clang warns of each flag that a step does not use; gcc does not know the option.
LAB_QUIET = $(patsubst -Wunused%,-Wno-unused%,$(call can,-Wunused-command-line-argument))
# Memory past the end of an array, or a variable that was never set, differs from machine to
# machine. So an index out of bounds traps, and an unset variable is never 0. A sanitizer
# does without this: it names the line.
ifeq ($(SAN),plain)
LAB_GUARD = $(call can,-fsanitize=bounds -fsanitize-undefined-trap-on-error) \
	    $(call can,-ftrivial-auto-var-init=pattern)
endif
# A subject that is linked statically opens no file before its own first instruction, so it
# needs no right to any; it loads no plug-in either. (With a sanitizer, a subject may open
# files.)
ifeq ($(SAN),plain)
LAB_STATIC := -static -Wl,--defsym,dlopen=0
LAB_ALONE = $(shell tools/asked $(B)/asked/lab-alone '$(CC_SAYS)' 'mkdir -p $(LAB_OUT) && \
	    echo "int main(void) { return 0; }" | $(LINK) $(QUICK_LD) $(LAB_STATIC) -x c \
	    -o $(LAB_OUT)/alone - $(LIBS) 2>/dev/null && echo "$(LAB_STATIC)"; \
	    rm -f $(LAB_OUT)/alone')
endif
LAB_ENV = B='$(B)' O='$(O)' LAB_COMPILE='$(LAB_COMPILE)' LAB_LINK='$(LINK) $(QUICK_LD)' LAB_LIBS='$(LIBS)' \
	LAB_ALONE='$(LAB_ALONE)' RTL_GEN='$(RTL_GEN)'

# What a judge calls it finds once, not in the process of each test.
ifeq ($(SYSTEM),Linux)
LAB_BOUND := -Wl,-z,now
endif

NM ?= nm
OBJCOPY ?= objcopy
LAB_STRIP := $(if $(filter plain,$(SAN)),$(OBJCOPY) --wildcard --strip-debug -R '.gnu.lto_*' \
	     -R '.gnu.debuglto_*',:)

define lab_rules
$(LAB_OUT)/$(1)/grade: $(GRADE_OBJ) \
		$(call obj,$(wildcard labs/$(1)/tests/*.c labs/$(1)/hidden/*.c) \
			$(call lab_shared,$(1))) $(ARCHIVES)
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(LINK) $(QUICK_LD) $(LAB_BOUND) -o $$@ $$(filter %.o,$$^) $$(LINK_LIBS)

# The board without the lab's files, which a work replaces. Debug information is stripped: the
# linker would copy it for each work.
$(LAB_OUT)/$(1)/rest.a: $(filter-out $(call obj,$(call lab_files,$(1))),$(EMU_OBJ) $(DRV_OBJ))
	@mkdir -p $$(@D)
	$$(call say,AR)
	@rm -f $$@.new
	$$(Q)$(AR) rcs $$@.new $$^ && $(LAB_STRIP) $$@.new && mv $$@.new $$@

# The names that it and the subject's own files define: a work may not define these.
$(LAB_OUT)/$(1)/names: $(LAB_OUT)/$(1)/rest.a $(O)/tools/grade/subject.o \
		$(call obj,$(wildcard labs/$(1)/subject*.c))
	$$(call say,NM)
	$$(Q)$(NM) -g -P $$^ >$$@.all && awk '$$$$2 ~ /^[^Uvw]$$$$/ { print $$$$1 }' $$@.all | \
		LC_ALL=C sort -u >$$@.new && rm $$@.all && mv $$@.new $$@

# A student who hands in one of two files gets the other from here.
$(LAB_OUT)/$(1)/starter: $(call lab_files,$(1)) labs/$(1)/lab.conf labs/$(1)/starter.parts \
		tools/lab/starter
	@rm -rf $$@
	@for f in $(call lab_files,$(1)); do \
		mkdir -p $$@/$$$$(dirname $$$$f) && \
		if grep -q 'tag::$(1)-[0-9]' $$$$f; \
		then tools/lab/starter $(1) $$$$f >$$@/$$$$f; \
		else cp $$$$f $$@/$$$$f; fi || exit 1; \
	done

lab-$(1): $(LAB_OUT)/$(1)/grade $(LAB_OUT)/$(1)/names $(LAB_OUT)/$(1)/starter $(ARCHIVES)
endef
$(foreach l,$(LABS),$(eval $(call lab_rules,$(l))))

# The tests of labs in C, with the tree's own files, as unit tests (tests/tests.mk).
$(foreach l,$(LAB_UNIT:test_lab_%.c=%),$(eval $(B)/tests/test_lab_$(l): \
	$(call obj,tests/rig/judge.c $(wildcard labs/$(l)/subject*.c) $(call lab_files,$(l)) \
		$(call lab_shared,$(l)) $(wildcard labs/$(l)/tests/*.c labs/$(l)/hidden/*.c))))

# Labs in Verilog: the tree's own model, the calls of engine.h on its pins, and Verilator's
# own sources, which every program with a model needs.
LABS_RTL := $(foreach l,$(LABS),$(if $(filter Verilog,$(call lab_value,$(l),language)),$(l)))
LAB_RTL_O := $(patsubst %.c,$(O)/%.o,$(wildcard rtl/cosim/rtl_*.c))
ifneq ($(LABS_RTL),)
$(LABS_RTL:%=lab-%): lab-%: $(LAB_OUT)/%/model.o $(LAB_RTL_O) $(LAB_OUT)/verilated.o
$(LAB_RTL_O): $(O)/%.o: %.c $(RTL)/fl_trace.h Makefile labs/labs.mk
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) $(INCLUDES) -fno-lto -Irtl/cosim -I$(RTL) -c -o $@ $<
-include $(LAB_RTL_O:.o=.d)
$(LABS_RTL:%=$(LAB_OUT)/%/model.o): $(RTL_V) $(RTL_VH) rtl/cosim/shim.cpp tools/lab/model
	@tools/doctor --have verilator g++
	$(call say,VERILATE)
	@mkdir -p $(@D)
	$(Q)RTL_GEN='$(RTL_GEN)' tools/lab/model tree $@ $(@D)/model
$(LAB_OUT)/verilated.o:
	@tools/doctor --have verilator g++
	@mkdir -p $(@D)
	$(call say,CXX)
	$(Q)i=$$(verilator --getenv VERILATOR_ROOT)/include && \
		ls $$i/verilated.cpp $$i/verilated_threads.cpp 2>/dev/null | \
		sed 's/.*/#include "&"/' | \
		g++ -O1 -w -I$$i -I$$i/vltstd -DVERILATOR=1 -DVM_TRACE=0 -DVM_COVERAGE=0 \
			-DVM_SC=0 -x c++ -c -o $@ -
endif

# LAB, if there is such a lab; and LAB as one word of the shell, whatever is in it.
lab := $(if $(filter 1,$(words $(LAB))),$(filter $(LABS),$(LAB)))
lab_word := '$(subst $(quote),'\'',$(LAB))'

lab-named: lab-known
	@[ -n '$(lab)' ] || \
		{ echo "which lab? LAB=$(firstword $(LABS)); there are: $(LABS)" >&2; exit 2; }

lab-known:
	@[ -n '$(lab)' ] || [ -z $(lab_word) ] || \
		{ printf 'no lab %s; there are: %s\n' $(lab_word) '$(LABS)' >&2; exit 2; }

## learn	grade LAB=walk	grade a lab's work: score, and what is wrong first; FILE=, ONLY=, ON=linux
grade: lab-named $(if $(lab),lab-$(lab))
	@$(LAB_ENV) tools/lab/grade $(LAB) --out $(LAB_OUT)/$(LAB)/mine \
		--seed $(or $(SEED),1) $(if $(ONLY),--only '$(ONLY)') \
		$(if $(KEY),--key '$(KEY)') $(FILE)$(if $(filter linux,$(ON)),; \
	graded=$$?; [ $$graded != 2 ] || exit 2; \
	if grep -qs '^build failed' $(LAB_OUT)/$(LAB)/mine/record; then \
		echo "on Linux: NOT RUN (it did not build)"; exit 1; fi; \
	$(MAKE) --no-print-directory lab-linux && exit $$graded)

# This is not part of the score, since not every machine can run it.
lab-linux: lab-named
	+@$(if $(shell sed -n 's/^linux: *//p' labs/$(lab)/lab.conf),$(MAKE) \
		--no-print-directory guest KERNEL=6.1 GUEST_MORE=linux-tests || :)
	@tools/lab/linux $(lab) --out $(LAB_OUT)/$(lab)/linux \
		--programs '$(GUEST_PROGRAMS) $(NARROW)' $(LAB_OUT)/$(lab)/mine/src

## teach	starter LAB=walk	the files that a student starts with
starter: lab-named $(if $(lab),$(LAB_OUT)/$(lab)/starter)
	@echo "the files to work on: $(LAB_OUT)/$(LAB)/starter"

## teach	lab-check	the grader, graded (minutes; SHORT=1: a sample)
lab-check: lab-known $(if $(LAB),$(lab:%=lab-%),$(LABS:%=lab-%))
	@set -e; for lab in $(or $(lab),$(LABS)); do \
		$(LAB_ENV) tools/lab/check $$lab $(if $(SHORT),--short) --jobs $(JOBS) \
			--out $(LAB_OUT)/$$lab/check; \
		echo "# which test sees which bug: $(LAB_OUT)/$$lab/check/kills"; done

# PART=3: only changes in the part that this step marks.
## teach	lab-mutants LAB=walk	changes of the reference that no test sees (minutes); PART=3
lab-mutants: lab-named $(if $(lab),lab-$(lab))
	@$(LAB_ENV) tools/lab/mutants $(LAB) --jobs $(JOBS) $(if $(PART),--part '$(PART)') \
		--out $(LAB_OUT)/$(LAB)/mutants

## teach	handout LAB=walk	the archive that students get
handout: lab-named
	@mkdir -p $(LAB_OUT)
	@STEPPED=$(STEPPED) tools/lab/handout $(LAB) $(LAB_OUT)/faultline-$(LAB).tar.gz

## teach	gradescope LAB=walk	an autograder for Gradescope
gradescope: lab-named
	@mkdir -p $(LAB_OUT)
	@STEPPED=$(STEPPED) tools/lab/gradescope $(LAB) $(LAB_OUT)/gradescope-$(LAB).zip $(or $(SEED),1)

# The results are in build/.../labs/LAB/batch.
## teach	lab-batch LAB=walk	grade a folder of submissions, DIR=...
lab-batch: lab-named $(if $(lab),lab-$(lab))
	@$(LAB_ENV) tools/lab/batch $(LAB) '$(DIR)' --out $(LAB_OUT)/$(LAB)/batch \
		--jobs $(JOBS) --seed $(or $(SEED),1) $(if $(KEY),--key '$(KEY)')

# For a shell that calls tools/lab/grade itself.
lab-env:
	@echo "export B='$(B)' O='$(O)' LAB_LINK='$(LINK) $(QUICK_LD)' LAB_LIBS='$(LIBS)' RTL_GEN='$(RTL_GEN)'"
	@echo "export LAB_ALONE='$(LAB_ALONE)'"
	@echo "export LAB_COMPILE='$(LAB_COMPILE)'"

# make test-all has a sample for each lab; tests/cmd/lab*.sh need these programs.
comma := ,
ALL_TESTS += $(LABS:%=make:lab-check$(comma)SHORT=1$(comma)LAB=%)
ifeq ($(VARIANT),)
test-programs plain-programs: $(patsubst %,lab-%,$(if $(shell command -v verilator),$(LABS), \
	$(filter-out $(LABS_RTL),$(LABS))))
endif
