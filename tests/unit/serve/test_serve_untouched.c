// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/*
 * Untouched memory that a process registers with a board in another process: what a
 * card writes and reads there, how much of the board it takes, and what a process that
 * lies about it gets.
 *
 * variants: tsan posix
 */
#include <pthread.h>
#include <sys/mman.h>

#include "rig/serve_raw.h"

#define FAR	0x300000000000ull
#define PAGES	512u
#define BYTES	(PAGES * RIG_PAGE)

/* ---- with the library ---- */

static uint8_t *untouched_map(void)
{
	uint8_t *mem = mmap(NULL, BYTES + RIG_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		return NULL;
#ifdef MADV_NOHUGEPAGE
	madvise(mem, BYTES + RIG_PAGE, MADV_NOHUGEPAGE);
#endif
	return (uint8_t *)(((uintptr_t)mem + RIG_PAGE - 1) / RIG_PAGE *
			   RIG_PAGE);
}

static int write_to(struct rig_app *a, const uint8_t *from, struct fl_mr *lmr,
		    uint8_t *to, struct fl_mr *rmr, uint32_t bytes)
{
	struct fl_work w = { .opcode = FL_WRITE, .local = (void *)(uintptr_t)from,
			     .lkey = fl_mr_key(lmr), .remote = (uintptr_t)to,
			     .rkey = fl_mr_key(rmr), .bytes = bytes };

	return rig_app_do(a, &w);
}

/*
 * The card reads from pages that nobody has touched, and writes to such pages; all is
 * compared with a plain array. Twice: the second time the regions are pinned.
 */
static int card_comes_first(void *arg)
{
	uint8_t *from = untouched_map(), *to = untouched_map(), *plain = calloc(1, BYTES);
	unsigned int pinned = *(unsigned int *)arg ? FL_PINNED : 0;
	struct fl_mr *lmr, *rmr;
	struct rig_app a;
	uint32_t i;

	RIG_TRY(rig_app_loop(&a, 16 * RIG_PAGE));
	from[5 * RIG_PAGE + 1] = plain[5 * RIG_PAGE + 1] = 1;
	RIG_TRY(fl_reg_mr(a.pd, from, BYTES, FL_REMOTE_READ | pinned, &lmr));
	RIG_TRY(fl_reg_mr(a.pd, to, BYTES, FL_REMOTE_WRITE | FL_LOCAL_WRITE |
			  pinned, &rmr));
	RIG_TRY(write_to(&a, from, lmr, to, rmr, 8 * RIG_PAGE));
	from[9 * RIG_PAGE + 7] = plain[20 * RIG_PAGE + 7] = 2;
	RIG_TRY(write_to(&a, from + 9 * RIG_PAGE, lmr, to + 20 * RIG_PAGE, rmr,
			 RIG_PAGE));
	fl_advise(a.dev, to, BYTES, FL_PAGEOUT);
	if (memcmp(to, plain, BYTES / 2))
		return 31;
	/* Written by the card, and never seen by this process before it goes back. */
	from[9 * RIG_PAGE + 7] = plain[400 * RIG_PAGE + 7] = 3;
	RIG_TRY(write_to(&a, from + 9 * RIG_PAGE, lmr, to + 400 * RIG_PAGE, rmr,
			 RIG_PAGE));
	fl_advise(a.dev, to, BYTES, FL_PAGEOUT);
	RIG_TRY(fl_dereg_mr(rmr));
	RIG_TRY(fl_dereg_mr(lmr));
	if (memcmp(to, plain, BYTES))
		return 32;
	for (i = 0; i < BYTES; i++)
		if (from[i] != (i == 5 * RIG_PAGE + 1 ? 1 :
				i == 9 * RIG_PAGE + 7 ? 3 : 0))
			return 33;
	return fl_close(a.dev) ? 34 : 0;
}

TEST("a card reads and writes pages that no CPU has touched")
{
	unsigned int pinned;

	rig_start(NULL);
	for (pinned = 0; pinned < 2; pinned++) {
		STEP("%s", pinned ? "pinned" : "on demand");
		EXPECT_EQ(rig_app_run(card_comes_first, &pinned), 0);
	}
	rig_end();
}

/* A board of a few frames takes a region that would not fit, if it is untouched. */
static int registers_much(void *arg)
{
	uint8_t *mem = untouched_map();
	struct rig_app a;
	struct fl_mr *mr;
	uint64_t mask;
	uint32_t i;

	(void)arg;
	RIG_TRY(rig_app_loop(&a, 16 * RIG_PAGE));
	if (os_pages_untouched(mem, 1, &mask))
		return fl_close(a.dev);		/* it does not say */
	RIG_TRY(fl_reg_mr(a.pd, mem, BYTES, FL_LOCAL_WRITE, &mr));
	for (i = 0; i < 60; i++)
		mem[i * 8 * RIG_PAGE] = (uint8_t)i;
	for (i = 0; i < 60; i++)
		if (mem[i * 8 * RIG_PAGE] != i || mem[i * 8 * RIG_PAGE + 1])
			return 41;
	RIG_TRY(fl_dereg_mr(mr));
	for (i = 0; i < 60; i++)
		if (mem[i * 8 * RIG_PAGE] != i)
			return 42;
	return fl_close(a.dev) ? 43 : 0;
}

TEST("a region larger than the board's memory and swap is taken while it is untouched")
{
	static const char *const small[] = { "--frames", "64", "--swap", "128",
					     NULL };

	rig_start(small);
	EXPECT_EQ(rig_app_run(registers_much, NULL), 0);
	rig_end();
}

/* What has contents moves a part at a time, as much as the process may have. */
static int registers_touched(void *arg)
{
	const uint32_t pages = 200;
	struct fl_mr *mr, *pinned;
	struct rig_app a;
	uint8_t *mem;
	uint32_t i, round;

	(void)arg;
	RIG_TRY(rig_app_loop(&a, 4 * RIG_PAGE));
	mem = untouched_map();
	for (round = 0; round < 2; round++) {
		for (i = 0; i < pages; i++)
			memset(mem + i * RIG_PAGE, (uint8_t)(i + round), RIG_PAGE);
		RIG_TRY(fl_reg_mr(a.pd, mem, pages * RIG_PAGE, FL_LOCAL_WRITE, &mr));
		for (i = 0; i < pages * RIG_PAGE; i += 509)
			if (mem[i] != (uint8_t)(i / RIG_PAGE + round))
				return 44;
		/* What is pinned is there all at once. */
		if (fl_reg_mr(a.pd, mem, pages * RIG_PAGE, FL_PINNED, &pinned) != -ENOMEM)
			return 45;
		RIG_TRY(fl_dereg_mr(mr));
		for (i = 0; i < pages * RIG_PAGE; i += 509)
			if (mem[i] != (uint8_t)(i / RIG_PAGE + round))
				return 46;
		/* It is the program's own again, and not a view of the board's. */
		if (munmap(mem + 8 * RIG_PAGE, RIG_PAGE) ||
		    mmap(mem + 8 * RIG_PAGE, RIG_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return 47;
	}
	return fl_close(a.dev) ? 48 : 0;
}

TEST("on demand a region may have more pages than its process, whether they are touched or not")
{
	static const char *const small[] = { "--frames", "512", "--swap", "4096",
					     "--process-frames", "30", NULL };

	rig_start(small);
	EXPECT_EQ(rig_app_run(registers_touched, NULL), 0);
	rig_end();
}

/* ---- while others use it ---- */

#define WRITERS		3u
#define WRITTEN		200u	/* pages */
/* Large pages move one or a few at a time, and each time the writers are in the way. */
#define ROUNDS		(HOST_FRAMES > 1 ? 5u : 24u)

struct writer {
	_Atomic uint32_t *word;		/* one a page, for this thread alone */
	_Atomic int *stop;
	uint32_t number, count[WRITTEN], bad;
};

static void *write_somewhere(void *arg)
{
	struct writer *w = arg;
	uint32_t state = w->number + 1, i;

	while (!*w->stop) {
		i = rig_random(&state) % WRITTEN;
		w->bad += w->word[i * RIG_PAGE / 4] != w->count[i];
		w->word[i * RIG_PAGE / 4] = ++w->count[i];
	}
	return NULL;
}

/* Threads touch pages for the first time while these are registered and go back. */
static int memory_round(struct rig_app *a, uint32_t round)
{
	uint8_t *mem = untouched_map();
	static struct writer w[WRITERS];
	pthread_t thread[WRITERS];
	_Atomic int stop = 0;
	struct fl_mr *mr;
	uint32_t i, k, bad = 0;

	for (i = 0; i < WRITERS; i++) {
		memset(&w[i], 0, sizeof(w[i]));
		w[i].word = (_Atomic uint32_t *)(void *)(mem + 64 * i);
		w[i].stop = &stop;
		w[i].number = round * WRITERS + i;
		pthread_create(&thread[i], NULL, write_somewhere, &w[i]);
	}
	for (i = 0; i < 3; i++) {
		RIG_TRY(fl_reg_mr(a->pd, mem, WRITTEN * RIG_PAGE,
				  FL_REMOTE_WRITE, &mr));
		if (round % 2)
			fl_advise(a->dev, mem, WRITTEN * RIG_PAGE, FL_PAGEOUT);
		RIG_TRY(fl_dereg_mr(mr));
	}
	stop = 1;
	for (i = 0; i < WRITERS; i++) {
		pthread_join(thread[i], NULL);
		bad += w[i].bad;
		for (k = 0; k < WRITTEN; k++)
			bad += w[i].word[k * RIG_PAGE / 4] != w[i].count[k];
	}
	munmap(mem, BYTES);
	return bad ? 60 : 0;
}

static int memory_under_writers(void *arg)
{
	struct rig_app a;
	uint32_t round;

	(void)arg;
	RIG_TRY(rig_app_loop(&a, 16 * RIG_PAGE));
	for (round = 0; round < test_rounds(ROUNDS); round++)
		RIG_TRY(memory_round(&a, round));
	return fl_close(a.dev) ? 61 : 0;
}

TEST("threads touch pages for the first time while regions come and go")
{
	/* So few frames that pages go all the time. */
	static const char *const small[] = { "--frames", "300", "--swap", "600",
					     NULL };

	rig_start(small);
	EXPECT_EQ(rig_app_run(memory_under_writers, NULL), 0);
	rig_end();
}

/* ---- more ranges than the system allows ---- */

#define MANY	70000u

static int memory_fragments(void *arg)
{
	size_t bytes = (size_t)MANY * RIG_PAGE, i;
	uint8_t *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rig_app a;
	struct fl_mr *mr;

	(void)arg;
	if (mem == MAP_FAILED)
		return 50;
#ifdef MADV_NOHUGEPAGE
	madvise(mem, bytes, MADV_NOHUGEPAGE);
#endif
	RIG_TRY(rig_app_loop(&a, 16 * RIG_PAGE));
	for (i = 0; i < MANY; i += 2)
		mem[i * RIG_PAGE] = (uint8_t)(i / 2 | 1);
	RIG_TRY(fl_reg_mr(a.pd, mem, bytes, FL_LOCAL_WRITE, &mr));
	for (i = 0; i < MANY; i += 1000)
		if (mem[i * RIG_PAGE] != (uint8_t)(i / 2 | 1) ||
		    mem[(i + 1) * RIG_PAGE])
			return 51;
	RIG_TRY(fl_dereg_mr(mr));
	for (i = 0; i < MANY; i++)
		if (mem[i * RIG_PAGE] != (i % 2 ? 0 : (uint8_t)(i / 2 | 1)))
			return 52;
	return fl_close(a.dev) ? 53 : 0;
}

TEST("every second page of a large region touched: more ranges than there may be")
{
	static const char *const large[] = { "--frames", "90000",
					     "--process-frames", "80000", NULL };

	/* Of larger pages this would take gigabytes, and it is 70,000 faults. */
	if (RIG_PAGE > 4096 || RIG_TSAN || test_is_short())
		return;
	rig_start(large);
	EXPECT_EQ(rig_app_run(memory_fragments, NULL), 0);
	rig_end();
}

/* ---- by the protocol ---- */

#define WANT_ANSWER(n, want, ...) do { \
	if (raw_call(&t.r, __VA_ARGS__) != (want)) \
		return n; \
} while (0)

/* Numbers of the protocol: pages of 4096 bytes. */
static int lies_about_memory(void *arg)
{
	const uint64_t g = RIG_PAGE / 4096, all = (1ull << g) - 1, page = RIG_PAGE;
	unsigned int number = *(unsigned int *)arg;
	uint64_t arena = RIG_ARENA;
	struct target t;

	TRY_OPEN(&t, number);
	/* In the arena, over its edges, around the end of all addresses, nowhere. */
	WANT_ANSWER(10, -EINVAL, ATTACH_IMPORT, arena, g, 3, all);
	WANT_ANSWER(11, -EINVAL, ATTACH_IMPORT, t.mem, g, 3, all);
	WANT_ANSWER(12, -EINVAL, ATTACH_IMPORT, arena - page, 2 * g, 3,
		    all | all << g);
	WANT_ANSWER(13, -EINVAL, ATTACH_IMPORT, -page, 2 * g, 3, all);
	WANT_ANSWER(14, -EINVAL, ATTACH_IMPORT, 0, g, 3, all);
	WANT_ANSWER(15, -EINVAL, ATTACH_IMPORT, 1ull << 47, g, 3, all);
	WANT_ANSWER(16, -EINVAL, ATTACH_IMPORT, FAR + 8, g, 3, all);
	WANT_ANSWER(17, -EINVAL, ATTACH_IMPORT, FAR, UINT64_MAX, 3, all);
	WANT_ANSWER(18, -EINVAL, ATTACH_IMPORT, FAR, 2 * ATTACH_BATCH, 3, all);
	WANT_ANSWER(19, -EINVAL, ATTACH_IMPORT, FAR, g, 0, all);
	/* More of it untouched than there is, or half a page. */
	WANT_ANSWER(20, -EINVAL, ATTACH_IMPORT, FAR, g, 3, all << g);
	WANT_ANSWER(21, -EINVAL, ATTACH_IMPORT, FAR, g, 3, UINT64_MAX);
	if (g > 1)
		WANT_ANSWER(22, -EINVAL, ATTACH_IMPORT, FAR, g, 3, 1);
	/* Twice, overlapping, kept, taken back while it moves, and once too often. */
	WANT_ANSWER(30, 0, ATTACH_IMPORT, FAR, 2 * g, 3, all);
	WANT_ANSWER(31, -EEXIST, ATTACH_IMPORT, FAR, g, 3, all);
	WANT_ANSWER(32, -EEXIST, ATTACH_IMPORT, FAR + page, 2 * g, 3, all);
	WANT_ANSWER(33, -EINVAL, ATTACH_IMPORTED, FAR, 2 * g, 1, 0);
	WANT_ANSWER(34, -EBUSY, ATTACH_RETURN, FAR, g, 0, 0);
	WANT_ANSWER(35, 0, ATTACH_FAULT, FAR, 1, 0, 0);
	WANT_ANSWER(36, -EBUSY, ATTACH_PROTECT, FAR, page, 1, 0);
	WANT_ANSWER(37, 0, ATTACH_IMPORTED, FAR, 2 * g, 0, 0);
	WANT_ANSWER(38, -EINVAL, ATTACH_IMPORTED, FAR, 2 * g, 0, 0);
	WANT_ANSWER(39, -EINVAL, ATTACH_RETURNED, FAR, g, 0, 0);
	WANT_ANSWER(40, -EEXIST, ATTACH_IMPORT, FAR, g, 3, all);
	WANT_ANSWER(41, -EINVAL, ATTACH_FREE, FAR, page, 0, 0);
	/* What is looked at. */
	WANT_ANSWER(50, 0, ATTACH_LOOK, FAR, 2 * g, 0, 0);
	if (t.r.shared->call[0].payload[0] != (uint8_t)all)
		return 51;
	WANT_ANSWER(52, -EINVAL, ATTACH_LOOK, FAR, 0, 0, 0);
	WANT_ANSWER(53, -EINVAL, ATTACH_LOOK, FAR, ATTACH_LOOK_PAGES + g, 0, 0);
	WANT_ANSWER(54, -EINVAL, ATTACH_LOOK, FAR, UINT64_MAX, 0, 0);
	WANT_ANSWER(55, -EINVAL, ATTACH_LOOK, t.mem, g, 0, 0);
	WANT_ANSWER(56, -EINVAL, ATTACH_LOOK, (1ull << 47) - page, 2 * g, 0, 0);
	WANT_ANSWER(57, -EINVAL, ATTACH_LOOK, FAR + 1, g, 0, 0);
	/* It ends while some are on their way in, and others out. */
	WANT_ANSWER(60, 0, ATTACH_RETURN, FAR, 2 * g, 0, 0);
	WANT_ANSWER(61, 0, ATTACH_IMPORT, FAR + 8 * page, 2 * g, 3, all << g);
	return 0;
}

TEST("who lies about untouched memory gets an error for each lie")
{
	beside_pair(lies_about_memory, NULL, 2);
}

static int spreads_out(void *arg)
{
	const uint64_t g = RIG_PAGE / 4096, all = (1ull << g) - 1;
	unsigned int number = *(unsigned int *)arg;
	struct target t;
	uint64_t i;
	int r = 0;

	TRY_OPEN(&t, number);
	for (i = 0; i < 20000 && !r; i++) {
		r = raw_call(&t.r, ATTACH_IMPORT, FAR + (i << 30), g, 3, all);
		if (!r)
			r = raw_call(&t.r, ATTACH_IMPORTED, FAR + (i << 30), g, 0,
				     0);
	}
	return r == -ENOMEM ? 0 : 2;
}

TEST("who spreads untouched pages over all addresses comes to its limit of tables")
{
	beside_pair(spreads_out, NULL, 2);
}
