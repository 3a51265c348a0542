// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process whose memory a worker brings in. A worker is nobody: what it
 * allocates is on nobody's account unless it says whose, no signal reaches it,
 * and no limit of the process holds it back.
 */
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "fl_dev.h"
#include "fl_owner.h"

/*
 * The pages themselves are charged to the owner of the address space in any
 * case; tables and other memory of the kernel go by who allocates.
 */
struct fl_charge fl_owner_charge(struct mm_struct *mm)
{
	struct fl_charge c = { .now = get_mem_cgroup_from_mm(mm) };

	c.before = set_active_memcg(c.now);
	return c;
}

void fl_owner_uncharge(struct fl_charge c)
{
	set_active_memcg(c.before);
	mem_cgroup_put(c.now);
}

#ifdef CONFIG_MEMCG
bool fl_owner_dying(struct mm_struct *mm)
{
	struct task_struct *owner;
	bool dying;

	rcu_read_lock();
	owner = rcu_dereference(mm->owner);
	/* The flag too: once SIGKILL was taken, it is not pending any more. */
	dying = !owner || fatal_signal_pending(owner) ||
		READ_ONCE(owner->signal->flags) & SIGNAL_GROUP_EXIT;
	rcu_read_unlock();
	return dying;
}

static u64 fl_owner_pages(struct mm_struct *mm, u64 pages)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(mm), *m;
	u64 most, used;

	for (m = memcg; m; m = parent_mem_cgroup(m)) {
		most = min(READ_ONCE(m->memory.max), READ_ONCE(m->memory.high));
		used = page_counter_read(&m->memory);
		pages = min(pages, most > used ? most - used : 0);
	}
	mem_cgroup_put(memcg);
	return pages;
}
#else
bool fl_owner_dying(struct mm_struct *mm)
{
	return false;
}

static u64 fl_owner_pages(struct mm_struct *mm, u64 pages)
{
	return pages;
}
#endif

u64 fl_owner_room(struct mm_struct *mm)
{
	long available = si_mem_available();

	if (available <= 0)
		return 0;
	return fl_owner_pages(mm, available) << PAGE_SHIFT;
}
