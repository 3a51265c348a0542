// SPDX-License-Identifier: BSD-2-Clause
/* The subject of the lab: an SMMU on a bench, at the judge's service. */
#include <stdlib.h>
#include <string.h>

#include "labs/walk/walk_lab.h"
#include "smmu/smmu_internal.h"
#include "trace/trace.h"

static struct {
	struct smmu *s;
	struct trace *trace;
	uint64_t broken_pa;
	enum smmu_mem_status broken;
	uint64_t read[LAB_READS];
	unsigned int reads;
	uint64_t now_ns;
	size_t words;	/* of mem: from here on nothing was written */
	uint64_t mem[LAB_PAGES * 512];
} lab;

static enum smmu_mem_status lab_read64(void *ctx, uint64_t pa, uint64_t *value)
{
	uint64_t at = (pa - LAB_BASE) / 8;

	(void)ctx;
	if (lab.reads < LAB_READS)
		lab.read[lab.reads] = pa;
	if (++lab.reads > LAB_RUNAWAY)
		subject_runaway();
	if (pa < LAB_BASE || at >= LAB_PAGES * 512 || pa % 8)
		return SMMU_MEM_ABORT;
	*value = lab.mem[at];
	return pa == lab.broken_pa ? lab.broken : SMMU_MEM_OK;
}

static void lab_irq(void *ctx, bool level)
{
	(void)ctx, (void)level;
}

static void lab_sync_start(void *ctx, unsigned int bank)
{
	(void)ctx, (void)bank;
}

static bool lab_sync_done(void *ctx, unsigned int bank)
{
	(void)ctx, (void)bank;
	return true;
}

static void lab_resume(void *ctx, uint64_t ticket, enum smmu_verdict how)
{
	(void)ctx, (void)ticket, (void)how;
}

static uint64_t lab_frame_tag(void *ctx, uint64_t pa)
{
	(void)ctx;
	return pa >> 12;
}

static void lab_new(struct subject_msg *m)
{
	struct trace_config tc = { .ring_records = 256 };
	struct smmu_config cfg = { .tlb_entries = (unsigned int)m->arg[0],
				   .timing = { .walk_level_ns = LAB_READ_NS } };
	struct smmu_env env = { NULL, lab_read64, lab_irq, lab_sync_start,
				lab_sync_done, lab_resume, lab_frame_tag, NULL };

	if (lab.s) {
		smmu_destroy(lab.s);
		trace_destroy(lab.trace);
		memset(&lab, 0, (size_t)((char *)&lab.mem[lab.words] - (char *)&lab));
	}
	lab.trace = trace_create(&tc);
	cfg.trace = lab.trace;
	lab.s = smmu_create(&cfg, &env);
	if (!lab.trace || !lab.s)
		abort();
}

/* Records of a walk: levels, and addresses that it came to. */
static uint64_t lab_walked(enum trace_event event)
{
	return trace_count(lab.trace, event);
}

/*
 * What the walk itself said, in so many of the newest records: its last level, and the
 * address it came to, of which the TLB keeps but the page.
 */
static void tell_walk(struct subject_msg *m, uint64_t levels, uint64_t ends)
{
	struct trace_record r[32];
	uint32_t n = levels || ends ? trace_snapshot(lab.trace, r, 32) : 0;

	m->arg[7] = m->arg[1];
	while (n-- && (levels || ends)) {
		if (ends && r[n].event == EV_SMMU_WALK) {
			m->arg[7] = r[n].arg[2];
			ends--;
		} else if (levels && r[n].event == EV_SMMU_LEVEL) {
			levels--;
			if (m->arg[4])
				continue;
			m->arg[4] = 1;
			m->arg[5] = r[n].arg[0];
			m->arg[6] = r[n].arg[1];
		}
	}
}

static void lab_poke(uint64_t pa, uint64_t value)
{
	size_t at = (pa - LAB_BASE) / 8;

	if (pa < LAB_BASE || at >= LAB_PAGES * 512)
		return;
	lab.mem[at] = value;
	lab.words = at < lab.words ? lab.words : at + 1;
}

static void lab_access(struct subject_msg *m)
{
	struct smmu_access a = { .stream = (uint16_t)m->arg[0], .va = m->arg[1],
				 .write = m->arg[2], .privileged = m->arg[3],
				 .now_ns = lab.now_ns += LAB_ACCESS_NS };
	uint64_t levels = lab_walked(EV_SMMU_LEVEL), ends = lab_walked(EV_SMMU_WALK);
	struct smmu_stats before, after;

	smmu_stats(lab.s, &before);
	memset(m->arg, 0, sizeof(m->arg));
	lab.reads = 0;
	m->arg[0] = smmu_translate(lab.s, &a);
	m->arg[1] = a.pa;
	m->arg[2] = a.tlb_hit;
	m->arg[3] = lab.reads;
	tell_walk(m, lab_walked(EV_SMMU_LEVEL) - levels, lab_walked(EV_SMMU_WALK) - ends);
	smmu_stats(lab.s, &after);
	m->arg[8] = (a.ready_ns - a.now_ns) / LAB_READ_NS;
	m->arg[9] = after.walk_reads - before.walk_reads;
	memcpy(&m->arg[LAB_AT_READS], lab.read,
	       sizeof(uint64_t) * (lab.reads < LAB_READS ? lab.reads :
							   LAB_READS));
}

static void lab_tlb(struct subject_msg *m)
{
	const struct smmu_tlb *t = &lab.s->tlb;
	uint32_t i;

	memset(m->arg, 0, sizeof(m->arg));
	for (i = 0; i < t->sets * SMMU_TLB_WAYS; i++) {
		if (!t->entry[i].key)
			continue;
		m->arg[0]++;
		m->arg[2] = t->entry[i].pa;
		m->arg[3] = t->entry[i].level;
		m->arg[4] = t->entry[i].perm;
	}
	for (i = 0; i < 8; i++)
		m->arg[1] += t->count[i / 2][i % 2];
}

struct trace *subject_trace(void)
{
	return lab.trace;
}

void subject_answer(struct subject_msg *m)
{
	uint64_t *q = m->arg;

	if (!lab.s && m->op != LAB_NEW)
		m->op = 0;
	switch (m->op) {
	case LAB_NEW:
		lab_new(m);
		break;
	case LAB_REG_WRITE:
		smmu_reg_write(lab.s, (uint32_t)q[0], (unsigned int)q[1], q[2]);
		break;
	case LAB_REG_READ:
		smmu_reg_read(lab.s, (uint32_t)q[0], (unsigned int)q[1], &q[0]);
		break;
	case LAB_POKE:
		lab_poke(q[0], q[1]);
		break;
	case LAB_BREAK:
		lab.broken_pa = q[0];
		lab.broken = (enum smmu_mem_status)q[1];
		break;
	case LAB_ACCESS:
		lab_access(m);
		break;
	case LAB_TLB:
		lab_tlb(m);
		break;
	default:
		m->status = SUBJECT_BAD;
	}
}
