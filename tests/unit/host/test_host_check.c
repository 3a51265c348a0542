// SPDX-License-Identifier: BSD-2-Clause
/*
 * What must add up in the small kernel: each rule of check.c is broken by hand, one field or
 * one descriptor at a time, and the checker must say which. Then all is as it was, and it
 * must say nothing.
 */
#include "host/card_tables.h"
#include "rig/host.h"
#include "sim/watch.h"

#define FRAMES	64

struct checked {
	struct rig *r;
	struct host_kernel *k;
	struct host_mm *mm;
	struct sim_watch watch;
	bool changed;		/* only what has changed is looked at */
	uint64_t dirty, clean, out, absent, lost;	/* pages */
	struct host_frame *f, *c, *o;	/* dirty, clean, without a mapping */
};

static const char *checked_says(struct checked *t)
{
	if (!t->changed)
		return host_check(t->k, true);
	frame_note(t->mm, t->f);
	frame_note(t->mm, t->c);
	frame_note(t->mm, t->o);
	return host_check_changed(t->k);
}

#define SAYS(t, sentence) \
	EXPECT_STR(checked_says(t) ? checked_says(t) : "all adds up", sentence)

/* One field has another value for a while. */
#define WRONG(t, field, value, sentence)				\
	do {								\
		__typeof__(field) was_ = (field);			\
		STEP("%s is %s", #field, #value);			\
		(field) = (value);					\
		SAYS(t, sentence);					\
		(field) = was_;						\
		SAYS(t, "all adds up");					\
	} while (0)

/* The same of the descriptor of a page. */
#define ENTRY(t, va, value, sentence)					\
	do {								\
		uint64_t was_ = pt_get((t)->mm, va);			\
		STEP("the descriptor of %s is %s", #va, #value);	\
		pt_set((t)->mm, va, value);				\
		SAYS(t, sentence);					\
		pt_set((t)->mm, va, was_);				\
		SAYS(t, "all adds up");					\
	} while (0)

/* And of a frame's tag. */
#define TAG(t, frame, value, sentence)					\
	do {								\
		uint64_t pa_ = frame_pa(frame);				\
		uint64_t tag = dram_tag((t)->k->dram, pa_);		\
		STEP("the tag of %s is %s", #frame, #value);		\
		checked_tag(t, pa_, value);				\
		SAYS(t, sentence);					\
		checked_tag(t, pa_, tag);				\
		SAYS(t, "all adds up");					\
	} while (0)

static void checked_tag(struct checked *t, uint64_t pa, uint64_t tag)
{
	uint64_t i;

	for (i = 0; i < HOST_FRAMES; i++)
		dram_tag_set(t->k->dram, pa + i * DRAM_PAGE, tag);
}

static struct host_frame *checked_frame(struct checked *t, uint64_t va)
{
	struct host_frame *f = frame_at(t->mm, pt_get(t->mm, va) & PTE_ADDR);

	EXPECT(f != NULL);
	return f;
}

/* Pages of every kind; a frame that is pinned and has lost its mapping. */
static void checked_begin(struct checked *t, bool changed)
{
	uint8_t *m, *lost;
	uint8_t v = 1;

	*t = (struct checked){ .changed = changed };
	t->r = rig_start(SIM_LOCKSTEP, test_seed(), FRAMES, 64);
	t->k = t->r->k;
	t->mm = rig_mm(t->r, 0);
	if (changed)
		host_watch(t->k, &t->watch);
	m = rig_map(t->r, 0, 4);
	lost = rig_map(t->r, 0, 1);
	t->dirty = va_of(m);
	t->clean = t->dirty + PAGE;
	t->out = t->dirty + 2 * PAGE;
	t->absent = t->dirty + 3 * PAGE;
	t->lost = va_of(lost);
	EXPECT_EQ(mm_copy(t->mm, t->out, &v, 1, true), 0);
	EXPECT_EQ(host_madvise(t->r->p[0], m + 2 * PAGE, PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(mm_copy(t->mm, t->dirty, &v, 1, true), 0);
	EXPECT_EQ(mm_copy(t->mm, t->clean, &v, 1, false), 0);
	EXPECT_EQ(mm_pin(t->mm, t->lost, 1, true, &t->o), 1);
	EXPECT_EQ(host_munmap(t->r->p[0], lost, PAGE), 0);
	t->f = checked_frame(t, t->dirty);
	t->c = checked_frame(t, t->clean);
	EXPECT(t->f->dirty && !t->c->dirty);
	EXPECT_EQ(t->o->state, FRAME_ORPHAN);
	SAYS(t, "all adds up");
}

/* It may go, now that all is as it was. */
static void checked_end(struct checked *t)
{
	mm_unpin(&t->o, 1, false);
	t->changed = false;
	SAYS(t, "all adds up");
}

/* What a look at frames and counters finds, whether at all of them or at those that changed. */
static void checked_frames(struct checked *t)
{
	TAG(t, t->f, 0, "a frame in use has tag 0");
	TAG(t, t->f, tag | DRAM_TAG_ORPHAN,
	    "a mapped frame passes for one without a mapping");
	TAG(t, t->o, tag & ~DRAM_TAG_ORPHAN, "a frame has lost its mapping by half");
	WRONG(t, t->f->slot, 0,
	      "a dirty page has a copy in swap that passes for good");
	WRONG(t, t->f->va, t->absent,
	      "a mapped frame has no entry that points to it");
	WRONG(t, t->f->dirty, false, "a clean page may be written without a fault");
	WRONG(t, t->f->mm, NULL, "a taken frame has no owner");
	WRONG(t, t->o->pins, 0,
	      "a frame without a mapping is not pinned, and not free");
	WRONG(t, t->o->held, HELD_KEPT,
	      "a frame without a mapping is held by its process");
	ENTRY(t, t->dirty, t->absent | PTE_NONE,
	      "a mapped frame has no entry that points to it");
	WRONG(t, t->mm->used, t->mm->used + 1,
	      "frames with an owner and frames on its account differ");
	WRONG(t, t->mm->orphans, t->mm->orphans + 1,
	      "frames without a mapping are miscounted");
}

static void checked_counters(struct checked *t)
{
	WRONG(t, t->k->frames_used, t->k->frames_used + 1,
	      "frames in use and frames with an owner differ");
	WRONG(t, t->k->clock_frames, t->k->clock_frames + 1,
	      "frames that are mapped and frames on the clock differ");
	WRONG(t, t->k->frames_orphaned, t->k->frames_orphaned + 1,
	      "frames without a mapping and those that the board counts differ");
	WRONG(t, t->k->frames_total, 0, "more frames are in use than the board has");
	WRONG(t, t->k->kpages_used, t->k->kpages_used + 1,
	      "kernel pages in use are neither tables nor DMA memory");
	WRONG(t, t->k->swap.slots, 0, "more swap slots are in use than there are");
	WRONG(t, t->k->irq_panic, true, "an interrupt line stayed high and was masked");
}

TEST("what does not add up in a frame, or in a count, is said: a look at everything")
{
	static struct checked t;

	checked_begin(&t, false);
	checked_frames(&t);
	checked_counters(&t);
	WRONG(&t, t.k->area_pages, t.k->area_pages + 1,
	      "pages of queues in use and pages counted differ");
	WRONG(&t, t.k->swap.used, t.k->swap.used + 1,
	      "swap slots in use and slots that somebody names differ");
	WRONG(&t, t.mm->slots, t.mm->slots + 1,
	      "swap slots of a process are miscounted");
	checked_end(&t);
}

TEST("the same is said by a look at what has changed")
{
	static struct checked t;	/* the kernel notes changes in it until the rig ends */

	checked_begin(&t, true);
	checked_frames(&t);
	checked_counters(&t);
	checked_end(&t);
}

TEST("a frame that changes its state, and nothing else, is seen from its entry")
{
	static struct checked t;

	checked_begin(&t, false);
	WRONG(&t, t.f->state, FRAME_BUSY, "an entry is valid while its frame is not ready");
	STEP("and pinned on its way");
	t.f->state = FRAME_BUSY;
	t.f->pins = 1;
	SAYS(&t, "a page that comes or goes is pinned");
	STEP("or without a mapping, though there is one");
	t.f->state = FRAME_ORPHAN;
	SAYS(&t, "a valid entry leads to a frame that lost its mapping");
	t.f->pins = 0;
	t.f->state = FRAME_MAPPED;
	checked_end(&t);
}

TEST("every descriptor is looked at from the tables' side too")
{
	static struct checked t;
	uint64_t d, beyond;

	checked_begin(&t, false);
	d = pt_get(t.mm, t.dirty);
	beyond = t.dirty + 64 * PAGE;
	EXPECT_EQ(pt_prepare(t.mm, beyond), 0);
	ENTRY(&t, beyond, d, "an entry lies outside every mapping");
	ENTRY(&t, t.absent, PTE_AF, "an entry is neither page nor slot");
	ENTRY(&t, t.absent, d, "an entry points to a frame of another page");
	ENTRY(&t, t.absent, (t.mm->bank_pa + t.mm->frames * PAGE) | PTE_TYPE,
	      "an entry points to a frame of someone else");
	checked_end(&t);
}

TEST("a page on its way in has a frame of its own, is not there, and comes once")
{
	static struct checked t;
	struct host_fill twin = { 0 }, fill = { 0 };

	checked_begin(&t, false);
	fill.frame = twin.frame = t.f;
	fill.va = twin.va = t.dirty;
	WRONG(&t, t.mm->fills, &fill, "a page that comes in has a frame of another");
	STEP("its frame is busy, and its page is there");
	t.f->state = FRAME_BUSY;
	t.mm->fills = &fill;
	SAYS(&t, "a page that comes in is there");
	STEP("it comes to a page that is not there, twice");
	t.f->va = fill.va = twin.va = t.absent;
	fill.next = &twin;
	SAYS(&t, "a page is brought in twice");
	STEP("one that was dropped meanwhile may come again");
	twin.gone = true;
	EXPECT(strcmp(checked_says(&t), "a page is brought in twice"));
	t.mm->fills = NULL;
	t.f->va = t.dirty;
	t.f->state = FRAME_MAPPED;
	checked_end(&t);
}

static uint8_t *touched;

static void touch_two(void *arg)
{
	(void)arg;
	touched[0] = 1;
	touched[PAGE] = 2;
}

TEST("the CPU's view allows nothing that the tables forbid, and leads where they lead")
{
	static struct checked t;
	uint64_t a, b, da, db;
	struct host_frame *fa, *fb;

	t.r = rig_start(SIM_LOCKSTEP, test_seed(), FRAMES, 0);
	t.k = t.r->k;
	t.mm = rig_mm(t.r, 0);
	touched = rig_map(t.r, 0, 2);
	rig_thread(t.r, 0, touch_two, NULL);
	rig_run(t.r);
	a = va_of(touched);
	b = a + PAGE;
	da = pt_get(t.mm, a);
	db = pt_get(t.mm, b);
	fa = checked_frame(&t, a);
	fb = checked_frame(&t, b);
	EXPECT_EQ(cpu_prot(t.mm, a), RW);
	ENTRY(&t, a, da | PTE_RDONLY, "the CPU may use a page that the tables forbid");
	STEP("the two pages change their frames, and only the CPU does not hear of it");
	pt_set(t.mm, a, db);
	pt_set(t.mm, b, da);
	fa->va = b;
	fb->va = a;
	SAYS(&t, "the CPU reaches another frame than the device");
	pt_set(t.mm, a, da);
	pt_set(t.mm, b, db);
	fa->va = a;
	fb->va = b;
	SAYS(&t, "all adds up");
}

TEST("with many frames a short look comes to all of them in turn, soon enough")
{
	static struct checked t;
	uint64_t i, calls = 0;
	uint8_t *m, v = 1;
	const char *bad = NULL;

	t = (struct checked){ .changed = false };
	t.r = rig_start(SIM_LOCKSTEP, test_seed(), 1024, 0);
	t.k = t.r->k;
	t.mm = rig_mm(t.r, 0);
	m = rig_map(t.r, 0, 600);
	for (i = 0; i < 600; i++)
		EXPECT_EQ(mm_copy(t.mm, va_of(m) + i * PAGE, &v, 1, true), 0);
	EXPECT(!host_check(t.k, false));
	t.k->check_credit = 0;
	t.f = checked_frame(&t, va_of(m));
	t.f->dirty = false;
	while (!bad && calls++ < 100)
		bad = host_check(t.k, false);
	EXPECT_STR(bad ? bad : "nothing", "a clean page may be written without a fault");
	STEP("not at once, but before 32 frames a call have come to all of them");
	EXPECT(calls > 1);
	EXPECT_LE(calls, t.k->frames_used / 32 + 1);
	t.f->dirty = true;
}

TEST("a table of the card leads to pinned frames, to what the tables have, or to other tables")
{
	static struct checked t;
	uint64_t pa, other, *d;
	void *more;

	checked_begin(&t, false);
	d = host_table_alloc(t.k, &pa);
	more = host_table_alloc(t.k, &other);
	EXPECT(d && more);
	SAYS(&t, "all adds up");
	d[511] = other | PTE_VALID;
	SAYS(&t, "all adds up");
	STEP("a frame that nobody has pinned, or has at all");
	WRONG(&t, d[7], frame_pa(t.f) | PTE_VALID,
	      "the card's table leads to a frame that is not pinned");
	WRONG(&t, d[8], (t.mm->bank_pa + (t.mm->frames - 1) * PAGE) | PTE_VALID,
	      "the card's table leads to what is nobody's frame");
	WRONG(&t, d[9], (t.k->kbank_pa + 4096 * 1000) | PTE_VALID,
	      "the card's table leads to what is nobody's frame");
	STEP("one that the process has lost may stay as long as it is pinned");
	d[3] = frame_pa(t.o) | PTE_VALID;
	SAYS(&t, "all adds up");
	STEP("an entry that follows the process's tables goes with its page");
	d[4] = frame_pa(t.f) | PTE_VALID | PTE_DIRTY;
	SAYS(&t, "all adds up");
	WRONG(&t, d[5], frame_pa(t.o) | PTE_VALID | PTE_DIRTY,
	      "the card's table leads to a frame that has left");
	d[4] = 0;
	STEP("its process ends, and then the pin");
	host_process_exit(t.r->p[0]);
	t.r->p[0] = NULL;
	SAYS(&t, "all adds up");
	mm_unpin(&t.o, 1, false);
	SAYS(&t, "the card's table leads to what is nobody's frame");
	d[3] = 0;
	SAYS(&t, "all adds up");
	host_table_free(t.k, more, other);
	host_table_free(t.k, d, pa);
	SAYS(&t, "all adds up");
}
