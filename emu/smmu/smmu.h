/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smmu.h - model of the Arm SMMU-500 of Zynq UltraScale+ (SMMUv2).
 *
 * A device access names a stream, a virtual address and a direction;
 * smmu_translate() says where it goes, or that it is refused (an AXI SLVERR for
 * the device), or that it is stalled until software writes RESUME. Software sees
 * only registers (smmu_reg_read, smmu_reg_write) and one level interrupt.
 *
 * The model is passive: it has no clock, no thread, allocates nothing after
 * smmu_create() and does not know who calls it. Time comes in as a parameter
 * and goes out as ready_ns; memory is reached through callbacks that may fail.
 *
 * Files: stream.c matches streams; bank.c holds a context bank's registers, its
 * fault latch, stall and RESUME; walk.c walks the tables; tlb.c and walk_cache.c
 * cache; regs.c decodes; translate.c is the front door, run.c that for many pages at once.
 */
#ifndef FL_SMMU_H
#define FL_SMMU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/event.h"

#define SMMU_BANKS	16
#define SMMU_GROUPS	48	/* stream match groups */
#define SMMU_TBUS	6	/* translation buffer units, sources: smmu-chip */
#define SMMU_WALKS	8	/* parallel walks of one TBU, sources: smmu-faults */
#define SMMU_REG_BYTES	0x20000	/* 16 global pages, 16 context bank pages */
/* The bank number of what concerns every bank: global syncs, invalidations. */
#define SMMU_ALL_BANKS	SMMU_BANKS
/* Transactions that may be stalled at once: 128 reads + 128 writes per TBU. */
#define SMMU_STALLED_MAX	(SMMU_TBUS * 256)

struct smmu;

enum smmu_mem_status {
	SMMU_MEM_OK,
	SMMU_MEM_ABORT,		/* nobody answers at this address, or an injected bus error */
	SMMU_MEM_POISON,	/* the data came back marked corrupt */
};

/* Argument "op" of the trace event SMMU_TLBI. */
enum smmu_tlbi_op {
	SMMU_TLBI_VA,		/* TLBIVA: one page of one ASID, and global */
	SMMU_TLBI_VAL,		/* TLBIVAL: the same, but not in the walk cache */
	SMMU_TLBI_VAA,		/* TLBIVAA: one page of every ASID */
	SMMU_TLBI_VAAL,
	SMMU_TLBI_ASID,		/* TLBIASID: what is not global of one ASID */
	SMMU_TLBI_ALL,		/* TLBIALL: all of the bank's VMID */
	SMMU_TLBI_VMID,		/* TLBIVMID */
	SMMU_TLBI_ALLNSNH,	/* TLBIALLNSNH, STLBIALL: everything */
	SMMU_TLBI_ALLH,		/* TLBIALLH: hyp entries; there are none here */
};

enum smmu_verdict {
	SMMU_OK,	/* go to pa */
	SMMU_FAULT,	/* refused: the device gets an error response */
	SMMU_STALLED,	/* stalled: env.resume will be called with the ticket */
	SMMU_RAZWI,	/* refused, but CFRE or GFRE is 0: reads see zero, writes vanish */
};

/*
 * What the board gives the SMMU. Every callback but read64s is needed; all may be called
 * from any thread. irq, resume and sync_done are called without the SMMU's lock and
 * may call the SMMU; read64, read64s, frame_tag and sync_start are called with it, must
 * be short and must not.
 */
struct smmu_env {
	void *ctx;
	/* One naturally aligned 64-bit descriptor, atomically (acquire). */
	enum smmu_mem_status (*read64)(void *ctx, uint64_t pa, uint64_t *value);
	/* The one shared level interrupt; called when the level changes. */
	void (*irq)(void *ctx, bool level);
	/*
	 * TLB synchronise has the meaning of an RCU grace period: sync_start
	 * notes that one is wanted; sync_done tells whether every device access
	 * that was translated before sync_start has ended. sync_done may block
	 * for that time where the scheduler allows blocking, or return false.
	 * bank is SMMU_ALL_BANKS for a global synchronise.
	 */
	void (*sync_start)(void *ctx, unsigned int bank);
	bool (*sync_done)(void *ctx, unsigned int bank);
	/*
	 * A stalled transaction is let go. SMMU_OK: it may be tried again;
	 * SMMU_FAULT, SMMU_RAZWI: it is terminated, and ends like that.
	 */
	void (*resume)(void *ctx, uint64_t ticket, enum smmu_verdict how);
	/*
	 * Tag of the frame at pa; 0 where there is none. Kept in a TLB entry; for
	 * a 2 MB or 1 GB block it is asked for the block's first byte.
	 */
	uint64_t (*frame_tag)(void *ctx, uint64_t pa);
	/*
	 * As read64, of n in a row, each atomically. Returns n, or 0 if one of them would
	 * not be SMMU_MEM_OK. NULL: only read64 is asked.
	 */
	uint32_t (*read64s)(void *ctx, uint64_t pa, uint64_t *value, uint32_t n);
};

/* Costs in ns, from the timing profile; all 0 in the threads and processes modes. */
struct smmu_timing {
	uint32_t tlb_hit_ns;	/* one TLB lookup, hit or miss */
	uint32_t walk_level_ns;	/* one descriptor read */
};

struct smmu_config {
	unsigned int tlb_entries;	/* rounded up to a power of two; default 512 */
	unsigned int walk_cache_entries;	/* the same; 0: no walk cache */
	struct smmu_timing timing;
	struct trace *trace;
	uint8_t board;			/* for the trace */
};

/*
 * The hits of one port, kept beside it: as long as nothing at all has changed in
 * the SMMU (no register written, no entry filled, no fault), the next hit on the
 * page needs neither lookup nor lock. A translation found here when software has
 * just changed something is one that came a moment before: the caller's read-side
 * section, which TLB synchronise waits for, covers both. Zero it before use; one
 * access at a time.
 */
#define SMMU_UTLB_PAGES	256

struct smmu_utlb {
	struct smmu_utlb_page {
		uint64_t changes;	/* of the SMMU when it was noted; 0: empty */
		uint64_t page;		/* va >> 12 */
		uint64_t pa;		/* of the page */
		uint64_t tag;
		uint32_t who;		/* stream, write, privileged */
		uint8_t bank;
		/* The port's own: what there is at pa; NULL when the page has just been noted. */
		uint8_t *mem, *used;
		const uint64_t *frame_tag;
	} page[SMMU_UTLB_PAGES];
};

/* What such a hit depends on, and what it leaves behind, in the SMMU. */
struct smmu_front {
	_Atomic uint64_t changes;	/* lock held: what was noted before is void */
	_Atomic uint64_t accesses, hits; /* written by who translates */
};
struct smmu_front *smmu_front(struct smmu *s);

/* Acquire: who sees the number sees what was changed. */
static inline uint64_t smmu_front_changes(const struct smmu_front *f)
{
	return atomic_load_explicit(&f->changes, memory_order_acquire);
}

/* One writer at a time: an addition that other CPUs wait for is not needed. */
static inline void smmu_count(_Atomic uint64_t *n, uint32_t more)
{
	atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + more,
			      memory_order_relaxed);
}

static inline struct smmu_utlb_page *smmu_utlb_slot(struct smmu_utlb *u, uint64_t va)
{
	return &u->page[(va >> 12) % SMMU_UTLB_PAGES];
}

static inline uint32_t smmu_utlb_who(uint16_t stream, bool write, bool privileged)
{
	return stream | (uint32_t)write << 16 | (uint32_t)privileged << 17;
}

/* For an access at va by who. */
static inline bool smmu_utlb_knows(const struct smmu_utlb_page *m, uint32_t who, uint64_t va,
				   uint64_t changes)
{
	return m->changes == changes && m->page == va >> 12 && m->who == who;
}

struct smmu_access {
	/* in */
	struct smmu_utlb *utlb;	/* or NULL */
	uint16_t stream;	/* 15 bits: TBU 14:10, master ID 9:0 */
	bool write;
	bool privileged;	/* AxPROT[0] */
	uint64_t va;
	uint64_t now_ns;
	uint64_t ticket;	/* the caller's name for this access, given back by resume() */
	uint64_t cause;		/* trace sequence number of what caused it */
	uint32_t xfer, block;	/* for the trace */
	/* out */
	uint64_t pa;
	uint64_t tag;		/* frame tag when the translation was made */
	uint64_t ready_ns;	/* when the translation, or the refusal, is there */
	uint64_t event;		/* trace sequence number of the outcome */
	uint8_t bank;		/* 0xff: no bank */
	bool tlb_hit;
};

/* NULL when memory runs out. cfg and env are copied. */
struct smmu *smmu_create(const struct smmu_config *cfg, const struct smmu_env *env);
void smmu_destroy(struct smmu *s);

/* Power-on state; sources: smmu-chip. Held transactions are terminated. */
void smmu_reset(struct smmu *s);

/*
 * Translate one access that does not cross a 4 KB page. Never blocks. The
 * caller must hold a read-side section (or its lockstep equivalent) from before
 * this call until the data has been moved.
 */
enum smmu_verdict smmu_translate(struct smmu *s, struct smmu_access *a);

/*
 * Up to 64 KB at once. In a: utlb, stream, write, privileged, va, cause, xfer, block. The
 * records of all that is left to the caller, who finds in page[].walk how a page was found
 * that was no hit.
 */
#define SMMU_RUN_PAGES	TRACE_WRITE_PAGES

struct smmu_run {
	struct smmu_access a;
	uint64_t changes;
	uint32_t pages;
	uint32_t noted;		/* of these, the first ones, which the port's own cache has */
	uint32_t walks;		/* of the others; after smmu_run_take() */
	uint8_t bank;
	struct trace_page page[SMMU_RUN_PAGES];	/* pa: of its first byte in the run */
	uint64_t tag[SMMU_RUN_PAGES];
	/* Of those that were not noted: what there was when they were looked for. */
	enum smmu_run_how {
		SMMU_RUN_HIT,
		SMMU_RUN_BLOCK,		/* a walk, to a block of 2 MB or 1 GB */
		SMMU_RUN_PAGE,		/* a walk, to a page; its tag is the caller's to enter */
		SMMU_RUN_NEXT,		/* the same, through the table of the page before */
	} how[SMMU_RUN_PAGES];
	struct trace_walk told[SMMU_RUN_PAGES];	/* what page[].walk points to */
	uint64_t desc[SMMU_RUN_PAGES];	/* last ones that were read, of pages before `ahead` */
	uint32_t ahead;
};

/*
 * Would smmu_translate() find all the pages of len bytes, by hits and walks alone? Whatever
 * the answer, nothing has changed, and nothing is recorded. Before the take the caller enters
 * the tags of frames that how[] says, which it has to look up anyhow.
 */
bool smmu_run_look(struct smmu *s, struct smmu_run *r, uint32_t len);
/*
 * They are used: what smmu_translate() would have left behind for one access to each page,
 * and `again` more that hit. False: something has changed since the look, and nothing is
 * done. As with smmu_translate(), in a read-side section; one caller at a time from the look
 * on.
 */
bool smmu_run_take(struct smmu *s, struct smmu_run *r, uint32_t again);

/*
 * Registers. off: byte offset in the 128 KB window; size: 4 or 8 bytes. A
 * 64-bit register may be reached as two 32-bit halves. Returns 0, or -EINVAL
 * when off is misaligned or outside (reads then give 0, writes do nothing).
 * Unimplemented offsets inside the window read as zero and ignore writes.
 */
int smmu_reg_read(struct smmu *s, uint32_t off, unsigned int size, uint64_t *value);
int smmu_reg_write(struct smmu *s, uint32_t off, unsigned int size, uint64_t value);

/*
 * Counters since reset, for tests and reports. faults: latched with their
 * description; multi: lost but for MULTI; resumes: RESUMEs that took effect.
 */
struct smmu_stats {
	uint64_t accesses, hits, walks, walk_reads, faults, multi, stalls, resumes,
		 invalidations, syncs, walk_waits;
};
void smmu_stats(const struct smmu *s, struct smmu_stats *st);

/* Is any transaction stalled? (for drain checks) */
bool smmu_busy(struct smmu *s);

#endif
