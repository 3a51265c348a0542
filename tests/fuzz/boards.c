// SPDX-License-Identifier: BSD-2-Clause
/* See boards.h. */
#include "boards.h"

#include <stdlib.h>
#include <string.h>

#include "board/dram.h"
#include "fabric/fabric.h"
#include "sim/sim.h"
#include "trace/trace.h"

#define LIMIT_NS	60000000000ull	/* then it never ends */
#define SPINS		2000000u
/* IHI 0062, 4 KB granule: page, AF, nG, inner shareable, AP[1] */
#define PAGE_BITS	(3 | 1 << 10 | 1 << 11 | 3 << 8 | 1 << 6)
#define MAPPED_PAGES	12u

static const struct {
	unsigned int first, pages, access;
} regions[REGIONS] = {
	[REGION_OPEN] = { 0, 4, FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE |
				FL_ACC_REMOTE_READ },
	[REGION_READ] = { 4, 2, FL_ACC_REMOTE_READ },
	[REGION_OWN] = { 6, 2, FL_ACC_LOCAL_WRITE },
};

int boards_set(struct boards_node *n, uint32_t off, unsigned int size, uint64_t v)
{
	return board_write(n->board, BUS_NIC_BASE + off, size, v);
}

int boards_smmu(struct boards_node *n, uint32_t off, unsigned int size, uint64_t v)
{
	return board_write(n->board, BUS_SMMU_BASE + off, size, v);
}

static uint64_t boards_get(struct boards_node *n, uint32_t off)
{
	uint64_t v = 0;

	board_read(n->board, BUS_NIC_BASE + off, 4, &v);
	return v;
}

unsigned int boards_command(struct boards_node *n, const struct fl_fw_cmd *c,
			    uint32_t *result)
{
	uint32_t word[16], status, spins = 0;
	unsigned int i;

	memcpy(word, c, sizeof(word));
	for (i = 0; i < 16; i++)
		boards_set(n, NIC_FW_BASE + NIC_FW_CMD(i), 4, word[i]);
	boards_set(n, NIC_FW_BASE + NIC_FW_CMD_GO, 4, 1);
	for (;;) {
		status = (uint32_t)boards_get(n, NIC_FW_BASE + NIC_FW_CMD_STATUS);
		if (!(status & NIC_FW_CMD_STATUS_BUSY))
			break;
		FUZZ_EXPECT(spins++ < SPINS, "command %u ends", c->opcode);
		sim_yield();
	}
	*result = (uint32_t)boards_get(n, NIC_FW_BASE + NIC_FW_CMD_RESULT);
	return status >> NIC_FW_CMD_STATUS_CODE_SHIFT;
}

void boards_wait(struct boards *b, uint64_t ns)
{
	(void)b;
	sim_sleep(ns);
}

/* ---- setting up ---- */

static uint32_t boards_send_command(struct boards_node *n, struct fl_fw_cmd c)
{
	uint32_t result;
	unsigned int status = boards_command(n, &c, &result);

	FUZZ_EXPECT(status == FL_ST_OK, "command %u is done: %u", c.opcode,
		    status);
	return result;
}

static uint64_t *boards_pte(struct boards_node *n, unsigned int page)
{
	return (uint64_t *)(n->mem + BOARDS_TABLES + 0x2000) +
	       (BOARDS_VA >> 12 & 511) + page;
}

static void set_pte(struct boards_node *n, unsigned int page, bool present)
{
	uint64_t d = (DRAM_BASE + BOARDS_DATA + page * 4096) | PAGE_BITS;

	__atomic_store_n(boards_pte(n, page), present ? d : 0,
			 __ATOMIC_RELEASE);
}

void boards_map(struct boards_node *n, unsigned int page, bool present)
{
	set_pte(n, page, present);
	boards_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_TLBIALL, 4, 0);
	boards_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_TLBSYNC, 4, 0);
}

static void smmu_on(struct boards_node *n)
{
	uint64_t *top = (uint64_t *)(n->mem + BOARDS_TABLES);
	uint64_t tables = DRAM_BASE + BOARDS_TABLES;
	unsigned int i;

	top[BOARDS_VA >> 30 & 511] = (tables + 0x1000) | 3;
	top[512 + (BOARDS_VA >> 21 & 511)] = (tables + 0x2000) | 3;
	for (i = 0; i < BOARDS_PAGES; i++)
		set_pte(n, i, i < MAPPED_PAGES);
	boards_smmu(n, SMMU_GR0_BASE + SMMU_GR0_SMR(0), 4,
		    BOARD_STREAM(0) | SMMU_GR0_SMR_VALID);
	boards_smmu(n, SMMU_GR0_BASE + SMMU_GR0_S2CR(0), 4, 0);
	boards_smmu(n, SMMU_GR1_BASE + SMMU_GR1_CBAR(0), 4,
		    1 << SMMU_GR1_CBAR_TYPE_SHIFT);
	boards_smmu(n, SMMU_GR1_BASE + SMMU_GR1_CBA2R(0), 4,
		    SMMU_GR1_CBA2R_VA64);
	boards_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_TCR2, 4,
		    5 << SMMU_CB_TCR2_PASIZE_SHIFT);
	boards_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_TTBR0, 8, tables);
	boards_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_TCR, 4, 25);
	boards_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_SCTLR, 4,
		    SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE | SMMU_CB_SCTLR_CFIE |
			    SMMU_CB_SCTLR_HUPCF);
	boards_smmu(n, SMMU_GR0_BASE + SMMU_GR0_CR0, 4, SMMU_GR0_CR0_USFCFG);
}

static void queue_pair(struct boards_node *n)
{
	n->qp[n->qps] = boards_send_command(n, (struct fl_fw_cmd){
		.opcode = FL_CMD_QP_CREATE, .b = BOARDS_QUEUE, .c = n->cq,
		.a = DRAM_BASE + BOARDS_SQ + n->qps * BOARDS_SQ_BYTES,
		.d = n->pd });
	n->qps++;
}

static void set_up(struct boards_node *n)
{
	unsigned int i;

	smmu_on(n);
	boards_set(n, NIC_ENG_BASE + NIC_ENG_CTRL, 4, NIC_ENG_CTRL_ENABLE);
	boards_send_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_SLOT_OPEN,
				       .a = BOARD_STREAM(0) });
	n->pd = boards_send_command(n, (struct fl_fw_cmd){ .opcode =
		FL_CMD_PD_CREATE });
	n->cq = boards_send_command(n, (struct fl_fw_cmd){ .opcode =
		FL_CMD_CQ_CREATE,
					       .a = DRAM_BASE + BOARDS_CQ,
					       .b = BOARDS_QUEUE });
	for (i = 0; i < REGIONS; i++)
		n->key[i] = boards_send_command(n, (struct fl_fw_cmd){
			.opcode = FL_CMD_MR_CREATE, .c = n->pd,
			.a = BOARDS_VA + regions[i].first * 4096,
			.b = regions[i].pages * 4096,
			.flags = regions[i].access });
	queue_pair(n);
	queue_pair(n);
}

/* Queue pair 0 of a board leads to the next one, 1 to the one before. */
static void connect_all(struct boards *b)
{
	unsigned int i, to;

	for (i = 0; i < BOARDS; i++) {
		to = (i + 1) % BOARDS;
		boards_send_command(&b->node[i], (struct fl_fw_cmd){
			.opcode = FL_CMD_QP_CONNECT, .a = to,
			.object = b->node[i].qp[0], .b = b->node[to].qp[1] });
		boards_send_command(&b->node[to], (struct fl_fw_cmd){
			.opcode = FL_CMD_QP_CONNECT, .a = i,
			.object = b->node[to].qp[1], .b = b->node[i].qp[0] });
	}
}

static void scenario_thread(void *arg)
{
	struct boards *b = arg;
	unsigned int i;

	for (i = 0; i < BOARDS; i++)
		set_up(&b->node[i]);
	connect_all(b);
	boards_remember(b);
	b->body(b, b->arg);
}

static void make_board(struct boards *b, unsigned int i)
{
	struct board_config bc = {
		.name = "b", .id = (uint8_t)i, .sim = b->sim,
		.fabric = b->fabric, .trace = b->trace, .timing = &b->timing,
		.contexts = 4, .rx_contexts = 4, .tlb_entries = 8,
	};
	struct boards_node *n = &b->node[i];
	unsigned int k;
	int err;

	n->board = board_create(&bc, &err);
	FUZZ_EXPECT(n->board, "there is a board: %d", err);
	FUZZ_EXPECT(!dram_bank_add(board_dram(n->board), "fuzz", BOARDS_BYTES),
		    "it has memory");
	n->mem = dram_at(board_dram(n->board), DRAM_BASE, BOARDS_BYTES);
	n->before = malloc(BOARDS_BYTES);
	FUZZ_EXPECT(n->mem && n->before, "its memory is there");
	for (k = 0; k < i; k++)
		fabric_link(b->fabric, (uint8_t)k, (uint8_t)i);
}

void boards_run(void (*body)(struct boards *b, void *arg), void *arg)
{
	struct sim_config sc = { .mode = SIM_LOCKSTEP, .seed = 1 };
	struct trace_config tc = { .ring_records = 1024 };
	struct boards *b = calloc(1, sizeof(*b));
	unsigned int i;

	FUZZ_EXPECT(b, "there is memory for boards");
	b->body = body;
	b->arg = arg;
	timing_defaults(&b->timing);
	b->trace = sc.trace = trace_create(&tc);
	b->sim = sim_create(&sc);
	b->fabric = fabric_create(&(struct fabric_config){
		.sim = b->sim, .trace = b->trace, .timing = &b->timing,
		.frames = 256 });
	for (i = 0; i < BOARDS; i++)
		make_board(b, i);
	sim_thread_start(b->sim, "scenario", false, scenario_thread, b);
	FUZZ_EXPECT(sim_run(b->sim, LIMIT_NS, 0) == SIM_FINISHED, "it ends");
	sim_stop(b->sim);
	for (i = 0; i < BOARDS; i++) {
		board_destroy(b->node[i].board);
		free(b->node[i].before);
	}
	sim_destroy(b->sim);
	fabric_destroy(b->fabric);
	trace_destroy(b->trace);
	timing_free(&b->timing);
	free(b);
}

/* ---- good requests ---- */

static bool next_completion(struct boards_node *n, struct fl_cqe *e)
{
	struct fl_cqe *cq = (struct fl_cqe *)(n->mem + BOARDS_CQ);
	struct fl_cqe *at = &cq[n->taken % BOARDS_QUEUE];

	if (__atomic_load_n(&at->phase, __ATOMIC_ACQUIRE) !=
	    1 + n->taken / BOARDS_QUEUE)
		return false;
	*e = *at;
	n->taken++;
	boards_set(n, NIC_DB_BASE(0) + NIC_DB_CQ_CONS, 4,
		   n->cq | n->taken << 16);
	return true;
}

unsigned int boards_transfer(struct boards *b, unsigned int from, unsigned int qp,
			     unsigned int to, uint8_t opcode, uint64_t at,
			     uint32_t bytes)
{
	struct boards_node *n = &b->node[from];
	struct fl_wqe *sq = (struct fl_wqe *)(n->mem + BOARDS_SQ +
					      qp * BOARDS_SQ_BYTES);
	struct fl_cqe e;
	uint32_t spins = 0;

	sq[n->posted[qp] % BOARDS_QUEUE] = (struct fl_wqe){
		.opcode = opcode, .flags = FL_WQE_SIGNALED,
		.index = n->posted[qp], .length = bytes,
		.local_va = BOARDS_VA + at, .remote_va = BOARDS_VA + at,
		.lkey = n->key[REGION_OPEN],
		.rkey = b->node[to].key[REGION_OPEN], .wr_id = 77, .xfer = 1,
	};
	n->posted[qp]++;
	boards_set(n, NIC_DB_BASE(0) + NIC_DB_SQ, 4,
		   n->qp[qp] | (uint32_t)n->posted[qp] << 16);
	while (!next_completion(n, &e)) {
		FUZZ_EXPECT(spins++ < SPINS, "board %u's request to %u ends",
			    from, to);
		sim_spend(500);
	}
	FUZZ_EXPECT(e.wr_id == 77 && e.qpn == n->qp[qp],
		    "the completion is of this request");
	return e.status;
}

void boards_go_on(struct boards *b)
{
	uint8_t *one = b->node[1].mem + BOARDS_DATA;
	uint8_t *two = b->node[2].mem + BOARDS_DATA;
	unsigned int status;

	memset(one, 0x11, 4 * 4096);
	memset(two, 0x22, 4 * 4096);
	status = boards_transfer(b, 1, 0, 2, FL_OP_WRITE, 100, 9000);
	FUZZ_EXPECT(status == FL_ST_OK && !memcmp(two + 100, one + 100, 9000) &&
		    two[99] == 0x22 && two[9100] == 0x22,
		    "board 1 writes to board 2: status %u", status);
	memset(one, 0x33, 4 * 4096);
	status = boards_transfer(b, 2, 1, 1, FL_OP_READ, 5000, 4000);
	FUZZ_EXPECT(status == FL_ST_OK &&
		    !memcmp(two + 5000, one + 5000, 4000),
		    "board 2 reads from board 1: status %u", status);
}

/* ---- the oracle ---- */

void boards_remember(struct boards *b)
{
	struct boards_node *n;
	unsigned int i, k;
	uint64_t *data;

	for (i = 0; i < BOARDS; i++) {
		n = &b->node[i];
		data = (uint64_t *)(n->mem + BOARDS_DATA);
		for (k = 0; k < BOARDS_PAGES * 512; k++)
			data[k] = k < 6 * 512 ? i * 0x0101010101010101ull + k :
						BOARDS_SECRET + i;
		memcpy(n->before, n->mem, BOARDS_BYTES);
	}
}

void boards_unchanged(struct boards *b, unsigned int node, uint32_t pages)
{
	struct boards_node *n = &b->node[node];
	uint32_t at, page;

	for (at = BOARDS_CQ + 0x1000; at < BOARDS_BYTES; at += 4096) {
		page = (at - BOARDS_DATA) / 4096;
		if (at >= BOARDS_DATA && page < BOARDS_PAGES &&
		    pages >> page & 1)
			continue;
		FUZZ_EXPECT(!memcmp(n->mem + at, n->before + at, 4096),
			    "board %u: nobody may write at 0x%x, and it is "
			    "different", node, at);
	}
}

void boards_no_secret(struct boards *b, unsigned int node)
{
	const struct boards_node *n = &b->node[node];
	uint64_t word;
	uint32_t at, k;

	for (at = 0; at + 8 <= BOARDS_BYTES; at++) {
		/* Bytes may have been moved: at any alignment. */
		if (n->mem[at + 2] != (uint8_t)(BOARDS_SECRET >> 16))
			continue;
		memcpy(&word, n->mem + at, 8);
		for (k = 0; k < BOARDS; k++)
			FUZZ_EXPECT(k == node || word != BOARDS_SECRET + k,
				    "board %u has a secret of board %u at 0x%x",
				    node, k, at);
	}
}

void boards_check(struct boards *b)
{
	unsigned int i;
	const char *wrong;

	for (i = 0; i < BOARDS; i++) {
		wrong = board_check(b->node[i].board);
		FUZZ_EXPECT(!wrong, "board %u: %s", i, wrong);
	}
}
