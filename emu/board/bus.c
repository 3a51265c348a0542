// SPDX-License-Identifier: BSD-2-Clause
/*
 * bus.c - address decode for software, and the memory port of what masters the bus.
 *
 * A burst is a read-side section: it opens before the translation and closes after the data
 * has moved, so a TLB synchronise waits for it. The frame's tag is compared at both ends: a
 * translation that outlived its frame is an event, never silence. So is one that is good
 * for the hardware, since the frame is pinned, while the process has lost the page.
 */
#include <errno.h>
#include <string.h>

#include "board/board_internal.h"
#include "board/copy.h"
#include "faultline/regs.h"
#include "trace/trace.h"

enum { PORT_TAG, PORT_RAZWI, PORT_EVENT, PORT_WHO };	/* uses of dma_burst.port */

/* events.def, STALE_ACCESS: who, in place of a stream ID of 16 bits. */
#define BUS_WHO(object)	(0x10000ull + (object))

static void stale_access(struct board *b, const struct dma_burst *d,
			 uint64_t tag)
{
	struct trace_at at = { .board = b->cfg.id, .xfer = d->xfer,
			       .block = d->block, .attempt = d->attempt,
			       .cause = d->port[PORT_EVENT] };

	b->stale = true;
	trace_emit(b->cfg.trace, EV_STALE_ACCESS, &at, d->pa,
		   d->port[PORT_TAG], tag, d->port[PORT_WHO]);
}

static void check_tag(struct board *b, const struct dma_burst *d)
{
	uint64_t tag = bus_frame_tag(b, d->pa);

	if (tag != d->port[PORT_TAG])
		stale_access(b, d, tag);
}

void bus_stale(struct board *b, const struct smmu_access *a, uint64_t pa, uint64_t tag)
{
	struct dma_burst d = { .pa = pa, .xfer = a->xfer, .block = a->block };

	d.port[PORT_TAG] = tag;
	d.port[PORT_WHO] = a->stream;
	check_tag(b, &d);
}

/* The burst moves its data now: into, or out of, memory that nobody else sees? */
static void check_orphan(struct board *b, const struct dma_burst *d)
{
	struct trace_at at = { .board = b->cfg.id, .xfer = d->xfer,
			       .block = d->block, .attempt = d->attempt,
			       .cause = d->port[PORT_EVENT] };

	if (dram_tag(b->dram, d->pa) & DRAM_TAG_ORPHAN)
		trace_emit(b->cfg.trace, EV_ORPHAN_ACCESS, &at, d->pa,
			   d->port[PORT_TAG], d->write, d->port[PORT_WHO]);
}

static void held_note(struct board *b, const struct dma_burst *d)
{
	b->stalled[d->channel] = (struct board_held){
		.va = d->va, .xfer = d->xfer, .block = d->block,
		.stream = d->stream, .write = d->write,
	};
}

/* Is it the burst that the SMMU stalled, and then ended in silence? Told once. */
static bool held_silent(struct board *b, const struct dma_burst *d)
{
	struct board_held *h = &b->stalled[d->channel];
	bool silent = h->silent && h->va == d->va && h->xfer == d->xfer &&
		      h->block == d->block && h->stream == d->stream &&
		      h->write == d->write;

	h->silent = false;
	return silent;
}

/* What the engine's memory takes, of the burst that goes on. */
static void burst_time(const struct board *b, struct dma_burst *d)
{
	const uint64_t *t = b->cfg.timing->v;

	if (b->timed)
		d->delay_ns += t[T_ENG_BURST] +
			       timing_transfer_ns(d->len, t[T_ENG_BYTES]);
}

enum dma_status bus_burst_begin(void *board, struct dma_burst *d)
{
	struct board *b = board;
	struct smmu_access a;
	enum smmu_verdict v;

	if (held_silent(b, d)) {
		sim_grace_enter(b->grace, d->channel);
		d->port[PORT_RAZWI] = true;
		burst_time(b, d);
		return DMA_OK;
	}
	/* All that goes in, and no more: to clear the rest takes long. */
	a.utlb = &b->utlb[d->channel];
	a.stream = d->stream;
	a.write = d->write;
	a.privileged = false;
	a.va = d->va;
	a.now_ns = d->now_ns;
	a.ticket = d->channel;
	a.cause = d->cause;
	a.xfer = d->xfer;
	a.block = d->block;
	sim_grace_enter(b->grace, d->channel);
	v = smmu_translate(b->smmu, &a);
	d->event = a.event;
	d->delay_ns = a.ready_ns > d->now_ns ? a.ready_ns - d->now_ns : 0;
	if (v == SMMU_FAULT || v == SMMU_STALLED) {
		if (v == SMMU_STALLED)
			held_note(b, d);
		sim_grace_exit(b->grace, d->channel);
		return v == SMMU_STALLED ? DMA_STALLED : DMA_SLVERR;
	}
	d->pa = a.pa;
	d->port[PORT_TAG] = a.tag;
	d->port[PORT_RAZWI] = v == SMMU_RAZWI;
	d->port[PORT_EVENT] = a.event;
	d->port[PORT_WHO] = d->stream;
	if (v == SMMU_OK)
		check_tag(b, d);
	burst_time(b, d);
	return DMA_OK;
}

static enum dram_status burst_move(struct board *b, const struct dma_burst *d,
				   void *buf)
{
	enum dram_status s;

	check_tag(b, d);
	check_orphan(b, d);
	copy_after(DRAM_PAGE);
	s = d->write ? dram_write(b->dram, d->pa, buf, d->len) :
		       dram_read(b->dram, d->pa, buf, d->len);
	dram_use(b->dram, d->pa);
	return s;
}

enum dma_status bus_burst_end(void *board, struct dma_burst *d, void *buf)
{
	struct board *b = board;
	enum dram_status s = DRAM_OK;

	if (!d->port[PORT_RAZWI])
		s = burst_move(b, d, buf);
	else if (!d->write)
		memset(buf, 0, d->len);
	sim_grace_exit(b->grace, d->channel);
	return s == DRAM_OK ? DMA_OK : DMA_DECERR;
}

/* ---- a master that translates by itself ---- */

static unsigned int own_channel(const struct dma_burst *d)
{
	return BUS_CHANNEL_OWN + d->channel;
}

void bus_own_begin(struct board *b, struct dma_burst *d, uint64_t pa, uint64_t tag)
{
	sim_grace_enter(b->grace, own_channel(d));
	d->pa = pa;
	d->port[PORT_TAG] = tag;
	d->port[PORT_EVENT] = d->cause;
	d->port[PORT_WHO] = BUS_WHO(d->object);
	check_tag(b, d);
	burst_time(b, d);
}

enum dma_status bus_own_end(void *board, struct dma_burst *d, void *buf)
{
	struct board *b = board;
	enum dram_status s = burst_move(b, d, buf);

	sim_grace_exit(b->grace, own_channel(d));
	return s == DRAM_OK ? DMA_OK : DMA_DECERR;
}

enum dma_status bus_own_atomic(void *board, struct dma_burst *d, bool compare,
			       uint64_t expected, uint64_t operand, uint64_t *old)
{
	struct board *b = board;
	enum dram_status s;

	check_tag(b, d);
	check_orphan(b, d);
	s = dram_atomic(b->dram, d->pa, compare, expected, operand, old);
	dram_use(b->dram, d->pa);
	sim_grace_exit(b->grace, own_channel(d));
	return s == DRAM_OK ? DMA_OK : DMA_DECERR;
}

enum smmu_mem_status bus_walk_read(void *board, uint64_t pa, uint64_t *value)
{
	struct board *b = board;

	switch (dram_read64(b->dram, pa, value)) {
	case DRAM_OK:
		return SMMU_MEM_OK;
	case DRAM_POISON:
		return SMMU_MEM_POISON;
	default:
		return SMMU_MEM_ABORT;
	}
}

uint32_t bus_walk_reads(void *board, uint64_t pa, uint64_t *value, uint32_t n)
{
	return dram_read64s(((struct board *)board)->dram, pa, value, n) ? n : 0;
}

uint64_t bus_frame_tag(void *board, uint64_t pa)
{
	return dram_tag(((struct board *)board)->dram, pa) & ~DRAM_TAG_ORPHAN;
}

/*
 * Called by a register write (RESUME, reset), which does not hold the domain. The
 * engine knows that a stalled burst begins again, or is refused. One that ends in
 * silence begins again, and bus_burst_begin() lets it go without the SMMU.
 */
void bus_resume(void *board, uint64_t ticket, enum smmu_verdict how)
{
	struct board *b = board;

	sim_enter(b->domain);
	board_changed(b);
	b->stalled[ticket].silent = how == SMMU_RAZWI;
	if (ticket == BUS_CHANNEL_PSDMA)
		psdma_resume(b, how == SMMU_FAULT);
	else
		engine_burst_resume(b->engine, (unsigned int)ticket,
				    how == SMMU_FAULT);
	sim_leave(b->domain);
}

void bus_sync_start(void *board, unsigned int bank)
{
	(void)bank;
	sim_grace_start(((struct board *)board)->grace);
}

bool bus_sync_done(void *board, unsigned int bank)
{
	struct board *b = board;

	(void)bank;
	if (atomic_load(&b->broken) & BOARD_NO_SYNC || !sim_grace_done(b->grace))
		return false;
	/* What resident_again() moves it moves with the domain held, and in no such section. */
	sim_pass(b->domain);
	return true;
}

/* ---- software's side ---- */

static bool is_engine(uint32_t off)
{
	return off < NIC_FW_BASE;
}

/* For the trace: why registers of the engine are written, or a request is fetched. */
static void note_cause(struct board *b, uint32_t off, uint64_t value, bool write)
{
	if (is_engine(off)) {
		cause_software(&b->causes);
		return;
	}
	cause_firmware(&b->causes);
	if (write && bell_is(off, NIC_DB_SQ))
		cause_doorbell(&b->causes, (uint32_t)value, trace_last_software());
}

static bool is_xp(uint32_t off)
{
	return off - NIC_XP_BASE < 0x1000;
}

static int nic_access(struct board *b, uint32_t off, unsigned int size,
		      uint64_t *value, bool write)
{
	int err;

	if (is_xp(off))
		return board_annex ? board_annex->access(b, off - NIC_XP_BASE, size, value,
							 write) : -EINVAL;
	bells_first(b);
	sim_enter(b->domain);
	if (!write || bell_changes(off))
		board_changed(b);
	note_cause(b, off, *value, write);
	if (write)
		err = is_engine(off) ?
			engine_reg_write(b->engine, off, size, *value) :
			fw_reg_write(b->fw, off, size, *value);
	else
		err = is_engine(off) ?
			engine_reg_read(b->engine, off, size, value) :
			fw_reg_read(b->fw, off, size, value);
	sim_leave(b->domain);
	return err;
}

static int bus_psdma_access(struct board *b, uint32_t off, unsigned int size,
			    uint64_t *value, bool write)
{
	int err;

	sim_enter(b->domain);
	err = psdma_access(b, off, size, value, write);
	sim_leave(b->domain);
	return err;
}

static bool board_is_plugged(const struct board *b)
{
	return !atomic_load_explicit(&b->unplugged, memory_order_relaxed);
}

static int bus_access(struct board *b, uint64_t pa, unsigned int size,
		      uint64_t *value, bool write)
{
	if (size != 4 && size != 8)
		return -EINVAL;
	if (!board_is_plugged(b)) {
		*value = size == 4 ? UINT32_MAX : UINT64_MAX;
		return 0;
	}
	if (pa - BUS_NIC_BASE <= BUS_NIC_BYTES - size)
		return nic_access(b, (uint32_t)(pa - BUS_NIC_BASE), size, value,
				  write);
	if (pa - BUS_SMMU_BASE <= SMMU_REG_BYTES - size)
		return write ?
			smmu_reg_write(b->smmu, (uint32_t)(pa - BUS_SMMU_BASE),
				       size, *value) :
			smmu_reg_read(b->smmu, (uint32_t)(pa - BUS_SMMU_BASE),
				      size, value);
	if (pa - BUS_PSDMA_BASE <= BUS_PSDMA_BYTES - size)
		return bus_psdma_access(b, (uint32_t)(pa - BUS_PSDMA_BASE), size,
					value, write);
	return -ENXIO;
}

int board_read(struct board *b, uint64_t pa, unsigned int size, uint64_t *value)
{
	*value = 0;
	if (b->timed)
		sim_spend(b->cfg.timing->v[T_CPU_MMIO_READ]);
	return bus_access(b, pa, size, value, false);
}

/* A doorbell, and it has a way of its own? */
static bool is_quick_bell(const struct board *b, uint64_t pa)
{
	uint64_t at = pa - (BUS_NIC_BASE + NIC_DB_BASE(0));

	return at < NIC_DB_STRIDE * NIC_DB_COUNT && !b->timed && !(at % 4) &&
	       (!b->at_once || at % NIC_DB_STRIDE == NIC_DB_SQ) && board_is_plugged(b);
}

void board_ring(struct board *b, uint64_t pa, const struct board_bell *bell, unsigned int n)
{
	unsigned int i;

	if (is_quick_bell(b, pa)) {
		bells_ring(b, (uint32_t)(pa - BUS_NIC_BASE), bell, n);
		return;
	}
	/* Posted: what is refused is the card's event, and no error here. */
	for (i = 0; i < n; i++)
		board_write(b, pa, 4, bell[i].value);
}

static __attribute__((noinline)) int bus_write(struct board *b, uint64_t pa, unsigned int size,
					       uint64_t value)
{
	if (b->timed)
		sim_spend(b->cfg.timing->v[T_CPU_MMIO_WRITE]);
	return bus_access(b, pa, size, &value, true);
}

int board_write(struct board *b, uint64_t pa, unsigned int size, uint64_t value)
{
	/* The first, since no other access comes as often. */
	if (size == 4 && value == (uint32_t)value && is_quick_bell(b, pa))
		return bells_ring_one(b, (uint32_t)(pa - BUS_NIC_BASE), (uint32_t)value);
	return bus_write(b, pa, size, value);
}
