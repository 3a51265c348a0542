// SPDX-License-Identifier: BSD-2-Clause
/* inbox.c - a list of frames that came, and one of those that are not used. */
#include "nic/transport/inbox.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

bool inbox_make(struct inbox *b, uint32_t frames)
{
	b->store = os_room(frames, sizeof(*b->store));
	b->unused = calloc(frames, sizeof(*b->unused));
	b->frames = frames;
	inbox_clear(b);
	return b->store && b->unused;
}

void inbox_end(struct inbox *b)
{
	os_room_end(b->store, b->frames, sizeof(*b->store));
	free(b->unused);
	b->store = NULL;
	b->unused = NULL;
}

void inbox_clear(struct inbox *b)
{
	b->oldest = b->newest = NULL;
	b->fresh = b->waiting = b->unused_count = 0;
}

struct inbox_frame *inbox_keep(struct inbox *b, const struct wire_frame *f)
{
	struct inbox_frame *w;

	assert(!inbox_is_full(b));
	w = &b->store[b->unused_count ? b->unused[--b->unused_count] :
					b->fresh++];
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
	assert(b->unused_count < b->frames);
	b->unused[b->unused_count++] = (uint32_t)(w - b->store);
}

bool inbox_is_whole(const struct inbox *b, uint32_t taken)
{
	const struct inbox_frame *w;
	uint32_t waiting = 0;

	for (w = b->oldest; w; w = w->next)
		waiting++;
	return waiting == b->waiting && waiting + b->unused_count + taken == b->fresh &&
	       b->fresh <= b->frames;
}
