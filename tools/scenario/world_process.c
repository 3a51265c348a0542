// SPDX-License-Identifier: BSD-2-Clause
/* Processes, their application threads, and their buffers and regions. */
#include "tools/scenario/world_internal.h"

#include <errno.h>
#include <string.h>

#define CQ_ENTRIES 4096

/* One job for the application thread; the director waits until it is done. */
struct world_call {
	int (*fn)(struct world_process *p, void *arg);
	void *arg;
	int result;
};

static bool has_call(void *arg)
{
	struct world_process *p = arg;

	return __atomic_load_n(&p->call, __ATOMIC_ACQUIRE) != NULL;
}

static bool is_done(void *arg)
{
	struct world_process *p = arg;

	return __atomic_load_n(&p->done, __ATOMIC_ACQUIRE);
}

static int last_call(struct world_process *p, void *arg)
{
	int err = 0;

	(void)arg;
	if (p->dev)
		err = fl_close(p->dev);
	p->dev = NULL;
	p->gone = true;
	return err;
}

static void agent(void *arg)
{
	struct world_process *p = arg;
	struct world_call *c;
	bool end;

	do {
		sim_wait(&p->wake, has_call, p, 0);
		c = p->call;
		__atomic_store_n(&p->call, NULL, __ATOMIC_RELEASE);
		end = c->fn == last_call;
		c->result = c->fn(p, c->arg);
		/* c lies on the director's stack: nothing of it after done. */
		__atomic_store_n(&p->done, true, __ATOMIC_RELEASE);
		sim_wake(&p->finished, 0);
	} while (!end);
}

int world_in(struct world_process *p,
	     int (*fn)(struct world_process *p, void *arg), void *arg)
{
	struct world_call c = { .fn = fn, .arg = arg };

	if (p->gone)
		return -ESRCH;
	__atomic_store_n(&p->done, false, __ATOMIC_RELAXED);
	__atomic_store_n(&p->call, &c, __ATOMIC_RELEASE);
	sim_wake(&p->wake, 0);
	sim_wait(&p->finished, is_done, p, 0);
	return c.result;
}

static int open_card(struct world_process *p, void *arg)
{
	char name[64];
	int err;

	(void)arg;
	snprintf(name, sizeof(name), "emu:%s", p->board->name);
	err = fl_open(name, &p->dev);
	if (err)
		return err;
	err = fl_set_policy(p->dev,
			    p->policy == WORLD_STALL ? FL_POLICY_STALL :
						       FL_POLICY_RETRANSMIT,
			    p->touch);
	if (!err)
		err = fl_alloc_pd(p->dev, &p->pd[0]);
	if (!err)
		err = fl_create_cq(p->dev, CQ_ENTRIES, &p->cq);
	p->open = !err;
	return err;
}

int world_process_add(struct world *w, const char *name, struct world_board *b,
		      enum world_policy policy, enum fl_touch touch,
		      struct world_process **out)
{
	struct world_process *p = &w->process[w->processes];
	int err = 0;

	if (w->processes == WORLD_PROCESSES)
		return -ENOSPC;
	memset(p, 0, sizeof(*p));
	p->name = name;
	p->world = w;
	p->board = b;
	p->policy = policy;
	p->touch = touch;
	sim_waitq_init(&p->wake);
	sim_waitq_init(&p->finished);
	p->host = host_process_create(b->kernel, name, &err);
	if (!p->host)
		return err;
	p->agent = host_thread_start(p->host, name, agent, p);
	if (!p->agent) {
		host_process_exit(p->host);
		return -ENOMEM;
	}
	w->processes++;
	*out = p;
	return world_in(p, open_card, NULL);
}

int world_process_end(struct world_process *p)
{
	struct world *w = p->world;
	unsigned int i;
	int err = world_in(p, last_call, NULL);

	if (err == -ESRCH)
		return err;
	sim_thread_join(p->agent);
	host_process_exit(p->host);
	p->host = NULL;
	for (i = 0; i < w->buffers; i++) {
		if (w->buffer[i].process != p)
			continue;
		w->buffer[i].mr = NULL;
		w->buffer[i].changes++;
	}
	return err;
}

/* ---- buffers ---- */

struct span {
	struct world_buffer *b;
	uint64_t off, len, seed, pages;
	int what;
	unsigned int access, pd;
	uint8_t *to;
	const char *path;
};

/* off and len inside the buffer; len 0: up to its end. */
static int clip(struct world_buffer *b, struct span *s)
{
	if (s->off > b->bytes || s->len > b->bytes - s->off) {
		world_why_set(b->process->world,
			      "buffer %s has only %llu bytes", b->name,
			      (unsigned long long)b->bytes);
		return -ERANGE;
	}
	if (!s->len)
		s->len = b->bytes - s->off;
	s->b = b;
	return 0;
}

/*
 * What the CPU must not touch would end this program, not a process: ask first. Only for
 * buffers whose rights ever changed, since asking takes time.
 */
static int may_touch(struct world_buffer *b, const struct span *s, int need)
{
	struct host_mm *mm = host_process_mm(b->process->host);
	uint64_t va = (uint64_t)(uintptr_t)b->mem + s->off, from, to;
	uint64_t end = va + s->len;
	int prot;

	while (va < end) {
		if (mm_lookup(mm, va, &from, &to, &prot) || !(prot & need)) {
			world_why_set(b->process->world,
				      "the CPU may not touch byte %llu of %s",
				      (unsigned long long)(va - (uintptr_t)b->mem),
				      b->name);
			return -EFAULT;
		}
		va = to;
	}
	return 0;
}

/* need: rights of the CPU that fn uses, 0: it touches nothing. */
static int on_span(struct world_buffer *b, struct span *s,
		   int (*fn)(struct world_process *p, void *arg), int need)
{
	int err = clip(b, s);

	if (!err && b->process->gone)
		err = -ESRCH;
	if (!err && need && b->odd)
		err = may_touch(b, s, need);
	return err ? err : world_in(b->process, fn, s);
}

static int do_alloc(struct world_process *p, void *arg)
{
	struct span *s = arg;
	size_t bytes = 0;

	errno = 0;
	if (s->path) {
		s->b->mem = fl_map_file(p->dev, s->path, &bytes);
		s->b->bytes = bytes;
	} else {
		s->b->mem = fl_alloc(p->dev, s->b->bytes);
	}
	if (s->b->mem)
		return 0;
	return errno ? -errno : -ENOMEM;
}

int world_buffer_add(struct world_process *p, const char *name, uint64_t bytes,
		     const char *path, struct world_buffer **out)
{
	struct world *w = p->world;
	struct world_buffer *b = &w->buffer[w->buffers];
	struct span s = { .b = b, .path = path };
	int err;

	if (w->buffers == WORLD_BUFFERS)
		return -ENOSPC;
	if (!p->dev)
		return -ENODEV;
	memset(b, 0, sizeof(*b));
	b->name = name;
	b->process = p;
	b->bytes = bytes;
	err = world_in(p, do_alloc, &s);
	if (err)
		return err;
	w->buffers++;
	*out = b;
	return 0;
}

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint8_t world_fill_byte(enum world_fill fill, uint64_t seed, uint64_t i)
{
	switch (fill) {
	case WORLD_RANDOM:
		return (uint8_t)(mix(seed * 0x100000001b3ull + i / 8) >>
				 i % 8 * 8);
	case WORLD_PATTERN:	/* its own offset, so that misplaced bytes show */
		return (uint8_t)(i % 4096 / 8 * 7 + i / 4096 + i % 8);
	default:
		return 0;
	}
}

static int do_fill(struct world_process *p, void *arg)
{
	struct span *s = arg;
	uint64_t i;

	(void)p;
	for (i = 0; i < s->len; i++)
		s->b->mem[i] = world_fill_byte((enum world_fill)s->what,
					       s->seed, i);
	return 0;
}

int world_buffer_fill(struct world_buffer *b, enum world_fill fill,
		      uint64_t seed)
{
	struct span s = { .what = fill, .seed = seed };

	b->changes++;
	return on_span(b, &s, do_fill, HOST_WRITE);
}

static int do_touch(struct world_process *p, void *arg)
{
	struct span *s = arg;
	volatile uint8_t *mem = s->b->mem;
	uint64_t at = s->off, end = s->off + s->len;
	uint8_t v;

	(void)p;
	while (at < end) {
		v = mem[at];
		if (s->what)
			mem[at] = v;
		at = (at | (HOST_PAGE - 1)) + 1;
	}
	return 0;
}

int world_buffer_touch(struct world_buffer *b, uint64_t off, uint64_t len,
		       bool write)
{
	struct span s = { .off = off, .len = len, .what = write };

	if (write)
		b->changes++;
	return on_span(b, &s, do_touch, write ? HOST_WRITE : HOST_READ);
}

static int do_read(struct world_process *p, void *arg)
{
	struct span *s = arg;

	(void)p;
	memcpy(s->to, s->b->mem + s->off, s->len);
	return 0;
}

int world_buffer_read(struct world_buffer *b, uint64_t off, void *to,
		      uint64_t len)
{
	struct span s = { .off = off, .len = len, .to = to };

	return on_span(b, &s, do_read, HOST_READ);
}

static int do_advise(struct world_process *p, void *arg)
{
	struct span *s = arg;

	return fl_advise(p->dev, s->b->mem + s->off, s->len,
			 (enum fl_advice)s->what);
}

int world_buffer_advise(struct world_buffer *b, uint64_t off, uint64_t len,
			enum fl_advice advice)
{
	struct span s = { .off = off, .len = len, .what = advice };

	if (advice == FL_DONTNEED)
		b->changes++;
	return on_span(b, &s, do_advise, 0);
}

static int do_protect(struct world_process *p, void *arg)
{
	struct span *s = arg;

	return fl_protect(p->dev, s->b->mem + s->off, s->len, s->what);
}

int world_buffer_protect(struct world_buffer *b, uint64_t off, uint64_t len,
			 int prot)
{
	struct span s = { .off = off, .len = len, .what = prot };

	b->changes++;
	b->odd = true;
	return on_span(b, &s, do_protect, 0);
}

static int do_unmap(struct world_process *p, void *arg)
{
	struct span *s = arg;

	return fl_free(p->dev, s->b->mem + s->off, s->len);
}

int world_buffer_unmap(struct world_buffer *b, uint64_t off, uint64_t len)
{
	struct span s = { .off = off, .len = len };
	int err = on_span(b, &s, do_unmap, 0);

	b->changes++;
	b->odd = true;
	return err;
}

int world_buffer_resident(struct world_buffer *b, uint64_t off, uint64_t len,
			  uint64_t *pages)
{
	struct span s = { .off = off, .len = len };
	uint64_t va, end;
	int err = clip(b, &s);

	*pages = 0;
	if (err || b->process->gone)
		return err ? err : -ESRCH;
	va = (uint64_t)(uintptr_t)b->mem + s.off;
	end = va + s.len;
	for (va &= ~(HOST_PAGE - 1); va < end; va += HOST_PAGE)
		*pages += mm_resident(host_process_mm(b->process->host), va);
	return 0;
}

/* ---- regions ---- */

static int do_region(struct world_process *p, void *arg)
{
	struct span *s = arg;
	int err = 0;

	if (!p->pd[s->pd])
		err = fl_alloc_pd(p->dev, &p->pd[s->pd]);
	if (!err)
		err = fl_reg_mr(p->pd[s->pd], s->b->mem + s->off, s->len,
				s->access, &s->b->mr);
	if (!err)
		s->b->key = fl_mr_key(s->b->mr);
	return err;
}

int world_region_add(struct world_buffer *b, uint64_t off, uint64_t len,
		     unsigned int access, unsigned int pd)
{
	struct span s = { .off = off, .len = len, .access = access, .pd = pd };

	if (pd >= 4)
		return -EINVAL;
	if (b->mr) {
		world_why_set(b->process->world,
			      "buffer %s has a region already", b->name);
		return -EEXIST;
	}
	return on_span(b, &s, do_region, 0);
}

static int do_deregister(struct world_process *p, void *arg)
{
	struct world_buffer *b = arg;
	int err = fl_dereg_mr(b->mr);

	(void)p;
	if (!err)
		b->mr = NULL;	/* the key stays, to try what it does now */
	return err;
}

int world_region_remove(struct world_buffer *b)
{
	return b->mr ? world_in(b->process, do_deregister, b) : -ENOENT;
}

static int do_prefetch(struct world_process *p, void *arg)
{
	struct span *s = arg;

	(void)p;
	return fl_prefetch(s->b->mr, s->b->mem + s->off, s->len, s->what);
}

int world_prefetch(struct world_buffer *b, uint64_t off, uint64_t len,
		   bool write)
{
	struct span s = { .off = off, .len = len, .what = write };

	return b->mr ? on_span(b, &s, do_prefetch, 0) : -ENOENT;
}
