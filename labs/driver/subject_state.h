/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * subject_state.h - of the subject: its state, what stands in for the card and the kernel
 * (subject.c), and what the judge asks (subject_questions.c).
 */
#ifndef FL_LABS_DRIVER_SUBJECT_STATE_H
#define FL_LABS_DRIVER_SUBJECT_STATE_H

#include <linux/interrupt.h>
#include <linux/mm.h>

#include "faultline/device.h"
#include "faultline/pte.h"
#include "kernel-ref/fl_tables.h"
#include "labs/driver/driver_lab.h"
#include "smmu/smmu.h"
#include "trace/trace.h"

/* Registers are reached through addresses that nothing is behind. */
#define SMMU_AT		0x10000000ul
#define NIC_AT		0x20000000ul
#define NIC_BYTES	0x100000ul

/* Tables: one of level 2 with sixteen entries, and what these point to. */
#define TABLE_PA	UINT64_C(0x80000000)
#define TABLE_WORDS	(512 * 17)
#define FRAME_PA	UINT64_C(0x800000000)
#define T0SZ		39

#define WORKS		64
#define REPORTS		64

struct process {
	struct mm_struct mm;
	struct fl_ctx *ctx;
	struct vm_area_struct vma;
	uint64_t table[TABLE_WORDS];
	uint16_t map[LAB_PAGES];	/* VM_ flags */
	uint8_t says[LAB_PAGES];
	u64 region, region_bytes, room;
	bool region_write, dying, ended;
	int refs;
};

struct report {
	u32 ref, stream, len, map, xfer, block;
	u64 va, left;
};

struct channel {
	u32 status, left;
	u64 va, xfer_left;
};

struct subject_state {
	struct fl_dev *dev;
	struct smmu *smmu;
	struct trace *trace;
	struct process *p[LAB_PROCESSES];
	struct report report[REPORTS];
	unsigned int reports;
	struct channel channel[FL_SIDES];
	bool line;
	struct work_struct *work[WORKS];
	unsigned int works;
	struct subject_msg note[LAB_NOTES];
	unsigned int notes, taken;
	struct { u64 moment, value; struct subject_msg m; } when[LAB_WHENS];
	struct shim_rules rules;
	unsigned int accesses;
	bool stuck;
	u64 cause, named;
	char wrong[64];
};
extern struct subject_state lab;

/* What the judge hears with its next answer. */
void subject_complain(const char *text);
/* A question, from the judge or of LAB_WHEN. */
void subject_act(struct subject_msg *m);
/* Pages of a process, and where its tables are. */
uint64_t subject_process_table(const struct process *p);
void subject_page_is(struct process *p, u64 page, enum lab_page is);
void subject_bank_on(struct process *p, unsigned int n);
u64 subject_smmu_get(u32 off, unsigned int bytes);
/* As many works as are due, and at most so many; 0: all. How many there were. */
u64 subject_work_some(u64 most);
/* The card's SMMU, with the memory that the processes' tables are in. */
struct smmu *subject_smmu(const struct smmu_config *cfg);
extern const struct fl_tables_ops subject_tables;

#endif
