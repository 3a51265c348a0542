// SPDX-License-Identifier: BSD-2-Clause
/* Two boards on a link: bytes arrive, whatever the link does; registers; invalidation. */
#include "rig/board.h"
#include "smmu/smmu.h"

/* Every length and alignment that touches a border of cell, page or block. */
static void writes_and_reads(struct testbed *w)
{
	static const uint32_t len[] = { 1, 7, 1023, 1024, 1025, 4095, 4096,
					4097, 16383, 16384, 16385, 40000 };
	static const uint32_t at[] = { 0, 1, 4095, 8191 };
	struct node *a = &w->n[0], *b = &w->n[1];
	unsigned int i, j;

	for (i = 0; i < sizeof(len) / sizeof(len[0]); i++)
		for (j = 0; j < 4; j++) {
			uint32_t from = at[j], to = at[3 - j] + 3;
			struct fl_cqe e;

			rig_fill(a, i * 10 + j);
			rig_fill(b, 99);
			STEP("write %u bytes from %u to %u", len[i], from, to);
			rig_post(a, b, FL_OP_WRITE, from, to, len[i]);
			e = wait_one(a);
			EXPECT_EQ(e.status, FL_ST_OK);
			EXPECT_EQ(e.length, len[i]);
			EXPECT_MEM(rig_data(b) + to, rig_data(a) + from,
				   len[i]);
			rig_fill(a, 7);
			STEP("read them back");
			rig_post(a, b, FL_OP_READ, to, from, len[i]);
			e = wait_one(a);
			EXPECT_EQ(e.status, FL_ST_OK);
			EXPECT_MEM(rig_data(a) + to, rig_data(b) + from,
				   len[i]);
		}
}

TEST("a write and a read of any length and alignment arrive, in lockstep")
{
	rig_run(SIM_LOCKSTEP, writes_and_reads, NULL);
}

TEST("a write and a read of any length and alignment arrive, in threads")
{
	rig_run(SIM_THREADS, writes_and_reads, NULL);
}

static void many_writes(struct testbed *w)
{
	struct node *a = &w->n[0], *b = &w->n[1];
	int i, j;

	rig_fill(a, 5);
	for (i = 0; i < 20; i++) {
		for (j = 0; j < 8; j++)
			rig_post(a, b, FL_OP_WRITE, (uint64_t)j * 8192,
				 (uint64_t)j * 8192, 8192);
		for (j = 0; j < 8; j++) {
			struct fl_cqe e = wait_one(a);

			EXPECT_EQ(e.status, FL_ST_OK);
			EXPECT_EQ(e.wr_id, 1000 + i * 8 + j);
		}
		EXPECT_MEM(rig_data(b), rig_data(a), DATA);
		memset(rig_data(b), 0, DATA);
	}
}

TEST("a link that loses, doubles, damages and reorders packets loses no write")
{
	const struct fabric_inject bad = {
		.loss_ppm = 5000, .duplicate_ppm = 5000, .damage_ppm = 5000,
		.late_ppm = 50000, .late_ns = 30000,
	};

	rig_run(SIM_LOCKSTEP, many_writes, &bad);
}

TEST("the same in threads mode")
{
	const struct fabric_inject bad = {
		.loss_ppm = 5000, .duplicate_ppm = 5000, .damage_ppm = 5000,
		.late_ppm = 50000, .late_ns = 30000,
	};

	rig_run(SIM_THREADS, many_writes, &bad);
}

static void bad_addresses(struct testbed *w)
{
	struct node *n = &w->n[0];
	uint64_t v;

	EXPECT_EQ(board_read(n->board, 0x1000, 4, &v), -6);
	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + BUS_NIC_BYTES, 4, &v), -6);
	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE, 2, &v), -22);
	EXPECT_EQ(board_write(n->board, BUS_NIC_BASE + 2, 4, 0), -22);
	EXPECT_EQ(board_write(n->board, BUS_NIC_BASE + NIC_ENG_ID, 4, 0), -22);
	EXPECT_EQ(board_write(n->board, BUS_SMMU_BASE + SMMU_REG_BYTES, 4, 0),
		  -6);
	EXPECT_EQ(rig_reg(n, NIC_ENG_BASE + NIC_ENG_ID), NIC_ENG_ID_RESET);
}

TEST("a register access outside the map or of a wrong size is refused")
{
	rig_run(SIM_LOCKSTEP, bad_addresses, NULL);
}

/* ---- a forgotten invalidation ---- */

#define TABLES	(DRAM_BASE + 0x80000)	/* three levels, 39-bit addresses */
#define PAGE_VA	0x40201000ull
/* IHI 0062, 4 KB granule: page, AF, nG, inner shareable, AP[1] */
#define PAGE_BITS (3 | 1 << 10 | 1 << 11 | 3 << 8 | 1 << 6)

static void map_page(struct node *n, uint64_t pa)
{
	struct dram *d = board_dram(n->board);

	dram_write64(d, TABLES + 8 * (PAGE_VA >> 30 & 511),
		     (TABLES + 0x1000) | 3);
	dram_write64(d, TABLES + 0x1000 + 8 * (PAGE_VA >> 21 & 511),
		     (TABLES + 0x2000) | 3);
	dram_write64(d, TABLES + 0x2000 + 8 * (PAGE_VA >> 12 & 511),
		     pa | PAGE_BITS);
}

static void smmu_on(struct node *n)
{
	smmu_set(n, SMMU_GR0_BASE + SMMU_GR0_SMR(0), 4,
		 BOARD_STREAM(0) | SMMU_GR0_SMR_VALID);
	smmu_set(n, SMMU_GR0_BASE + SMMU_GR0_S2CR(0), 4, 0);
	smmu_set(n, SMMU_GR1_BASE + SMMU_GR1_CBAR(0), 4,
		 1 << SMMU_GR1_CBAR_TYPE_SHIFT);
	smmu_set(n, SMMU_GR1_BASE + SMMU_GR1_CBA2R(0), 4,
		 SMMU_GR1_CBA2R_VA64);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_TCR2, 4,
		 5 << SMMU_CB_TCR2_PASIZE_SHIFT);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_TTBR0, 8, TABLES);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_TCR, 4, 25);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_SCTLR, 4,
		 SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE | SMMU_CB_SCTLR_HUPCF);
	smmu_set(n, SMMU_GR0_BASE + SMMU_GR0_CR0, 4, SMMU_GR0_CR0_USFCFG);
}

static void write_page(struct testbed *w, uint32_t len)
{
	struct node *a = &w->n[0], b = w->n[1];

	b.data_pa = PAGE_VA;	/* the peer's address is a virtual one now */
	rig_post(a, &b, FL_OP_WRITE, 0, 0, len);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
}

static void board_forgotten(struct testbed *w)
{
	struct node *b = &w->n[1];
	struct dram *d = board_dram(b->board);
	uint64_t old = b->data_pa, new = b->data_pa + 4096, v;

	b->key = rig_command(b, (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = PAGE_VA, .b = 4096,
		.c = b->pd, .flags = FL_ACC_REMOTE_WRITE });
	dram_tag_set(d, old, 1);
	dram_tag_set(d, new, 2);
	map_page(b, old);
	smmu_on(b);
	STEP("the page is written, and the TLB knows it");
	rig_fill(&w->n[0], 1);
	write_page(w, 4096);
	EXPECT_MEM(rig_data(b), rig_data(&w->n[0]), 4096);
	EXPECT_EQ(trace_count(w->trace, EV_STALE_ACCESS), 0);

	STEP("the frame goes to someone else, the page moves, nobody tells");
	map_page(b, new);
	dram_tag_set(d, old, 3);
	memset(rig_data(b), 0x55, 8192);
	write_page(w, 4096);
	EXPECT_GE(trace_count(w->trace, EV_STALE_ACCESS), 1);
	STEP("the new owner's bytes are gone: that is what the event is for");
	EXPECT_MEM(rig_data(b), rig_data(&w->n[0]), 4096);
	EXPECT_EQ(rig_data(b)[4096], 0x55);

	STEP("told, the SMMU walks again");
	v = trace_count(w->trace, EV_STALE_ACCESS);
	smmu_set(b, SMMU_CB_BASE(0) + SMMU_CB_TLBIVAL, 8, PAGE_VA >> 12);
	smmu_set(b, SMMU_CB_BASE(0) + SMMU_CB_TLBSYNC, 4, 0);
	write_page(w, 4096);
	EXPECT_MEM(rig_data(b) + 4096, rig_data(&w->n[0]), 4096);
	EXPECT_EQ(trace_count(w->trace, EV_STALE_ACCESS), v);
}

TEST("a forgotten invalidation is seen: the frame's tag tells that it is someone else's")
{
	rig_run(SIM_LOCKSTEP, board_forgotten, NULL);
}

/*
 * A table of a driver's own leads to a frame that is still pinned, and whose page the
 * process has unmapped.
 */
static void board_orphan(struct testbed *w)
{
	struct node *b = &w->n[1];
	struct dram *d = board_dram(b->board);

	b->key = rig_command(b, (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = PAGE_VA, .b = 4096,
		.c = b->pd, .flags = FL_ACC_REMOTE_WRITE });
	dram_tag_set(d, b->data_pa, 5);
	map_page(b, b->data_pa);
	smmu_on(b);
	rig_fill(&w->n[0], 1);
	write_page(w, 4096);
	EXPECT_EQ(trace_count(w->trace, EV_ORPHAN_ACCESS), 0);

	STEP("the TLB knows the translation: the data lands, and it is seen");
	dram_tag_set(d, b->data_pa, 5 | DRAM_TAG_ORPHAN);
	rig_fill(&w->n[0], 2);
	write_page(w, 4096);
	EXPECT_MEM(rig_data(b), rig_data(&w->n[0]), 4096);
	EXPECT_EQ(trace_count(w->trace, EV_ORPHAN_ACCESS), 1);

	STEP("a walk that finds it is no better, and each burst is an event");
	smmu_set(b, SMMU_CB_BASE(0) + SMMU_CB_TLBIVAL, 8, PAGE_VA >> 12);
	smmu_set(b, SMMU_CB_BASE(0) + SMMU_CB_TLBSYNC, 4, 0);
	write_page(w, 4096);
	EXPECT_EQ(trace_count(w->trace, EV_ORPHAN_ACCESS), 2);
	EXPECT_EQ(trace_count(w->trace, EV_STALE_ACCESS), 0);
	EXPECT(!board_stale(b->board));

	STEP("unpinned and given to someone else it is a stale access");
	dram_tag_set(d, b->data_pa, 6);
	write_page(w, 4096);
	EXPECT_EQ(trace_count(w->trace, EV_ORPHAN_ACCESS), 2);
	EXPECT_GE(trace_count(w->trace, EV_STALE_ACCESS), 1);
}

TEST("a device that reaches a pinned frame without a mapping is seen, and not stale")
{
	rig_run(SIM_LOCKSTEP, board_orphan, NULL);
}

/* ---- RESUME terminates, and CFRE is 0 ---- */

static uint64_t smmu_get(struct node *n, uint32_t off)
{
	uint64_t v;

	EXPECT_EQ(board_read(n->board, BUS_SMMU_BASE + off, 4, &v), 0);
	return v;
}

static void refuse_held(struct node *n)
{
	uint32_t cb = SMMU_CB_BASE(0);
	int spins = 0;

	while (!(smmu_get(n, cb + SMMU_CB_FSR) & SMMU_CB_FSR_SS)) {
		EXPECT(spins++ < 100000);
		board_pump(n->board);
		sim_spend(100);
	}
	smmu_set(n, cb + SMMU_CB_FSR, 4, UINT32_MAX);
	smmu_set(n, cb + SMMU_CB_RESUME, 4, SMMU_CB_RESUME_TNR);
	STEP("it is not tried again: no second fault");
	for (spins = 0; spins < 1000; spins++) {
		board_pump(n->board);
		sim_spend(100);
		EXPECT_EQ(smmu_get(n, cb + SMMU_CB_FSR), 0);
	}
}

static void silent_resume(struct testbed *w)
{
	struct node *a = &w->n[0], *b = &w->n[1], at;
	struct dram *d = board_dram(b->board);
	uint64_t leaf = TABLES + 0x2000 + 8 * (PAGE_VA >> 12 & 511);

	b->key = rig_command(b, (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = PAGE_VA, .b = 4096,
		.c = b->pd,
		.flags = FL_ACC_REMOTE_WRITE | FL_ACC_REMOTE_READ });
	map_page(b, b->data_pa);
	dram_write64(d, leaf, 0);
	smmu_on(b);
	smmu_set(b, SMMU_CB_BASE(0) + SMMU_CB_SCTLR, 4, SMMU_CB_SCTLR_M |
		 SMMU_CB_SCTLR_CFCFG | SMMU_CB_SCTLR_HUPCF);
	at = *b;
	at.data_pa = PAGE_VA;
	rig_fill(a, 7);
	memset(rig_data(b), 0x55, 4096);

	STEP("a write is held, terminated, and vanishes: nobody is told");
	rig_post(a, &at, FL_OP_WRITE, 0, 0, 4096);
	refuse_held(b);
	EXPECT_EQ(trace_count(w->trace, EV_SMMU_RAZWI), 1);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
	EXPECT_EQ(rig_data(b)[0], 0x55);
	EXPECT_EQ(rig_data(b)[4095], 0x55);

	STEP("a read is held, terminated, and gives zeros");
	rig_post(a, &at, FL_OP_READ, 0, 0, 64);
	refuse_held(b);
	EXPECT_EQ(trace_count(w->trace, EV_SMMU_RAZWI), 2);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
	EXPECT_EQ(rig_data(a)[0], 0);
	EXPECT_EQ(rig_data(a)[63], 0);

	STEP("the next access of the same page is translated as any other");
	map_page(b, b->data_pa);
	rig_post(a, &at, FL_OP_WRITE, 0, 0, 4096);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
	EXPECT_MEM(rig_data(b), rig_data(a), 4096);
	EXPECT_EQ(trace_count(w->trace, EV_SMMU_RAZWI), 2);
}

TEST("RESUME.TNR with CFRE 0 ends a held access in silence, as one refused at once")
{
	rig_run(SIM_LOCKSTEP, silent_resume, NULL);
}

TEST("the same in threads mode, where the answer comes from another thread")
{
	rig_run(SIM_THREADS, silent_resume, NULL);
}
