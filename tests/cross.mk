# SPDX-License-Identifier: BSD-2-Clause
#
# Programs and parts for other machines, and parts that must stand alone.

$(call commands,STEPPABLE,library-alone os-objects)
$(call commands,,portable aarch64)

# The system layer elsewhere: as strict POSIX, with both compilers, and on arm64.
POSIX = $(MAKE) --no-print-directory OS=posix WERROR=-Werror SAN=plain
## change	portable	the system layer as strict POSIX, and on arm64
portable:
	@tools/doctor --have gcc clang aarch64-linux-gnu-gcc
	+@$(POSIX) B=build/posix-gcc CC=gcc os-objects
	+@$(POSIX) B=build/posix-clang CC=clang os-objects
	+@$(ARM64) OS=linux os-objects
	+@$(ARM64) OS=posix os-objects

os-objects: $(OS_OBJ)

# A foreign machine: programs for arm64, under qemu-user, with pages of 4, 16 and
# 64 KB. liburcu for it is unpacked under build/ and linked statically, as libc is.
AARCH64_ROOT := build/aarch64/root
AARCH64_TESTS := test_os test_host_mm test_host_import test_host_attach \
	       test_host_reclaim test_smmu_walk \
	       test_wire
CROSS = $(MAKE) --no-print-directory CC=aarch64-linux-gnu-gcc SAN=plain CFLAGS=-O1 \
	URCU_CFLAGS=-I$(CURDIR)/$(AARCH64_ROOT)/usr/include/aarch64-linux-gnu \
	URCU_LIBS="-static -L$(CURDIR)/$(AARCH64_ROOT)/usr/lib/aarch64-linux-gnu \
	-lurcu-qsbr -lurcu-common"
## change	aarch64	programs for arm64 under qemu-user, with all page sizes
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

# A program that runs on a real card, or attaches to a board elsewhere, links the library
# and nothing of the emulator.
## change	library-alone	the library needs nothing of the emulator
library-alone: $(USER_LIB)
	$(Q)echo 'int main(void) { return 0; }' | $(LINK) -o $(B)/library-alone \
		-x c - -x none -Wl,--whole-archive $(USER_LIB) \
		-Wl,--no-whole-archive
	@echo "libfaultline.a stands alone: $(words $(LIB_OBJ)) objects"
