// SPDX-License-Identifier: BSD-2-Clause
#include "emu/os/os_emu.h"
#include "tools/scenario/rpc.h"

#include <errno.h>
#include <string.h>

#include "lib/os/os.h"
#include "tools/scenario/testbed.h"

#define AWAIT_NS	100u	/* between two looks at what a handler was told */
#define CQ_ENTRIES	4096
#define POLL_NS		100000	/* poll this long, then sleep */
#define POLL_BATCH	16
#define PAGE		4096u

static uint8_t *rpc_memory(const struct rpc_command *o)
{
	return (uint8_t *)(uintptr_t)o->addr;
}

/* ---- the card ---- */

static int rpc_open_card(struct rpc_app *a, const struct rpc_command *o)
{
	int err = fl_open(o->text, &a->dev);

	if (err)
		return err;
	err = o->derived ? fl_set_row(a->dev, (enum fl_system)o->what, &o->row,
				      (enum fl_resolve)o->resolve) :
			   fl_set_policy(a->dev, (enum fl_system)o->what,
					 (enum fl_resolve)o->resolve);
	if (!err && (o->cache.bytes || o->cache.hook))
		err = fl_set_cache(a->dev, o->cache.bytes ? o->cache.bytes :
							   FL_CACHE_BYTES,
				   o->cache.hook != RPC_HOOK_NO);
	if (!err && o->quirks)
		err = fl_set_quirks(a->dev, o->quirks);
	if (!err && (o->ring_slots || o->ring_bits))
		err = fl_set_backup(a->dev, o->ring_slots, o->ring_bits);
	if (!err && o->unverified)
		err = fl_set_verify(a->dev, 0);
	if (!err)
		err = fl_alloc_pd(a->dev, &a->pd[0]);
	if (!err)
		err = fl_create_cq(a->dev, CQ_ENTRIES, &a->cq);
	return err;
}

static int close_card(struct rpc_app *a)
{
	int err = a->dev ? fl_close(a->dev) : 0;

	a->dev = NULL;
	return err;
}

static int need_domain(struct rpc_app *a, uint32_t domain)
{
	if (domain >= RPC_DOMAINS)
		return -EINVAL;
	return a->pd[domain] ? 0 : fl_alloc_pd(a->dev, &a->pd[domain]);
}

/* ---- memory ---- */

static int rpc_allocate(struct rpc_app *a, const struct rpc_command *o,
			struct rpc_answer *r)
{
	size_t bytes = o->bytes;
	void *mem;

	errno = 0;
	if (o->kind == RPC_MAP_FILE)
		mem = fl_map_file(a->dev, o->text, &bytes);
	else
		mem = fl_alloc(a->dev, bytes);
	r->addr = (uintptr_t)mem;
	r->bytes = bytes;
	if (mem)
		return 0;
	return errno ? -errno : -ENOMEM;
}

static int rpc_fill(const struct rpc_command *o)
{
	uint8_t *mem = rpc_memory(o);
	uint64_t i;

	for (i = 0; i < o->bytes; i++)
		mem[i] = testbed_fill_byte((enum testbed_fill)o->what, o->seed,
					   i);
	return 0;
}

static int rpc_touch(const struct rpc_command *o)
{
	volatile uint8_t *mem = rpc_memory(o);
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

void rpc_copy(void *to, const void *from, uint64_t n)
{
	const uint8_t *p = from;
	uint8_t *q = to;
	uint64_t part;

	for (; n; p += part, q += part, n -= part) {
		part = PAGE - (uintptr_t)p % PAGE;
		part = part < n ? part : n;
		memcpy(q, p, part);
	}
}

static int do_memory(struct rpc_app *a, const struct rpc_command *o,
		     struct rpc_answer *r, const struct rpc_sink *sink)
{
	switch (o->kind) {
	case RPC_ALLOC: case RPC_MAP_FILE:
		return rpc_allocate(a, o, r);
	case RPC_FILL:
		return rpc_fill(o);
	case RPC_TOUCH:
		return rpc_touch(o);
	case RPC_READ:
		return sink->bytes(sink->arg, rpc_memory(o), o->bytes);
	case RPC_ADVISE:
		return fl_advise(a->dev, rpc_memory(o), o->bytes,
				 (enum fl_advice)o->what);
	case RPC_PROTECT:
		return fl_protect(a->dev, rpc_memory(o), o->bytes,
				  (int)o->what);
	case RPC_REMAP:
		return fl_remap(a->dev, rpc_memory(o), o->bytes);
	default:
		return fl_free(a->dev, rpc_memory(o), o->bytes);
	}
}

/* Where a signal would be the end of the process, and no kernel of ours to ask. */
static int check_rights(const struct rpc_command *o, struct rpc_answer *r)
{
	uint64_t end = o->addr + o->bytes;
	struct os_map m;

	for (r->addr = o->addr; r->addr < end; r->addr = m.end) {
		if (!os_map_find(rpc_memory(o) + (r->addr - o->addr), &m) ||
		    ((uint32_t)m.prot & o->what) != o->what)
			return -EFAULT;
	}
	return 0;
}

/* ---- regions ---- */

static int do_region(struct rpc_app *a, const struct rpc_command *o,
		     struct rpc_answer *r)
{
	struct fl_mr **mr = &a->mr[o->id % RPC_REGIONS];
	int err;

	if (o->kind == RPC_PREFETCH)
		return fl_prefetch(*mr, rpc_memory(o), o->bytes,
				   (int)o->what);
	if (o->kind == RPC_DEREGISTER) {
		err = fl_dereg_mr(*mr);
		if (!err)
			*mr = NULL;
		return err;
	}
	err = need_domain(a, o->domain);
	if (!err)
		err = fl_reg_mr(a->pd[o->domain], rpc_memory(o), o->bytes,
				o->access, mr);
	if (!err)
		r->key = fl_mr_key(*mr);
	return err;
}

static int do_dma(struct rpc_app *a, const struct rpc_command *o,
		  struct rpc_answer *r)
{
	size_t done = 0;
	int err = fl_dma_copy(a->dev, rpc_memory(o),
			      (const void *)(uintptr_t)o->from, o->bytes,
			      &done);

	r->bytes = done;
	return err;
}

/* ---- queue pairs and completions ---- */

static int rpc_make_pair(struct rpc_app *a, const struct rpc_command *o,
			 struct rpc_answer *r)
{
	struct fl_qp **qp = &a->qp[o->id % RPC_PAIRS];
	int err = need_domain(a, o->domain);

	if (!err && o->receives) {
		struct fl_qp_init init = {
			.type = o->datagrams ? FL_QPT_UD : FL_QPT_RC,
			.send_cq = a->cq, .entries = o->depth,
			.recv_entries = o->receives,
			.inline_bytes = o->inline_bytes,
		};

		err = fl_create_qp_ex(a->pd[o->domain], &init, qp);
	} else if (!err) {
		err = (o->what ? fl_create_qp_relaxed : fl_create_qp)(
			a->pd[o->domain], a->cq, o->depth, qp);
	}
	if (!err)
		err = fl_qp_address(*qp, &r->address);
	return err;
}

static int rpc_end_pair(struct rpc_app *a, const struct rpc_command *o)
{
	struct fl_qp *qp = a->qp[o->id % RPC_PAIRS];

	a->qp[o->id % RPC_PAIRS] = NULL;
	return qp ? fl_destroy_qp(qp) : 0;
}

/* Ready to send, step by step, with attributes that are not the card's own. */
static int rpc_connect(struct rpc_app *a, const struct rpc_command *o)
{
	static const unsigned int given[2][3] = { {
		FL_ATTR_STATE,
		FL_ATTR_STATE | FL_ATTR_PEER | FL_ATTR_MTU | FL_ATTR_RQ_PSN |
			FL_ATTR_RNR_CODE | FL_ATTR_DEST_RD_ATOMIC,
		FL_ATTR_STATE | FL_ATTR_SQ_PSN | FL_ATTR_TIMEOUT |
			FL_ATTR_RETRIES | FL_ATTR_RNR_TRIES | FL_ATTR_RD_ATOMIC,
	}, {
		FL_ATTR_STATE | FL_ATTR_QKEY,
		FL_ATTR_STATE | FL_ATTR_PEER | FL_ATTR_MTU,
		FL_ATTR_STATE | FL_ATTR_SQ_PSN,
	} };
	struct fl_qp *qp = a->qp[o->id % RPC_PAIRS];
	struct fl_qp_attr attr = o->attr;
	int i, err = 0;

	if (!o->mask)
		return fl_connect(qp, &o->address);
	attr.node = o->address.node;
	attr.peer_qp = o->address.qpn;
	attr.qkey = 0x11111111;	/* as rdma-core's programs have it */
	for (i = 0; i < 3 && !err; i++) {
		attr.state = (enum fl_state)(FL_INIT + i);
		err = fl_modify_qp(qp, &attr, given[!!o->datagrams][i]);
	}
	return err;
}

static int rpc_receive(struct rpc_app *a, const struct rpc_command *o)
{
	const struct fl_segment s = { o->work.local, o->work.bytes, o->work.lkey };
	const struct fl_receive r = {
		.wr_id = o->work.wr_id, .list = &s, .segments = o->work.bytes != 0,
	};

	return fl_post_recv(a->qp[o->id % RPC_PAIRS], &r);
}

/* ---- event counters ---- */

static void rpc_counted(void *arg, uint32_t count)
{
	struct rpc_handled *h = arg;

	atomic_store(&h->now_ns, h->app->now_ns(h->app->now_arg));
	atomic_store(&h->count, count);
}

/* A thread of the library calls, and this one waits until it has. */
static int rpc_await_handler(struct rpc_app *a, const struct rpc_command *o,
			     struct rpc_answer *r)
{
	struct rpc_handled *h = &a->handled[o->id % RPC_EVENT_COUNTERS];
	struct fl_counter *c = a->counter[o->id % RPC_EVENT_COUNTERS];
	int err = 0;

	if (!h->app) {
		h->app = a;
		err = fl_on_count(c, rpc_counted, h);
	}
	while (!err && atomic_load(&h->count) < o->depth) {
		if (a->now_ns(a->now_arg) >= o->end_ns)
			return -ETIMEDOUT;
		/* It does not rise so far: this lets some time pass. */
		err = fl_counter_wait(c, atomic_load(&h->count) + (1u << 30), 1, AWAIT_NS);
		err = err == -ETIMEDOUT ? 0 : err;
	}
	r->now_ns = atomic_load(&h->now_ns);
	return err;
}

/* Wake-ups, or units that are taken, until there were as many as that. */
static int rpc_await_ops(struct rpc_app *a, const struct rpc_command *o)
{
	struct fl_semaphore *s = &a->semaphore[o->id % RPC_EVENT_COUNTERS];
	struct fl_wait_queue *q = &a->queue[o->id % RPC_EVENT_COUNTERS];
	bool queue = o->what == RPC_AWAIT_QUEUE || o->what == RPC_AWAIT_QUEUE_BUSY;
	bool busy = o->what >= RPC_AWAIT_QUEUE_BUSY;
	uint64_t now;
	int err = 0;

	q->counter = s->counter = a->counter[o->id % RPC_EVENT_COUNTERS];
	while (!err && (queue ? q->seen : s->taken) < o->depth) {
		now = a->now_ns(a->now_arg);
		if (now >= o->end_ns)
			return -ETIMEDOUT;
		err = queue ? fl_wait_queue_wait(q, busy, o->end_ns - now) :
			      fl_semaphore_take(s, busy, o->end_ns - now);
	}
	return err;
}

static int rpc_await(struct rpc_app *a, const struct rpc_command *o,
		     struct rpc_answer *r)
{
	struct fl_counter *c = a->counter[o->id % RPC_EVENT_COUNTERS];
	uint64_t now = a->now_ns(a->now_arg);
	int err;

	if (!c)
		return -ENOENT;
	if (o->what == RPC_AWAIT_HANDLER) {
		err = rpc_await_handler(a, o, r);
	} else if (o->what >= RPC_AWAIT_QUEUE) {
		err = rpc_await_ops(a, o);
		r->now_ns = a->now_ns(a->now_arg);
	} else {
		err = fl_counter_wait(c, o->depth, o->what == RPC_AWAIT_BUSY,
				      o->end_ns > now ? o->end_ns - now : 1);
		r->now_ns = a->now_ns(a->now_arg);
	}
	r->bytes = fl_counter_read(c);
	return err;
}

static int rpc_counter(struct rpc_app *a, const struct rpc_command *o,
		       struct rpc_answer *r)
{
	struct fl_counter **c = &a->counter[o->id % RPC_EVENT_COUNTERS];
	int err = fl_create_counter(a->dev, c);

	if (!err)
		r->key = fl_counter_number(*c);
	return err;
}

static int rpc_wait_for(struct rpc_app *a, const struct rpc_command *o,
			const struct rpc_sink *sink)
{
	uint64_t now = a->now_ns(a->now_arg), poll_end = now + POLL_NS;
	struct fl_completion c[POLL_BATCH];
	bool done = false;
	int i, n;

	while (!done) {
		now = a->now_ns(a->now_arg);
		if (now >= o->end_ns)
			return -ETIMEDOUT;
		if (o->what == TESTBED_POLLING ||
		    (o->what == TESTBED_BOTH && now < poll_end))
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

void rpc_do(struct rpc_app *a, const struct rpc_command *o,
	    struct rpc_answer *r, const struct rpc_sink *sink)
{
	switch (o->kind) {
	case RPC_OPEN:
		r->error = rpc_open_card(a, o);
		break;
	case RPC_RESOLVE:
		r->error = fl_set_resolve(a->dev, (enum fl_resolve)o->resolve,
					  o->what);
		break;
	case RPC_CLOSE:
		r->error = close_card(a);
		break;
	case RPC_REGISTER: case RPC_DEREGISTER: case RPC_PREFETCH:
		r->error = do_region(a, o, r);
		break;
	case RPC_DMA:
		r->error = do_dma(a, o, r);
		break;
	case RPC_PAIR:
		r->error = rpc_make_pair(a, o, r);
		break;
	case RPC_UNPAIR:
		r->error = rpc_end_pair(a, o);
		break;
	case RPC_CONNECT:
		r->error = rpc_connect(a, o);
		break;
	case RPC_RESUME:
		r->error = fl_resume(a->qp[o->id % RPC_PAIRS]);
		break;
	case RPC_COUNTER:
		r->error = rpc_counter(a, o, r);
		break;
	case RPC_AWAIT:
		r->error = rpc_await(a, o, r);
		break;
	case RPC_POST:
		r->now_ns = a->now_ns(a->now_arg);
		r->error = fl_post(a->qp[o->id % RPC_PAIRS], &o->work);
		break;
	case RPC_RECEIVE:
		r->now_ns = a->now_ns(a->now_arg);
		r->error = rpc_receive(a, o);
		break;
	case RPC_WAIT:
		r->error = rpc_wait_for(a, o, sink);
		break;
	case RPC_COUNTERS:
		r->error = fl_query_counters(a->dev, &r->counters);
		if (!r->error)
			r->error = fl_query_cache(a->dev, &r->cache);
		break;
	case RPC_CLOCK:
		r->now_ns = a->now_ns(a->now_arg);
		break;
	case RPC_RIGHTS:
		r->error = check_rights(o, r);
		break;
	case RPC_PRESENT:
		r->error = os_pages_present(rpc_memory(o), o->bytes,
					    &r->bytes);
		break;
	case RPC_RUN:
		r->error = ((rpc_run)(uintptr_t)o->addr)(a, (void *)(uintptr_t)o->from);
		break;
	default:
		r->error = do_memory(a, o, r, sink);
	}
}
