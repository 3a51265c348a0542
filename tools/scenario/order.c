// SPDX-License-Identifier: BSD-2-Clause
#include "tools/scenario/order.h"

#include <errno.h>

#include "lib/os/os.h"
#include "tools/scenario/world.h"

#define CQ_ENTRIES	4096
#define POLL_NS		100000	/* poll this long, then sleep */
#define POLL_BATCH	16
#define PAGE		4096u

static uint8_t *memory(const struct order *o)
{
	return (uint8_t *)(uintptr_t)o->addr;
}

/* ---- the card ---- */

static int open_card(struct order_app *a, const struct order *o)
{
	int err = fl_open(o->text, &a->dev);

	if (err)
		return err;
	err = fl_set_policy(a->dev, (enum fl_fault_policy)o->what,
			    (enum fl_resolve)o->resolve);
	if (!err)
		err = fl_alloc_pd(a->dev, &a->pd[0]);
	if (!err)
		err = fl_create_cq(a->dev, CQ_ENTRIES, &a->cq);
	return err;
}

static int close_card(struct order_app *a)
{
	int err = a->dev ? fl_close(a->dev) : 0;

	a->dev = NULL;
	return err;
}

static int need_domain(struct order_app *a, uint32_t domain)
{
	if (domain >= ORDER_DOMAINS)
		return -EINVAL;
	return a->pd[domain] ? 0 : fl_alloc_pd(a->dev, &a->pd[domain]);
}

/* ---- memory ---- */

static int allocate(struct order_app *a, const struct order *o,
		    struct order_answer *r)
{
	size_t bytes = o->bytes;
	void *mem;

	errno = 0;
	if (o->kind == ORDER_MAP_FILE)
		mem = fl_map_file(a->dev, o->text, &bytes);
	else
		mem = fl_alloc(a->dev, bytes);
	r->addr = (uintptr_t)mem;
	r->bytes = bytes;
	if (mem)
		return 0;
	return errno ? -errno : -ENOMEM;
}

static int fill(const struct order *o)
{
	uint8_t *mem = memory(o);
	uint64_t i;

	for (i = 0; i < o->bytes; i++)
		mem[i] = world_fill_byte((enum world_fill)o->what, o->seed, i);
	return 0;
}

static int touch(const struct order *o)
{
	volatile uint8_t *mem = memory(o);
	uint64_t at = 0;
	uint8_t v;

	while (at < o->bytes) {
		v = mem[at];
		if (o->what)
			mem[at] = v;
		at = ((o->addr + at) | (PAGE - 1)) + 1 - o->addr;
	}
	return 0;
}

static int do_memory(struct order_app *a, const struct order *o,
		     struct order_answer *r, const struct order_sink *sink)
{
	switch (o->kind) {
	case ORDER_ALLOC: case ORDER_MAP_FILE:
		return allocate(a, o, r);
	case ORDER_FILL:
		return fill(o);
	case ORDER_TOUCH:
		return touch(o);
	case ORDER_READ:
		return sink->bytes(sink->arg, memory(o), o->bytes);
	case ORDER_ADVISE:
		return fl_advise(a->dev, memory(o), o->bytes,
				 (enum fl_advice)o->what);
	case ORDER_PROTECT:
		return fl_protect(a->dev, memory(o), o->bytes, (int)o->what);
	default:
		return fl_free(a->dev, memory(o), o->bytes);
	}
}

/* Where a signal would be the end of the process, and no kernel of ours to ask. */
static int check_rights(const struct order *o, struct order_answer *r)
{
	uint64_t end = o->addr + o->bytes;
	struct os_map m;

	for (r->addr = o->addr; r->addr < end; r->addr = m.end) {
		if (!os_map_find(memory(o) + (r->addr - o->addr), &m) ||
		    ((uint32_t)m.prot & o->what) != o->what)
			return -EFAULT;
	}
	return 0;
}

/* ---- regions ---- */

static int do_region(struct order_app *a, const struct order *o,
		     struct order_answer *r)
{
	struct fl_mr **mr = &a->mr[o->id % ORDER_REGIONS];
	int err;

	if (o->kind == ORDER_PREFETCH)
		return fl_prefetch(*mr, memory(o), o->bytes, (int)o->what);
	if (o->kind == ORDER_DEREGISTER) {
		err = fl_dereg_mr(*mr);
		if (!err)
			*mr = NULL;
		return err;
	}
	err = need_domain(a, o->domain);
	if (!err)
		err = fl_reg_mr(a->pd[o->domain], memory(o), o->bytes,
				o->access, mr);
	if (!err)
		r->key = fl_mr_key(*mr);
	return err;
}

/* ---- queue pairs and completions ---- */

static int make_pair(struct order_app *a, const struct order *o,
		     struct order_answer *r)
{
	struct fl_qp **qp = &a->qp[o->id % ORDER_PAIRS];
	int err = need_domain(a, o->domain);

	if (!err)
		err = (o->what ? fl_create_qp_relaxed : fl_create_qp)(
			a->pd[o->domain], a->cq, o->depth, qp);
	if (!err)
		err = fl_qp_address(*qp, &r->address);
	return err;
}

static int wait_for(struct order_app *a, const struct order *o,
		    const struct order_sink *sink)
{
	uint64_t now = a->now_ns(a->now_arg), poll_end = now + POLL_NS;
	struct fl_completion c[POLL_BATCH];
	bool done = false;
	int i, n;

	while (!done) {
		now = a->now_ns(a->now_arg);
		if (now >= o->end_ns)
			return -ETIMEDOUT;
		if (o->what == WORLD_POLLING ||
		    (o->what == WORLD_BOTH && now < poll_end))
			n = fl_poll(a->cq, c, POLL_BATCH);
		else
			n = fl_wait(a->cq, c, POLL_BATCH, o->end_ns - now);
		now = n > 0 ? a->now_ns(a->now_arg) : 0;
		for (i = 0; i < n; i++) {
			sink->completion(sink->arg, &c[i], now);
			done |= c[i].wr_id == o->work.wr_id;
		}
		if (n < 0)
			return n;
	}
	return 0;
}

void order_do(struct order_app *a, const struct order *o,
	      struct order_answer *r, const struct order_sink *sink)
{
	switch (o->kind) {
	case ORDER_OPEN:
		r->error = open_card(a, o);
		break;
	case ORDER_CLOSE:
		r->error = close_card(a);
		break;
	case ORDER_REGISTER: case ORDER_DEREGISTER: case ORDER_PREFETCH:
		r->error = do_region(a, o, r);
		break;
	case ORDER_PAIR:
		r->error = make_pair(a, o, r);
		break;
	case ORDER_CONNECT:
		r->error = fl_connect(a->qp[o->id % ORDER_PAIRS], &o->address);
		break;
	case ORDER_POST:
		r->now_ns = a->now_ns(a->now_arg);
		r->error = fl_post(a->qp[o->id % ORDER_PAIRS], &o->work);
		break;
	case ORDER_WAIT:
		r->error = wait_for(a, o, sink);
		break;
	case ORDER_COUNTERS:
		r->error = fl_query_counters(a->dev, &r->counters);
		break;
	case ORDER_CLOCK:
		r->now_ns = a->now_ns(a->now_arg);
		break;
	case ORDER_RIGHTS:
		r->error = check_rights(o, r);
		break;
	case ORDER_PRESENT:
		r->error = os_pages_present(memory(o), o->bytes, &r->bytes);
		break;
	default:
		r->error = do_memory(a, o, r, sink);
	}
}
