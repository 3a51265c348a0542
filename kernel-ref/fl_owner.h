/* SPDX-License-Identifier: GPL-2.0-only */
/* fl_owner.h - the process whose memory a worker brings in: fl_owner.c. */
#ifndef FL_OWNER_H
#define FL_OWNER_H

#include <linux/types.h>

struct mem_cgroup;
struct mm_struct;

struct fl_charge {
	struct mem_cgroup *now, *before;
};

/* What the calling thread allocates from now on is charged to mm's cgroup. */
struct fl_charge fl_owner_charge(struct mm_struct *mm);
void fl_owner_uncharge(struct fl_charge c);
/* It is being killed: memory that it gets now delays its end. */
bool fl_owner_dying(struct mm_struct *mm);
/* Bytes that it may have without taking a page from anybody, itself too. */
u64 fl_owner_room(struct mm_struct *mm);

#endif
