// SPDX-License-Identifier: BSD-2-Clause
/*
 * The C engine does what the Verilog has done, event by event, in the order in which its control
 * took them. Whatever the two say differently ends the run.
 */
#include "rtl/cosim/compete.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const events[] = {
	"register", "packet", "write channel", "read channel", "flush", "?", "?", "late note" };

void card_differ(struct card *x, const char *fmt, ...)
{
	unsigned int i, at;
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "the engines differ: node %u, cycle %llu, event %llu: ", x->node,
		(unsigned long long)x->cycles, (unsigned long long)x->serves);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n  events, the last one last; report; those that waited\n");
	for (i = 16; i--; ) {
		if (x->serves <= i)
			continue;
		at = (unsigned int)(x->serves - 1 - i) % SERVED_RING;
		fprintf(stderr, "  %s %u, 0x%02x\n", events[x->ring[at].event & 7],
			x->ring[at].report, x->ring[at].waiting);
	}
	exit(1);
}

/* ---- what C asks of its environment ---- */

static enum dma_status c_begin(void *ctx, struct dma_burst *d)
{
	struct card *x = ctx;
	struct burst *b = x->begins;

	if (x->picking)
		return DMA_STALLED;
	if (!b)
		card_differ(x, "C begins a burst at 0x%llx, the Verilog does not",
			    (unsigned long long)d->va);
	x->begins = NULL;
	if (d->va != b->va || d->len != b->len || d->stream != b->stream ||
	    x->c->ch[d->channel].ctx != b->ctx)
		card_differ(x, "a burst of context %u at 0x%llx, %u bytes, stream %u; C: of "
			    "context %u at 0x%llx, %u bytes, stream %u", b->ctx,
			    (unsigned long long)b->va, b->len, b->stream,
			    x->c->ch[d->channel].ctx, (unsigned long long)d->va, d->len,
			    d->stream);
	return b->status;
}

void follow_data(struct card *x, struct burst *b)
{
	if (!b->c_said || !b->data_over || b->status != DMA_OK)
		return;
	if (memcmp(b->data + b->va % BEAT, b->said, b->len))
		card_differ(x, "other data is written at 0x%llx", (unsigned long long)b->va);
	b->c_said = false;
}

static enum dma_status c_end(void *ctx, struct dma_burst *d, void *buf)
{
	struct card *x = ctx;
	struct burst *b = &x->burst[d->channel];
	uint32_t i;

	if (!d->write) {
		for (i = 0; i < d->len; i++)
			((uint8_t *)buf)[i] = memory_byte(d->va + i);
		return DMA_OK;
	}
	memcpy(b->said, buf, d->len);
	b->c_said = true;
	follow_data(x, b);
	return DMA_OK;
}

static struct wire_frame *c_get(void *ctx)
{
	struct card *x = ctx;
	struct seen *s = &x->seen;

	if (x->picking)
		return NULL;
	if (s->room_at == s->rooms)
		card_differ(x, "C asks for room on the wire, the Verilog does not");
	return s->room[s->room_at++] ? &x->spare : NULL;
}

static uint64_t c_send(void *ctx, struct wire_frame *f)
{
	struct card *x = ctx;
	struct seen *s = &x->seen;
	const struct wire_frame *v = &s->frame[s->frame_at];
	uint32_t i;

	wire_icrc_settle(f);
	if (s->frame_at++ == s->frames)
		card_differ(x, "C sends a packet, the Verilog does not");
	if (f->len != v->len || f->to != v->to)
		card_differ(x, "a packet of %u bytes to %u; C: %u bytes to %u", v->len, v->to,
			    f->len, f->to);
	for (i = 0; i < f->len; i++)
		if (f->bytes[i] != v->bytes[i])
			card_differ(x, "byte %u of %u of a packet is 0x%02x; C: 0x%02x", i,
				    f->len, v->bytes[i], f->bytes[i]);
	return 0;
}

static void c_irq(void *ctx, unsigned int line, bool level)
{
	((struct card *)ctx)->line[line] = level;
}

static void c_kick(void *ctx, unsigned int channel)
{
	(void)ctx, (void)channel;
}

/* The record that C's event should be; false: the Verilog has none for it. */
static bool record_of(unsigned int ev, const struct trace_at *at, const uint64_t a[4],
		      const struct model_out *r)
{
	bool same = r->trc_xfer == at->xfer && r->trc_block == at->block &&
		    r->trc_attempt == (uint8_t)at->attempt;

	switch (r->trc_code) {
	case FL_TRC_TX_STATE:
	case FL_TRC_RX_STATE:
		return ev == (r->trc_code == FL_TRC_TX_STATE ? EV_TX_STATE : EV_RX_STATE) &&
		       same && r->trc_index == a[0] && r->trc_from == a[1] &&
		       r->trc_event == a[2] && r->trc_to == a[3];
	case FL_TRC_TX_CELLS:
		return ev == EV_TX_CELLS && same && r->trc_index == a[0] &&
		       r->trc_a == a[1] && r->trc_b == a[2];
	case FL_TRC_ENG_FAULT:
		return ev == EV_ENG_FAULT && same && r->trc_index == a[0] &&
		       r->trc_from == a[1] && r->trc_a == a[2] && r->trc_b == a[3];
	case FL_TRC_READY_REG:
		return ev == EV_ENG_READY_REG && same && r->trc_index == a[0] &&
		       r->trc_from == a[1] && r->trc_a == a[2];
	case FL_TRC_RX_STALE:
		return ev == EV_RX_STALE && r->trc_node == a[0] && r->trc_index == a[1] &&
		       r->trc_gen == a[2] && r->trc_attempt == a[3];
	case FL_TRC_RX_DUPLICATE:
		return ev == EV_RX_DUPLICATE && same && r->trc_node == a[0] &&
		       r->trc_index == a[1] && r->trc_gen == a[2];
	case FL_TRC_RX_NO_CONTEXT:
		return ev == EV_RX_NO_CONTEXT && same && r->trc_node == a[0] &&
		       r->trc_index == a[1];
	default:
		return ev == EV_RX_BAD_PACKET && r->trc_a == a[0] &&
		       r->trc_b == (uint16_t)a[1];
	}
}

static uint64_t c_emit(void *ctx, unsigned int ev, const struct trace_at *at, uint64_t a0,
		       uint64_t a1, uint64_t a2, uint64_t a3)
{
	const uint64_t a[4] = { a0, a1, a2, a3 };
	struct card *x = ctx;
	struct seen *s = &x->seen;
	const struct model_out *r = &s->record[s->record_at];

	/* Bursts are compared at the port, a refused write by its answer. */
	if (ev == EV_TX_BURST || ev == EV_RX_BURST || ev == EV_ENG_BAD_REG)
		return 1;
	if (s->record_at++ == s->records)
		card_differ(x, "C says event %u (%llu %llu %llu %llu), the Verilog nothing", ev,
			    (unsigned long long)a0, (unsigned long long)a1,
			    (unsigned long long)a2, (unsigned long long)a3);
	if (!record_of(ev, at, a, r))
		card_differ(x, "record %u of %u, %u %u %u of %u.%u.%u; C: event %u (%llu %llu "
			    "%llu %llu) of %u.%u.%u", (unsigned int)r->trc_code,
			    (unsigned int)r->trc_index, (unsigned int)r->trc_from,
			    (unsigned int)r->trc_event, (unsigned int)r->trc_to,
			    (unsigned int)r->trc_xfer, (unsigned int)r->trc_block,
			    (unsigned int)r->trc_attempt, ev, (unsigned long long)a0,
			    (unsigned long long)a1, (unsigned long long)a2,
			    (unsigned long long)a3, at->xfer, at->block, at->attempt);
	if (ev == EV_TX_STATE && a3 == FL_TX_DONE) {
		s->done = (int)a0;
		k.done++;
	}
	return 1;
}

bool follow_create(struct card *x)
{
	struct engine_env env = {
		.ctx = x, .wire = x, .burst_begin = c_begin, .burst_end = c_end,
		.frame_get = c_get, .frame_send = c_send, .irq = c_irq, .kick = c_kick,
		.emit = c_emit,
	};
	int error;

	k.cfg.cause = &x->cause;
	k.cfg.nodes = ENGINE_RTL_NODES;
	x->engine = engine_create(&k.cfg, &env, &error);
	x->c = c_engine(x->engine);
	return x->engine != NULL;
}

/* ---- one event of C ---- */

/* A burst that C was told is held goes on, as far as C knows. */
static void c_let_go(struct card *x, unsigned int channel)
{
	if (x->c->ch[channel].iter.phase == BURST_HELD)
		engine_burst_resume(x->engine, channel, false);
}

static void c_step(struct card *x, unsigned int channel, bool picking)
{
	x->picking = picking;
	engine_step(x->engine, channel, 0);
	x->picking = false;
}

void follow_choice(struct card *x, unsigned int channel)
{
	unsigned int event = channel == CH_READ ? SERVE_READ : SERVE_WRITE;
	unsigned int report = channel == CH_READ ? (unsigned int)RE_PICK : (unsigned int)WE_NEXT;

	if (x->seen.open && x->seen.event == event && x->seen.report == report)
		follow_close(x);
}

void follow_ahead(struct card *x, unsigned int channel)
{
	struct channel *c = &x->c->ch[channel];

	if (c->ctx == NONE || c->dropped ||
	    (channel == CH_WRITE && x->c->rx[c->ctx].cancelled))
		card_differ(x, "a burst of channel %u begins, and C has no block for it", channel);
	if (c->iter.phase == BURST_OPEN)
		c_step(x, channel, false);
}

void follow_begin(struct card *x, unsigned int channel)
{
	const struct access *a = &x->served;

	/* Being turned on, it may begin before that access is over. */
	if (!x->c->enabled && x->seen.open && x->seen.event == SERVE_REG && a->write &&
	    a->off == NIC_ENG_CTRL && a->value & NIC_ENG_CTRL_ENABLE) {
		x->later[channel] = true;
		return;
	}
	c_let_go(x, channel);
	x->begins = &x->burst[channel];
	c_step(x, channel, false);
	if (x->begins)
		card_differ(x, "a burst of channel %u that C does not begin (%s)", channel,
			    x->c->enabled ? "its phase is another" : "it is off");
}

/* The block that C has just chosen was read ahead, in whole or in part. */
static void read_ahead(struct card *x)
{
	struct channel *c = &x->c->ch[CH_READ];
	unsigned int i, n = ahead_chosen(x);

	for (i = 0; i < n; i++) {
		if (c->iter.phase == BURST_OPEN)
			c_step(x, CH_READ, false);
		c_let_go(x, CH_READ);
		x->begins = &x->ahead.burst[i];
		c_step(x, CH_READ, false);
		if (x->begins)
			card_differ(x, "a burst that was read ahead, and C does not begin");
	}
}

static void close_read(struct card *x, unsigned int report)
{
	struct channel *c = &x->c->ch[CH_READ];

	switch (report) {
	case RE_PICK:
		if (c->ctx != NONE && !c->dropped)
			card_differ(x, "the read channel asks for a block; C's has context %u",
				    c->ctx);
		c_let_go(x, CH_READ);
		c_step(x, CH_READ, true);
		read_ahead(x);
		return;
	case RE_DROPPED:
		/* C forgets it when it looks for the next one. */
		if (c->ctx == NONE || !c->dropped)
			card_differ(x, "the read channel gives a block up; C's does not");
		return;
	case RE_CELL:
		if (c->iter.phase == BURST_OPEN)
			c_step(x, CH_READ, false);
		if (c->ctx == NONE || !c->sending)
			card_differ(x, "the read channel wants to send; C's does not");
		c_step(x, CH_READ, false);
		return;
	}
	if (c->iter.phase != BURST_OPEN)
		card_differ(x, "the read channel reports %u; C's has no burst", report);
	c_step(x, CH_READ, false);
}

static void close_write(struct card *x, unsigned int report)
{
	struct c_engine *e = x->c;
	struct channel *c = &e->ch[CH_WRITE];

	if (report == WE_NEXT) {
		if (c->ctx != NONE)
			card_differ(x, "the write channel asks for a block; C's has context %u",
				    c->ctx);
		/* One that was stopped meanwhile is C's end of it; the Verilog's is CANCELLED. */
		if (!e->write_count || !e->rx[e->write_fifo[e->write_head]].cancelled)
			c_step(x, CH_WRITE, true);
		return;
	}
	if (report == WE_CANCELLED)
		c_let_go(x, CH_WRITE);
	else if (c->iter.phase != BURST_OPEN)
		card_differ(x, "the write channel reports %u; C's has no burst", report);
	c_step(x, CH_WRITE, false);
}

/* What depends on where a channel is in this very cycle. */
static bool register_varies(uint32_t off)
{
	return off >= NIC_ENG_RD_STATUS && off < NIC_ENG_WR_XFER_LEFT + 8;
}

static void close_register(struct card *x)
{
	const struct access *a = &x->served;
	struct master *m = &x->bus[a->write];
	uint64_t value = a->value;
	bool bad;

	if (!m->answered)
		card_differ(x, "an access to register 0x%x has no answer", a->off);
	m->answered = false;
	bad = (a->write ? engine_reg_write(x->engine, a->off, 4, value) :
			  engine_reg_read(x->engine, a->off, 4, &value)) != 0;
	if (bad != m->bad)
		card_differ(x, "%s of register 0x%x (0x%x) is %s; C thinks otherwise",
			    a->write ? "a write" : "a read", a->off, a->value,
			    m->bad ? "refused" : "taken");
	if (!bad && !a->write && !register_varies(a->off) && m->value != value)
		card_differ(x, "register 0x%x is 0x%x; C: 0x%llx", a->off, m->value,
			    (unsigned long long)value);
}

static void close_packet(struct card *x)
{
	if (!x->arrived)
		card_differ(x, "a packet that did not come");
	engine_receive(x->engine, &x->arriving[0], 0);
	memmove(&x->arriving[0], &x->arriving[1], --x->arrived * sizeof(x->arriving[0]));
}

/* The Verilog keeps a note back as long as the burst is at the port; C has posted it. */
static void keep_note(struct card *x)
{
	struct c_engine *e = x->c;

	k.late++;
	x->late = true;
	x->late_index = (unsigned int)x->seen.done;
	x->late_serial = (uint8_t)e->tx[x->late_index].gen;
	memcpy(e->note, x->notes, sizeof(e->note));
	memcpy(e->in_ring, x->notes_in, sizeof(e->in_ring));
	e->note_head = x->notes_head;
	e->notes = x->notes_count;
	engine_line(e, ENGINE_LINE_EVENT, e->notes != 0);
}

static void late_note(struct card *x)
{
	if (!x->late)
		card_differ(x, "a note comes late, and none was kept back");
	if (x->burst[CH_WRITE].up)
		card_differ(x, "a note comes while the burst that it waits for is at the port");
	x->late = false;
	note_post(x->c, FL_NOTE_TX_DONE, x->late_index, x->late_serial);
}

static void close_event(struct card *x)
{
	struct seen *s = &x->seen;

	switch (s->event) {
	case SERVE_REG:
		close_register(x);
		break;
	case SERVE_PACKET:
		close_packet(x);
		break;
	case SERVE_WRITE:
		close_write(x, s->report);
		break;
	case SERVE_READ:
		close_read(x, s->report);
		break;
	case SERVE_FLUSH:
		engine_wire_room(x->engine);
		break;
	default:
		late_note(x);
	}
}

void follow_close(struct card *x)
{
	struct seen *s = &x->seen;
	unsigned int channel;
	const char *wrong;

	if (!s->open)
		return;
	s->open = false;
	memcpy(x->notes, x->c->note, sizeof(x->notes));
	memcpy(x->notes_in, x->c->in_ring, sizeof(x->notes_in));
	x->notes_head = x->c->note_head;
	x->notes_count = x->c->notes;
	close_event(x);
	if (s->record_at != s->records)
		card_differ(x, "record %u of %u, which C does not have",
			    (unsigned int)s->record[s->record_at].trc_code,
			    (unsigned int)s->record[s->record_at].trc_index);
	if (s->room_at != s->rooms)
		card_differ(x, "the Verilog asks for room on the wire, C does not");
	if (s->frame_at != s->frames)
		card_differ(x, "the Verilog sends a packet, C does not");
	if (s->late && s->done >= 0)
		keep_note(x);
	if (x->out.o_irq_fault != x->line[ENGINE_LINE_FAULT] ||
	    x->out.o_irq_event != x->line[ENGINE_LINE_EVENT])
		card_differ(x, "lines %u %u; C: %u %u", (unsigned int)x->out.o_irq_fault,
			    (unsigned int)x->out.o_irq_event, x->line[0], x->line[1]);
	for (channel = 0; channel < CHANNELS; channel++) {
		if (x->later[channel])
			follow_begin(x, channel);
		x->later[channel] = false;
	}
	wrong = engine_check(x->engine);
	if (wrong)
		card_differ(x, "%s", wrong);
}

/* ---- what the trace port says ---- */

/* Which kinds waited at once, whichever was taken first. */
static void count_waiting(unsigned int waiting)
{
	unsigned int a, b;

	k.serves++;
	k.together += (waiting & (waiting - 1)) != 0;
	for (a = 0; a < SERVES; a++)
		for (b = a + 1; b < SERVES; b++)
			k.pairs[a][b] += waiting >> a & waiting >> b & 1;
}

/* A waiting context has its turn; so has an answer that waits for room, when there is room. */
static void follow_turns(struct card *x, unsigned int event, unsigned int waiting)
{
	unsigned int i;

	for (i = 0; i < SERVES; i++) {
		x->waits[i] = i != event && waiting >> i & 1 ? x->waits[i] + 1 : 0;
		if (x->waits[i] > PATIENCE_MOST)
			card_differ(x, "%s waits, and others come again and again", events[i]);
	}
	if (event == SERVE_FLUSH || !x->c->answer_count || !x->c->enabled)
		x->owed = 0;
	else if (x->owed && !--x->owed)
		card_differ(x, "there was room again, and the answer that waits does not leave");
}

static void follow_served(struct card *x)
{
	struct seen *s = &x->seen;
	unsigned int at;

	follow_close(x);
	at = (unsigned int)(x->serves++ % SERVED_RING);
	x->ring[at].event = (uint8_t)x->out.trc_index;
	x->ring[at].report = (uint8_t)x->out.trc_event;
	x->ring[at].waiting = (uint8_t)x->out.trc_node;
	s->open = true;
	s->event = (unsigned int)x->out.trc_index;
	s->report = (unsigned int)x->out.trc_event;
	s->records = s->rooms = s->frames = 0;
	s->record_at = s->room_at = s->frame_at = 0;
	s->late = false;
	s->done = -1;
	count_waiting((unsigned int)x->out.trc_node);
	follow_turns(x, s->event, (unsigned int)x->out.trc_node);
	if ((s->event == SERVE_WRITE || s->event == SERVE_READ) && s->report < REPORTS)
		k.reports[s->event == SERVE_WRITE][s->report]++;
	if (s->event != SERVE_REG)
		return;
	if (x->bus[0].asked == x->bus[1].asked)
		card_differ(x, "control has an access to a register, the bus none or two");
	x->served = x->bus[1].asked ? x->bus[1].queue[x->bus[1].head] :
				      x->bus[0].queue[x->bus[0].head];
}

void follow_record(struct card *x)
{
	const struct burst *b = &x->burst[CH_WRITE];
	struct seen *s = &x->seen;

	if (x->out.trc_code == FL_TRC_TX_STATE)
		ahead_record(x);
	switch (x->out.trc_code) {
	case FL_TRC_SERVED:
		follow_served(x);
		return;
	case FL_TRC_TX_STATE:
	case FL_TRC_RX_STATE:
	case FL_TRC_TX_CELLS:
	case FL_TRC_ENG_FAULT:
	case FL_TRC_READY_REG:
	case FL_TRC_RX_STALE:
	case FL_TRC_RX_DUPLICATE:
	case FL_TRC_RX_NO_CONTEXT:
	case FL_TRC_RX_BAD_PACKET:
		break;
	case FL_TRC_WR_STOP:
		s->late = (b->up && b->ctx == x->out.trc_index) ||
			  (x->out.m_axi_awvalid && x->out.m_axi_awuser == x->out.trc_index);
		return;
	default:
		return;
	}
	if (!s->open || s->records == SEEN_RECORDS)
		card_differ(x, "a record without an event, or too many");
	s->record[s->records++] = x->out;
}

void follow_reset(struct card *x)
{
	follow_close(x);
	k.resets++;
	engine_reset(x->engine);
	x->owed = 0;
	x->late = false;
	x->ahead.count = 0;
	x->tx_ready = 0;
}

void follow_rest(struct card *x)
{
	const struct c_engine *e = x->c;

	follow_close(x);
	if (x->arrived)
		card_differ(x, "a packet that control never saw");
	if (e->enabled && (e->tx_ready || e->write_count || e->answer_count))
		card_differ(x, "at rest; C has %u READY, %u to write, %u answers", e->tx_ready,
			    e->write_count, e->answer_count);
	if (x->late)
		card_differ(x, "at rest; a note is still kept back");
}
