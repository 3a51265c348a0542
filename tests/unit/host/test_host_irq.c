// SPDX-License-Identifier: BSD-2-Clause
/* Interrupts: lines and their handlers, and what the trace says of both. */
#include "board/board_internal.h"
#include "rig/host.h"

struct device {
	struct rig *r;
	atomic_uint causes;
	unsigned int runs;
	bool deaf;		/* the handler does nothing about the cause */
	uint64_t first_ns;
};

static void kernel_handler(void *arg)
{
	struct device *d = arg;

	if (!d->runs++)
		d->first_ns = sim_now(d->r->sim);
	if (!d->deaf && atomic_fetch_sub(&d->causes, 1) == 1)
		irq_set(d->r->board, IRQ_NIC_FAULT, false);
}

static void raise_line(void *arg)
{
	struct device *d = arg;

	sim_sleep(500);
	EXPECT(!host_irq_pending(d->r->k));
	irq_set(d->r->board, IRQ_NIC_FAULT, true);
	EXPECT(host_irq_pending(d->r->k));
	while (atomic_load(&d->causes))
		sim_sleep(1000);
	EXPECT(!host_irq_pending(d->r->k));
}

TEST("a handler runs again as long as its line is high, after the latency")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 8);
	struct device d = { .r = r, .causes = 3 };

	EXPECT_EQ(host_request_irq(r->k, IRQ_NIC_FAULT, kernel_handler, &d), 0);
	rig_thread(r, 0, raise_line, &d);
	rig_run(r);
	EXPECT_EQ(d.runs, 3);
	EXPECT_EQ(d.first_ns, 500 + r->timing.v[T_IRQ]);
	EXPECT_EQ(trace_count(r->trace, EV_IRQ_RAISE), 1);
	EXPECT_EQ(trace_count(r->trace, EV_IRQ_LOWER), 1);
}

static void lower_smmu(void *arg)
{
	irq_set(((struct rig *)arg)->board, IRQ_SMMU, false);
}

/* A fault, by a thread that has done something else before. */
static void raise_smmu(struct rig *r)
{
	struct trace_at at = { .board = 0 };

	host_trace_at()->cause = trace_emit(r->trace, EV_DRV_READY, &at, 0, 0, 0, 0);
	trace_emit(r->trace, EV_SMMU_FAULT, &at, 0, 0, 0, 0);
	irq_set(r->board, IRQ_SMMU, true);
}

static void raise_twice(void *arg)
{
	struct rig *r = arg;

	/* While it tells that the line is high, a handler elsewhere lowers it. */
	raise_smmu(r);
	lower_smmu(r);
	/* And now a handler does, perhaps on this thread. */
	EXPECT_EQ(host_request_irq(r->k, IRQ_SMMU, lower_smmu, r), 0);
	raise_smmu(r);
	while (!atomic_load(&r->k->count.irqs[IRQ_SMMU]))
		sim_sleep(1000);
	*host_trace_at() = (struct trace_at){ 0 };
}

static void expect_line_causes(struct rig *r)
{
	static struct trace_record rec[64];
	uint32_t n = trace_snapshot(r->trace, rec, 64), i;
	uint64_t fault = 0, raise = 0;
	unsigned int lowered = 0;

	for (i = 0; i < n; i++) {
		if (rec[i].event == EV_SMMU_FAULT)
			fault = rec[i].seq;
		if (rec[i].event == EV_IRQ_RAISE) {
			EXPECT_EQ(rec[i].cause, fault);
			raise = rec[i].seq;
		}
		if (rec[i].event == EV_IRQ_LOWER) {
			EXPECT_EQ(rec[i].cause, raise);
			lowered++;
		}
	}
	EXPECT_EQ(lowered, 2);
}

static void line_causes(enum sim_mode mode)
{
	struct rig *r = rig_start(mode, 1, 8, 8);

	rig_thread(r, 0, raise_twice, r);
	rig_run(r);
	expect_line_causes(r);
}

TEST("a line goes down because of its interrupt, whoever tells, and whatever that did before")
{
	line_causes(SIM_LOCKSTEP);
}

TEST("in threads mode, too, a line goes down because of its interrupt")
{
	line_causes(SIM_THREADS);
}

TEST("a handler runs in threads mode too")
{
	struct rig *r = rig_start(SIM_THREADS, 1, 8, 8);
	struct device d = { .r = r, .causes = 2 };

	EXPECT_EQ(host_request_irq(r->k, IRQ_NIC_FAULT, kernel_handler, &d), 0);
	rig_thread(r, 0, raise_line, &d);
	rig_run(r);
	host_free_irq(r->k, IRQ_NIC_FAULT);
	EXPECT_EQ(d.runs, 2);
}

static void kernel_endless(void *arg)
{
	struct device *d = arg;

	irq_set(d->r->board, IRQ_NIC_FAULT, true);
	while (!atomic_load(&d->r->k->irq_panic))
		sim_sleep(1000000);
}

/* A handler that waits for a lock, while another line rises. */
struct contended {
	struct rig *r;
	struct sim_mutex lock;
	atomic_uint smmu_runs, fault_runs;
};

static void takes_lock(void *arg)
{
	struct contended *c = arg;

	sim_mutex_lock(&c->lock);
	irq_set(c->r->board, IRQ_NIC_FAULT, false);
	atomic_fetch_add(&c->fault_runs, 1);
	sim_mutex_unlock(&c->lock);
}

static void serves_smmu(void *arg)
{
	struct contended *c = arg;

	irq_set(c->r->board, IRQ_SMMU, false);
	atomic_fetch_add(&c->smmu_runs, 1);
}

static void raises_both(void *arg)
{
	struct contended *c = arg;

	sim_mutex_lock(&c->lock);
	irq_set(c->r->board, IRQ_NIC_FAULT, true);
	while (!c->lock.waiters)
		sim_sleep(100);
	/* Lines are served in their order: the handler's turn for this one is over. */
	irq_set(c->r->board, IRQ_SMMU, true);
	sim_sleep(10000);
	sim_mutex_unlock(&c->lock);
	sim_sleep(100000);
}

TEST("a line that rises while another one's handler waits for a lock is served")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 8);
	struct contended c = { .r = r };

	sim_mutex_init(&c.lock);
	EXPECT_EQ(host_request_irq(r->k, IRQ_SMMU, serves_smmu, &c), 0);
	EXPECT_EQ(host_request_irq(r->k, IRQ_NIC_FAULT, takes_lock, &c), 0);
	rig_thread(r, 0, raises_both, &c);
	rig_run(r);
	EXPECT_EQ(atomic_load(&c.fault_runs), 1);
	EXPECT_EQ(atomic_load(&c.smmu_runs), 1);
}

TEST("a line that nobody lowers is masked and reported, not a hang")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 8);
	struct device d = { .r = r, .deaf = true };

	EXPECT_EQ(host_request_irq(r->k, IRQ_NIC_FAULT, kernel_handler, &d), 0);
	rig_thread(r, 0, kernel_endless, &d);
	EXPECT_EQ(sim_run(r->sim, 0, 0), SIM_FINISHED);
	EXPECT_EQ(d.runs, 100000);
	STEP("nobody waits for it any more");
	EXPECT(!host_irq_pending(r->k));
	EXPECT_STR(host_check(r->k, false),
		   "an interrupt line stayed high and was masked");
}

TEST("a line has one handler, and lines that are not there have none")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 8);
	struct device d = { .r = r };

	EXPECT_EQ(host_request_irq(r->k, IRQ_SMMU, kernel_handler, &d), 0);
	EXPECT_EQ(host_request_irq(r->k, IRQ_SMMU, kernel_handler, &d), -EBUSY);
	EXPECT_EQ(host_request_irq(r->k, IRQ_LINES, kernel_handler, &d),
		  -EINVAL);
	EXPECT_EQ(host_request_irq(r->k, IRQ_NIC_FAULT, NULL, &d), -EINVAL);
	host_free_irq(r->k, IRQ_SMMU);
	host_free_irq(r->k, IRQ_LINES);
	EXPECT_EQ(host_request_irq(r->k, IRQ_SMMU, kernel_handler, &d), 0);
}
