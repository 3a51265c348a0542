// SPDX-License-Identifier: BSD-2-Clause
/*
 * io.c - registers, interrupts, memory for the card.
 *
 * A map of registers is a piece of address space that nobody can touch, so
 * that a driver that stores to it plainly is caught; the page behind it says
 * whose it is.
 */
#include <assert.h>
#include <sys/mman.h>

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "os/os.h"
#include "shim_internal.h"
#include "trace/event.h"

/*
 * A map begins at a multiple of this, and is smaller by what the largest page
 * of a host takes at least.
 */
#define IO_MAP_ALIGN	0x40000ul
#define OWNER_BYTES	0x10000ul
#define OWNER_OFFSET	(IO_MAP_ALIGN - OWNER_BYTES)

struct io_map {
	struct board *board;
	u64 pa, bytes;
	u8 *reserved;		/* what was mapped, twice as much */
};

void *shim_io_map_create(struct board *board, u64 pa, u64 bytes)
{
	struct io_map *w;
	uintptr_t at;
	int err;
	u8 *p;

	assert(bytes <= OWNER_OFFSET);
	p = os_reserve(NULL, 2 * IO_MAP_ALIGN, &err);
	if (!p)
		return NULL;
	at = ((uintptr_t)p + IO_MAP_ALIGN - 1) & ~(IO_MAP_ALIGN - 1);
	w = (struct io_map *)(at + OWNER_OFFSET);
	if (os_protect(w, OWNER_BYTES, PROT_READ | PROT_WRITE)) {
		munmap(p, 2 * IO_MAP_ALIGN);
		return NULL;
	}
	*w = (struct io_map){ board, pa, bytes, p };
	return (void *)at;
}

static struct io_map *io_map_owner(const void *p)
{
	uintptr_t at = (uintptr_t)p & ~(IO_MAP_ALIGN - 1);

	return (struct io_map *)(at + OWNER_OFFSET);
}

void shim_io_map_destroy(void *io_map)
{
	if (io_map)
		munmap(io_map_owner(io_map)->reserved, 2 * IO_MAP_ALIGN);
}

static u64 io_map_pa(struct io_map *w, const void *p, unsigned int bytes)
{
	u64 off = (uintptr_t)p & (IO_MAP_ALIGN - 1);

	assert(off + bytes <= w->bytes);
	return w->pa + off;
}

u64 shim_read(const void __iomem *p, unsigned int bytes)
{
	struct io_map *w = io_map_owner(p);
	u64 pa = io_map_pa(w, p, bytes);
	uint64_t value;

	/* The bus answers a refused read with ones. */
	if (board_read(w->board, pa, bytes, &value)) {
		shim_log(NULL, "read of 0x%llx is refused\n",
			 (unsigned long long)pa);
		return ~0ull;
	}
	return value;
}

void shim_write(void __iomem *p, unsigned int bytes, u64 value)
{
	struct io_map *w = io_map_owner(p);
	u64 pa = io_map_pa(w, p, bytes);

	/* Posted: who writes does not hear of a refusal. */
	if (board_write(w->board, pa, bytes, value))
		shim_log(NULL, "write of 0x%llx is refused\n",
			 (unsigned long long)pa);
}

/* ---- interrupts ---- */

static void io_interrupt(void *arg)
{
	struct shim_irq *irq = arg;
	struct shim_cpu before = shim_enter(irq->shim, NULL, SHIM_IN_HANDLER);
	struct trace_at saved = *host_trace_at();

	shim_cpu()->irq = saved.cause;
	irq->handler(irq->irq, irq->arg);
	*host_trace_at() = saved;
	shim_leave(&before);
}

static void irq_handler_set(struct shim *shim, unsigned int line,
			    irq_handler_t handler, void *arg)
{
	/* Freeing memory checks that no handler can be called with it. */
	sim_spin_lock(&shim->lock);
	shim->irq[line] = (struct shim_irq){ shim, handler, (int)line, arg };
	sim_spin_unlock(&shim->lock);
}

int (request_irq)(unsigned int line, irq_handler_t handler, unsigned long flags,
		  const char *name, void *arg)
{
	struct shim *shim = shim_cpu()->shim;
	int ret;

	if (line >= IRQ_LINES)
		return -EINVAL;
	if (shim_refused())
		return -ENOMEM;
	if (shim->irq[line].handler)
		return -EBUSY;
	irq_handler_set(shim, line, handler, arg);
	ret = host_request_irq(shim->k, (enum irq_line)line, io_interrupt,
			       &shim->irq[line]);
	if (ret)
		irq_handler_set(shim, line, NULL, NULL);
	return ret;
}

void (free_irq)(unsigned int line, void *arg)
{
	struct shim *shim = shim_cpu()->shim;

	host_free_irq(shim->k, (enum irq_line)line);
	irq_handler_set(shim, line, NULL, NULL);
}

/* ---- memory ---- */

int dma_set_mask_and_coherent(struct device *dev, u64 mask)
{
	/* DRAM ends below 48 bits of address (board.h). */
	return mask >= DMA_BIT_MASK(48) ? 0 : -EIO;
}

int dma_set_coherent_mask(struct device *dev, u64 mask)
{
	return dma_set_mask_and_coherent(dev, mask);
}

void *(dma_alloc_coherent)(struct device *dev, size_t bytes, dma_addr_t *dma,
			   gfp_t gfp)
{
	struct mm_struct *mm = current->mm;
	uint64_t pa;
	void *mem;

	if (shim_refused())
		return NULL;
	/* What a process asks for it will map, and it maps only its own bank. */
	mem = mm ? mm_dma_alloc(mm->host, bytes, &pa) :
		   host_dma_alloc(dev->shim->k, bytes, &pa);
	*dma = pa;
	return mem;
}

void (dma_free_coherent)(struct device *dev, size_t bytes, void *cpu,
			 dma_addr_t dma)
{
	if (!shim_memory_orphan(dev->shim, cpu, dma))
		host_dma_free(dev->shim->k, cpu, bytes, dma);
}

int (dma_mmap_coherent)(struct device *dev, struct vm_area_struct *vma,
			void *cpu, dma_addr_t dma, size_t bytes)
{
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start > PAGE_ALIGN(bytes))
		return -ENXIO;
	vma->shim_mem = cpu;
	return 0;
}

/* To the byte: here a map need not be whole pages (host/file.c). */
int vm_iomap_memory(struct vm_area_struct *vma, phys_addr_t start,
		    unsigned long bytes)
{
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start > PAGE_ALIGN(bytes))
		return -EINVAL;
	vma->shim_mmio_pa = start;
	return 0;
}
