/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_access.h for a board whose SMMU belongs to Linux's arm-smmu: takes the
 * place of kernel-ref/fl_access.h, and fl_platform.c beside it that of the
 * other one. The rest of the driver is the same, a window of QEMU's too.
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
#include "fl_window.h"

/* What a bus answers for a card that is gone. */
#define FL_GONE		(~0u)

/* Will the card never answer again? Of a card that has not been removed. */
static inline bool fl_card_dead(struct fl_dev *dev)
{
	struct fl_window *w = fl_window(dev);

	return w && fl_window_dead(w);
}

static inline u32 fl_nic_read(struct fl_dev *dev, u32 off)
{
	struct fl_window *w = fl_window(dev);

	return w ? (u32)fl_window_read(w, FL_WINDOW_NIC + off, sizeof(u32)) :
		   readl(dev->nic + off);
}

static inline u64 fl_nic_read64(struct fl_dev *dev, u32 off)
{
	struct fl_window *w = fl_window(dev);

	return w ? fl_window_read(w, FL_WINDOW_NIC + off, sizeof(u64)) :
		   readq(dev->nic + off);
}

static inline void fl_nic_write(struct fl_dev *dev, u32 off, u32 value)
{
	struct fl_window *w = fl_window(dev);

	if (w)
		fl_window_write(w, FL_WINDOW_NIC + off, sizeof(value), value);
	else
		writel(value, dev->nic + off);
}

static inline void fl_nic_write64(struct fl_dev *dev, u32 off, u64 value)
{
	struct fl_window *w = fl_window(dev);

	if (w)
		fl_window_write(w, FL_WINDOW_NIC + off, sizeof(value), value);
	else
		writeq(value, dev->nic + off);
}

/* Where a register of smmu.def is on this board; NULL: arm-smmu's alone. */
void __iomem *fl_shared_reg(struct fl_dev *dev, u32 off);
/* What to write there: numbers of banks inside a register change too. */
u32 fl_shared_value(struct fl_dev *dev, u32 off, u32 value);

/* 0 of what is arm-smmu's: no global fault, no global synchronise under way. */
static inline u32 fl_smmu_read(struct fl_dev *dev, u32 off)
{
	struct fl_window *w = fl_window(dev);
	void __iomem *reg;

	if (w)
		return fl_window_read(w, FL_WINDOW_SMMU + off, sizeof(u32));
	reg = fl_shared_reg(dev, off);
	return reg ? readl(reg) : 0;
}

static inline u64 fl_smmu_read64(struct fl_dev *dev, u32 off)
{
	struct fl_window *w = fl_window(dev);
	void __iomem *reg;

	if (w)
		return fl_window_read(w, FL_WINDOW_SMMU + off, sizeof(u64));
	reg = fl_shared_reg(dev, off);
	return reg ? readq(reg) : 0;
}

static inline void fl_smmu_write(struct fl_dev *dev, u32 off, u32 value)
{
	struct fl_window *w = fl_window(dev);
	void __iomem *reg;

	if (w) {
		fl_window_write(w, FL_WINDOW_SMMU + off, sizeof(value), value);
		return;
	}
	reg = fl_shared_reg(dev, off);
	if (reg)
		writel(fl_shared_value(dev, off, value), reg);
}

/* Only banks have registers that wide which the driver writes. */
static inline void fl_smmu_write64(struct fl_dev *dev, u32 off, u64 value)
{
	struct fl_window *w = fl_window(dev);
	void __iomem *reg;

	if (w) {
		fl_window_write(w, FL_WINDOW_SMMU + off, sizeof(value), value);
		return;
	}
	reg = fl_shared_reg(dev, off);
	if (reg)
		writeq(value, reg);
}

static inline u32 fl_cb_read(struct fl_dev *dev, unsigned int bank, u32 off)
{
	return fl_smmu_read(dev, SMMU_CB_BASE(bank) + off);
}

static inline u64 fl_cb_read64(struct fl_dev *dev, unsigned int bank, u32 off)
{
	return fl_smmu_read64(dev, SMMU_CB_BASE(bank) + off);
}

static inline void fl_cb_write(struct fl_dev *dev, unsigned int bank, u32 off,
			       u32 value)
{
	fl_smmu_write(dev, SMMU_CB_BASE(bank) + off, value);
}

static inline void fl_cb_write64(struct fl_dev *dev, unsigned int bank,
				 u32 off, u64 value)
{
	fl_smmu_write64(dev, SMMU_CB_BASE(bank) + off, value);
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
