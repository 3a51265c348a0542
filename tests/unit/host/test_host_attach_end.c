// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/*
 * A process that lives elsewhere: what it may have at most, how it is killed,
 * and what is left of it when it has ended.
 */
#include "rig/host_remote.h"

static void write_and_read(struct rig *r, uint8_t *m, uint64_t pages)
{
	uint64_t i, v;

	for (i = 0; i < pages; i++)
		EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m) + i * PAGE, &i, 8,
				  true), 0);
	for (i = 0; i < pages; i++) {
		EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m) + i * PAGE, &v, 8,
				  false), 0);
		EXPECT_EQ(v, i);
	}
}

/* ---- death ---- */

TEST("nobody asks a dead process, and its pages go")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 4, 256);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 4), i;

	for (i = 0; i < 4; i++)
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
	m->refuse = ~0u;
	host_process_kill(m->p);
	write_and_read(r, rig_map(r, 0, 8), 8);
	EXPECT(!mm_resident(rig_mm(r, 1), va));
	EXPECT_EQ(m->closes, 0);
	STEP("its calls go on, and say nothing to it");
	i = m->opens;
	EXPECT_EQ(host_process_fault(m->p, va, 1), 0);
	EXPECT_EQ(host_process_munmap(m->p, pointer_to(va), PAGE), 0);
	EXPECT_EQ(m->opens, i);
	rig_check(r);
}

TEST("the end of a process gives back frames, swap, queues and what the bank "
     "held, and waits for nothing")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 12), i, pa, word = 1;
	void *queue = mm_dma_alloc(rig_mm(r, 1), 3 * PAGE, &pa);

	memset(queue, 0xaa, 3 * PAGE);
	for (i = 0; i < 12; i++)
		EXPECT_EQ(remote_put(m, va + i * PAGE, ~i), 0);
	EXPECT_EQ(rig_stats(r).queue_pages, 3);
	rig_check(r);
	host_dma_free(r->k, queue, 3 * PAGE, pa);
	i = m->closes;
	m->refuse = ~0u;
	remote_exit(m);
	EXPECT_EQ(m->closes, i);
	EXPECT_EQ(rig_stats(r).frames_free, 8);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	EXPECT_EQ(rig_stats(r).queue_pages, 0);
	EXPECT_EQ(rig_stats(r).banks_kept, 0);
	STEP("who has kept the descriptor finds zeros");
	for (i = 0; i < m->bank.bytes && word; i += PAGE) {
		EXPECT_EQ(pread(m->bank.fd, &word, 8, (off_t)i), 8);
		EXPECT_EQ(word, 0);
	}
	rig_check(r);
}

TEST("a queue that the card keeps keeps the bank, and nobody else gets it")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	struct remote *m = remote_start(r, 1), *other;
	struct host_mm *mm = rig_mm(r, 1);
	uint64_t pa, pa2, bank_pa = mm->bank_pa;
	uint64_t *queue = mm_dma_alloc(mm, 2 * PAGE, &pa);
	void *second = mm_dma_alloc(mm, PAGE, &pa2);

	remote_exit(m);
	EXPECT_EQ(rig_stats(r).banks_kept, 1);
	EXPECT_EQ(rig_stats(r).queue_pages, 3);
	rig_check(r);
	STEP("another process, while the card writes");
	other = remote_start(r, 1);
	EXPECT_NE(rig_mm(r, 1)->bank_pa, bank_pa);
	queue[0] = 1234;
	EXPECT_EQ(dram_tag(r->k->dram, pa), 1);
	EXPECT_EQ(pread(m->bank.fd, &bank_pa, 8, 8 * PAGE), 8);
	EXPECT_EQ(bank_pa, 1234);
	EXPECT_EQ(pread(other->bank.fd, &bank_pa, 8, 8 * PAGE), 8);
	EXPECT_EQ(bank_pa, 0);
	STEP("given back after all, the bank goes with the last of it");
	host_dma_free(r->k, second, PAGE, pa2);
	EXPECT_EQ(rig_stats(r).banks_kept, 1);
	host_dma_free(r->k, queue, 2 * PAGE, pa);
	EXPECT_EQ(rig_stats(r).banks_kept, 0);
	EXPECT(!dram_at(r->k->dram, pa, 8));
	rig_check(r);
}

TEST("a bank that is kept to the end of the board goes with it")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t pa;

	EXPECT(mm_dma_alloc(rig_mm(r, 1), PAGE, &pa) != NULL);
	remote_exit(m);
	EXPECT_EQ(rig_stats(r).banks_kept, 1);
}

TEST("memory of queues is found first fit, until there is none")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	uint64_t half = QUEUE_AREA_BYTES / 2, pa[4];
	void *mem[4];

	mem[0] = mm_dma_alloc(rig_mm(r, 0), 1, &pa[0]);
	mem[1] = mm_dma_alloc(rig_mm(r, 0), half, &pa[1]);
	mem[2] = mm_dma_alloc(rig_mm(r, 0), half - PAGE, &pa[2]);
	EXPECT_EQ(pa[1], pa[0] + PAGE);
	EXPECT_EQ(pa[2], pa[1] + half);
	EXPECT(!mm_dma_alloc(rig_mm(r, 0), 1, &pa[3]));
	EXPECT(!mm_dma_alloc(rig_mm(r, 0), 0, &pa[3]));
	EXPECT(!mm_dma_alloc(rig_mm(r, 0), ~0ull, &pa[3]));
	rig_check(r);
	memset(mem[1], 1, half);
	host_dma_free(r->k, mem[1], half, pa[1]);
	EXPECT(!mm_dma_alloc(rig_mm(r, 0), half + PAGE, &pa[3]));
	mem[1] = mm_dma_alloc(rig_mm(r, 0), half, &pa[3]);
	EXPECT_EQ(pa[3], pa[1]);
	EXPECT_EQ(*(uint8_t *)mem[1], 0);
	host_dma_free(r->k, mem[0], 1, pa[0]);
	host_dma_free(r->k, mem[1], half, pa[1]);
	host_dma_free(r->k, mem[2], half - PAGE, pa[2]);
	EXPECT_EQ(rig_stats(r).queue_pages, 0);
	rig_check(r);
}

/* ---- limits ---- */

TEST("at its own limit a process loses pages of its own, not of others")
{
	struct rig *r = rig_start_limits(SIM_LOCKSTEP, 1, 32, 256, 6, 0);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 20), i;
	uint8_t *near = rig_map(r, 0, 6);
	struct host_frame *pinned[20];

	EXPECT_EQ(host_madvise(r->p[0], near, 6 * PAGE, HOST_POPULATE), 0);
	for (i = 0; i < 20; i++) {
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
		EXPECT_LE(rig_mm(r, 1)->used, 6);
		rig_check(r);
	}
	for (i = 0; i < 20; i++)
		EXPECT_EQ(remote_get(m, va + i * PAGE), i);
	for (i = 0; i < 6; i++)
		EXPECT(mm_resident(rig_mm(r, 0), va_of(near) + i * PAGE));
	EXPECT_EQ(rig_stats(r).frames_free, 20);
	STEP("with all of them pinned there is no other");
	EXPECT_EQ(mm_pin(rig_mm(r, 1), va, 20, true, pinned), 6);
	EXPECT_EQ(host_process_fault(m->p, va + 10 * PAGE, 1), -ENOMEM);
	mm_unpin(pinned, 6, false);
	EXPECT_EQ(host_process_fault(m->p, va + 10 * PAGE, 1), 0);
	rig_check(r);
}

TEST("beyond its share of swap dirty pages of a process stay")
{
	struct rig *r = rig_start_limits(SIM_LOCKSTEP, 1, 32, 256, 0, 5);
	struct remote *m = remote_start(r, 1);
	uint64_t va = remote_map(m, 8), i;
	uint8_t *near = rig_map(r, 0, 4);

	for (i = 0; i < 8; i++)
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), 8 * PAGE, HOST_PAGEOUT),
		  -ENOSPC);
	EXPECT_EQ(rig_stats(r).swap_used, 5);
	rig_check(r);
	STEP("others have theirs");
	EXPECT_EQ(host_madvise(r->p[0], near, 4 * PAGE, HOST_POPULATE), 0);
	EXPECT_EQ(host_madvise(r->p[0], near, 4 * PAGE, HOST_PAGEOUT), 0);
	STEP("what comes back and is written gives its place free");
	for (i = 0; i < 8; i++)
		EXPECT_EQ(remote_put(m, va + i * PAGE, i), 0);
	EXPECT_EQ(rig_stats(r).swap_used, 4);
	EXPECT_EQ(host_process_madvise(m->p, pointer_to(va), 5 * PAGE, HOST_PAGEOUT),
		  0);
	EXPECT_EQ(host_process_munmap(m->p, pointer_to(va), 8 * PAGE), 0);
	EXPECT_EQ(rig_stats(r).swap_used, 4);
	rig_check(r);
}

TEST("nobody uses up the pages that others need for their tables")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	struct host_map m = { .prot = RW };
	struct host_mm *mm = rig_mm(r, 0);
	uint64_t i;
	int err = 0;

	EXPECT_EQ(PROCESS_TABLES * HOST_PROCESSES * DRAM_PAGE <= KERNEL_BANK_BYTES,
		  true);
	STEP("a page every GB, far below the arena");
	for (i = 1; !err && i < 10000; i++) {
		m.start = i << 30;
		m.end = m.start + PAGE;
		EXPECT_EQ(map_room(mm, 1), 0);
		map_insert(mm, &m);
		err = mm_fault(mm, m.start, 0) < 0 ? -ENOMEM : 0;
	}
	EXPECT_EQ(err, -ENOMEM);
	EXPECT_LE(mm->tables, PROCESS_TABLES);
	rig_check(r);
}

TEST("a process has as many mappings as Linux would let it have")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 64);
	struct host_map m = { .prot = RW };
	struct host_mm *mm = rig_mm(r, 0);
	uint64_t i;
	int error;

	for (i = 0; i < PROCESS_MAPS; i++) {
		m.start = mm->arena + 3 * i * PAGE;
		m.end = m.start + 2 * PAGE;
		EXPECT_EQ(map_room(mm, 1), 0);
		map_insert(mm, &m);
	}
	EXPECT(!host_mmap(r->p[0], PAGE, RW, NULL, 0, &error));
	EXPECT_EQ(error, -ENOMEM);
	STEP("nor may one be cut in two; a whole one can go");
	EXPECT_EQ(host_munmap(r->p[0], pointer_to(mm->arena), PAGE), -ENOMEM);
	EXPECT_EQ(host_mprotect(r->p[0], pointer_to(mm->arena), PAGE,
				HOST_READ), -ENOMEM);
	EXPECT_EQ(host_munmap(r->p[0], pointer_to(mm->arena), 2 * PAGE), 0);
	EXPECT(host_mmap(r->p[0], PAGE, RW, NULL, 0, &error) != NULL);
}
