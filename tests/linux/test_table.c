// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of `faultline demo`, counted on this Linux: the same 64 pages in the
 * same 16 blocks. What the small kernel counts is asked of the demo itself, by
 * tests/linux/run, and stands in the environment: FAULTLINE_DEMO has a line
 * "name:faults:pages in:blocks resent" for each way.
 */
#include "rig.h"

#define BYTES	(16 * RIG_BLOCK)
#define PAGES	(BYTES / RIG_PAGE)
#define BLOCKS	(BYTES / RIG_BLOCK)

enum before { NOTHING, TOUCH, PIN, PREFAULT };

static const struct way {
	const char *name, *title;
	enum fl_system system;
	enum fl_resolve resolve;
	enum before before;
} ways[] = {
	{ "resident", "all resident", FL_SYSTEM_PART, FL_RESOLVE_BLOCK,
	  TOUCH },
	{ "page", "cold, touch a page", FL_SYSTEM_PART, FL_RESOLVE_PAGE,
	  NOTHING },
	{ "block", "cold, touch ahead: block", FL_SYSTEM_PART,
	  FL_RESOLVE_BLOCK, NOTHING },
	{ "transfer", "cold, touch ahead: transfer", FL_SYSTEM_PART,
	  FL_RESOLVE_TRANSFER, NOTHING },
	{ "pinned", "cold, pinned", FL_SYSTEM_PART, FL_RESOLVE_BLOCK, PIN },
	{ "prefault", "cold, pre-faulted", FL_SYSTEM_PART,
	  FL_RESOLVE_BLOCK, PREFAULT },
	{ "stall", "cold, SMMU stall", FL_SYSTEM_STALL, FL_RESOLVE_BLOCK,
	  NOTHING },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

struct row {
	uint64_t faults, pages_in, resent, resolves, stalls, pinned;
};

static void table_prepare(enum before before)
{
	switch (before) {
	case NOTHING:
		break;
	case TOUCH:
		memset(rig.dst.mem, 1, BYTES);
		break;
	case PIN:
		EXPECT_EQ(fl_dereg_mr(rig.dst.mr), 0);
		EXPECT_EQ(fl_reg_mr(rig.dst.pd, rig.dst.mem, BYTES,
				    FL_REMOTE_WRITE | FL_PINNED, &rig.dst.mr),
			  0);
		EXPECT_EQ(rig_counters(&rig.dst).pinned_pages, PAGES);
		break;
	case PREFAULT:
		EXPECT_EQ(fl_prefetch(rig.dst.mr, rig.dst.mem, BYTES, 1), 0);
		break;
	}
}

static struct row table_run(const struct way *w)
{
	struct fl_fault_counters c;
	struct row r;

	STEP("%s", w->title);
	rig_open(w->system, w->resolve);
	rig_buffers_for(BYTES, 20);
	table_prepare(w->before);
	rig_write(0, BYTES);
	EXPECT_PATTERN(rig.dst.mem, BYTES, 20);
	c = rig_since(&rig.dst);
	r = (struct row){ c.faults, c.pages_in, rig.done.resends, c.resolves,
			  c.stalls, c.pinned_pages };
	EXPECT_EQ(rig_since(&rig.src).faults, 0);
	EXPECT_EQ(c.failed, 0);
	rig_finish();
	rig_clean();
	return r;
}

/* What the small kernel counted, by name. */
static void small_kernel(const char *name, struct row *r)
{
	const char *text = getenv("FAULTLINE_DEMO"), *at;
	char key[32];

	EXPECT(text != NULL);
	snprintf(key, sizeof(key), "%s:", name);
	at = strstr(text, key);
	EXPECT(at != NULL);
	EXPECT_EQ(sscanf(at + strlen(key),
			 "%" SCNu64 ":%" SCNu64 ":%" SCNu64, &r->faults,
			 &r->pages_in, &r->resent), 3);
}

static void table_compare(const struct way *w, const struct row *r)
{
	struct row small;

	STEP("%s, compared with the small kernel", w->title);
	small_kernel(w->name, &small);
	/*
	 * The completion counts blocks that were sent more than once, the demo
	 * how often.
	 */
	if (small.resent > BLOCKS)
		small.resent = BLOCKS;
	if (w->resolve != FL_RESOLVE_TRANSFER) {
		EXPECT_EQ(r->faults, small.faults);
		/* A block that is held for long is sent again by its timer. */
		if (w->system == FL_SYSTEM_STALL)
			EXPECT_LE(r->resent, BLOCKS);
		else
			EXPECT_EQ(r->resent, small.resent);
	} else {
		/*
		 * Here all runs at once: blocks that are under way meet their
		 * own fault before the first is answered. At most each once.
		 */
		EXPECT_GE(r->faults, small.faults);
		EXPECT_LE(r->faults, BLOCKS);
		EXPECT_GE(r->resent, small.resent);
		EXPECT_LE(r->resent, BLOCKS);
	}
	/* A pin is not a request of the fault handler, and so not counted. */
	if (w->before == PIN)
		EXPECT_EQ(r->pinned, small.pages_in);
	else if (w->resolve == FL_RESOLVE_TRANSFER)
		EXPECT_GE(r->pages_in, small.pages_in);
	else
		EXPECT_EQ(r->pages_in, small.pages_in);
}

TEST("the table of the demo: this Linux counts what the small kernel counts")
{
	struct row r[WAYS];
	unsigned int i;

	printf("# %-28s %7s %8s %8s %8s %7s %7s\n", "64 pages, 16 blocks",
	       "faults", "resolves", "pages in", "resent", "stalls", "pinned");
	for (i = 0; i < WAYS; i++) {
		r[i] = table_run(&ways[i]);
		printf("# %-28s %7" PRIu64 " %8" PRIu64 " %8" PRIu64
		       " %8" PRIu64 " %7" PRIu64 " %7" PRIu64 "\n",
		       ways[i].title, r[i].faults, r[i].resolves,
		       r[i].pages_in, r[i].resent, r[i].stalls, r[i].pinned);
	}
	for (i = 0; i < WAYS; i++)
		table_compare(&ways[i], &r[i]);
}
