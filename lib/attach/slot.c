// SPDX-License-Identifier: BSD-2-Clause
/*
 * slot.c - attachments by slot, by address and by number; who is inside of one; that its
 * board is gone; and how one waits. What all other files stand on.
 */
#include <errno.h>
#include <unistd.h>

#include "attach/internal.h"

/*
 * The slots. The handler only reads them, so they may lie in a page of the
 * program; the rest of what it needs does not (internal.h, rule 1).
 */
static struct {
	pthread_mutex_t lock;
	struct attach *_Atomic slot[ATTACH_BOARDS];
} slots = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct attach *attach_slot(unsigned int slot)
{
	/* Acquire pairs with the release in attach_slot_fill(): it is zeroed. */
	return atomic_load_explicit(&slots.slot[slot], memory_order_acquire);
}

void attach_slot_fill(unsigned int slot, struct attach *a)
{
	/* Release pairs with the acquire in attach_slot(). */
	atomic_store_explicit(&slots.slot[slot], a, memory_order_release);
}

void attach_slots_lock(void)
{
	pthread_mutex_lock(&slots.lock);
}

void attach_slots_unlock(void)
{
	pthread_mutex_unlock(&slots.lock);
}

static bool slot_holds(struct attach *a, uintptr_t addr)
{
	const struct attach_page *p;

	if (attach_inside(a, addr))
		return true;
	p = attach_page(a, addr);
	return p && atomic_load(&p->own) & OWN_IMPORTED;
}

struct attach *attach_by_addr(uintptr_t addr)
{
	struct attach *a;
	unsigned int i;

	for (i = 0; i < ATTACH_BOARDS; i++) {
		a = attach_slot(i);
		if (a && atomic_load_explicit(&a->state, memory_order_acquire)
		    == ATTACH_LIVE && slot_holds(a, addr))
			return a;
	}
	return NULL;
}

struct attach *attach_by_fd(int fd)
{
	struct attach *a;

	if (fd < 0)
		return NULL;
	a = attach_slot((unsigned int)fd % ATTACH_BOARDS);
	if (!a || atomic_load_explicit(&a->state, memory_order_acquire) !=
		  ATTACH_LIVE || a->fd != fd)
		return NULL;
	return a;
}

bool attach_enter(struct attach *a)
{
	/* seq_cst: count, then look; attach_close() sets, then looks. */
	atomic_fetch_add(&a->users, 1);
	if (atomic_load(&a->state) == ATTACH_LIVE)
		return true;
	attach_leave(a);
	return false;
}

void attach_leave(struct attach *a)
{
	atomic_fetch_sub(&a->users, 1);
}

void attach_dies(struct attach *a, int error)
{
	int want = 0;
	unsigned int i;

	if (!atomic_compare_exchange_strong(&a->error, &want, error))
		return;
	for (i = 0; i < ATTACH_CALLS; i++)
		os_word_wake(&a->shared->call[i].state);
}

int attach_error(struct attach *a)
{
	int error = atomic_load_explicit(&a->error, memory_order_relaxed);

	if (error)
		return error;
	if (atomic_load_explicit(&a->shared->alive, memory_order_relaxed))
		return 0;
	attach_dies(a, -ENODEV);
	return -ENODEV;
}

void attach_close_files(struct attach *a)
{
	int *fd[] = { &a->sock, &a->bank_fd, &a->shared_fd, &a->wake[0],
		      &a->wake[1] };
	unsigned int i;
	int old;

	for (i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
		old = *fd[i];
		/* First: a child of a fork in between closes them, too. */
		*fd[i] = -1;
		if (old >= 0)
			close(old);
	}
}

void attach_turn(unsigned int *turns)
{
	if (*turns >= ATTACH_SPINS + ATTACH_YIELDS) {
		os_nap();
		return;
	}
	if ((*turns)++ < ATTACH_SPINS)
		os_pause();
	else
		os_yield();
}

void attach_yield(struct attach *a)
{
	bool shared = os_yield_shared();

	if (shared != atomic_load_explicit(&a->cpu_shared, memory_order_relaxed))
		atomic_store_explicit(&a->cpu_shared, shared, memory_order_relaxed);
}
