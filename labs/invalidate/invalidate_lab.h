/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * invalidate_lab.h - what the judge of this lab may ask its subject: one board
 * with the small kernel and the driver on it, in lockstep, and processes whose
 * memory it is. The card is the judge: it begins and ends accesses of the
 * memory port whenever it likes. So is the CPU of the processes.
 */
#ifndef FL_LABS_INVALIDATE_LAB_H
#define FL_LABS_INVALIDATE_LAB_H

#include "tools/grade/subject.h"

#define LAB_PAGES	160	/* that each process has mapped */
#define LAB_PROCESSES	2
#define LAB_CARDS	3	/* device files that are open, over all */
#define LAB_CHANNELS	2	/* of the card: one access each at a time */
#define LAB_PAGE_BYTES	4096u
/* ns. No call of the kernel takes so long: who does will never end. */
#define LAB_RUNAWAY_NS	UINT64_C(20000000000)

/* Why pages stay, of LAB_PIN: nothing, the driver, the process (HELD_KEPT). */
enum lab_stay { LAB_STAY_NOT, LAB_STAY_PINNED, LAB_STAY_HELD };

/* Where a card's access begins by itself. */
enum lab_moment {
	LAB_AT_CLOSE,	/* the kernel has the CPU's view of pages closed */
	LAB_AT_TELL,	/* it is about to tell the driver */
	LAB_AT_TOLD,	/* it has told the driver */
	LAB_MOMENTS,
};

/* Arguments of a question: Q; of its answer: A. Pages are counted from 0. */
enum {
	/*
	 * A new board with one process that has the card open (card 0). Once.
	 * Q: frames (0: plenty), pages of swap (0: plenty)
	 */
	LAB_NEW = SUBJECT_FIRST,
	/* One more process. A: its number */
	LAB_PROCESS,
	/* Open the card. Q: process. A: card, its context bank */
	LAB_OPEN,
	/* Q: card */
	LAB_CLOSE,
	/*
	 * The CPU uses a page. Q: process, page, 1: write, seed of its new bytes.
	 * A: negative errno or 0, sum of the bytes then, page faults
	 */
	LAB_CPU,
	/* Q: process, page, pages, advice of host.h. A: as the call, ns */
	LAB_ADVISE,
	LAB_PROTECT,	/* advice: rights */
	LAB_UNMAP,
	/* Q: process, page, pages, enum lab_stay. A: pages */
	LAB_PIN,
	/* Only tell the driver. Q: process, first byte, byte after the last */
	LAB_TELL,
	/* Tell it that the address space ends. Q: process. A: 0, ns */
	LAB_END_SPACE,
	/* A pinned region. Q: process, card, page, pages. A: negative errno or 0 */
	LAB_REGION,
	/*
	 * An access of the card begins. Q: channel, card, page, 1: write, seed.
	 * A: enum dma_status, physical address
	 */
	LAB_BEGIN,
	/* Q: channel, ns from now (0: now) */
	LAB_FINISH,
	/*
	 * Q: moment, channel, card, page, 1: write, seed, ns that it lasts, so many
	 * times (0: not any more)
	 */
	LAB_WHEN,
	/*
	 * From now on, again and again, on both channels. Q: card, page,
	 * ns that each lasts, so many times
	 */
	LAB_BUSY,
	/* Q: ns */
	LAB_WAIT,
	/* The processes' CPU does not close its view. Q: so many times */
	LAB_REFUSE,
	/* Q: 1: swap cannot be written */
	LAB_SWAP_BAD,
	/* The card's power goes for good. */
	LAB_GONE,
	/*
	 * What happened next. A: 1, enum lab_event or 0 if it is none, four
	 * numbers; or 0: nothing more
	 */
	LAB_LOG,
	/*
	 * Q: process, page. A: descriptor, what the CPU may do, physical address
	 * of its frame or 0, tag of that
	 */
	LAB_LOOK,
	/* A: enum lab_stat */
	LAB_STATS,
	/* Q: offset, bytes. A: value of a register of the SMMU */
	LAB_REG,
	/* Grace periods by themselves: LAB_GRACE_NEW and so on, channel. A: result */
	LAB_GRACE,
	/* The hardware's threads: Q: enum lab_reader. A: enum lab_urcu */
	LAB_READER,
};

/* Of LAB_LOG; pages as numbers, NOWHERE: not one of the process's. */
enum lab_event {
	LAB_EV_CLOSE = 1,	/* page, pages */
	LAB_EV_TELL,		/* page, pages, still valid, open, frames gone */
	LAB_EV_TOLD,		/* the same */
	LAB_EV_CARD,		/* enum dma_status, page: of LAB_WHEN */
	LAB_EV_LANDED,		/* channel: of LAB_FINISH, when its time came */
	LAB_EV_TLBI,		/* bank, page, asid, enum smmu_tlbi_op */
	LAB_EV_SYNC,		/* bank */
	LAB_EV_SYNCED,		/* bank */
	LAB_EV_AGED,		/* page */
	LAB_EV_EVICTED,		/* page, 2: to swap */
	LAB_EV_STALE,
};
#define LAB_NOWHERE	0xffffu

enum lab_stat {
	LAB_STALE, LAB_EVICTIONS, LAB_AGES, LAB_INVALIDATIONS, LAB_FRAMES_USED,
	LAB_SWAP_USED, LAB_NOW, LAB_SWAP_OUTS, LAB_STATS_COUNT,
};

enum lab_grace {
	LAB_GRACE_NEW, LAB_GRACE_ENTER, LAB_GRACE_EXIT, LAB_GRACE_START,
	LAB_GRACE_DONE,
	LAB_GRACE_NEW_THREADS,	/* the same calls then, in threads mode */
};

/* What a thread of the hardware does. */
enum lab_reader {
	LAB_READER_ONLINE, LAB_READER_OFFLINE,
	LAB_READER_THREAD,	/* another thread does both, twice, and ends */
};

/*
 * Calls of liburcu so far, whether the calling thread counts as a reader, and the
 * first call that was wrong when it came (enum lab_urcu_call).
 */
enum lab_urcu {
	LAB_URCU_REGISTER, LAB_URCU_UNREGISTER, LAB_URCU_SYNCHRONIZE,
	LAB_URCU_READER, LAB_URCU_WRONG, LAB_URCU_COUNT,
};

enum lab_urcu_call {
	LAB_CALL_NONE, LAB_CALL_REGISTER, LAB_CALL_UNREGISTER, LAB_CALL_ONLINE,
	LAB_CALL_OFFLINE, LAB_CALL_QUIESCENT, LAB_CALLS,
};

/* Of most answers: what host_check() says, as text; empty: all is well. */
#define LAB_AT_CHECK	16

/* Byte of a page that was filled with this seed; seed 0: zeros. */
static inline uint8_t lab_byte(uint64_t seed, uint64_t at)
{
	return seed ? (uint8_t)((at * 2654435761u + seed * 40503u) >> 11 ^ seed) : 0;
}

static inline uint64_t lab_add(uint64_t sum, uint8_t byte)
{
	return (sum ^ byte) * UINT64_C(0x100000001b3);
}

#endif
