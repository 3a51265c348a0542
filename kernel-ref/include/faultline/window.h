/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window.h - the card as a guest in QEMU sees it.
 *
 * The registers of a real board have side effects; what QEMU's ivshmem device
 * shows its guest (BAR 2) is plain memory, shared with the emulator. So a
 * register access is a message in a ring of that memory, in program order, as
 * on a bus: a write is posted, a read waits for its answer and so for all writes
 * before it. Whoever put something in rings the emulator's bell (BAR 0) if it
 * said that it sleeps. Interrupt lines are MSI-X vectors towards the guest. The
 * guest's memory is the board's DRAM.
 *
 * All numbers are little-endian. Driver, library and emulator share this file;
 * nobody trusts what the other side wrote: a ring is as long as is said here,
 * and an entry is copied once, then checked.
 *
 * Source: QEMU docs/specs/ivshmem-spec; sources: guest.
 */
#ifndef FAULTLINE_WINDOW_H
#define FAULTLINE_WINDOW_H

#include "faultline/driver_trace.h"
#include "faultline/types.h"

#define FL_WINDOW_MAGIC		0x574C4146u	/* "FALW" */
#define FL_WINDOW_VERSION	1u
#define FL_WINDOW_BYTES		0x40000u	/* of BAR 2: a power of two */
#define FL_WINDOW_PAGE		0x1000u

/* PCI identity of the device (QEMU docs/specs/pci-ids). */
#define FL_WINDOW_PCI_VENDOR	0x1AF4
#define FL_WINDOW_PCI_DEVICE	0x1110

/* BAR 0: write peer << 16 | vector there, and that peer is interrupted. */
#define FL_WINDOW_BELL		12u
/*
 * BAR 0: a number that nobody needs, IVPosition. QEMU leaves out the barriers of a
 * guest that has one CPU, since that has nobody to order its accesses for; but
 * the emulator is somebody. So who wrote an entry reads this, which does take a
 * lock of QEMU's, before he looks whether the emulator sleeps. (A machine that
 * could have a second CPU, -smp 1,maxcpus=2, keeps all barriers: needed where the
 * host itself orders less than x86.)
 */
#define FL_WINDOW_ORDER		8u
#define FL_WINDOW_PEER		0u	/* the emulator; the guest is 1 */

/*
 * Vectors towards the guest, one an interrupt line. A line is a level and a
 * message an edge, so the emulator sends one when a line rises, and one more
 * when the driver has written a register of that unit and the line is still up.
 */
enum fl_window_vector {
	FL_WINDOW_IRQ_SMMU = 0,
	FL_WINDOW_IRQ_FAULT = 1,
	FL_WINDOW_IRQ_EVENT = 2,
	FL_WINDOW_VECTORS = 3,
};

/* Vector towards the emulator: look at the rings. */
#define FL_WINDOW_LOOK		0u

enum fl_window_kind {
	FL_WINDOW_WRITE = 1,	/* addr, size, arg[0]: value */
	FL_WINDOW_READ = 2,	/* addr, size; the answer stands in the head */
	/*
	 * Nothing happened, but somebody wants it in the trace, at this place of
	 * the order: addr: number of the event, xfer, block, arg: its arguments.
	 * The driver's trace points (driver_trace.h) come by its ring, what the
	 * library does (lib/sys.h, enum fl_sys_event) by the doorbell page.
	 */
	FL_WINDOW_NOTE = 3,
};

/* An entry of a ring; 64 bytes, so that one line of a cache holds it. */
struct fl_window_entry {
	__u32 seq;	/* written last: index of the entry + 1, not masked */
	__u16 kind;	/* enum fl_window_kind */
	__u16 size;	/* 4 or 8 */
	__u32 addr;	/* FL_WINDOW_SMMU or _NIC + offset of the register */
	__u32 xfer, block;
	__u32 reserved;
	__u64 arg[5];
};

/* Where an address points to. The rest is the offset of smmu.def or regs.def. */
#define FL_WINDOW_NIC		0x00000000u
#define FL_WINDOW_SMMU		0x80000000u

/* Page 0. What the guest writes and what the emulator writes are apart. */
struct fl_window_head {
	/* emulator, before the guest starts */
	__u32 magic, version;
	__u32 bytes;		/* FL_WINDOW_BYTES */
	__u32 entries;		/* FL_WINDOW_RING */
	__u32 instance;		/* which emulator this is: a new one, a new number */
	__u32 reserved0[11];
	/* emulator, while it runs */
	__u32 alive;		/* 0: it has ended, nobody answers any more */
	__u32 asleep;		/* ring the bell */
	__u32 head;		/* entries of the driver's ring that it has done */
	__u32 levels;		/* bit of enum fl_window_vector: line is up */
	__u32 answer_seq;	/* seq of the READ that answer belongs to */
	__s32 answer_error;	/* 0, or negative errno of Linux: answer is 0 */
	__u64 answer;
	__u32 reserved1[8];
};

/* The driver's ring, in pages of its own. One writer at a time (its lock). */
#define FL_WINDOW_RING		1024u
#define FL_WINDOW_RING_OFFSET	0x10000u

/*
 * Doorbell pages: one a slot, mapped into the process that has the slot,
 * together with BAR 0 behind it. Several threads may ring: each takes an index
 * with an atomic add to tail, waits until it is less than FL_WINDOW_BELLS ahead
 * of head, fills the entry and writes its seq last. Kinds: WRITE (addr: offset in
 * the doorbell page, size 4) and NOTE.
 *
 * A page is handed over to another process by the driver: seq of all entries to
 * 0, one READ by its ring, tail to head. Before the emulator answers a READ, it
 * writes head and alive of all pages anew, whatever a process left there. Between
 * a page and the driver's ring there is no order but that of a READ.
 */
#define FL_WINDOW_BELLS		32u
#define FL_WINDOW_DOORBELL_OFFSET(slot) (0x20000u + (slot) * FL_WINDOW_PAGE)
struct fl_window_doorbell {
	__u32 tail;		/* process */
	__u32 reserved0[15];
	__u32 head;		/* emulator */
	__u32 asleep;		/* emulator: ring the bell */
	__u32 alive;		/* emulator: 0: it has ended */
	__u32 reserved1[13];
	struct fl_window_entry entry[FL_WINDOW_BELLS];
};

/* uapi.h, fl_query.doorbell */
enum fl_doorbell {
	FL_DOORBELL_STORE = 0,	/* a page of registers: a store */
	FL_DOORBELL_WINDOW = 1,	/* struct fl_window_doorbell, and BAR 0 behind it */
	FL_DOORBELL_SNOOP = 2,	/* struct fl_snoop_page: memory of the kernel (snoop.h) */
};

#endif
