/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_rx.h - a block that comes from node 3, for the tests of the
 * receive side: its cells, the firmware's verdict, the answer that goes back.
 */
#ifndef FL_RIG_ENGINE_RX_H
#define FL_RIG_ENGINE_RX_H

#include "rig/engine.h"

/* A WRITE of node 3: 5000 bytes into pages 40 and 41. */
extern const struct wire_block rx_bench_write;
#define TARGET(t) ((t)->mem + 40 * ENGINE_PAGE + 500)

extern uint8_t rx_bench_data[16384];

struct wire_block rx_bench_attempt(unsigned int gen, unsigned int n);
void rx_bench_verdict(struct bench *t, unsigned int rxc, unsigned int serial,
		      unsigned int code);

/* Take the oldest note, which is RX_OPEN, and give a verdict. */
unsigned int rx_bench_judge(struct bench *t, unsigned int code);

/* The oldest note, which says that the block of a WRITE has landed. */
void rx_bench_landed(struct bench *t, unsigned int rxc, unsigned int serial);

/*
 * A block comes whole, is accepted, and the write channel runs. When the block
 * lands, the firmware hears of it, and only then.
 */
unsigned int rx_bench_land(struct bench *t, const struct wire_block *b);

/* The newest frame that was sent, an answer to b. */
struct wire_answer rx_bench_newest(struct bench *t, unsigned int op,
				   const struct wire_block *b);

#endif
