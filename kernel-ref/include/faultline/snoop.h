/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snoop.h - the doorbell page of a process whose requests the driver reads first.
 *
 * With a row whose `before` is SNOOP (system.def) a process does not have the card's
 * doorbells. In their place it has a page of the kernel, where it publishes how far it
 * has come; a worker of the driver reads the requests up to there, brings in the pages
 * that they name on this side, and rings the card. The card sees no request before that.
 *
 * A queue's word is at its number modulo FL_SNOOP_QUEUES; no two queues of a card share
 * one (regs.def, LIMITS0). The process may write anything anywhere in the page: the
 * worker looks only at words of the process's own queues, and hands the card what the
 * process itself could have written to the card's page.
 */
#ifndef FAULTLINE_SNOOP_H
#define FAULTLINE_SNOOP_H

#include "faultline/types.h"

#define FL_SNOOP_BYTES		0x1000u
#define FL_SNOOP_QUEUES		256u

struct fl_snoop_page {
	/* driver; 0: the card is gone, or its driver, and nobody looks */
	__u32 alive;
	/*
	 * driver: the worker sleeps, and FL_IOC_SNOOP wakes it. A process writes its
	 * word first and looks here then, with a full barrier in between; the worker
	 * writes this and looks at the words then.
	 */
	__u32 asleep;
	__u32 reserved[14];
	/*
	 * process. Send queues: the low 16 bits count the entries ever posted, as
	 * DB.SQ.TAIL. Completion queues: the high 16 bits count the entries ever
	 * taken, as DB.CQ_CONS.CONS; the low ones, how often the queue was armed.
	 */
	__u32 sq[FL_SNOOP_QUEUES];
	__u32 cq[FL_SNOOP_QUEUES];
};

#endif
