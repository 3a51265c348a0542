/* SPDX-License-Identifier: BSD-2-Clause */
/* pgtable-hwdef.h */
#ifndef SHIM_ASM_PGTABLE_HWDEF_H
#define SHIM_ASM_PGTABLE_HWDEF_H

#include "faultline/pte.h"

#define TCR_T0SZ_MASK 0x3full
#define PTE_ATTRINDX(i) ((u64)(i) << 2)

#endif
