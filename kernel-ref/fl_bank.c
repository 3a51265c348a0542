// SPDX-License-Identifier: GPL-2.0-only
/*
 * The SMMU: reset, and the context bank of a process.
 *
 * A bank walks the tables that it was given (TTBR0; fl_tables.h) with the ASID of
 * the process. Bank, stream match group and domain slot have the same number.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/iopoll.h>
#include <linux/mm.h>
#include <asm/mmu_context.h>
#include <asm/pgtable-hwdef.h>
#include <asm/sysreg.h>

#include "faultline/smmu_fsr.h"
#include "fl_access.h"
#include "fl_dev.h"
#include "fl_trace.h"

#define FL_SYNC_TIMEOUT_US	1000000	/* as Linux's arm-smmu */

/*
 * Each page costs a register write; from here on it is cheaper to drop what
 * the process has in the TLB (512 entries) and let it be walked again.
 */
#define FL_TLBI_PAGES_MAX	64

#define FL_S2CR_TRANSLATE	0u
#define FL_S2CR_FAULT		2u
#define FL_S2CR_UNPRIVILEGED	2u
#define FL_CBAR_STAGE1		1u	/* with stage-2 bypass */
#define FL_CBAR_NON_SHAREABLE	3u
#define FL_CBAR_WRITE_BACK	0xfu
#define FL_TCR_WRITE_BACK	1u	/* write-allocate */
#define FL_TCR_INNER		3u
#define FL_TCR2_48_BIT		5u
#define FL_TCR2_UPSTREAM	7u

#define FL_FIELD(value, field)	((u32)(value) << field##_SHIFT)

static u32 fl_s2cr_fault(void)
{
	return FL_FIELD(FL_S2CR_FAULT, SMMU_GR0_S2CR_TYPE);
}

static u32 fl_s2cr_bank(unsigned int bank)
{
	return FL_FIELD(bank, SMMU_GR0_S2CR_CBNDX) |
	       FL_FIELD(FL_S2CR_TRANSLATE, SMMU_GR0_S2CR_TYPE) |
	       FL_FIELD(FL_S2CR_UNPRIVILEGED, SMMU_GR0_S2CR_PRIVCFG);
}

static int fl_smmu_sync(struct fl_dev *dev)
{
	u32 status;

	fl_smmu_write(dev, SMMU_GR0_TLBGSYNC, 0);
	return read_poll_timeout_atomic(fl_smmu_read, status,
					status == FL_GONE ||
					!(status &
					  SMMU_GR0_TLBGSTATUS_GSACTIVE),
					1, FL_SYNC_TIMEOUT_US, false, dev,
					SMMU_GR0_TLBGSTATUS);
}

/* sources: smmu-regs: MMU-500 r2 guards ACTLR; its prefetcher has errata. */
static void fl_smmu_reset_mmu500(struct fl_dev *dev)
{
	u32 acr = fl_smmu_read(dev, SMMU_GR0_ACR);
	unsigned int i;

	acr &= ~SMMU_GR0_ACR_CACHE_LOCK;
	acr |= SMMU_GR0_ACR_SMTNMB_TLBEN | SMMU_GR0_ACR_S2CRB_TLBEN;
	fl_smmu_write(dev, SMMU_GR0_ACR, acr);
	for (i = 0; i < SMMU_CB_COUNT; i++) {
		u32 actlr = fl_cb_read(dev, i, SMMU_CB_ACTLR);

		fl_cb_write(dev, i, SMMU_CB_ACTLR,
			    actlr & ~SMMU_CB_ACTLR_CPRE);
	}
}

/*
 * sources: smmu-regs, the order of Linux: global fault status, stream matching,
 * banks, TLB, MMU-500 bits, synchronise, and only then CR0. A stream that no
 * group matches, or that matches a group nobody uses, faults.
 */
int fl_smmu_reset(struct fl_dev *dev)
{
	unsigned int i;
	u32 cr0;
	int ret;

	fl_smmu_write(dev, SMMU_GR0_GFSR, fl_smmu_read(dev, SMMU_GR0_GFSR));
	for (i = 0; i < SMMU_GR0_SMR_COUNT; i++) {
		fl_smmu_write(dev, SMMU_GR0_SMR(i), 0);
		fl_smmu_write(dev, SMMU_GR0_S2CR(i), fl_s2cr_fault());
	}
	for (i = 0; i < SMMU_CB_COUNT; i++) {
		fl_cb_write(dev, i, SMMU_CB_SCTLR, 0);
		fl_cb_write(dev, i, SMMU_CB_FSR, SMMU_FSR_CLEAR);
	}
	fl_smmu_write(dev, SMMU_GR0_TLBIALLH, 0);
	fl_smmu_write(dev, SMMU_GR0_TLBIALLNSNH, 0);
	fl_smmu_reset_mmu500(dev);
	ret = fl_smmu_sync(dev);
	if (ret)
		return ret;
	cr0 = fl_smmu_read(dev, SMMU_GR0_CR0);
	/* smmu.def, CR0: Linux sets GCFGFRE and GCFGFIE too; here they are 0. */
	cr0 |= SMMU_GR0_CR0_GFRE | SMMU_GR0_CR0_GFIE | SMMU_GR0_CR0_USFCFG |
	       SMMU_GR0_CR0_VMIDPNE | SMMU_GR0_CR0_PTM;
	cr0 &= ~(SMMU_GR0_CR0_CLIENTPD | SMMU_GR0_CR0_FB |
		 SMMU_GR0_CR0_BSU_MASK);
	fl_smmu_write(dev, SMMU_GR0_CR0, cr0);
	return 0;
}

/* Leave it so that every access of the card faults, and the line is low. */
void fl_smmu_off(struct fl_dev *dev)
{
	unsigned int i;
	u32 cr0;

	for (i = 0; i < SMMU_CB_COUNT; i++) {
		fl_smmu_write(dev, SMMU_GR0_S2CR(i), fl_s2cr_fault());
		fl_cb_write(dev, i, SMMU_CB_SCTLR, 0);
	}
	cr0 = fl_smmu_read(dev, SMMU_GR0_CR0);
	cr0 &= ~SMMU_GR0_CR0_GFIE;
	fl_smmu_write(dev, SMMU_GR0_CR0, cr0);
}

int fl_bank_prepare(struct fl_ctx *ctx)
{
	/*
	 * Not 64 - VA_BITS: that is what the kernel was built for (52 bits in
	 * 6.12), while TCR_EL1 says how it runs here.
	 */
	ctx->t0sz = read_sysreg(tcr_el1) & TCR_T0SZ_MASK;
	/* smmu.def, ID2: an SMMUv2 takes 48 bits of input address */
	if (ctx->t0sz < 16)
		return -EOPNOTSUPP;
	/* Pinned: the CPU will not give this ASID to another process. */
	ctx->asid = arm64_mm_context_get(ctx->mm);
	return ctx->asid ? 0 : -ENOSPC;
}

void fl_bank_unprepare(struct fl_ctx *ctx)
{
	arm64_mm_context_put(ctx->mm);
}

static u32 fl_bank_sctlr(struct fl_ctx *ctx, bool holds)
{
	/*
	 * sources: smmu-faults. CFRE: a refused access must abort, or the card takes
	 * zeros for data. HUPCF: the bank's other accesses go on. AFFD stays
	 * 0: nobody but the kernel sets the access flag here.
	 */
	u32 sctlr = SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE | SMMU_CB_SCTLR_CFIE |
		    SMMU_CB_SCTLR_HUPCF;

	if (holds)
		sctlr |= SMMU_CB_SCTLR_CFCFG;
	/* Tables that are whole give something for every read; refused writes vanish. */
	if (ctx->row.tables == FL_TABLES_SINK && !ctx->draining)
		sctlr &= ~SMMU_CB_SCTLR_CFRE;
	return sctlr;
}

static u32 fl_bank_tcr(struct fl_ctx *ctx)
{
	return FL_FIELD(ctx->t0sz, SMMU_CB_TCR_T0SZ) |
	       FL_FIELD(FL_TCR_WRITE_BACK, SMMU_CB_TCR_IRGN0) |
	       FL_FIELD(FL_TCR_WRITE_BACK, SMMU_CB_TCR_ORGN0) |
	       FL_FIELD(FL_TCR_INNER, SMMU_CB_TCR_SH0) | SMMU_CB_TCR_EPD1;
}

static u64 fl_bank_ttbr(struct fl_ctx *ctx)
{
	return ctx->root | (u64)ctx->asid << SMMU_CB_TTBR0_ASID_SHIFT;
}

/* bank_lock is held; -ETIMEDOUT. A card that is gone accesses nothing. */
static int fl_bank_sync(struct fl_ctx *ctx)
{
	/* tag::invalidate-1[] */
	u32 off = SMMU_CB_BASE(ctx->slot) + SMMU_CB_TLBSTATUS;
	u32 status;

	fl_cb_write(ctx->dev, ctx->slot, SMMU_CB_TLBSYNC, 0);
	return read_poll_timeout_atomic(fl_smmu_read, status,
					status == FL_GONE ||
					!(status & SMMU_CB_TLBSTATUS_SACTIVE),
					1, FL_SYNC_TIMEOUT_US, false, ctx->dev,
					off);
	/* end::invalidate-1[] */
}

/* bank_lock is held. */
static void fl_bank_cut_locked(struct fl_ctx *ctx)
{
	fl_smmu_write(ctx->dev, SMMU_GR0_S2CR(ctx->slot), fl_s2cr_fault());
	if (READ_ONCE(ctx->dev->psdma.owner) == ctx)
		fl_smmu_write(ctx->dev, SMMU_GR0_S2CR(FL_PSDMA_GROUP),
			      fl_s2cr_fault());
	WRITE_ONCE(ctx->lost, true);
	WRITE_ONCE(ctx->dead, true);
	fl_stall_cut(ctx);
}

void fl_bank_cut(struct fl_ctx *ctx)
{
	unsigned long flags;

	spin_lock_irqsave(&ctx->bank_lock, flags);
	fl_bank_cut_locked(ctx);
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
	wake_up_all(&ctx->wait);
}

/*
 * bank_lock is held. The SMMU does not say that nobody uses what the process's
 * tables have lost, and the kernel will not wait: pages go on to somebody else
 * when this returns. What the card has begun cannot be had back, but it shall
 * begin nothing more. A file that has lost its card has lost it for good.
 */
static void fl_bank_lost(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;

	fl_bank_cut_locked(ctx);
	atomic64_inc(&ctx->lost_syncs);
	dev_err_ratelimited(dev->dev,
			    "bank %u: the TLB does not synchronise; stream 0x%x is cut off\n",
			    ctx->slot, ctx->stream);
	trace_fl_cut_off(dev, ctx->slot, ctx->asid);
	wake_up_all(&ctx->wait);
}

/* bank_lock is held. What an earlier owner of the ASID left in the TLB goes. */
static int fl_bank_start(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	unsigned int n = ctx->slot;

	if (ctx->lost)
		return -ENODEV;
	fl_cb_write(dev, n, SMMU_CB_TLBIASID, ctx->asid);
	if (fl_bank_sync(ctx)) {
		fl_bank_lost(ctx);
		return -EIO;
	}
	ctx->sctlr = fl_bank_sctlr(ctx, fl_row_holds(&ctx->row));
	fl_cb_write(dev, n, SMMU_CB_SCTLR, ctx->sctlr);
	/* Last: from here on the card can reach the process. */
	fl_smmu_write(dev, SMMU_GR0_S2CR(n), fl_s2cr_bank(n));
	fl_smmu_write(dev, SMMU_GR0_SMR(n),
		      FL_FIELD(ctx->stream, SMMU_GR0_SMR_ID) |
		      SMMU_GR0_SMR_VALID);
	return 0;
}

int fl_bank_on(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	unsigned int n = ctx->slot;
	u64 mair = read_sysreg(mair_el1);
	unsigned long flags;
	int ret;

	fl_smmu_write(dev, SMMU_GR1_BASE + SMMU_GR1_CBAR(n),
		      FL_FIELD(FL_CBAR_STAGE1, SMMU_GR1_CBAR_TYPE) |
		      FL_FIELD(FL_CBAR_NON_SHAREABLE, SMMU_GR1_CBAR_BPSHCFG) |
		      FL_FIELD(FL_CBAR_WRITE_BACK, SMMU_GR1_CBAR_MEMATTR));
	fl_smmu_write(dev, SMMU_GR1_BASE + SMMU_GR1_CBA2R(n),
		      SMMU_GR1_CBA2R_VA64);
	fl_cb_write(dev, n, SMMU_CB_TCR2,
		    FL_FIELD(FL_TCR2_48_BIT, SMMU_CB_TCR2_PASIZE) |
		    SMMU_CB_TCR2_AS |
		    FL_FIELD(FL_TCR2_UPSTREAM, SMMU_CB_TCR2_SEP));
	fl_cb_write(dev, n, SMMU_CB_TCR, fl_bank_tcr(ctx));
	fl_cb_write64(dev, n, SMMU_CB_TTBR0, fl_bank_ttbr(ctx));
	fl_cb_write64(dev, n, SMMU_CB_TTBR1, 0);
	/* Attributes in the tables are indices into the CPU's MAIR. */
	fl_cb_write(dev, n, SMMU_CB_MAIR0, lower_32_bits(mair));
	fl_cb_write(dev, n, SMMU_CB_MAIR1, upper_32_bits(mair));
	fl_cb_write(dev, n, SMMU_CB_FSR, SMMU_FSR_CLEAR);

	spin_lock_irqsave(&ctx->bank_lock, flags);
	ret = fl_bank_start(ctx);
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
	if (!ret)
		trace_fl_bind(dev, n, ctx->asid, ctx->root, ctx->t0sz);
	return ret;
}

int fl_bank_root(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&ctx->bank_lock, flags);
	fl_cb_write64(dev, ctx->slot, SMMU_CB_TTBR0, fl_bank_ttbr(ctx));
	/* The same ASID leads elsewhere now. */
	fl_cb_write(dev, ctx->slot, SMMU_CB_TLBIASID, ctx->asid);
	if (ctx->lost) {
		ret = -ENODEV;
	} else if (fl_bank_sync(ctx)) {
		fl_bank_lost(ctx);
		ret = -EIO;
	}
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
	if (!ret)
		trace_fl_bind(dev, ctx->slot, ctx->asid, ctx->root, ctx->t0sz);
	return ret;
}

int fl_bank_lend(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	unsigned long flags;
	int ret = -ENODEV;

	spin_lock_irqsave(&ctx->bank_lock, flags);
	if (ctx->sctlr && !ctx->lost) {
		WRITE_ONCE(dev->psdma.owner, ctx);
		fl_smmu_write(dev, SMMU_GR0_S2CR(FL_PSDMA_GROUP),
			      fl_s2cr_bank(ctx->slot));
		fl_smmu_write(dev, SMMU_GR0_SMR(FL_PSDMA_GROUP),
			      FL_FIELD(FL_PSDMA_STREAM, SMMU_GR0_SMR_ID) |
			      SMMU_GR0_SMR_VALID);
		ret = 0;
	}
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
	return ret;
}

void fl_bank_take_back(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	unsigned long flags;

	spin_lock_irqsave(&ctx->bank_lock, flags);
	fl_smmu_write(dev, SMMU_GR0_S2CR(FL_PSDMA_GROUP), fl_s2cr_fault());
	fl_smmu_write(dev, SMMU_GR0_SMR(FL_PSDMA_GROUP), 0);
	WRITE_ONCE(dev->psdma.owner, NULL);
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
}

void fl_bank_set_holds(struct fl_ctx *ctx, bool holds)
{
	unsigned long flags;

	spin_lock_irqsave(&ctx->bank_lock, flags);
	/* A fault that is being answered has CFIE off; leave it so. */
	ctx->sctlr = fl_bank_sctlr(ctx, holds) &
		     ~(ctx->sctlr & SMMU_CB_SCTLR_CFIE ? 0 :
							 SMMU_CB_SCTLR_CFIE);
	fl_cb_write(ctx->dev, ctx->slot, SMMU_CB_SCTLR, ctx->sctlr);
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
}

/*
 * bank_lock is held, and the bank is on: what it knows of pages first to last
 * goes from the TLB, and who uses it comes to an end. As fl_bank_sync().
 */
static int fl_bank_drop(struct fl_ctx *ctx, u64 first, u64 last, bool leaf)
{
	/* tag::invalidate-2[] */
	u64 asid = (u64)ctx->asid << SMMU_CB_TLBIVA_ASID_SHIFT, page;
	u32 op = leaf ? SMMU_CB_TLBIVAL : SMMU_CB_TLBIVA;

	/* The write is ordered after the stores to the tables (writel). */
	if (last - first < FL_TLBI_PAGES_MAX)
		for (page = first; page <= last; page++)
			fl_cb_write64(ctx->dev, ctx->slot, op,
				      asid | (page & SMMU_CB_TLBIVA_VPN_MASK));
	else
		fl_cb_write(ctx->dev, ctx->slot, SMMU_CB_TLBIASID, ctx->asid);
	return fl_bank_sync(ctx);
	/* end::invalidate-2[] */
}

void fl_bank_invalidate(struct fl_ctx *ctx, struct fl_range r, bool leaf,
			u32 xfer, u32 block)
{
	u64 first = r.start >> FL_PAGE_SHIFT;
	u64 last = (r.end - 1) >> FL_PAGE_SHIFT;
	unsigned long flags;
	bool on;

	spin_lock_irqsave(&ctx->bank_lock, flags);
	/*
	 * Off, it may be another process's by now, and began with nothing. Cut
	 * off, nothing is left that could be waited for.
	 */
	on = ctx->sctlr && !ctx->lost;
	if (on && fl_bank_drop(ctx, first, last, leaf))
		fl_bank_lost(ctx);
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
	if (!on)
		return;
	atomic64_inc(&ctx->invalidations);
	trace_fl_invalidate(ctx->dev, ctx->slot, first << FL_PAGE_SHIFT,
			    last - first + 1, xfer, block);
}

/*
 * Not SCTLR.M = 0: that would let the card's addresses through untranslated.
 * EPD0 makes each walk a translation fault of this bank, which the fault
 * worker then ends with a status.
 */
void fl_bank_block(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	unsigned long flags;

	spin_lock_irqsave(&ctx->bank_lock, flags);
	/* Nothing may pass for a word of the process, now that nothing is walked. */
	if (!(ctx->sctlr & SMMU_CB_SCTLR_CFRE)) {
		ctx->sctlr |= SMMU_CB_SCTLR_CFRE;
		fl_cb_write(dev, ctx->slot, SMMU_CB_SCTLR, ctx->sctlr);
	}
	/* tag::invalidate-4[] */
	fl_cb_write(dev, ctx->slot, SMMU_CB_TCR,
		    fl_bank_tcr(ctx) | SMMU_CB_TCR_EPD0);
	fl_cb_write64(dev, ctx->slot, SMMU_CB_TTBR0,
		      (u64)ctx->asid << SMMU_CB_TTBR0_ASID_SHIFT);
	fl_cb_write(dev, ctx->slot, SMMU_CB_TLBIASID, ctx->asid);
	if (fl_bank_sync(ctx))
		fl_bank_lost(ctx);
	/* end::invalidate-4[] */
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
}

void fl_bank_off(struct fl_ctx *ctx)
{
	struct fl_dev *dev = ctx->dev;
	unsigned long flags;

	/* The stream first, as fl_bank_block() says. */
	fl_smmu_write(dev, SMMU_GR0_S2CR(ctx->slot), fl_s2cr_fault());
	fl_smmu_write(dev, SMMU_GR0_SMR(ctx->slot), 0);
	spin_lock_irqsave(&ctx->bank_lock, flags);
	ctx->sctlr = 0;
	fl_cb_write(dev, ctx->slot, SMMU_CB_TLBIASID, ctx->asid);
	if (!ctx->lost && fl_bank_sync(ctx))
		fl_bank_lost(ctx);
	fl_cb_write(dev, ctx->slot, SMMU_CB_SCTLR, 0);
	fl_cb_write(dev, ctx->slot, SMMU_CB_FSR, SMMU_FSR_CLEAR);
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
	trace_fl_unbind(dev, ctx->slot, ctx->asid);
}
