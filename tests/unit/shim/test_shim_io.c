// SPDX-License-Identifier: BSD-2-Clause
/*
 * Registers, interrupts, mappings and memory, as a driver gets them from the emulator's
 * kernel: what is refused, with which error, and what the kernel's log says of it.
 */
#include <stdio.h>
#include <unistd.h>

#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "host/shim/shim_internal.h"
#include "rig/driver.h"

#define MAP_BYTES	0x10000ul

/* ---- the kernel's log goes into a file ---- */

static char said[4096];
static int log_before;
static FILE *log_file;

static void log_begin(void)
{
	setenv("FAULTLINE_KLOG", "1", 1);
	log_file = tmpfile();
	EXPECT(log_file);
	fflush(stderr);
	log_before = dup(2);
	dup2(fileno(log_file), 2);
}

static void log_end(void)
{
	size_t n;

	fflush(stderr);
	dup2(log_before, 2);
	close(log_before);
	unsetenv("FAULTLINE_KLOG");
	rewind(log_file);
	n = fread(said, 1, sizeof(said) - 1, log_file);
	said[n] = 0;
	fclose(log_file);
}

static void io_registers(struct rig *r)
{
	struct shim *shim = shim_find(r->n[0].kernel);
	struct shim_cpu c = shim_enter(shim, NULL, SHIM_IN_TASK);
	uint8_t *map = shim_io_map_create(shim->board, BUS_NIC_BASE, MAP_BYTES);
	uint8_t *none = shim_io_map_create(shim->board, BUS_NIC_BASE - MAP_BYTES, MAP_BYTES);
	uint64_t v;

	EXPECT(map && none);
	EXPECT_EQ(board_read(r->n[0].board, BUS_NIC_BASE + NIC_ENG_ID, 4, &v), 0);
	EXPECT_EQ(readl(map + NIC_ENG_ID), v);
	STEP("where the bus has nothing, ones are read, and what is written is lost");
	log_begin();
	EXPECT_EQ(readl(none + 64), 0xFFFFFFFFu);
	writel(5, none + 64);
	log_end();
	EXPECT(strstr(said, "read of 0x"));
	EXPECT(strstr(said, "write of 0x"));
	EXPECT(strstr(said, "is refused"));
	STEP("without FAULTLINE_KLOG nothing is said");
	said[0] = 0;
	EXPECT_EQ(readl(none + 64), 0xFFFFFFFFu);
	EXPECT_STR(said, "");
	shim_io_map_destroy(map);
	shim_io_map_destroy(none);
	shim_io_map_destroy(NULL);
	shim_leave(&c);
}

TEST("a register that is not there reads as ones, and the log says so")
{
	rig_run(io_registers);
}

static void io_log(struct rig *r)
{
	struct shim *shim = shim_find(r->n[0].kernel);
	struct shim_cpu c = shim_enter(shim, NULL, SHIM_IN_TASK);
	struct device nobody = { .name = "nobody" };
	char want[64];

	snprintf(want, sizeof(want), "%s faultline: hello 7\n", board_name(r->n[0].board));
	log_begin();
	dev_warn(&shim->pdev.dev, "hello %d\n", 7);
	shim_log(&nobody, "from no board\n");
	log_end();
	EXPECT(strstr(said, want));
	EXPECT(strstr(said, "from no board\n"));
	EXPECT(!strstr(said, "nobody:"));
	shim_leave(&c);
}

TEST("a line of the log names the board and the device")
{
	rig_run(io_log);
}

/* ---- interrupts ---- */

static unsigned int io_calls;

static irqreturn_t io_handler(int irq, void *arg)
{
	(void)irq;
	(void)arg;
	io_calls++;
	return IRQ_HANDLED;
}

static void io_lines(struct rig *r)
{
	struct shim *shim = shim_find(r->n[0].kernel);
	struct shim_cpu c = shim_enter(shim, NULL, SHIM_IN_TASK);

	STEP("a line that there is not, one that the driver has");
	EXPECT_EQ(request_irq(IRQ_LINES, io_handler, 0, "io", NULL), -EINVAL);
	EXPECT_EQ(request_irq(IRQ_NIC_EVENT, io_handler, 0, "io", NULL), -EBUSY);
	EXPECT_EQ(io_calls, 0);
	shim_leave(&c);
}

/* After the driver has gone: the kernel has a handler that the driver's side knows nothing of. */
static void io_kernel_line(void *arg)
{
	(void)arg;
}

static void io_line_taken(struct rig *r)
{
	struct host_kernel *k = r->n[0].kernel;

	host_driver_remove(k);
	EXPECT_EQ(host_request_irq(k, IRQ_NIC_FAULT, io_kernel_line, NULL), 0);
	STEP("the line is somebody else's: no driver, and nothing of it is left");
	EXPECT_EQ(host_driver_probe(k, NULL), -EBUSY);
	host_free_irq(k, IRQ_NIC_FAULT);
	EXPECT_EQ(host_driver_probe(k, NULL), 0);
	STEP("one at a time");
	EXPECT_EQ(host_driver_probe(k, NULL), -EBUSY);
}

static void io_nothing(struct rig *r)
{
	(void)r;
}

TEST("an interrupt line has one handler")
{
	struct host_driver_params p = { 0 };

	rig_run(io_lines);
	rig_run_with(SIM_LOCKSTEP, &p, io_nothing, io_line_taken);
}

/* ---- memory ---- */

static void io_memory(struct rig *r)
{
	struct shim *shim = shim_find(r->n[0].kernel);
	struct shim_cpu c = shim_enter(shim, NULL, SHIM_IN_TASK);
	struct device *dev = &shim->pdev.dev;
	struct vm_area_struct vma = { .vm_start = 0x10000, .vm_end = 0x10000 + 2 * PAGE_SIZE };
	dma_addr_t dma;
	void *mem;

	STEP("more elements than an address can count");
	EXPECT(!kvmalloc_array(SIZE_MAX / 8, 16, GFP_KERNEL));
	mem = kvmalloc_array(0, 16, GFP_KERNEL);
	kvfree(mem);
	mem = kvmalloc_array(16, 0, GFP_KERNEL);
	kvfree(mem);
	STEP("kvfree() takes what kmalloc() gave, too");
	mem = kzalloc(64, GFP_KERNEL);
	EXPECT(mem);
	kvfree(mem);
	STEP("a card with fewer address bits than DRAM has");
	EXPECT_EQ(dma_set_mask_and_coherent(dev, DMA_BIT_MASK(32)), -EIO);
	EXPECT_EQ(dma_set_mask_and_coherent(dev, DMA_BIT_MASK(48)), 0);
	STEP("a process maps a queue from its beginning, and no more than it is");
	mem = dma_alloc_coherent(dev, PAGE_SIZE, &dma, GFP_KERNEL);
	EXPECT(mem);
	EXPECT_EQ(dma_mmap_coherent(dev, &vma, mem, dma, PAGE_SIZE), -ENXIO);
	EXPECT_EQ(dma_mmap_coherent(dev, &vma, mem, dma, 2 * PAGE_SIZE), 0);
	EXPECT(vma.shim_mem == mem);
	vma.vm_pgoff = 1;
	EXPECT_EQ(dma_mmap_coherent(dev, &vma, mem, dma, 2 * PAGE_SIZE), -ENXIO);
	STEP("and so are registers mapped");
	EXPECT_EQ(vm_iomap_memory(&vma, BUS_NIC_BASE, 2 * PAGE_SIZE), -EINVAL);
	vma.vm_pgoff = 0;
	EXPECT_EQ(vm_iomap_memory(&vma, BUS_NIC_BASE, PAGE_SIZE), -EINVAL);
	EXPECT_EQ(vm_iomap_memory(&vma, BUS_NIC_BASE, 2 * PAGE_SIZE), 0);
	EXPECT_EQ(vma.shim_mmio_pa, BUS_NIC_BASE);
	dma_free_coherent(dev, PAGE_SIZE, mem, dma);
	shim_leave(&c);
}

TEST("memory that cannot be is refused, and mappings are no larger than what is mapped")
{
	rig_run(io_memory);
}

/* A pool takes from the kernel's own bank, page by page, until that is full. */
static void io_pool(struct rig *r)
{
	struct shim *shim = shim_find(r->n[0].kernel);
	struct shim_cpu c = shim_enter(shim, NULL, SHIM_IN_TASK);
	struct dma_pool *pool = dma_pool_create("io", &shim->pdev.dev, 4096, 4096, 0);
	struct page_of { void *mem; dma_addr_t dma; } *page = calloc(1u << 20, sizeof(*page));
	unsigned int n = 0, i;

	EXPECT(pool && page);
	while (n < 1u << 20 && (page[n].mem = dma_pool_alloc(pool, GFP_KERNEL, &page[n].dma)))
		n++;
	EXPECT_GE(n, 16);
	EXPECT_LE(n, (1u << 20) - 1);
	STEP("%u pages, then no more; one goes and one comes", n);
	dma_pool_free(pool, page[n - 1].mem, page[n - 1].dma);
	page[n - 1].mem = dma_pool_alloc(pool, GFP_KERNEL, &page[n - 1].dma);
	EXPECT(page[n - 1].mem);
	for (i = 0; i < n; i++)
		dma_pool_free(pool, page[i].mem, page[i].dma);
	dma_pool_destroy(pool);
	dma_pool_destroy(NULL);
	free(page);
	shim_leave(&c);
}

TEST("a pool of tables is as large as memory, and gives it back")
{
	rig_run(io_pool);
}
