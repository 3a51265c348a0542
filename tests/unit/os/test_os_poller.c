// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread that polls: when it leaves a CPU that it shares. And fences that one process runs
 * for another.
 *
 * variants: posix
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "lib/os/os.h"
#include "os/os_emu.h"

#define SHARED	16u		/* yields in a row */
#define STAY_NS	2000000u
#define CPUS_MOST 256u
#define AT_NS	UINT64_C(1000000000)	/* of a clock that has run for long */

static bool on_linux(void)
{
	return !strcmp(os_system(), "linux");
}

/* ---- the rule ---- */

/* n yields at that time that were shared: how many of them said that it is time to leave. */
static unsigned int yields_shared(struct os_poller *p, unsigned int n, uint64_t now_ns)
{
	unsigned int leaves = 0;

	while (n--)
		leaves += os_poller_leaves(p, true, now_ns);
	return leaves;
}

TEST("it leaves after sixteen yields in a row that were shared")
{
	struct os_poller p = { 0 };

	EXPECT_EQ(yields_shared(&p, SHARED - 1, AT_NS), 0);
	EXPECT(!os_poller_leaves(&p, false, AT_NS));
	EXPECT_EQ(yields_shared(&p, SHARED - 1, AT_NS), 0);
	EXPECT_EQ(yields_shared(&p, 1, AT_NS), 1);
	EXPECT_EQ(p.left_ns, AT_NS);
}

TEST("then it stays for two milliseconds, and goes at once after them if it shares again")
{
	struct os_poller p = { 0 };

	EXPECT_EQ(yields_shared(&p, SHARED, AT_NS), 1);
	EXPECT_EQ(yields_shared(&p, 10 * SHARED, AT_NS + STAY_NS - 1), 0);
	EXPECT_EQ(yields_shared(&p, 1, AT_NS + STAY_NS), 1);
}

TEST("a yield says whether it was shared, and leaves no trace if not")
{
	struct os_poller p = { 0 };
	unsigned int i;

	/* On a busy machine all of them may be; one of many is enough. */
	for (i = 0; i < 100000 && os_poller_yield(&p); i++)
		;
	EXPECT(i < 100000 && !p.shared);
}

/* ---- leaving ---- */

/* Any of many: the system may put it back at once. */
static void *leave_cpus(void *all)
{
	unsigned int cpus = *(unsigned int *)all, i;
	int before = 0, after = 0;

	for (i = 0; i < 1000 && before == after; i++) {
#ifdef __linux__
		before = sched_getcpu();
		os_leave_cpu();
		after = sched_getcpu();
#else
		os_leave_cpu();
#endif
	}
	*(unsigned int *)all = os_cpus();
	return before != after || cpus == 1 || !on_linux() ? NULL : all;
}

TEST("a thread leaves its CPU, and may come back")
{
	unsigned int all = os_cpus(), cpus = all;
	void *bad = NULL;
	pthread_t t;

	EXPECT(!pthread_create(&t, NULL, leave_cpus, &cpus) && !pthread_join(t, &bad));
	EXPECT(!bad);
	EXPECT_EQ(cpus, all);
}

static void *leave_from_one(void *cpus)
{
	os_stay_here();
	os_leave_cpu();
	*(unsigned int *)cpus = os_cpus();
	return NULL;
}

TEST("one that may use no other CPU stays where it is")
{
	unsigned int cpus = 0;
	pthread_t t;

	EXPECT(!pthread_create(&t, NULL, leave_from_one, &cpus) && !pthread_join(t, NULL));
	EXPECT_EQ(cpus, on_linux() ? 1 : os_cpus());
}

static void *spin_along(void *spinning)
{
	_Atomic unsigned int *n = spinning;

	atomic_fetch_add(n, 1);
	while (atomic_load(n))
		os_pause();
	return NULL;
}

TEST("no CPU is idle while as many threads run as there are CPUs, beside this one")
{
	unsigned int cpus = os_cpus(), i;
	_Atomic unsigned int spinning = 0;
	pthread_t t[CPUS_MOST];

	if (cpus > CPUS_MOST)
		return;
	for (i = 0; i < cpus; i++)
		EXPECT(!pthread_create(&t[i], NULL, spin_along, &spinning));
	while (atomic_load(&spinning) < cpus)
		os_yield();
	EXPECT(!os_cpu_idle());
	atomic_store(&spinning, 0);
	for (i = 0; i < cpus; i++)
		pthread_join(t[i], NULL);
}

/* ---- fences for another process ---- */

#define ROUNDS 20000u

/* Of two processes. Each round, each sets its own word, and then looks at the other's. */
struct two {
	_Alignas(64) _Atomic unsigned int round;	/* the child may begin it */
	_Alignas(64) _Atomic unsigned int done;		/* by the child */
	_Alignas(64) _Atomic unsigned int mine, seen_by_me;
	_Alignas(64) _Atomic unsigned int its, seen_by_it;
};

static void await_word(_Atomic unsigned int *word, unsigned int n)
{
	unsigned int looks = 0;

	while (atomic_load_explicit(word, memory_order_acquire) != n)
		if (++looks % 256 == 0)
			os_yield();
}

/* Without a fence of its own. */
static int child_looks(struct two *t)
{
	unsigned int i;

	if (!os_fenced())
		return 1;
	for (i = 1; i <= ROUNDS; i++) {
		await_word(&t->round, i);
		atomic_store_explicit(&t->its, i, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		atomic_store_explicit(&t->seen_by_it,
				      atomic_load_explicit(&t->mine, memory_order_relaxed),
				      memory_order_relaxed);
		atomic_store_explicit(&t->done, i, memory_order_release);
	}
	return 0;
}

TEST("of two processes that write and then look, one runs the fences of both")
{
	struct two *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int i, missed = 0, delay;
	int status;
	pid_t pid;

	EXPECT(t != MAP_FAILED);
	EXPECT(on_linux() || !os_fence_all());
	if (!os_fence_all())
		return;
	pid = fork();
	if (!pid)
		_exit(child_looks(t));
	for (i = 1; i <= ROUNDS; i++) {
		atomic_store_explicit(&t->round, i, memory_order_release);
		for (delay = i % 64; delay; delay--)
			__asm__ volatile("");
		atomic_store_explicit(&t->mine, i, memory_order_relaxed);
		os_fence_all();
		t->seen_by_me = atomic_load_explicit(&t->its, memory_order_relaxed);
		await_word(&t->done, i);
		missed += t->seen_by_me != i && t->seen_by_it != i;
	}
	EXPECT_EQ(missed, 0);
	EXPECT(waitpid(pid, &status, 0) == pid && !status);
	munmap(t, sizeof(*t));
}
