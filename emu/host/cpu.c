// SPDX-License-Identifier: BSD-2-Clause
/*
 * cpu.c - what the kernel knows of the CPU's view of an address space: for each
 * page the frame that the CPU reaches there and what it may do, wherever in 48
 * bits the page lies. The view itself is where the CPU is (struct mm_ops):
 * protections in this program (arena.c), or those of another program (remote/).
 *
 * There, opening is something that will happen, so an entry says what the CPU
 * will have at most; it goes back to closed only when closing has been
 * confirmed. A page that is on its way into or out of the bank has no entry: the
 * process itself sees to its view.
 */
#include <stdlib.h>

#include "host/internal.h"
#include "sim/sim.h"

#define AROUND	16u	/* pages opened at once if they are there */

/* Three levels above the pages, with the same spans as the tables have. */
#define FANOUT	512u
#define LEVELS	3u
struct cpu_node {
	void *at[FANOUT];	/* nodes, at the last level leaves */
};

static unsigned int level_shift(unsigned int level)
{
	return 39 - 9 * level;
}

static unsigned int level_slot(uint64_t va, unsigned int level)
{
	return va >> level_shift(level) & (FANOUT - 1);
}

/* NULL: nothing of it is known, and *level says which span is empty. */
static struct cpu_leaf *cpu_leaf_find(const struct host_mm *mm, uint64_t va,
				      unsigned int *level)
{
	struct cpu_node *node = mm->cpu;
	void *next = NULL;

	for (*level = 0; *level < LEVELS; ++*level) {
		next = node->at[level_slot(va, *level)];
		if (!next)
			return NULL;
		node = next;
	}
	return next;
}

static uint32_t cpu_entry(const struct host_mm *mm, uint64_t va)
{
	unsigned int level;
	struct cpu_leaf *leaf;

	if (!mm->cpu || va >> HOST_VA_BITS)
		return 0;
	leaf = cpu_leaf_find(mm, va, &level);
	return leaf ? leaf->page[va / HOST_PAGE % CPU_LEAF_PAGES] : 0;
}

static struct cpu_leaf *cpu_leaf_make(struct host_mm *mm, uint64_t va)
{
	struct cpu_node *node = mm->cpu;
	unsigned int level;
	void **p = NULL;

	for (level = 0; level < LEVELS; level++) {
		p = &node->at[level_slot(va, level)];
		if (!*p)
			*p = calloc(1, level == LEVELS - 1 ?
				       sizeof(struct cpu_leaf) :
				       sizeof(struct cpu_node));
		if (!*p)
			return NULL;
		node = *p;
	}
	return *p;
}

static void cpu_node_clear(struct cpu_node *node, unsigned int level)
{
	unsigned int i;

	for (i = 0; i < FANOUT; i++) {
		if (node->at[i] && level < LEVELS - 1)
			cpu_node_clear(node->at[i], level + 1);
		free(node->at[i]);
		node->at[i] = NULL;
	}
}

int cpu_create(struct host_mm *mm)
{
	assert(mm->frames < CPU_FRAME);
	mm->cpu = calloc(1, sizeof(*mm->cpu));
	return mm->cpu ? 0 : -ENOMEM;
}

void cpu_destroy(struct host_mm *mm)
{
	if (mm->cpu)
		cpu_node_clear(mm->cpu, 0);
	free(mm->cpu);
	mm->cpu = NULL;
}

/* cpu_grant() opens pages of one leaf. */
bool cpu_ready(const struct host_mm *mm, uint64_t va)
{
	unsigned int level;

	return mm->cpu && !(va >> HOST_VA_BITS) && cpu_leaf_find(mm, va, &level);
}

int cpu_prot(const struct host_mm *mm, uint64_t va)
{
	return (int)(cpu_entry(mm, va) >> CPU_PROT_SHIFT);
}

uint32_t cpu_frame(const struct host_mm *mm, uint64_t va)
{
	return cpu_entry(mm, va) & CPU_FRAME;
}

uint64_t cpu_next(const struct host_mm *mm, uint64_t va, uint64_t end)
{
	struct cpu_leaf *leaf;
	unsigned int level;
	uint64_t span;

	while (mm->cpu && va < end) {
		leaf = cpu_leaf_find(mm, va, &level);
		if (!leaf) {
			span = 1ull << level_shift(level);
			va = (va & ~(span - 1)) + span;
			continue;
		}
		do {
			if (leaf->page[va / HOST_PAGE % CPU_LEAF_PAGES] >>
			    CPU_PROT_SHIFT)
				return va;
			va += HOST_PAGE;
		} while (va < end && va % CPU_LEAF_BYTES);
	}
	return end;
}

/* ---- opening ---- */

/*
 * The system allows so many different ranges and no more (65530; sources: host-measured):
 * begin again with one. Everything that was open is opened again when it is
 * touched.
 */
void cpu_start_over(struct host_mm *mm)
{
	mm->ops->clear(mm);
	cpu_node_clear(mm->cpu, 0);
}

static int cpu_view(struct host_mm *mm, uint64_t va, uint64_t n, uint64_t frame,
		    int prot)
{
	struct cpu_leaf *leaf = cpu_leaf_make(mm, va);
	uint64_t page = va / HOST_PAGE % CPU_LEAF_PAGES, i;
	int err;

	if (!leaf)
		return -ENOMEM;
	err = mm->ops->open(mm, leaf, va, n, frame, prot);
	for (i = 0; !err && i < n; i++)
		leaf->page[page + i] = (uint32_t)(frame + i + 1) |
				       (uint32_t)prot << CPU_PROT_SHIFT;
	return err;
}

/* Rights that the tables give the CPU; none: it would fault. */
static int cpu_rights(uint64_t d)
{
	if (!pte_allows(d, false))
		return 0;
	return pte_allows(d, true) ? HOST_READ | HOST_WRITE : HOST_READ;
}

static uint64_t frame_number(struct host_mm *mm, uint64_t d)
{
	return (uint64_t)(frame_at(mm, d & PTE_ADDR) - mm->frame);
}

bool cpu_moving(struct host_mm *mm, uint64_t d)
{
	return pte_resident(d) &&
	       (frame_at(mm, d & PTE_ADDR)->held & HELD_MOVING);
}

/* Is this page closed, to be opened with these rights, and that its frame? */
static bool goes_along(struct host_mm *mm, uint64_t va, int prot,
		       uint64_t frame)
{
	uint64_t d = pt_get(mm, va);

	return !cpu_prot(mm, va) && cpu_rights(d) == prot &&
	       !cpu_moving(mm, d) &&
	       frame_number(mm, d) == frame;
}

/*
 * Open va as the tables say, together with neighbours that are there and lie
 * side by side. An aged page stays closed: its next use must be seen.
 */
int cpu_grant(struct host_mm *mm, uint64_t va)
{
	uint64_t low = va & ~(AROUND * HOST_PAGE - 1), d = pt_get(mm, va);
	uint64_t from = va, to = va + HOST_PAGE, frame, n;
	int prot = cpu_rights(d), err;

	assert(prot);
	if (cpu_moving(mm, d))
		return 0;
	frame = frame_number(mm, d);
	/* Another thread was faster. */
	if (!mm->ops->closes_itself && cpu_entry(mm, va) ==
	    ((frame + 1) | (uint64_t)prot << CPU_PROT_SHIFT))
		return 0;
	while (from > low && frame &&
	       goes_along(mm, from - HOST_PAGE, prot, frame - 1)) {
		from -= HOST_PAGE;
		frame--;
	}
	while (to < low + AROUND * HOST_PAGE &&
	       goes_along(mm, to, prot, frame + (to - from) / HOST_PAGE))
		to += HOST_PAGE;
	n = (to - from) / HOST_PAGE;
	err = cpu_view(mm, from, n, frame, prot);
	if (err == -ENOMEM && mm->ops->clear) {
		cpu_start_over(mm);
		err = cpu_view(mm, from, n, frame, prot);
	}
	return err;
}

/* ---- closing ---- */

uint64_t cpu_shut(struct host_mm *mm, uint64_t va, uint64_t end)
{
	struct cpu_leaf *leaf;
	uint64_t last = va;
	unsigned int level;
	uint32_t *entry;

	while ((va = cpu_next(mm, va, end)) < end) {
		leaf = cpu_leaf_find(mm, va, &level);
		do {
			entry = &leaf->page[va / HOST_PAGE % CPU_LEAF_PAGES];
			if (*entry >> CPU_PROT_SHIFT)
				last = va;
			*entry &= CPU_FRAME;
			va += HOST_PAGE;
		} while (va < end && va % CPU_LEAF_BYTES);
	}
	return last;
}

int cpu_revoke(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	return mm->ops->revoke(mm, va, va + npages * HOST_PAGE);
}

/* ---- views that the process makes by itself ---- */

int cpu_expect(struct host_mm *mm, uint64_t va)
{
	return cpu_leaf_make(mm, va) ? 0 : -ENOMEM;
}

void cpu_opened(struct host_mm *mm, uint64_t va)
{
	uint64_t d = pt_get(mm, va);
	unsigned int level;
	struct cpu_leaf *leaf = cpu_leaf_find(mm, va, &level);

	/* cpu_expect() has made the leaf, and where nothing is cleared it never goes. */
	assert(leaf && !mm->ops->clear);
	leaf->page[va / HOST_PAGE % CPU_LEAF_PAGES] =
		(uint32_t)(frame_number(mm, d) + 1) |
		(uint32_t)cpu_rights(d) << CPU_PROT_SHIFT;
}

/* ---- the process, where its CPU is ---- */

bool mm_killed(const struct host_mm *mm)
{
	return mm->ops->killed && mm->ops->killed(mm);
}

int mm_wait(struct host_mm *mm, struct sim_waitq *q, bool (*cond)(void *arg),
	    void *arg, uint64_t timeout_ns)
{
	if (mm->ops->wait)
		return mm->ops->wait(mm, q, cond, arg, timeout_ns);
	if (sim_wait(q, cond, arg, timeout_ns))
		return 0;
	return sim_stopping() ? -EINTR : -ETIME;
}

bool mm_slow(const struct host_mm *mm)
{
	return mm->ops->slow && mm->ops->slow(mm);
}
