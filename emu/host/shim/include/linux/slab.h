/* SPDX-License-Identifier: BSD-2-Clause */
/* slab.h - memory of the kernel. */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include <linux/types.h>

#define GFP_KERNEL 1u		/* may sleep */
#define GFP_ATOMIC 2u
/* Nobody counts what the small kernel itself takes. */
#define GFP_KERNEL_ACCOUNT GFP_KERNEL

/* What memory came from; it goes back the same way, but kvfree() takes both. */
enum shim_memory { SHIM_KMALLOC, SHIM_KVMALLOC, SHIM_PAGE };

/* A gfp that may sleep where that is not allowed, or is none at all. */
void shim_gfp(gfp_t gfp, const char *call, const char *where);
void *shim_alloc(enum shim_memory kind, size_t n, size_t bytes, gfp_t gfp,
		 const char *call, const char *where);
void shim_free_memory(enum shim_memory kind, const void *p, const char *where);

#define kzalloc(bytes, gfp)                                                   \
	shim_alloc(SHIM_KMALLOC, 1, bytes, gfp, "kzalloc(GFP_KERNEL)",        \
		   __func__)
#define kcalloc(n, bytes, gfp)                                                \
	shim_alloc(SHIM_KMALLOC, n, bytes, gfp, "kcalloc(GFP_KERNEL)",        \
		   __func__)
#define kvmalloc_array(n, bytes, gfp)                                         \
	shim_alloc(SHIM_KVMALLOC, n, bytes, gfp, "kvmalloc_array()", __func__)
#define get_zeroed_page(gfp)                                                  \
	((unsigned long)shim_alloc(SHIM_PAGE, 1, 4096, gfp,                   \
				   "get_zeroed_page(GFP_KERNEL)", __func__))
#define kfree(p) shim_free_memory(SHIM_KMALLOC, p, __func__)
#define kvfree(p) shim_free_memory(SHIM_KVMALLOC, p, __func__)
#define free_page(page) shim_free_memory(SHIM_PAGE, (void *)(page), __func__)

#endif
