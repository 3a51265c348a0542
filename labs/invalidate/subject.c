// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subject of the lab: a board with kernel and driver, at the judge's service.
 * What the kernel does runs in a thread of the scheduler; what the card does by
 * itself, in actors.
 */
#include <stdlib.h>

#include <urcu-qsbr.h>

#include "board/board_internal.h"
#include "faultline/entries.h"
#include "faultline/uapi.h"
#include "host/internal.h"
#include "labs/invalidate/invalidate_lab.h"
#include "sim/sim_internal.h"

#define ARENA	UINT64_C(0x100000000000)
#define FRAMES	1024
#define RW	(HOST_READ | HOST_WRITE)
#define NEWEST	2048
#define BEGINS_MOST 1000000	/* of LAB_BUSY: more is a kernel that never ends */

struct process {
	struct host_process *p;
	struct host_bank bank;
	uint64_t base, faults;
	struct { uint64_t frame; int prot; } view[LAB_PAGES];
	/* Of their frames, when a call began; pa 0: none. */
	struct { uint64_t pa, tag; } was[LAB_PAGES];
	struct mm_notifier tell, told;
};

struct channel {
	struct sim_actor actor;
	struct dma_burst burst;
	bool open;
	uint64_t seed;
	/* LAB_BUSY */
	uint64_t card, page, left, lasts;
};

struct when {
	uint64_t channel, card, page, write, seed, lasts, times;
};

static struct {
	struct sim *sim;
	struct trace *trace;
	struct timing_profile timing;
	struct fabric *fabric;
	struct board *board;
	struct host_kernel *k;
	struct process process[LAB_PROCESSES];
	struct { struct process *of; int fd; uint16_t stream; } card[LAB_CARDS];
	unsigned int processes, cards, opened;
	struct channel channel[LAB_CHANNELS];
	struct when when[LAB_MOMENTS];
	unsigned int refuse;
	uint64_t *q;			/* of the question under way */
	struct trace_record *log;
	uint64_t seen;			/* the record that was told last */
	struct sim *grace_sim;
	struct sim_grace *grace;
} lab;

/* ---- liburcu, which here only counts: one thread asks, so nobody waits ---- */

static struct {
	uint64_t registered, unregistered, synchronized, wrong;
} urcu;
static _Thread_local bool urcu_reader, urcu_known;

static void urcu_must(bool right)
{
	urcu.wrong += !right;
}

void urcu_qsbr_register_thread(void)
{
	urcu_must(!urcu_known);
	urcu.registered++;
	urcu_known = urcu_reader = true;
}

void urcu_qsbr_unregister_thread(void)
{
	urcu_must(urcu_known);
	urcu.unregistered++;
	urcu_known = urcu_reader = false;
}

void urcu_qsbr_thread_online(void)
{
	urcu_must(urcu_known && !urcu_reader);
	urcu_reader = true;
}

void urcu_qsbr_thread_offline(void)
{
	urcu_must(urcu_known && urcu_reader);
	urcu_reader = false;
}

void urcu_qsbr_quiescent_state(void)
{
	urcu_must(urcu_reader);
}

void urcu_qsbr_synchronize_rcu(void)
{
	urcu.synchronized++;
}

/* ---- the card ---- */

static void note(enum lab_event ev, uint64_t b)
{
	struct trace_at at = { .board = 1 };

	trace_emit(lab.trace, EV_APP_NOTE, &at, ev, b, 0, 0);
}

static enum dma_status card_begin(struct channel *c, uint64_t card,
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

static void card_end(struct channel *c)
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

static uint64_t card_step(void *arg, uint64_t now_ns)
{
	struct channel *c = arg;

	(void)now_ns;
	if (c->open && !c->lasts)
		note(LAB_EV_LANDED, (uint64_t)(c - lab.channel));
	card_end(c);
	if (!c->left)
		return SIM_IDLE;
	c->left--;
	card_begin(c, c->card, c->page, true, c->seed);
	return c->lasts;
}

static void moment(enum lab_moment m)
{
	struct when *w = &lab.when[m];
	struct channel *c = &lab.channel[w->channel % LAB_CHANNELS];
	enum dma_status st;

	if (!w->times || c->open)
		return;
	w->times--;
	st = card_begin(c, w->card, w->page, w->write, w->seed);
	note(LAB_EV_CARD, (uint64_t)st | w->page << 16);
	if (w->lasts)
		sim_alarm(&c->actor, sim_now(lab.sim) + w->lasts);
	else
		card_end(c);
}

/* ---- a process and its CPU ---- */

static uint64_t page_of(uint64_t va)
{
	uint64_t base = lab.process[0].base;

	return va - base < LAB_PAGES * LAB_PAGE_BYTES ?
	       (va - base) / LAB_PAGE_BYTES : 0xffff;
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
	note(LAB_EV_CLOSE, page | npages << 16);
	moment(LAB_AT_CLOSE);
	return 0;
}

static const struct host_cpu_ops cpu_ops = { cpu_open, cpu_close };

/* What of a range could still be used. */
static void tell(struct process *p, enum lab_event ev, uint64_t start,
		 uint64_t end)
{
	struct host_mm *mm = host_process_mm(p->p);
	uint64_t page = page_of(start), n, i, valid = 0, open = 0, gone = 0, d;
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
	tell((struct process *)((char *)n - offsetof(struct process, tell)),
	     LAB_EV_TELL, start, end);
	moment(LAB_AT_TELL);
}

static void hear_told(struct mm_notifier *n, struct host_mm *mm, uint64_t start,
		      uint64_t end)
{
	(void)mm;
	tell((struct process *)((char *)n - offsetof(struct process, told)),
	     LAB_EV_TOLD, start, end);
	moment(LAB_AT_TOLD);
}

static void hear_release(struct mm_notifier *n, struct host_mm *mm)
{
	(void)n, (void)mm;
}

static struct process *process(uint64_t i)
{
	return &lab.process[i % lab.processes];
}

/* The tags that its frames have now. */
static void remember(struct process *p)
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

static void new_process(void)
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
	p->tell.invalidate = hear_tell;
	p->told.invalidate = hear_told;
	p->tell.release = p->told.release = hear_release;
	/* Who came last is told first: the driver will be in between. */
	mm_notifier_register(host_process_mm(p->p), &p->told);
}

static void open_card(uint64_t *q)
{
	struct process *p = process(q[0]);
	unsigned int i = lab.cards++;
	int fd;

	if (i == LAB_CARDS)
		abort();
	mm_notifier_unregister(host_process_mm(p->p), &p->tell);
	fd = host_open(p->p, NULL);
	if (fd < 0)
		abort();
	mm_notifier_register(host_process_mm(p->p), &p->tell);
	lab.card[i].of = p;
	lab.card[i].fd = fd;
	/* Slots are given in turn, and with them context banks. */
	lab.card[i].stream = (uint16_t)BOARD_STREAM(lab.opened);
	q[0] = i;
	q[1] = lab.opened++;
}

static void cpu_use(uint64_t *q)
{
	struct process *p = process(q[0]);
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

/* ---- calls of the kernel, in a thread ---- */

static void *at(struct process *p, uint64_t page)
{
	return (void *)(uintptr_t)(p->base + page * LAB_PAGE_BYTES);
}

static void call(uint32_t op)
{
	struct process *p = process(lab.q[0]);
	uint64_t *q = lab.q, start_ns = sim_now(lab.sim), len;
	int err = 0;

	host_act_for(p->p);
	remember(p);
	len = q[2] * LAB_PAGE_BYTES;
	if (op == LAB_ADVISE)
		err = host_madvise(p->p, at(p, q[1]), len,
				   (enum host_advice)q[3]);
	else if (op == LAB_PROTECT)
		err = host_mprotect(p->p, at(p, q[1]), len, (int)q[3]);
	else
		err = host_munmap(p->p, at(p, q[1]), len);
	q[0] = (uint64_t)(int64_t)err;
	q[1] = sim_now(lab.sim) - start_ns;
}

static void pin(uint64_t *q)
{
	struct process *p = process(q[0]);
	struct host_mm *mm = host_process_mm(p->p);
	uint64_t va = p->base + q[1] * LAB_PAGE_BYTES;

	if (q[3])
		q[0] = (uint64_t)mm_pin(mm, va, q[2], true, NULL);
	else
		mm_unpin(mm, va, q[2], false);
}

static void region(uint64_t *q)
{
	struct process *p = process(q[0]);
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct fl_reg_mr m = {
		.size = sizeof(m), .addr = p->base + q[2] * LAB_PAGE_BYTES,
		.length = q[3] * LAB_PAGE_BYTES, .flags = FL_MR_PINNED,
		.access = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE,
	};
	int fd = lab.card[q[1] % LAB_CARDS].fd;
	long err;

	host_act_for(p->p);
	err = host_ioctl(p->p, fd, FL_IOC_ALLOC_PD, &pd);
	m.pd = pd.pd;
	if (!err)
		err = host_ioctl(p->p, fd, FL_IOC_REG_MR, &m);
	q[0] = (uint64_t)err;
}

/* The driver's notifiers alone. */
static void notify(uint64_t *q, bool release)
{
	struct process *p = process(q[0]);
	struct host_mm *mm = host_process_mm(p->p);
	uint64_t start_ns = sim_now(lab.sim);
	struct mm_notifier *n;

	for (n = mm->notifiers; n; n = n->next) {
		if (n == &p->tell || n == &p->told)
			continue;
		if (release)
			n->release(n, mm);
		else
			n->invalidate(n, mm, p->base + q[1], p->base + q[2]);
	}
	q[0] = 0;
	q[1] = sim_now(lab.sim) - start_ns;
}

static uint32_t asked_op;

static void in_thread(void *arg)
{
	uint64_t *q = arg;

	switch (asked_op) {
	case LAB_NEW:
	case LAB_OPEN:
		host_act_for(process(q[0])->p);
		open_card(q);
		break;
	case LAB_CLOSE:
		host_act_for(lab.card[q[0] % LAB_CARDS].of->p);
		host_close(lab.card[q[0] % LAB_CARDS].of->p,
			   lab.card[q[0] % LAB_CARDS].fd);
		break;
	case LAB_CPU:
		host_act_for(process(q[0])->p);
		cpu_use(q);
		break;
	case LAB_PIN:
		pin(q);
		break;
	case LAB_REGION:
		region(q);
		break;
	case LAB_TELL:
	case LAB_END_SPACE:
		notify(q, asked_op == LAB_END_SPACE);
		break;
	case LAB_WAIT:
		sim_sleep(q[0]);
		break;
	default:
		call(asked_op);
	}
	host_act_for(NULL);
}

static void run(struct subject_msg *m)
{
	struct sim_thread *t;

	lab.q = m->arg;
	asked_op = m->op;
	t = sim_thread_start(lab.sim, "judge", false, in_thread, m->arg);
	if (!t)
		abort();
	if (sim_run(lab.sim, LAB_RUNAWAY_NS, 0) != SIM_FINISHED)
		subject_runaway();
	sim_thread_join(t);
}

/* ---- the whole ---- */

static void start(const uint64_t *q)
{
	struct sim_config sc = { .mode = SIM_LOCKSTEP, .seed = 1 };
	struct trace_config tc = { .ring_records = NEWEST };
	struct fabric_config fc = { 0 };
	struct board_config bc = { .name = "a", .id = 1 };
	struct host_config hc = { .resident_pages = q[0] ? q[0] : FRAMES,
				  .swap_pages = q[1] ? q[1] : FRAMES,
				  .swap_dir = "" };
	struct host_driver_params dp = { .plain_user = false };
	struct sim_domain *d;
	int error, i;

	timing_defaults(&lab.timing);
	sc.trace = fc.trace = bc.trace = lab.trace = trace_create(&tc);
	fc.sim = bc.sim = lab.sim = sim_create(&sc);
	fc.timing = bc.timing = &lab.timing;
	bc.fabric = lab.fabric = fabric_create(&fc);
	hc.board = lab.board = board_create(&bc, &error);
	lab.k = lab.board ? host_create(&hc, &error) : NULL;
	lab.log = calloc(NEWEST, sizeof(*lab.log));
	if (!lab.k || !lab.log || host_driver_probe(lab.k, &dp))
		abort();
	d = sim_domain_create(lab.sim, "card");
	for (i = 0; i < LAB_CHANNELS; i++)
		sim_actor_init(d, &lab.channel[i].actor, "card", card_step,
			       &lab.channel[i]);
	new_process();
}

static void busy(const uint64_t *q)
{
	unsigned int i;

	for (i = 0; i < LAB_CHANNELS; i++) {
		struct channel *c = &lab.channel[i];

		card_end(c);
		c->card = q[0];
		c->page = q[1];
		c->lasts = q[2];
		c->left = q[3] < BEGINS_MOST ? q[3] : BEGINS_MOST;
		c->seed = 77;
		sim_alarm(&c->actor, sim_now(lab.sim) + i * q[2] / 2 + 1);
	}
}

static void log_note(const struct trace_record *r, uint64_t *a)
{
	a[1] = r->arg[0];
	a[2] = r->arg[1] & 0xffff;
	a[3] = r->arg[1] >> 16;
	a[4] = r->arg[2];
	a[5] = r->arg[3] & 0xffff;
	a[6] = r->arg[3] >> 16;
}

static void log_put(const struct trace_record *r, uint64_t *a)
{
	a[0] = 1;
	a[1] = 0;
	a[2] = r->arg[0];
	switch (r->event) {
	case EV_APP_NOTE:
		log_note(r, a);
		break;
	case EV_SMMU_TLBI:
		a[1] = LAB_EV_TLBI;
		a[3] = page_of(r->arg[1]);
		a[4] = r->arg[2];
		a[5] = r->arg[3];
		break;
	case EV_SMMU_SYNC:
		a[1] = LAB_EV_SYNC;
		break;
	case EV_SMMU_SYNC_DONE:
		a[1] = LAB_EV_SYNCED;
		break;
	case EV_MM_AGE:
		a[1] = LAB_EV_AGED;
		a[2] = page_of(r->arg[1]);
		break;
	case EV_MM_EVICT:
		a[1] = LAB_EV_EVICTED;
		a[2] = page_of(r->arg[1]);
		a[3] = r->arg[3];
		break;
	case EV_STALE_ACCESS:
		a[1] = LAB_EV_STALE;
		break;
	default:
		break;
	}
}

/* The next record that is in the log at all. */
static void log_next(uint64_t *a)
{
	uint32_t n = trace_snapshot(lab.trace, lab.log, NEWEST), i;

	a[0] = 0;
	for (i = 0; i < n; i++) {
		if (lab.log[i].seq <= lab.seen)
			continue;
		lab.seen = lab.log[i].seq;
		log_put(&lab.log[i], a);
		if (a[1])
			return;
		a[0] = 0;
	}
}

static void look(uint64_t *q)
{
	struct process *p = process(q[0]);
	struct host_mm *mm = host_process_mm(p->p);
	uint64_t page = q[1] % LAB_PAGES;
	uint64_t d = pt_get(mm, p->base + page * LAB_PAGE_BYTES);

	q[0] = d;
	q[1] = (uint64_t)p->view[page].prot;
	q[2] = pte_resident(d) ? d & PTE_ADDR : 0;
	q[3] = q[2] ? dram_tag(lab.k->dram, q[2]) : 0;
}

static void stats(uint64_t *a)
{
	struct host_stats st;

	host_stats(lab.k, &st);
	a[LAB_STALE] = trace_count(lab.trace, EV_STALE_ACCESS);
	a[LAB_EVICTIONS] = st.evictions;
	a[LAB_AGES] = st.ages;
	a[LAB_INVALIDATIONS] = st.invalidations;
	a[LAB_FRAMES_USED] = st.frames_total - st.frames_free;
	a[LAB_SWAP_USED] = st.swap_used;
	a[LAB_NOW] = sim_now(lab.sim);
	a[LAB_SWAP_OUTS] = st.swap_outs;
}

/* ---- grace periods by themselves ---- */

static void grace_new(bool threads)
{
	struct sim_config sc = { .mode = threads ? SIM_THREADS : SIM_LOCKSTEP };

	lab.grace_sim = sim_create(&sc);
	lab.grace = lab.grace_sim ? sim_grace_create(lab.grace_sim) : NULL;
	if (!lab.grace)
		abort();
}

static void grace(uint64_t *q)
{
	unsigned int channel = (unsigned int)q[1] % 8;
	uint64_t op = q[0];

	q[0] = 0;
	if (op == LAB_GRACE_NEW || op == LAB_GRACE_NEW_THREADS)
		grace_new(op == LAB_GRACE_NEW_THREADS);
	else if (op == LAB_GRACE_ENTER)
		sim_grace_enter(lab.grace, channel);
	else if (op == LAB_GRACE_EXIT)
		sim_grace_exit(lab.grace, channel);
	else if (op == LAB_GRACE_START)
		sim_grace_start(lab.grace);
	else
		q[0] = sim_grace_done(lab.grace);
}

static void *reader_main(void *arg)
{
	int i;

	for (i = 0; i < 2; i++) {
		grace_thread_online();
		grace_thread_offline();
	}
	return arg;
}

static void reader(uint64_t *q)
{
	pthread_t t;

	if (q[0] == LAB_READER_ONLINE)
		grace_thread_online();
	else if (q[0] == LAB_READER_OFFLINE)
		grace_thread_offline();
	else if (pthread_create(&t, NULL, reader_main, NULL) ||
		 pthread_join(t, NULL))
		abort();
}

static void tell_urcu(uint64_t *a)
{
	a[LAB_URCU_REGISTER] = urcu.registered;
	a[LAB_URCU_UNREGISTER] = urcu.unregistered;
	a[LAB_URCU_SYNCHRONIZE] = urcu.synchronized;
	a[LAB_URCU_READER] = urcu_reader;
	a[LAB_URCU_WRONG] = urcu.wrong;
}

/* ---- questions ---- */

struct trace *subject_trace(void)
{
	return lab.trace;
}

static void at_once(struct subject_msg *m)
{
	struct channel *c = &lab.channel[m->arg[0] % LAB_CHANNELS];
	uint64_t *q = m->arg;

	switch (m->op) {
	case LAB_PROCESS:
		new_process();
		q[0] = lab.processes - 1;
		break;
	case LAB_BEGIN:
		q[0] = card_begin(c, q[1], q[2], q[3] != 0, q[4]);
		q[1] = c->burst.pa;
		break;
	case LAB_FINISH:
		c->lasts = 0;
		if (q[1])
			sim_alarm(&c->actor, sim_now(lab.sim) + q[1]);
		else
			card_end(c);
		break;
	case LAB_WHEN:
		memcpy(&lab.when[q[0] % LAB_MOMENTS], q + 1,
		       sizeof(struct when));
		break;
	case LAB_BUSY:
		busy(q);
		break;
	case LAB_REFUSE:
		lab.refuse = (unsigned int)q[0];
		break;
	case LAB_SWAP_BAD:
		host_inject_swap_errors(lab.k, q[0] != 0);
		break;
	case LAB_LOG:
		log_next(q);
		break;
	case LAB_LOOK:
		look(q);
		break;
	case LAB_STATS:
		stats(q);
		break;
	case LAB_REG:
		smmu_reg_read(board_smmu(lab.board), (uint32_t)q[0],
			      (unsigned int)q[1], &q[0]);
		break;
	default:
		m->status = SUBJECT_BAD;
	}
}

static bool alone(struct subject_msg *m)
{
	if (m->op == LAB_GRACE)
		grace(m->arg);
	else if (m->op == LAB_READER)
		reader(m->arg);
	else
		return false;
	if (m->op == LAB_READER || lab.grace_sim)
		tell_urcu(m->arg + 1);
	return true;
}

void subject_answer(struct subject_msg *m)
{
	const size_t room = sizeof(uint64_t) * (SUBJECT_ARGS - LAB_AT_CHECK);
	const char *wrong;

	if (alone(m))
		return;
	if (!lab.k == (m->op != LAB_NEW)) {
		m->status = SUBJECT_BAD;
		return;
	}
	if (m->op == LAB_NEW)
		start(m->arg);
	if (m->op == LAB_NEW)
		m->arg[0] = 0;
	if (m->op <= LAB_REGION && m->op != LAB_PROCESS)
		run(m);
	else if (m->op == LAB_WAIT)
		run(m);
	else
		at_once(m);
	wrong = host_check(lab.k, true);
	memset(&m->arg[LAB_AT_CHECK], 0, room);
	if (wrong)
		strncpy((char *)&m->arg[LAB_AT_CHECK], wrong, room - 1);
}
