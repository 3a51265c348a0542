/* SPDX-License-Identifier: BSD-2-Clause */
/* pgtable-hwdef.h */
#ifndef SHIM_ASM_PGTABLE_HWDEF_H
#define SHIM_ASM_PGTABLE_HWDEF_H

#define TCR_T0SZ_MASK 0x3full

/* Of a descriptor (exanest.md 3.6). */
#define PTE_VALID	(1ull << 0)
#define PTE_TABLE_BIT	(1ull << 1)
#define PTE_USER	(1ull << 6)
#define PTE_RDONLY	(1ull << 7)
#define PTE_AF		(1ull << 10)

#endif
