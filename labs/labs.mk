# SPDX-License-Identifier: BSD-2-Clause
#
# The labs: what a course types. Included by the Makefile; labs/README.md tells how
# a lab is made.
#
#	LAB=walk	which lab
#	FILE=...	make grade: files or folders of the work; usual: this tree's
#	SEED=N		of the tests' random numbers; usual: 1
#	ONLY=PART	make grade: tests with this in their names
#	KEY=FILE	the record is signed with what is in there
#	ON=linux	make grade: then its step on a real Linux too, if it has one

LABS := $(patsubst labs/%/lab.conf,%,$(wildcard labs/*/lab.conf))
LAB_OUT := $(B)/labs
lab_value = $(shell sed -n 's/^$(2): *//p' labs/$(1)/lab.conf)
lab_files = $(call lab_value,$(1),files)
# What a lab takes of another one's tests: sources of the judge.
lab_shared = $(filter-out %/subject.c,$(filter %.c,$(call lab_value,$(1),uses)))
GRADE_OBJ := $(call obj,$(filter-out tools/grade/subject.c,$(wildcard tools/grade/*.c)))
# In a fit state for tools/lab/grade and all that calls it.
# -MMD would keep silent about headers that come from a system's folder.
LAB_COMPILE = $(filter-out $(LTO_CFLAGS) -MMD -MP,$(COMPILE)) $(INCLUDES) $(URCU_CFLAGS) \
	      $(LAB_GUARD) $(LAB_QUIET)
# clang tells of each flag that a step has no use for; gcc does not know the word.
LAB_QUIET = $(shell echo 'int x;' | $(CC) -Werror -Wunused-command-line-argument -x c -c \
	    -o /dev/null - 2>/dev/null && echo -Wno-unused-command-line-argument)
# What is past the end of an array, or in a variable that nobody has set, is another thing
# on each machine: an index out of its bounds traps, and what is not set is never 0. Not
# beside a sanitizer, which tells the line.
ifeq ($(SAN),plain)
LAB_GUARD = $(shell for f in '-fsanitize=bounds -fsanitize-undefined-trap-on-error' \
		-ftrivial-auto-var-init=pattern; do \
		echo 'int x;' | $(CC) $$f -Werror -x c -c -o /dev/null - 2>/dev/null && \
			echo "$$f"; done)
endif
# Linked statically, a subject opens no file before its own first instruction, and so needs
# no right to any; it loads no plug-in either. (A sanitizer's subject is not kept from files.)
ifeq ($(SAN),plain)
LAB_STATIC := -static -Wl,--defsym,dlopen=0
LAB_ALONE = $(shell mkdir -p $(LAB_OUT) && echo 'int main(void) { return 0; }' | \
	    $(LINK) $(LAB_STATIC) -x c -o $(LAB_OUT)/alone - $(LIBS) 2>/dev/null && \
	    echo '$(LAB_STATIC)'; rm -f $(LAB_OUT)/alone)
endif
LAB_ENV = B='$(B)' O='$(O)' LAB_COMPILE='$(LAB_COMPILE)' LAB_LINK='$(LINK)' LAB_LIBS='$(LIBS)' \
	LAB_ALONE='$(LAB_ALONE)' RTL_GEN='$(RTL_GEN)'

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
	$$(Q)$$(LINK) -o $$@ $$(filter %.o,$$^) $$(LINK_LIBS)

# The board without the lab's files, in whose place a work's come, and the names that all
# others have. Of these no debugger is told: the linker would copy that for each work.
$(LAB_OUT)/$(1)/rest.a: $(filter-out $(call obj,$(call lab_files,$(1))),$(EMU_OBJ) $(DRV_OBJ))
	@mkdir -p $$(@D)
	$$(call say,AR)
	@rm -f $$@.new
	$$(Q)$(AR) rcs $$@.new $$^ && $(LAB_STRIP) $$@.new && \
		$(NM) -g -P $$@.new >$$(@D)/rest.names && mv $$@.new $$@

# For who hands in one of two files.
$(LAB_OUT)/$(1)/starter: $(call lab_files,$(1)) labs/$(1)/lab.conf labs/$(1)/starter.parts \
		tools/lab/starter
	@rm -rf $$@
	@for f in $(call lab_files,$(1)); do \
		mkdir -p $$@/$$$$(dirname $$$$f) && \
		if grep -q 'tag::$(1)-[0-9]' $$$$f; \
		then tools/lab/starter $(1) $$$$f >$$@/$$$$f; \
		else cp $$$$f $$@/$$$$f; fi || exit 1; \
	done

lab-$(1): $(LAB_OUT)/$(1)/grade $(LAB_OUT)/$(1)/rest.a $(LAB_OUT)/$(1)/starter \
	$(O)/tools/grade/subject.o \
	$(O)/labs/$(1)/subject.o $(ARCHIVES)
endef
$(foreach l,$(LABS),$(eval $(call lab_rules,$(l))))

# Labs in Verilog: the tree's own model, the calls of engine.h on its pins, and what
# Verilator wants of every program.
LABS_RTL := $(foreach l,$(LABS),$(if $(filter Verilog,$(call lab_value,$(l),language)),$(l)))
LAB_RTL_O := $(patsubst %.c,$(O)/%.o,$(wildcard rtl/cosim/rtl_*.c))
ifneq ($(LABS_RTL),)
$(LABS_RTL:%=lab-%): lab-%: $(LAB_OUT)/%/model.o $(LAB_RTL_O) $(LAB_OUT)/verilated.o
$(LAB_RTL_O): $(O)/%.o: %.c $(RTL)/fl_trace.h Makefile
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

# LAB, if it is one of them; and as a word of the shell's, whatever is in it.
lab := $(if $(filter 1,$(words $(LAB))),$(filter $(LABS),$(LAB)))
quote := '
lab_word := '$(subst $(quote),'\'',$(LAB))'

.PHONY: grade starter handout gradescope lab-check lab-mutants lab-named lab-known $(LABS:%=lab-%)
lab-named: lab-known
	@[ -n '$(lab)' ] || \
		{ echo "which lab? LAB=$(firstword $(LABS)); there are: $(LABS)" >&2; exit 2; }

lab-known:
	@[ -n '$(lab)' ] || [ -z $(lab_word) ] || \
		{ printf 'no lab %s; there are: %s\n' $(lab_word) '$(LABS)' >&2; exit 2; }

# A work's own words are its own: one line, quoted.
grade: lab-named $(if $(lab),lab-$(lab))
	@$(LAB_ENV) tools/lab/grade $(LAB) --out $(LAB_OUT)/$(LAB)/mine \
		--seed $(or $(SEED),1) $(if $(ONLY),--only '$(ONLY)') \
		$(if $(KEY),--key '$(KEY)') $(FILE)$(if $(filter linux,$(ON)),; \
	graded=$$?; [ $$graded != 2 ] || exit 2; \
	if grep -qs '^build failed' $(LAB_OUT)/$(LAB)/mine/record; then \
		echo "on Linux: NOT RUN (it did not build)"; exit 1; fi; \
	$(MAKE) --no-print-directory lab-linux && exit $$graded)

# Beside the score, since not every machine can.
.PHONY: lab-linux
lab-linux: lab-named
	+@$(if $(shell sed -n 's/^linux: *//p' labs/$(lab)/lab.conf),$(MAKE) \
		--no-print-directory guest KERNEL=6.1 GUEST_MORE=linux-tests || :)
	@tools/lab/linux $(lab) --out $(LAB_OUT)/$(lab)/linux \
		--programs '$(GUEST_PROGRAMS) $(NARROW)' $(LAB_OUT)/$(lab)/mine/src

starter: lab-named $(if $(lab),$(LAB_OUT)/$(lab)/starter)
	@echo "the files to work on: $(LAB_OUT)/$(LAB)/starter"

# The grader, graded; SHORT=1: a sample.
lab-check: lab-known $(if $(LAB),$(lab:%=lab-%),$(LABS:%=lab-%))
	@set -e; for lab in $(or $(lab),$(LABS)); do \
		$(LAB_ENV) tools/lab/check $$lab $(if $(SHORT),--short) --jobs $(JOBS) \
			--out $(LAB_OUT)/$$lab/check; \
		echo "# which test sees which bug: $(LAB_OUT)/$$lab/check/kills"; done

# Changes of the reference that no test sees; minutes. PART=3: of this step's mark.
lab-mutants: lab-named $(if $(lab),lab-$(lab))
	@$(LAB_ENV) tools/lab/mutants $(LAB) --jobs $(JOBS) $(if $(PART),--part '$(PART)') \
		--out $(LAB_OUT)/$(LAB)/mutants

handout: lab-named
	@mkdir -p $(LAB_OUT)
	@STEPPED=$(STEPPED) tools/lab/handout $(LAB) $(LAB_OUT)/faultline-$(LAB).tar.gz

gradescope: lab-named
	@mkdir -p $(LAB_OUT)
	@STEPPED=$(STEPPED) tools/lab/gradescope $(LAB) $(LAB_OUT)/gradescope-$(LAB).zip $(or $(SEED),1)

# DIR: a folder of submissions; what comes of it lies in build/.../labs/LAB/batch.
.PHONY: lab-batch lab-env
lab-batch: lab-named $(if $(lab),lab-$(lab))
	@$(LAB_ENV) tools/lab/batch $(LAB) '$(DIR)' --out $(LAB_OUT)/$(LAB)/batch \
		--jobs $(JOBS) --seed $(or $(SEED),1) $(if $(KEY),--key '$(KEY)')

# For a shell that calls tools/lab/grade by itself.
lab-env:
	@echo "export B='$(B)' O='$(O)' LAB_LINK='$(LINK)' LAB_LIBS='$(LIBS)' RTL_GEN='$(RTL_GEN)'"
	@echo "export LAB_ALONE='$(LAB_ALONE)'"
	@echo "export LAB_COMPILE='$(LAB_COMPILE)'"

# In make test: a sample for each lab, and what tests/cmd/lab*.sh need.
comma := ,
ALL_TESTS += $(LABS:%=make:lab-check$(comma)SHORT=1$(comma)LAB=%)
ifeq ($(VARIANT),)
test-programs: $(patsubst %,lab-%,$(if $(shell command -v verilator),$(LABS), \
	$(filter-out $(LABS_RTL),$(LABS))))
endif
