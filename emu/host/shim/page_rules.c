// SPDX-License-Identifier: BSD-2-Clause
/*
 * page_rules.c - what must be so when a driver looks at mappings or asks for pages.
 * As rules.c it needs nothing else of the shim: the lab's bench has it as well.
 */
#include <linux/mm.h>

void shim_mmap_assert(struct mm_struct *mm, const char *call,
		      const char *where)
{
	if (!shim_lock_held(&mm->mmap_rules))
		shim_breach("mmap-lock", where, "calls %s without the mmap "
			    "lock of that address space", call);
}

void shim_kept_rules(struct mm_struct *mm, const char *call,
		     const char *where)
{
	if (current->mm != mm && !shim_users_have(mm))
		shim_breach("mm-users", where, "calls %s for an address space "
			    "that may be gone (mmget_not_zero() is missing)",
			    call);
}

void shim_fault_rules(const struct vm_area_struct *vma, unsigned long va,
		      bool write, const char *where)
{
	static const char call[] = "handle_mm_fault()";

	shim_sleeps(call, where);
	shim_mmap_assert(vma->vm_mm, call, where);
	shim_kept_rules(vma->vm_mm, call, where);
	if (va < vma->vm_start || va >= vma->vm_end)
		shim_breach("mapping", where, "calls %s for an address that "
			    "is not in the mapping", call);
	else if (!(vma->vm_flags & (write ? VM_WRITE : VM_READ)))
		shim_breach("mapping", where, "calls %s to %s what is mapped "
			    "without that right", call,
			    write ? "write" : "read");
	/* A kernel thread has no memory cgroup of its own. */
	if (!current->mm && !shim_here()->memcg)
		shim_breach("memcg", where, "calls %s on nobody's account",
			    call);
}
