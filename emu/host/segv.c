// SPDX-License-Identifier: BSD-2-Clause
/*
 * segv.c - the CPU side of an address space: what a real CPU would find by
 * walking the tables is done here with mprotect. A page that the tables do not
 * let the CPU use is PROT_NONE in the arena; touching it raises SIGSEGV, the
 * handler asks the kernel half of its thread (thread.c) and returns.
 *
 * The arena is opened and closed by kernel threads, under the address space's
 * lock, and not by the handler: between an answer and the handler's own
 * mprotect the page could be evicted again, and the thread would open somebody
 * else's frame.
 *
 * The handler is the one thing here that belongs to the whole program: it is
 * counted, and what was installed before gets every address that is not ours.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "host/internal.h"

/*
 * A word of mm->cpu: frame + 1 in bits 29:0 (0: no view of the bank), rights
 * above.
 */
#define CPU_FRAME	0x3fffffffu
#define CPU_PROT_SHIFT	30
#define AROUND		16u /* pages opened at once if they are there */
#define BLOCK_PAGES	512u	/* of a linear view */
#define BLOCKS		(ARENA_PAGES / BLOCK_PAGES)

/* ---- the arena ---- */

/*
 * A new view at a fixed address; fd -1: nothing. The system call itself and not
 * the library's: ThreadSanitizer takes the latter for a write to all of the
 * range, and every thread that uses a page there for its rival.
 */
static bool map_at(void *at, uint64_t bytes, int prot, int fd, uint64_t offset)
{
	int flags = MAP_FIXED | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS |
					  MAP_NORESERVE : MAP_SHARED);
#if defined(__linux__) && defined(SYS_mmap)
	return syscall(SYS_mmap, at, bytes, prot, flags, fd, offset) ==
	       (long)(uintptr_t)at;
#else
	return mmap(at, bytes, prot, flags, fd, (off_t)offset) == at;
#endif
}

uint8_t *cpu_reserve(struct host_kernel *k, unsigned int slot, int *error)
{
	uint64_t want = HOST_ARENA_BASE +
			((uint64_t)k->id * HOST_PROCESSES + slot) *
				HOST_ARENA_BYTES;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *at;

	at = mmap((void *)(uintptr_t)want, HOST_ARENA_BYTES, PROT_NONE,
		  flags | MAP_FIXED_NOREPLACE, -1, 0);
	if (at != MAP_FAILED && (uintptr_t)at != want) {
		/* A kernel before 4.17 takes the address as a wish. */
		munmap(at, HOST_ARENA_BYTES);
		at = MAP_FAILED;
	}
	if (at == MAP_FAILED) {
		at = mmap(NULL, HOST_ARENA_BYTES, PROT_NONE, flags, -1, 0);
		if (at == MAP_FAILED) {
			*error = -errno;
			return NULL;
		}
		fprintf(stderr, "faultline: 0x%llx is taken, so addresses of "
			"this process will differ between runs\n",
			(unsigned long long)want);
	}
	*error = 0;
	return at;
}

int cpu_create(struct host_mm *mm, uint8_t *arena)
{
	mm->cpu = calloc(ARENA_PAGES, sizeof(*mm->cpu));
	mm->cpu_blocks = calloc(BLOCKS / 64, sizeof(*mm->cpu_blocks));
	if (!mm->cpu || !mm->cpu_blocks) {
		free(mm->cpu);
		free(mm->cpu_blocks);
		return -ENOMEM;
	}
	assert(mm->frames < CPU_FRAME);
	mm->arena = arena;
	return 0;
}

void cpu_destroy(struct host_mm *mm)
{
	munmap(mm->arena, HOST_ARENA_BYTES);
	free(mm->cpu);
	free(mm->cpu_blocks);
	mm->cpu = NULL;
	mm->cpu_blocks = NULL;
}

static uint64_t page_of(const struct host_mm *mm, uint64_t va)
{
	return (va - (uintptr_t)mm->arena) / HOST_PAGE;
}

int cpu_prot(const struct host_mm *mm, uint64_t va)
{
	return (int)(mm->cpu[page_of(mm, va)] >> CPU_PROT_SHIFT);
}

uint32_t cpu_frame(const struct host_mm *mm, uint64_t va)
{
	return mm->cpu[page_of(mm, va)] & CPU_FRAME;
}

uint64_t cpu_next(const struct host_mm *mm, uint64_t va, uint64_t *end)
{
	uint64_t page = page_of(mm, va), block;

	*end = (uintptr_t)mm->arena + HOST_ARENA_BYTES;
	while (page < ARENA_PAGES) {
		block = page / BLOCK_PAGES;
		if (!(mm->cpu_blocks[block / 64] >> block % 64 & 1))
			page = (block + 1) * BLOCK_PAGES;
		else if (!(mm->cpu[page] >> CPU_PROT_SHIFT))
			page++;
		else
			return (uintptr_t)mm->arena + page * HOST_PAGE;
	}
	return *end;
}

/*
 * The system allows so many different ranges and no more (limits.md 3: 65530):
 * begin again with one. Everything that was open is opened again when it is
 * touched.
 */
static void start_over(struct host_mm *mm)
{
	if (!map_at(mm->arena, HOST_ARENA_BYTES, PROT_NONE, -1, 0)) {
		/*
		 * A view that cannot be closed would be of someone else's
		 * frame.
		 */
		perror("faultline: cannot close the CPU's view of memory");
		abort();
	}
	memset(mm->cpu, 0, ARENA_PAGES * sizeof(*mm->cpu));
	memset(mm->cpu_blocks, 0, BLOCKS / 8);
}

/*
 * A linear view, still closed, of the stretch of the bank where this block's
 * pages most likely have their frames: later each opening is one mprotect, half
 * as dear as an mmap (limits.md 3). Where it does not fit, pages are mapped as
 * they come.
 */
static void open_block(struct host_mm *mm, uint64_t page)
{
	uint64_t block = page / BLOCK_PAGES, first = block * BLOCK_PAGES;
	uint64_t frame = first % mm->frames, i;
	void *at = mm->arena + first * HOST_PAGE;

	if (mm->cpu_blocks[block / 64] >> block % 64 & 1)
		return;
	mm->cpu_blocks[block / 64] |= 1ull << block % 64;
	if (frame + BLOCK_PAGES > mm->frames)
		return;
	if (!map_at(at, BLOCK_PAGES * HOST_PAGE, PROT_NONE, mm->bank_fd,
		    frame * HOST_PAGE))
		return;
	for (i = 0; i < BLOCK_PAGES; i++)
		mm->cpu[first + i] = (uint32_t)(frame + i + 1);
}

/* 0 or errno */
static int view(struct host_mm *mm, uint64_t page, uint64_t n, uint32_t frame,
		int prot)
{
	void *at = mm->arena + page * HOST_PAGE;
	int p = PROT_READ | (prot & HOST_WRITE ? PROT_WRITE : 0);
	bool same = true;
	uint64_t i;

	open_block(mm, page);
	for (i = 0; i < n && same; i++)
		same = (mm->cpu[page + i] & CPU_FRAME) == frame + i + 1;
	if (same ? mprotect(at, n * HOST_PAGE, p) :
		   !map_at(at, n * HOST_PAGE, p, mm->bank_fd,
			   (uint64_t)frame * HOST_PAGE))
		return errno;
	for (i = 0; i < n; i++)
		mm->cpu[page + i] = (frame + (uint32_t)i + 1) |
				    (uint32_t)prot << CPU_PROT_SHIFT;
	return 0;
}

/* Rights that the tables give the CPU; none: it would fault. */
static int rights(uint64_t d)
{
	if (!pte_allows(d, false))
		return 0;
	return pte_allows(d, true) ? HOST_READ | HOST_WRITE : HOST_READ;
}

static uint64_t frame_number(struct host_mm *mm, uint64_t d)
{
	return (uint64_t)(frame_at(mm, d & PTE_ADDR) - mm->frame);
}

/* Is this page closed, to be opened with these rights, and that its frame? */
static bool goes_along(struct host_mm *mm, uint64_t page, int prot,
		       uint64_t frame)
{
	uint64_t d = pt_get(mm, (uintptr_t)mm->arena + page * HOST_PAGE);

	return !(mm->cpu[page] >> CPU_PROT_SHIFT) && rights(d) == prot &&
	       frame_number(mm, d) == frame;
}

/*
 * Open va as the tables say, together with neighbours that are there and lie
 * side by side. An aged page stays closed: its next use must be seen.
 */
int cpu_grant(struct host_mm *mm, uint64_t va)
{
	uint64_t page = page_of(mm, va), from = page, to = page + 1, frame;
	uint64_t low = page / AROUND * AROUND, d = pt_get(mm, va);
	int prot = rights(d), err;

	assert(prot);
	frame = frame_number(mm, d);
	/* Another thread was faster. */
	if (mm->cpu[page] == ((frame + 1) | (uint64_t)prot << CPU_PROT_SHIFT))
		return 0;
	while (from > low && frame >= page - from + 1 &&
	       goes_along(mm, from - 1, prot, frame - (page - from) - 1))
		from--;
	while (to < low + AROUND &&
	       goes_along(mm, to, prot, frame + (to - page)))
		to++;
	frame -= page - from;
	err = view(mm, from, to - from, (uint32_t)frame, prot);
	if (err == ENOMEM) {
		start_over(mm);
		err = view(mm, from, to - from, (uint32_t)frame, prot);
	}
	return -err;
}

/*
 * Close a range: one call for all of it, because each closing interrupts every
 * CPU that runs a thread of this program (limits.md 3).
 */
void cpu_revoke(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	uint64_t page = page_of(mm, va), first = npages, last = 0, i;

	for (i = 0; i < npages; i++)
		if (mm->cpu[page + i] >> CPU_PROT_SHIFT) {
			mm->cpu[page + i] &= CPU_FRAME;
			first = first < i ? first : i;
			last = i;
		}
	if (first < npages && mprotect(mm->arena + (page + first) * HOST_PAGE,
				       (last - first + 1) * HOST_PAGE,
				       PROT_NONE))
		start_over(mm);
}

/* ---- the signal handler ---- */

static struct {
	pthread_mutex_t lock;
	unsigned int users;
	struct sigaction old_segv, old_bus;
	bool (*_Atomic hook)(struct host_process *p, uint64_t va, bool write,
			     int error);
} segv = { .lock = PTHREAD_MUTEX_INITIALIZER };

void host_segv_hook(bool (*fn)(struct host_process *p, uint64_t va, bool write,
			       int error))
{
	atomic_store(&segv.hook, fn);
}

#if defined(__aarch64__)
/* The ESR record of the signal frame; absent under qemu-user (limits.md 6). */
static bool find_esr(const ucontext_t *uc, uint64_t *esr)
{
	const uint8_t *at = uc->uc_mcontext.__reserved;
	const uint8_t *end = at + sizeof(uc->uc_mcontext.__reserved);
	struct _aarch64_ctx head;

	while (at + sizeof(head) <= end) {
		memcpy(&head, at, sizeof(head));
		if (!head.magic || !head.size)
			return false;
		if (head.magic == ESR_MAGIC) {
			memcpy(esr, at + sizeof(head), sizeof(*esr));
			return true;
		}
		at += head.size;
	}
	return false;
}
#endif

/* 1 write, 0 read, -1 the machine does not say */
static int is_write(const ucontext_t *uc)
{
#if defined(__x86_64__) && defined(REG_ERR)
	/* Page-fault error code: bit 1 is W/R, bit 2 is always set here. */
	uint64_t err = (uint64_t)uc->uc_mcontext.gregs[REG_ERR];

	/* Valgrind gives 0 (anchors.md 7.3). */
	return err & 4 ? (int)(err >> 1 & 1) : -1;
#elif defined(__aarch64__)
	uint64_t esr;

	/* ISS.WnR of a data abort */
	return find_esr(uc, &esr) ? (int)(esr >> 6 & 1) : -1;
#else
	(void)uc;
	return -1;
#endif
}

/* Not ours: whoever was there before us gets it. */
static void pass_on(int sig, siginfo_t *si, void *uc)
{
	const struct sigaction *old = sig == SIGBUS ? &segv.old_bus :
						      &segv.old_segv;

	if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(sig, si, uc);
	} else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
		old->sa_handler(sig);
	} else {
		/* Return, do it again, and die with the real address. */
		struct sigaction dfl = { .sa_handler = SIG_DFL };

		sigaction(sig, &dfl, NULL);
		/* A signal that was sent, and not an access, does not recur. */
		if (si->si_code <= 0)
			raise(sig);
	}
}

/*
 * No mutex, no allocation, no jump out of here; errno is the program's. What it
 * calls is atomics, sim_park and sim_unpark.
 */
static void on_signal(int sig, siginfo_t *si, void *context)
{
	uint64_t va = (uintptr_t)si->si_addr;
	bool (*hook)(struct host_process *p, uint64_t va, bool write,
		     int error);
	int saved = errno, write, err;

	/* A code above 0 is an access; others were sent with kill. */
	if (si->si_code <= 0 || !thread_in_arena(va)) {
		errno = saved;
		pass_on(sig, si, context);
		return;
	}
	write = is_write(context);
	err = thread_fault(va, write);
	hook = atomic_load(&segv.hook);
	if (err && !(hook && hook(thread_process(), va, write > 0, err)))
		pass_on(sig, si, context);
	errno = saved;
}

int segv_install(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal,
				.sa_flags = SA_SIGINFO | SA_ONSTACK };
	int err = 0;

	sigemptyset(&sa.sa_mask);
	pthread_mutex_lock(&segv.lock);
	if (!segv.users++ && (sigaction(SIGSEGV, &sa, &segv.old_segv) ||
			      sigaction(SIGBUS, &sa, &segv.old_bus))) {
		err = -errno;
		segv.users--;
	}
	pthread_mutex_unlock(&segv.lock);
	return err;
}

static void give_back(int sig, const struct sigaction *old)
{
	struct sigaction now;

	/* Somebody may have put his own on top of ours meanwhile. */
	if (!sigaction(sig, NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
	    now.sa_sigaction == on_signal)
		sigaction(sig, old, NULL);
}

void segv_uninstall(void)
{
	pthread_mutex_lock(&segv.lock);
	assert(segv.users);
	if (!--segv.users) {
		give_back(SIGSEGV, &segv.old_segv);
		give_back(SIGBUS, &segv.old_bus);
	}
	pthread_mutex_unlock(&segv.lock);
}
