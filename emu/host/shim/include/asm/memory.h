/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.h - kinds of memory, by their index in MAIR (sysreg.h). */
#ifndef SHIM_ASM_MEMORY_H
#define SHIM_ASM_MEMORY_H

#define MT_NORMAL	0

#endif
