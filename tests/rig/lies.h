/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lies.h - a card whose registers do not say what they should. What the driver reads is
 * changed on its way from the board (the linker leads board_read() here: tests.mk); the board
 * itself goes on as always.
 */
#ifndef FL_RIG_LIES_H
#define FL_RIG_LIES_H

#include "rig/driver.h"

/* From now on the bits of mask are those of value, in each read of the word at pa. */
void lie_tell(uint64_t pa, uint32_t mask, uint32_t value);

/* How often one was told since the first lie. */
unsigned int lies_told(void);

/* The truth again. */
void lies_end(void);

#endif
