// SPDX-License-Identifier: BSD-2-Clause
/*
 * The calls of engine.h on the engine in Verilog: each sets pins and clocks the model
 * until nothing moves. In between the clock stands still, so that a model that waits
 * for a fault costs nothing.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "nic/wire.h"
#include "rtl_internal.h"

/* Begin a call. cause: of the state changes in it. */
static void rtl_start(struct rtl *x, uint64_t cause)
{
	x->cause = cause;
	x->packet = NULL;
	x->own_set = x->after_done = false;
	x->bad_reg = x->got_cell = x->got_bad = false;
	x->took = x->began = x->acted = x->denied = x->sent_cell = false;
	x->delay_ns = 0;
}

/* ---- registers ---- */

/* Which widths there are, regs.def says; all else the model decides. */
static void rtl_place(struct rtl *x, uint32_t base, uint32_t stride,
		      unsigned int count, uint32_t offset, unsigned int width)
{
	uint32_t at;

	for (; count--; base += stride) {
		at = (base + offset) / 4;
		if (at >= NIC_FW_BASE / 4)
			continue;
		x->size_most[at] = (uint8_t)(width / 8);
		if (width == 64)
			x->size_most[at + 1] = 4;
	}
}

static void place_all(struct rtl *x)
{
	static const struct {
		uint32_t base, stride;
		unsigned int count;
		uint32_t offset;
		unsigned int width;
	} regs[] = {
#define NREG(page, name, offset, width, access, reset, text) \
		{ PAGE_##page, offset, width },
#define PAGE_ENG NIC_ENG_BASE, 0, 1
#define PAGE_CTX NIC_CTX_BASE(0), NIC_CTX_STRIDE, ENGINE_CTX_MAX
#define PAGE_RXC NIC_RXC_BASE(0), NIC_RXC_STRIDE, ENGINE_RXC_MAX
#define PAGE_FW NIC_FW_BASE, 0, 1
#define PAGE_BOX NIC_BOX_BASE, 0, 1
#define PAGE_XP NIC_XP_BASE, 0, 1
#define PAGE_DB NIC_DB_BASE(0), 0, 1
#include "faultline/regs.def"
	};
	unsigned int i;

	for (i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		rtl_place(x, regs[i].base, regs[i].stride, regs[i].count,
			  regs[i].offset, regs[i].width);
}

/* 8 bytes: only a register that has them. 4: the model knows. */
static bool good_access(const struct rtl *x, uint32_t off, unsigned int size)
{
	if (off >= NIC_FW_BASE || (size != 4 && size != 8) || off & (size - 1))
		return false;
	return size == 4 || x->size_most[off / 4] == 8;
}

static int bus_read(struct rtl *x, uint32_t off, uint32_t *value)
{
	x->in.s_axil_araddr = off;
	x->reg_ar = x->reg_wait = true;
	rtl_run(x);
	*value = x->reg_value;
	return x->reg_error || x->wrong ? -EINVAL : 0;
}

static int bus_write(struct rtl *x, uint32_t off, uint32_t value)
{
	x->in.s_axil_awaddr = off;
	x->in.s_axil_wdata = value;
	x->reg_aw = x->reg_w = x->reg_wait = true;
	rtl_run(x);
	if (x->reg_error != x->bad_reg)
		rtl_wrong(x, "a register write that was refused without an "
			  "event, or the other way round");
	return x->reg_error || x->wrong ? -EINVAL : 0;
}

/* The bus whose burst a word of the window tells of; NULL: none. */
static const struct bus *burst_of(const struct rtl *x, uint32_t off)
{
	switch (off) {
	case NIC_ENG_RD_STATUS:
	case NIC_ENG_RD_VA:
	case NIC_ENG_RD_VA + 4:
	case NIC_ENG_RD_LEFT:
	case NIC_ENG_RD_XFER_LEFT:
	case NIC_ENG_RD_XFER_LEFT + 4:
		return &x->bus[CH_READ];
	case NIC_ENG_WR_STATUS:
	case NIC_ENG_WR_VA:
	case NIC_ENG_WR_VA + 4:
	case NIC_ENG_WR_LEFT:
	case NIC_ENG_WR_XFER_LEFT:
	case NIC_ENG_WR_XFER_LEFT + 4:
		return &x->bus[CH_WRITE];
	}
	return NULL;
}

/*
 * RD_STATUS to RD_XFER_LEFT, WR_STATUS to WR_XFER_LEFT, where the model's bus is not
 * what the port behind it is: a burst that is to be asked for again is none for
 * now, and one that was held stays so although its block is over.
 */
static bool other_status(const struct rtl *x, uint32_t off, uint32_t *value)
{
	const struct bus *s = burst_of(x, off);

	if (!s)
		return false;
	*value = 0;
	if (s->phase == AGAIN)
		return true;
	if (!s->stopped)
		return false;
	switch (off) {
	case NIC_ENG_WR_STATUS:
		*value = NIC_ENG_WR_STATUS_BUSY |
			 (uint32_t)s->ctx << NIC_ENG_WR_STATUS_INDEX_SHIFT;
		if (s->phase == HELD)
			*value |= NIC_ENG_WR_STATUS_STALLED;
		break;
	case NIC_ENG_WR_VA:
		*value = (uint32_t)s->b.va;
		break;
	case NIC_ENG_WR_VA + 4:
		*value = (uint32_t)(s->b.va >> 32);
		break;
	case NIC_ENG_WR_LEFT:
		*value = s->left[0];
		break;
	case NIC_ENG_WR_XFER_LEFT:
	case NIC_ENG_WR_XFER_LEFT + 4:
		*value = s->left[1 + (off - NIC_ENG_WR_XFER_LEFT) / 4];
		break;
	default:
		return false;	/* nothing there, says the model */
	}
	return true;
}

static int read_word(struct rtl *x, uint32_t off, uint32_t *value)
{
	uint32_t other;
	int err = bus_read(x, off, value);

	if (!err && other_status(x, off, &other))
		*value = other;
	return err;
}

static int rtl_reg_read(struct engine *e, uint32_t off, unsigned int size,
			uint64_t *value)
{
	struct rtl *x = rtl_of(e);
	uint32_t low, high = 0;

	if (!good_access(x, off, size))
		return -EINVAL;
	x->reg_cause = x->cfg.cause->write;
	rtl_start(x, x->reg_cause);
	if (read_word(x, off, &low) ||
	    (size == 8 && read_word(x, off + 4, &high)))
		return -EINVAL;
	*value = (uint64_t)high << 32 | low;
	return 0;
}

static int write_words(struct rtl *x, uint32_t off, unsigned int size,
		       uint64_t value)
{
	bool start_now;
	int err;

	if (!good_access(x, off, size) || (size == 4 && value >> 32))
		return -EINVAL;
	err = bus_write(x, off, (uint32_t)value);
	if (!err && size == 8)
		err = bus_write(x, off + 4, (uint32_t)(value >> 32));
	if (err || off != NIC_ENG_CTRL)
		return err;
	start_now = value & NIC_ENG_CTRL_ENABLE && !x->enabled;
	x->enabled = value & NIC_ENG_CTRL_ENABLE;
	if (start_now) {
		rtl_kick(x, CH_READ);
		rtl_kick(x, CH_WRITE);
	}
	return 0;
}

static int rtl_reg_write(struct engine *e, uint32_t off, unsigned int size,
			 uint64_t value)
{
	struct rtl *x = rtl_of(e);
	struct trace_at at = { .board = x->cfg.board };
	int err;

	at.cause = x->reg_cause = x->cfg.cause->write;
	rtl_start(x, x->reg_cause);
	err = write_words(x, off, size, value);
	if (err) {
		x->stats.bad_registers++;
		rtl_emit(x, EV_ENG_BAD_REG, &at, off, value, 0, 0);
	}
	return err;
}

/* ---- bursts ---- */

/* The port has said what becomes of it: end it, and tell the model. */
static void end_burst(struct rtl *x, unsigned int channel)
{
	struct mirror *m = rtl_mirror(x, channel);
	struct bus *s = &x->bus[channel];
	struct dma_burst *b = &s->b;
	struct trace_at at;

	if (s->status == DMA_OK)
		s->status = x->env.burst_end(x->env.ctx, b, rtl_bytes(s));
	if (s->status == DMA_OK) {
		at = rtl_at(x, m, b->event ? b->event : b->cause);
		m->event = rtl_emit(x, b->write ? EV_RX_BURST : EV_TX_BURST,
				    &at, s->ctx, b->va, b->len, b->pa);
	} else if (s->status == DMA_SLVERR) {
		if (!s->fault_event)
			s->fault_event = b->event ? b->event : b->cause;
	} else if (b->event) {
		m->event = b->event;
	}
	s->phase = NO_BURST;
	rtl_feed(x, channel, s->status);
	rtl_run(x);
}

static uint64_t fall_asleep(struct rtl *x, unsigned int channel)
{
	x->bus[channel].awake = false;
	return ENGINE_IDLE;
}

/* A burst that has been begun: when to come again. */
static uint64_t rtl_begun(struct rtl *x, unsigned int channel)
{
	struct bus *s = &x->bus[channel];

	if (s->phase != HELD)
		return s->b.delay_ns;
	rtl_run(x);		/* the pin that says so */
	if (channel == CH_WRITE) {
		bus_read(x, NIC_ENG_WR_LEFT, &s->left[0]);
		bus_read(x, NIC_ENG_WR_XFER_LEFT, &s->left[1]);
		bus_read(x, NIC_ENG_WR_XFER_LEFT + 4, &s->left[2]);
	}
	return fall_asleep(x, channel);
}

/* The context was killed: nothing of it may leave any more. */
static void rtl_drop(struct rtl *x)
{
	struct bus *s = &x->bus[CH_READ];

	if (s->phase != NO_BURST) {
		if (s->phase == OPEN && s->status == DMA_OK)
			x->env.burst_end(x->env.ctx, &s->b, rtl_bytes(s));
		s->phase = NO_BURST;
		rtl_feed(x, CH_READ, DMA_OK);
		rtl_run(x);
	}
	s->fault_event = 0;
	x->dropped = x->wants_room = false;
}

static uint64_t rtl_read_step(struct rtl *x)
{
	struct bus *s = &x->bus[CH_READ];

	if (s->phase == HELD)
		return fall_asleep(x, CH_READ);
	if (x->dropped)
		rtl_drop(x);
	if (!x->enabled && s->phase != OPEN)
		return fall_asleep(x, CH_READ);
	x->wants_room = false;
	if (s->phase == OPEN) {
		end_burst(x, CH_READ);
		return 0;
	}
	if (s->phase == AGAIN) {
		rtl_begin(x, CH_READ);
		return rtl_begun(x, CH_READ);
	}
	x->in.i_go_rd = 1;
	rtl_run(x);
	x->in.i_go_rd = 0;
	if (x->began)
		return rtl_begun(x, CH_READ);
	if (x->sent_cell)
		return x->delay_ns;
	x->wants_room = x->denied;
	return fall_asleep(x, CH_READ);
}

static uint64_t rtl_write_step(struct rtl *x)
{
	struct bus *s = &x->bus[CH_WRITE];
	bool open = s->phase == OPEN;

	if (s->phase == HELD)
		return fall_asleep(x, CH_WRITE);
	if (!x->enabled && (!open || s->stopped))
		return fall_asleep(x, CH_WRITE);
	if (s->stopped) {
		s->phase = NO_BURST;
		s->stopped = false;
	} else if (open) {
		end_burst(x, CH_WRITE);
		return 0;
	} else if (s->phase == AGAIN) {
		rtl_begin(x, CH_WRITE);
		return rtl_begun(x, CH_WRITE);
	}
	x->in.i_go_wr = 1;
	rtl_run(x);
	x->in.i_go_wr = 0;
	if (x->began)
		return rtl_begun(x, CH_WRITE);
	return x->acted ? 0 : fall_asleep(x, CH_WRITE);
}

static uint64_t rtl_step(struct engine *e, unsigned int channel,
			 uint64_t now_ns)
{
	struct rtl *x = rtl_of(e);

	rtl_start(x, 0);
	x->now_ns = now_ns;
	x->bus[channel].awake = true;
	return channel == CH_READ ? rtl_read_step(x) : rtl_write_step(x);
}

static uint64_t rtl_step_read(struct engine *e, uint64_t now_ns)
{
	return rtl_step(e, CH_READ, now_ns);
}

static uint64_t rtl_step_write(struct engine *e, uint64_t now_ns)
{
	return rtl_step(e, CH_WRITE, now_ns);
}

static void rtl_resume(struct engine *e, unsigned int channel, bool terminate)
{
	struct rtl *x = rtl_of(e);
	struct bus *s = &x->bus[channel];

	if (s->phase != HELD)
		return;
	rtl_start(x, 0);
	s->phase = terminate ? OPEN : AGAIN;
	s->status = DMA_SLVERR;
	rtl_run(x);
	rtl_kick(x, channel);
}

/* ---- packets ---- */

/*
 * A newer attempt of a block that is being written, or waits for a page: its context
 * takes the number over, and no record says so.
 */
static void newer_attempt(struct rtl *x)
{
	struct wire_block b;
	struct mirror *m;
	unsigned int i;

	if (wire_get_block(x->packet, false, &b) != WIRE_OK)
		return;
	for (i = 0; i < x->cfg.rx_contexts; i++) {
		m = &x->rx[i];
		if ((m->state == FL_RX_WRITE || m->state == FL_RX_FAULT) &&
		    m->node == x->packet->from && m->ctx == b.ctx &&
		    m->gen == b.gen && (int8_t)(b.attempt - m->attempt) > 0)
			m->attempt = b.attempt;
	}
}

static void rtl_receive(struct engine *e, const struct wire_frame *f,
			uint64_t now_ns)
{
	struct rtl *x = rtl_of(e);

	(void)now_ns;
	if (f->icrc_later) {
		memcpy(&x->settled, f, offsetof(struct wire_frame, bytes) + f->len);
		wire_icrc_write(&x->settled);
		f = &x->settled;
	}
	rtl_start(x, f->cause);
	x->packet = f;
	x->in_len = f->len;
	x->in_at = 0;
	x->in_open = true;
	rtl_run(x);
	if (x->got_cell && !x->got_bad)
		newer_attempt(x);
	x->packet = NULL;
}

static void rtl_wire_room(struct engine *e)
{
	struct rtl *x = rtl_of(e);

	rtl_start(x, 0);
	x->in.i_room_again = 1;
	rtl_run(x);
	if (x->wants_room)
		rtl_kick(x, CH_READ);
}

/* ---- the rest ---- */

static void rtl_reset(struct engine *e)
{
	struct rtl *x = rtl_of(e);
	unsigned int c, i;

	rtl_start(x, 0);
	for (c = CHANNELS; c--; ) {
		struct bus *s = &x->bus[c];

		if (s->phase == OPEN && s->status == DMA_OK)
			x->env.burst_end(x->env.ctx, &s->b, rtl_bytes(s));
		s->phase = NO_BURST;
		s->awake = s->stopped = s->feed = false;
		s->fault_event = 0;
	}
	for (i = 0; i < ENGINE_CTX_MAX; i++)
		x->tx[i] = (struct mirror){ .state = FL_TX_FREE };
	for (i = 0; i < ENGINE_RXC_MAX; i++)
		x->rx[i] = (struct mirror){ .state = FL_RX_FREE };
	memset(x->answer, 0, sizeof(x->answer));
	x->answers = 0;
	x->enabled = x->wants_room = x->dropped = false;
	x->reg_cause = 0;
	x->in.rst = 1;
	rtl_clock(x);
	x->in.rst = 0;
	rtl_run(x);
}

static uint64_t rtl_rx_event(const struct engine *e, unsigned int rxc)
{
	return rxc < rtl_of(e)->cfg.rx_contexts ? rtl_of(e)->rx[rxc].event : 0;
}

static void rtl_stats(const struct engine *e, struct engine_stats *st)
{
	*st = rtl_of(e)->stats;
}

static bool rtl_idle(const struct engine *e)
{
	struct rtl *x = rtl_of(e);
	uint32_t faults;
	unsigned int i;

	if (x->dropped || x->answers || x->line[ENGINE_LINE_EVENT])
		return false;
	for (i = 0; i < x->cfg.contexts; i++)
		if (x->tx[i].state != FL_TX_FREE)
			return false;
	for (i = 0; i < x->cfg.rx_contexts; i++)
		if (x->rx[i].state != FL_RX_FREE)
			return false;
	return !bus_read(x, NIC_ENG_FLT_COUNT, &faults) && !faults;
}

static const char *rtl_check(const struct engine *e)
{
	return rtl_of(e)->wrong;
}

static void rtl_destroy(struct engine *e)
{
	model_destroy(rtl_of(e)->model);
	free(e);
}

static uint64_t rtl_cycles(const struct engine *e)
{
	return rtl_of(e)->cycles;
}

static const struct engine_ops ops = {
	.destroy = rtl_destroy, .reset = rtl_reset, .reg_read = rtl_reg_read,
	.reg_write = rtl_reg_write, .rx_event = rtl_rx_event,
	.step = { rtl_step_read, rtl_step_write },
	.receive = rtl_receive, .burst_resume = rtl_resume,
	.wire_room = rtl_wire_room, .stats = rtl_stats, .idle = rtl_idle,
	.check = rtl_check,
};

static bool rtl_config_ok(const struct engine_config *c)
{
	return c->node < WIRE_NODES && c->contexts >= 4 &&
	       c->contexts <= ENGINE_CTX_MAX && c->rx_contexts >= 1 &&
	       c->rx_contexts <= ENGINE_RXC_MAX && c->block_log2 >= 12 &&
	       c->block_log2 <= 16 && c->cell_bytes >= 64 &&
	       c->cell_bytes <= WIRE_PAYLOAD_MAX &&
	       !(c->cell_bytes & (c->cell_bytes - 1));
}

static struct engine *rtl_create(const struct engine_config *cfg,
				 const struct engine_env *env,
				 engine_trace_emit *emit, int *error)
{
	struct rtl *x;

	*error = -EINVAL;
	if (!rtl_config_ok(cfg) || !env->burst_begin || !env->burst_end ||
	    !env->frame_get || !env->frame_send || !env->irq || !env->kick)
		return NULL;
	*error = -ENOMEM;
	x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	x->engine.ops = &ops;
	x->cfg = *cfg;
	x->env = *env;
	if (!x->cfg.cause)
		x->cfg.cause = &x->no_cause;
	x->emit = emit;
	place_all(x);
	x->model = model_create();
	x->in.i_node = cfg->node;
	x->in.i_contexts = cfg->contexts;
	x->in.i_rx_contexts = cfg->rx_contexts;
	x->in.i_block_log2 = cfg->block_log2;
	x->in.i_icrc = cfg->icrc;
	while (1u << x->in.i_cell_log2 < cfg->cell_bytes)
		x->in.i_cell_log2++;
	/* Whoever sends to this side of the model is always heard. */
	x->in.s_axil_bready = x->in.s_axil_rready = 1;
	x->in.s_axil_wstrb = 0xF;
	x->in.m_axi_arready = x->in.m_axi_awready = x->in.m_axi_wready = 1;
	x->in.m_axis_tready = 1;
	rtl_reset(&x->engine);
	*error = 0;
	return &x->engine;
}

static const struct model_ops model_calls = {
	.in_bytes = sizeof(struct model_in), .out_bytes = sizeof(struct model_out),
	.create = model_create, .destroy = model_destroy,
	.settle = model_settle, .edge = model_edge,
};

__attribute__((visibility("default")))
const struct engine_plugin faultline_engine = {
	.version = ENGINE_PLUGIN_VERSION,
	.config_bytes = sizeof(struct engine_config),
	.env_bytes = sizeof(struct engine_env),
	.stats_bytes = sizeof(struct engine_stats),
	.create = rtl_create, .dump = rtl_dump, .cycles = rtl_cycles,
	.model = &model_calls,
};
