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

struct fl_note_switch {
	int (*on)(void *w);
	void (*off)(void *w);
};

/* fl_note_irq_smmu() and the others, and fl_note_switch[], of driver_trace.def */
#include "fl_note_points.h"

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
