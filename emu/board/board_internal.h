/* SPDX-License-Identifier: BSD-2-Clause */
/* board_internal.h - what the files of emu/board share. */
#ifndef FL_BOARD_INTERNAL_H
#define FL_BOARD_INTERNAL_H

#include "board/board.h"
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

/* Channels of the DMA port (dma_burst.channel): the engine's are 0 read, 1 write. */
enum { BUS_CHANNEL_PSDMA = 2, BUS_CHANNELS };

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

struct board {
	struct board_config cfg;
	char name[32];
	struct sim_domain *domain;
	struct sim_grace *grace;
	struct dram *dram;
	struct smmu *smmu;
	struct smmu_utlb utlb[BUS_CHANNELS];
	struct board_held stalled[BUS_CHANNELS];
	struct engine *engine;
	struct fw *fw;
	struct rng keys;		/* of regions, unless strangers attach */
	struct fabric_port *port;
	struct sim_actor channel[2];	/* the engine's: 0 read, 1 write */
	struct sim_actor fw_actor;
	struct psdma psdma;
	struct sim_actor psdma_actor;
	struct board_irq irq;
	struct causes causes;		/* trace */
	bool timed;			/* steps take time (lockstep) */
	bool stale;			/* there was an EV_STALE_ACCESS */
	atomic_bool unplugged;		/* for good: board_unplug() */
	atomic_uint broken;		/* board_inject() */
};

/* irq.c; the latter three as the parts' environments have them */
void irq_set(struct board *b, enum irq_line line, bool level);
void irq_smmu(void *board, bool level);
void irq_firmware(void *board, unsigned int line, bool level);
void irq_engine(void *board, unsigned int line, bool level);

/* bus.c: the engine's memory port and the SMMU's */
enum dma_status bus_burst_begin(void *board, struct dma_burst *burst);
enum dma_status bus_burst_end(void *board, struct dma_burst *burst, void *buf);
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
