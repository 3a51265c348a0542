// SPDX-License-Identifier: BSD-2-Clause
#include "labs/invalidate/subject_board.h"

#include <stdio.h>
#include <stdlib.h>

#define ARENA	UINT64_C(0x100000000000)
#define RW	(HOST_READ | HOST_WRITE)

struct subject_state lab;

_Noreturn void subject_give_up(const char *what, int err)
{
	fprintf(stderr, "%s: %s\n", what, strerror(err < 0 ? -err : err));
	abort();
}

/* ---- the card ---- */

static void subject_note(enum lab_event ev, uint64_t b)
{
	struct trace_at at = { .board = 1 };

	trace_emit(lab.trace, EV_APP_NOTE, &at, ev, b, 0, 0);
}

enum dma_status subject_card_begin(struct channel *c, uint64_t card,
				  uint64_t page, bool write, uint64_t seed)
{
	enum dma_status st;

	c->burst = (struct dma_burst){
		.stream = lab.card[card % LAB_CARDS].stream, .write = write,
		.channel = (uint8_t)(c - lab.channel),
		.va = lab.card[card % LAB_CARDS].of->base +
		      page * LAB_PAGE_BYTES,
		.len = LAB_PAGE_BYTES, .now_ns = sim_now(lab.sim),
	};
	c->seed = seed;
	st = bus_burst_begin(lab.board, &c->burst);
	c->open = st == DMA_OK;
	return st;
}

void subject_card_end(struct channel *c)
{
	uint8_t data[LAB_PAGE_BYTES];
	unsigned int i;

	if (!c->open)
		return;
	c->open = false;
	for (i = 0; i < sizeof(data); i++)
		data[i] = lab_byte(c->seed, i);
	bus_burst_end(lab.board, &c->burst, data);
}

uint64_t subject_card_step(void *arg, uint64_t now_ns)
{
	struct channel *c = arg;

	(void)now_ns;
	if (c->open && !c->lasts)
		subject_note(LAB_EV_LANDED, (uint64_t)(c - lab.channel));
	subject_card_end(c);
	if (!c->left)
		return SIM_IDLE;
	c->left--;
	subject_card_begin(c, c->card, c->page, true, c->seed);
	return c->lasts;
}

static void subject_moment(enum lab_moment m)
{
	struct when *w = &lab.when[m];
	struct channel *c = &lab.channel[w->channel % LAB_CHANNELS];
	enum dma_status st;

	if (!w->times || c->open)
		return;
	w->times--;
	st = subject_card_begin(c, w->card, w->page, w->write, w->seed);
	subject_note(LAB_EV_CARD, (uint64_t)st | w->page << 16);
	if (w->lasts)
		sim_alarm(&c->actor, sim_now(lab.sim) + w->lasts);
	else
		subject_card_end(c);
}

/* ---- a process and its CPU ---- */

uint64_t subject_page_of(uint64_t va)
{
	uint64_t base = lab.process[0].base;

	return va - base < LAB_PAGES * LAB_PAGE_BYTES ?
	       (va - base) / LAB_PAGE_BYTES : LAB_NOWHERE;
}

static void cpu_open(void *arg, uint64_t va, uint64_t npages, uint64_t frame,
		     int prot)
{
	struct process *p = arg;
	uint64_t page = (va - p->base) / LAB_PAGE_BYTES, i;

	for (i = 0; i < npages && page + i < LAB_PAGES; i++) {
		p->view[page + i].frame = frame + i;
		p->view[page + i].prot = prot;
	}
}

static int cpu_close(void *arg, uint64_t va, uint64_t npages)
{
	struct process *p = arg;
	uint64_t page = (va - p->base) / LAB_PAGE_BYTES, i;

	if (lab.refuse) {
		lab.refuse--;
		return -ETIME;
	}
	for (i = 0; i < npages && page + i < LAB_PAGES; i++)
		p->view[page + i].prot = 0;
	subject_note(LAB_EV_CLOSE, page | npages << 16);
	subject_moment(LAB_AT_CLOSE);
	return 0;
}

static const struct host_cpu_ops cpu_ops = { cpu_open, cpu_close };

/* What of a range could still be used. */
static void subject_tell(struct process *p, enum lab_event ev, uint64_t start,
			 uint64_t end)
{
	struct host_mm *mm = host_process_mm(p->p);
	uint64_t page = subject_page_of(start), n, i, valid = 0, open = 0,
		gone = 0, d;
	struct trace_at at = { .board = 1 };

	n = (end - start + LAB_PAGE_BYTES - 1) / LAB_PAGE_BYTES;
	for (i = page; i < page + n && i < LAB_PAGES; i++) {
		d = pt_get(mm, p->base + i * LAB_PAGE_BYTES);
		valid += pte_allows(d, false);
		open += p->view[i].prot != 0;
		/* Its frame has another's tag by now. */
		gone += p->was[i].pa && p->was[i].tag !=
			dram_tag(lab.k->dram, p->was[i].pa);
	}
	trace_emit(lab.trace, EV_APP_NOTE, &at, ev, page | n << 16, valid,
		   open | gone << 16);
}

static void hear_tell(struct mm_notifier *n, struct host_mm *mm, uint64_t start,
		      uint64_t end)
{
	(void)mm;
	subject_tell((struct process *)((char *)n -
					offsetof(struct process, tell)),
		     LAB_EV_TELL, start, end);
	subject_moment(LAB_AT_TELL);
}

static void hear_told(struct mm_notifier *n, struct host_mm *mm, uint64_t start,
		      uint64_t end)
{
	(void)mm;
	subject_tell((struct process *)((char *)n -
					offsetof(struct process, told)),
		     LAB_EV_TOLD, start, end);
	subject_moment(LAB_AT_TOLD);
}

static void hear_release(struct mm_notifier *n, struct host_mm *mm)
{
	(void)n, (void)mm;
}

struct process *subject_process(uint64_t i)
{
	return &lab.process[i % lab.processes];
}

/* The tags that its frames have now. */
void subject_remember(struct process *p)
{
	struct host_mm *mm = host_process_mm(p->p);
	uint64_t i, d;

	for (i = 0; i < LAB_PAGES; i++) {
		d = pt_get(mm, p->base + i * LAB_PAGE_BYTES);
		p->was[i].pa = pte_resident(d) ? d & PTE_ADDR : 0;
		if (p->was[i].pa)
			p->was[i].tag = dram_tag(lab.k->dram, p->was[i].pa);
	}
}

void subject_add_process(void)
{
	struct process *p = &lab.process[lab.processes++];
	int error;
	void *at;

	p->p = host_process_attach(lab.k, "far", ARENA, &cpu_ops, p, &error);
	if (!p->p)
		abort();
	host_process_bank(p->p, &p->bank);
	at = host_mmap(p->p, LAB_PAGES * LAB_PAGE_BYTES, RW, NULL, 0, &error);
	if (!at)
		abort();
	p->base = (uintptr_t)at;
	p->tell.invalidate = p->tell.age = hear_tell;
	p->told.invalidate = p->told.age = hear_told;
	p->tell.release = p->told.release = hear_release;
	/* The notifier that came last is called first: the driver's will be in between. */
	mm_notifier_register(host_process_mm(p->p), &p->told);
}

void subject_open_card(uint64_t *q)
{
	struct process *p = subject_process(q[0]);
	unsigned int i = lab.cards++;
	int fd;

	if (i == LAB_CARDS)
		abort();
	mm_notifier_unregister(host_process_mm(p->p), &p->tell);
	fd = host_open(p->p, NULL);
	if (fd < 0)
		subject_give_up("the card cannot be opened", fd);
	mm_notifier_register(host_process_mm(p->p), &p->tell);
	lab.card[i].of = p;
	lab.card[i].fd = fd;
	/* Slots are given in turn, and with them context banks. */
	lab.card[i].stream = (uint16_t)BOARD_STREAM(lab.opened);
	q[0] = i;
	q[1] = lab.opened++;
}

void subject_cpu_use(uint64_t *q)
{
	struct process *p = subject_process(q[0]);
	uint64_t page = q[1] % LAB_PAGES, sum = 0, i;
	int need = q[2] ? HOST_WRITE : HOST_READ, err = 0;
	uint8_t *mem;

	while (!err && !(p->view[page].prot & need)) {
		p->faults++;
		err = host_process_fault(p->p, p->base + page * LAB_PAGE_BYTES,
					 q[2] != 0);
	}
	q[0] = (uint64_t)(int64_t)err;
	if (err)
		return;
	mem = (uint8_t *)p->bank.mem + p->view[page].frame * LAB_PAGE_BYTES;
	for (i = 0; q[2] && i < LAB_PAGE_BYTES; i++)
		mem[i] = lab_byte(q[3], i);
	for (i = 0; i < LAB_PAGE_BYTES; i++)
		sum = lab_add(sum, mem[i]);
	q[1] = sum;
	q[2] = p->faults;
}
