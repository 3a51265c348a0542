// SPDX-License-Identifier: BSD-2-Clause
/*
 * Swap and files by themselves: slots are given out once each, bytes come back, and whatever
 * the storage refuses is an error; and looking at memory, wherever its bytes are.
 */
#include "rig/host.h"

#include <dirent.h>
#include <unistd.h>

#define SLOTS	70u	/* not a whole number of words */

static uint8_t swap_page[PAGE], swap_back[PAGE];

static void swap_fill(uint8_t salt)
{
	uint64_t i;

	for (i = 0; i < PAGE; i++)
		swap_page[i] = (uint8_t)(i * 7 + i / 251 + salt);
}

static void swap_slots(struct host_swap *s)
{
	static bool had[SLOTS];
	uint32_t slot;
	unsigned int i;

	memset(had, 0, sizeof(had));
	for (i = 0; i < SLOTS; i++) {
		slot = swap_get(s);
		EXPECT(slot < SLOTS && !had[slot]);
		had[slot] = true;
	}
	STEP("all %u are taken", SLOTS);
	EXPECT_EQ(swap_get(s), NO_SLOT);
	swap_put(s, 69);
	swap_put(s, 3);
	EXPECT_EQ(s->used, SLOTS - 2);
	slot = swap_get(s);
	EXPECT(slot == 69 || slot == 3);
	EXPECT_EQ(swap_get(s), slot == 3 ? 69 : 3);
	EXPECT_EQ(swap_get(s), NO_SLOT);
}

static void swap_bytes(struct host_swap *s)
{
	swap_fill(1);
	EXPECT_EQ(swap_write(s, 5, swap_page), 0);
	swap_fill(2);
	EXPECT_EQ(swap_write(s, 69, swap_page), 0);
	EXPECT_EQ(swap_read(s, 69, swap_back), 0);
	EXPECT_MEM(swap_back, swap_page, PAGE);
	swap_fill(1);
	EXPECT_EQ(swap_read(s, 5, swap_back), 0);
	EXPECT_MEM(swap_back, swap_page, PAGE);
	STEP("the disk refuses to write, as a test may ask");
	s->fail_writes = true;
	EXPECT_EQ(swap_write(s, 5, swap_page), -EIO);
	s->fail_writes = false;
	EXPECT_EQ(swap_write(s, 5, swap_page), 0);
}

TEST("swap in memory: each slot once, and its bytes come back")
{
	struct host_swap s = { 0 };

	EXPECT_EQ(swap_create(&s, SLOTS, NULL), 0);
	swap_slots(&s);
	swap_bytes(&s);
	swap_destroy(&s);
}

/* Files of a folder of the test's own. */
static unsigned int swap_files(const char *dir)
{
	unsigned int n = 0;
	DIR *d = opendir(dir);

	EXPECT(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

TEST("swap in a file: the same, and what the file refuses is an error")
{
	struct host_swap s = { 0 };
	char dir[200];
	unsigned int files;

	test_path(dir, sizeof(dir), "%s", "");
	files = swap_files(dir);
	EXPECT_EQ(swap_create(&s, SLOTS, dir), 0);
	EXPECT(!s.mem);
	STEP("the file has no name: it goes with its process");
	EXPECT_EQ(swap_files(dir), files);
	swap_slots(&s);
	swap_bytes(&s);
	STEP("it has lost its end");
	EXPECT_EQ(ftruncate(s.fd, 5 * (off_t)PAGE + 10), 0);
	EXPECT_EQ(swap_read(&s, 5, swap_back), -EIO);
	EXPECT_EQ(swap_read(&s, 69, swap_back), -EIO);
	STEP("it cannot be used at all");
	close(s.fd);
	s.fd = -1;
	EXPECT_EQ(swap_read(&s, 1, swap_back), -EIO);
	EXPECT_EQ(swap_write(&s, 1, swap_page), -EIO);
	s.fd = dup(0);
	swap_destroy(&s);
	STEP("nor can it be made where there is no folder");
	EXPECT(swap_create(&s, SLOTS, "/nowhere/at/all") < 0);
}

TEST("a source is a plain file; behind its end are zeros, and beyond the last page nothing")
{
	char path[128];
	struct host_source *f;
	int error, fd;
	uint64_t i;

	rig_file(path, PAGE + 100);
	fd = dup(0);	/* the number that the source's descriptor will have */
	close(fd);
	f = source_open(path, &error);
	EXPECT(f && !error);
	EXPECT_EQ(f->bytes, PAGE + 100);
	EXPECT_EQ(f->read(f, 0, swap_back), 0);
	for (i = 0; i < PAGE; i++)
		EXPECT_EQ(swap_back[i], i * 7 & 0xff);
	EXPECT_EQ(f->read(f, PAGE, swap_back), 0);
	for (i = 100; i < PAGE; i++)
		EXPECT_EQ(swap_back[i], 0);
	EXPECT_EQ(f->read(f, 2 * PAGE, swap_back), -EFAULT);
	STEP("it cannot be read any more");
	close(fd);
	EXPECT_EQ(f->read(f, 0, swap_back), -EIO);
	f->free(f);
	EXPECT(!source_open("/nowhere/at/all", &error));
	EXPECT_EQ(error, -ENOENT);
	EXPECT(!source_open("/", &error));
	EXPECT_EQ(error, -ENODEV);
}

TEST("memory can be looked at wherever its bytes are, without a change")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, test_seed(), 64, 64);
	struct host_mm *mm = rig_mm(r, 0);
	uint8_t *m = rig_map(r, 0, 4), *file;
	uint64_t va = va_of(m), i, before;
	char path[128];
	uint8_t v = 9;
	int error;

	EXPECT_EQ(mm_copy(mm, va + 10, &v, 1, true), 0);
	EXPECT_EQ(mm_copy(mm, va + PAGE + 10, &v, 1, true), 0);
	EXPECT_EQ(host_madvise(r->p[0], m + PAGE, PAGE, HOST_PAGEOUT), 0);
	file = host_mmap(r->p[0], PAGE, HOST_READ, rig_file(path, PAGE), 0, &error);
	EXPECT(file);
	before = r->k->frames_used;
	STEP("resident, in swap, never touched: in one look");
	memset(swap_back, 0xee, PAGE);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(mm_look(mm, va + i * PAGE, swap_back, PAGE), 0);
		EXPECT_EQ(swap_back[10], i < 2 ? 9 : 0);
		EXPECT_EQ(swap_back[11], 0);
	}
	EXPECT_EQ(mm_look(mm, va + PAGE - 1, swap_back, 20), 0);
	EXPECT_EQ(swap_back[11], 9);
	STEP("in a file");
	EXPECT_EQ(mm_look(mm, va_of(file) + 8, swap_back, 1), 0);
	EXPECT_EQ(swap_back[0], 56);
	EXPECT_EQ(r->k->frames_used, before);
	STEP("nowhere; and while somebody changes it");
	EXPECT_EQ(mm_look(mm, va + 4 * PAGE - 1, swap_back, PAGE), -EFAULT);
	mm->lock.taken = true;
	EXPECT_EQ(mm_look(mm, va, swap_back, 1), -EAGAIN);
	mm->lock.taken = false;
	rig_check(r);
}
