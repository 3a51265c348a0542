/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_psdma.h - the DMA engine of the processing system (psdma.def), one channel, which the
 * processes of a card use one after the other.
 */
#ifndef FL_PSDMA_H
#define FL_PSDMA_H

#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

struct fl_ctx;
struct fl_dev;
struct fl_dma_copy;

/* The channel's stream match group: the first one behind those of the slots. */
#define FL_PSDMA_GROUP	SMMU_CB_COUNT
/*
 * sources: smmu-ids: TBU 5, and master 0011 10 1xxx of UG1085, "Master IDs List", for
 * channel 0; fpd_dma_chan1 of Linux, zynqmp.dtsi
 */
#define FL_PSDMA_STREAM	0x14e8

struct fl_psdma {
	void __iomem *regs;	/* NULL: the board has none for the driver */
	int irq;
	spinlock_t lock;	/* isr and turns */
	u32 isr;		/* what the top half has seen of this copy */
	struct list_head turns;	/* those that want the channel; the first has it */
	wait_queue_head_t wait;
	bool started;		/* irq is requested; whose turn it is */
	bool stuck;		/* it did not stop once; whose turn it is */
	/* Whose bank the channel's stream leads to; with that one's bank_lock. */
	struct fl_ctx *owner;
};

/* fl_bank.c: the channel's stream leads to this bank, until it is taken back. -ENODEV: cut off. */
int fl_bank_lend(struct fl_ctx *ctx);
void fl_bank_take_back(struct fl_ctx *ctx);

void fl_psdma_init(struct fl_dev *dev, void __iomem *regs, int irq);
/* No process is left. */
void fl_psdma_exit(struct fl_dev *dev);
/*
 * FL_IOC_DMA_COPY. ctx->lock is held, and given back meanwhile.
 */
int fl_psdma_copy(struct fl_ctx *ctx, struct fl_dma_copy *a);
/* The process leaves, and ctx->dead says so: until none of its copies is under way. */
void fl_psdma_end(struct fl_ctx *ctx);
/* Whoever waits for the channel looks again. */
void fl_psdma_wake(struct fl_dev *dev);

#endif
