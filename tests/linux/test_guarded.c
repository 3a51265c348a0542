// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory that is not filled by the kernel alone. Pages guarded with userfaultfd: the card's
 * request ends with an error at once, and the process that guards them is not asked; the SMMU
 * may hold blocks of it, which land when the guard has gone, unless the region has. Pages of
 * hugetlbfs: as any others, as long as the pool has some.
 */
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "rig.h"

#define BYTES	(4 * RIG_BLOCK)

#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4u
#endif

/* ---- guarded ---- */

static int guard_begin(uint8_t *mem, size_t bytes)
{
	struct uffdio_register reg = {
		.range = { (uintptr_t)mem, bytes },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	EXPECT_GE(fd, 0);
	EXPECT_EQ(ioctl(fd, UFFDIO_API, &api), 0);
	EXPECT_EQ(ioctl(fd, UFFDIO_REGISTER, &reg), 0);
	return fd;
}

/* Was the guard asked for a page? */
static bool guard_asked(int fd)
{
	struct uffd_msg msg;

	return read(fd, &msg, sizeof(msg)) == (ssize_t)sizeof(msg);
}

/* A WRITE, of which the first block finds the guard and the others may. */
static int guard_write(size_t guarded)
{
	int fd;

	rig_buffers_for(BYTES, 31);
	fd = guard_begin(rig.dst.mem, guarded);
	rig_post(0, BYTES);
	EXPECT_EQ(rig_status(), RIG_REMOTE_FAULT);
	EXPECT(!guard_asked(fd));
	return fd;
}

TEST_MODES(destination, "a guarded destination is an error at once, and its guard is not asked")
{
	int fd;

	rig_open(system, FL_RESOLVE_PAGE);
	fd = guard_write(BYTES);
	EXPECT_GE(rig_since(&rig.dst).failed, 1);
	STEP("without the guard the same memory takes a WRITE");
	EXPECT_EQ(close(fd), 0);
	rig_connect();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 31);
	rig_finish();
}

TEST_MODES(source, "so is a guarded source")
{
	int fd;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_regions(rig_buffer(BYTES), BYTES, rig_buffer(BYTES), BYTES);
	fd = guard_begin(rig.src.mem, BYTES);
	rig_post(0, BYTES);
	EXPECT_EQ(rig_status(), RIG_LOCAL_FAULT);
	EXPECT(!guard_asked(fd));
	EXPECT_EQ(close(fd), 0);
	rig_finish();
}

TEST_MODES(filled, "pages that their guard has filled are like any others")
{
	struct uffdio_copy copy = { .len = BYTES };
	int fd;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(BYTES, 32);
	fd = guard_begin(rig.dst.mem, BYTES);
	copy.dst = (uintptr_t)rig.dst.mem;
	copy.src = (uintptr_t)rig.src.mem;
	EXPECT_EQ(ioctl(fd, UFFDIO_COPY, &copy), 0);
	rig_fill(rig.src.mem, BYTES, 33);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 33);
	EXPECT(!guard_asked(fd));
	EXPECT_EQ(close(fd), 0);
	rig_finish();
}

TEST_MODES(fenced, "after the error, deregistering the destination is a fence")
{
	int fd;

	rig_open(system, FL_RESOLVE_PAGE);
	fd = guard_write(BYTES);
	EXPECT_EQ(fl_dereg_mr(rig.dst.mr), 0);
	rig.dst.mr = NULL;
	EXPECT_EQ(close(fd), 0);
	/* What was held would land as soon as a page can come. */
	rig_fill(rig.dst.mem, BYTES, 34);
	usleep(200000);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 34);
	rig_finish();
}

/* ---- huge pages of a pool ---- */

TEST_MODES(hugetlb, "pages of hugetlbfs come by the card's fault, and an empty pool is an error")
{
	uint8_t *dst;
	int fd;

	rig_open(system, FL_RESOLVE_BLOCK);
	EXPECT_EQ(rig_put("/proc/sys/vm/nr_hugepages", "1"), 0);
	fd = (int)syscall(SYS_memfd_create, "pool", MFD_HUGETLB);
	EXPECT_GE(fd, 0);
	EXPECT_EQ(ftruncate(fd, 2 * RIG_HUGE), 0);
	dst = mmap(NULL, 2 * RIG_HUGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	EXPECT((void *)dst != MAP_FAILED);
	rig_regions(rig_buffer(2 * RIG_HUGE), 2 * RIG_HUGE, dst, 2 * RIG_HUGE);
	rig_fill(rig.src.mem, 2 * RIG_HUGE, 35);
	rig_write(0, RIG_HUGE);
	EXPECT_PATTERN(dst, RIG_HUGE, 35);
	STEP("the pool has no second page");
	rig_post(RIG_HUGE, BYTES);
	EXPECT_EQ(rig_status(), RIG_REMOTE_FAULT);
	EXPECT_EQ(munmap(dst, 2 * RIG_HUGE), 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(rig_put("/proc/sys/vm/nr_hugepages", "0"), 0);
	rig_finish();
}
