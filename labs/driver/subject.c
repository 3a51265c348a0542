// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subject of the lab: a card of which the driver is real as far as faults go,
 * and its SMMU; the engine's registers and the kernel's calls are stand-ins. All of
 * it is one thread. What "another CPU" does happens at the moments of LAB_WHEN. What a
 * debug kernel would say comes from the rules of the emulator's Linux API.
 */
#include "labs/driver/subject_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "kernel-ref/fl_owner.h"
#include <shim/trace.h>

struct subject_state lab;

void subject_complain(const char *text)
{
	if (!lab.wrong[0])
		snprintf(lab.wrong, sizeof(lab.wrong), "%s", text);
}

static void subject_note(u64 kind, u64 a, u64 b, u64 c, u64 d)
{
	if (lab.notes == LAB_NOTES)
		subject_runaway();
	lab.note[lab.notes++] =
		(struct subject_msg){ .arg = { kind, a, b, c, d } };
}

/* Another CPU: it holds nothing, and its interrupts are on. */
static void subject_moment(enum lab_moment what, u64 value)
{
	struct shim_here *here = shim_here(), was = *here;
	struct subject_msg m;
	unsigned int i;

	for (i = 0; i < LAB_WHENS; i++) {
		if (lab.when[i].moment != what || lab.when[i].value != value)
			continue;
		m = lab.when[i].m;
		lab.when[i].moment = LAB_NEVER;
		*here = (struct shim_here){ .rules = was.rules };
		subject_act(&m);
		*here = was;
	}
}

static struct process *process_of(const struct mm_struct *mm)
{
	return container_of(mm, struct process, mm);
}

static unsigned int process_number(const struct process *p)
{
	unsigned int i;

	for (i = 0; i < LAB_PROCESSES && lab.p[i] != p; i++)
		;
	return i;
}

uint64_t subject_process_table(const struct process *p)
{
	return TABLE_PA + process_number(p) * sizeof(p->table);
}

/* ---- the SMMU ---- */

static enum smmu_mem_status mem_read64(void *arg, uint64_t pa, uint64_t *value)
{
	uint64_t at = (pa - TABLE_PA) / 8, p = at / TABLE_WORDS;

	(void)arg;
	if (pa < TABLE_PA || p >= LAB_PROCESSES || !lab.p[p])
		return SMMU_MEM_ABORT;
	*value = lab.p[p]->table[at % TABLE_WORDS];
	return SMMU_MEM_OK;
}

static void mem_irq(void *arg, bool level)
{
	(void)arg;
	lab.line = level;
}

static void mem_sync_start(void *arg, unsigned int bank)
{
	(void)arg, (void)bank;
}

static bool mem_sync_done(void *arg, unsigned int bank)
{
	(void)arg, (void)bank;
	return true;
}

static void mem_resume(void *arg, uint64_t ticket, enum smmu_verdict how)
{
	(void)arg;
	subject_note(LAB_RESUMED, ticket, how != SMMU_OK, 0, 0);
	subject_moment(LAB_AT_RESUMED, ticket);
}

static uint64_t mem_tag(void *arg, uint64_t pa)
{
	(void)arg;
	return pa >> 12;
}

struct smmu *subject_smmu(const struct smmu_config *cfg)
{
	static const struct smmu_env env = { NULL, mem_read64, mem_irq, mem_sync_start,
					     mem_sync_done, mem_resume, mem_tag, NULL };

	return smmu_create(cfg, &env);
}

static uint64_t *process_pte(struct process *p, u64 page)
{
	return &p->table[512 + page % LAB_PAGES];
}

void subject_page_is(struct process *p, u64 page, enum lab_page is)
{
	u64 d = FRAME_PA | page << 12 | PTE_TYPE | PTE_USER | PTE_NG | PTE_AF;

	if (is == LAB_CLEAN)
		d |= PTE_RDONLY;
	if (is == LAB_AGED)
		d &= ~PTE_AF;
	*process_pte(p, page) = is == LAB_ABSENT ? 0 : d;
}

/* As fl_bank_on() does, of a bank that was used before too. */
void subject_bank_on(struct process *p, unsigned int n)
{
	u64 table = subject_process_table(p);
	u32 cb = SMMU_CB_BASE(n);
	const struct { u32 off, bytes; u64 value; } set[] = {
		{ SMMU_GR1_BASE + SMMU_GR1_CBAR(n), 4,
		  1 << SMMU_GR1_CBAR_TYPE_SHIFT },
		{ SMMU_GR1_BASE + SMMU_GR1_CBA2R(n), 4, SMMU_GR1_CBA2R_VA64 },
		{ cb + SMMU_CB_TTBR0, 8,
			table | (u64)(process_number(p) + 1) << 48 },
		{ cb + SMMU_CB_TCR, 4, T0SZ },
		{ cb + SMMU_CB_TCR2, 4, 2 | SMMU_CB_TCR2_AS },
		{ cb + SMMU_CB_FSR, 4, ~0u },
		{ cb + SMMU_CB_TLBIALL, 4, 0 },
		{ cb + SMMU_CB_SCTLR, 4, p->ctx->sctlr },
		{ SMMU_GR0_S2CR(n), 4, n },
		{ SMMU_GR0_SMR(n), 4, p->ctx->stream | SMMU_GR0_SMR_VALID },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(set); i++)
		smmu_reg_write(lab.smmu, set[i].off, set[i].bytes,
			       set[i].value);
}

/* ---- registers ---- */

u64 subject_smmu_get(u32 off, unsigned int bytes)
{
	uint64_t v = 0;

	smmu_reg_read(lab.smmu, off, bytes, &v);
	return v;
}

static void smmu_set(u32 off, unsigned int bytes, u64 value)
{
	unsigned int n = (off - SMMU_CB_BASE(0)) / 0x1000;
	u32 reg = (off - SMMU_CB_BASE(0)) % 0x1000;
	struct fl_ctx *ctx;

	if (off < SMMU_CB_BASE(0) || n >= FL_SLOTS) {
		smmu_reg_write(lab.smmu, off, bytes, value);
		return;
	}
	ctx = lab.dev->slot[n];
	if (ctx && !shim_lock_held(&ctx->bank_lock.rules))
		subject_complain("a register of a bank is written without its lock");
	if (reg == SMMU_CB_RESUME) {
		subject_moment(LAB_AT_RESUME, n);
		if (lab.stuck)
			smmu_reg_write(lab.smmu, SMMU_CB_BASE(n) +
				       SMMU_CB_FSRRESTORE, 4, SMMU_CB_FSR_MULTI);
		if (subject_smmu_get(SMMU_CB_BASE(n) + SMMU_CB_FSR, 4) &
		    ~SMMU_CB_FSR_SS)
			subject_note(LAB_TURNED_AWAY, n, 0, 0, 0);
	}
	smmu_reg_write(lab.smmu, off, bytes, value);
	if (reg == SMMU_CB_FSR)
		subject_moment(LAB_AT_CLEAR, n);
}

static u64 nic_get(u32 off)
{
	static const struct report none;
	const struct report *r = lab.reports ? &lab.report[0] : &none;
	const struct channel *rd = &lab.channel[0], *wr = &lab.channel[1];
	const struct { u32 off; u64 value; } reg[] = {
		{ NIC_ENG_FLT_REF, r->ref }, { NIC_ENG_FLT_STREAM, r->stream },
		{ NIC_ENG_FLT_VA, r->va },
		{ NIC_ENG_FLT_LEN, (u32)(r->len - DEV_ERR_LEN) },
		{ NIC_ENG_FLT_MAP, r->map }, { NIC_ENG_FLT_LEFT, r->left },
		{ NIC_ENG_FLT_XFER, r->xfer }, { NIC_ENG_FLT_BLOCK, r->block },
		{ NIC_ENG_FLT_COUNT, lab.reports },
		{ NIC_ENG_RD_STATUS, rd->status }, { NIC_ENG_RD_VA, rd->va },
		{ NIC_ENG_RD_LEFT, rd->left },
		{ NIC_ENG_RD_XFER_LEFT, rd->xfer_left },
		{ NIC_ENG_WR_STATUS, wr->status }, { NIC_ENG_WR_VA, wr->va },
		{ NIC_ENG_WR_LEFT, wr->left },
		{ NIC_ENG_WR_XFER_LEFT, wr->xfer_left },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reg); i++)
		if (reg[i].off == off)
			return reg[i].value;
	return 0;
}

static void nic_set(u32 off, u64 v)
{
	if (off == NIC_ENG_FLT_POP && lab.reports && (!DEV_ERR_POP || !v)) {
		memmove(lab.report, lab.report + 1,
			--lab.reports * sizeof(lab.report[0]));
	} else if (off == NIC_ENG_READY) {
		if (DEV_ERR_READY)
			v ^= NIC_ENG_READY_SERIAL_MASK;
		subject_note(LAB_READY, v & NIC_ENG_READY_INDEX_MASK,
			     !!(v & NIC_ENG_READY_SIDE),
			     (v & NIC_ENG_READY_SERIAL_MASK) >>
				     NIC_ENG_READY_SERIAL_SHIFT,
			     (v & NIC_ENG_READY_CODE_MASK) >>
			     NIC_ENG_READY_CODE_SHIFT);
		subject_moment(LAB_AT_READY, v & NIC_ENG_READY_INDEX_MASK);
	}
}

u64 shim_read(const void __iomem *at, unsigned int bytes)
{
	uintptr_t a = (uintptr_t)at;

	if (++lab.accesses > LAB_RUNAWAY)
		subject_runaway();
	if (a - SMMU_AT < SMMU_REG_BYTES)
		return subject_smmu_get((u32)(a - SMMU_AT), bytes);
	if (a - NIC_AT < NIC_BYTES)
		return nic_get((u32)(a - NIC_AT));
	subject_complain("a register is read that is none");
	return ~0ull;
}

void shim_write(void __iomem *at, unsigned int bytes, u64 value)
{
	uintptr_t a = (uintptr_t)at;

	if (++lab.accesses > LAB_RUNAWAY)
		subject_runaway();
	if (a - SMMU_AT < SMMU_REG_BYTES)
		smmu_set((u32)(a - SMMU_AT), bytes, value);
	else if (a - NIC_AT < NIC_BYTES)
		nic_set((u32)(a - NIC_AT), value);
	else
		subject_complain("a register is written that is none");
}

/* ---- locks and workers ---- */

void shim_spin_init(spinlock_t *l, const char *name)
{
	shim_lock_init(&l->rules, SHIM_SPIN, name);
}

/* What another CPU holds, this one would wait for. */
void shim_spin_lock(spinlock_t *l, const char *where)
{
	if (!shim_lock_take(&l->rules, where))
		return;
	if (l->m.taken)
		subject_complain("a spinlock is taken that is held: a deadlock");
	l->m.taken = true;
	if (l == &lab.dev->irq_lock && shim_here()->spins > 1)
		subject_complain("irq_lock is taken inside another spinlock");
}

void shim_spin_unlock(spinlock_t *l, const char *where)
{
	if (shim_lock_give(&l->rules, where))
		l->m.taken = false;
}

void shim_resched(const char *where)
{
	shim_sleeps("cond_resched()", where);
}

void shim_mmap_lock(struct mm_struct *mm, bool write, const char *where)
{
	shim_sleeps("mmap_read_lock()", where);
	(void)write, (void)shim_lock_take(&mm->mmap_rules, where);
}

void shim_mmap_unlock(struct mm_struct *mm, bool write, const char *where)
{
	(void)write, (void)shim_lock_give(&mm->mmap_rules, where);
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	(void)wq;
	if (work->pending)
		return false;
	if (lab.works == WORKS)
		subject_runaway();
	work->pending = true;
	lab.work[lab.works++] = work;
	return true;
}

/* Of what is brought in ahead; nobody leaves the card in this bench. */
bool shim_cancel_work(struct work_struct *work, const char *where)
{
	(void)work, (void)where;
	return false;
}

u64 subject_work_some(u64 most)
{
	struct work_struct *w;
	unsigned int i;
	u64 done = 0;

	while (!most || done < most) {
		for (i = 0; i < lab.works && lab.work[i]->running; i++)
			;
		if (i == lab.works)
			break;
		w = lab.work[i];
		memmove(lab.work + i, lab.work + i + 1,
			(--lab.works - i) * sizeof(w));
		w->pending = false;
		w->running = true;
		subject_moment(LAB_AT_WORK, 0);
		w->func(w);
		w->running = false;
		if (++done > LAB_RUNAWAY)
			subject_runaway();
	}
	return done;
}

/* ---- processes and their memory ---- */

struct task_struct *shim_current(void)
{
	static struct task_struct worker;

	return &worker;
}

bool fatal_signal_pending(struct task_struct *t)
{
	return t != shim_current();
}

struct fl_ctx *fl_ctx_get(struct fl_dev *dev, unsigned int slot, u64 id)
{
	struct fl_ctx *ctx = slot < FL_SLOTS ? dev->slot[slot] : NULL;

	if (!ctx || ctx->id != id)
		return NULL;
	process_of(ctx->mm)->refs++;
	return ctx;
}

void fl_ctx_put(struct fl_ctx *ctx)
{
	shim_sleeps("fl_ctx_put()", __func__);
	process_of(ctx->mm)->refs--;
}

bool mmget_not_zero(struct mm_struct *mm)
{
	if (process_of(mm)->ended)
		return false;
	shim_users_get(mm);
	return true;
}

void shim_mmput(struct mm_struct *mm, bool async, const char *where)
{
	shim_users_put(mm, false, async, where);
}

int fl_mr_find(struct fl_ctx *ctx, u64 va, u32 len, bool write,
	       struct fl_range *region)
{
	struct process *p = process_of(ctx->mm);

	if (va < p->region || va + len > p->region + p->region_bytes)
		return -EFAULT;
	region->start = p->region;
	region->end = p->region + p->region_bytes;
	return write && !p->region_write ? -EACCES : 0;
}

struct fl_charge fl_owner_charge(struct mm_struct *mm)
{
	struct fl_charge c = { &mm->memcg, NULL };

	shim_here()->memcg = c.now;
	return c;
}

void fl_owner_uncharge(struct fl_charge c)
{
	shim_here()->memcg = c.before;
}

bool fl_owner_dying(struct mm_struct *mm)
{
	return process_of(mm)->dying;
}

u64 fl_owner_room(struct mm_struct *mm)
{
	return process_of(mm)->room;
}

void fl_sink_bell(struct fl_ctx *ctx)
{
	/* No process here has tables that are whole. */
}

enum fl_found fl_process_look(struct fl_ctx *ctx, u64 va, bool write)
{
	u64 d = *process_pte(process_of(ctx->mm), va / LAB_PAGE);

	shim_mmap_assert(ctx->mm, "fl_process_look()", __func__);
	if (!d)
		return FL_ABSENT;
	return !(d & PTE_AF) || (write && d & PTE_RDONLY) ? FL_REFUSED : FL_GRANTED;
}

void fl_bank_invalidate(struct fl_ctx *ctx, struct fl_range r, bool leaf,
			u32 xfer, u32 block)
{
	unsigned int p = process_number(process_of(ctx->mm));
	u64 page;

	lab.named = (u64)xfer << 32 | block;
	subject_note(LAB_FORGOT, p, r.start / LAB_PAGE,
		     (r.end - r.start) / LAB_PAGE, leaf);
	for (page = r.start / LAB_PAGE;
	     page < r.end / LAB_PAGE && page < LAB_PAGES; page++)
		smmu_reg_write(lab.smmu, SMMU_CB_BASE(ctx->slot) +
			       SMMU_CB_TLBIVAL, 8, (u64)(p + 1) << 48 | page);
}

const struct fl_tables_ops subject_tables = { .fill = fl_populate_locked };

/* As find_vma() of the small kernel: a mapping is pages with the same rights. */
struct vm_area_struct *shim_vma_lookup(struct mm_struct *mm, unsigned long va,
				       const char *where)
{
	struct process *p = process_of(mm);
	u64 first = va / LAB_PAGE, end = first;

	shim_mmap_assert(mm, "vma_lookup()", where);
	if (first >= LAB_PAGES || !p->map[first])
		return NULL;
	while (first && p->map[first - 1] == p->map[end])
		first--;
	while (end < LAB_PAGES && p->map[end] == p->map[first])
		end++;
	p->vma = (struct vm_area_struct){
		.vm_start = first * LAB_PAGE, .vm_end = end * LAB_PAGE,
		.vm_flags = p->map[first], .vm_mm = mm,
	};
	return &p->vma;
}

vm_fault_t shim_mm_fault(struct vm_area_struct *vma, unsigned long va,
			 unsigned int flags, const char *where)
{
	struct process *p = process_of(vma->vm_mm);
	bool write = flags & FAULT_FLAG_WRITE;
	u64 page = va / LAB_PAGE;
	u64 d = *process_pte(p, page);

	shim_fault_rules(vma, va, write, where);
	subject_note(LAB_ASKED, process_number(p), page, write, 0);
	subject_moment(LAB_AT_PAGE, page);
	if (p->says[page % LAB_PAGES])
		return p->says[page % LAB_PAGES];
	if (!d && p->room != ~0ull)
		p->room -= min(p->room, (u64)LAB_PAGE);
	subject_page_is(p, page, write || (d && !(d & PTE_RDONLY)) ? LAB_WRITABLE :
							  LAB_CLEAN);
	return 0;
}

/* ---- trace and log ---- */

void shim_trace(enum trace_event ev, bool first, u32 xfer, u32 block, u64 a0,
		u64 a1, u64 a2, u64 a3)
{
	struct trace_at at = { .xfer = xfer, .block = block,
			       .cause = first ? 0 : lab.cause };

	lab.cause = trace_emit(lab.trace, ev, &at, a0, a1, a2, a3);
	if (ev == EV_DRV_IRQ_SMMU)
		subject_note(LAB_LATCH, a0, a1, a2, a3);
}

void shim_log(const struct device *dev, const char *fmt, ...)
{
	(void)dev, (void)fmt;
}
