// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page XP of a board: registers, orders for the card's own table, and the wait for
 * what uses it.
 *
 * variants: tsan
 */
#include "rig/card.h"

static void registers_check(struct testbed *w)
{
	static const struct {
		uint32_t off;
		unsigned int size;
		uint64_t v;
	} bad[] = {
		{ NIC_XP_FQ_BASE, 8, 0x20 }, { NIC_XP_FQ_BASE, 4, 4 },
		{ NIC_XP_FQ_SIZE, 4, 8 }, { NIC_XP_FQ_SIZE, 8, 16 },
		{ NIC_XP_FQ_CONS, 4, 1 }, { NIC_XP_TAB_STATUS, 4, 0 },
		{ NIC_XP_TAB_LIST_PA, 8, 4 }, { NIC_XP_TAB_GO, 4, 0 },
		{ NIC_XP_TAB_GO, 4, 3 }, { NIC_XP_TAB_GO, 4, 8 },
		{ NIC_XP_TAB_ACTIVE, 4, 0 }, { NIC_XP_TAB_SYNC, 8, 0 },
		{ NIC_XP_RESUME, 4, 1u << 31 }, { NIC_XP_RESUME + 4, 4, 0 },
		{ NIC_XP_TAB_OBJECT, 4, 1ull << 32 }, { NIC_XP_TAB_FIRST + 2, 4, 0 },
		{ 0xFFC, 4, 0 }, { NIC_XP_DIV_BASE, 8, 0x800 }, { NIC_XP_DIV_SLOTS, 4, 1025 },
		{ NIC_XP_COPIED, 4, 0 }, { NIC_XP_COPIED, 4, 1u << 31 },
	};
	struct node *n = &w->n[0];
	uint64_t v;
	size_t i;

	EXPECT(rig_reg(n, NIC_FW_BASE + NIC_FW_FEATURES) & NIC_FW_FEATURES_TABLE);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		STEP("write 0x%llx to 0x%x", (unsigned long long)bad[i].v, bad[i].off);
		EXPECT_EQ(xp_try(n, bad[i].off, bad[i].size, bad[i].v), -22);
	}
	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + NIC_XP_BASE + NIC_XP_TAB_GO,
			     4, &v), -22);
	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + NIC_XP_BASE + NIC_XP_TAB_SYNC,
			     4, &v), -22);
	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + NIC_XP_BASE + NIC_XP_TAB_OBJECT,
			     8, &v), -22);
	STEP("halves of what is wide");
	xp_set(n, NIC_XP_TAB_FIRST, 0x123456789abcd);
	EXPECT_EQ(xp_get(n, NIC_XP_TAB_FIRST, 8), 0x123456789abcd);
	EXPECT_EQ(xp_get(n, NIC_XP_TAB_FIRST, 4), 0x6789abcd);
	EXPECT_EQ(xp_get(n, NIC_XP_TAB_FIRST + 4, 4), 0x12345);
	EXPECT_EQ(xp_try(n, NIC_XP_TAB_FIRST + 4, 4, 0xF), 0);
	EXPECT_EQ(xp_try(n, NIC_XP_TAB_FIRST, 4, 0x11), 0);
	EXPECT_EQ(xp_get(n, NIC_XP_TAB_FIRST, 8), 0xF00000011);
	STEP("the system buffer: its place, and then how many slots");
	xp_set(n, NIC_XP_DIV_BASE, 0x4000);
	EXPECT_EQ(xp_try(n, NIC_XP_DIV_SLOTS, 4, 4), 0);
	EXPECT_EQ(xp_get(n, NIC_XP_DIV_SLOTS, 4), 4);
	EXPECT_EQ(xp_try(n, NIC_XP_DIV_BASE, 8, 0x8000), -22);
	EXPECT_EQ(xp_try(n, NIC_XP_COPIED, 4, 3), 0);
	EXPECT_EQ(xp_try(n, NIC_XP_COPIED, 4, 4), -22);
	STEP("power-on has them all at 0");
	board_reset(n->board);
	for (i = 0; i < 0x40; i += 4)
		if (i != NIC_XP_TAB_GO && i != NIC_XP_TAB_SYNC && i != NIC_XP_RESUME &&
		    !board_read(n->board, BUS_NIC_BASE + NIC_XP_BASE + i, 4, &v))
			EXPECT_EQ(v, 0);
}

TEST("registers of the page XP, and what is refused there")
{
	rig_run(SIM_LOCKSTEP, registers_check, NULL);
}

/* ---- orders ---- */

static void orders_check(struct testbed *w)
{
	struct node *n = &w->n[0];
	uint64_t *list = xp_list(n);
	uint8_t buf[64];
	unsigned int i;

	rig_fill(n, 1);
	STEP("three pages, the second left out");
	list[0] = n->data_pa | FL_XP_VALID;
	list[1] = 0;
	list[2] = (n->data_pa + 8192) | FL_XP_VALID | FL_XP_WRITE;
	EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_LOAD, OBJECT, PAGE_VA, 3), FL_ST_OK);
	EXPECT_EQ(burst_all(n, PAGE_VA + 100, buf, 64, false), DMA_OK);
	EXPECT_MEM(buf, rig_data(n) + 100, 64);
	EXPECT_EQ(burst_all(n, PAGE_VA + 4096, buf, 64, false), DMA_SLVERR);
	EXPECT_EQ(burst_all(n, PAGE_VA + 3 * 4096, buf, 64, false), DMA_SLVERR);
	STEP("rights");
	EXPECT_EQ(burst_all(n, PAGE_VA, buf, 64, true), DMA_SLVERR);
	EXPECT_EQ(burst_all(n, PAGE_VA + 8192, buf, 64, true), DMA_OK);
	EXPECT_MEM(buf, rig_data(n) + 8192, 64);
	STEP("what makes no sense changes nothing");
	EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_ZAP, DEV_MRS, PAGE_VA, 1),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_ZAP, OBJECT, PAGE_VA, 0),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_LOAD, OBJECT, PAGE_VA, 4097),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_ZAP, OBJECT, ~0ull << 12, 2),
		  FL_ST_BAD_ARGUMENT);
	list[0] = n->data_pa | FL_XP_VALID | 4;
	EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_LOAD, OBJECT, PAGE_VA, 1),
		  FL_ST_BAD_ARGUMENT);
	xp_set(n, NIC_XP_TAB_COUNT, 2);
	xp_set(n, NIC_XP_TAB_LIST_PA, 0x1000);
	xp_set(n, NIC_XP_TAB_GO, NIC_XP_TAB_GO_LOAD);
	EXPECT_EQ(xp_wait(n), FL_ST_BUS_ERROR);
	EXPECT_EQ(burst_all(n, PAGE_VA, buf, 64, false), DMA_OK);
	STEP("zaps, and another object");
	EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_ZAP, OBJECT + 1, PAGE_VA, 3), FL_ST_OK);
	EXPECT_EQ(burst_all(n, PAGE_VA, buf, 64, false), DMA_OK);
	EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_ZAP, OBJECT, PAGE_VA, 2), FL_ST_OK);
	EXPECT_EQ(burst_all(n, PAGE_VA, buf, 64, false), DMA_SLVERR);
	EXPECT_EQ(burst_all(n, PAGE_VA + 8192, buf, 64, false), DMA_OK);
	EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_ZAP_ALL, OBJECT, 0, 0), FL_ST_OK);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(burst_all(n, PAGE_VA + i * 4096, buf, 64, false), DMA_SLVERR);
	STEP("a frame that nobody has");
	xp_load(n, PAGE_VA, 0x5000, FL_XP_VALID | FL_XP_WRITE);
	EXPECT_EQ(burst_all(n, PAGE_VA, buf, 64, true), DMA_DECERR);
	EXPECT(!board_stale(n->board));
}

TEST("orders load and zap pages, and packet units find them, in lockstep")
{
	rig_run(SIM_LOCKSTEP, orders_check, NULL);
}

TEST("orders load and zap pages, and packet units find them, in threads")
{
	rig_run(SIM_THREADS, orders_check, NULL);
}

static void order_times(struct testbed *w)
{
	struct node *n = &w->n[0];
	uint64_t begin_ns, load_ns, zap_ns, none_ns;
	unsigned int i;

	w->timing.v[T_NIC_UPDATE] = 20000;
	w->timing.v[T_NIC_UPDATE_PAGE] = 1000;
	w->timing.v[T_NIC_ZAP] = 40000;
	w->timing.v[T_NIC_ZAP_PAGE] = 3000;
	for (i = 0; i < 16; i++)
		xp_list(n)[i] = (n->data_pa + i * 4096) | FL_XP_VALID;
	begin_ns = sim_now(w->sim);
	xp_order(n, NIC_XP_TAB_GO_LOAD, OBJECT, PAGE_VA, 16);
	load_ns = sim_now(w->sim) - begin_ns;
	begin_ns = sim_now(w->sim);
	xp_order(n, NIC_XP_TAB_GO_ZAP, OBJECT, PAGE_VA, 1000);
	zap_ns = sim_now(w->sim) - begin_ns;
	begin_ns = sim_now(w->sim);
	xp_order(n, NIC_XP_TAB_GO_ZAP_ALL, OBJECT, PAGE_VA, 1000);
	none_ns = sim_now(w->sim) - begin_ns;
	STEP("load %d, zap %d, of nothing %d", (int)load_ns, (int)zap_ns, (int)none_ns);
	/* What the accesses to registers take comes on top. */
	EXPECT_GE(load_ns, 20000 + 16 * 1000);
	EXPECT_LE(load_ns, 20000 + 16 * 1000 + 1500);
	EXPECT_GE(zap_ns, 40000 + 16 * 3000);
	EXPECT_LE(zap_ns, 40000 + 16 * 3000 + 1500);
	EXPECT_GE(none_ns, 40000);
	EXPECT_LE(none_ns, 40000 + 1500);
	STEP("another order must wait");
	xp_set(n, NIC_XP_TAB_GO, NIC_XP_TAB_GO_ZAP_ALL);
	EXPECT(board_busy(n->board));
	EXPECT_EQ(xp_try(n, NIC_XP_TAB_GO, 4, NIC_XP_TAB_GO_ZAP_ALL), -22);
	xp_wait(n);
	EXPECT(!board_busy(n->board));
	STEP("an order that the power takes along");
	xp_load(n, PAGE_VA, n->data_pa, FL_XP_VALID);
	xp_set(n, NIC_XP_TAB_GO, NIC_XP_TAB_GO_LOAD);
	board_reset(n->board);
	EXPECT_EQ(xp_get(n, NIC_XP_TAB_STATUS, 4), 0);
	EXPECT(!board_busy(n->board));
	EXPECT_EQ(burst_all(n, PAGE_VA, &(uint64_t){ 0 }, 8, false), DMA_SLVERR);
	sim_sleep(1000000);
	EXPECT_EQ(burst_all(n, PAGE_VA, &(uint64_t){ 0 }, 8, false), DMA_SLVERR);
}

TEST("an order takes what the profile says, and nothing else is ordered meanwhile")
{
	rig_run(SIM_LOCKSTEP, order_times, NULL);
}

/* ---- the wait ---- */

static void sync_waits(struct testbed *w)
{
	struct dma_burst d[2] = { burst_of(PAGE_VA, 64, false),
				  burst_of(PAGE_VA, 64, true) };
	struct node *n = &w->n[0];
	uint8_t buf[64];
	unsigned int i;

	xp_load(n, PAGE_VA, n->data_pa, FL_XP_VALID | FL_XP_WRITE);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(burst_begin(n, &d[i]), DMA_OK);
		EXPECT_GE(d[i].delay_ns, 1);
	}
	EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_ZAP, OBJECT, PAGE_VA, 1), FL_ST_OK);
	STEP("what began before ends with the page that it has found");
	xp_set(n, NIC_XP_TAB_SYNC, 0);
	EXPECT_EQ(xp_get(n, NIC_XP_TAB_ACTIVE, 4), NIC_XP_TAB_ACTIVE_ACTIVE);
	EXPECT_EQ(burst_end(n, &d[0], buf), DMA_OK);
	EXPECT_EQ(xp_get(n, NIC_XP_TAB_ACTIVE, 4), NIC_XP_TAB_ACTIVE_ACTIVE);
	EXPECT_EQ(burst_end(n, &d[1], buf), DMA_OK);
	EXPECT_EQ(xp_get(n, NIC_XP_TAB_ACTIVE, 4), 0);
	STEP("nobody waits for what begins later");
	xp_load(n, PAGE_VA, n->data_pa, FL_XP_VALID);
	xp_set(n, NIC_XP_TAB_SYNC, 0);
	EXPECT_EQ(burst_begin(n, &d[0]), DMA_OK);
	EXPECT_EQ(xp_get(n, NIC_XP_TAB_ACTIVE, 4), 0);
	EXPECT_EQ(burst_end(n, &d[0], buf), DMA_OK);
	STEP("a card that is broken");
	board_inject(n->board, BOARD_NO_SYNC);
	xp_set(n, NIC_XP_TAB_SYNC, 0);
	EXPECT_EQ(xp_get(n, NIC_XP_TAB_ACTIVE, 4), NIC_XP_TAB_ACTIVE_ACTIVE);
	board_inject(n->board, 0);
	EXPECT_EQ(xp_get(n, NIC_XP_TAB_ACTIVE, 4), 0);
}

TEST("a synchronise waits for the accesses that began before it, and for no others")
{
	rig_run(SIM_LOCKSTEP, sync_waits, NULL);
}
