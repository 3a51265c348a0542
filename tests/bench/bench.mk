# SPDX-License-Identifier: BSD-2-Clause
#
# What things cost: time, and instructions.

$(call commands,STEPPABLE,bench bench-programs bench-parts)
$(call commands,,bench-counts)

BENCH_SRC := $(wildcard tests/bench/*.c)
BENCH_OBJ := $(call obj,$(BENCH_SRC))
BENCH_BIN := $(B)/bench/bench
BENCH_SWARM := $(B)/tests/test_order_swarm
ALL_OBJ += $(BENCH_OBJ)

$(BENCH_BIN): $(BENCH_OBJ) $(ARCHIVES)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $(BENCH_OBJ) $(LINK_LIBS)

ifeq ($(VARIANT),)
test-programs plain-programs: $(BENCH_BIN)
endif

# The table also goes to a file. A slow machine is no failure. GROUP="verbs seeds": only these
# groups of figures.
## change	bench	what things cost; GROUP=verbs: only these figures
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

# A program to compare with, where libfabric's headers are.
FABRIC_WRITE := $(B)/bench/fabric_write
$(FABRIC_WRITE): tests/bench/peer/fabric_write.c
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARN) $(DEFINES) -o $@ $< -lfabric

# It fails when the instructions of an important path have grown by more than 3 %.
# RECORD=yes puts them on record; PATHS="write8 hit": only these.
## change	bench-counts	instructions of important paths, and those on record; RECORD=yes, PATHS=
bench-counts:
	@tools/doctor --have valgrind
	+@$(MAKE) --no-print-directory $(BENCH_BIN)
	@$(BENCH_BIN) --counts tests/bench/counts.txt $(if $(RECORD),--record,$(PATHS))
	@$(if $(RECORD),{ echo '# SPDX-License-Identifier: BSD-2-Clause'; \
		BENCH=$(BENCH_BIN) tests/bench/parts write8-long write8 library8; \
		} >tests/bench/parts.txt)
$(O)/tests/bench/bench_counts.o: DEFINES += \
	-DBENCH_FLAGS='"$(strip $(CFLAGS) $(FAST))"'

## change	bench-parts	instructions of a path by part of the tree; PATHS=write8, FILES=yes: by file
bench-parts:
	@tools/doctor --have valgrind
	+@$(MAKE) --no-print-directory $(BENCH_BIN)
	@BENCH=$(BENCH_BIN) tests/bench/parts $(if $(FILES),--files) $(or $(PATHS),write8)
