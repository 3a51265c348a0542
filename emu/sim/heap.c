// SPDX-License-Identifier: BSD-2-Clause
/* heap.c - the event queue: a binary heap ordered by time, then by tie. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/sim_internal.h"

static void heap_place(struct sim_heap *h, uint32_t i, struct sim_node *n)
{
	h->node[i] = n;
	n->slot = i;
}

static void heap_up(struct sim_heap *h, uint32_t i)
{
	struct sim_node *n = h->node[i];

	while (i && heap_is_before(n->due_ns, n->tie, h->node[(i - 1) / 2])) {
		heap_place(h, i, h->node[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	heap_place(h, i, n);
}

static void heap_down(struct sim_heap *h, uint32_t i)
{
	struct sim_node *n = h->node[i];
	uint32_t c;

	while ((c = 2 * i + 1) < h->count) {
		if (c + 1 < h->count &&
		    heap_is_before(h->node[c + 1]->due_ns, h->node[c + 1]->tie, h->node[c]))
			c++;
		if (!heap_is_before(h->node[c]->due_ns, h->node[c]->tie, n))
			break;
		heap_place(h, i, h->node[c]);
		i = c;
	}
	heap_place(h, i, n);
}

void heap_free(struct sim_heap *h)
{
	free(h->node);
	h->node = NULL;
	h->count = h->room = h->promised = 0;
}

int heap_reserve(struct sim_heap *h, uint32_t n)
{
	uint32_t room = h->room ? h->room : 64;
	struct sim_node **more;

	while (room < h->promised + n)
		room *= 2;
	if (room > h->room) {
		more = realloc(h->node, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		h->node = more;
		h->room = room;
	}
	h->promised += n;
	return 0;
}

void heap_unreserve(struct sim_heap *h, uint32_t n)
{
	assert(h->promised >= n);
	h->promised -= n;
}

void heap_set(struct sim_heap *h, struct sim_node *n, uint64_t due_ns,
	      uint64_t tie)
{
	bool sooner = true;

	if (n->slot == NOT_QUEUED) {
		/* Each actor and each thread has a place from its start. */
		assert(h->count < h->promised);
		heap_place(h, h->count++, n);
	} else {
		sooner = heap_is_before(due_ns, tie, n);
	}
	n->due_ns = due_ns;
	n->tie = tie;
	if (sooner)
		heap_up(h, n->slot);
	else
		heap_down(h, n->slot);
}

void heap_remove(struct sim_heap *h, struct sim_node *n)
{
	uint32_t i = n->slot;

	if (i == NOT_QUEUED)
		return;
	n->slot = NOT_QUEUED;
	h->count--;
	if (i == h->count)
		return;
	heap_place(h, i, h->node[h->count]);
	heap_up(h, i);
	heap_down(h, h->node[i]->slot);
}

struct sim_node *heap_pop(struct sim_heap *h)
{
	struct sim_node *n = h->count ? h->node[0] : NULL;

	if (n)
		heap_remove(h, n);
	return n;
}
