// SPDX-License-Identifier: BSD-2-Clause
/*
 * The system has no memory, no addresses or no threads for the small kernel: whoever asked
 * hears of it, nothing is left over, and what goes on works.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "rig/fail.h"
#include "rig/host.h"

/* ---- a kernel ---- */

static void bare_end(void *arg)
{
	struct rig *r = arg;

	sim_stop(r->sim);
	host_destroy(r->k);
	board_destroy(r->board);
	fabric_destroy(r->fabric);
	sim_destroy(r->sim);
	trace_destroy(r->trace);
	timing_free(&r->timing);
	free(r);
}

/* A board without a kernel. */
static struct rig *bare_start(struct host_config *hc)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct trace_config tc = { .ring_records = 256 };
	struct sim_config sc = { .mode = SIM_LOCKSTEP, .seed = 1 };
	struct fabric_config fc = { .timing = &r->timing };
	struct board_config bc = { .name = "a", .id = 1, .timing = &r->timing };
	int error;

	timing_defaults(&r->timing);
	sc.trace = fc.trace = bc.trace = r->trace = trace_create(&tc);
	fc.sim = bc.sim = r->sim = sim_create(&sc);
	bc.fabric = r->fabric = fabric_create(&fc);
	r->board = board_create(&bc, &error);
	EXPECT(r->board);
	*hc = (struct host_config){ .board = r->board, .resident_pages = 64, .swap_pages = 64 };
	test_cleanup(bare_end, r);
	return r;
}

/* The first, the second... such call fails, until there are no more. How many there were. */
static unsigned int kernel_tries(struct rig *r, const struct host_config *hc,
				 enum fail_call call)
{
	unsigned int n = 0;
	int error;

	for (;;) {
		error = 0;
		fail_at(call, n + 1, 1, ENOMEM);
		r->k = host_create(hc, &error);
		if (!fail_end())
			break;
		n++;
		EXPECT(!r->k);
		EXPECT_EQ(error, -ENOMEM);
	}
	EXPECT(r->k);
	EXPECT_EQ(error, 0);
	return n;
}

TEST("a kernel that lacks memory anywhere is none, and a board gets one later")
{
	struct host_config hc;
	struct rig *r = bare_start(&hc);
	struct host_process *p;
	int error;

	/* Kernel, its tables, the card's, swap, the thread of interrupts. */
	EXPECT_GE(kernel_tries(r, &hc, FAIL_MEMORY), 4);
	p = host_process_create(r->k, "p", &error);
	EXPECT(p);
	host_process_exit(p);
}

TEST("a kernel that lacks addresses anywhere is none, and a board gets one later")
{
	struct host_config hc;
	struct rig *r = bare_start(&hc);

	/* The stack of the thread of interrupts. */
	EXPECT_GE(kernel_tries(r, &hc, FAIL_MAP), 1);
}

TEST("a board of small pages does not run on a system of larger ones")
{
	struct host_config hc;
	struct rig *r = bare_start(&hc);
	int error = 0;

	STEP("says so on standard error");
	fail_answer(FAIL_SYSCONF, 1, 1, 2 * HOST_PAGE);
	EXPECT(!host_create(&hc, &error));
	EXPECT_EQ(fail_end(), 1);
	EXPECT_EQ(error, -ENOTSUP);
	STEP("on one of smaller pages it does");
	fail_answer(FAIL_SYSCONF, 1, 1, HOST_PAGE / 2);
	r->k = host_create(&hc, &error);
	EXPECT(r->k);
}

/* ---- a thread ---- */

static void thread_counts(void *arg)
{
	++*(unsigned int *)arg;
}

/* Each needs two: its user half comes after its kernel half, which then goes by itself. */
static void thread_tries(enum sim_mode mode, enum fail_call call, unsigned int least)
{
	struct rig *r = rig_start(mode, 1, 64, 64);
	unsigned int runs = 0, n = 0;

	for (;;) {
		fail_at(call, n + 1, 1, call == FAIL_THREAD ? EAGAIN : ENOMEM);
		r->thread[0] = host_thread_start(r->p[0], "app", thread_counts, &runs);
		if (!fail_end())
			break;
		n++;
		EXPECT(!r->thread[0]);
		EXPECT_EQ(atomic_load(&r->p[0]->threads), 0);
	}
	EXPECT_GE(n, least);
	EXPECT(r->thread[0]);
	r->threads = 1;
	rig_run(r);
	EXPECT_EQ(runs, 1);
}

TEST("an application thread without memory is none, and its process goes on")
{
	/* Itself, and a record of each half. */
	thread_tries(SIM_LOCKSTEP, FAIL_MEMORY, 3);
}

TEST("nor without a stack, or a thread of the system, for either half")
{
	thread_tries(SIM_LOCKSTEP, FAIL_MAP, 2);
	thread_tries(SIM_LOCKSTEP, FAIL_PROTECT, 2);
	thread_tries(SIM_THREADS, FAIL_THREAD, 2);
}

static void looks_round(void *arg)
{
	struct rig *r = arg;
	uint64_t arena = rig_mm(r, 0)->arena;

	WANT(r, thread_in_arena(arena));
	WANT(r, thread_in_arena(arena + ARENA_MEMORY_BYTES - 1));
	WANT(r, !thread_in_arena(arena + ARENA_MEMORY_BYTES));
	WANT(r, !thread_in_arena(arena - 1));
	WANT(r, !thread_in_arena(0));
}

TEST("an address is a thread's own from the first byte of its arena to the last of memory")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);

	EXPECT(!thread_in_arena(rig_mm(r, 0)->arena));
	rig_thread(r, 0, looks_round, r);
	rig_run(r);
}

/* ---- an arena ---- */

TEST("a process without addresses for its arena is none")
{
	struct sigaction before, now;
	struct rig *r;
	int error = 0;

	EXPECT_EQ(sigaction(SIGSEGV, NULL, &before), 0);
	r = rig_start(SIM_LOCKSTEP, 1, 64, 64);

	STEP("neither where it should be nor elsewhere");
	fail_at(FAIL_MAP, 1, 2, ENOMEM);
	EXPECT(!host_process_create(r->k, "p", &error));
	EXPECT_EQ(fail_end(), 2);
	EXPECT_EQ(error, -ENOMEM);
	rig_process(r, 1);
	STEP("nor does it count as one that has faults: the last of the others gives them back");
	host_process_exit(r->p[1]);
	host_process_exit(r->p[0]);
	r->p[0] = r->p[1] = NULL;
	EXPECT_EQ(sigaction(SIGSEGV, NULL, &now), 0);
	EXPECT(now.sa_sigaction == before.sa_sigaction);
}

TEST("a process whose faults nobody can be told of is none")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	int error = 0;

	/* The handler is installed with the first one. */
	host_process_exit(r->p[0]);
	r->p[0] = NULL;
	fail_at(FAIL_SIGACTION, 1, 1, EINVAL);
	EXPECT(!host_process_create(r->k, "p", &error));
	EXPECT_EQ(fail_end(), 1);
	EXPECT_EQ(error, -EINVAL);
	rig_process(r, 0);
}

static void pages_written(void *arg)
{
	struct rig *r = ((void **)arg)[0];
	volatile uint8_t *m = ((void **)arg)[1];
	uint64_t i;

	for (i = 0; i < 8; i++)
		m[i * PAGE] = (uint8_t)(i + 1);
	for (i = 0; i < 8; i++)
		WANT(r, m[i * PAGE] == i + 1);
}

static void pages_read(void *arg)
{
	struct rig *r = ((void **)arg)[0];
	volatile uint8_t *m = ((void **)arg)[1];
	uint64_t i;

	for (i = 0; i < 8; i++)
		WANT(r, m[i * PAGE] == i + 1);
}

static void pages_used(struct rig *r, unsigned int i, uint8_t *m)
{
	void *arg[2] = { r, m };

	rig_thread(r, i, pages_written, arg);
	rig_run(r);
}

#define ROOM (HOST_ARENA_BYTES + 2 * CPU_LEAF_BYTES)

/* The place is taken, and the system offers one `off` bytes into a leaf. */
static void arena_elsewhere(uint64_t off)
{
	void *want = (void *)(uintptr_t)(HOST_ARENA_BASE +
		(1 * HOST_PROCESSES + 1) * HOST_ARENA_BYTES);
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	uintptr_t room, leaf;
	uint8_t *m;

	EXPECT(mmap(want, PAGE, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0) == want);
	room = (uintptr_t)mmap(NULL, ROOM + CPU_LEAF_BYTES, PROT_NONE, flags, -1, 0);
	leaf = (room + CPU_LEAF_BYTES - 1) & ~(CPU_LEAF_BYTES - 1);
	STEP("not at its place, not at the second best, but 0x%" PRIx64 " into a leaf", off);
	fail_answer(FAIL_MAP, 3, 1, (long)(leaf + off));
	rig_process(r, 1);
	EXPECT_EQ(fail_end(), 1);
	m = rig_map(r, 1, 8);
	EXPECT_EQ(va_of(m), leaf + (off ? CPU_LEAF_BYTES : 0));
	pages_used(r, 1, m);
	munmap(want, PAGE);
	munmap((void *)room, leaf - room);
	/* What the arena has given back is free; this is what it never had. */
	munmap((void *)(leaf + HOST_ARENA_BYTES + CPU_LEAF_BYTES + off),
	       room + ROOM - leaf - HOST_ARENA_BYTES - off);
	munmap((void *)leaf, off);
}

TEST("an arena that lies elsewhere begins with a leaf where the system offers that")
{
	arena_elsewhere(0);
}

TEST("an arena that lies elsewhere begins with a leaf where the system offers another place")
{
	arena_elsewhere(HOST_PAGE);
}

TEST("where there is no place elsewhere either there is no arena")
{
	void *want = (void *)(uintptr_t)(HOST_ARENA_BASE +
		(1 * HOST_PROCESSES + 1) * HOST_ARENA_BYTES);
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	int error = 0;

	EXPECT(mmap(want, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
		    MAP_FIXED_NOREPLACE, -1, 0) == want);
	fail_at(FAIL_MAP, 3, 1, ENOMEM);
	EXPECT(!host_process_create(r->k, "p", &error));
	EXPECT_EQ(fail_end(), 1);
	EXPECT_EQ(error, -ENOMEM);
	munmap(want, PAGE);
	rig_process(r, 1);
}

TEST("without a linear view pages are opened one by one, and without room all begins again")
{
	unsigned int times;

	for (times = 1; times <= 2; times++) {
		struct rig *r = rig_start(SIM_LOCKSTEP, 1, 2048, 64);
		uint8_t *m = rig_map(r, 0, 8);
		void *arg[2] = { r, m };

		rig_thread(r, 0, pages_written, arg);
		STEP("%u views cannot be made", times);
		fail_at(FAIL_MAP, 1, times, ENOMEM);
		rig_run(r);
		EXPECT_EQ(fail_end(), times);
		EXPECT_EQ(rig_stats(r).faults_failed, 0);
		STEP("what was written is in the frames, and so it comes back from swap");
		EXPECT_EQ(host_madvise(r->p[0], m, 8 * PAGE, HOST_PAGEOUT), 0);
		rig_thread(r, 0, pages_read, arg);
		rig_run(r);
		EXPECT_EQ(rig_stats(r).swap_ins, 8);
		host_process_exit(r->p[0]);
		r->p[0] = NULL;
	}
}

TEST("pages that cannot be closed one by one are closed with all others")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 2048, 64);
	uint8_t *m = rig_map(r, 0, 8);

	pages_used(r, 0, m);
	EXPECT_EQ(cpu_prot(rig_mm(r, 0), va_of(m + PAGE)), RW);
	fail_at(FAIL_PROTECT, 1, 1, ENOMEM);
	EXPECT_EQ(host_madvise(r->p[0], m, PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(fail_end(), 1);
	EXPECT_EQ(cpu_prot(rig_mm(r, 0), va_of(m)), 0);
	EXPECT_EQ(cpu_prot(rig_mm(r, 0), va_of(m + PAGE)), 0);
	STEP("they are opened again when they are touched");
	pages_used(r, 0, m);
	EXPECT_EQ(cpu_prot(rig_mm(r, 0), va_of(m)), RW);
}

/* ---- what ends the program ---- */

static void cannot_clear(void *arg)
{
	struct rig *r = arg;

	fail_at(FAIL_MAP, 1, 1, ENOMEM);
	arena_ops.clear(rig_mm(r, 0));
}

TEST("a view of memory that cannot be closed ends the program")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	char said[4096];
	int status = fail_child(cannot_clear, r, said, sizeof(said));

	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	EXPECT(strstr(said, "cannot close the CPU's view of memory"));
}

static void touches_nothing(void *arg)
{
	*(volatile uint8_t *)arg = 1;
}

static void dies_there(void *arg)
{
	struct rig *r = arg;

	rig_thread(r, 0, touches_nothing, (void *)(uintptr_t)(rig_mm(r, 0)->arena + 64 * PAGE));
	sim_run(r->sim, 0, 0);
}

static bool hook_refuses(struct host_process *p, uint64_t va, bool write, int error)
{
	fprintf(stderr, "asked: %d %d\n", p && va && write, error);
	return false;
}

TEST("an access that is refused ends the program, also when nobody wants to hear of it")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	char said[4096];
	int status;

	status = fail_child(dies_there, r, said, sizeof(said));
	/* A sanitizer's own handler ends the program with an exit status. */
	EXPECT(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : WEXITSTATUS(status) != 0);
	EXPECT(!strstr(said, "asked"));
	STEP("whoever is asked may refuse, too");
	host_segv_hook(hook_refuses);
	status = fail_child(dies_there, r, said, sizeof(said));
	host_segv_hook(NULL);
	EXPECT(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : WEXITSTATUS(status) != 0);
	EXPECT(strstr(said, "asked"));
}
