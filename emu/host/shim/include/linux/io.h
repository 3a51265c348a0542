/* SPDX-License-Identifier: BSD-2-Clause */
/* io.h - registers. */
#ifndef SHIM_LINUX_IO_H
#define SHIM_LINUX_IO_H

#include <shim/shim.h>

/*
 * An __iomem pointer points into a map that cannot be touched; behind the
 * map stands whose registers it is (io.c).
 */
u64 shim_read(const void __iomem *p, unsigned int bytes);
void shim_write(void __iomem *p, unsigned int bytes, u64 value);

static inline u32 readl(const void __iomem *p)
{
	return (u32)shim_read(p, 4);
}

static inline u64 readq(const void __iomem *p)
{
	return shim_read(p, 8);
}

static inline void writel(u32 value, void __iomem *p)
{
	shim_write(p, 4, value);
}

static inline void writeq(u64 value, void __iomem *p)
{
	shim_write(p, 8, value);
}

static inline void mb(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* READ_ONCE has acquired already (linux/types.h), and WRITE_ONCE releases. */
static inline void dma_rmb(void)
{
	__asm__ volatile("" ::: "memory");
}

static inline void dma_wmb(void)
{
	__asm__ volatile("" ::: "memory");
}

#endif
