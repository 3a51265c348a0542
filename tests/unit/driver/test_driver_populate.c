// SPDX-License-Identifier: BSD-2-Clause
/* Asking the kernel for pages: in what order, for how many, and who waits. */
#include "rig/driver.h"

#define LEN	(64u * 1024)
#define PAGES	(LEN / RIG_PAGE)

/* The process itself writes to the pages, between the fault and the worker. */
static void overtaken_by_cpu(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	int tries = 0;
	uint64_t va;
	uint32_t i;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	va = (uintptr_t)b->buffer;
	rig_fill(&r->n[0], LEN, 1);
	r->timing.v[T_IRQ_WORK] = 10000000;
	rig_post(r, FL_OP_WRITE, 0, 0, 4 * RIG_PAGE);
	while (!trace_count(r->trace, EV_DRV_IRQ_FAULT)) {
		sim_sleep(1000);
		EXPECT(tries++ < 10000);
	}
	EXPECT_EQ(trace_count(r->trace, EV_DRV_WORK), 0);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(mm_fault(host_process_mm(b->process),
				   va + i * RIG_PAGE, HOST_FAULT_WRITE), 0);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, 4 * RIG_PAGE);
	EXPECT_EQ(rig_counters(b).faults, 1);
	EXPECT_EQ(rig_counters(b).pages_in, 0);
	EXPECT_EQ(rig_counters(b).spurious, 1);
}

TEST("a fault whose pages the card may use by now is counted as spurious")
{
	rig_run(overtaken_by_cpu);
}

/* What was asked of board b's kernel for its first fault, in pages. */
static uint32_t populate_requests(struct rig *r, uint64_t pages[2])
{
	static struct trace_record rec[65536];
	uint32_t n = trace_snapshot(r->trace, rec, 65536), i, k = 0, block = 0;

	for (i = 0; i < n; i++) {
		if (rec[i].event != EV_DRV_RESOLVE || rec[i].board != 1 ||
		    (k && rec[i].block != block))
			continue;
		EXPECT_LE(k, 1);
		block = rec[i].block;
		pages[k++] = rec[i].arg[1];
	}
	return k;
}

#define FEW	18u	/* frames, of which the transfer takes PAGES */

static void scarce_body(struct rig *r)
{
	uint64_t pages[2];

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_EQ(populate_requests(r, pages), 2);
	STEP("first the block, then less than what is free");
	EXPECT_EQ(pages[0], 4);
	EXPECT_GE(pages[1], 1);
	EXPECT_LE(pages[1], PAGES - 4 - 1);
}

static void plenty_body(struct rig *r)
{
	uint64_t pages[2];

	rig_pair(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_TRANSFER, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	EXPECT_EQ(populate_requests(r, pages), 2);
	EXPECT_EQ(pages[0], 4);
	EXPECT_EQ(pages[1], PAGES - 4);
}

TEST("touching ahead comes after the block, and takes only what is free")
{
	struct host_driver_params p = { 0 };

	rig_run(plenty_body);
	rig_run_in(FEW, SIM_LOCKSTEP, &p, scarce_body, NULL);
}

static void ahead_fails(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint64_t pages[2];

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER, 0);
	rig_fill(&r->n[0], LEN, 1);
	STEP("the first block is not mapped, the rest of the transfer is");
	EXPECT_EQ(host_munmap(b->process, b->buffer, 4 * RIG_PAGE), 0);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_REMOTE_FAULT);
	EXPECT_EQ(populate_requests(r, pages), 1);
	EXPECT_EQ(pages[0], 4);
}

TEST("nothing is touched ahead for a block that cannot be had")
{
	rig_run(ahead_fails);
}

/* ---- prefetch ---- */

struct prefetch {
	struct rig *r;
	uint64_t done_ns;
};

static void prefetch_all(void *arg)
{
	struct prefetch *f = arg;
	struct rig_node *n = &f->r->n[1];
	struct fl_prefetch p = { .size = sizeof(p), .length = RIG_BYTES,
				 .flags = FL_PREFETCH_WRITE, .key = n->key,
				 .addr = (uintptr_t)n->buffer };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &p), 0);
	f->done_ns = sim_now(f->r->sim);
}

#define SLOW_NS	1000000u	/* a page */

static void others_go_on(struct rig *r)
{
	struct prefetch f = { .r = r };
	struct rig_node *b = &r->n[1];
	struct sim_thread *t;
	uint64_t begin;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	r->timing.v[T_MM_MINOR] = SLOW_NS;
	begin = sim_now(r->sim);
	t = host_thread_start(b->process, "prefetch", prefetch_all, &f);
	sim_sleep(2 * SLOW_NS);
	STEP("another thread of the process asks the driver something");
	EXPECT_EQ(rig_counters(b).pinned_pages, 0);
	EXPECT(!f.done_ns);
	EXPECT_LE(sim_now(r->sim) - begin, 4 * SLOW_NS);
	STEP("a region is taken away that the prefetch began in");
	EXPECT_EQ(rig_ioctl(b, FL_IOC_DEREG_MR,
			    &(struct fl_destroy){ sizeof(struct fl_destroy),
						  b->key }), 0);
	EXPECT(!f.done_ns);
	sim_thread_join(t);
	EXPECT_GE(f.done_ns - begin, RIG_BYTES / RIG_PAGE / 2 * SLOW_NS);
	EXPECT_EQ(rig_counters(b).pages_in, RIG_BYTES / RIG_PAGE);
}

TEST("a prefetch does not keep the process's other calls waiting")
{
	rig_run(others_go_on);
}
