// SPDX-License-Identifier: BSD-2-Clause
/*
 * The board is killed while memory of the program's own is registered or given
 * back: at every step of that, before and after its answer. Then the library's
 * agent waits for the answer, and no other thread listens to the socket. Each call
 * has to end, the memory has to be what it was, and nobody may spin meanwhile.
 *
 * The board is a process that kills itself at the step which a test names, so that
 * no case depends on luck. Where it should not end, the run's time limit tells.
 * variants: tsan pages
 */
#include "lib_internal.h"
#include "rig/attach_fake.h"

#define PAGES	3u

struct step {
	const char *name;
	uint32_t op, cmd;
};

static const struct step steps[] = {
	{ "IMPORT", ATTACH_IMPORT, 0 },
	{ "IMPORTED", ATTACH_IMPORTED, 0 },
	{ "the region's ioctl", ATTACH_IOCTL, FL_IOC_REG_MR },
	{ "the ioctl that ends it", ATTACH_IOCTL, FL_IOC_DEREG_MR },
	{ "RELEASE", ATTACH_RETURN, 0 },
	{ "RETURNED", ATTACH_RETURNED, 0 },
	{ "CLOSE", ATTACH_CLOSE, 0 },
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static uint8_t death_pattern(size_t i)
{
	return (uint8_t)(i * 7 + i / FB_PAGE);
}

static void *program_memory(size_t *bytes)
{
	uint8_t *mem;
	size_t i;

	*bytes = PAGES * os_page_bytes();
	mem = mmap(NULL, *bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(mem != MAP_FAILED);
	for (i = 0; i < *bytes; i++)
		mem[i] = death_pattern(i);
	return mem;
}

/* 0 as long as the board lives, then -ENODEV: nothing else, and for good. */
static void expect_end(int result, bool *gone)
{
	EXPECT(!result || result == -ENODEV);
	EXPECT(!*gone || result == -ENODEV);
	*gone = result;
}

/* Open, register, give back, close; the board dies somewhere on the way. */
static void live_through(struct fb_death death)
{
	struct fb *b = fb_start_process(death, false);
	struct fl_device *dev = NULL;
	struct fl_mr *mr = NULL;
	struct fl_pd *pd = NULL;
	bool gone = false;
	size_t bytes, i;
	uint8_t *mem;
	int r;

	EXPECT_EQ(fl_open(b->name, &dev), 0);
	EXPECT_EQ(fl_alloc_pd(dev, &pd), 0);
	mem = program_memory(&bytes);
	r = fl_reg_mr(pd, mem, bytes, FL_LOCAL_WRITE, &mr);
	expect_end(r, &gone);
	if (!r)
		expect_end(fl_dereg_mr(mr), &gone);
	expect_end(fl_close(dev), &gone);
	/* Its last answer may have come before it died. */
	EXPECT(gone || death.op == ATTACH_CLOSE);
	for (i = 0; i < bytes; i++)
		EXPECT_EQ(mem[i], death_pattern(i));
	munmap(mem, bytes);
	waitpid(b->pid, &r, 0);
	EXPECT(WIFSIGNALED(r) && WTERMSIG(r) == SIGKILL);
	b->pid = 0;
}

static void die_at_all_steps(bool wakeup)
{
	unsigned int i, answered;

	for (i = 0; i < STEPS; i++)
		for (answered = 0; answered < 2; answered++) {
			STEP("it dies %s its answer to %s",
			     answered ? "after" : "before", steps[i].name);
			live_through((struct fb_death){
				.op = steps[i].op, .cmd = steps[i].cmd,
				.answered = answered, .wakeup = wakeup });
		}
}

TEST("a board that is killed while memory is registered or given back: ENODEV")
{
	die_at_all_steps(false);
}

TEST("the same with a wakeup in the socket that nobody has read")
{
	die_at_all_steps(true);
}

struct crowd {
	struct fl_pd *pd;
	_Atomic int wrong;
};

static void *death_registers(void *arg)
{
	struct crowd *c = arg;
	struct fl_mr *mr;
	size_t bytes;
	void *mem = program_memory(&bytes);
	int r;

	do {
		r = fl_reg_mr(c->pd, mem, bytes, FL_LOCAL_WRITE, &mr);
		if (!r)
			r = fl_dereg_mr(mr);
	} while (!r);
	if (r != -ENODEV)
		atomic_store(&c->wrong, r);
	return NULL;
}

TEST("every one of many threads that register memory hears of the board's death")
{
	struct fb_death death = { .op = ATTACH_IMPORT };
	struct fl_device *dev;
	struct crowd c = { 0 };
	pthread_t t[4];
	unsigned int i;
	struct fb *b;

	for (death.nth = 0; death.nth < 12; death.nth++) {
		STEP("it dies at the call to import number %u", death.nth);
		b = fb_start_process(death, false);
		EXPECT_EQ(fl_open(b->name, &dev), 0);
		EXPECT_EQ(fl_alloc_pd(dev, &c.pd), 0);
		for (i = 0; i < 4; i++)
			EXPECT_EQ(pthread_create(&t[i], NULL, death_registers, &c), 0);
		for (i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		EXPECT_EQ(atomic_load(&c.wrong), 0);
		EXPECT_EQ(fl_close(dev), -ENODEV);
		fb_kill(b);
	}
}

/*
 * The board answers only once it has seen each thread of this process sleep at a
 * look: a thread that spins keeps it waiting until the run's time limit.
 */
TEST("while the board is slow to import memory all threads sleep")
{
	struct fb *b = fb_start_process((struct fb_death){ 0 }, true);
	struct fl_device *dev;
	struct fl_mr *mr;
	struct fl_pd *pd;
	size_t bytes;
	void *mem;

	EXPECT_EQ(fl_open(b->name, &dev), 0);
	EXPECT_EQ(fl_alloc_pd(dev, &pd), 0);
	mem = program_memory(&bytes);
	EXPECT_EQ(fl_reg_mr(pd, mem, bytes, FL_LOCAL_WRITE, &mr), 0);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
	EXPECT_EQ(fl_close(dev), 0);
	munmap(mem, bytes);
}
