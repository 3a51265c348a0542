# SPDX-License-Identifier: BSD-2-Clause
#
# Faultline. "make" builds build/faultline and needs a C compiler, make and
# liburcu; "make help" lists the rest. Nothing to configure: sources are found
# by folder, what is built lies under build/.
#
#	SAN=plain|asan|tsan	variant, each with its own objects
#	CC=..., CFLAGS=...	compiler and its optimisation
#	FILE=...		make demo: the file to send
#	V=1			show whole command lines
#	FAULTLINE_INSTALL=no	never install a package

.DEFAULT_GOAL := all
SAN ?= plain
ifeq ($(filter $(SAN),plain asan tsan),)
$(error SAN=$(SAN) is not plain, asan or tsan)
endif

B := build/$(SAN)
O := $(B)/obj
JOBS ?= 2

ifeq ($(V),)
Q := @
ifeq ($(findstring s,$(firstword -$(MAKEFLAGS))),)
say = @echo "  $(1) $@"
endif
endif

CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Werror=implicit-function-declaration $(WERROR)
INCLUDES := -I. -Iemu -Ilib -Itools -Itests -Ikernel-ref/include
# Empty, so that a file that asks for the same by itself gives no warning.
DEFINES := -D_GNU_SOURCE=
SAN_plain :=
SAN_asan := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	    -fno-omit-frame-pointer
SAN_tsan := -fsanitize=thread -fno-omit-frame-pointer

URCU_CFLAGS := $(shell pkg-config --cflags liburcu-qsbr 2>/dev/null)
URCU_LIBS := $(shell pkg-config --libs liburcu-qsbr 2>/dev/null || \
	       echo -lurcu-qsbr -lurcu-common)

COMPILE = $(CC) -std=gnu11 $(CFLAGS) $(SAN_$(SAN)) $(WARN) $(DEFINES) \
	-MMD -MP -pthread
LINK = $(CC) $(CFLAGS) $(SAN_$(SAN)) -pthread
LIBS = $(URCU_LIBS) -lm

# --- sources, by folder

EMU_SRC := $(foreach d,board smmu nic nic/policy fabric host host/shim sim \
	     trace,$(wildcard emu/$(d)/*.c))
DRV_SRC := $(filter-out %.mod.c,$(wildcard kernel-ref/*.c))
LIB_SRC := $(wildcard lib/*.c)
# A unit test links all of tools/ but the file with main().
MAIN_SRC := $(wildcard tools/faultline/main.c)
TOOL_SRC := $(filter-out $(MAIN_SRC),$(foreach d,faultline scenario view,\
	      $(wildcard tools/$(d)/*.c)))
UNIT_SRC := $(wildcard tests/unit/test_*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)
EXAMPLE_SRC := $(wildcard lib/examples/*.c)
GEN_SRC := $(wildcard tools/gen/*.c)
FW_SRC := $(wildcard emu/nic/fw*.c)

obj = $(patsubst %.c,$(O)/%.o,$(1))
EMU_OBJ := $(call obj,$(EMU_SRC))
DRV_OBJ := $(call obj,$(DRV_SRC))
LIB_OBJ := $(call obj,$(LIB_SRC))
MAIN_OBJ := $(call obj,$(MAIN_SRC))
TOOL_OBJ := $(call obj,$(TOOL_SRC))
UNIT_OBJ := $(call obj,$(UNIT_SRC))
BENCH_OBJ := $(call obj,$(BENCH_SRC))
EXAMPLE_OBJ := $(call obj,$(EXAMPLE_SRC))
HARNESS_OBJ := $(call obj,tests/harness.c)
ALL_OBJ := $(EMU_OBJ) $(DRV_OBJ) $(LIB_OBJ) $(MAIN_OBJ) $(TOOL_OBJ) \
	   $(UNIT_OBJ) $(BENCH_OBJ) $(EXAMPLE_OBJ) $(HARNESS_OBJ)

UNIT_BIN := $(patsubst tests/unit/%.c,$(B)/tests/%,$(UNIT_SRC))
BENCH_BIN := $(B)/bench/bench
EXAMPLE_BIN := $(patsubst lib/examples/%.c,$(B)/examples/%,$(EXAMPLE_SRC))

BOARD_LIB := $(B)/libboard.a
USER_LIB := $(B)/libfaultline.a
TOOL_LIB := $(B)/libtools.a

ifeq ($(SAN),plain)
FAULTLINE := build/faultline
else
FAULTLINE := $(B)/faultline
endif

# --- what is built

.PHONY: all objects test-programs test demo bench doctor check-style \
	check-warnings generate pictures generated-fresh modules firmware-r5 clean \
	install-deps help

all: $(FAULTLINE)

objects: $(ALL_OBJ)

test-programs: $(FAULTLINE) $(UNIT_BIN) $(EXAMPLE_BIN) $(BENCH_BIN)

# The driver's sources, and the emulator's Linux API itself, see that API before
# anything else.
SHIM_OBJ := $(filter $(O)/emu/host/shim/%,$(EMU_OBJ))
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
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^

# Device and library call each other through the contract: once more round.
ARCHIVES := $(TOOL_LIB) $(USER_LIB) $(BOARD_LIB)
LINK_LIBS = $(ARCHIVES) $(USER_LIB) $(BOARD_LIB) $(LIBS)

$(FAULTLINE): $(MAIN_OBJ) $(ARCHIVES)
	$(if $(MAIN_OBJ),,$(error tools/faultline/main.c is missing))
	$(call say,LD)
	$(Q)$(LINK) -o $@ $(MAIN_OBJ) $(LINK_LIBS)

$(UNIT_BIN): $(B)/tests/%: $(O)/tests/unit/%.o $(HARNESS_OBJ) $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $< $(HARNESS_OBJ) $(LINK_LIBS)

$(BENCH_BIN): $(BENCH_OBJ) $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $(BENCH_OBJ) $(LINK_LIBS)

# An example is an ordinary program; here tools/faultline/example_host.c runs it.
$(EXAMPLE_OBJ): DEFINES += -Dmain=example_main
$(EXAMPLE_BIN): $(B)/examples/%: $(O)/lib/examples/%.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $< $(LINK_LIBS)

-include $(wildcard $(ALL_OBJ:.o=.d))

# Built in as bytes, which the compiler's list of includes does not tell.
$(O)/emu/sim/timing.o: $(wildcard emu/sim/profiles/*.profile)

# --- generated files: committed, and fresh

DEFS := $(wildcard kernel-ref/include/faultline/*.def) emu/trace/events.def \
	emu/sim/timing.def

build/gen: $(GEN_SRC) $(wildcard tools/gen/*.h) $(DEFS) Makefile
	@mkdir -p build
	$(call say,CC)
	$(Q)$(CC) -std=gnu11 -O1 -g $(WARN) $(DEFINES) $(INCLUDES) -o $@ $(GEN_SRC)

# The pictures of the book, from a run; look at them after.
pictures: $(FAULTLINE)
	$(Q)tests/cmd/pictures.sh --write

generate: build/gen
	build/gen .

generated-fresh: build/gen
	tests/cmd/generated.sh

# --- tests

# Programs that say "variants: tsan" in their source use threads.
TSAN_SRC := $(if $(UNIT_SRC),$(shell grep -l 'variants: tsan' $(UNIT_SRC)))
unit = $(patsubst tests/unit/%.c,build/$(1)/tests/%,$(2))
TESTS := make:generated-fresh make:check-style make:check-warnings \
	 make:firmware-r5 make:modules \
	 $(call unit,plain,$(UNIT_SRC)) $(call unit,asan,$(UNIT_SRC)) \
	 $(call unit,tsan,$(TSAN_SRC)) \
	 $(filter-out tests/cmd/generated.sh,$(wildcard tests/cmd/*.sh)) \
	 $(wildcard tests/scenario/*.fl)

test:
	@tools/doctor --install test
	@MAKE="$(MAKE)" CC="$(CC)" tests/run --events --jobs $(JOBS) \
		--build plain --build asan --build tsan $(TESTS)

check-style:
	@tests/check-style

check-warnings:
	@tools/doctor --have gcc clang
	+@$(MAKE) --no-print-directory B=build/warn-gcc CC=gcc WERROR=-Werror objects
	+@$(MAKE) --no-print-directory B=build/warn-clang CC=clang WERROR=-Werror objects

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

modules:
	@tools/doctor --have aarch64-linux-gnu-gcc
	+$(MAKE) -C kernel-ref modules

# --- running it

# What is missing is installed first, and only then is there a compiler.
demo:
	@tools/doctor --install demo
	+@$(MAKE) --no-print-directory $(FAULTLINE)
	$(FAULTLINE) demo $(if $(FILE),"$(FILE)")

# The table also goes to a file. Nothing here fails because it took long.
bench:
	@tools/doctor --install bench
	+@$(MAKE) --no-print-directory $(BENCH_BIN)
	@mkdir -p build/bench
	$(BENCH_BIN) -o build/bench/bench.txt

doctor:
	@tools/doctor

install-deps:
	@tools/doctor --install all

clean:
	rm -rf build

help:
	@echo "make              build/faultline (needs cc, make, liburcu)"
	@echo "make demo         send a file, FILE=... or a built-in one"
	@echo "make test         everything that is tested, in all variants"
	@echo "make bench        what things cost"
	@echo "make doctor       which tools are here, and what they are for"
	@echo "make install-deps install what is missing (apt-get)"
	@echo "make generate     headers, Verilog and tables from the *.def"
	@echo "make pictures     the pictures of the book, from a run (Graphviz)"
	@echo "make check-style  the rules of the house"
	@echo "make check-warnings  gcc and clang, warnings are errors"
	@echo "make firmware-r5  the firmware for the Cortex-R5"
	@echo "make modules      the driver as an arm64 Linux module"
	@echo "make clean        remove build/"
	@echo "SAN=asan or SAN=tsan: the same with sanitizers"
