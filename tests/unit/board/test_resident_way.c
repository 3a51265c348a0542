// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the resident step remembers of a queue pair between two requests, against whatever may
 * change meanwhile: the very next request must see it. variants: tsan
 */
#include "smmu/smmu.h"
#include "rig/resident.h"

#define FROM	0x3000u
#define TO	0x5000u

/* In one page, in several, and in more than the step takes at a time. */
static const uint32_t lengths_[] = { 300, 9000, 90000 };
static uint32_t len_;
static struct testbed *w_;

static uint64_t went_resident(void)
{
	return board_resident_bytes(w_->n[0].board);
}

/* Those that needed no firmware. */
static uint64_t went_again(void)
{
	return board_resident_requests(w_->n[0].board);
}

static struct fl_wqe *wqe_of(struct node *n, uint16_t index)
{
	struct fl_wqe *sq = dram_at(board_dram(n->board), n->sq_pa, 64 * QUEUE);

	return &sq[index % QUEUE];
}

static void post_quietly(void)
{
	const struct want q = { .from = FROM, .to = TO, .len = len_, .key = va_key[1],
				.opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED };

	want_post(&w_->n[0], 0, &q);
}

static void post_one(void)
{
	post_quietly();
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

/* Requests that go by the step: the last of them is served in its doorbell. */
static void know_the_way(void)
{
	uint64_t bytes = went_resident(), again = 0;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		again = went_again();
		post_one();
		EXPECT_EQ(wait_one(&w_->n[0]).status, FL_ST_OK);
	}
	EXPECT_EQ(went_resident(), bytes + 3 * len_);
	EXPECT_EQ(went_again(), again + 1);
}

/* Of a request that is moved in pieces the first ones may have gone by the step. */
static void at_most_pieces(uint64_t bytes)
{
	EXPECT_EQ(bytes % 65536, 0);
	EXPECT(!bytes || bytes < len_);
}

/* The next request goes the long way, and ends so. */
static void next_ends(uint8_t status)
{
	uint64_t bytes = went_resident();

	post_one();
	EXPECT_EQ(wait_one(&w_->n[0]).status, status);
	at_most_pieces(went_resident() - bytes);
}

/* The next request does not end, until something has been done about it. */
static void next_waits(void)
{
	uint64_t bytes = went_resident();

	post_one();
	boards_drain();
	EXPECT(board_busy(w_->n[0].board));
	at_most_pieces(went_resident() - bytes);
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
	rng_init(&resident_rng, test_seed(), "way");
	for (side = 0; side < 2; side++) {
		memory_make(&w->n[side], side);
		rig_fill(&w->n[side], side + 1);
	}
	know_the_way();
	change_();
}

static void change_try(void (*change)(void))
{
	unsigned int i;

	change_ = change;
	memory_swaps = 3;
	for (i = 0; i < 3; i++) {
		len_ = lengths_[i];
		STEP("%u bytes", len_);
		rig_run(SIM_THREADS, change_body, NULL);
	}
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
		.opcode = FL_CMD_MR_CREATE, .a = VA, .b = TO + len_ - 1, .c = w_->n[1].pd,
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
	uint32_t page = ((side ? TO : FROM) + len_ - 1) / 4096;	/* the last */
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

/* ---- requests that are not like the last one ---- */

static void (*differ_)(struct fl_wqe *w);
static uint8_t status_;

static void differ_change(void)
{
	uint64_t again = went_again();
	struct node *n = &w_->n[0];

	post_quietly();
	differ_(wqe_of(n, (uint16_t)(n->posted - 1)));
	bell_ring(n);
	EXPECT_EQ(wait_one(n).status, status_);
	EXPECT_EQ(went_again(), again);
}

static void differ_try(void (*differ)(struct fl_wqe *w), uint8_t status)
{
	differ_ = differ;
	status_ = status;
	change_try(differ_change);
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
	uint64_t again = went_again();
	struct node *n = &w_->n[0];
	unsigned int i;

	for (i = 0; i < QUEUE - 2; i++)
		post_quietly();
	wqe_of(n, (uint16_t)(n->posted - 3))->flags = 0;
	bell_ring(n);
	STEP("those before the one that is to have no completion, and it alone");
	EXPECT_EQ(went_again(), again + QUEUE - 2 - 3);
	for (i = 0; i < QUEUE - 3; i++)
		EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	know_the_way();
}

TEST("several requests of one doorbell, one of them without a completion")
{
	change_try(many_at_once);
}

/* Whoever waits for a completion is woken. */
static void queue_armed(void)
{
	uint64_t events = trace_count(w_->trace, EV_FW_EVENT), again = went_again();
	struct node *n = &w_->n[0];

	rig_set(n, NIC_FW_BASE + NIC_FW_EQ_BASE, (uint32_t)n->data_pa);
	rig_set(n, NIC_FW_BASE + NIC_FW_EQ_BASE + 4, (uint32_t)(n->data_pa >> 32));
	rig_set(n, NIC_FW_BASE + NIC_FW_EQ_SIZE, 16);
	know_the_way();
	again = went_again();
	rig_set(n, NIC_DB_BASE(0) + NIC_DB_CQ_ARM, n->cq | n->taken << 16);
	post_one();
	EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	boards_drain();
	EXPECT_EQ(went_again(), again);
	EXPECT_EQ(trace_count(w_->trace, EV_FW_EVENT), events + 1);
	know_the_way();
}

/* The request that is served while it is armed has no completion; the next one has. */
static void queue_stays_armed(void)
{
	struct node *n = &w_->n[0];
	uint64_t events;

	queue_armed();
	events = trace_count(w_->trace, EV_FW_EVENT);
	rig_set(n, NIC_DB_BASE(0) + NIC_DB_CQ_ARM, n->cq | n->taken << 16);
	post_quietly();
	wqe_of(n, (uint16_t)(n->posted - 1))->flags = 0;
	bell_ring(n);
	post_one();
	EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	boards_drain();
	EXPECT_EQ(trace_count(w_->trace, EV_FW_EVENT), events + 1);
}

TEST("the completion queue is armed")
{
	change_try(queue_armed);
	change_try(queue_stays_armed);
}

/* The pages behind its end are there. */
static void region_end(unsigned int side)
{
	uint64_t again;

	region_ends(side);
	va_key[side] = rig_command(&w_->n[side], (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = VA, .b = (side ? TO : FROM) + len_,
		.c = w_->n[side].pd, .flags = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE });
	know_the_way();
	again = went_again();
	post_quietly();
	if (side)
		wqe_of(&w_->n[0], (uint16_t)(w_->n[0].posted - 1))->remote_va++;
	else
		wqe_of(&w_->n[0], (uint16_t)(w_->n[0].posted - 1))->local_va++;
	bell_ring(&w_->n[0]);
	EXPECT_EQ(wait_one(&w_->n[0]).status, side ? FL_ST_REMOTE_ACCESS : FL_ST_LOCAL_RANGE);
	EXPECT_EQ(went_again(), again);
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
	change_try(region_end_local);
	change_try(region_end_remote);
}

/* A short request in between leaves nothing of what was known of the long one's pages. */
static void frame_given_last(void)
{
	uint32_t len = len_, page = (TO + len_ - 1) / 4096;
	struct node *n = &w_->n[1];

	len_ = 8;
	know_the_way();
	len_ = len;
	dram_tag_set(board_dram(n->board), n->data_pa + frame_of[1][page] * 4096ull, 999);
	next_ends(FL_ST_OK);
	EXPECT_GE(trace_count(w_->trace, EV_STALE_ACCESS), 1);
}

TEST("the last frame of several changes hands, behind a request for the first alone")
{
	change_try(frame_given_last);
}

/* It may not be known any more where things are. */
static void memory_removed(void)
{
	struct dram *d = board_dram(w_->n[1].board);
	uint64_t again;
	int bank = dram_bank_add(d, "another", 4096);

	EXPECT_GE(bank, 0);
	dram_bank_remove(d, bank);
	again = went_again();
	post_one();
	EXPECT_EQ(wait_one(&w_->n[0]).status, FL_ST_OK);
	EXPECT_EQ(went_again(), again);
	know_the_way();
}

TEST("some memory of the other board is removed")
{
	change_try(memory_removed);
}

/* What the second doorbell rings for has been done already. */
static void bell_twice(void)
{
	struct node *n = &w_->n[0];

	post_one();
	bell_ring(n);
	EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	know_the_way();
	rig_set(n, NIC_DB_BASE(0) + NIC_DB_SQ, n->qp | (uint32_t)(n->posted + QUEUE + 1) << 16);
	boards_drain();
	EXPECT_EQ(trace_count(w_->trace, EV_FW_WQE_BAD), 1);
}

TEST("a doorbell rings for nothing, or for more than the queue holds")
{
	change_try(bell_twice);
}
