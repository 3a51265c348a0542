// SPDX-License-Identifier: BSD-2-Clause
/* The driver's pinned regions, when their memory is unmapped, replaced or left. */
#include "rig/driver.h"

#include "faultline/entries.h"
#include "faultline/uapi.h"

#define PAGES	(RIG_BYTES / RIG_PAGE)

static struct host_stats pins_stats(struct rig_node *n)
{
	struct host_stats st;

	host_stats(n->kernel, &st);
	return st;
}

static void pins_dereg(struct rig_node *n)
{
	struct fl_destroy d = { .size = sizeof(d), .object = n->key };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &d), 0);
}

static void pins_unmapped(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	uint64_t free;

	rig_open(n);
	rig_set_up(n, FL_MR_PINNED);
	free = pins_stats(n).frames_free;
	EXPECT_EQ(host_munmap(n->process, n->buffer + RIG_PAGE, 4 * RIG_PAGE),
		  0);
	EXPECT_EQ(trace_count(r->trace, EV_MM_ORPHAN), 4);
	EXPECT_EQ(pins_stats(n).frames_free, free);
	EXPECT_EQ(pins_stats(n).frames_pinned, PAGES);
	EXPECT_EQ(rig_counters(n).pinned_pages, PAGES);
	EXPECT(!mm_resident(host_process_mm(n->process),
			    (uintptr_t)n->buffer + RIG_PAGE));
	EXPECT(!host_check(n->kernel, true));
	STEP("new memory at the same place has nothing to do with the pins");
	EXPECT_EQ(host_remap(n->process, n->buffer, RIG_BYTES,
			     HOST_READ | HOST_WRITE), 0);
	rig_fill(n, RIG_BYTES, 3);
	EXPECT_EQ(pins_stats(n).frames_free, free - PAGES);
	EXPECT_EQ(pins_stats(n).frames_pinned, PAGES);
	pins_dereg(n);
	EXPECT_EQ(pins_stats(n).frames_pinned, 0);
	EXPECT_EQ(pins_stats(n).frames_free, free);
	EXPECT_EQ(rig_counters(n).pinned_pages, 0);
	EXPECT(!host_check(n->kernel, true));
}

TEST("the driver gives frames back, whatever is mapped there by then")
{
	rig_run(pins_unmapped);
}

static void pins_again(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	uint32_t first;

	rig_open(n);
	rig_set_up(n, FL_MR_PINNED);
	first = n->key;
	EXPECT_EQ(host_remap(n->process, n->buffer, RIG_BYTES,
			     HOST_READ | HOST_WRITE), 0);
	STEP("a second region over the same addresses pins other frames");
	n->key = rig_reg_mr(n, n->buffer, RIG_BYTES, RIG_ALL, FL_MR_PINNED, 0);
	EXPECT_EQ(pins_stats(n).frames_pinned, 2 * PAGES);
	pins_dereg(n);
	EXPECT_EQ(pins_stats(n).frames_pinned, PAGES);
	n->key = first;
	pins_dereg(n);
	EXPECT_EQ(pins_stats(n).frames_pinned, 0);
}

TEST("two regions of one range hold the frames of their times")
{
	rig_run(pins_again);
}

static void pins_closed(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	uint64_t free = pins_stats(n).frames_free;

	rig_open(n);
	rig_set_up(n, FL_MR_PINNED);
	EXPECT_EQ(host_munmap(n->process, n->buffer, RIG_BYTES), 0);
	EXPECT_EQ(pins_stats(n).frames_free, free - PAGES);
	rig_close(n);
	EXPECT_EQ(pins_stats(n).frames_pinned, 0);
	EXPECT_EQ(pins_stats(n).frames_free, free);
}

TEST("closing the card gives frames back that nobody has mapped any more")
{
	rig_run(pins_closed);
}

/* What the card sees: it walks the process's tables, whoever has pinned what. */
static void pins_card(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint64_t faults;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, FL_MR_PINNED);
	rig_fill(&r->n[0], RIG_BYTES, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_BYTES);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, RIG_BYTES);
	faults = rig_counters(b).faults;
	STEP("the pages are replaced: the card faults, and finds the new ones");
	EXPECT_EQ(host_remap(b->process, b->buffer, RIG_BYTES,
			     HOST_READ | HOST_WRITE), 0);
	rig_fill(&r->n[0], RIG_BYTES, 2);
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_BYTES);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, RIG_BYTES);
	EXPECT_GE(rig_counters(b).faults, faults + 1);
	EXPECT_EQ(trace_count(r->trace, EV_ORPHAN_ACCESS), 0);
	STEP("they are unmapped: it finds none");
	EXPECT_EQ(host_munmap(b->process, b->buffer, RIG_BYTES), 0);
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_PAGE);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_REMOTE_FAULT);
	EXPECT_EQ(trace_count(r->trace, EV_ORPHAN_ACCESS), 0);
	b->buffer = NULL;
}

TEST("a card on the process's own tables never reaches a frame that was unmapped")
{
	rig_run(pins_card);
}
