# SPDX-License-Identifier: BSD-2-Clause
#
# The drop-in libibverbs.so.1: the library itself and lib/verbs, position independent, and what
# it exports under the names and versions of rdma-core. Needs libibverbs-dev (its header).

$(call commands,STEPPABLE HANDED,verbs verbs-tools)

# Beside the program that runs others with it.
VERBS := $(dir $(FAULTLINE))verbs
VERBS_SO := $(VERBS)/libibverbs.so.1
VERBS_OBJ := $(patsubst %.c,$(VERBS)/obj/%.o,$(wildcard lib/verbs/*.c) $(LIB_SRC))

$(VERBS)/obj/%.o: %.c Makefile lib/verbs/verbs.mk
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) $(INCLUDES) -fPIC -c -o $@ $<

$(VERBS)/exports.c $(VERBS)/exports.map &: lib/verbs/exports $(VERBS_OBJ)
	$(Q)lib/verbs/exports $(VERBS)/exports.c $(VERBS)/exports.map $(VERBS_OBJ)

$(VERBS_SO): $(VERBS_OBJ) $(VERBS)/exports.c $(VERBS)/exports.map
	$(call say,LD)
	$(Q)$(LINK) -shared -fPIC -Wl,-soname,libibverbs.so.1 -Wl,-z,defs \
		-Wl,--version-script=$(VERBS)/exports.map -o $@ \
		$(VERBS_OBJ) $(VERBS)/exports.c

## try	verbs	a libibverbs with which programs of rdma-core run on boards (libibverbs-dev)
verbs: verbs-tools $(VERBS_SO)
$(VERBS_OBJ): | verbs-tools
verbs-tools:
	@tools/doctor --have header:infiniband/verbs.h

-include $(wildcard $(VERBS_OBJ:.o=.d))
