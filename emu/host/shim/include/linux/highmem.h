/* SPDX-License-Identifier: BSD-2-Clause */
/* highmem.h - memory of a process, as the kernel reaches it. */
#ifndef SHIM_LINUX_HIGHMEM_H
#define SHIM_LINUX_HIGHMEM_H

#include <linux/mm.h>

/* Where the models see it: all of memory is mapped once. */
void *kmap_local_page(const struct page *page);
static inline void kunmap_local(const void *addr)
{
}

/* These take the time that the CPU needs for it. */
void memcpy_from_page(void *to, const struct page *page, size_t offset, size_t n);
void memcpy_to_page(const struct page *page, size_t offset, const void *from,
		    size_t n);

#endif
