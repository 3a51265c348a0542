/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dram.h - a board's memory: banks of frames, and a tag for each frame. What every burst
 * and every level of a walk asks is inline here; the rest is dram.c.
 */
#ifndef FL_BOARD_DRAM_H
#define FL_BOARD_DRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DRAM_BASE 0x800000000ull /* DDR high of Zynq UltraScale+ (UG1085) */
#define DRAM_BANK_STRIDE 0x100000000ull /* bank k begins at DRAM_BASE + k * stride */
#define DRAM_BANKS 32
#define DRAM_PAGE  4096u
#define DRAM_INJECTIONS 16

enum dram_status {
	DRAM_OK,
	DRAM_DECERR /* nobody there, or injected */,
	DRAM_POISON
};

/*
 * A bank is one shared-memory object, so that a process can map only its own.
 * The hardware's own mapping (mem) is never protected.
 */
struct dram_bank {
	uint64_t base, bytes;
	int fd;
	uint8_t *mem;
	uint64_t *tag; /* per frame: generation; changed by the owner of the
			  frames. NULL: a bank of dram_bank_map(), all 0 */
	uint8_t *used; /* per frame, as tag: by the card since that tag */
};

struct dram {
	struct dram_bank bank[DRAM_BANKS + 1];	/* the last: dram_bank_map()'s */
	struct {
		uint64_t pa;
		enum dram_status status;
	} inject[DRAM_INJECTIONS];
	atomic_uint injections;
	atomic_uint removals;	/* of banks: what was found in one before is void */
	_Atomic uint64_t tagged;	/* frames that were ever given a tag */
};

struct dram *dram_create(void);
void dram_destroy(struct dram *d);
/* bytes: multiple of DRAM_PAGE, sparse. Number of the bank, or negative errno. */
int dram_bank_add(struct dram *d, const char *name, uint64_t bytes);
/*
 * Memory that somebody else made, a guest's: fd (which stays the caller's) from its
 * first byte on, at base, below DRAM_BASE. One at a time (-EBUSY). Frames there have no
 * tags: who owns them does not tell us. Number of the bank, or negative errno.
 */
int dram_bank_map(struct dram *d, int fd, uint64_t base, uint64_t bytes);
/* Nobody may use it any more: neither hardware nor software. */
void dram_bank_remove(struct dram *d, int bank);
struct dram_bank *dram_bank(struct dram *d, int bank);

/* ---- what is at an address ---- */

/* The bank that has all len bytes at pa, or NULL. */
static inline struct dram_bank *dram_bank_of(struct dram *d, uint64_t pa,
					     uint64_t len)
{
	uint64_t i = (pa - DRAM_BASE) / DRAM_BANK_STRIDE;
	struct dram_bank *b;

	if (pa < DRAM_BASE)
		i = DRAM_BANKS;
	else if (i >= DRAM_BANKS)
		return NULL;
	b = &d->bank[i];
	if (pa < b->base || len > b->bytes || pa - b->base > b->bytes - len)
		return NULL;
	return b;
}

/* Pointer to len bytes at pa inside one bank, or NULL. */
static inline void *dram_at(struct dram *d, uint64_t pa, uint64_t len)
{
	struct dram_bank *b = dram_bank_of(d, pa, len);

	return b ? b->mem + (pa - b->base) : NULL;
}

/* Make the frame at pa answer with an error (tests). */
void dram_inject(struct dram *d, uint64_t pa, enum dram_status s);

/* What a test has made of the frames of pa to pa + len - 1. */
static inline enum dram_status dram_injected(struct dram *d, uint64_t pa,
					     uint32_t len)
{
	unsigned int i, n = atomic_load_explicit(&d->injections,
						 memory_order_relaxed);

	for (i = 0; i < n; i++)
		if (d->inject[i].pa / DRAM_PAGE >= pa / DRAM_PAGE &&
		    d->inject[i].pa / DRAM_PAGE <= (pa + len - 1) / DRAM_PAGE)
			return d->inject[i].status;
	return DRAM_OK;
}

/* One access that no other is likely to follow. */
static inline enum dram_status dram_get(struct dram *d, uint64_t pa, void *buf,
					uint32_t len)
{
	enum dram_status s = dram_injected(d, pa, len);
	void *mem = dram_at(d, pa, len);

	if (!mem || s == DRAM_DECERR)
		return DRAM_DECERR;
	memcpy(buf, mem, len);
	return s;
}

static inline enum dram_status dram_put(struct dram *d, uint64_t pa, const void *buf,
					uint32_t len)
{
	enum dram_status s = dram_injected(d, pa, len);
	void *mem = dram_at(d, pa, len);

	if (!mem || s == DRAM_DECERR)
		return DRAM_DECERR;
	memcpy(mem, buf, len);
	return DRAM_OK;		/* new data is not poisoned */
}

/* The same, and whole pages that follow are fetched ahead. */
enum dram_status dram_read(struct dram *d, uint64_t pa, void *buf,
			   uint32_t len);
enum dram_status dram_write(struct dram *d, uint64_t pa, const void *buf,
			    uint32_t len);

/* A descriptor; acquire: pairs with dram_write64(): what it points to is visible. */
static inline enum dram_status dram_read64(struct dram *d, uint64_t pa,
					   uint64_t *v)
{
	enum dram_status s = dram_injected(d, pa, 8);
	uint64_t *mem = pa % 8 ? NULL : dram_at(d, pa, 8);

	if (!mem || s == DRAM_DECERR)
		return DRAM_DECERR;
	*v = __atomic_load_n(mem, __ATOMIC_ACQUIRE);
	return s;
}

/* n of them in a row. False: one of them cannot be read, or must not. */
static inline bool dram_read64s(struct dram *d, uint64_t pa, uint64_t *v, uint32_t n)
{
	const uint64_t *mem = pa % 8 ? NULL : dram_at(d, pa, 8 * (uint64_t)n);
	uint32_t i;

	if (!mem || dram_injected(d, pa, 8 * n) != DRAM_OK)
		return false;
	for (i = 0; i < n; i++)
		v[i] = __atomic_load_n(&mem[i], __ATOMIC_ACQUIRE);
	return true;
}

void dram_write64(struct dram *d, uint64_t pa, uint64_t v); /* release */

/*
 * An atomic of the card on 8 aligned bytes, a little-endian number: add operand, or, with
 * compare, store it if expected is there. What was there comes back in *old. Also the CPU
 * sees it happen at once.
 */
enum dram_status dram_atomic(struct dram *d, uint64_t pa, bool compare,
			     uint64_t expected, uint64_t operand, uint64_t *old);

/* ---- tags ---- */

/*
 * The kernel changes a frame's tag whenever it is given to someone else. It sets
 * DRAM_TAG_ORPHAN while the frame is pinned and no mapping leads to it; that is no
 * other generation, so a translation to it is not stale.
 */
#define DRAM_TAG_ORPHAN	(1ull << 63)

static inline uint64_t dram_tag(struct dram *d, uint64_t pa)
{
	struct dram_bank *b = dram_bank_of(d, pa, 1);

	return b && b->tag ?
		       __atomic_load_n(&b->tag[(pa - b->base) / DRAM_PAGE],
				       __ATOMIC_ACQUIRE) : 0;
}

/* A frame that is looked up once for several accesses: one caller's, for a moment. */
struct dram_frame {
	uint8_t *mem;		/* of the byte that was asked for */
	const uint64_t *tag;
	uint8_t *used;		/* NULL: nobody asks for it */
};

/* Where there are no tags, all frames have this one. */
extern const uint64_t dram_no_tag;

static inline void dram_frame_in(const struct dram_bank *b, uint64_t pa, struct dram_frame *f)
{
	uint64_t off = pa - b->base;

	f->mem = b->mem + off;
	f->tag = b->tag ? &b->tag[off / DRAM_PAGE] : &dram_no_tag;
	f->used = b->used ? &b->used[off / DRAM_PAGE] : NULL;
}

/*
 * False: there is no memory at pa. *bank: where the caller found its last one, or NULL; the
 * next is likely to be there too.
 */
static inline bool dram_frame_find(struct dram *d, uint64_t pa, const struct dram_bank **bank,
				   struct dram_frame *f)
{
	if (!*bank || pa - (*bank)->base >= (*bank)->bytes)
		*bank = dram_bank_of(d, pa, 1);
	if (!*bank)
		return false;
	dram_frame_in(*bank, pa, f);
	return true;
}

/* As dram_tag(), and as dram_use(). */
static inline uint64_t dram_frame_tag(const struct dram_frame *f)
{
	return __atomic_load_n(f->tag, __ATOMIC_ACQUIRE);
}

static inline void dram_frame_use(const struct dram_frame *f)
{
	if (f->used && !__atomic_load_n(f->used, __ATOMIC_RELAXED))
		__atomic_store_n(f->used, 1, __ATOMIC_RELAXED);
}

/* One caller at a time. */
void dram_tag_set(struct dram *d, uint64_t pa, uint64_t tag);
/*
 * It grows behind each dram_tag_set(): while it stays what it was before a look at tags, these
 * are as they were, and so are frames that dram_use() was called for.
 */
static inline uint64_t dram_tagged(struct dram *d)
{
	return atomic_load_explicit(&d->tagged, memory_order_acquire);
}

/* The card has moved data there, or has it since the frame got its tag? */
void dram_use(struct dram *d, uint64_t pa);
bool dram_used(struct dram *d, uint64_t pa);

#endif
