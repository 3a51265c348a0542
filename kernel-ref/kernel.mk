# SPDX-License-Identifier: GPL-2.0-only
#
# The driver as a module of a real Linux, and what a kernel maintainer's tools say about it.
# The rules are in this folder's Makefile.

$(call commands,HANDED,modules)
$(call commands,,kernel-check kernel-check-self kernel-debug kernel-debug-self board-patch)

## hardware	modules	the driver as an arm64 Linux module
modules:
	@tools/doctor --have aarch64-linux-gnu-gcc
	+$(MAKE) -C kernel-ref modules

## hardware	kernel-check	the driver under sparse, checkpatch and Coccinelle, for both kernels
kernel-check:
	+@$(MAKE) --no-print-directory -C kernel-ref check

## hardware	kernel-check-self	each of these checks finds what it is there for
kernel-check-self:
	+@$(MAKE) --no-print-directory -C kernel-ref check-self

## hardware	kernel-debug	a kernel with lockdep, KASAN and the like, for QEMU (minutes)
kernel-debug:
	+@$(MAKE) --no-print-directory -C kernel-ref debug

## hardware	kernel-debug-self	that kernel sees what it is there for (QEMU)
kernel-debug-self:
	+@$(MAKE) --no-print-directory -C kernel-ref debug-self

# A real board needs overlays and a hook in Linux's arm-smmu besides the driver. The first
# time this fetches 160 MB of Linux, so make test-all leaves it out.
## hardware	board-patch	the hook in Linux's arm-smmu, compiled and run; KERNEL=6.12: compiled
board-patch:
	@tests/board-patch $(KERNEL)
	@$(if $(filter-out 6.1,$(KERNEL)),:,tests/board-boot)
