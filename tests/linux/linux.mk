# SPDX-License-Identifier: BSD-2-Clause
#
# Programs for a real Linux with a card: they need the library alone. They are linked
# statically, since a guest has no libc (tools/vqfdb/vqfdb.mk runs them in one).

$(call commands,STEPPABLE HANDED,linux-programs linux-tests)

# A 32-bit program has a rule of its own, in tools/vqfdb/vqfdb.mk.
LINUX_RIG_SRC := tests/linux/rig.c tests/linux/swap.c tests/rig/fuse.c
LINUX_SRC := $(filter-out tests/linux/narrow.c tests/linux/app.c $(LINUX_RIG_SRC),$(wildcard tests/linux/*.c))
LINUX_TEST_SRC := $(filter tests/linux/test_%,$(LINUX_SRC))
LINUX_TEST_BIN := $(patsubst tests/linux/%.c,$(B)/linux/%,$(LINUX_TEST_SRC))
LINUX_BIN := $(filter-out $(LINUX_TEST_BIN),\
	     $(patsubst tests/linux/%.c,$(B)/linux/%,$(LINUX_SRC)))
LINUX_EXAMPLE_BIN := $(patsubst lib/examples/%.c,$(B)/linux/%,$(EXAMPLE_SRC))
LINUX_RIG_OBJ := $(call obj,$(LINUX_RIG_SRC))
ALL_OBJ += $(call obj,$(LINUX_SRC)) $(LINUX_RIG_OBJ)

# The same make for an arm64 Linux.
ARM64 = $(MAKE) --no-print-directory B=build/arm64 CC=aarch64-linux-gnu-gcc \
	URCU_CFLAGS= WERROR=-Werror SAN=plain

linux-programs: $(LINUX_BIN) $(LINUX_EXAMPLE_BIN)
linux-tests: $(LINUX_TEST_BIN)

# The main job's two applications.
JOB_OBJ := $(call obj,tests/linux/app.c tools/faultline/sha256.c)
ALL_OBJ += $(call obj,tests/linux/app.c)
$(LINUX_BIN): $(B)/linux/%: $(O)/tests/linux/%.o $(JOB_OBJ) $(USER_LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -static -o $@ $< $(JOB_OBJ) $(USER_LIB)

# The examples as they are, with a main() of their own.
$(LINUX_EXAMPLE_BIN): $(B)/linux/%: lib/examples/%.c lib/examples/example.h $(USER_LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(filter-out -MMD -MP,$(COMPILE)) $(INCLUDES) -static -o $@ $< $(USER_LIB)

# Tests of the driver there, with the harness of all tests.
$(LINUX_TEST_BIN): $(B)/linux/%: $(O)/tests/linux/%.o $(LINUX_RIG_OBJ) $(HARNESS_OBJ) $(USER_LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -static -o $@ $< $(LINUX_RIG_OBJ) $(HARNESS_OBJ) $(USER_LIB)
