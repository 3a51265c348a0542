// SPDX-License-Identifier: BSD-2-Clause
/*
 * A board's window, as a guest uses it that behaves: registers, interrupts,
 * memory, transfers between two of them, hanging up and coming again.
 * variants: tsan
 */
#include "rig/window.h"

/* ---- what the guest finds ---- */

TEST("a guest finds the window's head, and the board's registers behind the ring")
{
	struct rig_guest *g;

	rig_boards(1, RIG_LONG);
	rig_open_window(0);
	STEP("the memory's file comes after the card, as with QEMU");
	g = rig_connect(0);
	EXPECT_EQ(g->head->magic, FL_WINDOW_MAGIC);
	EXPECT_EQ(g->head->version, FL_WINDOW_VERSION);
	EXPECT_EQ(g->head->bytes, FL_WINDOW_BYTES);
	EXPECT_EQ(g->head->entries, FL_WINDOW_RING);
	EXPECT_EQ(g->head->alive, 1);
	EXPECT_EQ(rig_page(g, 15)->alive, 1);
	EXPECT_EQ(rig_read(g, NIC_ENG_ID, 4), NIC_ENG_ID_RESET);
	EXPECT_EQ(rig_read(g, NIC_FW_BASE + NIC_FW_ID, 4), NIC_FW_ID_RESET);
	EXPECT_EQ(rig_read(g, NIC_FW_BASE + NIC_FW_NODE, 4), 0);
	STEP("a read waits for the writes before it, of 4 and of 8 bytes");
	rig_smmu(g, SMMU_CB_BASE(3) + SMMU_CB_TTBR0, 8, 0x12345678000);
	EXPECT_EQ(rig_read(g, FL_WINDOW_SMMU + SMMU_CB_BASE(3) + SMMU_CB_TTBR0,
			   8), 0x12345678000);
	rig_write(g, NIC_ENG_IRQ_ENABLE, 4, 1);
	EXPECT_EQ(rig_read(g, NIC_ENG_IRQ_ENABLE, 4), 1);
	EXPECT_EQ(rig_stats(0).writes, 2);
	EXPECT_EQ(rig_stats(0).refused, 0);
	EXPECT_EQ(rig_stats(0).bad, 0);
	rig_end();
}

TEST("the ring goes round: each of ten thousand writes is done, in order")
{
	struct rig_guest *g;
	unsigned int i;

	rig_boards(1, RIG_LONG);
	rig_open_window(0);
	g = rig_connect(0);
	for (i = 0; i < 10000; i++)
		rig_smmu(g, SMMU_CB_BASE(0) + SMMU_CB_TTBR0, 8,
			 (uint64_t)i << 12);
	EXPECT_EQ(rig_read(g, FL_WINDOW_SMMU + SMMU_CB_BASE(0) + SMMU_CB_TTBR0,
			   8), 9999 << 12);
	EXPECT_EQ(rig_done(g), 10001);
	EXPECT_EQ(rig_stats(0).writes, 10000);
	rig_end();
}

TEST("a window sleeps while nothing happens, and a bell wakes it")
{
	struct window_stats st;
	struct rig_guest *g;
	unsigned int i;

	rig_boards(1, RIG_LONG);
	rig_open_window(0);
	g = rig_connect(0);
	/* A read that its last look before the sleep finds costs no sleep. */
	for (i = 0; i < 20 || rig_stats(0).sleeps < 20; i++) {
		RIG_UNTIL(__atomic_load_n(&g->head->asleep, __ATOMIC_SEQ_CST));
		RIG_UNTIL(__atomic_load_n(&rig_page(g, 0)->asleep,
					  __ATOMIC_SEQ_CST));
		EXPECT_EQ(rig_read(g, NIC_ENG_ID, 4), NIC_ENG_ID_RESET);
		EXPECT_LE(i, 100000);
	}
	STEP("at most two more: one that the bell of the last read ends");
	st = rig_stats(0);
	for (i = 0; i < 100; i++)
		rig_nap();
	EXPECT_LE(rig_stats(0).sleeps, st.sleeps + 2);
	rig_end();
}

TEST("notes become the events of driver and library, with their causes")
{
	static const enum trace_event event[FL_WINDOW_NOTES] = {
		EV_DRV_IRQ_SMMU, EV_DRV_IRQ_FAULT, EV_DRV_WORK, EV_DRV_RESOLVE,
		EV_DRV_READY, EV_DRV_RESUME, EV_DRV_SPURIOUS, EV_DRV_BIND,
		EV_DRV_UNBIND, EV_DRV_INVALIDATE, EV_DRV_MR, EV_DRV_MR_GONE,
		EV_DRV_CUT_OFF, EV_DRV_SNOOP, EV_DRV_DMA_COPY,
		EV_DRV_IRQ_ODP, EV_DRV_LOAD, EV_DRV_TOKEN, EV_DRV_IRQ_RING, EV_DRV_COPY,
	};
	static struct trace_record rec[32];
	struct fl_window_entry e = { .kind = FL_WINDOW_NOTE, .xfer = 99,
				     .arg = { 4, 5, 6, 7 } };
	struct rig_guest *g;
	uint32_t i, n;

	rig_boards(1, RIG_LONG);
	rig_open_window(0);
	g = rig_connect(0);
	for (i = 0; i < FL_WINDOW_NOTES; i++)
		rig_note(g, i, 10, i, 1000);
	RIG_UNTIL(rig_stats(0).notes == FL_WINDOW_NOTES);
	n = trace_snapshot(rig.trace, rec, 32);
	EXPECT_EQ(n, FL_WINDOW_NOTES);
	for (i = 0; i < n; i++) {
		EXPECT_EQ(rec[i].event, event[i]);
		EXPECT_EQ(rec[i].xfer, 10);
		EXPECT_EQ(rec[i].block, 10);
		EXPECT_EQ(rec[i].arg[0], i);
		EXPECT_EQ(rec[i].arg[3], 8);
	}
	STEP("work, resolve, ready: each follows from the step before");
	for (i = FL_WINDOW_NOTE_WORK; i <= FL_WINDOW_NOTE_RESUME; i++)
		EXPECT_EQ(rec[i].cause, rec[i - 1].seq);
	EXPECT_EQ(rec[FL_WINDOW_NOTE_BIND].cause, 0);
	STEP("the library's, by the doorbell page");
	for (e.addr = 0; e.addr < 3; e.addr++)
		rig_bell(g, 2, &e);
	RIG_UNTIL(rig_stats(0).doorbells == 3);
	EXPECT_EQ(trace_count(rig.trace, EV_LIB_POST), 1);
	EXPECT_EQ(trace_count(rig.trace, EV_LIB_DOORBELL), 1);
	EXPECT_EQ(trace_count(rig.trace, EV_LIB_COMPLETE), 1);
	n = trace_snapshot(rig.trace, rec, 32);
	EXPECT_EQ(rec[n - 2].cause, rec[n - 3].seq);
	EXPECT_EQ(rec[n - 3].xfer, 99);
	EXPECT_EQ(rec[n - 3].arg[3], 7);
	rig_end();
}

/* ---- transfers ---- */

TEST("a write goes from one guest's memory to the other's, through tables of ARMv8")
{
	rig_start(2, RIG_LONG);
	rig_pair(0, 1);
	rig_transfer(0, 1, 1);
	rig_transfer(1, 0, 2);
	STEP("a read brings it back");
	memset(rig_data(&rig.guest[0]), 0, RIG_PAGES * 4096);
	rig_post(&rig.guest[0], &rig.guest[1], FL_OP_READ, 0, 100000, 3);
	EXPECT_EQ(rig_wait(&rig.guest[0]).status, FL_ST_OK);
	EXPECT_MEM(rig_data(&rig.guest[0]), rig_data(&rig.guest[1]), 100000);
	EXPECT_GE(trace_count(rig.trace, EV_SMMU_WALK), RIG_PAGES);
	EXPECT_EQ(trace_count(rig.trace, EV_SMMU_FAULT), 0);
	EXPECT_EQ(rig_stats(0).bad + rig_stats(0).refused, 0);
	rig_end();
}

/* The driver's top half for one bank: read, clear. */
static uint64_t take_smmu_fault(struct rig_guest *g)
{
	uint32_t cb = FL_WINDOW_SMMU + SMMU_CB_BASE(0);
	uint64_t fsr, far;

	EXPECT(rig_interrupted(g, FL_WINDOW_IRQ_SMMU, RIG_LIMIT_MS));
	EXPECT(__atomic_load_n(&g->head->levels, __ATOMIC_ACQUIRE) &
	       1u << FL_WINDOW_IRQ_SMMU);
	fsr = rig_read(g, cb + SMMU_CB_FSR, 4);
	EXPECT(fsr & SMMU_CB_FSR_TF);
	far = rig_read(g, cb + SMMU_CB_FAR, 8);
	rig_write(g, cb + SMMU_CB_FSR, 4, fsr);
	EXPECT_EQ(rig_read(g, cb + SMMU_CB_FSR, 4), 0);
	return far;
}

/* Take the engine's report; its FLT_REF. */
static uint32_t take_report(struct rig_guest *g, uint32_t *map)
{
	uint32_t ref;

	EXPECT(rig_interrupted(g, FL_WINDOW_IRQ_FAULT, RIG_LIMIT_MS));
	ref = (uint32_t)rig_read(g, NIC_ENG_FLT_REF, 4);
	EXPECT(ref & NIC_ENG_FLT_REF_VALID);
	*map = (uint32_t)rig_read(g, NIC_ENG_FLT_MAP, 4);
	rig_write(g, NIC_ENG_FLT_POP, 4, fl_errata_pop());
	return ref;
}

static void window_answer(struct rig_guest *g, uint32_t ref, uint32_t code)
{
	rig_write(g, NIC_ENG_READY, 4,
		  fl_errata_ready((ref & (NIC_ENG_READY_INDEX_MASK |
					  NIC_ENG_READY_SIDE |
					  NIC_ENG_READY_SERIAL_MASK)) |
				  code << NIC_ENG_READY_CODE_SHIFT));
}

TEST("a page that is not there is refused, resolved by the driver, and sent again")
{
	struct rig_guest *g, *h;
	struct fl_cqe e;
	uint32_t ref, map;

	rig_start(2, RIG_LONG);
	rig_pair(0, 1);
	g = &rig.guest[0];
	h = &rig.guest[1];
	rig_fill(g, 4);
	STEP("page 2 of the destination is not mapped");
	rig_map(h, 2, false);
	rig_post(g, h, FL_OP_WRITE, 0, 16384, 5);
	EXPECT_EQ(take_smmu_fault(h) >> 12, (RIG_VA >> 12) + 2);
	ref = take_report(h, &map);
	EXPECT(ref & NIC_ENG_FLT_REF_SIDE);
	EXPECT_EQ(map, 1 << 2);
	EXPECT(!rig_has_one(g));
	STEP("it is, and the engine hears of it");
	rig_note(h, FL_WINDOW_NOTE_WORK, 5, 0, 1);
	rig_map(h, 2, true);
	window_answer(h, ref, 0);
	e = rig_wait(g);
	EXPECT_EQ(e.status, FL_ST_OK);
	EXPECT_EQ(e.resends, 1);
	EXPECT_MEM(rig_data(h), rig_data(g), 16384);
	EXPECT_EQ(trace_count(rig.trace, EV_ENG_FAULT), 1);
	EXPECT_EQ(__atomic_load_n(&h->head->levels, __ATOMIC_ACQUIRE), 0);

	STEP("a source that is not there, and a driver that says no");
	rig_map(g, 1, false);
	rig_invalidate(g);
	rig_post(g, h, FL_OP_WRITE, 0, 16384, 6);
	EXPECT_EQ(take_smmu_fault(g) >> 12, (RIG_VA >> 12) + 1);
	ref = take_report(g, &map);
	EXPECT(!(ref & NIC_ENG_FLT_REF_SIDE));
	window_answer(g, ref, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(rig_wait(g).status, FL_ST_LOCAL_FAULT);
	rig_end();
}

TEST("a line that stays up is told again after a write to its unit, and only then")
{
	uint32_t cb = SMMU_CB_BASE(0), ref, map;
	struct rig_guest *g, *h;

	rig_start(2, RIG_LONG);
	rig_pair(0, 1);
	g = &rig.guest[0];
	h = &rig.guest[1];
	rig_map(h, 0, false);
	rig_post(g, h, FL_OP_WRITE, 0, 4096, 7);
	EXPECT(rig_interrupted(h, FL_WINDOW_IRQ_SMMU, RIG_LIMIT_MS));
	STEP("reading is no reason, nor is a write to another unit");
	rig_read(h, FL_WINDOW_SMMU + cb + SMMU_CB_FSR, 4);
	rig_write(h, NIC_FW_BASE + NIC_FW_IRQ_ENABLE, 4, 0);
	rig_read(h, NIC_ENG_ID, 4);
	EXPECT(!rig_interrupted(h, FL_WINDOW_IRQ_SMMU, 0));
	STEP("a write that leaves the fault standing is");
	rig_smmu(h, cb + SMMU_CB_TLBIALL, 4, 0);
	EXPECT(rig_interrupted(h, FL_WINDOW_IRQ_SMMU, RIG_LIMIT_MS));
	STEP("one that clears it is not");
	rig_smmu(h, cb + SMMU_CB_FSR, 4, ~0u);
	rig_read(h, NIC_ENG_ID, 4);
	EXPECT(!rig_interrupted(h, FL_WINDOW_IRQ_SMMU, 0));
	rig_map(h, 0, true);
	ref = take_report(h, &map);
	window_answer(h, ref, 0);
	EXPECT_EQ(rig_wait(g).status, FL_ST_OK);
	rig_end();
}

/* Faults hold the access from now on, until RESUME. */
static void hold_faults(struct rig_guest *g)
{
	rig_smmu(g, SMMU_CB_BASE(0) + SMMU_CB_SCTLR, 4,
		 SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE | SMMU_CB_SCTLR_CFIE |
			 SMMU_CB_SCTLR_CFCFG | SMMU_CB_SCTLR_HUPCF);
}

TEST("an access that is held goes on when the driver writes RESUME")
{
	uint32_t cb = SMMU_CB_BASE(0);
	struct rig_guest *g, *h;
	struct fl_cqe e;
	uint64_t fsr;

	rig_start(2, RIG_LONG);
	rig_pair(0, 1);
	g = &rig.guest[0];
	h = &rig.guest[1];
	hold_faults(h);
	rig_fill(g, 20);
	rig_map(h, 3, false);
	rig_invalidate(h);
	rig_post(g, h, FL_OP_WRITE, 0, 16384, 21);
	EXPECT(rig_interrupted(h, FL_WINDOW_IRQ_SMMU, RIG_LIMIT_MS));
	fsr = rig_read(h, FL_WINDOW_SMMU + cb + SMMU_CB_FSR, 4);
	EXPECT(fsr & SMMU_CB_FSR_SS);
	EXPECT(!rig_has_one(g));
	rig_map(h, 3, true);
	rig_smmu(h, cb + SMMU_CB_FSR, 4, fsr);
	rig_smmu(h, cb + SMMU_CB_RESUME, 4, 0);
	e = rig_wait(g);
	EXPECT_EQ(e.status, FL_ST_OK);
	EXPECT_EQ(e.resends, 0);
	EXPECT_MEM(rig_data(h), rig_data(g), 16384);
	EXPECT_EQ(trace_count(rig.trace, EV_SMMU_RESUME), 1);
	rig_end();
}

/* ---- coming and going ---- */

TEST("a guest may go while the SMMU holds an access, of either side")
{
	struct rig_guest *g, *h;
	unsigned int side;

	for (side = 0; side < 2; side++) {
		STEP("the %s is held", side ? "destination" : "source");
		rig_start(2, RIG_SHORT);
		rig_pair(0, 1);
		g = &rig.guest[0];
		h = &rig.guest[1];
		hold_faults(side ? h : g);
		rig_map(side ? h : g, 3, false);
		rig_invalidate(side ? h : g);
		rig_post(g, h, FL_OP_WRITE, 0, 16384, 22);
		EXPECT(rig_interrupted(side ? h : g, FL_WINDOW_IRQ_SMMU,
				       RIG_LIMIT_MS));
		rig_hang_up(side);
		EXPECT(!board_check(rig.board[side]));
		EXPECT(!board_busy(rig.board[side]));
		if (side)
			EXPECT_EQ(rig_wait(g).status, FL_ST_NO_ANSWER);
		rig_connect(side);
		rig_set_up(&rig.guest[side]);
		rig_new_qp(&rig.guest[!side]);
		rig_pair(0, 1);
		rig_transfer(0, 1, 23);
		rig_end();
	}
}

TEST("a guest that hangs up is silent, the others go on, and a new one may come")
{
	struct rig_guest *g, *h;
	uint32_t instance, map;

	rig_start(3, RIG_SHORT);
	rig_pair(0, 1);
	g = &rig.guest[0];
	h = &rig.guest[1];
	instance = h->head->instance;
	rig_transfer(0, 1, 8);
	STEP("it goes with a fault that nobody answers");
	rig_map(h, 5, false);
	rig_invalidate(h);
	rig_post(g, h, FL_OP_WRITE, 0, RIG_PAGES * 4096, 9);
	take_report(h, &map);
	rig_hang_up(1);
	EXPECT_EQ(rig_wait(g).status, FL_ST_NO_ANSWER);
	EXPECT_EQ(rig_read(g, NIC_ENG_ID, 4), NIC_ENG_ID_RESET);

	STEP("a new one finds another instance and a card as after power-on");
	h = rig_connect(1);
	EXPECT_NE(h->head->instance, instance);
	EXPECT_EQ(h->head->levels, 0);
	EXPECT_EQ(rig_read(h, NIC_ENG_CTRL, 4), 0);
	EXPECT_EQ(rig_read(h, NIC_ENG_FLT_COUNT, 4), 0);
	EXPECT_EQ(rig_read(h, FL_WINDOW_SMMU + SMMU_CB_BASE(0) + SMMU_CB_SCTLR,
			   4) & SMMU_CB_SCTLR_M, 0);
	rig_set_up(h);
	rig_pair(1, 2);
	rig_transfer(2, 1, 10);
	rig_transfer(1, 2, 11);
	EXPECT_EQ(rig_stats(1).guests, 2);
	EXPECT_EQ(atomic_load(&rig.changes), 5);
	rig_end();
}

TEST("a guest may come a hundred times, and each finds its card")
{
	unsigned int i;

	rig_start(2, RIG_LONG);
	for (i = 0; i < 100; i++) {
		rig_hang_up(1);
		rig_connect(1);
		if (i % 2)
			EXPECT_EQ(rig_read(&rig.guest[1], NIC_ENG_ID, 4),
				  NIC_ENG_ID_RESET);
	}
	rig_hang_up(1);
	rig_connect(1);
	rig_set_up(&rig.guest[1]);
	rig_pair(0, 1);
	rig_transfer(0, 1, 12);
	rig_end();
}

TEST("an emulator that ends says so to its guest, and rings all its lines")
{
	struct rig_guest *g;
	unsigned int i;

	rig_start(1, RIG_LONG);
	g = &rig.guest[0];
	for (i = 0; i < FL_WINDOW_VECTORS; i++)
		rig_interrupted(g, i, 0);
	window_destroy(rig.window[0]);
	rig.window[0] = NULL;
	EXPECT_EQ(__atomic_load_n(&g->head->alive, __ATOMIC_ACQUIRE), 0);
	EXPECT_EQ(rig_page(g, 0)->alive, 0);
	EXPECT_EQ(rig_page(g, 15)->alive, 0);
	for (i = 0; i < FL_WINDOW_VECTORS; i++)
		EXPECT(rig_interrupted(g, i, 0));
	rig_end();
}
