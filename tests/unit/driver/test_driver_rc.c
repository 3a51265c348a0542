// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of a reliable connection from end to end: driver, card's own table, packets, without
 * the library. The oracle is the bytes at both ends, and that no access of the card met a
 * frame that had gone (rig/driver.h counts STALE_ACCESS).
 *
 * variants: tsan
 */
#include "faultline/system_rows.h"
#include "rig/driver.h"

#define LEN	(64u * 1024)
#define LEN_PAGES (LEN / RIG_PAGE)

static uint32_t rc_system;

static void rc_pair(struct rig *r, uint32_t resolve)
{
	rig_qp_flags = FL_QP_RC;
	rig_pair(r, rc_system, resolve, 0);
}

static void rc_drop(struct rig_node *n)
{
	EXPECT_EQ(host_madvise(n->process, n->buffer, RIG_BYTES, HOST_DONTNEED), 0);
}

static void rc_cold(struct rig *r)
{
	struct rig_node *a = &r->n[0], *b = &r->n[1];
	struct fl_counters ca, cb;

	rc_pair(r, FL_IOC_RESOLVE_TRANSFER);
	rig_fill(a, LEN, 1);
	STEP("a WRITE, nothing of it in either card's table");
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	rig_same(r, LEN);
	ca = rig_counters(a);
	cb = rig_counters(b);
	EXPECT_GE(ca.faults, 1);
	EXPECT_GE(cb.faults, 1);
	EXPECT_EQ(ca.loaded, LEN_PAGES);
	EXPECT_EQ(cb.loaded, LEN_PAGES);
	EXPECT_EQ(cb.pages_in, LEN_PAGES);
	STEP("once more: nobody misses anything");
	rig_fill(a, LEN, 2);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_EQ(rig_counters(a).faults, ca.faults);
	EXPECT_EQ(rig_counters(b).faults, cb.faults);
	STEP("a READ into nothing");
	rig_fill(b, LEN, 3);
	rc_drop(a);
	rig_post(r, FL_OP_READ, 0, 0, LEN);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	rig_same(r, LEN);
	STEP("and of nothing");
	rc_drop(b);
	rig_post(r, FL_OP_READ, 0, 0, LEN);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_EQ(rig_counters(a).failed, 0);
	EXPECT_EQ(rig_counters(b).failed, 0);
}

static void rc_row(uint32_t system)
{
	rc_system = system;
	rig_run(rc_cold);
}

TEST("npf: a cold WRITE, a warm one, READs into and of nothing")
{
	rc_row(FL_SYSTEM_NPF);
}

TEST("odp2: the same")
{
	rc_row(FL_SYSTEM_ODP2);
}

TEST("rxe: the same")
{
	rc_row(FL_SYSTEM_RXE);
}

TEST("droprc: the same")
{
	rc_row(FL_SYSTEM_DROPRC);
}

/* ---- pages that leave meanwhile ---- */

static struct {
	struct rig *r;
	uint64_t seed;
	uint32_t running, gap_ns;
	uint64_t zapped;		/* by all of them */
	uint8_t bytes[2][RIG_BYTES];	/* what is in either buffer, by a plain array */
} storm;

static uint32_t storm_draw(uint64_t *x, uint32_t below)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (uint32_t)(*x >> 33) % below;
}

/*
 * Pages go out and keep their bytes. Not as often as a sender waits: a page that has gone
 * again whenever the sender comes back is never read, on a real card either.
 */
static void storm_evict(void *arg)
{
	struct rig_node *n = arg;
	uint64_t x = storm.seed * 7 + (n != storm.r->n) + 1;
	uint32_t page, pages;

	while (__atomic_load_n(&storm.running, __ATOMIC_SEQ_CST)) {
		page = storm_draw(&x, RIG_BYTES / RIG_PAGE - 16);
		pages = 1 + storm_draw(&x, 16);
		host_madvise(n->process, n->buffer + page * RIG_PAGE,
			     pages * RIG_PAGE, HOST_PAGEOUT);
		sim_sleep(storm_draw(&x, storm.gap_ns));
	}
}

static void storm_same(struct rig_node *n, const uint8_t *want)
{
	static uint8_t got[RIG_BYTES];

	EXPECT_EQ(mm_copy(host_process_mm(n->process), (uintptr_t)n->buffer, got,
			  RIG_BYTES, false), 0);
	EXPECT_MEM(got, want, RIG_BYTES);
}

static void storm_put(struct rig_node *n, uint8_t *bytes, uint64_t *x,
		      uint32_t at, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		bytes[at + i] = (uint8_t)storm_draw(x, 256);
	EXPECT_EQ(mm_copy(host_process_mm(n->process), (uintptr_t)n->buffer + at,
			  bytes + at, len, true), 0);
}

static void storm_work(struct rig *r, uint64_t *x)
{
	uint32_t len = 1 + storm_draw(x, storm_draw(x, 4) ? 6000 : LEN);
	uint32_t from = storm_draw(x, RIG_BYTES - len);
	uint32_t to = storm_draw(x, RIG_BYTES - len);
	bool read = storm_draw(x, 2);

	storm_put(&r->n[read], storm.bytes[read], x, read ? to : from, len);
	rig_post(r, read ? FL_OP_READ : FL_OP_WRITE, from, to, len);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	if (read)
		memcpy(storm.bytes[0] + from, storm.bytes[1] + to, len);
	else
		memcpy(storm.bytes[1] + to, storm.bytes[0] + from, len);
}

static void rc_storm(struct rig *r)
{
	uint64_t x = storm.seed;
	struct sim_thread *t[2];
	unsigned int i;

	rc_pair(r, storm_draw(&x, 3));
	storm.r = r;
	storm.running = 1;
	memset(storm.bytes, 0, sizeof(storm.bytes));
	for (i = 0; i < 2; i++)
		t[i] = host_thread_start(r->n[i].process, "evict", storm_evict,
					 &r->n[i]);
	for (i = 0; i < 25; i++)
		storm_work(r, &x);
	__atomic_store_n(&storm.running, 0, __ATOMIC_SEQ_CST);
	for (i = 0; i < 2; i++)
		sim_thread_join(t[i]);
	for (i = 0; i < 2; i++) {
		storm_same(&r->n[i], storm.bytes[i]);
		EXPECT_EQ(rig_counters(&r->n[i]).failed, 0);
		EXPECT_EQ(rig_counters(&r->n[i]).lost_syncs, 0);
	}
	for (i = 0; i < 2; i++)
		storm.zapped += rig_counters(&r->n[i]).zapped;
}

/* The first n of these rows. */
static void storm_rows(enum sim_mode mode, unsigned int n, unsigned int seeds)
{
	static const uint32_t rows[] = { FL_SYSTEM_NPF, FL_SYSTEM_ODP2, FL_SYSTEM_RXE,
					 FL_SYSTEM_DROPRC };
	struct host_driver_params p = { .system = FL_SYSTEM_PART,
					.resolve = FL_IOC_RESOLVE_BLOCK };
	unsigned int i, s;

	for (i = 0; i < n; i++)
		for (s = 0; s < seeds; s++) {
			rc_system = rows[i];
			storm.gap_ns = rc_system == FL_SYSTEM_DROPRC ? 500000000 :
								      5000000;
			storm.seed = test_seed() * 1000 + s + 1;
			STEP("row %u, %u", rc_system, s);
			rig_run_with(mode, &p, rc_storm, NULL);
		}
	EXPECT_GE(storm.zapped, n * seeds);
}

TEST("pages leave at any time at both ends, and every byte is where it belongs")
{
	storm_rows(SIM_LOCKSTEP, 4, 10);
}

/* Not droprc, which waits by the clock on the wall for each page. */
TEST("the same in threads")
{
	storm_rows(SIM_THREADS, 3, 2);
}
