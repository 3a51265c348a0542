// SPDX-License-Identifier: BSD-2-Clause
// variants: tsan
/*
 * Touching ahead: the block is answered before it, the rest is walked once, and
 * the process may leave, or take away what is walked, in the middle. More
 * transfers than are kept in mind: scenario/ahead_many.fl.
 */
#include "rig/driver.h"

#define LEN	(192u * 1024)
#define PAGES	(LEN / RIG_PAGE)
#define BLOCK	16384u
#define RECORDS 131072u

static struct trace_record rec[RECORDS];

static uint32_t ahead_records(struct rig *r)
{
	return trace_snapshot(r->trace, rec, RECORDS);
}

static bool is_of_b(const struct trace_record *t, enum trace_event ev)
{
	return t->event == ev && t->board == 1;
}

static void post_cold(struct rig *r, uint32_t mode, uint32_t resolve)
{
	rig_pair(r, mode, resolve, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
}

/* ---- the answer comes first ---- */

static void answer_first(struct rig *r, uint32_t mode)
{
	enum trace_event answer = mode == FL_SYSTEM_STALL ? EV_DRV_RESUME :
							  EV_DRV_READY;
	uint32_t n, i, work = RECORDS, ready = RECORDS, ahead = RECORDS;

	post_cold(r, mode, FL_IOC_RESOLVE_TRANSFER);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	n = ahead_records(r);
	for (i = 0; i < n; i++) {
		if (work == RECORDS && is_of_b(&rec[i], EV_DRV_WORK))
			work = i;
		if (ready == RECORDS && is_of_b(&rec[i], answer))
			ready = i;
		if (ahead == RECORDS && is_of_b(&rec[i], EV_DRV_RESOLVE) &&
		    rec[i].arg[1] > BLOCK / RIG_PAGE)
			ahead = i;
	}
	EXPECT_LE(ahead, n);
	STEP("the answer is there before more than the block was asked for");
	EXPECT_LE(ready, ahead);
	STEP("after four page-ins, a lookup each, and not more");
	EXPECT_LE(rec[ready].time_ns - rec[work].time_ns,
		  4 * (r->timing.v[T_MM_MINOR] + r->timing.v[T_MM_LOOKUP]) +
			  20 * r->timing.v[T_CPU_MMIO_READ]);
}

static void ready_first(struct rig *r)
{
	answer_first(r, FL_SYSTEM_PART);
}

static void resume_first(struct rig *r)
{
	answer_first(r, FL_SYSTEM_STALL);
}

TEST("READY is written when the block's own pages are there")
{
	rig_run(ready_first);
}

TEST("RESUME too")
{
	rig_run(resume_first);
}

/* ---- the rest is walked once ---- */

static void ahead_once(struct rig *r)
{
	static unsigned int asked[PAGES];
	uint64_t va, page, brought;
	uint32_t n, i, k, twice = 0;

	/* All twelve blocks are on their way when the first worker looks. */
	r->timing.v[T_IRQ_WORK] = 1000000;
	r->timing.v[T_FW_WAITING] = 16;
	post_cold(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER);
	brought = trace_count(r->trace, EV_MM_PAGE_IN);
	va = (uintptr_t)r->n[1].buffer;
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	EXPECT_GE(rig_counters(&r->n[1]).faults_dst, 4);
	/* A page that two workers find absent comes once, and counts twice. */
	EXPECT_EQ(trace_count(r->trace, EV_MM_PAGE_IN) - brought, PAGES);
	n = ahead_records(r);
	for (i = 0; i < n; i++)
		for (k = 0; is_of_b(&rec[i], EV_DRV_RESOLVE) &&
			    k < rec[i].arg[1]; k++) {
			page = (rec[i].arg[0] - va) / RIG_PAGE + k;
			EXPECT_LE(page, PAGES - 1);
			asked[page]++;
		}
	for (i = 0; i < PAGES; i++) {
		EXPECT_GE(asked[i], 1);
		EXPECT_LE(asked[i], 2);
		twice += asked[i] == 2;
	}
	/* By its own block, and by the walk that was there first. */
	EXPECT_LE(twice, PAGES / 2);
}

TEST("twelve blocks that fault at a time do not walk the same rest twelve times")
{
	rig_run(ahead_once);
}

/* ---- never slower than by block ---- */

static uint64_t ahead_took(struct rig *r, uint32_t resolve, bool swap)
{
	struct rig_node *b = &r->n[1];
	uint64_t start;
	uint32_t i;

	rig_pair(r, FL_SYSTEM_PART, resolve, 0);
	rig_fill(&r->n[0], LEN, 1);
	if (swap)
		rig_fill(b, LEN, 2);
	EXPECT_EQ(host_madvise(b->process, b->buffer, LEN,
			       swap ? HOST_PAGEOUT : HOST_DONTNEED), 0);
	start = sim_now(r->sim);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	start = sim_now(r->sim) - start;
	rig_same(r, LEN);
	for (i = 0; i < 2; i++)
		rig_close(&r->n[i]);
	return start;
}

static void ahead_zeros(struct rig *r)
{
	uint64_t block = ahead_took(r, FL_IOC_RESOLVE_BLOCK, false);

	EXPECT_LE(ahead_took(r, FL_IOC_RESOLVE_TRANSFER, false), block * 3 / 4);
}

static void from_swap(struct rig *r)
{
	uint64_t block = ahead_took(r, FL_IOC_RESOLVE_BLOCK, true);

	/* A block whose page is just being walked waits a little for that. */
	EXPECT_LE(ahead_took(r, FL_IOC_RESOLVE_TRANSFER, true),
		  block + block / 100);
}

TEST("a cold transfer is quicker with the transfer touched ahead than by block")
{
	rig_run(ahead_zeros);
}

TEST("from swap it is not slower: other workers bring in what has faulted")
{
	rig_run(from_swap);
}

/* ---- in the middle ---- */

#define SLOW_NS 200000u		/* a page */

/* The first blocks have their pages, and the walk is under way. */
static void in_the_middle(struct rig *r, uint32_t mode)
{
	struct rig_node *b = &r->n[1];
	int tries = 0;

	rig_pair(r, mode, FL_IOC_RESOLVE_TRANSFER, 0);
	rig_fill(&r->n[0], LEN, 1);
	r->timing.v[T_MM_MINOR] = SLOW_NS;
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	while (rig_counters(b).pages_in < 10) {
		sim_sleep(SLOW_NS / 4);
		EXPECT(tries++ < 1000);
	}
	EXPECT_LE(rig_counters(b).pages_in, PAGES - 10);
}

static void ahead_closes(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct host_stats open, before, after;
	uint64_t start;

	/* One access is held at a time, so that all others are the walk's. */
	in_the_middle(r, FL_SYSTEM_STALL);
	rig_unmap(b);		/* each waits for a part: the mmap lock */
	host_stats(b->kernel, &open);
	start = sim_now(r->sim);
	STEP("the process leaves the card: the part that is under way ends");
	EXPECT_EQ(host_close(b->process, b->fd), 0);
	EXPECT_LE(sim_now(r->sim) - start, 16 * (SLOW_NS + 1000) + 1000000);
	host_stats(b->kernel, &before);
	EXPECT_LE(before.page_ins, open.page_ins + 16 + 4);
	STEP("and no other begins");
	sim_sleep(40 * SLOW_NS);
	host_stats(b->kernel, &after);
	EXPECT_EQ(after.page_ins, before.page_ins);
	EXPECT_NE(rig_wait(&r->n[0]), FL_ST_OK);
}

TEST("the file is closed in the middle of a walk: it ends")
{
	rig_run(ahead_closes);
}

static void closes_busy(struct rig *r)
{
	in_the_middle(r, FL_SYSTEM_PART);
	rig_close(&r->n[1]);
	EXPECT_NE(rig_wait(&r->n[0]), FL_ST_OK);
	sim_sleep(PAGES * SLOW_NS);
}

TEST("and with other workers at it, who keep what they need")
{
	rig_run(closes_busy);
}

static void ahead_unmaps(struct rig *r)
{
	struct rig_node *b = &r->n[1];

	in_the_middle(r, FL_SYSTEM_PART);
	STEP("the second half goes, while its pages are on their way");
	EXPECT_EQ(host_munmap(b->process, b->buffer + LEN / 2,
			      RIG_BYTES - LEN / 2), 0);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_REMOTE_FAULT);
	sim_sleep(40 * SLOW_NS);
	EXPECT(!mm_resident(host_process_mm(b->process),
			    (uintptr_t)b->buffer + LEN - 1));
}

TEST("what is walked is unmapped in the middle: the write fails, nothing comes back")
{
	rig_run(ahead_unmaps);
}

static void ahead_deregisters(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct fl_destroy d = { .size = sizeof(d), .object = b->key };

	in_the_middle(r, FL_SYSTEM_PART);
	d.object = b->key;
	EXPECT_EQ(rig_ioctl(b, FL_IOC_DEREG_MR, &d), 0);
	EXPECT_NE(rig_wait(&r->n[0]), FL_ST_OK);
	EXPECT_EQ(rig_counters(b).pinned_pages, 0);
	/* rig_down() is outside lockstep, where no worker runs. */
	sim_sleep(PAGES * SLOW_NS);
}

TEST("the region goes in the middle of a walk: the write fails, all is given back")
{
	rig_run(ahead_deregisters);
}

static void goes_away(struct rig *r)
{
	in_the_middle(r, FL_SYSTEM_PART);
	host_process_exit(r->n[1].process);
	EXPECT_NE(rig_wait(&r->n[0]), FL_ST_OK);
	/* For rig_down(). */
	r->n[1].process = host_process_create(r->n[1].kernel, "pb", &(int){ 0 });
	EXPECT(r->n[1].process);
}

TEST("the process ends in the middle of a walk: it ends, and all is free")
{
	rig_run(goes_away);
}
