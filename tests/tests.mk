# SPDX-License-Identifier: BSD-2-Clause
#
# Unit tests, and what "make test" and "make test-all" run. Benchmarks, fuzz targets and
# failing environments have files of their own in their folders.

$(call commands,STEPPABLE,test-programs plain-programs shim-mutants check-mutants models)
$(call commands,STEPPABLE,check-style check-warnings)
$(call commands,,test test-all seeds)

# A folder for each room; programs lie side by side in build/plain/tests, so that their names say
# all: $(call unit,plain,SOURCES).
# For "make" and "make grade", which students wait for, nobody looks through two hundred tests.
UNIT_SRC := $(if $(filter-out all grade,$(or $(MAKECMDGOALS),all)),\
	    $(wildcard tests/unit/*/test_*.c))
UNIT_OBJ := $(call obj,$(UNIT_SRC))
unit = $(patsubst %.c,build/$(1)/tests/%,$(notdir $(2)))
unit_here = $(patsubst %.c,$(B)/tests/%,$(notdir $(1)))
UNIT_BIN := $(call unit_here,$(UNIT_SRC))
RIG_OBJ := $(call obj,$(wildcard tests/rig/*.c))

# The tests of these labs are unit tests, too: rig/judge.c; labs/labs.mk says of which objects.
# (Engine is in Verilog; subjects of driver and invalidate live for one test.)
LAB_UNIT := test_lab_walk.c test_lab_bank.c test_lab_resend.c
LAB_UNIT_BIN := $(call unit_here,$(LAB_UNIT))
ALL_OBJ += $(UNIT_OBJ) $(filter-out $(ALL_OBJ),$(RIG_OBJ))
SHIM_OBJ += $(filter $(O)/tests/unit/shim/% %/rig/shim.o %/rig/inside.o,$(UNIT_OBJ) $(RIG_OBJ))
# Those that stand inside a kernel see Linux's names, as the driver does.
SHIM_OBJ += $(call obj,$(if $(UNIT_SRC),$(shell grep -l 'rig/inside[.]h' $(UNIT_SRC))))

# In a build for tests alone a test's own code is compiled more often than it is run: it is not
# optimised, but for those that draw requests by the thousand.
ifeq ($(origin CFLAGS):$(FAST),file:)
$(filter-out %swarm.o,$(UNIT_OBJ)): CFLAGS += -O0
endif

# Programs that say "variants: tsan" in their source use threads; "variants: posix": they
# depend on the system layer; "variants: pages": they depend on the size of a page of
# residency. One line may name several.
variant = $(if $(UNIT_SRC),$(shell grep -l 'variants:.*$(1)' $(UNIT_SRC)))
TSAN_SRC := $(call variant,tsan)
POSIX_SRC := $(call variant,posix)
PAGES_SRC := $(call variant,pages)

# With thread sanitizer, the other system layer or other pages: only the tests that can show a
# difference.
FEW_SRC := $(if $(OTHER_OS),$(POSIX_SRC),$(if $(OTHER_PAGE),$(PAGES_SRC),\
	   $(if $(filter tsan,$(SAN)),$(TSAN_SRC))))
test-programs: $(FAULTLINE) $(if $(strip $(FEW_SRC)),\
	       $(call unit_here,$(FEW_SRC)),$(UNIT_BIN) $(LAB_UNIT_BIN) $(EXAMPLE_BIN))

# "make test-all" has them without a sanitizer in "make coverage" already, but for those that are
# left out there, and for the random ones, which have their seeds here, and the optimised program.
UNCOVERED := %_confine.c %_escape.c %_udp_hostile.c %/test_work.c
PLAIN_SRC := $(filter $(UNCOVERED) %swarm.c %/test_resident.c,$(UNIT_SRC))
plain-programs: $(FAULTLINE) $(call unit_here,$(PLAIN_SRC) $(LAB_UNIT)) $(EXAMPLE_BIN)

# The calls of the C library that rig/fail.c can make fail.
FAIL_LD := $(if $(filter Linux,$(SYSTEM)),$(patsubst %,-Xlinker --wrap=%,malloc calloc realloc \
	   aligned_alloc mmap mprotect syscall pthread_create pthread_attr_getstack pthread_getattr_np \
	   pthread_atfork sigaction open read pread getrandom pwrite ftruncate recvmsg sysconf process_vm_readv))

$(foreach s,$(UNIT_SRC),$(eval $(call unit_here,$(s)): $(call obj,$(s))))
# A rig is linked with the programs that read its header: rigs may stand in for parts of the
# board, so that an archive of all of them would not do. $(call rigs,SOURCE): those of a program.
rigs = $(patsubst %,$(O)/tests/rig/%.o,$(shell tests/rig/needs $(1) | sed 's/.*://'))
$(foreach n,$(if $(UNIT_SRC),$(shell tests/rig/needs $(UNIT_SRC))),\
	$(eval $(B)/tests/$(subst :,: $(O)/tests/rig/,$(n)).o))
# rig/lies.c stands between the driver and the board's registers.
LIES_BIN := $(call unit_here,$(if $(UNIT_SRC),$(shell grep -l 'rig/lies[.]h' $(UNIT_SRC))))
$(LIES_BIN): LINK += -Wl,--wrap=board_read
$(UNIT_BIN) $(LAB_UNIT_BIN): $(HARNESS_OBJ) $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) $(QUICK_LD) $(if $(filter %/rig/fail.o,$^),$(FAIL_LD)) -o $@ $(filter %.o,$^) $(LINK_LIBS)

# Library and boards once more, with a stage (rig/attach_turn.h) instead of clock, threads
# and waiting.
STAGE_OBJ := $(patsubst %.c,$(O)/stage/%.o,$(wildcard lib/attach/*.c emu/serve/*.c))
STAGE_COMPILE = $(COMPILE) -include tests/rig/attach_turn.h
$(O)/stage/emu/serve/serve.o: DEFINES += -DSTAGE_LIFE
$(STAGE_OBJ): $(O)/stage/%.o: %.c Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(STAGE_COMPILE) $(INCLUDES) $(URCU_CFLAGS) -c -o $@ $<

$(B)/tests/test_attach_swarm: $(STAGE_OBJ)
-include $(wildcard $(STAGE_OBJ:.o=.d))

# --- what runs

# Only "make test-all" runs these: they take longer, or need more than compilers.
LONG_CMD := $(patsubst %,tests/cmd/%.sh,add_system bench board book check_mutants complaints \
	     coverage empty equal examples eth faults fetch_headers firmware fuzz generator harness lab_handout \
	     lab_order lab_walls labs models overlays pcap plans reference reproduce rtl rtl_benches \
	     rtl_proofs seeds shim_mutants stepping style verbs verilog vivado vm vqfdb vqfdb_end waves way zcu102)
SHORT_CMD := $(filter-out tests/cmd/generated.sh $(LONG_CMD),$(wildcard tests/cmd/*.sh))
SHORT_TESTS := make:generated-fresh make:check-style make:core-alone $(call unit,asan,$(UNIT_SRC) $(LAB_UNIT)) \
	 $(SHORT_CMD) $(wildcard tests/scenario/*.fl)
# The guests' kernel and programs come early, since others use them.
ALL_TESTS = make:generated-fresh make:check-style make:core-alone make:guest,GUEST_MORE=linux-tests \
	 make:check-warnings make:portable make:aarch64 make:library-alone \
	 make:firmware-r5 make:modules \
	 make:kernel-check,PART=build make:kernel-check,PART=style \
	 make:coverage \
	 make:vqfdb-faults,SHORT=1 make:vqfdb-faults,SHORT=1,SMMU=linux \
	 $(call unit,plain,$(PLAIN_SRC) $(LAB_UNIT)) $(call unit,asan,$(UNIT_SRC) $(LAB_UNIT)) \
	 $(call unit,tsan,$(TSAN_SRC)) $(call unit,posix,$(POSIX_SRC)) \
	 $(call unit,page64,$(PAGES_SRC)) \
	 make:vqfdb-equal,SHORT=1 \
	 make:rtl-lint make:rtl-random make:rtl-compete \
	 $(LONG_CMD) $(SHORT_CMD) $(wildcard tests/scenario/*.fl)

# Tests that do less in "make test": a quarter of the rounds or of the seeds. They ask for that
# themselves, or call one of these rigs; another rig that asks is to be named here.
DEEP_SRC = $(shell grep -l -E 'test_rounds|test_is_short|seed_count|seeds_twice|beside_pair' \
	   $(UNIT_SRC))

# TESTED=yes: "make test" has just run here, as in CI. What would run here in the same way is
# left out. Scenarios stay: tests/run knows which seeds have run.
TESTED_TESTS = $(if $(TESTED),$(filter-out $(call unit,asan,$(DEEP_SRC)) %.fl,$(SHORT_TESTS)))

# Some tests wait for seconds (for the patience of boards with a process, say): so one more at a
# time than there are processors.
## change	test	programs, scenarios, commands, each once: for after each change; some minutes
test:
	@tools/doctor --install test
	@MAKE="$(MAKE_COMMAND)" CC="$(CC)" tests/run --jobs $$(($(JOBS) + 1)) \
		--events --short --build main --build asan $(SHORT_TESTS)

# SHARE=2/4: besides scenarios and counts of instructions only every fourth of the tests, from the
# second on. A build machine takes the part that the commit's name says (.ci/run).
SHARE ?=
ifneq ($(SHARE),)
ifeq ($(filter 1/1 1/2 2/2 1/4 2/4 3/4 4/4,$(SHARE)),)
$(error SHARE=$(SHARE): there are 1/1, 1/2, 2/2, 1/4, 2/4, 3/4 and 4/4)
endif
endif
part = $(if $(SHARE),$(shell printf '%s\n' $(1) | \
	awk -v part='$(SHARE)' '{ split(part, p, "/") } NR % p[2] == p[1] % p[2]'),$(1))

# Short tests come last, so that no long one ends alone.
## change	test-all	all tests, in all variants: an hour or two; SHARE=1/4: a quarter of them
test-all:
	@tools/doctor --install test-all
	@MAKE="$(MAKE_COMMAND)" CC="$(CC)" tests/run --jobs $(JOBS) \
		$(if $(TESTED),--tested) --build few --build asan --build tsan \
		--build posix --build page16 --build page64 --build rtl \
		make:bench-counts $(call part,$(filter-out $(TESTED_TESTS) %.fl,$(ALL_TESTS))) \
		$(filter %.fl,$(ALL_TESTS))

# Planted mistakes: those that the emulator's Linux API must see, and those that the checks
# after each event must see, whether they look at what has changed or at everything.
# NAMES="a b": only these mistakes.
MUTANT_COMPILE = $(filter-out -MMD -MP,$(COMPILE)) -DFL_EMULATOR \
		 -Iemu/host/shim/include $(INCLUDES) $(URCU_CFLAGS)
## change	shim-mutants	planted mistakes that the emulator's Linux API must see; NAMES=
shim-mutants: $(filter $(B)/tests/test_driver_%,$(UNIT_BIN)) $(ARCHIVES)
	@B='$(B)' O='$(O)' MUTANT_LINK='$(LINK)' MUTANT_LIBS='$(LIBS)' \
	MUTANT_COMPILE='$(MUTANT_COMPILE)' \
	tests/mutants/run --out $(B)/mutants/driver --list driver --jobs $(JOBS) $(NAMES)

## change	check-mutants	planted mistakes that the checks after each event must see; NAMES=
check-mutants: $(FAULTLINE)
	@B='$(B)' O='$(O)' MUTANT_LINK='$(LINK)' MUTANT_LIBS='$(LIBS)' \
	MUTANT_COMPILE='$(MUTANT_COMPILE)' \
	MUTANT_MAIN='$(MAIN_OBJ)' \
	tests/mutants/run --out $(B)/mutants/checks --list checks --jobs $(JOBS) $(NAMES)

## change	seeds	random tests with new seeds; SEEDS_MINUTES=, or until Ctrl-C
seeds:
	+@$(MAKE) --no-print-directory test-programs
	+@$(MAKE) --no-print-directory SAN=asan test-programs
	+@$(MAKE) --no-print-directory SAN=tsan test-programs
	@tests/seeds --new $(addprefix --minutes ,$(SEEDS_MINUTES)) $(if $(SEEDS),'$(SEEDS)')

## change	models	protocols of waiting, checked exhaustively (Spin)
models:
	@tools/models

## change	check-style	the rules of style that a program can check
check-style:
	@tests/check-style

# What gcc finds depends on how it optimises; what clang finds does not.
## change	check-warnings	gcc and clang, with warnings as errors
check-warnings:
	@tools/doctor --have gcc clang
	+@$(MAKE) --no-print-directory B=build/warn-gcc CC=gcc WERROR=-Werror objects
	+@$(MAKE) --no-print-directory -k -s -j$(JOBS) B=build/warn-clang CC=clang \
		CFLAGS=-fsyntax-only WERROR=-Werror objects
