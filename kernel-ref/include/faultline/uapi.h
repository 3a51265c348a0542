/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uapi.h - what a process may ask of /dev/faultline*.
 *
 * One open file is one process on the card: it gets a domain slot, a context
 * bank of the SMMU and a doorbell page. Every structure begins with its own
 * size; a shorter one is filled with zeros, a longer one is accepted only if
 * the rest is zero (-E2BIG), so that both sides may grow. Reserved members must
 * be 0 (-EINVAL). No member is of a size that depends on who is compiled, and each
 * lies at a multiple of its size, so a 32-bit program asks with the same bytes.
 *
 * Permission: of the file, for reading and writing, which is root's unless
 * a rule of udev says otherwise (kernel-ref/60-faultline.rules); others get -EACCES
 * from open. Opening: -EBUSY all slots are taken; -EDQUOT the
 * process has two files already, or its user's processes have eight together,
 * half of the slots (more with CAP_SYS_RESOURCE); -ENOSPC no ASID can be kept for
 * it; -EOPNOTSUPP its addresses have more than 48 bits; -ENODEV, -EIO.
 *
 * What a file may have: 16 domains, 64 completion queues, 64 queue pairs, 16 shared receive
 * queues, 64 event counters, as
 * many regions as FL_IOC_QUERY says, 8 MB of queues, 512 MB of pinned memory;
 * and all pinned memory of the process together RLIMIT_MEMLOCK (more with
 * CAP_IPC_LOCK). What the driver allocates for it counts in its memory cgroup.
 *
 * Errors of every call: -EFAULT the structure cannot be read, -EINVAL it makes
 * no sense, -E2BIG it asks for something that this driver does not know,
 * -ENOENT no such object of this file, -EPERM another process opened the file
 * (mmap too; a child inherits no mapping, and the open file is of no use to it),
 * -ENODEV the device is gone, or the file was cut off (fl_counters.lost_syncs),
 * -ENOTTY no such call. More at each call.
 *
 * The file leaves the card when it is closed, or when the address space of the
 * process that opened it ends, by exit or exec: then slot, queues and pinned
 * pages come back though a child may have the file open still.
 */
#ifndef FAULTLINE_UAPI_H
#define FAULTLINE_UAPI_H

#include "faultline/device.h"
#include "faultline/system.h"
#include "faultline/types.h"
#ifdef __linux__
#include <linux/ioctl.h>
#else
#include <sys/ioctl.h>
#endif

/* Of this file, and of the device: another stepping has other entries in memory. */
#define FL_ABI_VERSION	(1 + 256 * DEV_STEPPING)

/* How much the driver pages in at one fault. */
enum fl_ioc_resolve {
	/*
	 * The first page that is missing in the block, and no other. The block
	 * comes again, and faults on the next one.
	 */
	FL_IOC_RESOLVE_PAGE = 0,
	/* The whole block. */
	FL_IOC_RESOLVE_BLOCK = 1,
	/* The block and the rest of the transfer. */
	FL_IOC_RESOLVE_TRANSFER = 2,
	/* The block and fl_policy.number pages on either side, 1 to 256. */
	FL_IOC_RESOLVE_AROUND = 3,
	/*
	 * The block, and what earlier faults in the region let one expect: a window
	 * behind it that grows while faults follow each other; the same distance
	 * again; the distance that most had lately; what came after such distances
	 * before.
	 */
	FL_IOC_RESOLVE_DOUBLE = 4,
	FL_IOC_RESOLVE_STRIDE = 5,
	FL_IOC_RESOLVE_MAJORITY = 6,
	FL_IOC_RESOLVE_HISTORY = 7,
	/* What came with the board (plan.h). -EINVAL: nothing did. */
	FL_IOC_RESOLVE_OWN = 8,
};

struct fl_query {
	__u32 size;
	__u32 abi;		/* out: FL_ABI_VERSION */
	__u32 node;		/* out: this card on the fabric */
	__u32 slot;		/* out: domain slot, the same as the bank */
	__u32 block_bytes;	/* out: largest block */
	__u32 max_qp, max_cq, max_mr;	/* out: per process */
	__u32 max_queue;	/* out: entries of a queue at most */
	__u32 system;		/* out: enum fl_system */
	__u32 resolve;		/* out: enum fl_ioc_resolve */
	__u32 doorbell;		/* out: enum fl_doorbell (window.h) */
	__u32 derived;		/* out: the row is not system's own */
	__u32 quirks;		/* out: FL_QUIRK_* */
	struct fl_system_row row;	/* out: that is in use */
	__u32 ring_slots;	/* out: as in fl_policy; 0: nobody has said */
	__u32 ring_bits;
};

#define FL_IOC_QUERY	_IOWR('F', 0x01, struct fl_query)

/*
 * Choose how faults of this process are handled: a row of system.def, and how much one
 * fault brings in. -EBUSY: a transfer is in flight; or the doorbell page would become
 * another one (fl_query.doorbell) while there are queues; or the row has other tables than
 * the one before while there are regions, or another transport while there are queue
 * pairs. -EOPNOTSUPP: this card cannot do what the row asks for; -ENOMEM.
 */
struct fl_policy {
	__u32 size;
	__u32 system;
	__u32 resolve;
	__u32 number;		/* of FL_IOC_RESOLVE_AROUND; else 0 */
	__u32 derived;		/* 1: row counts, and system says what it is like */
	__u32 quirks;		/* FL_QUIRK_*: of connections from now on; of blocks 0 */
	struct fl_system_row row;	/* -EINVAL: not allowed (system_rules.h) */
	/*
	 * Of rows with FL_VERDICT_DIVERT; of others, and where the driver is to choose,
	 * 0. The backup ring is the card's, and begins with the first queue pair that needs
	 * it: slots, a power of two, 2 to FL_BACKUP_SLOTS_MAX. bits, up to
	 * FL_BACKUP_BITS_MAX: what it and the driver hold of one queue pair at a time, of
	 * those that are opened from now on.
	 */
	__u32 ring_slots;
	__u32 ring_bits;
};

#define FL_BACKUP_SLOTS_MAX	1024u	/* with two pages each, 8 MB */
#define FL_BACKUP_BITS_MAX	256u	/* regs.def, BAK_BITS */

#define FL_QUIRKS_ALL	(FL_QUIRK_DAMMING | FL_QUIRK_CUT | FL_QUIRK_CODE25)
#define FL_IOC_POLICY	_IOW('F', 0x02, struct fl_policy)

struct fl_alloc_pd {
	__u32 size;
	__u32 pd;		/* out */
};

#define FL_IOC_ALLOC_PD	_IOWR('F', 0x03, struct fl_alloc_pd)

/* Of a PD, MR (key), CQ or QP; -EBUSY: in use. */
struct fl_destroy {
	__u32 size;
	__u32 object;
};

#define FL_IOC_DEALLOC_PD _IOW('F', 0x04, struct fl_destroy)

#define FL_MR_PINNED	1u	/* page in and pin now; otherwise on demand */
/*
 * addr 0, length FL_MR_ALL: an implicit region, all that the process has and will have, by
 * one key. Tables nic alone, and not pinned (-EINVAL).
 */
#define FL_MR_ALL	(~0ull)
/* It is a ring (bounce.h): pinned, FL_RING_BYTES, page-aligned, with tables sink. */
#define FL_MR_RING	2u
struct fl_reg_mr {
	__u32 size;
	__u32 pd;
	__u64 addr;
	__u64 length;
	__u32 access;		/* FL_ACC_* */
	__u32 flags;		/* FL_MR_PINNED */
	__u32 key;		/* out: local and remote key */
	__u32 reserved;
	/*
	 * Tables sink: address of its words (bounce.h), a __u32 for each 4 KB, in a pinned
	 * region that cannot end before this one (-EBUSY then; -ENOENT: no such
	 * region). 0: none, and then nobody can tell whether an access was good.
	 */
	__u64 words;
};

/*
 * -EFAULT not mapped (pinned only), -EACCES not writable, -ENOMEM, -ENOSPC no
 * key left, -EDQUOT pin limit
 */
#define FL_IOC_REG_MR	_IOWR('F', 0x05, struct fl_reg_mr)
#define FL_IOC_DEREG_MR	_IOW('F', 0x06, struct fl_destroy)

struct fl_create_cq {
	__u32 size;
	__u32 entries;		/* in: wish; out: what it got (power of two) */
	__u32 cq;		/* out: number */
	__u32 reserved;
	__u64 mmap_offset;	/* out: of the queue, for mmap */
	__u64 mmap_bytes;	/* out */
};

#define FL_IOC_CREATE_CQ _IOWR('F', 0x07, struct fl_create_cq)
#define FL_IOC_DESTROY_CQ _IOW('F', 0x08, struct fl_destroy)

struct fl_create_qp {
	__u32 size;
	__u32 pd;
	__u32 cq;
	__u32 entries;		/* in: wish; out: what it got (power of two) */
	__u32 qp;		/* out: number */
	__u32 flags;		/* FL_QP_* of entries.h */
	__u64 mmap_offset;	/* out: of the send queue */
	__u64 mmap_bytes;	/* out */
	/*
	 * With FL_QP_RC, FL_QP_UD or FL_QP_NV, which begin in RESET; else all of these are
	 * 0. -EOPNOTSUPP: the card has no such queue pairs, the row of the process is for
	 * others (UD goes with rows of RC, too), or its doorbell page is one that the driver
	 * reads.
	 */
	__u32 recv_cq;		/* of its receives */
	__u32 recv_entries;	/* in: wish, 0: no receive queue; out: what it got */
	/* RC only: 1 + number of a shared receive queue of its domain; 0: none */
	__u32 srq;
	__u32 reserved;
	__u64 recv_mmap_offset;	/* out: of the receive queue */
	__u64 recv_mmap_bytes;	/* out */
};

#define FL_IOC_CREATE_QP _IOWR('F', 0x09, struct fl_create_qp)

/* -EISCONN already connected, -EHOSTUNREACH no such node */
struct fl_connect_qp {
	__u32 size;
	__u32 qp;
	__u32 node;
	__u32 peer_qp;
};

#define FL_IOC_CONNECT_QP _IOW('F', 0x0A, struct fl_connect_qp)
#define FL_IOC_DESTROY_QP _IOW('F', 0x0B, struct fl_destroy)

#define FL_PREFETCH_WRITE 1u	/* for writing by the device (destination) */
struct fl_prefetch {		/* -EFAULT not mapped, -EACCES, -ENOMEM */
	__u32 size;
	__u32 key;
	__u64 addr;
	__u64 length;
	__u32 flags;
	__u32 reserved;
};

#define FL_IOC_PREFETCH	_IOW('F', 0x0C, struct fl_prefetch)

/*
 * Sleep until an event for the completion queue came (which the process armed
 * with the CQ_ARM doorbell after it last looked). -ETIMEDOUT; -EINTR; -EIO: the
 * queue overflowed.
 */
struct fl_wait_cq {
	__u32 size;
	__u32 cq;
	__u64 timeout_ns;	/* 0: no limit */
};

#define FL_IOC_WAIT_CQ	_IOW('F', 0x0D, struct fl_wait_cq)

/* Counters of this file. */
struct fl_counters {
	__u32 size;
	__u32 reserved;
	__u64 faults;		/* device faults that the driver was told of */
	/* of these: reads for sending, writes on receiving */
	__u64 faults_src, faults_dst;
	__u64 pages_in;		/* pages that resolving made present */
	__u64 resolves;		/* requests to the kernel */
	__u64 failed;		/* of the faults: could not be resolved */
	/*
	 * Of the faults: when a worker looked, the tables let the card in. One
	 * that needed a right or an access flag, and no page, is not.
	 */
	__u64 spurious;
	__u64 invalidations;	/* ranges */
	__u64 pinned_pages;	/* now */
	__u64 stalls;		/* transactions resumed */
	/*
	 * The SMMU, or the card's table, did not say that old translations are out of use. Then the
	 * file is cut off: this call alone still works, all others -ENODEV.
	 */
	__u64 lost_syncs;
	/*
	 * Tables nic: pages that were loaded into the card's table, and zapped there; how
	 * often pages left between coming in and being loaded; pages that the program has
	 * asked for, and has got (FL_IOC_ADVISE).
	 */
	__u64 loaded, zapped, raced, advised;
};

#define FL_IOC_COUNTERS	_IOWR('F', 0x0E, struct fl_counters)

/* Something was published while the worker slept (snoop.h). -EINVAL: there is none. */
struct fl_snoop_call {
	__u32 size;
	__u32 reserved;
};

#define FL_IOC_SNOOP	_IOW('F', 0x0F, struct fl_snoop_call)

/*
 * A queue pair that halted when a request ended with FL_ST_FAULT_FAST goes on. All that was
 * posted before must have completed (-EBUSY), so that nothing of it is carried out behind
 * the failure. -EINVAL: it is not halted: it works, has no peer yet, or failed for good.
 */
struct fl_resume_qp {
	__u32 size;
	__u32 qp;
};

#define FL_IOC_RESUME_QP _IOW('F', 0x10, struct fl_resume_qp)

/*
 * Tables sink: copy between a pinned region and memory that the card does not find, and make
 * the card find it, if it can be. -EINVAL: too long, or other tables; -ENOENT: no such
 * regions; -EACCES, -EFAULT: as a store or a load of the process would end.
 */
#define FL_BOUNCE_IN 1u		/* from the buffer into the region; else out of it */
struct fl_bounce {
	__u32 size;
	__u32 key;		/* of the region with addr */
	__u64 addr;
	__u64 buffer;
	__u32 buffer_key;
	__u32 bytes;		/* FL_BOUNCE_BYTES at most */
	__u32 flags;
	__u32 reserved;
};

#define FL_IOC_BOUNCE	_IOW('F', 0x11, struct fl_bounce)

/*
 * How far the DMA engine came: all of it; an access to the source, or to the destination,
 * was refused.
 */
#define FL_DMA_OK		0u
#define FL_DMA_SOURCE		1u
#define FL_DMA_DESTINATION	2u

/*
 * Copy length bytes from src to dst, both of this process, with the DMA engine of the
 * processing system. The card has no part in it. Sleeps until it is over; processes that
 * copy at the same time take turns by the megabyte.
 *
 * Source and destination must each lie in one region, the destination's with a right to
 * write; a row with tables of the process's own has nothing inserted for the engine to
 * find. 0: look at status; done bytes were copied, and the access behind them was refused
 * unless status is FL_DMA_OK. Where the ranges overlap, a destination below the source gets
 * the source's bytes, and what one above it gets is not defined.
 *
 * -EINVAL: length 0, a range that wraps, flags. -EFAULT: src or dst is in no region, or not
 * all of it. -EACCES: the region of dst is only to be read. -EPERM: the tables of the
 * process's row are not inserted. -EOPNOTSUPP: the board has no such engine for the driver
 * (window, shared SMMU, a device tree without it). -EBUSY: another thread copies with the
 * file. -EINTR: a signal came; some of it may have been copied. -EIO: the channel did not
 * stop once, and is not used any more.
 */
struct fl_dma_copy {
	__u32 size;
	__u32 flags;		/* 0 */
	__u64 src, dst, length;
	__u64 done;		/* out: bytes from the start that were copied */
	__u32 status;		/* out: FL_DMA_* */
	__u32 reserved;
};

#define FL_IOC_DMA_COPY	_IOWR('F', 0x12, struct fl_dma_copy)

/*
 * Pages that the card will want: bring them in, for reading or for writing; or, NO_FAULT, let
 * the card have those that the process has anyway. Without FLUSH a worker does it, as far as
 * it can, and the call does not wait. With FLUSH the card has them when it returns.
 *
 * -EINVAL: no such domain, advice or flag, or no range; -ENOENT: no such key; -EPERM: the
 * region is in another domain, or the card may not write there (PREFETCH_WRITE); -EFAULT: not
 * all of the range is in the region; with FLUSH: or not all of it is mapped so. -EAGAIN: the
 * kernel takes the pages away again faster than they come. -ENOMEM.
 */
#define FL_ADVISE_PREFETCH	0u
#define FL_ADVISE_PREFETCH_WRITE 1u
#define FL_ADVISE_NO_FAULT	2u
#define FL_ADVISE_FLUSH		1u	/* flag */
struct fl_advise {
	__u32 size;
	__u32 pd;
	__u32 key;
	__u32 advice;
	__u64 addr;
	__u64 length;
	__u32 flags;
	__u32 reserved;
};

#define FL_IOC_ADVISE	_IOW('F', 0x20, struct fl_advise)

/*
 * State and attributes of a queue pair (entries.def, FL_MOD_*): those that mask names, the
 * others must be 0. With mask 0 it is only asked for its state. -EINVAL: not from the state
 * that it is in, or an attribute is missing, not allowed or makes no sense; or the queue pair
 * was not made with FL_QP_RC or FL_QP_UD, whose state changes with FL_IOC_CONNECT_QP and by itself.
 */
struct fl_modify_qp {
	__u32 size;
	__u32 qp;
	__u32 mask;		/* FL_MOD_* */
	__u32 state;		/* FL_STATE_*; out: that it was in */
	__u32 mtu;		/* 1 to 5: 256 to 4096 bytes */
	__u32 rnr_code, retries, rnr_tries, timeout, rd_atomic, dest_rd_atomic;
	__u32 node, peer_qp;
	__u32 sq_psn, rq_psn;
	__u32 draining;		/* out: 1: requests were under way */
	__u32 qkey;		/* of datagrams */
	__u32 access;		/* of a reliable connection: FL_ACC_REMOTE_* */
};

#define FL_IOC_MODIFY_QP _IOWR('F', 0x18, struct fl_modify_qp)

/* A receive queue that queue pairs share. -EOPNOTSUPP: as for FL_QP_RC. */
struct fl_create_srq {
	__u32 size;
	__u32 pd;
	__u32 entries;		/* in: wish; out: what it got (power of two) */
	__u32 srq;		/* out: number */
	__u64 mmap_offset;	/* out */
	__u64 mmap_bytes;	/* out */
};

#define FL_IOC_CREATE_SRQ _IOWR('F', 0x19, struct fl_create_srq)
#define FL_IOC_DESTROY_SRQ _IOW('F', 0x1A, struct fl_destroy)

/* When it holds fewer entries than limit, there is an event, once. -EINVAL: more than it has */
struct fl_limit_srq {
	__u32 size;
	__u32 srq;
	__u32 limit;		/* 0: none */
	__u32 reserved;
};

#define FL_IOC_LIMIT_SRQ _IOW('F', 0x1B, struct fl_limit_srq)

/*
 * An event counter (entries.h, struct fl_count): WRITEs of queue pairs NV name it, and it rises
 * when they are in their place. -EOPNOTSUPP: the card has none; -ENOSPC; -ENOMEM.
 */
struct fl_create_counter {
	__u32 size;
	__u32 counter;		/* out: number, from 1 on */
	__u64 mmap_offset;	/* out: of the page that begins with its struct fl_count */
	__u64 mmap_bytes;	/* out */
};

#define FL_IOC_CREATE_COUNTER _IOWR('F', 0x28, struct fl_create_counter)
#define FL_IOC_DESTROY_COUNTER _IOW('F', 0x29, struct fl_destroy)

/*
 * Sleep until an event for the counter came, which the process armed with the COUNTER_ARM
 * doorbell after it last looked. -ETIMEDOUT; -EINTR.
 */
struct fl_wait_counter {
	__u32 size;
	__u32 counter;
	__u64 timeout_ns;	/* 0: no limit */
};

#define FL_IOC_WAIT_COUNTER _IOW('F', 0x2A, struct fl_wait_counter)

/*
 * Sleep until something happened to an object of the file, and take the oldest such event:
 * any FL_EV_* but FL_EV_CQ. When 64 wait, a further one takes the place of the oldest. poll()
 * says POLLPRI. -ETIMEDOUT; -EINTR.
 */
struct fl_next_event {
	__u32 size;
	__u32 type;		/* out: FL_EV_* */
	__u32 object;		/* out: number of the queue pair or queue */
	__u32 data;		/* out: of QP_ERROR its status and FL_ENDED_* */
	__u64 timeout_ns;	/* 0: no limit */
};

#define FL_IOC_NEXT_EVENT _IOWR('F', 0x1C, struct fl_next_event)

/*
 * mmap offsets: the doorbell page, as fl_query.doorbell says (WINDOW: it and the next); queues
 * have the offsets that creating them gave. -ENOENT: nothing is there; -EINVAL:
 * not all of it, or not MAP_SHARED. A mapping keeps the file open; a child of
 * fork() does not get it.
 */
#define FL_MMAP_DOORBELL 0ull

#endif
