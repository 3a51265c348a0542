// SPDX-License-Identifier: BSD-2-Clause
/* The subject of the lab: an SMMU on a bench, at the judge's service. */
#include <stdlib.h>
#include <string.h>

#include "labs/bank/bank_lab.h"
#include "smmu/smmu_internal.h"
#include "trace/trace.h"

static struct {
	struct smmu *s;
	struct trace *trace;
	uint64_t mem[LAB_WORDS];
	bool line;
	unsigned int changes;
	/* Let go, and how many of them the judge was told of. */
	struct { uint64_t ticket; bool terminate; } gone[LAB_RUNAWAY];
	unsigned int count, told;
} lab;

static enum smmu_mem_status lab_read64(void *ctx, uint64_t pa, uint64_t *value)
{
	uint64_t at = (pa - LAB_BASE) / 8;

	(void)ctx;
	if (pa < LAB_BASE || at >= LAB_WORDS || pa % 8)
		return SMMU_MEM_ABORT;
	*value = lab.mem[at];
	return SMMU_MEM_OK;
}

static void lab_irq(void *ctx, bool level)
{
	(void)ctx;
	lab.line = level;
	lab.changes++;
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
	(void)ctx;
	if (lab.count == LAB_RUNAWAY)
		subject_runaway();
	lab.gone[lab.count].ticket = ticket;
	lab.gone[lab.count++].terminate = how != SMMU_OK;
}

static uint64_t lab_frame_tag(void *ctx, uint64_t pa)
{
	(void)ctx;
	return pa >> 12;
}

static void lab_new(void)
{
	struct trace_config tc = { .ring_records = 1024 };
	struct smmu_config cfg = { 0 };
	struct smmu_env env = { NULL, lab_read64, lab_irq, lab_sync_start,
				lab_sync_done, lab_resume, lab_frame_tag, NULL };

	/* The first one finds all of it zero, and need not touch it. */
	if (lab.s) {
		smmu_destroy(lab.s);
		trace_destroy(lab.trace);
		memset(&lab, 0, sizeof(lab));
	}
	lab.trace = trace_create(&tc);
	cfg.trace = lab.trace;
	lab.s = smmu_create(&cfg, &env);
	if (!lab.trace || !lab.s)
		abort();
}

static void lab_access(struct subject_msg *m)
{
	struct smmu_access a = { .stream = (uint16_t)m->arg[0], .va = m->arg[1],
				 .write = m->arg[2], .privileged = m->arg[3],
				 .ticket = m->arg[4],
				 .xfer = (uint32_t)m->arg[5],
				 .block = (uint32_t)m->arg[6] };

	m->arg[0] = smmu_translate(lab.s, &a);
	m->arg[1] = a.pa;
}

static void lab_seen(struct subject_msg *m)
{
	uint64_t *told = &m->arg[LAB_AT_TOLD];
	unsigned int n = lab.count - lab.told, i;

	if (n > LAB_TOLD)
		n = LAB_TOLD;
	for (i = 0; i < n; i++) {
		*told++ = lab.gone[lab.told].ticket;
		*told++ = lab.gone[lab.told++].terminate;
	}
	m->arg[0] = lab.line;
	m->arg[1] = lab.changes;
	m->arg[2] = smmu_busy(lab.s);
	m->arg[3] = n;
	m->arg[4] = lab.count - lab.told;
	if (lab.told == lab.count)
		lab.told = lab.count = 0;
}

static void lab_event(struct subject_msg *m)
{
	struct trace_record r[64];
	uint32_t n = trace_snapshot(lab.trace, r, 64);
	enum trace_event event = (enum trace_event)m->arg[0];

	memset(m->arg, 0, sizeof(m->arg));
	m->arg[0] = trace_count(lab.trace, event);
	while (n--) {
		if (r[n].event != event)
			continue;
		m->arg[1] = r[n].xfer;
		m->arg[2] = r[n].block;
		break;
	}
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
		lab_new();
		break;
	case LAB_RESET:
		smmu_reset(lab.s);
		break;
	case LAB_REG_WRITE:
		smmu_reg_write(lab.s, (uint32_t)q[0], (unsigned int)q[1], q[2]);
		break;
	case LAB_REG_READ:
		smmu_reg_read(lab.s, (uint32_t)q[0], (unsigned int)q[1], &q[0]);
		break;
	case LAB_POKE:
		if (q[0] - LAB_BASE < sizeof(lab.mem))
			lab.mem[(q[0] - LAB_BASE) / 8] = q[1];
		break;
	case LAB_ACCESS:
		lab_access(m);
		break;
	case LAB_SEEN:
		lab_seen(m);
		break;
	case LAB_EVENT:
		lab_event(m);
		break;
	default:
		m->status = SUBJECT_BAD;
	}
}
