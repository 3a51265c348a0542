/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_access.h - the one place where registers are reached.
 *
 * Offsets are those of regs.def and smmu.def. On a board these are plain
 * readl and writel: a write is posted and ordered after earlier writes to
 * memory, a read waits for the writes before it. A card in an emulator outside
 * has a window without side effects instead; there an access is a message, in
 * the same order (fl_window.h). Whose SMMU it is says fl_smmu.h.
 *
 * Both kinds are in one module. Until the first window is found, asking which
 * it is costs a nop (a static key), so that a board pays nothing for it.
 */
#ifndef FL_ACCESS_H
#define FL_ACCESS_H

#include <linux/io.h>

#include "fl_dev.h"
#include "fl_smmu.h"
#include "fl_window.h"

/* What a bus answers for a card that is gone. */
#define FL_GONE		(~0u)

/* Will the card never answer again? Of a card that has not been removed. */
static inline bool fl_card_dead(struct fl_dev *dev)
{
	struct fl_window *w = fl_window(dev);

	return w && fl_window_dead(w);
}

/*
 * Is nothing done for this file any more? What takes the card away begins with
 * the memory of all files, which tells those that poll, and then takes one file
 * after the other.
 */
static inline bool fl_ctx_over(struct fl_ctx *ctx)
{
	return READ_ONCE(ctx->dead) || READ_ONCE(ctx->dev->gone) ||
	       fl_card_dead(ctx->dev);
}

/*
 * A card that is gone: was it given up because it did not answer? It may be slow, and
 * write to memory all the same. One that was taken out reads as ones, and does
 * nothing more; an emulator that has ended has said so.
 */
static inline bool fl_card_silent(struct fl_dev *dev)
{
	struct fl_window *w = fl_window(dev);

	return w && !fl_window_ended(w);
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

static inline u32 fl_smmu_read(struct fl_dev *dev, u32 off)
{
	struct fl_window *w = fl_window(dev);
	u32 at = fl_smmu_place(dev, off);

	if (at == FL_SMMU_NOWHERE)
		return 0;
	return w ? (u32)fl_window_read(w, FL_WINDOW_SMMU + at, sizeof(u32)) :
		   readl(dev->smmu + at);
}

static inline u64 fl_smmu_read64(struct fl_dev *dev, u32 off)
{
	struct fl_window *w = fl_window(dev);
	u32 at = fl_smmu_place(dev, off);

	if (at == FL_SMMU_NOWHERE)
		return 0;
	return w ? fl_window_read(w, FL_WINDOW_SMMU + at, sizeof(u64)) :
		   readq(dev->smmu + at);
}

static inline void fl_smmu_write(struct fl_dev *dev, u32 off, u32 value)
{
	struct fl_window *w = fl_window(dev);
	u32 at = fl_smmu_place(dev, off);

	if (at == FL_SMMU_NOWHERE)
		return;
	value = fl_smmu_value(dev, off, value);
	if (w)
		fl_window_write(w, FL_WINDOW_SMMU + at, sizeof(value), value);
	else
		writel(value, dev->smmu + at);
}

/* Registers that wide hold no number of a bank. */
static inline void fl_smmu_write64(struct fl_dev *dev, u32 off, u64 value)
{
	struct fl_window *w = fl_window(dev);
	u32 at = fl_smmu_place(dev, off);

	if (at == FL_SMMU_NOWHERE)
		return;
	if (w)
		fl_window_write(w, FL_WINDOW_SMMU + at, sizeof(value), value);
	else
		writeq(value, dev->smmu + at);
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

#endif
