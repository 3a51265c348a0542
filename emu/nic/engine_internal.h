/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_internal.h - what the files of the engine share; for nobody else.
 *
 *	engine.c	the object, steps, reset, checks
 *	engine_tx.c	transmit contexts and the read channel
 *	engine_rx.c	receive contexts: cells, the peer table
 *	engine_verdict.c the firmware's verdict on a receive context
 *	engine_write.c	the write channel: from a receive context to memory
 *	engine_burst.c	a block, burst by burst, for both channels
 *	engine_answer.c	answers to peers, and the place where they wait for room
 *	engine_fault.c	fault queue, READY, notes for the firmware
 *	engine_regs.c	the register window
 *	engine_resident.c what is left behind by blocks that went in one step
 */
#ifndef FL_ENGINE_INTERNAL_H
#define FL_ENGINE_INTERNAL_H

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "faultline/entries.h"
#include "faultline/fsm_next.h"
#include "faultline/regs.h"
#include "nic/engine.h"
#include "nic/wire.h"
#include "trace/cause.h"
#include "trace/event.h"

#define CELL_BYTES_MIN	64
#define CELLS_MAX	(ENGINE_BLOCK_MAX / CELL_BYTES_MIN)
#define NONE		0xFF	/* no context */
/* Cells that are worth keeping as frames, and how many make a block. */
#define BORROW_BYTES	2048
#define BORROW_MAX	(ENGINE_BLOCK_MAX / BORROW_BYTES)

/*
 * A context in COLLECT whose sender fell silent for good must not be lost. The
 * engine has no clock: a context that got no cell while this many attempts were
 * turned away for want of one is taken from its sender.
 */
#define PATIENCE	4

enum { CH_READ, CH_WRITE, CHANNELS };
enum { SIDE_TX, SIDE_RX };

struct tx_ctx {
	uint8_t state;		/* enum fl_tx_state; only tx_move() writes it */
	uint8_t opcode;		/* WOP_WRITE, WOP_READ_REQ or WOP_READ_RESP */
	uint8_t attempt, status;
	uint8_t fault_serial;	/* counts the faults of this context */
	uint8_t rxc;		/* READ: holds the answer, or NONE */
	bool asked;		/* READ: the request has left at least once */
	bool early;		/* an answer waits for SENT, see tx_early() */
	uint8_t early_event, early_code;
	uint64_t early_cause;
	uint16_t gen;
	uint32_t map;		/* SRCFAULT: pages that are missing */
	uint64_t event;		/* trace: the last thing that happened to it */
	/* registers that the firmware writes in FREE */
	uint8_t node;
	uint16_t stream;
	uint32_t qpn, len, rkey, ref, xfer, block, src;
	uint64_t lva, rva, left;
};

struct rx_ctx {
	uint8_t state;		/* enum fl_rx_state; only rx_move() writes it */
	uint8_t opcode, node, ctx, attempt;
	uint8_t serial;		/* counts the uses of this context */
	uint8_t requester;		/* READ answer: its request, or NONE */
	bool linked;		/* the peer table names this context */
	bool cancelled;		/* WRITE: write no more; the READ is over, or the
				   firmware has taken its verdict back */
	uint16_t gen, stream;
	uint32_t qpn, len, rkey, ref, xfer, block, src;
	uint64_t va, left;
	uint32_t map;		/* FAULT: pages that are missing */
	uint32_t cells_left;
	uint64_t drops;	/* e->drops when its last cell came */
	uint64_t event;		/* trace: the last thing that happened to it */
	uint64_t have[CELLS_MAX / 64];	/* cells that came */
	uint32_t borrowed;		/* by cell: it is in frame[], not in buf */
	struct wire_frame *frame[BORROW_MAX];
	uint8_t *buf;
};

/* The newest that is known of one context of one peer. */
struct peer {
	bool valid;
	bool done;		/* this generation is in memory */
	bool over;		/* this attempt is answered or dropped */
	bool waiting;		/* an answer waits for room on the wire */
	uint8_t attempt;
	uint8_t rxc;		/* collects this attempt, or NONE */
	uint16_t gen;
	struct wire_answer answer;
	uint64_t answer_cause;
};

/* One block on its way through a channel. */
enum walk_phase {
	BURST_NONE,
	BURST_NEXT,		/* begin the burst at offset */
	BURST_OPEN,		/* begun; its delay runs */
	BURST_HELD,		/* the SMMU holds it */
};
enum burst_result { BURST_MORE, BURST_GOOD, BURST_REFUSED, BURST_BUS_ERROR };

struct burst_iter {
	enum walk_phase phase;
	enum dma_status status;	/* BURST_OPEN: what begin said */
	struct dma_burst b;
	uint32_t offset, len;	/* of the burst in the block; of the block */
	uint64_t va;		/* of the block */
	uint8_t *buf;		/* of the block */
	uint8_t *direct;	/* of this burst, instead; or NULL */
	uint32_t map;		/* pages that were refused */
	uint64_t fault_event;	/* trace: the first refusal */
};

struct channel {
	struct burst_iter iter;
	uint8_t ctx;		/* NONE: idle */
	bool awake;		/* a step will come without a kick */
	/* read channel only */
	bool dropped;		/* the context was killed meanwhile */
	bool sending;		/* the block was read whole */
	uint32_t sent;		/* bytes of it that have left */
	uint8_t last;		/* round robin */
	bool wants_room;
	uint32_t filled;	/* by cell: it was read into frame[] */
	struct wire_frame *frame[BORROW_MAX];
};

struct fault {
	uint8_t side, index, serial;
	uint16_t stream;
	uint32_t len, map, xfer, block;
	uint64_t va, left;
};

/*
 * The head stays until it is popped, since the driver may be reading it; of
 * each context at most one more entry is kept.
 */
#define FAULTS_MAX	(ENGINE_CTX_MAX + ENGINE_RXC_MAX + 1)

struct note {
	uint8_t kind, index, serial;
};

/* One of each kind and context: four kinds of transmit, two of receive. */
#define NOTES_MAX	(4 * ENGINE_CTX_MAX + 2 * ENGINE_RXC_MAX)
#define NOTES_RING	128	/* a power of two: a remainder costs much */

#define SLOTS		(WIRE_NODES * ENGINE_CTX_MAX)
#define REGS_MAX	128

/* The register window, decoded once, word by word; see engine_regs.c. */
struct reg_place {
	uint8_t reg;		/* 0: nothing here */
	uint8_t index;		/* context */
	uint8_t shift;		/* 32: the upper half of 64 bits */
	uint8_t size_most;	/* of an access that begins here, in bytes */
	uint8_t bytes;		/* its value is a variable of this size at */
	uint8_t surplus;	/* bits of a 64-bit word that begins there and are not its */
	uint32_t at;		/* this offset of struct c_engine; bytes 0: it is not */
};

struct reg_map {
	struct reg_place word[NIC_FW_BASE / 4];
	uint64_t mask[REGS_MAX];	/* bits that exist */
};

struct c_engine {
	struct engine engine;		/* first: see c_engine() */
	struct engine_config cfg;
	struct engine_env env;
	uint32_t block_bytes;
	unsigned int cell_log2;
	bool enabled, irq_enable;
	bool line[2];		/* levels of the interrupt lines */
	struct engine_cause no_cause;
	uint64_t reg_cause;		/* of the register write under way */
	struct tx_ctx tx[ENGINE_CTX_MAX];
	struct rx_ctx rx[ENGINE_RXC_MAX];
	uint64_t drops;		/* attempts that found no context */
	uint32_t tx_ready, rx_free;	/* bit per context in READY, FREE */
	struct channel ch[CHANNELS];
	uint8_t *read_buf;
	uint8_t write_fifo[ENGINE_RXC_MAX];	/* in WRITE, oldest first */
	unsigned int write_head, write_count;
	uint16_t sent_gen[WIRE_NODES][ENGINE_CTX_MAX];	/* the last, by context */
	struct peer peer[WIRE_NODES][ENGINE_CTX_MAX];
	uint16_t answer_fifo[SLOTS];	/* peers with an answer that waits */
	unsigned int answer_head, answer_count;
	struct fault fault[FAULTS_MAX];	/* [0] is the head */
	unsigned int faults;
	struct note note[NOTES_RING];
	unsigned int note_head, notes;
	uint8_t in_ring[8][ENGINE_RXC_MAX];	/* [kind][index]: in the ring */
	struct reg_map regs;
	struct engine_stats stats;
};

/* What engine.h hands out, as what it is here. */
#define c_engine(e) ((struct c_engine *)(uintptr_t)(e))

/* ---- what its channels and lines tell the environment ---- */

static inline void engine_kick(struct c_engine *e, unsigned int channel)
{
	struct channel *c = &e->ch[channel];

	if (c->awake || !e->enabled)
		return;
	c->awake = true;
	e->env.kick(e->env.ctx, channel);
}

static inline uint64_t engine_sleep(struct c_engine *e, unsigned int channel)
{
	e->ch[channel].awake = false;
	return ENGINE_IDLE;
}

static inline void engine_line(struct c_engine *e, unsigned int line,
			       bool level)
{
	if (e->line[line] == level)
		return;
	e->line[line] = level;
	e->env.irq(e->env.ctx, line, level);
}

/* engine.c */
bool engine_is_c(const struct engine *e);

/* engine_drop.c */
/* Give back the frames of the cells in the set, which is empty afterwards. */
void engine_let_go(struct c_engine *e, uint32_t *cells,
		   struct wire_frame *const frame[BORROW_MAX]);
/* A packet that says nothing, or something that is over: dropped, and counted. */
void rx_bad(struct c_engine *e, const struct wire_frame *f, enum wire_error why);
void rx_stale(struct c_engine *e, const struct wire_frame *f, unsigned int ctx,
	      unsigned int gen, unsigned int attempt);
/* Where its events belong, as long as no context knows it. */
struct trace_at rx_packet_at(const struct c_engine *e, const struct wire_frame *f);

/* engine_burst.c */
void burst_start(struct burst_iter *w, unsigned int channel, uint16_t stream,
		 uint64_t va, uint32_t len, uint8_t *buf);
/*
 * One begin or one end. *event is the cause of the burst and becomes its
 * outcome; *delay_ns is the time until the next step; at->cause is overwritten.
 */
enum burst_result burst_step(struct c_engine *e, struct burst_iter *w,
			     uint64_t now_ns,
			     struct trace_at *at, unsigned int index,
			     uint64_t *event, uint64_t *delay_ns);
/* Close an open burst, whatever becomes of the block. */
void burst_abandon(struct c_engine *e, struct burst_iter *w);
void c_burst_resume(struct engine *engine, unsigned int channel,
		    bool terminate);

/* engine_tx.c */
void tx_init(struct c_engine *e);
/*
 * The generation of a context after so many blocks to node.
 *
 * A peer compares a generation with the last that it saw itself, by serial number
 * arithmetic; the blocks between that others got must not make it look old. So it is the
 * next after what this peer got that has the next low byte (the serial number that
 * firmware and driver go by).
 */
static inline void tx_generations(struct c_engine *e, unsigned int i, uint8_t node,
				  uint32_t blocks)
{
	struct tx_ctx *t = &e->tx[i];
	uint16_t *sent = &e->sent_gen[node][i];

	/* The first may skip some, those behind it do not. */
	t->gen = (uint16_t)(*sent + blocks + ((t->gen - *sent) & 0xFF));
	*sent = t->gen;
}
int tx_control(struct c_engine *e, unsigned int i, uint32_t value);
int tx_ready(struct c_engine *e, unsigned int i, unsigned int code,
	     unsigned int serial, uint64_t cause);
void tx_answer(struct c_engine *e, const struct wire_frame *f,
	       const struct wire_answer *a);
/* An answer or an outcome for a context that is FLYING or still READY. */
void tx_outcome(struct c_engine *e, unsigned int i, unsigned int event,
		uint8_t code, uint64_t cause);
/* Is this what transmit context REF asked for, from this node? */
bool tx_matches_read(const struct c_engine *e, uint8_t from,
		     const struct wire_block *b);
uint64_t tx_step(struct engine *engine, uint64_t now_ns);

/* engine_rx.c */
void rx_init(struct c_engine *e);
void rx_move(struct c_engine *e, struct rx_ctx *r, unsigned int event,
	     uint64_t cause);
void rx_block(struct c_engine *e, const struct wire_frame *f,
	      const struct wire_block *b);
int rx_ready(struct c_engine *e, unsigned int i, unsigned int code,
	     unsigned int serial, uint64_t cause);
uint64_t c_rx_event(const struct engine *engine, unsigned int rxc);
/* The end of an attempt: answer, forget the context; see engine_rx.c. */
void rx_end(struct c_engine *e, struct rx_ctx *r, unsigned int event,
	    uint8_t wop, uint8_t code, uint64_t cause);
static inline struct trace_at rx_at(const struct c_engine *e,
				    const struct rx_ctx *r, uint64_t cause)
{
	return (struct trace_at){ .board = e->cfg.board, .xfer = r->xfer,
				  .block = r->block, .attempt = r->attempt,
				  .cause = cause ? cause : r->event };
}

static inline unsigned int rx_index(const struct c_engine *e,
				    const struct rx_ctx *r)
{
	return (unsigned int)(r - e->rx);
}

/* engine_verdict.c */
int rx_verdict(struct c_engine *e, unsigned int i, uint32_t value);

/* engine_write.c */
void write_init(struct c_engine *e);
void write_queue(struct c_engine *e, struct rx_ctx *r);
/* The READ that asked for what this context holds is over. */
void write_cancel(struct c_engine *e, struct rx_ctx *r);
/* Write no more of this block; its context is freed a step later. */
void write_stop(struct c_engine *e, struct rx_ctx *r);
uint64_t write_step(struct engine *engine, uint64_t now_ns);

/* engine_answer.c */
void answer_post(struct c_engine *e, const struct rx_ctx *r, uint8_t wop,
		 uint8_t code, uint64_t cause);
void answer_block(struct c_engine *e, uint8_t node, const struct wire_block *b,
		  uint8_t wop, uint8_t code, uint64_t cause);
/* Those that wait for room. */
void answer_send_waiting(struct c_engine *e);
static inline void answer_flush(struct c_engine *e)
{
	if (e->answer_count)
		answer_send_waiting(e);
}


/* engine_fault.c */
void fault_queue_tx(struct c_engine *e, unsigned int i);
void fault_queue_rx(struct c_engine *e, unsigned int i);
void fault_pop(struct c_engine *e);
void fault_line(struct c_engine *e);
void note_post(struct c_engine *e, unsigned int kind, unsigned int index,
	       uint8_t serial);
bool note_take(struct c_engine *e, struct note *n);

/* engine_regs.c */
void regs_init(struct c_engine *e);
int c_reg_read(struct engine *engine, uint32_t off, unsigned int size,
	       uint64_t *value);
int c_reg_write(struct engine *engine, uint32_t off, unsigned int size,
		uint64_t value);

static inline uint64_t engine_emit(struct c_engine *e, enum trace_event ev,
				   const struct trace_at *at, uint64_t a0,
				   uint64_t a1, uint64_t a2, uint64_t a3)
{
	if (e->env.emit)
		return e->env.emit(e->env.ctx, ev, at, a0, a1, a2, a3);
	return trace_emit(e->cfg.trace, ev, at, a0, a1, a2, a3);
}

static inline unsigned int lowest_bit(uint32_t mask)
{
	assert(mask);
	return (unsigned int)__builtin_ctz(mask);
}

#endif
