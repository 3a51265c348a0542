// SPDX-License-Identifier: BSD-2-Clause
/* pool.c - pages for tables that a card walks (dmapool.h; host/card_tables.h). */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <linux/dmapool.h>

#include "shim_internal.h"

#define POOL_PAGE	4096u

struct dma_pool {
	struct host_kernel *k;
	atomic_uint used;
};

struct dma_pool *shim_pool_create(struct device *dev, size_t bytes, size_t align,
				  size_t boundary)
{
	struct dma_pool *pool;

	assert(bytes == POOL_PAGE && align <= POOL_PAGE && !boundary);
	pool = shim_refused() ? NULL : calloc(1, sizeof(*pool));
	if (pool)
		pool->k = dev->shim->k;
	return pool;
}

void shim_pool_destroy(struct dma_pool *pool, const char *where)
{
	shim_sleeps("dma_pool_destroy()", where);
	if (!pool)
		return;
	if (atomic_load(&pool->used))
		shim_breach("freed-in-use", where, "calls dma_pool_destroy() with "
			    "%u pages of it in use", atomic_load(&pool->used));
	free(pool);
}

void *shim_pool_alloc(struct dma_pool *pool, dma_addr_t *dma)
{
	uint64_t pa;
	void *mem;

	if (shim_refused())
		return NULL;
	mem = host_table_alloc(pool->k, &pa);
	if (!mem)
		return NULL;
	atomic_fetch_add(&pool->used, 1);
	*dma = pa;
	return mem;
}

void shim_pool_free(struct dma_pool *pool, void *cpu, dma_addr_t dma,
		    const char *where)
{
	if (!atomic_load(&pool->used)) {
		shim_breach("free", where, "calls dma_pool_free() for what is free "
			    "already");
		return;
	}
	atomic_fetch_sub(&pool->used, 1);
	host_table_free(pool->k, cpu, dma);
}
