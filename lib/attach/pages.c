// SPDX-License-Identifier: BSD-2-Clause
/*
 * pages.c - what is known of each page: a table, in memory that no page fault can meet
 * (os_room). Nothing here waits, or asks the board.
 */
#include <sys/mman.h>

#include "attach/internal.h"
#include "faultline.h"

static struct attach_page *page_outside(struct attach *a, uintptr_t va)
{
	uint64_t page = va / ATTACH_PAGE;
	struct attach_node *n;
	struct attach_leaf *l;

	if (page >> (3 * NODE_BITS))
		return NULL;
	/* Acquire pairs with the release in attach_page_make(): it is zeroed. */
	n = atomic_load_explicit(&a->tree->node[page >> (2 * NODE_BITS)],
				 memory_order_acquire);
	if (!n)
		return NULL;
	l = atomic_load_explicit(&n->leaf[(page >> NODE_BITS) %
					  NODE_ENTRIES],
				 memory_order_acquire);
	return l ? &l->page[page % NODE_ENTRIES] : NULL;
}

struct attach_page *attach_page(struct attach *a, uintptr_t va)
{
	if (attach_inside(a, va))
		return &a->page[(va - a->arena) / ATTACH_PAGE];
	return page_outside(a, va);
}

struct attach_page *attach_page_make(struct attach *a, uintptr_t va)
{
	uint64_t page = va / ATTACH_PAGE;
	struct attach_node *n, *_Atomic *in;
	struct attach_leaf *l, *_Atomic *at;

	if (attach_inside(a, va) || page >> (3 * NODE_BITS))
		return NULL;
	in = &a->tree->node[page >> (2 * NODE_BITS)];
	n = atomic_load_explicit(in, memory_order_relaxed);
	if (!n) {
		n = os_room(1, sizeof(*n));
		if (!n)
			return NULL;
		/* Release pairs with the acquire in page_outside(). */
		atomic_store_explicit(in, n, memory_order_release);
	}
	at = &n->leaf[(page >> NODE_BITS) % NODE_ENTRIES];
	l = atomic_load_explicit(at, memory_order_relaxed);
	if (!l) {
		l = os_room(1, sizeof(*l));
		if (!l)
			return NULL;
		/* Release pairs with the acquire in page_outside(). */
		atomic_store_explicit(at, l, memory_order_release);
	}
	return &l->page[page % NODE_ENTRIES];
}

bool attach_next(struct attach *a, uintptr_t *va, uintptr_t last, struct attach_page **p)
{
	uint64_t page = (*va + ATTACH_PAGE - 1) / ATTACH_PAGE, skip;
	uint64_t end = 1ull << (3 * NODE_BITS);
	struct attach_node *n;
	struct attach_leaf *l;

	if (end > last / ATTACH_PAGE + 1)
		end = last / ATTACH_PAGE + 1;
	while (page < end) {
		n = atomic_load(&a->tree->node[page >> (2 * NODE_BITS)]);
		l = n ? atomic_load(&n->leaf[(page >> NODE_BITS) %
					     NODE_ENTRIES]) : NULL;
		if (l && atomic_load(&l->page[page % NODE_ENTRIES].own) &
			 (OWN_IMPORTED | OWN_BUSY)) {
			*va = (uintptr_t)(page * ATTACH_PAGE);
			*p = &l->page[page % NODE_ENTRIES];
			return true;
		}
		skip = l ? 1 : n ? NODE_ENTRIES :
		       1ull << (2 * NODE_BITS);
		page = page / skip * skip + skip;
	}
	return false;
}

int attach_host_prot(int prot)
{
	return (prot & FL_PROT_READ ? PROT_READ : 0) |
	       (prot & FL_PROT_WRITE ? PROT_READ | PROT_WRITE : 0);
}
