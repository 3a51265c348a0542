// SPDX-License-Identifier: BSD-2-Clause
/*
 * File mappings as source and as destination, shared and private, in memory
 * (tmpfs) and on a disk (ext4 on zram1, which the job made).
 *
 * A file on a disk watches who writes: after msync() its pages are read-only for
 * CPU and device alike, and the next write is a fault, or the disk would never
 * learn of it.
 */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "rig.h"

#define BYTES	(16 * RIG_BLOCK)
#define PAGES	(BYTES / RIG_PAGE)
#define BLOCKS	(BYTES / RIG_BLOCK)
#define MEMORY	"/tmp/file"
#define DISK	"/tmp/disk"
#define EXT4	0xef53	/* statfs(2) */

/* A file of this length that holds the pattern. */
static int file_make(const char *path, uint64_t seed)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint8_t *mem = malloc(BYTES);

	EXPECT_GE(fd, 0);
	EXPECT(mem != NULL);
	rig_fill(mem, BYTES, seed);
	EXPECT_EQ(write(fd, mem, BYTES), BYTES);
	free(mem);
	return fd;
}

/* Put the file's mapping where a buffer between guards is. */
static uint8_t *file_map(int fd, int flags)
{
	uint8_t *mem = rig_buffer(BYTES);

	EXPECT(mmap(mem, BYTES, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd,
		    0) == mem);
	/* Without it the CPU's read faults map what is near, too. */
	EXPECT_EQ(madvise(mem, BYTES, MADV_RANDOM), 0);
	return mem;
}

static void file_holds(const char *path, uint64_t seed)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *mem = malloc(BYTES);

	STEP("read(2) of %s gives pattern %d", path, (int)seed);
	EXPECT_GE(fd, 0);
	EXPECT(mem != NULL);
	EXPECT_EQ(read(fd, mem, BYTES), BYTES);
	EXPECT_PATTERN(mem, BYTES, seed);
	free(mem);
	close(fd);
}

/*
 * Of a destination that is a mapping of a file: what is brought in for writing,
 * and that every page came in once.
 */
static void expect_written(uint64_t pages)
{
	struct fl_fault_counters c = rig_since(&rig.dst);

	EXPECT_EQ(c.faults, BLOCKS);
	EXPECT_EQ(c.pages_in, pages);
	EXPECT_EQ(c.failed, 0);
}

static void shared_destination(enum fl_system system, const char *path)
{
	uint8_t *src, *dst;
	int fd;

	rig_open(system, FL_RESOLVE_BLOCK);
	fd = file_make(path, 40);
	src = rig_buffer(BYTES);
	dst = file_map(fd, MAP_SHARED);
	rig_fill(src, BYTES, 41);
	rig_regions(src, BYTES, dst, BYTES);
	rig_write(0, BYTES);
	expect_written(PAGES);
	EXPECT_PATTERN(dst, BYTES, 41);
	file_holds(path, 41);
	close(fd);
	rig_finish();
}

TEST_MODES(shared_memory, "a shared file in memory is the destination")
{
	shared_destination(system, MEMORY);
	unlink(MEMORY);
}

/* ---- a disk ---- */

static void disk_end(void *arg)
{
	(void)arg;
	umount2(DISK, MNT_DETACH);
}

static void disk_begin(void)
{
	struct statfs s;

	mkdir(DISK, 0700);
	EXPECT_EQ(mount("/dev/zram1", DISK, "ext4", 0, NULL), 0);
	test_cleanup(disk_end, NULL);
	EXPECT_EQ(statfs(DISK, &s), 0);
	EXPECT_EQ(s.f_type, EXT4);
}

/* Forget what the system has of the file, so that the next read is the disk's. */
static void disk_forget(void)
{
	sync();
	EXPECT_EQ(rig_put("/proc/sys/vm/drop_caches", "3"), 0);
}

TEST_MODES(shared_disk, "a shared file on a disk is the destination, and after "
	   "msync the disk has it")
{
	uint8_t *src, *dst;
	int fd;

	disk_begin();
	rig_open(system, FL_RESOLVE_BLOCK);
	fd = file_make(DISK "/file", 42);
	src = rig_buffer(BYTES);
	dst = file_map(fd, MAP_SHARED);
	rig_fill(src, BYTES, 43);
	rig_regions(src, BYTES, dst, BYTES);
	rig_write(0, BYTES);
	expect_written(PAGES);
	STEP("clean the pages");
	EXPECT_EQ(msync(dst, BYTES, MS_SYNC), 0);
	EXPECT_GE(rig_since(&rig.dst).invalidations, 1);
	rig_fill(src, BYTES, 44);
	rig_mark();
	rig_write(0, BYTES);
	/* All pages are there, but clean. */
	expect_written(0);
	EXPECT_EQ(msync(dst, BYTES, MS_SYNC), 0);
	STEP("unmap, forget, read from the disk");
	EXPECT_EQ(munmap(dst, BYTES), 0);
	EXPECT(mmap(dst, BYTES, PROT_READ | PROT_WRITE, MAP_FIXED |
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == dst);
	close(fd);
	disk_forget();
	file_holds(DISK "/file", 44);
	rig_finish();
}

TEST_MODES(disk_source, "a file on a disk is read in page by page as it is sent")
{
	struct fl_fault_counters c;
	uint8_t *src, *dst;
	int fd;

	disk_begin();
	rig_open(system, FL_RESOLVE_BLOCK);
	fd = file_make(DISK "/file", 45);
	src = file_map(fd, MAP_PRIVATE);
	dst = rig_buffer(BYTES);
	disk_forget();
	rig_regions(src, BYTES, dst, BYTES);
	rig_write(0, BYTES);
	EXPECT_PATTERN(dst, BYTES, 45);
	c = rig_since(&rig.src);
	/*
	 * The kernel may map pages beside the one that was asked for, as it does
	 * for the CPU (fault-around), so fewer come in at the driver's request.
	 */
	EXPECT_GE(c.faults_source, 1);
	EXPECT_LE(c.faults_source, BLOCKS);
	EXPECT_LE(c.pages_in, PAGES);
	EXPECT_EQ(c.failed, 0);
	close(fd);
	rig_finish();
}

TEST_MODES(private_destination,
	   "a private mapping is written: the file stays as it was")
{
	static const char *const paths[] = { MEMORY, DISK "/file" };
	uint8_t *src, *dst;
	unsigned int i;
	int fd;

	disk_begin();
	rig_open(system, FL_RESOLVE_BLOCK);
	src = rig_buffer(BYTES);
	rig_fill(src, BYTES, 47);
	for (i = 0; i < 2; i++) {
		fd = file_make(paths[i], 46);
		dst = file_map(fd, MAP_PRIVATE);
		rig_regions(src, BYTES, dst, BYTES);
		STEP("half of it is read first, and so mapped read-only");
		EXPECT_PATTERN(dst, BYTES / 2, 46);
		rig_mark();
		rig_write(0, BYTES);
		EXPECT_EQ(rig_since(&rig.dst).faults, BLOCKS);
		EXPECT_LE(rig_since(&rig.dst).pages_in, PAGES / 2);
		EXPECT_PATTERN(dst, BYTES, 47);
		close(fd);
		file_holds(paths[i], 46);
	}
	unlink(MEMORY);
	rig_finish();
}

TEST_MODES(truncated, "a file that became shorter ends the transfer with an error")
{
	uint8_t *src, *dst;
	size_t i;
	int fd;

	rig_open(system, FL_RESOLVE_BLOCK);
	fd = file_make(MEMORY, 48);
	src = rig_buffer(BYTES);
	dst = file_map(fd, MAP_SHARED);
	rig_fill(src, BYTES, 49);
	rig_regions(src, BYTES, dst, BYTES);
	EXPECT_EQ(ftruncate(fd, BYTES / 2), 0);
	rig_post(0, BYTES);
	EXPECT_EQ(rig_status(), RIG_REMOTE_FAULT);
	EXPECT_GE(rig_since(&rig.dst).failed, 1);
	/* The rest is as before or as sent, word by word. */
	for (i = 0; i < BYTES / 16; i++)
		EXPECT(((uint64_t *)dst)[i] == rig_word(48, i) ||
		       ((uint64_t *)dst)[i] == rig_word(49, i));
	close(fd);
	unlink(MEMORY);
	rig_finish();
}
