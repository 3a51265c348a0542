// SPDX-License-Identifier: BSD-2-Clause
/*
 * import.c - memory that the program has from elsewhere becomes memory of the
 * board, and comes back: in steps, while other threads read and write it.
 *
 * A page on its way is marked busy first; then it is made read-only (or closed)
 * and whoever wants more faults and waits in the handler; then its contents are
 * copied and the new page takes the place of the old one in one step. All of it
 * runs in the service thread, so that it may also move the stack of who asked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "attach/internal.h"
#include "faultline.h"

/* A run of pages that are moved in one step. */
struct run {
	uintptr_t va;
	unsigned int n;
	int prot;		/* FL_PROT_* that the program had */
	bool keep;
};

/*
 * The linker may look up a function only when it is called first, and then it
 * writes down the address among the program's data: not while that is moved. So
 * all that moving calls is called once before.
 */
int attach_rehearse(struct attach *a)
{
	uint64_t bytes = attach_granule(a);
	uint8_t *to = a->scratch, *from = to + bytes;
	int error;

	memcpy(from, to, bytes);
	os_yield();
	os_nap();
	attach_listen(a);
	shutdown(-1, SHUT_RDWR);
	error = os_protect(from, bytes, PROT_READ);
	if (!error)
		error = os_copy_from(to, from, bytes);
	if (!error)
		error = os_replace(to, from, bytes,
				   PROT_READ | PROT_WRITE);
	if (!error)
		error = os_view(to, 2 * bytes, PROT_READ | PROT_WRITE,
				-1, 0);
	return error;
}

/* ---- moving ---- */

#define PATIENCE	10000	/* naps */

/* Memory is short: shall it be tried once more? */
static bool import_try_again(int error, int *naps)
{
	if (error != -ENOMEM || ++*naps == PATIENCE)
		return false;
	os_nap();
	return true;
}

int attach_replace(void *at, const void *from, uint64_t bytes, int prot)
{
	int error, naps = 0;

	do {
		error = os_replace(at, from, bytes, prot);
	} while (import_try_again(error, &naps));
	return error;
}

static struct attach_page *run_page(struct attach *a, const struct run *r,
				    unsigned int i)
{
	return attach_page(a, r->va + i * (uintptr_t)ATTACH_PAGE);
}

static uint64_t run_bytes(const struct run *r)
{
	return r->n * (uint64_t)ATTACH_PAGE;
}

static void busy_begin(struct attach *a, const struct run *r)
{
	unsigned int i;

	/* Before the page changes: who faults on it must find it marked. */
	for (i = 0; i < r->n; i++)
		atomic_fetch_or(&run_page(a, r, i)->own, OWN_BUSY |
				OWN_MOVED_ONCE);
}

static void busy_end(struct attach *a, const struct run *r, uint32_t set,
		     uint32_t clear)
{
	unsigned int i;

	atomic_fetch_add(&a->moves, 1);
	for (i = 0; i < r->n; i++) {
		atomic_fetch_or(&run_page(a, r, i)->own, set);
		atomic_fetch_and(&run_page(a, r, i)->own, ~(clear | OWN_BUSY));
	}
}

/* Two steps of the protocol with the same arguments. */
static int import_tell(struct attach *a, uint32_t op, const struct run *r,
		       uint64_t a2, int result, uint32_t *frame)
{
	struct attach_ask q = {
		.op = op,
		.arg = { r->va, r->n, a2, (uint64_t)(int64_t)result },
		.payload = frame,
		.payload_out = frame ? r->n * 4 : 0,
	};
	unsigned int i;
	int error = attach_call(a, &q);

	for (i = 0; i < r->n && frame && !error; i++)
		if (frame[i] >= a->hello.frames)
			error = -EPROTO;
	return error;
}

/* Map the frames in place, those side by side at once; with the flag. */
static int map_frames(struct attach *a, const struct run *r,
		      const uint32_t *frame, unsigned int *done)
{
	unsigned int i, n;
	int error;

	for (i = 0; i < r->n; i += n) {
		for (n = 1; i + n < r->n && frame[i + n] == frame[i] + n; n++)
			;
		error = attach_map(a, r->va + i * (uintptr_t)ATTACH_PAGE, n,
				   frame[i], r->prot);
		*done = i + (error ? 0 : n);
		if (error)
			return error;
	}
	return 0;
}

static void put_back(struct attach *a, const struct run *r,
		     const uint32_t *frame, unsigned int n)
{
	uintptr_t va = r->va;
	unsigned int i;

	for (i = 0; i < n; i++, va += ATTACH_PAGE) {
		/* Frames of a granule lie side by side. */
		if (va % attach_granule(a) == 0 &&
		    attach_replace((void *)va, a->bank + (uint64_t)frame[i] *
			       ATTACH_PAGE, attach_granule(a),
			       attach_host_prot(r->prot))) {
			os_say("faultline: memory cannot be put back\n");
			abort();
		}
		atomic_store(&run_page(a, r, i)->view, 0);
	}
	os_protect((void *)r->va, run_bytes(r), attach_host_prot(r->prot));
}

/* Contents of the pages into their frames, and these in their place. */
static int import_move_in(struct attach *a, const struct run *r,
			  const uint32_t *frame)
{
	unsigned int i, done = 0;
	sigset_t mask;
	int error;

	attach_views_lock(a, &mask);
	error = attach_protect(a, r->va, run_bytes(r), PROT_READ);
	for (i = 0; i < r->n && !error; i++)
		error = os_copy_from(a->bank + (uint64_t)frame[i] * ATTACH_PAGE,
				     (void *)(r->va + i *
					      (uintptr_t)ATTACH_PAGE),
				     ATTACH_PAGE);
	if (!error)
		error = map_frames(a, r, frame, &done);
	if (error)
		put_back(a, r, frame, done);
	attach_views_unlock(a, &mask);
	return error;
}

static int import_run(struct attach *a, const struct run *r)
{
	uint32_t frame[ATTACH_BATCH], set = OWN_IMPORTED;
	int error, next;

	error = import_tell(a, ATTACH_IMPORT, r, (uint64_t)r->prot, 0, frame);
	if (error)
		return error;
	busy_begin(a, r);
	error = import_move_in(a, r, frame);
	if (error) {
		busy_end(a, r, 0, 0);
	} else {
		set |= r->prot & FL_PROT_WRITE ? OWN_WRITE : 0;
		set |= r->keep ? OWN_PINNED : 0;
		atomic_fetch_add(&a->imported, r->n);
		busy_end(a, r, set, 0);
	}
	/* Only now may the board take them away again. */
	next = import_tell(a, ATTACH_IMPORTED, r, r->keep, error, NULL);
	return error ? error : next;
}

/* ---- back ---- */

/* Pages that the board can no more bring are lost; they stay closed. */
static void keep_frames(struct attach *a, const struct run *r, uint32_t *frame)
{
	unsigned int i;
	uint32_t view;

	for (i = 0; i < r->n; i++) {
		view = atomic_load(&run_page(a, r, i)->view);
		frame[i] = view >> VIEW_PROT_SHIFT ?
			   (view & VIEW_FRAME) - 1 : ~0u;
	}
}

static bool all_open(struct attach *a, const struct run *r)
{
	unsigned int i;

	for (i = 0; i < r->n; i++)
		if (!(atomic_load(&run_page(a, r, i)->view) >> VIEW_PROT_SHIFT))
			return false;
	return true;
}

static bool is_foreign(struct attach *a, const struct run *r, unsigned int i)
{
	return atomic_load(&run_page(a, r, i)->own) & OWN_FOREIGN;
}

/* All of the run that is still there. */
static int protect_run(struct attach *a, const struct run *r, int prot)
{
	unsigned int i, n;
	int error = 0;

	for (i = 0; i < r->n && !error; i += n) {
		for (n = 1; i + n < r->n &&
		     is_foreign(a, r, i + n) == is_foreign(a, r, i); n++)
			;
		if (!is_foreign(a, r, i))
			error = attach_protect(a, r->va +
					       i * (uintptr_t)ATTACH_PAGE,
					       n * (uint64_t)ATTACH_PAGE, prot);
	}
	return error;
}

static int move_out(struct attach *a, const struct run *r,
		    const uint32_t *frame)
{
	unsigned int i, n;
	int error, naps = 0;

	/*
	 * Who reads need not wait, and must not where the library's own
	 * addresses are. But a page that is closed may be a view of somebody
	 * else's frame by now: then nobody reads.
	 */
	do {
		error = protect_run(a, r, all_open(a, r) ? PROT_READ : PROT_NONE);
	} while (import_try_again(error, &naps));
	for (i = 0; i < r->n && !error; i++)
		if (frame[i] != ~0u)
			memcpy(a->scratch + (uint64_t)i * ATTACH_PAGE,
			       a->bank + (uint64_t)frame[i] * ATTACH_PAGE,
			       ATTACH_PAGE);
	for (i = 0; i < r->n && !error; i += n) {
		for (n = 1; i + n < r->n &&
		     (frame[i + n] == ~0u) == (frame[i] == ~0u); n++)
			;
		if (frame[i] != ~0u)
			error = attach_replace((void *)(r->va + i *
							(uintptr_t)ATTACH_PAGE),
					       a->scratch +
					       (uint64_t)i * ATTACH_PAGE,
					       n * (uint64_t)ATTACH_PAGE,
					       attach_host_prot(r->prot));
	}
	return error;
}

static void return_run(struct attach *a, const struct run *r)
{
	uint32_t frame[ATTACH_BATCH];
	unsigned int i;
	sigset_t mask;
	bool gone;
	int error;

	error = import_tell(a, ATTACH_RETURN, r, 0, 0, frame);
	gone = error == -ENODEV;
	/* The board cannot bring them in: they stay its own, and in use. */
	if (error && !gone)
		return;
	busy_begin(a, r);
	attach_views_lock(a, &mask);
	if (gone)
		keep_frames(a, r, frame);
	for (i = 0; i < r->n; i++)
		if (is_foreign(a, r, i))
			frame[i] = ~0u;
	error = move_out(a, r, frame);
	if (error) {
		/* Half of it may be out; nothing that is right is left to do. */
		os_say("faultline: memory cannot be given back\n");
		abort();
	}
	for (i = 0; i < r->n; i++)
		atomic_store(&run_page(a, r, i)->view, 0);
	attach_views_unlock(a, &mask);
	atomic_fetch_sub(&a->imported, r->n);
	busy_end(a, r, 0, OWN_IMPORTED | OWN_PINNED | OWN_WRITE | OWN_FOREIGN);
	if (!gone)
		import_tell(a, ATTACH_RETURNED, r, 0, 0, NULL);
}

/* ---- the stack of who forks ---- */

/*
 * Parent and child would run on the same frames. So these pages become private
 * for the time of the fork; the board keeps their frames. Its answer to a fault
 * that was under way must not be taken for news meanwhile: OWN_DETACHED.
 */

/* All of the run open, busy and under the flag; false: the board is gone. */
static bool stack_open(struct attach *a, const struct run *r, sigset_t *mask)
{
	unsigned int i, round;

	for (round = 0; round < ATTACH_ROUNDS; round++) {
		busy_begin(a, r);
		attach_views_lock(a, mask);
		if (all_open(a, r))
			return true;
		attach_views_unlock(a, mask);
		busy_end(a, r, 0, 0);
		/* Absent: its thread is not the one that registered it. */
		for (i = 0; i < r->n; i++)
			attach_fault(a, r->va + i * (uintptr_t)ATTACH_PAGE, 0);
		if (attach_error(a))
			return false;
	}
	os_say("faultline: a stack does not come to be made ready for fork\n");
	abort();
}

static void stack_out(struct attach *a, const struct run *r)
{
	uint32_t frame[ATTACH_BATCH];
	unsigned int i;
	sigset_t mask;

	if (!stack_open(a, r, &mask))
		return;
	keep_frames(a, r, frame);
	if (move_out(a, r, frame)) {
		os_say("faultline: a stack cannot be made ready for fork\n");
		abort();
	}
	/* Which frame it was stays written down. */
	for (i = 0; i < r->n; i++)
		atomic_fetch_and(&run_page(a, r, i)->view, VIEW_FRAME);
	attach_views_unlock(a, &mask);
	busy_end(a, r, OWN_DETACHED, 0);
}

static void stack_back(struct attach *a, const struct run *r)
{
	uint32_t frame[ATTACH_BATCH];
	unsigned int i;

	if (!(atomic_load(&run_page(a, r, 0)->own) & OWN_DETACHED))
		return;
	for (i = 0; i < r->n; i++) {
		frame[i] = (atomic_load(&run_page(a, r, i)->view) &
			    VIEW_FRAME) - 1;
		atomic_store(&run_page(a, r, i)->view, 0);
	}
	busy_begin(a, r);
	if (import_move_in(a, r, frame)) {
		os_say("faultline: a stack cannot be put back after fork\n");
		abort();
	}
	busy_end(a, r, 0, OWN_DETACHED);
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
			 struct run *r)
{
	*r = (struct run){ .va = va, .n = attach_granule(a) / ATTACH_PAGE };
	return attach_eligible(a, va, m, &r->prot, &r->keep);
}

static bool run_joins(const struct run *r, const struct run *g)
{
	return r->n && r->n + g->n <= ATTACH_BATCH && r->prot == g->prot &&
	       r->keep == g->keep && r->va + run_bytes(r) == g->va;
}

static int import_checked(struct attach *a)
{
	struct run r = { 0 }, g;
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
			error = import_run(a, &r);
		r = g;
	}
	if (r.n && !error)
		error = import_run(a, &r);
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
	struct os_map m = { 0 };
	struct attach_page *p;
	struct run g;
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
		if (p && atomic_load(&p->own) & OWN_IMPORTED)
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
	struct run r = { 0 };
	uintptr_t va = from, foreign = find_foreign(a, from, last);
	const char *said = "faultline: memory was unmapped while a region held "
			   "it; it stays as it is now: 0x";
	uint32_t own;
	bool keep;
	int prot;

	if (foreign)
		attach_say(&said, 1, foreign);
	for (; attach_next(a, &va, &p) && va <= last; va += ATTACH_PAGE) {
		own = atomic_load(&p->own);
		if (own >> OWN_COUNT_SHIFT)
			own = atomic_fetch_sub(&p->own, 1u << OWN_COUNT_SHIFT) -
			      (1u << OWN_COUNT_SHIFT);
		prot = prot_of(own);
		keep = own & OWN_PINNED;
		if (r.n && (own >> OWN_COUNT_SHIFT || r.n == ATTACH_BATCH ||
			    r.prot != prot || r.keep != keep ||
			    r.va + run_bytes(&r) != va)) {
			return_run(a, &r);
			r.n = 0;
		}
		if (own >> OWN_COUNT_SHIFT)
			continue;
		if (!r.n)
			r = (struct run){ .va = va, .prot = prot,
					  .keep = keep };
		r.n++;
	}
	if (r.n)
		return_run(a, &r);
}

static void return_all(struct attach *a)
{
	struct attach_page *p;
	uintptr_t va;

	for (va = 0; attach_next(a, &va, &p); va += ATTACH_PAGE)
		atomic_fetch_and(&p->own, (1u << OWN_COUNT_SHIFT) - 1);
	import_uncount(a, 0, UINTPTR_MAX);
	for (va = 0; attach_next(a, &va, &p); va += ATTACH_PAGE)
		atomic_store(&p->own, OWN_MOVED_ONCE);
}

static void import_on_stack(struct attach *a, void (*fn)(struct attach *a,
							 const struct run *r))
{
	struct attach_page *p;
	struct run r = { .n = attach_granule(a) / ATTACH_PAGE };

	r.va = job_start_va(a);
	for (; attach_next(a, &r.va, &p) && r.va <= job_last(a);
	     r.va += attach_granule(a)) {
		r.prot = prot_of(atomic_load(&p->own));
		fn(a, &r);
	}
}

void attach_job_do(struct attach *a)
{
	a->job.result = 0;
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
		import_on_stack(a, stack_out);
		break;
	case JOB_STACK_BACK:
		import_on_stack(a, stack_back);
		break;
	}
}
