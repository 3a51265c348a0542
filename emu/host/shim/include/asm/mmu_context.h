/* SPDX-License-Identifier: BSD-2-Clause */
/* mmu_context.h */
#ifndef SHIM_ASM_MMU_CONTEXT_H
#define SHIM_ASM_MMU_CONTEXT_H

#include <linux/mm.h>

/* ASIDs of the host's processes are never given away while they live. */
static inline unsigned long arm64_mm_context_get(struct mm_struct *mm)
{
	return mm_asid(mm->host);
}

static inline void arm64_mm_context_put(struct mm_struct *mm)
{
}

#endif
