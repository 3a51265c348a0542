/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcontrol.h - memory cgroups: each process is one, with what it may have at a
 * time as the limit. What the small kernel itself takes is on nobody's account.
 */
#ifndef SHIM_LINUX_MEMCONTROL_H
#define SHIM_LINUX_MEMCONTROL_H

#include <linux/mm.h>

#define CONFIG_MEMCG 1

static inline unsigned long page_counter_read(struct page_counter *c)
{
	return READ_ONCE(c->usage);
}

static inline struct mem_cgroup *parent_mem_cgroup(struct mem_cgroup *m)
{
	return NULL;
}

/* Looks at the process; its owner keeps it. But who gets one puts it. */
struct mem_cgroup *get_mem_cgroup_from_mm(struct mm_struct *mm);
void mem_cgroup_put(struct mem_cgroup *m);
/* The memcg that pays for what the thread asks for; returns the one before. */
struct mem_cgroup *set_active_memcg(struct mem_cgroup *m);

/* Pages of the machine. */
long si_mem_available(void);

#endif
