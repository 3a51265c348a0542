// SPDX-License-Identifier: BSD-2-Clause
#include "rig/nic.h"

#define PTE_PA	0xfffffffff000ull

uint64_t nic_walk(struct rig_node *n, uint64_t va, bool write)
{
	uint64_t table = mm_table_pa(host_process_mm(n->process)), d;
	int shift;

	for (shift = 39;; shift -= 9) {
		d = *((uint64_t *)dram_at(board_dram(n->board), table, 4096) +
		      (va >> shift & 511));
		if (!(d & 1))
			return 0;
		if (shift == 12)
			break;
		table = d & PTE_PA;
	}
	/* AP[2] (7): read-only. The access flag is the SMMU's business. */
	return write && d >> 7 & 1 ? 0 : d & PTE_PA;
}

void nic_agrees(struct rig_node *n)
{
	struct fake_page *p;
	uint32_t i, wrong = 0;

	fake_lock();
	for (i = 0; i < fake.pages; i++) {
		p = &fake.page[i];
		wrong += nic_walk(n, p->page * RIG_PAGE, p->entry & FL_XP_WRITE) !=
			 (p->entry & PTE_PA);
	}
	EXPECT_EQ(wrong, 0);
	EXPECT_EQ(fake.unsynced, 0);
	EXPECT_EQ(fake.bad, 0);
	fake_unlock();
}

uint32_t nic_count(struct rig_node *n)
{
	uint32_t i, count = 0;

	for (i = 0; i < PAGES; i++)
		count += nic_has(n, i);
	return count;
}

struct fl_fault_rec nic_rec(struct rig_node *n, bool write, uint32_t page,
			    uint32_t len)
{
	return (struct fl_fault_rec){
		.kind = FL_FAULT_RDMA, .side = 1, .write = write, .last = 1,
		.qp = n->qp, .key = n->key, .va = (uintptr_t)nic_at(n, page),
		.len = len, .xfer = 9,
	};
}

void nic_policy(struct rig_node *n, uint32_t system, uint32_t resolve)
{
	struct fl_policy p = { .size = sizeof(p), .system = system,
			       .resolve = resolve };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
}

struct rig_node *nic_begin(struct rig *r, uint32_t resolve)
{
	struct rig_node *n = &r->n[1];

	rig_qp_flags = FL_QP_RC;
	rig_open(n);
	nic_policy(n, FL_SYSTEM_NPF, resolve);
	rig_set_up(n, 0);
	return n;
}

void nic_end(struct rig_node *n)
{
	nic_agrees(n);
	rig_close(n);
	EXPECT_EQ(fake.pages, 0);
	EXPECT_EQ(fake.unsynced, 0);
	EXPECT_EQ(fake.bad, 0);
}

void nic_run_in(enum sim_mode mode, void (*body)(struct rig *r))
{
	struct host_driver_params p = { .system = FL_SYSTEM_PART,
					.resolve = FL_IOC_RESOLVE_BLOCK };

	memset(&fake, 0, sizeof(fake));
	rig_run_with(mode, &p, body, NULL);
}
