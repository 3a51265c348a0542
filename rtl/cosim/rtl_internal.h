/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rtl_internal.h - the engine in Verilog behind engine.h.
 *
 *	rtl_engine.c	the calls of engine.h: set pins, clock until it is quiet
 *	rtl_pins.c	one clock cycle: handshakes at all ports
 *	rtl_trace.c	records of the trace port: events, their causes, kicks, counters
 *	rtl_vcd.c	the last cycles at the pins, as a file
 *
 * The model holds all state that decides anything. What is kept here beside is what
 * only a trace needs: which event caused which, and what counters count.
 */
#ifndef FL_RTL_INTERNAL_H
#define FL_RTL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "faultline/entries.h"
#include "faultline/fsm.h"
#include "faultline/regs.h"
#include "model.h"
#include "nic/wire.h"
#include "rtl/cosim/engine_plugin.h"
#include "trace/cause.h"

enum { CH_READ, CH_WRITE, CHANNELS };

#define BEAT		16
#define BEATS_MAX	(ENGINE_PAGE / BEAT + 1)
#define RING		256	/* cycles for a VCD */
#define ACTIONS		1024	/* of one call, at most */

/* Transmit and receive contexts, as far as a trace needs them. */
struct mirror {
	uint8_t state;
	uint64_t event;		/* what happened last to it */
	uint64_t early_cause;	/* tx: of the outcome that waits for SENT */
	uint32_t xfer, block, attempt;
	uint8_t node, ctx;	/* rx: whose block it holds */
	uint16_t gen;
};

enum phase {
	NO_BURST,
	OPEN,			/* the port has said what becomes of it */
	HELD,			/* by the SMMU */
	AGAIN,			/* it was held; the port is to be asked again */
};

struct bus {
	bool awake;
	enum phase phase;
	enum dma_status status;
	struct dma_burst b;
	uint8_t ctx;
	bool stopped;		/* write: was held, and is over for the model */
	uint32_t left[3];	/* write, held: WR_LEFT and WR_XFER_LEFT */
	uint64_t fault_event;	/* of the first refusal in this block */
	/* at the pins */
	unsigned int beats, beat;
	bool feed;		/* R beats, or B */
	uint8_t resp;
	uint8_t data[BEATS_MAX * BEAT];
};

struct action {
	enum { ACT_RECORD, ACT_FRAME, ACT_IRQ } kind;
	unsigned int line;
	bool level, cell;
	struct model_out out;	/* the record */
};

struct rtl {
	struct engine engine;
	struct engine_config cfg;
	struct engine_env env;
	engine_trace_emit *emit;
	struct model *model;
	struct model_in in;
	struct model_out out;
	uint64_t cycles;
	const char *wrong;
	bool enabled, line[2];
	struct engine_cause no_cause;
	uint64_t reg_cause;
	struct mirror tx[ENGINE_CTX_MAX], rx[ENGINE_RXC_MAX];
	struct {
		bool waiting;
		uint64_t cause;
	} answer[WIRE_NODES][ENGINE_CTX_MAX];
	unsigned int answers;
	bool wants_room, dropped;
	struct bus bus[CHANNELS];
	struct engine_stats stats;
	uint8_t size_most[NIC_FW_BASE / 4];	/* of an access to this word */
	/* of the call that is being carried out */
	const struct wire_frame *packet;
	struct wire_frame settled;	/* a packet with its ICRC, which the model looks at */
	uint64_t now_ns;
	uint64_t cause;		/* of state changes; 0: what happened before */
	uint64_t own, about;
	bool own_set, after_done;
	bool bad_reg, got_cell, got_bad;
	bool took, began, acted, denied, sent_cell;
	uint64_t delay_ns;
	/* registers */
	bool reg_aw, reg_w, reg_ar, reg_wait, reg_error;
	uint32_t reg_value;
	/* a packet that comes, one that leaves */
	uint32_t in_len, in_at;
	bool in_open, announced, complete;
	struct wire_frame *frame;
	uint64_t frame_cause;
	uint32_t frame_len;
	struct action action[ACTIONS];
	unsigned int actions, done;
	struct {
		struct model_in in;
		struct model_out out;
	} ring[RING];
};

static inline struct rtl *rtl_of(const struct engine *e)
{
	return (struct rtl *)(uintptr_t)e;
}

/* rtl_pins.c: one clock cycle; as many as it takes until nothing moves. */
void rtl_clock(struct rtl *x);
void rtl_run(struct rtl *x);
/* The port is asked about the burst that stands at the pins. */
void rtl_begin(struct rtl *x, unsigned int channel);
/* The answer to it goes to the model. */
void rtl_feed(struct rtl *x, unsigned int channel, enum dma_status status);
/* Say once what the model did wrong. */
void rtl_wrong(struct rtl *x, const char *what);
/* Where the bytes of a burst stand among its beats. */
static inline uint8_t *rtl_bytes(struct bus *b)
{
	return b->data + b->b.va % BEAT;
}

/* rtl_trace.c */
uint64_t rtl_emit(struct rtl *x, enum trace_event ev, const struct trace_at *at,
		  uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);
void rtl_record(struct rtl *x, const struct model_out *r);
void rtl_kick(struct rtl *x, unsigned int channel);
struct mirror *rtl_mirror(struct rtl *x, unsigned int channel);
struct trace_at rtl_at(const struct rtl *x, const struct mirror *m,
		       uint64_t cause);

/* rtl_vcd.c */
int rtl_dump(struct engine *e, const char *path);

#endif
