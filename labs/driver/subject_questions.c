// SPDX-License-Identifier: BSD-2-Clause
/* What the judge asks the subject, and its answer. */
#include "labs/driver/subject_state.h"

#include <stdlib.h>
#include <string.h>

/* What the rules of a debug kernel say (shim/rules.h). */
static void subject_breach(void *arg, const char *rule, const char *text)
{
	(void)arg, (void)rule;
	subject_complain(text);
}

static void lab_new(void)
{
	struct trace_config tc = { .ring_records = 2048 };
	struct smmu_config cfg = { 0 };
	unsigned int i;

	for (i = 0; i < LAB_PROCESSES; i++) {
		if (lab.p[i])
			free(lab.p[i]->ctx);
		free(lab.p[i]);
	}
	/* The first one finds all of it zero, and need not touch it. */
	if (lab.dev) {
		free(lab.dev);
		smmu_destroy(lab.smmu);
		trace_destroy(lab.trace);
		memset(&lab, 0, sizeof(lab));
	}
	lab.rules.breach = subject_breach;
	*shim_here() = (struct shim_here){ .rules = &lab.rules };
	lab.trace = cfg.trace = trace_create(&tc);
	lab.smmu = subject_smmu(&cfg);
	lab.dev = calloc(1, sizeof(*lab.dev));
	if (!lab.trace || !lab.smmu || !lab.dev)
		abort();
	lab.dev->smmu = (void __iomem *)SMMU_AT;
	lab.dev->nic = (void __iomem *)NIC_AT;
	lab.dev->stream_base = LAB_STREAM;
	lab.dev->block_bytes = LAB_BLOCK;
	lab.dev->contexts[0] = lab.dev->contexts[1] = LAB_CONTEXTS;
	smmu_reg_write(lab.smmu, SMMU_GR0_CR0, 4,
		       SMMU_GR0_CR0_GFRE | SMMU_GR0_CR0_GFIE |
		       SMMU_GR0_CR0_USFCFG);
	shim_lock_init(&lab.dev->irq_lock.rules, SHIM_SPIN, "dev->irq_lock");
	fl_fault_init(lab.dev);
	if (PAGE_SIZE != LAB_PAGE)
		subject_complain("this lab wants pages of 4 KB: make PAGE=4096");
}

static void lab_open(struct process *p, const uint64_t *q)
{
	struct fl_ctx *ctx = calloc(1, sizeof(*ctx));
	unsigned int i;

	if (!ctx)
		abort();
	for (i = 0; i < 16; i++)
		p->table[i] = (subject_process_table(p) + 4096 * (i + 1)) | PTE_TYPE;
	p->room = ~0ull;
	p->ctx = ctx;
	p->mm.count = 1;
	ctx->dev = lab.dev;
	ctx->mm = &p->mm;
	ctx->tables = &subject_tables;
	ctx->id = ++lab.dev->opened;
	ctx->slot = (u32)(q[1] - LAB_STREAM) % FL_SLOTS;
	ctx->stream = (u32)q[1];
	ctx->system = (u32)q[2];
	fl_plan_init(ctx);
	fl_plan_set(ctx, (u32)q[3], 0);
	ctx->sctlr = SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE |
		     SMMU_CB_SCTLR_CFIE | SMMU_CB_SCTLR_HUPCF;
	if (ctx->system == FL_SYSTEM_STALL)
		ctx->sctlr |= SMMU_CB_SCTLR_CFCFG;
	shim_lock_init(&ctx->bank_lock.rules, SHIM_SPIN, "ctx->bank_lock");
	shim_lock_init(&p->mm.mmap_rules, SHIM_MMAP, SHIM_MMAP_NAME);
	INIT_WORK(&ctx->stall_work, fl_stall_work);
	fl_ahead_init(ctx);
	subject_bank_on(p, ctx->slot);
	lab.dev->slot[ctx->slot] = ctx;
}

/* On whichever context it was. */
static void lab_refused(struct fl_ctx *ctx, uint64_t what)
{
	unsigned int i;

	for (i = 0; i < 2 * LAB_CONTEXTS; i++)
		fl_fault_refused(ctx, i % 2, i / 2, (u32)(what >> 32),
				 (u32)what);
}

static void lab_change(struct process *p, const uint64_t *q)
{
	switch (q[1]) {
	case LAB_DYING:
		p->dying = q[2];
		break;
	case LAB_ENDED:
		p->ended = q[2];
		break;
	case LAB_DEAD:
		p->ctx->dead = q[2];
		break;
	case LAB_QUIET:
		p->ctx->draining = q[2];
		break;
	case LAB_ROOM:
		p->room = q[2];
		break;
	case LAB_STUCK:
		lab.stuck = q[2];
		break;
	case LAB_REFUSED:
		lab_refused(p->ctx, q[2]);
		break;
	case LAB_HARD:
		p->ctx->hard.valid = true;
		p->ctx->hard.page = q[2] & ~(u64)(LAB_PAGE - 1);
		break;
	}
}

static void lab_report(const uint64_t *q)
{
	if (lab.reports == REPORTS)
		subject_runaway();
	lab.report[lab.reports++] = (struct report){
		.ref = (u32)(NIC_ENG_FLT_REF_VALID |
			     q[0] << NIC_ENG_FLT_REF_INDEX_SHIFT |
			     q[1] << NIC_ENG_FLT_REF_SIDE_SHIFT |
			     q[2] << NIC_ENG_FLT_REF_WRITE_SHIFT |
			     q[3] << NIC_ENG_FLT_REF_SERIAL_SHIFT),
		.stream = (u32)q[4], .va = q[5], .len = (u32)q[6],
		.map = (u32)q[7], .left = q[8], .xfer = (u32)q[9],
		.block = (u32)q[10],
	};
}

static void lab_irq(uint64_t *q)
{
	bool smmu = q[0] == LAB_LINE_SMMU;
	u64 times = 0, handled = 0;
	struct shim_mark was = shim_call_begin(&lab.rules, SHIM_IN_HANDLER);

	do {
		handled += (smmu ? fl_irq_smmu : fl_irq_fault)(0, lab.dev) ==
			   IRQ_HANDLED;
		times++;
	} while (times < q[1] && (smmu ? lab.line : lab.reports != 0));
	shim_call_end(&was);
	q[0] = times;
	q[1] = handled;
	q[2] = smmu ? lab.line : lab.reports != 0;
}

static void lab_access(uint64_t *q)
{
	struct smmu_access a = { .stream = (u16)q[0], .va = q[1],
				 .write = q[2], .ticket = q[3] };

	q[0] = smmu_translate(lab.smmu, &a);
}

static void lab_when(struct subject_msg *m)
{
	unsigned int i;

	for (i = 0; i < LAB_WHENS && lab.when[i].moment != LAB_NEVER; i++)
		;
	if (i == LAB_WHENS)
		return;
	lab.when[i].moment = m->arg[0];
	lab.when[i].value = m->arg[1];
	lab.when[i].m = (struct subject_msg){ .op = (u32)m->arg[2] };
	memcpy(lab.when[i].m.arg, m->arg + 3,
	       sizeof(uint64_t) * (LAB_AT_CHECK - 3));
}

static void lab_note(struct subject_msg *m)
{
	m->arg[0] = LAB_NOTHING;
	if (lab.taken < lab.notes)
		memcpy(m->arg, lab.note[lab.taken++].arg, 5 * sizeof(uint64_t));
	if (lab.taken == lab.notes)
		lab.taken = lab.notes = 0;
}

static void lab_counts(struct process *p, uint64_t *a)
{
	struct fl_ctx *c = p->ctx;

	a[LAB_FAULTS] = atomic64_read(&c->faults);
	a[LAB_FAULTS_SRC] = atomic64_read(&c->faults_src);
	a[LAB_FAULTS_DST] = atomic64_read(&c->faults_dst);
	a[LAB_PAGES_IN] = atomic64_read(&c->pages_in);
	a[LAB_RESOLVES] = atomic64_read(&c->resolves);
	a[LAB_FAILED] = atomic64_read(&c->failed);
	a[LAB_SPURIOUS] = atomic64_read(&c->spurious);
	a[LAB_STALLS] = atomic64_read(&c->stalls);
	a[LAB_SCTLR] = subject_smmu_get(SMMU_CB_BASE(c->slot) + SMMU_CB_SCTLR, 4);
	a[LAB_IS_HARD] = c->hard.valid;
	a[LAB_NAMED] = lab.named;
}

static void lab_resolve(struct process *p, uint64_t *q)
{
	struct fl_fault_request request = {
		.va = q[1],
		.len = (u32)q[2],
		.left = q[3],
		.map = (u32)q[4],
		.write = q[5],
		.xfer = 1,
		.block = 1,
	};

	q[0] = (u64)(s64)fl_request_resolve(p->ctx, &request);
	/* The card has its answer; what is wanted ahead is a worker's. */
	subject_work_some(0);
}

static void lab_populate(struct process *p, uint64_t *q)
{
	struct fl_range r = { q[1], q[2] };
	struct fl_populated t = { 0 };

	shim_users_get(&p->mm);
	q[0] = (u64)(s64)fl_populate(p->ctx, r, q[3], q[4], &t);
	shim_users_put(&p->mm, false, true, __func__);
	q[1] = t.pages_in;
	q[2] = t.present;
	q[3] = t.cured;
	q[4] = t.old.start;
	q[5] = t.old.end;
	q[6] = t.end;
}

static void lab_forget(struct process *p, const uint64_t *q)
{
	struct fl_populated t = { .present = q[1], .old = { q[2], q[3] } };
	struct fl_fault_request request = { .write = q[4] };

	fl_populated_forget(p->ctx, &t, &request);
}

static void lab_fill(struct process *p, u32 op, const uint64_t *q)
{
	u64 page;

	for (page = q[1]; page < q[1] + q[2] && page < LAB_PAGES; page++)
		if (op == LAB_MAP)
			p->map[page] = (u16)q[3];
		else
			subject_page_is(p, page, (enum lab_page)q[3]);
}

/* What concerns a process. */
static void act_for(struct subject_msg *m)
{
	uint64_t *q = m->arg;
	struct process *p;

	if (q[0] >= LAB_PROCESSES || (m->op != LAB_OPEN && !lab.p[q[0]])) {
		m->status = SUBJECT_BAD;
		return;
	}
	if (m->op == LAB_OPEN)
		lab.p[q[0]] = calloc(1, sizeof(struct process));
	p = lab.p[q[0]];
	if (m->op == LAB_OPEN) {
		lab_open(p, q);
	} else if (m->op == LAB_CLOSE) {
		lab.dev->slot[p->ctx->slot] = NULL;
	} else if (m->op == LAB_REGION) {
		p->region = q[1];
		p->region_bytes = q[2];
		p->region_write = q[3];
	} else if (m->op == LAB_MAP || m->op == LAB_PAGES_ARE) {
		lab_fill(p, m->op, q);
	} else if (m->op == LAB_FAULT_SAYS) {
		p->says[q[1] % LAB_PAGES] = (u8)q[2];
	} else if (m->op == LAB_CHANGE) {
		lab_change(p, q);
	} else if (m->op == LAB_COUNTS) {
		lab_counts(p, q);
	} else if (m->op == LAB_RESOLVE) {
		lab_resolve(p, q);
	} else if (m->op == LAB_POPULATE) {
		lab_populate(p, q);
	} else {
		lab_forget(p, q);
	}
}

void subject_act(struct subject_msg *m)
{
	struct fl_range r = { 0, 0 };
	uint64_t *q = m->arg;

	switch (m->op) {
	case LAB_NEW:
		lab_new();
		break;
	case LAB_REPORT:
		lab_report(q);
		break;
	case LAB_CHANNEL:
		lab.channel[q[0] & 1] = (struct channel){
			(u32)q[1], (u32)q[3], q[2], q[4] };
		break;
	case LAB_ACCESS:
		lab_access(q);
		break;
	case LAB_SMMU_WRITE:
		smmu_reg_write(lab.smmu, (u32)q[0], (unsigned int)q[1], q[2]);
		break;
	case LAB_SMMU_READ:
		q[0] = subject_smmu_get((u32)q[0], (unsigned int)q[1]);
		break;
	case LAB_IRQ:
		lab_irq(q);
		break;
	case LAB_WORK:
		q[0] = subject_work_some(q[0]);
		break;
	case LAB_WHEN:
		lab_when(m);
		break;
	case LAB_NOTE:
		lab_note(m);
		break;
	case LAB_RANGE:
		q[0] = fl_range_make(q[0], q[1], &r);
		q[1] = r.start;
		q[2] = r.end;
		break;
	case LAB_OPEN: case LAB_CLOSE: case LAB_REGION: case LAB_MAP:
	case LAB_PAGES_ARE: case LAB_FAULT_SAYS: case LAB_CHANGE:
	case LAB_COUNTS: case LAB_RESOLVE: case LAB_POPULATE: case LAB_FORGET:
		act_for(m);
		break;
	default:
		m->status = SUBJECT_BAD;
	}
}

/* What must not be left behind when a call is over. */
static void check_left(void)
{
	struct shim_mark nothing = { .rules = &lab.rules };
	unsigned int i;

	shim_call_end(&nothing);
	for (i = 0; i < LAB_PROCESSES; i++)
		if (lab.p[i] && lab.p[i]->refs)
			subject_complain("a reference on a process was not given back");
}

struct trace *subject_trace(void)
{
	return lab.trace;
}

void subject_answer(struct subject_msg *m)
{
	if (!lab.dev && m->op != LAB_NEW) {
		m->status = SUBJECT_BAD;
		return;
	}
	lab.accesses = 0;
	subject_act(m);
	check_left();
	memcpy(&m->arg[LAB_AT_CHECK], lab.wrong, sizeof(lab.wrong));
}
