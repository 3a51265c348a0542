# SPDX-License-Identifier: BSD-2-Clause
#
# The engine in Verilog: as a plug-in of the emulator (--engine rtl, both), its benches, its
# proofs, and its synthesis.
#
# The model is made for the largest sizes that there are; straps say how much of it a board
# has.
#
#	SIM=...	what makes the model: verilator, or cxxrtl (yosys) as a second opinion

# In the handout of a lab in Verilog.
$(call commands,STEPPABLE HANDED,rtl-model rtl-random rtl-compete rtl-second \
	rtl-lint)
$(call commands,HANDED,rtl-bench rtl-prove rtl-synth rtl-synth-quick rtl-park rtl-rate waves)
$(call commands,STEPPABLE,rtl-speed)
$(call commands,,rtl rtl-long rtl-cosim rtl-bugs rtl-programs)

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

# What several of its parts would make, two at a time: so it is made before them.
rtl-programs: rtl-model
	+@$(MAKE) --no-print-directory $(FAULTLINE) $(B)/rtl-random $(B)/rtl-compete

RTL_PARTS := rtl-second rtl-prove rtl-cosim rtl-synth-quick rtl-random rtl-compete rtl-bench \
	     rtl-lint
## hardware	rtl	is the Verilog right? lint, benches, random, scenarios, proofs, synthesis
rtl: rtl-programs
	+@$(MAKE) --no-print-directory -j2 -Otarget $(RTL_PARTS)

## hardware	rtl-long	what takes longer: rtl-synth, rtl-park, rtl-bugs
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
	@for top in fl_zu_net fl_zu_eth; do \
		verilator --lint-only -Wall --default-language 1364-2005 -Irtl/zu -Irtl/hdl \
			--top-module $$top rtl/zu/$$top.v || exit 1; done
	@iverilog -g2005 -Wall -Irtl/hdl -I$(RTL_GEN) -s fl_zu_top -s fl_zu_net -s fl_zu_eth -t null \
		$(RTL_V) $(RTL_ZU)
	@echo "lint: $(words $(RTL_V) $(RTL_ZU)) files, nothing found"

rtl-bench:
	@rtl/tb/run

WAVES ?= build/waves
## learn	waves	the waves of a block that faults, for GTKWave
waves:
	@rtl/tb/waves "$(WAVES)"

rtl-cosim: $(FAULTLINE)
	@tests/cmd/rtl.sh

rtl-prove:
	@rtl/formal/prove
	@rtl/formal/cross

# Which evidence finds which planted bug (build/bugs keeps what was found).
rtl-bugs:
	@rtl/formal/bugs

# Cycles per packet with faults, parked and blocking. It is a bench too, but takes too long
# with Icarus.
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

# Clocks for 64 KB between two cards.
rtl-rate:
	@rtl/tb/run rate

# How much of a chip the card takes, and a small card whose netlist has to work.
rtl-synth-quick:
	@rtl/zu/synth --quick

rtl-synth:
	@rtl/zu/synth
	@rtl/zu/synth --smoke

## hardware	rtl-model	the engine in Verilog, for --engine rtl or both
rtl-model:
	@tools/doctor --have $(RTL_HAVE_$(SIM)) $(if $(RTL_SO),)
	+@$(MAKE) --no-print-directory $(RTL_SO)

$(RTL)/model/Vfl_engine__ALL.a: $(RTL_V) $(RTL_VH) rtl/rtl.mk
	@mkdir -p $(@D)
	$(call say,VERILATE)
	$(Q)$(VERILATE) rtl/hdl/fl_engine.v
	$(Q)for made in 'verilated.o verilated_threads.o' $(@F); do \
		$(MAKE) --no-print-directory -s -C $(@D) -f Vfl_engine.mk \
			OPT_FAST=$(RTL_OPT) OPT_SLOW=-O0 OPT_GLOBAL=-O1 $$made || exit 1; done

TRANSACTIONS ?= 10000
SEED ?= 1
LONGEST ?= 65536
## hardware	rtl-random	Verilog against C at random; TRANSACTIONS=, SEED=
rtl-random: rtl-model
	+@$(MAKE) --no-print-directory $(B)/rtl-random
	FAULTLINE_RTL=$(RTL_SO) $(B)/rtl-random --transactions $(TRANSACTIONS) --seed $(SEED) \
		--longest $(LONGEST)

## hardware	rtl-compete	the same with everything at once; TRANSACTIONS=, SEED=
rtl-compete: rtl-model
	+@$(MAKE) --no-print-directory $(B)/rtl-compete
	FAULTLINE_RTL=$(RTL_SO) $(B)/rtl-compete --transactions $(TRANSACTIONS) --seed $(SEED) \
		--longest $(LONGEST)

# The second simulator takes a minute to build: other random numbers, and scenarios.
rtl-second: $(FAULTLINE)
	+@$(MAKE) --no-print-directory rtl-random SIM=cxxrtl TRANSACTIONS=2000 SEED=2
	+@$(MAKE) --no-print-directory rtl-compete SIM=cxxrtl TRANSACTIONS=2000 SEED=2
	@for s in write_cold_both read_cold_remote stall_destination drop_refused; do \
		FAULTLINE_RTL=$(RTL_SO_cxxrtl) $(FAULTLINE) run --engine both \
			tests/scenario/$$s.fl || exit 1; done

## hardware	rtl-speed	how fast the model is, alone and in the emulator; SIM=cxxrtl
rtl-speed: rtl-model
	+@$(MAKE) --no-print-directory $(B)/rtl-random $(B)/rtl-speed
	FAULTLINE_RTL=$(RTL_SO) $(B)/rtl-random --alone --transactions 1000 --seed $(SEED)
	FAULTLINE_RTL=$(RTL_SO) $(B)/rtl-speed

RTL_BENCH_OBJ := $(call obj,$(foreach f,bounce measure stage table,tests/bench/bench_$(f).c))
$(B)/rtl-speed: $(RTL_BENCH_OBJ)
$(B)/rtl-random: rtl/cosim/random_node.c rtl/cosim/random_wrap.c $(wildcard rtl/cosim/random_*.h)
$(B)/rtl-compete: $(wildcard rtl/cosim/compete_*.c rtl/cosim/compete*.h) rtl/cosim/random_draw.h \
		  rtl/cosim/model.h rtl/cosim/pins.def $(RTL)/fl_trace.h
$(B)/rtl-compete: INCLUDES += -I$(RTL) -Irtl/cosim
$(B)/rtl-random $(B)/rtl-speed $(B)/rtl-compete: $(B)/rtl-%: rtl/cosim/%.c $(ARCHIVES)
	$(call say,LD)
	$(Q)$(filter-out -MMD -MP,$(COMPILE)) $(INCLUDES) -fno-lto -o $@ \
		$(filter %.c %.o,$^) $(LINK_LIBS)

# The codes of the trace port, for C.
$(RTL)/fl_trace.h: rtl/hdl/fl_trace.vh
	@mkdir -p $(@D)
	$(Q)sed 's/^`define \(FL_TRC_[A-Z_]*\) *[0-9]*.d\([0-9]*\)$$/#define \1 \2/p;d' \
		$< > $@

# Both plug-ins share the engine's calls on a model's pins.
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

# The same model from yosys, as one C++ file. opt_merge and -purge leave out a quarter of its
# cells and most of its wires; g++ takes five minutes for the rest, clang++ 20 s. The folder
# of its headers depends on its version.
CXXRTL := $(RTL)/cxxrtl
CXXRTL_H = $$(yosys-config --datdir)/include
CXXRTL_CXX = $(patsubst g++,clang++,$(RTL_CXX)) -I. -include rtl/cosim/cxxrtl_assert.h \
	     -isystem "$(CXXRTL_H)" -isystem "$(CXXRTL_H)/backends/cxxrtl/runtime"
$(CXXRTL)/fl_engine.cc: $(RTL_V) $(RTL_VH) rtl/rtl.mk
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

$(CXXRTL)/fl_engine.o: $(CXXRTL)/fl_engine.cc rtl/cosim/cxxrtl_assert.h
	$(Q)$(CXXRTL_CXX) -w $(RTL_OPT) -c -o $@ $<

$(CXXRTL)/shim.o: rtl/cosim/shim_cxxrtl.cpp rtl/cosim/model.h $(CXXRTL)/cxxrtl_pins.h \
		  $(CXXRTL)/fl_engine.cc
	$(Q)$(CXXRTL_CXX) -O2 -c -o $@ $<

$(RTL)/librtl-cxxrtl.so: $(CXXRTL)/shim.o $(CXXRTL)/fl_engine.o $(RTL_O)
	$(call say,RTL)
	$(Q)g++ -shared -Wl,-z,defs -o $@ $^
