/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * board.h - two boards on a link, driven through registers and queues alone: no
 * kernel, no driver, no library. The SMMUs bypass, so an address is a physical address.
 */
#ifndef FL_RIG_BOARD_H
#define FL_RIG_BOARD_H

#include <string.h>

#include "board/board.h"
#include "board/dram.h"
#include "fabric/fabric.h"
#include "faultline/entries.h"
#include "faultline/regs.h"
#include "faultline/smmu_regs.h"
#include "harness.h"
#include "lib/os/os.h"
#include "sim/rng.h"
#include "sim/sim.h"
#include "sim/timing.h"
#include "trace/trace.h"

#define QUEUE	16
#define DATA	(64 * 1024)

struct node {
	struct board *board;
	struct dram_bank *mem;
	uint32_t pd, cq, qp, key;
	uint64_t sq_pa, cq_pa, data_pa;
	uint16_t posted;
	uint32_t taken;
};

struct testbed {
	struct sim *sim;
	struct trace *trace;
	struct timing_profile timing;
	struct fabric *fabric;
	struct node n[2];
	void (*body)(struct testbed *w);
};

uint64_t rig_reg(struct node *n, uint32_t off);

static inline void rig_set(struct node *n, uint32_t off, uint64_t v)
{
	EXPECT_EQ(board_write(n->board, BUS_NIC_BASE + off, 4, v), 0);
}

static inline void smmu_set(struct node *n, uint32_t off, unsigned int size,
			    uint64_t v)
{
	EXPECT_EQ(board_write(n->board, BUS_SMMU_BASE + off, size, v), 0);
}

uint32_t rig_command(struct node *n, struct fl_fw_cmd c);
void set_up(struct node *n);
void rig_post(struct node *n, struct node *peer, uint8_t opcode, uint64_t local,
	      uint64_t remote, uint32_t len);
struct fl_cqe wait_one(struct node *n);

static inline uint8_t *rig_data(struct node *n)
{
	return dram_at(board_dram(n->board), n->data_pa, DATA);
}

void rig_fill(struct node *n, uint64_t seed);

/* Of the boards of the next rig_run(); 0: as the profile has it. */
extern uint32_t rig_cell_bytes;
extern enum sim_drive rig_drive;
/* Entries of the walk cache of their SMMUs; 0: none. */
extern uint32_t rig_walk_cache;

void rig_run(enum sim_mode mode, void (*body)(struct testbed *w),
	     const struct fabric_inject *inject);

#endif
