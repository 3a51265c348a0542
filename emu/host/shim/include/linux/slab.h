/* SPDX-License-Identifier: BSD-2-Clause */
/* slab.h - memory of the kernel. */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include <linux/types.h>
#include <stdlib.h>

#define GFP_KERNEL 0u
/* Nobody counts what the small kernel itself takes. */
#define GFP_KERNEL_ACCOUNT GFP_KERNEL

unsigned long get_zeroed_page(gfp_t gfp);

static inline void free_page(unsigned long page)
{
	free((void *)page);
}

void *kzalloc(size_t bytes, gfp_t gfp);
void *kcalloc(size_t n, size_t bytes, gfp_t gfp);
void *kvmalloc_array(size_t n, size_t bytes, gfp_t gfp);
void kfree(const void *p);
void kvfree(const void *p);
char *kasprintf(gfp_t gfp, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
