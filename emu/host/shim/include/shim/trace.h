/* SPDX-License-Identifier: BSD-2-Clause */
/* trace.h - from the driver's trace points to the emulator's events. */
#ifndef SHIM_SHIM_TRACE_H
#define SHIM_SHIM_TRACE_H

#include <shim/shim.h>

#include "trace/trace.h"

/*
 * Record an event of the driver. Its cause is what this thread recorded before,
 * or what queued its work; first: it begins something new, and has none.
 */
void shim_trace(enum trace_event ev, bool first, u32 xfer, u32 block, u64 a0,
		u64 a1, u64 a2, u64 a3);

/*
 * The trace points of kernel-ref/fl_trace.h, by name. Here a card has a kernel of
 * its own, and the thread knows which.
 */
struct fl_dev;
static inline void shim_trace_fl_irq_smmu(const struct fl_dev *dev, u32 bank,
					  u32 fsr, u64 va, u32 fsynr0)
{
	shim_trace(EV_DRV_IRQ_SMMU, true, 0, 0, bank, fsr, va, fsynr0);
}

static inline void shim_trace_fl_irq_fault(const struct fl_dev *dev, u32 ctx,
					   u32 side, u64 va, u32 map, u32 xfer,
					   u32 block)
{
	shim_trace(EV_DRV_IRQ_FAULT, true, xfer, block, ctx, side, va,
		   map);
}

static inline void shim_trace_fl_work(const struct fl_dev *dev, u32 ctx,
				      u32 side, u64 va, u32 len, u32 xfer,
				      u32 block)
{
	shim_trace(EV_DRV_WORK, false, xfer, block, ctx, side, va, len);
}

static inline void shim_trace_fl_resolve(const struct fl_dev *dev, u64 va,
					 u64 pages, bool write, int error,
					 u32 xfer, u32 block)
{
	shim_trace(EV_DRV_RESOLVE, false, xfer, block, va, pages, write,
		   (u64)error);
}

static inline void shim_trace_fl_ready(const struct fl_dev *dev, u32 ctx,
				       u32 side, u32 code, u32 xfer, u32 block)
{
	shim_trace(EV_DRV_READY, false, xfer, block, ctx, side, code, 0);
}

static inline void shim_trace_fl_resume(const struct fl_dev *dev, u32 bank,
					bool terminate, u64 va, u32 xfer,
					u32 block)
{
	shim_trace(EV_DRV_RESUME, false, xfer, block, bank, terminate, va,
		   0);
}

static inline void shim_trace_fl_spurious(const struct fl_dev *dev, u32 bank,
					  u32 fsr)
{
	shim_trace(EV_DRV_SPURIOUS, false, 0, 0, bank, fsr, 0, 0);
}

static inline void shim_trace_fl_bind(const struct fl_dev *dev, u32 bank,
				      u32 asid, u64 ttbr, u32 t0sz)
{
	shim_trace(EV_DRV_BIND, true, 0, 0, bank, asid, ttbr, t0sz);
}

static inline void shim_trace_fl_unbind(const struct fl_dev *dev, u32 bank,
					u32 asid)
{
	shim_trace(EV_DRV_UNBIND, true, 0, 0, bank, asid, 0, 0);
}

static inline void shim_trace_fl_invalidate(const struct fl_dev *dev, u32 bank,
					    u64 va, u64 pages, u32 xfer,
					    u32 block)
{
	shim_trace(EV_DRV_INVALIDATE, false, xfer, block, bank, va, pages, 0);
}

static inline void shim_trace_fl_cut_off(const struct fl_dev *dev, u32 bank,
					 u32 asid)
{
	shim_trace(EV_DRV_CUT_OFF, false, 0, 0, bank, asid, 0, 0);
}

static inline void shim_trace_fl_mr(const struct fl_dev *dev, u32 key, u64 va,
				    u64 len, bool pinned)
{
	shim_trace(EV_DRV_MR, true, 0, 0, key, va, len, pinned);
}

static inline void shim_trace_fl_mr_gone(const struct fl_dev *dev, u32 key)
{
	shim_trace(EV_DRV_MR_GONE, true, 0, 0, key, 0, 0, 0);
}

#endif
