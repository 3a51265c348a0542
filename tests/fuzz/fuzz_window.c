// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a guest in QEMU may write into its window: entries of the driver's ring and of
 * doorbell pages, and any byte of all of it. A model that only counts says which entries
 * were done, and as what; boards 1 and 2, which are not the guest's, must stay as they are
 * but for what their peers may write, and go on; the guest gets nothing of them.
 */
#include <stdlib.h>
#include <string.h>

#include "board/dram.h"
#include "boards.h"
#include "lib/sys.h"
#include "window/window_internal.h"

const char fuzz_name[] = "window";

#define STEPS	96u
#define RAM	0x10000u
#define SOURCES	(1 + NIC_DB_COUNT)

struct counts {
	uint64_t writes, reads, notes, doorbells, bad;
};

struct play {
	struct fuzz in;
	struct boards *b;
	struct window w;
	uint32_t next[SOURCES];		/* the guest's own index */
	uint32_t head[SOURCES];		/* of the model */
	struct counts want;
	uint32_t last_read;		/* seq of the entry */
};

static struct fl_window_doorbell *page_of(struct play *p, unsigned int slot)
{
	return (void *)(p->w.guest.bar + FL_WINDOW_DOORBELL_OFFSET(slot));
}

static struct fl_window_entry *ring_of(struct play *p, unsigned int s, uint32_t *n)
{
	*n = s ? FL_WINDOW_BELLS : FL_WINDOW_RING;
	return s ? page_of(p, s - 1)->entry :
		   (void *)(p->w.guest.bar + FL_WINDOW_RING_OFFSET);
}

/* ---- the model ---- */

static bool good_doorbell(const struct fl_window_entry *e)
{
	if (e->kind == FL_WINDOW_NOTE)
		return e->addr == FL_SYS_EV_POST ||
		       e->addr == FL_SYS_EV_DOORBELL ||
		       e->addr == FL_SYS_EV_COMPLETE;
	return e->kind == FL_WINDOW_WRITE && e->size == 4 &&
	       (e->addr == NIC_DB_SQ || e->addr == NIC_DB_CQ_ARM ||
		e->addr == NIC_DB_CQ_CONS);
}

static void count_one(struct play *p, unsigned int s,
		      const struct fl_window_entry *e)
{
	if (s) {
		p->want.doorbells++;
		p->want.bad += !good_doorbell(e);
		return;
	}
	switch (e->kind) {
	case FL_WINDOW_WRITE:
		p->want.writes++;
		return;
	case FL_WINDOW_READ:
		p->want.reads++;
		p->last_read = e->seq;
		return;
	case FL_WINDOW_NOTE:
		if (e->addr < FL_WINDOW_NOTES)
			p->want.notes++;
		else
			p->want.bad++;
		return;
	}
	p->want.bad++;
}

/* Everything that stands in its turn, until there is nothing. */
static void count_all(struct play *p)
{
	struct fl_window_entry *ring;
	unsigned int s;
	uint32_t n;

	for (s = 0; s < SOURCES; s++) {
		ring = ring_of(p, s, &n);
		while (ring[p->head[s] % n].seq == p->head[s] + 1)
			count_one(p, s, &ring[p->head[s]++ % n]);
	}
}

static void fuzz_window_compare(struct play *p)
{
	struct window_stats st;
	unsigned int s;

	window_stats(&p->w, &st);
	FUZZ_EXPECT(st.writes == p->want.writes && st.reads == p->want.reads &&
		    st.notes == p->want.notes && st.bad == p->want.bad &&
		    st.doorbells == p->want.doorbells,
		    "writes %llu %llu, reads %llu %llu, notes %llu %llu, "
		    "doorbells %llu %llu, bad %llu %llu",
		    (unsigned long long)st.writes,
		    (unsigned long long)p->want.writes,
		    (unsigned long long)st.reads,
		    (unsigned long long)p->want.reads,
		    (unsigned long long)st.notes,
		    (unsigned long long)p->want.notes,
		    (unsigned long long)st.doorbells,
		    (unsigned long long)p->want.doorbells,
		    (unsigned long long)st.bad,
		    (unsigned long long)p->want.bad);
	for (s = 0; s < SOURCES; s++)
		FUZZ_EXPECT((s ? p->w.guest.slot[s - 1].head :
				 p->w.guest.driver.head) == p->head[s],
			    "source %u was done up to %u", s, p->head[s]);
}

/* ---- a guest ---- */

static uint32_t some_register(struct fuzz *f)
{
	static const uint32_t base[] = { 0, NIC_FW_BASE, FL_WINDOW_SMMU,
					 FL_WINDOW_SMMU | SMMU_CB_BASE(0),
					 NIC_DB_BASE(0), NIC_BOX_BASE };
	unsigned int x = (unsigned int)fuzz_take(f, 1);

	if (x < 240)
		return base[x % 6] + (uint32_t)fuzz_take(f, 1) * 4;
	return (uint32_t)fuzz_take(f, 4);
}

static void write_entry(struct play *p)
{
	struct fuzz *f = &p->in;
	unsigned int x = (unsigned int)fuzz_take(f, 1);
	unsigned int s = x < 192 ? 0 : 1 + (x & 15);
	struct fl_window_entry *ring, *e;
	uint32_t n;

	ring = ring_of(p, s, &n);
	e = &ring[p->next[s] % n];
	e->kind = (uint16_t)(x >> 4 & 3 ? x >> 4 & 3 : fuzz_take(f, 2));
	e->size = x & 1 ? 4 : x & 2 ? 8 : (uint16_t)fuzz_take(f, 1);
	e->addr = s || e->kind == FL_WINDOW_NOTE ? (uint32_t)fuzz_take(f, 1) :
						   some_register(f);
	e->xfer = (uint32_t)fuzz_take(f, 1);
	e->block = e->xfer & 3;
	e->arg[0] = x & 4 ? fuzz_take(f, 8) : fuzz_take(f, 2);
	e->seq = ++p->next[s];
	if (x == 191)
		e->seq += (uint32_t)fuzz_take(f, 1);
}

static void fuzz_window_scribble(struct play *p)
{
	struct fuzz *f = &p->in;
	uint32_t at = (uint32_t)fuzz_take(f, 3) % (FL_WINDOW_BYTES - 32), n;

	for (n = fuzz_below(f, 32); n; n--)
		p->w.guest.bar[at++] = (uint8_t)fuzz_take(f, 1);
}

static void fuzz_window_look(struct play *p)
{
	uint32_t rounds = 0;
	int n;

	count_all(p);
	do {
		n = ring_take(&p->w);
		FUZZ_EXPECT(n >= 0, "the guest's memory is as it must be");
		FUZZ_EXPECT(rounds++ < 10000, "it comes to an end");
	} while (n);
	fuzz_window_compare(p);
	if (p->last_read)
		FUZZ_EXPECT(p->w.guest.head->answer_seq == p->last_read,
			    "a READ has its answer");
	p->last_read = 0;
	boards_check(p->b);
}

/* ---- the play ---- */

static void no_secret_in_ram(const struct dram_bank *ram)
{
	uint64_t word;
	uint32_t at, k;

	for (at = 0; ram && at + 8 <= RAM; at++) {
		memcpy(&word, ram->mem + at, 8);
		for (k = 1; k < BOARDS; k++)
			FUZZ_EXPECT(word != BOARDS_SECRET + k,
				    "the guest has a secret of board %u", k);
	}
}

static void fuzz_window_begin(struct play *p)
{
	static uint8_t zero[RAM];
	struct window *w = &p->w;
	unsigned int i;

	w->cfg.board = p->b->node[0].board;
	w->cfg.ram = fuzz_file(zero, RAM);
	w->cfg.ram_base = WINDOW_RAM_BASE;
	w->guest.sock = w->guest.bank = -1;
	w->guest.bar = aligned_alloc(4096, FL_WINDOW_BYTES);
	FUZZ_EXPECT(w->guest.bar, "there is memory for a window");
	memset(w->guest.bar, 0, FL_WINDOW_BYTES);
	for (i = 0; i < FL_WINDOW_VECTORS; i++)
		w->guest.vector[i] = os_interrupt_create();
	FUZZ_EXPECT(!sigbus_begin(), "memory can be guarded");
	ring_begin(&w->guest);
	line_connect(w);
}

static void fuzz_window_end(struct play *p)
{
	struct window *w = &p->w;
	struct dram *d = board_dram(w->cfg.board);
	unsigned int i;

	line_disconnect(w);
	board_reset(w->cfg.board);
	if (w->guest.bank >= 0) {
		no_secret_in_ram(dram_bank(d, w->guest.bank));
		dram_bank_remove(d, w->guest.bank);
		sigbus_remove(&w->guest.cut);
	}
	sigbus_end();
	for (i = 0; i < FL_WINDOW_VECTORS; i++)
		close(w->guest.vector[i]);
	free(w->guest.bar);
}

static void fuzz_window_body(struct boards *b, void *arg)
{
	struct play *p = arg;
	unsigned int i, x;

	p->b = b;
	fuzz_window_begin(p);
	for (i = 0; i < STEPS && p->in.left; i++) {
		x = (unsigned int)fuzz_take(&p->in, 1);
		if (x < 160)
			write_entry(p);
		else if (x < 176)
			fuzz_window_scribble(p);
		else if (x < 224)
			fuzz_window_look(p);
		else
			boards_wait(b, 1ull << (x & 15));
	}
	fuzz_window_look(p);
	boards_wait(b, 5000000);
	fuzz_window_end(p);
	for (i = 1; i < BOARDS; i++)
		boards_unchanged(b, i, BOARDS_OPEN);
	boards_no_secret(b, 0);
	boards_go_on(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play *p = calloc(1, sizeof(*p));

	FUZZ_EXPECT(p, "there is memory for a guest");
	p->in = (struct fuzz){ data, size };
	boards_run(fuzz_window_body, p);
	free(p);
	return 0;
}
