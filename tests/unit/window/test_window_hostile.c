// SPDX-License-Identifier: BSD-2-Clause
/*
 * A guest that does what it likes with its window. Boards 0 and 1 have guests that
 * behave and write to each other all the time; board 2 is the hostile one's.
 * variants: tsan
 */
#include "board/dram.h"
#include "smmu/smmu.h"
#include "rig/window.h"

#define HOSTILE 2u

/* Boards 0 and 1 are a pair; 2 has a guest that has said nothing yet. */
static struct rig_guest *start_hostile(void)
{
	unsigned int i;

	rig_boards(3, RIG_LONG);
	for (i = 0; i < 3; i++) {
		rig_open_window(i);
		rig_connect(i);
		if (i != HOSTILE)
			rig_set_up(&rig.guest[i]);
	}
	rig_pair(0, 1);
	return &rig.guest[HOSTILE];
}

static void others_go_on(uint64_t seed)
{
	rig_transfer(0, 1, seed);
	rig_transfer(1, 0, seed + 1000);
	EXPECT_EQ(rig_stats(0).bad + rig_stats(1).bad, 0);
}

/* ---- the driver's ring ---- */

TEST("an entry of an unknown kind or note is dropped and counted, the next one is done")
{
	static const uint16_t kind[] = { 0, 4, 5, 255, 65535 };
	struct rig_guest *g = start_hostile();
	struct fl_window_entry e = { .size = 4, .arg = { ~0ull } };
	unsigned int i;

	for (i = 0; i < 5; i++) {
		e.kind = kind[i];
		rig_entry(g, &e);
	}
	e.kind = FL_WINDOW_NOTE;
	for (i = 0; i < 32; i++) {
		e.addr = FL_WINDOW_NOTES + (1u << i) - 1;
		rig_entry(g, &e);
	}
	EXPECT_EQ(rig_read(g, NIC_ENG_ID, 4), NIC_ENG_ID_RESET);
	EXPECT_EQ(rig_stats(HOSTILE).bad, 5 + 32);
	EXPECT_EQ(rig_stats(HOSTILE).notes, 0);
	others_go_on(1);
	rig_end();
}

TEST("a register that is not there is an error to who reads, and nothing to who writes")
{
	static const struct {
		uint32_t addr, size;
		int error;
	} bad[] = {
		{ BUS_NIC_BYTES, 4, -ENXIO },
		{ BUS_NIC_BYTES - 4, 8, -ENXIO },
		{ 0x7fffffff, 4, -ENXIO },
		{ 0x7ffffffc, 8, -ENXIO },
		/* From the NIC's base on, that is where the SMMU stands. */
		{ BUS_SMMU_BASE - BUS_NIC_BASE, 4, -ENXIO },
		{ FL_WINDOW_SMMU + SMMU_REG_BYTES, 4, -ENXIO },
		{ FL_WINDOW_SMMU + SMMU_REG_BYTES - 4, 8, -ENXIO },
		{ 0xfffffffc, 4, -ENXIO },
		{ 0xffffffff, 8, -ENXIO },
		{ NIC_ENG_ID, 0, -EINVAL },
		{ NIC_ENG_ID, 1, -EINVAL },
		{ NIC_ENG_ID, 16, -EINVAL },
		{ NIC_ENG_ID, 65535, -EINVAL },
		{ NIC_ENG_ID + 2, 4, -EINVAL },
		{ FL_WINDOW_SMMU + 1, 4, -EINVAL },
	};
	struct rig_guest *g = start_hostile();
	unsigned int i, n = sizeof(bad) / sizeof(bad[0]);
	uint64_t v;

	for (i = 0; i < n; i++) {
		STEP("address 0x%x, %u bytes", bad[i].addr, bad[i].size);
		v = 1;
		EXPECT_EQ(rig_try_read(g, bad[i].addr, bad[i].size, &v),
			  bad[i].error);
		EXPECT_EQ(v, 0);
		rig_write(g, bad[i].addr, bad[i].size, ~0ull);
	}
	EXPECT_EQ(rig_read(g, NIC_ENG_ID, 4), NIC_ENG_ID_RESET);
	EXPECT_EQ(rig_stats(HOSTILE).refused, 2 * n);
	EXPECT_EQ(rig_stats(HOSTILE).bad, 0);
	others_go_on(2);
	rig_end();
}

TEST("an entry out of its turn waits: only the next index counts")
{
	struct fl_window_entry w = { .kind = FL_WINDOW_WRITE, .size = 4,
				     .addr = NIC_ENG_IRQ_ENABLE,
				     .arg = { 1 } };
	struct rig_guest *g = start_hostile();
	unsigned int i;

	STEP("0, one too many, one too few, far ahead, a whole round ahead");
	rig_put(g, 0, 0, &w);
	rig_ring(g);
	rig_put(g, 0, 2, &w);
	rig_ring(g);
	rig_put(g, 0, ~0u, &w);
	rig_ring(g);
	rig_put(g, 0, FL_WINDOW_RING + 1, &w);
	rig_ring(g);
	for (i = 1; i < FL_WINDOW_RING; i++)
		rig_put(g, i, i + 1, &w);
	rig_ring(g);
	others_go_on(3);
	EXPECT_EQ(rig_done(g), 0);
	EXPECT_EQ(rig_stats(HOSTILE).writes, 0);
	STEP("the first one comes, and with it all that stood behind it");
	rig_put(g, 0, 1, &w);
	rig_ring(g);
	RIG_UNTIL(rig_done(g) == FL_WINDOW_RING);
	EXPECT_EQ(rig_stats(HOSTILE).writes, FL_WINDOW_RING);
	STEP("what has been done is not done again");
	rig_put(g, 5, 6, &w);
	rig_ring(g);
	g->next = FL_WINDOW_RING;
	EXPECT_EQ(rig_read(g, NIC_ENG_IRQ_ENABLE, 4), 1);
	EXPECT_EQ(rig_stats(HOSTILE).writes, FL_WINDOW_RING);
	rig_end();
}

/* ---- doorbell pages ---- */

TEST("a process reaches the registers of its own doorbell page, and nothing else")
{
	static const struct fl_window_entry bad[] = {
		{ .kind = FL_WINDOW_READ, .size = 4, .addr = NIC_DB_SQ },
		{ .kind = FL_WINDOW_WRITE, .size = 8, .addr = NIC_DB_SQ },
		{ .kind = FL_WINDOW_WRITE, .size = 4,
		  .addr = NIC_DB_STRIDE - 4 },
		{ .kind = FL_WINDOW_WRITE, .size = 4, .addr = 2 },
		{ .kind = FL_WINDOW_WRITE, .size = 4, .addr = NIC_DB_STRIDE },
		{ .kind = FL_WINDOW_WRITE, .size = 4, .addr = ~3u },
		/* Of slot 15, modulo 2^32: the engine's READY. */
		{ .kind = FL_WINDOW_WRITE, .size = 4,
		  .addr = NIC_ENG_READY - NIC_DB_BASE(15) },
		{ .kind = FL_WINDOW_WRITE, .size = 4, .addr = FL_WINDOW_SMMU },
		{ .kind = FL_WINDOW_NOTE, .addr = FL_SYS_EV_COMPLETE + 1 },
		{ .kind = FL_WINDOW_NOTE, .addr = ~0u },
		{ .kind = 0 },
		{ .kind = 77 },
	};
	struct rig_guest *g = start_hostile();
	unsigned int i, n = sizeof(bad) / sizeof(bad[0]), slot;
	uint64_t before;

	rig_set_up(g);
	before = rig_stats(HOSTILE).refused;
	for (slot = 0; slot < NIC_DB_COUNT; slot += 5)
		for (i = 0; i < n; i++)
			rig_bell(g, slot, &bad[i]);
	RIG_UNTIL(rig_stats(HOSTILE).bad == 4 * n);
	EXPECT_EQ(rig_stats(HOSTILE).refused, before);
	STEP("a queue pair of slot 0, rung from slot 1, does not move");
	before = trace_count(rig.trace, EV_FW_WQE_BAD) +
		 trace_count(rig.trace, EV_FW_WQE);
	rig_doorbell(g, 1, NIC_DB_SQ, g->qp | 1u << 16);
	rig_doorbell(g, 1, NIC_DB_CQ_ARM, g->cq);
	RIG_UNTIL(rig_stats(HOSTILE).doorbells == 4 * n + 2);
	EXPECT_EQ(rig_read(g, NIC_ENG_ID, 4), NIC_ENG_ID_RESET);
	EXPECT_EQ(trace_count(rig.trace, EV_FW_WQE_BAD) +
		  trace_count(rig.trace, EV_FW_WQE), before);
	others_go_on(4);
	rig_end();
}

TEST("every doorbell that a card has is one for a process behind the window")
{
	static const struct {
		const char *page;
		uint32_t off;
	} reg[] = {
#define NREG(page, name, off, ...) { #page, off },
#include "faultline/regs.def"
	};
	struct rig_guest *g = start_hostile();
	unsigned int i, n = 0;

	rig_set_up(g);
	for (i = 0; i < sizeof(reg) / sizeof(reg[0]); i++) {
		if (strcmp(reg[i].page, "DB"))
			continue;
		STEP("offset 0x%x", reg[i].off);
		rig_doorbell(g, 1, reg[i].off, 0);
		n++;
	}
	EXPECT_GE(n, 7);
	RIG_UNTIL(rig_stats(HOSTILE).doorbells == n);
	EXPECT_EQ(rig_stats(HOSTILE).bad, 0);
	rig_end();
}

TEST("a tail far ahead, a hole, and a page full of lies hold up only their own slot")
{
	struct rig_guest *g = start_hostile();
	struct fl_window_doorbell *d = rig_page(g, 3);
	unsigned int i;

	rig_set_up(g);
	d->tail = 0x80000000;
	for (i = 1; i < FL_WINDOW_BELLS; i++)
		d->entry[i] = (struct fl_window_entry){ .seq = i + 1,
							.kind = 99 };
	d->head = 0x12345678;
	d->asleep = 7;
	os_interrupt_raise(g->bell);
	rig_doorbell(g, 4, NIC_DB_CQ_CONS, 0);
	RIG_UNTIL(rig_stats(HOSTILE).doorbells == 1);
	EXPECT_EQ(rig_stats(HOSTILE).bad, 0);
	others_go_on(5);
	STEP("the hole is filled");
	__atomic_store_n(&d->entry[0].seq, 1, __ATOMIC_SEQ_CST);
	os_interrupt_raise(g->bell);
	RIG_UNTIL(rig_stats(HOSTILE).bad == FL_WINDOW_BELLS);
	RIG_UNTIL(__atomic_load_n(&d->head, __ATOMIC_ACQUIRE) ==
		  FL_WINDOW_BELLS);
	rig_end();
}

TEST("what a process did to its page is put right before the next one has it")
{
	struct rig_guest *g = start_hostile();
	struct fl_window_doorbell *d = rig_page(g, 0);
	unsigned int i;

	rig_set_up(g);
	rig_doorbell(g, 0, NIC_DB_CQ_CONS, g->cq);
	RIG_UNTIL(rig_stats(HOSTILE).doorbells == 1);
	STEP("it takes an index and dies, with entries behind the hole");
	memset(d, 0xff, sizeof(*d));
	for (i = 0; i < FL_WINDOW_BELLS; i++)
		d->entry[i].seq = i == 1 ? 0 : i + 1;
	STEP("the driver hands the page over");
	for (i = 0; i < FL_WINDOW_BELLS; i++)
		__atomic_store_n(&d->entry[i].seq, 0, __ATOMIC_SEQ_CST);
	rig_read(g, NIC_FW_BASE + NIC_FW_ID, 4);
	EXPECT_EQ(d->head, 1);
	EXPECT_EQ(d->alive, 1);
	d->tail = d->head;
	STEP("the next one rings");
	rig_doorbell(g, 0, NIC_DB_CQ_CONS, g->cq);
	/* An entry is counted first, and then its place is free. */
	RIG_UNTIL(__atomic_load_n(&d->head, __ATOMIC_ACQUIRE) == 2);
	EXPECT_EQ(rig_stats(HOSTILE).doorbells, 2);
	EXPECT_EQ(rig_stats(HOSTILE).bad, 0);
	rig_end();
}

TEST("a process that writes without end leaves the driver its turn")
{
	struct rig_guest *g = start_hostile();
	struct fl_window_doorbell *d = rig_page(g, 0);
	uint32_t seq = 0, i;

	rig_set_up(g);
	for (i = 0; i < 200; i++) {
		for (; seq - __atomic_load_n(&d->head, __ATOMIC_ACQUIRE) <
		       FL_WINDOW_BELLS; seq++) {
			d->entry[seq % FL_WINDOW_BELLS].kind = (uint16_t)i;
			__atomic_store_n(&d->entry[seq % FL_WINDOW_BELLS].seq,
					 seq + 1, __ATOMIC_SEQ_CST);
		}
		os_interrupt_raise(g->bell);
		EXPECT_EQ(rig_read(g, NIC_ENG_ID, 4), NIC_ENG_ID_RESET);
	}
	others_go_on(6);
	rig_end();
}

/* ---- everything at once ---- */

/* Nonsense that looks right: kinds, sizes and the next seq are often good ones. */
static void hostile_scribble(struct rig_guest *g, struct rng *r)
{
	static const uint32_t top[] = { 0, FL_WINDOW_SMMU };
	uint64_t *word = (uint64_t *)g->bar;
	struct fl_window_entry *e;
	uint32_t i;

	for (i = 0; i < 64; i++)
		__atomic_store_n(&word[rng_below(r, FL_WINDOW_BYTES / 8)],
				 rng_next(r), __ATOMIC_RELAXED);
	/* The ring again, so that much is really tried. */
	e = (void *)(g->bar + FL_WINDOW_RING_OFFSET);
	for (i = 0; i < FL_WINDOW_RING; i++) {
		struct fl_window_entry w = {
			.kind = (uint16_t)rng_below(r, 4),
			.size = rng_below(r, 2) ? 4 : 8,
			.addr = top[rng_below(r, 2)] +
				(uint32_t)rng_below(r, 0x21000) / 4 * 4,
			.xfer = (uint32_t)rng_next(r),
			.arg = { rng_next(r), rng_next(r) },
		};

		memcpy((uint8_t *)&e[i] + 4, (uint8_t *)&w + 4, 60);
	}
}

/* All entries of a round have a seq that will come, whatever was scribbled. */
static void set_seqs(struct rig_guest *g, uint32_t round)
{
	struct fl_window_entry *e = (void *)(g->bar + FL_WINDOW_RING_OFFSET);
	uint32_t i;

	for (i = 0; i < FL_WINDOW_RING; i++)
		__atomic_store_n(&e[i].seq, round * FL_WINDOW_RING + i + 1,
				 __ATOMIC_SEQ_CST);
	os_interrupt_raise(g->bell);
}

TEST("a guest that scribbles over all of its window, and its tables, harms nobody else")
{
	struct rig_guest *g = start_hostile();
	uint32_t round;
	struct rng r;

	rng_init(&r, test_seed(), "scribble");
	for (round = 0; round < 40; round++) {
		hostile_scribble(g, &r);
		set_seqs(g, round);
		memset(g->ram + RIG_TABLES, (int)rng_below(&r, 256), 0x3000);
		others_go_on(100 + round);
		/* What it wrote to the head is gone, or was never read. */
		RIG_UNTIL(rig_stats(HOSTILE).bad + rig_stats(HOSTILE).writes +
			  rig_stats(HOSTILE).reads + rig_stats(HOSTILE).notes >=
			  (round + 1) * (uint64_t)FL_WINDOW_RING);
	}
	EXPECT_GE(rig_stats(HOSTILE).refused, 100);
	EXPECT_GE(rig_stats(HOSTILE).writes, 1000);
	STEP("it goes, and who comes after it finds a card that is whole");
	rig_hang_up(HOSTILE);
	rig_connect(HOSTILE);
	rig_set_up(&rig.guest[HOSTILE]);
	rig_new_qp(&rig.guest[1]);
	rig_pair(HOSTILE, 1);
	rig_transfer(HOSTILE, 1, 99);
	rig_end();
}

TEST("tables and queues that point outside the guest's memory are bus errors")
{
	struct rig_guest *g = start_hostile();
	struct fl_cqe e;

	rig_set_up(g);
	rig_new_qp(&rig.guest[0]);
	rig_pair(HOSTILE, 0);
	STEP("the source page's entry points behind the memory");
	*rig_pte(g, 0) = (WINDOW_RAM_BASE + RIG_RAM) | RIG_PAGE_BITS;
	rig_post(g, &rig.guest[0], FL_OP_WRITE, 0, 100, 1);
	e = rig_wait(g);
	EXPECT_EQ(e.status, FL_ST_BUS_ERROR);
	STEP("a send queue in the middle of nowhere; DRAM of others is none of it");
	g->qp = rig_command(g, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE,
						   .a = DRAM_BASE,
						   .b = RIG_QUEUE,
						   .c = g->cq, .d = g->pd });
	rig_new_qp(&rig.guest[0]);
	rig_pair(HOSTILE, 0);
	rig_doorbell(g, 0, NIC_DB_SQ, g->qp | 1u << 16);
	RIG_UNTIL(trace_count(rig.trace, EV_FW_WQE_BAD) > 0);
	rig_hang_up(HOSTILE);
	rig_new_qp(&rig.guest[0]);
	rig_new_qp(&rig.guest[1]);
	rig_pair(0, 1);
	others_go_on(7);
	rig_end();
}

/* ---- at the socket ---- */

TEST("bells without anything to do, and talk over the socket, are only noise")
{
	struct rig_guest *g = start_hostile();
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		os_interrupt_raise(g->bell);
		EXPECT_EQ(send(g->sock, "hello", 5, MSG_NOSIGNAL), 5);
	}
	others_go_on(8);
	RIG_UNTIL(rig_stats(HOSTILE).bad > 0);
	EXPECT_EQ(rig_read(g, NIC_ENG_ID, 4), NIC_ENG_ID_RESET);
	EXPECT(rig_stats(HOSTILE).present);
	rig_end();
}

TEST("a second one at the socket is turned away, the first goes on")
{
	struct rig_guest *g = start_hostile();
	unsigned int i;
	int fd, sock;
	int64_t n;

	for (i = 0; i < 20; i++) {
		sock = rig_dial(HOSTILE);
		EXPECT(!rig_hear(sock, &n, &fd));
		close(sock);
		EXPECT_EQ(rig_read(g, NIC_ENG_ID, 4), NIC_ENG_ID_RESET);
	}
	EXPECT_EQ(rig_stats(HOSTILE).guests, 1);
	others_go_on(9);
	rig_end();
}

/* The driver's first word, when its memory is not as it must be. */
static void cut_off(uint64_t bytes, bool remove)
{
	struct rig_guest *g;
	int64_t n;
	int fd;

	rig_hang_up(HOSTILE);
	g = rig_connect(HOSTILE);
	EXPECT_EQ(munmap(g->ram, RIG_RAM), 0);
	g->ram = NULL;
	if (remove)
		EXPECT_EQ(unlink(rig_path(HOSTILE, "ram")), 0);
	else
		EXPECT_EQ(truncate(rig_path(HOSTILE, "ram"), (off_t)bytes), 0);
	rig_write(g, NIC_ENG_IRQ_ENABLE, 4, 1);
	EXPECT(!rig_hear(g->sock, &n, &fd));
	RIG_UNTIL(!rig_stats(HOSTILE).present);
	EXPECT_EQ(__atomic_load_n(&g->head->alive, __ATOMIC_ACQUIRE), 0);
}

TEST("a guest whose memory is not there, empty, odd or too large is cut off")
{
	start_hostile();
	STEP("no file");
	cut_off(0, true);
	STEP("an empty one");
	cut_off(0, false);
	STEP("no whole pages");
	cut_off(4097, false);
	STEP("larger than what is below the board's own DRAM");
	cut_off(DRAM_BASE, false);
	others_go_on(10);
	STEP("as it must be");
	rig_hang_up(HOSTILE);
	rig_connect(HOSTILE);
	EXPECT_EQ(rig_read(&rig.guest[HOSTILE], NIC_ENG_ID, 4),
		  NIC_ENG_ID_RESET);
	rig_end();
}

TEST("a guest whose memory becomes smaller under the card is cut off, nobody else")
{
	struct rig_guest *g = start_hostile();
	struct fl_wqe *sq;
	int64_t n;
	int fd;

	rig_set_up(g);
	rig_new_qp(&rig.guest[0]);
	rig_pair(HOSTILE, 0);
	sq = (struct fl_wqe *)(g->ram + g->sq);
	*sq = (struct fl_wqe){ .opcode = FL_OP_WRITE, .length = 4096,
			       .flags = FL_WQE_SIGNALED, .local_va = RIG_VA,
			       .remote_va = RIG_VA, .lkey = g->key,
			       .rkey = rig.guest[0].key };
	STEP("the file ends before the page that the card is told to read");
	EXPECT_EQ(truncate(rig_path(HOSTILE, "ram"), RIG_DATA), 0);
	rig_doorbell(g, 0, NIC_DB_SQ, g->qp | 1u << 16);
	EXPECT(!rig_hear(g->sock, &n, &fd));
	RIG_UNTIL(!rig_stats(HOSTILE).present);
	rig_new_qp(&rig.guest[0]);
	rig_new_qp(&rig.guest[1]);
	rig_pair(0, 1);
	others_go_on(11);
	STEP("it may come again");
	rig_hang_up(HOSTILE);
	rig_connect(HOSTILE);
	EXPECT_EQ(rig_read(&rig.guest[HOSTILE], NIC_ENG_ID, 4),
		  NIC_ENG_ID_RESET);
	rig_end();
}
