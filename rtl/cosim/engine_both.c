// SPDX-License-Identifier: BSD-2-Clause
/*
 * The C engine and another one side by side, call by call: what the first one
 * asks of its environment is written down with the answers, and the other one
 * must ask the same and gets the same answers.
 */
#include "rtl/cosim/engine_plugin.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nic/wire.h"
#include "trace/trace.h"

enum kind { END, BEGIN_BURST, END_BURST, GET, SEND, IRQ, KICK, EMIT };

struct record {
	enum kind kind;
	uint64_t answer;	/* status, sequence number, delay, yes or no */
	struct dma_burst burst;
	unsigned int a, b;	/* line, level; channel; event */
	struct trace_at at;
	uint64_t arg[TRACE_ARGS];
	size_t data, bytes;	/* in the heap: of a burst, or a frame */
};

struct both {
	struct engine engine;
	struct engine *c, *other;
	const struct engine_plugin *plugin;
	struct engine_env env;
	struct engine_config cfg;
	char dir[256];
	void (*differs)(const char *report);
	char call[160];		/* what is being carried out */
	struct record *record;
	unsigned int records, room, next;
	uint8_t *heap;
	size_t heap_used, heap_bytes;
	struct wire_frame mine;		/* the other one's, under way */
	uint64_t calls;
};

static struct both *both_of_engine(const struct engine *e)
{
	return (struct both *)(uintptr_t)e;
}

/* ---- what is said at a difference ---- */

static int say_record(char *p, size_t room, const struct record *r)
{
	static const char *const kinds[] = {
		"nothing more", "burst_begin", "burst_end", "frame_get",
		"frame_send", "irq", "kick", "event" };
	struct trace_record t = { 0 };
	const struct dma_burst *b = &r->burst;
	FILE *f;
	int n;

	switch (r->kind) {
	case BEGIN_BURST:
	case END_BURST:
		return snprintf(p, room, "%s channel %u stream %u va 0x%llx len %u"
				" of %u.%u.%u cause %llu", kinds[r->kind],
				b->channel, b->stream, (unsigned long long)b->va,
				b->len, b->xfer, b->block, b->attempt,
				(unsigned long long)b->cause);
	case SEND:
		return snprintf(p, room, "frame_send %zu bytes", r->bytes);
	case IRQ:
	case KICK:
		return snprintf(p, room, "%s %u %u", kinds[r->kind], r->a, r->b);
	case EMIT:
		t.event = (uint16_t)r->a;
		t.cause = r->at.cause;
		t.board = r->at.board;
		t.xfer = r->at.xfer;
		t.block = r->at.block;
		t.attempt = r->at.attempt;
		memcpy(t.arg, r->arg, sizeof(t.arg));
		f = fmemopen(p, room, "w");
		if (!f)
			break;
		trace_record_text(f, &t);
		n = (int)ftell(f);
		fclose(f);
		return n;
	default:
		break;
	}
	return snprintf(p, room, "%s", kinds[r->kind]);
}

__attribute__((format(printf, 4, 5)))
static void both_differ(struct both *b, const struct record *want,
			const struct record *got, const char *fmt, ...)
{
	char path[320], what[400], one[400] = "", two[400] = "";
	static char report[2000];
	int err = -ENOTSUP;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (want)
		say_record(one, sizeof(one), want);
	if (got)
		say_record(two, sizeof(two), got);
	snprintf(path, sizeof(path), "%s/engine-difference-%u.vcd",
		 b->dir[0] ? b->dir : ".", b->cfg.node);
	if (b->plugin->dump)
		err = b->plugin->dump(b->other, path);
	snprintf(report, sizeof(report),
		 "the engines differ: %s\n  node %u, call %llu: %s\n"
		 "  C:     %s\n  other: %s\n  last cycles: %s\n", what,
		 b->cfg.node, (unsigned long long)b->calls, b->call, one, two,
		 err ? "none" : path);
	if (b->differs)
		b->differs(report);
	fflush(stdout);
	fputs(report, stderr);
	exit(1);
}

/* ---- the C engine's calls: out, and written down ---- */

static struct record *both_add(struct both *b, enum kind kind)
{
	if (b->records == b->room) {
		b->room = b->room ? 2 * b->room : 64;
		b->record = realloc(b->record, b->room * sizeof(*b->record));
		assert(b->record);
	}
	b->record[b->records] = (struct record){ .kind = kind };
	return &b->record[b->records++];
}

static void both_keep(struct both *b, struct record *r, const void *data,
		      size_t bytes)
{
	if (b->heap_used + bytes > b->heap_bytes) {
		b->heap_bytes = 2 * (b->heap_bytes + bytes);
		b->heap = realloc(b->heap, b->heap_bytes);
		assert(b->heap);
	}
	r->data = b->heap_used;
	r->bytes = bytes;
	memcpy(b->heap + r->data, data, bytes);
	b->heap_used += bytes;
}

static enum dma_status c_begin(void *ctx, struct dma_burst *d)
{
	struct both *b = ctx;
	struct dma_burst in = *d;
	enum dma_status s = b->env.burst_begin(b->env.ctx, d);
	struct record *r = both_add(b, BEGIN_BURST);

	/* What it is asked with, and what comes out. */
	r->burst = in;
	r->burst.pa = d->pa;
	r->burst.delay_ns = d->delay_ns;
	r->burst.event = d->event;
	r->answer = s;
	return s;
}

static enum dma_status c_end(void *ctx, struct dma_burst *d, void *buf)
{
	struct both *b = ctx;
	struct record *r;
	enum dma_status s;

	if (d->write) {
		r = both_add(b, END_BURST);
		both_keep(b, r, buf, d->len);
		s = b->env.burst_end(b->env.ctx, d, buf);
	} else {
		s = b->env.burst_end(b->env.ctx, d, buf);
		r = both_add(b, END_BURST);
		both_keep(b, r, buf, d->len);
	}
	r->burst = *d;
	r->answer = s;
	return s;
}

static struct wire_frame *c_get(void *ctx)
{
	struct both *b = ctx;
	struct wire_frame *f = b->env.frame_get(b->env.wire);

	both_add(b, GET)->answer = f != NULL;
	return f;
}

static uint64_t c_send(void *ctx, struct wire_frame *f)
{
	struct both *b = ctx;
	struct record *r = both_add(b, SEND);

	wire_icrc_settle(f);	/* it is compared, too */
	both_keep(b, r, f, offsetof(struct wire_frame, bytes) + f->len);
	r->answer = b->env.frame_send(b->env.wire, f);
	return r->answer;
}

static void c_irq(void *ctx, unsigned int line, bool level)
{
	struct both *b = ctx;
	struct record *r = both_add(b, IRQ);

	r->a = line;
	r->b = level;
	b->env.irq(b->env.ctx, line, level);
}

static void c_kick(void *ctx, unsigned int channel)
{
	struct both *b = ctx;

	both_add(b, KICK)->a = channel;
	b->env.kick(b->env.ctx, channel);
}

static uint64_t c_emit(void *ctx, unsigned int ev, const struct trace_at *at,
		       uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct both *b = ctx;
	struct record *r = both_add(b, EMIT);

	*r = (struct record){ .kind = EMIT, .a = ev, .at = *at,
			      .arg = { a0, a1, a2, a3 } };
	r->answer = b->env.emit ?
		b->env.emit(b->env.ctx, ev, at, a0, a1, a2, a3) :
		trace_emit(b->cfg.trace, (enum trace_event)ev, at, a0, a1, a2,
			   a3);
	return r->answer;
}

/* ---- the other engine's calls: compared ---- */

/* The C engine's call in this place; it must be of the same kind. */
static const struct record *both_expect(struct both *b,
					const struct record *got)
{
	static const struct record end;
	const struct record *r = b->next < b->records ? &b->record[b->next] :
							&end;

	if (r->kind != got->kind)
		both_differ(b, r, got, "another call");
	b->next++;
	return r;
}

static enum dma_status o_begin(void *ctx, struct dma_burst *d)
{
	struct record got = { .kind = BEGIN_BURST, .burst = *d };
	struct both *b = ctx;
	const struct record *r = both_expect(b, &got);
	const struct dma_burst *w = &r->burst;

	if (d->stream != w->stream || d->write != w->write ||
	    d->channel != w->channel || d->va != w->va || d->len != w->len ||
	    d->now_ns != w->now_ns || d->cause != w->cause || d->xfer != w->xfer ||
	    d->block != w->block || d->attempt != w->attempt)
		both_differ(b, r, &got, "another burst");
	d->pa = w->pa;
	d->delay_ns = w->delay_ns;
	d->event = w->event;
	return (enum dma_status)r->answer;
}

static enum dma_status o_end(void *ctx, struct dma_burst *d, void *buf)
{
	struct record got = { .kind = END_BURST, .burst = *d };
	struct both *b = ctx;
	const struct record *r = both_expect(b, &got);

	if (d->channel != r->burst.channel || d->va != r->burst.va ||
	    d->len != r->burst.len)
		both_differ(b, r, &got, "the end of another burst");
	if (!d->write)
		memcpy(buf, b->heap + r->data, r->bytes);
	else if (memcmp(buf, b->heap + r->data, r->bytes))
		both_differ(b, r, &got, "other data is written");
	return (enum dma_status)r->answer;
}

static struct wire_frame *o_get(void *ctx)
{
	struct record got = { .kind = GET };
	struct both *b = ctx;

	return both_expect(b, &got)->answer ? &b->mine : NULL;
}

static uint64_t o_send(void *ctx, struct wire_frame *f)
{
	const size_t head = offsetof(struct wire_frame, bytes);
	struct record got = { .kind = SEND, .bytes = head + f->len };
	struct both *b = ctx;
	const struct record *r = both_expect(b, &got);
	struct wire_frame w;
	uint32_t i;

	memcpy(&w, b->heap + r->data, head);
	if (f->from != w.from || f->to != w.to || f->len != w.len ||
	    f->cause != w.cause || f->xfer != w.xfer || f->block != w.block ||
	    f->attempt != w.attempt || f->offset != w.offset)
		both_differ(b, r, &got, "another frame: to %u, %u bytes, of %u.%u.%u "
			    "at %u, cause %llu; not to %u, %u bytes, of %u.%u.%u at "
			    "%u, cause %llu", f->to, f->len, f->xfer, f->block, f->attempt,
			    f->offset, (unsigned long long)f->cause, w.to, w.len, w.xfer,
			    w.block, w.attempt, w.offset, (unsigned long long)w.cause);
	for (i = 0; i < f->len; i++)
		if (f->bytes[i] != b->heap[r->data + head + i])
			both_differ(b, r, &got,
				    "byte %u of %u of a frame: 0x%02x, "
				    "not 0x%02x", i, f->len, f->bytes[i],
				    b->heap[r->data + head + i]);
	return r->answer;
}

static void o_irq(void *ctx, unsigned int line, bool level)
{
	struct record got = { .kind = IRQ, .a = line, .b = level };
	const struct record *r = both_expect(ctx, &got);

	if (r->a != line || r->b != level)
		both_differ(ctx, r, &got, "another line, or another level");
}

static void o_kick(void *ctx, unsigned int channel)
{
	struct record got = { .kind = KICK, .a = channel };
	const struct record *r = both_expect(ctx, &got);

	if (r->a != channel)
		both_differ(ctx, r, &got, "another channel");
}

static uint64_t o_emit(void *ctx, unsigned int ev, const struct trace_at *at,
		       uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct record got = { .kind = EMIT, .a = ev, .at = *at,
			      .arg = { a0, a1, a2, a3 } };
	const struct record *r = both_expect(ctx, &got);

	if (r->a != ev || memcmp(r->arg, got.arg, sizeof(got.arg)) ||
	    r->at.board != at->board || r->at.xfer != at->xfer ||
	    r->at.block != at->block || r->at.attempt != at->attempt ||
	    r->at.cause != at->cause)
		both_differ(ctx, r, &got, "another event");
	return r->answer;
}

/* ---- the calls of engine.h ---- */

static void both_start(struct both *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void both_start(struct both *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(b->call, sizeof(b->call), fmt, ap);
	va_end(ap);
	b->records = b->next = 0;
	b->heap_used = 0;
	b->calls++;
}

static void both_finish(struct both *b, uint64_t c, uint64_t other)
{
	static const struct record none;

	if (b->next != b->records)
		both_differ(b, &b->record[b->next], &none, "a call is missing");
	if (c != other)
		both_differ(b, NULL, NULL, "returns %lld, not %lld",
			    (long long)other, (long long)c);
}

static void both_destroy(struct engine *e)
{
	struct both *b = both_of_engine(e);

	engine_destroy(b->c);
	engine_destroy(b->other);
	free(b->record);
	free(b->heap);
	free(b);
}

static void both_reset(struct engine *e)
{
	both_start(both_of_engine(e), "reset");
	engine_reset(both_of_engine(e)->c);
	engine_reset(both_of_engine(e)->other);
	both_finish(both_of_engine(e), 0, 0);
}

static int both_reg_read(struct engine *e, uint32_t off, unsigned int size,
			 uint64_t *value)
{
	uint64_t c = 0, other = 0;
	int err, err2;

	both_start(both_of_engine(e), "read of register 0x%x, %u bytes", off,
		   size);
	err = engine_reg_read(both_of_engine(e)->c, off, size, &c);
	err2 = engine_reg_read(both_of_engine(e)->other, off, size, &other);
	both_finish(both_of_engine(e), (uint64_t)(int64_t)err,
		    (uint64_t)(int64_t)err2);
	if (!err && c != other)
		both_differ(both_of_engine(e), NULL, NULL,
			    "register 0x%x is 0x%llx, not 0x%llx",
			    off, (unsigned long long)other,
			    (unsigned long long)c);
	if (!err)
		*value = c;
	return err;
}

static int both_reg_write(struct engine *e, uint32_t off, unsigned int size,
			  uint64_t value)
{
	int err, err2;

	both_start(both_of_engine(e),
		   "write of 0x%llx to register 0x%x, %u bytes",
		   (unsigned long long)value, off, size);
	err = engine_reg_write(both_of_engine(e)->c, off, size, value);
	err2 = engine_reg_write(both_of_engine(e)->other, off, size, value);
	both_finish(both_of_engine(e), (uint64_t)(int64_t)err,
		    (uint64_t)(int64_t)err2);
	return err;
}

static uint64_t both_rx_event(const struct engine *e, unsigned int rxc)
{
	uint64_t seq = engine_rx_event(both_of_engine(e)->c, rxc);

	both_start(both_of_engine(e), "last event of receive context %u", rxc);
	both_finish(both_of_engine(e), seq,
		    engine_rx_event(both_of_engine(e)->other, rxc));
	return seq;
}

static uint64_t both_step(struct engine *e, unsigned int channel,
			  uint64_t now_ns)
{
	uint64_t ns;

	both_start(both_of_engine(e), "step of channel %u", channel);
	ns = engine_step(both_of_engine(e)->c, channel, now_ns);
	both_finish(both_of_engine(e), ns,
		    engine_step(both_of_engine(e)->other, channel, now_ns));
	return ns;
}

static uint64_t both_step_read(struct engine *e, uint64_t now_ns)
{
	return both_step(e, 0, now_ns);
}

static uint64_t both_step_write(struct engine *e, uint64_t now_ns)
{
	return both_step(e, 1, now_ns);
}

static void both_receive(struct engine *e, const struct wire_frame *f,
			 uint64_t now_ns)
{
	both_start(both_of_engine(e), "%s from node %u, %u bytes",
		   wire_opcode_name(wire_opcode(f)), f->from, f->len);
	engine_receive(both_of_engine(e)->c, f, now_ns);
	engine_receive(both_of_engine(e)->other, f, now_ns);
	both_finish(both_of_engine(e), 0, 0);
}

static void both_resume(struct engine *e, unsigned int channel,
			bool terminate)
{
	both_start(both_of_engine(e), "channel %u resumes, %s", channel,
		   terminate ? "refused" : "to begin again");
	engine_burst_resume(both_of_engine(e)->c, channel, terminate);
	engine_burst_resume(both_of_engine(e)->other, channel, terminate);
	both_finish(both_of_engine(e), 0, 0);
}

static void both_room(struct engine *e)
{
	both_start(both_of_engine(e), "room on the wire");
	engine_wire_room(both_of_engine(e)->c);
	engine_wire_room(both_of_engine(e)->other);
	both_finish(both_of_engine(e), 0, 0);
}

static void both_stats(const struct engine *e, struct engine_stats *st)
{
	const uint64_t *c = (const uint64_t *)st;
	uint64_t other[sizeof(*st) / sizeof(uint64_t)];
	size_t i;

	both_start(both_of_engine(e), "stats");
	engine_stats(both_of_engine(e)->c, st);
	engine_stats(both_of_engine(e)->other, (struct engine_stats *)other);
	for (i = 0; i < sizeof(*st) / sizeof(uint64_t); i++)
		if (c[i] != other[i])
			both_differ(both_of_engine(e), NULL, NULL,
				    "counter %zu of the stats "
				    "is %llu, not %llu", i,
				    (unsigned long long)other[i],
				    (unsigned long long)c[i]);
}

static bool both_idle(const struct engine *e)
{
	bool idle = engine_idle(both_of_engine(e)->c);

	both_start(both_of_engine(e), "idle");
	both_finish(both_of_engine(e), idle,
		    engine_idle(both_of_engine(e)->other));
	return idle;
}

static const char *both_check(const struct engine *e)
{
	const char *wrong = engine_check(both_of_engine(e)->c);

	return wrong ? wrong : engine_check(both_of_engine(e)->other);
}

static const struct engine_ops ops = {
	.destroy = both_destroy, .reset = both_reset,
	.reg_read = both_reg_read, .reg_write = both_reg_write,
	.rx_event = both_rx_event, .receive = both_receive,
	.step = { both_step_read, both_step_write },
	.burst_resume = both_resume, .wire_room = both_room,
	.stats = both_stats, .idle = both_idle, .check = both_check,
};

struct engine *engine_both_other(struct engine *both)
{
	return both_of_engine(both)->other;
}

struct engine *engine_both(const struct engine_config *cfg,
			   const struct engine_env *env,
			   const struct engine_plugin *other, const char *dir,
			   void (*differs)(const char *report), int *error)
{
	struct both *b = calloc(1, sizeof(*b));
	/* Frames by reference are a matter of the C engine alone. */
	struct engine_env c = {
		.ctx = b, .wire = b, .burst_begin = c_begin, .burst_end = c_end,
		.frame_get = c_get, .frame_send = c_send, .irq = c_irq,
		.kick = c_kick, .emit = c_emit,
	}, o = {
		.ctx = b, .wire = b, .burst_begin = o_begin, .burst_end = o_end,
		.frame_get = o_get, .frame_send = o_send, .irq = o_irq,
		.kick = o_kick, .emit = o_emit,
	};

	*error = -EINVAL;
	if (!env->burst_begin || !env->burst_end || !env->frame_get ||
	    !env->frame_send || !env->irq || !env->kick) {
		free(b);
		return NULL;
	}
	*error = -ENOMEM;
	if (!b)
		return NULL;
	*b = (struct both){ .engine.ops = &ops, .plugin = other, .env = *env,
			    .cfg = *cfg, .differs = differs };
	if (!cfg->nodes)
		b->cfg.nodes = ENGINE_RTL_NODES;
	snprintf(b->dir, sizeof(b->dir), "%s", dir ? dir : "");
	both_start(b, "create");
	b->c = engine_create(&b->cfg, &c, error);
	b->other = b->c ? other->create(&b->cfg, &o, trace_emit, error) : NULL;
	if (!b->other) {
		engine_destroy(b->c);
		free(b);
		return NULL;
	}
	return &b->engine;
}
