// SPDX-License-Identifier: BSD-2-Clause
/*
 * arena.c - the CPU side of a process inside this program: what a real CPU
 * would find by walking the tables is done here with protections. A page that
 * the tables do not let the CPU use is PROT_NONE in the arena; touching it
 * raises SIGSEGV, the handler (lib/os) comes here, has the kernel fault the page in
 * (thread.c) and returns.
 *
 * The arena is opened and closed under the address space's lock. The handler does not do it
 * after an answer of the kernel half: meanwhile the page could be evicted again, and the
 * thread would open somebody else's frame.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "host/internal.h"
#include "os/os.h"

static void *arena_pointer(uint64_t va)
{
	return (void *)(uintptr_t)va;
}

/* Somewhere else, at a multiple of a leaf: its views must not overlap. */
static uint64_t reserve_anywhere(int *error)
{
	uint8_t *at = os_reserve(NULL, HOST_ARENA_BYTES + CPU_LEAF_BYTES,
				 error);
	uint64_t head;

	if (!at)
		return 0;
	head = -(uintptr_t)at % CPU_LEAF_BYTES;
	if (head)
		munmap(at, head);
	munmap(at + head + HOST_ARENA_BYTES, CPU_LEAF_BYTES - head);
	return (uintptr_t)at + head;
}

/* Where the arena is in every run; 0: no matter where. */
static uint64_t arena_wish(const struct host_kernel *k, unsigned int slot)
{
	bool more = k->id >= HOST_ARENA_BOARDS;
	uint64_t board = k->id - (more ? HOST_ARENA_BOARDS : 0u);

#ifdef OS_TSAN
	/* HOST_ARENA_MORE is the sanitizer's own, and it takes a wish there for 0. */
	if (more)
		return 0;
#endif
	return (more ? HOST_ARENA_MORE : HOST_ARENA_BASE) +
	       (board * HOST_PROCESSES + slot) * HOST_ARENA_BYTES;
}

static uint64_t arena_place(struct host_kernel *k, unsigned int slot, int *error)
{
	uint64_t want = arena_wish(k, slot), arena;
	void *at;

	if (!want)
		return reserve_anywhere(error);
	at = os_reserve(arena_pointer(want), HOST_ARENA_BYTES, error);
	if (!at)
		return 0;
	if ((uintptr_t)at == want)
		return want;
	munmap(at, HOST_ARENA_BYTES);
	arena = reserve_anywhere(error);
	if (arena)
		fprintf(stderr, "faultline: 0x%llx is taken, so addresses of "
			"this process will differ between runs\n",
			(unsigned long long)want);
	return arena;
}

static void arena_clear(struct host_mm *mm)
{
	int err = os_view(arena_pointer(mm->arena), HOST_ARENA_BYTES, PROT_NONE,
			  -1, 0);

	if (!err)
		return;
	/* A view that cannot be closed would be of someone else's frame. */
	fprintf(stderr, "faultline: cannot close the CPU's view of memory: "
		"%s\n", strerror(-err));
	abort();
}

/*
 * A linear view, still closed, of the stretch of the bank where this leaf's
 * pages most likely have their frames: later each opening is one mprotect, half
 * as dear as an mmap (sources: host-measured). Where it does not fit, pages are
 * mapped as they come.
 */
static void view_leaf(struct host_mm *mm, struct cpu_leaf *leaf, uint64_t va)
{
	uint64_t first = va & ~(CPU_LEAF_BYTES - 1), frame, i;

	if (leaf->viewed)
		return;
	leaf->viewed = true;
	frame = (first - mm->arena) / HOST_PAGE % mm->frames;
	if (frame + CPU_LEAF_PAGES > mm->frames)
		return;
	if (os_view(arena_pointer(first), CPU_LEAF_BYTES, PROT_NONE,
		    mm->bank_fd, frame * HOST_PAGE))
		return;
	for (i = 0; i < CPU_LEAF_PAGES; i++)
		leaf->page[i] = (uint32_t)(frame + i + 1);
}

static int arena_open(struct host_mm *mm, struct cpu_leaf *leaf, uint64_t va,
		      uint64_t n, uint64_t frame, int prot)
{
	int p = PROT_READ | (prot & HOST_WRITE ? PROT_WRITE : 0);
	uint64_t page = va / HOST_PAGE % CPU_LEAF_PAGES, i;
	bool same = true;

	view_leaf(mm, leaf, va);
	for (i = 0; i < n && same; i++)
		same = (leaf->page[page + i] & CPU_FRAME) == frame + i + 1;
	if (same)
		return os_protect(arena_pointer(va), n * HOST_PAGE, p);
	return os_view(arena_pointer(va), n * HOST_PAGE, p, mm->bank_fd,
		       frame * HOST_PAGE);
}

/*
 * One call for all of it, because each closing interrupts every CPU that runs a
 * thread of this program (sources: host-measured).
 */
static int arena_revoke(struct host_mm *mm, uint64_t va, uint64_t end)
{
	uint64_t last;

	va = cpu_next(mm, va, end);
	if (va == end)
		return 0;
	last = cpu_shut(mm, va, end);
	if (os_protect(arena_pointer(va), last - va + HOST_PAGE, PROT_NONE))
		cpu_start_over(mm);
	return 0;
}

/*
 * It is the handler of a signal that asks. It allocates nothing; a driver that hears of
 * pages that come may.
 */
static bool arena_ready(const struct host_mm *mm, uint64_t va)
{
	return cpu_ready(mm, va) && !mm_mapped_heard(mm);
}

/* ---- the handler's part ---- */

static bool (*_Atomic hook)(struct host_process *p, uint64_t va, bool write,
			    int error);

void host_segv_hook(bool (*fn)(struct host_process *p, uint64_t va, bool write,
			       int error))
{
	atomic_store(&hook, fn);
}

/* Waits in sim_park alone; no allocation, no jump out of here; errno is the program's. */
static bool arena_fix(uintptr_t addr, int write)
{
	bool (*fn)(struct host_process *p, uint64_t va, bool write, int error);
	int saved = errno, err;
	bool fixed;

	if (!thread_in_arena(addr))
		return false;
	err = thread_fault(addr, write);
	fn = atomic_load(&hook);
	fixed = !err || (fn && fn(host_current(), addr, write > 0, err));
	errno = saved;
	return fixed;
}

/* ---- life ---- */

uint64_t arena_reserve(struct host_kernel *k, unsigned int slot, int *error)
{
	uint64_t arena;

	*error = os_fault_add(arena_fix);
	if (*error)
		return 0;
	arena = arena_place(k, slot, error);
	if (!arena)
		os_fault_remove(arena_fix);
	return arena;
}

void arena_release(uint64_t arena)
{
	munmap(arena_pointer(arena), HOST_ARENA_BYTES);
	os_fault_remove(arena_fix);
}

static void arena_end(struct host_mm *mm)
{
	arena_release(mm->arena);
}

const struct mm_ops arena_ops = {
	.bytes = sizeof(struct host_mm),
	.age_pages = 1,
	.open = arena_open,
	.clear = arena_clear,
	.revoke = arena_revoke,
	.ready = arena_ready,
	.release = arena_end,
};
