// SPDX-License-Identifier: BSD-2-Clause
/*
 * The backup ring of a card that lies in it: descriptors are written here, past the card, and
 * the driver's top half is called as it would be. What it cannot make sense of costs nobody a
 * byte, and the ring goes on.
 */
#include "rig/inside.h"

#define SLOTS	4u
#define PAGES	(2 * SLOTS)
#define SALT	0xA5

static struct ring_liar {
	struct inside in;
	uint64_t base;
	uint32_t n, failed;	/* descriptors written; packets that could not be copied */
} liar;

static void ring_begin(struct rig *r)
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_BACKUP,
			       .resolve = FL_IOC_RESOLVE_PAGE, .ring_slots = SLOTS };
	struct rig_node *n = &r->n[1];
	uint64_t slots;

	memset(&liar, 0, sizeof(liar));
	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	rig_qp_flags = FL_QP_UD;
	rig_set_up(n, 0);
	rig_qp_flags = 0;
	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + NIC_XP_BASE + NIC_XP_BAK_BASE, 8,
			     &liar.base), 0);
	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + NIC_XP_BASE + NIC_XP_BAK_SLOTS, 4,
			     &slots), 0);
	EXPECT_EQ(slots, SLOTS);
	rig_fill(n, RIG_BYTES, 1);
}

static struct fl_backup *ring_at(struct rig *r, uint32_t slot)
{
	struct fl_backup *d = dram_at(board_dram(r->n[1].board),
				      liar.base + slot * sizeof(*d), sizeof(*d));

	EXPECT(d);
	return d;
}

/* The next descriptor, and its page, which is full of SALT. */
static void ring_write(struct rig *r, struct fl_backup d)
{
	struct fl_backup *at = ring_at(r, liar.n % SLOTS);
	void *page = dram_at(board_dram(r->n[1].board), at->buffer, RIG_PAGE);

	EXPECT(page);
	memset(page, SALT, RIG_PAGE);
	d.buffer = at->buffer;
	d.phase = 1 + liar.n++ / SLOTS;
	*at = d;
}

static void ring_irq(struct rig *r)
{
	inside_enter(&liar.in, &r->n[1], SHIM_IN_HANDLER);
	EXPECT(fl_ring_irq(liar.in.dev));
	EXPECT(!fl_ring_irq(liar.in.dev));
	inside_leave(&liar.in);
	/* Workers. */
	sim_sleep(10000000);
}

/* It is taken, and its slot can be used again. */
static void ring_says(struct rig *r, struct fl_backup d)
{
	ring_write(r, d);
	ring_irq(r);
}

static struct fl_backup ring_packet(struct rig_node *n, uint32_t at, uint32_t len)
{
	return (struct fl_backup){
		.kind = FL_BACKUP_PACKET, .qp = n->qp, .len = len, .posted = 1, .segments = 1,
		.va0 = (uintptr_t)n->buffer + at, .bytes0 = len, .key0 = n->key,
	};
}

/* The card knows of none of the packets, and refuses what the driver says of them. */
static void ring_end(struct rig *r)
{
	rig_close(&r->n[1]);
	r->bad_regs = (unsigned int)trace_count(r->trace, EV_ENG_BAD_REG);
	EXPECT_GE(r->bad_regs, 1);
}

/* How many bytes of the buffer are a packet's; the others are what they were. */
static unsigned int ring_salted(struct rig_node *n)
{
	static uint8_t b[RIG_BYTES];
	static uint8_t want[RIG_BYTES];
	unsigned int i, salted = 0;

	EXPECT_EQ(mm_copy(host_process_mm(n->process), (uintptr_t)n->buffer, b, RIG_BYTES,
			  false), 0);
	/* rig_fill() with the salt 1 */
	for (i = 0; i < RIG_BYTES; i++) {
		want[i] = (uint8_t)(i * 7 + i / 251 + 1);
		salted += b[i] == SALT && want[i] != SALT;
		EXPECT(b[i] == SALT || b[i] == want[i]);
	}
	return salted;
}

/* It cannot be copied: the process's failure, and no byte of it is anywhere. */
static void ring_fails(struct rig *r, struct fl_backup d)
{
	ring_says(r, d);
	EXPECT_EQ(rig_counters(&r->n[1]).failed, ++liar.failed);
	EXPECT_EQ(ring_salted(&r->n[1]), 0);
}

static void ring_nonsense(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_backup d;

	ring_begin(r);
	STEP("a kind that there is not");
	ring_says(r, (struct fl_backup){ .kind = 0x77, .qp = n->qp });
	STEP("a packet longer than its page");
	ring_says(r, ring_packet(n, 0, RIG_PAGE + 1));
	STEP("one of a slot that there is not, and one of a slot that is nobody's");
	d = ring_packet(n, 0, 64);
	d.slot = 0xFFF0;
	ring_says(r, d);
	d.slot = 7;
	ring_says(r, d);
	EXPECT_EQ(rig_counters(n).failed, 0);
	EXPECT_EQ(rig_counters(n).faults, 0);
	EXPECT_EQ(ring_salted(n), 0);
	STEP("a receive without a segment, and one too short");
	d = ring_packet(n, 0, 64);
	d.segments = 0;
	ring_fails(r, d);
	d = ring_packet(n, 0, 64);
	d.bytes0 = 63;
	ring_fails(r, d);
	STEP("a region that there is not, and a range that it has not");
	d = ring_packet(n, 0, 64);
	d.key0 ^= 0x1000000;
	ring_fails(r, d);
	ring_fails(r, ring_packet(n, RIG_BYTES - 32, 64));
	STEP("the second segment is of nobody: the first one is not written either");
	d = ring_packet(n, 0, 64);
	d.segments = 200;
	d.bytes0 = 32;
	d.va1 = d.va0 + RIG_PAGE;
	d.bytes1 = 32;
	ring_fails(r, d);
	STEP("the truth, in three segments over two pages");
	d = ring_packet(n, RIG_PAGE - 16, 300);
	d.segments = 3;
	d.bytes0 = 100;
	d.va1 = d.va0 + RIG_PAGE;
	d.bytes1 = 100;
	d.va2 = d.va1 + RIG_PAGE;
	d.bytes2 = 200;
	d.key1 = d.key2 = n->key;
	ring_says(r, d);
	EXPECT_EQ(rig_counters(n).failed, liar.failed);
	EXPECT_GE(ring_salted(n), 290);
	EXPECT_LE(ring_salted(n), 300);
	ring_end(r);
}

TEST("what makes no sense in the ring is not copied, and the ring goes on")
{
	rig_run(ring_nonsense);
}

/* ---- packets that wait ---- */

static void ring_waits(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_backup d, w;
	uint32_t i;

	ring_begin(r);
	w = ring_packet(n, 0, 64);
	w.posted = 0;
	w.bit = 3;
	w.serial = 9;
	STEP("as many wait as there are pages");
	for (i = 0; i < PAGES; i++)
		ring_says(r, w);
	STEP("the card writes a packet to a descriptor without a page");
	ring_says(r, ring_packet(n, 0, 64));
	EXPECT_EQ(ring_salted(n), 0);
	STEP("receives that none of them waits for");
	d = ring_packet(n, 0, 64);
	d.kind = FL_BACKUP_RECEIVE;
	d.qp++;
	d.bit = w.bit;
	d.serial = w.serial;
	ring_says(r, d);
	d.qp = n->qp;
	d.bit++;
	ring_says(r, d);
	d.bit = w.bit;
	d.serial++;
	ring_says(r, d);
	EXPECT_EQ(ring_salted(n), 0);
	STEP("one that the first of them waits for, which has its own length");
	d.serial = w.serial;
	d.len = 4000;
	ring_says(r, d);
	EXPECT_GE(ring_salted(n), 60);
	EXPECT_LE(ring_salted(n), 64);
	EXPECT_EQ(rig_counters(n).failed, 0);
	STEP("the queue pair ends: their pages come back");
	ring_says(r, (struct fl_backup){ .kind = FL_BACKUP_OVER, .qp = n->qp });
	ring_says(r, ring_packet(n, 8 * RIG_PAGE, 100));
	EXPECT_GE(ring_salted(n), 150);
	ring_end(r);
}

TEST("a packet waits for its own receive, and goes with its queue pair")
{
	rig_run(ring_waits);
}

static void ring_overtaken(struct rig *r)
{
	struct rig_node *n = &r->n[1];

	ring_begin(r);
	STEP("a packet, and at once the end of its queue pair, and of another one");
	ring_write(r, ring_packet(n, 0, 64));
	ring_write(r, (struct fl_backup){ .kind = FL_BACKUP_OVER, .qp = n->qp });
	ring_write(r, (struct fl_backup){ .kind = FL_BACKUP_OVER, .qp = n->qp + 1 });
	ring_irq(r);
	EXPECT_EQ(ring_salted(n), 0);
	EXPECT_EQ(rig_counters(n).failed, 0);
	STEP("of another one alone: it is copied");
	ring_write(r, ring_packet(n, 0, 64));
	ring_write(r, (struct fl_backup){ .kind = FL_BACKUP_OVER, .qp = n->qp + 1 });
	ring_irq(r);
	EXPECT_GE(ring_salted(n), 60);
	ring_end(r);
}

TEST("a packet whose queue pair ends before the copy is not copied")
{
	rig_run(ring_overtaken);
}

/* ---- no memory ---- */

static void ring_refused(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_backup d;
	unsigned int i;

	ring_begin(r);
	d = ring_packet(n, 0, 64);
	for (i = 1;; i++) {
		host_inject_driver_error(i);
		ring_says(r, d);
		if (host_inject_driver_error(0))
			break;
		liar.failed++;
		EXPECT_EQ(rig_counters(n).failed, liar.failed);
		EXPECT_EQ(ring_salted(n), 0);
	}
	STEP("nothing was refused: it is copied");
	EXPECT_GE(i, 3);
	EXPECT_EQ(rig_counters(n).failed, liar.failed);
	EXPECT_GE(ring_salted(n), 60);
	ring_end(r);
}

TEST("a packet whose pages cannot be had fails, and the next one does not")
{
	rig_run(ring_refused);
}
