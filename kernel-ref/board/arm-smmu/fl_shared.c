// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux's arm-smmu has the SMMU, and lends a context bank and a stream match
 * group for each slot (reserve.patch). What fl_smmu.h asks for then.
 */
#include <linux/arm-smmu-reserve.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/property.h>

#include "fl_dev.h"
#include "fl_shared.h"
#include "fl_smmu.h"

static_assert(FL_SLOTS <= ARM_SMMU_RESERVE_MAX);

/* A group is reserved for all the stream IDs that its slot uses in turn. */
#define FL_TURN_MASK	(FL_SLOTS * (FL_STREAM_TURNS - 1))

/* The n of a register that is there n times, beginning at base; or all of them. */
static u32 fl_shared_index(u32 off, u32 base)
{
	return off >= base && (off - base) / 4 < FL_SLOTS ? (off - base) / 4 :
							   FL_SLOTS;
}

static u32 fl_shared_page(const struct arm_smmu_reserved *r, unsigned int page)
{
	return page << r->pgshift;
}

static u32 fl_shared_gr0(const struct arm_smmu_reserved *r, u32 off)
{
	u32 smr = fl_shared_index(off, SMMU_GR0_SMR(0));
	u32 s2cr = fl_shared_index(off, SMMU_GR0_S2CR(0));

	if (smr < r->count)
		return SMMU_GR0_SMR(r->group[smr]);
	if (s2cr < r->count)
		return SMMU_GR0_S2CR(r->group[s2cr]);
	return FL_SMMU_NOWHERE;
}

static u32 fl_shared_gr1(const struct arm_smmu_reserved *r, u32 off)
{
	u32 cbar = fl_shared_index(off, SMMU_GR1_CBAR(0));
	u32 who = fl_shared_index(off, SMMU_GR1_CBFRSYNRA(0));
	u32 cba2r = fl_shared_index(off, SMMU_GR1_CBA2R(0));
	u32 page = fl_shared_page(r, 1);

	if (cbar < r->count)
		return page + SMMU_GR1_CBAR(r->bank[cbar]);
	if (who < r->count)
		return page + SMMU_GR1_CBFRSYNRA(r->bank[who]);
	if (cba2r < r->count)
		return page + SMMU_GR1_CBA2R(r->bank[cba2r]);
	return FL_SMMU_NOWHERE;
}

u32 fl_smmu_place(struct fl_dev *dev, u32 off)
{
	const struct arm_smmu_reserved *r = dev->lent;
	u32 slot;

	if (off < SMMU_GR1_BASE)
		return fl_shared_gr0(r, off);
	if (off < SMMU_CB_BASE(0))
		return fl_shared_gr1(r, off - SMMU_GR1_BASE);
	slot = (off - SMMU_CB_BASE(0)) / SMMU_CB_STRIDE;
	return fl_shared_page(r, r->cb_page + r->bank[slot]) +
	       off % SMMU_CB_STRIDE;
}

u32 fl_smmu_value(struct fl_dev *dev, u32 off, u32 value)
{
	const struct arm_smmu_reserved *r = dev->lent;
	u32 n;

	if (fl_shared_index(off, SMMU_GR0_S2CR(0)) < r->count) {
		n = value & SMMU_GR0_S2CR_CBNDX_MASK;
		return (value & ~SMMU_GR0_S2CR_CBNDX_MASK) | r->bank[n];
	}
	if (off >= SMMU_GR1_BASE &&
	    fl_shared_index(off - SMMU_GR1_BASE, SMMU_GR1_CBAR(0)) < r->count)
		return (value & ~(SMMU_GR1_CBAR_VMID_MASK |
				  SMMU_GR1_CBAR_IRPTNDX_MASK)) |
		       ARM_SMMU_RESERVED_VMID;
	return value;
}

/* After fl_remove(), or when that has nothing to undo. */
static void fl_shared_put(void *r)
{
	arm_smmu_unreserve(r);
}

int fl_shared_reserve(struct device *dev, struct arm_smmu_reserved *r)
{
	struct device_node *smmu;
	u32 base = FL_STREAM_BASE;
	int ret;

	device_property_read_u32(dev, "faultline,stream-base", &base);
	if (base > U16_MAX || base & (FL_TURN_MASK | (FL_SLOTS - 1)))
		return dev_err_probe(dev, -EINVAL,
				     "faultline,stream-base 0x%x: not a multiple of %u\n",
				     base, FL_SLOTS * FL_STREAM_TURNS);
	smmu = of_parse_phandle(dev->of_node, "faultline,smmu", 0);
	if (!smmu)
		return dev_err_probe(dev, -ENODEV,
				     "no faultline,smmu: apply the overlay shared-smmu too\n");
	ret = arm_smmu_reserve(dev, smmu, FL_SLOTS, base, FL_TURN_MASK, r);
	of_node_put(smmu);
	if (!ret)
		return 0;
	if (ret == -ENOSPC)
		return dev_err_probe(dev, ret,
				     "not %u banks free; boot with iommu.passthrough=1\n",
				     FL_SLOTS);
	if (ret == -EPERM)
		return dev_err_probe(dev, ret,
				     "boot with arm-smmu.disable_bypass=1\n");
	return dev_err_probe(dev, ret, "the SMMU lends nothing\n");
}

int fl_shared_irq(struct device *dev, const struct arm_smmu_reserved *r,
		  int irq)
{
	unsigned int i;

	if (irq < 0)
		return irq;
	for (i = 0; i < r->count; i++)
		if (r->irq[i] != irq)
			return dev_err_probe(dev, -EINVAL,
					     "interrupts: the first is not that of bank %u\n",
					     r->bank[i]);
	return 0;
}

/* Given back by devm, after fl_remove(). */
int fl_smmu_get(struct platform_device *pdev, struct fl_resources *res)
{
	struct device *dev = &pdev->dev;
	struct arm_smmu_reserved *r;
	int ret;

	r = devm_kzalloc(dev, sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	ret = fl_shared_reserve(dev, r);
	if (ret)
		return ret;
	ret = devm_add_action_or_reset(dev, fl_shared_put, r);
	if (ret)
		return ret;
	res->smmu = r->base;
	res->lent = r;
	return fl_shared_irq(dev, r, platform_get_irq(pdev, 0));
}
