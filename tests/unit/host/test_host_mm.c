// SPDX-License-Identifier: BSD-2-Clause
/*
 * Mappings, the kinds of page fault, pins and notifiers of the small kernel.
 * variants: posix pages
 */
#include <unistd.h>

#include "rig/host.h"

static struct rig *plain_rig(void)
{
	return rig_start(SIM_LOCKSTEP, test_seed(), 64, 64);
}

static uint64_t mm_desc(struct rig *r, const void *p)
{
	return pt_get(rig_mm(r, 0), va_of(p) & ~(PAGE - 1));
}

TEST("the first touch of memory brings a frame of zeros and is minor")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 2), buf[16];
	static const uint8_t zeros[16];

	EXPECT(!mm_resident(rig_mm(r, 0), va_of(m)));
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), HOST_FAULT_WRITE), 0);
	EXPECT(mm_resident(rig_mm(r, 0), va_of(m)));
	EXPECT(!mm_resident(rig_mm(r, 0), va_of(m + PAGE)));
	EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m) + 100, buf, 16, false), 0);
	EXPECT_MEM(buf, zeros, 16);
	EXPECT_EQ(rig_stats(r).faults_minor, 1);
	EXPECT_EQ(trace_count(r->trace, EV_MM_PAGE_IN), 1);
	rig_check(r);
}

TEST("a read fault maps a clean page: valid, read-only, may-write bit set")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 1);
	uint64_t d;

	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), 0);
	d = mm_desc(r, m);
	EXPECT_EQ(d & PTE_TYPE, 3);
	EXPECT_EQ(d & (PTE_RDONLY | PTE_DBM | PTE_AF | PTE_USER | PTE_NG),
		  PTE_RDONLY | PTE_DBM | PTE_AF | PTE_USER | PTE_NG);
	EXPECT_EQ(d >> 8 & 3, 3);
	EXPECT_EQ(d & PTE_DIRTY, 0);
	EXPECT_EQ((d & PTE_ADDR) | 5, host_translate(rig_mm(r, 0),
						     va_of(m) + 5));
}

TEST("a write to a clean page makes it writable, and no notifier is told")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 1);
	struct heard h = HEARD;

	EXPECT_EQ(mm_notifier_register(rig_mm(r, 0), &h.n), 0);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), 0);
	EXPECT_EQ(h.calls, 0);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), HOST_FAULT_WRITE), 0);
	EXPECT_EQ(mm_desc(r, m) & PTE_RDONLY, 0);
	EXPECT_EQ(mm_desc(r, m) & PTE_DIRTY, PTE_DIRTY);
	EXPECT_EQ(h.calls, 0);
	mm_notifier_unregister(rig_mm(r, 0), &h.n);
}

TEST("a fault on an aged page sets the access flag and keeps the contents")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 1), buf[4] = "abc";
	uint64_t pa;

	EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m), buf, 4, true), 0);
	pa = host_translate(rig_mm(r, 0), va_of(m));
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_COLD), 0);
	EXPECT_EQ(mm_desc(r, m) & PTE_AF, 0);
	EXPECT_EQ(trace_count(r->trace, EV_MM_AGE), 1);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), 0);
	EXPECT_EQ(mm_desc(r, m) & PTE_AF, PTE_AF);
	EXPECT_EQ(mm_desc(r, m) & PTE_RDONLY, 0);
	EXPECT_EQ(host_translate(rig_mm(r, 0), va_of(m)), pa);
	EXPECT_EQ(rig_stats(r).page_ins, 1);
}

TEST("a page of a file comes with the file's bytes and is major")
{
	struct rig *r = plain_rig();
	uint8_t buf[64], want[64];
	char path[128];
	uint8_t *m;
	int error, i;

	m = host_mmap(r->p[0], 3 * PAGE, RW, rig_file(path, 2 * PAGE + 10),
		      PAGE, &error);
	unlink(path);
	EXPECT(m != NULL);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), 1);
	EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m), buf, 64, false), 0);
	for (i = 0; i < 64; i++)
		want[i] = (uint8_t)((i + PAGE) * 7 + 1);
	EXPECT_MEM(buf, want, 64);
	STEP("behind the end of the file its last page is zeros");
	EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m) + PAGE + 10, buf, 1, false),
		  0);
	EXPECT_EQ(buf[0], 0);
	STEP("a page that begins behind the end is an error");
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m) + 2 * PAGE, 0), -EFAULT);
	EXPECT_EQ(rig_stats(r).faults_major, 1);
	rig_check(r);
}

TEST("a changed page of a file goes to swap and leaves the file alone")
{
	struct rig *r = plain_rig();
	uint8_t buf[4] = "new", got[4] = { 0 };
	char path[128];
	uint8_t *m;
	int error;
	FILE *f;

	m = host_mmap(r->p[0], PAGE, RW, rig_file(path, PAGE), 0, &error);
	EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m), buf, 4, true), 0);
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(rig_stats(r).swap_outs, 1);
	EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m), got, 4, false), 0);
	EXPECT_MEM(got, buf, 4);
	f = fopen(path, "r");
	unlink(path);
	EXPECT(f && fread(got, 1, 4, f) == 4);
	fclose(f);
	EXPECT_EQ(got[1], 7);
	STEP("DONTNEED forgets the change");
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_DONTNEED), 0);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m), got, 4, false), 0);
	EXPECT_EQ(got[1], 7);
}

TEST("an evicted page comes back from swap with its contents")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 1), buf[8] = "swapped", got[8];

	EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m) + 4088, buf, 8, true), 0);
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_PAGEOUT), 0);
	EXPECT(!mm_resident(rig_mm(r, 0), va_of(m)));
	EXPECT_EQ(rig_stats(r).swap_used, 1);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), 1);
	EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m) + 4088, got, 8, false), 0);
	EXPECT_MEM(got, buf, 8);
	rig_check(r);
	STEP("it is clean: the second eviction writes nothing");
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(rig_stats(r).swap_outs, 1);
	EXPECT_EQ(rig_stats(r).evictions, 2);
	STEP("a write takes the copy in swap away");
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), HOST_FAULT_WRITE), 1);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	rig_check(r);
}

TEST("an untouched clean page of zeros is dropped, not swapped")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 1);

	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), 0);
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m), 0), 0);
}

TEST("a fault outside every mapping or against its rights is refused")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 1);
	struct host_mm *mm = rig_mm(r, 0);

	EXPECT_EQ(mm_fault(mm, va_of(m) + PAGE, 0), -EFAULT);
	EXPECT_EQ(mm_fault(mm, 0, 0), -EFAULT);
	EXPECT_EQ(mm_fault(mm, UINT64_MAX, HOST_FAULT_WRITE), -EFAULT);
	EXPECT_EQ(host_mprotect(r->p[0], m, PAGE, HOST_READ), 0);
	EXPECT_EQ(mm_fault(mm, va_of(m), HOST_FAULT_WRITE), -EFAULT);
	EXPECT_EQ(mm_fault(mm, va_of(m), 0), 0);
	EXPECT_EQ(host_mprotect(r->p[0], m, PAGE, 0), 0);
	EXPECT_EQ(mm_fault(mm, va_of(m), 0), -EFAULT);
	EXPECT_EQ(rig_stats(r).faults_failed, 5);
	EXPECT_EQ(rig_stats(r).page_ins, 1);
	rig_check(r);
}

TEST("protect splits a mapping, lowers rights with a TLBI, and joins again")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 4);
	struct host_mm *mm = rig_mm(r, 0);
	struct heard h = HEARD;
	uint64_t start, end;
	int prot;

	EXPECT_EQ(host_madvise(r->p[0], m, 4 * PAGE, HOST_POPULATE), 0);
	EXPECT_EQ(mm_notifier_register(mm, &h.n), 0);
	EXPECT_EQ(host_mprotect(r->p[0], m + PAGE, 2 * PAGE, HOST_READ), 0);
	EXPECT_EQ(h.calls, 1);
	EXPECT_EQ(h.start, va_of(m) + PAGE);
	EXPECT_EQ(h.end, va_of(m) + 3 * PAGE);
	EXPECT_EQ(mm_desc(r, m) & PTE_RDONLY, 0);
	EXPECT_EQ(mm_desc(r, m + PAGE) & (PTE_RDONLY | PTE_DBM), PTE_RDONLY);
	EXPECT_EQ(mm_lookup(mm, va_of(m) + PAGE, &start, &end, &prot), 0);
	EXPECT_EQ(start, va_of(m) + PAGE);
	EXPECT_EQ(end, va_of(m) + 3 * PAGE);
	EXPECT_EQ(prot, HOST_READ);
	rig_check(r);
	STEP("give the right back: dirty pages are writable at once");
	EXPECT_EQ(host_mprotect(r->p[0], m + PAGE, 2 * PAGE, HOST_WRITE), 0);
	EXPECT_EQ(mm_desc(r, m + PAGE) & PTE_RDONLY, 0);
	EXPECT_EQ(mm_lookup(mm, va_of(m) + PAGE, &start, &end, &prot), 0);
	EXPECT_EQ(start, va_of(m));
	EXPECT_EQ(end, va_of(m) + 4 * PAGE);
	mm_notifier_unregister(mm, &h.n);
}

TEST("no access at all makes a page invalid for hardware and keeps it")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 1), buf[4] = "abc", got[4];
	struct host_mm *mm = rig_mm(r, 0);

	EXPECT_EQ(mm_copy(mm, va_of(m), buf, 4, true), 0);
	EXPECT_EQ(host_mprotect(r->p[0], m, PAGE, 0), 0);
	EXPECT_EQ(mm_desc(r, m) & PTE_VALID, 0);
	EXPECT(mm_resident(mm, va_of(m)));
	EXPECT_EQ(host_translate(mm, va_of(m)), 0);
	EXPECT_EQ(mm_copy(mm, va_of(m), got, 4, false), -EFAULT);
	rig_check(r);
	EXPECT_EQ(host_mprotect(r->p[0], m, PAGE, HOST_READ), 0);
	EXPECT_EQ(mm_copy(mm, va_of(m), got, 4, false), 0);
	EXPECT_MEM(got, buf, 4);
	EXPECT_EQ(mm_copy(mm, va_of(m), got, 4, true), -EFAULT);
}

TEST("unmapping the middle leaves both ends and frees frames and slots")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 5), buf[1] = { 9 }, got[1];
	struct host_mm *mm = rig_mm(r, 0);
	uint64_t start, end;
	int prot;

	EXPECT_EQ(host_madvise(r->p[0], m, 5 * PAGE, HOST_POPULATE), 0);
	EXPECT_EQ(mm_copy(mm, va_of(m) + 4 * PAGE, buf, 1, true), 0);
	EXPECT_EQ(host_madvise(r->p[0], m + PAGE, PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(host_munmap(r->p[0], m + PAGE, 2 * PAGE), 0);
	EXPECT_EQ(rig_stats(r).frames_free, 64 - 3);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	EXPECT_EQ(mm_lookup(mm, va_of(m) + PAGE, &start, &end, &prot),
		  -EFAULT);
	EXPECT_EQ(mm_lookup(mm, va_of(m) + 3 * PAGE, &start, &end, &prot), 0);
	EXPECT_EQ(start, va_of(m) + 3 * PAGE);
	EXPECT_EQ(mm_fault(mm, va_of(m) + 2 * PAGE, 0), -EFAULT);
	EXPECT_EQ(mm_copy(mm, va_of(m) + 4 * PAGE, got, 1, false), 0);
	EXPECT_EQ(got[0], 9);
	rig_check(r);
	STEP("a range with a hole may be unmapped, but not protected");
	EXPECT_EQ(host_mprotect(r->p[0], m, 5 * PAGE, HOST_READ), -ENOMEM);
	EXPECT_EQ(host_munmap(r->p[0], m, 5 * PAGE), 0);
	EXPECT_EQ(rig_stats(r).frames_free, 64);
	rig_check(r);
}

TEST("unmapping part of a file mapping keeps the offsets of the rest")
{
	struct rig *r = plain_rig();
	char path[128];
	uint8_t *m, got;
	int error;

	m = host_mmap(r->p[0], 4 * PAGE, HOST_READ, rig_file(path, 4 * PAGE),
		      0, &error);
	unlink(path);
	EXPECT_EQ(host_munmap(r->p[0], m + PAGE, PAGE), 0);
	EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m) + 3 * PAGE + 1, &got, 1,
			  false), 0);
	EXPECT_EQ(got, (7 + 3) & 0xff);
	EXPECT_EQ(host_munmap(r->p[0], m, PAGE), 0);
	EXPECT_EQ(mm_copy(rig_mm(r, 0), va_of(m) + 2 * PAGE + 1, &got, 1,
			  false), 0);
	EXPECT_EQ(got, (7 + 2) & 0xff);
	rig_check(r);
}

TEST("freed addresses are used again, with a page between mappings")
{
	struct rig *r = plain_rig();
	uint8_t *a = rig_map(r, 0, 2), *b = rig_map(r, 0, 1);

	EXPECT_EQ(b - a, 3 * PAGE);
	EXPECT_EQ(host_munmap(r->p[0], a, 2 * PAGE), 0);
	EXPECT(rig_map(r, 0, 2) == a);
}

TEST("mmap refuses what makes no sense")
{
	struct rig *r = plain_rig();
	struct host_process *p = r->p[0];
	int e;

	EXPECT(!host_mmap(p, 0, RW, NULL, 0, &e));
	EXPECT_EQ(e, -EINVAL);
	EXPECT(!host_mmap(p, PAGE, 4, NULL, 0, &e));
	EXPECT_EQ(e, -EINVAL);
	EXPECT(!host_mmap(p, UINT64_MAX, RW, NULL, 0, &e));
	EXPECT_EQ(e, -ENOMEM);
	EXPECT(!host_mmap(p, HOST_ARENA_BYTES, RW, NULL, 0, &e));
	EXPECT_EQ(e, -ENOMEM);
	EXPECT(!host_mmap(p, PAGE, RW, "/nowhere/at/all", 0, &e));
	EXPECT_EQ(e, -ENOENT);
	EXPECT(!host_mmap(p, PAGE, RW, "/tmp", 0, &e));
	EXPECT_EQ(e, -ENODEV);
	EXPECT(!host_mmap(p, PAGE, RW, "/dev/null", 1, &e));
	EXPECT_EQ(e, -EINVAL);
}

TEST("the arena may be filled to the last page, and then is full")
{
	struct rig *r = plain_rig();
	uint8_t *m;
	int e;

	m = host_mmap(r->p[0], ARENA_MEMORY_BYTES, RW, NULL, 0, &e);
	EXPECT(m != NULL);
	EXPECT(!host_mmap(r->p[0], PAGE, RW, NULL, 0, &e));
	EXPECT_EQ(e, -ENOMEM);
	EXPECT_EQ(mm_fault(rig_mm(r, 0), va_of(m) + ARENA_MEMORY_BYTES - 1,
			   HOST_FAULT_WRITE), 0);
	rig_check(r);
}

TEST("munmap, mprotect and madvise refuse bad ranges")
{
	struct rig *r = plain_rig();
	struct host_process *p = r->p[0];
	uint8_t *m = rig_map(r, 0, 2);

	EXPECT_EQ(host_munmap(p, m + 1, PAGE), -EINVAL);
	EXPECT_EQ(host_munmap(p, m, 0), -EINVAL);
	EXPECT_EQ(host_munmap(p, NULL, PAGE), -EINVAL);
	EXPECT_EQ(host_munmap(p, m, UINT64_MAX), -EINVAL);
	EXPECT_EQ(host_mprotect(p, m + 8, PAGE, RW), -EINVAL);
	EXPECT_EQ(host_mprotect(p, m, PAGE, 8), -EINVAL);
	EXPECT_EQ(host_mprotect(p, m, 0, RW), -EINVAL);
	EXPECT_EQ(host_mprotect(p, m + 2 * PAGE, PAGE, RW), -ENOMEM);
	EXPECT_EQ(host_madvise(p, m + 1, PAGE, HOST_COLD), -EINVAL);
	EXPECT_EQ(host_madvise(p, m, PAGE, (enum host_advice)77), -EINVAL);
	EXPECT_EQ(host_madvise(p, m, 3 * PAGE, HOST_PAGEOUT), -ENOMEM);
	EXPECT_EQ(host_madvise(p, m, 3 * PAGE, HOST_WILLNEED), -ENOMEM);
}

TEST("eviction breaks the entry and invalidates before the frame changes hands")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 3);
	struct host_mm *mm = rig_mm(r, 0);
	struct heard h = HEARD;
	uint64_t before;

	EXPECT_EQ(host_madvise(r->p[0], m, 3 * PAGE, HOST_POPULATE), 0);
	h.watch_pa = host_translate(mm, va_of(m));
	before = dram_tag(r->k->dram, h.watch_pa);
	EXPECT_NE(before, 0);
	EXPECT_EQ(mm_notifier_register(mm, &h.n), 0);
	EXPECT_EQ(host_madvise(r->p[0], m, 3 * PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(h.calls, 1);
	EXPECT_EQ(h.end - h.start, 3 * PAGE);
	EXPECT(!h.valid);
	EXPECT_EQ(h.tag, before);
	EXPECT_NE(dram_tag(r->k->dram, h.watch_pa), before);
	EXPECT_NE(dram_tag(r->k->dram, h.watch_pa), 0);
	STEP("the same for munmap");
	EXPECT_EQ(mm_fault(mm, va_of(m), 0), 1);
	h.watch_pa = host_translate(mm, va_of(m));
	before = dram_tag(r->k->dram, h.watch_pa);
	EXPECT_EQ(host_munmap(r->p[0], m, 3 * PAGE), 0);
	EXPECT_EQ(h.calls, 2);
	EXPECT(!h.valid);
	EXPECT_EQ(h.tag, before);
	EXPECT_NE(dram_tag(r->k->dram, h.watch_pa), before);
	mm_notifier_unregister(mm, &h.n);
	STEP("who has unregistered hears nothing");
	m = rig_map(r, 0, 1);
	EXPECT_EQ(mm_fault(mm, va_of(m), 0), 0);
	EXPECT_EQ(host_munmap(r->p[0], m, PAGE), 0);
	EXPECT_EQ(h.calls, 2);
}

TEST("exit releases notifiers, and a reference outlives the process")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 3);
	struct host_mm *mm = rig_mm(r, 0);
	struct heard h = HEARD;
	struct host_frame *f;

	EXPECT_EQ(host_madvise(r->p[0], m, 3 * PAGE, HOST_POPULATE), 0);
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(mm_notifier_register(mm, &h.n), 0);
	mm_get(mm);
	host_process_exit(r->p[0]);
	r->p[0] = NULL;
	EXPECT_EQ(h.releases, 1);
	EXPECT_EQ(rig_stats(r).frames_free, 64);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	EXPECT_EQ(atomic_load(&r->k->table_pages), 0);
	EXPECT(!mm_get_live(mm));
	EXPECT_EQ(mm_fault(mm, va_of(m), 0), -EFAULT);
	EXPECT_EQ(mm_pin(mm, va_of(m), 1, false, &f), -EFAULT);
	EXPECT_EQ(mm_notifier_register(mm, &h.n), -ESRCH);
	mm_put(mm);
	rig_check(r);
}

struct late {
	struct host_mm *mm;
	const struct heard *h;
	uint64_t va;
};

static void put_late(void *arg)
{
	struct late *l = arg;

	sim_sleep(5000);
	STEP("its memory is whole for as long as there is a user");
	EXPECT_EQ(l->h->releases, 0);
	EXPECT_EQ(mm_fault(l->mm, l->va, 0), 0);
	mm_put_live(l->mm);
}

TEST("exit waits for who uses the address space")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 3);
	struct host_mm *mm = rig_mm(r, 0);
	struct heard h = HEARD;
	struct late late = { mm, &h, va_of(m) };
	struct sim_thread *t;

	EXPECT_EQ(mm_notifier_register(mm, &h.n), 0);
	EXPECT(mm_get_live(mm));
	mm_get(mm);
	t = sim_thread_start(r->sim, "user", false, put_late, &late);
	EXPECT(t);
	host_process_exit(r->p[0]);
	r->p[0] = NULL;
	EXPECT_EQ(h.releases, 1);
	EXPECT(!mm_get_live(mm));
	EXPECT_EQ(mm_fault(mm, late.va, 0), -EFAULT);
	mm_put(mm);
	EXPECT_EQ(sim_run(r->sim, 0, 0), SIM_FINISHED);
	sim_thread_join(t);
	rig_check(r);
}

TEST("copies cross pages, and refuse what is not mapped")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 2), out[5000], in[5000];
	struct host_mm *mm = rig_mm(r, 0);
	uint64_t va = va_of(m) + 2 * PAGE - 5000;
	int i;

	for (i = 0; i < 5000; i++)
		out[i] = (uint8_t)(i * 31);
	EXPECT_EQ(mm_copy(mm, va, out, 5000, true), 0);
	EXPECT_EQ(mm_copy(mm, va, in, 5000, false), 0);
	EXPECT_MEM(in, out, 5000);
	va = va_of(m) + PAGE - 2500;
	EXPECT_EQ(mm_copy(mm, va, out, 5000, true), 0);
	EXPECT_EQ(mm_copy(mm, va, in, 5000, false), 0);
	EXPECT_MEM(in, out, 5000);
	va = va_of(m) + 2 * PAGE - 4999;
	EXPECT_EQ(mm_copy(mm, va, in, 5000, false), -EFAULT);
	EXPECT_EQ(mm_copy(mm, UINT64_MAX - 10, in, 100, false), -EFAULT);
	EXPECT_EQ(mm_copy(mm, va_of(m), in, 0, false), 0);
}

TEST("tables have four levels that a walk by hand can follow")
{
	struct rig *r = plain_rig();
	uint8_t *m = rig_map(r, 0, 1);
	struct host_mm *mm = rig_mm(r, 0);
	uint64_t table = mm_table_pa(mm), d = 0;
	int level;

	EXPECT_EQ(mm_fault(mm, va_of(m), HOST_FAULT_WRITE), 0);
	EXPECT_NE(mm_asid(mm), 0);
	for (level = 0; level < 4; level++) {
		EXPECT_EQ(dram_read64(r->k->dram, table + 8 *
				      (va_of(m) >> (39 - 9 * level) & 511), &d),
			  DRAM_OK);
		EXPECT_EQ(d & 3, 3);
		table = d & PTE_ADDR;
	}
	EXPECT_EQ(table, host_translate(mm, va_of(m)));
}
