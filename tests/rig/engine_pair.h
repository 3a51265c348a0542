/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_pair.h - two engines for test_engine_pair.c: their memories, whose
 * pages come and go, and the wire between them, which is as bad as asked for.
 */
#ifndef FL_RIG_ENGINE_PAIR_H
#define FL_RIG_ENGINE_PAIR_H

#include "rig/engine.h"

#define OWN		4	/* contexts 0 to 3: blocks of this node */
#define JOBS		4	/* contexts 4 to 7: answers to READs */
#define RXCS		7	/* fewer than the peer's contexts */
#define WIRE_FRAMES	160
#define LATE		24	/* frames that come much too late */
#define DELAYED		64
#define AREA		(8 * ENGINE_PAGE)	/* bytes, one context's area */

/*
 * Memory of a node: own sources, targets of the peer's WRITEs, of own READs,
 * and what the peer READs.
 */
enum area { AREA_SRC, AREA_PEER, AREA_READ, AREA_FIXED };

struct later {			/* a register write that comes late */
	uint32_t off, value;
};

struct own_block {
	bool active, good, read;
	uint32_t len;
	uint64_t lva, rva, serial;
	uint64_t ended;
	unsigned int target;	/* node whose memory it fills */
	uint8_t *kept;		/* the target area after a good end */
	uint64_t at;		/* of the bytes in that area, as a VA */
};

struct job {
	bool active;
	uint8_t node, ctx;
	uint16_t gen;
};

struct node {
	struct engine *e;
	struct pair *pair;
	unsigned int number;
	uint8_t *mem;
	uint8_t page[BENCH_PAGES];
	bool open[2], held[2];
	uint64_t sections;
	bool awake[2];
	struct own_block own[OWN];
	struct job job[JOBS];
	struct later later[DELAYED];
	unsigned int laters;
	struct wire_frame frame;
	bool starved;
	uint64_t posted, ended, good, landed;
};

struct pair {
	struct node node[2];
	struct wire_frame wire[WIRE_FRAMES], late[LATE];
	unsigned int wires;
	struct trace *trace;
	uint64_t random;
	unsigned int chaos;	/* per 1024: how often things go wrong */
	unsigned int haste;	/* per 1024: how quick software is */
	uint64_t serial, now_ns, lost, doubled, reads;
	bool draining;
};

uint64_t pair_random(struct pair *p);

static inline unsigned int pair_below(struct pair *p, unsigned int n)
{
	return (unsigned int)(pair_random(p) % n);
}

static inline bool pair_chance(struct pair *p, unsigned int of_1024)
{
	return pair_below(p, 1024) < of_1024;
}

/* Something goes wrong: at the pair's rate, divided. */
static inline bool pair_trouble(struct pair *p, unsigned int divisor)
{
	return !p->draining && pair_below(p, 1024 * divisor) < p->chaos;
}

static inline uint64_t pair_area(enum area a, unsigned int ctx)
{
	return BENCH_BASE + (uint64_t)(a * OWN + ctx) * AREA;
}

enum dma_status pair_begin(void *ctx, struct dma_burst *b);
enum dma_status pair_end(void *ctx, struct dma_burst *b, void *buf);
struct wire_frame *pair_frame_get(void *ctx);
uint64_t pair_frame_send(void *ctx, struct wire_frame *f);
void pair_irq(void *ctx, unsigned int line, bool level);
void pair_kick(void *ctx, unsigned int channel);
uint32_t pair_get32(struct node *n, uint32_t off);
uint64_t pair_get64(struct node *n, uint32_t off);

static inline void pair_set32(struct node *n, uint32_t off, uint32_t v)
{
	EXPECT_EQ(engine_reg_write(n->e, off, 4, v), 0);
}

static inline void pair_set64(struct node *n, uint32_t off, uint64_t v)
{
	EXPECT_EQ(engine_reg_write(n->e, off, 8, v), 0);
}

/* Software will write this register some time. */
void pair_set_later(struct node *n, uint32_t off, uint32_t value);
void pair_do_later(struct node *n);

#endif
