// SPDX-License-Identifier: BSD-2-Clause
/*
 * slab.c - memory of the kernel. It knows how it was asked for, so that it goes back
 * the same way, and that nothing in it is in use any more when it goes.
 */
#include <stdlib.h>

#include <linux/slab.h>

#include "shim_internal.h"

#define MAGIC		0x51ab51abu
#define MAGIC_FREE	0xdeadbeefu

/* Before what is given out. */
struct header {
	size_t bytes;
	unsigned int magic, kind;
};
_Static_assert(sizeof(struct header) == 16, "what malloc() aligns to");

void shim_gfp(gfp_t gfp, const char *call, const char *where)
{
	if (gfp == GFP_KERNEL)
		shim_sleeps(call, where);
	else if (gfp != GFP_ATOMIC)
		shim_breach("gfp", where, "calls %s with flags 0x%x", call,
			    gfp);
}

void *shim_alloc(enum shim_memory kind, size_t n, size_t bytes, gfp_t gfp,
		 const char *call, const char *where)
{
	struct header *h;

	shim_gfp(gfp, call, where);
	if (shim_refused() || (bytes && n > (SIZE_MAX - sizeof(*h)) / bytes))
		return NULL;
	h = calloc(1, sizeof(*h) + n * bytes);
	if (!h)
		return NULL;
	*h = (struct header){ n * bytes, MAGIC, kind };
	return h + 1;
}

void shim_free_memory(enum shim_memory kind, const void *p, const char *where)
{
	static const char *const call[] = { "kfree", "kvfree", "free_page" };
	struct header *h;

	if (kind == SHIM_KVMALLOC)
		shim_sleeps("kvfree()", where);
	if (!p)
		return;
	h = (struct header *)(uintptr_t)p - 1;
	if (h->magic != MAGIC) {
		shim_breach("free", where, "calls %s() for what is %s",
			    call[kind], h->magic == MAGIC_FREE ?
			    "free already" : "no such memory");
		return;
	}
	if (h->kind != kind &&
	    !(kind == SHIM_KVMALLOC && h->kind == SHIM_KMALLOC))
		shim_breach("free", where, "calls %s() for memory that wants "
			    "%s()", call[kind], call[h->kind]);
	shim_lock_gone(p, h->bytes, where);
	shim_in_use(shim_cpu()->shim, p, h->bytes, where);
	h->magic = MAGIC_FREE;
	free(h);
}
