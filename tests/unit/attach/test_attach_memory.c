// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory of a board in another process: faults, evictions.
 * variants: tsan pages
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "rig/attach_fake.h"

#define CHILD_S	60	/* then it hangs */
#define THREADS 3
#define PAGES	64

TEST("an absent page comes when it is touched, and again after it was taken")
{
	static struct fb_device d;
	volatile uint8_t *mem;
	unsigned int i;

	fb_device_start(&d);
	mem = fl_alloc(d.dev, PAGES * FB_PAGE);
	EXPECT(mem);
	EXPECT_EQ(atomic_load(&d.b->faults), 0);
	EXPECT_EQ(mem[5], 0);
	EXPECT_EQ(atomic_load(&d.b->faults), 1);
	for (i = 0; i < PAGES; i++)
		mem[i * FB_PAGE] = (uint8_t)(i + 1);
	EXPECT_EQ(atomic_load(&d.b->faults), PAGES);
	fb_evict_all(d.b);
	EXPECT_EQ(atomic_load(&d.b->evictions), PAGES);
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(mem[i * FB_PAGE], i + 1);
	EXPECT_EQ(atomic_load(&d.b->faults), 2 * PAGES);
	EXPECT_EQ(fl_free(d.dev, (void *)mem, PAGES * FB_PAGE), 0);
}

TEST("more pages than frames: the working set goes round")
{
	static struct fb_device d;
	uint32_t *mem;
	unsigned int i, lap;

	fb_device_start(&d);
	atomic_store(&d.b->budget, 8);
	mem = fl_alloc(d.dev, PAGES * FB_PAGE);
	for (lap = 1; lap < 5; lap++)
		for (i = 0; i < PAGES; i++)
			mem[i * 1024 + lap] = i * lap;
	for (lap = 1; lap < 5; lap++)
		for (i = 0; i < PAGES; i++)
			EXPECT_EQ(mem[i * 1024 + lap], i * lap);
	EXPECT_GE(atomic_load(&d.b->evictions), 4 * PAGES);
}

struct worker {
	struct fl_device *dev;
	uint32_t *mem;
	unsigned int id, rounds, bad;
};

static void *memory_work(void *arg)
{
	struct worker *w = arg;
	unsigned int r, i;
	uint32_t *at;

	/* Each has its own words of the same pages. */
	for (r = 1; r <= w->rounds; r++)
		for (i = 0; i < PAGES; i++) {
			at = &w->mem[i * 1024 + w->id];
			if (*at != (r - 1) * (i + 1))
				w->bad++;
			*at = r * (i + 1);
		}
	return NULL;
}

TEST("threads write while pages are taken away, and lose nothing")
{
	static struct fb_device d;
	struct worker w[THREADS];
	pthread_t t[THREADS];
	unsigned int i;
	uint32_t *mem;

	fb_device_start(&d);
	mem = fl_alloc(d.dev, PAGES * FB_PAGE);
	atomic_store(&d.b->storm, 1);
	for (i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ .mem = mem, .id = i, .rounds = 20 };
		EXPECT_EQ(pthread_create(&t[i], NULL, memory_work, &w[i]), 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	atomic_store(&d.b->storm, 0);
	for (i = 0; i < THREADS; i++)
		EXPECT_EQ(w[i].bad, 0);
	EXPECT_GE(atomic_load(&d.b->evictions), 1);
}

/* Thread sanitizer delivers signals late, blocked or not. */
#if !defined(__SANITIZE_THREAD__)
static volatile uint8_t *signal_memory;
static volatile sig_atomic_t signals;

static void on_alarm(int sig)
{
	(void)sig;
	signal_memory[(signals % PAGES) * FB_PAGE + 8]++;
	signals++;
}

static void no_alarm(void *arg)
{
	struct itimerval off = { 0 };

	(void)arg;
	setitimer(ITIMER_REAL, &off, NULL);
	signal(SIGALRM, SIG_DFL);
}

TEST("a signal's handler may touch absent memory while a call waits")
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } };
	struct sigaction sa = { .sa_handler = on_alarm };
	static struct fb_device d;
	struct fl_completion c;

	fb_device_start(&d);
	fb_queues(&d);
	signal_memory = fl_alloc(d.dev, PAGES * FB_PAGE);
	signals = 0;
	test_cleanup(no_alarm, NULL);
	atomic_store(&d.b->storm, 1);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (signals < 100)
		EXPECT_EQ(fl_wait(d.cq, &c, 1, 1), -ETIMEDOUT);
	no_alarm(NULL);
	atomic_store(&d.b->storm, 0);
}
#endif

TEST("fl_prefault brings pages in for system calls, and knows what is none")
{
	static struct fb_device d;
	char *mem, own[64], *hole;
	int fd[2];

	fb_device_start(&d);
	mem = fl_alloc(d.dev, 4 * FB_PAGE);
	EXPECT_EQ(pipe(fd), 0);
	EXPECT_EQ(write(fd[1], "hello", 5), 5);
	STEP("without it the system finds nothing there");
	EXPECT_EQ(read(fd[0], mem + FB_PAGE - 2, 5), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(fl_prefault(d.dev, mem + FB_PAGE - 2, 5, 1), 0);
	EXPECT_EQ(atomic_load(&d.b->faults), 2);
	EXPECT_EQ(read(fd[0], mem + FB_PAGE - 2, 5), 5);
	EXPECT_MEM(mem + FB_PAGE - 2, "hello", 5);
	close(fd[0]);
	close(fd[1]);
	EXPECT_EQ(fl_prefault(d.dev, own, sizeof(own), 1), 0);
	EXPECT_EQ(fl_prefault(d.dev, mem + 8 * FB_PAGE, 1, 0), -EFAULT);
	EXPECT_EQ(fl_prefault(d.dev, mem, 0, 0), -EINVAL);
	hole = mmap(NULL, FB_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	EXPECT_EQ(fl_prefault(d.dev, hole, 1, 0), -EFAULT);
	EXPECT_EQ(mprotect(hole, FB_PAGE, PROT_READ), 0);
	EXPECT_EQ(fl_prefault(d.dev, hole, 1, 0), 0);
	EXPECT_EQ(fl_prefault(d.dev, hole, 1, 1), -EFAULT);
	munmap(hole, FB_PAGE);
}

/* What a child that runs fn ended with, and what it said on standard error. */
static int in_child(void (*fn)(struct fb *b), char *said, size_t said_bytes)
{
	struct rlimit none = { 0, 0 };
	int fd[2], status = 0;
	size_t got = 0;
	ssize_t r;
	pid_t pid;

	EXPECT_EQ(pipe(fd), 0);
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		alarm(CHILD_S);
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		dup2(fd[1], 2);
		close(fd[0]);
		fn(fb_start(FB_RIGHT));
		_exit(0);
	}
	close(fd[1]);
	while (got < said_bytes - 1 &&
	       (r = read(fd[0], said + got, said_bytes - 1 - got)) > 0)
		got += (size_t)r;
	said[got] = 0;
	close(fd[0]);
	waitpid(pid, &status, 0);
	STEP("it said: %s", said);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void touch_nothing(struct fb *b)
{
	struct fl_device *dev;
	volatile char *mem;

	if (fl_open(b->name, &dev))
		return;
	mem = fl_alloc(dev, FB_PAGE);
	mem[16 * FB_PAGE] = 1;
}

static void touch_null(struct fb *b)
{
	volatile char *volatile nowhere = (volatile char *)16;
	struct fl_device *dev;

	if (fl_open(b->name, &dev))
		return;
	*nowhere = 1;
}

static void touch_after_end(struct fb *b)
{
	struct fl_device *dev;
	volatile char *mem;

	if (fl_open(b->name, &dev))
		return;
	mem = fl_alloc(dev, FB_PAGE);
	fb_end(b, 2);
	mem[0] = 1;
}

static void open_what_is_wrong(struct fb *b)
{
	struct fl_device *dev;
	char *mem;

	if (fl_open(b->name, &dev))
		return;
	mem = fl_alloc(dev, FB_PAGE);
	/* The board maps a frame over memory that is none of its own. */
	atomic_store(&b->lie, (uintptr_t)b & ~4095ull);
	*(volatile char *)mem = 1;
}

TEST("what nobody mapped is a crash, as anywhere")
{
	char said[512];

	EXPECT_EQ(in_child(touch_nothing, said, sizeof(said)), SIGSEGV);
	EXPECT_EQ(in_child(touch_null, said, sizeof(said)), SIGSEGV);
}

/* n: 0 unmapped, 1 made read-only, of imported memory; 2: of the board's own. */
static void take_away(struct fb *b, int n)
{
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_mr *mr;
	volatile char *mem;

	if (fl_open(b->name, &dev) || fl_alloc_pd(dev, &pd))
		return;
	mem = n == 2 ? fl_alloc(dev, 2 * FB_PAGE) :
		       mmap(NULL, 2 * FB_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (n < 2 && fl_reg_mr(pd, (void *)mem, 2 * FB_PAGE, 0, &mr))
		return;
	mem[5] = 1;
	if (n ? mprotect((void *)mem, 2 * FB_PAGE, PROT_READ) :
		munmap((void *)mem, 2 * FB_PAGE))
		return;
	mem[5] = 2;
}

static void unmap_imported(struct fb *b)
{
	take_away(b, 0);
}

static void protect_imported(struct fb *b)
{
	take_away(b, 1);
}

static void protect_allocated(struct fb *b)
{
	take_away(b, 2);
}

TEST("a page that the program took away from itself is a crash, and no circle")
{
	char said[512];

	EXPECT_EQ(in_child(unmap_imported, said, sizeof(said)), SIGSEGV);
	EXPECT_EQ(in_child(protect_imported, said, sizeof(said)), SIGSEGV);
	EXPECT_EQ(in_child(protect_allocated, said, sizeof(said)), SIGSEGV);
}

TEST("a page of a board that is gone is a crash that says so")
{
	char said[512];

	EXPECT_EQ(in_child(touch_after_end, said, sizeof(said)), SIGSEGV);
	EXPECT(strstr(said, ".sock is gone"));
}

TEST("a board that would open what is not its own is left")
{
	char said[512];

	EXPECT_EQ(in_child(open_what_is_wrong, said, sizeof(said)), SIGSEGV);
	EXPECT(strstr(said, "makes no sense"));
}
