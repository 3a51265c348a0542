// SPDX-License-Identifier: BSD-2-Clause
/*
 * sys_window.c - doorbells of a card in an emulator outside: an entry in a ring that
 * the emulator reads, and its bell if it sleeps (faultline/window.h). All else is
 * as on a board.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "faultline/window.h"
#include "os/os.h"
#include "sys_window.h"

#define CARDS		64		/* open at a time, for traces */
#define PATIENCE_NS	10000000000ull	/* as the driver's (fl_window.c) */
#define LOOKS		64		/* between two at the clock */

/* The page of a file, for calls that are told no more. */
static struct {
	_Atomic int fd;			/* + 1; 0: free */
	struct fl_window_doorbell *_Atomic page;
} cards[CARDS];

static uint32_t doorbell_look(const __u32 *word, memory_order order)
{
	return atomic_load_explicit((const _Atomic uint32_t *)word, order);
}

/* An index of the ring; -ENODEV: the emulator has ended, or is stuck; -EAGAIN. */
static int doorbell_take(struct fl_window_doorbell *d, uint32_t *index,
			 bool wait)
{
	_Atomic uint32_t *tail = (_Atomic uint32_t *)&d->tail;
	uint64_t end = 0, now;
	unsigned int looks = 0;

	*index = atomic_load_explicit(tail, memory_order_relaxed);
	for (;;) {
		if (!doorbell_look(&d->alive, memory_order_relaxed))
			return -ENODEV;
		/* Acquire: the emulator has copied what stood there before. */
		if (*index - doorbell_look(&d->head, memory_order_acquire) <
		    FL_WINDOW_BELLS) {
			if (atomic_compare_exchange_weak(tail, index,
							 *index + 1))
				return 0;
			continue;
		}
		if (!wait)
			return -EAGAIN;
		*index = atomic_load_explicit(tail, memory_order_relaxed);
		os_pause();
		if (++looks % LOOKS)
			continue;
		os_yield();
		now = os_now_ns();
		if (!end)
			end = now + PATIENCE_NS;
		else if (now > end)
			return -ENODEV;
	}
}

static int doorbell_put(struct fl_window_doorbell *d,
			const struct fl_window_entry *e, bool wait)
{
	volatile uint32_t *bar = (volatile uint32_t *)
		((unsigned char *)d + FL_WINDOW_PAGE);
	struct fl_window_entry *to;
	uint32_t index;
	int error = doorbell_take(d, &index, wait);

	if (error)
		return error;
	to = &d->entry[index % FL_WINDOW_BELLS];
	to->kind = e->kind;
	to->size = e->size;
	to->addr = e->addr;
	to->xfer = e->xfer;
	to->block = e->block;
	for (unsigned int i = 0; i < 5; i++)
		to->arg[i] = e->arg[i];
	/* Release: the entry, and what the card will fetch because of it. */
	atomic_store_explicit((_Atomic uint32_t *)&to->seq, index + 1,
			      memory_order_release);
	/*
	 * Pairs with the emulator's, between saying that it sleeps and its last look;
	 * the read is for QEMU, which may leave the barrier out (window.h).
	 */
	atomic_thread_fence(memory_order_seq_cst);
	(void)bar[FL_WINDOW_ORDER / 4];
	if (doorbell_look(&d->asleep, memory_order_relaxed))
		bar[FL_WINDOW_BELL / 4] = FL_WINDOW_PEER << 16 | FL_WINDOW_LOOK;
	return 0;
}

static int window_mmio_write32(volatile void *addr, uint32_t value)
{
	/* Of a mapping, and so at a multiple of the page. */
	uintptr_t page = (uintptr_t)addr & ~(uintptr_t)(FL_WINDOW_PAGE - 1);
	const struct fl_window_entry e = {
		.kind = FL_WINDOW_WRITE,
		.size = sizeof(value),
		.addr = (uint32_t)((uintptr_t)addr - page),
		.arg = { value },
	};

	return doorbell_put((struct fl_window_doorbell *)page, &e, true);
}

static struct fl_window_doorbell *doorbell_page(int fd)
{
	unsigned int i;

	for (i = 0; i < CARDS; i++)
		if (atomic_load_explicit(&cards[i].fd, memory_order_acquire) ==
		    fd + 1)
			return atomic_load(&cards[i].page);
	return NULL;
}

static int window_relax(int fd)
{
	struct fl_window_doorbell *d = doorbell_page(fd);

	os_pause();
	return d && !doorbell_look(&d->alive, memory_order_relaxed) ? -ENODEV :
	       0;
}

static uint64_t window_trace(int fd, unsigned int event, uint32_t xfer,
			     uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	const struct fl_window_entry e = {
		.kind = FL_WINDOW_NOTE,
		.addr = event,
		.xfer = xfer,
		.arg = { a0, a1, a2, a3 },
	};
	struct fl_window_doorbell *d = doorbell_page(fd);

	/* A trace must never make who polls wait. */
	if (d && event <= FL_SYS_EV_COMPLETE)
		doorbell_put(d, &e, event != FL_SYS_EV_COMPLETE);
	return 0;
}

void fl_sys_window(struct fl_sys *window, const struct fl_sys *sys)
{
	*window = *sys;
	window->mmio_write32 = window_mmio_write32;
	window->relax = window_relax;
	window->trace = window_trace;
}

void fl_sys_window_open(int fd, volatile void *page)
{
	unsigned int i;
	int none = 0;

	for (i = 0; i < CARDS; i++, none = 0)
		/* -1: taken, and not yet to be found. */
		if (atomic_compare_exchange_strong(&cards[i].fd, &none, -1)) {
			atomic_store(&cards[i].page,
				     (struct fl_window_doorbell *)page);
			atomic_store_explicit(&cards[i].fd, fd + 1,
					      memory_order_release);
			return;
		}
}

void fl_sys_window_close(int fd)
{
	unsigned int i;

	for (i = 0; i < CARDS; i++)
		if (atomic_load(&cards[i].fd) == fd + 1)
			atomic_store(&cards[i].fd, 0);
}
