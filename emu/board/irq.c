// SPDX-License-Identifier: BSD-2-Clause
/* irq.c - level-triggered interrupt lines, and which part drives which. */
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

void irq_smmu(void *board, bool level)
{
	irq_set(board, IRQ_SMMU, level);
}

void irq_firmware(void *board, unsigned int line, bool level)
{
	(void)line;
	irq_set(board, IRQ_NIC_EVENT, level);
}

/* Its event line ends at the firmware's processor. */
void irq_engine(void *board, unsigned int line, bool level)
{
	struct board *b = board;

	if (line == ENGINE_LINE_FAULT) {
		irq_set(b, IRQ_NIC_FAULT, level);
		return;
	}
	fw_engine_line(b->fw, level);
	if (level)
		sim_kick(&b->fw_actor);
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
