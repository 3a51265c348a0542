# SPDX-License-Identifier: BSD-2-Clause
#
# The virtual QFDB: guests of QEMU with the module, on boards of the emulator.
#
#	NODES=1|2	guests
#	KERNEL=6.1|6.12	a kernel of Debian's; debug: the one that make kernel-debug makes
#	SMMU=own|linux	whose the SMMU is: the driver's; or that of Linux's arm-smmu, patched
#			(kernel-ref/board), which fetches 140 MB of Linux the first time
#	FILE=...	what to send
#	VQFDB=...	more options of tools/vqfdb/run

$(call commands,HANDED,guest)
$(call commands,STEPPABLE HANDED,guest-alone modules-shared)
$(call commands,,vqfdb vqfdb-faults vqfdb-equal)

# The processes of a scenario in a guest.
AGENT_BIN := $(B)/linux/agent
AGENT_OBJ := $(call obj,tools/vqfdb/agent.c $(foreach f,rpc_do rpc fill,\
	     tools/scenario/$(f).c) tools/harness/child.c emu/os/$(OS).c)
ALL_OBJ += $(call obj,tools/vqfdb/agent.c)
linux-programs: $(AGENT_BIN)
$(AGENT_BIN): $(AGENT_OBJ) $(USER_LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -static -o $@ $^

# The same for this machine, to be tested.
$(B)/tests/test_agent: $(B)/tests/agent
$(B)/tests/agent: $(AGENT_OBJ) $(USER_LIB)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^

NODES ?= 1
KERNEL ?= 6.1
ifneq ($(filter $(KERNEL),6.1 6.12 debug),$(KERNEL))
$(error KERNEL=$(KERNEL): there are 6.1, 6.12 and debug)
endif
SMMU ?= own
ifneq ($(filter $(SMMU),own linux),$(SMMU))
$(error SMMU=$(SMMU): there are own and linux)
endif
ifeq ($(SMMU)$(KERNEL),linuxdebug)
$(error SMMU=linux: with KERNEL=6.1 or 6.12)
endif
JOB ?= tests/linux/send.job
VQFDB_OUT ?= build/vqfdb/out
GUEST_B := build/arm64-guest
GUEST_RAMFS := build/vqfdb/initramfs-$(KERNEL)$(if $(filter linux,$(SMMU)),-smmu)
# arm-smmu and the driver that borrows from it.
SMMU_OUT := $(abspath build/vqfdb/smmu-$(KERNEL))
SMMU_KO := $(SMMU_OUT)/smmu/drivers/iommu/arm/arm-smmu/arm_smmu_patched.ko
GUEST_MODULES = $(if $(filter linux,$(SMMU)),$(SMMU_KO) $(SMMU_OUT)/module/faultline.ko,\
		build/linux/module-$(KERNEL)/faultline.ko)
# The checks of the debug kernel cost time and memory.
GUEST_SLOW := $(if $(filter debug,$(KERNEL)),--slow 10 --memory 512)
GUEST_PROGRAMS := $(patsubst $(B)/%,$(GUEST_B)/%,$(LINUX_BIN) $(LINUX_EXAMPLE_BIN) \
		  $(AGENT_BIN))

# A 32-bit program for the guest, from a compiler and a linker that have no libc for it.
NARROW := $(GUEST_B)/linux/narrow
$(NARROW): tests/linux/narrow.c $(wildcard kernel-ref/include/faultline/*.h) tools/vqfdb/vqfdb.mk
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)clang --target=arm-linux-gnueabi -march=armv7-a -O2 -Wall -Wextra \
		-Werror -ffreestanding -fno-pic -isystem \
		/usr/aarch64-linux-gnu/include -Ikernel-ref/include -c -o $@.o $<
	$(Q)aarch64-linux-gnu-ld -m armelf_linux_eabi -static -o $@ $@.o

# Two makes must not write into build/vqfdb and $(GUEST_B) at the same time.
GUEST_LOCKED := $(if $(shell command -v flock),flock build/vqfdb/lock)

guest:
	@tools/doctor --install vqfdb
	@tools/doctor --have aarch64-linux-gnu-gcc clang qemu-system-aarch64 cpio
	+@$(MAKE) --no-print-directory $(FAULTLINE)
	@mkdir -p build/vqfdb
	+@$(GUEST_LOCKED) $(MAKE) --no-print-directory guest-alone

guest-alone:
	@kernel-ref/fetch-headers build/linux $(KERNEL) guest \
		>build/vqfdb/root-$(KERNEL).new || \
		{ echo "SKIP: the kernel of a guest is not here (see above)"; exit 77; }
	@mv build/vqfdb/root-$(KERNEL).new build/vqfdb/root-$(KERNEL)
	+@$(MAKE) --no-print-directory $(if $(filter linux,$(SMMU)),modules-shared,modules)
	+@$(ARM64) B=$(GUEST_B) linux-programs $(GUEST_MORE)
	+@$(MAKE) --no-print-directory $(NARROW)
	@tools/vqfdb/initramfs $(GUEST_RAMFS) "$$(cat build/vqfdb/root-$(KERNEL))" \
		"$$(cat build/linux/image-$(KERNEL))" "$(strip $(GUEST_MODULES))" \
		$(GUEST_PROGRAMS) $(NARROW)

modules-shared: $(SMMU_KO)
	+@$(MAKE) -s --no-print-directory -C kernel-ref/board module OUT=$(SMMU_OUT) \
		KDIR="$$(cat build/linux/headers-$(KERNEL))"

# Linux's sources come out of a package, and are thrown away.
$(SMMU_KO): $(wildcard kernel-ref/board/arm-smmu/*) kernel-ref/board/Makefile \
	    build/linux/image-$(KERNEL)
	@tools/doctor --have patch dtc
	+@source=$$(kernel-ref/fetch-source build/linux $(KERNEL)) || \
		{ echo "SKIP: there is no source of Linux $(KERNEL) here (see above)"; exit 77; }; \
	$(MAKE) -s --no-print-directory -C kernel-ref/board smmu WINDOW=y OUT=$(SMMU_OUT) \
		KDIR="$$(cat build/linux/headers-$(KERNEL))" SOURCE="$$source"

## try	vqfdb	send a file between processes of a Linux in QEMU; NODES=2: between two guests; SMMU=linux
vqfdb: guest
	tools/vqfdb/run --image "$$(cat build/linux/image-$(KERNEL))" $(GUEST_SLOW) \
		--initramfs $(GUEST_RAMFS) --smmu $(SMMU) --nodes $(NODES) --out $(VQFDB_OUT) \
		$(VQFDB) $(JOB) $(if $(FILE),"$(FILE)")
	@grep -h -e '^sent' -e '^received' $(VQFDB_OUT)/console.*

# The tests of page faults on that Linux, as one report. SHORT=1 leaves out what takes
# longest (make test-all has this part), LONG=1 kills processes 100 times each;
# FAULTS="test_fork ...": these tests; VQFDB="--only NAME-PART", or an option of
# tools/vqfdb/run.
## hardware	vqfdb-faults	faults on the real memory of a Linux in QEMU; SHORT=1, LONG=1, SMMU=linux
vqfdb-faults:
	+@$(MAKE) --no-print-directory guest GUEST_MORE=linux-tests
	tests/linux/run --kernel $(KERNEL) --smmu $(SMMU) $(GUEST_SLOW) $(if $(SHORT),--short) $(if $(LONG),--long) \
		$(VQFDB) -- $(FAULTS)

# Does the driver do the same there and on the small kernel? SHORT=1: some of the
# scenarios, SCENARIOS="write_cold ...": these.
## hardware	vqfdb-equal	does the driver do the same in QEMU as on the small kernel? SHORT=1, SCENARIOS=
vqfdb-equal:
	@tests/linux/equal --names $(SCENARIOS)
	+@$(MAKE) --no-print-directory guest
	KERNEL=$(KERNEL) SMMU=$(SMMU) tests/linux/equal $(if $(SHORT),--short) $(SCENARIOS)
