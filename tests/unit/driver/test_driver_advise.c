// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pages that a program asks for beforehand: every answer that ibv_advise_mr has, on tables in
 * the card (a fake of its registers) and on the process's own; and all of the driver's side of
 * the card's tables at once, by threads that know nothing of each other.
 *
 * variants: tsan
 */
#include "rig/nic.h"

static long pages_advise(struct rig_node *n, uint32_t advice, uint32_t flags,
		   uint32_t page, uint32_t pages)
{
	struct fl_advise a = { .size = sizeof(a), .pd = n->pd, .key = n->key,
			       .advice = advice, .flags = flags,
			       .addr = (uintptr_t)nic_at(n, page),
			       .length = (uint64_t)pages * RIG_PAGE };

	return rig_ioctl(n, FL_IOC_ADVISE, &a);
}

static void advise_wrong(struct rig_node *n)
{
	struct fl_advise a = { .size = sizeof(a), .pd = n->pd, .key = n->key,
			       .addr = (uintptr_t)n->buffer, .length = RIG_PAGE,
			       .flags = FL_ADVISE_FLUSH }, b;
	struct fl_alloc_pd pd = { .size = sizeof(pd) };

	STEP("no such advice, flag, domain; no range, or one that wraps");
	b = a;
	b.advice = 3;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), -EINVAL);
	b = a;
	b.flags = 2;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), -EINVAL);
	b = a;
	b.reserved = 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), -EINVAL);
	b = a;
	b.pd = n->pd + 1000;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), -EINVAL);
	b = a;
	b.length = 0;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), -EINVAL);
	b.length = UINT64_MAX;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), -EINVAL);
	STEP("no such key");
	b = a;
	b.key ^= 1u << 25;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), -ENOENT);
	STEP("another domain; and one that may only be read");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), 0);
	b = a;
	b.pd = pd.pd;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), -EPERM);
	b = a;
	b.key = rig_reg_mr(n, n->buffer, 2 * RIG_PAGE, FL_ACC_REMOTE_READ, 0, 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), 0);
	b.advice = FL_ADVISE_PREFETCH_WRITE;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), -EPERM);
	STEP("outside the region, on either side");
	b = a;
	b.addr += RIG_BYTES - 1;
	b.length = 2;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), -EFAULT);
	b = a;
	b.addr -= 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ADVISE, &b), -EFAULT);
	STEP("in it, and not mapped; or not so");
	EXPECT_EQ(host_munmap(n->process, nic_at(n, 60), RIG_PAGE), 0);
	EXPECT_EQ(pages_advise(n, FL_ADVISE_PREFETCH, FL_ADVISE_FLUSH, 60, 1), -EFAULT);
	EXPECT_EQ(host_mprotect(n->process, nic_at(n, 61), RIG_PAGE, HOST_READ), 0);
	EXPECT_EQ(pages_advise(n, FL_ADVISE_PREFETCH, FL_ADVISE_FLUSH, 61, 1), 0);
	EXPECT_EQ(pages_advise(n, FL_ADVISE_PREFETCH_WRITE, FL_ADVISE_FLUSH, 61, 1),
		  -EFAULT);
	STEP("whether it is mapped nobody hears who does not wait");
	EXPECT_EQ(pages_advise(n, FL_ADVISE_PREFETCH, 0, 60, 1), 0);
	sim_sleep(100 * SLOW);
}

static void advise_card(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	struct fl_counters c;
	uint32_t i;

	STEP("what is there, and no page more");
	rig_fill(n, 3 * RIG_PAGE, 1);
	EXPECT_EQ(pages_advise(n, FL_ADVISE_NO_FAULT, FL_ADVISE_FLUSH, 1, 20), 0);
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(nic_has(n, i), i == 1 || i == 2);
	EXPECT_EQ(rig_counters(n).pages_in, 0);
	STEP("to be read: what the CPU has not written may only be read");
	EXPECT_EQ(pages_advise(n, FL_ADVISE_PREFETCH, FL_ADVISE_FLUSH, 1, 9), 0);
	EXPECT_EQ(nic_count(n), 9);
	nic_agrees(n);
	STEP("to be written");
	EXPECT_EQ(pages_advise(n, FL_ADVISE_PREFETCH_WRITE, FL_ADVISE_FLUSH, 1, 9), 0);
	for (i = 1; i < 10; i++)
		EXPECT_EQ(fake_entry(fake_object(n->key), nic_at(n, i)) &
			  FL_XP_WRITE, FL_XP_WRITE);
	STEP("without waiting: a worker does it");
	fake.load_ns = 10 * SLOW;
	EXPECT_EQ(pages_advise(n, FL_ADVISE_PREFETCH_WRITE, 0, 30, 8), 0);
	EXPECT(!nic_has(n, 30));
	sim_sleep(100 * SLOW);
	EXPECT_EQ(nic_count(n), 9 + 8);
	fake.load_ns = 0;
	c = rig_counters(n);
	EXPECT_EQ(c.advised, 20 + 9 + 9 + 8);
	EXPECT_EQ(c.faults, 0);
	STEP("many at once");
	for (i = 0; i < 40; i++)
		EXPECT_EQ(pages_advise(n, FL_ADVISE_PREFETCH_WRITE, 0, i, 1), 0);
	sim_sleep(100 * SLOW);
	EXPECT_EQ(nic_count(n), 40);
	STEP("the older call loads, too");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &(struct fl_prefetch){
		.size = sizeof(struct fl_prefetch), .key = n->key,
		.addr = (uintptr_t)nic_at(n, 50), .length = 2 * RIG_PAGE }), 0);
	EXPECT_EQ(nic_count(n), 42);
	advise_wrong(n);
	nic_end(n);
}

TEST("advice, and what is wrong with it, where the card has its own tables")
{
	nic_run(advise_card);
}

static void advise_process(struct rig *r)
{
	struct rig_node *n = &r->n[1];

	rig_qp_flags = 0;
	rig_open(n);
	rig_set_up(n, 0);
	EXPECT_EQ(pages_advise(n, FL_ADVISE_NO_FAULT, FL_ADVISE_FLUSH, 0, 4), 0);
	EXPECT(!mm_resident(host_process_mm(n->process), (uintptr_t)n->buffer));
	EXPECT_EQ(pages_advise(n, FL_ADVISE_PREFETCH_WRITE, FL_ADVISE_FLUSH, 0, 4), 0);
	EXPECT(mm_resident(host_process_mm(n->process), (uintptr_t)nic_at(n, 3)));
	EXPECT(!mm_resident(host_process_mm(n->process), (uintptr_t)nic_at(n, 4)));
	STEP("without waiting");
	EXPECT_EQ(pages_advise(n, FL_ADVISE_PREFETCH, 0, 8, 4), 0);
	sim_sleep(100 * SLOW);
	EXPECT(mm_resident(host_process_mm(n->process), (uintptr_t)nic_at(n, 11)));
	advise_wrong(n);
	EXPECT_EQ(fake.loads, 0);
	rig_close(n);
}

TEST("advice, and what is wrong with it, where the SMMU walks the process's tables")
{
	nic_run(advise_process);
}

/* A process that closes its file while workers do what it has asked for. */
static void advise_leaves(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	unsigned int i, k;

	fake.load_ns = SLOW;
	for (i = 0; i < 30; i++) {
		n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
		for (k = 0; k < 8; k++)
			EXPECT_EQ(pages_advise(n, FL_ADVISE_PREFETCH_WRITE, 0, k * 8, 8), 0);
		sim_sleep(i * SLOW / 3);
		rig_close(n);
		EXPECT_EQ(fake.pages, 0);
		sim_sleep(10 * SLOW);
		EXPECT_EQ(fake.pages, 0);
	}
	EXPECT_EQ(fake.bad, 0);
}

TEST("a process that leaves while workers follow its advice leaves nothing behind")
{
	nic_run(advise_leaves);
}

/* ---- all at once ---- */

static struct {
	struct rig *r;
	struct rig_node *n;
	uint32_t running;
} all;

static uint32_t all_draw(uint64_t *x, uint32_t below)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (uint32_t)(*x >> 33) % below;
}

/* What the kernel does to the process's pages. */
static void all_memory(void *arg)
{
	struct rig_node *n = all.n;
	uint64_t x = 77 + test_seed();
	uint32_t i, page, pages;

	(void)arg;
	for (i = 0; i < 400; i++) {
		page = all_draw(&x, PAGES - 8);
		pages = 1 + all_draw(&x, 8);
		switch (all_draw(&x, 4)) {
		case 0:
			host_madvise(n->process, nic_at(n, page), pages * RIG_PAGE,
				     HOST_DONTNEED);
			break;
		case 1:
			host_madvise(n->process, nic_at(n, page), pages * RIG_PAGE,
				     HOST_PAGEOUT);
			break;
		case 2:
			host_mprotect(n->process, nic_at(n, page),
				      pages * RIG_PAGE,
				      all_draw(&x, 2) ? HOST_READ :
							HOST_READ | HOST_WRITE);
			break;
		case 3:
			host_remap(n->process, nic_at(n, page), pages * RIG_PAGE,
				   HOST_READ | HOST_WRITE);
			break;
		}
		sim_sleep(all_draw(&x, 20000));
	}
	__atomic_sub_fetch(&all.running, 1, __ATOMIC_SEQ_CST);
}

/* Regions that come and go, pinned or not, and advice about them. */
static void all_regions(void *arg)
{
	struct rig_node n = *all.n;
	uint64_t x = 7 + test_seed();
	uint32_t i;

	(void)arg;
	for (i = 0; i < 100; i++) {
		struct fl_reg_mr m = { .size = sizeof(m), .pd = n.pd,
			.addr = (uintptr_t)nic_at(&n, all_draw(&x, PAGES / 2)),
			.length = (1 + all_draw(&x, 16)) * RIG_PAGE,
			.access = RIG_ALL,
			.flags = all_draw(&x, 3) ? 0 : FL_MR_PINNED };
		struct fl_destroy d = { .size = sizeof(d) };

		if (rig_ioctl(&n, FL_IOC_REG_MR, &m))
			continue;
		n.key = m.key;
		pages_advise(&n, all_draw(&x, 3), all_draw(&x, 2), all_draw(&x, PAGES / 2),
		       1 + all_draw(&x, 4));
		sim_sleep(all_draw(&x, 50000));
		d.object = m.key;
		EXPECT_EQ(rig_ioctl(&n, FL_IOC_DEREG_MR, &d), 0);
	}
	__atomic_sub_fetch(&all.running, 1, __ATOMIC_SEQ_CST);
}

static void all_reports(struct rig *r, struct rig_node *n)
{
	struct fl_fault_rec rec;
	uint64_t x = 1 + test_seed();
	uint32_t token = 0, i;

	while (__atomic_load_n(&all.running, __ATOMIC_SEQ_CST)) {
		rec = nic_rec(n, all_draw(&x, 2), all_draw(&x, PAGES - 4),
			      1 + all_draw(&x, 2 * RIG_PAGE));
		rec.kind = 1 + all_draw(&x, 3);
		rec.side = rec.kind != FL_FAULT_WQE;
		rec.left = all_draw(&x, 2) ? all_draw(&x, 16) * RIG_PAGE : 0;
		rec.before = all_draw(&x, 4);
		rec.after = all_draw(&x, 4);
		rec.token = ++token;
		if (token < FAKE_TOKENS / 2)
			EXPECT(fake_push(r, rec));
		fake_ring(r);
	}
	token = token < FAKE_TOKENS / 2 ? token : FAKE_TOKENS / 2 - 1;
	for (i = 1; i <= token; i++)
		while (fake_answer(i) < 0)
			sim_sleep(SLOW);
	STEP("%u reports answered, %u changes of the card's table", token, fake.loads);
}

static void all_at_once(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_TRANSFER);
	struct sim_thread *t[2];

	all.r = r;
	all.n = n;
	all.running = 2;
	t[0] = host_thread_start(n->process, "memory", all_memory, NULL);
	t[1] = host_thread_start(n->process, "regions", all_regions, NULL);
	all_reports(r, n);
	sim_thread_join(t[0]);
	sim_thread_join(t[1]);
	sim_sleep(100 * SLOW);
	/* With real threads a busy machine gets less done at once. */
	EXPECT_GE(rig_counters(n).loaded, sim_mode(r->sim) == SIM_LOCKSTEP ? 100 : 1);
	EXPECT_GE(rig_counters(n).zapped, sim_mode(r->sim) == SIM_LOCKSTEP ? 50 : 1);
	nic_end(n);
}

TEST("reports, advice, regions and reclaim at once: the card never has what the process has not")
{
	nic_run(all_at_once);
}

TEST("the same in threads")
{
	nic_run_in(SIM_THREADS, all_at_once);
}
