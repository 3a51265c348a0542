# SPDX-License-Identifier: BSD-2-Clause
#
# The way of one faulting WRITE through the files.

$(call commands,STEPPABLE,walk-of-a-write)

# It is measured, in a program that says which function begins. WAY=FILE.fl: the way of
# another scenario; MODE=threads, processes or vm (make guest); LIST=yes: each visit of a file.
WAY ?= book/pictures/one-write.fl
MODE ?= lockstep
## learn	walk-of-a-write	which files one faulting WRITE goes through, and how often; WAY=, MODE=, LIST=yes
walk-of-a-write:
	+@$(MAKE) --no-print-directory -s B=build/way SAN=plain \
		CFLAGS='-O0 -gdwarf-4 -finstrument-functions' build/way/faultline
	$(Q)$(CC) -std=gnu11 -O1 -g $(WARN) $(DEFINES) -fPIC -shared -o build/way/hooks.so \
		tools/way/hooks.c
	@tools/way/measure build/way/faultline $(CURDIR)/build/way/hooks.so $(WAY) build/way/out $(MODE) \
		$(if $(LIST),--list)
