// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's trace points as notes to the emulator, so that its trace tells
 * what the driver did between two accesses, at the right place of their order.
 *
 * A trace point is of all cards in the machine; each window takes what is of its
 * own.
 */
#include <linux/tracepoint.h>

#include "fl_trace.h"
#include "fl_window.h"

#ifdef CONFIG_TRACEPOINTS

static void fl_note(void *w, const struct fl_dev *dev, u32 event, u32 xfer,
		    u32 block, u64 a0, u64 a1, u64 a2, u64 a3)
{
	const struct fl_window_note note = {
		.event = event,
		.xfer = xfer,
		.block = block,
		.arg = { a0, a1, a2, a3 },
	};

	if (dev->window == w)
		fl_window_note(w, &note);
}

static void fl_note_irq_smmu(void *w, const struct fl_dev *dev, u32 bank,
			     u32 fsr, u64 va, u32 fsynr0)
{
	fl_note(w, dev, FL_WINDOW_NOTE_IRQ_SMMU, 0, 0, bank, fsr, va, fsynr0);
}

static void fl_note_irq_fault(void *w, const struct fl_dev *dev, u32 ctx,
			      u32 side, u64 va, u32 map, u32 xfer, u32 block)
{
	fl_note(w, dev, FL_WINDOW_NOTE_IRQ_FAULT, xfer, block, ctx, side, va,
		map);
}

static void fl_note_work(void *w, const struct fl_dev *dev, u32 ctx, u32 side,
			 u64 va, u32 len, u32 xfer, u32 block)
{
	fl_note(w, dev, FL_WINDOW_NOTE_WORK, xfer, block, ctx, side, va, len);
}

static void fl_note_resolve(void *w, const struct fl_dev *dev, u64 va,
			    u64 pages, bool write, int error, u32 xfer,
			    u32 block)
{
	fl_note(w, dev, FL_WINDOW_NOTE_RESOLVE, xfer, block, va, pages, write,
		(u64)error);
}

static void fl_note_ready(void *w, const struct fl_dev *dev, u32 ctx, u32 side,
			  u32 code, u32 xfer, u32 block)
{
	fl_note(w, dev, FL_WINDOW_NOTE_READY, xfer, block, ctx, side, code, 0);
}

static void fl_note_resume(void *w, const struct fl_dev *dev, u32 bank,
			   bool terminate, u64 va, u32 xfer, u32 block)
{
	fl_note(w, dev, FL_WINDOW_NOTE_RESUME, xfer, block, bank, terminate, va,
		0);
}

static void fl_note_spurious(void *w, const struct fl_dev *dev, u32 bank,
			     u32 fsr)
{
	fl_note(w, dev, FL_WINDOW_NOTE_SPURIOUS, 0, 0, bank, fsr, 0, 0);
}

static void fl_note_bind(void *w, const struct fl_dev *dev, u32 bank, u32 asid,
			 u64 ttbr, u32 t0sz)
{
	fl_note(w, dev, FL_WINDOW_NOTE_BIND, 0, 0, bank, asid, ttbr, t0sz);
}

static void fl_note_unbind(void *w, const struct fl_dev *dev, u32 bank, u32 asid)
{
	fl_note(w, dev, FL_WINDOW_NOTE_UNBIND, 0, 0, bank, asid, 0, 0);
}

static void fl_note_invalidate(void *w, const struct fl_dev *dev, u32 bank,
			       u64 va, u64 pages, u32 xfer, u32 block)
{
	fl_note(w, dev, FL_WINDOW_NOTE_INVALIDATE, xfer, block, bank, va, pages,
		0);
}

static void fl_note_mr(void *w, const struct fl_dev *dev, u32 key, u64 va,
		       u64 len, bool pinned)
{
	fl_note(w, dev, FL_WINDOW_NOTE_MR, 0, 0, key, va, len, pinned);
}

static void fl_note_mr_gone(void *w, const struct fl_dev *dev, u32 key)
{
	fl_note(w, dev, FL_WINDOW_NOTE_MR_GONE, 0, 0, key, 0, 0, 0);
}

static void fl_note_cut_off(void *w, const struct fl_dev *dev, u32 bank,
			    u32 asid)
{
	fl_note(w, dev, FL_WINDOW_NOTE_CUT_OFF, 0, 0, bank, asid, 0, 0);
}

/* A trace point has a pair of functions of its own name, not an object. */
#define FL_NOTE_SWITCH(name)                                                 \
	static int fl_note_##name##_on(void *w)                              \
	{                                                                    \
		return register_trace_fl_##name(fl_note_##name, w);          \
	}                                                                    \
	static void fl_note_##name##_off(void *w)                            \
	{                                                                    \
		unregister_trace_fl_##name(fl_note_##name, w);               \
	}

FL_NOTE_SWITCH(irq_smmu)
FL_NOTE_SWITCH(irq_fault)
FL_NOTE_SWITCH(work)
FL_NOTE_SWITCH(resolve)
FL_NOTE_SWITCH(ready)
FL_NOTE_SWITCH(resume)
FL_NOTE_SWITCH(spurious)
FL_NOTE_SWITCH(bind)
FL_NOTE_SWITCH(unbind)
FL_NOTE_SWITCH(invalidate)
FL_NOTE_SWITCH(mr)
FL_NOTE_SWITCH(mr_gone)
FL_NOTE_SWITCH(cut_off)

static const struct {
	int (*on)(void *w);
	void (*off)(void *w);
} fl_note_switch[FL_WINDOW_NOTES] = {
	[FL_WINDOW_NOTE_IRQ_SMMU] = { fl_note_irq_smmu_on,
				      fl_note_irq_smmu_off },
	[FL_WINDOW_NOTE_IRQ_FAULT] = { fl_note_irq_fault_on,
				       fl_note_irq_fault_off },
	[FL_WINDOW_NOTE_WORK] = { fl_note_work_on, fl_note_work_off },
	[FL_WINDOW_NOTE_RESOLVE] = { fl_note_resolve_on, fl_note_resolve_off },
	[FL_WINDOW_NOTE_READY] = { fl_note_ready_on, fl_note_ready_off },
	[FL_WINDOW_NOTE_RESUME] = { fl_note_resume_on, fl_note_resume_off },
	[FL_WINDOW_NOTE_SPURIOUS] = { fl_note_spurious_on,
				      fl_note_spurious_off },
	[FL_WINDOW_NOTE_BIND] = { fl_note_bind_on, fl_note_bind_off },
	[FL_WINDOW_NOTE_UNBIND] = { fl_note_unbind_on, fl_note_unbind_off },
	[FL_WINDOW_NOTE_INVALIDATE] = { fl_note_invalidate_on,
					fl_note_invalidate_off },
	[FL_WINDOW_NOTE_MR] = { fl_note_mr_on, fl_note_mr_off },
	[FL_WINDOW_NOTE_MR_GONE] = { fl_note_mr_gone_on, fl_note_mr_gone_off },
	[FL_WINDOW_NOTE_CUT_OFF] = { fl_note_cut_off_on, fl_note_cut_off_off },
};

static void fl_notes_off(struct fl_window *w, unsigned int n)
{
	while (n--)
		fl_note_switch[n].off(w);
	/* Nobody is inside one any more when this returns. */
	tracepoint_synchronize_unregister();
}

int fl_notes_start(struct fl_window *w)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(fl_note_switch); i++) {
		ret = fl_note_switch[i].on(w);
		if (ret) {
			fl_notes_off(w, i);
			return ret;
		}
	}
	return 0;
}

void fl_notes_stop(struct fl_window *w)
{
	fl_notes_off(w, ARRAY_SIZE(fl_note_switch));
}

#else

int fl_notes_start(struct fl_window *w)
{
	return 0;
}

void fl_notes_stop(struct fl_window *w)
{
}

#endif
