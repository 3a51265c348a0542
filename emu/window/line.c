// SPDX-License-Identifier: BSD-2-Clause
/*
 * line.c - interrupts towards the guest. The board has levels, QEMU sends messages: one
 * when a line rises, and one more when the driver has written a register of that
 * unit and the line is still up, as a controller would that looks again.
 */
#include "window/window_internal.h"

_Static_assert((int)FL_WINDOW_IRQ_SMMU == (int)IRQ_SMMU &&
	       (int)FL_WINDOW_IRQ_FAULT == (int)IRQ_NIC_FAULT &&
	       (int)FL_WINDOW_IRQ_EVENT == (int)IRQ_NIC_EVENT &&
	       (int)FL_WINDOW_VECTORS == (int)IRQ_PSDMA,
	       "a line and its vector have the same number");

static void line_show(struct guest *g, unsigned int levels)
{
	__atomic_store_n(&g->head->levels, levels, __ATOMIC_RELEASE);
}

static void line_interrupt(struct window *w, unsigned int vector)
{
	window_count(&w->count.interrupts);
	os_interrupt_raise(w->guest.vector[vector]);
}

/* From hardware, in any thread; one at a time (board.h). */
static void window_line_changed(void *arg, enum irq_line line, bool level)
{
	struct window *w = arg;
	struct board *b = w->cfg.board;
	struct trace_at at = { .board = board_id(b), .cause = trace_last() };
	unsigned int bit = 1u << line;

	/* The window has no way to the registers behind the other lines. */
	if ((unsigned int)line >= FL_WINDOW_VECTORS)
		return;
	if (level) {
		atomic_store(&w->guest.raised[line],
			     trace_emit(board_trace(b), EV_IRQ_RAISE, &at, line,
					0, 0, 0));
		line_show(&w->guest,
			  atomic_fetch_or(&w->guest.levels, bit) | bit);
		line_interrupt(w, line);
	} else {
		line_show(&w->guest,
			  atomic_fetch_and(&w->guest.levels, ~bit) & ~bit);
		trace_emit(board_trace(b), EV_IRQ_LOWER, &at, line, 0, 0, 0);
	}
}

void line_connect(struct window *w)
{
	unsigned int line;

	atomic_store(&w->guest.levels, 0);
	for (line = 0; line < FL_WINDOW_VECTORS; line++)
		atomic_store(&w->guest.raised[line], 0);
	board_irq_handler(w->cfg.board, window_line_changed, w);
}

/* When this returns window_line_changed() does not run and will not. */
void line_disconnect(struct window *w)
{
	board_irq_handler(w->cfg.board, NULL, NULL);
}

void line_again(struct window *w, unsigned int units)
{
	unsigned int line;

	units &= atomic_load(&w->guest.levels);
	for (line = 0; units; line++, units >>= 1)
		if (units & 1)
			line_interrupt(w, line);
}

void line_all(struct guest *g)
{
	unsigned int line;

	for (line = 0; line < FL_WINDOW_VECTORS; line++)
		os_interrupt_raise(g->vector[line]);
}
