/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * driver_lab.h - what the judge of this lab may ask its subject: one card with the
 * student's fault handling in its driver. The SMMU is the emulator's own, with its
 * registers, tables and held accesses. The engine's registers, and the calls of the
 * kernel, are stand-ins that do what they are told and note what they are asked.
 *
 * Nothing runs by itself: the judge calls the top halves and the workers, and says
 * what "another CPU" does in the middle of a call (LAB_WHEN).
 */
#ifndef FL_LABS_DRIVER_LAB_H
#define FL_LABS_DRIVER_LAB_H

#include "tools/grade/subject.h"

#define LAB_PROCESSES	4	/* that there are in one test, gone ones included */
#define LAB_PAGES	8192u	/* of a process, from address 0 on */
#define LAB_PAGE	4096u
#define LAB_STREAM	0x200u	/* the first stream ID of the card */
#define LAB_BLOCK	16384u
#define LAB_CONTEXTS	16u	/* of the engine, each side */
#define LAB_WHENS	4
#define LAB_NOTES	16384	/* not taken yet */
#define LAB_RUNAWAY	100000	/* register accesses, or pages, of one question */

/* Arguments of a question: Q; of its answer: A. p: a process, by number. */
enum {
	LAB_NEW = SUBJECT_FIRST,
	/* A process opens the card. Q: p, stream, enum fl_system, fl_resolve */
	LAB_OPEN,
	/* It leaves its slot; workers that have it go on. Q: p */
	LAB_CLOSE,
	/* A region of it, the only one. Q: p, va, bytes, 1: may be written */
	LAB_REGION,
	/* Mappings. Q: p, first page, pages, VM_ flags; 0: none */
	LAB_MAP,
	/* Q: p, first page, pages, enum lab_page */
	LAB_PAGES_ARE,
	/* What the kernel says to a fault there. Q: p, page, VM_FAULT_ bits */
	LAB_FAULT_SAYS,
	/* Q: p, enum lab_change, value */
	LAB_CHANGE,
	/*
	 * The engine queues a report. Q: index, side, write, serial, stream, va,
	 * len, map, left, transfer, block
	 */
	LAB_REPORT,
	/* Registers of a channel. Q: side, status, va, left, left of the transfer */
	LAB_CHANNEL,
	/* The card accesses memory. Q: stream, va, write, ticket; A: smmu_verdict */
	LAB_ACCESS,
	/* A register of the SMMU. Q: offset, bytes, value */
	LAB_SMMU_WRITE,
	/* Q: offset, bytes; A: value */
	LAB_SMMU_READ,
	/*
	 * Call the handler, and again while its line is up. Q: enum lab_line,
	 * times at most; A: times, of which handled; the line
	 */
	LAB_IRQ,
	/* Workers take what is queued. Q: most items, 0: all; A: items */
	LAB_WORK,
	/*
	 * At the next such moment another CPU does something, once. Q: enum
	 * lab_moment, its value, op, arguments of op
	 */
	LAB_WHEN,
	/* A: kind (enum lab_note), four values; LAB_NOTHING: no more */
	LAB_NOTE,
	/* A: in the order of enum lab_count. Q: p */
	LAB_COUNTS,
	/* Calls of the driver. Q: p, va, len, left, map, write; A: result */
	LAB_RESOLVE,
	/*
	 * Q: p, start, end, write, ahead; A: result, pages in, present, cured,
	 * old.start, old.end, end
	 */
	LAB_POPULATE,
	/* Q: address, length; A: 1, start, end; or 0 */
	LAB_RANGE,
	/* Q: p, present, old.start, old.end, write */
	LAB_FORGET,
};

enum lab_line { LAB_LINE_SMMU, LAB_LINE_FAULT };
enum lab_page { LAB_ABSENT, LAB_CLEAN, LAB_WRITABLE, LAB_AGED };

enum lab_change {
	LAB_DYING,	/* its memory belongs to a task that is killed */
	LAB_ENDED,	/* its address space is gone, its file is not */
	LAB_DEAD,	/* the card is gone for it */
	LAB_QUIET,	/* it is leaving: hold no access any more */
	LAB_ROOM,	/* bytes that it may have without taking them from others */
	LAB_HARD,	/* the bank met something at this address that no page cures */
	LAB_STUCK,	/* other accesses fault all the time: MULTI before each RESUME */
	/* its held access was counted and refused. Transfer << 32 | block */
	LAB_REFUSED,
};

enum lab_moment {
	LAB_NEVER,
	LAB_AT_PAGE,	/* the kernel is asked for this page */
	LAB_AT_READY,	/* READY is written */
	LAB_AT_RESUME,	/* RESUME is about to be written */
	LAB_AT_CLEAR,	/* FSR was written */
	LAB_AT_WORK,	/* a worker has an item and is about to begin; 0 */
	LAB_AT_RESUMED,	/* the access with this ticket was let go */
};

enum lab_note {
	LAB_NOTHING,
	LAB_ASKED,	/* p, page, 1: to write */
	LAB_FORGOT,	/* TLB entries. p, first page, pages, 1: leaf */
	LAB_READY,	/* index, side, serial, code */
	LAB_RESUMED,	/* an access was let go. ticket, 1: terminated */
	LAB_TURNED_AWAY, /* RESUME while FSR was not clear: nothing happened */
	LAB_LATCH,	/* what was read of a bank: bank, FSR, FAR, FSYNR0 */
};

enum lab_count {
	LAB_FAULTS, LAB_FAULTS_SRC, LAB_FAULTS_DST, LAB_PAGES_IN, LAB_RESOLVES,
	LAB_FAILED, LAB_SPURIOUS, LAB_STALLS,
	LAB_SCTLR, LAB_IS_HARD,
	LAB_NAMED,	/* with what was last forgotten: transfer << 32 | block */
};

/* Of each answer: what a debug kernel would complain about, as text. */
#define LAB_AT_CHECK	16

#endif
