// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the resident step remembers of a queue pair between two requests, against whatever may
 * change meanwhile: the very next request must see it. variants: tsan
 */
#include "smmu/smmu.h"
#include "test_resident_rig.h"

#define FROM	0x3000u
#define TO	0x5000u
#define LEN	300u

static struct testbed *w_;

static uint64_t went_resident(void)
{
	return board_resident_bytes(w_->n[0].board);
}

static void post_one(void)
{
	const struct want q = { .from = FROM, .to = TO, .len = LEN, .key = va_key[1],
				.opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED };

	want_post(&w_->n[0], 0, &q);
	bell_ring(&w_->n[0]);
}

static void boards_drain(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		board_pump(w_->n[0].board);
		board_pump(w_->n[1].board);
	}
}

/* Two requests that go by the step: from now on it knows the way. */
static void know_the_way(void)
{
	uint64_t bytes = went_resident();
	unsigned int i;

	for (i = 0; i < 2; i++) {
		post_one();
		EXPECT_EQ(wait_one(&w_->n[0]).status, FL_ST_OK);
	}
	EXPECT_EQ(went_resident(), bytes + 2 * LEN);
}

/* The next request goes the long way, and ends so. */
static void next_ends(uint8_t status)
{
	uint64_t bytes = went_resident();

	post_one();
	EXPECT_EQ(wait_one(&w_->n[0]).status, status);
	EXPECT_EQ(went_resident(), bytes);
}

/* The next request does not end, until something has been done about it. */
static void next_waits(void)
{
	uint64_t bytes = went_resident();

	post_one();
	boards_drain();
	EXPECT(board_busy(w_->n[0].board));
	EXPECT_EQ(went_resident(), bytes);
}

static void page_here(unsigned int side, bool here)
{
	struct node *n = &w_->n[side];
	uint32_t page = (side ? TO : FROM) / 4096;

	page_set(n, page, here ? page_descriptor(n, side, page) : 0);
}

/* As a driver does, when the page is there again. */
static void fault_answer(unsigned int side)
{
	struct node *n = &w_->n[side];
	uint32_t v = (uint32_t)rig_reg(n, NIC_ENG_BASE + NIC_ENG_FLT_REF);

	EXPECT(v & NIC_ENG_FLT_REF_VALID);
	rig_set(n, NIC_ENG_BASE + NIC_ENG_FLT_POP, 1);
	rig_set(n, NIC_ENG_BASE + NIC_ENG_READY,
		v & (NIC_ENG_READY_INDEX_MASK | NIC_ENG_READY_SIDE_MASK |
		     NIC_ENG_READY_SERIAL_MASK));
}

static void (*change_)(void);

static void change_body(struct testbed *w)
{
	unsigned int side;

	w_ = w;
	rng_init(&random_, test_seed(), "way");
	for (side = 0; side < 2; side++) {
		memory_make(&w->n[side], side);
		rig_fill(&w->n[side], side + 1);
	}
	know_the_way();
	change_();
}

static void change_try(void (*change)(void))
{
	change_ = change;
	rig_run(SIM_THREADS, change_body, NULL);
}

/* ---- what may change ---- */

static void page_unmap(unsigned int side)
{
	page_here(side, false);
	next_waits();
	page_here(side, true);
	fault_answer(side);
	EXPECT_EQ(wait_one(&w_->n[0]).status, FL_ST_OK);
	know_the_way();
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
	change_try(unmap_source);
	change_try(unmap_destination);
}

static void stall_policy(void)
{
	struct node *n = &w_->n[1];
	const uint32_t cb = SMMU_CB_BASE(0);

	smmu_set(n, cb + SMMU_CB_SCTLR, 4, SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE |
		 SMMU_CB_SCTLR_CFCFG | SMMU_CB_SCTLR_HUPCF);
	page_here(1, false);
	next_waits();
	EXPECT(smmu_busy(board_smmu(n->board)));
	page_here(1, true);
	smmu_set(n, cb + SMMU_CB_FSR, 4, 0xffffffff);
	smmu_set(n, cb + SMMU_CB_RESUME, 4, 0);
	EXPECT_EQ(wait_one(&w_->n[0]).status, FL_ST_OK);
	know_the_way();
}

TEST("the SMMU is to stall what it does not find")
{
	change_try(stall_policy);
}

static void region_ends(unsigned int side)
{
	rig_command(&w_->n[side], (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_DESTROY, .object = va_key[side] });
}

static void region_local(void)
{
	region_ends(0);
	next_ends(FL_ST_LOCAL_KEY);
}

static void region_remote(void)
{
	region_ends(1);
	next_ends(FL_ST_REMOTE_ACCESS);
}

static void region_shorter(void)
{
	region_ends(1);
	va_key[1] = rig_command(&w_->n[1], (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = VA, .b = TO + LEN - 1, .c = w_->n[1].pd,
		.flags = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE });
	next_ends(FL_ST_REMOTE_ACCESS);
}

static void region_read_only(void)
{
	region_ends(1);
	va_key[1] = rig_command(&w_->n[1], (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = VA, .b = BYTES, .c = w_->n[1].pd,
		.flags = FL_ACC_REMOTE_READ });
	next_ends(FL_ST_REMOTE_ACCESS);
}

TEST("a region ends, or another one is there that allows less")
{
	change_try(region_local);
	change_try(region_remote);
	change_try(region_shorter);
	change_try(region_read_only);
}

/* Another queue pair is in the place of the one that was the peer. */
static void queue_pair_anew(void)
{
	struct node *n = &w_->n[1];
	uint64_t bytes = went_resident();

	rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_DESTROY, .object = n->qp });
	n->qp = rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE,
						   .a = n->sq_pa, .b = QUEUE,
						   .c = n->cq, .d = n->pd });
	rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CONNECT, .object = n->qp,
					   .a = 0, .b = w_->n[0].qp });
	post_one();
	EXPECT(wait_one(&w_->n[0]).status != FL_ST_OK);
	EXPECT_EQ(went_resident(), bytes);
}

TEST("the peer's queue pair ends, and another one takes its place")
{
	change_try(queue_pair_anew);
}

static void rule_set(uint8_t from, uint8_t to)
{
	static const struct fabric_inject nothing;

	EXPECT_EQ(fabric_inject(w_->fabric, from, to, &nothing), 0);
	next_ends(FL_ST_OK);
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
	change_try(rule_there);
	change_try(rule_back);
}

static void bus_error(void)
{
	struct node *n = &w_->n[1];

	dram_inject(board_dram(n->board), n->data_pa + (FRAMES - 1) * 4096ull, DRAM_DECERR);
	next_ends(FL_ST_OK);
}

static void firmware_silent(void)
{
	board_inject(w_->n[1].board, BOARD_SILENT_FW);
	next_waits();
	board_inject(w_->n[1].board, 0);
	EXPECT_EQ(wait_one(&w_->n[0]).status, FL_ST_OK);
	know_the_way();
}

TEST("something is injected into the memory or the firmware of the other board")
{
	change_try(bus_error);
	change_try(firmware_silent);
}

/* The kernel gives a frame to someone else, and forgets to invalidate. */
static void frame_given(unsigned int side)
{
	struct node *n = &w_->n[side];
	uint32_t page = (side ? TO : FROM) / 4096;
	uint64_t stale = trace_count(w_->trace, EV_STALE_ACCESS);

	dram_tag_set(board_dram(n->board), n->data_pa + frame_of[side][page] * 4096ull, 999);
	next_ends(FL_ST_OK);
	EXPECT_GE(trace_count(w_->trace, EV_STALE_ACCESS), stale + 1);
}

static void frame_given_source(void)
{
	frame_given(0);
}

static void frame_given_destination(void)
{
	frame_given(1);
}

TEST("a frame changes hands without an invalidation")
{
	change_try(frame_given_source);
	change_try(frame_given_destination);
}

/* One more than the queue holds: no completion is written over another. */
static void completions_full(void)
{
	struct node *n = &w_->n[0];
	uint64_t full = trace_count(w_->trace, EV_FW_COMPLETE);
	unsigned int i;

	for (i = 0; i < QUEUE; i++)
		post_one();
	EXPECT_EQ(trace_count(w_->trace, EV_FW_COMPLETE), full + QUEUE);
	post_one();
	boards_drain();
	EXPECT_EQ(trace_count(w_->trace, EV_FW_COMPLETE), full + QUEUE);
	for (i = 0; i < QUEUE; i++)
		EXPECT_EQ(wait_one(n).status, FL_ST_OK);
}

TEST("the completion queue is full")
{
	change_try(completions_full);
}
