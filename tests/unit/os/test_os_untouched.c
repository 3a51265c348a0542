// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the system says of memory that nobody has touched, and of memory that is closed; and
 * room for what will hardly be touched.
 * variants: posix
 */
#include "rig/os.h"

#define MAP_ANON_RW(n) mmap(NULL, (n) * os_page_bytes(), \
			    PROT_READ | PROT_WRITE, \
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
#define HUGE_BYTES (2ul << 20)

static uint64_t mask_untouched(const void *at, unsigned int n)
{
	uint64_t mask = 0;

	EXPECT_EQ(os_pages_untouched(at, n, &mask), 0);
	return mask;
}

TEST("a page is untouched until it is read or written, whoever may reach it now")
{
	uint64_t page = os_page_bytes(), mask;
	volatile uint8_t *at = MAP_ANON_RW(64);
	void *mem = (void *)(uintptr_t)at;

	if (!on_linux()) {
		EXPECT_EQ(os_pages_untouched(mem, 1, &mask), -ENOTSUP);
		munmap(mem, 64 * page);
		return;
	}
#ifdef MADV_NOHUGEPAGE
	madvise(mem, 64 * page, MADV_NOHUGEPAGE);
#endif
	EXPECT_EQ(mask_untouched(mem, 64), UINT64_MAX);
	at[3 * page] = 1;
	STEP("a read maps the page of zeros, which counts");
	EXPECT_EQ(at[63 * page], 0);
	EXPECT_EQ(mask_untouched(mem, 64), ~(1ull << 3 | 1ull << 63));
	EXPECT_EQ(mask_untouched((uint8_t *)mem + 3 * page, 1), 0);
	EXPECT_EQ(mask_untouched((uint8_t *)mem + page, 5), 0x1b);
	STEP("closed, it is as it was");
	EXPECT_EQ(os_protect(mem, 64 * page, PROT_NONE), 0);
	EXPECT_EQ(mask_untouched(mem, 64), ~(1ull << 3 | 1ull << 63));
	EXPECT_EQ(os_protect(mem, 64 * page, PROT_READ), 0);
	EXPECT_EQ(at[3 * page], 1);
	munmap(mem, 64 * page);
}

TEST("in a child what its parent touched is touched, and in a huge page everything")
{
	uint64_t page = os_page_bytes(), n = 0;
	uint8_t *mem = MAP_ANON_RW(2 * HUGE_BYTES / page), *at;
	int status = 0;
	pid_t pid;

	if (!on_linux())
		return;
	at = (uint8_t *)(((uintptr_t)mem + HUGE_BYTES - 1) / HUGE_BYTES *
			 HUGE_BYTES);
#ifdef MADV_HUGEPAGE
	madvise(at, HUGE_BYTES, MADV_HUGEPAGE);
#endif
	at[page] = 1;
	EXPECT_EQ(os_pages_present(at, HUGE_BYTES, &n), 0);
	STEP("%u pages came at once", (unsigned int)n);
	EXPECT_EQ(mask_untouched(at, 64), n > 64 ? 0 : ~2ull);
	pid = fork();
	if (!pid)
		_exit(mask_untouched(at, 2) & 2 ? 1 : 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	munmap(mem, 2 * HUGE_BYTES);
}

TEST("closed memory is told from open memory and from a hole")
{
	uint64_t page = os_page_bytes();
	uint8_t *at = MAP_ANON_RW(4);

	EXPECT_EQ(os_protect(at, page, PROT_NONE), 0);
	EXPECT_EQ(os_protect(at + 2 * page, page, PROT_READ), 0);
	EXPECT_EQ(munmap(at + 3 * page, page), 0);
	errno = 77;
	EXPECT(os_map_closed(at));
	EXPECT_EQ(os_map_closed(at + page), !on_linux());
	EXPECT_EQ(os_map_closed(at + 2 * page), !on_linux());
	EXPECT_EQ(os_map_closed(at + 3 * page), !on_linux());
	EXPECT_EQ(errno, 77);
	munmap(at, 3 * page);
}

/* One byte from there to a file: the system says whether it can be read. */
static bool page_readable(int fd, const void *at)
{
	return write(fd, at, 1) == 1;
}

TEST("room is of zeros that cost nothing until they are touched, and ends at a wall")
{
	static const struct { uint64_t n; size_t each; } of[] = {
		{ 1, 1 }, { 7, 10 }, { 1, 64 }, { 1000, 72 }, { 3, 4096 }, { 1, 65536 },
		{ 65, 65537 },
	};
	int fd = os_file_unnamed(NULL);
	uint64_t page = os_page_bytes(), bytes, mask;
	unsigned int i;
	char *room;

	EXPECT(fd >= 0);
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		STEP("%" PRIu64 " of %zu bytes", of[i].n, of[i].each);
		bytes = of[i].n * of[i].each;
		room = os_room(of[i].n, of[i].each);
		EXPECT(room);
		EXPECT_EQ((uintptr_t)room % 64, 0);
		EXPECT(!room[0] && !room[bytes / 2] && !room[bytes - 1]);
		memset(room, 1, bytes);
		EXPECT(page_readable(fd, room + bytes - 1));
		EXPECT(!page_readable(fd, room + (bytes + 63) / 64 * 64));
		os_room_end(room, of[i].n, of[i].each);
	}
	STEP("nobody has touched it");
	room = os_room(64, page);
	if (on_linux())
		EXPECT_EQ(os_pages_untouched(room, 64, &mask), 0);
	EXPECT(!on_linux() || mask == UINT64_MAX);
	os_room_end(room, 64, page);
	STEP("none");
	EXPECT(!os_room(0, 8));
	EXPECT(!os_room(8, 0));
	EXPECT(!os_room(1ull << 61, 8));
	EXPECT(!os_room(UINT64_MAX, 1));
	EXPECT(!os_room(1ull << 60, 1));
	os_room_end(NULL, 7, 10);
	close(fd);
}
