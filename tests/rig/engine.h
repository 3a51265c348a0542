/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine.h - one engine on a bench: a memory whose pages may be missing
 * or broken, a wire that is a list of frames, and register calls with the names
 * of regs.def. Time and transmission belong to the test.
 */
#ifndef FL_RIG_ENGINE_H
#define FL_RIG_ENGINE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/entries.h"
#include "faultline/errata.h"
#include "faultline/fsm.h"
#include "faultline/regs.h"
#include "nic/wire.h"
#include "rtl/cosim/engine_plugin.h"
#include "trace/trace.h"
#include "harness.h"

#define BENCH_PAGES	256
#define BENCH_BASE	0x7f0000000000ull	/* VA of the first page */
#define BENCH_FRAMES	1100
#define BENCH_STREAM	5

enum bench_page { PAGE_THERE, PAGE_ABSENT, PAGE_BROKEN, PAGE_BREAKS_LATE };

struct bench {
	struct engine *e;
	struct trace *trace;
	uint64_t now_ns;
	uint8_t mem[BENCH_PAGES * ENGINE_PAGE];
	uint8_t page[BENCH_PAGES];	/* enum bench_page */
	bool hold;			/* hold the next burst that faults */
	uint64_t delay_ns;		/* of each burst */
	unsigned int begun[2], ended[2], open[2];
	struct dma_burst last[2];
	struct wire_frame frame[BENCH_FRAMES];
	unsigned int frames, room;
	bool line[2];
	unsigned int kicks[2];
};

static inline uint64_t bench_va(unsigned int page, unsigned int at)
{
	return BENCH_BASE + (uint64_t)page * ENGINE_PAGE + at;
}

enum dma_status bench_begin(void *ctx, struct dma_burst *b);
enum dma_status bench_end(void *ctx, struct dma_burst *b, void *buf);
struct wire_frame *bench_frame_get(void *ctx);
uint64_t bench_frame_send(void *ctx, struct wire_frame *f);
void bench_irq(void *ctx, unsigned int line, bool level);
void bench_kick(void *ctx, unsigned int channel);
uint64_t bench_read(struct bench *t, uint32_t off);

static inline int bench_write(struct bench *t, uint32_t off, uint64_t value)
{
	return engine_reg_write(t->e, off, 4, value);
}

static inline void bench_set(struct bench *t, uint32_t off, uint64_t value)
{
	EXPECT_EQ(engine_reg_write(t->e, off, 4, value), 0);
}

static inline void bench_set64(struct bench *t, uint32_t off, uint64_t value)
{
	EXPECT_EQ(engine_reg_write(t->e, off, 8, value), 0);
}

/* Step a channel until it sleeps; returns how many steps did something. */
unsigned int bench_run(struct bench *t, unsigned int channel);

extern const struct engine_config bench_config;

/* FAULTLINE_ENGINE=c|rtl|both: the same tests on another engine. */
struct engine *bench_engine(const struct engine_config *cfg,
			    const struct engine_env *env, int *error);

/* A running engine, freed when the test ends. */
struct bench *bench_new(const struct engine_config *cfg);

struct bench_block {
	unsigned int ctx, op, node, qpn, len, rkey, ref, src, xfer, block;
	uint64_t lva, rva, left;
};

/* What the firmware does for a block. */
void bench_go(struct bench *t, const struct bench_block *b);

static inline void bench_act(struct bench *t, unsigned int ctx, uint32_t act)
{
	bench_set(t, NIC_CTX_BASE(ctx) + NIC_CTX_CTRL, act);
}

void bench_kill(struct bench *t, unsigned int ctx);
unsigned int bench_tx_state(struct bench *t, unsigned int ctx);
unsigned int bench_tx_attempt(struct bench *t, unsigned int ctx);
unsigned int bench_tx_status(struct bench *t, unsigned int ctx);
unsigned int bench_rx_state(struct bench *t, unsigned int rxc);

/* Take the oldest note; kind 0: there is none. */
struct bench_note {
	unsigned int kind, index, serial;
};

struct bench_note bench_note(struct bench *t);
void bench_expect_note(struct bench *t, unsigned int kind, unsigned int index);
void bench_drain_notes(struct bench *t);
void bench_ready(struct bench *t, unsigned int side, unsigned int index,
		 unsigned int serial, unsigned int code);

/* The serial number of the head of the fault queue; pops it. */
unsigned int bench_pop_fault(struct bench *t, unsigned int side,
			     unsigned int index);
struct engine_stats bench_stats(struct bench *t);

/* Hand a frame to the engine as if it came from a node. */
void bench_answer(struct bench *t, unsigned int from,
		  const struct wire_answer *a);
void bench_cell(struct bench *t, unsigned int from, const struct wire_block *b,
		uint32_t offset, const uint8_t *block);

/* All cells of a block, in order. */
void bench_block(struct bench *t, unsigned int from, const struct wire_block *b,
		 const uint8_t *data);

/* The i-th frame that the engine sent, decoded. */
struct wire_answer bench_sent(struct bench *t, unsigned int i,
			      unsigned int opcode);
struct wire_block bench_sent_block(struct bench *t, unsigned int i,
				   unsigned int opcode);

#endif
