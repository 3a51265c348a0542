// SPDX-License-Identifier: BSD-2-Clause
/*
 * One clock cycle of a card whose ports are all in use: what is valid stays so until it is taken,
 * and who is ready, when memory answers and whether there is room on the wire is drawn anew.
 */
#include "rtl/cosim/compete.h"

/* What stands at the pins while nothing is valid: anything. */
static void pins_noise(struct model_in *in)
{
	unsigned int i;

	in->s_axil_araddr = random_below(1u << 17);
	in->s_axil_awaddr = random_below(1u << 17);
	in->s_axil_wdata = (uint32_t)random_u64();
	in->s_axil_wstrb = random_below(16);
	in->m_axi_rresp = random_below(4);
	in->m_axi_rlast = random_below(2);
	in->m_axi_bresp = random_below(4);
	in->s_axis_tid = random_below(ENGINE_RTL_NODES);
	in->s_axis_tdest = random_below(CARDS);
	in->s_axis_tlast = random_below(2);
	in->s_axis_tkeep = random_below(0x10000);
	for (i = 0; i < BEAT / 4; i++) {
		in->m_axi_rdata[i] = (uint32_t)random_u64();
		in->s_axis_tdata[i] = (uint32_t)random_u64();
	}
}

/* ---- registers: AXI4-Lite ---- */

static void master_drive(struct card *x, unsigned int write)
{
	struct master *m = &x->bus[write];
	const struct access *a = &m->queue[m->head];
	unsigned int i;

	if (m->count && !m->asked)
		for (i = 0; i <= write; i++)
			m->valid[i] |= !m->taken[i] && random_percent(x->pace.valid);
	if (!write) {
		x->in.s_axil_arvalid = m->valid[0];
		if (m->valid[0])
			x->in.s_axil_araddr = a->off;
		x->in.s_axil_rready = random_percent(x->pace.ready);
		return;
	}
	x->in.s_axil_awvalid = m->valid[0];
	x->in.s_axil_wvalid = m->valid[1];
	if (m->valid[0])
		x->in.s_axil_awaddr = a->off;
	if (m->valid[1]) {
		x->in.s_axil_wdata = a->value;
		x->in.s_axil_wstrb = a->part ? a->value % 15 : 0xF;
	}
	x->in.s_axil_bready = random_percent(x->pace.ready);
}

static void master_take(struct master *m, unsigned int i, bool ready)
{
	if (!m->valid[i] || !ready)
		return;
	m->valid[i] = false;
	m->taken[i] = true;
}

/* The answer is there: control may be at the next event before it is taken. */
static void master_answer(struct card *x, unsigned int write, bool valid, uint64_t resp)
{
	struct master *m = &x->bus[write];
	const struct access *a = &m->queue[m->head];

	if (valid && !m->asked)
		card_differ(x, "an answer to a register access that nobody made");
	if (m->told && !valid)
		card_differ(x, "the answer of register 0x%x is withdrawn", a->off);
	if (!valid || m->told)
		return;
	m->told = true;
	if (a->part) {
		/* Control does not hear of it: the event before may not be over. */
		if (!resp)
			card_differ(x, "a part of register 0x%x was written", a->off);
		return;
	}
	m->answered = true;
	m->bad = resp != 0;
	m->value = (uint32_t)x->out.s_axil_rdata;
}

static void master_handshakes(struct card *x, unsigned int write)
{
	struct master *m = &x->bus[write];
	bool over = write ? x->out.s_axil_bvalid && x->in.s_axil_bready :
			    x->out.s_axil_rvalid && x->in.s_axil_rready;

	if (over) {
		m->asked = m->told = false;
		m->taken[0] = m->taken[1] = false;
		m->head = (m->head + 1) % ACCESSES;
		m->count--;
	}
	master_take(m, 0, write ? x->out.s_axil_awready : x->out.s_axil_arready);
	if (write)
		master_take(m, 1, x->out.s_axil_wready);
	m->asked |= m->taken[0] && (!write || m->taken[1]);
}

/* ---- memory ---- */

static enum dma_status some_status(void)
{
	unsigned int r = random_below(100);

	if (k.calm)
		return DMA_OK;
	return r < 12 ? DMA_SLVERR : r < 14 ? DMA_DECERR : DMA_OK;
}

static bool burst_same(const struct burst *b, uint64_t address, uint64_t len, uint64_t id,
		       uint64_t user)
{
	return b->address == address && b->arlen == len && b->stream == id && b->ctx == user;
}

/* Address valid is up: a new burst, or one that is not taken yet and must stay as it is. */
static void burst_up(struct card *x, unsigned int channel)
{
	const struct model_out *o = &x->out;
	bool read = channel == CH_READ;
	struct burst *b = &x->burst[channel];
	uint64_t address = read ? o->m_axi_araddr : o->m_axi_awaddr;
	uint64_t len = read ? o->m_axi_arlen : o->m_axi_awlen;
	uint64_t id = read ? o->m_axi_arid : o->m_axi_awid;
	uint64_t user = read ? o->m_axi_aruser : o->m_axi_awuser;
	bool ahead;

	if (b->up) {
		if (b->taken || !burst_same(b, address, len, id, user))
			card_differ(x, "a burst of channel %u changes before it is taken, or one "
				    "begins before the last has ended", channel);
		return;
	}
	follow_choice(x, channel);
	ahead = read && ahead_burst(x, (uint8_t)user);
	if (!ahead)
		follow_ahead(x, channel);
	b->up = true;
	b->taken = b->answer = b->data_over = b->c_said = false;
	b->address = address;
	b->arlen = (uint8_t)len;
	b->stream = (uint16_t)id;
	b->ctx = (uint8_t)user;
	b->va = read ? o->o_rd_va : o->o_wr_va;
	b->len = (uint32_t)(read ? o->o_rd_len : o->o_wr_len);
	b->beats = b->arlen + 1u;
	b->beat = 0;
	b->bad = random_below(b->beats);
	b->status = some_status();
	b->wait = one_in(20) ? random_below(3000) : one_in(4) ? random_below(400) :
		  random_below(40);
	if (!b->len || b->va / ENGINE_PAGE != (b->va + b->len - 1) / ENGINE_PAGE ||
	    address != (b->va & ~(uint64_t)(BEAT - 1)) ||
	    b->beats != (b->va % BEAT + b->len + BEAT - 1) / BEAT)
		card_differ(x, "a burst that is none at 0x%llx", (unsigned long long)b->va);
	if (ahead)
		ahead_begins(x, b);
	else
		follow_begin(x, channel);
}

static void burst_watch(struct card *x, unsigned int channel, bool valid)
{
	const struct burst *b = &x->burst[channel];

	if (valid)
		burst_up(x, channel);
	else if (b->up && !b->taken)
		card_differ(x, "a burst of channel %u is withdrawn before it is taken", channel);
}

/* One beat's answer: the worst of them is the burst's. */
static unsigned int beat_answer(const struct burst *b)
{
	if (b->status == DMA_OK)
		return 0;
	if (b->status == DMA_SLVERR)
		return b->beat == b->bad || one_in(2) ? 2 : 0;
	return b->beat == b->bad ? 3 : one_in(2) ? 2 : 0;
}

static void memory_drive(struct card *x)
{
	struct burst *r = &x->burst[CH_READ], *w = &x->burst[CH_WRITE];
	unsigned int i;

	x->in.m_axi_arready = random_percent(x->pace.ready);
	x->in.m_axi_awready = random_percent(x->pace.ready);
	x->in.m_axi_wready = random_percent(x->pace.ready);
	for (i = 0; i < CHANNELS; i++)
		if (x->burst[i].taken && x->burst[i].wait)
			x->burst[i].wait--;
	if (r->up && r->taken && !r->wait && !r->answer && random_percent(x->pace.valid)) {
		r->answer = true;
		r->resp = (uint8_t)beat_answer(r);
	}
	if (r->answer) {
		for (i = 0; i < BEAT; i++)
			((uint8_t *)x->in.m_axi_rdata)[i] =
				memory_byte(r->address + r->beat * BEAT + i);
		x->in.m_axi_rresp = r->resp;
		x->in.m_axi_rlast = r->beat + 1 == r->beats;
	}
	x->in.m_axi_rvalid = r->answer;
	w->answer |= w->up && w->taken && w->data_over && !w->wait && random_percent(x->pace.valid);
	x->in.m_axi_bvalid = w->answer;
	if (w->answer)
		x->in.m_axi_bresp = w->status == DMA_OK ? 0 : w->status == DMA_DECERR ? 3 : 2;
}

/* Strobes of a beat: every byte of the burst, and no other. */
static uint64_t beat_strobes(const struct burst *b)
{
	unsigned int first = b->beat ? 0 : b->va % BEAT;
	uint64_t end = b->va % BEAT + b->len - b->beat * BEAT;

	return (end < BEAT ? (1u << end) - 1 : 0xFFFF) & ~((1u << first) - 1);
}

static void write_beat(struct card *x, struct burst *b)
{
	if (!b->up || b->beat >= b->beats || x->out.m_axi_wstrb != beat_strobes(b) ||
	    x->out.m_axi_wlast != (b->beat + 1 == b->beats))
		card_differ(x, "write data that belongs to no burst");
	memcpy(b->data + b->beat++ * BEAT, x->out.m_axi_wdata, BEAT);
	b->data_over = b->beat == b->beats;
	follow_data(x, b);
}

static void memory_handshakes(struct card *x)
{
	struct burst *r = &x->burst[CH_READ], *w = &x->burst[CH_WRITE];

	if (x->in.m_axi_rvalid && x->out.m_axi_rready) {
		r->answer = false;
		r->up = ++r->beat < r->beats;
	}
	if (x->in.m_axi_bvalid && x->out.m_axi_bready)
		w->answer = w->up = false;
	if (x->out.m_axi_arvalid && x->in.m_axi_arready)
		r->taken = true;
	if (x->out.m_axi_awvalid && x->in.m_axi_awready)
		w->taken = true;
	if (x->out.m_axi_wvalid && x->in.m_axi_wready)
		write_beat(x, w);
}

/* ---- packets ---- */

static void packet_drive(struct card *x)
{
	const struct wire_frame *f = &x->in_frame;
	struct model_in *in = &x->in;
	uint32_t n = f->len - x->in_at;

	x->in_valid |= x->in_open && random_percent(x->pace.valid);
	in->s_axis_tvalid = x->in_valid;
	in->m_axis_tready = random_percent(x->pace.ready);
	if (!x->in_valid)
		return;
	memset(in->s_axis_tdata, 0, BEAT);
	if (x->in_at < WIRE_FRAME_MAX)
		memcpy(in->s_axis_tdata, f->bytes + x->in_at,
		       n < BEAT ? n : x->in_at + BEAT <= WIRE_FRAME_MAX ? BEAT :
				  WIRE_FRAME_MAX - x->in_at);
	in->s_axis_tkeep = n < BEAT ? (1u << n) - 1 : 0xFFFF;
	in->s_axis_tlast = n <= BEAT;
	in->s_axis_tid = f->from;
	in->s_axis_tdest = f->to;
}

static void packet_in(struct card *x)
{
	if (!x->in.s_axis_tvalid || !x->out.s_axis_tready)
		return;
	x->in_valid = false;
	x->in_at += BEAT;
	if (x->in_at < x->in_frame.len)
		return;
	x->in_open = false;
	if (x->arrived == ARRIVING)
		card_differ(x, "more packets are taken than there is room for");
	x->arriving[x->arrived++] = x->in_frame;
}

static void packet_out(struct card *x)
{
	struct wire_frame *f = &x->out_frame;
	unsigned int i;

	if (!x->out.m_axis_tvalid || !x->in.m_axis_tready)
		return;
	for (i = 0; i < BEAT && x->out.m_axis_tkeep >> i & 1; i++)
		if (f->len < WIRE_FRAME_MAX)
			f->bytes[f->len++] = (uint8_t)(x->out.m_axis_tdata[i / 4] >> i % 4 * 8);
	if (!x->out.m_axis_tlast)
		return;
	f->to = (uint8_t)x->out.m_axis_tdest;
	f->from = (uint8_t)x->node;
	if (!x->seen.open || x->seen.frames == SEEN_FRAMES)
		card_differ(x, "a packet that no event sends, or too many");
	x->seen.frame[x->seen.frames++] = *f;
	soft_sent(x, f);
	f->len = 0;
}

static void pins_room(struct card *x)
{
	struct seen *s = &x->seen;

	if (!x->out.o_want)
		return;
	if (!s->open || s->rooms == SEEN_ROOM)
		card_differ(x, "an event that is none wants room on the wire");
	s->room[s->rooms++] = x->in.i_room;
	k.denied += !x->in.i_room;
}

/* ---- a cycle ---- */

void pins_clock(struct card *x)
{
	x->cycles++;
	pins_noise(&x->in);
	master_drive(x, 0);
	master_drive(x, 1);
	memory_drive(x);
	packet_drive(x);
	x->in.i_room = random_percent(x->pace.room);
	x->in.i_room_again = random_percent(x->pace.again);
	x->in.i_go_rd = random_percent(x->pace.go);
	x->in.i_go_wr = random_percent(x->pace.go);
	x->in.i_ahead = random_percent(x->pace.go);
	k.ops->settle(x->model, &x->in, &x->out);
	master_answer(x, 0, x->out.s_axil_rvalid, x->out.s_axil_rresp);
	master_answer(x, 1, x->out.s_axil_bvalid, x->out.s_axil_bresp);
	if (x->out.trc_valid)
		follow_record(x);
	burst_watch(x, CH_READ, x->out.m_axi_arvalid);
	burst_watch(x, CH_WRITE, x->out.m_axi_awvalid);
	pins_room(x);
	if (x->in.i_room_again && !x->owed && x->c->answer_count && x->c->enabled)
		x->owed = 2 * PATIENCE_MOST;
	memory_handshakes(x);
	packet_in(x);
	packet_out(x);
	master_handshakes(x, 0);
	master_handshakes(x, 1);
	k.ops->edge(x->model);
}

bool pins_still(const struct card *x)
{
	return x->out.o_quiet && !x->bus[0].count && !x->bus[1].count && !x->in_open &&
	       !x->out.m_axis_tvalid && !x->out.trc_valid;
}

void pins_reset(struct card *x)
{
	memset(x->burst, 0, sizeof(x->burst));
	x->in.m_axi_rvalid = x->in.m_axi_bvalid = 0;
	x->in.s_axil_arvalid = x->in.s_axil_awvalid = x->in.s_axil_wvalid = 0;
	x->in.s_axis_tvalid = 0;
	x->in.i_go_rd = x->in.i_go_wr = 0;
	x->in.rst = 1;
	k.ops->settle(x->model, &x->in, &x->out);
	k.ops->edge(x->model);
	x->in.rst = 0;
	x->out_frame.len = 0;
}
