/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic.h - one process with tables in the card, for the tests of the driver's side of
 * them. The oracle is the process's own page tables, walked here.
 */
#ifndef FL_RIG_NIC_H
#define FL_RIG_NIC_H

#include "rig/nic_fake.h"

#define PAGES	(RIG_BYTES / RIG_PAGE)
#define SLOW	(100u * 1000)

/* Where a walk of the process's own tables ends; 0: nowhere, or not with this right. */
uint64_t nic_walk(struct rig_node *n, uint64_t va, bool write);

/* Whatever the card has is what the process has now. */
void nic_agrees(struct rig_node *n);

static inline uint8_t *nic_at(struct rig_node *n, uint32_t page)
{
	return n->buffer + page * RIG_PAGE;
}

static inline bool nic_has(struct rig_node *n, uint32_t page)
{
	return fake_entry(fake_object(n->key), nic_at(n, page));
}

uint32_t nic_count(struct rig_node *n);
struct fl_fault_rec nic_rec(struct rig_node *n, bool write, uint32_t page,
			    uint32_t len);
void nic_policy(struct rig_node *n, uint32_t system, uint32_t resolve);
struct rig_node *nic_begin(struct rig *r, uint32_t resolve);
void nic_end(struct rig_node *n);
void nic_run_in(enum sim_mode mode, void (*body)(struct rig *r));

static inline void nic_run(void (*body)(struct rig *r))
{
	nic_run_in(SIM_LOCKSTEP, body);
}

#endif
