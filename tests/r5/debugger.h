/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debugger.h - a ZCU102 in QEMU whose R5 runs an image, held by a debugger.
 *
 * QEMU has no programmable logic, so there is nothing where the card should be. The debugger
 * stops the R5 behind each access to it (r5_read_done and r5_write_done in start.S), and whoever
 * uses this plays the card; and, if asked for, the clock in the same way, so that each run is the
 * same. DRAM, which is where the TCM is too here, is a file that is mapped. It is the image as it
 * goes on a board.
 *
 * What cannot be done fails the test.
 */
#ifndef FL_TEST_R5_DEBUGGER_H
#define FL_TEST_R5_DEBUGGER_H

#include <stdbool.h>
#include <stdint.h>

struct debugger;

enum debugger_stop {
	DEBUGGER_READ,		/* of the card: the R5 takes what debugger_answer() says */
	DEBUGGER_WRITE,
	DEBUGGER_TIME,		/* the R5 looks at its cycle counter: as DEBUGGER_READ */
	DEBUGGER_END		/* the firmware has ended: r5_end says why */
};

/*
 * Starts QEMU; it ends with the test. The R5 is at the first instruction. clock: it stops for
 * DEBUGGER_TIME too, else its cycle counter counts.
 */
struct debugger *debugger_start(const char *image, bool clock);
/* Let the R5 run up to the next access. off: from the start of the window. */
enum debugger_stop debugger_run(struct debugger *d, uint32_t *off, uint32_t *value);
void debugger_answer(struct debugger *d, uint32_t value);

uint32_t debugger_register(struct debugger *d, unsigned int n);
void debugger_set_register(struct debugger *d, unsigned int n, uint32_t value);
/* Address of a symbol of the image. */
uint32_t debugger_symbol(const struct debugger *d, const char *name);
/* The machine's memory, from address 0. */
uint8_t *debugger_memory(const struct debugger *d);

#endif
