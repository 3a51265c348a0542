/* SPDX-License-Identifier: BSD-2-Clause */
/* board_internal.h - what the files of emu/board share. */
#ifndef FL_BOARD_INTERNAL_H
#define FL_BOARD_INTERNAL_H

#include "board/annex.h"
#include "board/board.h"
#include "board/dram.h"
#include "fabric/fabric.h"
#include "faultline/regs.h"
#include "nic/engine.h"
#include "nic/fw.h"
#include "sim/grace.h"
#include "sim/rng.h"
#include "sim/sim.h"
#include "sim/sync.h"
#include "sim/timing.h"
#include "smmu/smmu.h"
#include "trace/cause.h"

struct board_irq {
	struct sim_spin lock;
	bool level[IRQ_LINES];
	void (*fn)(void *arg, enum irq_line line, bool level);
	void *arg;
};

/*
 * The burst that a channel of the engine has in the SMMU, stalled. silent: the SMMU
 * has ended it with SMMU_RAZWI, and the engine will begin it once more.
 */
struct board_held {
	uint64_t va;
	uint32_t xfer, block;
	uint16_t stream;
	bool write, silent;
};

/*
 * Channels of the DMA port: the engine's are 0 read, 1 write; those of masters that translate
 * by themselves begin at BUS_CHANNEL_OWN and do not go through the SMMU.
 */
enum { BUS_CHANNEL_PSDMA = 2, BUS_SMMU_CHANNELS, BUS_CHANNEL_OWN = BUS_SMMU_CHANNELS };

/* Of psdma.c; the domain is held. */
struct psdma {
	uint32_t isr, imr, ctrl0, ctrl2, src[4], dst[4], total;
	bool busy, error;	/* STATUS */
	bool begun;		/* burst: what follows is its end */
	bool held;		/* by the SMMU, until psdma_resume() */
	uint64_t cause;		/* trace: who wrote CTRL2 last, then the last burst */
	struct dma_burst burst;
	uint8_t data[256];	/* of one burst: 16 beats of 16 bytes */
};

/* Of resident_again(): as many as the port's own cache has. */
#define RESIDENT_AGAIN_PAGES	SMMU_UTLB_PAGES

/* One of the two sides of a resident step, at a time. */
struct resident_side {
	struct board *board;
	struct smmu_run run;
	struct dram_frame frame[SMMU_RUN_PAGES];
	/* Pages that lie behind one another in memory are one part. */
	struct resident_part {
		uint8_t *mem;
		uint32_t bytes;
	} part[SMMU_RUN_PAGES];
	uint32_t parts;
	/* Of resident_again(): the pages, and whose all this is; len 0: no more. */
	struct resident_held {
		const uint64_t *tag_at;
		uint8_t *used;
		uint64_t tag, pa;
	} held[RESIDENT_AGAIN_PAGES];
	uint64_t tagged;		/* dram_tagged() before they were looked at */
	uint32_t pages;
	uint8_t bank;
	/* The same for the trace, which has a limit of its own to pages side by side. */
	struct trace_page told[SMMU_RUN_PAGES];
	uint32_t tellings;
	struct resident_place {
		struct board *board;
		uint64_t va, changes;	/* changes: of the SMMU */
		uint32_t who, len;
	} place;
};

/*
 * Where requests of a queue pair to a region lead, found once. It holds as long as nothing is
 * done on either board but this step itself.
 */
struct resident_way {
	uint64_t changes[2];	/* of the two boards, when it was found; 0: never */
	struct board *peer;
	struct fw_landing landing;
	uint32_t src;		/* fw_resident.src, .ctx */
	uint8_t ctx;
	struct trace_write told;	/* what has gone last */
	/* Of resident_again.c: what else holds of a queue pair that rests. */
	bool rests;
	uint32_t bell_at, bell;	/* of its doorbells: the register, and the number there */
	struct fw_again again;
};
#define RESIDENT_WAYS	16

/* Of resident.c; the domain is held. */
struct resident {
	struct resident_way way[RESIDENT_WAYS];	/* by queue pair */
	struct resident_side side[2];	/* 0: this board, 1: the other */
	struct trace_write *told;	/* what has gone last */
	bool untold;			/* it is not in the trace yet */
	uint64_t event;			/* else: its record there */
	uint64_t bytes;			/* that were ever sent so */
	uint64_t again;			/* requests that were ever served by resident_again() */
	unsigned int removals;		/* of memory, when it was last looked at */
};

/* Doorbells that were rung, for the board's own thread; see bells.c. */
#define BELLS_RING 64u
struct board_bells {
	atomic_uint put, taken;		/* ever */
	struct board_rung {
		/* Its number: to be written; one more: to be taken. A line of its own. */
		_Alignas(64) atomic_uint turn;
		uint32_t off;
		struct board_bell bell;
	} rung[BELLS_RING];
	struct sim_actor actor;
};

#define BOARD_DRAWS 64u

struct board {
	struct board_config cfg;
	char name[32];
	struct sim_domain *domain;
	struct sim_grace *grace;
	struct dram *dram;
	struct smmu *smmu;
	struct smmu_front *smmu_front;
	struct smmu_utlb utlb[BUS_SMMU_CHANNELS];
	struct board_held stalled[BUS_SMMU_CHANNELS];
	struct engine *engine;
	void *fw_mem;
	struct fw *fw;			/* NULL: not made yet */
	struct rng keys;		/* of regions, unless strangers attach; then: */
	uint32_t draw[BOARD_DRAWS];	/* what the system has given, not used up yet */
	unsigned int drawn;
	struct fabric_port *port;
	struct sim_actor channel[2];	/* the engine's: 0 read, 1 write */
	struct sim_actor fw_actor;
	struct psdma psdma;
	struct sim_actor psdma_actor;
	void *annex;			/* its own (annex.h) */
	struct board_irq irq;
	struct causes causes;		/* trace */
	bool timed;			/* steps take time (lockstep) */
	uint8_t block_log2, cell_log2;
	struct resident resident;
	uint64_t changes;		/* board_changed() */
	bool at_once;			/* who rings a doorbell runs the card */
	struct board_bells bells;	/* else, where time is real */
	bool stale;			/* there was an EV_STALE_ACCESS */
	atomic_bool unplugged;		/* for good: board_unplug() */
	atomic_uint broken;		/* board_inject() */
};

/* board.c: a record of the board's own. Whose frames are whose: fabric_attach()'s. */
uint64_t board_emit(void *board, unsigned int ev, const struct trace_at *at,
		    uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);
void board_receive(void *board, const struct wire_frame *f, uint64_t now_ns);

/*
 * The domain is held, and something is done with engine or firmware that is no resident step:
 * what that has found (struct resident_way) is void. Every step of theirs, every access to
 * their registers and every call for one of them says so; of doorbells, those that leave
 * something to do, and not the one that says which completions were taken.
 */
static inline void board_changed(struct board *b)
{
	b->changes++;
}

/* Is it that register of a doorbell page? */
static inline bool bell_is(uint32_t off, uint32_t bell)
{
	return off - NIC_DB_BASE(0) < NIC_DB_STRIDE * NIC_DB_COUNT &&
	       off % NIC_DB_STRIDE == bell;
}

/* Completions that were taken change nothing else. */
static inline bool bell_changes(uint32_t off)
{
	return !bell_is(off, NIC_DB_CQ_CONS);
}

/*
 * bells.c, where time is real: write to that register, as board_write() and board_ring();
 * before any other access, see to all that has been written so.
 */
int bells_ring_one(struct board *b, uint32_t off, uint32_t value);
void bells_ring(struct board *b, uint32_t off, const struct board_bell *bell, unsigned int n);
void bells_take(struct board *b, unsigned int until);
static inline void bells_first(struct board *b)
{
	unsigned int until = atomic_load(&b->bells.put);

	if (atomic_load_explicit(&b->bells.taken, memory_order_relaxed) != until)
		bells_take(b, until);
}
void bells_make(struct board *b);
uint64_t bells_step(void *board, uint64_t now_ns);

/* irq.c; the latter three as the parts' environments have them */
void irq_set(struct board *b, enum irq_line line, bool level);
void irq_smmu(void *board, bool level);
void irq_firmware(void *board, unsigned int line, bool level);
void irq_engine(void *board, unsigned int line, bool level);

/* bus.c: the engine's memory port and the SMMU's */
enum dma_status bus_burst_begin(void *board, struct dma_burst *burst);
enum dma_status bus_burst_end(void *board, struct dma_burst *burst, void *buf);
/* Report that the frame of a page changed hands while bytes of it moved. */
void bus_stale(struct board *b, const struct smmu_access *a, uint64_t pa, uint64_t tag);
/* resident.c: fw_env.resident, fw_env.resident_tell */
uint32_t board_resident(void *board, struct fw_resident *r);
uint64_t board_resident_tell(void *board, bool ends);
void resident_make(struct board *b);
/* So many bytes of the front of the parts. */
void resident_copy(const struct resident_part *from, const struct resident_part *to,
		   uint32_t bytes, bool far);
/* What injection does is looked for each time: it may begin at any moment. */
static inline bool board_is_well(struct board *b)
{
	return !atomic_load_explicit(&b->broken, memory_order_relaxed) &&
	       !atomic_load_explicit(&b->dram->injections, memory_order_relaxed);
}
/*
 * resident_again.c. The domain is entered, and a doorbell has rung: value was written to the
 * register at off. True: all that it asks for is done. Else the write goes on, and after it
 * comes resident_learn(). *peer: NULL, or the board that an earlier doorbell has entered too;
 * then one whose domain is to be left.
 */
bool resident_again(struct board *b, uint32_t off, uint32_t value, struct board **peer);
void resident_learn(struct board *b, uint32_t off, uint32_t value);
/*
 * A master that translates by itself, and numbers its channels from 0: a burst to pa, whose
 * frame had this tag when the master learned of it.
 */
void bus_own_begin(struct board *b, struct dma_burst *burst, uint64_t pa, uint64_t tag);
enum dma_status bus_own_end(void *board, struct dma_burst *burst, void *buf);
enum dma_status bus_own_atomic(void *board, struct dma_burst *burst, bool compare,
			       uint64_t expected, uint64_t operand, uint64_t *old);
enum smmu_mem_status bus_walk_read(void *board, uint64_t pa, uint64_t *value);
uint32_t bus_walk_reads(void *board, uint64_t pa, uint64_t *value, uint32_t n);
uint64_t bus_frame_tag(void *board, uint64_t pa);
void bus_resume(void *board, uint64_t ticket, enum smmu_verdict how);
void bus_sync_start(void *board, unsigned int bank);
bool bus_sync_done(void *board, unsigned int bank);

/* psdma.c; the domain is held */
void psdma_reset(struct board *b);
int psdma_access(struct board *b, uint32_t off, unsigned int size,
		 uint64_t *value, bool write);
/* The SMMU lets its burst go: to begin again, or to end with an error. */
void psdma_resume(struct board *b, bool refused);
uint64_t psdma_step(void *board, uint64_t now_ns);

#endif
