/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smmu_internal.h - what the files of the SMMU model share.
 *
 * The register file is kept as the 32-bit words of the register pages; what the
 * hot path needs of a context bank is decoded into struct smmu_bank when
 * software writes a register. One spin lock covers everything: a lookup, or a
 * whole walk with the fill of the TLB, is atomic against register writes, so
 * that an invalidation can never be overtaken by a walk that began before it.
 */
#ifndef FL_SMMU_INTERNAL_H
#define FL_SMMU_INTERNAL_H

#include "os/os.h"
#include "smmu.h"
#include "trace/event.h"
#include "faultline/smmu_fsr.h"
#include "faultline/smmu_regs.h"

#define SMMU_PAGE_WORDS	1024
#define SMMU_NO_BANK	0xff
#define SMMU_ROUTES	64	/* remembered stream matches */
#define SMMU_REG_KINDS	128	/* at least the registers of smmu.def */
#define SMMU_TLB_WAYS	4

#define SMMU_FIELD(value, reg_field)                                          \
	(((value) & reg_field##_MASK) >> reg_field##_SHIFT)

/* What a translation allows; the unprivileged pair is two bits up. */
enum smmu_perm {
	SMMU_PERM_PRIV_READ = 1,
	SMMU_PERM_PRIV_WRITE = 2,
	SMMU_PERM_USER_READ = 4,
	SMMU_PERM_USER_WRITE = 8,
	SMMU_PERM_USER = SMMU_PERM_USER_READ | SMMU_PERM_USER_WRITE,
};

struct smmu_tlb_entry {
	uint64_t key;	/* tlb.c: page, level, VMID, ASID; 0: empty */
	uint64_t mask;	/* key bits to compare: global leaves ASID out */
	uint64_t pa;	/* of the page's or block's first byte */
	uint64_t tag;
	uint8_t perm;	/* enum smmu_perm */
	uint8_t level;	/* 3: 4 KB, 2: 2 MB, 1: 1 GB */
};

struct smmu_tlb {
	struct smmu_tlb_entry *entry;
	uint8_t *victim;	/* way of each set that is replaced next */
	uint32_t sets;
	uint32_t count[4][2];	/* entries there are, by level and global */
};

/* A table that a walk has found: walk_cache.c. */
struct smmu_walk_entry {
	uint64_t prefix;	/* input address above what the table covers */
	uint64_t table;
	uint64_t taken;		/* rights that APTable takes away below it */
	uint16_t asid;
	uint8_t vmid;
	uint8_t level;		/* of the table, 1 to 3; 0: empty */
};

struct smmu_walk_cache {
	struct smmu_walk_entry *entry;
	uint32_t entries;	/* 0: there is no walk cache */
};

/* A level of a walk: the entry with this index of a table. */
struct smmu_walk_seen {
	uint64_t table, index, desc;
};

/* The end of a walk, and the way there. */
struct smmu_walk {
	uint64_t pa;		/* of the accessed byte */
	uint32_t fault;		/* a bit of FSR; 0: a translation was found */
	uint8_t level;		/* where the walk ended */
	uint8_t reads;		/* descriptors read */
	uint8_t perm;
	bool global;
	bool aborted;		/* the fault is a bus error: FSYNR0.PTWF */
	bool cached;		/* it began at a table that the walk cache knew */
	uint8_t first;		/* the level where it began */
	uint64_t taken;		/* rights that the tables above that had taken away */
	struct smmu_walk_seen seen[4];	/* by level, from first on */
};

/* Where a stream leads. */
enum smmu_route_kind { SMMU_ROUTE_BYPASS, SMMU_ROUTE_BANK, SMMU_ROUTE_FAULT };

struct smmu_route {
	uint32_t gfsr;		/* SMMU_ROUTE_FAULT: bit of sGFSR */
	uint16_t stream;
	bool known;
	uint8_t kind;
	uint8_t bank;
	uint8_t privcfg;
};

/* A transaction that waits for RESUME, then for the call of env.resume. */
struct smmu_stalled {
	uint64_t ticket;
	uint64_t event;		/* its SMMU_STALL */
	uint64_t va;
	uint32_t xfer, block;
	int16_t next;		/* index in the pool, -1: last */
	bool write;
	enum smmu_verdict how;	/* it is let go; SMMU_OK: to try again */
};

struct smmu_list {
	int16_t first, last;	/* -1: empty */
};

/* A context bank as decoded from its registers, and whom it holds. */
struct smmu_bank {
	uint64_t table;		/* physical address of the first table */
	uint32_t sctlr;
	uint16_t asid, asid_mask;
	uint8_t vmid;
	uint8_t va_bits;	/* 0: TCR asks for what is not implemented */
	uint8_t pa_bits;
	bool walks;		/* not EPD0, and the tables are AArch64 */
	uint8_t format;		/* FSR.FORMAT */
	struct smmu_list stalled;
};

struct smmu {
	atomic_flag lock;
	struct smmu_env env;
	struct smmu_config cfg;
	struct smmu_stats stats;	/* but accesses and hits */
	struct smmu_front front;
	struct smmu_bank bank[SMMU_BANKS];
	struct smmu_route route[SMMU_ROUTES];
	struct smmu_tlb tlb;
	struct smmu_walk_cache walk_cache;
	uint64_t walk_free_ns[SMMU_TBUS][SMMU_WALKS];

	/* What is to be told to the outside once the lock is open. */
	bool irq_level, irq_told;
	bool telling;		/* a thread is at it */
	uint64_t line_event;	/* the last that may have raised it */
	struct smmu_list released;

	struct smmu_list pool;	/* free entries of stalled[] */
	struct smmu_stalled stalled[SMMU_STALLED_MAX];
	uint32_t stalled_count;

	/* Of the run that is looked at (run.c). */
	struct smmu_walk run_walk[SMMU_RUN_PAGES];

	/* TLB synchronise, per bank and SMMU_ALL_BANKS. */
	bool sync_active[SMMU_BANKS + 1];
	uint32_t sync_number[SMMU_BANKS + 1];

	uint32_t gr0[SMMU_PAGE_WORDS], gr1[SMMU_PAGE_WORDS];
	uint32_t cb[SMMU_BANKS][SMMU_PAGE_WORDS];
	/* regs.c: register at each word of GR0, GR1, CB; writable bits. */
	uint8_t reg_at[3][SMMU_PAGE_WORDS];
	uint64_t reg_writable[SMMU_REG_KINDS];
};

/* Words of the register file; off is a byte offset in the page. */
static inline uint32_t *smmu_gr0(struct smmu *s, uint32_t off)
{
	return &s->gr0[off / 4];
}

static inline uint32_t *smmu_gr1(struct smmu *s, uint32_t off)
{
	return &s->gr1[off / 4];
}

static inline uint32_t *smmu_cb(struct smmu *s, unsigned int bank, uint32_t off)
{
	return &s->cb[bank][off / 4];
}

static inline uint64_t smmu_get64(const uint32_t *word)
{
	return word[0] | (uint64_t)word[1] << 32;
}

static inline void smmu_put64(uint32_t *word, uint64_t value)
{
	word[0] = (uint32_t)value;
	word[1] = (uint32_t)(value >> 32);
}

/* Emit an event that belongs to access a, caused by cause; ev is a constant. */
static inline __attribute__((always_inline)) uint64_t
smmu_emit(struct smmu *s, enum trace_event ev, const struct smmu_access *a, uint64_t cause,
	  uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct trace_at at = { .board = s->cfg.board };

	if (!s->cfg.trace)
		return 0;
	at.cause = cause;
	if (a) {
		at.xfer = a->xfer;
		at.block = a->block;
	}
	at.cause = trace_emit(s->cfg.trace, ev, &at, a0, a1, a2, a3);
	if (ev == EV_SMMU_FAULT || ev == EV_SMMU_MULTI || ev == EV_SMMU_STALL ||
	    ev == EV_SMMU_RAZWI || ev == EV_SMMU_GLOBAL)
		s->line_event = at.cause;
	return at.cause;
}

#define SMMU_SPIN_TRIES	64	/* then somebody else may need this CPU */

/* Between enter and leave the lock is held. All calls below want it. */
static inline void smmu_enter(struct smmu *s)
{
	unsigned int tries = 0;

	/* acquire: pairs with the release in smmu_leave() */
	while (atomic_flag_test_and_set_explicit(&s->lock,
						 memory_order_acquire)) {
		if (++tries == SMMU_SPIN_TRIES) {
			tries = 0;
			os_yield();
		}
	}
}

/* After a look: a register was read, say. */
static inline void smmu_leave(struct smmu *s)
{
	atomic_flag_clear_explicit(&s->lock, memory_order_release);
}

/*
 * translate.c. After a change: no translation that the engine's channels remember holds,
 * and the board is told of the interrupt line and of transactions that were released.
 */
void smmu_leave_changed(struct smmu *s);

/* Lock held. Release: pairs with smmu_front_changes(). */
static inline void smmu_changed(struct smmu *s)
{
	uint64_t n = atomic_load_explicit(&s->front.changes, memory_order_relaxed);

	atomic_store_explicit(&s->front.changes, n + 1, memory_order_release);
}

static inline uint64_t smmu_changes(const struct smmu *s)
{
	return smmu_front_changes(&s->front);
}

static inline uint32_t smmu_access_who(const struct smmu_access *a)
{
	return smmu_utlb_who(a->stream, a->write, a->privileged);
}

/* Lock held. a has been translated, and hit. */
void smmu_utlb_fill(struct smmu *s, const struct smmu_access *a);
/* Lock held. The rights that an access needs in this bank (enum smmu_perm). */
uint32_t smmu_rights(const struct smmu_access *a, const struct smmu_route *r);
/* Lock held. The walk has found a translation: into the TLB. */
const struct smmu_tlb_entry *smmu_walked(struct smmu *s, unsigned int n,
					 struct smmu_access *a,
					 const struct smmu_walk *w);

/* stream.c */
const struct smmu_route *smmu_stream_route(struct smmu *s, uint16_t stream);
void smmu_stream_forget(struct smmu *s);
enum smmu_verdict smmu_stream_fault(struct smmu *s, struct smmu_access *a,
				    uint32_t gfsr);

/* bank.c */
void smmu_bank_decode(struct smmu *s, unsigned int n);
bool smmu_bank_blocked(struct smmu *s, unsigned int n);
/* An access that comes while the bank is blocked: stalled or terminated. */
enum smmu_verdict smmu_bank_block(struct smmu *s, unsigned int n,
				  struct smmu_access *a);
/* kind: a bit of FSR; fsynr0: PLVL, PNU, PTWF; WNR and S1CBNDX are added. */
enum smmu_verdict smmu_bank_fault(struct smmu *s, unsigned int n,
				  struct smmu_access *a, uint32_t kind,
				  uint32_t fsynr0);
void smmu_bank_write_fsr(struct smmu *s, unsigned int n, uint32_t value);
void smmu_bank_restore_fsr(struct smmu *s, unsigned int n, uint32_t value);
void smmu_bank_resume(struct smmu *s, unsigned int n, uint32_t value);
/* Let go of every stalled transaction; terminate: they end with an error. */
void smmu_bank_release(struct smmu *s, unsigned int n, bool terminate);
void smmu_bank_init_stalled(struct smmu *s);
/* Take the next released transaction; false when there is none. */
bool smmu_bank_next_released(struct smmu *s, struct smmu_stalled *h);
/* Recompute the one interrupt line from FSR, sGFSR and their enables. */
void smmu_irq_update(struct smmu *s);

/* walk.c. But for stats.walk_reads, a walk has not been before it leaves something behind. */
void smmu_walk(struct smmu *s, unsigned int n, const struct smmu_access *a,
	       struct smmu_walk *w);

/* walk_cache.c; _find and _fill: only where there are entries */
bool smmu_walk_cache_create(struct smmu_walk_cache *c, uint32_t entries);
void smmu_walk_cache_destroy(struct smmu_walk_cache *c);
/* The lowest table that is known for va, of a level below first; or NULL. */
const struct smmu_walk_entry *
smmu_walk_cache_find(const struct smmu_walk_cache *c, uint64_t va,
		     unsigned int first, uint8_t vmid, uint16_t asid);
/* e: level, table, taken. */
void smmu_walk_cache_fill(struct smmu_walk_cache *c, uint64_t va, uint8_t vmid,
			  uint16_t asid, struct smmu_walk_entry e);
/* Count a walk, and keep the tables that it came through. */
void smmu_walk_leave(struct smmu *s, unsigned int n, const struct smmu_access *a,
		     const struct smmu_walk *w);
/* What belongs to all of these goes; NULL stands for any. */
void smmu_walk_cache_drop(struct smmu_walk_cache *c, const uint64_t *va,
			  const uint8_t *vmid, const uint16_t *asid);

/* tlb.c */
bool smmu_tlb_create(struct smmu_tlb *t, uint32_t entries);
void smmu_tlb_destroy(struct smmu_tlb *t);
const struct smmu_tlb_entry *smmu_tlb_lookup(const struct smmu_tlb *t,
					     uint64_t va, uint8_t vmid,
					     uint16_t asid);
/*
 * Of so many pages from va on, how many at the front surely have no entry. It may say fewer,
 * and says 0 where there are other entries than those of pages of one ASID each.
 */
uint32_t smmu_tlb_misses(const struct smmu_tlb *t, uint64_t va, uint32_t pages,
			 uint8_t vmid, uint16_t asid);
const struct smmu_tlb_entry *smmu_tlb_fill(struct smmu_tlb *t, uint64_t va,
					   uint8_t vmid, uint16_t asid,
					   const struct smmu_walk *w,
					   uint64_t tag);
void smmu_tlb_drop_va(struct smmu_tlb *t, uint64_t va, uint8_t vmid,
		      uint16_t asid);
void smmu_tlb_drop_va_any(struct smmu_tlb *t, uint64_t va, uint8_t vmid);
void smmu_tlb_drop_asid(struct smmu_tlb *t, uint8_t vmid, uint16_t asid);
void smmu_tlb_drop_vmid(struct smmu_tlb *t, uint8_t vmid);
void smmu_tlb_drop_all(struct smmu_tlb *t);

/*
 * UG1087 SMMU_CB3_TCR2: TBI0 is read-only 1. Bits 63:56 of an address in the lower
 * half (bit 55 is 0) are a tag that translation does not see. One of the upper
 * half keeps its top byte here, and no walk translates it.
 */
static inline uint64_t smmu_untag(uint64_t va)
{
	return va >> 55 & 1 ? va : va & ((UINT64_C(1) << 56) - 1);
}

/* Bits of address below the index of a level: 12, 21, 30 for 3, 2, 1. */
static inline unsigned int smmu_level_shift(unsigned int level)
{
	return 12 + 9 * (3 - level);
}

/* regs.c */
void smmu_regs_init(struct smmu *s);
void smmu_regs_reset(struct smmu *s);

#endif
