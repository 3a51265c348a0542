// SPDX-License-Identifier: BSD-2-Clause
#include "rig/window_guest.h"

/* Offsets in a guest's memory. */
#define RIG_SQ		0x0000u		/* four of them */
#define RIG_SQ_BYTES	0x400u
#define RIG_CQ		0x1000u

atomic_bool rig_alone;	/* the boards have hung up: nothing will come */

/* ---- a guest: the driver's part ---- */

void rig_ring(struct rig_guest *g)
{
	/* seq_cst, as seq is written: pairs with the emulator's look at seq. */
	if (__atomic_load_n(&g->head->asleep, __ATOMIC_SEQ_CST))
		os_interrupt_raise(g->bell);
}

void rig_put(struct rig_guest *g, uint32_t index, uint32_t seq,
	     const struct fl_window_entry *e)
{
	struct fl_window_entry *at = (void *)(g->bar + FL_WINDOW_RING_OFFSET);

	at += index % FL_WINDOW_RING;
	memcpy((uint8_t *)at + 4, (const uint8_t *)e + 4, sizeof(*e) - 4);
	__atomic_store_n(&at->seq, seq, __ATOMIC_SEQ_CST);
}

void rig_entry(struct rig_guest *g, const struct fl_window_entry *e)
{
	RIG_UNTIL(g->next - rig_done(g) < FL_WINDOW_RING);
	rig_put(g, g->next, g->next + 1, e);
	g->next++;
	rig_ring(g);
}

void rig_write(struct rig_guest *g, uint32_t addr, unsigned int size,
	       uint64_t v)
{
	rig_entry(g, &(struct fl_window_entry){ .kind = FL_WINDOW_WRITE,
						.size = (uint16_t)size,
						.addr = addr, .arg = { v } });
}

int rig_try_read(struct rig_guest *g, uint32_t addr, unsigned int size,
		 uint64_t *v)
{
	uint64_t end = os_now_ns() + RIG_LIMIT_MS * 1000000ull;

	rig_entry(g, &(struct fl_window_entry){ .kind = FL_WINDOW_READ,
						.size = (uint16_t)size,
						.addr = addr });
	while (__atomic_load_n(&g->head->answer_seq, __ATOMIC_ACQUIRE) !=
	       g->next)
		if (rig_alone || os_now_ns() > end) {
			rig_show();
			EXPECT(!"an answer came");
		} else {
			os_yield();
		}
	*v = __atomic_load_n(&g->head->answer, __ATOMIC_RELAXED);
	return __atomic_load_n(&g->head->answer_error, __ATOMIC_RELAXED);
}

uint64_t rig_read(struct rig_guest *g, uint32_t addr, unsigned int size)
{
	uint64_t v;

	EXPECT_EQ(rig_try_read(g, addr, size, &v), 0);
	return v;
}

void rig_note(struct rig_guest *g, uint32_t number, uint32_t xfer, uint64_t a0,
	      uint64_t a1)
{
	rig_entry(g, &(struct fl_window_entry){ .kind = FL_WINDOW_NOTE,
						.addr = number, .xfer = xfer,
						.block = xfer,
						.arg = { a0, a1, 7, 8 } });
}

uint32_t rig_command(struct rig_guest *g, struct fl_fw_cmd c)
{
	uint32_t word[16], status;
	int i;

	memcpy(word, &c, sizeof(word));
	for (i = 0; i < 16; i++)
		rig_write(g, NIC_FW_BASE + NIC_FW_CMD(i), 4, word[i]);
	rig_write(g, NIC_FW_BASE + NIC_FW_CMD_GO, 4, 1);
	do
		status = (uint32_t)rig_read(g, NIC_FW_BASE + NIC_FW_CMD_STATUS,
					    4);
	while (status & NIC_FW_CMD_STATUS_BUSY);
	EXPECT_EQ(status >> NIC_FW_CMD_STATUS_CODE_SHIFT, FL_ST_OK);
	return (uint32_t)rig_read(g, NIC_FW_BASE + NIC_FW_CMD_RESULT, 8);
}

static uint64_t rig_pa(uint32_t offset)
{
	return WINDOW_RAM_BASE + offset;
}

uint64_t *rig_pte(struct rig_guest *g, unsigned int page)
{
	return (uint64_t *)(g->ram + RIG_TABLES + 0x2000) +
	       (RIG_VA >> 12 & 511) + page;
}

void rig_map(struct rig_guest *g, unsigned int page, bool present)
{
	uint64_t d = rig_pa(RIG_DATA + page * 4096) | RIG_PAGE_BITS;

	__atomic_store_n(rig_pte(g, page), present ? d : 0, __ATOMIC_RELEASE);
}

static void rig_tables(struct rig_guest *g)
{
	uint64_t *top = (uint64_t *)(g->ram + RIG_TABLES);
	unsigned int i;

	top[RIG_VA >> 30 & 511] = rig_pa(RIG_TABLES + 0x1000) | 3;
	top[512 + (RIG_VA >> 21 & 511)] = rig_pa(RIG_TABLES + 0x2000) | 3;
	for (i = 0; i < RIG_PAGES; i++)
		rig_map(g, i, true);
}

static void rig_smmu_on(struct rig_guest *g)
{
	rig_smmu(g, SMMU_GR0_BASE + SMMU_GR0_SMR(0), 4,
		 BOARD_STREAM(0) | SMMU_GR0_SMR_VALID);
	rig_smmu(g, SMMU_GR0_BASE + SMMU_GR0_S2CR(0), 4, 0);
	rig_smmu(g, SMMU_GR1_BASE + SMMU_GR1_CBAR(0), 4,
		 1 << SMMU_GR1_CBAR_TYPE_SHIFT);
	rig_smmu(g, SMMU_GR1_BASE + SMMU_GR1_CBA2R(0), 4, SMMU_GR1_CBA2R_VA64);
	rig_smmu(g, SMMU_CB_BASE(0) + SMMU_CB_TCR2, 4,
		 5 << SMMU_CB_TCR2_PASIZE_SHIFT);
	rig_smmu(g, SMMU_CB_BASE(0) + SMMU_CB_TTBR0, 8, rig_pa(RIG_TABLES));
	rig_smmu(g, SMMU_CB_BASE(0) + SMMU_CB_TCR, 4, 25);
	rig_smmu(g, SMMU_CB_BASE(0) + SMMU_CB_SCTLR, 4,
		 SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE | SMMU_CB_SCTLR_CFIE |
			 SMMU_CB_SCTLR_HUPCF);
	rig_smmu(g, SMMU_GR0_BASE + SMMU_GR0_CR0, 4, SMMU_GR0_CR0_USFCFG);
}

void rig_invalidate(struct rig_guest *g)
{
	rig_smmu(g, SMMU_CB_BASE(0) + SMMU_CB_TLBIALL, 4, 0);
	rig_smmu(g, SMMU_CB_BASE(0) + SMMU_CB_TLBSYNC, 4, 0);
	EXPECT_EQ(rig_read(g, FL_WINDOW_SMMU + SMMU_CB_BASE(0) +
			      SMMU_CB_TLBSTATUS, 4), 0);
}

void rig_new_qp(struct rig_guest *g)
{
	EXPECT(g->sqs < 4);
	g->sq = RIG_SQ + g->sqs++ * RIG_SQ_BYTES;
	g->posted = 0;
	g->qp = rig_command(g, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE,
						   .a = rig_pa(g->sq),
						   .b = RIG_QUEUE,
						   .c = g->cq, .d = g->pd });
}

void rig_set_up(struct rig_guest *g)
{
	rig_tables(g);
	EXPECT_EQ(rig_read(g, NIC_ENG_ID, 4), NIC_ENG_ID_RESET);
	rig_smmu_on(g);
	rig_write(g, NIC_ENG_IRQ_ENABLE, 4, NIC_ENG_IRQ_ENABLE_FAULT);
	rig_write(g, NIC_ENG_CTRL, 4, NIC_ENG_CTRL_ENABLE);
	rig_command(g, (struct fl_fw_cmd){ .opcode = FL_CMD_SLOT_OPEN,
					   .a = BOARD_STREAM(0) });
	g->pd = rig_command(g, (struct fl_fw_cmd){
				       .opcode = FL_CMD_PD_CREATE });
	g->cq = rig_command(g, (struct fl_fw_cmd){ .opcode = FL_CMD_CQ_CREATE,
						   .a = rig_pa(RIG_CQ),
						   .b = RIG_QUEUE });
	rig_new_qp(g);
	g->key = rig_command(g, (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = RIG_VA, .b = RIG_PAGES * 4096,
		.c = g->pd, .flags = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE |
				     FL_ACC_REMOTE_READ });
}

/* ---- a guest: the process's part ---- */

void rig_bell(struct rig_guest *g, unsigned int slot,
	      const struct fl_window_entry *e)
{
	struct fl_window_doorbell *d = rig_page(g, slot);
	uint32_t index = __atomic_fetch_add(&d->tail, 1, __ATOMIC_RELAXED);
	struct fl_window_entry *at = &d->entry[index % FL_WINDOW_BELLS];

	RIG_UNTIL(index - __atomic_load_n(&d->head, __ATOMIC_ACQUIRE) <
		  FL_WINDOW_BELLS);
	memcpy((uint8_t *)at + 4, (const uint8_t *)e + 4, sizeof(*e) - 4);
	__atomic_store_n(&at->seq, index + 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&d->asleep, __ATOMIC_SEQ_CST))
		os_interrupt_raise(g->bell);
}

void rig_doorbell(struct rig_guest *g, unsigned int slot, uint32_t offset,
		  uint32_t v)
{
	rig_bell(g, slot, &(struct fl_window_entry){ .kind = FL_WINDOW_WRITE,
						     .size = 4, .addr = offset,
						     .arg = { v } });
}

void rig_fill(struct rig_guest *g, uint64_t seed)
{
	struct rng r;
	uint32_t i;

	rng_init(&r, seed, "data");
	for (i = 0; i < RIG_PAGES * 4096; i++)
		rig_data(g)[i] = (uint8_t)rng_next(&r);
}

void rig_post(struct rig_guest *g, struct rig_guest *peer, uint8_t opcode,
	      uint64_t offset, uint32_t bytes, uint32_t xfer)
{
	struct fl_wqe *sq = (struct fl_wqe *)(g->ram + g->sq);

	sq[g->posted++ % RIG_QUEUE] = (struct fl_wqe){
		.opcode = opcode, .flags = FL_WQE_SIGNALED,
		.index = (uint16_t)(g->posted - 1), .length = bytes,
		.local_va = RIG_VA + offset, .remote_va = RIG_VA + offset,
		.lkey = g->key, .rkey = peer->key, .wr_id = xfer, .xfer = xfer,
	};
	rig_doorbell(g, 0, NIC_DB_SQ, g->qp | (uint32_t)g->posted << 16);
}

bool rig_has_one(struct rig_guest *g)
{
	struct fl_cqe *cq = (struct fl_cqe *)(g->ram + RIG_CQ);

	return __atomic_load_n(&cq[g->taken % RIG_QUEUE].phase,
			       __ATOMIC_ACQUIRE) == 1 + g->taken / RIG_QUEUE;
}

struct fl_cqe rig_wait(struct rig_guest *g)
{
	struct fl_cqe *cq = (struct fl_cqe *)(g->ram + RIG_CQ), e;

	RIG_UNTIL(rig_has_one(g));
	e = cq[g->taken++ % RIG_QUEUE];
	rig_doorbell(g, 0, NIC_DB_CQ_CONS, g->cq | g->taken << 16);
	return e;
}

bool rig_interrupted(struct rig_guest *g, unsigned int vector, int ms)
{
	struct pollfd p = { .fd = g->vector[vector], .events = POLLIN };

	return poll(&p, 1, ms) == 1 && !os_interrupt_take(p.fd);
}
