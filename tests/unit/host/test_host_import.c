// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/*
 * Memory that a process elsewhere had before it came: imported where it is, page
 * by page used as any other, and released again.
 */
#include <sys/resource.h>

#include "rig/host_remote.h"

#define HEAP	0x555500000000ull	/* where malloc put it, say */
#define FAR	0x200000000000ull	/* behind it nothing is used */

static uint64_t *bank_page(struct remote *m, uint64_t frame)
{
	EXPECT_LE(frame, m->bank.frames - 1);
	return (uint64_t *)(void *)(m->mem + frame * PAGE);
}

/* The whole way in: page i holds value + i. */
static void import_pages(struct remote *m, uint64_t va, uint64_t n,
			 uint64_t value, bool keep)
{
	uint32_t frame[64];
	uint64_t i;

	EXPECT_EQ(host_import(m->p, va, n, RW, 0, frame), 0);
	for (i = 0; i < n; i++) {
		bank_page(m, frame[i])[0] = value + i;
		remote_see(m, va + i * PAGE, frame[i], RW);
	}
	EXPECT_EQ(host_imported(m->p, va, n, keep), 0);
}

static bool import_lookup(struct rig *r, uint64_t va, uint64_t *start,
			  uint64_t *end)
{
	int prot;

	return !mm_lookup(rig_mm(r, 1), va, start, end, &prot);
}

TEST("imported memory keeps what the process put there, goes to swap and comes "
     "back")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t start, end, i, value;

	import_pages(m, HEAP, 4, 100, false);
	rig_check(r);
	EXPECT(import_lookup(r, HEAP + PAGE, &start, &end));
	EXPECT_EQ(start, HEAP);
	EXPECT_EQ(end, HEAP + 4 * PAGE);
	STEP("the device and the kernel find it at the process's own address");
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(mm_copy(rig_mm(r, 1), HEAP + i * PAGE, &value, 8,
				  false), 0);
		EXPECT_EQ(value, 100 + i);
		EXPECT_EQ(cpu_prot(rig_mm(r, 1), HEAP + i * PAGE), RW);
	}
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), 4 * PAGE, HOST_PAGEOUT),
		  0);
	EXPECT_EQ(m->closes, 1);
	EXPECT_EQ(m->va, HEAP);
	EXPECT_EQ(m->npages, 4);
	EXPECT_EQ(rig_stats(r).swap_outs, 4);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(remote_get(m, HEAP + i * PAGE), 100 + i);
	rig_check(r);
}

TEST("imported memory is evicted under pressure like any other")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 16), i;

	import_pages(m, HEAP, 6, 100, false);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(remote_get(m, HEAP + i * PAGE), 100 + i);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(remote_get(m, va + i * PAGE), i);
	rig_check(r);
}

TEST("closing never covers memory that is not the board's")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t hole = HEAP + 2 * PAGE;

	import_pages(m, HEAP, 2, 1, false);
	import_pages(m, hole + PAGE, 2, 3, false);
	STEP("evicted as one run of the table, with a hole in it");
	sim_mutex_lock(&rig_mm(r, 1)->lock);
	EXPECT_EQ(evict_range(rig_mm(r, 1), HEAP, 5), 0);
	sim_mutex_unlock(&rig_mm(r, 1)->lock);
	EXPECT_EQ(m->closes, 2);
	EXPECT_EQ(m->va, hole + PAGE);
	EXPECT_EQ(m->npages, 2);
	EXPECT_EQ(remote_get(m, HEAP + PAGE), 2);
	EXPECT_EQ(remote_get(m, hole + 2 * PAGE), 4);
	rig_check(r);
}

TEST("neighbours with the same rights become one mapping, others do not")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t start, end;
	uint32_t frame[2];

	import_pages(m, HEAP, 2, 0, false);
	import_pages(m, HEAP + 4 * PAGE, 2, 0, false);
	import_pages(m, HEAP + 2 * PAGE, 2, 0, false);
	EXPECT_EQ(host_import(m->p, HEAP + 6 * PAGE, 2, HOST_READ, 0, frame), 0);
	EXPECT_EQ(host_imported(m->p, HEAP + 6 * PAGE, 2, false), 0);
	EXPECT(import_lookup(r, HEAP, &start, &end));
	EXPECT_EQ(start, HEAP);
	EXPECT_EQ(end, HEAP + 6 * PAGE);
	EXPECT_EQ(host_process_fault(m->p, HEAP + 6 * PAGE, 1), -EFAULT);
	EXPECT_EQ(host_process_fault(m->p, HEAP + 6 * PAGE, 0), 0);
	rig_check(r);
}

struct joining {
	struct rig *r;
	struct remote *m;
	bool held, imported;
};

/* As the driver does: what it has looked up is true until it gives the lock back. */
static void import_looker(void *arg)
{
	struct joining *j = arg;
	struct host_mm *mm = rig_mm(j->r, 1);
	uint64_t start, end;

	mm_maps_read(mm);
	j->held = true;
	EXPECT(import_lookup(j->r, HEAP, &start, &end));
	EXPECT_EQ(end, HEAP + 2 * PAGE);
	sim_sleep(100000);
	EXPECT(!j->imported);
	EXPECT(import_lookup(j->r, HEAP + 2 * PAGE, &start, &end));
	EXPECT_EQ(start, HEAP + 2 * PAGE);
	mm_maps_end(mm);
}

static void import_joiner(void *arg)
{
	struct joining *j = arg;
	uint64_t start, end;

	sim_sleep(1000);
	EXPECT(j->held);
	EXPECT_EQ(host_imported(j->m->p, HEAP + 2 * PAGE, 2, false), 0);
	j->imported = true;
	EXPECT(import_lookup(j->r, HEAP, &start, &end));
	EXPECT_EQ(end, HEAP + 4 * PAGE);
}

TEST("neighbours become one mapping only when nobody holds the mmap lock")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct joining j = { .r = r, .m = remote_start(r, 1) };
	uint32_t frame[2];

	import_pages(j.m, HEAP, 2, 0, false);
	EXPECT_EQ(host_import(j.m->p, HEAP + 2 * PAGE, 2, RW, 0, frame), 0);
	rig_thread(r, 0, import_looker, &j);
	rig_thread(r, 0, import_joiner, &j);
	rig_run(r);
	EXPECT(j.imported);
	rig_check(r);
}

TEST("until it is imported a page stays, and a fault on it opens nothing")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 4), i;
	uint32_t frame[2];

	EXPECT_EQ(host_import(m->p, HEAP, 2, RW, 0, frame), 0);
	EXPECT_NE(frame[0], frame[1]);
	EXPECT_EQ(rig_stats(r).frames_pinned, 2);
	EXPECT_EQ(host_process_fault(m->p, HEAP, 1), 0);
	EXPECT_EQ(m->opens, 0);
	EXPECT_EQ(cpu_prot(rig_mm(r, 1), HEAP), 0);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), 2 * PAGE, HOST_PAGEOUT),
		  0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), 2 * PAGE, HOST_COLD),
		  0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), 2 * PAGE,
				       HOST_DONTNEED), -EBUSY);
	EXPECT_EQ(host_process_mprotect(m->p, pointer_to(HEAP), 2 * PAGE, HOST_READ),
		  -EBUSY);
	EXPECT(mm_resident(rig_mm(r, 1), HEAP));
	EXPECT(mm_resident(rig_mm(r, 1), HEAP + PAGE));
	rig_check(r);
	EXPECT_EQ(host_imported(m->p, HEAP, 2, false), 0);
	EXPECT_EQ(rig_stats(r).frames_pinned, 0);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(remote_get(m, va + i * PAGE), i);
	EXPECT(!mm_resident(rig_mm(r, 1), HEAP));
	rig_check(r);
}

TEST("an import that could not be done is forgotten")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t start, end;
	uint32_t frame[3];

	EXPECT_EQ(host_import(m->p, HEAP, 3, RW, 0, frame), 0);
	EXPECT_EQ(host_returned(m->p, HEAP, 3), 0);
	EXPECT(!import_lookup(r, HEAP, &start, &end));
	EXPECT_EQ(rig_stats(r).frames_free, 16);
	EXPECT_EQ(m->closes, 0);
	rig_check(r);
	import_pages(m, HEAP, 3, 5, false);
}

TEST("kept pages stay for ever, are used, and go silently with the process")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 8), i;

	import_pages(m, HEAP, 2, 50, true);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), 2 * PAGE, HOST_PAGEOUT),
		  0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), 2 * PAGE,
				       HOST_DONTNEED), -EBUSY);
	EXPECT(mm_resident(rig_mm(r, 1), HEAP));
	EXPECT(mm_resident(rig_mm(r, 1), HEAP + PAGE));
	EXPECT_EQ(rig_stats(r).frames_pinned, 2);
	STEP("its view closed by the process itself, a kept page is opened");
	remote_page(m, HEAP)->prot = 0;
	EXPECT_EQ(remote_get(m, HEAP), 50);
	EXPECT_GE(m->opens, 1);
	rig_check(r);
	remote_exit(m);
	EXPECT_EQ(trace_count(r->trace, EV_SIM_VIOLATION), 0);
	EXPECT_EQ(rig_stats(r).frames_free, 4);
}

/* ---- out ---- */

TEST("released memory is made present, stays to be copied, and is forgotten")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t start, end, i;
	uint32_t frame[2];

	import_pages(m, HEAP, 6, 100, false);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), 6 * PAGE, HOST_PAGEOUT),
		  0);
	STEP("two pages out of the middle");
	EXPECT_EQ(host_return(m->p, HEAP + 2 * PAGE, 2, frame), 0);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(bank_page(m, frame[i])[0], 102 + i);
	EXPECT_EQ(host_process_fault(m->p, HEAP + 2 * PAGE, 1), 0);
	EXPECT_EQ(m->opens, 0);
	EXPECT_EQ(host_return(m->p, HEAP + 3 * PAGE, 1, frame), -EBUSY);
	rig_check(r);
	i = m->closes;
	EXPECT_EQ(host_returned(m->p, HEAP + 2 * PAGE, 2), 0);
	EXPECT_EQ(m->closes, i);
	EXPECT(!import_lookup(r, HEAP + 2 * PAGE, &start, &end));
	EXPECT(import_lookup(r, HEAP, &start, &end));
	EXPECT_EQ(end, HEAP + 2 * PAGE);
	EXPECT(import_lookup(r, HEAP + 4 * PAGE, &start, &end));
	EXPECT_EQ(start, HEAP + 4 * PAGE);
	EXPECT_EQ(host_process_fault(m->p, HEAP + 2 * PAGE, 0), -EFAULT);
	EXPECT_EQ(rig_stats(r).frames_free, 8);
	EXPECT_EQ(rig_stats(r).swap_used, 4);
	rig_check(r);
	EXPECT_EQ(remote_get(m, HEAP + 5 * PAGE), 105);
}

TEST("a release that could not be done is taken back")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	struct remote *m = remote_start(r, 1);
	uint32_t frame[2];

	import_pages(m, HEAP, 2, 100, false);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), 2 * PAGE, HOST_PAGEOUT),
		  0);
	EXPECT_EQ(host_return(m->p, HEAP, 2, frame), 0);
	STEP("it goes on with the frames, written without a fault");
	remote_see(m, HEAP, frame[0], RW);
	remote_see(m, HEAP + PAGE, frame[1], RW);
	EXPECT_EQ(host_imported(m->p, HEAP, 2, false), 0);
	EXPECT_EQ(remote_put(m, HEAP, 200), 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), 2 * PAGE, HOST_PAGEOUT),
		  0);
	EXPECT_EQ(remote_get(m, HEAP), 200);
	EXPECT_EQ(remote_get(m, HEAP + PAGE), 101);
	rig_check(r);
}

TEST("a kept page can be released, a pinned one cannot")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	struct remote *m = remote_start(r, 1);
	struct host_mm *mm = rig_mm(r, 1);
	struct host_frame *f;
	uint32_t frame[2];

	import_pages(m, HEAP, 2, 100, true);
	EXPECT_EQ(mm_pin(mm, HEAP + PAGE, 1, true, &f), 1);
	EXPECT_EQ(host_return(m->p, HEAP, 2, frame), -EBUSY);
	EXPECT_EQ(host_return(m->p, HEAP, 1, frame), 0);
	EXPECT_EQ(host_returned(m->p, HEAP, 1), 0);
	STEP("pinned while it is on its way out");
	mm_unpin(&f, 1, false);
	EXPECT_EQ(host_return(m->p, HEAP + PAGE, 1, frame), 0);
	EXPECT_EQ(mm_pin(mm, HEAP + PAGE, 1, true, &f), 1);
	EXPECT_EQ(host_returned(m->p, HEAP + PAGE, 1), -EBUSY);
	mm_unpin(&f, 1, false);
	EXPECT_EQ(host_returned(m->p, HEAP + PAGE, 1), 0);
	EXPECT_EQ(rig_stats(r).frames_free, 8);
	rig_check(r);
}

/* ---- what is refused ---- */

static void import_refused(struct remote *m, uint64_t va, uint64_t n, int prot,
			   int want)
{
	uint32_t frame[64];

	STEP("0x%" PRIx64 ", %" PRIu64 " pages, rights %d", va, n, prot);
	EXPECT_EQ(host_import(m->p, va, n, prot, 0, frame), want);
}

TEST("ranges that cannot be imported are refused, and nothing is left of them")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t arena_end = ARENA + HOST_ARENA_BYTES;
	struct remote near = { .p = r->p[0] };

	import_refused(m, 0, 1, RW, -EINVAL);
	import_refused(m, HEAP + 8, 1, RW, -EINVAL);
	import_refused(m, HEAP, 0, RW, -EINVAL);
	import_refused(m, HEAP, 1, 0, -EINVAL);
	import_refused(m, HEAP, 1, 8, -EINVAL);
	import_refused(m, HEAP, 1, -1, -EINVAL);
	import_refused(m, HEAP, ~0ull, RW, -EINVAL);
	import_refused(m, HEAP, 1ull << 52, RW, -EINVAL);
	import_refused(m, 1ull << 47, 1, RW, -EINVAL);
	import_refused(m, (1ull << 47) - PAGE, 2, RW, -EINVAL);
	import_refused(m, ~0ull << 12, 1, RW, -EINVAL);
	import_refused(m, ARENA, 1, RW, -EINVAL);
	import_refused(m, ARENA - PAGE, 2, RW, -EINVAL);
	import_refused(m, arena_end - PAGE, 1, RW, -EINVAL);
	import_refused(&near, HEAP, 1, RW, -EINVAL);
	EXPECT_EQ(rig_mm(r, 1)->maps, 0);
	EXPECT_EQ(rig_stats(r).frames_free, 16);
	STEP("at the very edges it works");
	import_pages(m, ARENA - PAGE, 1, 1, false);
	import_pages(m, arena_end, 1, 2, false);
	import_pages(m, (1ull << 47) - PAGE, 1, 3, false);
	import_pages(m, PAGE, 1, 4, false);
	EXPECT_EQ(remote_get(m, (1ull << 47) - PAGE), 3);
	rig_check(r);
}

TEST("what is a mapping already cannot be imported again")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);

	import_pages(m, HEAP + 2 * PAGE, 2, 7, false);
	import_refused(m, HEAP + 2 * PAGE, 1, RW, -EEXIST);
	import_refused(m, HEAP, 3, RW, -EEXIST);
	import_refused(m, HEAP + 3 * PAGE, 2, RW, -EEXIST);
	import_refused(m, HEAP, 8, RW, -EEXIST);
	EXPECT_EQ(remote_get(m, HEAP + 2 * PAGE), 7);
	EXPECT_EQ(rig_stats(r).frames_free, 14);
	EXPECT_EQ(rig_mm(r, 1)->maps, 1);
	rig_check(r);
}

TEST("the other calls of import take only what is on its way")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 1);
	uint32_t frame[64];

	EXPECT_EQ(host_imported(m->p, HEAP, 1, false), -EINVAL);
	EXPECT_EQ(host_returned(m->p, HEAP, 1), -EINVAL);
	EXPECT_EQ(host_return(m->p, HEAP, 1, frame), -EINVAL);
	EXPECT_EQ(host_imported(m->p, 0, 1, false), -EINVAL);
	EXPECT_EQ(host_returned(m->p, HEAP, ~0ull), -EINVAL);
	EXPECT_EQ(host_return(m->p, HEAP + 1, 1, frame), -EINVAL);
	EXPECT_EQ(host_return(m->p, va, 1, frame), -EINVAL);
	import_pages(m, HEAP, 2, 9, false);
	EXPECT_EQ(host_imported(m->p, HEAP, 2, true), -EINVAL);
	EXPECT_EQ(host_returned(m->p, HEAP, 2), -EINVAL);
	EXPECT_EQ(host_return(m->p, HEAP, 3, frame), -EINVAL);
	EXPECT_EQ(host_return(m->p, HEAP, 1, frame), 0);
	EXPECT_EQ(host_returned(m->p, HEAP, 2), -EINVAL);
	EXPECT_EQ(host_process_munmap(m->p, pointer_to(HEAP), 2 * PAGE), -EINVAL);
	EXPECT_EQ(remote_get(m, HEAP + PAGE), 10);
	rig_check(r);
}

TEST("without a frame for each page none is imported, and none released")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 64);
	struct remote *m = remote_start(r, 1);
	uint32_t frame[64];

	import_refused(m, HEAP, 5, RW, -ENOMEM);
	EXPECT_EQ(rig_mm(r, 1)->maps, 0);
	EXPECT_EQ(rig_stats(r).frames_free, 4);
	rig_check(r);
	host_inject_no_frames(r->k, 1);
	import_refused(m, HEAP, 1, RW, -ENOMEM);
	EXPECT_EQ(rig_mm(r, 1)->maps, 0);
	import_pages(m, HEAP, 4, 20, false);
	import_pages(m, HEAP + 4 * PAGE, 2, 24, false);
	EXPECT_EQ(host_return(m->p, HEAP, 6, frame), -ENOMEM);
	EXPECT_EQ(rig_stats(r).frames_pinned, 0);
	rig_check(r);
	EXPECT_EQ(remote_get(m, HEAP + 5 * PAGE), 25);
	EXPECT_EQ(remote_get(m, HEAP), 20);
}

TEST("what a process has imported and keeps counts against its own limit")
{
	struct rig *r = rig_start_limits(SIM_LOCKSTEP, 1, 32, 64, 6, 0);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 8), i;

	for (i = 0; i < 4; i++)
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
	import_pages(m, HEAP, 5, 30, true);
	EXPECT_EQ(rig_mm(r, 1)->used, 6);
	import_refused(m, HEAP + 5 * PAGE, 2, RW, -ENOMEM);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(remote_get(m, va + i * PAGE), i);
	EXPECT_EQ(rig_mm(r, 1)->used, 6);
	rig_check(r);
}

TEST("with all mappings used up nothing can be imported or cut out")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	struct remote *m = remote_start(r, 1);
	struct host_mm *mm = rig_mm(r, 1);
	struct host_map map = { .prot = RW };
	uint32_t frame[64];
	uint64_t i;

	import_pages(m, HEAP, 3, 1, false);
	for (i = mm->maps; i < PROCESS_MAPS; i++) {
		map.start = ARENA + 2 * i * PAGE;
		map.end = map.start + PAGE;
		EXPECT_EQ(map_room(mm, 1), 0);
		map_insert(mm, &map);
	}
	import_refused(m, HEAP + 8 * PAGE, 1, RW, -ENOMEM);
	EXPECT_EQ(host_return(m->p, HEAP + PAGE, 1, frame), 0);
	EXPECT_EQ(host_returned(m->p, HEAP + PAGE, 1), -ENOMEM);
	EXPECT_EQ(host_imported(m->p, HEAP + PAGE, 1, false), 0);
	EXPECT_EQ(host_return(m->p, HEAP, 3, frame), 0);
	EXPECT_EQ(host_returned(m->p, HEAP, 3), 0);
	import_pages(m, HEAP + 8 * PAGE, 1, 1, false);
}

static uint64_t most_memory_bytes(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
#ifdef __APPLE__
	return (uint64_t)u.ru_maxrss;
#else
	return (uint64_t)u.ru_maxrss << 10;
#endif
}

TEST("addresses spread far and wide cost the board no more than their tables")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t i, before, va;
	uint32_t frame[64];

	STEP("until there are no tables left");
	for (i = 0; i < PROCESS_TABLES; i++) {
		va = FAR + (i << 30);
		if (host_import(m->p, va, 1, RW, 0, frame))
			break;
		EXPECT_EQ(host_returned(m->p, va, 1), 0);
	}
	EXPECT_LE(i, PROCESS_TABLES - 1);
	before = most_memory_bytes();
	STEP("nothing is imported any more");
	for (; i < 20000; i++)
		EXPECT_EQ(host_import(m->p, FAR + (i << 30), 1, RW, 0, frame),
			  -ENOMEM);
	EXPECT_LE(most_memory_bytes() - before, 32u << 20);
	rig_check(r);
}

TEST("the search for a gap sees the arena alone")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	int error;

	import_pages(m, 0x10000, 1, 0, false);
	import_pages(m, ARENA + HOST_ARENA_BYTES, 1, 0, false);
	EXPECT_EQ(remote_map(m, 1), ARENA);
	EXPECT_EQ(remote_map(m, 1), ARENA + 2 * PAGE);
	STEP("all that is left, and not a page more");
	EXPECT(!host_mmap(m->p, ARENA_MEMORY_BYTES - 3 * PAGE, RW, NULL, 0,
			  &error));
	EXPECT_EQ(error, -ENOMEM);
	EXPECT_EQ(va_of(host_mmap(m->p, ARENA_MEMORY_BYTES - 4 * PAGE, RW, NULL,
				  0, &error)), ARENA + 4 * PAGE);
	rig_check(r);
}
