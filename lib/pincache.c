// SPDX-License-Identifier: BSD-2-Clause
/*
 * A cache of pinned regions, by address (systems whose `before` is cache). A program
 * registers before each transfer and gives back after it; here the region stays pinned
 * when it is given back, and the next registration that it covers costs no system call.
 *
 * Regions stand in one list, the one used last in front. Each is in one of these states:
 *
 *	busy		one thread has the driver register or end it
 *	in use		users > 0: so many registrations have been given its key
 *	kept		users == 0: nobody uses it, and it may be thrown out
 *
 * All of them count towards the bound, which holds at every moment: what does not fit
 * beside the regions in use is refused, and kept ones are thrown out from the list's end.
 * A stale region is found by no registration any more, and ends when it is given back.
 *
 * The lock is held over a few stores and never over a system call.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lib_internal.h"
#include "os/os.h"

/* Why a region was thrown out: argument of LIB_CACHE_EVICT. */
enum cache_why {
	CACHE_ROOM,		/* the bound */
	CACHE_REFUSED,		/* the driver had no room for another one */
	CACHE_UNMAPPED,		/* its memory goes */
	CACHE_END,		/* its domain or the system does */
};

struct lib_pinned {
	struct lib_pinned *next, *prev;	/* used later: prev */
	struct fl_pd *pd;
	uint64_t addr, bytes;
	uint64_t first, last;	/* its pages, from byte to byte */
	unsigned int access, users;
	uint32_t key;
	bool busy, ending, stale;	/* ending: and busy */
};

/* ---- the list; the lock is held ---- */

static void cache_lock(struct lib_cache *c)
{
	while (atomic_flag_test_and_set_explicit(&c->lock,
						 memory_order_acquire))
		;
}

static void cache_unlock(struct lib_cache *c)
{
	atomic_flag_clear_explicit(&c->lock, memory_order_release);
}

static void cache_unlink(struct lib_cache *c, struct lib_pinned *e)
{
	*(e->prev ? &e->prev->next : &c->first) = e->next;
	*(e->next ? &e->next->prev : &c->last) = e->prev;
}

static void cache_put_first(struct lib_cache *c, struct lib_pinned *e)
{
	e->prev = NULL;
	e->next = c->first;
	*(c->first ? &c->first->prev : &c->last) = e;
	c->first = e;
}

static void cache_used(struct lib_cache *c, struct lib_pinned *e)
{
	cache_unlink(c, e);
	cache_put_first(c, e);
}

static uint64_t cache_bytes(const struct lib_pinned *e)
{
	return e->last - e->first + 1;
}

static bool cache_is_kept(const struct lib_pinned *e)
{
	return !e->users && !e->busy;
}

static void cache_forget(struct lib_cache *c, struct lib_pinned *e)
{
	cache_unlink(c, e);
	c->count.bytes -= cache_bytes(e);
}

static struct lib_pinned *cache_find(struct lib_cache *c, const struct fl_mr *m,
				     unsigned int access)
{
	struct lib_pinned *e;

	for (e = c->first; e; e = e->next)
		if (!e->busy && !e->stale && e->pd == m->pd &&
		    e->addr <= m->addr && m->bytes <= e->bytes &&
		    m->addr - e->addr <= e->bytes - m->bytes &&
		    !(access & ~e->access))
			return e;
	return NULL;
}

/* What could not be thrown out, however long one waits. */
static uint64_t cache_held(const struct lib_cache *c)
{
	const struct lib_pinned *e;
	uint64_t bytes = 0;

	for (e = c->first; e; e = e->next)
		if (!cache_is_kept(e) && !e->ending)
			bytes += cache_bytes(e);
	return bytes;
}

/* ---- without the lock ---- */

static void cache_trace(struct fl_device *dev, enum fl_sys_event event,
			uint32_t key, uint64_t addr, uint64_t bytes, uint64_t why)
{
	if (dev->sys->trace)
		dev->sys->trace(dev->fd, event, 0, key, addr, bytes, why);
}

/* Of a region that this thread has made busy. If it fails the region is as it was. */
static int cache_end(struct fl_device *dev, struct lib_pinned *e,
		     enum cache_why why)
{
	struct lib_cache *c = &dev->cache;
	int error = lib_mr_end(dev, e->addr, e->bytes, e->key, false);

	cache_lock(c);
	if (error) {
		e->busy = e->ending = false;
	} else {
		cache_forget(c, e);
		if (why == CACHE_UNMAPPED)
			c->count.dropped++;
		else if (why != CACHE_END)
			c->count.evictions++;
	}
	cache_unlock(c);
	if (error)
		return error;
	cache_trace(dev, FL_SYS_EV_CACHE_EVICT, e->key, e->addr, e->bytes, why);
	free(e);
	return 0;
}

/* The one used longest ago. -EAGAIN: others are throwing out; -EDQUOT: none is kept. */
static int cache_evict(struct fl_device *dev, enum cache_why why)
{
	struct lib_cache *c = &dev->cache;
	struct lib_pinned *e;
	bool ending = false;

	cache_lock(c);
	for (e = c->last; e && !cache_is_kept(e); e = e->prev)
		ending |= e->ending;
	if (e)
		e->busy = e->ending = true;
	cache_unlock(c);
	if (!e)
		return ending ? -EAGAIN : -EDQUOT;
	return cache_end(dev, e, why);
}

/* One region less, or others have changed what there is: look again. */
static int cache_make_room(struct fl_device *dev)
{
	int error = cache_evict(dev, CACHE_ROOM);

	if (error == -EAGAIN && dev->sys->relax)
		return dev->sys->relax(dev->fd);
	if (error == -EAGAIN)
		os_yield();
	return error == -EAGAIN || error == -EDQUOT ? 0 : error;
}

/* Room for e, which is in the list then. */
static int cache_enter(struct fl_device *dev, struct lib_pinned *e)
{
	struct lib_cache *c = &dev->cache;
	bool fits = false;
	int error = 0;

	while (!error && !fits) {
		cache_lock(c);
		if (cache_bytes(e) > c->bound ||
		    cache_held(c) > c->bound - cache_bytes(e))
			error = -EDQUOT;
		else
			fits = c->count.bytes <= c->bound - cache_bytes(e);
		if (fits) {
			cache_put_first(c, e);
			c->count.bytes += cache_bytes(e);
			if (c->count.most_bytes < c->count.bytes)
				c->count.most_bytes = c->count.bytes;
		}
		cache_unlock(c);
		if (!error && !fits)
			error = cache_make_room(dev);
	}
	return error;
}

/* Of a driver that would have room if less were registered. */
static bool cache_short(int error)
{
	return error == -EDQUOT || error == -ENOMEM || error == -ENOSPC;
}

static struct lib_pinned *cache_new(const struct fl_mr *m, unsigned int access)
{
	uint64_t page = os_page_bytes();
	struct lib_pinned *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->pd = m->pd;
	e->addr = m->addr;
	e->bytes = m->bytes;
	e->first = m->addr & ~(page - 1);
	e->last = (m->addr + (m->bytes - 1)) | (page - 1);
	e->access = access;
	e->busy = true;
	return e;
}

static int cache_register(struct fl_mr *m, unsigned int access)
{
	struct lib_pinned *e = cache_new(m, access);
	struct fl_device *dev = m->pd->dev;
	int error = e ? cache_enter(dev, e) : -ENOMEM;

	if (error) {
		free(e);
		return error;
	}
	do {
		error = lib_mr_begin(m->pd, m->addr, m->bytes, access, &e->key);
	} while (cache_short(error) && !cache_evict(dev, CACHE_REFUSED));
	cache_lock(&dev->cache);
	if (error)
		cache_forget(&dev->cache, e);
	e->busy = false;
	e->users = 1;
	cache_unlock(&dev->cache);
	if (error) {
		free(e);
		return error;
	}
	m->pinned = e;
	m->key = e->key;
	return 0;
}

int lib_cache_take(struct fl_mr *m, unsigned int access)
{
	struct fl_device *dev = m->pd->dev;
	struct lib_cache *c = &dev->cache;
	struct lib_pinned *e;

	access &= ~(unsigned int)FL_PINNED;
	cache_lock(c);
	e = cache_find(c, m, access);
	if (e) {
		e->users++;
		cache_used(c, e);
		m->pinned = e;
		m->key = e->key;
		c->count.hits++;
	} else {
		c->count.misses++;
	}
	cache_unlock(c);
	cache_trace(dev, e ? FL_SYS_EV_CACHE_HIT : FL_SYS_EV_CACHE_MISS,
		    e ? m->key : access, m->addr, m->bytes, 0);
	return e ? 0 : cache_register(m, access);
}

int lib_cache_give(struct fl_mr *m)
{
	struct lib_pinned *e = m->pinned;
	struct fl_device *dev = m->pd->dev;
	struct lib_cache *c = &dev->cache;
	enum cache_why why;
	bool end;

	cache_lock(c);
	assert(e->users && !e->busy);
	end = e->users == 1 && (e->stale || !c->on);
	why = e->stale ? CACHE_UNMAPPED : CACHE_END;
	e->busy = e->ending = end;
	if (!end) {
		e->users--;
		cache_used(c, e);
	}
	cache_unlock(c);
	return end ? cache_end(dev, e, why) : 0;
}

int lib_cache_drop(struct fl_device *dev, const struct fl_pd *pd)
{
	struct lib_cache *c = &dev->cache;
	struct lib_pinned *e;
	int error = 0;

	do {
		cache_lock(c);
		e = c->first;
		while (e && !(cache_is_kept(e) && (!pd || e->pd == pd)))
			e = e->next;
		if (e)
			e->busy = e->ending = true;
		cache_unlock(c);
		if (e)
			error = cache_end(dev, e, CACHE_END);
	} while (e && !error);
	return error;
}

/* A kept region with a page in [first, last] becomes busy; those in use become stale. */
static struct lib_pinned *cache_unmapped_one(struct lib_cache *c, uint64_t first,
					     uint64_t last)
{
	struct lib_pinned *e, *found = NULL;

	cache_lock(c);
	for (e = c->first; e && !found; e = e->next) {
		if (e->first > last || e->last < first || e->stale)
			continue;
		e->stale = true;
		if (cache_is_kept(e))
			found = e;
	}
	if (found)
		found->busy = found->ending = true;
	cache_unlock(c);
	return found;
}

int fl_unmapped(struct fl_device *dev, void *addr, size_t bytes)
{
	uint64_t first = (uintptr_t)addr, last = first + (bytes - 1), page;
	struct lib_pinned *e;
	int error = 0, one;

	if (!dev || !bytes || last < first)
		return -EINVAL;
	page = os_page_bytes();
	while ((e = cache_unmapped_one(&dev->cache, first & ~(page - 1),
				       last | (page - 1))) != NULL) {
		one = cache_end(dev, e, CACHE_UNMAPPED);
		error = error ? error : one;
	}
	return error;
}

int lib_cache_hear(struct fl_device *dev, void *addr, size_t bytes)
{
	return dev->cache.deaf ? 0 : fl_unmapped(dev, addr, bytes);
}

int lib_cache_close(struct fl_device *dev)
{
	struct lib_pinned *e, *next;
	int error = 0, one;

	for (e = dev->cache.first; e; e = next) {
		next = e->next;
		one = lib_mr_end(dev, e->addr, e->bytes, e->key, true);
		error = error ? error : one;
		free(e);
	}
	return error;
}

void lib_cache_init(struct lib_cache *c)
{
	atomic_flag_clear(&c->lock);
	c->bound = FL_CACHE_BYTES;
}

int fl_set_cache(struct fl_device *dev, uint64_t bytes, int hook)
{
	struct lib_cache *c;
	int error = 0;

	if (!dev || !bytes || hook < 0 || hook > 1)
		return -EINVAL;
	c = &dev->cache;
	if (!c->on)
		return -EOPNOTSUPP;
	cache_lock(c);
	if (c->first) {
		error = -EBUSY;
	} else {
		c->bound = bytes;
		c->deaf = !hook;
	}
	cache_unlock(c);
	return error;
}

int fl_query_cache(struct fl_device *dev, struct fl_cache_counters *n)
{
	if (!dev || !n)
		return -EINVAL;
	cache_lock(&dev->cache);
	*n = dev->cache.count;
	n->bound = dev->cache.bound;
	cache_unlock(&dev->cache);
	return 0;
}
