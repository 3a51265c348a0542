# SPDX-License-Identifier: BSD-2-Clause
#
# Faultline. "make" builds build/faultline and needs a C compiler, make and
# liburcu; "make help" lists the rest. Nothing to configure: sources are found
# by folder, what is built lies under build/.
#
#	SAN=plain|asan|tsan	variant, each with its own objects
#	OS=linux|posix		system layer (lib/os); the other than usual: the same
#	PAGE=4096 to 65536	granule of residency in bytes; usual: what this machine's
#				pages have, at least 4096; other: build/page16, ...
#	CC=..., CFLAGS=...	compiler and its optimisation
#	STEPPING=N		another device: same behaviour, other numbers (1 to 999999);
#				build/step-N, its headers and data sheet in build/step-N/device
#	LTO=no			link the board's parts without optimising once more
#	FILE=...		make demo: the file to send
#	V=1			show whole command lines
#	FAULTLINE_INSTALL=no	never install a package

.DEFAULT_GOAL := all
SAN ?= plain
ifeq ($(filter $(SAN),plain asan tsan),)
$(error SAN=$(SAN) is not plain, asan or tsan)
endif

SYSTEM := $(shell uname -s)
USUAL_OS := $(if $(filter Linux,$(SYSTEM)),linux,posix)
OS ?= $(USUAL_OS)
ifeq ($(filter $(OS),linux posix),)
$(error OS=$(OS) is not linux or posix)
endif
OTHER_OS := $(filter-out $(USUAL_OS),$(OS))

# Residency works in the larger of the device's page and the host's.
USUAL_PAGE := $(shell getconf PAGESIZE 2>/dev/null || echo 4096)
PAGE ?= $(USUAL_PAGE)
SHIFT_4096 := 12
SHIFT_8192 := 13
SHIFT_16384 := 14
SHIFT_32768 := 15
SHIFT_65536 := 16
ifeq ($(SHIFT_$(PAGE)),)
$(error PAGE=$(PAGE) is not 4096, 8192, 16384, 32768 or 65536)
endif
PAGE_KB := $(patsubst %4096,4,$(patsubst %8192,8,$(patsubst %16384,16,\
	   $(patsubst %32768,32,$(patsubst %65536,64,$(PAGE))))))
OTHER_PAGE := $(if $(filter-out $(USUAL_PAGE),$(PAGE)),page$(PAGE_KB))

# A device stepping has its own single sources, drawn by tools/step, and what is
# generated from them; they come before those of the tree. An archive that was handed
# out is of one stepping already.
DEVICE := $(shell sed -n 's/^DLIM.STEPPING, *\([0-9]*\),.*/\1/p' \
	  kernel-ref/include/faultline/device.def)
ifneq ($(DEVICE),0)
ifneq ($(filter-out $(DEVICE),$(STEPPING)),)
$(error STEPPING=$(STEPPING): these sources are of stepping $(DEVICE) already)
endif
override STEPPING :=
endif
ifneq ($(STEPPING),)
ifneq ($(shell echo '$(subst ',?,$(STEPPING))' | grep -c -x '[1-9][0-9]\{0,5\}'),1)
$(error STEPPING=$(STEPPING) is not a number from 1 to 999999)
endif
STEPPED := build/step-$(STEPPING)/device
OTHER_STEP := step-$(STEPPING)
endif

# build/asan; what is not the usual here goes before: build/posix, build/page16-asan
empty :=
VARIANT := $(subst $(empty) ,-,$(strip $(OTHER_STEP) $(OTHER_OS) $(OTHER_PAGE) \
	   $(filter-out plain,$(SAN))))
B := build/$(or $(VARIANT),plain)
O := $(B)/obj
JOBS ?= 2

ifeq ($(V),)
Q := @
ifeq ($(findstring s,$(firstword -$(MAKEFLAGS))),)
say = @echo "  $(1) $@"
endif
endif

# Who gives no CFLAGS gets what the data path gains by: -O3 for the models of
# the hardware, and a second optimisation when the programs are linked. Objects
# hold ordinary code as well (fat), so that any linker can use the archives; a
# compiler that cannot do that does without. What is built for tests alone, with a
# sanitizer or for another system, is compiled in less time.
ifeq ($(origin CFLAGS),undefined)
CFLAGS := $(if $(filter plain,$(SAN)),-O2,-O1) -g
ifeq ($(SAN)$(OTHER_OS)$(OTHER_PAGE),plain)
FAST := -O3
LTO_CFLAGS := -flto=auto -ffat-lto-objects
LTO ?= $(shell echo 'int x;' | $(CC) $(LTO_CFLAGS) -Werror -x c -c \
	 -o /dev/null - 2>/dev/null && echo yes)
endif
endif
WARN := -Wall -Wextra -Werror=implicit-function-declaration -Werror=return-type $(WERROR)
INCLUDES := $(if $(STEPPED),-I$(STEPPED)/emu -I$(STEPPED)/kernel-ref/include) -I. -Iemu -Ilib -Itools -Itests -Ikernel-ref/include
# Empty, so that a file that asks for the same by itself gives no warning.
DEFINES := -D_GNU_SOURCE=
SAN_plain :=
SAN_asan := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	    -fno-omit-frame-pointer
# gcc from 13 and clang from 15 on put locals on the heap unasked, to find who uses them too
# late. What a program has on its stack has to be there: it can be registered.
ifeq ($(SAN),asan)
SAN_asan += $(shell for f in --param=asan-use-after-return=0 \
		-fsanitize-address-use-after-return=never; do \
		echo 'int x;' | $(CC) -fsanitize=address $$f -Werror -x c -c -o /dev/null - \
			2>/dev/null && echo "$$f"; done)
endif
SAN_tsan := -fsanitize=thread -fno-omit-frame-pointer

URCU_CFLAGS := $(shell pkg-config --cflags liburcu-qsbr 2>/dev/null)
URCU_LIBS := $(shell pkg-config --libs liburcu-qsbr 2>/dev/null || \
	       echo -lurcu-qsbr -lurcu-common)

COMPILE = $(CC) -std=gnu11 $(CFLAGS) $(SAN_$(SAN)) $(WARN) $(DEFINES) \
	-DHOST_PAGE_SHIFT=$(SHIFT_$(PAGE)) -MMD -MP -pthread
# A linker with gcc's plugin would optimise fat objects unasked: tests need not wait.
LINK = $(CC) $(CFLAGS) $(SAN_$(SAN)) -pthread -fno-lto
ifeq ($(LTO),yes)
COMPILE += $(LTO_CFLAGS)
LINK_FAST := -O3 $(LTO_CFLAGS)
endif
# Before 2.34 glibc has shm_open and dlopen in libraries of their own.
LIBS = $(URCU_LIBS) -lm $(if $(filter Linux,$(SYSTEM)),-ldl) $(if $(OTHER_OS),-lrt)

# --- sources, by folder

EMU_SRC := $(foreach d,board board/packets smmu nic nic/transport nic/policy fabric host host/shim serve \
	     sim trace window,$(wildcard emu/$(d)/*.c))
# A real kernel's alone: the module, and how a card behind a window is reached.
LINUX_ONLY := $(patsubst %,kernel-ref/fl_%.c,module pci window note)
DRV_SRC := $(filter-out %.mod.c $(LINUX_ONLY),$(wildcard kernel-ref/*.c))
OS_SRC := $(filter-out lib/os/$(filter-out $(OS),linux posix)%.c,\
	    $(wildcard lib/os/*.c))
LIB_SRC := $(wildcard lib/*.c lib/attach/*.c) $(OS_SRC)
# A unit test links all of tools/ but the file with main().
MAIN_SRC := $(wildcard tools/faultline/main.c)
TOOL_SRC := $(filter-out $(MAIN_SRC),$(foreach d,faultline scenario view work,\
	      $(wildcard tools/$(d)/*.c))) $(wildcard rtl/cosim/engine_*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)
EXAMPLE_SRC := $(wildcard lib/examples/*.c)
GEN_SRC := $(wildcard tools/gen/*.c)
# Programs for a real Linux with a card.
LINUX_SRC := $(filter-out tests/linux/narrow.c,$(wildcard tests/linux/*.c))
LINUX_TEST_SRC := $(filter tests/linux/test_%,$(LINUX_SRC))
FW_SRC := $(wildcard emu/nic/fw*.c)
FUZZ_SRC := $(wildcard tests/fuzz/*.c)

obj = $(patsubst %.c,$(O)/%.o,$(1))
EMU_OBJ := $(call obj,$(EMU_SRC))
DRV_OBJ := $(call obj,$(DRV_SRC))
LIB_OBJ := $(call obj,$(LIB_SRC))
OS_OBJ := $(call obj,$(OS_SRC))
MAIN_OBJ := $(call obj,$(MAIN_SRC))
TOOL_OBJ := $(call obj,$(TOOL_SRC))
UNIT_OBJ := $(call obj,$(UNIT_SRC))
BENCH_OBJ := $(call obj,$(BENCH_SRC))
EXAMPLE_OBJ := $(call obj,$(EXAMPLE_SRC))
HARNESS_OBJ := $(call obj,tests/harness.c)
# Each call of the C library fails once: the library that sees to it, and its driver.
FAULT_SO := $(B)/faults/inject.so
FAULT_BIN := $(B)/faults/jobs $(B)/faults/pair $(B)/faults/guests
FAULT_OBJ := $(call obj,$(filter-out %/inject.c,$(wildcard tests/faults/*.c)))
FUZZ_OBJ := $(call obj,$(FUZZ_SRC))
LINUX_OBJ := $(call obj,$(LINUX_SRC) tools/vqfdb/agent.c)
LAB_OBJ := $(call obj,$(wildcard tools/grade/*.c labs/*/*.c labs/*/tests/*.c \
	   labs/*/hidden/*.c))
ALL_OBJ := $(EMU_OBJ) $(DRV_OBJ) $(LIB_OBJ) $(MAIN_OBJ) $(TOOL_OBJ) \
	   $(UNIT_OBJ) $(BENCH_OBJ) $(EXAMPLE_OBJ) $(HARNESS_OBJ) $(LINUX_OBJ) \
	   $(LAB_OBJ) $(FAULT_OBJ) $(FUZZ_OBJ)

UNIT_BIN := $(patsubst tests/unit/%.c,$(B)/tests/%,$(UNIT_SRC))
BENCH_BIN := $(B)/bench/bench
BENCH_SWARM := $(B)/tests/test_order_swarm
EXAMPLE_BIN := $(patsubst lib/examples/%.c,$(B)/examples/%,$(EXAMPLE_SRC))

LINUX_TEST_BIN := $(patsubst tests/linux/%.c,$(B)/linux/%,$(LINUX_TEST_SRC))
LINUX_BIN := $(filter-out $(LINUX_TEST_BIN),\
	     $(patsubst tests/linux/%.c,$(B)/linux/%,$(LINUX_SRC)))
LINUX_EXAMPLE_BIN := $(patsubst lib/examples/%.c,$(B)/linux/%,$(EXAMPLE_SRC))

BOARD_LIB := $(B)/libboard.a
USER_LIB := $(B)/libfaultline.a
TOOL_LIB := $(B)/libtools.a

ifeq ($(B),build/plain)
FAULTLINE := build/faultline
else
FAULTLINE := $(B)/faultline
endif

# --- what is built

.PHONY: all objects test-programs test test-all portable aarch64 library-alone demo bench bench-programs doctor check-style \
	check-warnings generate pictures generated-fresh modules kernel-check \
	kernel-check-self kernel-debug kernel-debug-self firmware-r5 clean \
	install-deps help board-patch models

all: $(FAULTLINE)

objects: $(ALL_OBJ)

# Programs that say "variants: tsan" in their source use threads; "variants:
# posix": what they test stands on the system layer; "variants: page16 page64":
# it depends on the granule of residency. Or several, in one line.
variant = $(if $(UNIT_SRC),$(shell grep -l 'variants:.*$(1)' $(UNIT_SRC)))
unit = $(patsubst tests/unit/%.c,build/$(1)/tests/%,$(2))
TSAN_SRC := $(call variant,tsan)
POSIX_SRC := $(call variant,posix)
PAGE16_SRC := $(call variant,page16)
PAGE64_SRC := $(call variant,page64)

# The other system layer, another granule: only what can show a difference.
FEW_SRC := $(if $(OTHER_OS),$(POSIX_SRC),$(if $(OTHER_PAGE),\
	   $(or $($(subst page,PAGE,$(OTHER_PAGE))_SRC),$(PAGE16_SRC))))
ifeq ($(OTHER_OS)$(OTHER_PAGE),)
test-programs: $(FAULTLINE) $(UNIT_BIN) $(EXAMPLE_BIN) $(BENCH_BIN)
ifeq ($(B)$(if $(FAULT_OBJ),,-),build/plain)
test-programs: $(FAULT_SO) $(FAULT_BIN)
endif
else
test-programs: $(FAULTLINE) $(patsubst tests/unit/%.c,$(B)/tests/%,$(FEW_SRC))
endif
ifneq ($(OTHER_OS),)
# Here that is a rehearsal, so nothing may come in that POSIX does not have.
$(OS_OBJ): DEFINES := -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700
endif

# The driver's sources, the emulator's Linux API itself, what stands in for it in a
# lab, and its tests see that API before anything else.
SHIM_OBJ := $(filter $(O)/emu/host/shim/%,$(EMU_OBJ)) $(O)/labs/driver/subject.o \
	    $(filter $(O)/tests/unit/test_shim%,$(UNIT_OBJ))
$(DRV_OBJ) $(SHIM_OBJ): $(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) -DFL_EMULATOR -Iemu/host/shim/include $(INCLUDES) \
		$(URCU_CFLAGS) -c -o $@ $<

$(filter-out $(DRV_OBJ) $(SHIM_OBJ),$(ALL_OBJ)): $(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) $(INCLUDES) $(URCU_CFLAGS) -c -o $@ $<

$(BOARD_LIB): $(EMU_OBJ) $(DRV_OBJ)
$(USER_LIB): $(LIB_OBJ)
$(TOOL_LIB): $(TOOL_OBJ)
$(BOARD_LIB) $(USER_LIB) $(TOOL_LIB):
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)$(AR) rcs $@.$$$$ $^ && mv $@.$$$$ $@

# Device and library call each other through the contract: once more round.
ARCHIVES := $(TOOL_LIB) $(USER_LIB) $(BOARD_LIB)
LINK_LIBS = $(ARCHIVES) $(USER_LIB) $(BOARD_LIB) $(LIBS)

HOT := board board/packets smmu nic fabric sim trace
$(call obj,$(foreach d,$(HOT),$(wildcard emu/$(d)/*.c))): CFLAGS += $(FAST)

$(FAULTLINE): $(MAIN_OBJ) $(ARCHIVES)
	$(if $(MAIN_OBJ),,$(error tools/faultline/main.c is missing))
	$(call say,LD)
	$(Q)$(LINK) $(LINK_FAST) -o $@ $(MAIN_OBJ) $(LINK_LIBS)

$(filter-out %/test_attach_swarm,$(UNIT_BIN)): $(B)/tests/%: $(O)/tests/unit/%.o $(HARNESS_OBJ) \
		$(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $< $(HARNESS_OBJ) $(LINK_LIBS)

# Library and boards once more, with a stage in place of clock, threads and waiting.
STAGE_OBJ := $(patsubst %.c,$(O)/stage/%.o,$(wildcard lib/attach/*.c emu/serve/*.c))
STAGE_COMPILE = $(filter-out $(LTO_CFLAGS),$(COMPILE)) -include tests/unit/test_attach_turn.h
$(O)/stage/emu/serve/serve.o: DEFINES += -DSTAGE_LIFE
$(STAGE_OBJ): $(O)/stage/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(STAGE_COMPILE) $(INCLUDES) $(URCU_CFLAGS) -c -o $@ $<

$(B)/tests/test_attach_swarm: $(O)/tests/unit/test_attach_swarm.o $(STAGE_OBJ) $(HARNESS_OBJ) \
		$(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $< $(STAGE_OBJ) $(HARNESS_OBJ) $(LINK_LIBS)

# It stands in for the C library's own calls, so none of them is built in.
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

$(B)/faults/guests: $(O)/tests/faults/guests.o $(HARNESS_OBJ) $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(LINK_LIBS)

$(BENCH_BIN): $(BENCH_OBJ) $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) $(LINK_FAST) -o $@ $(BENCH_OBJ) $(LINK_LIBS)

# An example is an ordinary program; here tools/faultline/example_host.c runs it.
$(EXAMPLE_OBJ): DEFINES += -Dmain=example_main
$(EXAMPLE_BIN): $(B)/examples/%: $(O)/lib/examples/%.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $< $(LINK_LIBS)

# On a real card a program needs the library alone; the job's is the one that the
# emulator's processes run. Static: a guest has no libc. An example is what it is.
JOB_OBJ := $(call obj,tools/faultline/app.c tools/faultline/sha256.c)
$(LINUX_BIN): $(B)/linux/%: $(O)/tests/linux/%.o $(JOB_OBJ) $(USER_LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -static -o $@ $< $(JOB_OBJ) $(USER_LIB)

# The processes of a scenario there.
AGENT_BIN := $(B)/linux/agent
AGENT_OBJ := $(call obj,tools/vqfdb/agent.c $(foreach f,rpc_do rpc fill,\
	     tools/scenario/$(f).c))
$(AGENT_BIN): $(AGENT_OBJ) $(USER_LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -static -o $@ $^

# And here, to be tested.
$(B)/tests/test_agent: $(B)/tests/agent
$(B)/tests/agent: $(AGENT_OBJ) $(USER_LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^

$(LINUX_EXAMPLE_BIN): $(B)/linux/%: lib/examples/%.c lib/examples/example.h $(USER_LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(filter-out -MMD -MP,$(COMPILE)) $(INCLUDES) -static -o $@ $< $(USER_LIB)

# Tests of the driver there, with the harness of all tests.
$(LINUX_TEST_BIN): $(B)/linux/%: $(O)/tests/linux/%.o $(HARNESS_OBJ) $(USER_LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -static -o $@ $< $(HARNESS_OBJ) $(USER_LIB)

.PHONY: linux-programs linux-tests
linux-programs: $(LINUX_BIN) $(LINUX_EXAMPLE_BIN) $(AGENT_BIN)
linux-tests: $(LINUX_TEST_BIN)

-include $(wildcard $(ALL_OBJ:.o=.d) $(STAGE_OBJ:.o=.d))
include lib/verbs/verbs.mk

# Built in as bytes, which the compiler's list of includes does not tell, nor the
# second optimisation the names of.
$(O)/emu/sim/timing.o: $(wildcard emu/sim/profiles/*.profile)
$(O)/emu/sim/timing.o: LTO_CFLAGS :=
# Who links the library must not compile it again, with his own warnings.
$(LIB_OBJ): LTO_CFLAGS :=

# --- generated files: committed, and fresh

DEFS := $(wildcard kernel-ref/include/faultline/*.def) emu/trace/events.def \
	emu/sim/timing.def

build/gen: $(GEN_SRC) $(wildcard tools/gen/*.h) tools/streams.h $(DEFS) Makefile
	@mkdir -p build
	$(call say,CC)
	$(Q)$(CC) -std=gnu11 -O1 -g $(WARN) $(DEFINES) $(INCLUDES) -o $@ $(GEN_SRC)

# The pictures of the book, from a run; look at them after.
pictures: $(FAULTLINE)
	$(Q)tests/cmd/pictures.sh --write

# How one WRITE that faults goes through the files: measured, in a program that says which
# function begins. WAY=FILE.fl: of another scenario; LIST=yes: each visit of a file.
.PHONY: walk-of-a-write
WAY ?= book/pictures/one-write.fl
walk-of-a-write:
	+@$(MAKE) --no-print-directory -s B=build/way SAN=plain LTO=no \
		CFLAGS='-O0 -gdwarf-4 -finstrument-functions' build/way/faultline
	$(Q)$(CC) -std=gnu11 -O1 -g $(WARN) $(DEFINES) -fPIC -shared -o build/way/hooks.so \
		tools/way/hooks.c
	@tools/way/measure build/way/faultline $(CURDIR)/build/way/hooks.so $(WAY) build/way/out \
		$(if $(LIST),--list)

# A stepping: its sources, and a generator that was compiled with them. Included, so
# that it is there before anything is compiled.
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

# One HTML page and a PDF in build/book; what the book says is checked first.
.PHONY: book book-students hello
book book-students:
	@tools/doctor --install book
	@tools/doctor --have asciidoctor asciidoctor-pdf dot iverilog
	+@$(MAKE) --no-print-directory $(FAULTLINE)
	@tools/book/check
	@tools/book/make html pdf $(if $(filter book-students,$@),--students)

generate: build/gen
	build/gen .

generated-fresh: build/gen
	tests/cmd/generated.sh

# --- tests

# What is for "make test-all" alone: it takes longer, or more than compilers.
LONG_CMD := $(patsubst %,tests/cmd/%.sh,add_system bench board book check_mutants complaints empty equal \
	     examples faults fetch_headers fuzz harness lab_handout lab_order lab_walls labs \
	     models overlays pcap reference reproduce rtl rtl_benches rtl_proofs seeds shim_mutants \
	     stepping verbs verilog vivado vm vqfdb vqfdb_end waves way)
SHORT_CMD := $(filter-out tests/cmd/generated.sh $(LONG_CMD),$(wildcard tests/cmd/*.sh))
SHORT_TESTS := make:generated-fresh make:check-style $(call unit,asan,$(UNIT_SRC)) \
	 $(SHORT_CMD) $(wildcard tests/scenario/*.fl)
# The guests' kernel and programs come early: others then find them.
ALL_TESTS := make:generated-fresh make:check-style make:guest,GUEST_MORE=linux-tests \
	 make:check-warnings make:portable make:aarch64 make:library-alone \
	 make:firmware-r5 make:modules \
	 make:kernel-check,PART=build make:kernel-check,PART=style \
	 make:bench-counts \
	 make:vqfdb-faults,SHORT=1 \
	 $(call unit,plain,$(UNIT_SRC)) $(call unit,asan,$(UNIT_SRC)) \
	 $(call unit,tsan,$(TSAN_SRC)) $(call unit,posix,$(POSIX_SRC)) \
	 $(call unit,page16,$(PAGE16_SRC)) $(call unit,page64,$(PAGE64_SRC)) \
	 make:vqfdb-equal,SHORT=1 \
	 make:rtl-lint make:rtl-random \
	 $(LONG_CMD) $(SHORT_CMD) $(wildcard tests/scenario/*.fl)

# TESTED=yes: "make test" has just run here, as in CI. What it ran as it would run here is
# left out; plans.sh and scenarios in lockstep are not, which FAULTLINE_CHECKS=all is for.
TESTED_TESTS := $(if $(TESTED),$(filter-out tests/cmd/plans.sh %.fl,$(SHORT_TESTS)))

test:
	@tools/doctor --install test
	@MAKE="$(MAKE_COMMAND)" CC="$(CC)" tests/run --jobs $(JOBS) \
		--build main --build asan $(SHORT_TESTS)

# What is short comes last, so that no long test ends alone.
test-all:
	@tools/doctor --install test-all
	@MAKE="$(MAKE_COMMAND)" CC="$(CC)" tests/run --events --jobs $(JOBS) \
		$(if $(TESTED),--tested) --build plain --build asan --build tsan \
		--build posix --build page16 --build page64 \
		$(filter-out $(TESTED_TESTS) %.fl,$(ALL_TESTS)) $(filter %.fl,$(ALL_TESTS))

# Mistakes that the emulator's Linux API must see, and the checks after each event, which
# look at what has changed or at everything; NAMES="a b": only these.
.PHONY: shim-mutants check-mutants
MUTANT_COMPILE = $(filter-out $(LTO_CFLAGS) -MMD -MP,$(COMPILE)) -DFL_EMULATOR \
		 -Iemu/host/shim/include $(INCLUDES) $(URCU_CFLAGS)
shim-mutants: $(filter $(B)/tests/test_driver_%,$(UNIT_BIN)) $(ARCHIVES)
	@B='$(B)' O='$(O)' MUTANT_LINK='$(LINK)' MUTANT_LIBS='$(LIBS)' \
	MUTANT_COMPILE='$(MUTANT_COMPILE)' \
	tests/mutants/run --out $(B)/mutants/driver --list driver --jobs $(JOBS) $(NAMES)

check-mutants: $(FAULTLINE)
	@B='$(B)' O='$(O)' MUTANT_LINK='$(LINK) $(LINK_FAST)' MUTANT_LIBS='$(LIBS)' \
	MUTANT_COMPILE='$(MUTANT_COMPILE)' \
	MUTANT_MAIN='$(MAIN_OBJ)' \
	tests/mutants/run --out $(B)/mutants/checks --list checks --jobs $(JOBS) $(NAMES)

# The environment fails: each of the first MOST calls from each place, and signals at them.
# "make test-all" has a part of it. JOBS_OF="run;send, UDP": only what has this in its name.
.PHONY: faults fault-programs
MOST ?= 10
FAULT_JOBS = $(B)/faults/jobs $(if $(JOBS_OF),--only "$(JOBS_OF)")
FAULT_WHAT = $(FAULTLINE) $(FAULT_SO) $(B)/faults/pair $(B)/faults/guests \
	     $(B)/labs/driver/grade labs/driver $(B)/faults/subject
# A work of a lab is among them, which passes its tests: this tree's.
$(B)/faults/subject: $(call obj,tools/grade/subject.c labs/driver/subject.c) $(ARCHIVES)
	$(call say,LD)
	$(Q)$(LINK) $(LAB_ALONE) -o $@ $(filter %.o,$^) $(LINK_LIBS)

fault-programs: $(FAULTLINE) $(FAULT_SO) $(FAULT_BIN) $(B)/faults/subject $(B)/labs/driver/grade

faults: fault-programs
	$(FAULT_JOBS) --most $(MOST) $(FAULT_WHAT)
	$(FAULT_JOBS) --signals --most 2 $(FAULT_WHAT)

# --- random tests: fuzz targets, and seeds that nobody has tried
#
#	FUZZ_SECONDS=60	CPU time of each target; FUZZ="scenario frame": these only
#	FUZZ_RUNS=5000	inputs of each target, in its place: the same each time
#	SEEDS_MINUTES=10	no value: until Ctrl-C; SEEDS="test_swarm asan lockstep": this kind

.PHONY: fuzz fuzz-programs fuzz-planted seeds
# Each is one file and what all share; what looks for inputs has libFuzzer for replay.o and
# mutate.o.
FUZZ_BIN := $(patsubst tests/fuzz/fuzz_%.c,$(B)/fuzz/%,$(filter tests/fuzz/fuzz_%.c,$(FUZZ_SRC)))
FUZZ_MAIN ?= $(call obj,tests/fuzz/replay.c tests/fuzz/mutate.c)
FUZZ_SHARED := $(call obj,tests/fuzz/fuzz.c tests/fuzz/boards.c)
$(B)/fuzz/grader: $(call obj,$(foreach f,rubric record export judge talk,tools/grade/$(f).c))
$(FUZZ_BIN): $(B)/fuzz/%: $(O)/tests/fuzz/fuzz_%.o $(FUZZ_SHARED) $(filter %.o,$(FUZZ_MAIN)) $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(filter -%,$(FUZZ_MAIN)) $(LINK_LIBS)

fuzz-programs: $(FAULTLINE) $(FUZZ_BIN)

# With libFuzzer, which clang alone has.
FUZZ_MAKE = $(MAKE) --no-print-directory B=build/fuzz CC=clang SAN=asan LTO=no \
	    CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' FUZZ_MAIN=-fsanitize=fuzzer
fuzz:
	@tools/doctor --have clang
	+@$(FUZZ_MAKE) $(if $(FUZZ),build/fuzz/faultline $(FUZZ:%=build/fuzz/fuzz/%),fuzz-programs)
	@tests/fuzz/run $(if $(FUZZ_RUNS),--runs $(FUZZ_RUNS),--seconds $(or $(FUZZ_SECONDS),60)) $(FUZZ)

# A mistake in each target's subject, which the target must find; NAMES="scenario frame": these.
fuzz-planted: fuzz-programs
	@B='$(B)' O='$(O)' PLANT_COMPILE='$(filter-out -MMD -MP,$(COMPILE)) $(INCLUDES) $(URCU_CFLAGS)' \
	PLANT_LINK='$(LINK)' PLANT_LIBS='$(LINK_LIBS)' \
	PLANT_SHARED='$(FUZZ_SHARED) $(FUZZ_MAIN)' tests/fuzz/plant $(NAMES)

seeds:
	+@$(MAKE) --no-print-directory test-programs
	+@$(MAKE) --no-print-directory SAN=asan test-programs
	+@$(MAKE) --no-print-directory SAN=tsan test-programs
	@tests/seeds --new $(addprefix --minutes ,$(SEEDS_MINUTES)) $(if $(SEEDS),'$(SEEDS)')

models:
	@tools/models

check-style:
	@tests/check-style

# What gcc finds depends on how it optimises, what clang finds does not.
check-warnings:
	@tools/doctor --have gcc clang
	+@$(MAKE) --no-print-directory B=build/warn-gcc CC=gcc LTO=no WERROR=-Werror objects
	+@$(MAKE) --no-print-directory B=build/warn-clang CC=clang LTO=no CFLAGS=-O0 \
		WERROR=-Werror objects

# The system layer elsewhere: strictly POSIX, with both compilers, and on arm64.
ARM64 = $(MAKE) --no-print-directory B=build/arm64 CC=aarch64-linux-gnu-gcc \
	URCU_CFLAGS= WERROR=-Werror SAN=plain
POSIX = $(MAKE) --no-print-directory OS=posix WERROR=-Werror SAN=plain
portable:
	@tools/doctor --have gcc clang aarch64-linux-gnu-gcc
	+@$(POSIX) B=build/posix-gcc CC=gcc os-objects
	+@$(POSIX) B=build/posix-clang CC=clang os-objects
	+@$(ARM64) OS=linux os-objects
	+@$(ARM64) OS=posix os-objects

.PHONY: os-objects
os-objects: $(OS_OBJ)

# A foreign machine: programs for arm64, under qemu-user, with pages of 4, 16 and
# 64 KB. Its liburcu is unpacked under build/, and linked in, as is libc.
AARCH64_ROOT := build/aarch64/root
AARCH64_TESTS := test_os test_host_mm test_host_import test_host_attach \
	       test_host_reclaim test_smmu_walk \
	       test_wire
CROSS = $(MAKE) --no-print-directory CC=aarch64-linux-gnu-gcc SAN=plain LTO=no CFLAGS=-O1 \
	URCU_CFLAGS=-I$(CURDIR)/$(AARCH64_ROOT)/usr/include/aarch64-linux-gnu \
	URCU_LIBS="-static -L$(CURDIR)/$(AARCH64_ROOT)/usr/lib/aarch64-linux-gnu \
	-lurcu-qsbr -lurcu-common"
aarch64:
	@tools/doctor --have aarch64-linux-gnu-gcc qemu-aarch64
	@tools/arm64-root $(AARCH64_ROOT)
	+@$(CROSS) OS=linux PAGE=65536 B=build/aarch64/page64 \
		build/aarch64/page64/faultline \
		$(AARCH64_TESTS:%=build/aarch64/page64/tests/%)
	+@$(CROSS) OS=linux PAGE=4096 CFLAGS=-O0 B=build/aarch64/page4 \
		build/aarch64/page4/faultline
	+@$(CROSS) OS=posix PAGE=16384 B=build/aarch64/posix-page16 \
		build/aarch64/posix-page16/faultline \
		$(AARCH64_TESTS:%=build/aarch64/posix-page16/tests/%)
	@tests/aarch64 $(AARCH64_TESTS)

# A program that runs on a real card, or attaches to a board elsewhere, links the
# library and nothing of the emulator.
library-alone: $(USER_LIB)
	$(Q)echo 'int main(void) { return 0; }' | $(LINK) -o $(B)/library-alone \
		-x c - -x none -Wl,--whole-archive $(USER_LIB) \
		-Wl,--no-whole-archive
	@echo "libfaultline.a stands alone: $(words $(LIB_OBJ)) objects"

# The firmware runs without an operating system: nothing but what a compiler
# itself may call is left undefined.
R5 := build/r5
R5_CC = clang --target=armv7r-none-eabi -mcpu=cortex-r5 -ffreestanding \
	-nostdlib -std=gnu11 -O2 -Wall -Wextra -Werror -I. -Iemu \
	-Ikernel-ref/include
R5_OBJ := $(patsubst emu/nic/%.c,$(R5)/%.o,$(FW_SRC))

$(R5)/%.o: emu/nic/%.c $(wildcard emu/nic/*.h emu/trace/*.h \
	   kernel-ref/include/faultline/*.h) $(DEFS) Makefile
	@mkdir -p $(@D)
	$(call say,R5)
	$(Q)$(R5_CC) -c -o $@ $<

firmware-r5:
	@tools/doctor --have clang llvm-nm
	$(if $(R5_OBJ),,$(error there is no emu/nic/fw*.c))
	+@$(MAKE) --no-print-directory $(R5_OBJ)
	@llvm-nm --defined-only --format=just-symbols $(R5_OBJ) | \
		grep -v ':$$' | sort -u > $(R5)/defined
	@llvm-nm --undefined-only --format=just-symbols $(R5_OBJ) | \
		grep -v -e ':$$' -e '^$$' | sort -u > $(R5)/undefined
	@comm -13 $(R5)/defined $(R5)/undefined | \
		grep -v -x -e 'mem\(cpy\|set\|move\|cmp\)' -e '__aeabi_.*' \
		> $(R5)/missing; \
	if [ -s $(R5)/missing ]; then \
		echo "the firmware calls what the R5 does not have:"; \
		cat $(R5)/missing; exit 1; \
	fi; \
	echo "firmware for the Cortex-R5: $(words $(R5_OBJ)) objects"

# What a real board needs beside: overlays, the hook in Linux's arm-smmu; compiled, and
# for 6.1 run too. Fetches 160 MB of Linux the first time, so not a part of make test-all.
board-patch:
	@tests/board-patch $(KERNEL)
	@$(if $(filter-out 6.1,$(KERNEL)),:,tests/board-boot)

modules:
	@tools/doctor --have aarch64-linux-gnu-gcc
	+$(MAKE) -C kernel-ref modules

# What a kernel maintainer's tools say about the driver, for both kernels; and that
# each of them would have said something.
kernel-check:
	+@$(MAKE) --no-print-directory -C kernel-ref check

kernel-check-self:
	+@$(MAKE) --no-print-directory -C kernel-ref check-self

# A kernel with lockdep, KASAN and the like, and the module for it; takes minutes.
kernel-debug:
	+@$(MAKE) --no-print-directory -C kernel-ref debug

kernel-debug-self:
	+@$(MAKE) --no-print-directory -C kernel-ref debug-self

# --- the virtual QFDB: guests of QEMU with the module, on boards of the emulator
#
#	NODES=1|2	guests; KERNEL=6.1|6.12: Debian's, debug: make kernel-debug;
#			FILE=...: what to send
#	VQFDB=...	more options of tools/vqfdb/run

NODES ?= 1
KERNEL ?= 6.1
ifneq ($(filter $(KERNEL),6.1 6.12 debug),$(KERNEL))
$(error KERNEL=$(KERNEL): there are 6.1, 6.12 and debug)
endif
JOB ?= tests/linux/send.job
VQFDB_OUT ?= build/vqfdb/out
GUEST_B := build/arm64-guest
GUEST_RAMFS := build/vqfdb/initramfs-$(KERNEL)
# What the checks of the debug kernel cost, in time and in memory.
GUEST_SLOW := $(if $(filter debug,$(KERNEL)),--slow 10 --memory 512)
GUEST_PROGRAMS := $(patsubst $(B)/%,$(GUEST_B)/%,$(LINUX_BIN) $(LINUX_EXAMPLE_BIN) \
		  $(AGENT_BIN))

# A 32-bit program there, from a compiler and a linker that have no libc for it.
NARROW := $(GUEST_B)/linux/narrow
$(NARROW): tests/linux/narrow.c $(wildcard kernel-ref/include/faultline/*.h) Makefile
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)clang --target=arm-linux-gnueabi -march=armv7-a -O2 -Wall -Wextra \
		-Werror -ffreestanding -fno-pic -isystem \
		/usr/aarch64-linux-gnu/include -Ikernel-ref/include -c -o $@.o $<
	$(Q)aarch64-linux-gnu-ld -m armelf_linux_eabi -static -o $@ $@.o

# Two makes must not write into build/vqfdb and $(GUEST_B) at the same time.
GUEST_LOCKED := $(if $(shell command -v flock),flock build/vqfdb/lock)

.PHONY: guest guest-alone vqfdb vqfdb-faults
guest:
	@tools/doctor --install vqfdb
	@tools/doctor --have aarch64-linux-gnu-gcc clang qemu-system-aarch64 cpio
	+@$(MAKE) --no-print-directory $(FAULTLINE)
	@mkdir -p build/vqfdb
	+@$(GUEST_LOCKED) $(MAKE) --no-print-directory guest-alone

guest-alone:
	@kernel-ref/fetch-headers build/linux $(KERNEL) guest \
		>build/vqfdb/root-$(KERNEL).new || \
		{ echo "SKIP: the kernel of a guest is not here (see above)"; exit 77; }
	@mv build/vqfdb/root-$(KERNEL).new build/vqfdb/root-$(KERNEL)
	+@$(MAKE) --no-print-directory modules
	+@$(ARM64) LTO=no B=$(GUEST_B) linux-programs $(GUEST_MORE)
	+@$(MAKE) --no-print-directory $(NARROW)
	@tools/vqfdb/initramfs $(GUEST_RAMFS) "$$(cat build/vqfdb/root-$(KERNEL))" \
		"$$(cat build/linux/image-$(KERNEL))" \
		build/linux/module-$(KERNEL)/faultline.ko $(GUEST_PROGRAMS) $(NARROW)

vqfdb: guest
	tools/vqfdb/run --image "$$(cat build/linux/image-$(KERNEL))" $(GUEST_SLOW) \
		--initramfs $(GUEST_RAMFS) --nodes $(NODES) --out $(VQFDB_OUT) \
		$(VQFDB) $(JOB) $(if $(FILE),"$(FILE)")
	@grep -h -e '^sent' -e '^received' $(VQFDB_OUT)/console.*

# Page faults of that Linux: what its tests say, as one report. SHORT=1: without what
# takes longest (make test-all has that), LONG=1: processes are killed 100 times each;
# FAULTS="test_fork ...": these; VQFDB="--only NAME-PART", or what tools/vqfdb/run knows.
vqfdb-faults:
	+@$(MAKE) --no-print-directory guest GUEST_MORE=linux-tests
	tests/linux/run --kernel $(KERNEL) $(GUEST_SLOW) $(if $(SHORT),--short) $(if $(LONG),--long) \
		$(VQFDB) -- $(FAULTS)

# The same scenarios on the small kernel and there: is what the driver does the same?
# SHORT=1: some of them, SCENARIOS="write_cold ...": these.
.PHONY: vqfdb-equal
vqfdb-equal:
	@tests/linux/equal --names $(SCENARIOS)
	+@$(MAKE) --no-print-directory guest
	KERNEL=$(KERNEL) tests/linux/equal $(if $(SHORT),--short) $(SCENARIOS)

# --- the engine in Verilog, as a plug-in of the emulator (--engine rtl, both)
#
# The model is made for the largest sizes that there are; straps say how much of
# it a board has.
#
#	SIM=...	who makes the model: verilator, or cxxrtl, that is yosys: a second opinion

RTL := $(if $(STEPPED),$(B),build)/rtl
RTL_GEN := $(if $(STEPPED),$(STEPPED)/)rtl/gen
SIM ?= verilator
RTL_SO_verilator := $(RTL)/librtl.so
RTL_SO_cxxrtl := $(RTL)/librtl-cxxrtl.so
RTL_SO = $(or $(RTL_SO_$(SIM)),$(error SIM=$(SIM) is not verilator or cxxrtl))
RTL_HAVE_verilator := verilator g++
RTL_HAVE_cxxrtl := yosys yosys-config clang++ g++
RTL_V := $(wildcard rtl/hdl/*.v)
RTL_ZU := $(wildcard rtl/zu/*.v)
RTL_VH := $(wildcard rtl/hdl/*.vh $(RTL_GEN)/*.vh)
RTL_C := $(wildcard rtl/cosim/rtl_*.c) emu/nic/wire.c
RTL_OPT ?= -O2
RTL_FLAGS := -fPIC -fvisibility=hidden
VERILATE = verilator --cc -O3 --x-assign fast --x-initial fast --noassert \
	   --default-language 1364-2005 -GBLOCK_LOG2=16 --top-module fl_engine \
	   -Irtl/hdl -I$(RTL_GEN) --Mdir $(RTL)/model -CFLAGS "$(RTL_FLAGS)"

.PHONY: rtl rtl-model rtl-random rtl-speed rtl-second rtl-lint rtl-bench rtl-prove rtl-cosim waves
.PHONY: rtl-long rtl-synth rtl-synth-quick rtl-park rtl-bugs
# Two at a time, once that is made which two of them would make. What takes long is rtl-long.
RTL_PARTS := rtl-second rtl-prove rtl-cosim rtl-synth-quick rtl-random rtl-bench rtl-lint
rtl:
	+@$(MAKE) --no-print-directory -j2 $(FAULTLINE) rtl-model $(B)/rtl-random
	+@$(MAKE) --no-print-directory -j2 -Otarget $(RTL_PARTS)

rtl-long: rtl-synth rtl-park rtl-bugs

# Every size that there is a reason for: the usual one, the largest, the smallest.
RTL_SIZES := "" "-GBLOCK_LOG2=16" "-GNTX=4 -GNRXC=1 -GBLOCK_LOG2=12 -GNODES=1"
rtl-lint:
	@tools/doctor --have verilator iverilog
	@for size in $(RTL_SIZES); do \
		verilator --lint-only -Wall --default-language 1364-2005 \
			-Irtl/hdl -I$(RTL_GEN) --top-module fl_engine $$size \
			rtl/hdl/fl_engine.v || exit 1; done
	@for port in 0 1; do \
		verilator --lint-only -Wall --default-language 1364-2005 -Irtl/zu \
			-Irtl/hdl -I$(RTL_GEN) --top-module fl_zu_top -GPORT=$$port -GNRXC=8 \
			rtl/zu/fl_zu_top.v || exit 1; done
	@verilator --lint-only -Wall --default-language 1364-2005 -Irtl/zu -Irtl/hdl \
		--top-module fl_zu_net rtl/zu/fl_zu_net.v
	@iverilog -g2005 -Wall -Irtl/hdl -I$(RTL_GEN) -s fl_zu_top -s fl_zu_net -t null \
		$(RTL_V) $(RTL_ZU)
	@echo "lint: $(words $(RTL_V) $(RTL_ZU)) files, nothing found"

rtl-bench:
	@rtl/tb/run

# The waves of a block that faults, for GTKWave.
WAVES ?= build/waves
waves:
	@rtl/tb/waves "$(WAVES)"

rtl-cosim: $(FAULTLINE)
	@tests/cmd/rtl.sh

rtl-prove:
	@rtl/formal/prove

# Planted bugs: which evidence finds which (build/bugs keeps what was found).
rtl-bugs:
	@rtl/formal/bugs

# Cycles per packet with faults, parked and blocking: a bench, but too long for Icarus.
$(RTL)/park/Vpark: rtl/tb/park.v rtl/tb/self.vh $(wildcard rtl/tb/a*.v) rtl/tb/zu_card.v \
		   $(RTL_V) $(RTL_ZU) $(RTL_VH)
	@mkdir -p $(@D)
	$(call say,VERILATE)
	$(Q)verilator --binary --timing -O3 -Wno-lint -Wno-style --x-assign fast \
		--x-initial fast --noassert --default-language 1364-2005 -CFLAGS -O1 \
		-Irtl/tb -Irtl/hdl -I$(RTL_GEN) -Irtl/zu --top-module park --Mdir $(@D) \
		$< >$(@D)/log 2>&1 || { tail $(@D)/log; exit 1; }
rtl-park:
	@tools/doctor --have verilator g++
	+@$(MAKE) --no-print-directory $(RTL)/park/Vpark
	@$(RTL)/park/Vpark | sed '/^- /d' | tee $(RTL)/park/said
	@grep -q '^PASS' $(RTL)/park/said

# What the card takes on a chip, and a small one whose netlist has to work.
rtl-synth-quick:
	@rtl/zu/synth --quick

rtl-synth:
	@rtl/zu/synth
	@rtl/zu/synth --smoke

rtl-model:
	@tools/doctor --have $(RTL_HAVE_$(SIM)) $(if $(RTL_SO),)
	+@$(MAKE) --no-print-directory $(RTL_SO)

$(RTL)/model/Vfl_engine__ALL.a: $(RTL_V) $(RTL_VH) Makefile
	@mkdir -p $(@D)
	$(call say,VERILATE)
	$(Q)$(VERILATE) rtl/hdl/fl_engine.v
	$(Q)$(MAKE) --no-print-directory -s -C $(@D) -f Vfl_engine.mk \
		OPT_FAST=$(RTL_OPT) OPT_SLOW=-O0 OPT_GLOBAL=-O1 \
		Vfl_engine__ALL.a verilated.o verilated_threads.o

# Verilog against C at random: make rtl-random TRANSACTIONS=1000000 SEED=7
TRANSACTIONS ?= 10000
SEED ?= 1
LONGEST ?= 65536
rtl-random: rtl-model
	+@$(MAKE) --no-print-directory $(B)/rtl-random
	FAULTLINE_RTL=$(RTL_SO) $(B)/rtl-random --transactions $(TRANSACTIONS) --seed $(SEED) \
		--longest $(LONGEST)

# The second simulator, which takes a minute to build: other numbers, and scenarios.
rtl-second: $(FAULTLINE)
	+@$(MAKE) --no-print-directory rtl-random SIM=cxxrtl TRANSACTIONS=2000 SEED=2
	@for s in write_cold_both read_cold_remote stall_destination drop_refused; do \
		FAULTLINE_RTL=$(RTL_SO_cxxrtl) $(FAULTLINE) run --engine both \
			tests/scenario/$$s.fl || exit 1; done

# How fast: the model alone, and in the emulator.
rtl-speed: rtl-model
	+@$(MAKE) --no-print-directory $(B)/rtl-random $(B)/rtl-speed
	FAULTLINE_RTL=$(RTL_SO) $(B)/rtl-random --alone --transactions 1000 --seed $(SEED)
	FAULTLINE_RTL=$(RTL_SO) $(B)/rtl-speed

RTL_BENCH_OBJ := $(call obj,$(foreach f,bounce measure stage table,tests/bench/bench_$(f).c))
$(B)/rtl-speed: $(RTL_BENCH_OBJ)
$(B)/rtl-random: rtl/cosim/random_reached.h
$(B)/rtl-random $(B)/rtl-speed: $(B)/rtl-%: rtl/cosim/%.c $(ARCHIVES)
	$(call say,LD)
	$(Q)$(filter-out -MMD -MP,$(COMPILE)) $(INCLUDES) -fno-lto -o $@ $< \
		$(filter %.o,$^) $(LINK_LIBS)

# The codes of the trace port, for C.
$(RTL)/fl_trace.h: rtl/hdl/fl_trace.vh
	@mkdir -p $(@D)
	$(Q)sed 's/^`define \(FL_TRC_[A-Z_]*\) *[0-9]*.d\([0-9]*\)$$/#define \1 \2/p;d' \
		$< > $@

# What both plug-ins share: the engine's calls on a model's pins.
RTL_O := $(patsubst %.c,$(RTL)/%.o,$(notdir $(RTL_C)))
RTL_CXX = g++ -Wall -Wextra $(RTL_FLAGS) -Irtl/cosim -I$(@D)
$(RTL_O): $(RTL_C) $(RTL)/fl_trace.h $(wildcard rtl/cosim/*.h) rtl/cosim/pins.def \
	  emu/nic/engine.h emu/nic/wire.h emu/nic/wire_field.h $(DEFS)
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARN) $(RTL_FLAGS) $(INCLUDES) -I$(RTL) \
		-Irtl/cosim -c -o $@ $(filter %/$(basename $(@F)).c,$(RTL_C))

$(RTL)/model/shim.o: rtl/cosim/shim.cpp rtl/cosim/model.h rtl/cosim/pins.def \
		     $(RTL)/model/Vfl_engine__ALL.a
	$(Q)$(RTL_CXX) -g -O2 -isystem "$$(verilator --getenv VERILATOR_ROOT)/include" \
		-c -o $@ $<

$(RTL)/librtl.so: $(RTL)/model/shim.o $(RTL_O) $(RTL)/model/Vfl_engine__ALL.a
	$(call say,RTL)
	$(Q)g++ -shared -Wl,-z,defs -o $@ $^ $(RTL)/model/verilated.o \
		$(RTL)/model/verilated_threads.o -pthread

# The same from yosys: one C++ file. What opt_merge and -purge leave out is a quarter of
# its cells and most of its wires; g++ takes five minutes for the rest, clang++ 20 s.
# Where its headers are has changed with its version.
CXXRTL := $(RTL)/cxxrtl
CXXRTL_H = $$(yosys-config --datdir)/include
CXXRTL_CXX = $(patsubst g++,clang++,$(RTL_CXX)) -I. -isystem "$(CXXRTL_H)" \
	     -isystem "$(CXXRTL_H)/backends/cxxrtl/runtime"
$(CXXRTL)/fl_engine.cc: $(RTL_V) $(RTL_VH) Makefile
	@mkdir -p $(@D)
	$(call say,CXXRTL)
	$(Q)yosys -q -w 'Replacing memory' \
		-p 'read_verilog -defer -Irtl/hdl -I$(RTL_GEN) $(RTL_V)' \
		-p 'hierarchy -top fl_engine -chparam BLOCK_LOG2 16' \
		-p 'proc; flatten; opt_clean -purge; opt_expr; opt_muxtree' \
		-p 'opt_merge; opt_clean -purge' \
		-p 'write_cxxrtl -header -g0 $@' || { rm -f $@; exit 1; }

# IN(s_axil_bready, 1) becomes #define PIN_s_axil_bready p_s__axil__bready
$(CXXRTL)/cxxrtl_pins.h: rtl/cosim/pins.def
	@mkdir -p $(@D)
	$(Q)sed -n -e '/^[A-Z_]*(/!d; s/^[^(]*(\(.*\),.*/\1/; h; s/_/__/g; x; G' \
		-e 's/\(.*\)\n\(.*\)/#define PIN_\1 p_\2/p' $< >$@

$(CXXRTL)/fl_engine.o: $(CXXRTL)/fl_engine.cc
	$(Q)$(CXXRTL_CXX) -w $(RTL_OPT) -c -o $@ $<

$(CXXRTL)/shim.o: rtl/cosim/shim_cxxrtl.cpp rtl/cosim/model.h $(CXXRTL)/cxxrtl_pins.h \
		  $(CXXRTL)/fl_engine.cc
	$(Q)$(CXXRTL_CXX) -O2 -c -o $@ $<

$(RTL)/librtl-cxxrtl.so: $(CXXRTL)/shim.o $(CXXRTL)/fl_engine.o $(RTL_O)
	$(call say,RTL)
	$(Q)g++ -shared -Wl,-z,defs -o $@ $^

# --- other steppings of the device
#
#	STEPPINGS="1 2"	which; SHORT=1: scenarios only
#	LABS="walk bank"	stepping-labs: these only
#
# Benches, proofs and guests take what is committed: they are of the usual one alone.

NOT_STEPPED := test test-all pictures book book-students hello generate generated-fresh modules kernel-check \
	       kernel-check-self kernel-debug kernel-debug-self guest vqfdb vqfdb-faults \
	       vqfdb-equal aarch64 portable firmware-r5 board-patch rtl rtl-bench rtl-cosim \
	       rtl-prove rtl-synth rtl-synth-quick rtl-long rtl-park rtl-bugs waves \
	       fuzz fuzz-planted seeds bench-counts
ifneq ($(if $(STEPPED),$(filter $(NOT_STEPPED),$(MAKECMDGOALS))),)
$(error make $(filter $(NOT_STEPPED),$(MAKECMDGOALS)) is for the device as it is \
	committed, without STEPPING)
endif

# A lab's handout is a part of this tree: what the lab needs. The generator is in it: who
# reads how a *.def becomes a header can do it.
HANDED := $(if $(wildcard tests/run),,$(patsubst labs/%/lab.conf,%,$(wildcard labs/*/lab.conf)))
NOT_HANDED := $(filter-out generate guest $(if $(wildcard rtl/hdl),rtl-% waves),$(NOT_STEPPED)) \
	      check-style check-warnings stepping-test stepping-labs library-alone \
	      bench bench-counts bench-parts lab-check lab-mutants lab-batch handout gradescope starter walk-of-a-write
ifneq ($(if $(HANDED),$(filter $(NOT_HANDED),$(MAKECMDGOALS))),)
$(error make $(filter $(NOT_HANDED),$(MAKECMDGOALS)) is not in the handout of a lab; make \
	help says what is)
endif

# What a program expects in bytes of the usual device: "variants: not-stepped".
STEPPING_SRC := $(if $(SHORT),,$(filter-out $(call variant,not-stepped),$(UNIT_SRC)))
STEPPINGS ?= 7
.PHONY: stepping-test stepping-labs stepped
stepping-test:
	+@bad=0; for s in $(STEPPINGS); do \
		$(MAKE) --no-print-directory -s STEPPING=$$s CFLAGS='-O0' \
			B=build/step-$$s/test stepped || bad=1; \
	done; exit $$bad

# Handouts of the labs, and the autograder's, of each stepping.
stepping-labs:
	+@bad=0; for s in $(STEPPINGS); do \
		$(MAKE) --no-print-directory -s STEPPING=$$s build/step-$$s/device/done.mk && \
		STEPPED=build/step-$$s/device LABS='$(LABS)' tests/cmd/lab_handout.sh || bad=1; \
	done; exit $$bad

stepped: $(FAULTLINE) $(patsubst tests/unit/%.c,$(B)/tests/%,$(STEPPING_SRC))
	@tests/stepped $(STEPPING) $(FAULTLINE) $(filter $(B)/tests/%,$^)

# --- labs

include labs/labs.mk

# --- running it

# The first thing to type: one fault, told.
hello:
	@tools/doctor --install make
	+@$(MAKE) --no-print-directory -j$(JOBS) $(FAULTLINE)
	@tools/hello

# What is missing is installed first, and only then is there a compiler.
demo:
	@tools/doctor --install demo
	+@$(MAKE) --no-print-directory $(FAULTLINE)
	$(FAULTLINE) demo $(if $(FILE),"$(FILE)")

# The table also goes to a file. Nothing here fails because it took long. GROUP="verbs seeds":
# these groups of figures alone.
bench:
	@tools/doctor --install bench
	+@$(MAKE) --no-print-directory bench-programs
	+@if tools/doctor --have header:infiniband/verbs.h >/dev/null; \
	then $(MAKE) --no-print-directory verbs; fi
	+@if tools/doctor --have header:rdma/fabric.h >/dev/null; \
	then $(MAKE) --no-print-directory $(FABRIC_WRITE); fi
	@mkdir -p build/bench
	FAULTLINE=$(FAULTLINE) BENCH_SWARM=$(BENCH_SWARM) $(BENCH_BIN) -o build/bench/bench.txt $(GROUP)

bench-programs: $(BENCH_BIN) $(FAULTLINE) $(BENCH_SWARM)

# Where the instructions of a path go, by part of the tree; FILES=yes: by file.
.PHONY: bench-parts
bench-parts:
	@tools/doctor --have valgrind
	+@$(MAKE) --no-print-directory $(BENCH_BIN)
	@BENCH=$(BENCH_BIN) tests/bench/parts $(if $(FILES),--files) $(or $(PATHS),write8)

# A peer, where libfabric's headers are.
FABRIC_WRITE := $(B)/bench/fabric_write
$(FABRIC_WRITE): tests/bench/peer/fabric_write.c
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARN) $(DEFINES) -o $@ $< -lfabric

# Instructions of the most important paths, beside those on record: fails when one has grown
# by more than 3 %. RECORD=yes: put them on record; PATHS="write8 hit": these alone.
.PHONY: bench-counts
bench-counts:
	@tools/doctor --have valgrind
	+@$(MAKE) --no-print-directory $(BENCH_BIN)
	@$(BENCH_BIN) --counts tests/bench/counts.txt $(if $(RECORD),--record,$(PATHS))
	@$(if $(RECORD),{ echo '# SPDX-License-Identifier: BSD-2-Clause'; \
		BENCH=$(BENCH_BIN) tests/bench/parts write8-long write8 library8; \
		} >tests/bench/parts.txt)
$(O)/tests/bench/bench_counts.o: DEFINES += \
	-DBENCH_FLAGS='"$(strip $(CFLAGS) $(FAST) $(if $(filter yes,$(LTO)),$(LTO_CFLAGS)))"'

doctor:
	@tools/doctor

install-deps:
	@tools/doctor --install all

clean:
	rm -rf build

ifneq ($(HANDED),)
help:
	@echo "make              build/faultline, with your files in it (needs cc, make, liburcu)"
	@echo "make grade LAB=$(HANDED)  what they are worth, and what is wrong first; ONLY=test"
	@echo "make demo         send a file with what you wrote, FILE=... or a built-in one"
	@echo "make doctor       which tools are here, and what they are for"
	@echo "make clean        remove build/"
	@echo "SAN=asan or SAN=tsan: the same with sanitizers"
else
help:
	@echo "make              build/faultline (needs cc, make, liburcu)"
	@echo "make hello        the smallest run: one fault, told; the first thing to type"
	@echo "make demo         send a file, FILE=... or a built-in one"
	@echo "make walk-of-a-write  through which files one WRITE that faults goes, and how often"
	@echo "make test         what a developer runs after each change: some minutes"
	@echo "make test-all     everything that is tested, in all variants: half an hour"
	@echo "make verbs        programs of rdma-core, on boards: faultline with (libibverbs-dev)"
	@echo "make vqfdb        the same on a Linux in QEMU; NODES=2: on two"
	@echo "make vqfdb-faults faults on the real memory of that Linux; SHORT=1, LONG=1"
	@echo "make vqfdb-equal  scenarios there and on the small kernel: the same?"
	@echo "make bench        what things cost (GROUP=verbs: these figures alone)"
	@echo "make bench-counts instructions of paths, beside those on record; RECORD=yes: anew"
	@echo "make bench-parts  in which part of the tree they are; PATHS=write8, FILES=yes"
	@echo "make doctor       which tools are here, and what they are for"
	@echo "make install-deps install what is missing (apt-get)"
	@echo "make generate     headers, Verilog and tables from the *.def"
	@echo "make book         the book: build/book/faultline.html and .pdf"
	@echo "make book-students  the same without the code that the labs ask for"
	@echo "make pictures     the pictures of the book, from a run (Graphviz)"
	@echo "make STEPPING=7   another device of the family, with other numbers; labs too"
	@echo "make stepping-test  tests on other devices; STEPPINGS=\"1 2\", SHORT=1"
	@echo "make stepping-labs  handouts of the labs for other devices; LABS=\"walk bank\""
	@echo "make models       protocols of waiting, checked exhaustively (Spin)"
	@echo "make check-style  the rules of the house"
	@echo "make check-warnings  gcc and clang, warnings are errors"
	@echo "make portable     the system layer as strict POSIX, and on arm64"
	@echo "make aarch64      programs for arm64 under qemu-user, all page sizes"
	@echo "make library-alone  the library needs nothing of the emulator"
	@echo "make rtl-model    the engine in Verilog, for --engine rtl or both"
	@echo "make rtl-random   Verilog against C at random; TRANSACTIONS=, SEED="
	@echo "make rtl-speed    how fast it is; SIM=cxxrtl: these three on another simulator"
	@echo "make waves        the waves of a block that faults, for GTKWave"
	@echo "make rtl          is it right? lint, benches, random, scenarios, proofs, synthesis"
	@echo "make rtl-long     what takes longer: rtl-synth, rtl-park, rtl-bugs"
	@echo "make firmware-r5  the firmware for the Cortex-R5"
	@echo "make modules      the driver as an arm64 Linux module"
	@echo "make board-patch  the hook in Linux's arm-smmu, compiled and run; KERNEL=6.12: compiled"
	@echo "make kernel-check the driver under sparse, checkpatch, Coccinelle"
	@echo "make kernel-check-self  these checks find what they are there for"
	@echo "make kernel-debug a kernel that watches itself, for QEMU (minutes)"
	@echo "make kernel-debug-self  it sees what it is there for (QEMU)"
	@echo "make grade LAB=walk  a lab's work; make starter, handout, gradescope, lab-batch"
	@echo "make lab-check    the grader, graded (minutes; SHORT=1: a sample)"
	@echo "make lab-mutants LAB=walk  changes of the reference that no test sees (minutes)"
	@echo "make fuzz         fuzz targets, a minute each; FUZZ_SECONDS=, FUZZ=target"
	@echo "make fuzz-planted each of them finds a planted mistake"
	@echo "make seeds        random tests with new seeds; SEEDS_MINUTES=, or until Ctrl-C"
	@echo "make clean        remove build/"
	@echo "SAN=asan or SAN=tsan: the same with sanitizers"
	@echo "OS=posix: the same without what only Linux has"
	@echo "PAGE=16384 or 65536: the same with larger pages"
endif
