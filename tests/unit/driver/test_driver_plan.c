// SPDX-License-Identifier: BSD-2-Clause
// variants: tsan
/*
 * Plans in the driver: what a fault brings in, and that no plan makes one fail,
 * whatever it says.
 */
#include "rig/driver.h"
#include "rig/plan_nonsense.h"

#define RECORDS 131072u

static struct trace_record rec[RECORDS];

static void plan_set(struct rig_node *n, uint32_t resolve, uint32_t number)
{
	struct fl_policy p = { .size = sizeof(p), .resolve = resolve,
			       .number = number };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
}

static bool is_there(struct rig_node *n, unsigned int page)
{
	return mm_resident(host_process_mm(n->process),
			   (uintptr_t)n->buffer + page * RIG_PAGE);
}

static void write_page(struct rig *r, unsigned int page)
{
	rig_post(r, FL_OP_WRITE, 0, page * RIG_PAGE, RIG_PAGE);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
}

/* Pages [from, to) of b are there, and no other. */
static void there_are(struct rig *r, unsigned int from, unsigned int to)
{
	unsigned int i;

	for (i = 0; i < RIG_BYTES / RIG_PAGE; i++) {
		if (is_there(&r->n[1], i) != (i >= from && i < to))
			STEP("page %u", i);
		EXPECT_EQ(is_there(&r->n[1], i), i >= from && i < to);
	}
}

/* ---- what may be chosen ---- */

static void plan_numbers(struct rig *r)
{
	static const struct {
		uint32_t resolve, number;
		int want;
	} asked[] = {
		{ FL_IOC_RESOLVE_AROUND, 0, -EINVAL },
		{ FL_IOC_RESOLVE_AROUND, 1, 0 },
		{ FL_IOC_RESOLVE_AROUND, 256, 0 },
		{ FL_IOC_RESOLVE_AROUND, 257, -EINVAL },
		{ FL_IOC_RESOLVE_AROUND, 999999, -EINVAL },
		{ FL_IOC_RESOLVE_AROUND, UINT32_MAX, -EINVAL },
		{ FL_IOC_RESOLVE_PAGE, 4, -EINVAL },
		{ FL_IOC_RESOLVE_TRANSFER, 4, -EINVAL },
		{ FL_IOC_RESOLVE_HISTORY, 4, -EINVAL },
		{ FL_IOC_RESOLVE_HISTORY, 0, 0 },
	};
	struct rig_node *n = &r->n[0];
	size_t i;

	rig_open(n);
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct fl_policy p = { .size = sizeof(p),
				       .resolve = asked[i].resolve,
				       .number = asked[i].number };

		STEP("resolve %u, number %u", p.resolve, p.number);
		EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), asked[i].want);
	}
}

TEST("around takes 1 to 256 pages, and no other plan takes a number")
{
	rig_run(plan_numbers);
}

/* ---- around ---- */

static void around_both(struct rig *r)
{
	uint32_t n, i, last = 0, ready = 0;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	plan_set(&r->n[1], FL_IOC_RESOLVE_AROUND, 4);
	rig_fill(&r->n[0], RIG_PAGE, 1);
	write_page(r, 20);
	there_are(r, 16, 25);
	STEP("all of them before the card has its answer");
	n = trace_snapshot(r->trace, rec, RECORDS);
	for (i = 0; i < n; i++) {
		if (rec[i].event == EV_DRV_RESOLVE && rec[i].board == 1)
			last = i;
		if (rec[i].event == EV_DRV_READY && rec[i].board == 1)
			ready = i;
	}
	EXPECT_LE(last, ready);
	EXPECT_EQ(rig_counters(&r->n[1]).resolves, 3);
	EXPECT_EQ(host_pages_unused(r->n[1].kernel), 8);
	STEP("at the edges of the region");
	write_page(r, 1);
	EXPECT(is_there(&r->n[1], 0) && is_there(&r->n[1], 5));
	EXPECT(!is_there(&r->n[1], 6));
	write_page(r, RIG_BYTES / RIG_PAGE - 1);
	EXPECT_EQ(rig_counters(&r->n[1]).failed, 0);
}

TEST("around brings in pages on either side, before the card goes on")
{
	rig_run(around_both);
}

static void around_hole(struct rig *r)
{
	struct rig_node *b = &r->n[1];

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	plan_set(b, FL_IOC_RESOLVE_AROUND, 4);
	rig_fill(&r->n[0], RIG_PAGE, 1);
	STEP("pages before and behind cannot be had");
	EXPECT_EQ(host_munmap(b->process, b->buffer + 18 * RIG_PAGE,
			      RIG_PAGE), 0);
	EXPECT_EQ(host_mprotect(b->process, b->buffer + 22 * RIG_PAGE,
				RIG_PAGE, HOST_READ), 0);
	write_page(r, 20);
	EXPECT(is_there(b, 16) && is_there(b, 17) && is_there(b, 21));
	EXPECT(!is_there(b, 19) && !is_there(b, 23));
	EXPECT_EQ(rig_counters(b).failed, 0);
}

TEST("a page beside the block that cannot be had makes no fault fail")
{
	rig_run(around_hole);
}

/* ---- guesses ---- */

static void stride_learns(struct rig *r)
{
	unsigned int i;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_STRIDE, 0);
	rig_fill(&r->n[0], RIG_PAGE, 1);
	for (i = 0; i <= 45; i += 5) {
		write_page(r, i);
		/* The worker that brings in the guess. */
		sim_sleep(1000000);
	}
	STEP("0 5 10, and then where the guesses end: 25, and beyond the rest");
	EXPECT_EQ(rig_counters(&r->n[1]).faults, 4);
	EXPECT_EQ(rig_counters(&r->n[1]).spurious, 0);
}

TEST("stride spares the faults of a column")
{
	rig_run(stride_learns);
}

static void backwards_too(struct rig *r)
{
	int i;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_MAJORITY, 0);
	rig_fill(&r->n[0], RIG_PAGE, 1);
	for (i = 40; i >= 20; i--) {
		write_page(r, (unsigned int)i);
		sim_sleep(1000000);
	}
	STEP("40 39 38 37 36, then 33, 28 and 19");
	EXPECT_EQ(rig_counters(&r->n[1]).faults, 7);
}

TEST("guesses that lie side by side backwards all come")
{
	rig_run(backwards_too);
}

/* ---- a plan that comes with the board ---- */

struct asked {
	unsigned int n;
	struct fl_plan_fault fault;
	uint64_t before;	/* how often this state was seen */
};

static void asked_plan(void *arg, const struct fl_plan_fault *f,
		       struct fl_plan_state *s, struct fl_plan_bring *bring)
{
	struct asked *a = arg;

	a->n++;
	a->fault = *f;
	a->before = s->word[FL_PLAN_WORDS - 1]++;
	bring->now = f->block;
}

static struct asked asked;

static void own_is_asked(struct rig *r)
{
	uint64_t va;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_OWN, 0);
	va = (uintptr_t)r->n[1].buffer;
	rig_fill(&r->n[0], 65536, 1);
	STEP("three blocks: what the first one is asked with");
	r->timing.v[T_IRQ_WORK] = 1000000;
	rig_post(r, FL_OP_WRITE, 0, 4096 + 100, 3 * 16384);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	EXPECT_GE(asked.n, 3);
	EXPECT_EQ(asked.before + 1, asked.n);
	EXPECT_EQ(asked.fault.region.start, va);
	EXPECT_EQ(asked.fault.region.end, va + RIG_BYTES);
	EXPECT_EQ(asked.fault.write, 1);
	EXPECT_EQ(asked.fault.number, 0);
	EXPECT_GE(asked.fault.block.start, va + 4096);
	EXPECT_LE(asked.fault.block.end, va + 4096 + 4 * 16384);
	STEP("a READ is another direction: it has a state of its own");
	rig_post(r, FL_OP_READ, 0, 40 * RIG_PAGE, RIG_PAGE);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	EXPECT_EQ(asked.fault.write, 0);
	EXPECT_EQ(asked.before, 0);
	STEP("and the choice of a plan makes all of them new");
	plan_set(&r->n[1], FL_IOC_RESOLVE_OWN, 0);
	write_page(r, 50);
	EXPECT_EQ(asked.before, 0);
}

TEST("the board's own plan is asked with what there is, and keeps its state")
{
	static const struct fl_plan_own own = { asked_plan, &asked };
	struct host_driver_params p = { .resolve = FL_IOC_RESOLVE_OWN,
					.plan = &own };

	rig_run_with(SIM_LOCKSTEP, &p, own_is_asked, NULL);
}

static void nonsense_in(struct rig *r, uint32_t policy)
{
	struct rig_node *b = &r->n[1];
	unsigned int round;

	rig_pair(r, policy, FL_IOC_RESOLVE_OWN, 0);
	for (round = 0; round < 8; round++) {
		rig_fill(&r->n[0], RIG_BYTES, (uint8_t)round);
		EXPECT_EQ(host_madvise(b->process, b->buffer, RIG_BYTES,
				       round % 2 ? HOST_PAGEOUT :
						   HOST_DONTNEED), 0);
		rig_post(r, FL_OP_WRITE, 0, 0, RIG_BYTES);
		EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
		rig_same(r, RIG_BYTES);
		EXPECT_EQ(host_madvise(b->process, b->buffer, RIG_BYTES,
				       HOST_PAGEOUT), 0);
		rig_post(r, FL_OP_READ, 0, 0, RIG_BYTES);
		EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
		rig_same(r, RIG_BYTES);
	}
	EXPECT_EQ(rig_counters(b).failed, 0);
}

static void nonsense_part(struct rig *r)
{
	nonsense_in(r, FL_SYSTEM_PART);
}

static void nonsense_stall(struct rig *r)
{
	nonsense_in(r, FL_SYSTEM_STALL);
}

TEST("a plan that says anything at all wastes, and breaks nothing")
{
	struct host_driver_params p = { .resolve = FL_IOC_RESOLVE_OWN,
					.plan = &nonsense_own };

	rig_run_with(SIM_LOCKSTEP, &p, nonsense_part, NULL);
	rig_run_with(SIM_LOCKSTEP, &p, nonsense_stall, NULL);
	rig_run_with(SIM_THREADS, &p, nonsense_part, NULL);
	rig_run_with(SIM_THREADS, &p, nonsense_stall, NULL);
	STEP("with less memory than the buffer");
	rig_run_in(40, SIM_LOCKSTEP, &p, nonsense_part, NULL);
	rig_run_in(40, SIM_THREADS, &p, nonsense_part, NULL);
}
