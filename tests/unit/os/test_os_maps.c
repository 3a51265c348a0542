// SPDX-License-Identifier: BSD-2-Clause
/*
 * What Linux says is mapped (proc(5), /proc/self/maps): lines of all kinds of kernels, long
 * ones, ones that are no such lines, and reading that is interrupted.
 */
#include <stdio.h>
#include <sys/sysmacros.h>

#include "rig/fail.h"
#include "rig/os.h"

#define MAPS "/proc/self/maps"
#define MOST 32

static struct os_map seen[MOST];
static unsigned int seen_n;

static void map_seen(void *arg, const struct os_map *m)
{
	(void)arg;
	EXPECT(seen_n < MOST);
	seen[seen_n++] = *m;
}

static void maps_read(const char *text, uintptr_t first, uintptr_t last)
{
	if (!on_linux())
		test_skip("only Linux writes what is mapped");
	seen_n = 0;
	fail_text(MAPS, text);
	EXPECT_EQ(os_map_each(first, last, map_seen, NULL), 0);
}

TEST("a line says bounds, rights, device and file")
{
	maps_read("00ab0000-00ab3000 rw-p 00001000 fd:1f 1234567   /tmp/a file\n"
		  "7ffe12340000-7ffe12341000 r-xs 00000000 00:00 0 \n", 0, UINTPTR_MAX);
	EXPECT_EQ(seen_n, 2);
	EXPECT_EQ(seen[0].start, 0xab0000);
	EXPECT_EQ(seen[0].end, 0xab3000);
	EXPECT_EQ(seen[0].prot, PROT_READ | PROT_WRITE);
	EXPECT_EQ(seen[0].kind, OS_MAP_PRIVATE);
	EXPECT_EQ(seen[0].device, makedev(0xfd, 0x1f));
	EXPECT_EQ(seen[0].inode, 1234567);
	EXPECT_EQ(seen[1].start, 0x7ffe12340000);
	EXPECT_EQ(seen[1].prot, PROT_READ | PROT_EXEC);
	EXPECT_EQ(seen[1].kind, OS_MAP_SHARED);
	EXPECT_EQ(seen[1].inode, 0);
}

TEST("the name says what kind of memory it is")
{
	static const struct {
		const char *rights, *name;
		enum os_map_kind kind;
	} name[] = {
		{ "rw-p", "[stack]", OS_MAP_STACK },
		{ "rw-p", "[heap]", OS_MAP_PRIVATE },
		{ "rw-p", "[anon:pool]", OS_MAP_PRIVATE },
		{ "rw-s", "[anon_shmem:pool]", OS_MAP_SHARED },
		{ "r-xp", "[vdso]", OS_MAP_SPECIAL },
		{ "rw-s", "anon_inode:[io_uring]", OS_MAP_SPECIAL },
		{ "rw-p", "/anon_hugepage (deleted)", OS_MAP_SPECIAL },
		{ "rw-s", "/dev/dri/card0", OS_MAP_SPECIAL },
		{ "rw-p", "/dev/zero", OS_MAP_PRIVATE },
		{ "rw-s", "/dev/zero (deleted)", OS_MAP_SHARED },
		{ "rw-s", "/dev/shm/x", OS_MAP_SHARED },
		{ "rw-s", "/device", OS_MAP_SHARED },
	};
	const unsigned int n = sizeof(name) / sizeof(name[0]);
	char text[2048];
	unsigned int i;
	int used = 0;

	for (i = 0; i < n; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "%x000-%x000 %s 0 00:00 7  %s\n", i + 1, i + 2,
				 name[i].rights, name[i].name);
	maps_read(text, 0, UINTPTR_MAX);
	EXPECT_EQ(seen_n, n);
	for (i = 0; i < n; i++) {
		STEP("%s %s", name[i].rights, name[i].name);
		EXPECT_EQ(seen[i].kind, name[i].kind);
	}
}

TEST("only what lies in the range is told, and no line is read in vain")
{
	static const char text[] = "1000-2000 rw-p 0 00:00 0\n"
				   "2000-4000 rw-p 0 00:00 0\n"
				   "8000-9000 rw-p 0 00:00 0\n"
				   "a000-b000 rw-p 0 00:00 0\n";

	maps_read(text, 0x2fff, 0x8000);
	EXPECT_EQ(seen_n, 2);
	EXPECT_EQ(seen[0].start, 0x2000);
	EXPECT_EQ(seen[1].start, 0x8000);
	maps_read(text, 0x4000, 0x7fff);
	EXPECT_EQ(seen_n, 0);
}

TEST("lines that are cut short or are none are passed over, and long names do no harm")
{
	char text[4096], name[2000];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	snprintf(text, sizeof(text),
		 "\n"
		 "1000\n"
		 "1000-2000\n"
		 "1000-2000 rw\n"
		 "1000:2000 rw-p 0 00:00 0\n"
		 "1000-2000_rw-p 0 00:00 0\n"
		 "1000-2000 rw-p \n"
		 "3000-4000 r--s 0 08:01 99 /%s\n"
		 "5000-6000 r--p 0 08:01 x\n"
		 "7000-8000 r--p 0", name);
	maps_read(text, 0, UINTPTR_MAX);
	EXPECT_EQ(seen_n, 3);
	STEP("without a device: there is none");
	EXPECT_EQ(seen[0].start, 0x1000);
	EXPECT_EQ(seen[0].prot, PROT_READ | PROT_WRITE);
	EXPECT_EQ(seen[0].device, 0);
	EXPECT_EQ(seen[0].inode, 0);
	STEP("the line after the long one is whole");
	EXPECT_EQ(seen[1].kind, OS_MAP_SHARED);
	EXPECT_EQ(seen[1].inode, 99);
	EXPECT_EQ(seen[2].start, 0x5000);
	EXPECT_EQ(seen[2].inode, 0);
}

TEST("a signal does not end the reading; an error ends it, and no file is no answer")
{
	static const char text[] = "1000-2000 rw-p 0 00:00 0\n";

	fail_at(FAIL_READ, 1, 2, EINTR);
	maps_read(text, 0, UINTPTR_MAX);
	EXPECT_EQ(seen_n, 1);
	fail_at(FAIL_READ, 1, 1, EIO);
	maps_read(text, 0, UINTPTR_MAX);
	EXPECT_EQ(seen_n, 0);
	fail_end();
	fail_at(FAIL_OPEN, 1, 1, ENFILE);
	EXPECT_EQ(os_map_each(0, UINTPTR_MAX, map_seen, NULL), -ENOTSUP);
	EXPECT_EQ(fail_end(), 1);
}
