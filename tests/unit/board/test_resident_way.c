// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the resident step remembers of a queue pair between two requests, against whatever may
 * change meanwhile: the very next request must see it. variants: tsan
 */
#include "smmu/smmu.h"
#include "rig/resident_way.h"

static void page_here(unsigned int side, bool here)
{
	struct node *n = &way_testbed->n[side];
	uint32_t page = (side ? TO : FROM) / 4096;

	page_set(n, page, here ? page_descriptor(n, side, page) : 0);
}

/* As a driver does, when the page is there again. */
static void fault_answer(unsigned int side)
{
	struct node *n = &way_testbed->n[side];
	uint32_t v = (uint32_t)rig_reg(n, NIC_ENG_BASE + NIC_ENG_FLT_REF);

	EXPECT(v & NIC_ENG_FLT_REF_VALID);
	rig_set(n, NIC_ENG_BASE + NIC_ENG_FLT_POP, 1);
	rig_set(n, NIC_ENG_BASE + NIC_ENG_READY,
		v & (NIC_ENG_READY_INDEX_MASK | NIC_ENG_READY_SIDE_MASK |
		     NIC_ENG_READY_SERIAL_MASK));
}

/* ---- what may change ---- */

static void page_unmap(unsigned int side)
{
	page_here(side, false);
	way_next_waits();
	page_here(side, true);
	fault_answer(side);
	EXPECT_EQ(wait_one(&way_testbed->n[0]).status, FL_ST_OK);
	way_learn();
}

static void unmap_source(void)
{
	page_unmap(0);
}

static void unmap_destination(void)
{
	page_unmap(1);
}

TEST("a page is unmapped, at the source or at the destination")
{
	way_try(unmap_source);
	way_try(unmap_destination);
}

static void stall_policy(void)
{
	struct node *n = &way_testbed->n[1];
	const uint32_t cb = SMMU_CB_BASE(0);

	smmu_set(n, cb + SMMU_CB_SCTLR, 4, SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE |
		 SMMU_CB_SCTLR_CFCFG | SMMU_CB_SCTLR_HUPCF);
	page_here(1, false);
	way_next_waits();
	EXPECT(smmu_busy(board_smmu(n->board)));
	page_here(1, true);
	smmu_set(n, cb + SMMU_CB_FSR, 4, 0xffffffff);
	smmu_set(n, cb + SMMU_CB_RESUME, 4, 0);
	EXPECT_EQ(wait_one(&way_testbed->n[0]).status, FL_ST_OK);
	way_learn();
}

TEST("the SMMU is to stall what it does not find")
{
	way_try(stall_policy);
}

static void region_ends(unsigned int side)
{
	rig_command(&way_testbed->n[side], (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_DESTROY, .object = va_key[side] });
}

static void region_local(void)
{
	region_ends(0);
	way_next_ends(FL_ST_LOCAL_KEY);
}

static void region_remote(void)
{
	region_ends(1);
	way_next_ends(FL_ST_REMOTE_ACCESS);
}

static void region_shorter(void)
{
	region_ends(1);
	va_key[1] = rig_command(&way_testbed->n[1], (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = VA, .b = TO + way_len - 1,
		.c = way_testbed->n[1].pd, .flags = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE });
	way_next_ends(FL_ST_REMOTE_ACCESS);
}

static void region_read_only(void)
{
	region_ends(1);
	va_key[1] = rig_command(&way_testbed->n[1], (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = VA, .b = BYTES, .c = way_testbed->n[1].pd,
		.flags = FL_ACC_REMOTE_READ });
	way_next_ends(FL_ST_REMOTE_ACCESS);
}

TEST("a region ends, or another one is there that allows less")
{
	way_try(region_local);
	way_try(region_remote);
	way_try(region_shorter);
	way_try(region_read_only);
}

/* Another queue pair is in the place of the one that was the peer. */
static void queue_pair_anew(void)
{
	struct node *n = &way_testbed->n[1];
	uint64_t bytes = way_went();

	rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_DESTROY, .object = n->qp });
	n->qp = rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE,
						   .a = n->sq_pa, .b = QUEUE,
						   .c = n->cq, .d = n->pd });
	rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CONNECT, .object = n->qp,
					   .a = 0, .b = way_testbed->n[0].qp });
	way_post();
	EXPECT(wait_one(&way_testbed->n[0]).status != FL_ST_OK);
	EXPECT_EQ(way_went(), bytes);
}

TEST("the peer's queue pair ends, and another one takes its place")
{
	way_try(queue_pair_anew);
}

static void rule_set(uint8_t from, uint8_t to)
{
	static const struct fabric_inject nothing;

	EXPECT_EQ(fabric_inject(way_testbed->fabric, from, to, &nothing), 0);
	way_next_ends(FL_ST_OK);
}

static void rule_there(void)
{
	rule_set(0, 1);
}

static void rule_back(void)
{
	rule_set(1, 0);
}

TEST("a rule of injection is set, in either direction")
{
	way_try(rule_there);
	way_try(rule_back);
}

static void bus_error(void)
{
	struct node *n = &way_testbed->n[1];

	dram_inject(board_dram(n->board), n->data_pa + (FRAMES - 1) * 4096ull, DRAM_DECERR);
	way_next_ends(FL_ST_OK);
}

static void firmware_silent(void)
{
	board_inject(way_testbed->n[1].board, BOARD_SILENT_FW);
	way_next_waits();
	board_inject(way_testbed->n[1].board, 0);
	EXPECT_EQ(wait_one(&way_testbed->n[0]).status, FL_ST_OK);
	way_learn();
}

TEST("something is injected into the memory or the firmware of the other board")
{
	way_try(bus_error);
	way_try(firmware_silent);
}

/* One more than the queue holds: no completion is written over another. */
static void completions_full(void)
{
	struct node *n = &way_testbed->n[0];
	uint64_t full = trace_count(way_testbed->trace, EV_FW_COMPLETE);
	unsigned int i;

	for (i = 0; i < QUEUE; i++)
		way_post();
	EXPECT_EQ(trace_count(way_testbed->trace, EV_FW_COMPLETE), full + QUEUE);
	way_post();
	way_drain();
	EXPECT_EQ(trace_count(way_testbed->trace, EV_FW_COMPLETE), full + QUEUE);
	for (i = 0; i < QUEUE; i++)
		EXPECT_EQ(wait_one(n).status, FL_ST_OK);
}

TEST("the completion queue is full")
{
	way_try(completions_full);
}

/* ---- requests that are not like the last one ---- */

static void (*differ_)(struct fl_wqe *w);
static uint8_t status_;
static void differ_change(void)
{
	uint64_t again = way_again();
	struct node *n = &way_testbed->n[0];

	way_post_quietly();
	differ_(way_wqe(n, (uint16_t)(n->posted - 1)));
	bell_ring(n);
	EXPECT_EQ(wait_one(n).status, status_);
	EXPECT_EQ(way_again(), again);
}

static void differ_try(void (*differ)(struct fl_wqe *w), uint8_t status)
{
	differ_ = differ;
	status_ = status;
	way_try(differ_change);
}

static void differ_opcode(struct fl_wqe *w) { w->opcode = 77; }
static void differ_read(struct fl_wqe *w) { w->opcode = FL_OP_READ; }
static void differ_flags(struct fl_wqe *w) { w->flags |= 0x80; }
static void differ_fence(struct fl_wqe *w) { w->flags |= FL_WQE_FENCE; }
static void differ_index(struct fl_wqe *w) { w->index++; }
static void differ_immediate(struct fl_wqe *w) { w->imm = 1; }
static void differ_swap(struct fl_wqe *w) { w->swap = 1; }
static void differ_compare(struct fl_wqe *w) { w->compare = 1; }
static void differ_nothing(struct fl_wqe *w) { w->length = 0; }
static void differ_lkey(struct fl_wqe *w) { w->lkey ^= 1u << 31; }
static void differ_rkey(struct fl_wqe *w) { w->rkey ^= 1u << 31; }
static void differ_before(struct fl_wqe *w) { w->local_va = VA - 1; }
static void differ_behind(struct fl_wqe *w) { w->local_va = VA + BYTES - w->length + 1; }
static void differ_far_before(struct fl_wqe *w) { w->remote_va = VA - 1; }
static void differ_far_behind(struct fl_wqe *w) { w->remote_va = VA + BYTES - w->length + 1; }
static void differ_round(struct fl_wqe *w) { w->remote_va = 0 - 4ull; }
static void differ_long(struct fl_wqe *w) { w->length = UINT32_MAX; }

TEST("a request that is wrong is found out, however many right ones went before it")
{
	differ_try(differ_opcode, FL_ST_BAD_OPCODE);
	differ_try(differ_flags, FL_ST_BAD_ENTRY);
	differ_try(differ_index, FL_ST_BAD_ENTRY);
	differ_try(differ_immediate, FL_ST_BAD_ENTRY);
	differ_try(differ_swap, FL_ST_BAD_ENTRY);
	differ_try(differ_compare, FL_ST_BAD_ENTRY);
	differ_try(differ_nothing, FL_ST_BAD_LENGTH);
	differ_try(differ_round, FL_ST_BAD_LENGTH);
	differ_try(differ_lkey, FL_ST_LOCAL_KEY);
	differ_try(differ_before, FL_ST_LOCAL_RANGE);
	differ_try(differ_behind, FL_ST_LOCAL_RANGE);
	differ_try(differ_long, FL_ST_LOCAL_RANGE);
	differ_try(differ_rkey, FL_ST_REMOTE_ACCESS);
	differ_try(differ_far_before, FL_ST_REMOTE_ACCESS);
	differ_try(differ_far_behind, FL_ST_REMOTE_ACCESS);
}

TEST("a request of another kind goes its own way")
{
	differ_try(differ_read, FL_ST_OK);
	differ_try(differ_fence, FL_ST_OK);
}

/* ---- what need not make a difference, and what must ---- */

static void many_at_once(void)
{
	uint64_t again = way_again();
	struct node *n = &way_testbed->n[0];
	unsigned int i;

	for (i = 0; i < QUEUE - 2; i++)
		way_post_quietly();
	way_wqe(n, (uint16_t)(n->posted - 3))->flags = 0;
	bell_ring(n);
	STEP("those before the one that is to have no completion, and it alone");
	EXPECT_EQ(way_again(), again + QUEUE - 2 - 3);
	for (i = 0; i < QUEUE - 3; i++)
		EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	way_learn();
}

TEST("several requests of one doorbell, one of them without a completion")
{
	way_try(many_at_once);
}

/* Whoever waits for a completion is woken. */
static void queue_armed(void)
{
	uint64_t events = trace_count(way_testbed->trace, EV_FW_EVENT), again = way_again();
	struct node *n = &way_testbed->n[0];

	rig_set(n, NIC_FW_BASE + NIC_FW_EQ_BASE, (uint32_t)n->data_pa);
	rig_set(n, NIC_FW_BASE + NIC_FW_EQ_BASE + 4, (uint32_t)(n->data_pa >> 32));
	rig_set(n, NIC_FW_BASE + NIC_FW_EQ_SIZE, 16);
	way_learn();
	again = way_again();
	rig_set(n, NIC_DB_BASE(0) + NIC_DB_CQ_ARM, n->cq | n->taken << 16);
	way_post();
	EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	way_drain();
	EXPECT_EQ(way_again(), again);
	EXPECT_EQ(trace_count(way_testbed->trace, EV_FW_EVENT), events + 1);
	way_learn();
}

/* The request that is served while it is armed has no completion; the next one has. */
static void queue_stays_armed(void)
{
	struct node *n = &way_testbed->n[0];
	uint64_t events;

	queue_armed();
	events = trace_count(way_testbed->trace, EV_FW_EVENT);
	rig_set(n, NIC_DB_BASE(0) + NIC_DB_CQ_ARM, n->cq | n->taken << 16);
	way_post_quietly();
	way_wqe(n, (uint16_t)(n->posted - 1))->flags = 0;
	bell_ring(n);
	way_post();
	EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	way_drain();
	EXPECT_EQ(trace_count(way_testbed->trace, EV_FW_EVENT), events + 1);
}

TEST("the completion queue is armed")
{
	way_try(queue_armed);
	way_try(queue_stays_armed);
}

/* The pages behind its end are there. */
static void region_end(unsigned int side)
{
	uint64_t again;

	region_ends(side);
	va_key[side] = rig_command(&way_testbed->n[side], (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = VA, .b = (side ? TO : FROM) + way_len,
		.c = way_testbed->n[side].pd, .flags = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE });
	way_learn();
	again = way_again();
	way_post_quietly();
	if (side)
		way_wqe(&way_testbed->n[0], (uint16_t)(way_testbed->n[0].posted - 1))->remote_va++;
	else
		way_wqe(&way_testbed->n[0], (uint16_t)(way_testbed->n[0].posted - 1))->local_va++;
	bell_ring(&way_testbed->n[0]);
	EXPECT_EQ(wait_one(&way_testbed->n[0]).status,
		  side ? FL_ST_REMOTE_ACCESS : FL_ST_LOCAL_RANGE);
	EXPECT_EQ(way_again(), again);
}

static void region_end_local(void)
{
	region_end(0);
}

static void region_end_remote(void)
{
	region_end(1);
}

TEST("a request reaches beyond the end of a region, but not of what is mapped")
{
	way_try(region_end_local);
	way_try(region_end_remote);
}

/* It may not be known any more where things are. */
static void memory_removed(void)
{
	struct dram *d = board_dram(way_testbed->n[1].board);
	uint64_t again;
	int bank = dram_bank_add(d, "another", 4096);

	EXPECT_GE(bank, 0);
	dram_bank_remove(d, bank);
	again = way_again();
	way_post();
	EXPECT_EQ(wait_one(&way_testbed->n[0]).status, FL_ST_OK);
	EXPECT_EQ(way_again(), again);
	way_learn();
}

TEST("some memory of the other board is removed")
{
	way_try(memory_removed);
}

/* What the second doorbell rings for has been done already. */
static void bell_twice(void)
{
	struct node *n = &way_testbed->n[0];

	way_post();
	bell_ring(n);
	EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	way_learn();
	rig_set(n, NIC_DB_BASE(0) + NIC_DB_SQ, n->qp | (uint32_t)(n->posted + QUEUE + 1) << 16);
	way_drain();
	EXPECT_EQ(trace_count(way_testbed->trace, EV_FW_WQE_BAD), 1);
}

TEST("a doorbell rings for nothing, or for more than the queue holds")
{
	way_try(bell_twice);
}
