/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.h - what the tables of a process's bank say, by a walker that knows
 * nothing but the Arm ARM's format of 48 bits and 4 KB pages: the oracle of the tests of
 * tables that the driver keeps itself.
 */
#ifndef FL_RIG_TABLES_H
#define FL_RIG_TABLES_H

#include "smmu/smmu.h"
#include "rig/driver.h"

/* Bank 0: the only process of a board has the first slot. */
static inline uint64_t tables_root(struct rig_node *n)
{
	return rig_smmu64(n, SMMU_CB_BASE(0) + SMMU_CB_TTBR0) & 0xfffffffff000;
}

static inline bool tables_own(struct rig_node *n)
{
	return tables_root(n) != mm_table_pa(host_process_mm(n->process));
}

uint64_t *tables_entry(struct rig_node *n, uint64_t va);

/* Where a walk for a process ends; 0: nowhere, or not with this right. */
uint64_t tables_walk(struct rig_node *n, const void *at, bool write);

/* Where the SMMU leads an access of the process now, from its TLB or by a walk; or 0. */
uint64_t tables_translate(struct rig_node *n, const void *at, bool write);

/* All that is entered, by a look at every descriptor below the first table. */
unsigned int tables_count_in(struct rig_node *n, uint64_t table, int level);

static inline unsigned int tables_count(struct rig_node *n)
{
	return tables_count_in(n, tables_root(n), 0);
}

struct host_stats tables_stats(struct rig_node *n);
long tables_policy(struct rig_node *n, uint32_t system);
void tables_dereg(struct rig_node *n, uint32_t key);
uint32_t tables_reg(struct rig_node *n, uint32_t page, uint32_t pages,
		    bool write);
void tables_remap(struct rig_node *n, uint32_t page, uint32_t pages);

/* What the process finds there; a page that is absent comes in. */
uint64_t tables_word(struct rig_node *n, uint32_t page);

void tables_write(struct rig_node *n, uint32_t page, uint64_t w);

/* What the card finds there; ~0: it finds nothing. */
uint64_t tables_card(struct rig_node *n, uint32_t page, bool write);

/* ---- the end of a process, at any moment ---- */

void tables_deaths(uint32_t row);

/* ---- the end of the driver ---- */

void tables_driver_ends(uint32_t row, unsigned int broken);

#endif
