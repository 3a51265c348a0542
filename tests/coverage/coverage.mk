# SPDX-License-Identifier: BSD-2-Clause
#
# Which branches of the core (tests/core/core.mk) its tests take.
#
#	UPDATE=yes	write tests/coverage/least.txt: what each file has now; reasons stay

$(call commands,,coverage covered-programs)

# Its build has COVERED=yes. Threads count too, so atomically.
COVERAGE := build/coverage
ifneq ($(COVERED),)
COVERAGE_FLUSH := $(O)/tests/coverage/flush.o
ALL_OBJ += $(COVERAGE_FLUSH)
$(CORE_OBJ): override CFLAGS += --coverage -fprofile-update=atomic
LINK += --coverage -Wl,--wrap=abort,--wrap=_exit,--wrap=raise $(COVERAGE_FLUSH)
$(USER_LIB) $(BOARD_LIB) $(B)/tests/core: | $(COVERAGE_FLUSH)
endif
covered-programs: $(FAULTLINE) $(UNIT_BIN) $(B)/tests/core

# The programs and scenarios of "make test", in a plain build: seven minutes of CPU. And the core
# alone, since only there nothing of the annexes is found. Left out are
# tests that write no counters or take no other branches: walls around a work let nothing be
# written; links over UDP to others want a build that is fast, and are none of the core; what
# test_work runs for four minutes the scenarios do too. The random tests have few seeds: more
# find no more branches.
COVERAGE_TESTS = $(patsubst %.c,$(COVERAGE)/tests/%,$(notdir $(filter-out $(UNCOVERED),$(UNIT_SRC)))) \
	$(COVERAGE)/tests/core \
	$(patsubst %,%@lockstep@1@$(COVERAGE)/faultline,$(wildcard tests/scenario/*.fl))
# Within another run (make test-all) the folder of a test is so deep that the names of its sockets
# would be too long.
COVERAGE_ENV = SWARM_SEEDS=2 $(if $(FAULTLINE_TEST_RUN),TMPDIR=/tmp)
## change	coverage	branches of the core that tests take, against tests/coverage/least.txt; UPDATE=
coverage:
	@tools/doctor --have gcc gcov
	+@$(MAKE) --no-print-directory -s -j$(JOBS) B=$(COVERAGE) CC=gcc CFLAGS='-O0 -g' COVERED=yes \
		covered-programs
	@find $(COVERAGE) -name '*.gcda' -delete
	@$(COVERAGE_ENV) tests/run --jobs $(JOBS) $(COVERAGE_TESTS) >$(COVERAGE)/tests.log || \
		{ tail -n 40 $(COVERAGE)/tests.log; exit 1; }
	@rm -f $(COVERAGE)/missed
	@tests/coverage/table $(if $(UPDATE),--update) --missed $(COVERAGE)/missed \
		$(COVERAGE)/obj $(CORE_SRC)
	@echo "branches that no test took: $(COVERAGE)/missed"
