// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/*
 * Memory that a process elsewhere had and never touched: it moves without frames, is
 * zeros when somebody wants it, and goes back without having been there.
 */
#include "rig/host_remote.h"

#define HEAP	0x555500000000ull
#define FAR	0x200000000000ull
#define ALL	(~0ull)

/* The whole way in; those that get a frame are filled with value + i. */
static void untouched_import(struct remote *m, uint64_t va, uint64_t n,
			uint64_t untouched, uint64_t value)
{
	uint32_t frame[64];
	uint64_t i;

	EXPECT_EQ(host_import(m->p, va, n, RW, untouched, frame), 0);
	for (i = 0; i < n; i++) {
		EXPECT_EQ(frame[i] == HOST_NO_FRAME, untouched >> i & 1);
		if (frame[i] == HOST_NO_FRAME)
			continue;
		*(uint64_t *)(void *)(m->mem + frame[i] * PAGE) = value + i;
		remote_see(m, va + i * PAGE, frame[i], RW);
	}
	EXPECT_EQ(host_imported(m->p, va, n, false), 0);
}

static struct remote *untouched_start(struct rig **r, uint64_t frames)
{
	*r = rig_start(SIM_LOCKSTEP, 1, frames, 64);
	return remote_start(*r, 1);
}

TEST("untouched pages take no frame, and are zeros for CPU, card and kernel")
{
	struct rig *r;
	struct remote *m = untouched_start(&r, 16);
	uint64_t value = 9, start, end;
	int prot;

	untouched_import(m, HEAP, 40, ALL, 0);
	EXPECT_EQ(rig_stats(r).frames_free, 16);
	rig_check(r);
	EXPECT_EQ(mm_lookup(rig_mm(r, 1), HEAP, &start, &end, &prot), 0);
	EXPECT_EQ(end, HEAP + 40 * PAGE);
	EXPECT_EQ(remote_get(m, HEAP), 0);
	EXPECT_EQ(remote_put(m, HEAP + PAGE, 7), 0);
	EXPECT_EQ(mm_fault(rig_mm(r, 1), HEAP + 2 * PAGE, HOST_FAULT_CARD |
			   HOST_FAULT_WRITE), 0);
	EXPECT_EQ(mm_copy(rig_mm(r, 1), HEAP + 3 * PAGE, &value, 8, false), 0);
	EXPECT_EQ(value, 0);
	EXPECT_EQ(rig_stats(r).frames_free, 12);
	STEP("which of them are untouched still");
	EXPECT_EQ(host_untouched(m->p, HEAP + PAGE), 0);
	EXPECT_EQ(host_untouched(m->p, HEAP + 2 * PAGE), 0);
	EXPECT_EQ(host_untouched(m->p, HEAP + 4 * PAGE), 1);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), 4 * PAGE, HOST_PAGEOUT),
		  0);
	EXPECT_EQ(host_untouched(m->p, HEAP + PAGE), 0);
	EXPECT_EQ(remote_get(m, HEAP + PAGE), 7);
	rig_check(r);
}

TEST("pages with contents and untouched ones move in one step, and back")
{
	const uint64_t untouched = 0x5a;
	struct rig *r;
	struct remote *m = untouched_start(&r, 16);
	uint32_t frame[8];
	uint64_t i;

	untouched_import(m, HEAP, 8, untouched, 50);
	EXPECT_EQ(rig_stats(r).frames_free, 12);
	for (i = 0; i < 8; i += 3)
		EXPECT_EQ(remote_get(m, HEAP + i * PAGE),
			  untouched >> i & 1 ? 0 : 50 + i);
	EXPECT_EQ(remote_put(m, HEAP + 4 * PAGE, 77), 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), 8 * PAGE, HOST_PAGEOUT),
		  0);
	rig_check(r);
	EXPECT_EQ(host_return(m->p, HEAP, 8, frame), 0);
	for (i = 0; i < 8; i++)
		if (frame[i] == HOST_NO_FRAME)
			EXPECT(i != 4 && untouched >> i & 1);
		else
			EXPECT_EQ(*(uint64_t *)(void *)(m->mem +
							frame[i] * PAGE),
				  i == 4 ? 77 : untouched >> i & 1 ? 0 : 50 + i);
	rig_check(r);
	EXPECT_EQ(host_returned(m->p, HEAP, 8), 0);
	EXPECT_EQ(rig_stats(r).frames_free, 16);
	EXPECT_EQ(rig_mm(r, 1)->maps, 0);
	rig_check(r);
}

/* Whoever asks, nothing comes of a page without a frame that is moving. */
static void nothing_comes(struct rig *r, struct remote *m)
{
	struct host_mm *mm = rig_mm(r, 1);
	uint64_t value, free = rig_stats(r).frames_free;
	unsigned int opens = m->opens;
	struct host_frame *f;
	uint32_t frame[2];

	EXPECT_EQ(host_process_fault(m->p, HEAP, 0), 0);
	EXPECT_EQ(host_process_fault(m->p, HEAP, 1), 0);
	EXPECT_EQ(host_process_fault_try(m->p, HEAP, 1), 0);
	EXPECT_EQ(mm_fault(mm, HEAP, HOST_FAULT_CARD), -EFAULT);
	EXPECT_EQ(mm_copy(mm, HEAP, &value, 8, false), -EFAULT);
	EXPECT_EQ(mm_pin(mm, HEAP, 1, true, &f), -EFAULT);
	EXPECT_EQ(host_process_mprotect(m->p, pointer_to(HEAP), PAGE, HOST_READ),
		  -EBUSY);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), PAGE, HOST_DONTNEED),
		  -EBUSY);
	EXPECT_EQ(host_return(m->p, HEAP, 1, frame), -EBUSY);
	EXPECT_EQ(host_import(m->p, HEAP, 1, RW, 1, frame), -EEXIST);
	EXPECT_EQ(host_untouched(m->p, HEAP), 1);
	EXPECT_EQ(rig_stats(r).frames_free, free);
	EXPECT_EQ(m->opens, opens);
	rig_check(r);
}

TEST("while an untouched page moves nobody brings it in")
{
	struct rig *r;
	struct remote *m = untouched_start(&r, 8);
	uint32_t frame[2];

	EXPECT_EQ(host_import(m->p, HEAP, 2, RW, 3, frame), 0);
	STEP("in");
	nothing_comes(r, m);
	EXPECT_EQ(host_imported(m->p, HEAP, 2, true), -EINVAL);
	EXPECT_EQ(host_imported(m->p, HEAP, 2, false), 0);
	EXPECT_EQ(host_imported(m->p, HEAP, 2, false), -EINVAL);
	EXPECT_EQ(host_returned(m->p, HEAP, 2), -EINVAL);
	STEP("out");
	EXPECT_EQ(host_return(m->p, HEAP, 2, frame), 0);
	EXPECT_EQ(frame[0] & frame[1], HOST_NO_FRAME);
	nothing_comes(r, m);
	STEP("and not out after all");
	EXPECT_EQ(host_imported(m->p, HEAP, 2, false), 0);
	EXPECT_EQ(remote_put(m, HEAP, 8), 0);
	EXPECT_EQ(host_return(m->p, HEAP, 2, frame), 0);
	EXPECT_EQ(*(uint64_t *)(void *)(m->mem + frame[0] * PAGE), 8);
	EXPECT_EQ(frame[1], HOST_NO_FRAME);
	EXPECT_EQ(host_returned(m->p, HEAP, 2), 0);
	EXPECT_EQ(host_process_fault(m->p, HEAP, 0), -EFAULT);
	EXPECT_EQ(rig_stats(r).frames_free, 8);
	rig_check(r);
}

TEST("an import of untouched pages is forgotten, and so it is when its process ends")
{
	struct rig *r;
	struct remote *m = untouched_start(&r, 8);
	uint32_t frame[64];

	EXPECT_EQ(host_import(m->p, HEAP, 3, RW, 5, frame), 0);
	EXPECT_EQ(host_returned(m->p, HEAP, 3), 0);
	EXPECT_EQ(rig_mm(r, 1)->maps, 0);
	rig_check(r);
	untouched_import(m, HEAP, 3, 7, 0);
	EXPECT_EQ(host_import(m->p, HEAP + 3 * PAGE, 3, RW, 5, frame), 0);
	EXPECT_EQ(host_return(m->p, HEAP, 1, frame), 0);
	remote_exit(m);
	EXPECT_EQ(rig_stats(r).frames_free, 8);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	EXPECT_EQ(trace_count(r->trace, EV_SIM_VIOLATION), 0);
	rig_check(r);
}

TEST("untouched pages are pinned as others, and given back with their bytes")
{
	struct rig *r;
	struct remote *m = untouched_start(&r, 8);
	struct host_mm *mm = rig_mm(r, 1);
	struct host_frame *f[2];
	uint32_t frame[4];

	untouched_import(m, HEAP, 4, ALL, 0);
	EXPECT_EQ(mm_pin(mm, HEAP + PAGE, 2, true, f), 2);
	EXPECT_EQ(rig_stats(r).frames_free, 6);
	EXPECT_EQ(host_return(m->p, HEAP, 4, frame), -EBUSY);
	EXPECT_EQ(host_untouched(m->p, HEAP), 1);
	rig_check(r);
	memset(frame_mem(f[1]), 0x11, 8);
	mm_unpin(f, 2, true);
	EXPECT_EQ(host_return(m->p, HEAP, 4, frame), 0);
	EXPECT_EQ(frame[0] & frame[3], HOST_NO_FRAME);
	EXPECT_EQ(m->mem[frame[1] * PAGE], 0);
	EXPECT_EQ(m->mem[frame[2] * PAGE], 0x11);
	EXPECT_EQ(host_returned(m->p, HEAP, 4), 0);
	rig_check(r);
}

TEST("pages that were forgotten are zeros again, without a frame")
{
	struct rig *r;
	struct remote *m = untouched_start(&r, 8);
	uint32_t frame[2];

	untouched_import(m, HEAP, 2, 0, 40);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(HEAP), PAGE, HOST_DONTNEED), 0);
	EXPECT_EQ(host_untouched(m->p, HEAP), 1);
	EXPECT_EQ(host_return(m->p, HEAP, 2, frame), 0);
	EXPECT_EQ(frame[0], HOST_NO_FRAME);
	EXPECT_EQ(*(uint64_t *)(void *)(m->mem + frame[1] * PAGE), 41);
	EXPECT_EQ(host_returned(m->p, HEAP, 2), 0);
	rig_check(r);
}

TEST("what cannot be untouched memory of the process is refused")
{
	struct rig *r;
	struct remote *m = untouched_start(&r, 8);
	uint64_t va = remote_map(m, 1);
	uint32_t frame[80];

	EXPECT_EQ(host_import(m->p, HEAP, 65, RW, 1, frame), -EINVAL);
	EXPECT_EQ(host_import(m->p, va, 1, RW, 1, frame), -EINVAL);
	EXPECT_EQ(host_import(m->p, ARENA - PAGE, 2, RW, 3, frame), -EINVAL);
	EXPECT_EQ(host_import(m->p, ~0ull << 16, 16, RW, ALL, frame), -EINVAL);
	EXPECT_EQ(host_import(m->p, (1ull << 47) - PAGE, 2, RW, 3, frame),
		  -EINVAL);
	EXPECT_EQ(host_untouched(m->p, va), -EINVAL);
	EXPECT_EQ(host_untouched(m->p, HEAP + 8), -EINVAL);
	EXPECT_EQ(host_untouched(m->p, 1ull << 60), -EINVAL);
	EXPECT_EQ(host_untouched(m->p, HEAP), 0);
	untouched_import(m, HEAP, 2, 3, 0);
	EXPECT_EQ(host_import(m->p, HEAP + PAGE, 2, RW, 3, frame), -EEXIST);
	EXPECT_EQ(host_import(m->p, HEAP, 2, RW, 3, frame), -EEXIST);
	EXPECT_EQ(rig_mm(r, 1)->maps, 2);
	rig_check(r);
}

TEST("untouched pages spread far and wide cost tables, and of these there are so many")
{
	struct rig *r;
	struct remote *m = untouched_start(&r, 8);
	uint32_t frame[1];
	uint64_t i, maps;

	for (i = 0; i < PROCESS_TABLES; i++) {
		if (host_import(m->p, FAR + (i << 30), 1, RW, 1, frame))
			break;
		EXPECT_EQ(host_imported(m->p, FAR + (i << 30), 1, false), 0);
	}
	EXPECT_LE(i, PROCESS_TABLES - 1);
	maps = rig_mm(r, 1)->maps;
	EXPECT_EQ(maps, i);
	EXPECT_EQ(host_import(m->p, FAR + (i << 30), 1, RW, 1, frame), -ENOMEM);
	EXPECT_EQ(rig_mm(r, 1)->maps, maps);
	STEP("what was taken can be touched, every page of it");
	while (i--) {
		m->pages = 0;
		EXPECT_EQ(host_process_fault(m->p, FAR + (i << 30), 0), 0);
	}
	EXPECT_GE(m->opens, maps);
	rig_check(r);
}
