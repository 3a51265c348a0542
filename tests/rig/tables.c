// SPDX-License-Identifier: BSD-2-Clause
#include "rig/tables.h"

uint64_t *tables_entry(struct rig_node *n, uint64_t va)
{
	uint64_t table = tables_root(n), *d;
	int shift;

	for (shift = 39;; shift -= 9) {
		d = (uint64_t *)dram_at(board_dram(n->board), table, 4096) +
		    (va >> shift & 511);
		if (shift == 12)
			return d;
		if ((*d & 3) != 3)
			return NULL;
		table = *d & 0xfffffffff000;
	}
}

uint64_t tables_walk(struct rig_node *n, const void *at, bool write)
{
	uint64_t va = (uintptr_t)at, *d = tables_entry(n, va);

	/* A page (3), AF (10), AP[1] (6) and not AP[2] (7) to write. */
	if (!d || (*d & 3) != 3 || !(*d >> 10 & 1) || !(*d >> 6 & 1) ||
	    (write && *d >> 7 & 1))
		return 0;
	return (*d & 0xfffffffff000) | (va & 4095);
}

uint64_t tables_translate(struct rig_node *n, const void *at, bool write)
{
	struct smmu_access a = {
		.stream = (uint16_t)(rig_smmu(n, SMMU_GR0_SMR(0)) &
				     SMMU_GR0_SMR_ID_MASK),
		.write = write, .va = (uintptr_t)at,
	};

	return smmu_translate(board_smmu(n->board), &a) == SMMU_OK ? a.pa : 0;
}

unsigned int tables_count_in(struct rig_node *n, uint64_t table, int level)
{
	const uint64_t *d = dram_at(board_dram(n->board), table, 4096);
	unsigned int i, count = 0;

	for (i = 0; i < 512; i++) {
		if (!(d[i] & 1))
			continue;
		count += level == 3 ? 1 :
			 tables_count_in(n, d[i] & 0xfffffffff000, level + 1);
	}
	return count;
}

struct host_stats tables_stats(struct rig_node *n)
{
	struct host_stats st;

	host_stats(n->kernel, &st);
	return st;
}

long tables_policy(struct rig_node *n, uint32_t system)
{
	struct fl_policy p = { .size = sizeof(p), .system = system,
			       .resolve = FL_IOC_RESOLVE_PAGE };

	return rig_ioctl(n, FL_IOC_POLICY, &p);
}

void tables_dereg(struct rig_node *n, uint32_t key)
{
	struct fl_destroy d = { .size = sizeof(d), .object = key };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &d), 0);
}

uint32_t tables_reg(struct rig_node *n, uint32_t page, uint32_t pages,
		    bool write)
{
	return rig_reg_mr(n, n->buffer + page * RIG_PAGE,
			  (uint64_t)pages * RIG_PAGE,
			  write ? RIG_ALL : FL_ACC_REMOTE_READ, 0, 0);
}

void tables_remap(struct rig_node *n, uint32_t page, uint32_t pages)
{
	EXPECT_EQ(host_remap(n->process, n->buffer + page * RIG_PAGE,
			     (uint64_t)pages * RIG_PAGE,
			     HOST_READ | HOST_WRITE), 0);
}

uint64_t tables_word(struct rig_node *n, uint32_t page)
{
	uint64_t w = 0;

	EXPECT_EQ(mm_copy(host_process_mm(n->process),
			  (uintptr_t)n->buffer + page * RIG_PAGE, &w, sizeof(w),
			  false), 0);
	return w;
}

void tables_write(struct rig_node *n, uint32_t page, uint64_t w)
{
	EXPECT_EQ(mm_copy(host_process_mm(n->process),
			  (uintptr_t)n->buffer + page * RIG_PAGE, &w, sizeof(w),
			  true), 0);
}

uint64_t tables_card(struct rig_node *n, uint32_t page, bool write)
{
	uint64_t pa = tables_walk(n, n->buffer + page * RIG_PAGE, write);

	return pa ? *(uint64_t *)dram_at(board_dram(n->board), pa, 8) : ~0ull;
}

/* ---- the end of a process, at any moment ---- */

/* Body of rig_run: what the two do, and when the receiver ends, in ns. */
static uint32_t tables_row;
static uint64_t tables_moment;

static void tables_death(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint64_t free = tables_stats(b).frames_free;
	int err;

	rig_pair(r, tables_row, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], RIG_BYTES, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, 16 * RIG_PAGE);
	rig_post(r, FL_OP_READ, 16 * RIG_PAGE, 0, 16 * RIG_PAGE);
	sim_sleep(tables_moment);
	host_process_exit(b->process);
	EXPECT_EQ(tables_stats(b).frames_pinned, 0);
	EXPECT_EQ(tables_stats(b).frames_free, free);
	EXPECT(!host_check(b->kernel, true));
	STEP("another one can do the same");
	b->process = host_process_create(b->kernel, "next", &err);
	EXPECT(b->process);
	b->buffer = NULL;
	rig_open(b);
	EXPECT_EQ(tables_policy(b, tables_row), 0);
	rig_set_up(b, 0);
	rig_close(b);
	EXPECT_EQ(tables_stats(b).frames_pinned, 0);
	EXPECT_GE(rig_wait(&r->n[0]), 0);
	EXPECT_GE(rig_wait(&r->n[0]), 0);
}

void tables_deaths(uint32_t row)
{
	tables_row = row;
	for (tables_moment = 1; tables_moment < 600000;
	     tables_moment += 1 + tables_moment / 4)
		rig_run(tables_death);
}

/* ---- the end of the driver ---- */

static void tables_used(struct rig *r)
{
	rig_pair(r, tables_row, FL_IOC_RESOLVE_PAGE, 0);
	rig_post(r, FL_OP_WRITE, 0, 0, 8 * RIG_PAGE);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	EXPECT_GE(tables_stats(&r->n[1]).frames_pinned, 8);
}

static unsigned int tables_broken;	/* board_inject() */

static void tables_removed(struct rig *r)
{
	struct rig_node *b = &r->n[1];

	board_inject(b->board, tables_broken);
	host_driver_remove(b->kernel);
	b->removed = true;
	EXPECT_EQ(tables_stats(b).frames_pinned, 0);
	EXPECT(!host_check(b->kernel, true));
	board_inject(b->board, 0);
}

void tables_driver_ends(uint32_t row, unsigned int broken)
{
	struct host_driver_params p = { .resolve = FL_IOC_RESOLVE_PAGE };

	tables_row = row;
	tables_broken = broken;
	rig_run_with(SIM_LOCKSTEP, &p, tables_used, tables_removed);
}
