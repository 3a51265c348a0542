// SPDX-License-Identifier: BSD-2-Clause
/*
 * The memory port of packet units, which looks in the card's own table: frames that have
 * changed hands, atomics, injected faults; and the line for what is missed.
 *
 * variants: tsan
 */
#include "rig/card.h"

static void forgotten_zap(struct testbed *w)
{
	struct node *n = &w->n[0];
	struct dram *mem = board_dram(n->board);
	struct dma_burst d = burst_of(PAGE_VA, 8, true);
	uint64_t word = 7;

	dram_tag_set(mem, n->data_pa, 3);
	xp_load(n, PAGE_VA, n->data_pa, FL_XP_VALID | FL_XP_WRITE);
	EXPECT_EQ(burst_all(n, PAGE_VA, &word, 8, true), DMA_OK);
	STEP("an orphan is no stranger's");
	dram_tag_set(mem, n->data_pa, 3 | DRAM_TAG_ORPHAN);
	EXPECT_EQ(burst_all(n, PAGE_VA, &word, 8, true), DMA_OK);
	EXPECT(!board_stale(n->board));
	dram_tag_set(mem, n->data_pa, 3);
	STEP("between begin and end");
	EXPECT_EQ(burst_begin(n, &d), DMA_OK);
	EXPECT(!board_stale(n->board));
	dram_tag_set(mem, n->data_pa, 4);
	EXPECT_EQ(burst_end(n, &d, &word), DMA_OK);
	EXPECT(board_stale(n->board));
}

static void frame_of_another(struct testbed *w)
{
	struct node *n = &w->n[0];
	uint64_t word;

	xp_load(n, PAGE_VA, n->data_pa, FL_XP_VALID);
	dram_tag_set(board_dram(n->board), n->data_pa, 9);
	EXPECT(!board_stale(n->board));
	EXPECT_EQ(burst_all(n, PAGE_VA, &word, 8, false), DMA_OK);
	EXPECT(board_stale(n->board));
}

TEST("a zap that was forgotten, or came too early, is seen when the frame is used")
{
	rig_run(SIM_LOCKSTEP, forgotten_zap, NULL);
	rig_run(SIM_LOCKSTEP, frame_of_another, NULL);
}

/* Threads: one writes through the table without an end, the other takes pages away. */
struct race {
	struct testbed *w;
	atomic_bool over;
	atomic_uint bursts;
};

static void race_unit(void *arg)
{
	struct race *r = arg;
	struct node *n = &r->w->n[0];
	uint64_t word = 1;

	while (!atomic_load(&r->over)) {
		if (burst_all(n, PAGE_VA, &word, 8, true) == DMA_OK)
			atomic_fetch_add(&r->bursts, 1);
		sim_yield();
	}
}

static void zap_race(struct testbed *w)
{
	struct race r = { .w = w };
	struct sim_thread *t = sim_thread_start(w->sim, "unit", false, race_unit, &r);
	struct node *n = &w->n[0];
	unsigned int i, seen = 0;
	uint64_t tag;

	for (i = 0; i < 3000 || (seen < 10 && i < 1000000); i++) {
		tag = i + 1;
		dram_tag_set(board_dram(n->board), n->data_pa, tag);
		xp_load(n, PAGE_VA, n->data_pa, FL_XP_VALID | FL_XP_WRITE);
		seen = atomic_load(&r.bursts);
		EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_ZAP, OBJECT, PAGE_VA, 1), FL_ST_OK);
		xp_sync(n);
		/* Now it is another's frame. */
	}
	EXPECT_GE(seen, 10);
	atomic_store(&r.over, true);
	sim_thread_join(t);
	EXPECT(!board_stale(n->board));
}

TEST("in threads no access is left when a zap and a synchronise are over")
{
	rig_run(SIM_THREADS, zap_race, NULL);
}

/* ---- atomics ---- */

static uint64_t atomic_do(struct node *n, uint64_t va, bool compare,
			  uint64_t expected, uint64_t operand)
{
	struct dma_burst d = burst_of(va, 8, true);
	uint64_t old = 0;

	sim_enter(n->board->domain);
	EXPECT_EQ(card_burst_begin(n->board, &d, CARD_RC), DMA_OK);
	EXPECT_EQ(bus_own_atomic(n->board, &d, compare, expected, operand, &old),
		  DMA_OK);
	sim_leave(n->board->domain);
	return old;
}

static void atomics_check(struct testbed *w)
{
	struct node *n = &w->n[0];
	uint64_t *word = (uint64_t *)(rig_data(n) + 8);
	struct dma_burst d = burst_of(PAGE_VA + 12, 8, true);
	uint64_t old;

	xp_load(n, PAGE_VA, n->data_pa, FL_XP_VALID | FL_XP_WRITE);
	memset(rig_data(n), 0xFF, 24);
	*word = 40;
	EXPECT_EQ(atomic_do(n, PAGE_VA + 8, false, 0, 2), 40);
	EXPECT_EQ(*word, 42);
	EXPECT_EQ(atomic_do(n, PAGE_VA + 8, true, 41, 5), 42);
	EXPECT_EQ(*word, 42);
	EXPECT_EQ(atomic_do(n, PAGE_VA + 8, true, 42, 5), 42);
	EXPECT_EQ(*word, 5);
	EXPECT_EQ(atomic_do(n, PAGE_VA + 8, false, 0, ~0ull), 5);
	EXPECT_EQ(*word, 4);
	EXPECT_EQ(word[-1], ~0ull);
	EXPECT_EQ(word[1], ~0ull);
	STEP("not aligned");
	EXPECT_EQ(burst_begin(n, &d), DMA_OK);
	EXPECT_EQ(bus_own_atomic(n->board, &d, false, 0, 1, &old), DMA_DECERR);
	STEP("memory that fails");
	dram_inject(board_dram(n->board), n->data_pa, DRAM_POISON);
	d = burst_of(PAGE_VA + 8, 8, true);
	EXPECT_EQ(burst_begin(n, &d), DMA_OK);
	EXPECT_EQ(bus_own_atomic(n->board, &d, false, 0, 1, &old), DMA_DECERR);
	EXPECT_EQ(*word, 4);
	STEP("nothing is left open");
	xp_sync(n);
}

TEST("an atomic changes its eight bytes, once, and says what was there")
{
	rig_run(SIM_LOCKSTEP, atomics_check, NULL);
}

#define ADDS	20000

static void race_adder(void *arg)
{
	struct race *r = arg;
	uint64_t *word = (uint64_t *)rig_data(&r->w->n[0]);
	int i;

	for (i = 0; i < ADDS; i++)
		__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

static void atomic_race(struct testbed *w)
{
	struct race r = { .w = w };
	struct node *n = &w->n[0];
	uint64_t *word = (uint64_t *)rig_data(n);
	struct sim_thread *t;
	int i;

	xp_load(n, PAGE_VA, n->data_pa, FL_XP_VALID | FL_XP_WRITE);
	__atomic_store_n(word, 0, __ATOMIC_RELAXED);
	t = sim_thread_start(w->sim, "adder", false, race_adder, &r);
	for (i = 0; i < ADDS; i++)
		atomic_do(n, PAGE_VA, false, 0, 1ull << 32);
	sim_thread_join(t);
	EXPECT_EQ(__atomic_load_n(word, __ATOMIC_RELAXED), ADDS + ((uint64_t)ADDS << 32));
}

TEST("a CPU that adds to the same word at the same time loses nothing")
{
	rig_run(SIM_THREADS, atomic_race, NULL);
}

/* ---- injected faults ---- */

static void injected_check(struct testbed *w)
{
	struct node *n = &w->n[0];
	unsigned int i, misses = 0, row = 0, again;
	struct dma_burst d;
	uint8_t buf[64];

	xp_load(n, PAGE_VA, n->data_pa, FL_XP_VALID);
	xp_load(n, PAGE_VA + 4096, n->data_pa + 4096, FL_XP_VALID);
	STEP("all of them, but each goes through when it comes again");
	board_faults(n->board, 1ull << 40, false);
	for (i = 0; i < 10; i++) {
		EXPECT_EQ(burst_all(n, PAGE_VA, buf, 64, false), DMA_SLVERR);
		EXPECT_EQ(burst_all(n, PAGE_VA + 4096, buf, 64, false), DMA_SLVERR);
		/* The driver loads what it finds anyway. */
		xp_load(n, PAGE_VA, n->data_pa, FL_XP_VALID);
		EXPECT_EQ(burst_all(n, PAGE_VA, buf, 64, false), DMA_OK);
		EXPECT_EQ(burst_all(n, PAGE_VA + 4096, buf, 64, false), DMA_OK);
	}
	STEP("only by the first burst of a packet");
	d = burst_of(PAGE_VA, 64, false);
	d.block = 1;
	EXPECT_EQ(burst_begin(n, &d), DMA_OK);
	EXPECT_EQ(burst_end(n, &d, buf), DMA_OK);
	STEP("a quarter");
	board_faults(n->board, 1ull << 38, false);
	for (i = 0; i < 4000; i++) {
		again = row;
		row = burst_all(n, PAGE_VA, buf, 64, false) != DMA_OK;
		misses += row;
		EXPECT(!(row && again));
	}
	/* Of those that may miss: one in four, and the next one does not. 800 +- 5 sigma. */
	EXPECT_GE(misses, 680);
	EXPECT_LE(misses, 920);
	STEP("none");
	board_faults(n->board, 0, false);
	for (i = 0; i < 1000; i++)
		EXPECT_EQ(burst_all(n, PAGE_VA, buf, 64, false), DMA_OK);
}

TEST("injected faults come as often as they should, and go through the second time")
{
	rig_run(SIM_LOCKSTEP, injected_check, NULL);
}

/* ---- the line ---- */

static void miss_report(struct node *n, uint16_t qp)
{
	struct fl_fault_rec rec = { .kind = FL_FAULT_RDMA, .last = 1, .qp = qp,
				    .va = PAGE_VA, .len = 8 };

	sim_enter(n->board->domain);
	card_of(n->board)->pair[qp].qpn = qp;	/* as if it were there */
	nic_fault_report(card_of(n->board)->faults, qp, &rec, 0, 0,
			 sim_now(board_sim(n->board)));
	sim_leave(n->board->domain);
}

static void fault_line(struct testbed *w)
{
	struct node *n = &w->n[0];
	struct fl_fault_rec *ring = dram_at(board_dram(n->board), RING_PA, 16 * 64);
	struct nic_fault_stats st;
	uint64_t end_ns = os_now_ns() + TEST_PATIENCE_NS;

	memset(ring, 0, 16 * 64);
	xp_set(n, NIC_XP_FQ_BASE, RING_PA);
	xp_set(n, NIC_XP_FQ_SIZE, 16);
	miss_report(n, 3);
	miss_report(n, 3);
	while (!(rig_reg(n, NIC_FW_BASE + NIC_FW_IRQ_STATUS) &
		 NIC_FW_IRQ_STATUS_FAULT))
		EXPECT_GE(end_ns, os_now_ns());
	EXPECT(!board_irq_level(n->board, IRQ_NIC_EVENT));
	rig_set(n, NIC_FW_BASE + NIC_FW_IRQ_ENABLE, NIC_FW_IRQ_ENABLE_FAULT);
	EXPECT(board_irq_level(n->board, IRQ_NIC_EVENT));
	EXPECT_EQ(__atomic_load_n(&ring[0].phase, __ATOMIC_ACQUIRE), 1);
	EXPECT_EQ(ring[0].qp, 3);
	EXPECT_EQ(ring[1].phase, 0);
	xp_set(n, NIC_XP_FQ_CONS, 1);
	EXPECT(!board_irq_level(n->board, IRQ_NIC_EVENT));
	EXPECT(board_busy(n->board));
	xp_set(n, NIC_XP_RESUME, ring[0].token);
	while (board_busy(n->board)) {
		EXPECT_GE(end_ns, os_now_ns());
		sim_sleep(1000);
	}
	board_fault_stats(n->board, &st);
	EXPECT_EQ(st.reported, 1);
	EXPECT_EQ(st.suppressed, 1);
	EXPECT_EQ(st.resumed, 1);
	STEP("a reset takes the line down");
	miss_report(n, 4);
	while (!board_irq_level(n->board, IRQ_NIC_EVENT)) {
		EXPECT_GE(end_ns, os_now_ns());
		sim_sleep(1000);
	}
	board_reset(n->board);
	EXPECT(!board_irq_level(n->board, IRQ_NIC_EVENT));
	EXPECT(!board_busy(n->board));
	EXPECT(!board_check(n->board));
}

TEST("a fault record raises the firmware's line until it is taken, in lockstep")
{
	rig_run(SIM_LOCKSTEP, fault_line, NULL);
}

TEST("a fault record raises the firmware's line until it is taken, in threads")
{
	rig_run(SIM_THREADS, fault_line, NULL);
}
