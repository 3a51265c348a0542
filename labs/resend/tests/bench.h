/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - the judge's side of this lab: what firmware, driver and peers do to
 * an engine, as one-line steps, and what must come of it.
 */
#ifndef FL_LABS_RESEND_BENCH_H
#define FL_LABS_RESEND_BENCH_H

#include "faultline/entries.h"
#include "faultline/errata.h"
#include "faultline/fsm.h"
#include "faultline/regs.h"
#include "labs/resend/resend_lab.h"
#include "nic/wire.h"
#include "tools/grade/judge.h"

#define PAGE	UINT64_C(4096)
#define VA(page, at) (LAB_BASE + (page) * PAGE + (at))

enum { SENDS, WRITES };	/* the channels */
enum { TX, RX };	/* sides of the fault queue */
enum { STALE, DUPLICATES, BAD, NO_CONTEXT, RESENT, REFUSED };	/* counts */

/* A block that a peer sends. */
struct block {
	unsigned int from, op, ctx, gen, attempt;
	uint64_t va;
	unsigned int len, rkey;
	uint32_t ref;
	unsigned int seed;
};
/* 5000 bytes, five cells, from node 3 into pages 40 and 41. */
extern const struct block a_write;
#define CELLS(len) (((len) + LAB_CELL_BYTES - 1) / LAB_CELL_BYTES)

/* A board as after power-on: 8 contexts of each kind, or as told. */
void bench_new(void);
void bench_sized(unsigned int contexts, unsigned int rx_contexts);

/* The firmware. */
void bench_go(unsigned int ctx, unsigned int op, unsigned int len);
void bench_act(unsigned int ctx, uint32_t act, unsigned int code);
void bench_expire(unsigned int ctx);
void bench_kill(unsigned int ctx);
/* Take the oldest note, which must be of this kind; returns the context. */
unsigned int bench_note(unsigned int kind);
/* The same for RX_OPEN; and give a verdict: 0 accept, else a status. */
unsigned int bench_open(unsigned int *serial);
unsigned int bench_judge(unsigned int code);
void bench_verdict(unsigned int rxc, unsigned int serial, unsigned int code);

/* The driver. */
void bench_page(unsigned int page, bool missing);
/* The head of the fault queue must be this one; its serial number. */
unsigned int bench_pop(unsigned int side, unsigned int index);
void bench_ready(unsigned int side, unsigned int index, unsigned int serial,
		 unsigned int code);

/* Time and the wire. */
void bench_run(unsigned int channel);
void bench_steps(unsigned int channel, unsigned int n);
void bench_room(uint64_t frames);
void bench_says(unsigned int from, unsigned int op, unsigned int ctx,
		unsigned int gen, unsigned int attempt);
void bench_nak(unsigned int from, unsigned int ctx, unsigned int gen,
	       unsigned int attempt, unsigned int code);
/* REFUSED with a code that says why not now. */
void bench_refused(unsigned int from, unsigned int ctx, unsigned int gen,
		   unsigned int attempt, unsigned int code);
void bench_cell(const struct block *b, unsigned int cell);
/* All its cells, with the first one twice. */
void bench_block(const struct block *b);
/* The same; it is accepted, and written as far as it goes. Returns where. */
unsigned int bench_land(const struct block *b);
struct block bench_attempt(unsigned int gen, unsigned int attempt);

/* What must be. */
void bench_tx(unsigned int ctx, unsigned int state, unsigned int attempt);
void bench_ended(unsigned int ctx, unsigned int status);
void bench_stands(unsigned int ctx, unsigned int state, unsigned int status);
void bench_rx(unsigned int rxc, unsigned int state);
unsigned int bench_tx_state(unsigned int ctx);
unsigned int bench_rx_state(unsigned int rxc);
void bench_counts(unsigned int which, uint64_t n);
void bench_no_note(void);
void bench_faults(unsigned int n);
/* The bytes of a block are in memory; or what was there at first still is. */
void bench_landed(const struct block *b);
void bench_untouched(uint64_t va, unsigned int len);

/* The next frame that left. NULL is returned when there is none. */
struct sent {
	unsigned int op, to, ctx, gen, attempt;
	uint64_t code, map;	/* of a cell: offset, sum */
};
const struct sent *bench_take(void);
/* EVT_POP and FLT_REF as they are read, asked together with the next frames. */
void bench_look_around(uint64_t *note, uint64_t *fault);
void bench_sent_nothing(void);
void bench_sent_answer(const struct block *b, unsigned int op, unsigned int code,
		       unsigned int map);
/* All cells of a block that bench_go() started, and their bytes. */
void bench_sent_block(unsigned int ctx, unsigned int gen, unsigned int attempt,
		      unsigned int len);
/* Where bench_go() takes a context's bytes from. */
uint64_t bench_source(unsigned int ctx);

#endif
