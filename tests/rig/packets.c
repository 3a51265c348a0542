// SPDX-License-Identifier: BSD-2-Clause
#include "rig/packets.h"

#include "os/os.h"

static struct packets *packets_of(struct rig *g)
{
	return (struct packets *)(void *)g;
}

void packets_open(struct packets *io, const struct rig_unit *unit)
{
	unsigned int i;

	io->unit = unit;
	io->trace = trace_create(&(struct trace_config){ .ring_records = 256 });
	io->mem = calloc(1, RIG_BYTES);
	io->out = os_room(RIG_FRAMES, sizeof(*io->out));
	for (i = 0; i < RIG_PAGES; i++)
		io->present[i] = true;
	for (i = 0; i < RIG_KEYS; i++)
		io->key[i] = (struct rig_key){ 0x100 + i, RIG_BASE, RIG_BYTES, 15, true };
	io->alarm = UINT64_MAX;
}

void packets_close(struct packets *io)
{
	if (io->trace)
		trace_destroy(io->trace);
	free(io->mem);
	os_room_end(io->out, RIG_FRAMES, sizeof(*io->out));
}

uint8_t *rig_at(struct rig *g, uint64_t va)
{
	EXPECT(va >= RIG_BASE && va < RIG_BASE + RIG_BYTES);
	return packets_of(g)->mem + (va - RIG_BASE);
}

struct rig_key *rig_key_find(struct rig *g, uint32_t key)
{
	struct packets *io = packets_of(g);
	unsigned int i;

	for (i = 0; i < RIG_KEYS; i++)
		if (io->key[i].alive && io->key[i].key == key)
			return &io->key[i];
	return NULL;
}

void rig_fill(struct rig *g)
{
	unsigned int i;

	for (i = 0; i < RIG_BYTES; i++)
		packets_of(g)->mem[i] = (uint8_t)(i * 31 + i / 256);
}

/* ---- what units ask for ---- */

enum dma_status packets_burst_begin(struct packets *io, struct dma_burst *b)
{
	uint64_t page = (b->va - RIG_BASE) / 4096;

	EXPECT(b->channel < RIG_CHANNELS && !io->open[b->channel]);
	EXPECT(b->len && b->va % 4096 + b->len <= 4096 && page < RIG_PAGES);
	b->delay_ns = io->burst_ns;
	b->event = 0;
	if (!io->present[page] || (b->write && io->read_only[page]))
		return DMA_SLVERR;
	io->open[b->channel] = true;
	io->burst[b->channel] = *b;
	return DMA_OK;
}

enum dma_status packets_burst_end(struct packets *io, struct dma_burst *b, void *buf)
{
	EXPECT(io->open[b->channel]);
	EXPECT_EQ(io->burst[b->channel].va, b->va);
	io->open[b->channel] = false;
	io->bursts++;
	if (io->fails)
		return DMA_DECERR;
	if (buf && b->write)
		memcpy(io->mem + (b->va - RIG_BASE), buf, b->len);
	else if (buf)
		memcpy(buf, io->mem + (b->va - RIG_BASE), b->len);
	return DMA_OK;
}

struct wire_frame *rig_frame_get(void *ctx)
{
	struct packets *io = ctx;

	return io->no_room ? NULL : &io->making;
}

uint64_t rig_frame_send(void *ctx, struct wire_frame *f)
{
	struct packets *io = ctx;

	if (io->sent) {
		io->sent(ctx, f);
		return 1;
	}
	EXPECT(io->outs < RIG_FRAMES);
	io->out[io->outs++] = *f;
	io->sent_ns = io->now;
	return 1;
}

void rig_kick(void *ctx, unsigned int channel)
{
	struct packets *io = ctx;

	EXPECT(!io->awake[channel]);
	io->awake[channel] = true;
}

void rig_alarm(void *ctx, uint64_t when_ns)
{
	((struct packets *)ctx)->alarm = when_ns;
}

uint64_t rig_emit(void *ctx, unsigned int ev, const struct trace_at *at, uint64_t a0, uint64_t a1,
		  uint64_t a2, uint64_t a3)
{
	struct packets *io = ctx;

	if (!io->quiet)
		STEP("  %s 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64, trace_events[ev].name, a1, a2,
		     a3);
	io->events[ev]++;
	return trace_emit(io->trace, (enum trace_event)ev, at, a0, a1, a2, a3);
}

void rig_work_done(void *ctx, uint16_t qp, uint32_t wr, uint8_t status, uint32_t resends,
		   uint64_t cause)
{
	struct packets *io = ctx;
	struct rig_done *d = &io->done[io->dones % RIG_DONE];

	(void)cause;
	*d = (struct rig_done){ qp, wr, resends, status };
	if (io->worked)
		io->worked(ctx, d);
	io->dones++;
	if (status != FL_ST_OK)
		io->t.close(io->t.ctx, qp);
}

void rig_pair_error(void *ctx, uint16_t qp, uint8_t status, uint64_t cause)
{
	struct packets *io = ctx;

	(void)cause;
	io->error = status;
	io->errors++;
	if (io->ended)
		io->ended(ctx, qp);
	io->t.close(io->t.ctx, qp);
}

/* ---- what a test does ---- */

void rig_check(struct rig *g)
{
	const char *wrong = packets_of(g)->unit->check(g);

	if (wrong)
		EXPECT_STR(wrong, "all is well");
}

void rig_run(struct rig *g)
{
	struct packets *io = packets_of(g);
	unsigned int i, steps = 0;
	uint64_t ns;

	while (io->awake[0] || io->awake[1]) {
		EXPECT(steps++ < 100000);
		for (i = 0; i < 2; i++) {
			if (!io->awake[i])
				continue;
			ns = io->unit->step(g, i, io->now);
			if (ns == UINT64_MAX)
				io->awake[i] = false;
			else
				io->now += ns;
			rig_check(g);
		}
	}
	rig_check(g);
}

void rig_ring(struct rig *g)
{
	struct packets *io = packets_of(g);

	EXPECT_NE(io->alarm, UINT64_MAX);
	if (io->now < io->alarm)
		io->now = io->alarm;
	io->alarm = UINT64_MAX;
	io->unit->timer(g, io->now);
	rig_run(g);
}

void rig_silent(struct rig *g)
{
	EXPECT_EQ(packets_of(g)->out_next, packets_of(g)->outs);
}

const struct wire_frame *rig_out_frame(struct rig *g)
{
	struct packets *io = packets_of(g);

	EXPECT(io->out_next < io->outs);
	return &io->out[io->out_next++];
}

void rig_post(struct rig *g, uint32_t wr, const struct fw_work *w)
{
	struct packets *io = packets_of(g);

	STEP("post %u: op %u, %u bytes", wr, w->opcode, w->length);
	io->t.post(io->t.ctx, RIG_QP, wr, w);
	rig_run(g);
}

void rig_is_done(struct rig *g, unsigned int n, uint32_t wr, uint8_t status)
{
	struct packets *io = packets_of(g);

	EXPECT(n < io->dones);
	EXPECT_EQ(io->done[n].wr, wr);
	EXPECT_EQ(io->done[n].status, status);
}

uint8_t rig_status(struct rig *g)
{
	struct packets *io = packets_of(g);

	EXPECT(io->dones);
	return io->done[(io->dones - 1) % RIG_DONE].status;
}
