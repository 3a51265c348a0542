// SPDX-License-Identifier: BSD-2-Clause
#include "rig/resident.h"

#define TABLES	(DRAM_BASE + 0x80000)	/* three levels, 39-bit addresses */

struct rng resident_rng;
uint32_t frame_of[2][PAGES];
uint32_t va_key[2];
unsigned int memory_swaps = 12;

/* ---- two processes' memory ---- */

uint64_t page_descriptor(struct node *n, unsigned int side, uint32_t page)
{
	return (n->data_pa + frame_of[side][page] * 4096ull) | PTE_TYPE |
	       PTE_AF | PTE_NG | PTE_SHARED | PTE_USER;
}

void page_set(struct node *n, uint32_t page, uint64_t desc)
{
	uint64_t va = VA + page * 4096ull;

	dram_write64(board_dram(n->board),
		     TABLES + 0x2000 + 8 * (va >> 12 & 511), desc);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_TLBIVA, 8, va >> 12);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_TLBSYNC, 4, 0);
}

void region_make(struct node *n, unsigned int side)
{
	va_key[side] = rig_command(n, (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = VA, .b = BYTES, .c = n->pd,
		.flags = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE |
			 FL_ACC_REMOTE_READ });
}

void memory_make(struct node *n, unsigned int side)
{
	struct dram *d = board_dram(n->board);
	uint32_t i, k, t, f;

	dram_write64(d, TABLES + 8 * (VA >> 30 & 511), (TABLES + 0x1000) | 3);
	dram_write64(d, TABLES + 0x1000 + 8 * (VA >> 21 & 511),
		     (TABLES + 0x2000) | 3);
	for (i = 0; i < PAGES; i++)
		frame_of[side][i] = i;
	/* Runs of neighbours, and pages that are alone. */
	for (k = 0; k < memory_swaps; k++) {
		i = (uint32_t)rng_below(&resident_rng, PAGES);
		t = (uint32_t)rng_below(&resident_rng, PAGES);
		f = frame_of[side][i];
		frame_of[side][i] = frame_of[side][t];
		frame_of[side][t] = f;
	}
	for (i = 0; i < FRAMES; i++)
		dram_tag_set(d, n->data_pa + i * 4096ull, i + 1);
	smmu_set(n, SMMU_GR0_BASE + SMMU_GR0_SMR(0), 4,
		 BOARD_STREAM(0) | SMMU_GR0_SMR_VALID);
	smmu_set(n, SMMU_GR0_BASE + SMMU_GR0_S2CR(0), 4, 0);
	smmu_set(n, SMMU_GR1_BASE + SMMU_GR1_CBAR(0), 4,
		 1 << SMMU_GR1_CBAR_TYPE_SHIFT);
	smmu_set(n, SMMU_GR1_BASE + SMMU_GR1_CBA2R(0), 4, SMMU_GR1_CBA2R_VA64);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_TCR2, 4,
		 5 << SMMU_CB_TCR2_PASIZE_SHIFT);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_TTBR0, 8, TABLES);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_TCR, 4, 25);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_SCTLR, 4,
		 SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE | SMMU_CB_SCTLR_HUPCF);
	smmu_set(n, SMMU_GR0_BASE + SMMU_GR0_CR0, 4, SMMU_GR0_CR0_USFCFG);
	for (i = 0; i < PAGES; i++)
		page_set(n, i, page_descriptor(n, side, i));
	region_make(n, side);
}

/* ---- requests ---- */

void want_post(struct node *n, unsigned int side, const struct want *q)
{
	struct fl_wqe *sq = dram_at(board_dram(n->board), n->sq_pa, 64 * QUEUE);

	sq[n->posted % QUEUE] = (struct fl_wqe){
		.opcode = q->opcode, .flags = q->flags, .index = n->posted,
		.length = q->len, .local_va = VA + q->from,
		.remote_va = VA + q->to, .lkey = va_key[side], .rkey = q->key,
		.wr_id = n->posted, .xfer = n->posted + 1u,
	};
	n->posted++;
}

void bell_ring(struct node *n)
{
	rig_set(n, NIC_DB_BASE(0) + NIC_DB_SQ,
		n->qp | (uint32_t)n->posted << 16);
}
