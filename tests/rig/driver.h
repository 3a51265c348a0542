/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * driver.h - two boards on a link, each with kernel, driver and one
 * process, used through system calls alone (no library), for the tests of the
 * driver and the shim.
 */
#ifndef FL_RIG_DRIVER_H
#define FL_RIG_DRIVER_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "fabric/fabric.h"
#include "faultline/entries.h"
#include "faultline/regs.h"
#include "faultline/smmu_regs.h"
#include "faultline/uapi.h"
#include "harness.h"
#include "host/host.h"
#include "host/mm.h"
#include "sim/sim.h"
#include "sim/timing.h"
#include "trace/trace.h"

#define RIG_PAGE	4096u
#define RIG_QUEUE	16u
#define RIG_BYTES	(256u * 1024)

struct rig_node {
	struct board *board;
	struct host_kernel *kernel;
	struct host_process *process;
	int fd;
	uint32_t pd, cq, qp, key;
	struct fl_wqe *sq;
	struct fl_cqe *cqe;
	uint8_t *doorbell;
	uint64_t sq_bytes, cq_bytes;
	uint8_t *buffer;
	uint16_t posted;
	uint32_t taken;
	bool removed;
};

struct rig {
	struct sim *sim;
	struct trace *trace;
	struct timing_profile timing;
	struct fabric *fabric;
	struct rig_node n[2];
	void (*body)(struct rig *r);
	enum sim_result result;
	unsigned int bad_regs;	/* so many refused writes are right */
	unsigned int resumes_ignored;	/* the same of RESUME */
	uint64_t frames;	/* of each kernel; 0: plenty */
	uint8_t first;		/* node of n[0]; the other is the next */
};

static inline long rig_ioctl(struct rig_node *n, unsigned int cmd, void *arg)
{
	return host_ioctl(n->process, n->fd, cmd, arg);
}

uint32_t rig_smmu(struct rig_node *n, uint32_t off);

static inline void rig_smmu_set(struct rig_node *n, uint32_t off,
				unsigned int size, uint64_t value)
{
	EXPECT_EQ(board_write(n->board, BUS_SMMU_BASE + off, size, value), 0);
}

uint64_t rig_smmu64(struct rig_node *n, uint32_t off);
struct fl_counters rig_counters(struct rig_node *n);
uint32_t rig_reg_mr(struct rig_node *n, void *addr, uint64_t len,
		    uint32_t access, uint32_t flags, int want);

#define RIG_ALL	(FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE | FL_ACC_REMOTE_READ)

void rig_open(struct rig_node *n);

/* FL_QP_* of the queue pairs that a rig makes. */
extern uint32_t rig_qp_flags;

/* Domain, queues, a buffer and its region (flags: FL_MR_PINNED or 0). */
void rig_set_up(struct rig_node *n, uint32_t flags);

/* Unmap the queues and the doorbell, then close: the process leaves the card. */
void rig_unmap(struct rig_node *n);

void rig_close(struct rig_node *n);
void rig_connect(struct rig *r);

/* Both nodes ready to talk, with policy. */
void rig_pair(struct rig *r, uint32_t mode, uint32_t resolve,
	      uint32_t mr_flags);

void rig_fill(struct rig_node *n, uint32_t len, uint8_t salt);
void rig_same(struct rig *r, uint32_t len);
void rig_post(struct rig *r, uint8_t opcode, uint32_t from, uint32_t to,
	      uint32_t len);
bool rig_look(struct rig_node *n);

/* Sleeps in the driver for it; returns its status. */
int rig_wait(struct rig_node *n);

/* Entries of the walk cache of each board's SMMU. */
extern unsigned int rig_walk_cache;

void rig_board(struct rig *r, int i, const struct host_driver_params *params);
void rig_run_in(uint64_t frames, enum sim_mode mode,
		const struct host_driver_params *params,
		void (*body)(struct rig *r), void (*after)(struct rig *r));

static inline void rig_run_with(enum sim_mode mode,
				const struct host_driver_params *params,
				void (*body)(struct rig *r),
				void (*after)(struct rig *r))
{
	rig_run_in(0, mode, params, body, after);
}

void rig_run(void (*body)(struct rig *r));

#endif
