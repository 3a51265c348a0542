// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/*
 * Page faults of real processes: of the CPU, of the card, and of both at once;
 * from threads, beside handlers of the application's own, in a forked child.
 *
 * variants: tsan posix
 */
#include <pthread.h>

#include "rig/serve.h"

#define PAGES	64u
#define BYTES	(PAGES * RIG_PAGE)

/* Run fn in a process that opened board 0. */
static int faults_run(int (*fn)(void *arg), void *arg)
{
	return rig_wait(rig_fork(fn, arg));
}

static uint64_t number_after(const char *text, const char *board,
			     const char *what)
{
	const char *at = strstr(text, board);
	const char *end = at ? strstr(at, what) : NULL;

	/* "... N brought in": go back over the number. */
	while (end && end > at && end[-1] != ' ')
		end--;
	for (end = end ? end - 1 : NULL; end && end > at && end[-1] >= '0' &&
					 end[-1] <= '9';)
		end--;
	return end ? strtoull(end, NULL, 10) : UINT64_MAX;
}

/* ---- the CPU ---- */

static int faults_touches(void *arg)
{
	struct rig_app a;
	uint32_t i;

	(void)arg;
	RIG_TRY(rig_app_open(&a, 0, BYTES));
	for (i = 0; i < BYTES; i++)
		if (a.mem[i])
			return 2;	/* untouched memory is zeros */
	for (i = 0; i < BYTES; i++)
		a.mem[i] = (uint8_t)(i * 7 + i / RIG_PAGE);
	for (i = 0; i < 3; i++) {
		uint32_t k;

		RIG_TRY(fl_advise(a.dev, a.mem, BYTES, FL_PAGEOUT));
		errno = 77;
		for (k = 0; k < BYTES; k++)
			if (a.mem[k] != (uint8_t)(k * 7 + k / RIG_PAGE))
				return 3;
		if (errno != 77)
			return 4;
	}
	RIG_TRY(fl_advise(a.dev, a.mem, BYTES, FL_DONTNEED));
	for (i = 0; i < BYTES; i++)
		if (a.mem[i])
			return 5;
	return fl_close(a.dev) ? 6 : 0;
}

TEST("a page that is not there comes when it is touched, with what it held")
{
	rig_start(NULL);
	EXPECT_EQ(faults_run(faults_touches, NULL), 0);
	rig_end();
}

struct toucher {
	struct rig_app *a;
	unsigned int number;
	int bad;
};

#define THREADS 6u

/* Each thread has a byte of every page, and all touch the same pages. */
static void *touch_in_thread(void *arg)
{
	struct toucher *t = arg;
	volatile uint8_t *mem = t->a->mem;
	unsigned int round, i;

	for (round = 1; round <= 40; round++) {
		for (i = 0; i < PAGES; i++)
			mem[i * RIG_PAGE + t->number]++;
		if (t->number == 0)
			fl_advise(t->a->dev, t->a->mem, BYTES, FL_PAGEOUT);
		for (i = 0; i < PAGES; i++)
			if (mem[i * RIG_PAGE + t->number] != (uint8_t)round)
				t->bad++;
	}
	return NULL;
}

static int touches_in_threads(void *arg)
{
	struct toucher t[THREADS];
	pthread_t thread[THREADS];
	struct rig_app a;
	unsigned int i;
	int bad = 0;

	(void)arg;
	RIG_TRY(rig_app_open(&a, 0, BYTES));
	for (i = 0; i < THREADS; i++) {
		t[i] = (struct toucher){ &a, i, 0 };
		pthread_create(&thread[i], NULL, touch_in_thread, &t[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		bad += t[i].bad;
	}
	return bad ? 2 : fl_close(a.dev) ? 3 : 0;
}

TEST("threads touch the same pages while these are taken away")
{
	rig_start(NULL);
	EXPECT_EQ(faults_run(touches_in_threads, NULL), 0);
	rig_end();
}

TEST("more is touched than there is memory")
{
	static const char *const options[] = { "--frames", "64",
					       "--process-frames", "32", NULL };

	rig_start(options);
	EXPECT_EQ(faults_run(faults_touches, NULL), 0);
	EXPECT_EQ(faults_run(touches_in_threads, NULL), 0);
	rig_end();
}

/* ---- a process that is stopped ---- */

struct stopped {
	int up[2], down[2];
};

static int is_stopped(void *arg)
{
	struct stopped *s = arg;
	struct rig_app a;
	char byte = 0;
	uint32_t i;

	RIG_TRY(rig_app_open(&a, 0, BYTES));
	for (i = 0; i < BYTES; i++)
		a.mem[i] = (uint8_t)(i % 247);
	if (write(s->up[1], &byte, 1) != 1 || rig_read(s->down[0], &byte, 1))
		return 2;
	for (i = 0; i < BYTES; i++)
		if (a.mem[i] != (uint8_t)(i % 247))
			return 3;
	return fl_close(a.dev) ? 4 : 0;
}

TEST("a stopped process keeps its pages, others find room, and it goes on")
{
	/* Half of the memory is what one process may have. */
	static const char *const options[] = { "--frames", "128",
					       "--patience", "60000", NULL };
	struct stopped s;
	char byte = 0;
	pid_t pid;

	rig_start(options);
	EXPECT_EQ(pipe(s.up), 0);
	EXPECT_EQ(pipe(s.down), 0);
	pid = rig_fork(is_stopped, &s);
	EXPECT_EQ(rig_read(s.up[0], &byte, 1), 0);
	kill(pid, SIGSTOP);
	STEP("others use more than is left");
	EXPECT_EQ(faults_run(faults_touches, NULL), 0);
	EXPECT_EQ(faults_run(touches_in_threads, NULL), 0);
	kill(pid, SIGCONT);
	EXPECT_EQ(write(s.down[1], &byte, 1), 1);
	EXPECT_EQ(rig_wait(pid), 0);
	rig_end();
}

/* ---- the card, and both at once ---- */

struct both {
	struct rig_app *a;
	_Atomic int go;
};

static void *touch_all(void *arg)
{
	struct both *b = arg;
	volatile uint8_t *mem = b->a->mem;
	unsigned int i;

	while (!b->go)
		;
	for (i = PAGES; i--;)
		mem[i * RIG_PAGE + 9] = 1;
	return NULL;
}

/* Writes from one half of its memory to the other, through the card. */
static int writes_and_touches(void *arg)
{
	struct rig_address me;
	pthread_t thread;
	struct rig_app a;
	struct both b;
	struct fl_work w;
	uint8_t *src;
	uint32_t i;

	(void)arg;
	RIG_TRY(rig_app_open(&a, 0, BYTES));
	RIG_TRY(rig_app_address(&a, &me));
	RIG_TRY(fl_connect(a.qp, &me.qp));
	src = fl_alloc(a.dev, BYTES);
	for (i = 0; i < BYTES; i++)
		src[i] = (uint8_t)(i % 251 + 2);
	for (i = 0; i < PAGES; i++)
		src[i * RIG_PAGE + 9] = 1;
	b.a = &a;
	b.go = 0;
	pthread_create(&thread, NULL, touch_all, &b);
	struct fl_mr *mr;

	RIG_TRY(fl_reg_mr(a.pd, src, BYTES, 0, &mr));
	w = (struct fl_work){ .opcode = FL_WRITE, .local = src,
			      .lkey = fl_mr_key(mr), .remote = me.va,
			      .rkey = me.rkey, .bytes = BYTES };
	b.go = 1;
	if (rig_app_do(&a, &w))
		return 2;
	pthread_join(thread, NULL);
	return memcmp(src, a.mem, BYTES) ? 3 : fl_close(a.dev) ? 4 : 0;
}

TEST("CPU and card fault on the same pages at once: each page comes once")
{
	rig_start(NULL);
	EXPECT_EQ(faults_run(writes_and_touches, NULL), 0);
	rig_end();
	/* Source and destination, and not one page twice. */
	STEP("%s", rig_said);
	EXPECT_EQ(number_after(rig_said, "board a:", "brought in"), 2 * PAGES);
}

/* ---- handlers ---- */

static volatile sig_atomic_t handled;
static int *volatile nowhere = (int *)16;
static volatile uint8_t *guard;

static void own_handler(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	handled++;
	if (si->si_addr == guard)
		mprotect((void *)guard, RIG_PAGE, PROT_READ | PROT_WRITE);
	else
		_exit(55);
}

static int has_a_handler(void *arg)
{
	struct sigaction sa = { .sa_sigaction = own_handler,
				.sa_flags = SA_SIGINFO };
	struct rig_app a;

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	guard = mmap(NULL, RIG_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	RIG_TRY(rig_app_open(&a, 0, BYTES));
	a.mem[0] = 1;			/* ours */
	if (handled)
		return 2;
	guard[0] = 1;			/* its own */
	if (handled != 1)
		return 100 + handled;
	a.mem[RIG_PAGE] = 1;
	if (arg)			/* nobody's: back to its handler */
		*(volatile int *)nowhere = 0;
	RIG_TRY(fl_close(a.dev));
	if (sigaction(SIGSEGV, NULL, &sa) || sa.sa_sigaction != own_handler)
		return 4;
	return handled == 1 ? 0 : 5;
}

TEST("an application's own handler gets what is its own, and gets it back")
{
	rig_start(NULL);
	EXPECT_EQ(faults_run(has_a_handler, NULL), 0);
	EXPECT_EQ(faults_run(has_a_handler, rig_said), 55);
	rig_end();
}

static int faults_crashes(void *arg)
{
	struct rig_app a;
	int how = *(int *)arg;

	RIG_TRY(rig_app_open(&a, 0, BYTES));
	a.mem[0] = 1;
	if (how == 0)
		*(volatile int *)nowhere = 0;
	if (how == 1)		/* past the end of what was allocated */
		a.mem[BYTES] = 1;
	if (how == 2) {
		RIG_TRY(fl_protect(a.dev, a.mem, BYTES, FL_PROT_READ));
		if (a.mem[0] != 1)
			return 2;
		a.mem[0] = 2;
	}
	if (how == 3) {
		RIG_TRY(fl_dereg_mr(a.mr));
		RIG_TRY(fl_free(a.dev, a.mem, BYTES));
		a.mem[0] = 2;
	}
	return 0;
}

/* All n bytes are v; then they become w. */
static bool all_change(uint8_t *mem, size_t n, uint8_t v, uint8_t w)
{
	size_t i;

	for (i = 0; i < n && mem[i] == v; i++)
		mem[i] = w;
	return i == n;
}

/* Pinned memory of the board is unmapped, and replaced, before its region goes. */
static int faults_replaced(void *arg)
{
	struct rig_app a;
	struct fl_mr *mr;

	(void)arg;
	RIG_TRY(rig_app_open(&a, 0, BYTES));
	RIG_TRY(fl_reg_mr(a.pd, a.mem, BYTES, FL_REMOTE_WRITE | FL_PINNED,
			  &mr));
	if (!all_change(a.mem, BYTES, 0, 1))
		return 2;
	RIG_TRY(fl_free(a.dev, a.mem, BYTES / 4));
	RIG_TRY(fl_remap(a.dev, a.mem, BYTES / 2));
	if (!all_change(a.mem, BYTES / 2, 0, 2) ||
	    !all_change(a.mem + BYTES / 2, BYTES / 2, 1, 3))
		return 3;
	RIG_TRY(fl_advise(a.dev, a.mem, BYTES, FL_DONTNEED));
	if (!all_change(a.mem, BYTES, 0, 4))
		return 4;
	RIG_TRY(fl_dereg_mr(mr));
	if (!all_change(a.mem, BYTES, 4, 5))
		return 5;
	if (fl_remap(a.dev, a.mem + 1, BYTES / 2) != -EINVAL ||
	    fl_remap(a.dev, &a, RIG_PAGE) != -EINVAL)
		return 6;
	return fl_close(a.dev) ? 7 : 0;
}

/* The same with memory from elsewhere, which must find its way back. */
static int faults_dropped(void *arg)
{
	struct rig_app a;
	struct fl_mr *mr;
	uint8_t *mem = aligned_alloc(RIG_PAGE, BYTES);

	(void)arg;
	RIG_TRY(rig_app_open(&a, 0, RIG_PAGE));
	memset(mem, 1, BYTES);
	RIG_TRY(fl_reg_mr(a.pd, mem, BYTES, FL_REMOTE_WRITE | FL_PINNED, &mr));
	RIG_TRY(fl_advise(a.dev, mem, BYTES / 2, FL_DONTNEED));
	if (!all_change(mem, BYTES / 2, 0, 2) ||
	    !all_change(mem + BYTES / 2, BYTES / 2, 1, 2))
		return 2;
	RIG_TRY(fl_dereg_mr(mr));
	if (!all_change(mem, BYTES, 2, 3))
		return 3;
	RIG_TRY(fl_close(a.dev));
	free(mem);
	return 0;
}

TEST("pinned memory can be unmapped, replaced and dropped, and its region goes later")
{
	rig_start(NULL);
	EXPECT_EQ(faults_run(faults_replaced, NULL), 0);
	EXPECT_EQ(faults_run(faults_dropped, NULL), 0);
	rig_end();
}

TEST("a real crash is a crash")
{
	int how;

	rig_start(NULL);
	for (how = 0; how < 4; how++)
		EXPECT_EQ(faults_run(faults_crashes, &how), -SIGSEGV);
	rig_end();
}

/* ---- fork ---- */

static int child_of_fork(struct rig_app *a)
{
	struct fl_completion c;
	struct fl_device *dev;
	uint8_t *mem;

	/* What belongs to the board is the parent's. */
	if (fl_poll(a->cq, &c, 1) >= 0 || fl_wait(a->cq, &c, 1, 1000) >= 0)
		return 20;
	if (fl_alloc(a->dev, RIG_PAGE))
		return 21;
	/* Thread sanitizer allows no new thread after a fork. */
	if (RIG_TSAN)
		return 0;
	/* A device of its own is as good as any. */
	RIG_TRY(fl_open(rig_boards.device[0], &dev));
	mem = fl_alloc(dev, BYTES);
	if (!mem)
		return 22;
	memset(mem, 3, BYTES);
	RIG_TRY(fl_advise(dev, mem, BYTES, FL_PAGEOUT));
	if (mem[BYTES - 1] != 3)
		return 23;
	return fl_close(dev) ? 24 : 0;
}

static int faults_forks(void *arg)
{
	struct rig_app a;
	pid_t pid;
	int r;

	RIG_TRY(rig_app_open(&a, 0, BYTES));
	memset(a.mem, 5, BYTES);
	pid = fork();
	if (!pid) {
		if (arg)
			_exit(a.mem[0]);	/* not there */
		_exit(child_of_fork(&a));
	}
	r = rig_wait(pid);
	if (r != (arg ? -SIGSEGV : 0))
		return r > 0 ? r : 2;
	/* The parent goes on as if nothing had been. */
	RIG_TRY(fl_advise(a.dev, a.mem, BYTES, FL_PAGEOUT));
	if (a.mem[0] != 5 || a.mem[BYTES - 1] != 5)
		return 3;
	return fl_close(a.dev) ? 4 : 0;
}

TEST("a forked child has no board, and can open one")
{
	rig_start(NULL);
	EXPECT_EQ(faults_run(faults_forks, NULL), 0);
	STEP("memory of the board is not there in the child");
	EXPECT_EQ(faults_run(faults_forks, rig_said), 0);
	rig_end();
}

/* ---- several boards in one process ---- */

static int opens_twice(void *arg)
{
	struct rig_app a, b;
	struct rig_address to;
	struct fl_work w;
	uint32_t i;

	(void)arg;
	RIG_TRY(rig_app_open(&a, 0, BYTES));
	RIG_TRY(rig_app_open(&b, 1, BYTES));
	RIG_TRY(rig_app_address(&b, &to));
	RIG_TRY(fl_connect(a.qp, &to.qp));
	RIG_TRY(rig_app_address(&a, &to));
	RIG_TRY(fl_connect(b.qp, &to.qp));
	for (i = 0; i < BYTES; i++)
		a.mem[i] = (uint8_t)(i % 253);
	RIG_TRY(rig_app_address(&b, &to));
	w = (struct fl_work){ .opcode = FL_WRITE, .local = a.mem,
			      .lkey = fl_mr_key(a.mr), .remote = to.va,
			      .rkey = to.rkey, .bytes = BYTES };
	if (rig_app_do(&a, &w) || memcmp(a.mem, b.mem, BYTES))
		return 2;
	RIG_TRY(fl_close(a.dev));
	RIG_TRY(fl_advise(b.dev, b.mem, BYTES, FL_PAGEOUT));
	if (b.mem[1] != 1)
		return 3;
	return fl_close(b.dev) ? 4 : 0;
}

TEST("one process on two boards")
{
	rig_start(NULL);
	EXPECT_EQ(faults_run(opens_twice, NULL), 0);
	rig_end();
}

static int opens_and_closes(void *arg)
{
	struct rig_app a;
	int i;

	(void)arg;
	for (i = 0; i < 100; i++) {
		RIG_TRY(rig_app_open(&a, (unsigned int)i % 2, RIG_PAGE));
		a.mem[0] = 1;
		RIG_TRY(fl_close(a.dev));
	}
	return 0;
}

TEST("opened and closed a hundred times")
{
	rig_start(NULL);
	EXPECT_EQ(faults_run(opens_and_closes, NULL), 0);
	rig_end();
}
