// SPDX-License-Identifier: BSD-2-Clause
/* System abort in the driver: an answer at once, the pages behind it, and resuming. */
#include "rig/driver.h"

#define LEN	16384u

static int abort_resume(struct rig_node *n)
{
	struct fl_resume_qp q = { .size = sizeof(q), .qp = n->qp };

	return (int)rig_ioctl(n, FL_IOC_RESUME_QP, &q);
}

static bool is_there(struct rig_node *n, uint32_t at)
{
	return mm_resident(host_process_mm(n->process),
			   (uintptr_t)n->buffer + at);
}

/* Its number in the trace; 0: there is none. */
static uint64_t first_of(struct rig *r, uint16_t event)
{
	static struct trace_record rec[65536];
	uint32_t i, n = trace_snapshot(r->trace, rec, 65536);

	for (i = 0; i < n && rec[i].event != event; i++)
		;
	return i < n ? rec[i].seq : 0;
}

static void write_body(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct fl_counters c;

	rig_pair(r, FL_SYSTEM_ABORT, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_FAULT_FAST);
	STEP("the answer came before the pages");
	EXPECT(first_of(r, EV_DRV_READY));
	sim_sleep(100000);
	EXPECT(first_of(r, EV_DRV_RESOLVE) > first_of(r, EV_DRV_READY));
	EXPECT(is_there(b, 0));
	EXPECT(is_there(b, LEN - 1));
	STEP("and there is no other answer when they have come");
	EXPECT_EQ(trace_count(r->trace, EV_DRV_READY), 1);
	c = rig_counters(b);
	EXPECT_EQ(c.faults_dst, 1);
	EXPECT_EQ(c.pages_in, LEN / RIG_PAGE);
	EXPECT_EQ(c.failed, 0);
	EXPECT_EQ(abort_resume(&r->n[0]), 0);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
}

TEST("a destination that is not there is answered at once, and brought in behind it")
{
	rig_run(write_body);
}

static void source_body(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_ABORT, FL_IOC_RESOLVE_BLOCK, 0);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_FAULT_FAST);
	sim_sleep(100000);
	EXPECT(is_there(&r->n[0], 0));
	EXPECT_EQ(rig_counters(&r->n[0]).faults_src, 1);
	STEP("another system: the card waits for the driver again");
	EXPECT_EQ(abort_resume(&r->n[0]), 0);
	EXPECT_EQ(rig_ioctl(&r->n[0], FL_IOC_POLICY, &(struct fl_policy){
			.size = sizeof(struct fl_policy),
			.system = FL_SYSTEM_PART,
			.resolve = FL_IOC_RESOLVE_BLOCK }), 0);
	EXPECT_EQ(rig_ioctl(&r->n[1], FL_IOC_POLICY, &(struct fl_policy){
			.size = sizeof(struct fl_policy),
			.system = FL_SYSTEM_PART,
			.resolve = FL_IOC_RESOLVE_BLOCK }), 0);
	rig_post(r, FL_OP_WRITE, 4 * LEN, 4 * LEN, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
}

TEST("a source that is not there ends the request; the row is the one of now")
{
	rig_run(source_body);
}

static void stuck_body(struct rig *r)
{
	struct rig_node *b = &r->n[1];

	rig_pair(r, FL_SYSTEM_ABORT, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], 4 * LEN, 1);
	EXPECT_EQ(host_munmap(b->process, b->buffer + LEN, LEN), 0);
	rig_post(r, FL_OP_WRITE, 0, LEN, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_FAULT_FAST);
	sim_sleep(100000);
	EXPECT_EQ(rig_counters(b).failed, 1);
	EXPECT_EQ(abort_resume(&r->n[0]), 0);
	STEP("beside it nothing is known to be wrong");
	rig_post(r, FL_OP_WRITE, 0, 2 * LEN, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_FAULT_FAST);
	sim_sleep(100000);
	EXPECT_EQ(abort_resume(&r->n[0]), 0);
	STEP("there, the worker answers, and the failure is for good");
	rig_post(r, FL_OP_WRITE, 0, LEN, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_REMOTE_FAULT);
	EXPECT_EQ(rig_counters(b).failed, 2);
	EXPECT_EQ(abort_resume(&r->n[0]), -EINVAL);
}

TEST("pages that could not be had: the next block for them ends with the true reason")
{
	rig_run(stuck_body);
}

/* Several blocks at once could not be had: none of them makes the driver forget another. */
static uint64_t stuck_gap_ns, stuck_work_ns;
static void stuck_all_body(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	unsigned int tries;
	int status;

	rig_pair(r, FL_SYSTEM_ABORT, FL_IOC_RESOLVE_BLOCK, 0);
	r->timing.v[T_IRQ_WORK] = stuck_work_ns;
	rig_fill(&r->n[0], 8 * LEN, 1);
	EXPECT_EQ(host_munmap(b->process, b->buffer, 8 * LEN), 0);
	for (tries = 0; tries < 10; tries++) {
		rig_post(r, FL_OP_WRITE, 0, 0, 8 * LEN);
		status = rig_wait(&r->n[0]);
		if (status != FL_ST_FAULT_FAST)
			break;
		sim_sleep(stuck_gap_ns);
		EXPECT_EQ(abort_resume(&r->n[0]), 0);
	}
	EXPECT_EQ(status, FL_ST_REMOTE_FAULT);
}

TEST("and so it is with several blocks, however soon the next attempt comes")
{
	for (stuck_work_ns = 1000; stuck_work_ns < 80000; stuck_work_ns *= 2)
		for (stuck_gap_ns = 1000; stuck_gap_ns < 300000; stuck_gap_ns *= 2)
			rig_run(stuck_all_body);
}

static void calls_body(struct rig *r)
{
	struct fl_resume_qp q = { .size = sizeof(q), .qp = 0xfffff };

	rig_pair(r, FL_SYSTEM_ABORT, FL_IOC_RESOLVE_BLOCK, 0);
	EXPECT_EQ(rig_ioctl(&r->n[0], FL_IOC_RESUME_QP, &q), -ENOENT);
	EXPECT_EQ(abort_resume(&r->n[0]), -EINVAL);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	STEP("under way");
	EXPECT_EQ(abort_resume(&r->n[0]), -EINVAL);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_FAULT_FAST);
	STEP("posted, and not yet flushed");
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_FLUSHED);
	EXPECT_EQ(abort_resume(&r->n[0]), 0);
	EXPECT_EQ(abort_resume(&r->n[0]), -EINVAL);
}

TEST("only what has halted is resumed, once")
{
	rig_run(calls_body);
}
