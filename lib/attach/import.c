// SPDX-License-Identifier: BSD-2-Clause
/*
 * import.c - which of the program's pages become memory of the board when a region is
 * registered, and which come back when it goes. How they move: move.c. All of it
 * runs in the service thread, so that it may also move the stack of who asked.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "attach/move.h"
#include "faultline.h"

/*
 * The linker may look up a function only when it is called first, and then it
 * writes down the address among the program's data: not while that is moved. So
 * all that moving calls is called once before.
 */
int attach_rehearse(struct attach *a)
{
	uint64_t bytes = attach_granule(a);
	uint8_t *to = a->scratch, *from = to + bytes;
	uint64_t untouched;
	int error;

	memcpy(from, to, bytes);
	os_yield();
	os_nap();
	attach_listen(a);
	shutdown(-1, SHUT_RDWR);
	/* Of what the system does not say nothing is known; that is no error. */
	os_pages_untouched(from, 1, &untouched);
	os_map_closed(from);
	error = os_protect(from, bytes, PROT_READ);
	if (!error)
		error = os_copy_caught(to, from, bytes);
	if (!error)
		error = os_replace(to, from, bytes,
				   PROT_READ | PROT_WRITE);
	if (!error)
		error = os_view(to, 2 * bytes, PROT_READ | PROT_WRITE,
				-1, 0);
	return error;
}

/* ---- jobs ---- */

static uintptr_t job_start_va(const struct attach *a)
{
	return a->job.addr - a->job.addr % a->hello.page_bytes;
}

/* The last byte, so that the end of the address space is no trap. */
static uintptr_t job_last(const struct attach *a)
{
	return (a->job.addr + (uintptr_t)(a->job.bytes - 1)) |
	       (a->hello.page_bytes - 1);
}

/* Next page of the job that is not in the arena; false: no more. */
static bool job_next(const struct attach *a, uintptr_t *va)
{
	if (attach_inside(a, *va))
		*va = a->arena + ATTACH_ARENA_BYTES;
	return *va <= job_last(a) && *va >= job_start_va(a);
}

static int prot_of(uint32_t own)
{
	return own & OWN_WRITE ? FL_PROT_READ | FL_PROT_WRITE : FL_PROT_READ;
}

static void import_uncount(struct attach *a, uintptr_t from, uintptr_t to);

/* The granule of va as a run, if it may be part of the region. */
static int granule_check(struct attach *a, uintptr_t va, struct os_map *m,
			 struct attach_run *r)
{
	*r = (struct attach_run){ .va = va, .n = attach_granule(a) / ATTACH_PAGE };
	return attach_eligible(a, va, m, &r->prot, &r->keep, &r->anonymous);
}

static bool run_joins(const struct attach_run *r, const struct attach_run *g)
{
	return r->n && r->n + g->n <= ATTACH_BATCH && r->prot == g->prot &&
	       r->keep == g->keep && r->anonymous == g->anonymous &&
	       r->va + attach_run_bytes(r) == g->va;
}

/*
 * The board brings a run in as a whole, and so wants a frame for each of its pages at once.
 * The process may not have so many: then -ENOMEM says so, and half of it is tried, from there
 * on. After an error the rest of what goes out goes all the same.
 */
static int run_move(struct attach *a, const struct attach_run *r, bool out)
{
	unsigned int least = (unsigned int)(attach_granule(a) / ATTACH_PAGE), done = 0;
	struct attach_run piece = *r;
	int error, first = 0;

	while (done < r->n && (out || !first)) {
		piece.va = r->va + done * (uintptr_t)ATTACH_PAGE;
		piece.n = r->n - done < a->pieces ? r->n - done : a->pieces;
		error = out ? attach_move_out(a, &piece) : attach_move_in(a, &piece);
		if (error == -ENOMEM && piece.n > least) {
			a->pieces = piece.n / 2 / least * least;
			continue;
		}
		first = first ? first : error;
		done += piece.n;
	}
	return first;
}

static int import_checked(struct attach *a)
{
	struct attach_run r = { 0 }, g;
	struct os_map m = { 0 };
	struct attach_page *p;
	uintptr_t va = job_start_va(a);
	int error = 0;

	for (; job_next(a, &va) && !error; va += attach_granule(a)) {
		p = attach_page(a, va);
		if (p && atomic_load(&p->own) & OWN_IMPORTED)
			continue;
		error = granule_check(a, va, &m, &g);
		if (error)
			break;
		if (run_joins(&r, &g)) {
			r.n += g.n;
			continue;
		}
		if (r.n)
			error = run_move(a, &r, false);
		r = g;
	}
	if (r.n && !error)
		error = run_move(a, &r, false);
	return error;
}

/* Imported pages that are not there any more, which must not be touched. */
static uintptr_t find_foreign(struct attach *a, uintptr_t from, uintptr_t last)
{
	uintptr_t first;
	sigset_t mask;

	attach_views_lock(a, &mask);
	first = attach_foreign(a, from, last);
	attach_views_unlock(a, &mask);
	return first;
}

static int import_job(struct attach *a)
{
	uint32_t receives = a->job.access & (FL_LOCAL_WRITE | FL_REMOTE_WRITE) ?
				    OWN_RECEIVES : 0;
	struct os_map m = { 0 };
	struct attach_page *p;
	struct attach_run g;
	uintptr_t va;
	int error;

	find_foreign(a, job_start_va(a), job_last(a));
	for (va = job_start_va(a); job_next(a, &va); va += attach_granule(a)) {
		error = granule_check(a, va, &m, &g);
		if (error)
			return error;
	}
	error = import_checked(a);
	for (va = job_start_va(a); job_next(a, &va); va += ATTACH_PAGE) {
		p = attach_page(a, va);
		if (!p || !(atomic_load(&p->own) & OWN_IMPORTED))
			continue;
		atomic_fetch_or(&p->own, receives);
		atomic_fetch_add(&p->own, 1u << OWN_COUNT_SHIFT);
	}
	/* What was imported of a range that failed goes back by the same way. */
	if (error)
		import_uncount(a, job_start_va(a), job_last(a));
	return error;
}

/*
 * With all pages from..last that are imported: one region less, and those that
 * are in none go back.
 */
static void import_uncount(struct attach *a, uintptr_t from, uintptr_t last)
{
	struct attach_page *p;
	struct attach_run r = { 0 };
	uintptr_t va = from, foreign = find_foreign(a, from, last);
	const char *said = "faultline: memory was unmapped while a region held "
			   "it; it stays as it is now: 0x";
	uint32_t own;
	bool keep;
	int prot;

	if (foreign)
		attach_say(&said, 1, foreign);
	for (; attach_next(a, &va, last, &p); va += ATTACH_PAGE) {
		own = atomic_load(&p->own);
		if (own >> OWN_COUNT_SHIFT)
			own = atomic_fetch_sub(&p->own, 1u << OWN_COUNT_SHIFT) -
			      (1u << OWN_COUNT_SHIFT);
		prot = prot_of(own);
		keep = own & OWN_PINNED;
		if (r.n && (own >> OWN_COUNT_SHIFT || r.n == ATTACH_BATCH ||
			    r.prot != prot || r.keep != keep ||
			    r.va + attach_run_bytes(&r) != va)) {
			run_move(a, &r, true);
			r.n = 0;
		}
		if (own >> OWN_COUNT_SHIFT)
			continue;
		if (!r.n)
			r = (struct attach_run){ .va = va, .prot = prot,
					  .keep = keep };
		r.n++;
	}
	if (r.n)
		run_move(a, &r, true);
}

static void return_all(struct attach *a)
{
	struct attach_page *p;
	uintptr_t va;

	for (va = 0; attach_next(a, &va, UINTPTR_MAX, &p); va += ATTACH_PAGE)
		atomic_fetch_and(&p->own, (1u << OWN_COUNT_SHIFT) - 1);
	import_uncount(a, 0, UINTPTR_MAX);
	for (va = 0; attach_next(a, &va, UINTPTR_MAX, &p); va += ATTACH_PAGE)
		atomic_store(&p->own, OWN_MOVED_ONCE);
}

static void import_on_stack(struct attach *a, void (*fn)(struct attach *a,
							 const struct attach_run *r))
{
	struct attach_page *p;
	struct attach_run r = { .n = attach_granule(a) / ATTACH_PAGE };

	r.va = job_start_va(a);
	for (; attach_next(a, &r.va, job_last(a), &p); r.va += attach_granule(a)) {
		r.prot = prot_of(atomic_load(&p->own));
		fn(a, &r);
	}
}

void attach_job_do(struct attach *a)
{
	a->job.result = 0;
	a->pieces = ATTACH_BATCH;
	switch (a->job.kind) {
	case JOB_IMPORT:
		a->job.result = import_job(a);
		break;
	case JOB_RETURN:
		import_uncount(a, job_start_va(a), job_last(a));
		break;
	case JOB_RETURN_ALL:
		return_all(a);
		break;
	case JOB_STACK_OUT:
		import_on_stack(a, attach_stack_out);
		break;
	case JOB_STACK_BACK:
		import_on_stack(a, attach_stack_back);
		break;
	}
}
