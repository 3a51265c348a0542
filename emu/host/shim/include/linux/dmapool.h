/* SPDX-License-Identifier: BSD-2-Clause */
/* dmapool.h - small memory that a card reaches; here tables that its SMMU walks. */
#ifndef SHIM_LINUX_DMAPOOL_H
#define SHIM_LINUX_DMAPOOL_H

#include <linux/dma-mapping.h>
#include <linux/slab.h>

struct dma_pool;

/* Pages of 4 KB, which is all that the driver asks for. */
struct dma_pool *shim_pool_create(struct device *dev, size_t bytes, size_t align,
				  size_t boundary);
/* With something of it still in use it is a mistake (Linux warns). */
void shim_pool_destroy(struct dma_pool *pool, const char *where);
void *shim_pool_alloc(struct dma_pool *pool, dma_addr_t *dma);
void shim_pool_free(struct dma_pool *pool, void *cpu, dma_addr_t dma,
		    const char *where);

#define dma_pool_create(name, dev, bytes, align, boundary)                    \
	(shim_gfp(GFP_KERNEL, "dma_pool_create()", __func__),                 \
	 shim_pool_create(dev, bytes, align, boundary))
#define dma_pool_destroy(pool) shim_pool_destroy(pool, __func__)
#define dma_pool_zalloc(pool, gfp, dma)                                       \
	(shim_gfp(gfp, "dma_pool_zalloc()", __func__),                        \
	 shim_pool_alloc(pool, dma))
#define dma_pool_alloc(pool, gfp, dma)                                        \
	(shim_gfp(gfp, "dma_pool_alloc()", __func__),                         \
	 shim_pool_alloc(pool, dma))
#define dma_pool_free(pool, cpu, dma)                                         \
	shim_pool_free(pool, cpu, dma, __func__)

#endif
