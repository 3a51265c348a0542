/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_access.h for a board whose SMMU belongs to Linux's arm-smmu: takes the
 * place of kernel-ref/fl_access.h, and fl_platform.c beside it that of the
 * other one. The rest of the driver is the same.
 *
 * The driver counts banks and stream match groups as it counts its slots, from
 * 0. Here they become the ones that arm-smmu has reserved (reserve.patch), and
 * what concerns the whole SMMU is left out: fl_smmu_reset() finds nothing to
 * do but its banks and groups, and the top half sees no global faults.
 */
#ifndef FL_ACCESS_H
#define FL_ACCESS_H

#include <linux/interrupt.h>
#include <linux/io.h>

#include "fl_dev.h"

/* Where a register of smmu.def is on this board; NULL: arm-smmu's alone. */
void __iomem *fl_shared_reg(struct fl_dev *dev, u32 off);
/* What to write there: numbers of banks inside a register change too. */
u32 fl_shared_value(struct fl_dev *dev, u32 off, u32 value);

static inline u32 fl_nic_read(struct fl_dev *dev, u32 off)
{
	return readl(dev->nic + off);
}

static inline u64 fl_nic_read64(struct fl_dev *dev, u32 off)
{
	return readq(dev->nic + off);
}

static inline void fl_nic_write(struct fl_dev *dev, u32 off, u32 value)
{
	writel(value, dev->nic + off);
}

static inline void fl_nic_write64(struct fl_dev *dev, u32 off, u64 value)
{
	writeq(value, dev->nic + off);
}

/* 0 of what is arm-smmu's: no global fault, no global synchronise under way. */
static inline u32 fl_smmu_read(struct fl_dev *dev, u32 off)
{
	void __iomem *reg = fl_shared_reg(dev, off);

	return reg ? readl(reg) : 0;
}

static inline void fl_smmu_write(struct fl_dev *dev, u32 off, u32 value)
{
	void __iomem *reg = fl_shared_reg(dev, off);

	if (reg)
		writel(fl_shared_value(dev, off, value), reg);
}

static inline u32 fl_cb_read(struct fl_dev *dev, unsigned int bank, u32 off)
{
	return readl(fl_shared_reg(dev, SMMU_CB_BASE(bank) + off));
}

static inline u64 fl_cb_read64(struct fl_dev *dev, unsigned int bank, u32 off)
{
	return readq(fl_shared_reg(dev, SMMU_CB_BASE(bank) + off));
}

static inline void fl_cb_write(struct fl_dev *dev, unsigned int bank, u32 off,
			       u32 value)
{
	writel(value, fl_shared_reg(dev, SMMU_CB_BASE(bank) + off));
}

static inline void fl_cb_write64(struct fl_dev *dev, unsigned int bank,
				 u32 off, u64 value)
{
	writeq(value, fl_shared_reg(dev, SMMU_CB_BASE(bank) + off));
}

/* arm-smmu has requested the SMMU's line, and has said that it shares it. */
static inline int fl_request_irq(unsigned int irq, irq_handler_t handler,
				 unsigned long flags, const char *name,
				 void *arg)
{
	return request_irq(irq, handler, flags | IRQF_SHARED, name, arg);
}

#define request_irq fl_request_irq

#endif
