// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/*
 * A process that lives elsewhere: it attaches, faults, is asked to close pages
 * and is slow to do so. Its side is played by the test.
 */
#include "rig/host_remote.h"

static uint64_t bank_word(const struct remote *m, uint64_t frame)
{
	return *(const uint64_t *)(const void *)(m->mem + frame * PAGE);
}

static uint64_t frame_at_va(struct rig *r, unsigned int i, uint64_t va)
{
	struct host_mm *mm = rig_mm(r, i);

	return (host_translate(mm, va) - mm->bank_pa) / PAGE;
}

/* ---- beginning ---- */

TEST("an arena that is nowhere, not aligned or beyond the end is refused")
{
	static const uint64_t bad[] = { 0, ARENA + PAGE, ARENA + 0x100000,
					1ull << 47, 1ull << 63,
					(1ull << 47) - HOST_ARENA_BYTES +
						0x200000 };
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct host_process *p;
	unsigned int i;
	int error;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		STEP("arena at 0x%" PRIx64, bad[i]);
		EXPECT(!host_process_attach(r->k, "far", bad[i], &remote_ops,
					    NULL, &error));
		EXPECT_EQ(error, -EINVAL);
	}
	p = host_process_attach(r->k, "far", (1ull << 47) - HOST_ARENA_BYTES,
				&remote_ops, NULL, &error);
	EXPECT(p != NULL);
	EXPECT_STR(host_process_name(p), "far");
	host_process_exit(p);
	rig_check(r);
}

TEST("attached processes count as processes, and the last is one too many")
{
	struct host_process *p[HOST_PROCESSES];
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	unsigned int i;
	int error;

	for (i = 1; i < HOST_PROCESSES; i++) {
		p[i] = host_process_attach(r->k, "far", ARENA, &remote_ops,
					   NULL, &error);
		EXPECT(p[i] != NULL);
	}
	EXPECT(!host_process_attach(r->k, "far", ARENA, &remote_ops, NULL,
				    &error));
	EXPECT_EQ(error, -EAGAIN);
	for (i = 1; i < HOST_PROCESSES; i++)
		host_process_exit(p[i]);
	rig_check(r);
}

TEST("the bank is as it is described: frames, then the area of queues")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t pa;
	uint8_t *mem;

	EXPECT_EQ(m->bank.frames, 16);
	EXPECT_EQ(m->bank.queue_offset, 16 * PAGE);
	EXPECT_EQ(m->bank.bytes, 16 * PAGE + QUEUE_AREA_BYTES);
	EXPECT_EQ(lseek(m->bank.fd, 0, SEEK_END), (int64_t)m->bank.bytes);
	EXPECT_EQ(va_of(pointer_to(remote_map(m, 1))), ARENA);
	mem = mm_dma_alloc(rig_mm(r, 1), PAGE, &pa);
	EXPECT_EQ(host_bank_offset(m->p, mem), m->bank.queue_offset);
	EXPECT_EQ(host_bank_offset(m->p, rig_mm(r, 1)->bank_mem), ~0ull);
	EXPECT_EQ(host_bank_offset(m->p, mem + QUEUE_AREA_BYTES), ~0ull);
	EXPECT_EQ(host_bank_offset(m->p, NULL), ~0ull);
	host_dma_free(r->k, mem, PAGE, pa);
}

/* ---- faults ---- */

TEST("a fault brings a page in and opens it: the bank holds what was written")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 4), value = 0;

	EXPECT_EQ(remote_put(m, va + PAGE, 42), 0);
	EXPECT_EQ(m->opens, 1);
	EXPECT_EQ(m->va, va + PAGE);
	EXPECT_EQ(m->prot, RW);
	EXPECT_EQ(m->frame, frame_at_va(r, 1, va + PAGE));
	EXPECT_EQ(bank_word(m, m->frame), 42);
	EXPECT_EQ(mm_copy(rig_mm(r, 1), va + PAGE, &value, 8, false), 0);
	EXPECT_EQ(value, 42);
	EXPECT_EQ(cpu_prot(rig_mm(r, 1), va + PAGE), RW);
	EXPECT_EQ(rig_stats(r).cpu_faults, 1);
	rig_check(r);
}

TEST("pages that are there are opened in one run of neighbours")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 20);

	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), 20 * PAGE, HOST_POPULATE),
		  0);
	EXPECT_EQ(m->opens, 0);
	EXPECT_EQ(remote_put(m, va + 3 * PAGE, 1), 0);
	EXPECT_EQ(m->opens, 1);
	EXPECT_EQ(m->va, va);
	EXPECT_EQ(m->npages, 16);
	EXPECT_EQ(rig_stats(r).cpu_faults, 0);
	rig_check(r);
}

TEST("a clean page is open for reading, and after a write for both")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 1);

	EXPECT_EQ(remote_get(m, va), 0);
	EXPECT_EQ(m->prot, HOST_READ);
	EXPECT_EQ(remote_put(m, va, 7), 0);
	EXPECT_EQ(m->prot, RW);
	EXPECT_EQ(m->opens, 2);
	EXPECT_EQ(remote_get(m, va), 7);
	rig_check(r);
}

TEST("where the machine does not say, a fault on a readable page is a write")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 1);

	EXPECT_EQ(host_process_fault(m->p, va, -1), 0);
	EXPECT_EQ(m->prot, HOST_READ);
	EXPECT_EQ(host_process_fault(m->p, va, -1), 0);
	EXPECT_EQ(m->prot, RW);
}

TEST("where the machine does not say, a read-only page is opened again, but "
     "not for ever")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 1);
	int n;

	EXPECT_EQ(host_process_mprotect(m->p, pointer_to(va), PAGE, HOST_READ), 0);
	EXPECT_EQ(host_process_fault(m->p, va, -1), 0);
	STEP("the process has closed its view by itself, and reads again");
	EXPECT_EQ(host_process_fault(m->p, va, -1), 0);
	EXPECT_EQ(m->opens, 2);
	for (n = 0; n < 100 && !host_process_fault(m->p, va, -1); n++)
		;
	EXPECT_LE(n, 20);
	EXPECT_EQ(host_process_fault(m->p, va, -1), -EFAULT);
}

TEST("a fault on a page that the table says is open opens it again")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 1);

	EXPECT_EQ(remote_put(m, va, 5), 0);
	STEP("the process closes its view by itself");
	remote_page(m, va)->prot = 0;
	EXPECT_EQ(remote_get(m, va), 5);
	EXPECT_EQ(m->opens, 2);
	EXPECT_EQ(rig_stats(r).page_ins, 1);
	rig_check(r);
}

TEST("faults that cannot be repaired say so, and open nothing")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 2);

	EXPECT_EQ(remote_put(m, va, 1), 0);
	EXPECT_EQ(host_process_fault(m->p, 0, 0), -EFAULT);
	EXPECT_EQ(host_process_fault(m->p, ARENA - PAGE, 0), -EFAULT);
	EXPECT_EQ(host_process_fault(m->p, va + 2 * PAGE, 1), -EFAULT);
	EXPECT_EQ(host_process_fault(m->p, ~0ull, 1), -EFAULT);
	STEP("an address whose lower 48 bits are those of an open page");
	EXPECT_EQ(host_process_fault(m->p, va | 1ull << 48, 1), -EFAULT);
	EXPECT_EQ(host_process_fault(m->p, va | 1ull << 63, 0), -EFAULT);
	EXPECT_EQ(host_process_mprotect(m->p, pointer_to(va), PAGE, HOST_READ), 0);
	EXPECT_EQ(host_process_fault(m->p, va, 1), -EFAULT);
	host_inject_no_frames(r->k, 1);
	EXPECT_EQ(host_process_fault(m->p, va + PAGE, 1), -ENOMEM);
	EXPECT_EQ(m->opens, 1);
	rig_check(r);
}

TEST("calls of a process that lives elsewhere keep to its arena")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	const struct board_bell bell = { 1, 0 };
	void *low = pointer_to(0x10000);

	EXPECT_EQ(host_process_munmap(m->p, low, PAGE), -EINVAL);
	EXPECT_EQ(host_process_mprotect(m->p, low, PAGE, RW), -ENOMEM);
	EXPECT_EQ(host_process_madvise(m->p, low, PAGE, HOST_PAGEOUT), -ENOMEM);
	EXPECT_EQ(host_process_madvise(m->p, low, 1ull << 50, HOST_COLD), -EINVAL);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(~0ull << 12), PAGE,
				       HOST_COLD), -EINVAL);
	EXPECT_EQ(host_madvise(r->p[0], low, PAGE, HOST_COLD), -EINVAL);
	STEP("a doorbell that it does not have rings nowhere");
	EXPECT(!host_mmio_try_ring(m->p, low, &bell, 1));
	rig_check(r);
}

static void attach_act(void *arg)
{
	struct rig *r = arg;

	WANT(r, !host_current());
	host_act_for(r->p[1]);
	WANT(r, host_current() == r->p[1]);
	host_act_for(NULL);
	WANT(r, !host_current());
}

TEST("a kernel thread acts for a process, and then for nobody")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);

	remote_start(r, 1);
	r->thread[r->threads++] = sim_thread_start(r->sim, "acts", false,
						   attach_act, r);
	rig_run(r);
}

/* ---- closing ---- */

struct order {
	struct rig *r;
	uint64_t frame, tag, swap_outs, page_ins;
	bool mapped;
	unsigned int calls;
};

/* The last store of another CPU, just before the view closes. */
static void late_store(struct remote *m, uint64_t va, uint64_t npages)
{
	struct order *o = m->arg;
	struct host_mm *mm = m->rig->p[1]->mm;

	(void)npages;
	o->calls++;
	o->mapped = host_translate(mm, va) != 0;
	o->frame = (host_translate(mm, va) - mm->bank_pa) / PAGE;
	o->tag = dram_tag(mm->k->dram, host_translate(mm, va));
	o->swap_outs = atomic_load(&mm->k->count.swap_outs);
	*(uint64_t *)(void *)(m->mem + o->frame * PAGE) = 99;
}

TEST("a page is closed before its entry goes, is written and its frame is "
     "somebody else's")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 1, 16);
	struct remote *m = remote_start(r, 1);
	struct order o = { .r = r };
	struct heard h = HEARD;
	uint64_t va = remote_map(m, 2);

	EXPECT_EQ(mm_notifier_register(rig_mm(r, 1), &h.n), 0);
	EXPECT_EQ(remote_put(m, va, 1), 0);
	m->on_close = late_store;
	m->arg = &o;
	STEP("one frame: the second page takes it from the first");
	h.watch_pa = host_translate(rig_mm(r, 1), va);
	EXPECT_EQ(remote_put(m, va + PAGE, 2), 0);
	EXPECT_GE(o.calls, 1);
	EXPECT(o.mapped);
	EXPECT_EQ(o.swap_outs, 0);
	EXPECT_GE(h.calls, 1);
	EXPECT_EQ(h.tag, o.tag);
	EXPECT_EQ(frame_at_va(r, 1, va + PAGE), o.frame);
	EXPECT_EQ(remote_page(m, va)->prot, 0);
	m->on_close = NULL;
	EXPECT_EQ(remote_get(m, va), 99);
	mm_notifier_unregister(rig_mm(r, 1), &h.n);
	rig_check(r);
}

TEST("open pages of one mapping are closed in one call")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 40), i;

	for (i = 0; i < 40; i += 1 + (i == 20))
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), 40 * PAGE, HOST_PAGEOUT),
		  0);
	EXPECT_EQ(m->closes, 1);
	EXPECT_EQ(m->npages, 40);
	for (i = 0; i < 40; i += 1 + (i == 20))
		EXPECT_EQ(remote_get(m, va + i * PAGE), i);
	rig_check(r);
}

TEST("while the process does not close its pages nothing of them changes")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 4), start, end;
	int prot;

	EXPECT_EQ(remote_put(m, va, 1), 0);
	EXPECT_EQ(remote_put(m, va + PAGE, 2), 0);
	m->refuse = 100;
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), 4 * PAGE, HOST_PAGEOUT),
		  -EBUSY);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), 4 * PAGE, HOST_DONTNEED),
		  -EBUSY);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), 4 * PAGE, HOST_COLD),
		  -EBUSY);
	EXPECT_EQ(host_process_mprotect(m->p, pointer_to(va + PAGE), PAGE, HOST_READ),
		  -EBUSY);
	EXPECT_EQ(host_process_munmap(m->p, pointer_to(va + PAGE), PAGE), -EBUSY);
	rig_check(r);
	EXPECT_EQ(mm_lookup(rig_mm(r, 1), va, &start, &end, &prot), 0);
	EXPECT_EQ(start, va);
	EXPECT_EQ(prot, RW);
	EXPECT_EQ(remote_get(m, va), 1);
	EXPECT_EQ(remote_put(m, va + PAGE, 3), 0);
	EXPECT_EQ(rig_stats(r).evictions, 0);
	EXPECT_EQ(rig_stats(r).ages, 0);
	STEP("then it answers");
	m->refuse = 0;
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), 4 * PAGE, HOST_PAGEOUT),
		  0);
	EXPECT_EQ(remote_get(m, va + PAGE), 3);
	EXPECT_EQ(host_process_munmap(m->p, pointer_to(va + PAGE), PAGE), 0);
	rig_check(r);
}

/* ---- a slow process and the others ---- */

struct app {
	struct rig *r;
	uint8_t *m;
	struct remote *far;
	uint64_t pages;
	unsigned int asked;
};

static void write_and_read(struct app *a)
{
	uint64_t i, v;

	for (i = 0; i < a->pages; i++)
		WANT(a->r, !mm_copy(rig_mm(a->r, 0), va_of(a->m) + i * PAGE,
				    &i, 8, true));
	for (i = 0; i < a->pages; i++) {
		WANT(a->r, !mm_copy(rig_mm(a->r, 0), va_of(a->m) + i * PAGE,
				    &v, 8, false));
		WANT(a->r, v == i);
	}
}

static void others_go_on(void *arg)
{
	struct app *a = arg;

	write_and_read(a);
	a->asked = a->far->closes;
	STEP("after a while it is asked again, and answers");
	sim_sleep(SLOW_NS);
	a->far->refuse = 0;
	write_and_read(a);
}

TEST("a process that does not answer is left alone while others go on")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 256);
	struct remote *m = remote_start(r, 1);
	struct app a = { .r = r, .m = rig_map(r, 0, 60), .pages = 60,
			 .far = m };
	uint64_t va = remote_map(m, 5), i;

	for (i = 0; i < 5; i++)
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
	m->refuse = 1000;
	rig_thread(r, 0, others_go_on, &a);
	rig_run(r);
	EXPECT_GE(a.asked, 1);
	EXPECT_LE(a.asked, 2);
	EXPECT_GE(m->closes, a.asked + 1);
	EXPECT(!mm_resident(rig_mm(r, 1), va));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(remote_get(m, va + i * PAGE), i);
	rig_check(r);
}

static void wait_for_it(void *arg)
{
	struct app *a = arg;

	a->asked = (unsigned int)mm_fault(rig_mm(a->r, 0), va_of(a->m),
					  HOST_FAULT_WRITE);
}

TEST("when a slow process has all frames, others wait until it answers")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 256);
	struct remote *m = remote_start(r, 1);
	struct app a = { .r = r, .m = rig_map(r, 0, 1), .asked = 77 };
	uint64_t va = remote_map(m, 4), i;

	for (i = 0; i < 4; i++)
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
	m->refuse = 3;
	rig_thread(r, 0, wait_for_it, &a);
	rig_run(r);
	EXPECT_EQ(a.asked, 0);
	EXPECT_EQ(m->refuse, 0);
	EXPECT_GE(sim_now(r->sim), 3 * SLOW_NS);
}

TEST("when it never answers, others are told that there is no memory")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 256);
	struct remote *m = remote_start(r, 1);
	struct app a = { .r = r, .m = rig_map(r, 0, 1) };
	uint64_t va = remote_map(m, 4), i;

	for (i = 0; i < 4; i++)
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
	m->refuse = ~0u;
	rig_thread(r, 0, wait_for_it, &a);
	rig_run(r);
	EXPECT_EQ((int)a.asked, -ENOMEM);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(remote_get(m, va + i * PAGE), i);
}

/* ---- a process that answers, but just in time ---- */

#define SPREAD	40u
#define APART	17u		/* such pages are closed one by one */

struct late {
	struct remote *m;
	uint64_t va, longest_ns;
	int (*call)(struct late *l);
	int err;
	bool over;
};

static void closes_late(struct remote *m, uint64_t va, uint64_t npages)
{
	(void)m;
	(void)va;
	(void)npages;
	sim_sleep(SLOW_NS - 1000000);
}

static void attach_calls(void *arg)
{
	struct late *l = arg;

	l->err = l->call(l);
	l->over = true;
}

/* Somebody else has a look at that process. */
static void attach_looks(void *arg)
{
	struct late *l = arg;
	struct host_mm *mm = rig_mm(l->m->rig, 1);
	uint64_t from_ns, ns, start, end;
	int prot;

	while (!l->over) {
		from_ns = sim_now(l->m->rig->sim);
		mm_lookup(mm, l->va, &start, &end, &prot);
		ns = sim_now(l->m->rig->sim) - from_ns;
		if (ns > l->longest_ns)
			l->longest_ns = ns;
		sim_sleep(100000);
	}
}

static void far_thread(struct rig *r, void (*fn)(void *arg), void *arg)
{
	r->thread[r->threads++] = sim_thread_start(r->sim, "far", false, fn,
						   arg);
}

static void keeps_nobody(int (*call)(struct late *l))
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, SPREAD + 4, 256);
	struct remote *m = remote_start(r, 1);
	struct late l = { .m = m, .call = call };
	unsigned int i;

	l.va = remote_map(m, SPREAD * APART);
	for (i = 0; i < SPREAD; i++)
		EXPECT_EQ(remote_put(m, l.va + i * APART * PAGE, i), 0);
	m->on_close = closes_late;
	far_thread(r, attach_calls, &l);
	far_thread(r, attach_looks, &l);
	rig_run(r);
	EXPECT_EQ(l.err, 0);
	EXPECT_EQ(m->closes, SPREAD);
	EXPECT_LE(l.longest_ns, 5 * SLOW_NS);
}

#define SPREAD_BYTES (SPREAD * APART * PAGE)

static int attach_frees(struct late *l)
{
	return host_process_munmap(l->m->p, pointer_to(l->va), SPREAD_BYTES);
}

static int attach_protects(struct late *l)
{
	return host_process_mprotect(l->m->p, pointer_to(l->va), SPREAD_BYTES,
				     HOST_READ);
}

static int throws_away(struct late *l)
{
	return host_process_madvise(l->m->p, pointer_to(l->va), SPREAD_BYTES,
				    HOST_DONTNEED);
}

static int pages_out(struct late *l)
{
	return host_process_madvise(l->m->p, pointer_to(l->va), SPREAD_BYTES,
				    HOST_PAGEOUT);
}

TEST("who closes many pages slowly by its own wish keeps nobody waiting")
{
	STEP("unmap");
	keeps_nobody(attach_frees);
	STEP("protect");
	keeps_nobody(attach_protects);
	STEP("throw away");
	keeps_nobody(throws_away);
	STEP("page out");
	keeps_nobody(pages_out);
}
