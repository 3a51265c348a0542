// SPDX-License-Identifier: BSD-2-Clause
/* inbox.c - a list of frames that came, and one of those that are not used. */
#include "nic/transport/inbox.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool inbox_make(struct inbox *b, uint32_t frames)
{
	b->store = calloc(frames, sizeof(*b->store));
	b->frames = frames;
	inbox_clear(b);
	return b->store;
}

void inbox_end(struct inbox *b)
{
	free(b->store);
	b->store = NULL;
}

void inbox_clear(struct inbox *b)
{
	b->unused = b->oldest = b->newest = NULL;
	b->fresh = b->waiting = 0;
}

struct inbox_frame *inbox_keep(struct inbox *b, const struct wire_frame *f)
{
	struct inbox_frame *w = b->unused;

	assert(!inbox_is_full(b));
	if (w)
		b->unused = w->next;
	else
		w = &b->store[b->fresh++];
	w->next = NULL;
	memcpy(&w->frame, f, offsetof(struct wire_frame, bytes) + f->len);
	if (b->newest)
		b->newest->next = w;
	else
		b->oldest = w;
	b->newest = w;
	b->waiting++;
	return w;
}

struct inbox_frame *inbox_take(struct inbox *b, struct inbox_frame *before)
{
	struct inbox_frame **at = before ? &before->next : &b->oldest, *w = *at;

	*at = w->next;
	if (b->newest == w)
		b->newest = before;
	b->waiting--;
	return w;
}

void inbox_give_back(struct inbox *b, struct inbox_frame *w)
{
	w->next = b->unused;
	b->unused = w;
}

bool inbox_is_whole(const struct inbox *b, uint32_t taken)
{
	uint32_t waiting = 0, unused = 0;
	const struct inbox_frame *w;

	for (w = b->oldest; w; w = w->next)
		waiting++;
	for (w = b->unused; w; w = w->next)
		unused++;
	return waiting == b->waiting && waiting + unused + taken == b->fresh &&
	       b->fresh <= b->frames;
}
