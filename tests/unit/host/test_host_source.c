// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/* Files that a process elsewhere has: whoever keeps them is asked for their pages. */
#include <fcntl.h>
#include <unistd.h>

#include "rig/host_remote.h"

/* What is asked here has one descriptor, and counts. */
static struct {
	int fd;
	unsigned int asked, put;
} kept;

static int kept_read(void *arg, uint64_t offset, void *page)
{
	ssize_t n = pread(kept.fd, page, PAGE, (off_t)offset);

	EXPECT(arg == &kept);
	kept.asked++;
	if (n <= 0)
		return n ? -EIO : -EFAULT;
	memset((char *)page + n, 0, PAGE - (size_t)n);
	return 0;
}

static void kept_put(void *arg)
{
	EXPECT(arg == &kept);
	kept.put++;
}

static const struct host_file_ops kept_ops = { kept_read, kept_put };

/* A file of so many bytes, known to nobody else. */
static void source_keep(uint64_t bytes)
{
	char path[128];

	rig_file(path, bytes);
	memset(&kept, 0, sizeof(kept));
	kept.fd = open(path, O_RDWR);
	EXPECT(kept.fd >= 0);
	unlink(path);
}

static void *map_kept(struct remote *m, uint64_t len, uint64_t file_bytes,
		      uint64_t offset, int *error)
{
	return host_mmap_source(m->p, len, RW, &kept_ops, &kept, file_bytes,
				offset, error);
}

TEST("a file of the process is mapped, privately")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	uint64_t at = PAGE + 16, v, want = 0;
	unsigned int i;
	uint8_t *map;
	int error;

	source_keep(2 * PAGE + 100);
	map = map_kept(m, 2 * PAGE + 100, 2 * PAGE + 100, 0, &error);
	EXPECT_EQ(error, 0);
	EXPECT_EQ(kept.asked, 0);
	for (i = 0; i < 8; i++)
		want |= (uint64_t)(((at + i) * 7 + (at + i) / PAGE) & 0xff)
			<< 8 * i;
	EXPECT_EQ(remote_get(m, va_of(map) + at), want);
	EXPECT_EQ(remote_get(m, va_of(map) + 2 * PAGE + 104), 0);
	EXPECT_EQ(remote_put(m, va_of(map) + at, 5), 0);
	EXPECT_EQ(host_process_madvise(m->p, map, 3 * PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(mm_copy(rig_mm(r, 1), va_of(map) + at, &v, 8, false), 0);
	EXPECT_EQ(v, 5);
	EXPECT_EQ(kept.asked, 2);
	rig_check(r);
	EXPECT_EQ(kept.put, 0);
	EXPECT_EQ(host_process_munmap(m->p, map, 3 * PAGE), 0);
	EXPECT_EQ(kept.put, 1);
	close(kept.fd);
}

static void no_source(struct remote *m, uint64_t len, uint64_t file_bytes,
		      uint64_t offset, int want)
{
	unsigned int put = kept.put;
	int error = 0;

	STEP("%" PRIu64 " bytes at %" PRIu64, len, offset);
	EXPECT(!map_kept(m, len, file_bytes, offset, &error));
	EXPECT_EQ(error, want);
	EXPECT_EQ(kept.put, put + 1);
}

TEST("a file is mapped only as long as it is")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	const uint64_t bytes = PAGE + 1;

	source_keep(bytes);
	no_source(m, 2 * PAGE + 1, bytes, 0, -EINVAL);
	no_source(m, PAGE + 1, bytes, PAGE, -EINVAL);
	no_source(m, 1, bytes, 2 * PAGE, -EINVAL);
	no_source(m, 0, bytes, 0, -EINVAL);
	no_source(m, PAGE, bytes, 1, -EINVAL);
	no_source(m, PAGE, bytes, ~0ull << 12, -EINVAL);
	no_source(m, PAGE, bytes, (uint64_t)INT64_MAX & ~(PAGE - 1), -EINVAL);
	no_source(m, ARENA_MEMORY_BYTES + 1, bytes, 0, -ENOMEM);
	EXPECT_EQ(rig_mm(r, 1)->maps, 0);
	EXPECT_EQ(rig_mm(r, 1)->sources, 0);
	close(kept.fd);
}

TEST("a process has so many files mapped and no more, and they are given back")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	const uint64_t bytes = 2 * PAGE;
	uint8_t *map[PROCESS_SOURCES] = { NULL };
	unsigned int i, put;
	int error;

	source_keep(bytes);
	for (i = 0; i < PROCESS_SOURCES; i++) {
		map[i] = map_kept(m, bytes, bytes, 0, &error);
		EXPECT_EQ(error, 0);
	}
	no_source(m, PAGE, bytes, 0, -EMFILE);
	STEP("a mapping in two parts is one file still");
	EXPECT_EQ(host_process_munmap(m->p, map[0], PAGE), 0);
	no_source(m, PAGE, bytes, 0, -EMFILE);
	EXPECT_EQ(host_process_munmap(m->p, map[0] + PAGE, PAGE), 0);
	no_source(m, 3 * PAGE, bytes, 0, -EINVAL);
	EXPECT(map_kept(m, PAGE, bytes, 0, &error) != NULL);
	no_source(m, PAGE, bytes, 0, -EMFILE);
	put = kept.put;
	remote_exit(m);
	EXPECT_EQ(kept.put, put + PROCESS_SOURCES);
	close(kept.fd);
}

TEST("a file that shrinks under its mapping is a fault that cannot be repaired")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 16, 64);
	struct remote *m = remote_start(r, 1);
	uint8_t *map;
	int error;

	source_keep(2 * PAGE);
	map = map_kept(m, 2 * PAGE, 2 * PAGE, 0, &error);
	EXPECT(map != NULL);
	EXPECT_EQ(ftruncate(kept.fd, PAGE), 0);
	EXPECT_EQ(host_process_fault(m->p, va_of(map), 0), 0);
	EXPECT_EQ(host_process_fault(m->p, va_of(map) + PAGE, 0), -EFAULT);
	EXPECT_EQ(rig_stats(r).frames_free, 15);
	close(kept.fd);
	rig_check(r);
}
