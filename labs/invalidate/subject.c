// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subject of the lab: a board with kernel and driver, at the judge's service.
 * What the kernel does runs in a thread of the scheduler; what the card does by
 * itself, in actors.
 */
#include <stdlib.h>

#include "faultline/entries.h"
#include "faultline/uapi.h"
#include "labs/invalidate/subject_board.h"
#include "trace/trace.h"

#define FRAMES	1024
#define NEWEST	2048
#define BEGINS_MOST 1000000	/* of LAB_BUSY: more is a kernel that never ends */

/* ---- calls of the kernel, in a thread ---- */

static void *process_page(struct process *p, uint64_t page)
{
	return (void *)(uintptr_t)(p->base + page * LAB_PAGE_BYTES);
}

static void subject_call(uint32_t op)
{
	struct process *p = subject_process(lab.q[0]);
	uint64_t *q = lab.q, start_ns = sim_now(lab.sim), len;
	int err = 0;

	host_act_for(p->p);
	subject_remember(p);
	len = q[2] * LAB_PAGE_BYTES;
	if (op == LAB_ADVISE)
		err = host_process_madvise(p->p, process_page(p, q[1]), len,
					   (enum host_advice)q[3]);
	else if (op == LAB_PROTECT)
		err = host_process_mprotect(p->p, process_page(p, q[1]), len,
					    (int)q[3]);
	else
		err = host_process_munmap(p->p, process_page(p, q[1]), len);
	q[0] = (uint64_t)(int64_t)err;
	q[1] = sim_now(lab.sim) - start_ns;
}

static void subject_pin(uint64_t *q)
{
	struct process *p = subject_process(q[0]);
	struct host_mm *mm = host_process_mm(p->p);
	struct host_frame **pinned = &p->pinned[q[1]];
	uint64_t va = p->base + q[1] * LAB_PAGE_BYTES;

	if (q[1] >= LAB_PAGES || q[2] > LAB_PAGES - q[1])
		q[0] = (uint64_t)-EINVAL;
	else if (q[3] == LAB_STAY_HELD)
		frame_at(mm, pt_get(mm, va) & PTE_ADDR)->held = HELD_KEPT;
	else if (q[3])
		q[0] = (uint64_t)mm_pin(mm, va, q[2], true, pinned);
	else
		mm_unpin(pinned, q[2], false);
}

static void subject_region(uint64_t *q)
{
	struct process *p = subject_process(q[0]);
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
static void subject_notify(uint64_t *q, bool release)
{
	struct process *p = subject_process(q[0]);
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
		host_act_for(subject_process(q[0])->p);
		subject_open_card(q);
		break;
	case LAB_CLOSE:
		host_act_for(lab.card[q[0] % LAB_CARDS].of->p);
		host_close(lab.card[q[0] % LAB_CARDS].of->p,
			   lab.card[q[0] % LAB_CARDS].fd);
		break;
	case LAB_CPU:
		host_act_for(subject_process(q[0])->p);
		subject_cpu_use(q);
		break;
	case LAB_PIN:
		subject_pin(q);
		break;
	case LAB_REGION:
		subject_region(q);
		break;
	case LAB_TELL:
	case LAB_END_SPACE:
		subject_notify(q, asked_op == LAB_END_SPACE);
		break;
	case LAB_WAIT:
		sim_sleep(q[0]);
		break;
	default:
		subject_call(asked_op);
	}
	host_act_for(NULL);
}

static void subject_run(struct subject_msg *m)
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

static void subject_start(uint64_t *q)
{
	struct sim_config sc = { .mode = SIM_LOCKSTEP, .seed = 1 };
	struct trace_config tc = { .ring_records = NEWEST };
	struct fabric_config fc = { 0 };
	struct board_config bc = { .name = "a", .id = 1 };
	struct host_config hc = { .resident_pages = q[0] ? q[0] : FRAMES,
				  .swap_pages = q[1] ? q[1] : FRAMES };
	struct host_driver_params dp = { .plain_user = false };
	struct sim_domain *d;
	int error = 0, i;

	timing_defaults(&lab.timing);
	sc.trace = fc.trace = bc.trace = lab.trace = trace_create(&tc);
	fc.sim = bc.sim = lab.sim = sim_create(&sc);
	fc.timing = bc.timing = &lab.timing;
	bc.fabric = lab.fabric = fabric_create(&fc);
	hc.board = lab.board = board_create(&bc, &error);
	lab.k = lab.board ? host_create(&hc, &error) : NULL;
	lab.log = calloc(NEWEST, sizeof(*lab.log));
	if (!lab.k || !lab.log)
		subject_give_up("no board", error);
	error = host_driver_probe(lab.k, &dp);
	if (error)
		subject_give_up("the driver's probe, which ends with a TLB synchronise",
				error);
	d = sim_domain_create(lab.sim, "card");
	for (i = 0; i < LAB_CHANNELS; i++)
		sim_actor_init(d, &lab.channel[i].actor, "card", subject_card_step,
			       &lab.channel[i]);
	subject_add_process();
	q[0] = 0;	/* which opens the card */
}

static void subject_check_busy(const uint64_t *q)
{
	unsigned int i;

	for (i = 0; i < LAB_CHANNELS; i++) {
		struct channel *c = &lab.channel[i];

		subject_card_end(c);
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
		a[3] = subject_page_of(r->arg[1]);
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
		a[2] = subject_page_of(r->arg[1]);
		break;
	case EV_MM_EVICT:
		a[1] = LAB_EV_EVICTED;
		a[2] = subject_page_of(r->arg[1]);
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

static void subject_look(uint64_t *q)
{
	struct process *p = subject_process(q[0]);
	struct host_mm *mm = host_process_mm(p->p);
	uint64_t page = q[1] % LAB_PAGES;
	uint64_t d = pt_get(mm, p->base + page * LAB_PAGE_BYTES);

	q[0] = d;
	q[1] = (uint64_t)p->view[page].prot;
	q[2] = pte_resident(d) ? d & PTE_ADDR : 0;
	q[3] = q[2] ? dram_tag(lab.k->dram, q[2]) : 0;
}

static void subject_stats(uint64_t *a)
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

/* ---- questions ---- */

struct trace *subject_trace(void)
{
	return lab.trace;
}

static void subject_at_once(struct subject_msg *m)
{
	struct channel *c = &lab.channel[m->arg[0] % LAB_CHANNELS];
	uint64_t *q = m->arg;

	switch (m->op) {
	case LAB_PROCESS:
		subject_add_process();
		q[0] = lab.processes - 1;
		break;
	case LAB_BEGIN:
		q[0] = subject_card_begin(c, q[1], q[2], q[3] != 0, q[4]);
		q[1] = c->burst.pa;
		break;
	case LAB_FINISH:
		c->lasts = 0;
		if (q[1])
			sim_alarm(&c->actor, sim_now(lab.sim) + q[1]);
		else
			subject_card_end(c);
		break;
	case LAB_WHEN:
		memcpy(&lab.when[q[0] % LAB_MOMENTS], q + 1,
		       sizeof(struct when));
		break;
	case LAB_BUSY:
		subject_check_busy(q);
		break;
	case LAB_REFUSE:
		lab.refuse = (unsigned int)q[0];
		break;
	case LAB_SWAP_BAD:
		host_inject_swap_errors(lab.k, q[0] != 0);
		break;
	case LAB_GONE:
		board_unplug(lab.board);
		break;
	case LAB_LOG:
		log_next(q);
		break;
	case LAB_LOOK:
		subject_look(q);
		break;
	case LAB_STATS:
		subject_stats(q);
		break;
	case LAB_REG:
		smmu_reg_read(board_smmu(lab.board), (uint32_t)q[0],
			      (unsigned int)q[1], &q[0]);
		break;
	default:
		m->status = SUBJECT_BAD;
	}
}

void subject_answer(struct subject_msg *m)
{
	const size_t room = sizeof(uint64_t) * (SUBJECT_ARGS - LAB_AT_CHECK);
	const char *wrong;

	if (subject_alone(m))
		return;
	if (!lab.k == (m->op != LAB_NEW)) {
		m->status = SUBJECT_BAD;
		return;
	}
	if (m->op == LAB_NEW)
		subject_start(m->arg);
	if ((m->op <= LAB_REGION && m->op != LAB_PROCESS) || m->op == LAB_WAIT)
		subject_run(m);
	else
		subject_at_once(m);
	wrong = host_check(lab.k, true);
	memset(&m->arg[LAB_AT_CHECK], 0, room);
	if (wrong)
		strncpy((char *)&m->arg[LAB_AT_CHECK], wrong, room - 1);
}
