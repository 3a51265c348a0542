// SPDX-License-Identifier: GPL-2.0-only
/*
 * arm-smmu on an SMMU-500 whose registers are messages (arm-smmu-window.h): no access
 * of arm-smmu's goes to smmu->base. Compiled into arm-smmu, with window.patch.
 */
#include <linux/device.h>
#include <linux/errno.h>

#include "arm-smmu.h"
#include "arm-smmu-window.h"

/*
 * Nobody but the window's owner makes a device with this node. pgshift is 0 until
 * ID1 has been read, and before that only page 0 is asked.
 */
static u32 arm_smmu_window_offset(struct arm_smmu_device *smmu, int page,
				  int offset)
{
	return (page << smmu->pgshift) + offset;
}

static u32 arm_smmu_window_read(struct arm_smmu_device *smmu, int page,
				int offset)
{
	const struct arm_smmu_window *w = dev_get_platdata(smmu->dev);

	return w->read(w->bus, arm_smmu_window_offset(smmu, page, offset),
		       sizeof(u32));
}

static void arm_smmu_window_write(struct arm_smmu_device *smmu, int page,
				  int offset, u32 value)
{
	const struct arm_smmu_window *w = dev_get_platdata(smmu->dev);

	w->write(w->bus, arm_smmu_window_offset(smmu, page, offset),
		 sizeof(u32), value);
}

static u64 arm_smmu_window_read64(struct arm_smmu_device *smmu, int page,
				  int offset)
{
	const struct arm_smmu_window *w = dev_get_platdata(smmu->dev);

	return w->read(w->bus, arm_smmu_window_offset(smmu, page, offset),
		       sizeof(u64));
}

static void arm_smmu_window_write64(struct arm_smmu_device *smmu, int page,
				    int offset, u64 value)
{
	const struct arm_smmu_window *w = dev_get_platdata(smmu->dev);

	w->write(w->bus, arm_smmu_window_offset(smmu, page, offset),
		 sizeof(u64), value);
}

/* The rest is that of every SMMU-500; TLB synchronisation is arm-smmu's own. */
static const struct arm_smmu_impl arm_smmu_window_impl = {
	.read_reg = arm_smmu_window_read,
	.write_reg = arm_smmu_window_write,
	.read_reg64 = arm_smmu_window_read64,
	.write_reg64 = arm_smmu_window_write64,
	.reset = arm_mmu500_reset,
};

struct arm_smmu_device *arm_smmu_window_impl_init(struct arm_smmu_device *smmu)
{
	if (!dev_get_platdata(smmu->dev))
		return ERR_PTR(-ENODEV);
	smmu->impl = &arm_smmu_window_impl;
	return smmu;
}
