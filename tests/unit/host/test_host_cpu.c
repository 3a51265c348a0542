// SPDX-License-Identifier: BSD-2-Clause
/*
 * The CPU side: programs touch memory with ordinary loads and stores, and pages
 * come through SIGSEGV. In both modes where the mode matters.
 *
 * Accesses that may trap are volatile: under sanitizers an atomic one would
 * enter the handler from inside the runtime. variants: posix pages
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/os/os_emu.h"
#include "rig/host.h"

struct app {
	struct rig *r;
	uint8_t *m;
	uint64_t pages, seen, then_ns, value;
	atomic_uint *ready;
};

static volatile uint64_t *page_word(const struct app *a, uint64_t page)
{
	return (volatile uint64_t *)(a->m + page * PAGE);
}

static void write_then_read(void *arg)
{
	struct app *a = arg;
	uint64_t i;

	for (i = 0; i < a->pages; i++)
		*page_word(a, i) = i * 3 + 1;
	for (i = 0; i < a->pages; i++)
		WANT(a->r, *page_word(a, i) == i * 3 + 1);
}

static void touch_in(enum sim_mode mode, uint64_t frames, uint64_t pages)
{
	struct rig *r = rig_start(mode, test_seed(), frames, 256);
	struct app a = { .r = r, .m = rig_map(r, 0, pages), .pages = pages };

	rig_thread(r, 0, write_then_read, &a);
	rig_run(r);
	EXPECT_GE(rig_stats(r).cpu_faults, pages);
	EXPECT_GE(trace_count(r->trace, EV_CPU_MAPPED), pages);
	EXPECT_EQ(trace_count(r->trace, EV_CPU_FAULT),
		  trace_count(r->trace, EV_CPU_MAPPED));
}

TEST("a program touches cold memory and finds what it wrote (lockstep)")
{
	touch_in(SIM_LOCKSTEP, 64, 40);
}

TEST("a program touches cold memory and finds what it wrote (threads)")
{
	touch_in(SIM_THREADS, 64, 40);
}

TEST("a program larger than memory runs, page by page (lockstep)")
{
	touch_in(SIM_LOCKSTEP, 5, 60);
}

TEST("a program larger than memory runs, page by page (threads)")
{
	touch_in(SIM_THREADS, 5, 60);
}

TEST("a program uses linear views of a large bank (lockstep)")
{
	touch_in(SIM_LOCKSTEP, 2048, 1500);
}

TEST("a program uses linear views of a large bank (threads)")
{
	touch_in(SIM_THREADS, 2048, 1500);
}

/* Else a fault that writes looks like one that reads, and a second one follows. */
#define system_tells_writes() (strcmp(os_system(), "posix") != 0)

static void touch_once(void *arg)
{
	struct app *a = arg;

	a->then_ns = sim_now(a->r->sim);
	*page_word(a, 0) = 1;
	a->then_ns = sim_now(a->r->sim) - a->then_ns;
}

TEST("a CPU fault costs trap, look-up and page-in, once")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	struct app a = { .r = r, .m = rig_map(r, 0, 1) };

	rig_thread(r, 0, touch_once, &a);
	rig_run(r);
	if (system_tells_writes())
		EXPECT_EQ(a.then_ns, r->timing.v[T_CPU_SIGNAL] +
				     r->timing.v[T_MM_LOOKUP] +
				     r->timing.v[T_MM_MINOR]);
	rig_thread(r, 0, touch_once, &a);
	rig_run(r);
	EXPECT_EQ(a.then_ns, 0);
	EXPECT_EQ(rig_stats(r).cpu_faults, system_tells_writes() ? 1 : 2);
}

static void read_all(void *arg)
{
	struct app *a = arg;
	uint64_t i;

	for (i = 0; i < a->pages; i++)
		a->seen += *page_word(a, i);
}

TEST("pages that the kernel has are opened without a fault, 16 at once")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	struct app a = { .r = r, .m = rig_map(r, 0, 20), .pages = 1 };
	uint64_t i;

	EXPECT_EQ(host_madvise(r->p[0], a.m, 20 * PAGE, HOST_POPULATE), 0);
	EXPECT_EQ(cpu_prot(rig_mm(r, 0), va_of(a.m)), 0);
	rig_thread(r, 0, read_all, &a);
	rig_run(r);
	for (i = 0; i < 20; i++)
		EXPECT_EQ(cpu_prot(rig_mm(r, 0), va_of(a.m) + i * PAGE),
			  i < 16 ? RW : 0);
	EXPECT_EQ(rig_stats(r).cpu_faults, 0);
	EXPECT_EQ(trace_count(r->trace, EV_CPU_FAULT), 0);
}

static void read_write_aged(void *arg)
{
	struct app *a = arg;
	struct host_stats st;

	WANT(a->r, *page_word(a, 0) == 0);
	host_stats(a->r->k, &st);
	WANT(a->r, st.cpu_faults == 1);
	*page_word(a, 0) = 7;	/* clean to dirty */
	host_stats(a->r->k, &st);
	WANT(a->r, st.cpu_faults == 2);
	WANT(a->r, *page_word(a, 0) == 7);
	WANT(a->r, !host_madvise(host_current(), a->m, PAGE, HOST_COLD));
	WANT(a->r, *page_word(a, 0) == 7);
	host_stats(a->r->k, &st);
	WANT(a->r, st.cpu_faults == 3);
	WANT(a->r, !host_madvise(host_current(), a->m, PAGE, HOST_PAGEOUT));
	WANT(a->r, *page_word(a, 0) == 7);
	host_stats(a->r->k, &st);
	WANT(a->r, st.cpu_faults == 4 && st.faults_major == 1);
	WANT(a->r, !host_madvise(host_current(), a->m, PAGE, HOST_DONTNEED));
	WANT(a->r, *page_word(a, 0) == 0);
}

static void kinds_in(enum sim_mode mode)
{
	struct rig *r = rig_start(mode, 1, 64, 64);
	struct app a = { .r = r, .m = rig_map(r, 0, 1) };

	rig_thread(r, 0, read_write_aged, &a);
	rig_run(r);
}

TEST("a CPU sees absent, clean, aged and swapped pages, one fault each "
     "(lockstep)")
{
	kinds_in(SIM_LOCKSTEP);
}

TEST("a CPU sees absent, clean, aged and swapped pages, one fault each "
     "(threads)")
{
	kinds_in(SIM_THREADS);
}

/* ---- many threads ---- */

static void touch_together(void *arg)
{
	struct app *a = arg;
	uint64_t i;

	atomic_fetch_sub(a->ready, 1);
	while (atomic_load(a->ready))
		sim_yield();
	for (i = 0; i < a->pages; i++)
		a->seen |= *page_word(a, i);
}

static void together_in(enum sim_mode mode)
{
	struct rig *r = rig_start(mode, test_seed(), 64, 64);
	uint8_t *m = rig_map(r, 0, 20);
	atomic_uint ready = 3;
	struct app a = { .r = r, .m = m, .pages = 20, .ready = &ready };
	struct app b = a, c = a;

	rig_thread(r, 0, touch_together, &a);
	rig_thread(r, 0, touch_together, &b);
	rig_thread(r, 0, touch_together, &c);
	rig_run(r);
	EXPECT_EQ(a.seen | b.seen | c.seen, 0);
	EXPECT_EQ(rig_stats(r).page_ins, 20);
	EXPECT_GE(rig_stats(r).cpu_faults, 20);
}

TEST("threads that touch the same pages at once bring each in once (lockstep)")
{
	together_in(SIM_LOCKSTEP);
}

TEST("threads that touch the same pages at once bring each in once (threads)")
{
	together_in(SIM_THREADS);
}

/* Own word of every page, in all pages, many times, while pages come and go. */
static void cpu_scatter(void *arg)
{
	struct app *a = arg;
	uint64_t i, round;

	for (round = 1; round <= 10; round++)
		for (i = 0; i < a->pages; i++) {
			volatile uint64_t *w = page_word(a, i) + a->value;

			WANT(a->r, *w == round - 1);
			*w = round;
		}
}

static void check_step(void *arg)
{
	struct rig *r = arg;
	const char *bad = host_check(r->k, true);
	const char *none = NULL;

	if (bad)
		atomic_compare_exchange_strong(&r->failed, &none, bad);
}

static void scatter_in(enum sim_mode mode, uint64_t seed)
{
	struct rig *r = rig_start(mode, seed, 7, 64);
	struct app a[4];
	uint8_t *m[2];
	unsigned int i;

	rig_process(r, 1);
	m[0] = rig_map(r, 0, 12);
	m[1] = rig_map(r, 1, 9);
	sim_set_check(r->sim, check_step, r);
	for (i = 0; i < 4; i++) {
		a[i] = (struct app){ .r = r, .m = m[i / 2],
				     .pages = i / 2 ? 9 : 12,
				     .value = i % 2 };
		rig_thread(r, i / 2, cpu_scatter, &a[i]);
	}
	rig_run(r);
	/* The next one wants the same arenas. */
	for (i = 0; i < 2; i++) {
		host_process_exit(r->p[i]);
		r->p[i] = NULL;
	}
}

TEST("four threads of two processes under pressure lose nothing (lockstep)")
{
	uint64_t seed;

	for (seed = 0; seed < 4; seed++)
		scatter_in(SIM_LOCKSTEP, test_seed() + seed);
}

TEST("four threads of two processes under pressure lose nothing (threads)")
{
	uint64_t seed;

	for (seed = 0; seed < 4; seed++)
		scatter_in(SIM_THREADS, test_seed() + seed);
}

/* ---- addresses, determinism ---- */

TEST("a process has its arena where the header says")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	uint8_t *m = rig_map(r, 0, 1);

	EXPECT_EQ(va_of(m), HOST_ARENA_BASE +
			    1 * HOST_PROCESSES * HOST_ARENA_BYTES);
	rig_process(r, 1);
	EXPECT_EQ(va_of(rig_map(r, 1, 1)) - va_of(m), HOST_ARENA_BYTES);
}

TEST("a taken arena address is replaced by another, which works")
{
	void *want = (void *)(uintptr_t)(HOST_ARENA_BASE +
		(1 * HOST_PROCESSES + 1) * HOST_ARENA_BYTES);
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	struct app a = { .r = r, .pages = 3 };

	EXPECT(mmap(want, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
		    MAP_FIXED_NOREPLACE, -1, 0) == want);
	rig_process(r, 1);
	a.m = rig_map(r, 1, 3);
	EXPECT((void *)a.m != want);
	rig_thread(r, 1, write_then_read, &a);
	rig_run(r);
	munmap(want, PAGE);
}

static uint64_t sum_of(uint64_t seed)
{
	static struct trace_record rec[4096];
	struct rig *r = rig_start(SIM_LOCKSTEP, seed, 5, 64);
	struct app a = { .r = r, .m = rig_map(r, 0, 20), .pages = 20 };
	struct app b = a;
	uint64_t h = 14695981039346656037ull;
	uint32_t i, n, j;

	b.value = 1;
	rig_thread(r, 0, cpu_scatter, &a);
	rig_thread(r, 0, cpu_scatter, &b);
	rig_run(r);
	n = trace_snapshot(r->trace, rec, 4096);
	for (i = 0; i < n; i++) {
		h = (h ^ rec[i].seq) * 1099511628211ull;
		h = (h ^ rec[i].time_ns) * 1099511628211ull;
		h = (h ^ rec[i].event) * 1099511628211ull;
		h = (h ^ rec[i].cause) * 1099511628211ull;
		for (j = 0; j < TRACE_ARGS; j++)
			h = (h ^ rec[i].arg[j]) * 1099511628211ull;
	}
	/* Two rigs would want the same arena: this one ends here. */
	host_process_exit(r->p[0]);
	r->p[0] = NULL;
	return h;
}

TEST("the same seed gives the same events at the same times")
{
	uint64_t first = sum_of(5);

	EXPECT_EQ(sum_of(5), first);
	EXPECT(sum_of(6) != first || sum_of(7) != first || sum_of(8) != first);
}

/* ---- accesses that cannot be repaired ---- */

static struct {
	struct rig *r;
	uint8_t *m;
	uint64_t va;
	int error, calls;
	bool write, repair;
	int pipe;
} hooked;

static bool on_segv(struct host_process *p, uint64_t va, bool stores, int error)
{
	hooked.calls++;
	errno = 5;
	hooked.va = va;
	hooked.write = stores;
	hooked.error = error;
	if (hooked.pipe &&
	    write(hooked.pipe, &va, sizeof(va)) != sizeof(va))
		abort();
	if (hooked.repair)
		return !host_mprotect(p, hooked.m, PAGE, RW);
	return error == -ENOMEM;
}

TEST("a refused access is told to the hook, which may repair it")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	struct app a = { .r = r, .m = rig_map(r, 0, 1) };

	memset(&hooked, 0, sizeof(hooked));
	hooked.r = r;
	hooked.m = a.m;
	hooked.repair = true;
	host_segv_hook(on_segv);
	EXPECT_EQ(host_mprotect(r->p[0], a.m, PAGE, HOST_READ), 0);
	rig_thread(r, 0, touch_once, &a);
	rig_run(r);
	host_segv_hook(NULL);
	EXPECT_EQ(hooked.calls, 1);
	EXPECT_EQ(hooked.va, va_of(a.m));
	EXPECT_EQ(hooked.error, -EFAULT);
	EXPECT(hooked.write || !system_tells_writes());
}

TEST("a CPU access that finds no frame is told as such")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	struct app a = { .r = r, .m = rig_map(r, 0, 1), .pages = 1 };

	memset(&hooked, 0, sizeof(hooked));
	host_segv_hook(on_segv);
	host_inject_no_frames(r->k, 1);
	rig_thread(r, 0, read_all, &a);
	rig_run(r);
	host_segv_hook(NULL);
	EXPECT_EQ(hooked.calls, 1);
	EXPECT_EQ(hooked.error, -ENOMEM);
	EXPECT(!hooked.write);
}

static void keep_errno(void *arg)
{
	struct app *a = arg;

	errno = 77;
	*page_word(a, 1) = 1;
	WANT(a->r, errno == 77);
	*page_word(a, 0) = 1;	/* by way of the hook, which changes errno */
	WANT(a->r, errno == 77);
	WANT(a->r, host_current() == a->r->p[0]);
}

TEST("errno survives a page fault, whatever the handler does to it")
{
	struct rig *r = rig_start(SIM_THREADS, 1, 64, 64);
	struct app a = { .r = r, .m = rig_map(r, 0, 2) };

	memset(&hooked, 0, sizeof(hooked));
	hooked.m = a.m;
	hooked.repair = true;
	host_segv_hook(on_segv);
	EXPECT_EQ(host_mprotect(r->p[0], a.m, PAGE, HOST_READ), 0);
	rig_thread(r, 0, keep_errno, &a);
	rig_run(r);
	host_segv_hook(NULL);
	EXPECT_EQ(hooked.calls, 1);
	EXPECT(host_current() == NULL);
}

/* In a child: one store that the kernel refuses. */
static void cpu_die(bool foreign_arena)
{
	struct rig *r = rig_start(SIM_THREADS, 1, 64, 64);
	struct app a = { .r = r };

	rig_process(r, 1);
	a.m = rig_map(r, foreign_arena, 1);
	if (!foreign_arena)
		host_mprotect(r->p[0], a.m, PAGE, HOST_READ);
	host_segv_hook(on_segv);
	if (write(hooked.pipe, &(uint64_t){ va_of(a.m) }, 8) != 8)
		abort();
	rig_thread(r, 0, touch_once, &a);
	sim_run(r->sim, 0, 0);
	_exit(0);	/* it lived: wrong */
}

static void expect_death(bool foreign_arena, int told)
{
	uint64_t va[3] = { 0 };
	int fds[2], status;
	pid_t pid;

	EXPECT_EQ(pipe(fds), 0);
	memset(&hooked, 0, sizeof(hooked));
	hooked.pipe = fds[1];
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stderr))
			abort();
		cpu_die(foreign_arena);
	}
	close(fds[1]);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(read(fds[0], va, sizeof(va)), 8 + 8 * told);
	close(fds[0]);
	EXPECT_EQ(va[told], va[0]);
	/* A sanitizer's own handler ends the program with an exit status. */
	EXPECT((WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) ||
	       (WIFEXITED(status) && WEXITSTATUS(status) != 0));
}

TEST("a store against the rights kills the program at its real address")
{
	expect_death(false, 1);
}

TEST("a store to another process's arena kills the program")
{
	expect_death(true, 0);
}

/* ---- somebody else's handler ---- */

static struct {
	uint8_t *page;
	atomic_int calls;
} foreign;

static void foreign_handler(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	if (si->si_addr != foreign.page)
		abort();
	atomic_fetch_add(&foreign.calls, 1);
	mprotect(foreign.page, PAGE, PROT_READ | PROT_WRITE);
}

static void touch_both(void *arg)
{
	struct app *a = arg;

	*(volatile uint8_t *)foreign.page = 1;
	*page_word(a, 0) = 1;
}

TEST("a SIGSEGV outside every arena goes to the handler that was there before")
{
	struct sigaction sa = { .sa_sigaction = foreign_handler,
				.sa_flags = SA_SIGINFO }, old, now;
	struct rig *r;
	struct app a;

	foreign.page = mmap(NULL, PAGE, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	atomic_store(&foreign.calls, 0);
	EXPECT_EQ(sigaction(SIGSEGV, &sa, &old), 0);
	r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	a = (struct app){ .r = r, .m = rig_map(r, 0, 1) };
	rig_thread(r, 0, touch_both, &a);
	rig_run(r);
	EXPECT_EQ(atomic_load(&foreign.calls), 1);
	EXPECT_EQ(rig_stats(r).cpu_faults, system_tells_writes() ? 1 : 2);
	STEP("outside every application thread too");
	mprotect(foreign.page, PAGE, PROT_NONE);
	*(volatile uint8_t *)foreign.page = 2;
	EXPECT_EQ(atomic_load(&foreign.calls), 2);
	STEP("with the last process our handler goes");
	host_process_exit(r->p[0]);
	r->p[0] = NULL;
	EXPECT_EQ(sigaction(SIGSEGV, &old, &now), 0);
	EXPECT(now.sa_sigaction == foreign_handler);
	munmap(foreign.page, PAGE);
}

/* ---- the system's limit of ranges ---- */

/* An arena has fewer pages of 64 KB than the system allows ranges. */
#if HOST_PAGE_SHIFT <= 14
static void every_other(void *arg)
{
	struct app *a = arg;
	uint64_t i;

	for (i = 0; i < a->pages; i += 2)
		*page_word(a, i) = i;
	for (i = 0; i < a->pages; i += 998)
		WANT(a->r, *page_word(a, i) == i);
}

static uint64_t max_map_count(void)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
	unsigned long long n = 0;

	if (!f || fscanf(f, "%llu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

TEST("more separate pages than the system allows ranges are no problem")
{
	uint64_t pages = max_map_count() + 2000;
	struct app a = { .pages = pages };
	struct rig *r;

	if (pages == 2000 || pages > 100000)
		test_skip("the limit of ranges is unknown or too high here");
	r = rig_start(SIM_THREADS, 1, 131072, 64);
	a.r = r;
	a.m = rig_map(r, 0, pages);
	rig_thread(r, 0, every_other, &a);
	rig_run(r);
	EXPECT_EQ(rig_stats(r).page_ins, pages / 2 + (pages & 1));
	STEP("the views were begun again: not all pages are open");
	EXPECT_EQ(rig_stats(r).evictions, 0);
	EXPECT_EQ(cpu_prot(rig_mm(r, 0), va_of(a.m) + 2 * PAGE), 0);
}
#endif
