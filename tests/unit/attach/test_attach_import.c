// SPDX-License-Identifier: BSD-2-Clause
/* Memory that the program has from elsewhere. variants: tsan pages */
#include <fcntl.h>
#include <signal.h>

#include "rig/attach_fake.h"

#define PAGES 150	/* more than two batches */
#define RW (PROT_READ | PROT_WRITE)

static uint8_t *mr_map(unsigned int pages, int prot, int flags)
{
	uint8_t *mem = mmap(NULL, pages * FB_PAGE, prot,
			    flags | MAP_ANONYMOUS, -1, 0);

	EXPECT(mem != MAP_FAILED);
	return mem;
}

static int mr_reg(struct fb_device *d, void *addr, size_t bytes,
		  unsigned int access, struct fl_mr **mr)
{
	return fl_reg_mr(d->pd, addr, bytes, access, mr);
}

TEST("registered memory keeps its contents, becomes the board's, comes back")
{
	static struct fb_device d;
	struct fl_mr *mr;
	unsigned int i;
	uint32_t *mem;

	fb_device_start(&d);
	mem = (uint32_t *)mr_map(PAGES, RW, MAP_PRIVATE);
	for (i = 0; i < PAGES * 1024; i++)
		mem[i] = i ^ 0x5a5a;
	EXPECT_EQ(mr_reg(&d, mem, PAGES * FB_PAGE, FL_LOCAL_WRITE, &mr), 0);
	EXPECT_EQ(atomic_load(&d.b->imported), PAGES);
	STEP("take all of it away: it must be absent, and then come again");
	fb_evict_all(d.b);
	EXPECT_EQ(atomic_load(&d.b->evictions), PAGES);
	for (i = 0; i < PAGES * 1024; i++)
		EXPECT_EQ(mem[i], i ^ 0x5a5a);
	mem[5] = 99;
	STEP("what the device writes into the frame is seen");
	memset(fb_frame_of(d.b, &mem[10]), 0x77, 4);
	EXPECT_EQ(mem[10], 0x77777777);
	fb_evict_all(d.b);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	EXPECT_EQ(atomic_load(&d.b->released), PAGES);
	memset(d.b->bank, 0xdd, FB_FRAMES * FB_PAGE);
	EXPECT_EQ(mem[5], 99);
	EXPECT_EQ(mem[10], 0x77777777);
	for (i = 11; i < PAGES * 1024; i++)
		EXPECT_EQ(mem[i], i ^ 0x5a5a);
	munmap(mem, PAGES * FB_PAGE);
}

TEST("two regions on one page import it once, and the last gives it back")
{
	static struct fb_device d;
	struct fl_mr *a, *b;
	uint8_t *mem;

	fb_device_start(&d);
	mem = mr_map(3, RW, MAP_PRIVATE);
	mem[FB_PAGE] = 7;
	EXPECT_EQ(mr_reg(&d, mem + 10, FB_PAGE, FL_REMOTE_WRITE, &a), 0);
	EXPECT_EQ(atomic_load(&d.b->imported), 2);
	EXPECT_EQ(mr_reg(&d, mem + FB_PAGE + 9, FB_PAGE, FL_LOCAL_WRITE, &b),
		  0);
	EXPECT_EQ(atomic_load(&d.b->imported), 3);
	EXPECT_EQ(fl_dereg_mr(a), 0);
	EXPECT_EQ(atomic_load(&d.b->released), 1);
	EXPECT_EQ(mem[FB_PAGE], 7);
	EXPECT_EQ(fl_close(d.dev), 0);
	d.dev = NULL;
	EXPECT_EQ(atomic_load(&d.b->released), 3);
	EXPECT_EQ(mem[FB_PAGE], 7);
	munmap(mem, 3 * FB_PAGE);
}

TEST("memory that cannot be imported is refused, each kind by its own error")
{
	struct os_range own[OS_THREAD_RANGES] = { 0 };
	static struct fb_device d, other;
	struct fl_mr *mr;
	unsigned int i;
	uint8_t *mem;

	fb_device_start(&d);
	fb_device_start(&other);
	mem = mr_map(3, RW, MAP_PRIVATE);
	EXPECT_EQ(munmap(mem + FB_PAGE, FB_PAGE), 0);
	STEP("a hole");
	EXPECT_EQ(mr_reg(&d, mem, 3 * FB_PAGE, FL_LOCAL_WRITE, &mr), -EFAULT);
	STEP("not writable");
	EXPECT_EQ(mprotect(mem, FB_PAGE, PROT_READ), 0);
	EXPECT_EQ(mr_reg(&d, mem, 9, FL_LOCAL_WRITE, &mr), -EACCES);
	EXPECT_EQ(mr_reg(&d, mem, 9, FL_REMOTE_WRITE, &mr), -EACCES);
	EXPECT_EQ(mr_reg(&d, mem, 9, FL_REMOTE_READ, &mr), 0);
	EXPECT_EQ(mr_reg(&d, mem, 9, FL_LOCAL_WRITE, &mr), -EACCES);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	EXPECT_EQ(atomic_load(&d.b->released), 1);
	STEP("code");
	EXPECT_EQ(mr_reg(&d, (void *)(uintptr_t)mr_map, 1, 0, &mr),
		  -EOPNOTSUPP);
	munmap(mem, FB_PAGE);
	munmap(mem + 2 * FB_PAGE, FB_PAGE);
	STEP("shared");
	mem = mr_map(1, RW, MAP_SHARED);
	EXPECT_EQ(mr_reg(&d, mem, 9, 0, &mr), -EOPNOTSUPP);
	munmap(mem, FB_PAGE);
	STEP("of another board");
	mem = fl_alloc(other.dev, FB_PAGE);
	EXPECT_EQ(mr_reg(&d, mem, 9, 0, &mr), -EOPNOTSUPP);
	mem = mr_map(1, RW, MAP_PRIVATE);
	EXPECT_EQ(mr_reg(&other, mem, 9, 0, &mr), 0);
	EXPECT_EQ(mr_reg(&d, mem, 9, 0, &mr), -EOPNOTSUPP);
	STEP("the thread library's own variables");
	os_thread_ranges(own);
	for (i = 0; i < OS_THREAD_RANGES; i++)
		if (own[i].start)
			EXPECT_EQ(mr_reg(&d, (void *)own[i].start, 4, 0, &mr),
				  -EOPNOTSUPP);
	EXPECT_EQ(own[0].start, (uintptr_t)pthread_self());
	EXPECT_EQ(atomic_load(&d.b->imported), 1);
}

TEST("a board that takes only a part gets none of it")
{
	static struct fb_device d;
	struct fl_mr *mr;
	unsigned int i;
	uint8_t *mem;

	fb_device_start(&d);
	mem = mr_map(PAGES, RW, MAP_PRIVATE);
	for (i = 0; i < PAGES; i++)
		mem[i * FB_PAGE] = (uint8_t)i;
	atomic_store(&d.b->no_import, 64);
	EXPECT_EQ(mr_reg(&d, mem, PAGES * FB_PAGE, FL_LOCAL_WRITE, &mr),
		  -ENOMEM);
	EXPECT_EQ(atomic_load(&d.b->imported), 64);
	EXPECT_EQ(atomic_load(&d.b->released), 64);
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(mem[i * FB_PAGE], (uint8_t)i);
	munmap(mem, PAGES * FB_PAGE);
}

static uint32_t data[3000] = { 1, 2, 3 };
static uint32_t bss[3000];
static const uint32_t constant[3000] = { 4 };

TEST("stack and static data are imported for good")
{
	static struct fb_device d;
	uint32_t stack[3000];
	struct fl_mr *mr[4];
	unsigned int i;

	fb_device_start(&d);
	for (i = 0; i < 3000; i++)
		stack[i] = bss[i] = data[i] = i;
	EXPECT_EQ(mr_reg(&d, stack, sizeof(stack), FL_LOCAL_WRITE, &mr[0]), 0);
	EXPECT_EQ(mr_reg(&d, data, sizeof(data), FL_LOCAL_WRITE, &mr[1]), 0);
	EXPECT_EQ(mr_reg(&d, bss, sizeof(bss), FL_LOCAL_WRITE, &mr[2]), 0);
	EXPECT_EQ(mr_reg(&d, (void *)constant, sizeof(constant), FL_REMOTE_READ,
			 &mr[3]), 0);
	fb_evict_all(d.b);
	EXPECT_EQ(atomic_load(&d.b->evictions), 0);
	EXPECT_GE(atomic_load(&d.b->imported), 12);
	EXPECT_EQ(constant[0], 4);
	for (i = 0; i < 3000; i++)
		EXPECT(stack[i] == i && bss[i] == i && data[i] == i);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(fl_dereg_mr(mr[i]), 0);
	for (i = 0; i < 3000; i++)
		EXPECT(stack[i] == i && bss[i] == i && data[i] == i);
	EXPECT_EQ(atomic_load(&d.b->imported), atomic_load(&d.b->released));
}

/* Larger than a page, so that what the library has of its kind lies beside. */
static _Thread_local uint8_t local[16 * FB_PAGE];

TEST("variables of the thread may be evicted, but for those of the handler")
{
	static struct fb_device d;
	uint8_t *mem;
	struct fl_mr *mr;
	unsigned int i;

	fb_device_start(&d);
	mem = fl_alloc(d.dev, FB_PAGE);
	for (i = 0; i < sizeof(local); i++)
		local[i] = (uint8_t)(i / 7);
	/* In the first and the last may be what the kernel writes of the thread. */
	EXPECT_EQ(mr_reg(&d, local + FB_PAGE, sizeof(local) - 3 * FB_PAGE,
			 FL_LOCAL_WRITE, &mr), 0);
	fb_evict_all(d.b);
	errno = 77;
	mem[5] = 1;
	EXPECT_EQ(errno, 77);
	for (i = 0; i < sizeof(local); i++)
		EXPECT(local[i] == (uint8_t)(i / 7));
	EXPECT_EQ(fl_dereg_mr(mr), 0);
}

static void own_stack(void *mem)
{
	stack_t alt = { .ss_sp = mem, .ss_size = 8 * FB_PAGE };

	if (!mem)
		alt.ss_flags = SS_DISABLE;
	EXPECT_EQ(sigaltstack(&alt, NULL), 0);
}

TEST("the program's alternate stack stays, so that the handler can run on it")
{
	static struct fb_device d;
	struct fl_mr *mr;
	uint8_t *mem;

	fb_device_start(&d);
	mem = mr_map(12, RW, MAP_PRIVATE);
	memset(mem, 1, 12 * FB_PAGE);
	own_stack(mem);
	test_cleanup(own_stack, NULL);
	EXPECT_EQ(mr_reg(&d, mem, 12 * FB_PAGE, FL_LOCAL_WRITE, &mr), 0);
	fb_evict_all(d.b);
	EXPECT_EQ(atomic_load(&d.b->evictions), 4);
	mem[9 * FB_PAGE] = 1;
	EXPECT_EQ(mem[9 * FB_PAGE], 1);
	own_stack(NULL);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	munmap(mem, 12 * FB_PAGE);
}

struct writer {
	uint32_t *mem;
	_Atomic uint32_t stop, rounds;
	unsigned int id, bad;
};

static void *write_on(void *arg)
{
	struct writer *w = arg;
	uint32_t r, i;

	for (r = 0; !atomic_load(&w->stop); r++) {
		for (i = 0; i < 40; i++) {
			uint32_t *at = &w->mem[i * 1024 + w->id];

			if (*at != r)
				w->bad++;
			*at = r + 1;
		}
		atomic_store(&w->rounds, r + 1);
	}
	return NULL;
}

TEST("threads that write while memory is imported and given back lose nothing")
{
	static struct fb_device d;
	static struct writer w[2];
	pthread_t t[2];
	struct fl_mr *mr;
	uint32_t *mem;
	unsigned int i;

	fb_device_start(&d);
	mem = (uint32_t *)mr_map(40, RW, MAP_PRIVATE);
	for (i = 0; i < 2; i++) {
		w[i].mem = mem;
		w[i].id = i;
		EXPECT_EQ(pthread_create(&t[i], NULL, write_on, &w[i]), 0);
	}
	for (i = 0; i < 60; i++) {
		EXPECT_EQ(mr_reg(&d, mem, 40 * FB_PAGE, FL_LOCAL_WRITE, &mr),
			  0);
		atomic_store(&d.b->storm, 1);
		sched_yield();
		EXPECT_EQ(fl_dereg_mr(mr), 0);
		atomic_store(&d.b->storm, 0);
	}
	for (i = 0; i < 2; i++) {
		while (!atomic_load(&w[i].rounds))
			os_yield();
		atomic_store(&w[i].stop, 1);
		pthread_join(t[i], NULL);
		EXPECT_EQ(w[i].bad, 0);
	}
	munmap(mem, 40 * FB_PAGE);
}

TEST("what is present when a board dies comes back when the device is closed")
{
	static struct fb_device d;
	struct fl_mr *mr;
	uint8_t *mem;

	fb_device_start(&d);
	mem = mr_map(2, RW, MAP_PRIVATE);
	mem[0] = 3;
	mem[FB_PAGE] = 4;
	EXPECT_EQ(mr_reg(&d, mem, 2 * FB_PAGE, FL_LOCAL_WRITE, &mr), 0);
	fb_end(d.b, 2);
	EXPECT_EQ(fl_close(d.dev), -ENODEV);
	d.dev = NULL;
	EXPECT_EQ(mem[0], 3);
	EXPECT_EQ(mem[FB_PAGE], 4);
	munmap(mem, 2 * FB_PAGE);
}

/* What the library says on standard error meanwhile goes to said. */
static int said_fd, own_stderr;
static char said[4096];

static void listen_to_stderr(void)
{
	char path[200];

	test_path(path, sizeof(path), "said");
	said_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	EXPECT(said_fd >= 0);
	own_stderr = dup(2);
	dup2(said_fd, 2);
}

static void stop_listening(void)
{
	ssize_t n = pread(said_fd, said, sizeof(said) - 1, 0);

	dup2(own_stderr, 2);
	close(own_stderr);
	close(said_fd);
	said[n > 0 ? n : 0] = 0;
	STEP("said: %s", said);
}

static void mr_replace(uint8_t *at, unsigned int pages, int flags, uint8_t byte)
{
	EXPECT_EQ(munmap(at, pages * FB_PAGE), 0);
	EXPECT_EQ(mmap(at, pages * FB_PAGE, RW, flags | MAP_ANONYMOUS |
		       MAP_FIXED, -1, 0), at);
	memset(at, byte, pages * FB_PAGE);
}

static void mr_holds(const uint8_t *at, unsigned int pages, uint8_t byte)
{
	unsigned int i;

	for (i = 0; i < pages * FB_PAGE; i++)
		EXPECT_EQ(at[i], byte);
}

TEST("what is mapped where a region was is left as it is, and said")
{
	static struct fb_device d;
	struct fl_mr *mr;
	uint8_t *mem;

	fb_device_start(&d);
	mem = mr_map(PAGES, RW, MAP_PRIVATE);
	memset(mem, 1, PAGES * FB_PAGE);
	EXPECT_EQ(mr_reg(&d, mem, PAGES * FB_PAGE, FL_LOCAL_WRITE, &mr), 0);
	STEP("other private memory, shared memory, and a hole");
	mr_replace(mem + 20 * FB_PAGE, 50, MAP_PRIVATE, 2);
	mr_replace(mem + 80 * FB_PAGE, 10, MAP_SHARED, 3);
	EXPECT_EQ(munmap(mem + 100 * FB_PAGE, 5 * FB_PAGE), 0);
	STEP("what is gone cannot be fetched, though the board has it still");
	EXPECT_EQ(fl_prefetch(mr, mem, 20 * FB_PAGE, 1), 0);
	EXPECT_EQ(fl_prefetch(mr, mem + 19 * FB_PAGE, 1 + FB_PAGE, 1), -EFAULT);
	EXPECT_EQ(fl_prefetch(mr, mem + 85 * FB_PAGE + 9, 1, 0), -EFAULT);
	EXPECT_EQ(fl_prefetch(mr, mem + 104 * FB_PAGE, 2 * FB_PAGE, 0), -EFAULT);
	EXPECT_EQ(fl_prefetch(mr, mem + 105 * FB_PAGE, 45 * FB_PAGE, 0), 0);
	listen_to_stderr();
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	stop_listening();
	EXPECT_EQ(atomic_load(&d.b->released), PAGES);
	mr_holds(mem, 20, 1);
	mr_holds(mem + 20 * FB_PAGE, 50, 2);
	mr_holds(mem + 70 * FB_PAGE, 10, 1);
	mr_holds(mem + 80 * FB_PAGE, 10, 3);
	mr_holds(mem + 90 * FB_PAGE, 10, 1);
	mr_holds(mem + 105 * FB_PAGE, 45, 1);
	EXPECT(strstr(said, "memory was unmapped while a region held it") !=
	       NULL);
	STEP("and it can be registered again");
	EXPECT_EQ(mr_reg(&d, mem + 20 * FB_PAGE, FB_PAGE, FL_LOCAL_WRITE, &mr),
		  0);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	mr_holds(mem + 20 * FB_PAGE, 50, 2);
	munmap(mem, PAGES * FB_PAGE);
}

TEST("a page that is taken and comes again does not overwrite what is new")
{
	static struct fb_device d;
	struct fl_mr *mr;
	unsigned int round;
	uint8_t *mem;

	fb_device_start(&d);
	mem = mr_map(PAGES, RW, MAP_PRIVATE);
	memset(mem, 1, PAGES * FB_PAGE);
	EXPECT_EQ(mr_reg(&d, mem, PAGES * FB_PAGE, FL_LOCAL_WRITE, &mr), 0);
	mr_replace(mem + 20 * FB_PAGE, 50, MAP_PRIVATE, 2);
	for (round = 0; round < 4; round++) {
		fb_evict_all(d.b);
		mr_holds(mem + (round & 1 ? 0 : 20 * FB_PAGE),
			 round & 1 ? 20 : 50, round & 1 ? 1 : 2);
		mr_holds(mem, 20, 1);
		mr_holds(mem + 20 * FB_PAGE, 50, 2);
	}
	STEP("as long as the old region is there the new memory is refused");
	EXPECT_EQ(mr_reg(&d, mem + 20 * FB_PAGE, FB_PAGE, FL_LOCAL_WRITE, &mr),
		  -EBUSY);
	listen_to_stderr();
	EXPECT_EQ(fl_close(d.dev), 0);
	stop_listening();
	d.dev = NULL;
	EXPECT(strstr(said, "memory was unmapped while a region held it") !=
	       NULL);
	mr_holds(mem, 20, 1);
	mr_holds(mem + 20 * FB_PAGE, 50, 2);
	mr_holds(mem + 70 * FB_PAGE, 80, 1);
	munmap(mem, PAGES * FB_PAGE);
}

TEST("a region that is still where it was is given back without a word")
{
	static struct fb_device d;
	struct fl_mr *mr;
	uint8_t *mem;

	fb_device_start(&d);
	mem = mr_map(PAGES, RW, MAP_PRIVATE);
	memset(mem, 1, PAGES * FB_PAGE);
	EXPECT_EQ(mr_reg(&d, mem, PAGES * FB_PAGE, FL_LOCAL_WRITE, &mr), 0);
	fb_evict_all(d.b);
	mr_holds(mem, 3, 1);
	listen_to_stderr();
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	stop_listening();
	EXPECT_STR(said, "");
	mr_holds(mem, PAGES, 1);
	munmap(mem, PAGES * FB_PAGE);
}

/* Each of them has had it, and given it back: one once, the next one twice. */
static void had_by(struct fb_device *d, unsigned int n, uint8_t *mem)
{
	struct fl_mr *mr;
	unsigned int i, k;

	for (i = 0; i < n; i++) {
		fb_device_start(&d[i]);
		for (k = 0; k <= i; k++) {
			EXPECT_EQ(mr_reg(&d[i], mem, FB_PAGE, FL_LOCAL_WRITE,
					 &mr),
				  0);
			EXPECT_EQ(fl_dereg_mr(mr), 0);
		}
	}
}

TEST("memory that two boards have had is a third one's as any other")
{
	static struct fb_device d[2], third;
	uint8_t *mem = mr_map(1, RW, MAP_PRIVATE);
	struct fl_mr *mr;

	mem[0] = 7;
	had_by(d, 2, mem);
	fb_device_start(&third);
	EXPECT_EQ(mr_reg(&third, mem, FB_PAGE, FL_LOCAL_WRITE, &mr), 0);
	fb_evict_all(third.b);
	alarm(60);	/* it was tried again and again, and nobody was asked */
	EXPECT_EQ(mem[0], 7);
	alarm(0);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	munmap(mem, FB_PAGE);
}

TEST("memory that two boards have had is a crash when it is gone")
{
	static struct fb_device d[2];
	uint8_t *mem = mr_map(1, RW, MAP_PRIVATE);
	int status = 0;
	pid_t pid;

	/* Below the library's: a sanitizer's own would turn it into an exit. */
	signal(SIGSEGV, SIG_DFL);
	had_by(d, 2, mem);
	munmap(mem, FB_PAGE);
	pid = fork();
	if (!pid) {
		alarm(60);
		_exit(*(volatile uint8_t *)mem);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFSIGNALED(status));
	EXPECT_EQ(WTERMSIG(status), SIGSEGV);
}
