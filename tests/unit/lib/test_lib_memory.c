// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig/lib_fake.h"

TEST("fl_alloc gives memory of the system and fl_free gives it back")
{
	struct fl_device *dev = fake_device();
	char *mem;

	test_cleanup(fake_close_device, dev);
	mem = fl_alloc(dev, 100);
	EXPECT(mem);
	EXPECT_EQ(mem[99], 0);
	EXPECT_EQ(fake.memories, 1);
	EXPECT_EQ(fl_free(dev, mem, 100), 0);
	EXPECT_EQ(fake.memories, 0);
}

TEST("fl_alloc and fl_map_file fail with NULL and errno")
{
	struct fl_device *dev = fake_device();
	size_t bytes = 0;

	test_cleanup(fake_close_device, dev);
	errno = 0;
	EXPECT(!fl_alloc(dev, 0));
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT(!fl_alloc(NULL, 1));
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT(!fl_map_file(dev, NULL, &bytes));
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT(!fl_map_file(dev, "x", NULL));
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT(!fl_map_file(NULL, "x", &bytes));
	EXPECT_EQ(errno, EINVAL);
	fake.memory_error = -ENOMEM;
	errno = 0;
	EXPECT(!fl_alloc(dev, 1));
	EXPECT_EQ(errno, ENOMEM);
	fake.memory_error = -ENOENT;
	errno = 0;
	EXPECT(!fl_map_file(dev, "x", &bytes));
	EXPECT_EQ(errno, ENOENT);
}

TEST("fl_map_file says how long the file is")
{
	struct fl_device *dev = fake_device();
	size_t bytes = 0;
	void *mem;

	test_cleanup(fake_close_device, dev);
	mem = fl_map_file(dev, "x", &bytes);
	EXPECT(mem);
	EXPECT_EQ(bytes, 6);
	EXPECT_EQ(fl_free(dev, mem, bytes), 0);
}

static uint64_t remapped[2];

static int note_remap(void *addr, size_t bytes)
{
	remapped[0] = (uintptr_t)addr;
	remapped[1] = bytes;
	return fake.memory_error;
}

/* The fake's table has no memory that could be mapped again. */
static const struct fl_sys *with_remap(void)
{
	static struct fl_sys table;

	table = fake_sys;
	table.remap = note_remap;
	return &table;
}

TEST("advice, rights and other memory are asked for as they were given")
{
	struct fl_device *dev = fake_device();
	char mem[16];

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_advise(dev, mem, 16, FL_PAGEOUT), 0);
	EXPECT_EQ(fake_last_advice, FL_PAGEOUT);
	EXPECT_EQ(fl_advise(dev, mem, 16, FL_DONTNEED), 0);
	EXPECT_EQ(fake_last_advice, FL_DONTNEED);
	EXPECT_EQ(fl_advise(dev, mem, 16, FL_WILLNEED), 0);
	EXPECT_EQ(fake_last_advice, FL_WILLNEED);
	EXPECT_EQ(fl_protect(dev, mem, 16, FL_PROT_READ), 0);
	EXPECT_EQ(fake_last_prot, FL_PROT_READ);
	EXPECT_EQ(fl_protect(dev, mem, 16, 0), 0);
	EXPECT_EQ(fake_last_prot, 0);
	dev->sys = with_remap();
	EXPECT_EQ(fl_remap(dev, mem, 16), 0);
	EXPECT_EQ(remapped[0], (uintptr_t)mem);
	EXPECT_EQ(remapped[1], 16);
	fake.memory_error = -EFAULT;
	EXPECT_EQ(fl_remap(dev, mem, 16), -EFAULT);
	EXPECT_EQ(fl_advise(dev, mem, 16, FL_PAGEOUT), -EFAULT);
	EXPECT_EQ(fl_protect(dev, mem, 16, 3), -EFAULT);
	EXPECT_EQ(fl_free(dev, mem, 16), -EFAULT);
}

TEST("a memory call with a range or a word that makes no sense is refused")
{
	struct fl_device *dev = fake_device();
	void *top = (void *)(UINTPTR_MAX - 7);
	char mem[16];

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_free(NULL, mem, 16), -EINVAL);
	EXPECT_EQ(fl_free(dev, NULL, 16), -EINVAL);
	EXPECT_EQ(fl_free(dev, mem, 0), -EINVAL);
	EXPECT_EQ(fl_free(dev, top, 9), -EINVAL);
	EXPECT_EQ(fl_remap(NULL, mem, 16), -EINVAL);
	EXPECT_EQ(fl_remap(dev, NULL, 16), -EINVAL);
	EXPECT_EQ(fl_remap(dev, mem, 0), -EINVAL);
	EXPECT_EQ(fl_remap(dev, top, 9), -EINVAL);
	EXPECT_EQ(fl_advise(dev, top, 8, FL_PAGEOUT), 0);
	EXPECT_EQ(fl_advise(dev, top, 9, FL_PAGEOUT), -EINVAL);
	EXPECT_EQ(fl_advise(dev, mem, 0, FL_PAGEOUT), -EINVAL);
	EXPECT_EQ(fl_advise(NULL, mem, 16, FL_PAGEOUT), -EINVAL);
	EXPECT_EQ(fl_advise(dev, mem, 16, (enum fl_advice)3), -EINVAL);
	EXPECT_EQ(fl_protect(dev, mem, 0, 3), -EINVAL);
	EXPECT_EQ(fl_protect(NULL, mem, 16, 3), -EINVAL);
	EXPECT_EQ(fl_protect(dev, mem, 16, 4), -EINVAL);
}

TEST("Linux's table gives zeroed memory, takes advice and rights")
{
	const struct fl_sys *s = &fl_sys_linux;
	int error = 0;
	unsigned char in_core[2];
	char *mem = s->alloc(-1, 8192, &error);

	EXPECT(mem);
	EXPECT_EQ(mincore(mem, 8192, in_core), 0);
	EXPECT_EQ(in_core[0] & 1, 0);
	EXPECT_EQ(s->advise(mem, 8192, FL_WILLNEED), 0);
	EXPECT_EQ(mem[4096], 0);
	mem[4096] = 7;
	EXPECT_EQ(s->advise(mem, 8192, FL_PAGEOUT), 0);
	EXPECT_EQ(mem[4096], 7);
	EXPECT_EQ(s->advise(mem, 8192, FL_DONTNEED), 0);
	EXPECT_EQ(mem[4096], 0);
	EXPECT_EQ(s->advise(mem, 8192, 3), -EINVAL);
	EXPECT_EQ(s->advise(mem + 1, 8192, FL_DONTNEED), -EINVAL);
	EXPECT_EQ(s->protect(mem, 8192, FL_PROT_READ), 0);
	EXPECT_EQ(s->protect(mem, 8192, FL_PROT_READ | FL_PROT_WRITE), 0);
	EXPECT_EQ(s->protect(mem + 1, 1, FL_PROT_READ), -EINVAL);
	mem[0] = mem[4096] = 9;
	EXPECT_EQ(s->remap(mem + 4096, 4096), 0);
	EXPECT_EQ(mem[0], 9);
	EXPECT_EQ(mem[4096], 0);
	mem[4096] = 9;
	EXPECT_EQ(s->remap(mem + 1, 4096), -EINVAL);
	EXPECT_EQ(s->free(mem, 8192), 0);
	EXPECT_EQ(s->advise(mem, 8192, FL_WILLNEED), -ENOMEM);
	EXPECT(!s->alloc(-1, SIZE_MAX / 2, &error));
	EXPECT_EQ(error, -ENOMEM);
}

TEST("Linux's table maps a file privately and refuses what is none")
{
	const struct fl_sys *s = &fl_sys_linux;
	int fd, error = 0;
	char path[128];
	size_t bytes = 0;
	char *mem, back[5];

	test_path(path, sizeof(path), "file");
	fd = open(path, O_RDWR | O_CREAT, 0600);
	EXPECT(fd >= 0);
	EXPECT(!s->map_file(-1, path, &bytes, &error));
	EXPECT_EQ(error, -ENODATA);
	EXPECT_EQ(pwrite(fd, "pages", 5, 0), 5);
	mem = s->map_file(-1, path, &bytes, &error);
	EXPECT(mem);
	EXPECT_EQ(bytes, 5);
	EXPECT_MEM(mem, "pages", 5);
	mem[0] = 'w';
	EXPECT_EQ(pread(fd, back, 5, 0), 5);
	EXPECT_MEM(back, "pages", 5);
	EXPECT_EQ(s->free(mem, bytes), 0);
	close(fd);
	EXPECT(!s->map_file(-1, "/tmp", &bytes, &error));
	EXPECT_EQ(error, -EINVAL);
	EXPECT(!s->map_file(-1, "/nonexistent", &bytes, &error));
	EXPECT_EQ(error, -ENOENT);
}

TEST("fl_prefault asks the table, and without one looks what is mapped")
{
	struct fl_device *dev = fake_device();
	char *mem = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_prefault(dev, mem, 5, 1), 0);
	EXPECT_EQ(fake.last_prefault[0], (uintptr_t)mem);
	EXPECT_EQ(fake.last_prefault[1], 5);
	EXPECT_EQ(fake.last_prefault[2], 1);
	EXPECT_EQ(fl_prefault(dev, mem, 0, 1), -EINVAL);
	EXPECT_EQ(fl_prefault(NULL, mem, 1, 1), -EINVAL);
	dev->sys = fake_bare();
	EXPECT_EQ(fl_prefault(dev, mem, 8192, 0), 0);
	EXPECT_EQ(fl_prefault(dev, mem, 8192, 1), -EFAULT);
	munmap(mem + 4096, 4096);
	EXPECT_EQ(fl_prefault(dev, mem, 4097, 0), -EFAULT);
	munmap(mem, 4096);
}
