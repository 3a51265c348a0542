/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bounce.h - memory that library and driver share under a system whose card never misses
 * a page (tables=sink, system npr), and that the process at the other end reads or writes
 * over the wire.
 *
 * Words: one for each page of a region, in a pinned region of its own that peers may read.
 * An even word: the card finds the page. An odd one: what is written there vanishes, and
 * what is read there means nothing. It grows with each change and is never 0. It becomes
 * odd before the card loses the page, and even after it has found it again. So whoever
 * reads the same even word before an access and after it knows that the access was good.
 *
 * A ring: pinned, one for each queue pair, of six pages. The peer of the queue pair writes
 * a call, and the bytes of it right behind, then its number, and then rings the bell: a
 * write to a page of which the driver hears. The driver does with the CPU what the
 * card could not, and answers. The peer reads the answer until it has its number.
 */
#ifndef FAULTLINE_BOUNCE_H
#define FAULTLINE_BOUNCE_H

#include "faultline/types.h"

#define FL_RING_BELL	0u
#define FL_RING_NUMBER	4096u		/* __u32: of the last call; at first 0 */
#define FL_RING_ANSWER	(4096u + 64)	/* struct fl_ring_answer */
#define FL_RING_DATA	8192u
#define FL_RING_CALL	(FL_RING_DATA - 32)	/* struct fl_ring_call */
#define FL_BOUNCE_BYTES	16384u		/* of one call at most */
#define FL_RING_BYTES	(FL_RING_DATA + FL_BOUNCE_BYTES)

struct fl_ring_call {
	__u64 addr;
	__u32 key;		/* of a region with the ring's protection domain */
	__u32 bytes;
	__u32 write;		/* 1: into the region; 0: out of it */
	__u32 number;
	__u64 reserved;
};

struct fl_ring_answer {
	__u32 number;		/* of the call */
	__u32 status;		/* enum fl_status */
};

#endif
