// SPDX-License-Identifier: BSD-2-Clause
/*
 * foreign.c - the program unmapped memory that a region held, and may have mapped
 * something else there. Nobody tells the library; so before it puts old pages back, it
 * looks whether they still are where they were. What is somebody else's by now stays as it
 * is, and is no page of the board any more.
 */
#include "attach/internal.h"
#include "faultline.h"

struct look {
	struct attach *a;
	uintptr_t at;		/* first address that is not judged yet */
	uintptr_t first;	/* page that is foreign; 0: none */
};

/*
 * Never open so far, or closed for want of mappings (view.c): there nothing of the bank is
 * mapped.
 */
static bool is_closed(const struct attach_page *p, const struct os_map *m)
{
	return !atomic_load(&p->view) && !m->inode && !m->prot;
}

/* Imported pages from l->at up to end, where m is mapped; NULL: nothing is. */
static void foreign_mark(struct look *l, uintptr_t end, const struct os_map *m)
{
	bool ours = m && m->inode && m->inode == l->a->bank_inode &&
		    m->device == l->a->bank_device;
	struct attach_page *p;
	uint32_t own;

	for (; !ours && attach_next(l->a, &l->at, end - 1, &p); l->at += ATTACH_PAGE) {
		own = atomic_load(&p->own);
		/* On its way, or private while its thread forks. */
		if (own & (OWN_BUSY | OWN_DETACHED) || (m && is_closed(p, m)))
			continue;
		atomic_fetch_or(&p->own, OWN_FOREIGN);
		if (!l->first)
			l->first = l->at;
	}
	l->at = end;
}

static void foreign_look_at(void *arg, const struct os_map *m)
{
	struct look *l = arg;

	if (m->start > l->at)
		foreign_mark(l, m->start, NULL);
	if (m->end > l->at)
		foreign_mark(l, m->end, m);
}

uintptr_t attach_foreign(struct attach *a, uintptr_t from, uintptr_t last)
{
	struct look l = { .a = a };
	struct attach_page *p;
	uintptr_t va = from;

	/* The first, so that nobody who has none pays for the question. */
	if (!attach_next(a, &va, last, &p))
		return 0;
	l.at = va;
	if (!os_map_each(va, last, foreign_look_at, &l) && l.at <= last &&
	    last != UINTPTR_MAX)
		foreign_mark(&l, last + 1, NULL);
	return l.first;
}

bool attach_foreign_page(struct attach *a, uintptr_t va)
{
	struct attach_page *p = attach_page(a, va);
	uint32_t i, own = atomic_load(&p->own);
	/* What was never open was left as it was: private, and closed. */
	bool had = atomic_load(&p->view);

	if (had ? os_map_shared((void *)va) : os_map_closed((void *)va))
		return false;
	for (i = 0; i < attach_granule(a) / ATTACH_PAGE; i++)
		atomic_fetch_or(&attach_page(a, va + i * (uintptr_t)ATTACH_PAGE)
				->own, OWN_FOREIGN);
	/* It was closed as if it were the board's. */
	if (had)
		os_protect((void *)va, attach_granule(a),
			   attach_host_prot(own & OWN_WRITE ?
					    FL_PROT_READ | FL_PROT_WRITE :
					    FL_PROT_READ));
	return true;
}
