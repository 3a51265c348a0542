// SPDX-License-Identifier: BSD-2-Clause
/*
 * A page fault that is answered without waiting, or not at all: then nothing has
 * happened, and the fault that may wait finds everything as it was.
 *
 * variants: tsan
 */
#include "rig/host_remote.h"

/* It is handed over: no page, no event, no count, no view. */
static void expect_nothing(struct remote *m, uint64_t va, int write)
{
	struct host_stats was = rig_stats(m->rig), is;
	unsigned int opens = m->opens;

	EXPECT_EQ(host_process_fault_try(m->p, va, write), -EAGAIN);
	is = rig_stats(m->rig);
	EXPECT_EQ(is.cpu_faults, was.cpu_faults);
	EXPECT_EQ(is.faults_failed, was.faults_failed);
	EXPECT_EQ(is.page_ins, was.page_ins);
	EXPECT_EQ(is.frames_free, was.frames_free);
	EXPECT_EQ(m->opens, opens);
	rig_check(m->rig);
}

TEST("an untouched page is brought in, opened and counted as ever")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 2);

	EXPECT_EQ(host_process_fault_try(m->p, va + 5, 1), 0);
	EXPECT_EQ(m->va, va);
	EXPECT_EQ(m->prot, RW);
	EXPECT_EQ(rig_stats(r).cpu_faults, 1);
	EXPECT_EQ(rig_stats(r).faults_minor, 1);
	EXPECT_EQ(rig_stats(r).page_ins, 1);
	STEP("it is the page of zeros that it should be, and keeps what it gets");
	EXPECT_EQ(remote_get(m, va), 0);
	EXPECT_EQ(remote_put(m, va, 9), 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(remote_get(m, va), 9);
	rig_check(r);
}

TEST("a page that was read is made writable, one that is open opened again")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 1);

	EXPECT_EQ(host_process_fault_try(m->p, va, 0), 0);
	EXPECT_EQ(m->prot, HOST_READ);
	EXPECT_EQ(host_process_fault_try(m->p, va, 1), 0);
	EXPECT_EQ(m->prot, RW);
	EXPECT_EQ(rig_stats(r).cpu_faults, 2);
	STEP("the process closes its view by itself: no event");
	remote_page(m, va)->prot = 0;
	EXPECT_EQ(host_process_fault_try(m->p, va, 1), 0);
	EXPECT_EQ(m->opens, 3);
	EXPECT_EQ(rig_stats(r).cpu_faults, 2);
	EXPECT_EQ(rig_stats(r).page_ins, 1);
	rig_check(r);
}

TEST("an aged page gets its access flag back")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 1);

	EXPECT_EQ(remote_put(m, va, 3), 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), PAGE, HOST_COLD), 0);
	EXPECT_EQ(host_process_fault_try(m->p, va, 0), 0);
	EXPECT_EQ(remote_get(m, va), 3);
	EXPECT_EQ(rig_stats(r).page_ins, 1);
	rig_check(r);
}

TEST("contents that lie in swap or in a file are waited for by others")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 1);
	char path[128];
	void *file;
	int error;

	EXPECT_EQ(remote_put(m, va, 4), 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), PAGE, HOST_PAGEOUT), 0);
	expect_nothing(m, va, 0);
	EXPECT_EQ(remote_get(m, va), 4);
	file = host_mmap(m->p, PAGE, RW, rig_file(path, PAGE), 0, &error);
	EXPECT_EQ(error, 0);
	expect_nothing(m, va_of(file), 1);
	EXPECT_EQ(host_process_fault(m->p, va_of(file), 1), 0);
	unlink(path);
}

TEST("contents in swap that is memory come at once where time is real")
{
	struct rig *r = rig_start(SIM_THREADS, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 2);

	EXPECT_EQ(remote_put(m, va, 4), 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(host_process_fault_try(m->p, va, 0), 0);
	EXPECT_EQ(m->prot, HOST_READ);
	EXPECT_EQ(remote_get(m, va), 4);
	EXPECT_EQ(rig_stats(r).faults_major, 1);
	EXPECT_EQ(rig_stats(r).swap_ins, 1);
	STEP("clean it goes without a write; written, its slot is free again");
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(rig_stats(r).swap_outs, 1);
	EXPECT_EQ(host_process_fault_try(m->p, va, 1), 0);
	EXPECT_EQ(remote_get(m, va), 4);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	rig_check(r);
}

static int swap_to_file(struct rig *r)
{
	const char *tmp = getenv("TMPDIR");

	swap_destroy(&r->k->swap);
	memset(&r->k->swap, 0, sizeof(r->k->swap));
	return swap_create(&r->k->swap, 16, tmp ? tmp : "/tmp");
}

TEST("contents in a swap file are waited for by others, whatever the mode")
{
	struct rig *r = rig_start(SIM_THREADS, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 1);

	EXPECT_EQ(swap_to_file(r), 0);
	EXPECT_EQ(remote_put(m, va, 4), 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), PAGE, HOST_PAGEOUT), 0);
	expect_nothing(m, va, 0);
	EXPECT_EQ(remote_get(m, va), 4);
}

TEST("of a process here the first page of a stretch is for who may allocate")
{
	struct rig *r = rig_start(SIM_THREADS, 1, 16, 16);
	struct host_mm *mm = host_process_mm(r->p[0]);
	int error;
	uint64_t va = va_of(host_mmap(r->p[0], 2 * PAGE, RW, NULL, 0, &error));

	EXPECT_EQ(mm_fault_cpu_try(mm, va, true), -EAGAIN);
	EXPECT_EQ(rig_stats(r).cpu_faults, 0);
	EXPECT_EQ(mm_fault_cpu(mm, va, true), 0);
	EXPECT_EQ(mm_fault_cpu_try(mm, va + PAGE, true), 0);
	EXPECT_EQ(rig_stats(r).cpu_faults, 2);
	rig_check(r);
}

TEST("what cannot be repaired is left to who may say so")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 1);

	EXPECT_EQ(remote_put(m, va, 1), 0);
	expect_nothing(m, 0, 0);
	expect_nothing(m, ARENA - PAGE, 0);
	expect_nothing(m, va + PAGE, 1);
	expect_nothing(m, ~0ull, 1);
	expect_nothing(m, va | 1ull << 48, 1);
	expect_nothing(m, va | 1ull << 63, 0);
	STEP("a kind of access that the machine does not tell");
	expect_nothing(m, va, -1);
	EXPECT_EQ(host_process_mprotect(m->p, pointer_to(va), PAGE, HOST_READ), 0);
	expect_nothing(m, va, 1);
}

TEST("no frame is taken from anybody, and none that is to fail is used up")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 6), i;

	host_inject_no_frames(r->k, 1);
	expect_nothing(m, va, 1);
	EXPECT_EQ(host_process_fault(m->p, va, 1), -ENOMEM);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(host_process_fault_try(m->p, va + i * PAGE, 1), 0);
	STEP("the fifth would have to take one away");
	expect_nothing(m, va + 4 * PAGE, 1);
	EXPECT_EQ(m->closes, 0);
	EXPECT_EQ(host_process_fault(m->p, va + 4 * PAGE, 1), 0);
	EXPECT_EQ(rig_stats(r).evictions, 1);
	rig_check(r);
}

TEST("who is at its own limit gets no page without waiting")
{
	struct rig *r = rig_start_limits(SIM_LOCKSTEP, 1, 16, 16, 2, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 3);

	EXPECT_EQ(host_process_fault_try(m->p, va, 1), 0);
	EXPECT_EQ(host_process_fault_try(m->p, va + PAGE, 1), 0);
	expect_nothing(m, va + 2 * PAGE, 1);
}

static void fault_in_close(struct remote *m, uint64_t va, uint64_t npages)
{
	(void)npages;
	EXPECT_EQ(host_process_fault_try(m->p, va, 1), -EAGAIN);
	EXPECT_EQ(host_process_fault_try(m->p, va + PAGE, 1), -EAGAIN);
}

TEST("while somebody else has the address space, nobody waits for it")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 16);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 2);

	EXPECT_EQ(remote_put(m, va, 1), 0);
	m->on_close = fault_in_close;
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(m->closes, 1);
	EXPECT_EQ(rig_stats(r).page_ins, 1);
	rig_check(r);
}

/* ---- at once ---- */

#define THREADS	3u
#define ROUNDS	300u

struct racer {
	struct remote *m;
	uint64_t va, pages;
	unsigned int number;
};

static void try_race(void *arg)
{
	struct racer *x = arg;
	unsigned int i;
	uint64_t va;
	int r;

	for (i = 0; i < ROUNDS; i++) {
		va = x->va + i * (x->number + 1) % x->pages * PAGE;
		if (x->number) {
			r = host_process_fault_try(x->m->p, va, i % 2);
			WANT(x->m->rig, !r || r == -EAGAIN);
			r = host_process_fault(x->m->p, va, 1);
			WANT(x->m->rig, !r);
		} else {
			host_process_madvise(x->m->p, pointer_to(va), PAGE,
					     i % 2 ? HOST_PAGEOUT : HOST_DONTNEED);
		}
	}
}

TEST("pages come and go under threads that wait and threads that do not")
{
	struct rig *r = rig_start(SIM_THREADS, 1, 8, 64);
	struct remote *m = remote_start(r, 1);
	struct racer x[THREADS];
	uint64_t va = remote_map(m, 12);
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		x[i] = (struct racer){ m, va, 12, i };
		r->thread[r->threads++] = sim_thread_start(r->sim, "racer",
							   false, try_race,
							   &x[i]);
	}
	rig_run(r);
	rig_check(r);
}
