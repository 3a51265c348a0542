/* SPDX-License-Identifier: BSD-2-Clause */
/* sysreg.h */
#ifndef SHIM_ASM_SYSREG_H
#define SHIM_ASM_SYSREG_H

#include "host/page.h"

/* The CPU that the host pretends to have: 48-bit addresses, 4 KB pages. */
#define SHIM_SYSREG_tcr_el1	(64ull - HOST_VA_BITS)
#define SHIM_SYSREG_mair_el1	0xffull	/* index 0: normal, write-back */
#define read_sysreg(r)		SHIM_SYSREG_##r

#endif
