/* SPDX-License-Identifier: BSD-2-Clause */
/* board_internal.h - what the files of emu/board share. */
#ifndef FL_BOARD_INTERNAL_H
#define FL_BOARD_INTERNAL_H

#include "board/board.h"
#include "board/dram.h"
#include "fabric/fabric.h"
#include "nic/fw.h"
#include "nic/policy/policy.h"
#include "nic/table.h"
#include "nic/transport/fault.h"
#include "nic/transport/nv.h"
#include "nic/transport/ud.h"
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
 * Channels of the DMA port: the engine's are 0 read, 1 write, and those of packet units,
 * which number them the same way (dma_burst.channel), begin at BUS_CHANNEL_PACKET, two for
 * each unit. They do not go through the SMMU.
 */
enum { BUS_CHANNEL_PSDMA = 2, BUS_SMMU_CHANNELS, BUS_CHANNEL_PACKET = BUS_SMMU_CHANNELS };

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

/* An order for the table, from TAB_GO until BUSY falls. */
enum card_phase { CARD_IDLE, CARD_ORDERED, CARD_WORKING, CARD_ENDING };
struct card_order {
	uint32_t object, count, op;	/* op: TAB_GO */
	uint64_t first, list_pa;
};

/* What the card itself has to know of a queue pair of packets. */
struct card_pair {
	bool nv;		/* else reliable */
	uint32_t qpn;
	uint8_t slot, rnr_code;
	bool ud;
};

/* What is beside the engine: packet units, their table, what they miss there. */
struct card {
	struct table *table;
	struct nic_fault_unit *faults;
	struct policy policy;
	struct rng rng;			/* injected faults */
	uint64_t share;			/* of packets that miss, in parts of 2^40 */
	bool major;
	struct card_order set, order;	/* TAB_* as written; what is under way */
	enum card_phase phase;
	uint8_t code;			/* of the last order */
	uint64_t cause;			/* trace: who gave it */
	struct sim_actor table_actor, fault_actor;
	struct rc *rc;
	struct fw_transport transport;	/* for the firmware */
	struct sim_actor rc_channel[2], rc_timer;
	struct nv *nv;
	struct fw_transport nv_transport;
	struct sim_actor nv_channel[2], nv_timer;
	uint64_t div_base;		/* XP.DIV_BASE */
	struct ud *ud;
	struct fw_transport ud_transport;
	struct sim_actor ud_channel[2], ud_timer;
	bool line_records, line_backup;	/* either raises the line for faults */
	struct card_pair pair[DEV_QPS];
};

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
};
#define RESIDENT_WAYS	16

/* Of resident.c; the domain is held. */
struct resident {
	struct resident_way way[RESIDENT_WAYS];	/* by queue pair */
	struct resident_side side[2];	/* 0: this board, 1: the other */
	struct trace_write told;	/* what has gone last */
	bool untold;			/* it is not in the trace yet */
	uint64_t event;			/* else: its record there */
	uint64_t bytes;			/* that were ever sent so */
};

struct board {
	struct board_config cfg;
	char name[32];
	struct sim_domain *domain;
	struct sim_grace *grace;
	struct dram *dram;
	struct smmu *smmu;
	struct smmu_utlb utlb[BUS_SMMU_CHANNELS];
	struct board_held stalled[BUS_SMMU_CHANNELS];
	struct engine *engine;
	void *fw_mem;
	struct fw *fw;			/* NULL: not made yet */
	struct rng keys;		/* of regions, unless strangers attach */
	struct fabric_port *port;
	struct sim_actor channel[2];	/* the engine's: 0 read, 1 write */
	struct sim_actor fw_actor;
	struct psdma psdma;
	struct sim_actor psdma_actor;
	struct card card;
	struct board_irq irq;
	struct causes causes;		/* trace */
	bool timed;			/* steps take time (lockstep) */
	uint8_t block_log2, cell_log2;
	struct resident resident;
	uint64_t changes;		/* board_changed() */
	bool at_once;			/* who rings a doorbell runs the card */
	bool stale;			/* there was an EV_STALE_ACCESS */
	atomic_bool unplugged;		/* for good: board_unplug() */
	atomic_uint broken;		/* board_inject() */
};

/*
 * The domain is held, and something is done with engine or firmware that is no resident step:
 * what that has found (struct resident_way) is void. Every step of theirs, every access to
 * their registers and every call for one of them says so; of doorbells, those that leave
 * something to do.
 */
static inline void board_changed(struct board *b)
{
	b->changes++;
}

/* irq.c; the latter three as the parts' environments have them */
void irq_set(struct board *b, enum irq_line line, bool level);
void irq_smmu(void *board, bool level);
void irq_firmware(void *board, unsigned int line, bool level);
void irq_engine(void *board, unsigned int line, bool level);

/* card.c; the domain is held. The first three are the port's. */
void card_receive(void *board, const struct wire_frame *f, uint64_t now_ns);
void card_room(void *board);
/* A frame is about to be sent: is it not? */
bool card_drops(void *board, const struct wire_frame *f);
int card_make(struct board *b);
void card_destroy(struct board *b);
void card_reset(struct board *b);
uint32_t card_features(const struct board *b);
/* The part that still has something in flight, or NULL. */
const char *card_busy(struct board *b);
const char *card_check(struct board *b);
uint64_t card_emit(void *board, unsigned int ev, const struct trace_at *at,
		   uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);

/* card_nv.c; the same */
int card_nv_make(struct board *b);
void card_nv_reset(struct board *b);
/* Registers DIV_* and COPIED of the page XP. 0 or -EINVAL. */
int card_div_base_set(struct board *b, uint64_t base);
int card_slots_set(struct board *b, uint32_t slots);
int card_copied(struct board *b, uint32_t value);

/* card_rc.c; the same */
int card_rc_make(struct board *b);
void card_rc_reset(struct board *b);
/* For the firmware: SLOT_ROW, and what it gives a pair that says no more. */
void card_slot_row(void *board, uint32_t slot, uint32_t row, uint64_t quirks,
		   uint64_t bits);
struct fw_pair card_connect(const struct board *b);
void card_resume(void *board, uint16_t qp, uint8_t side, bool write, uint8_t code,
		 uint64_t now_ns);

/* What the reports of a unit's misses say; the caller has the verdict. */
struct rc_judged card_miss(struct board *b, const struct rc_miss *m);

/* card_ud.c; the same */
int card_ud_make(struct board *b);
void card_ud_reset(struct board *b);
/* card.c: a ring for the driver is not empty, or is. */
void card_line(struct board *b);

/* xp.c: the registers of page XP. The domain is not held. */
int xp_access(struct board *b, uint32_t off, unsigned int size, uint64_t *value,
	      bool write);
uint64_t xp_table_step(void *board, uint64_t now_ns);

/* bus.c: the engine's memory port and the SMMU's */
enum dma_status bus_burst_begin(void *board, struct dma_burst *burst);
enum dma_status bus_burst_end(void *board, struct dma_burst *burst, void *buf);
/* Report that the frame of a page changed hands while bytes of it moved. */
void bus_stale(struct board *b, const struct smmu_access *a, uint64_t pa, uint64_t tag);
/* resident.c: fw_env.resident, fw_env.resident_tell */
uint32_t board_resident(void *board, const struct fw_resident *r);
uint64_t board_resident_tell(void *board, bool ends);
void resident_make(struct board *b);
/* Packet units' memory port, as rc.h has it: object and va are translated by the table. */
enum dma_status bus_packet_begin(void *board, struct dma_burst *burst);
enum dma_status bus_packet_end(void *board, struct dma_burst *burst, void *buf);
enum dma_status bus_packet_atomic(void *board, struct dma_burst *burst, bool compare,
				  uint64_t expected, uint64_t operand, uint64_t *old);
enum smmu_mem_status bus_walk_read(void *board, uint64_t pa, uint64_t *value);
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
