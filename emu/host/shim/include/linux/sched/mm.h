/* SPDX-License-Identifier: BSD-2-Clause */
/* sched/mm.h */
#ifndef SHIM_LINUX_SCHED_MM_H
#define SHIM_LINUX_SCHED_MM_H

#include <linux/mm.h>

/* The struct, not the address space. */
void mmgrab(struct mm_struct *mm);
void mmdrop(struct mm_struct *mm);
/* The address space; false: it has ended. */
bool mmget_not_zero(struct mm_struct *mm);
void shim_mmput(struct mm_struct *mm, bool async, const char *where);

#define mmput(mm) shim_mmput(mm, false, __func__)
#define mmput_async(mm) shim_mmput(mm, true, __func__)

#endif
