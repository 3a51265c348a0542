/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_trace.h - trace points: each step of a fault that the driver takes.
 *
 * They cost nothing while nobody listens. xfer and block name the transfer as
 * the application numbered it (regs.def, FLT_XFER, FLT_BLOCK); 0: unknown. card
 * is the number in the name of the device file.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM faultline

#if !defined(FL_TRACEPOINTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define FL_TRACEPOINTS_H

#include <linux/tracepoint.h>
#include <linux/types.h>

#include "fl_dev.h"

/* the top half read and cleared a bank's fault */
TRACE_EVENT(fl_irq_smmu,
	TP_PROTO(const struct fl_dev *dev, u32 bank, u32 fsr, u64 va, u32 fsynr0),
	TP_ARGS(dev, bank, fsr, va, fsynr0),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, bank)
		__field(u32, fsr)
		__field(u64, va)
		__field(u32, fsynr0)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->bank = bank;
		__entry->fsr = fsr;
		__entry->va = va;
		__entry->fsynr0 = fsynr0;),
	TP_printk("card=%u bank=%u fsr=0x%x va=0x%llx fsynr0=0x%x",
		  __entry->card, __entry->bank, __entry->fsr, __entry->va,
		  __entry->fsynr0)
);

/* the top half took a fault report from the engine */
TRACE_EVENT(fl_irq_fault,
	TP_PROTO(const struct fl_dev *dev, u32 ctx, u32 side, u64 va, u32 map,
		 u32 xfer, u32 block),
	TP_ARGS(dev, ctx, side, va, map, xfer, block),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, ctx)
		__field(u32, side)
		__field(u64, va)
		__field(u32, map)
		__field(u32, xfer)
		__field(u32, block)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->ctx = ctx;
		__entry->side = side;
		__entry->va = va;
		__entry->map = map;
		__entry->xfer = xfer;
		__entry->block = block;),
	TP_printk("card=%u %u.%u ctx=%u side=%u va=0x%llx map=0x%x",
		  __entry->card, __entry->xfer, __entry->block, __entry->ctx,
		  __entry->side, __entry->va, __entry->map)
);

/* the worker began */
TRACE_EVENT(fl_work,
	TP_PROTO(const struct fl_dev *dev, u32 ctx, u32 side, u64 va, u32 len,
		 u32 xfer, u32 block),
	TP_ARGS(dev, ctx, side, va, len, xfer, block),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, ctx)
		__field(u32, side)
		__field(u64, va)
		__field(u32, len)
		__field(u32, xfer)
		__field(u32, block)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->ctx = ctx;
		__entry->side = side;
		__entry->va = va;
		__entry->len = len;
		__entry->xfer = xfer;
		__entry->block = block;),
	TP_printk("card=%u %u.%u ctx=%u side=%u va=0x%llx len=%u",
		  __entry->card, __entry->xfer, __entry->block, __entry->ctx,
		  __entry->side, __entry->va, __entry->len)
);

/* the kernel was asked for pages */
TRACE_EVENT(fl_resolve,
	TP_PROTO(const struct fl_dev *dev, u64 va, u64 pages, bool write,
		 int error, u32 xfer, u32 block),
	TP_ARGS(dev, va, pages, write, error, xfer, block),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u64, va)
		__field(u64, pages)
		__field(bool, write)
		__field(int, error)
		__field(u32, xfer)
		__field(u32, block)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->va = va;
		__entry->pages = pages;
		__entry->write = write;
		__entry->error = error;
		__entry->xfer = xfer;
		__entry->block = block;),
	TP_printk("card=%u %u.%u va=0x%llx pages=%llu write=%d error=%d",
		  __entry->card, __entry->xfer, __entry->block, __entry->va,
		  __entry->pages, __entry->write, __entry->error)
);

/* the fault was answered: the ready register was written */
TRACE_EVENT(fl_ready,
	TP_PROTO(const struct fl_dev *dev, u32 ctx, u32 side, u32 code,
		 u32 xfer, u32 block),
	TP_ARGS(dev, ctx, side, code, xfer, block),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, ctx)
		__field(u32, side)
		__field(u32, code)
		__field(u32, xfer)
		__field(u32, block)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->ctx = ctx;
		__entry->side = side;
		__entry->code = code;
		__entry->xfer = xfer;
		__entry->block = block;),
	TP_printk("card=%u %u.%u ctx=%u side=%u code=%u", __entry->card,
		  __entry->xfer, __entry->block, __entry->ctx, __entry->side,
		  __entry->code)
);

/* a held access was answered: RESUME was written */
TRACE_EVENT(fl_resume,
	TP_PROTO(const struct fl_dev *dev, u32 bank, bool terminate, u64 va,
		 u32 xfer, u32 block),
	TP_ARGS(dev, bank, terminate, va, xfer, block),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, bank)
		__field(bool, terminate)
		__field(u64, va)
		__field(u32, xfer)
		__field(u32, block)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->bank = bank;
		__entry->terminate = terminate;
		__entry->va = va;
		__entry->xfer = xfer;
		__entry->block = block;),
	TP_printk("card=%u %u.%u bank=%u terminate=%d va=0x%llx", __entry->card,
		  __entry->xfer, __entry->block, __entry->bank,
		  __entry->terminate, __entry->va)
);

/* a fault that belongs to no process; bank 255: a global one */
TRACE_EVENT(fl_spurious,
	TP_PROTO(const struct fl_dev *dev, u32 bank, u32 fsr),
	TP_ARGS(dev, bank, fsr),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, bank)
		__field(u32, fsr)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->bank = bank;
		__entry->fsr = fsr;),
	TP_printk("card=%u bank=%u fsr=0x%x", __entry->card, __entry->bank,
		  __entry->fsr)
);

/* a process got a context bank */
TRACE_EVENT(fl_bind,
	TP_PROTO(const struct fl_dev *dev, u32 bank, u32 asid, u64 ttbr,
		 u32 t0sz),
	TP_ARGS(dev, bank, asid, ttbr, t0sz),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, bank)
		__field(u32, asid)
		__field(u64, ttbr)
		__field(u32, t0sz)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->bank = bank;
		__entry->asid = asid;
		__entry->ttbr = ttbr;
		__entry->t0sz = t0sz;),
	TP_printk("card=%u bank=%u asid=%u ttbr=0x%llx t0sz=%u", __entry->card,
		  __entry->bank, __entry->asid, __entry->ttbr, __entry->t0sz)
);

/* a process gave its context bank back */
TRACE_EVENT(fl_unbind,
	TP_PROTO(const struct fl_dev *dev, u32 bank, u32 asid),
	TP_ARGS(dev, bank, asid),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, bank)
		__field(u32, asid)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->bank = bank;
		__entry->asid = asid;),
	TP_printk("card=%u bank=%u asid=%u", __entry->card, __entry->bank,
		  __entry->asid)
);

/* the driver invalidated a range and synchronised; 0.0: for the notifier */
TRACE_EVENT(fl_invalidate,
	TP_PROTO(const struct fl_dev *dev, u32 bank, u64 va, u64 pages,
		 u32 xfer, u32 block),
	TP_ARGS(dev, bank, va, pages, xfer, block),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, bank)
		__field(u64, va)
		__field(u64, pages)
		__field(u32, xfer)
		__field(u32, block)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->bank = bank;
		__entry->va = va;
		__entry->pages = pages;
		__entry->xfer = xfer;
		__entry->block = block;),
	TP_printk("card=%u %u.%u bank=%u va=0x%llx pages=%llu", __entry->card,
		  __entry->xfer, __entry->block, __entry->bank, __entry->va,
		  __entry->pages)
);

/* the TLB did not synchronise: the process was cut off */
TRACE_EVENT(fl_cut_off,
	TP_PROTO(const struct fl_dev *dev, u32 bank, u32 asid),
	TP_ARGS(dev, bank, asid),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, bank)
		__field(u32, asid)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->bank = bank;
		__entry->asid = asid;),
	TP_printk("card=%u bank=%u asid=%u", __entry->card, __entry->bank,
		  __entry->asid)
);

/* a memory region was registered */
TRACE_EVENT(fl_mr,
	TP_PROTO(const struct fl_dev *dev, u32 key, u64 va, u64 len, bool pinned),
	TP_ARGS(dev, key, va, len, pinned),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, key)
		__field(u64, va)
		__field(u64, len)
		__field(bool, pinned)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->key = key;
		__entry->va = va;
		__entry->len = len;
		__entry->pinned = pinned;),
	TP_printk("card=%u key=0x%x va=0x%llx len=%llu pinned=%d",
		  __entry->card, __entry->key, __entry->va, __entry->len,
		  __entry->pinned)
);

/* a memory region was deregistered */
TRACE_EVENT(fl_mr_gone,
	TP_PROTO(const struct fl_dev *dev, u32 key),
	TP_ARGS(dev, key),
	TP_STRUCT__entry(
		__field(u32, card)
		__field(u32, key)),
	TP_fast_assign(
		__entry->card = dev->index;
		__entry->key = key;),
	TP_printk("card=%u key=0x%x", __entry->card, __entry->key)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE fl_trace
#include <trace/define_trace.h>
