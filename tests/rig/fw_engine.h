/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fw_engine.h - a register file in place of the engine, for tests of the
 * firmware.
 *
 * It follows the arcs of fsm.def that registers cause, and notes in rig.misuse
 * what no firmware may do: a register that does not exist, an arc that does not
 * exist. What data path and network cause is done by hand (rig/fw.h).
 */
#ifndef FL_RIG_FW_ENGINE_H
#define FL_RIG_FW_ENGINE_H

#include <stdlib.h>

#include "faultline/entries.h"
#include "faultline/fsm.h"
#include "faultline/regs.h"
#include "nic/fw.h"
#include "trace/trace.h"

#define RIG_BLOCK	16384u
#define RIG_EVENTS	4096

struct rig_ctx {
	uint32_t state, attempt, status, gen, op, dst, stream, len, rkey, ref,
		 xfer, block, src;
	uint64_t lva, rva, left;
};

struct rig_rxc {
	uint32_t state;			/* FL_RX_*; the test sets it */
	uint32_t src, op, len, rkey, word, xfer, block, ref, from;
	uint64_t va, left;
	uint32_t verdict, verdicts;
};

struct unit;
struct rig;

/* A firmware that is not in this process (tests/r5). */
struct rig_far {
	int (*write)(struct rig *r, uint32_t off, uint64_t value);
	uint64_t (*read)(struct rig *r, uint32_t off, unsigned int size);	/* of page FW */
	void (*run)(struct rig *r);	/* until nothing is left to do */
};

struct rig {
	struct fw *fw;
	const struct rig_far *far;	/* in place of fw */
	void *fw_mem;
	struct fw_config cfg;
	uint32_t contexts;
	uint64_t now;
	uint8_t *mem;
	uint64_t bad_from, bad_to;	/* memory that answers with an error */
	uint32_t reads;			/* of 64 bytes */
	struct rig_ctx ctx[16];
	struct rig_rxc rxc[32];
	uint32_t evt[RIG_EVENTS], evt_in, evt_out;
	uint32_t order[16], started;	/* contexts in the order of their GO */
	/* A test may look at each block as it is started. */
	void (*on_go)(void *arg, uint32_t ctx);
	void *on_go_arg;
	const char *misuse;
	bool line;
	uint32_t kicks;
	uint64_t alarm;
	uint64_t seq, traced[EV_COUNT];
	uint64_t seen;			/* by the last FW_CHECK */
	uint32_t drawn;			/* last, for a key */
	bool no_random;			/* the system has none */
	/* A card with a packet unit (rig/fw_unit.h). */
	struct unit *unit;
	const struct fw_transport *transport, *datagrams, *fragments;	/* RC, UD, NV */
	void (*slot_row)(void *ctx, uint32_t slot, uint32_t row,
			 uint64_t quirks, uint64_t bits);
	uint32_t costs[FW_COSTS];
	uint64_t result;		/* of the last command */
	uint32_t eq_cons;
	struct fl_eqe eqe;		/* last taken */
};

void rig_note(struct rig *r, uint32_t kind, uint32_t n, uint32_t serial);

static inline void rig_note_ctx(struct rig *r, uint32_t kind, uint32_t n)
{
	rig_note(r, kind, n, r->ctx[n].gen);
}

uint32_t rig_read32(struct rig *r, uint32_t off);
uint64_t rig_read64(struct rig *r, uint32_t off);
void rig_write32(struct rig *r, uint32_t off, uint32_t value);
void rig_write64(struct rig *r, uint32_t off, uint64_t value);
int rig_reg_read(struct engine *engine, uint32_t off, unsigned int size,
		 uint64_t *value);
int rig_reg_write(struct engine *engine, uint32_t off, unsigned int size,
		  uint64_t value);

#endif
