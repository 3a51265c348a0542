// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frames that change hands between two requests of the resident step, or while the data of one
 * moves. variants: tsan
 */
#include <signal.h>
#include <sys/mman.h>

#include "rig/resident_way.h"

/* The kernel gives a frame to someone else, and forgets to invalidate. */
static void frame_given(unsigned int side)
{
	struct node *n = &way_testbed->n[side];
	uint32_t page = ((side ? TO : FROM) + way_len - 1) / 4096;	/* the last */
	uint64_t stale = trace_count(way_testbed->trace, EV_STALE_ACCESS);

	dram_tag_set(board_dram(n->board), n->data_pa + frame_of[side][page] * 4096ull, 999);
	way_next_ends(FL_ST_OK);
	EXPECT_GE(trace_count(way_testbed->trace, EV_STALE_ACCESS), stale + 1);
}

static void frame_given_source(void)
{
	frame_given(0);
}

static void frame_given_destination(void)
{
	frame_given(1);
}

TEST("a frame changes hands without an invalidation")
{
	way_try(frame_given_source);
	way_try(frame_given_destination);
}

/* A short request in between leaves nothing of what was known of the long one's pages. */
static void frame_given_last(void)
{
	uint32_t len = way_len, page = (TO + way_len - 1) / 4096;
	struct node *n = &way_testbed->n[1];

	way_len = 8;
	way_learn();
	way_len = len;
	dram_tag_set(board_dram(n->board), n->data_pa + frame_of[1][page] * 4096ull, 999);
	way_next_ends(FL_ST_OK);
	EXPECT_GE(trace_count(way_testbed->trace, EV_STALE_ACCESS), 1);
}

TEST("the last frame of several changes hands, behind a request for the first alone")
{
	way_try(frame_given_last);
}

/* A frame comes back to whom it was taken from: the card has not been there since. */
static void frames_given_back(void)
{
	unsigned int side, page;
	uint64_t again, pa;

	for (side = 0; side < 2; side++)
		for (page = 0; page <= ((side ? TO : FROM) % 4096 + way_len - 1) / 4096; page++) {
			struct dram *d = board_dram(way_testbed->n[side].board);

			pa = way_testbed->n[side].data_pa +
			     frame_of[side][(side ? TO : FROM) / 4096 + page] * 4096ull;
			dram_tag_set(d, pa, dram_tag(d, pa));
			EXPECT(!dram_used(d, pa));
			again = way_again();
			way_post();
			EXPECT_EQ(wait_one(&way_testbed->n[0]).status, FL_ST_OK);
			EXPECT_EQ(way_again(), again + 1);
			EXPECT(dram_used(d, pa));
		}
	EXPECT_EQ(trace_count(way_testbed->trace, EV_STALE_ACCESS), 0);
}

TEST("a frame is given away and back between two requests")
{
	way_try(frames_given_back);
}

/* Of the copy in a request: it begins with a page that nobody may read yet. */
static struct {
	uint8_t *mem;
	struct dram *d;
	uint64_t pa;			/* of a frame that changes hands at that moment */
	struct sigaction before;
} copy_;

static void copy_begins(int sig)
{
	(void)sig;
	mprotect(copy_.mem, 4096, PROT_READ | PROT_WRITE);
	sigaction(SIGSEGV, &copy_.before, NULL);
	dram_tag_set(copy_.d, copy_.pa, 999);
}

static void frame_given_meanwhile(unsigned int side)
{
	const struct sigaction now = { .sa_handler = copy_begins };
	uint32_t page = ((side ? TO : FROM) + way_len - 1) / 4096;
	uint64_t again = way_again();
	struct node *n = way_testbed->n;

	copy_.mem = dram_at(board_dram(n[0].board),
			    n[0].data_pa + frame_of[0][FROM / 4096] * 4096ull, 4096);
	copy_.d = board_dram(n[side].board);
	copy_.pa = n[side].data_pa + frame_of[side][page] * 4096ull;
	EXPECT_EQ(sigaction(SIGSEGV, &now, &copy_.before), 0);
	EXPECT_EQ(mprotect(copy_.mem, 4096, PROT_NONE), 0);
	way_post();
	EXPECT_EQ(wait_one(&n[0]).status, FL_ST_OK);
	EXPECT_EQ(dram_tag(copy_.d, copy_.pa), 999);
	EXPECT_EQ(way_again(), again + 1);
	EXPECT_EQ(trace_count(way_testbed->trace, EV_STALE_ACCESS), 1);
}

static void source_given_meanwhile(void)
{
	frame_given_meanwhile(0);
}

static void destination_given_meanwhile(void)
{
	frame_given_meanwhile(1);
}

TEST("a frame changes hands while its data moves")
{
	way_try(source_given_meanwhile);
	way_try(destination_given_meanwhile);
}
