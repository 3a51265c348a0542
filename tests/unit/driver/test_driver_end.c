// SPDX-License-Identifier: BSD-2-Clause
/*
 * The card stops, or a part of it stops working: what the driver must see to
 * when the firmware is silent, the SMMU does not synchronise, the machine stops.
 */
#include "rig/driver.h"

#define LEN (64u * 1024)

static uint64_t end_nic(struct rig_node *n, uint32_t off, unsigned int size)
{
	uint64_t v;

	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + off, size, &v), 0);
	return v;
}

static void refuses_all(struct rig_node *n)
{
	unsigned int i;

	for (i = 0; i < SMMU_CB_COUNT; i++)
		EXPECT_EQ(rig_smmu(n, SMMU_GR0_S2CR(i)),
			  2u << SMMU_GR0_S2CR_TYPE_SHIFT);
}

/* ---- the firmware is silent ---- */

static void no_event_queue(struct rig_node *n)
{
	EXPECT_EQ(end_nic(n, NIC_FW_BASE + NIC_FW_EQ_BASE, 8), 0);
	EXPECT_EQ(end_nic(n, NIC_FW_BASE + NIC_FW_EQ_SIZE, 4), 0);
}

static void leave_open(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
}

static void end_silent(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	uint64_t base = end_nic(n, NIC_FW_BASE + NIC_FW_EQ_BASE, 8);

	EXPECT(base);
	STEP("the firmware does not answer, and the driver goes");
	board_inject(n->board, BOARD_SILENT_FW);
	host_driver_remove(n->kernel);
	n->removed = true;
	no_event_queue(n);
	STEP("where the firmware may write when it wakes up is nobody else's");
	EXPECT_EQ(host_driver_probe(n->kernel, NULL), 0);
	n->removed = false;
	EXPECT_NE(end_nic(n, NIC_FW_BASE + NIC_FW_EQ_BASE, 8), base);
	board_inject(n->board, 0);
}

TEST("the event queue of a silent firmware is not given to others")
{
	struct host_driver_params p = { 0 };

	rig_run_with(SIM_LOCKSTEP, &p, leave_open, end_silent);
}

static void end_willing(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	uint64_t base = end_nic(n, NIC_FW_BASE + NIC_FW_EQ_BASE, 8);

	host_driver_remove(n->kernel);
	n->removed = true;
	no_event_queue(n);
	EXPECT_EQ(host_driver_probe(n->kernel, NULL), 0);
	n->removed = false;
	EXPECT_EQ(end_nic(n, NIC_FW_BASE + NIC_FW_EQ_BASE, 8), base);
}

TEST("that of one that answers is stopped first, and freed")
{
	struct host_driver_params p = { 0 };

	rig_run_with(SIM_LOCKSTEP, &p, leave_open, end_willing);
}

static void silent_row(struct rig_node *n, uint32_t system)
{
	struct fl_policy p = { .size = sizeof(p), .system = system,
			       .resolve = FL_IOC_RESOLVE_PAGE };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
}

static void silent_objects(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_create_counter c = { .size = sizeof(c) }, other = c;
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = RIG_QUEUE };
	struct fl_create_qp qp = { .size = sizeof(qp), .entries = RIG_QUEUE };
	struct fl_create_srq srq = { .size = sizeof(srq), .entries = RIG_QUEUE };
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct fl_destroy d = { .size = sizeof(d) };
	static const uint32_t rows[] = { FL_SYSTEM_DROP, FL_SYSTEM_ABORT, FL_SYSTEM_NETVM,
					 FL_SYSTEM_BACKUP };
	struct fl_policy p = { .size = sizeof(p), .resolve = FL_IOC_RESOLVE_PAGE };
	struct fl_query q = { .size = sizeof(q) };
	unsigned int i;

	rig_open(n);
	silent_row(n, FL_SYSTEM_NETVM);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_COUNTER, &c), 0);
	silent_row(n, FL_SYSTEM_NPF);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_CQ, &cq), 0);
	board_inject(n->board, BOARD_SILENT_FW);
	STEP("whatever is asked of the firmware ends, and has not been done");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_COUNTER, &other), -EIO);
	d.object = c.counter;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_COUNTER, &d), -EIO);
	srq.pd = qp.pd = pd.pd;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_SRQ, &srq), -EIO);
	qp.cq = qp.recv_cq = cq.cq;
	qp.flags = FL_QP_RC;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &qp), -EIO);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_CQ, &cq), -EIO);
	STEP("no row, of which the card must know, is taken");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p.system = rows[i];
		EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EIO);
		EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
		EXPECT_EQ(q.system, FL_SYSTEM_NPF);
	}
	STEP("it wakes up: nobody may write to its mailbox, which it may be reading");
	board_inject(n->board, 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_COUNTER, &other), -EIO);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_COUNTER, &d), -EIO);
}

static void silent_again(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_create_counter c = { .size = sizeof(c) };

	host_driver_remove(n->kernel);
	EXPECT_EQ(host_driver_probe(n->kernel, NULL), 0);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
	STEP("the next driver gives another slot than the one that the firmware still has");
	EXPECT_EQ(host_open(n->process, "faultline0"), -EBUSY);
	rig_open(n);
	silent_row(n, FL_SYSTEM_NETVM);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_COUNTER, &c), 0);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

TEST("objects of a silent firmware are neither made nor given back, nor is its slot")
{
	struct host_driver_params p = { .system = FL_SYSTEM_PART,
					.resolve = FL_IOC_RESOLVE_BLOCK };

	rig_run_with(SIM_LOCKSTEP, &p, silent_objects, silent_again);
}

/* ---- the TLB does not synchronise ---- */

/* b's pages go while the SMMU does not say that nobody uses them. */
static void end_lose(struct rig_node *b, uint32_t from, uint32_t len)
{
	board_inject(b->board, BOARD_NO_SYNC);
	EXPECT_EQ(host_madvise(b->process, b->buffer + from, len,
			       HOST_PAGEOUT), 0);
	board_inject(b->board, 0);
}

static void cut_off(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct host_process *other;
	struct fl_counters c;
	uint64_t then;
	int err;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	STEP("one synchronise does not end");
	end_lose(b, 0, RIG_PAGE);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_CUT_OFF), 1);
	EXPECT_EQ(rig_smmu(b, SMMU_GR0_S2CR(0)),
		  2u << SMMU_GR0_S2CR_TYPE_SHIFT);
	STEP("the file is over, and says why");
	EXPECT_EQ(rig_ioctl(b, FL_IOC_ALLOC_PD, &pd), -ENODEV);
	EXPECT_EQ(host_poll(b->process, b->fd, 1), 0);
	c = rig_counters(b);
	EXPECT_EQ(c.lost_syncs, 1);
	STEP("what changes next is not waited for");
	then = sim_now(r->sim);
	end_lose(b, RIG_PAGE, LEN);
	EXPECT_LE(sim_now(r->sim) - then, 100000000);
	EXPECT_EQ(rig_counters(b).lost_syncs, 1);
	STEP("nothing lands there any more, and nothing is brought in for it");
	c = rig_counters(b);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_REMOTE_FAULT);
	EXPECT_EQ(rig_counters(b).pages_in, c.pages_in);
	STEP("others can have the card, its bank too");
	rig_close(b);
	other = host_process_create(b->kernel, "other", &err);
	EXPECT(other);
	EXPECT_GE(host_open(other, "faultline0"), 0);
	host_process_exit(other);
	rig_open(b);
	rig_set_up(b, 0);
}

TEST("a TLB that does not synchronise costs its process the card")
{
	rig_run(cut_off);
}

#define SLOW_NS	50000000u

static void cut_held(struct rig *r)
{
	struct rig_node *b = &r->n[1];

	rig_pair(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_fill(b, LEN, 2);
	EXPECT_EQ(host_madvise(b->process, b->buffer, LEN, HOST_PAGEOUT), 0);
	EXPECT_EQ(host_madvise(b->process, b->buffer + LEN, LEN,
			       HOST_POPULATE), 0);
	r->timing.v[T_MM_MAJOR] = SLOW_NS;
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	while (!trace_count(r->trace, EV_DRV_WORK))
		sim_sleep(1000);
	STEP("another page goes while an access is held, and nothing synchronises");
	end_lose(b, LEN, RIG_PAGE);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_CUT_OFF), 1);
	EXPECT(!(rig_smmu(b, SMMU_CB_BASE(0) + SMMU_CB_FSR) &
		 SMMU_CB_FSR_SS));
	/* It took a second, in which the card told the sender to wait. */
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_REMOTE_FAULT);
	rig_close(b);
}

TEST("an access that is held then is ended, once")
{
	/* rig_down() expects that no RESUME was ignored. */
	rig_run(cut_held);
}

static void no_start(struct rig *r)
{
	struct rig_node *n = &r->n[0];

	board_inject(n->board, BOARD_NO_SYNC);
	EXPECT_EQ(host_open(n->process, "faultline0"), -EIO);
	board_inject(n->board, 0);
	EXPECT_EQ(board_open_slots(n->board), 0);
	EXPECT_EQ(rig_smmu(n, SMMU_GR0_SMR(0)) & SMMU_GR0_SMR_VALID, 0);
	refuses_all(n);
	rig_open(n);
	rig_set_up(n, 0);
}

TEST("nobody gets a bank whose TLB may hold another's translations")
{
	rig_run(no_start);
}

/* ---- the machine stops ---- */

static uint64_t end_translated(struct rig *r)
{
	return trace_count(r->trace, EV_SMMU_HIT) +
	       trace_count(r->trace, EV_SMMU_WALK);
}

static void is_off(struct rig_node *n)
{
	unsigned int i;

	EXPECT_EQ(end_nic(n, NIC_ENG_CTRL, 4), 0);
	EXPECT_EQ(end_nic(n, NIC_ENG_IRQ_ENABLE, 4), 0);
	EXPECT_EQ(end_nic(n, NIC_FW_BASE + NIC_FW_IRQ_ENABLE, 4), 0);
	no_event_queue(n);
	refuses_all(n);
	for (i = 0; i < SMMU_CB_COUNT; i++)
		EXPECT_EQ(rig_smmu(n, SMMU_CB_BASE(i) + SMMU_CB_SCTLR), 0);
	EXPECT_EQ(board_open_slots(n->board), 0);
}

/* Both ends stop at that moment of two transfers. */
static void stop_at(struct rig *r, uint32_t mode, uint64_t after_ns)
{
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	uint64_t before;
	int i;

	rig_pair(r, mode, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	rig_post(r, FL_OP_READ, LEN, LEN, LEN);
	sim_sleep(after_ns);
	STEP("mode %u, %u ns after posting", mode, (unsigned int)after_ns);
	for (i = 0; i < 2; i++)
		host_driver_shutdown(r->n[i].kernel);
	for (i = 0; i < 2; i++)
		is_off(&r->n[i]);
	STEP("no access comes after that");
	before = end_translated(r);
	sim_sleep(100000000);
	EXPECT_EQ(end_translated(r), before);
	for (i = 0; i < 2; i++) {
		is_off(&r->n[i]);
		EXPECT_EQ(rig_ioctl(&r->n[i], FL_IOC_ALLOC_PD, &pd), -ENODEV);
		EXPECT_EQ(host_open(r->n[i].process, "faultline0"), -ENODEV);
	}
}

static uint32_t stop_mode;
static uint64_t stop_ns;

static void stop_busy(struct rig *r)
{
	stop_at(r, stop_mode, stop_ns);
}

TEST("a machine that stops leaves a card that reaches nothing, in any state")
{
	static const uint64_t at[] = { 1000, 5000, 9000, 14000, 25000 };
	unsigned int i;

	for (stop_mode = 0; stop_mode < 2; stop_mode++)
		for (i = 0; i < sizeof(at) / sizeof(*at); i++) {
			stop_ns = at[i];
			rig_run(stop_busy);
		}
}

static void stop_held(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint64_t then;

	rig_pair(r, FL_SYSTEM_STALL, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_fill(b, LEN, 2);
	EXPECT_EQ(host_madvise(b->process, b->buffer, LEN, HOST_PAGEOUT), 0);
	r->timing.v[T_MM_MAJOR] = SLOW_NS;
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	while (!trace_count(r->trace, EV_DRV_WORK))
		sim_sleep(1000);
	STEP("a worker waits for a page that takes long");
	then = sim_now(r->sim);
	host_driver_shutdown(b->kernel);
	EXPECT_LE(sim_now(r->sim) - then, SLOW_NS / 10);
	is_off(b);
	EXPECT(!(rig_smmu(b, SMMU_CB_BASE(0) + SMMU_CB_FSR) &
		 SMMU_CB_FSR_SS));
	STEP("the page comes");
	r->timing.v[T_MM_MAJOR] = 0;
	sim_sleep(2 * SLOW_NS);
	is_off(b);
}

TEST("stopping does not wait for a page, and leaves no access held")
{
	rig_run(stop_held);
}

/* ---- the card is pulled out ---- */

static uint32_t unplugged_row;

static void unplugged_open(struct rig *r)
{
	struct rig_node *n = &r->n[1];

	rig_qp_flags = unplugged_row == FL_SYSTEM_NPF ? FL_QP_RC :
		       unplugged_row == FL_SYSTEM_NETVM ? FL_QP_NV : 0;
	rig_open(n);
	silent_row(n, unplugged_row);
	rig_set_up(n, 0);
	rig_fill(n, LEN, 1);
}

static void unplugged_look(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_prefetch p = { .size = sizeof(p), .key = n->key, .length = RIG_PAGE,
				 .addr = (uintptr_t)n->buffer };
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	uint64_t then;

	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &p), 0);
	STEP("every register reads as ones");
	board_unplug(n->board);
	then = sim_now(r->sim);
	EXPECT(rig_ioctl(n, FL_IOC_PREFETCH, &p) <= 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), -ENODEV);
	STEP("memory goes all the same, and nobody waits for a card that is not there");
	EXPECT_EQ(host_madvise(n->process, n->buffer, LEN, HOST_PAGEOUT), 0);
	EXPECT_LE(sim_now(r->sim) - then, 4000000000ull);
	EXPECT(!host_check(n->kernel, true));
	STEP("its driver goes, and no other comes");
	host_driver_remove(n->kernel);
	n->removed = true;
	EXPECT_EQ(host_driver_probe(n->kernel, NULL), -ENODEV);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

TEST("a card that is pulled out takes nobody's memory with it")
{
	static const uint32_t rows[] = { FL_SYSTEM_PART, FL_SYSTEM_NPF, FL_SYSTEM_NETVM };
	struct host_driver_params p = { .system = FL_SYSTEM_PART,
					.resolve = FL_IOC_RESOLVE_BLOCK };
	unsigned int i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unplugged_row = rows[i];
		STEP("row %u", rows[i]);
		rig_run_with(SIM_LOCKSTEP, &p, unplugged_open, unplugged_look);
	}
	rig_qp_flags = 0;
}
