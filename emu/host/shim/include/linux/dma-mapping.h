/* SPDX-License-Identifier: BSD-2-Clause */
/* dma-mapping.h - memory that a card reaches by physical address. */
#ifndef SHIM_LINUX_DMA_MAPPING_H
#define SHIM_LINUX_DMA_MAPPING_H

#include <linux/device.h>

#define DMA_BIT_MASK(n) ((1ull << (n)) - 1)

struct vm_area_struct;
int dma_set_mask_and_coherent(struct device *dev, u64 mask);
int dma_set_coherent_mask(struct device *dev, u64 mask);
void *dma_alloc_coherent(struct device *dev, size_t bytes, dma_addr_t *dma,
			 gfp_t gfp);
void dma_free_coherent(struct device *dev, size_t bytes, void *cpu,
		       dma_addr_t dma);
int dma_mmap_coherent(struct device *dev, struct vm_area_struct *vma, void *cpu,
		      dma_addr_t dma, size_t bytes);

/* Freeing with interrupts off is a mistake (Linux warns). */
#define dma_alloc_coherent(dev, bytes, dma, gfp)                              \
	(shim_gfp(gfp, "dma_alloc_coherent()", __func__),                     \
	 dma_alloc_coherent(dev, bytes, dma, gfp))
#define dma_free_coherent(...) SHIM_SLEEPS(dma_free_coherent, __VA_ARGS__)
#define dma_mmap_coherent(...) SHIM_SLEEPS(dma_mmap_coherent, __VA_ARGS__)

#endif
