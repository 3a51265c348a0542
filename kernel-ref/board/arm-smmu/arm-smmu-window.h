/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An SMMU whose registers are not memory: a model in an emulator, behind a ring of
 * messages. Whoever has the ring makes a platform device for arm-smmu, with this as its
 * platform data and with a node that is compatible with "faultline,window-mmu-500".
 */
#ifndef ARM_SMMU_WINDOW_H
#define ARM_SMMU_WINDOW_H

#include <linux/types.h>

/**
 * struct arm_smmu_window - how to reach its registers
 * @bus: handed back
 * @read: offset from the first register page, 4 or 8 bytes; any context
 * @write: the same; in order, a read comes after all of them
 */
struct arm_smmu_window {
	void *bus;
	u64 (*read)(void *bus, u32 off, u16 size);
	void (*write)(void *bus, u32 off, u16 size, u64 value);
};

#endif
