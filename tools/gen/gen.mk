# SPDX-License-Identifier: BSD-2-Clause
#
# Generated files: committed, and always those that tools/gen makes of the *.def.

$(call commands,HANDED,generate)
$(call commands,,generated-fresh)

DEFS := $(wildcard kernel-ref/include/faultline/*.def) emu/trace/events.def \
	emu/sim/timing.def
GEN_SRC := $(wildcard tools/gen/*.c)

build/gen: $(GEN_SRC) $(wildcard tools/gen/*.h) tools/streams.h $(DEFS) Makefile
	@mkdir -p build
	$(call say,CC)
	$(Q)$(CC) -std=gnu11 -O1 -g $(WARN) $(DEFINES) $(INCLUDES) -o $@ $(GEN_SRC)

## change	generate	headers, Verilog and tables from the *.def
generate: build/gen
	build/gen .

generated-fresh: build/gen
	tests/cmd/generated.sh
