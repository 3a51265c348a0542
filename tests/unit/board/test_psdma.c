// SPDX-License-Identifier: BSD-2-Clause
/*
 * The DMA engine of the processing system by its registers alone: against a plain array
 * and a loop, with the SMMU bypassed; and what the SMMU does to it.
 *
 * variants: tsan
 */
#include "rig/board.h"

#include "faultline/psdma_regs.h"

#define STATE_BUSY	2u
#define STATE_ERROR	3u
#define DONE		(PSDMA_CH_ISR_DMA_DONE | PSDMA_CH_ISR_SRC_DSCR_DONE | \
			 PSDMA_CH_ISR_DST_DSCR_DONE)
#define COPIES		60

static uint32_t dma_reg(struct node *n, uint32_t off)
{
	uint64_t v;

	EXPECT_EQ(board_read(n->board, BUS_PSDMA_BASE + off, 4, &v), 0);
	return (uint32_t)v;
}

static void dma_set(struct node *n, uint32_t off, uint32_t v)
{
	EXPECT_EQ(board_write(n->board, BUS_PSDMA_BASE + off, 4, v), 0);
}

static void dma_program(struct node *n, uint64_t src, uint64_t dst, uint32_t len)
{
	dma_set(n, PSDMA_CH_SRC_DSCR_WORD0, (uint32_t)src);
	dma_set(n, PSDMA_CH_SRC_DSCR_WORD1, (uint32_t)(src >> 32));
	dma_set(n, PSDMA_CH_SRC_DSCR_WORD2, len);
	dma_set(n, PSDMA_CH_DST_DSCR_WORD0, (uint32_t)dst);
	dma_set(n, PSDMA_CH_DST_DSCR_WORD1, (uint32_t)(dst >> 32));
	dma_set(n, PSDMA_CH_DST_DSCR_WORD2, len);
}

/* Until it is not busy; returns STATUS.STATE. */
static uint32_t dma_wait(struct node *n)
{
	uint64_t end_ns = os_now_ns() + TEST_PATIENCE_NS;
	uint32_t state;

	while ((state = dma_reg(n, PSDMA_CH_STATUS) & 3) == STATE_BUSY) {
		EXPECT_GE(end_ns, os_now_ns());
		board_pump(n->board);
		sim_spend(100);
	}
	return state;
}

static uint32_t dma_copy(struct node *n, uint64_t src, uint64_t dst,
			 uint32_t len)
{
	dma_program(n, src, dst, len);
	dma_set(n, PSDMA_CH_CTRL2, PSDMA_CH_CTRL2_EN);
	return dma_wait(n);
}

/* The oracle: pieces that cross no page of either side, read whole and then written. */
static void naive_copy(uint8_t *mem, uint32_t src, uint32_t dst, uint32_t len)
{
	uint8_t piece[256];
	uint32_t n, i;

	while (len) {
		for (n = 0; n < len && n < sizeof(piece); n++)
			if (n && (!((src + n) % 4096) || !((dst + n) % 4096)))
				break;
		for (i = 0; i < n; i++)
			piece[i] = mem[src + i];
		for (i = 0; i < n; i++)
			mem[dst + i] = piece[i];
		src += n;
		dst += n;
		len -= n;
	}
}

static void any_copies(struct testbed *w)
{
	static uint8_t want[DATA];
	struct node *n = &w->n[0];
	uint32_t src, dst, len;
	struct rng r;
	int i;

	rig_fill(n, test_seed());
	memcpy(want, rig_data(n), DATA);
	rng_init(&r, test_seed(), "copies");
	for (i = 0; i < COPIES; i++) {
		len = 1 + (uint32_t)rng_below(&r, i % 2 ? 600 : 20000);
		src = (uint32_t)rng_below(&r, DATA - len + 1);
		dst = (uint32_t)rng_below(&r, DATA - len + 1);
		if (!(i % 4))	/* near each other */
			dst = src + len < DATA ? src + len % 300 % (DATA - src - len) : dst;
		STEP("copy %d: %u bytes from %u to %u", i, len, src, dst);
		EXPECT_EQ(dma_copy(n, n->data_pa + src, n->data_pa + dst, len),
			  0);
		EXPECT_EQ(dma_reg(n, PSDMA_CH_TOTAL_BYTE), len);
		EXPECT_EQ(dma_reg(n, PSDMA_CH_ISR), DONE);
		dma_set(n, PSDMA_CH_ISR, ~0u);
		naive_copy(want, src, dst, len);
		EXPECT_MEM(rig_data(n), want, DATA);
	}
}

TEST("any copies, also of ranges that overlap, leave what a plain loop leaves")
{
	rig_run(SIM_LOCKSTEP, any_copies, NULL);
}

TEST("and so they do in threads")
{
	rig_run(SIM_THREADS, any_copies, NULL);
}

static void dma_registers(struct testbed *w)
{
	struct node *n = &w->n[0];
	uint64_t v = 0;

	STEP("power-on: all masked, idle");
	EXPECT_EQ(dma_reg(n, PSDMA_CH_IMR), 0xfff);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_STATUS), 0);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_CTRL0), 0x80);
	STEP("the line is ISR without what IMR masks");
	EXPECT_EQ(dma_copy(n, n->data_pa, n->data_pa + 4096, 4096), 0);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_CTRL2), 0);
	EXPECT(!board_irq_level(n->board, IRQ_PSDMA));
	dma_set(n, PSDMA_CH_IEN, PSDMA_CH_ISR_DMA_DONE);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_IMR), 0xfff & ~PSDMA_CH_ISR_DMA_DONE);
	EXPECT(board_irq_level(n->board, IRQ_PSDMA));
	dma_set(n, PSDMA_CH_IDS, PSDMA_CH_ISR_DMA_DONE);
	EXPECT(!board_irq_level(n->board, IRQ_PSDMA));
	dma_set(n, PSDMA_CH_IEN, 0xfff);
	dma_set(n, PSDMA_CH_ISR, PSDMA_CH_ISR_DMA_DONE);
	EXPECT(board_irq_level(n->board, IRQ_PSDMA));
	dma_set(n, PSDMA_CH_ISR, DONE);
	EXPECT(!board_irq_level(n->board, IRQ_PSDMA));
	STEP("bits that an address and a size do not have");
	dma_program(n, ~0ull, ~0ull, ~0u);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_SRC_DSCR_WORD1), 0x1ffff);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_DST_DSCR_WORD2), 0x3fffffff);
	STEP("outside, unaligned, or of another size");
	EXPECT_EQ(board_read(n->board, BUS_PSDMA_BASE + BUS_PSDMA_BYTES, 4, &v),
		  -6);
	EXPECT_EQ(board_read(n->board, BUS_PSDMA_BASE + 0x100, 8, &v), -22);
	EXPECT_EQ(board_write(n->board, BUS_PSDMA_BASE + 0x102, 4, 0), -22);
	EXPECT_EQ(dma_reg(n, 0x1fc), 0);
	STEP("a reset takes it all back");
	board_reset(n->board);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_IMR), 0xfff);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_SRC_DSCR_WORD0), 0);
}

TEST("its registers are those of the manual")
{
	rig_run(SIM_LOCKSTEP, dma_registers, NULL);
}

static void dma_errors(struct testbed *w)
{
	const uint64_t end = DRAM_BASE + (1 << 20);
	struct node *n = &w->n[0];

	STEP("the source ends where memory does, two bursts on");
	EXPECT_EQ(dma_copy(n, end - 512, n->data_pa, 1024), STATE_ERROR);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_ISR),
		  PSDMA_CH_ISR_DMA_DONE | PSDMA_CH_ISR_AXI_RD_DATA);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_TOTAL_BYTE), 512);
	dma_set(n, PSDMA_CH_ISR, ~0u);
	STEP("the destination does");
	EXPECT_EQ(dma_copy(n, n->data_pa, end - 256, 1024), STATE_ERROR);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_ISR),
		  PSDMA_CH_ISR_DMA_DONE | PSDMA_CH_ISR_AXI_WR_DATA);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_TOTAL_BYTE), 256);
	STEP("nothing, unequal sizes, or a mode that does not exist");
	EXPECT_EQ(dma_copy(n, n->data_pa, n->data_pa + 4096, 0), STATE_ERROR);
	dma_program(n, n->data_pa, n->data_pa + 4096, 64);
	dma_set(n, PSDMA_CH_DST_DSCR_WORD2, 65);
	dma_set(n, PSDMA_CH_CTRL2, PSDMA_CH_CTRL2_EN);
	EXPECT_EQ(dma_wait(n), STATE_ERROR);
	dma_set(n, PSDMA_CH_CTRL0, PSDMA_CH_CTRL0_POINT_TYPE);
	EXPECT_EQ(dma_copy(n, n->data_pa, n->data_pa + 4096, 64), STATE_ERROR);
	dma_set(n, PSDMA_CH_CTRL0, 0);
	STEP("the next one is good");
	EXPECT_EQ(dma_copy(n, n->data_pa, n->data_pa + 4096, 64), 0);
}

TEST("an access that is refused ends the copy, and names side and place")
{
	rig_run(SIM_LOCKSTEP, dma_errors, NULL);
}

static void dma_stopped(struct testbed *w)
{
	struct node *n = &w->n[0];
	uint32_t total, i;

	rig_fill(n, 1);
	memset(rig_data(n) + 32768, 0xee, 32768);
	dma_program(n, n->data_pa, n->data_pa + 32768, 32768);
	dma_set(n, PSDMA_CH_CTRL2, PSDMA_CH_CTRL2_EN);
	sim_sleep(2000);
	STEP("what describes it cannot be changed meanwhile");
	dma_set(n, PSDMA_CH_DST_DSCR_WORD0, 0);
	dma_set(n, PSDMA_CH_CTRL2, 0);
	EXPECT_EQ(dma_wait(n), 0);
	total = dma_reg(n, PSDMA_CH_TOTAL_BYTE);
	EXPECT(total > 0 && total < 32768);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_ISR), 0);
	EXPECT_MEM(rig_data(n) + 32768, rig_data(n), total);
	for (i = total; i < 32768; i++)
		EXPECT_EQ(rig_data(n)[32768 + i], 0xee);
	sim_sleep(100000);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_TOTAL_BYTE), total);
	EXPECT_EQ(trace_count(w->trace, EV_PSDMA_STOP), 1);
}

TEST("a copy that is stopped ends after its burst, and no byte moves after that")
{
	rig_run(SIM_LOCKSTEP, dma_stopped, NULL);
}

/* ---- behind the SMMU ---- */

#define TABLES	(DRAM_BASE + 0x80000)	/* three levels, 39-bit addresses */
#define PAGE_BITS (3 | 1 << 10 | 1 << 11 | 3 << 8 | 1 << 6)

static void map_page(struct node *n, uint64_t va, uint64_t pa)
{
	struct dram *d = board_dram(n->board);

	dram_write64(d, TABLES + 8 * (va >> 30 & 511), (TABLES + 0x1000) | 3);
	dram_write64(d, TABLES + 0x1000 + 8 * (va >> 21 & 511),
		     (TABLES + 0x2000) | 3);
	dram_write64(d, TABLES + 0x2000 + 8 * (va >> 12 & 511),
		     pa | PAGE_BITS);
}

/* One bank that stalls, to which the DMA engine's stream leads. */
static void smmu_on(struct node *n)
{
	smmu_set(n, SMMU_GR0_SMR(3), 4, 0x14e8 | SMMU_GR0_SMR_VALID);
	smmu_set(n, SMMU_GR0_S2CR(3), 4, 0);
	smmu_set(n, SMMU_GR1_BASE + SMMU_GR1_CBAR(0), 4,
		 1 << SMMU_GR1_CBAR_TYPE_SHIFT);
	smmu_set(n, SMMU_GR1_BASE + SMMU_GR1_CBA2R(0), 4,
		 SMMU_GR1_CBA2R_VA64);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_TCR2, 4,
		 5 << SMMU_CB_TCR2_PASIZE_SHIFT);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_TTBR0, 8, TABLES);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_TCR, 4, 25);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_SCTLR, 4,
		 SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE | SMMU_CB_SCTLR_CFIE |
			 SMMU_CB_SCTLR_CFCFG);
	smmu_set(n, SMMU_GR0_CR0, 4, SMMU_GR0_CR0_GFRE | SMMU_GR0_CR0_USFCFG);
}

static void dma_stalled(struct testbed *w)
{
	const uint64_t src = 0x40201000, dst = 0x40203000;
	struct node *n = &w->n[0];
	uint64_t v;

	rig_fill(n, 2);
	smmu_on(n);
	map_page(n, src, n->data_pa);
	STEP("the destination is missing: the SMMU holds the burst");
	dma_program(n, src, dst, 4096);
	dma_set(n, PSDMA_CH_CTRL2, PSDMA_CH_CTRL2_EN);
	sim_sleep(100000);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_STATUS), STATE_BUSY);
	EXPECT_EQ(board_read(n->board, BUS_SMMU_BASE + SMMU_CB_BASE(0) +
				       SMMU_CB_FAR, 8, &v), 0);
	EXPECT_EQ(v, dst);
	map_page(n, dst, n->data_pa + 8192);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_FSR, 4, ~0u);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_RESUME, 4, 0);
	EXPECT_EQ(dma_wait(n), 0);
	EXPECT_MEM(rig_data(n) + 8192, rig_data(n), 4096);
	STEP("terminated instead");
	dma_program(n, src, dst + 4096, 4096);
	dma_set(n, PSDMA_CH_CTRL2, PSDMA_CH_CTRL2_EN);
	sim_sleep(100000);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_FSR, 4, ~0u);
	smmu_set(n, SMMU_CB_BASE(0) + SMMU_CB_RESUME, 4, 1);
	EXPECT_EQ(dma_wait(n), STATE_ERROR);
	STEP("no group for its stream: a global fault");
	smmu_set(n, SMMU_GR0_SMR(3), 4, 0);
	EXPECT_EQ(dma_copy(n, src, dst, 64), STATE_ERROR);
	EXPECT_EQ(dma_reg(n, PSDMA_CH_TOTAL_BYTE), 0);
	EXPECT_EQ(trace_count(w->trace, EV_SMMU_GLOBAL), 1);
}

TEST("the SMMU holds it, lets it go, ends it, and refuses a stream that it does not know")
{
	rig_run(SIM_LOCKSTEP, dma_stalled, NULL);
}
