/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_access.h - the one place where registers are reached.
 *
 * Offsets are those of regs.def and smmu.def. On a board these are plain
 * readl and writel: a write is posted and ordered after earlier writes to
 * memory, a read waits for the writes before it. Who runs the driver against
 * a window without side effects replaces this file and nothing else.
 */
#ifndef FL_ACCESS_H
#define FL_ACCESS_H

#include <linux/io.h>

#include "fl_dev.h"

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

static inline u32 fl_smmu_read(struct fl_dev *dev, u32 off)
{
	return readl(dev->smmu + off);
}

static inline void fl_smmu_write(struct fl_dev *dev, u32 off, u32 value)
{
	writel(value, dev->smmu + off);
}

static inline u32 fl_cb_read(struct fl_dev *dev, unsigned int bank, u32 off)
{
	return readl(dev->smmu + SMMU_CB_BASE(bank) + off);
}

static inline u64 fl_cb_read64(struct fl_dev *dev, unsigned int bank, u32 off)
{
	return readq(dev->smmu + SMMU_CB_BASE(bank) + off);
}

static inline void fl_cb_write(struct fl_dev *dev, unsigned int bank, u32 off,
			       u32 value)
{
	writel(value, dev->smmu + SMMU_CB_BASE(bank) + off);
}

static inline void fl_cb_write64(struct fl_dev *dev, unsigned int bank,
				 u32 off, u64 value)
{
	writeq(value, dev->smmu + SMMU_CB_BASE(bank) + off);
}

#endif
