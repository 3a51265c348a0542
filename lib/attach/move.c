// SPDX-License-Identifier: BSD-2-Clause
/*
 * move.c - how a run of pages becomes memory of the board, and comes back, while other
 * threads read and write it.
 *
 * A page on its way is marked busy first; then it is made read-only (or closed)
 * and whoever wants more faults and waits in the handler; then its contents are
 * copied and the new page takes the place of the old one in one step.
 *
 * Pages that the program has never touched are not copied. They are closed and stay
 * as they are; the board takes them for memory that is still to come, and opens them
 * as zeros when somebody wants them. Whether they are untouched is asked once more after
 * they were closed: from then on nobody can touch them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/move.h"
#include "faultline.h"

/* For frame numbers: the page stays as it is, since it is lost or somebody else's. */
#define LEAVE (ATTACH_NO_FRAME - 1)
/* Untouched, but so few that the program gets zeros that take memory. */
#define ZEROS (ATTACH_NO_FRAME - 2)
#define FEW 16u

/* ---- steps ---- */

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

static struct attach_page *run_page(struct attach *a, const struct attach_run *r,
				    unsigned int i)
{
	return attach_page(a, r->va + i * (uintptr_t)ATTACH_PAGE);
}

static void busy_begin(struct attach *a, const struct attach_run *r)
{
	unsigned int i;

	/* Before the page changes: who faults on it must find it marked. */
	for (i = 0; i < r->n; i++)
		atomic_fetch_or(&run_page(a, r, i)->own, OWN_BUSY |
				OWN_MOVED_ONCE);
}

static void busy_end(struct attach *a, const struct attach_run *r, uint32_t set,
		     uint32_t clear)
{
	unsigned int i;

	atomic_fetch_add(&a->moves, 1);
	for (i = 0; i < r->n; i++) {
		atomic_fetch_or(&run_page(a, r, i)->own, set);
		atomic_fetch_and(&run_page(a, r, i)->own, ~(clear | OWN_BUSY));
	}
}

/* A step of the protocol. without: a bit for each page that may get no frame. */
static int import_tell(struct attach *a, uint32_t op,
		       const struct attach_run *r, uint64_t a2, uint64_t a3,
		       uint32_t *frame, uint64_t without)
{
	struct attach_ask q = {
		.op = op,
		.arg = { r->va, r->n, a2, a3 },
		.payload = frame,
		.payload_out = frame ? r->n * 4 : 0,
	};
	unsigned int i;
	int error = attach_call(a, &q);

	for (i = 0; i < r->n && frame && !error; i++)
		if (frame[i] >= a->hello.frames &&
		    (frame[i] != ATTACH_NO_FRAME || !(without >> i & 1)))
			error = -EPROTO;
	return error;
}

/* Pages of the run from i on that are alike: so many have the same bit in mask. */
static unsigned int run_alike(const struct attach_run *r, unsigned int i,
			      uint64_t mask)
{
	unsigned int n = 1;

	while (i + n < r->n && (mask >> (i + n) & 1) == (mask >> i & 1))
		n++;
	return n;
}

static uintptr_t run_va(const struct attach_run *r, unsigned int i)
{
	return r->va + i * (uintptr_t)ATTACH_PAGE;
}

/* Map the frames in place, those side by side at once; with the flag. */
static int map_frames(struct attach *a, const struct attach_run *r,
		      const uint32_t *frame, unsigned int *done)
{
	unsigned int i, n;
	int error;

	for (i = 0; i < r->n; i += n) {
		n = 1;
		if (frame[i] == ATTACH_NO_FRAME)
			continue;
		while (i + n < r->n && frame[i + n] == frame[i] + n)
			n++;
		error = attach_map(a, run_va(r, i), n, frame[i], r->prot);
		*done = i + (error ? 0 : n);
		if (error)
			return error;
	}
	return 0;
}

static void put_back(struct attach *a, const struct attach_run *r,
		     const uint32_t *frame, unsigned int n)
{
	uintptr_t va = r->va;
	unsigned int i;

	for (i = 0; i < n; i++, va += ATTACH_PAGE) {
		/* Frames of a granule lie side by side. */
		if (va % attach_granule(a) == 0 &&
		    frame[i] != ATTACH_NO_FRAME &&
		    attach_replace((void *)va, a->bank + (uint64_t)frame[i] *
			       ATTACH_PAGE, attach_granule(a),
			       attach_host_prot(r->prot))) {
			os_say("faultline: memory cannot be put back\n");
			abort();
		}
		atomic_store(&run_page(a, r, i)->view, 0);
	}
	os_protect((void *)r->va, attach_run_bytes(r), attach_host_prot(r->prot));
}

/* Contents of n pages from the i-th on into their frames. */
static int run_copy(struct attach *a, const struct attach_run *r,
		    const uint32_t *frame, unsigned int i, unsigned int n)
{
	int error = attach_protect(a, run_va(r, i), n * (uint64_t)ATTACH_PAGE,
				   PROT_READ);

	for (; n && !error; n--, i++)
		error = os_copy_caught(a->bank + (uint64_t)frame[i] * ATTACH_PAGE,
				       (void *)run_va(r, i), ATTACH_PAGE);
	return error;
}

/*
 * Contents of the pages into their frames, and these in their place. An untouched page
 * may have a frame all the same, with zeros: of a thread that wanted it long ago.
 */
static int run_fill(struct attach *a, const struct attach_run *r,
		    const uint32_t *frame, uint64_t untouched)
{
	unsigned int i, n, done = 0;
	sigset_t mask;
	int error = 0;

	attach_views_lock(a, &mask);
	for (i = 0; i < r->n && !error; i += n) {
		n = run_alike(r, i, untouched);
		if (!(untouched >> i & 1))
			error = run_copy(a, r, frame, i, n);
	}
	if (!error)
		error = map_frames(a, r, frame, &done);
	if (error)
		put_back(a, r, frame, done);
	attach_views_unlock(a, &mask);
	return error;
}

/* Those of the run that were never touched, whole granules: a bit for each page. */
static uint64_t run_untouched(struct attach *a, const struct attach_run *r)
{
	uint64_t bytes = os_page_bytes(), mask = 0, of_system;
	unsigned int i, all = attach_granule(a) / ATTACH_PAGE;

	if (os_pages_untouched((void *)r->va,
			       (unsigned int)(attach_run_bytes(r) / bytes),
			       &of_system))
		return 0;
	for (i = 0; i < r->n; i++)
		mask |= (of_system >> i * ATTACH_PAGE / bytes & 1) << i;
	for (i = 0; i < r->n; i += all)
		if (run_alike(r, i, mask) < all)
			mask &= ~(((1ull << all) - 1) << i);
	return mask;
}

/* Busy, and whoever wants it waits: what was untouched now stays so. */
static int run_close(struct attach *a, const struct attach_run *r,
		     uint64_t *untouched)
{
	sigset_t mask;
	int error;

	attach_views_lock(a, &mask);
	error = attach_protect(a, r->va, attach_run_bytes(r), PROT_NONE);
	if (!error)
		*untouched = run_untouched(a, r);
	attach_views_unlock(a, &mask);
	return error;
}

static void run_reopen(struct attach *a, const struct attach_run *r)
{
	sigset_t mask;

	attach_views_lock(a, &mask);
	os_protect((void *)r->va, attach_run_bytes(r),
		   attach_host_prot(r->prot));
	attach_views_unlock(a, &mask);
}

int attach_move_in(struct attach *a, const struct attach_run *r)
{
	uint64_t untouched = r->anonymous ? run_untouched(a, r) : 0;
	uint32_t frame[ATTACH_BATCH], set = OWN_IMPORTED;
	bool closed = untouched != 0;
	int error = 0, next;

	busy_begin(a, r);
	if (closed)
		error = run_close(a, r, &untouched);
	if (!error)
		error = import_tell(a, ATTACH_IMPORT, r, (uint64_t)r->prot,
				    untouched, frame, untouched);
	if (error) {
		if (closed)
			run_reopen(a, r);
		busy_end(a, r, 0, 0);
		return error;
	}
	error = run_fill(a, r, frame, untouched);
	if (!error) {
		set |= r->prot & FL_PROT_WRITE ? OWN_WRITE : 0;
		set |= r->keep ? OWN_PINNED : 0;
		atomic_fetch_add(&a->imported, r->n);
	}
	busy_end(a, r, error ? 0 : set, 0);
	/* Only now may the board take them away again. */
	next = import_tell(a, ATTACH_IMPORTED, r, r->keep,
			   (uint64_t)(int64_t)error, NULL, 0);
	return error ? error : next;
}

/* ---- back ---- */

/*
 * The board is gone. Pages that it can no more bring are lost; they stay closed. But what
 * this process never had open, and the card was never to write, is zeros.
 */
static void keep_frames(struct attach *a, const struct attach_run *r,
			uint32_t *frame)
{
	struct attach_page *p;
	unsigned int i;
	uint32_t view;

	for (i = 0; i < r->n; i++) {
		p = run_page(a, r, i);
		view = atomic_load(&p->view);
		frame[i] = view >> VIEW_PROT_SHIFT ? (view & VIEW_FRAME) - 1 :
			   LEAVE;
		if (!view && !(atomic_load(&p->own) & OWN_RECEIVES))
			frame[i] = ATTACH_NO_FRAME;
	}
}

static bool all_open(struct attach *a, const struct attach_run *r)
{
	unsigned int i;

	for (i = 0; i < r->n; i++)
		if (!(atomic_load(&run_page(a, r, i)->view) >> VIEW_PROT_SHIFT))
			return false;
	return true;
}

static bool is_foreign(struct attach *a, const struct attach_run *r, unsigned int i)
{
	return atomic_load(&run_page(a, r, i)->own) & OWN_FOREIGN;
}

/* All of the run that is still there. */
static int protect_run(struct attach *a, const struct attach_run *r, int prot)
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

/* Zeros: the memory that was closed there all the time, or new one. */
static int open_zeros(struct attach *a, const struct attach_run *r,
		      unsigned int i, unsigned int n)
{
	int prot = attach_host_prot(r->prot);

	if (!atomic_load(&run_page(a, r, i)->view))
		return attach_protect(a, run_va(r, i),
				      n * (uint64_t)ATTACH_PAGE, prot);
	return os_view((void *)run_va(r, i), n * (uint64_t)ATTACH_PAGE, prot,
		       -1, 0);
}

/*
 * Each piece that differs from its neighbours is a range of its own as long as the
 * program has it, and the system allows a process only so many. So a few untouched
 * pages between others go with these.
 */
static void zeros_join(const struct attach_run *r, uint32_t *frame)
{
	unsigned int i, n, k;
	bool beside;

	for (i = 0; i < r->n; i += n) {
		for (n = 1; i + n < r->n && (frame[i + n] == ATTACH_NO_FRAME) ==
					    (frame[i] == ATTACH_NO_FRAME); n++)
			;
		beside = (i && frame[i - 1] < LEAVE) ||
			 (i + n < r->n && frame[i + n] < LEAVE);
		if (frame[i] == ATTACH_NO_FRAME && n < FEW && beside)
			for (k = 0; k < n; k++)
				frame[i + k] = ZEROS;
	}
}

enum { PIECE_COPY, PIECE_LEAVE, PIECE_CLOSED, PIECE_FORGOTTEN };
static int piece_kind(struct attach *a, const struct attach_run *r,
		      const uint32_t *frame, unsigned int i)
{
	if (frame[i] == LEAVE)
		return PIECE_LEAVE;
	if (frame[i] != ATTACH_NO_FRAME)
		return PIECE_COPY;
	return atomic_load(&run_page(a, r, i)->view) ? PIECE_FORGOTTEN :
						       PIECE_CLOSED;
}

/* Pages of one kind, whose contents are in the scratch area, if they have any. */
static int piece_out(struct attach *a, const struct attach_run *r, int kind,
		     unsigned int i, unsigned int n)
{
	int error, naps = 0;

	if (kind == PIECE_COPY)
		return attach_replace((void *)run_va(r, i),
				      a->scratch + (uint64_t)i * ATTACH_PAGE,
				      n * (uint64_t)ATTACH_PAGE,
				      attach_host_prot(r->prot));
	if (kind == PIECE_LEAVE)
		return 0;
	do {
		error = open_zeros(a, r, i, n);
	} while (import_try_again(error, &naps));
	return error;
}

/* To the scratch area, where they stay when the frames go. */
static void run_save(struct attach *a, const struct attach_run *r,
		     const uint32_t *frame)
{
	unsigned int i;
	uint8_t *to;

	for (i = 0; i < r->n; i++) {
		to = a->scratch + (uint64_t)i * ATTACH_PAGE;
		if (frame[i] < ZEROS)
			memcpy(to, a->bank + (uint64_t)frame[i] * ATTACH_PAGE,
			       ATTACH_PAGE);
		else if (frame[i] == ZEROS)
			memset(to, 0, ATTACH_PAGE);
	}
}

static int move_out(struct attach *a, const struct attach_run *r,
		    uint32_t *frame)
{
	unsigned int i, n;
	int error, kind, naps = 0;

	zeros_join(r, frame);
	/*
	 * Readers need not wait, and must not where the library's own data
	 * are. But a page that is closed may be a view of another process's
	 * frame by now: then nobody may read.
	 */
	do {
		error = protect_run(a, r, all_open(a, r) ? PROT_READ : PROT_NONE);
	} while (import_try_again(error, &naps));
	if (!error)
		run_save(a, r, frame);
	for (i = 0; i < r->n && !error; i += n) {
		kind = piece_kind(a, r, frame, i);
		for (n = 1; i + n < r->n &&
		     piece_kind(a, r, frame, i + n) == kind; n++)
			;
		error = piece_out(a, r, kind, i, n);
	}
	return error;
}

int attach_move_out(struct attach *a, const struct attach_run *r)
{
	uint32_t frame[ATTACH_BATCH];
	unsigned int i;
	sigset_t mask;
	bool gone;
	int error;

	/* From its answer on the board opens none of them. */
	error = import_tell(a, ATTACH_RETURN, r, 0, 0, frame, ~0ull);
	gone = error == -ENODEV;
	/* The board cannot bring them in: they stay its own, and in use. */
	if (error && !gone)
		return error;
	busy_begin(a, r);
	attach_views_lock(a, &mask);
	if (gone)
		keep_frames(a, r, frame);
	for (i = 0; i < r->n; i++)
		if (is_foreign(a, r, i))
			frame[i] = LEAVE;
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
	busy_end(a, r, 0, OWN_IMPORTED | OWN_PINNED | OWN_WRITE | OWN_FOREIGN |
		 OWN_RECEIVES | OWN_ZEROS);
	if (!gone)
		import_tell(a, ATTACH_RETURNED, r, 0, 0, NULL, 0);
	return 0;
}

/* ---- the stack of who forks ---- */

/*
 * Parent and child would run on the same frames. So these pages become private
 * for the time of the fork; the board keeps their frames. Its answer to a fault
 * that was under way must not be taken for news meanwhile: OWN_DETACHED.
 */

/* All of the run open, busy and under the flag; false: the board is gone. */
static bool stack_open(struct attach *a, const struct attach_run *r, sigset_t *mask)
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

void attach_stack_out(struct attach *a, const struct attach_run *r)
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

void attach_stack_back(struct attach *a, const struct attach_run *r)
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
	if (run_fill(a, r, frame, 0)) {
		os_say("faultline: a stack cannot be put back after fork\n");
		abort();
	}
	busy_end(a, r, 0, OWN_DETACHED);
}
