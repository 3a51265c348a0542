// SPDX-License-Identifier: BSD-2-Clause
/*
 * closed_page.c - a thread of the program touched a page that is closed. Everything
 * here runs in the handler: atomics, and calls that os.h allows there.
 */
#include <errno.h>

#include "attach/internal.h"
#include "faultline.h"

/*
 * A thread may fault on a page that was on its way and come here when all is
 * over. Then the page is as any other and nothing tells it from a crash, but
 * that a crash happens again. The same with a page that is open: another thread
 * may have been faster, or the program itself unmapped or protected it.
 */
static _Thread_local struct {
	uintptr_t addr;
	uint32_t moves;
	uintptr_t open_addr;
	uint32_t open_moves, open_views;
} late;

void attach_fault_variables(uintptr_t *start, uintptr_t *end)
{
	uintptr_t at[2] = { (uintptr_t)&late, (uintptr_t)&errno };
	unsigned int i;

	os_fault_variables(start, end);
	for (i = 0; i < 2; i++) {
		*start = at[i] < *start ? at[i] : *start;
		*end = at[i] + sizeof(late) > *end ? at[i] + sizeof(late) :
						     *end;
	}
}

void *attach_local_late(size_t *bytes)
{
	*bytes = sizeof(late);
	return &late;
}

int attach_fault(struct attach *a, uintptr_t va, int write)
{
	struct attach_ask q = {
		.op = ATTACH_FAULT,
		.arg = { va, write < 0 ? ~0ull : (uint64_t)write },
	};

	return attach_call(a, &q);
}

void attach_say(const char *const *part, unsigned int n, uintptr_t addr)
{
	char text[256], *to = text, *end = text + sizeof(text) - 40;
	unsigned int i, shift;
	const char *c;

	for (i = 0; i < n; i++)
		for (c = part[i]; *c && to < end; c++)
			*to++ = *c;
	for (shift = sizeof(addr) * 8; shift; shift -= 4)
		*to++ = "0123456789abcdef"[addr >> (shift - 4) & 15];
	*to++ = '\n';
	*to = 0;
	os_say(text);
}

static const char *fault_why(int error)
{
	switch (error) {
	case -EPERM:
		return " was opened by the parent process, not by this one: no "
		       "page comes to 0x";
	case -ENODEV:
		return " is gone: no page comes to 0x";
	case -ENOMEM:
		return " has no frame left, and no room in swap: no page comes "
		       "to 0x";
	default:
		return " cannot read the page from its file or from swap: none "
		       "comes to 0x";
	}
}

static void say_none(const struct attach *a, uintptr_t addr, int error)
{
	const char *part[] = { "faultline: board ", a->name, fault_why(error) };

	attach_say(part, 3, addr);
}

/* Is the page open for this already, so that it only was slower than others? */
static bool page_is_open(const struct attach_page *p, int write)
{
	/* Acquire pairs with the release in view.c. */
	uint32_t prot = atomic_load_explicit(&p->view, memory_order_acquire) >>
			VIEW_PROT_SHIFT;

	if (write < 0)
		return false;
	return prot & (write ? FL_PROT_WRITE : FL_PROT_READ);
}

/* Was it this address the last time, and is all as it was then? */
static bool as_before(struct attach *a, uintptr_t addr)
{
	/*
	 * A page that is narrowed right now is for a moment less open than its
	 * view says. Acquire pairs with the release of who did it: then what
	 * he counted is seen.
	 */
	bool quiet = !atomic_load_explicit(&a->view_lock, memory_order_acquire);
	uint32_t views = atomic_load(&a->shared->view_done);
	uint32_t moves = atomic_load(&a->moves);
	bool same = quiet && late.open_addr == addr &&
		    late.open_moves == moves && late.open_views == views;

	late.open_addr = addr;
	late.open_moves = moves;
	late.open_views = views;
	return same;
}

static bool fault_ask(struct attach *a, const struct attach_page *p,
		      uintptr_t addr, int write)
{
	int error;

	/* In a forked child what the parent had open is not there. */
	if (atomic_load(&a->error) != -EPERM && page_is_open(p, write))
		return !as_before(a, addr);
	error = attach_fault(a, addr - addr % ATTACH_PAGE, write);
	if (error == -ENODEV || error == -EPERM || error == -ENOMEM ||
	    error == -EIO)
		say_none(a, addr, error);
	return error >= 0;
}

/* 1: try again; -1: ours, and a crash; 0: not ours. */
static int fix_one(struct attach *a, uintptr_t addr, int write)
{
	struct attach_page *p = attach_page(a, addr);
	unsigned int turns = 0;
	uint32_t own, moves;

	if (attach_inside(a, addr)) {
		if (addr >= attach_doorbell(a))
			return -1;
		return fault_ask(a, p, addr, write) ? 1 : -1;
	}
	if (!p)
		return 0;
	/* First: then whatever moves after the look at own is seen to have moved. */
	moves = atomic_load(&a->moves);
	own = atomic_load(&p->own);
	if (own & OWN_BUSY) {
		/* No call that could set errno: it may lie in such a page. */
		while (atomic_load(&p->own) & OWN_BUSY)
			attach_turn(&turns);
		return 1;
	}
	if ((own & (OWN_IMPORTED | OWN_DETACHED | OWN_FOREIGN)) != OWN_IMPORTED)
		return 0;
	if (fault_ask(a, p, addr, write))
		return 1;
	/* Given back meanwhile? Then the board was right not to know. */
	return atomic_load(&a->moves) != moves ? 1 : -1;
}

/* Of all attachments, those that have ended too: a page of theirs came back. */
static uint32_t all_moves(void)
{
	uint32_t moves = 0;
	struct attach *a;
	unsigned int i;

	for (i = 0; i < ATTACH_BOARDS; i++) {
		a = attach_slot(i);
		moves += a ? atomic_load(&a->moves) : 0;
	}
	return moves;
}

static bool was_busy_once(uintptr_t addr)
{
	struct attach_page *p;
	struct attach *a;
	unsigned int i;

	for (i = 0; i < ATTACH_BOARDS; i++) {
		a = attach_slot(i);
		p = a && !attach_inside(a, addr) ? attach_page(a, addr) : NULL;
		if (p && atomic_load(&p->own) & OWN_MOVED_ONCE)
			return true;
	}
	return false;
}

/* The page is nobody's now. Was it the last time, too, with nothing moved since? */
static bool is_late(uintptr_t addr, uint32_t moves)
{
	if (!was_busy_once(addr) || (late.addr == addr && late.moves == moves))
		return false;
	late.addr = addr;
	late.moves = moves;
	return true;
}

bool attach_fix(uintptr_t addr, int write)
{
	/* Before the looks, as above. */
	uint32_t moves = all_moves();
	struct attach *a;
	unsigned int i;
	int result = 0;

	for (i = 0; i < ATTACH_BOARDS && !result; i++) {
		a = attach_slot(i);
		if (!a || !attach_enter(a))
			continue;
		result = fix_one(a, addr, write);
		attach_leave(a);
	}
	return result ? result > 0 : is_late(addr, moves);
}
