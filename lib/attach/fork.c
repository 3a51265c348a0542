// SPDX-License-Identifier: BSD-2-Clause
/*
 * fork.c - a process that is attached forks. In the child no board is open any
 * more: calls return -EPERM, memory of boards is not there, and imported memory
 * is a private copy, as after any fork.
 *
 * Before the fork all imported pages are made present, but for those that nobody has
 * touched so far, and the view lock is held so that they stay. The child copies them
 * out of the bank, opens its own untouched ones, and says so on a pipe; until then the
 * parent holds the flag. Pages of the forking thread's own stack are made private before
 * (move.c), since both go on running on them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/internal.h"
#include "faultline.h"

/* Of the one fork that is going on: the slots' lock is held meanwhile. */
static struct {
	int pipe[2];
	bool in[ATTACH_BOARDS];		/* attachments that were live */
	sigset_t mask[ATTACH_BOARDS];
	uintptr_t stack_start, stack_end;
	bool ready;			/* the handlers are installed */
} forking;

static bool fork_on_stack(uintptr_t va)
{
	return va >= forking.stack_start && va < forking.stack_end;
}

/* Has this process had none of it open so far? */
static bool fork_never_open(uintptr_t va, struct attach_page *p)
{
	return !fork_on_stack(va) && !atomic_load(&p->view) &&
	       (atomic_load(&p->own) & (OWN_IMPORTED | OWN_FOREIGN)) ==
	       OWN_IMPORTED;
}

/* The pages from va on that this process never had open; the first one is. */
static unsigned int fork_run(struct attach *a, uintptr_t va)
{
	unsigned int n = 1;
	struct attach_page *p;

	for (; n < ATTACH_LOOK_PAGES; n++) {
		va += ATTACH_PAGE;
		p = attach_inside(a, va) ? NULL : attach_page(a, va);
		if (!p || !fork_never_open(va, p))
			break;
	}
	return n - n % (attach_granule(a) / ATTACH_PAGE);
}

/*
 * Which pages are zeros, because nor has the card touched them? The board knows. One
 * that a thread touches from now on is open, or was.
 */
static void fork_look(struct attach *a)
{
	uint8_t bits[ATTACH_PAYLOAD];
	struct attach_ask q = { .op = ATTACH_LOOK, .payload = bits,
				.payload_out = sizeof(bits) };
	struct attach_page *p;
	unsigned int i, n;
	uintptr_t va;

	for (va = 0; attach_next(a, &va, UINTPTR_MAX, &p); va += n * (uintptr_t)ATTACH_PAGE) {
		n = fork_never_open(va, p) ? fork_run(a, va) : 0;
		q.arg[0] = va;
		q.arg[1] = n;
		if (!n || attach_call(a, &q))
			memset(bits, 0, sizeof(bits));
		n = n ? n : 1;
		for (i = 0; i < n; i++) {
			p = attach_page(a, va + i * (uintptr_t)ATTACH_PAGE);
			if (bits[i / 8] >> i % 8 & 1)
				atomic_fetch_or(&p->own, OWN_ZEROS);
			else
				atomic_fetch_and(&p->own, ~OWN_ZEROS);
		}
	}
}

static bool fork_zeros(struct attach_page *p)
{
	return atomic_load(&p->own) & OWN_ZEROS && !atomic_load(&p->view);
}

/* Bring in what is absent; true: there was none. */
static bool all_present(struct attach *a, bool ask)
{
	struct attach_page *p;
	bool all = true;
	uintptr_t va;

	for (va = 0; attach_next(a, &va, UINTPTR_MAX, &p); va += ATTACH_PAGE) {
		if (fork_on_stack(va) || atomic_load(&p->own) & OWN_FOREIGN ||
		    atomic_load(&p->view) >> VIEW_PROT_SHIFT || fork_zeros(p))
			continue;
		all = false;
		if (ask)
			attach_fault(a, va, 0);
	}
	return all;
}

static void fork_hold(struct attach *a, unsigned int slot)
{
	unsigned int i;

	/* No page comes or goes by a region. */
	attach_job_lock(a);
	if (atomic_load(&a->imported) && forking.stack_end)
		attach_job_locked(a, JOB_STACK_OUT,
				  (void *)forking.stack_start,
				  forking.stack_end - forking.stack_start, 0);
	for (i = 0; i < ATTACH_ROUNDS; i++) {
		fork_look(a);
		attach_views_lock(a, &forking.mask[slot]);
		attach_foreign(a, 0, UINTPTR_MAX);
		if (all_present(a, false) || attach_error(a))
			return;
		attach_views_unlock(a, &forking.mask[slot]);
		all_present(a, true);
	}
	/* Under such pressure some may be missing in the child. */
	attach_views_lock(a, &forking.mask[slot]);
}

static void fork_prepare(void)
{
	struct attach *a;
	unsigned int i;

	attach_slots_lock();
	if (!os_stack(&forking.stack_start, &forking.stack_end))
		forking.stack_start = forking.stack_end = 0;
	forking.pipe[0] = forking.pipe[1] = -1;
	for (i = 0; i < ATTACH_BOARDS; i++) {
		a = attach_slot(i);
		forking.in[i] = a && a->state == ATTACH_LIVE &&
				atomic_load(&a->error) != -EPERM;
		if (!forking.in[i])
			continue;
		if (forking.pipe[0] < 0 && !pipe(forking.pipe)) {
			fcntl(forking.pipe[0], F_SETFD, FD_CLOEXEC);
			fcntl(forking.pipe[1], F_SETFD, FD_CLOEXEC);
		}
		fork_hold(a, i);
	}
}

static void fork_parent(void)
{
	struct attach *a;
	unsigned int i;
	char c;

	if (forking.pipe[0] >= 0) {
		/* Its end, if the child never says it, or there is none. */
		close(forking.pipe[1]);
		while (read(forking.pipe[0], &c, 1) < 0 && errno == EINTR)
			;
		close(forking.pipe[0]);
	}
	for (i = ATTACH_BOARDS; i--;) {
		if (!forking.in[i])
			continue;
		a = attach_slot(i);
		attach_views_unlock(a, &forking.mask[i]);
		if (atomic_load(&a->imported) && forking.stack_end)
			attach_job_locked(a, JOB_STACK_BACK,
					  (void *)forking.stack_start,
					  forking.stack_end -
					  forking.stack_start, 0);
		attach_job_unlock(a);
	}
	attach_slots_unlock();
}

/* In the child: what is closed and zeros is its own already, and is opened. */
static void own_zeros(struct attach *a)
{
	uintptr_t va, from = 0, bytes = 0;
	struct attach_page *p;
	int of_page, prot = 0;

	for (va = 0; attach_next(a, &va, UINTPTR_MAX, &p); va += ATTACH_PAGE) {
		if (!fork_zeros(p) || p->own & OWN_FOREIGN)
			continue;
		of_page = p->own & OWN_WRITE ? PROT_READ | PROT_WRITE :
					       PROT_READ;
		if (bytes && (from + bytes != va || prot != of_page)) {
			if (os_protect((void *)from, bytes, prot))
				abort();
			bytes = 0;
		}
		from = bytes ? from : va;
		prot = of_page;
		bytes += ATTACH_PAGE;
	}
	if (bytes && os_protect((void *)from, bytes, prot))
		abort();
}

/* In the child: each imported page becomes its own, from the bank. */
static void own_pages(struct attach *a)
{
	struct attach_page *p;
	uint32_t view, i;
	uintptr_t va;
	int prot;

	for (va = 0; attach_next(a, &va, UINTPTR_MAX, &p); va += attach_granule(a)) {
		view = p->view;
		prot = p->own & OWN_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
		if (view >> VIEW_PROT_SHIFT && !(p->own & OWN_FOREIGN) &&
		    attach_replace((void *)va, a->bank + (uint64_t)
			       ((view & VIEW_FRAME) - 1) * ATTACH_PAGE,
			       attach_granule(a), prot))
			abort();
		for (i = 0; i < attach_granule(a) / ATTACH_PAGE; i++) {
			p = attach_page(a, va + i * (uintptr_t)ATTACH_PAGE);
			p->view = 0;
			p->own = OWN_MOVED_ONCE;
		}
	}
}

static void fork_child(void)
{
	struct attach *a;
	unsigned int i;

	for (i = 0; i < ATTACH_BOARDS; i++) {
		a = attach_slot(i);
		if (!a)
			continue;
		/* One that was just coming or going in another thread. */
		if (!forking.in[i]) {
			if (a->state != ATTACH_GOING)
				continue;
			attach_close_files(a);
			atomic_store(&a->users, 0);
			atomic_store(&a->state, ATTACH_NONE);
			continue;
		}
		atomic_store(&a->error, -EPERM);
		own_zeros(a);
		own_pages(a);
		if (os_view((void *)a->arena, ATTACH_ARENA_BYTES, PROT_NONE,
			    -1, 0) ||
		    os_view(a->page, ATTACH_PAGES * sizeof(*a->page),
			    PROT_READ | PROT_WRITE, -1, 0))
			abort();
		memset(&a->job, 0, sizeof(a->job));
		atomic_store(&a->users, 0);
		/*
		 * Queues of its own, in place of those that the parent goes on
		 * using: who posts or polls is to hear -EPERM, not to crash.
		 */
		if (os_view(a->bank, a->hello.bank_bytes,
			    PROT_READ | PROT_WRITE, -1, 0))
			abort();
		munmap(a->shared, a->hello.shared_bytes);
		a->shared = NULL;
		attach_close_files(a);
	}
	for (i = ATTACH_BOARDS; i--;)
		if (forking.in[i])
			attach_views_unlock(attach_slot(i), &forking.mask[i]);
	if (forking.pipe[0] >= 0) {
		/* The end of the pipe is what the parent waits for. */
		close(forking.pipe[0]);
		close(forking.pipe[1]);
	}
	attach_slots_unlock();
}

void attach_fork_ready(void)
{
	attach_slots_lock();
	/* Without it a fork would leave two processes with one attachment. */
	if (!forking.ready &&
	    !pthread_atfork(fork_prepare, fork_parent, fork_child))
		forking.ready = true;
	attach_slots_unlock();
}
