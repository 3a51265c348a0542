// SPDX-License-Identifier: BSD-2-Clause
/* Memory that fails, and a card that loses its power. */
#include "rig/board.h"

/* ---- memory that answers with an error ---- */

static void bad_memory(struct testbed *w, int bad, enum dram_status how)
{
	struct node *a = &w->n[0], *b = &w->n[1];

	rig_fill(a, 3);
	memset(rig_data(b), 0, DATA);
	dram_inject(board_dram(w->n[bad].board), w->n[bad].data_pa + 8192, how);
	STEP("beside the bad frame all is well");
	rig_post(a, b, FL_OP_WRITE, 0, 0, 8192);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
	STEP("a write that touches it fails, and says why");
	rig_post(a, b, FL_OP_WRITE, 0, 0, 16384);
	EXPECT_EQ(wait_one(a).status, FL_ST_BUS_ERROR);
	rig_post(a, b, FL_OP_WRITE, 0, 0, 64);
	EXPECT_EQ(wait_one(a).status, FL_ST_FLUSHED);
}

static void bad_source(struct testbed *w)
{
	bad_memory(w, 0, DRAM_DECERR);
	STEP("nothing of the block left");
	EXPECT_EQ(rig_data(&w->n[1])[8192 + 4096], 0);
}

static void poisoned_source(struct testbed *w)
{
	bad_memory(w, 0, DRAM_POISON);
	EXPECT_EQ(rig_data(&w->n[1])[8192], 0);
}

static void bad_destination(struct testbed *w)
{
	bad_memory(w, 1, DRAM_DECERR);
}

TEST("memory that fails or is poisoned at the source gives a bus error, and no byte of it travels")
{
	rig_run(SIM_LOCKSTEP, bad_source, NULL);
	rig_run(SIM_LOCKSTEP, poisoned_source, NULL);
}

TEST("memory that fails at the destination gives the sender a bus error")
{
	rig_run(SIM_LOCKSTEP, bad_destination, NULL);
}

/* ---- a card that loses its power ---- */

/* Cut b's power so long after a's doorbell, then set both up anew; a's status. */
static uint8_t power_cut(struct testbed *w, uint64_t after_ns)
{
	struct node *a = &w->n[0], *b = &w->n[1];
	struct fl_cqe e;
	uint64_t busy;
	int i;

	STEP("cut after %d ns", (int)after_ns);
	rig_fill(a, after_ns);
	rig_post(a, b, FL_OP_WRITE, 0, 0, 40000);
	sim_sleep(after_ns);
	board_reset(b->board);
	EXPECT(!board_check(b->board));
	EXPECT(!board_busy(b->board));
	EXPECT_EQ(rig_reg(b, NIC_ENG_BASE + NIC_ENG_CTRL), 0);
	for (i = 0; i < IRQ_LINES; i++)
		EXPECT(!board_irq_level(b->board, (enum irq_line)i));
	e = wait_one(a);
	EXPECT(e.status == FL_ST_NO_ANSWER || e.status == FL_ST_OK);
	if (e.status == FL_ST_OK)
		EXPECT_MEM(rig_data(b), rig_data(a), 40000);
	STEP("the one that lived takes a new queue pair, the other begins anew");
	a->qp = rig_command(a, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE,
					       .a = a->sq_pa, .b = QUEUE,
					       .c = a->cq, .d = a->pd });
	a->posted = 0;
	memset(dram_at(board_dram(b->board), b->cq_pa, 32 * QUEUE), 0,
	       32 * QUEUE);
	b->posted = 0;
	b->taken = 0;
	set_up(b);
	for (i = 0; i < 2; i++)
		rig_command(&w->n[i], (struct fl_fw_cmd){
			.opcode = FL_CMD_QP_CONNECT, .object = w->n[i].qp,
			.a = (uint64_t)!i, .b = w->n[!i].qp });
	STEP("a synchronise of the TLB ends: no access was lost count of");
	smmu_set(b, SMMU_GR0_BASE + SMMU_GR0_TLBGSYNC, 4, 0);
	for (i = 0, busy = 1; busy && i < 1000; i++) {
		sim_sleep(100);
		EXPECT_EQ(board_read(b->board, BUS_SMMU_BASE + SMMU_GR0_BASE +
				     SMMU_GR0_TLBGSTATUS, 4, &busy), 0);
	}
	EXPECT_EQ(busy, 0);
	memset(rig_data(b), 0, DATA);
	rig_post(a, b, FL_OP_WRITE, 0, 0, 40000);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
	EXPECT_MEM(rig_data(b), rig_data(a), 40000);
	rig_post(b, a, FL_OP_WRITE, 0, 0, 100);
	EXPECT_EQ(wait_one(b).status, FL_ST_OK);
	return e.status;
}

static void power_cuts(struct testbed *w)
{
	unsigned int lost = 0, through = 0;
	uint64_t ns;

	for (ns = 0; ns < 60000; ns += 1777)
		if (power_cut(w, ns) == FL_ST_OK)
			through++;
		else
			lost++;
	EXPECT_GE(lost, 3);
	EXPECT_GE(through, 3);
}

TEST("a card that loses its power at any moment is silent, and begins anew")
{
	rig_run(SIM_LOCKSTEP, power_cuts, NULL);
}
