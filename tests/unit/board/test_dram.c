// SPDX-License-Identifier: BSD-2-Clause
/* Memory banks: the board's own, and one that somebody else made. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
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

TEST("a bank is whole pages, within its stretch of addresses, and there is a place for it")
{
	struct dram *d = dram_create();
	int i, bank[DRAM_BANKS];

	EXPECT_EQ(dram_bank_add(d, "none", 0), -EINVAL);
	EXPECT_EQ(dram_bank_add(d, "odd", DRAM_PAGE + 1), -EINVAL);
	EXPECT_EQ(dram_bank_add(d, "large", DRAM_BANK_STRIDE + DRAM_PAGE), -EINVAL);
	for (i = 0; i < DRAM_BANKS; i++) {
		bank[i] = dram_bank_add(d, "one", DRAM_PAGE);
		EXPECT_EQ(bank[i], i);
		EXPECT_EQ(dram_bank(d, i)->base, DRAM_BASE + i * DRAM_BANK_STRIDE);
	}
	EXPECT_EQ(dram_bank_add(d, "more", DRAM_PAGE), -ENOSPC);
	STEP("one goes: its place is the next one's, and holds zeros");
	EXPECT_EQ(dram_write(d, dram_bank(d, 2)->base, "x", 1), DRAM_OK);
	dram_bank_remove(d, 2);
	EXPECT(!dram_at(d, DRAM_BASE + 2 * DRAM_BANK_STRIDE, 1));
	EXPECT_EQ(dram_bank_add(d, "again", DRAM_PAGE), 2);
	EXPECT_EQ(*(uint8_t *)dram_at(d, DRAM_BASE + 2 * DRAM_BANK_STRIDE, 1), 0);
	dram_destroy(d);
	dram_destroy(NULL);
}

TEST("a word is changed whole, and only at its own size")
{
	struct dram *d = dram_create();
	uint64_t old = 0, v = 0;
	int own = dram_bank_add(d, "own", 2 * DRAM_PAGE);

	EXPECT_EQ(own, 0);
	dram_write64(d, DRAM_BASE, 40);
	EXPECT_EQ(dram_atomic(d, DRAM_BASE, false, 0, 2, &old), DRAM_OK);
	EXPECT_EQ(old, 40);
	EXPECT_EQ(dram_atomic(d, DRAM_BASE, true, 41, 7, &old), DRAM_OK);
	EXPECT_EQ(old, 42);
	EXPECT_EQ(dram_atomic(d, DRAM_BASE, true, 42, 7, &old), DRAM_OK);
	EXPECT_EQ(old, 42);
	EXPECT_EQ(dram_read64(d, DRAM_BASE, &v), DRAM_OK);
	EXPECT_EQ(v, 7);
	STEP("across two words, and where there is no memory");
	EXPECT_EQ(dram_atomic(d, DRAM_BASE + 4, false, 0, 1, &old), DRAM_DECERR);
	EXPECT_EQ(dram_atomic(d, DRAM_BASE + 2 * DRAM_PAGE, false, 0, 1, &old), DRAM_DECERR);
	EXPECT_EQ(dram_atomic(d, 0, false, 0, 1, &old), DRAM_DECERR);
	STEP("memory that is broken, as it was told: nothing is changed");
	dram_inject(d, DRAM_BASE, DRAM_POISON);
	dram_inject(d, DRAM_BASE + DRAM_PAGE, DRAM_DECERR);
	EXPECT_EQ(dram_atomic(d, DRAM_BASE, false, 0, 1, &old), DRAM_POISON);
	EXPECT_EQ(dram_atomic(d, DRAM_BASE + DRAM_PAGE, false, 0, 1, &old), DRAM_DECERR);
	EXPECT_EQ(*(uint64_t *)dram_at(d, DRAM_BASE, 8), 7);
	dram_destroy(d);
}

TEST("what the kernel may never do to memory ends the program")
{
	static const struct { uint64_t at; unsigned int inject; } of[] = {
		{ DRAM_BASE + 4, 0 }, { DRAM_BASE + DRAM_PAGE, 0 }, { 0, DRAM_INJECTIONS + 1 },
	};
	struct dram *d = dram_create();
	unsigned int i, k;
	int status;
	pid_t pid;

	EXPECT_EQ(dram_bank_add(d, "own", DRAM_PAGE), 0);
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		STEP("case %u", i);
		fflush(stdout);
		pid = fork();
		if (!pid) {
			for (k = 0; k < of[i].inject; k++)
				dram_inject(d, DRAM_BASE + 8 * k, DRAM_POISON);
			if (!of[i].inject)
				dram_write64(d, of[i].at, 1);
			_exit(0);
		}
		EXPECT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
	dram_destroy(d);
}

TEST("whose a frame is, and whether the card has used it, is known of the board's own alone")
{
	struct dram *d = dram_create();
	int fd = make_memory(), own = dram_bank_add(d, "own", 2 * DRAM_PAGE);

	EXPECT_EQ(own, 0);
	EXPECT_GE(dram_bank_map(d, fd, GUEST, BYTES), 0);
	dram_tag_set(d, DRAM_BASE + DRAM_PAGE, 9);
	EXPECT(!dram_used(d, DRAM_BASE + DRAM_PAGE));
	dram_use(d, DRAM_BASE + DRAM_PAGE + 100);
	EXPECT(dram_used(d, DRAM_BASE + DRAM_PAGE));
	EXPECT(!dram_used(d, DRAM_BASE));
	STEP("it is somebody else's now");
	dram_tag_set(d, DRAM_BASE + DRAM_PAGE, 10);
	EXPECT(!dram_used(d, DRAM_BASE + DRAM_PAGE));
	STEP("a guest's, and one that there is not");
	dram_use(d, GUEST);
	EXPECT(!dram_used(d, GUEST));
	dram_use(d, 0);
	dram_tag_set(d, 0, 5);
	EXPECT(!dram_used(d, 0));
	EXPECT_EQ(dram_tag(d, 0), 0);
	close(fd);
	dram_destroy(d);
}
