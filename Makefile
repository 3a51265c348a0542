# SPDX-License-Identifier: BSD-2-Clause
#
# Faultline. "make" builds build/faultline and needs a C compiler, make and liburcu; "make
# help" lists the rest. There is nothing to configure: sources are found by folder, and what
# is built lies under build/.
#
# This file has the variants of a build, the libraries and the program. Everything else
# is made by a room's own NAME.mk; the list of them is below, under "the rooms".
#
# A line "## GROUP, COMMAND, TEXT" with tabs between the three is a line of make help; it
# stands above the rule of that command. tools/help has the groups.
#
## with	SAN=asan, SAN=tsan	sanitizers; each variant has its own objects (usual: SAN=plain)
## with	OS=posix	a system layer (lib/os) without what only Linux has
## with	PAGE=16384	pages of residency of 4096 to 65536 bytes (usual: those of this machine)
## with	STEPPING=7	another device of the family, with other numbers (1 to 999999); labs too
## with	CC=..., CFLAGS=...	the compiler, and how it optimises
## with	V=1	whole command lines are shown
## with	FAULTLINE_INSTALL=no	no package is installed

.DEFAULT_GOAL := all

# A command is declared once, in its room: $(call commands,LISTS,NAMES) makes NAMES phony and
# adds them to COMMANDS and to LISTS, which are none, one or both of
#	STEPPABLE	works on another device too (STEPPING=7)
#	HANDED		is in the handout of a lab, which is a part of this tree
commands = $(eval .PHONY: $(2))$(foreach list,COMMANDS $(1),$(eval $(list) += $(2)))
COMMANDS :=
STEPPABLE :=
HANDED :=
# The lab whose handout this is; the whole tree has tests/run.
HANDOUT := $(if $(wildcard tests/run),,$(patsubst labs/%/lab.conf,%,$(wildcard labs/*/lab.conf)))

$(call commands,STEPPABLE HANDED,all objects demo doctor install-deps clean help)
$(call commands,,hello)

# --- variants

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

# A device stepping has its own single sources and what is generated from them; they are
# found before those of the tree. tools/step/step.mk draws them.
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

# The folder of a variant names what differs from the usual: build/asan, build/posix,
# build/page16-asan.
empty :=
quote := '
VARIANT := $(subst $(empty) ,-,$(strip $(OTHER_STEP) $(OTHER_OS) $(OTHER_PAGE) \
	   $(filter-out plain,$(SAN))))
B := build/$(or $(VARIANT),plain)
O := $(B)/obj
JOBS ?= 2

# --- compiler and linker

ifeq ($(V),)
Q := @
ifeq ($(findstring s,$(firstword -$(MAKEFLAGS))),)
say = @echo "  $(1) $@"
endif
endif

# Without CFLAGS, the models of the hardware are compiled with -O3. A build for tests alone
# (a sanitizer, another system) optimises less, to compile faster.
ifeq ($(origin CFLAGS),undefined)
CFLAGS := $(if $(filter plain,$(SAN)),-O2,-O1) -g
ifeq ($(SAN)$(OTHER_OS)$(OTHER_PAGE),plain)
FAST := -O3
endif
endif
CC_SAYS := $(subst $(quote),,$(shell $(CC) --version 2>/dev/null))
# $(call can,FLAGS[,OTHERS]): FLAGS, if the compiler knows them beside OTHERS; asked once.
can = $(shell tools/asked '$(B)/asked/cc$(subst $(empty) ,,$(1))' '$(CC_SAYS)' \
	'echo "int x;" | $(CC) $(2) $(1) -Werror -x c -c -o /dev/null - 2>/dev/null && echo "$(1)"')
# What was just stored as two fields is not loaded as one vector: such a load waits until all
# stores before it have left the processor.
ifeq ($(origin CFLAGS),file)
CFLAGS += $(call can,-fno-tree-slp-vectorize)
endif
WARN := -Wall -Wextra -Werror=implicit-function-declaration -Werror=return-type $(WERROR)
INCLUDES := $(if $(STEPPED),-I$(STEPPED)/emu -I$(STEPPED)/kernel-ref/include) \
	    -I. -Iemu -Ilib -Itools -Itests -Ikernel-ref/include
# Empty, so that a file that defines it too gets no warning.
DEFINES := -D_GNU_SOURCE=
SAN_plain :=
SAN_asan := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	    -fno-omit-frame-pointer
# gcc from 13 and clang from 15 on put local variables on the heap unasked, to detect their
# use after return. But what a program has on its stack must be there: it can be registered.
ifeq ($(SAN),asan)
SAN_asan += $(call can,--param=asan-use-after-return=0,-fsanitize=address) \
	    $(call can,-fsanitize-address-use-after-return=never,-fsanitize=address)
endif
SAN_tsan := -fsanitize=thread -fno-omit-frame-pointer
# It does not know fences by themselves: gcc says so of each, clang has no such option.
ifeq ($(SAN),tsan)
SAN_tsan += $(call can,-Wno-tsan)
endif

URCU := $(shell pkg-config --cflags --libs liburcu-qsbr 2>/dev/null || \
	echo -lurcu-qsbr -lurcu-common)
URCU_CFLAGS := $(filter-out -l% -L% -Wl%,$(URCU))
URCU_LIBS := $(filter-out $(URCU_CFLAGS),$(URCU))

COMPILE = $(CC) -std=gnu11 $(CFLAGS) $(SAN_$(SAN)) $(WARN) $(DEFINES) \
	-DHOST_PAGE_SHIFT=$(SHIFT_$(PAGE)) -MMD -MP -pthread
LINK = $(CC) $(CFLAGS) $(SAN_$(SAN)) -pthread
# For what is linked again and again: half of the time when LLD does it. A compiler for another
# machine looks for another linker.
ifeq ($(SYSTEM),Linux)
QUICK_LD := $(if $(filter cc gcc% clang%,$(notdir $(firstword $(CC)))),\
	    $(if $(shell command -v ld.lld),-fuse-ld=lld))
endif
# Before 2.34 glibc has shm_open and dlopen in libraries of their own.
LIBS = $(URCU_LIBS) -lm $(if $(filter Linux,$(SYSTEM)),-ldl) $(if $(OTHER_OS),-lrt)

# --- the board, the library, the program: sources by folder

# Of a system layer, the one that OS asks for.
of_os = $(filter-out %/$(filter-out $(OS),linux posix).c,$(1))
EMU_SRC := $(call of_os,$(foreach d,board board/packets smmu nic nic/transport nic/policy fabric \
	     host host/remote host/shim os serve sim trace window,$(wildcard emu/$(d)/*.c)))
# Only a real kernel has these: the module, its trace points, and the way to a card behind a
# window.
LINUX_ONLY := $(patsubst %,kernel-ref/fl_%.c,module pci window note trace)
DRV_SRC := $(filter-out %.mod.c $(LINUX_ONLY),$(wildcard kernel-ref/*.c))
OS_SRC := $(call of_os,$(wildcard lib/os/*.c))
LIB_SRC := $(wildcard lib/*.c lib/attach/*.c) $(OS_SRC)
# A unit test links all of tools/ but the file with main().
MAIN_SRC := $(wildcard tools/faultline/main.c)
TOOL_SRC := $(filter-out $(MAIN_SRC),$(foreach d,confine faultline harness scenario view work,\
	      $(wildcard tools/$(d)/*.c))) $(wildcard rtl/cosim/engine_*.c)
EXAMPLE_SRC := $(wildcard lib/examples/*.c)

obj = $(patsubst %.c,$(O)/%.o,$(1))
EMU_OBJ := $(call obj,$(EMU_SRC))
DRV_OBJ := $(call obj,$(DRV_SRC))
LIB_OBJ := $(call obj,$(LIB_SRC))
OS_OBJ := $(call obj,$(OS_SRC) $(filter emu/os/%,$(EMU_SRC)))
MAIN_OBJ := $(call obj,$(MAIN_SRC))
TOOL_OBJ := $(call obj,$(TOOL_SRC))
EXAMPLE_OBJ := $(call obj,$(EXAMPLE_SRC))
# All tests have it, those for a real Linux too.
HARNESS_OBJ := $(call obj,tests/harness.c)
# Rooms add their own to these. The second list sees the emulator's Linux API before
# anything else, as the driver does.
ALL_OBJ := $(EMU_OBJ) $(DRV_OBJ) $(LIB_OBJ) $(MAIN_OBJ) $(TOOL_OBJ) $(EXAMPLE_OBJ) $(HARNESS_OBJ)
SHIM_OBJ := $(filter $(O)/emu/host/shim/%,$(EMU_OBJ))

BOARD_LIB := $(B)/libboard.a
USER_LIB := $(B)/libfaultline.a
TOOL_LIB := $(B)/libtools.a
EXAMPLE_BIN := $(patsubst lib/examples/%.c,$(B)/examples/%,$(EXAMPLE_SRC))
FAULTLINE := $(if $(filter build/plain,$(B)),build/faultline,$(B)/faultline)

## try	all	build/faultline (needs a C compiler, make and liburcu)
all: $(FAULTLINE)

$(BOARD_LIB): $(EMU_OBJ) $(DRV_OBJ)
$(USER_LIB): $(LIB_OBJ)
$(TOOL_LIB): $(TOOL_OBJ)
$(BOARD_LIB) $(USER_LIB) $(TOOL_LIB):
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)$(AR) rcs $@.$$$$ $^ && mv $@.$$$$ $@

# Device and library call each other through the contract, so two archives come twice.
ARCHIVES := $(TOOL_LIB) $(USER_LIB) $(BOARD_LIB)
LINK_LIBS = $(ARCHIVES) $(USER_LIB) $(BOARD_LIB) $(LIBS)

$(FAULTLINE): $(MAIN_OBJ) $(ARCHIVES)
	$(if $(MAIN_OBJ),,$(error tools/faultline/main.c is missing))
	$(call say,LD)
	$(Q)$(LINK) -o $@ $(MAIN_OBJ) $(LINK_LIBS)

# An example is an ordinary program; here tools/faultline/example_host.c runs it.
$(EXAMPLE_OBJ): DEFINES += -Dmain=example_main
$(EXAMPLE_BIN): $(B)/examples/%: $(O)/lib/examples/%.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $< $(LINK_LIBS)

HOT := board board/packets smmu nic fabric sim trace
$(call obj,$(foreach d,$(HOT),$(wildcard emu/$(d)/*.c))): CFLAGS += $(FAST)

# Profiles are built in as bytes: the compiler's list of includes does not name them.
$(O)/emu/sim/timing.o: $(wildcard emu/sim/profiles/*.profile)
ifneq ($(OTHER_OS),)
# The other system layer is a rehearsal here: nothing may come in that POSIX does not have.
$(OS_OBJ): DEFINES := -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700
endif

# --- running it

## try	hello	the smallest run: one fault, and what each part does about it; start here
hello:
	@tools/doctor --install make
	+@$(MAKE) --no-print-directory -j$(JOBS) $(FAULTLINE)
	@tools/hello

# What is missing is installed first: before that there may be no compiler.
## try	demo	send a file in several ways, and compare them in a table; FILE=...: your file
demo:
	@tools/doctor --install demo
	+@$(MAKE) --no-print-directory $(FAULTLINE)
	$(FAULTLINE) demo $(if $(FILE),"$(FILE)")

## try	doctor	which tools are here, and what each of them is for
doctor:
	@tools/doctor

## try	install-deps	install what is missing (apt-get)
install-deps:
	@tools/doctor --install all

## try	clean	remove build/
clean:
	rm -rf build

help:
	@tools/help $(if $(HANDOUT),--lab $(HANDOUT) --only '$(HANDED)') \
		$(filter Makefile $(ROOMS),$(MAKEFILE_LIST))

# --- the rooms

# In this order: some use what earlier ones define. A handout has only some of them.
ROOMS := tools/gen/gen.mk book/book.mk tools/way/way.mk lib/verbs/verbs.mk rtl/rtl.mk \
	 rtl/zu/r5/r5.mk tests/linux/linux.mk tools/vqfdb/vqfdb.mk kernel-ref/kernel.mk tests/tests.mk \
	 tests/bench/bench.mk tests/core/core.mk tests/coverage/coverage.mk \
	 tests/faults/faults.mk tests/fuzz/fuzz.mk tests/cross.mk \
	 tools/step/step.mk labs/labs.mk
include $(if $(HANDOUT),$(wildcard $(ROOMS)),$(ROOMS))

# Benches, proofs and guests are of the device as it is committed.
NOT_STEPPED := $(if $(STEPPED),$(filter $(filter-out $(STEPPABLE),$(COMMANDS)),$(MAKECMDGOALS)))
ifneq ($(NOT_STEPPED),)
$(error make $(NOT_STEPPED) is for the device as it is committed, without STEPPING)
endif
# A goal with a slash is a file.
NOT_HANDED := $(if $(HANDOUT),$(filter-out $(HANDED) \
	      $(foreach goal,$(MAKECMDGOALS),$(if $(findstring /,$(goal)),$(goal))),$(MAKECMDGOALS)))
ifneq ($(NOT_HANDED),)
$(error make $(NOT_HANDED) is not in the handout of a lab; make help says what is)
endif

# --- compiling, for all rooms

objects: $(ALL_OBJ)

$(DRV_OBJ) $(SHIM_OBJ): $(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) -DFL_EMULATOR -Iemu/host/shim/include $(INCLUDES) \
		$(URCU_CFLAGS) -c -o $@ $<

$(filter-out $(DRV_OBJ) $(SHIM_OBJ),$(ALL_OBJ)): $(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) $(INCLUDES) $(URCU_CFLAGS) -c -o $@ $<

-include $(wildcard $(ALL_OBJ:.o=.d))
