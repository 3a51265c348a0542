// SPDX-License-Identifier: BSD-2-Clause
// variants: page16 page64
/* Files that a process elsewhere has opened, mapped from its descriptors. */
#include <fcntl.h>

#include "test_host_remote.h"

TEST("a file of the process is mapped from its descriptor, privately")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t at = PAGE + 16, v, want = 0;
	char path[128];
	int fd, error;
	unsigned int i;
	uint8_t *map;

	rig_file(path, 2 * PAGE + 100);
	fd = open(path, O_RDONLY);
	unlink(path);
	map = host_mmap_source(m->p, 2 * PAGE + 100, RW, fd, 0, &error);
	EXPECT_EQ(error, 0);
	STEP("the caller's descriptor goes");
	close(fd);
	for (i = 0; i < 8; i++)
		want |= (uint64_t)(((at + i) * 7 + (at + i) / PAGE) & 0xff)
			<< 8 * i;
	EXPECT_EQ(remote_get(m, va_of(map) + at), want);
	EXPECT_EQ(remote_get(m, va_of(map) + 2 * PAGE + 104), 0);
	EXPECT_EQ(remote_put(m, va_of(map) + at, 5), 0);
	EXPECT_EQ(host_madvise(m->p, map, 3 * PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(mm_copy(rig_mm(r, 1), va_of(map) + at, &v, 8, false), 0);
	EXPECT_EQ(v, 5);
	rig_check(r);
	EXPECT_EQ(host_munmap(m->p, map, 3 * PAGE), 0);
}

static void no_source(struct remote *m, uint64_t len, int fd, uint64_t offset,
		      int want)
{
	int error = 0;

	STEP("%" PRIu64 " bytes at %" PRIu64, len, offset);
	EXPECT(!host_mmap_source(m->p, len, RW, fd, offset, &error));
	EXPECT_EQ(error, want);
}

TEST("only a regular file that is open for reading is mapped, and only as long "
     "as it is")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	int fd, wo, dir, fds[2];
	char path[128];

	rig_file(path, PAGE + 1);
	fd = open(path, O_RDONLY);
	wo = open(path, O_WRONLY);
	dir = open("/tmp", O_RDONLY);
	EXPECT_EQ(pipe(fds), 0);
	unlink(path);
	no_source(m, 2 * PAGE + 1, fd, 0, -EINVAL);
	no_source(m, PAGE + 1, fd, PAGE, -EINVAL);
	no_source(m, 1, fd, 2 * PAGE, -EINVAL);
	no_source(m, 0, fd, 0, -EINVAL);
	no_source(m, PAGE, fd, 1, -EINVAL);
	no_source(m, PAGE, fd, ~0ull << 12, -EINVAL);
	no_source(m, PAGE, fd, (uint64_t)INT64_MAX & ~(PAGE - 1), -EINVAL);
	no_source(m, ARENA_MEMORY_BYTES + 1, fd, 0, -ENOMEM);
	no_source(m, PAGE, wo, 0, -EACCES);
	no_source(m, PAGE, dir, 0, -ENODEV);
	no_source(m, PAGE, fds[0], 0, -ENODEV);
	no_source(m, PAGE, -1, 0, -EBADF);
	EXPECT_EQ(rig_mm(r, 1)->maps, 0);
	close(fd);
	close(wo);
	close(dir);
	close(fds[0]);
	close(fds[1]);
}

/* Descriptors of this program, up to some number. */
static unsigned int descriptors(void)
{
	unsigned int n = 0;
	int fd;

	for (fd = 0; fd < 1000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST("a process has so many files mapped and no more, and they are closed")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	uint8_t *map[PROCESS_SOURCES] = { NULL };
	unsigned int before, i;
	char path[128];
	int fd, error;

	rig_file(path, 2 * PAGE);
	fd = open(path, O_RDONLY);
	unlink(path);
	before = descriptors();
	for (i = 0; i < PROCESS_SOURCES; i++) {
		map[i] = host_mmap_source(m->p, 2 * PAGE, RW, fd, 0, &error);
		EXPECT_EQ(error, 0);
	}
	no_source(m, PAGE, fd, 0, -EMFILE);
	EXPECT_EQ(descriptors(), before + PROCESS_SOURCES);
	STEP("a mapping in two parts is one file still");
	EXPECT_EQ(host_munmap(m->p, map[0], PAGE), 0);
	no_source(m, PAGE, fd, 0, -EMFILE);
	EXPECT_EQ(host_munmap(m->p, map[0] + PAGE, PAGE), 0);
	no_source(m, 3 * PAGE, fd, 0, -EINVAL);
	EXPECT(host_mmap_source(m->p, PAGE, RW, fd, 0, &error) != NULL);
	no_source(m, PAGE, fd, 0, -EMFILE);
	remote_exit(m);
	EXPECT_EQ(descriptors(), before - 1);	/* its bank has gone, too */
	close(fd);
}

TEST("a file that shrinks under its mapping is a fault that cannot be repaired")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	char path[128];
	int fd, error;
	uint8_t *map;

	rig_file(path, 2 * PAGE);
	fd = open(path, O_RDWR);
	unlink(path);
	map = host_mmap_source(m->p, 2 * PAGE, RW, fd, 0, &error);
	EXPECT(map != NULL);
	EXPECT_EQ(ftruncate(fd, PAGE), 0);
	EXPECT_EQ(host_process_fault(m->p, va_of(map), 0), 0);
	EXPECT_EQ(host_process_fault(m->p, va_of(map) + PAGE, 0), -EFAULT);
	EXPECT_EQ(rig_stats(r).frames_free, 15);
	close(fd);
	rig_check(r);
}
