// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/*
 * Ordinary memory as a region: malloc, mmap, static, the stack; what is refused;
 * and what system calls say about pages that are not there.
 *
 * variants: tsan posix
 */
#include <pthread.h>

#include "rig/serve.h"

#define PAGES	40u
#define BYTES	(PAGES * RIG_PAGE)
#define ROOM_BYTES	(BYTES + RIG_PAGE)

static uint8_t byte_of(uint32_t i, uint32_t round)
{
	return (uint8_t)(i * 13 + i / RIG_PAGE + round * 101);
}

/* The card writes bytes into mem (key), where nothing of it is present. */
static int write_into(struct rig_app *a, uint8_t *mem, uint32_t bytes,
		      uint32_t key, uint32_t round)
{
	struct fl_work w = { .opcode = FL_WRITE, .local = a->mem,
			     .lkey = fl_mr_key(a->mr),
			     .remote = (uintptr_t)mem, .rkey = key,
			     .bytes = bytes };
	uint32_t i;
	int r;

	for (i = 0; i < bytes; i++)
		a->mem[i] = byte_of(i, round);
	r = rig_app_do(a, &w);
	if (r)
		return 40;
	for (i = 0; i < bytes; i++)
		if (mem[i] != byte_of(i, round))
			return 41;
	return 0;
}

/*
 * Where the board's granule is larger than this system's pages: whole granules can
 * be imported, but others have something beside them that need not fit.
 */
static bool may_be_refused(const uint8_t *mem, uint32_t bytes)
{
	return RIG_PAGE > os_page_bytes() &&
	       ((uintptr_t)mem % RIG_PAGE || bytes % RIG_PAGE);
}

/* A private mapping that begins with a granule. */
static uint8_t *map_aligned(int prot, int flags)
{
	uint8_t *mem = mmap(NULL, BYTES + RIG_PAGE, prot,
			    flags | MAP_ANONYMOUS, -1, 0);
	size_t head = -(uintptr_t)mem % RIG_PAGE;

	if (mem == MAP_FAILED)
		return NULL;
	if (head)
		munmap(mem, head);
	munmap(mem + head + BYTES, RIG_PAGE - head);
	return mem + head;
}

/* Register, write into it, evict it, and have it back as ordinary memory. */
static int memory_use(uint8_t *mem, uint32_t bytes)
{
	uint8_t *first = (uint8_t *)((uintptr_t)mem & ~(RIG_PAGE - 1ul));
	uint32_t span = (uint32_t)(mem + bytes - first), i, round;
	struct rig_app a;
	struct fl_mr *mr;
	int r;

	for (i = 0; i < bytes; i++)
		mem[i] = byte_of(i, 9);
	RIG_TRY(rig_app_loop(&a, BYTES));
	r = fl_reg_mr(a.pd, mem, bytes, FL_REMOTE_WRITE | FL_REMOTE_READ |
		      FL_LOCAL_WRITE, &mr);
	for (i = 0; i < bytes; i++)
		if (mem[i] != byte_of(i, 9))
			return 30;	/* it lost something on the way */
	if (r == -EOPNOTSUPP && may_be_refused(mem, bytes))
		return fl_close(a.dev) ? 33 : 0;
	RIG_TRY(r);
	for (round = 0; round < 3; round++) {
		RIG_TRY(fl_advise(a.dev, first, span, FL_PAGEOUT));
		r = write_into(&a, mem, bytes, fl_mr_key(mr), round);
		if (r)
			return r;
	}
	fl_advise(a.dev, first, span, FL_PAGEOUT);
	RIG_TRY(fl_dereg_mr(mr));
	RIG_TRY(fl_close(a.dev));
	for (i = 0; i < bytes; i++)
		if (mem[i] != byte_of(i, 2))
			return 32;	/* it came back without its contents */
	memset(mem, 1, bytes);
	return 0;
}

static uint8_t in_bss[BYTES + 500];
static _Alignas(HOST_PAGE) uint8_t in_data[BYTES] = { 1 };

static int memory_uses(void *arg)
{
	int kind = *(int *)arg, r = 1;
	uint8_t *mem;

	switch (kind) {
	case 0:			/* in the middle of the heap */
		mem = malloc(700);
		r = memory_use(mem, 700);
		free(mem);
		break;
	case 1:			/* a mapping of its own */
		mem = malloc(BYTES);
		r = memory_use(mem, BYTES);
		free(mem);
		break;
	case 2:
		mem = map_aligned(PROT_READ | PROT_WRITE, MAP_PRIVATE);
		r = memory_use(mem, BYTES);
		munmap(mem, BYTES);
		break;
	case 3:
		r = memory_use(in_bss + 37, BYTES);
		break;
	case 4:
		r = memory_use(in_data, BYTES);
		break;
	}
	return r;
}

TEST("memory from malloc, mmap and static arrays is imported, and given back")
{
	int kind;

	rig_start(NULL);
	/*
	 * A granule that is larger than the system's pages is there for tests:
	 * what malloc gives may share one with anything, the library included.
	 */
	for (kind = RIG_PAGE > os_page_bytes() ? 2 : 0; kind < 5; kind++) {
		STEP("kind %d", kind);
		EXPECT_EQ(rig_app_run(memory_uses, &kind), 0);
	}
	rig_end();
}

static int uses_stack(void *arg)
{
	uint8_t mem[3 * RIG_PAGE];
	struct rig_app a;
	struct fl_mr *mr;
	int r;

	(void)arg;
	memset(mem, 4, sizeof(mem));
	RIG_TRY(rig_app_loop(&a, BYTES));
	r = fl_reg_mr(a.pd, mem, sizeof(mem), FL_REMOTE_WRITE, &mr);
	/* It works, or it is refused with a sentence; nothing between. */
	if (r)
		return r == -EOPNOTSUPP && strlen(fl_strerror(r)) > 10 ? 0 : 2;
	if (mem[0] != 4 || mem[sizeof(mem) - 1] != 4)
		return 3;
	r = write_into(&a, mem, sizeof(mem), fl_mr_key(mr), 6);
	if (r)
		return r;
	RIG_TRY(fl_dereg_mr(mr));
	return mem[77] != byte_of(77, 6) ? 4 : fl_close(a.dev) ? 5 : 0;
}

TEST("a buffer on the stack")
{
	rig_start(NULL);
	EXPECT_EQ(rig_app_run(uses_stack, NULL), 0);
	rig_end();
}

/* ---- while others use it ---- */

#define WRITERS 3u

struct writer {
	_Atomic uint32_t *word;		/* one a page, for this thread alone */
	_Atomic int *stop;
	uint32_t done;
	int bad;
};

static void *write_on(void *arg)
{
	struct writer *w = arg;
	uint32_t i;

	while (!*w->stop) {
		w->done++;
		for (i = 0; i < PAGES; i++)
			w->word[i * RIG_PAGE / 4]++;
		for (i = 0; i < PAGES; i++)
			if (w->word[i * RIG_PAGE / 4] != w->done)
				w->bad++;
	}
	return NULL;
}

static int imports_under_writers(void *arg)
{
	uint8_t *mem = aligned_alloc(RIG_PAGE, BYTES);
	struct writer w[WRITERS];
	pthread_t thread[WRITERS];
	_Atomic int stop = 0;
	struct rig_app a;
	struct fl_mr *mr;
	uint32_t i, bad = 0;

	(void)arg;
	memset(mem, 0, BYTES);
	RIG_TRY(rig_app_loop(&a, BYTES));
	for (i = 0; i < WRITERS; i++) {
		w[i] = (struct writer){ (_Atomic uint32_t *)(mem + 64 * i),
					&stop, 0, 0 };
		pthread_create(&thread[i], NULL, write_on, &w[i]);
	}
	for (i = 0; i < 30; i++) {
		RIG_TRY(fl_reg_mr(a.pd, mem, BYTES, FL_REMOTE_WRITE, &mr));
		usleep(1000);
		fl_advise(a.dev, mem, BYTES, FL_PAGEOUT);
		usleep(1000);
		RIG_TRY(fl_dereg_mr(mr));
		usleep(500);
	}
	stop = 1;
	for (i = 0; i < WRITERS; i++) {
		pthread_join(thread[i], NULL);
		bad += (uint32_t)w[i].bad;
	}
	RIG_TRY(fl_close(a.dev));
	return bad ? 2 : 0;
}

TEST("threads write to memory while it is imported, evicted and given back")
{
	rig_start(NULL);
	EXPECT_EQ(rig_app_run(imports_under_writers, NULL), 0);
	rig_end();
}

/* ---- two regions on one page ---- */

static int shares_a_page(void *arg)
{
	uint8_t *mem = aligned_alloc(RIG_PAGE, 2 * RIG_PAGE);
	struct rig_app a;
	struct fl_mr *one, *two;
	int r;

	(void)arg;
	memset(mem, 3, 2 * RIG_PAGE);
	RIG_TRY(rig_app_loop(&a, BYTES));
	RIG_TRY(fl_reg_mr(a.pd, mem + 100, 200, FL_REMOTE_WRITE, &one));
	RIG_TRY(fl_reg_mr(a.pd, mem + 1000, RIG_PAGE, FL_REMOTE_WRITE, &two));
	r = write_into(&a, mem + 100, 200, fl_mr_key(one), 1);
	if (!r)
		r = write_into(&a, mem + 1000, RIG_PAGE, fl_mr_key(two), 2);
	if (r)
		return r;
	RIG_TRY(fl_dereg_mr(one));
	/* The page is still the other's. */
	r = write_into(&a, mem + 1000, RIG_PAGE, fl_mr_key(two), 3);
	if (r)
		return r;
	RIG_TRY(fl_dereg_mr(two));
	if (mem[99] != 3 || mem[100] != byte_of(0, 1) ||
	    mem[1000] != byte_of(0, 3))
		return 2;
	return fl_close(a.dev) ? 3 : 0;
}

TEST("two regions on one page")
{
	rig_start(NULL);
	EXPECT_EQ(rig_app_run(shares_a_page, NULL), 0);
	rig_end();
}

/* ---- memory that goes behind a region ---- */

static int memory_holds(const uint8_t *mem, uint32_t bytes, uint8_t byte)
{
	uint32_t i;

	for (i = 0; i < bytes; i++)
		if (mem[i] != byte)
			return 1;
	return 0;
}

/* The card writes into the old pages; the new ones are the program's alone. */
static int maps_anew(void *arg)
{
	bool forks = *(bool *)arg;
	struct fl_work w = { .opcode = FL_WRITE, .bytes = BYTES };
	struct rig_app a;
	struct fl_mr *mr;
	uint8_t *m = map_aligned(PROT_READ | PROT_WRITE, MAP_PRIVATE);
	pid_t pid;

	RIG_TRY(rig_app_loop(&a, BYTES));
	memset(m, 1, BYTES);
	RIG_TRY(fl_reg_mr(a.pd, m, BYTES, FL_REMOTE_WRITE, &mr));
	munmap(m, BYTES);
	if (mmap(m, BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != m)
		return 2;
	memset(m, 2, BYTES);
	memset(a.mem, 3, BYTES);
	w.local = a.mem;
	w.lkey = fl_mr_key(a.mr);
	w.remote = (uintptr_t)m;
	w.rkey = fl_mr_key(mr);
	if (rig_app_do(&a, &w) || memory_holds(m, BYTES, 2))
		return 4;
	if (forks) {
		pid = fork();
		if (!pid)
			_exit(memory_holds(m, BYTES, 2) ? 5 : 0);
		if (rig_wait(pid) || memory_holds(m, BYTES, 2))
			return 6;
	}
	RIG_TRY(fl_dereg_mr(mr));
	if (memory_holds(m, BYTES, 2))
		return 7;	/* old pages over the new ones */
	RIG_TRY(fl_reg_mr(a.pd, m, BYTES, FL_REMOTE_WRITE, &mr));
	w.rkey = fl_mr_key(mr);
	if (rig_app_do(&a, &w) || memory_holds(m, BYTES, 3))
		return 8;
	RIG_TRY(fl_close(a.dev));
	return memory_holds(m, BYTES, 3) ? 9 : 0;
}

TEST("what is mapped where a region was keeps its bytes when that is given back")
{
	bool told = os_map_find(&rig_boards, &(struct os_map){ .start = 0 });

	if (!told)
		return;		/* nobody can know */
	rig_start(NULL);
	EXPECT_EQ(rig_app_run(maps_anew, &(bool){ false }), 0);
	STEP("and in a child that was forked meanwhile");
	EXPECT_EQ(rig_app_run(maps_anew, &(bool){ true }), 0);
	rig_end();
}

/* ---- refusals ---- */

/* A page is in one bank, and each fl_open has its own. */
static int opens_twice(void *arg)
{
	struct rig_app a, b;
	struct fl_mr *mr, *other;
	uint8_t *m = map_aligned(PROT_READ | PROT_WRITE, MAP_PRIVATE);
	int r;

	(void)arg;
	RIG_TRY(rig_app_loop(&a, BYTES));
	RIG_TRY(rig_app_loop(&b, BYTES));
	m[5] = 7;
	RIG_TRY(fl_reg_mr(a.pd, m, BYTES, FL_REMOTE_WRITE, &mr));
	r = fl_reg_mr(b.pd, m, BYTES, FL_REMOTE_WRITE, &other);
	if (r != -EOPNOTSUPP)
		return 2;
	RIG_TRY(fl_dereg_mr(mr));
	RIG_TRY(fl_reg_mr(b.pd, m, BYTES, FL_REMOTE_WRITE, &other));
	RIG_TRY(fl_dereg_mr(other));
	RIG_TRY(fl_close(a.dev));
	RIG_TRY(fl_close(b.dev));
	return m[5] == 7 ? 0 : 3;
}

TEST("a page is in a region of one device of a process at a time")
{
	rig_start(NULL);
	EXPECT_EQ(rig_app_run(opens_twice, NULL), 0);
	rig_end();
}

static int is_refused(void *arg)
{
	struct rig_app a;
	struct fl_mr *mr;
	uint8_t *m;
	void *room;
	int r;

	RIG_TRY(rig_app_loop(&a, BYTES));
	/* What a thread of the library maps meanwhile goes here, and not into the hole. */
	room = mmap(NULL, ROOM_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	m = map_aligned(PROT_READ | PROT_WRITE, MAP_PRIVATE);
	munmap(room, ROOM_BYTES);
	munmap(m + 3 * RIG_PAGE, RIG_PAGE);
	r = fl_reg_mr(a.pd, m, BYTES, FL_REMOTE_WRITE, &mr);
	if (r != -EFAULT)
		return 3;
	memset(m, 1, 3 * RIG_PAGE);	/* as it was */
	r = fl_reg_mr(a.pd, NULL, RIG_PAGE, 0, &mr);
	if (r != -EFAULT)
		return 6;
	if (!*(bool *)arg)		/* the rest needs to be told */
		return fl_close(a.dev) ? 7 : 0;
	m = map_aligned(PROT_READ | PROT_WRITE, MAP_SHARED);
	r = fl_reg_mr(a.pd, m, BYTES, FL_REMOTE_WRITE, &mr);
	if (r != -EOPNOTSUPP)
		return 2;
	m = map_aligned(PROT_READ, MAP_PRIVATE);
	r = fl_reg_mr(a.pd, m, BYTES, FL_REMOTE_WRITE, &mr);
	if (r != -EACCES)
		return 4;
	RIG_TRY(fl_reg_mr(a.pd, m, BYTES, FL_REMOTE_READ, &mr));
	RIG_TRY(fl_dereg_mr(mr));
	r = fl_reg_mr(a.pd, (void *)(uintptr_t)is_refused, 100, 0, &mr);
	if (r != -EOPNOTSUPP)
		return 5;
	return fl_close(a.dev) ? 7 : 0;
}

TEST("what cannot be imported is refused, and left as it was")
{
	struct os_map m = { 0 };
	bool told = os_map_find(&m, &m);

	rig_start(NULL);
	STEP("the system %s what a mapping is", told ? "says" : "does not say");
	EXPECT_EQ(rig_app_run(is_refused, &told), 0);
	rig_end();
}

/* ---- system calls ---- */

static int reads_into_absent(void *arg)
{
	int fd = open("/dev/zero", O_RDONLY);
	struct rig_app a;
	ssize_t n;

	(void)arg;
	RIG_TRY(rig_app_open(&a, 0, BYTES));
	memset(a.mem, 7, BYTES);
	RIG_TRY(fl_advise(a.dev, a.mem, BYTES, FL_PAGEOUT));
	/* The kernel of the system raises no signal for its own accesses. */
	n = read(fd, a.mem, RIG_PAGE);
	if (n >= 0 || errno != EFAULT)
		return 2;
	RIG_TRY(fl_prefault(a.dev, a.mem, BYTES, 1));
	n = read(fd, a.mem, BYTES);
	if (n != BYTES || a.mem[0] || a.mem[BYTES - 1])
		return 3;
	RIG_TRY(fl_advise(a.dev, a.mem, BYTES, FL_PAGEOUT));
	RIG_TRY(fl_prefault(a.dev, a.mem, 1, 0));
	/* Not mapped, and not a crash. */
	if (fl_prefault(a.dev, a.mem + BYTES + RIG_PAGE, 1, 0) != -EFAULT)
		return 4;
	return fl_close(a.dev) ? 5 : 0;
}

TEST("a system call on absent pages is EFAULT; fl_prefault makes them present")
{
	rig_start(NULL);
	EXPECT_EQ(rig_app_run(reads_into_absent, NULL), 0);
	rig_end();
}
