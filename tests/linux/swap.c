// SPDX-License-Identifier: BSD-2-Clause
#include "swap.h"

#define SWAP_DISK	"/dev/zram0"
#define SWAP_BYTES	(128u << 20)

/* Linux, include/linux/swap.h: union swap_header, version 1; one page. */
static void swap_header(uint8_t page[RIG_PAGE])
{
	uint32_t info[3] = { 1, SWAP_BYTES / RIG_PAGE - 1, 0 };

	memset(page, 0, RIG_PAGE);
	memcpy(page + 1024, info, sizeof(info));
	memcpy(page + RIG_PAGE - 10, "SWAPSPACE2", 10);
}

static void swap_end(void *arg)
{
	(void)arg;
	swapoff(SWAP_DISK);
	rig_put("/sys/block/zram0/reset", "1");
}

void swap_begin(void)
{
	uint8_t page[RIG_PAGE];
	char size[32];
	int fd;

	STEP("swap on %s", SWAP_DISK);
	snprintf(size, sizeof(size), "%u", SWAP_BYTES);
	EXPECT_EQ(rig_put("/sys/block/zram0/disksize", size), 0);
	test_cleanup(swap_end, NULL);
	swap_header(page);
	fd = open(SWAP_DISK, O_WRONLY | O_CLOEXEC);
	EXPECT_GE(fd, 0);
	EXPECT_EQ(write(fd, page, RIG_PAGE), RIG_PAGE);
	close(fd);
	EXPECT_EQ(swapon(SWAP_DISK, 0), 0);
}

void swap_out(void *mem, size_t bytes)
{
	unsigned int pages = bytes / RIG_PAGE, tries;
	cpu_set_t all, one;

	EXPECT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	for (tries = 0; tries < 1000; tries++) {
		CPU_ZERO(&one);
		CPU_SET(tries % CPU_COUNT(&all), &one);
		EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
		EXPECT_EQ(madvise(mem, bytes, MADV_PAGEOUT), 0);
		if (rig_pages(mem, bytes, RIG_SWAPPED) == pages)
			break;
		usleep(1000);
	}
	EXPECT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
	STEP("%u pages are out, after %u more tries", pages, tries);
	EXPECT_EQ(rig_pages(mem, bytes, RIG_SWAPPED), pages);
	EXPECT_EQ(rig_pages(mem, bytes, RIG_PRESENT), 0);
}
