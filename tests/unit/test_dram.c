// SPDX-License-Identifier: BSD-2-Clause
/* Memory banks: the board's own, and one that somebody else made. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "board/board.h"
#include "board/dram.h"
#include "harness.h"
#include "os/os.h"
#include "os/os_emu.h"

#define GUEST	0x40000000ull
#define BYTES	0x10000u

static int make_memory(void)
{
	int fd = os_memory_create("guest", BYTES);

	EXPECT(fd >= 0);
	return fd;
}

TEST("a guest's memory is DRAM at its own address, beside the board's banks")
{
	struct dram *d = dram_create();
	int fd = make_memory(), own, guest;
	uint64_t v = 0;
	char text[6];

	own = dram_bank_add(d, "own", 4096);
	guest = dram_bank_map(d, fd, GUEST, BYTES);
	EXPECT(own >= 0 && guest >= 0 && own != guest);
	STEP("what is written on one side is read on the other");
	EXPECT_EQ(dram_write(d, GUEST + 8, "hello", 6), DRAM_OK);
	EXPECT_EQ(pread(fd, text, 6, 8), 6);
	EXPECT_STR(text, "hello");
	EXPECT_EQ(pwrite(fd, "there", 6, BYTES - 6), 6);
	EXPECT_EQ(dram_read(d, GUEST + BYTES - 6, text, 6), DRAM_OK);
	EXPECT_STR(text, "there");
	dram_write64(d, GUEST + 64, 0x1122334455667788);
	EXPECT_EQ(dram_read64(d, GUEST + 64, &v), DRAM_OK);
	EXPECT_EQ(v, 0x1122334455667788);
	STEP("its borders are borders, and the other bank is where it was");
	EXPECT_EQ(dram_read(d, GUEST + BYTES - 5, text, 6), DRAM_DECERR);
	EXPECT_EQ(dram_read(d, GUEST + BYTES, text, 1), DRAM_DECERR);
	EXPECT_EQ(dram_read(d, GUEST - 1, text, 1), DRAM_DECERR);
	EXPECT_EQ(dram_read(d, GUEST - 1, text, 2), DRAM_DECERR);
	EXPECT_EQ(dram_read(d, 0, text, 6), DRAM_DECERR);
	EXPECT(dram_at(d, DRAM_BASE, 4096) == dram_bank(d, own)->mem);
	EXPECT(!dram_at(d, DRAM_BASE, 4097));
	STEP("frames there have no tags");
	dram_tag_set(d, GUEST, 5);
	EXPECT_EQ(dram_tag(d, GUEST), 0);
	dram_tag_set(d, DRAM_BASE, 5);
	EXPECT_EQ(dram_tag(d, DRAM_BASE), 5);
	STEP("the descriptor stays the caller's, the mapping stays without it");
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(dram_read(d, GUEST + 8, text, 6), DRAM_OK);
	EXPECT_STR(text, "hello");
	dram_bank_remove(d, guest);
	EXPECT_EQ(dram_read(d, GUEST + 8, text, 6), DRAM_DECERR);
	EXPECT(dram_at(d, DRAM_BASE, 1));
	dram_destroy(d);
}

TEST("a guest's memory that has no place is refused, and the place stays free")
{
	struct dram *d = dram_create();
	int fd = make_memory();

	EXPECT_EQ(dram_bank_map(d, fd, GUEST, 0), -EINVAL);
	EXPECT_EQ(dram_bank_map(d, fd, GUEST, 100), -EINVAL);
	EXPECT_EQ(dram_bank_map(d, fd, GUEST + 100, BYTES), -EINVAL);
	EXPECT_EQ(dram_bank_map(d, fd, DRAM_BASE - BYTES + 4096, BYTES),
		  -EINVAL);
	EXPECT_EQ(dram_bank_map(d, fd, DRAM_BASE, BYTES), -EINVAL);
	EXPECT_EQ(dram_bank_map(d, fd, ~0ull << 12, BYTES), -EINVAL);
	EXPECT_EQ(dram_bank_map(d, fd, 0, ~0ull << 12), -EINVAL);
	EXPECT_EQ(dram_bank_map(d, -1, GUEST, BYTES), -EBADF);
	STEP("up to the board's own banks there is room; one at a time");
	EXPECT_GE(dram_bank_map(d, fd, DRAM_BASE - BYTES, BYTES), 0);
	EXPECT_EQ(dram_bank_map(d, fd, GUEST, BYTES), -EBUSY);
	EXPECT(dram_at(d, DRAM_BASE - BYTES, BYTES));
	EXPECT(!dram_at(d, DRAM_BASE - BYTES, BYTES + 1));
	close(fd);
	dram_destroy(d);
}
