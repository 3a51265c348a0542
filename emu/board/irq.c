// SPDX-License-Identifier: BSD-2-Clause
/* irq.c - level-triggered interrupt lines. */
#include "board/board_internal.h"

void irq_set(struct board *b, enum irq_line line, bool level)
{
	struct board_irq *irq = &b->irq;

	sim_spin_lock(&irq->lock);
	if (irq->level[line] != level) {
		irq->level[line] = level;
		if (irq->fn)
			irq->fn(irq->arg, line, level);
	}
	sim_spin_unlock(&irq->lock);
}

void board_irq_handler(struct board *b,
		       void (*fn)(void *arg, enum irq_line line, bool level),
		       void *arg)
{
	sim_spin_lock(&b->irq.lock);
	b->irq.fn = fn;
	b->irq.arg = arg;
	sim_spin_unlock(&b->irq.lock);
}

bool board_irq_level(struct board *b, enum irq_line line)
{
	bool level;

	sim_spin_lock(&b->irq.lock);
	level = b->irq.level[line];
	sim_spin_unlock(&b->irq.lock);
	return level;
}
