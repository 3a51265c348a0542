// SPDX-License-Identifier: BSD-2-Clause
#include "bench_pair.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "board/dram.h"
#include "fabric/fabric.h"
#include "faultline/entries.h"
#include "faultline/pte.h"
#include "faultline/regs.h"
#include "faultline/smmu_regs.h"
#include "trace/trace.h"

/* Where things are in the bank. */
#define SQ_AT		0u
#define CQ_AT		4096u
#define TABLES_AT	8192u
#define DATA_AT		(2u << 20)

static uint32_t pair_get(struct pair_node *n, uint32_t off)
{
	uint64_t v;

	if (board_read(n->board, BUS_NIC_BASE + off, 4, &v))
		bench_broken("register 0x%x cannot be read", off);
	return (uint32_t)v;
}

static void pair_set(struct pair_node *n, uint32_t off, uint64_t v)
{
	if (board_write(n->board, BUS_NIC_BASE + off, 4, v))
		bench_broken("register 0x%x refuses a value", off);
}

static void smmu_set(struct pair_node *n, uint32_t off, unsigned int size,
		     uint64_t v)
{
	if (board_write(n->board, BUS_SMMU_BASE + off, size, v))
		bench_broken("SMMU register 0x%x refuses a value", off);
}

static uint32_t pair_command(struct pair_node *n, struct fl_fw_cmd c)
{
	uint32_t word[16], status;
	int i;

	memcpy(word, &c, sizeof(word));
	for (i = 0; i < 16; i++)
		pair_set(n, NIC_FW_BASE + NIC_FW_CMD(i), word[i]);
	pair_set(n, NIC_FW_BASE + NIC_FW_CMD_GO, 1);
	while ((status = pair_get(n, NIC_FW_BASE + NIC_FW_CMD_STATUS)) &
	       NIC_FW_CMD_STATUS_BUSY)
		sim_yield();
	if (status >> NIC_FW_CMD_STATUS_CODE_SHIFT)
		bench_broken("command %u: status %u", c.opcode,
			     status >> NIC_FW_CMD_STATUS_CODE_SHIFT);
	return pair_get(n, NIC_FW_BASE + NIC_FW_CMD_RESULT);
}

/* Four levels of tables that map PAIR_VA onwards, page by page; sources: smmu-ptes */
static uint64_t make_tables(struct pair_node *n, uint64_t bytes)
{
	struct dram *d = board_dram(n->board);
	uint64_t root = DRAM_BASE + TABLES_AT, next = root + 4096;
	uint64_t off, table, pa, desc;
	unsigned int level;

	for (off = 0; off < bytes; off += 4096) {
		table = root;
		for (level = 0; level < 3; level++) {
			pa = table + 8 * ((PAIR_VA + off) >> (39 - 9 * level) &
					  511);
			if (dram_read64(d, pa, &desc))
				bench_broken("no memory for tables");
			if (!desc) {
				desc = next | PTE_TYPE;
				dram_write64(d, pa, desc);
				next += 4096;
			}
			table = desc & ~UINT64_C(4095);
		}
		pa = table + 8 * ((PAIR_VA + off) >> 12 & 511);
		dram_write64(d, pa, (DRAM_BASE + DATA_AT + off) | PTE_TYPE |
				    PTE_USER | PTE_AF | PTE_NG);
	}
	if (next > DRAM_BASE + DATA_AT)
		bench_broken("tables run into the data");
	return root;
}

static void pair_translate(struct pair_node *n, uint64_t bytes)
{
	uint64_t root = make_tables(n, bytes);
	const uint32_t cb = SMMU_CB_BASE(PAIR_BANK);

	smmu_set(n, SMMU_GR1_BASE + SMMU_GR1_CBAR(PAIR_BANK), 4,
		 1 << SMMU_GR1_CBAR_TYPE_SHIFT);
	smmu_set(n, SMMU_GR1_BASE + SMMU_GR1_CBA2R(PAIR_BANK), 4,
		 SMMU_GR1_CBA2R_VA64);
	smmu_set(n, cb + SMMU_CB_TTBR0, 8, root | (uint64_t)PAIR_ASID << 48);
	smmu_set(n, cb + SMMU_CB_TCR, 4, 16);
	smmu_set(n, cb + SMMU_CB_TCR2, 4, 5 | SMMU_CB_TCR2_AS);
	smmu_set(n, cb + SMMU_CB_SCTLR, 4,
		 SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE | SMMU_CB_SCTLR_CFIE);
	smmu_set(n, SMMU_GR0_BASE + SMMU_GR0_S2CR(0), 4, PAIR_BANK);
	smmu_set(n, SMMU_GR0_BASE + SMMU_GR0_SMR(0), 4,
		 BOARD_STREAM(0) | SMMU_GR0_SMR_VALID);
	smmu_set(n, SMMU_GR0_BASE + SMMU_GR0_CR0, 4,
		 SMMU_GR0_CR0_GFRE | SMMU_GR0_CR0_USFCFG);
}

static void set_up(struct pair_node *n, uint64_t bytes)
{
	pair_translate(n, bytes);
	pair_set(n, NIC_ENG_BASE + NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
	pair_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_SLOT_OPEN,
				       .a = BOARD_STREAM(0) });
	n->pd = pair_command(n,
			     (struct fl_fw_cmd){ .opcode = FL_CMD_PD_CREATE });
	n->cq = pair_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_CQ_CREATE,
					       .a = DRAM_BASE + CQ_AT,
					       .b = PAIR_QUEUE });
	n->qp = pair_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE,
					       .a = DRAM_BASE + SQ_AT,
					       .b = PAIR_QUEUE,
					       .c = n->cq, .d = n->pd });
	n->key = pair_command(n, (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = PAIR_VA, .b = bytes,
		.c = n->pd,
		.flags = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE });
}

void pair_post(struct pair *p, uint64_t from, uint64_t to, uint32_t len)
{
	struct pair_node *n = &p->n[0];
	struct fl_wqe *sq = (struct fl_wqe *)(n->data - DATA_AT + SQ_AT);

	sq[n->posted % PAIR_QUEUE] = (struct fl_wqe){
		.opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED,
		.index = n->posted, .length = len, .local_va = PAIR_VA + from,
		.remote_va = PAIR_VA + to, .lkey = n->key,
		.rkey = p->n[1].key, .wr_id = n->posted, .xfer = 1,
	};
	n->posted++;
	pair_set(n, NIC_DB_BASE(0) + NIC_DB_SQ,
		 n->qp | (uint32_t)n->posted << 16);
}

static struct fl_cqe *pair_oldest(struct pair_node *n, uint32_t *phase)
{
	struct fl_cqe *cq = (struct fl_cqe *)(n->data - DATA_AT + CQ_AT);

	*phase = 1 + n->taken / PAIR_QUEUE;
	return &cq[n->taken % PAIR_QUEUE];
}

static void pair_take_completion(struct pair_node *n, const struct fl_cqe *e)
{
	if (e->status)
		bench_broken("a write ended with status %u", e->status);
	n->taken++;
	/* As the library does: the card need not know of each at once. */
	if (n->taken % (PAIR_QUEUE / 4) == 0)
		pair_set(n, NIC_DB_BASE(0) + NIC_DB_CQ_CONS,
			 n->cq | n->taken << 16);
}

void pair_take(struct pair *p)
{
	struct pair_node *n = &p->n[0];
	uint32_t phase;
	struct fl_cqe *e = pair_oldest(n, &phase);

	while (__atomic_load_n(&e->phase, __ATOMIC_ACQUIRE) != phase)
		board_pump(n->board);
	pair_take_completion(n, e);
}

void pair_take_asleep(struct pair *p, uint64_t sleep_ns)
{
	struct pair_node *n = &p->n[0];
	uint32_t phase;
	struct fl_cqe *e = pair_oldest(n, &phase);

	while (__atomic_load_n(&e->phase, __ATOMIC_ACQUIRE) != phase)
		sim_sleep(sleep_ns);
	pair_take_completion(n, e);
}

static void main_thread(void *arg)
{
	struct pair *p = arg;
	int i;

	for (i = 0; i < 2; i++)
		set_up(&p->n[i], p->cfg.data_bytes);
	for (i = 0; i < 2; i++)
		pair_command(&p->n[i], (struct fl_fw_cmd){
			.opcode = FL_CMD_QP_CONNECT, .object = p->n[i].qp,
			.a = (uint64_t)!i, .b = p->n[!i].qp });
	p->body(p, p->arg);
}

static void make_board(struct pair *p, int i)
{
	struct board_config bc = {
		.name = i ? "b" : "a", .id = (uint8_t)i, .sim = p->sim,
		.fabric = p->fabric, .trace = p->trace, .timing = &p->timing,
	};
	struct pair_node *n = &p->n[i];
	int err;

	n->board = board_create(&bc, &err);
	if (!n->board)
		bench_broken("no board: error %d", -err);
	err = dram_bank_add(board_dram(n->board), "bench",
			    DATA_AT + p->cfg.data_bytes);
	if (err)
		bench_broken("no bank of DRAM: error %d", -err);
	n->data = dram_bank(board_dram(n->board), 0)->mem + DATA_AT;
	/* Present, and different on both sides. */
	memset(n->data, 0x11 * (i + 1), p->cfg.data_bytes);
}

void pair_run(const struct pair_config *cfg,
	      void (*body)(struct pair *p, void *arg), void *arg)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct sim_config sc = { .mode = cfg->mode, .drive = cfg->drive,
				 .seed = 1 };
	/* As the command has it: a larger ring does not stay in the cache. */
	struct trace_config tc = { .threads = cfg->mode == SIM_THREADS,
				   .ring_records = 4096 };
	struct fabric_config fc;
	int i;

	if (!p)
		bench_broken("no memory");
	p->cfg = *cfg;
	p->body = body;
	p->arg = arg;
	timing_defaults(&p->timing);
	if (cfg->cell_bytes)
		p->timing.v[T_LINK_CELL] = cfg->cell_bytes;
	sc.trace = p->trace = trace_create(&tc);
	p->sim = sim_create(&sc);
	fc = (struct fabric_config){ .sim = p->sim, .trace = p->trace,
				     .timing = &p->timing };
	p->fabric = fabric_create(&fc);
	if (!p->trace || !p->sim || !p->fabric)
		bench_broken("no memory for a pair of boards");
	for (i = 0; i < 2; i++)
		make_board(p, i);
	if (fabric_link(p->fabric, 0, 1))
		bench_broken("no link");
	if (!sim_thread_start(p->sim, "bench", false, main_thread, p))
		bench_broken("no thread");
	if (sim_run(p->sim, 0, 1000000000) != SIM_FINISHED)
		bench_broken("a pair of boards does not come to its end");
	sim_stop(p->sim);
	for (i = 0; i < 2; i++)
		board_destroy(p->n[i].board);
	sim_destroy(p->sim);
	fabric_destroy(p->fabric);
	trace_destroy(p->trace);
	free(p);
}
