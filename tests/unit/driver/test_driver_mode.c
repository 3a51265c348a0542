// SPDX-License-Identifier: BSD-2-Clause
/* The mode changes while blocks are under way, or their reports are; quirks go with it. */
#include "rig/driver.h"

struct changing {
	struct rig_node *n;
	_Atomic bool stop;
	unsigned int changed;
};

static void mode_changes(void *arg)
{
	struct changing *c = arg;
	struct fl_policy p = { .size = sizeof(p), .resolve = FL_IOC_RESOLVE_PAGE };

	while (!c->stop) {
		p.system = !p.system;
		c->changed += !rig_ioctl(c->n, FL_IOC_POLICY, &p);
		sim_sleep(500);
	}
}

/* Each report is a fault, and each access that is held; none is both here. */
static void changing_mode(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct changing c = { .n = b };
	struct fl_counters n;
	struct sim_thread *t;
	unsigned int i;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], 65536, 1);
	t = host_thread_start(b->process, "mode", mode_changes, &c);
	for (i = 0; i < 100; i++) {
		EXPECT_EQ(host_madvise(b->process, b->buffer, 65536,
				       HOST_DONTNEED), 0);
		rig_post(r, FL_OP_WRITE, 0, 0, 65536);
		EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	}
	c.stop = true;
	sim_thread_join(t);
	n = rig_counters(b);
	STEP("%u changes, %u faults", c.changed, (unsigned int)n.faults);
	/* With real threads the modes may meet no fault, or just all of them. */
	if (sim_mode(r->sim) == SIM_LOCKSTEP) {
		EXPECT_GE(c.changed, 1);
		EXPECT_GE(n.stalls, 1);
		EXPECT_GE(n.faults, n.stalls + 1);
	}
	EXPECT_EQ(n.faults, n.stalls + trace_count(r->trace, EV_DRV_IRQ_FAULT));
}

/* Its blocks are killed before anybody heard of their faults: none is in flight. */
static void changed_before(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_STALL };
	struct fl_destroy d = { .size = sizeof(d) };

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], 16384, 1);
	r->timing.v[T_IRQ] = 1000000;
	rig_post(r, FL_OP_WRITE, 0, 0, 16384);
	while (!trace_count(r->trace, EV_ENG_FAULT))
		sim_sleep(1000);
	d.object = b->qp;
	EXPECT_EQ(rig_ioctl(b, FL_IOC_DESTROY_QP, &d), 0);
	EXPECT_EQ(rig_ioctl(b, FL_IOC_POLICY, &p), 0);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_IRQ_FAULT), 0);
	STEP("the mode is another one when the top half comes");
	sim_sleep(2000000);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_IRQ_FAULT), 1);
	EXPECT_EQ(rig_counters(b).faults, 1);
}

TEST("a fault is counted though the mode has changed when its report is read")
{
	rig_run(changed_before);
}

TEST("faults are counted once, whatever the mode becomes before they are answered")
{
	struct host_driver_params p = { 0 };

	rig_run(changing_mode);
	/* variants: tsan */
	rig_run_with(SIM_THREADS, &p, changing_mode, NULL);
}

static void policy_quirks(struct rig *r)
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_NPF,
			       .quirks = FL_QUIRKS_ALL + 1 };
	struct fl_query q = { .size = sizeof(q) };
	struct rig_node *n = &r->n[0];

	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EINVAL);
	p.quirks = FL_QUIRK_CUT | FL_QUIRK_CODE25;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
	EXPECT_EQ(q.quirks, FL_QUIRK_CUT | FL_QUIRK_CODE25);
	STEP("blocks wait for no RNR NAK, and the refusal changes nothing");
	p.system = FL_SYSTEM_PART;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EINVAL);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
	EXPECT_EQ(q.system, FL_SYSTEM_NPF);
	EXPECT_EQ(q.quirks, FL_QUIRK_CUT | FL_QUIRK_CODE25);
	p.quirks = 0;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
	EXPECT_EQ(q.quirks, 0);
}

TEST("quirks go with packets alone, and end with the policy")
{
	rig_run(policy_quirks);
}
