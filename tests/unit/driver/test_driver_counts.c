// SPDX-License-Identifier: BSD-2-Clause
/* What a kernel counts of the driver's work: interrupts, CPU time, copied bytes. */
#include "rig/driver.h"

#define LEN	(16 * RIG_PAGE)

static struct host_stats counts_now(struct rig_node *n)
{
	struct host_stats st;

	host_stats(n->kernel, &st);
	return st;
}

/* All pages of the destination go, then a WRITE brings them in again. */
static struct host_stats counts_of_write(struct rig *r, enum host_advice gone)
{
	struct rig_node *b = &r->n[1];
	struct host_stats before, after;
	int line;

	EXPECT_EQ(host_madvise(b->process, b->buffer, RIG_BYTES, gone), 0);
	before = counts_now(b);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	/* Workers and handlers come to their end. */
	sim_sleep(1000000);
	after = counts_now(b);
	for (line = 0; line < IRQ_LINES; line++)
		after.irqs[line] -= before.irqs[line];
	after.cpu_irq_ns -= before.cpu_irq_ns;
	after.cpu_work_ns -= before.cpu_work_ns;
	after.cpu_calls_ns -= before.cpu_calls_ns;
	after.page_ins -= before.page_ins;
	return after;
}

static void counts_work(struct rig *r)
{
	struct host_stats quick, slow, resident;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	quick = counts_of_write(r, HOST_DONTNEED);
	EXPECT_EQ(quick.page_ins, LEN / RIG_PAGE);
	EXPECT_GE(quick.irqs[IRQ_NIC_FAULT] + quick.irqs[IRQ_SMMU], 1);
	EXPECT_GE(quick.cpu_irq_ns, 1);
	EXPECT_GE(quick.cpu_work_ns, quick.page_ins * r->timing.v[T_MM_MINOR]);
	EXPECT_LE(quick.cpu_work_ns, 2 * quick.page_ins * r->timing.v[T_MM_MINOR]);
	STEP("a page costs 5 us more, and workers bring it in");
	r->timing.v[T_MM_MINOR] += 5000;
	slow = counts_of_write(r, HOST_DONTNEED);
	EXPECT_EQ(slow.page_ins, quick.page_ins);
	EXPECT_EQ(slow.cpu_work_ns, quick.cpu_work_ns + 5000 * slow.page_ins);
	EXPECT_EQ(slow.cpu_calls_ns, quick.cpu_calls_ns);
	STEP("nothing is missing: nobody works");
	resident = counts_of_write(r, HOST_POPULATE);
	EXPECT_EQ(resident.page_ins, 0);
	EXPECT_EQ(resident.cpu_work_ns, 0);
	EXPECT_EQ(resident.irqs[IRQ_SMMU] + resident.irqs[IRQ_NIC_FAULT], 0);
}

TEST("workers' time is what they spend on pages, and none without faults")
{
	rig_run(counts_work);
}

static void counts_storage(struct rig *r)
{
	struct host_stats st;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_fill(&r->n[1], LEN, 2);
	r->timing.v[T_MM_MAJOR] = 700000;
	st = counts_of_write(r, HOST_PAGEOUT);
	EXPECT_EQ(st.page_ins, LEN / RIG_PAGE);
	EXPECT_GE(st.cpu_work_ns, 1);
	EXPECT_LE(st.cpu_work_ns, 699999);
}

TEST("waiting for storage is no work")
{
	rig_run(counts_storage);
}

static void counts_lines(struct rig *r)
{
	uint64_t raised = trace_count(r->trace, EV_IRQ_RAISE), ran = 0;
	int line, i;

	rig_pair(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], LEN, 1);
	counts_of_write(r, HOST_DONTNEED);
	for (i = 0; i < 2; i++)
		for (line = 0; line < IRQ_LINES; line++)
			ran += counts_now(&r->n[i]).irqs[line];
	EXPECT_GE(counts_now(&r->n[1]).irqs[IRQ_SMMU], LEN / RIG_PAGE);
	EXPECT_GE(ran, trace_count(r->trace, EV_IRQ_RAISE) - raised);
}

TEST("each line that rises is served once at least, and stalls rise on the SMMU's")
{
	rig_run(counts_lines);
}

/* A register read is slow: the worker still looks at FSR when the WRITE has ended. */
static void counts_stalls(struct rig *r)
{
	struct fl_counters c;

	rig_pair(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], LEN, 1);
	r->timing.v[T_CPU_MMIO_READ] = 1000000;
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	c = rig_counters(&r->n[1]);
	EXPECT_EQ(c.faults, LEN / RIG_PAGE);
	EXPECT_EQ(c.stalls, c.faults);
}

TEST("who sees the end of a WRITE sees every stall of it counted")
{
	rig_run(counts_stalls);
}

static void counts_copies(struct rig *r)
{
	struct rig_node *a = &r->n[0];
	uint64_t before;

	rig_open(a);
	rig_set_up(a, 0);
	before = counts_now(a).bytes_copied;
	rig_fill(a, 5000, 1);
	EXPECT_EQ(counts_now(a).bytes_copied - before, 5000);
}

TEST("bytes that the kernel copies to a process are counted")
{
	rig_run(counts_copies);
}
