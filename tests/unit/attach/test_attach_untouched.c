// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory that the program has not touched before it registers it: no page of it comes,
 * until somebody wants one. What it holds is compared with a plain array.
 * variants: posix tsan pages
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "rig/attach_fake.h"

#define PAGES 200	/* more than three batches */
#define RW (PROT_READ | PROT_WRITE)

/* Where the system does not say what was touched, all was. */
static bool system_tells(void)
{
	uint64_t page = os_page_bytes(), mask;

	return !os_pages_untouched((void *)((uintptr_t)&mask / page * page), 1,
				   &mask);
}

static uint8_t *untouched_map(unsigned int pages)
{
	uint8_t *mem = mmap(NULL, pages * FB_PAGE, RW,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(mem != MAP_FAILED);
#ifdef MADV_NOHUGEPAGE
	madvise(mem, pages * FB_PAGE, MADV_NOHUGEPAGE);
#endif
	return mem;
}

static struct fl_mr *untouched_reg(struct fb_device *d, void *addr,
			       unsigned int pages, unsigned int access)
{
	struct fl_mr *mr;

	EXPECT_EQ(fl_reg_mr(d->pd, addr, pages * FB_PAGE, access, &mr), 0);
	return mr;
}

static unsigned int count_untouched(uint8_t *mem, unsigned int pages)
{
	unsigned int i, n = 0;
	uint64_t mask;

	for (i = 0; i < pages; i++)
		if (!os_pages_untouched(mem + i * FB_PAGE, 1, &mask))
			n += mask & 1;
	return n;
}

static unsigned int frames_used(struct fb *b)
{
	unsigned int i, n = 0;

	pthread_mutex_lock(&b->lock);
	for (i = 0; i < FB_FRAMES; i++)
		n += b->owner[i] != 0;
	pthread_mutex_unlock(&b->lock);
	return n;
}

TEST("untouched memory takes no frame, is zeros, and goes back untouched")
{
	static struct fb_device d;
	unsigned int i, expect = system_tells() ? PAGES : 0;
	struct fl_mr *mr;
	uint8_t *mem;

	fb_device_start(&d);
	memset(d.b->bank, 0xdd, FB_FRAMES * FB_PAGE);
	mem = untouched_map(PAGES);
	mr = untouched_reg(&d, mem, PAGES, FL_LOCAL_WRITE);
	EXPECT_EQ(atomic_load(&d.b->untouched), expect);
	EXPECT_EQ(frames_used(d.b), PAGES - expect);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	EXPECT_EQ(atomic_load(&d.b->released), PAGES);
	EXPECT_EQ(count_untouched(mem, PAGES), expect);
	for (i = 0; i < PAGES * FB_PAGE; i++)
		EXPECT_EQ(mem[i], 0);
	STEP("once more, and now it is touched while it is registered");
	munmap(mem, PAGES * FB_PAGE);
	mem = untouched_map(PAGES);
	mr = untouched_reg(&d, mem, PAGES, FL_LOCAL_WRITE);
	EXPECT_EQ(mem[77 * FB_PAGE + 5], 0);
	mem[100 * FB_PAGE] = 9;
	if (expect)
		EXPECT_EQ(frames_used(d.b), 2);
	fb_evict_all(d.b);
	EXPECT_EQ(mem[100 * FB_PAGE], 9);
	EXPECT_EQ(fl_prefault(d.dev, mem, FB_PAGE, 1), 0);
	STEP("what only the card has touched comes back with its bytes");
	fb_card_writes(d.b, mem + 31 * FB_PAGE, 8);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	EXPECT_EQ(mem[100 * FB_PAGE], 9);
	EXPECT_EQ(mem[31 * FB_PAGE], 8);
	EXPECT_EQ(mem[0] + mem[PAGES * FB_PAGE - 1], 0);
	munmap(mem, PAGES * FB_PAGE);
}

/* The program, the device (which has the frames) and evictions, as they come. */
static void live_a_while(struct fb_device *d, uint8_t *mem, uint8_t *plain,
			 uint32_t *state)
{
	unsigned int i, at;

	for (i = 0; i < 60; i++) {
		*state = *state * 1664525 + 1013904223;
		at = (*state >> 8) % (PAGES * FB_PAGE);
		EXPECT_EQ(mem[at], plain[at]);
		if (*state >> 30)
			mem[at] = plain[at] = (uint8_t)i;
		if (*state >> 30 == 1)
			fb_evict_all(d->b);
	}
}

TEST("touched pages among untouched ones: nothing is lost, nothing is made up")
{
	static uint8_t plain[PAGES * FB_PAGE];
	static struct fb_device d;
	unsigned int i, round;
	uint32_t state = 7;
	struct fl_mr *mr;
	uint8_t *mem;

	fb_device_start(&d);
	for (round = 0; round < 12; round++) {
		mem = untouched_map(PAGES);
		memset(plain, 0, sizeof(plain));
		/* From none to all; in the first ones every so many. */
		for (i = 0; i < PAGES * round / 11; i++) {
			state = state * 1664525 + 1013904223;
			if (round > 3 && state >> 31)
				continue;
			plain[i * FB_PAGE + state % FB_PAGE] = (uint8_t)i;
			mem[i * FB_PAGE + state % FB_PAGE] = (uint8_t)i;
		}
		mr = untouched_reg(&d, mem, PAGES, FL_LOCAL_WRITE);
		live_a_while(&d, mem, plain, &state);
		EXPECT_EQ(fl_dereg_mr(mr), 0);
		EXPECT(!memcmp(mem, plain, sizeof(plain)));
		memset(mem, 3, sizeof(plain));
		munmap(mem, PAGES * FB_PAGE);
	}
	EXPECT_EQ(frames_used(d.b), 0);
}

struct toucher {
	_Atomic(uint32_t *) mem;	/* NULL: stop */
	_Atomic uint32_t rounds;
	uint32_t id, done[PAGES];
	unsigned int bad;
};

static void *touch_on(void *arg)
{
	struct toucher *t = arg;
	uint32_t state = t->id + 1, i;
	uint32_t *mem;

	while ((mem = atomic_load(&t->mem))) {
		state = state * 1664525 + 1013904223;
		i = (state >> 8) % PAGES;
		if (mem[i * 1024 + t->id] != t->done[i])
			t->bad++;
		mem[i * 1024 + t->id] = ++t->done[i];
		atomic_fetch_add(&t->rounds, 1);
	}
	return NULL;
}

/* Threads touch it for the first time while it is registered and deregistered. */
static void hammer_pages(struct fb_device *d, unsigned int rounds)
{
	static struct toucher t[3];
	struct fl_mr *mr;
	pthread_t thread[3];
	uint8_t *mem = untouched_map(PAGES);
	unsigned int i, k;

	memset(t, 0, sizeof(t));
	for (i = 0; i < 3; i++) {
		t[i].id = i;
		atomic_store(&t[i].mem, (uint32_t *)mem);
		EXPECT_EQ(pthread_create(&thread[i], NULL, touch_on, &t[i]), 0);
	}
	for (k = 0; k < rounds; k++) {
		mr = untouched_reg(d, mem, PAGES, FL_LOCAL_WRITE);
		atomic_store(&d->b->storm, k & 1);
		EXPECT_EQ(fl_dereg_mr(mr), 0);
		atomic_store(&d->b->storm, 0);
	}
	for (i = 0; i < 3; i++) {
		while (!atomic_load(&t[i].rounds))
			os_yield();
		atomic_store(&t[i].mem, NULL);
		pthread_join(thread[i], NULL);
		EXPECT_EQ(t[i].bad, 0);
		for (k = 0; k < PAGES; k++)
			EXPECT_EQ(((uint32_t *)mem)[k * 1024 + i], t[i].done[k]);
	}
	munmap(mem, PAGES * FB_PAGE);
}

TEST("threads touch pages for the first time while a region comes and goes")
{
	static struct fb_device d;
	unsigned int i;

	fb_device_start(&d);
	for (i = 0; i < test_rounds(25); i++)
		hammer_pages(&d, 3);
	EXPECT_EQ(frames_used(d.b), 0);
}

TEST("what is mapped anew where untouched memory was is left as it is")
{
	static struct fb_device d;
	struct fl_mr *mr;
	unsigned int i;
	uint8_t *mem;

	if (!system_tells())
		return;
	fb_device_start(&d);
	mem = untouched_map(PAGES);
	mr = untouched_reg(&d, mem, PAGES, FL_LOCAL_WRITE);
	EXPECT_EQ(munmap(mem + 10 * FB_PAGE, 5 * FB_PAGE), 0);
	EXPECT(mmap(mem + 10 * FB_PAGE, 5 * FB_PAGE, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	       MAP_FAILED);
	EXPECT_EQ(mprotect(mem + 10 * FB_PAGE, 4 * FB_PAGE, RW), 0);
	memset(mem + 10 * FB_PAGE, 6, 4 * FB_PAGE);
	STEP("the board opens them, as if the card had wanted them");
	for (i = 9; i < 16; i++)
		EXPECT_EQ(fl_prefault(d.dev, mem + i * FB_PAGE, 1, 0), 0);
	mem[9 * FB_PAGE] = mem[15 * FB_PAGE] = 1;
	fb_evict_all(d.b);
	for (i = 0; i < 4 * FB_PAGE; i++)
		EXPECT_EQ(mem[10 * FB_PAGE + i], 6);
	EXPECT_EQ(mem[9 * FB_PAGE], 1);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	for (i = 0; i < 4 * FB_PAGE; i++)
		EXPECT_EQ(mem[10 * FB_PAGE + i], 6);
	EXPECT_EQ(mem[9 * FB_PAGE] + mem[14 * FB_PAGE] + mem[15 * FB_PAGE], 2);
	munmap(mem, PAGES * FB_PAGE);
}

TEST("untouched memory that is unmapped is a crash when it is touched")
{
	static struct fb_device d;
	int status = 0;
	uint8_t *mem;
	pid_t pid;

	if (!system_tells())
		return;
	signal(SIGSEGV, SIG_DFL);
	pid = fork();
	if (!pid) {
		alarm(60);
		fb_device_start(&d);
		mem = untouched_map(PAGES);
		untouched_reg(&d, mem, PAGES, FL_LOCAL_WRITE);
		munmap(mem + 3 * FB_PAGE, FB_PAGE);
		_exit(*(volatile uint8_t *)(mem + 3 * FB_PAGE));
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFSIGNALED(status));
	EXPECT_EQ(WTERMSIG(status), SIGSEGV);
}

#define WANT(cond) do { if (!(cond)) _exit(__LINE__ % 200 + 1); } while (0)

static void child_has_copy(uint8_t *mem, const uint8_t *plain)
{
	unsigned int i;

	for (i = 0; i < PAGES * FB_PAGE; i++)
		WANT(mem[i] == plain[i]);
	memset(mem, 5, PAGES * FB_PAGE);
	_exit(0);
}

TEST("a fork brings none of it in; the child has zeros, and what was written")
{
	static uint8_t plain[PAGES * FB_PAGE];
	static struct fb_device d;
	unsigned int i, used;
	struct fl_mr *mr;
	int status = 0;
	uint8_t *mem;
	pid_t pid;

	fb_device_start(&d);
	mem = untouched_map(PAGES);
	mem[60 * FB_PAGE] = plain[60 * FB_PAGE] = 1;
	mr = untouched_reg(&d, mem, PAGES, FL_LOCAL_WRITE);
	mem[3 * FB_PAGE] = plain[3 * FB_PAGE] = 2;
	mem[4 * FB_PAGE] = plain[4 * FB_PAGE] = 3;
	for (i = 0; i < 4; i++) {
		if (i == 1)
			fb_evict_all(d.b);
		if (i == 3) {
			fb_card_writes(d.b, mem + 70 * FB_PAGE + 8, 5);
			plain[70 * FB_PAGE + 8] = 5;
		}
		if (i == 2)
			mem[150 * FB_PAGE] = plain[150 * FB_PAGE] = 4;
		used = frames_used(d.b);
		pid = fork();
		if (!pid)
			child_has_copy(mem, plain);
		EXPECT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT_EQ(status, 0);
		if (system_tells())
			EXPECT_LE(frames_used(d.b), i == 1 ? 3 : used);
		EXPECT(!memcmp(mem + 3 * FB_PAGE, plain + 3 * FB_PAGE,
			       2 * FB_PAGE));
	}
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	EXPECT(!memcmp(mem, plain, sizeof(plain)));
	munmap(mem, PAGES * FB_PAGE);
}

TEST("when the board dies untouched memory that the card only read comes back")
{
	static struct fb_device d;
	uint8_t *sent, *received;
	int status = 0;
	unsigned int i;
	pid_t pid;

	if (!system_tells())
		return;
	fb_device_start(&d);
	sent = untouched_map(PAGES);
	received = untouched_map(PAGES);
	untouched_reg(&d, sent, PAGES, FL_REMOTE_READ);
	untouched_reg(&d, received, PAGES, FL_REMOTE_WRITE);
	received[9 * FB_PAGE] = 9;
	fb_end(d.b, 2);
	EXPECT_EQ(fl_close(d.dev), -ENODEV);
	d.dev = NULL;
	for (i = 0; i < PAGES * FB_PAGE; i++)
		EXPECT_EQ(sent[i], 0);
	memset(sent, 1, PAGES * FB_PAGE);
	EXPECT_EQ(received[9 * FB_PAGE], 9);
	STEP("what the card may have written there is lost, and is not zeros");
	signal(SIGSEGV, SIG_DFL);
	pid = fork();
	if (!pid)
		_exit(*(volatile uint8_t *)(received + 3 * FB_PAGE));
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFSIGNALED(status));
	munmap(sent, PAGES * FB_PAGE);
	munmap(received, PAGES * FB_PAGE);
}

static uint8_t *untouched_file(void)
{
	char path[200];
	uint8_t *mem;
	int fd;

	test_path(path, sizeof(path), "bytes");
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	EXPECT_EQ(pwrite(fd, "x", 1, 3 * FB_PAGE), 1);
	EXPECT_EQ(ftruncate(fd, 8 * FB_PAGE), 0);
	mem = mmap(NULL, 8 * FB_PAGE, RW, MAP_PRIVATE, fd, 0);
	EXPECT(mem != MAP_FAILED);
	close(fd);
	return mem;
}

TEST("private pages of a file, and pages that were only read, are touched")
{
	static struct fb_device d;
	uint8_t *mem, *file;
	unsigned int i;
	struct fl_mr *mr;

	fb_device_start(&d);
	file = untouched_file();
	mr = untouched_reg(&d, file, 8, FL_LOCAL_WRITE);
	EXPECT_EQ(atomic_load(&d.b->untouched), 0);
	fb_evict_all(d.b);
	EXPECT_EQ(file[3 * FB_PAGE], 'x');
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	EXPECT_EQ(file[3 * FB_PAGE], 'x');
	mem = untouched_map(8);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(((volatile uint8_t *)mem)[i * FB_PAGE], 0);
	mr = untouched_reg(&d, mem, 8, FL_LOCAL_WRITE);
	EXPECT_EQ(atomic_load(&d.b->untouched), 0);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	munmap(mem, 8 * FB_PAGE);
	munmap(file, 8 * FB_PAGE);
}
