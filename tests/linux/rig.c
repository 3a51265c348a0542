// SPDX-License-Identifier: BSD-2-Clause
#include "rig.h"

#define RIG_BUFFERS	16
#define RIG_ACCESS	(FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_REMOTE_READ)

unsigned int rig_slow(void)
{
	const char *slow = getenv("FL_SLOW");
	int n = slow ? atoi(slow) : 1;

	return n > 1 ? (unsigned int)n : 1;
}

/* ---- memory ---- */

static struct rig_buffer rig_buffers[RIG_BUFFERS];
static unsigned int rig_nbuffers;

uint64_t rig_word(uint64_t seed, uint64_t i)
{
	uint64_t x = (seed << 40) + i * 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x | 1;
}

void rig_fill(void *mem, size_t bytes, uint64_t seed)
{
	uint64_t *w = mem;
	size_t i;

	for (i = 0; i < bytes / 8; i++)
		w[i] = rig_word(seed, i);
}

size_t rig_same(const void *mem, size_t bytes, uint64_t seed, uint64_t first)
{
	const uint64_t *w = mem;
	size_t i;

	for (i = 0; i < bytes / 8 && w[i] == rig_word(seed, first + i); i++)
		;
	return i * 8;
}

size_t rig_same_or_zero(const void *mem, size_t bytes, uint64_t seed,
			uint64_t first)
{
	const uint64_t *w = mem;
	size_t i;

	for (i = 0; i < bytes / 8; i++)
		if (w[i] && w[i] != rig_word(seed, first + i))
			break;
	return i * 8;
}

bool rig_zero(const void *mem, size_t bytes)
{
	const uint64_t *w = mem;
	size_t i;

	for (i = 0; i < bytes / 8 && !w[i]; i++)
		;
	return i == bytes / 8;
}

uint8_t *rig_buffer_at(size_t bytes, size_t align, bool huge)
{
	size_t room = bytes + 2 * RIG_GUARD + align;
	uint8_t *raw, *mem;

	raw = mmap(NULL, room, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	EXPECT((void *)raw != MAP_FAILED);
	EXPECT(rig_nbuffers < RIG_BUFFERS);
	mem = (uint8_t *)(((uintptr_t)raw + RIG_GUARD + align - 1) &
			  ~(uintptr_t)(align - 1));
	/* Give back what alignment does not need: a guard is next to nothing. */
	if (mem - RIG_GUARD > raw)
		munmap(raw, (size_t)(mem - RIG_GUARD - raw));
	if (mem + bytes + RIG_GUARD < raw + room)
		munmap(mem + bytes + RIG_GUARD,
		       (size_t)(raw + room - (mem + bytes + RIG_GUARD)));
	madvise(mem - RIG_GUARD, bytes + 2 * RIG_GUARD, MADV_NOHUGEPAGE);
	if (huge)
		EXPECT_EQ(madvise(mem, bytes, MADV_HUGEPAGE), 0);
	rig_fill(mem - RIG_GUARD, RIG_GUARD, 0xa5);
	rig_fill(mem + bytes, RIG_GUARD, 0x5a);
	rig_buffers[rig_nbuffers++] =
		(struct rig_buffer){ mem - RIG_GUARD, bytes };
	return mem;
}

void rig_guards(void)
{
	unsigned int i;

	STEP("the guards around %u buffers are as they were", rig_nbuffers);
	for (i = 0; i < rig_nbuffers; i++) {
		EXPECT_PATTERN(rig_buffers[i].base, RIG_GUARD, 0xa5);
		EXPECT_PATTERN(rig_buffers[i].base + RIG_GUARD +
			       rig_buffers[i].bytes, RIG_GUARD, 0x5a);
	}
}

/* ---- the two sides ---- */

struct rig rig;

void rig_clean(void)
{
	unsigned int i;

	alarm(0);
	if (rig.src.dev)
		fl_close(rig.src.dev);
	if (rig.dst.dev)
		fl_close(rig.dst.dev);
	memset(&rig, 0, sizeof(rig));
	for (i = 0; i < rig_nbuffers; i++)
		munmap(rig_buffers[i].base,
		       rig_buffers[i].bytes + 2 * RIG_GUARD);
	rig_nbuffers = 0;
}

static bool rig_cleans;		/* at the end of this test */

static void rig_clean_last(void *arg)
{
	(void)arg;
	rig_clean();
	rig_cleans = false;
}

void rig_begin(void)
{
	alarm(RIG_LIMIT_S);
	if (!rig_cleans)
		test_cleanup(rig_clean_last, NULL);
	rig_cleans = true;
}

struct fl_fault_counters rig_counters(struct rig_side *s)
{
	struct fl_fault_counters c;

	EXPECT_EQ(fl_query_counters(s->dev, &c), 0);
	return c;
}

struct fl_fault_counters rig_since(struct rig_side *s)
{
	struct fl_fault_counters c = rig_counters(s);

	c.faults -= s->mark.faults;
	c.faults_source -= s->mark.faults_source;
	c.faults_destination -= s->mark.faults_destination;
	c.pages_in -= s->mark.pages_in;
	c.resolves -= s->mark.resolves;
	c.failed -= s->mark.failed;
	c.spurious -= s->mark.spurious;
	c.invalidations -= s->mark.invalidations;
	c.stalls -= s->mark.stalls;
	return c;
}

struct fl_fault_counters rig_settled(struct rig_side *s, uint64_t n)
{
	while (rig_since(s).resolves < n)
		usleep(1000);	/* for good? The alarm of rig_begin() ends that. */
	return rig_since(s);
}

void rig_mark(void)
{
	rig.src.mark = rig_counters(&rig.src);
	rig.dst.mark = rig_counters(&rig.dst);
}

void rig_side_open(struct rig_side *s, enum fl_system system,
		   enum fl_resolve resolve)
{
	EXPECT_EQ(fl_open(getenv("FAULTLINE_DEVICE"), &s->dev), 0);
	EXPECT_EQ(fl_set_policy(s->dev, system, resolve), 0);
	EXPECT_EQ(fl_alloc_pd(s->dev, &s->pd), 0);
	EXPECT_EQ(fl_create_cq(s->dev, 64, &s->cq), 0);
}

void rig_connect(void)
{
	struct fl_address src, dst;

	if (rig.src.qp) {
		EXPECT_EQ(fl_destroy_qp(rig.src.qp), 0);
		EXPECT_EQ(fl_destroy_qp(rig.dst.qp), 0);
	}
	EXPECT_EQ(fl_create_qp(rig.src.pd, rig.src.cq, 64, &rig.src.qp), 0);
	EXPECT_EQ(fl_create_qp(rig.dst.pd, rig.dst.cq, 64, &rig.dst.qp), 0);
	EXPECT_EQ(fl_qp_address(rig.src.qp, &src), 0);
	EXPECT_EQ(fl_qp_address(rig.dst.qp, &dst), 0);
	EXPECT_EQ(fl_connect(rig.src.qp, &dst), 0);
	EXPECT_EQ(fl_connect(rig.dst.qp, &src), 0);
	rig.taken = true;
}

void rig_open(enum fl_system system, enum fl_resolve resolve)
{
	rig_begin();
	rig_side_open(&rig.src, system, resolve);
	rig_side_open(&rig.dst, system, resolve);
	rig_connect();
}

void rig_regions(void *src, size_t src_bytes, void *dst, size_t dst_bytes)
{
	if (rig.src.mr)
		EXPECT_EQ(fl_dereg_mr(rig.src.mr), 0);
	if (rig.dst.mr)
		EXPECT_EQ(fl_dereg_mr(rig.dst.mr), 0);
	rig.src.mr = rig.dst.mr = NULL;
	rig.src.mem = src;
	rig.dst.mem = dst;
	EXPECT_EQ(fl_reg_mr(rig.src.pd, src, src_bytes, 0, &rig.src.mr), 0);
	EXPECT_EQ(fl_reg_mr(rig.dst.pd, dst, dst_bytes, FL_REMOTE_WRITE,
			    &rig.dst.mr), 0);
	rig_mark();
}

void rig_buffers_for(size_t bytes, uint64_t seed)
{
	uint8_t *src = rig_buffer(bytes), *dst = rig_buffer(bytes);

	rig_fill(src, bytes, seed);
	rig_regions(src, bytes, dst, bytes);
}

/* ---- transfers ---- */

void rig_post(size_t at, size_t bytes)
{
	STEP("write %zu bytes at %zu", bytes, at);
	rig.taken = false;
	EXPECT_EQ(fl_post_write(rig.src.qp, ++rig.posted, rig.src.mr,
				rig.src.mem + at, (uint32_t)bytes,
				(uintptr_t)(rig.dst.mem + at),
				fl_mr_key(rig.dst.mr)), 0);
}

bool rig_look(void)
{
	int n;

	if (rig.taken)
		return true;
	n = fl_poll(rig.src.cq, &rig.done, 1);
	EXPECT_GE(n, 0);
	rig.taken = n > 0;
	return rig.taken;
}

int rig_status(void)
{
	if (!rig.taken) {
		EXPECT_EQ(fl_wait(rig.src.cq, &rig.done, 1, RIG_WAIT_NS), 1);
		rig.taken = true;
	}
	EXPECT_EQ(rig.done.wr_id, rig.posted);
	return rig.done.status;
}

void rig_write(size_t at, size_t bytes)
{
	rig_post(at, bytes);
	EXPECT_EQ(rig_status(), 0);
	EXPECT_EQ(rig.done.bytes, bytes);
}

/* ---- in the middle ---- */

bool rig_under_way(struct rig_side *s, uint64_t faults)
{
	while (rig_since(s).faults < faults)
		if (rig_look())
			return false;
	return true;
}

/* ---- the end ---- */

void rig_finish(void)
{
	int error;

	rig_guards();
	STEP("close both sides");
	error = fl_close(rig.src.dev);
	rig.src.dev = NULL;
	EXPECT_EQ(error, 0);
	error = fl_close(rig.dst.dev);
	rig.dst.dev = NULL;
	EXPECT_EQ(error, 0);
}

/* ---- processes ---- */

static void *rig_thread(void *arg)
{
	void (*fn)(void);

	memcpy(&fn, &arg, sizeof(fn));
	fn();
	return NULL;
}

pid_t rig_fork(void (*fn)(void))
{
	pthread_t thread;
	void *arg;
	pid_t pid;

	memcpy(&arg, &fn, sizeof(arg));
	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	/* The parent's are of no use here, and not ours to close. */
	memset(&rig, 0, sizeof(rig));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(RIG_LIMIT_S);
	if (pthread_create(&thread, NULL, rig_thread, arg) ||
	    pthread_join(thread, NULL))
		_exit(2);
	fflush(NULL);
	_exit(0);
}

int rig_wait(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct rig_shared *rig_share(void)
{
	struct rig_shared *s = mmap(NULL, RIG_PAGE, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	EXPECT((void *)s != MAP_FAILED);
	return s;
}

void rig_await(struct rig_shared *s, uint32_t stage)
{
	siginfo_t ended = { 0 };

	while (s->stage < stage) {
		/* In a child there is nobody to ask about: ECHILD. */
		if (!waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) &&
		    s->stage < stage)
			EXPECT_EQ(ended.si_pid, 0);
		usleep(1000);
	}
}

/* ---- small files of the system ---- */

int64_t rig_number(const char *path, const char *name)
{
	char line[256];
	int64_t n = -1;
	FILE *f = fopen(path, "r");
	size_t len = strlen(name);

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) &&
		    (!len || line[len] == ' ' || line[len] == ':')) {
			n = strtoll(line + len + (len ? 1 : 0), NULL, 0);
			break;
		}
	if (f)
		fclose(f);
	return n;
}

int rig_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		error = -errno;
	close(fd);
	return error;
}

uint64_t rig_pagemap(const void *mem)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;

	EXPECT_GE(fd, 0);
	EXPECT_EQ(pread(fd, &entry, 8, (off_t)((uintptr_t)mem / RIG_PAGE * 8)),
		  8);
	close(fd);
	return entry;
}

unsigned int rig_pages(const void *mem, size_t bytes, uint64_t what)
{
	unsigned int n = 0;
	size_t at;

	for (at = 0; at < bytes; at += RIG_PAGE)
		n += !!(rig_pagemap((const uint8_t *)mem + at) & what);
	return n;
}
