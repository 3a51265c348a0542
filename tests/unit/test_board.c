// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two boards on a link, driven through registers and queues alone: no kernel, no
 * driver, no library. The SMMUs bypass, so an address is a physical address.
 */
#include <string.h>

#include "board/board.h"
#include "faultline/entries.h"
#include "faultline/regs.h"
#include "faultline/smmu_regs.h"
#include "harness.h"
#include "lib/os/os.h"

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

struct world {
	struct sim *sim;
	struct trace *trace;
	struct timing_profile timing;
	struct fabric *fabric;
	struct node n[2];
	void (*body)(struct world *w);
};

static uint64_t reg(struct node *n, uint32_t off)
{
	uint64_t v;

	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + off, 4, &v), 0);
	return v;
}

static void set(struct node *n, uint32_t off, uint64_t v)
{
	EXPECT_EQ(board_write(n->board, BUS_NIC_BASE + off, 4, v), 0);
}

static uint32_t command(struct node *n, struct fl_fw_cmd c)
{
	uint32_t word[16], status;
	int i;

	memcpy(word, &c, sizeof(word));
	for (i = 0; i < 16; i++)
		set(n, NIC_FW_BASE + NIC_FW_CMD(i), word[i]);
	set(n, NIC_FW_BASE + NIC_FW_CMD_GO, 1);
	while ((status = (uint32_t)reg(n, NIC_FW_BASE + NIC_FW_CMD_STATUS)) &
	       NIC_FW_CMD_STATUS_BUSY)
		sim_yield();
	EXPECT_EQ(status >> NIC_FW_CMD_STATUS_CODE_SHIFT, FL_ST_OK);
	return (uint32_t)reg(n, NIC_FW_BASE + NIC_FW_CMD_RESULT);
}

static void set_up(struct node *n)
{
	set(n, NIC_ENG_BASE + NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
	command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_SLOT_OPEN,
				       .a = BOARD_STREAM(0) });
	n->pd = command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_PD_CREATE });
	n->cq = command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_CQ_CREATE,
					       .a = n->cq_pa, .b = QUEUE });
	n->qp = command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE,
					       .a = n->sq_pa, .b = QUEUE,
					       .c = n->cq, .d = n->pd });
	n->key = command(n, (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = n->data_pa, .b = DATA,
		.c = n->pd, .flags = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE |
				     FL_ACC_REMOTE_READ });
}

static void post(struct node *n, struct node *peer, uint8_t opcode,
		 uint64_t local, uint64_t remote, uint32_t len)
{
	struct fl_wqe *sq = dram_at(board_dram(n->board), n->sq_pa, 64 * QUEUE);
	struct fl_wqe w = {
		.opcode = opcode, .flags = FL_WQE_SIGNALED, .index = n->posted,
		.length = len, .local_va = n->data_pa + local,
		.remote_va = peer->data_pa + remote, .lkey = n->key,
		.rkey = peer->key, .wr_id = 1000 + n->posted, .xfer = 1,
	};

	sq[n->posted++ % QUEUE] = w;
	set(n, NIC_DB_BASE(0) + NIC_DB_SQ, n->qp | (uint32_t)n->posted << 16);
}

static struct fl_cqe wait_one(struct node *n)
{
	struct fl_cqe *cq = dram_at(board_dram(n->board), n->cq_pa, 32 * QUEUE);
	struct fl_cqe *e = &cq[n->taken % QUEUE];
	uint32_t phase = 1 + n->taken / QUEUE;
	int spins = 0;

	while (__atomic_load_n(&e->phase, __ATOMIC_ACQUIRE) != phase) {
		EXPECT(spins++ < 10000000);
		board_pump(n->board);
		sim_spend(100);
	}
	n->taken++;
	set(n, NIC_DB_BASE(0) + NIC_DB_CQ_CONS, n->cq | n->taken << 16);
	return *e;
}

static void driver(void *arg)
{
	struct world *w = arg;
	int i;

	for (i = 0; i < 2; i++)
		set_up(&w->n[i]);
	for (i = 0; i < 2; i++)
		command(&w->n[i], (struct fl_fw_cmd){
			.opcode = FL_CMD_QP_CONNECT, .object = w->n[i].qp,
			.a = (uint64_t)!i, .b = w->n[!i].qp });
	w->body(w);
}

static bool at_rest(struct world *w)
{
	return !board_busy(w->n[0].board) && !board_busy(w->n[1].board) &&
	       fabric_idle(w->fabric);
}

/* In lockstep it is; in threads copies of packets may still be on their way. */
static void come_to_rest(struct world *w)
{
	uint64_t end_ns = os_now_ns() + 60000000000ull;

	while (sim_mode(w->sim) == SIM_THREADS && !at_rest(w) &&
	       os_now_ns() < end_ns) {
		board_pump(w->n[0].board);
		board_pump(w->n[1].board);
		os_yield();
	}
	EXPECT(at_rest(w));
}

static void run(enum sim_mode mode, void (*body)(struct world *w),
		const struct fabric_inject *inject)
{
	static struct world w;
	struct sim_config sc = { .mode = mode, .seed = test_seed() };
	struct trace_config tc = { .threads = mode == SIM_THREADS };
	struct fabric_config fc;
	int i, err;

	memset(&w, 0, sizeof(w));
	w.body = body;
	timing_defaults(&w.timing);
	w.timing.v[T_WALL_TIMEOUT] = inject ? 2000000 : 1000000000;
	w.trace = trace_create(&tc);
	sc.trace = w.trace;
	w.sim = sim_create(&sc);
	fc = (struct fabric_config){ .sim = w.sim, .trace = w.trace,
				     .timing = &w.timing };
	w.fabric = fabric_create(&fc);
	fabric_icrc_set(w.fabric, true);
	for (i = 0; i < 2; i++) {
		struct board_config bc = {
			.name = i ? "b" : "a", .id = (uint8_t)i, .sim = w.sim,
			.fabric = w.fabric, .trace = w.trace,
			.timing = &w.timing,
		};
		struct node *n = &w.n[i];

		n->board = board_create(&bc, &err);
		EXPECT(n->board);
		EXPECT_EQ(dram_bank_add(board_dram(n->board), "test", 1 << 20),
			  0);
		n->mem = dram_bank(board_dram(n->board), 0);
		n->sq_pa = DRAM_BASE;
		n->cq_pa = DRAM_BASE + 4096;
		n->data_pa = DRAM_BASE + 65536;
	}
	EXPECT_EQ(fabric_link(w.fabric, 0, 1), 0);
	if (inject) {
		EXPECT_EQ(fabric_inject(w.fabric, 0, 1, inject), 0);
		EXPECT_EQ(fabric_inject(w.fabric, 1, 0, inject), 0);
	}
	sim_thread_start(w.sim, "driver", false, driver, &w);
	EXPECT_EQ(sim_run(w.sim, 0, 1000000000), SIM_FINISHED);
	come_to_rest(&w);
	sim_stop(w.sim);
	for (i = 0; i < 2; i++)
		board_destroy(w.n[i].board);
	sim_destroy(w.sim);
	fabric_destroy(w.fabric);
	trace_destroy(w.trace);
}

static uint8_t *data(struct node *n)
{
	return dram_at(board_dram(n->board), n->data_pa, DATA);
}

static void fill(struct node *n, uint64_t seed)
{
	uint8_t *d = data(n);
	struct rng r;
	int i;

	rng_init(&r, seed, "data");
	for (i = 0; i < DATA; i++)
		d[i] = (uint8_t)rng_next(&r);
}

/* Every length and alignment that touches a border of cell, page or block. */
static void writes_and_reads(struct world *w)
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

			fill(a, i * 10 + j);
			fill(b, 99);
			STEP("write %u bytes from %u to %u", len[i], from, to);
			post(a, b, FL_OP_WRITE, from, to, len[i]);
			e = wait_one(a);
			EXPECT_EQ(e.status, FL_ST_OK);
			EXPECT_EQ(e.length, len[i]);
			EXPECT_MEM(data(b) + to, data(a) + from, len[i]);
			fill(a, 7);
			STEP("read them back");
			post(a, b, FL_OP_READ, to, from, len[i]);
			e = wait_one(a);
			EXPECT_EQ(e.status, FL_ST_OK);
			EXPECT_MEM(data(a) + to, data(b) + from, len[i]);
		}
}

TEST("a write and a read of any length and alignment arrive, in lockstep")
{
	run(SIM_LOCKSTEP, writes_and_reads, NULL);
}

TEST("a write and a read of any length and alignment arrive, in threads")
{
	run(SIM_THREADS, writes_and_reads, NULL);
}

static void many_writes(struct world *w)
{
	struct node *a = &w->n[0], *b = &w->n[1];
	int i, j;

	fill(a, 5);
	for (i = 0; i < 20; i++) {
		for (j = 0; j < 8; j++)
			post(a, b, FL_OP_WRITE, (uint64_t)j * 8192,
			     (uint64_t)j * 8192, 8192);
		for (j = 0; j < 8; j++) {
			struct fl_cqe e = wait_one(a);

			EXPECT_EQ(e.status, FL_ST_OK);
			EXPECT_EQ(e.wr_id, 1000 + i * 8 + j);
		}
		EXPECT_MEM(data(b), data(a), DATA);
		memset(data(b), 0, DATA);
	}
}

TEST("a link that loses, doubles, damages and reorders packets loses no write")
{
	const struct fabric_inject bad = {
		.loss_ppm = 5000, .duplicate_ppm = 5000, .damage_ppm = 5000,
		.late_ppm = 50000, .late_ns = 30000,
	};

	run(SIM_LOCKSTEP, many_writes, &bad);
}

TEST("the same in threads mode")
{
	const struct fabric_inject bad = {
		.loss_ppm = 5000, .duplicate_ppm = 5000, .damage_ppm = 5000,
		.late_ppm = 50000, .late_ns = 30000,
	};

	run(SIM_THREADS, many_writes, &bad);
}

static void bad_addresses(struct world *w)
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
	EXPECT_EQ(reg(n, NIC_ENG_BASE + NIC_ENG_ID), NIC_ENG_ID_RESET);
}

TEST("a register access outside the map or of a wrong size is refused")
{
	run(SIM_LOCKSTEP, bad_addresses, NULL);
}

/* ---- a forgotten invalidation ---- */

#define TABLES	(DRAM_BASE + 0x80000)	/* three levels, 39-bit addresses */
#define PAGE_VA	0x40201000ull
/* IHI 0062, 4 KB granule: page, AF, nG, inner shareable, AP[1] */
#define PAGE_BITS (3 | 1 << 10 | 1 << 11 | 3 << 8 | 1 << 6)

static void smmu_set(struct node *n, uint32_t off, unsigned int size,
		     uint64_t v)
{
	EXPECT_EQ(board_write(n->board, BUS_SMMU_BASE + off, size, v), 0);
}

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

static void write_page(struct world *w, uint32_t len)
{
	struct node *a = &w->n[0], b = w->n[1];

	b.data_pa = PAGE_VA;	/* the peer's address is a virtual one now */
	post(a, &b, FL_OP_WRITE, 0, 0, len);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
}

static void forgotten(struct world *w)
{
	struct node *b = &w->n[1];
	struct dram *d = board_dram(b->board);
	uint64_t old = b->data_pa, new = b->data_pa + 4096, v;

	b->key = command(b, (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = PAGE_VA, .b = 4096,
		.c = b->pd, .flags = FL_ACC_REMOTE_WRITE });
	dram_tag_set(d, old, 1);
	dram_tag_set(d, new, 2);
	map_page(b, old);
	smmu_on(b);
	STEP("the page is written, and the TLB knows it");
	fill(&w->n[0], 1);
	write_page(w, 4096);
	EXPECT_MEM(data(b), data(&w->n[0]), 4096);
	EXPECT_EQ(trace_count(w->trace, EV_STALE_ACCESS), 0);

	STEP("the frame goes to someone else, the page moves, nobody tells");
	map_page(b, new);
	dram_tag_set(d, old, 3);
	memset(data(b), 0x55, 8192);
	write_page(w, 4096);
	EXPECT_GE(trace_count(w->trace, EV_STALE_ACCESS), 1);
	STEP("the new owner's bytes are gone: that is what the event is for");
	EXPECT_MEM(data(b), data(&w->n[0]), 4096);
	EXPECT_EQ(data(b)[4096], 0x55);

	STEP("told, the SMMU walks again");
	v = trace_count(w->trace, EV_STALE_ACCESS);
	smmu_set(b, SMMU_CB_BASE(0) + SMMU_CB_TLBIVAL, 8, PAGE_VA >> 12);
	smmu_set(b, SMMU_CB_BASE(0) + SMMU_CB_TLBSYNC, 4, 0);
	write_page(w, 4096);
	EXPECT_MEM(data(b) + 4096, data(&w->n[0]), 4096);
	EXPECT_EQ(trace_count(w->trace, EV_STALE_ACCESS), v);
}

TEST("a forgotten invalidation is seen: the frame's tag tells that it is someone else's")
{
	run(SIM_LOCKSTEP, forgotten, NULL);
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

static void silent_resume(struct world *w)
{
	struct node *a = &w->n[0], *b = &w->n[1], at;
	struct dram *d = board_dram(b->board);
	uint64_t leaf = TABLES + 0x2000 + 8 * (PAGE_VA >> 12 & 511);

	b->key = command(b, (struct fl_fw_cmd){
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
	fill(a, 7);
	memset(data(b), 0x55, 4096);

	STEP("a write is held, terminated, and vanishes: nobody is told");
	post(a, &at, FL_OP_WRITE, 0, 0, 4096);
	refuse_held(b);
	EXPECT_EQ(trace_count(w->trace, EV_SMMU_RAZWI), 1);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
	EXPECT_EQ(data(b)[0], 0x55);
	EXPECT_EQ(data(b)[4095], 0x55);

	STEP("a read is held, terminated, and gives zeros");
	post(a, &at, FL_OP_READ, 0, 0, 64);
	refuse_held(b);
	EXPECT_EQ(trace_count(w->trace, EV_SMMU_RAZWI), 2);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
	EXPECT_EQ(data(a)[0], 0);
	EXPECT_EQ(data(a)[63], 0);

	STEP("the next access of the same page is translated as any other");
	map_page(b, b->data_pa);
	post(a, &at, FL_OP_WRITE, 0, 0, 4096);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
	EXPECT_MEM(data(b), data(a), 4096);
	EXPECT_EQ(trace_count(w->trace, EV_SMMU_RAZWI), 2);
}

TEST("RESUME.TNR with CFRE 0 ends a held access in silence, as one refused at once")
{
	run(SIM_LOCKSTEP, silent_resume, NULL);
}

TEST("the same in threads mode, where the answer comes from another thread")
{
	run(SIM_THREADS, silent_resume, NULL);
}

/* ---- memory that answers with an error ---- */

static void bad_memory(struct world *w, int bad, enum dram_status how)
{
	struct node *a = &w->n[0], *b = &w->n[1];

	fill(a, 3);
	memset(data(b), 0, DATA);
	dram_inject(board_dram(w->n[bad].board), w->n[bad].data_pa + 8192, how);
	STEP("beside the bad frame all is well");
	post(a, b, FL_OP_WRITE, 0, 0, 8192);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
	STEP("a write that touches it fails, and says why");
	post(a, b, FL_OP_WRITE, 0, 0, 16384);
	EXPECT_EQ(wait_one(a).status, FL_ST_BUS_ERROR);
	post(a, b, FL_OP_WRITE, 0, 0, 64);
	EXPECT_EQ(wait_one(a).status, FL_ST_FLUSHED);
}

static void bad_source(struct world *w)
{
	bad_memory(w, 0, DRAM_DECERR);
	STEP("nothing of the block left");
	EXPECT_EQ(data(&w->n[1])[8192 + 4096], 0);
}

static void poisoned_source(struct world *w)
{
	bad_memory(w, 0, DRAM_POISON);
	EXPECT_EQ(data(&w->n[1])[8192], 0);
}

static void bad_destination(struct world *w)
{
	bad_memory(w, 1, DRAM_DECERR);
}

TEST("memory that fails or is poisoned at the source gives a bus error, and no byte of it travels")
{
	run(SIM_LOCKSTEP, bad_source, NULL);
	run(SIM_LOCKSTEP, poisoned_source, NULL);
}

TEST("memory that fails at the destination gives the sender a bus error")
{
	run(SIM_LOCKSTEP, bad_destination, NULL);
}

/* ---- a card that loses its power ---- */

/* Cut b's power so long after a's doorbell, then set both up anew; a's status. */
static uint8_t power_cut(struct world *w, uint64_t after_ns)
{
	struct node *a = &w->n[0], *b = &w->n[1];
	struct fl_cqe e;
	uint64_t busy;
	int i;

	STEP("cut after %d ns", (int)after_ns);
	fill(a, after_ns);
	post(a, b, FL_OP_WRITE, 0, 0, 40000);
	sim_sleep(after_ns);
	board_reset(b->board);
	EXPECT(!board_check(b->board));
	EXPECT(!board_busy(b->board));
	EXPECT_EQ(reg(b, NIC_ENG_BASE + NIC_ENG_CTRL), 0);
	for (i = 0; i < IRQ_LINES; i++)
		EXPECT(!board_irq_level(b->board, (enum irq_line)i));
	e = wait_one(a);
	EXPECT(e.status == FL_ST_NO_ANSWER || e.status == FL_ST_OK);
	if (e.status == FL_ST_OK)
		EXPECT_MEM(data(b), data(a), 40000);
	STEP("the one that lived takes a new queue pair, the other begins anew");
	a->qp = command(a, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE,
					       .a = a->sq_pa, .b = QUEUE,
					       .c = a->cq, .d = a->pd });
	a->posted = 0;
	memset(dram_at(board_dram(b->board), b->cq_pa, 32 * QUEUE), 0,
	       32 * QUEUE);
	b->posted = 0;
	b->taken = 0;
	set_up(b);
	for (i = 0; i < 2; i++)
		command(&w->n[i], (struct fl_fw_cmd){
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
	memset(data(b), 0, DATA);
	post(a, b, FL_OP_WRITE, 0, 0, 40000);
	EXPECT_EQ(wait_one(a).status, FL_ST_OK);
	EXPECT_MEM(data(b), data(a), 40000);
	post(b, a, FL_OP_WRITE, 0, 0, 100);
	EXPECT_EQ(wait_one(b).status, FL_ST_OK);
	return e.status;
}

static void power_cuts(struct world *w)
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
	run(SIM_LOCKSTEP, power_cuts, NULL);
}
