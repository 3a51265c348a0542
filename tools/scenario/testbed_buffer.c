// SPDX-License-Identifier: BSD-2-Clause
/* Buffers of processes, and their regions. */
#include "tools/scenario/testbed_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "host/mm.h"
#include "tools/scenario/guest_rules.h"

struct span {
	uint64_t off, len;
};

/* off and len inside the buffer; len 0: up to its end. */
static int buffer_clip(struct testbed_buffer *b, struct span *s)
{
	if (s->off > b->bytes || s->len > b->bytes - s->off) {
		testbed_why_set(b->process->testbed,
				"buffer %s has only %llu bytes", b->name,
				(unsigned long long)b->bytes);
		return -ERANGE;
	}
	if (!s->len)
		s->len = b->bytes - s->off;
	return 0;
}

static int refuse_touch(struct testbed_buffer *b, uint64_t va)
{
	testbed_why_set(b->process->testbed,
			"the CPU may not touch byte %llu of %s",
			(unsigned long long)(va - (uintptr_t)b->mem), b->name);
	return -EFAULT;
}

/* The kernel that knows is elsewhere: the process asks it. */
static int may_touch_there(struct testbed_buffer *b, const struct span *s,
			   int need)
{
	struct rpc_command o = { .kind = RPC_RIGHTS, .bytes = s->len,
			   .what = need == HOST_WRITE ? PROT_WRITE : PROT_READ,
			   .addr = (uint64_t)(uintptr_t)b->mem + s->off };
	struct rpc_answer r;
	int err = testbed_rpc(b->process, &o, &r, NULL);

	return err == -EFAULT ? refuse_touch(b, r.addr) : err;
}

/*
 * What the CPU must not touch would end the process, or even this program: ask first. Only for
 * buffers whose rights ever changed, since asking takes time.
 */
static int may_touch(struct testbed_buffer *b, const struct span *s, int need)
{
	struct host_mm *mm = b->process->mm;
	uint64_t va = (uint64_t)(uintptr_t)b->mem + s->off, from, to;
	uint64_t end = va + s->len;
	int prot;

	if (testbed_kernel_elsewhere(b->process->board))
		return may_touch_there(b, s, need);
	while (va < end) {
		if (mm_lookup(mm, va, &from, &to, &prot) || !(prot & need))
			return refuse_touch(b, va);
		va = to;
	}
	return 0;
}

/* need: rights of the CPU that the command uses, 0: it touches nothing. */
static int on_span(struct testbed_buffer *b, uint64_t off, uint64_t len,
		   struct rpc_command *o, int need, const struct rpc_sink *sink)
{
	struct span s = { .off = off, .len = len };
	struct rpc_answer r;
	int err = buffer_clip(b, &s);

	if (!err && b->process->gone)
		err = -ESRCH;
	if (!err && need && b->odd)
		err = may_touch(b, &s, need);
	if (err)
		return err;
	o->addr = (uint64_t)(uintptr_t)b->mem + s.off;
	o->bytes = s.len;
	err = testbed_rpc(b->process, o, &r, sink);
	if (!err && o->kind == RPC_REGISTER)
		b->key = r.key;
	return err;
}

int testbed_buffer_add(struct testbed_process *p, const char *name,
		       uint64_t bytes,
		       const char *path, struct testbed_buffer **out)
{
	struct testbed *w = p->testbed;
	struct testbed_buffer *b = &w->buffer[w->buffers];
	struct rpc_command o = { .kind = path ? RPC_MAP_FILE : RPC_ALLOC,
			   .bytes = bytes, .text = path };
	struct rpc_answer r;
	char there[200];
	int err;

	if (path && p->board->guest) {
		snprintf(there, sizeof(there), "/job/%s", guest_file_name(path));
		o.text = there;
	}
	if (w->buffers == TESTBED_BUFFERS)
		return -ENOSPC;
	if (!p->open)
		return -ENODEV;
	err = testbed_rpc(p, &o, &r, NULL);
	if (err)
		return err;
	*b = (struct testbed_buffer){
		.name = name,
		.process = p,
		.mem = (uint8_t *)(uintptr_t)r.addr,
		.bytes = r.bytes,
		.number = w->buffers++,
		.file = path,
	};
	testbed_model_buffer(b, path);
	*out = b;
	return 0;
}

static int buffer_fill(struct testbed_buffer *b, uint64_t off, uint64_t len,
		       enum testbed_fill with, uint64_t seed)
{
	struct rpc_command o = { .kind = RPC_FILL, .what = with, .seed = seed };
	int err = on_span(b, off, len, &o, HOST_WRITE, NULL);

	if (err)
		testbed_model_unknown(b, off, len);
	else
		testbed_model_fill(b, off, len, with, seed);
	return err;
}

int testbed_buffer_fill(struct testbed_buffer *b, enum testbed_fill with,
			uint64_t seed)
{
	return buffer_fill(b, 0, b->bytes, with, seed);
}

int testbed_buffer_store(struct testbed_buffer *b, uint64_t off, uint64_t len,
			 uint64_t seed)
{
	return buffer_fill(b, off, len, TESTBED_RANDOM, seed);
}

int testbed_buffer_touch(struct testbed_buffer *b, uint64_t off, uint64_t len,
			 bool write)
{
	struct rpc_command o = { .kind = RPC_TOUCH, .what = write };

	int err = on_span(b, off, len, &o, write ? HOST_WRITE : HOST_READ,
			  NULL);

	if (write)
		testbed_model_touch(b, off, len);
	return err;
}

/* Where the bytes that are read go next. */
struct reading {
	uint8_t *to;
	uint64_t left;
};

static int take_bytes(void *arg, const void *from, uint64_t n)
{
	struct reading *x = arg;

	if (n > x->left)
		return -EPROTO;
	rpc_copy(x->to, from, n);
	x->to += n;
	x->left -= n;
	return 0;
}

int testbed_buffer_read(struct testbed_buffer *b, uint64_t off, void *to,
			uint64_t len)
{
	struct reading x = { .to = to, .left = len };
	struct rpc_sink sink = { .bytes = take_bytes, .arg = &x };
	struct rpc_command o = { .kind = RPC_READ };
	int err = len ? on_span(b, off, len, &o, HOST_READ, &sink) : 0;

	if (!err && !x.left && len)
		testbed_model_read(b, off, to, len);
	return err ? err : x.left ? -EPROTO : 0;
}

int testbed_buffer_advise(struct testbed_buffer *b, uint64_t off, uint64_t len,
			  enum fl_advice advice)
{
	struct rpc_command o = { .kind = RPC_ADVISE, .what = advice };

	int err = on_span(b, off, len, &o, 0, NULL);

	if (advice == FL_DONTNEED)
		testbed_model_replaced(b, off, len);
	if (advice == FL_DONTNEED && err)
		testbed_model_unknown(b, off, len);
	else if (advice == FL_DONTNEED)
		testbed_model_forget(b, off, len);
	return err;
}

int testbed_buffer_protect(struct testbed_buffer *b, uint64_t off, uint64_t len,
			   int prot)
{
	struct rpc_command o = { .kind = RPC_PROTECT, .what = (uint32_t)prot };

	b->odd = true;
	return on_span(b, off, len, &o, 0, NULL);
}

int testbed_buffer_unmap(struct testbed_buffer *b, uint64_t off, uint64_t len)
{
	struct rpc_command o = { .kind = RPC_UNMAP };
	int err = on_span(b, off, len, &o, 0, NULL);

	testbed_model_unknown(b, off, len);
	testbed_model_replaced(b, off, len);
	b->odd = true;
	return err;
}

/* A newer buffer of the process that lies where this one was, or NULL. */
static struct testbed_buffer *buffer_over(struct testbed_buffer *b)
{
	struct testbed *w = b->process->testbed;
	struct testbed_buffer *o;

	for (o = b + 1; o < w->buffer + w->buffers; o++)
		if (o->process == b->process && o->mem < b->mem + b->bytes &&
		    b->mem < o->mem + o->bytes)
			return o;
	return NULL;
}

int testbed_buffer_remap(struct testbed_buffer *b, uint64_t off, uint64_t len)
{
	struct rpc_command o = { .kind = RPC_REMAP };
	struct testbed_buffer *other = buffer_over(b);
	int err;

	if (other) {
		testbed_why_set(b->process->testbed,
				"buffer %s lies where %s was unmapped",
				other->name, b->name);
		return -EEXIST;
	}
	err = on_span(b, off, len, &o, 0, NULL);
	testbed_model_replaced(b, off, len);
	if (err) {
		testbed_model_unknown(b, off, len);
		return err;
	}
	testbed_model_zero(b, off, len);
	return 0;
}

int testbed_buffer_resident(struct testbed_buffer *b, uint64_t off,
			    uint64_t len, uint64_t *pages)
{
	struct rpc_command o = { .kind = RPC_PRESENT };
	struct span s = { .off = off, .len = len };
	struct rpc_answer r;
	uint64_t va, end;
	int err = buffer_clip(b, &s);

	*pages = 0;
	if (err || b->process->gone)
		return err ? err : -ESRCH;
	va = (uint64_t)(uintptr_t)b->mem + s.off;
	if (testbed_kernel_elsewhere(b->process->board)) {
		o.addr = va;
		o.bytes = s.len;
		err = testbed_rpc(b->process, &o, &r, NULL);
		*pages = r.bytes;
		return err;
	}
	end = va + s.len;
	for (va &= ~(HOST_PAGE - 1); va < end; va += HOST_PAGE)
		*pages += mm_resident(b->process->mm, va);
	return 0;
}

/* ---- regions ---- */

int testbed_region_add(struct testbed_buffer *b, uint64_t off, uint64_t len,
		       unsigned int access, unsigned int pd)
{
	struct rpc_command o = { .kind = RPC_REGISTER, .id = b->number,
			   .access = access, .domain = pd };
	int err;

	if (pd >= RPC_DOMAINS)
		return -EINVAL;
	if (b->registered) {
		testbed_why_set(b->process->testbed,
				"buffer %s has a region already", b->name);
		return -EEXIST;
	}
	err = on_span(b, off, len, &o, 0, NULL);
	b->registered = !err;
	b->was_registered |= b->registered;
	if (b->registered)
		testbed_model_region(b);
	return err;
}

int testbed_region_remove(struct testbed_buffer *b)
{
	struct rpc_command o = { .kind = RPC_DEREGISTER, .id = b->number };
	struct rpc_answer r;
	int err = b->registered ? testbed_rpc(b->process, &o, &r, NULL) :
				  -ENOENT;

	if (!err) {
		b->registered = false; /* the key stays, to try what it does now */
		testbed_model_closed(b);
	}
	return err;
}

int testbed_prefetch(struct testbed_buffer *b, uint64_t off, uint64_t len,
		     bool write)
{
	struct rpc_command o = { .kind = RPC_PREFETCH, .id = b->number,
			   .what = write };

	return b->registered ? on_span(b, off, len, &o, 0, NULL) : -ENOENT;
}

int testbed_dma(struct testbed_buffer *from, uint64_t off,
		struct testbed_buffer *to, uint64_t at, uint64_t len,
		uint64_t *done)
{
	struct rpc_command o = { .kind = RPC_DMA, .bytes = len };
	struct rpc_answer r = { 0 };
	int err;

	if (from->process->gone)
		return -ESRCH;
	o.from = (uint64_t)(uintptr_t)from->mem + off;
	o.addr = (uint64_t)(uintptr_t)to->mem + at;
	err = testbed_rpc(to->process, &o, &r, NULL);
	*done = r.bytes;
	testbed_model_unknown(to, at < to->bytes ? at : to->bytes,
			      at < to->bytes && len > to->bytes - at ?
			      to->bytes - at : at < to->bytes ? len : 0);
	return err;
}
