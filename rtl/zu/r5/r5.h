/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * r5.h - the firmware as an image for a Cortex-R5 of the Zynq UltraScale+: what its files share.
 *
 * start.S (from reset to r5_main(), and every end), main.c (mailbox and engine in turn), env.c
 * (what the firmware asks of its board), keys.c (numbers that nobody foresees), bytes.c (what the
 * compiler calls).
 */
#ifndef FL_R5_H
#define FL_R5_H

#include <stdint.h>

#include "board.h"
#include "faultline/regs.h"
#include "nic/fw.h"

/* start.S: registers of the card, 32 bits. off: from the start of its window. */
uint32_t r5_read(uint32_t off);
void r5_write(uint32_t off, uint32_t value);
/* why: R5_END_* */
_Noreturn void r5_stop(uint32_t why);

/* Barriers (ARM DDI 0406, A3.8.3). All accesses before it are seen before those behind it. */
static inline void r5_barrier(void)
{
	__asm__ volatile("dmb" ::: "memory");
}

/* The same, between memory and the card: those before it have ended. */
static inline void r5_barrier_card(void)
{
	__asm__ volatile("dsb" ::: "memory");
}

/* start.S: cycles of the R5's clock, modulo 2^32. They stop when a debugger stops it. */
uint32_t r5_cycles(void);

/* env.c */
struct fw_env r5_env(void);
void r5_clock_start(void);
/* Call it more often than every 2^32 cycles. */
uint64_t r5_now_ns(void);

/* keys.c: a write came, at a moment that nobody knows to a cycle. */
void r5_keys_stir(uint32_t cycles);
/* Negative: too few have come yet. */
int r5_keys_draw(uint32_t *value);

_Noreturn void r5_main(void);

#endif
