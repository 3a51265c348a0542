// SPDX-License-Identifier: BSD-2-Clause
/*
 * dram.c - memory banks. Each is one shared-memory object and one mapping that is
 * never protected, so that hardware never trips over a process's protections.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "board/dram.h"
#include "os/os.h"
#include "os/os_emu.h"

const uint64_t dram_no_tag;

struct dram *dram_create(void)
{
	struct dram *d = calloc(1, sizeof(*d));
	int i;

	for (i = 0; d && i <= DRAM_BANKS; i++)
		d->bank[i].fd = -1;
	return d;
}

void dram_destroy(struct dram *d)
{
	int i;

	if (!d)
		return;
	for (i = 0; i <= DRAM_BANKS; i++)
		dram_bank_remove(d, i);
	free(d);
}

static int bank_map(struct dram_bank *b, uint64_t bytes)
{
	b->mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd,
		      0);
	if (b->mem == MAP_FAILED) {
		b->mem = NULL;
		return -errno;
	}
	b->bytes = bytes;
	return 0;
}

static int bank_make(struct dram_bank *b, const char *name, uint64_t bytes)
{
	b->fd = os_memory_create(name, bytes);
	if (b->fd < 0)
		return b->fd;
	b->tag = calloc(bytes / DRAM_PAGE, sizeof(*b->tag));
	b->used = calloc(bytes / DRAM_PAGE, sizeof(*b->used));
	return b->tag && b->used ? bank_map(b, bytes) : -ENOMEM;
}

int dram_bank_add(struct dram *d, const char *name, uint64_t bytes)
{
	int i, err;

	if (!bytes || bytes % DRAM_PAGE || bytes > DRAM_BANK_STRIDE)
		return -EINVAL;
	for (i = 0; i < DRAM_BANKS; i++)
		if (!d->bank[i].bytes)
			break;
	if (i == DRAM_BANKS)
		return -ENOSPC;
	d->bank[i].base = DRAM_BASE + (uint64_t)i * DRAM_BANK_STRIDE;
	err = bank_make(&d->bank[i], name, bytes);
	if (err) {
		dram_bank_remove(d, i);
		return err;
	}
	return i;
}

int dram_bank_map(struct dram *d, int fd, uint64_t base, uint64_t bytes)
{
	struct dram_bank *b = &d->bank[DRAM_BANKS];
	int err;

	if (!bytes || bytes % DRAM_PAGE || base % DRAM_PAGE ||
	    bytes > DRAM_BASE || base > DRAM_BASE - bytes)
		return -EINVAL;
	if (b->bytes)
		return -EBUSY;
	b->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	err = b->fd < 0 ? -errno : bank_map(b, bytes);
	if (err) {
		dram_bank_remove(d, DRAM_BANKS);
		return err;
	}
	b->base = base;
	return DRAM_BANKS;
}

void dram_bank_remove(struct dram *d, int bank)
{
	struct dram_bank *b = &d->bank[bank];

	if (b->mem) {
		atomic_fetch_add(&d->removals, 1);
		munmap(b->mem, b->bytes);
	}
	if (b->fd >= 0)
		close(b->fd);
	free(b->tag);
	free(b->used);
	*b = (struct dram_bank){ .fd = -1 };
}

struct dram_bank *dram_bank(struct dram *d, int bank)
{
	return &d->bank[bank];
}

/*
 * After a whole page those behind it are likely to follow. Asked for now, they
 * come from far memory while the models do their sums. Those take less time than
 * a page does, so the next one would come too late.
 */
#define AHEAD	3	/* pages */
#define NEXT_PAGE(d, pa, write) do {					       \
	const uint8_t *next_ = dram_at((d), (pa) + AHEAD * DRAM_PAGE,	       \
				       DRAM_PAGE);			       \
	unsigned int i_;						       \
	for (i_ = 0; next_ && i_ < DRAM_PAGE; i_ += 64)			       \
		__builtin_prefetch(next_ + i_, (write));		       \
} while (0)

enum dram_status dram_read(struct dram *d, uint64_t pa, void *buf, uint32_t len)
{
	enum dram_status s = dram_get(d, pa, buf, len);

	if (len == DRAM_PAGE && s != DRAM_DECERR)
		NEXT_PAGE(d, pa, 0);
	return s;
}

enum dram_status dram_write(struct dram *d, uint64_t pa, const void *buf,
			    uint32_t len)
{
	enum dram_status s = dram_put(d, pa, buf, len);

	if (len == DRAM_PAGE && s != DRAM_DECERR)
		NEXT_PAGE(d, pa, 1);
	return s;
}

void dram_write64(struct dram *d, uint64_t pa, uint64_t v)
{
	uint64_t *mem = pa % 8 ? NULL : dram_at(d, pa, 8);

	if (!mem)
		abort();	/* the kernel writes its own tables only */
	__atomic_store_n(mem, v, __ATOMIC_RELEASE);
}

enum dram_status dram_atomic(struct dram *d, uint64_t pa, bool compare,
			     uint64_t expected, uint64_t operand, uint64_t *old)
{
	enum dram_status s = dram_injected(d, pa, 8);
	uint64_t *mem = pa % 8 ? NULL : dram_at(d, pa, 8);

	if (!mem || s == DRAM_DECERR)
		return DRAM_DECERR;
	if (s != DRAM_OK)
		return s;
	if (compare) {
		*old = expected;
		__atomic_compare_exchange_n(mem, old, operand, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	} else {
		*old = __atomic_fetch_add(mem, operand, __ATOMIC_ACQ_REL);
	}
	return DRAM_OK;
}

void dram_tag_set(struct dram *d, uint64_t pa, uint64_t tag)
{
	struct dram_bank *b = dram_bank_of(d, pa, 1);

	if (!b || !b->tag)
		return;
	__atomic_store_n(&b->used[(pa - b->base) / DRAM_PAGE], 0,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&b->tag[(pa - b->base) / DRAM_PAGE], tag,
			 __ATOMIC_RELEASE);
	atomic_store_explicit(&d->tagged, 1 + atomic_load_explicit(&d->tagged,
			      memory_order_relaxed), memory_order_release);
}

bool dram_used(struct dram *d, uint64_t pa)
{
	struct dram_bank *b = dram_bank_of(d, pa, 1);

	return b && b->used &&
	       __atomic_load_n(&b->used[(pa - b->base) / DRAM_PAGE],
			       __ATOMIC_RELAXED);
}

/* Nearly always it is known already: then the line stays with whoever has it. */
void dram_use(struct dram *d, uint64_t pa)
{
	const struct dram_bank *b = NULL;
	struct dram_frame f;

	if (dram_frame_find(d, pa, &b, &f))
		dram_frame_use(&f);
}

void dram_inject(struct dram *d, uint64_t pa, enum dram_status s)
{
	unsigned int n = atomic_load(&d->injections);

	if (n == DRAM_INJECTIONS)
		abort();	/* a test that wants more raises the number */
	d->inject[n].pa = pa;
	d->inject[n].status = s;
	atomic_store(&d->injections, n + 1);
}
