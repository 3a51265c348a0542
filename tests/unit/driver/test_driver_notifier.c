// SPDX-License-Identifier: BSD-2-Clause
/* The driver hears of changed page tables before pages are used again. */
#include "rig/driver.h"

#define LEN (64u * 1024)

static void notifier_moved(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
}

static uint32_t notifier_snapshot(struct rig *r, struct trace_record **rec)
{
	*rec = malloc(65536 * sizeof(**rec));
	return trace_snapshot(r->trace, *rec, 65536);
}

static void notifier_evict(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint64_t va, tlbi = 0, sync = 0, done = 0, i, n, seen = 0;
	struct trace_record *rec;

	notifier_moved(r);
	va = (uintptr_t)b->buffer;
	STEP("evict one page that the device has in its TLB");
	EXPECT_EQ(host_madvise(b->process, b->buffer, RIG_PAGE, HOST_PAGEOUT),
		  0);
	n = notifier_snapshot(r, &rec);
	for (i = 0; i < n; i++) {
		if (rec[i].board != 1)
			continue;
		if (rec[i].event == EV_SMMU_TLBI && rec[i].arg[1] == va)
			tlbi = i;
		if (rec[i].event == EV_SMMU_SYNC)
			sync = i;
		if (rec[i].event == EV_SMMU_SYNC_DONE)
			done = i;
		if (rec[i].event == EV_DRV_INVALIDATE && rec[i].arg[1] == va) {
			EXPECT(tlbi && tlbi < sync && sync < done && done < i);
			EXPECT_EQ(rec[i].arg[2], 1);
			tlbi = 0;
			seen++;
		}
		/* The frame goes only after that. */
		if (rec[i].event == EV_MM_EVICT && rec[i].arg[1] == va)
			EXPECT(seen);
	}
	free(rec);
	EXPECT_EQ(seen, 1);
	EXPECT(rig_counters(b).invalidations);
	STEP("and the device faults on it again");
	n = rig_counters(b).faults;
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	EXPECT_GE(rig_counters(b).faults, n + 1);
	rig_same(r, LEN);
}

TEST("eviction: invalidate, synchronise, and only then is the frame free")
{
	rig_run(notifier_evict);
}

static void notifier_aged(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct fl_counters before, after;

	notifier_moved(r);
	before = rig_counters(b);
	STEP("the kernel takes the access flags away");
	EXPECT_EQ(host_madvise(b->process, b->buffer, LEN, HOST_COLD), 0);
	EXPECT_EQ(rig_counters(b).invalidations, before.invalidations + 1);
	STEP("pages that the card alone uses have them again");
	before = rig_counters(b);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	after = rig_counters(b);
	EXPECT_GE(after.faults, before.faults + 1);
	EXPECT_EQ(after.pages_in, before.pages_in);
	EXPECT_EQ(after.spurious, before.spurious);
}

TEST("ageing: the card's next access is seen by the kernel")
{
	rig_run(notifier_aged);
}

static uint64_t notifier_tlbis(struct rig *r, uint64_t pages)
{
	struct rig_node *b = &r->n[1];
	uint64_t before = trace_count(r->trace, EV_SMMU_TLBI);
	uint64_t calls = rig_counters(b).invalidations;

	EXPECT_EQ(host_mprotect(b->process, b->buffer, RIG_BYTES,
				HOST_READ | HOST_WRITE), 0);
	EXPECT_EQ(host_madvise(b->process, b->buffer, RIG_BYTES, HOST_POPULATE),
		  0);
	before = trace_count(r->trace, EV_SMMU_TLBI);
	calls = rig_counters(b).invalidations;
	EXPECT_EQ(host_mprotect(b->process, b->buffer, pages * RIG_PAGE,
				HOST_READ), 0);
	EXPECT_EQ(rig_counters(b).invalidations, calls + 1);
	return trace_count(r->trace, EV_SMMU_TLBI) - before;
}

static void notifier_ranges(struct rig *r)
{
	notifier_moved(r);
	EXPECT_EQ(notifier_tlbis(r, 1), 1);
	EXPECT_EQ(notifier_tlbis(r, 5), 5);
	STEP("64 pages one by one; all 64 of the buffer");
	EXPECT_EQ(notifier_tlbis(r, 64), 64);
}

TEST("a range is invalidated page by page")
{
	rig_run(notifier_ranges);
}

static void notifier_large(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint64_t before, len = 65 * RIG_PAGE;
	int err;
	void *p;

	notifier_moved(r);
	p = host_mmap(b->process, len, HOST_READ | HOST_WRITE, NULL, 0, &err);
	EXPECT_EQ(host_madvise(b->process, p, len, HOST_POPULATE), 0);
	before = trace_count(r->trace, EV_SMMU_TLBI);
	EXPECT_EQ(host_mprotect(b->process, p, len, HOST_READ), 0);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_TLBI), before + 1);
}

TEST("a large range is one invalidation of the whole ASID")
{
	rig_run(notifier_large);
}

static void pressure_in(struct rig *r, uint32_t mode)
{
	struct rig_node *b = &r->n[1];
	unsigned int i, round;

	rig_pair(r, mode, FL_IOC_RESOLVE_BLOCK, 0);
	for (round = 0; round < 6; round++) {
		rig_fill(&r->n[0], LEN, (uint8_t)round);
		rig_post(r, FL_OP_WRITE, 0, 0, LEN);
		for (i = 0; i < 40 && !rig_look(&r->n[0]); i++) {
			EXPECT_EQ(host_madvise(b->process,
					       b->buffer + i % 16 * RIG_PAGE,
					       RIG_PAGE, HOST_PAGEOUT), 0);
			sim_sleep(3000);
		}
		EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
		rig_same(r, LEN);
	}
}

static void notifier_pressure(struct rig *r)
{
	pressure_in(r, FL_SYSTEM_PART);
}

static void stall_pressure(struct rig *r)
{
	pressure_in(r, FL_SYSTEM_STALL);
}

/* rig_down() expects that no access used a stale translation. */
TEST("pages are taken away again and again during a transfer: no stale access")
{
	struct host_driver_params p = { 0 };

	rig_run(notifier_pressure);
	rig_run(stall_pressure);
	/* variants: tsan */
	rig_run_with(SIM_THREADS, &p, notifier_pressure, NULL);
	rig_run_with(SIM_THREADS, &p, stall_pressure, NULL);
}

/*
 * On Linux reclaim takes a page while the driver that asked for it still holds the
 * mmap lock: the invalidation runs in the middle of the driver's call.
 */
static void notifier_overtaken(struct rig *r)
{
	unsigned int n;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	for (n = 1; n <= LEN / RIG_PAGE; n += 5) {
		STEP("page %u of the destination goes before it is told of", n);
		EXPECT_EQ(host_madvise(r->n[1].process, r->n[1].buffer, LEN,
				       HOST_PAGEOUT), 0);
		host_inject_reclaim(n);
		rig_post(r, FL_OP_WRITE, 0, 0, LEN);
		EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
		EXPECT_EQ(host_inject_reclaim(0), 0);
		rig_same(r, LEN);
	}
}

TEST("a page is taken away before the driver hears that it came: it comes again")
{
	struct host_driver_params p = { .resolve = FL_IOC_RESOLVE_TRANSFER };

	rig_run(notifier_overtaken);
	rig_run_with(SIM_LOCKSTEP, &p, notifier_overtaken, NULL);
	rig_run_with(SIM_THREADS, &p, notifier_overtaken, NULL);
	p.system = FL_SYSTEM_STALL;
	rig_run_with(SIM_LOCKSTEP, &p, notifier_overtaken, NULL);
}
