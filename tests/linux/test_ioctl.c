// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hostile program: calls with arguments that make no sense, too much of
 * everything, and what belongs to others. The kernel refuses; nobody else
 * notices.
 */
#include <glob.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "calls.h"
#include "faultline/entries.h"
#include "rig.h"

#define BYTES	(16 * RIG_BLOCK)
#define NOBODY	65534
#define GROUP	4242	/* of users who may use the card */

static int fd;

static void close_fd(void *arg)
{
	(void)arg;
	alarm(0);
	close(fd);
}

static void open_fd(void)
{
	fd = open("/dev/faultline0", O_RDWR | O_CLOEXEC);
	EXPECT_GE(fd, 0);
	alarm(RIG_LIMIT_S);
	test_cleanup(close_fd, NULL);
}

static int ioctl_call(unsigned int cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

/* Another process that behaves is none the wiser. */
static void others_work(void)
{
	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 150);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 150);
	EXPECT_EQ(rig_since(&rig.dst).faults, BYTES / RIG_BLOCK);
	rig_finish();
	rig_clean();
}

TEST("a structure that is missing, too short or too long is refused")
{
	uint32_t arg[1025];
	uint8_t *edge;
	unsigned int i;

	open_fd();
	edge = mmap(NULL, 2 * RIG_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT((void *)edge != MAP_FAILED);
	EXPECT_EQ(mprotect(edge + RIG_PAGE, RIG_PAGE, PROT_NONE), 0);
	for (i = 0; i < CALLS; i++) {
		STEP("call 0x%x", calls[i].cmd);
		memset(arg, 0, sizeof(arg));
		EXPECT_EQ(ioctl_call(calls[i].cmd, NULL), -EFAULT);
		EXPECT_EQ(ioctl_call(calls[i].cmd, (void *)16), -EFAULT);
		EXPECT_EQ(ioctl_call(calls[i].cmd, (void *)-4096), -EFAULT);
		EXPECT_EQ(ioctl_call(calls[i].cmd,
				     (void *)0xffff800000000000ull),
			  -EFAULT);
		EXPECT_EQ(ioctl_call(calls[i].cmd, arg), -EINVAL);
		arg[0] = 4;
		EXPECT_EQ(ioctl_call(calls[i].cmd, arg), -EINVAL);
		arg[0] = 4097;
		EXPECT_EQ(ioctl_call(calls[i].cmd, arg), -EINVAL);
		STEP("longer than the driver knows, and not zero there");
		arg[0] = calls[i].size + 4;
		arg[calls[i].size / 4] = 1;
		EXPECT_EQ(ioctl_call(calls[i].cmd, arg), -E2BIG);
		STEP("its end is in a page that is not there");
		memcpy(edge + RIG_PAGE - 4, &calls[i].size, 4);
		EXPECT_EQ(ioctl_call(calls[i].cmd, edge + RIG_PAGE - 4),
			  -EFAULT);
	}
	munmap(edge, 2 * RIG_PAGE);
}

TEST("a call that does not exist is ENOTTY, on a file that is not the card's too")
{
	struct fl_query q = { .size = sizeof(q) };
	int other;

	open_fd();
	EXPECT_EQ(ioctl_call(_IOWR('F', 0, struct fl_query), &q), -ENOTTY);
	EXPECT_EQ(ioctl_call(_IOWR('F', 0x0f, struct fl_query), &q), -ENOTTY);
	EXPECT_EQ(ioctl_call(_IOWR('F', 0xff, struct fl_query), &q), -ENOTTY);
	EXPECT_EQ(ioctl_call(_IOWR('G', 1, struct fl_query), &q), -ENOTTY);
	EXPECT_EQ(ioctl_call(_IOW('F', 1, struct fl_query), &q), -ENOTTY);
	EXPECT_EQ(ioctl_call(0, &q), -ENOTTY);
	STEP("a file that is closed");
	other = dup(fd);
	close(other);
	EXPECT_EQ(ioctl(other, FL_IOC_QUERY, &q), -1);
	EXPECT_EQ(errno, EBADF);
}

/* xorshift64 */
static uint64_t ioctl_next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Often a value that somebody may have forgotten, else anything. */
static uint32_t ioctl_nasty(uint64_t *x)
{
	static const uint32_t v[] = { 0, 1, 2, 3, 7, 16, 4096, 32768, 65535,
				      1u << 24, 0x7fffffff, 0x80000000,
				      0xfffffffe, 0xffffffff };

	return ioctl_next(x) % 4 ?
	       v[ioctl_next(x) % (sizeof(v) / sizeof(v[0]))] :
			     (uint32_t)ioctl_next(x);
}

TEST("twenty thousand random structures: each is taken or refused, and nobody is "
     "disturbed")
{
	uint64_t x = test_seed() * 0x9e3779b97f4a7c15ull + 1;
	unsigned int i, j, n, words, ok = 0;
	uint32_t arg[64];
	int error;

	open_fd();
	for (i = 0; i < 20000; i++) {
		n = ioctl_next(&x) % CALLS;
		words = calls[n].size / 4;
		for (j = 0; j < 64; j++)
			arg[j] = j < words ? ioctl_nasty(&x) : 0;
		arg[0] = ioctl_next(&x) % 8 ? calls[n].size : ioctl_nasty(&x);
		/* A wait would last as long as it says. */
		if (calls[n].cmd == FL_IOC_WAIT_CQ) {
			arg[2] %= 1000;
			arg[2] += 1;
			arg[3] = 0;
		}
		error = ioctl_call(calls[n].cmd, arg);
		ok += !error;
		/* uapi.h: what a call may answer */
		EXPECT(!error || error == -EINVAL || error == -E2BIG ||
		       error == -ENOENT || error == -ENOSPC ||
		       error == -ENOMEM || error == -EDQUOT ||
		       error == -EACCES || error == -EFAULT ||
		       error == -EBUSY || error == -EISCONN ||
		       error == -EHOSTUNREACH || error == -ETIMEDOUT ||
		       error == -EIO);
	}
	STEP("%u of %u were taken", ok, i);
	EXPECT_GE(ok, 100);
	close(fd);
	others_work();
}

/* Where user space ends, with tables of three levels or four: past the stack. */
static uint64_t user_end(void)
{
	const volatile char here = 0;
	uint64_t end = 1ull << 32;

	while (end <= (uintptr_t)&here)
		end <<= 1;
	return end;
}

TEST("lengths that wrap, are huge or lie in the kernel's half are refused")
{
	const uint64_t end = user_end();
	const struct {
		uint64_t addr, length;
		int error;
	} bad[] = {
		{ 0x10000, 0, -EINVAL },
		{ 0x10000, ~0ull, -EINVAL },
		{ ~0ull, 1, -EINVAL },
		{ ~0ull - 4095, 4096, -EINVAL },
		{ 1ull << 63, 1ull << 63, -EINVAL },
		{ 0xffff000000000000ull, 4096, -EINVAL },
		{ end, 4096, -EINVAL },
		{ end - 4096, 4097, -EINVAL },
	};
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct fl_reg_mr mr = { .size = sizeof(mr) };
	unsigned int i;

	open_fd();
	EXPECT_EQ(ioctl_call(FL_IOC_ALLOC_PD, &pd), 0);
	mr.pd = pd.pd;
	mr.access = FL_REMOTE_READ;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		mr.addr = bad[i].addr;
		mr.length = bad[i].length;
		STEP("0x%llx, 0x%llx bytes", (unsigned long long)mr.addr,
		     (unsigned long long)mr.length);
		mr.flags = 0;
		EXPECT_EQ(ioctl_call(FL_IOC_REG_MR, &mr), bad[i].error);
		mr.flags = FL_MR_PINNED;
		EXPECT_EQ(ioctl_call(FL_IOC_REG_MR, &mr), bad[i].error);
	}
	STEP("pinning what is not mapped");
	mr.addr = 0x10000;
	mr.length = 4096;
	EXPECT_EQ(ioctl_call(FL_IOC_REG_MR, &mr), -EFAULT);
	STEP("pinning all there is");
	mr.addr = 0;
	mr.length = end;
	EXPECT_EQ(ioctl_call(FL_IOC_REG_MR, &mr), -EDQUOT);
	others_work();
}

static int map_error(size_t bytes, int prot, int flags, uint64_t offset)
{
	void *mem = mmap(NULL, bytes, prot, flags, fd, (off_t)offset);

	if (mem == MAP_FAILED)
		return -errno;
	munmap(mem, bytes);
	return 0;
}

TEST("mmap gives a process its own doorbell and its own queues, and nothing else")
{
	const int both = PROT_READ | PROT_WRITE;
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = 1024 };
	uint64_t offset;
	size_t bytes;

	open_fd();
	EXPECT_EQ(ioctl_call(FL_IOC_CREATE_CQ, &cq), 0);
	EXPECT_EQ(map_error(cq.mmap_bytes, both, MAP_SHARED, cq.mmap_offset),
		  0);
	STEP("not all of the queue, or more");
	EXPECT_EQ(map_error(RIG_PAGE, both, MAP_SHARED, cq.mmap_offset),
		  -EINVAL);
	EXPECT_EQ(map_error(cq.mmap_bytes + RIG_PAGE, both, MAP_SHARED,
			    cq.mmap_offset), -EINVAL);
	EXPECT_EQ(map_error(cq.mmap_bytes, both, MAP_PRIVATE, cq.mmap_offset),
		  -EINVAL);
	STEP("other offsets: no page of the window, no page of the card");
	for (offset = RIG_PAGE; offset < 64 * RIG_PAGE; offset += RIG_PAGE)
		if (offset != cq.mmap_offset)
			EXPECT_EQ(map_error(RIG_PAGE, both, MAP_SHARED,
					    offset), -ENOENT);
	EXPECT_EQ(map_error(RIG_PAGE, both, MAP_SHARED, 1ull << 40), -ENOENT);
	STEP("the doorbell has one or two pages, no more");
	EXPECT_EQ(map_error(RIG_PAGE, both, MAP_PRIVATE, FL_MMAP_DOORBELL),
		  -EINVAL);
	for (bytes = 3 * RIG_PAGE; bytes <= 32 * RIG_PAGE; bytes += RIG_PAGE)
		EXPECT_EQ(map_error(bytes, both, MAP_SHARED, FL_MMAP_DOORBELL),
			  -EINVAL);
	others_work();
}

static int shared_fd;

static void may_nothing(void)
{
	struct fl_query q = { .size = sizeof(q) };
	unsigned int i;
	uint32_t arg[64] = { 0 };

	fd = shared_fd;
	EXPECT_EQ(ioctl_call(FL_IOC_QUERY, &q), -EPERM);
	for (i = 0; i < CALLS; i++) {
		arg[0] = calls[i].size;
		EXPECT_EQ(ioctl_call(calls[i].cmd, arg), -EPERM);
	}
	EXPECT_EQ(map_error(2 * RIG_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			    FL_MMAP_DOORBELL), -EPERM);
}

static void child_of_file(void)
{
	may_nothing();
}

TEST("a child of the process that opened the card may do nothing with the file")
{
	struct fl_query q = { .size = sizeof(q) };

	open_fd();
	shared_fd = fd;
	EXPECT_EQ(rig_wait(rig_fork(child_of_file)), 0);
	EXPECT_EQ(ioctl_call(FL_IOC_QUERY, &q), 0);
}

/* ---- rights and limits ---- */

static void become_nobody(void)
{
	struct rlimit none = { 64u << 10, 64u << 10 };

	EXPECT_EQ(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	/* The calls and not the wrappers: this thread alone. */
	EXPECT_EQ(syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY), 0);
	EXPECT_EQ(syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY), 0);
}

static void child_without_rights(void)
{
	static const int flags[] = { O_RDWR, O_RDONLY, O_WRONLY };
	struct fl_device *dev;
	unsigned int i;
	size_t k;
	glob_t g;

	become_nobody();
	EXPECT_EQ(fl_open("/dev/faultline0", &dev), -EACCES);
	EXPECT_EQ(glob("/dev/faultline*", 0, NULL, &g), 0);
	for (k = 0; k < g.gl_pathc; k++)
		for (i = 0; i < 3; i++) {
			STEP("%s, flags %d", g.gl_pathv[k], flags[i]);
			EXPECT_EQ(open(g.gl_pathv[k], flags[i]), -1);
			EXPECT_EQ(errno, EACCES);
		}
	globfree(&g);
}

static void child_is_handed_it(void)
{
	become_nobody();
	may_nothing();
}

static void child_of_group(void)
{
	EXPECT_EQ(syscall(SYS_setresgid, GROUP, GROUP, GROUP), 0);
	EXPECT_EQ(syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY), 0);
	others_work();
}

static void close_to_others(void *arg)
{
	(void)arg;
	chmod("/dev/faultline0", 0600);
	if (chown("/dev/faultline0", 0, 0))
		perror("/dev/faultline0");
}

static void open_to_all(void)
{
	EXPECT_EQ(chmod("/dev/faultline0", 0666), 0);
	test_cleanup(close_to_others, NULL);
}

TEST("a user to whom the administrator did not give the card is told EACCES")
{
	EXPECT_EQ(rig_wait(rig_fork(child_without_rights)), 0);
}

TEST("a user without rights who is handed an open file may do nothing with it: EPERM")
{
	open_fd();
	shared_fd = fd;
	EXPECT_EQ(rig_wait(rig_fork(child_is_handed_it)), 0);
}

TEST("a user of the group that the card was given to uses it, others do not")
{
	test_cleanup(close_to_others, NULL);
	EXPECT_EQ(chmod("/dev/faultline0", 0660), 0);
	EXPECT_EQ(chown("/dev/faultline0", 0, GROUP), 0);
	EXPECT_EQ(rig_wait(rig_fork(child_of_group)), 0);
	EXPECT_EQ(rig_wait(rig_fork(child_without_rights)), 0);
}

static void child_pins(void)
{
	struct fl_device *third;
	uint8_t *mem;

	become_nobody();
	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	mem = rig_buffer(BYTES);
	STEP("64 KB may be locked: 16 pages");
	EXPECT_EQ(fl_reg_mr(rig.dst.pd, mem, 17 * RIG_PAGE, FL_REMOTE_WRITE |
			    FL_PINNED, &rig.dst.mr), -EDQUOT);
	EXPECT_EQ(fl_reg_mr(rig.dst.pd, mem, 16 * RIG_PAGE, FL_REMOTE_WRITE |
			    FL_PINNED, &rig.dst.mr), 0);
	EXPECT_EQ(rig_counters(&rig.dst).pinned_pages, 16);
	EXPECT_EQ(fl_reg_mr(rig.src.pd, mem, RIG_PAGE, FL_REMOTE_WRITE |
			    FL_PINNED, &rig.src.mr), -EDQUOT);
	STEP("two files are open, and that is all");
	EXPECT_EQ(fl_open("/dev/faultline0", &third), -EDQUOT);
	STEP("what is given back may be pinned again");
	EXPECT_EQ(fl_dereg_mr(rig.dst.mr), 0);
	EXPECT_EQ(fl_reg_mr(rig.src.pd, mem, 16 * RIG_PAGE, FL_REMOTE_WRITE |
			    FL_PINNED, &rig.src.mr), 0);
	rig_finish();
}

TEST("a user without rights pins up to RLIMIT_MEMLOCK, and has two files")
{
	open_to_all();
	EXPECT_EQ(rig_wait(rig_fork(child_pins)), 0);
}

static unsigned int count_until(int (*make)(void), int *error)
{
	unsigned int n = 0;

	while (n < 100000 && !(*error = make()))
		n++;
	return n;
}

static uint32_t a_pd, a_cq;

static int make_pd(void)
{
	struct fl_alloc_pd a = { .size = sizeof(a) };
	int error = ioctl_call(FL_IOC_ALLOC_PD, &a);

	a_pd = error ? a_pd : a.pd;
	return error;
}

static int make_cq(void)
{
	struct fl_create_cq a = { .size = sizeof(a), .entries = 2 };
	int error = ioctl_call(FL_IOC_CREATE_CQ, &a);

	a_cq = error ? a_cq : a.cq;
	return error;
}

static int make_qp(void)
{
	struct fl_create_qp a = { .size = sizeof(a), .entries = 2, .pd = a_pd,
				  .cq = a_cq };

	return ioctl_call(FL_IOC_CREATE_QP, &a);
}

static int make_mr(void)
{
	struct fl_reg_mr a = { .size = sizeof(a), .pd = a_pd, .addr = 0x100000,
			       .length = 4096 };

	return ioctl_call(FL_IOC_REG_MR, &a);
}

static int make_large_cq(void)
{
	struct fl_create_cq a = { .size = sizeof(a), .entries = 32768 };

	return ioctl_call(FL_IOC_CREATE_CQ, &a);
}

TEST("a process may have so many objects and no more, and others still get theirs")
{
	int error;

	open_fd();
	EXPECT_EQ(count_until(make_pd, &error), 16);
	EXPECT_EQ(error, -ENOSPC);
	EXPECT_EQ(count_until(make_mr, &error), 256);
	EXPECT_EQ(error, -ENOSPC);
	EXPECT_EQ(make_cq(), 0);
	EXPECT_EQ(count_until(make_qp, &error), 64);
	EXPECT_EQ(error, -ENOSPC);
	EXPECT_EQ(count_until(make_cq, &error), 63);
	EXPECT_EQ(error, -ENOSPC);
	others_work();
	STEP("a queue has 32768 entries at most, and all of them 8 MB");
	close(fd);
	open_fd();
	EXPECT_EQ(count_until(make_large_cq, &error),
		  (8u << 20) / (32768 * sizeof(struct fl_cqe)));
	EXPECT_EQ(error, -ENOMEM);
	others_work();
}

TEST("a plan of the board's own is refused where the board brought none")
{
	rig_open(FL_SYSTEM_PART, FL_RESOLVE_BLOCK);
	EXPECT_EQ(fl_set_policy(rig.src.dev, FL_SYSTEM_PART, FL_RESOLVE_OWN),
		  -EINVAL);
	EXPECT_EQ(fl_set_resolve(rig.src.dev, FL_RESOLVE_OWN, 0), -EINVAL);
	rig_finish();
}

TEST("a seventeenth process is told that the card is busy")
{
	struct fl_device *dev[17];
	unsigned int i;
	int error;

	for (i = 0; i < 16; i++)
		EXPECT_EQ(fl_open(getenv("FAULTLINE_DEVICE"), &dev[i]), 0);
	error = fl_open(getenv("FAULTLINE_DEVICE"), &dev[16]);
	for (i = 0; i < 16; i++)
		EXPECT_EQ(fl_close(dev[i]), 0);
	EXPECT_EQ(error, -EBUSY);
	others_work();
}
