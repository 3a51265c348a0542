// SPDX-License-Identifier: BSD-2-Clause
/*
 * Mappings that change: mprotect, munmap and mremap, before a transfer and in
 * the middle of one. It ends with an error, or with the data at the right place;
 * no other byte changes.
 */
#include "rig.h"

#define BYTES	(16 * RIG_BLOCK)
#define PAGES	(BYTES / RIG_PAGE)
#define LARGE	(1u << 20)
#define HALF	(LARGE / 2)

TEST_MODES(read_only, "a read-only destination is refused, and taken once it may be "
	   "written again")
{
	struct fl_fault_counters c;
	unsigned int tries;

	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 70);
	rig_fill(rig.dst.mem, BYTES, 71);
	rig_write(0, RIG_BLOCK);
	rig_fill(rig.dst.mem, BYTES, 71);
	rig_mark();
	EXPECT_EQ(fl_protect(rig.dst.dev, rig.dst.mem, BYTES, FL_PROT_READ), 0);
	EXPECT_GE(rig_since(&rig.dst).invalidations, 1);
	rig_post(0, BYTES);
	EXPECT_EQ(rig_status(), RIG_REMOTE_FAULT);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 71);
	STEP("the first one ended the transfer, and the others come to their end");
	c = rig_since(&rig.dst);
	for (tries = 0; tries < 1000 && c.failed < c.faults; tries++) {
		usleep(1000);
		c = rig_since(&rig.dst);
	}
	EXPECT_GE(c.failed, 1);
	/* Held accesses fail one by one, and then the block that they belong to. */
	if (system != FL_SYSTEM_STALL)
		EXPECT_EQ(c.failed, c.faults);
	EXPECT_EQ(c.pages_in, 0);
	STEP("and back");
	EXPECT_EQ(fl_protect(rig.dst.dev, rig.dst.mem, BYTES,
			     FL_PROT_READ | FL_PROT_WRITE), 0);
	rig_connect();
	rig_mark();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 70);
	EXPECT_EQ(rig_since(&rig.dst).failed, 0);
	rig_finish();
}

TEST_MODES(no_rights, "a source without rights is not sent")
{
	rig_open(system, FL_RESOLVE_BLOCK);
	rig_buffers_for(BYTES, 72);
	EXPECT_EQ(fl_protect(rig.src.dev, rig.src.mem, BYTES, 0), 0);
	rig_post(0, BYTES);
	EXPECT_EQ(rig_status(), RIG_LOCAL_FAULT);
	EXPECT(rig_zero(rig.dst.mem, BYTES));
	EXPECT_GE(rig_since(&rig.src).failed, 1);
	STEP("and back");
	EXPECT_EQ(fl_protect(rig.src.dev, rig.src.mem, BYTES,
			     FL_PROT_READ | FL_PROT_WRITE), 0);
	EXPECT_PATTERN(rig.src.mem, BYTES, 72);
	rig_connect();
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 72);
	rig_finish();
}

/*
 * Post a write of LARGE into nothing, and act after some faults. The transfer is
 * in the middle when there were fewer faults than the first half has pages, also
 * after the act: then nothing of the second half was there.
 */
static void in_the_middle(void (*act)(void))
{
	unsigned int tries;

	for (tries = 0; tries < RIG_TRIES; tries++) {
		EXPECT(mmap(rig.dst.mem, LARGE, PROT_READ | PROT_WRITE,
			    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		       rig.dst.mem);
		EXPECT_EQ(madvise(rig.dst.mem, LARGE, MADV_NOHUGEPAGE), 0);
		rig_connect();
		rig_mark();
		rig_post(0, LARGE);
		if (!rig_under_way(&rig.dst, 20))
			continue;
		act();
		if (rig_middle(&rig.dst, HALF / RIG_PAGE))
			return;
		rig_status();
	}
	EXPECT(tries < RIG_TRIES);
}

static void act_read_only(void)
{
	EXPECT_EQ(mprotect(rig.dst.mem + HALF, HALF, PROT_READ), 0);
}

static void act_unmap(void)
{
	EXPECT_EQ(munmap(rig.dst.mem + HALF, HALF), 0);
}

static void act_unmap_all(void)
{
	EXPECT_EQ(munmap(rig.dst.mem, LARGE), 0);
}

/* What is there is right, and where nothing was there is nothing. */
static void first_half_is_right(uint64_t seed)
{
	EXPECT_EQ(rig_same_or_zero(rig.dst.mem, HALF, seed, 0), HALF);
}

TEST_MODES(protect_middle, "read-only in the middle of a transfer: an error, and "
	   "not a byte there")
{
	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 73);
	in_the_middle(act_read_only);
	EXPECT_EQ(rig_status(), RIG_REMOTE_FAULT);
	first_half_is_right(73);
	EXPECT(rig_zero(rig.dst.mem + HALF, HALF));
	EXPECT_GE(rig_since(&rig.dst).failed, 1);
	rig_finish();
}

/* Frames that were given back hold a pattern of somebody else now. */
static uint8_t *take_frames(size_t bytes, uint64_t seed)
{
	uint8_t *other = rig_buffer(bytes);

	rig_fill(other, bytes, seed);
	return other;
}

TEST_MODES(unmap_middle,
	   "munmap in the middle of a transfer: an error, and no frame is hit")
{
	uint8_t *other;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 74);
	in_the_middle(act_unmap);
	other = take_frames(LARGE, 75);
	EXPECT_EQ(rig_status(), RIG_REMOTE_FAULT);
	first_half_is_right(74);
	EXPECT_PATTERN(other, LARGE, 75);
	EXPECT_GE(rig_since(&rig.dst).failed, 1);
	rig_finish();
}

TEST_MODES(unmap_whole,
	   "munmap of all: frames that the device wrote to are not its any more")
{
	uint8_t *other;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 76);
	in_the_middle(act_unmap_all);
	other = take_frames(2 * LARGE, 77);
	EXPECT_EQ(rig_status(), RIG_REMOTE_FAULT);
	EXPECT_PATTERN(other, 2 * LARGE, 77);
	rig_finish();
}

static void act_unmap_source(void)
{
	EXPECT_EQ(munmap(rig.src.mem + HALF, HALF), 0);
}

TEST_MODES(unmap_source,
	   "munmap of the source in the middle: an error, and nothing wrong is sent")
{
	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 78);
	in_the_middle(act_unmap_source);
	EXPECT_EQ(rig_status(), RIG_LOCAL_FAULT);
	EXPECT_EQ(rig_same_or_zero(rig.dst.mem, LARGE, 78, 0), LARGE);
	EXPECT_GE(rig_since(&rig.src).failed, 1);
	rig_finish();
}

/* ---- mremap ---- */

static uint8_t *moved;

static void act_move(void)
{
	EXPECT(mremap(rig.dst.mem, LARGE, LARGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		      moved) == moved);
}

TEST_MODES(move_away,
	   "mremap in the middle: the pages that moved are right, the rest fails")
{
	uint8_t *other;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 79);
	moved = rig_buffer(LARGE);
	in_the_middle(act_move);
	other = take_frames(LARGE, 80);
	EXPECT_EQ(rig_status(), RIG_REMOTE_FAULT);
	EXPECT_EQ(rig_same_or_zero(moved, HALF, 79, 0), HALF);
	EXPECT(rig_zero(moved + HALF, HALF));
	EXPECT_PATTERN(other, LARGE, 80);
	rig_finish();
}

static void act_move_and_stay(void)
{
	EXPECT(mremap(rig.dst.mem, LARGE, LARGE, MREMAP_MAYMOVE | MREMAP_FIXED |
		      MREMAP_DONTUNMAP, moved) == moved);
}

/*
 * The old range stays mapped and is empty, so the transfer goes on there. A block
 * that was through lies in the pages that moved; every other is written once
 * more, whole, at the old place.
 */
TEST_MODES(move_and_stay,
	   "mremap that leaves the range mapped: each byte is in one of two places")
{
	uint64_t *was, *is, word;
	size_t i, old_place = 0, new_place = 0;

	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 81);
	moved = rig_buffer(LARGE);
	in_the_middle(act_move_and_stay);
	EXPECT_EQ(rig_status(), 0);
	was = (uint64_t *)moved;
	is = (uint64_t *)rig.dst.mem;
	for (i = 0; i < LARGE / 8; i++) {
		word = rig_word(81, i);
		EXPECT((is[i] == word && (!was[i] || was[i] == word)) ||
		       (was[i] == word && !is[i]));
		old_place += is[i] == word;
		new_place += was[i] == word;
	}
	STEP("%zu words at the old place, %zu moved", old_place, new_place);
	/* The second half was not there yet; some of the first was. */
	EXPECT_GE(old_place, HALF / 8);
	EXPECT_GE(new_place, 1);
	rig_finish();
}

/* A region is a promise about addresses: another mapping may take them over. */
static void act_replace(void)
{
	EXPECT(mmap(rig.dst.mem, LARGE, PROT_READ | PROT_WRITE, MAP_FIXED |
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == rig.dst.mem);
}

TEST_MODES(replaced,
	   "a mapping that replaces another in the middle gets the rest of the data")
{
	rig_open(system, FL_RESOLVE_PAGE);
	rig_buffers_for(LARGE, 82);
	in_the_middle(act_replace);
	EXPECT_EQ(rig_status(), 0);
	EXPECT_EQ(rig_same_or_zero(rig.dst.mem, HALF, 82, 0), HALF);
	EXPECT_EQ(rig_same(rig.dst.mem + HALF, HALF, 82, HALF / 8), HALF);
	rig_finish();
}
