// SPDX-License-Identifier: BSD-2-Clause
/*
 * view.c - what the threads of this process may touch: the board tells, in
 * order, which pages are open and which are closed, as it would tell an MMU.
 * One thread at a time does it, under the view lock.
 *
 * Everything here may run in the handler of a page fault.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/internal.h"
#include "faultline.h"

/* ---- mapping ---- */

_Noreturn static void cannot_close(void)
{
	/* A view that stays open would be of someone else's frame. */
	os_say("faultline: the system does not let pages be closed\n");
	abort();
}

/*
 * What must not be absent stays as it is, and what is on its way, private for a fork, or
 * somebody else's is not ours to touch.
 */
static bool view_may_go(uintptr_t va, const struct attach_page *p)
{
	if (atomic_load(&p->own) & (OWN_BUSY | OWN_PINNED | OWN_DETACHED |
				    OWN_FOREIGN))
		return false;
	/* Never open so far: zeros, if it is still there. */
	return atomic_load(&p->view) || os_map_closed((void *)va);
}

/*
 * Imported pages side by side become one range, those that were never open too: if they
 * stayed as they are, they would keep the others apart.
 */
static void view_forget_imported(struct attach *a)
{
	uintptr_t va = 0, from = 0, end = 0;
	struct attach_page *p;
	uint32_t i;

	for (; attach_next(a, &va, UINTPTR_MAX, &p); va += attach_granule(a)) {
		if (!view_may_go(va, p))
			continue;
		for (i = 0; i < attach_granule(a) / ATTACH_PAGE; i++)
			atomic_store(&attach_page(a, va + i *
					(uintptr_t)ATTACH_PAGE)->view, 0);
		if (va != end) {
			if (end != from && os_view((void *)from, end - from,
						   PROT_NONE, -1, 0))
				cannot_close();
			from = va;
		}
		end = va + attach_granule(a);
	}
	if (end != from && os_view((void *)from, end - from, PROT_NONE, -1, 0))
		cannot_close();
}

static void view_forget_arena(struct attach *a)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < ATTACH_PAGES; i++) {
		if (!atomic_load_explicit(&a->page[i].view,
					  memory_order_relaxed))
			continue;
		any = true;
		atomic_store_explicit(&a->page[i].view, 0,
				      memory_order_relaxed);
	}
	memset(a->block, 0, sizeof(a->block));
	if (any && os_view((void *)a->arena, ATTACH_ARENA_BYTES, PROT_NONE, -1,
			   0))
		cannot_close();
}

void attach_spare_ranges(struct attach *a)
{
	uint64_t page = os_page_bytes(), i;

	/* As many as there are to be had. */
	for (i = 0; i < ATTACH_SPARE; i += 2)
		os_protect((uint8_t *)a->spare + i * page, page, PROT_NONE);
}

/*
 * The system allows so many different ranges and no more (65530; sources: host-measured):
 * begin again with few. What was open is opened again when it is touched. To join what
 * lies in the middle of a larger range takes some more for a moment: those in spare.
 */
static void view_start_over(struct attach *a)
{
	os_protect(a->spare, ATTACH_SPARE * os_page_bytes(), PROT_NONE);
	view_forget_imported(a);
	view_forget_arena(a);
	os_protect(a->spare, ATTACH_SPARE * os_page_bytes(),
		   PROT_READ | PROT_WRITE);
	attach_spare_ranges(a);
}

int attach_protect(struct attach *a, uintptr_t va, uint64_t bytes, int prot)
{
	int error = os_protect((void *)va, bytes, prot);

	if (error != -ENOMEM)
		return error;
	view_start_over(a);
	return os_protect((void *)va, bytes, prot);
}

/*
 * A linear view, still closed, of the stretch of the bank where this block's
 * pages most likely have their frames: later each opening is one mprotect, half
 * as dear as an mmap (sources: host-measured), and neighbours merge. Where it does
 * not fit, pages are mapped as they come.
 */
static void open_block(struct attach *a, uintptr_t va)
{
	unsigned int page = (unsigned int)((va - a->arena) / ATTACH_PAGE);
	unsigned int block = page / ATTACH_BLOCK, first = block * ATTACH_BLOCK;
	uint64_t frame, i;

	if (!a->linear || a->block[block / 64] >> block % 64 & 1)
		return;
	a->block[block / 64] |= 1ull << block % 64;
	frame = first % a->hello.frames;
	if (frame + ATTACH_BLOCK > a->hello.frames)
		return;
	/* Nothing in it may be open: it is the first of its block. */
	if (os_view((void *)(a->arena + (uintptr_t)first * ATTACH_PAGE),
		    ATTACH_BLOCK * ATTACH_PAGE, PROT_NONE, a->bank_fd,
		    frame * ATTACH_PAGE))
		return;
	for (i = 0; i < ATTACH_BLOCK; i++)
		atomic_store_explicit(&a->page[first + i].view,
				      (uint32_t)(frame + i + 1),
				      memory_order_relaxed);
}

static int map_once(struct attach *a, uintptr_t va, unsigned int npages,
		    uint32_t frame, int prot)
{
	int p = attach_host_prot(prot), error;
	struct attach_page *page;
	bool same = true;
	unsigned int i;

	for (i = 0; i < npages; i++) {
		if (attach_inside(a, va))
			open_block(a, va + i * (uintptr_t)ATTACH_PAGE);
		page = attach_page(a, va + i * (uintptr_t)ATTACH_PAGE);
		same = same && (page->view & VIEW_FRAME) == frame + i + 1;
	}
	error = same ? os_protect((void *)va, npages * (uint64_t)ATTACH_PAGE,
				  p) :
		       os_view((void *)va, npages * (uint64_t)ATTACH_PAGE, p,
			       a->bank_fd, frame * (uint64_t)ATTACH_PAGE);
	for (i = 0; i < npages && !error; i++) {
		page = attach_page(a, va + i * (uintptr_t)ATTACH_PAGE);
		atomic_store_explicit(&page->view, (frame + i + 1) |
				      (uint32_t)prot << VIEW_PROT_SHIFT,
				      memory_order_release);
	}
	return error;
}

int attach_map(struct attach *a, uintptr_t va, unsigned int npages,
	       uint32_t frame, int prot)
{
	int error = map_once(a, va, npages, frame, prot);

	if (error != -ENOMEM)
		return error;
	view_start_over(a);
	return map_once(a, va, npages, frame, prot);
}

/* One call for all of it, because each interrupts every CPU of the process. */
static void close_run(struct attach *a, uintptr_t va, unsigned int npages)
{
	unsigned int i, first = npages, last = 0;
	struct attach_page *p;

	for (i = 0; i < npages; i++) {
		p = attach_page(a, va + i * (uintptr_t)ATTACH_PAGE);
		if (!(p->view >> VIEW_PROT_SHIFT))
			continue;
		/* Before the page is closed: closed_page.c believes what is here. */
		atomic_fetch_and(&p->view, VIEW_FRAME);
		first = first < i ? first : i;
		last = i;
	}
	if (first == npages)
		return;
	va += first * (uintptr_t)ATTACH_PAGE;
	if (attach_protect(a, va, (last - first + 1) * (uint64_t)ATTACH_PAGE,
			   PROT_NONE))
		cannot_close();
}

/* Outside the arena only what is of the bank: the rest was not opened by us. */
static void close_pages(struct attach *a, uintptr_t va, unsigned int npages)
{
	unsigned int i, n;

	if (attach_inside(a, va)) {
		close_run(a, va, npages);
		return;
	}
	for (i = 0; i < npages; i += n + 1) {
		for (n = 0; i + n < npages &&
		     attach_page(a, va + (i + n) * (uintptr_t)ATTACH_PAGE)->view;
		     n++)
			;
		if (n)
			close_run(a, va + i * (uintptr_t)ATTACH_PAGE, n);
	}
}

/* ---- the board's commands ---- */

/* The board is trusted, but a wrong one must not make us map anything. */
static bool command_ok(struct attach *a, const struct attach_view *v)
{
	struct attach_page *p;
	uint32_t i;

	if (v->va % attach_granule(a) || !v->npages ||
	    v->npages * (uint64_t)ATTACH_PAGE % attach_granule(a) ||
	    v->npages > ATTACH_PAGES ||
	    v->va > UINTPTR_MAX - (uint64_t)v->npages * ATTACH_PAGE ||
	    v->prot > 3)
		return false;
	if (v->kind == ATTACH_OPEN_PAGES &&
	    (!v->prot || v->frame > a->hello.frames ||
	     v->frame * (uint64_t)ATTACH_PAGE % attach_granule(a) ||
	     v->npages > a->hello.frames - v->frame))
		return false;
	if (attach_inside(a, (uintptr_t)v->va))
		return v->va + (uint64_t)v->npages * ATTACH_PAGE <=
		       attach_doorbell(a);
	for (i = 0; i < v->npages; i++) {
		p = attach_page(a, (uintptr_t)v->va +
				i * (uintptr_t)ATTACH_PAGE);
		if (!p || !atomic_load(&p->own))
			return false;
	}
	return true;
}

/*
 * May the board change the view of this granule? Outside the arena a fault that was
 * long under way may be answered when the page is the program's again, or on
 * its way: then the answer comes to nothing, and the page faults again if it
 * has to.
 *
 * What is still imported when it is on its way it may close: a stack before a fork
 * (move.c) is open until then.
 */
static bool is_boards(struct attach *a, uintptr_t va, bool open)
{
	uint32_t not = OWN_DETACHED | OWN_FOREIGN | (open ? OWN_BUSY : 0);
	uintptr_t at = va;

	if (attach_inside(a, va))
		return true;
	/* They are marked one by one, and moved together. */
	for (; at - va < attach_granule(a); at += ATTACH_PAGE)
		if ((atomic_load(&attach_page(a, at)->own) &
		     (OWN_IMPORTED | not)) != OWN_IMPORTED)
			return false;
	return true;
}

/* Before the frame is mapped where another one was: did the program do so, too? */
static bool is_still(struct attach *a, uintptr_t va, uint32_t frame)
{
	return attach_inside(a, va) ||
	       (attach_page(a, va)->view & VIEW_FRAME) == frame + 1 ||
	       !attach_foreign_page(a, va);
}

static void view_command(struct attach *a, const struct attach_view *v)
{
	bool open = v->kind == ATTACH_OPEN_PAGES;
	uint32_t i, n, all = attach_granule(a) / ATTACH_PAGE;
	uintptr_t va = (uintptr_t)v->va;

	if ((!open && v->kind != ATTACH_CLOSE_PAGES) ||
	    !command_ok(a, v)) {
		os_say("faultline: a board told what makes no sense\n");
		attach_dies(a, -ENODEV);
		return;
	}
	for (i = 0; i < v->npages; i += n, va += n * (uintptr_t)ATTACH_PAGE) {
		for (n = 0; i + n < v->npages &&
		     is_boards(a, va + n * (uintptr_t)ATTACH_PAGE, open) &&
		     (!open || is_still(a, va + n * (uintptr_t)ATTACH_PAGE,
					v->frame + i + n)); n += all)
			;
		/* What the system refuses to open faults again. */
		if (n && open)
			attach_map(a, va, n, v->frame + i, (int)v->prot);
		else if (n)
			close_pages(a, va, n);
		else
			n = all;
	}
}

bool attach_views_wait(struct attach *a)
{
	/* Pairs with the board's: it writes view_head, then looks who sleeps. */
	return atomic_load(&a->shared->view_head) !=
	       atomic_load(&a->shared->view_done);
}

static bool try_flag(struct attach *a)
{
	uint32_t want = 0;

	/* Acquire pairs with the release of who had it before. */
	return atomic_compare_exchange_strong_explicit(
		&a->view_lock, &want, 1, memory_order_acquire,
		memory_order_relaxed);
}

static void give_flag(struct attach *a)
{
	/* Release pairs with the acquire of who takes it next. */
	atomic_store_explicit(&a->view_lock, 0, memory_order_release);
}

/* All but those that an access itself makes: these must not be held up. */
void attach_block_signals(sigset_t *was)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &all, was);
}

void attach_views_lock(struct attach *a, sigset_t *mask)
{
	unsigned int turns = 0;

	attach_block_signals(mask);
	while (!try_flag(a))
		attach_turn(&turns);
}

void attach_views_unlock(struct attach *a, const sigset_t *mask)
{
	give_flag(a);
	pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* With the flag. */
static void do_commands(struct attach *a)
{
	struct attach_shared *s = a->shared;
	uint32_t done = atomic_load_explicit(&s->view_done,
					     memory_order_relaxed);
	struct attach_view v;

	/* Acquire pairs with the board's release: the command is whole. */
	while (done != atomic_load_explicit(&s->view_head,
					    memory_order_acquire) &&
	       !atomic_load_explicit(&a->error, memory_order_relaxed)) {
		atomic_store_explicit(&s->view_begun, done + 1, memory_order_relaxed);
		v = s->view[done % ATTACH_VIEWS];
		view_command(a, &v);
		/*
		 * Release pairs with the board's acquire; and seq_cst, since it
		 * sets view_awaited, then looks at view_done.
		 */
		atomic_store(&s->view_done, ++done);
		if (atomic_load(&s->view_awaited))
			os_word_wake(&s->view_done);
	}
}

bool attach_views(struct attach *a)
{
	const bool blocked = os_fault_fixes();
	sigset_t mask;
	bool mine;

	if (atomic_load(&a->error) || !attach_views_wait(a))
		return true;
	if (!blocked)
		attach_block_signals(&mask);
	mine = try_flag(a);
	if (mine) {
		do_commands(a);
		give_flag(a);
	}
	if (!blocked)
		pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return mine;
}
