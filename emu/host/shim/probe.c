// SPDX-License-Identifier: BSD-2-Clause
/*
 * probe.c - the board's bus finds the card and starts the driver on it. What a
 * device tree would say stands here: two maps of registers, three
 * interrupts, and the choices of whoever built the board.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/platform_device.h>
#include <linux/property.h>

#include "shim_internal.h"
#include "smmu/smmu.h"

int device_property_read_u32(struct device *dev, const char *name, u32 *value)
{
	const struct host_driver_params *p = &dev->shim->params;

	if (!strcmp(name, "faultline,system"))
		*value = (u32)p->system;
	else if (!strcmp(name, "faultline,resolve"))
		*value = (u32)p->resolve;
	else if (!strcmp(name, "faultline,resolve-number"))
		*value = p->resolve_number;
	else if (!strcmp(name, "faultline,queue-bits") && p->queue_bits)
		*value = p->queue_bits;
	else if (!strcmp(name, "faultline,stream-base"))
		*value = BOARD_STREAM(0);
	else
		return -EINVAL;
	return 0;
}

void *devm_platform_get_and_ioremap_resource(struct platform_device *pdev,
					     unsigned int i,
					     struct resource **res)
{
	struct shim *shim = pdev->dev.shim;
	struct resource *r;

	assert(i < ARRAY_SIZE(pdev->resource) && !shim->io_map[i]);
	r = &pdev->resource[i];
	shim->io_map[i] = shim_refused() ? NULL :
			  shim_io_map_create(shim->board, r->start, r->end - r->start + 1);
	if (!shim->io_map[i])
		return ERR_PTR(-ENOMEM);
	if (res)
		*res = r;
	return shim->io_map[i];
}

void *devm_platform_ioremap_resource(struct platform_device *pdev,
				     unsigned int i)
{
	return devm_platform_get_and_ioremap_resource(pdev, i, NULL);
}

struct resource *platform_get_resource(struct platform_device *pdev,
				       unsigned int type, unsigned int i)
{
	assert(type == IORESOURCE_MEM);
	if (i >= ARRAY_SIZE(pdev->resource) || !pdev->resource[i].end)
		return NULL;
	return &pdev->resource[i];
}

int platform_get_irq(struct platform_device *pdev, unsigned int i)
{
	return i < ARRAY_SIZE(pdev->irq) ? pdev->irq[i] : -ENXIO;
}

static void shim_free(struct shim *shim)
{
	shim_io_map_destroy(shim->io_map[0]);
	shim_io_map_destroy(shim->io_map[1]);
	shim_io_map_destroy(shim->io_map[2]);
	shim_vmas_end();
	free(shim);
}

static void *shim_local_cpu(size_t *bytes)
{
	*bytes = sizeof(shim_this_cpu);
	return &shim_this_cpu;
}

static void *shim_local_here(size_t *bytes)
{
	*bytes = sizeof(struct shim_here);
	return shim_here();
}

/* What a thread is in the kernel. */
static void shim_locals(struct sim *sim)
{
	sim_local_add(sim, shim_local_cpu);
	sim_local_add(sim, shim_local_here);
	sim_local_add(sim, shim_vmas_local);
}

struct start {
	struct shim *shim;
	int ret;
};

static void probe_start(void *arg)
{
	struct start *s = arg;
	struct shim_cpu before = shim_enter(s->shim, NULL, SHIM_IN_TASK);

	s->ret = fl_platform_driver.probe(&s->shim->pdev);
	if (s->ret)
		shim_left_behind(s->shim);
	shim_leave(&before);
}

int host_driver_probe(struct host_kernel *k, const struct host_driver_params *p)
{
	struct start s = { NULL, 0 };
	struct shim *shim;

	if (shim_find(k))
		return -EBUSY;
	shim = calloc(1, sizeof(*shim));
	if (!shim)
		return -ENOMEM;
	s.ret = shim_vmas_start();
	if (s.ret) {
		free(shim);
		return s.ret;
	}
	shim->k = k;
	shim->board = host_board(k);
	shim->id = board_id(shim->board);
	shim->sim = board_sim(shim->board);
	shim_locals(shim->sim);
	shim->dram = board_dram(shim->board);
	shim->trace = board_trace(shim->board);
	shim->timing = board_timing(shim->board);
	if (p)
		shim->params = *p;
	INIT_LIST_HEAD(&shim->files);
	shim->pdev = (struct platform_device){
		.dev = { .shim = shim, .ref = { 1 }, .name = "faultline",
			 .platform_data = (void *)shim->params.plan },
		.resource = {
			{ BUS_SMMU_BASE, BUS_SMMU_BASE + SMMU_REG_BYTES - 1 },
			{ BUS_NIC_BASE, BUS_NIC_BASE + BUS_NIC_BYTES - 1 },
		},
		.irq = { IRQ_SMMU, IRQ_NIC_FAULT, IRQ_NIC_EVENT, IRQ_PSDMA },
	};
	if (!shim->params.no_psdma)
		shim->pdev.resource[2] = (struct resource){
			BUS_PSDMA_BASE, BUS_PSDMA_BASE + BUS_PSDMA_BYTES - 1
		};
	s.shim = shim;
	shim_inside(shim, probe_start, &s);
	if (s.ret)
		shim_free(shim);
	return s.ret;
}

static void probe_stop(void *arg)
{
	struct shim *shim = arg;
	struct shim_cpu before = shim_enter(shim, NULL, false);

	fl_platform_driver.shutdown(&shim->pdev);
	shim_leave(&before);
}

void host_driver_shutdown(struct host_kernel *k)
{
	struct shim *shim = shim_find(k);

	assert(shim);
	shim_inside(shim, probe_stop, shim);
}

static void probe_end(void *arg)
{
	struct shim *shim = arg;
	struct shim_cpu before = shim_enter(shim, NULL, SHIM_IN_TASK);

	fl_platform_driver.remove(&shim->pdev);
	host_device_drain(shim->k);
	/* The host has struck its files off: nobody else releases them. */
	shim_files_end(shim);
	shim_left_behind(shim);
	shim_leave(&before);
}

void host_driver_remove(struct host_kernel *k)
{
	struct shim *shim = shim_find(k);

	assert(shim);
	shim_inside(shim, probe_end, shim);
	shim_free(shim);
}

bool host_driver_busy(struct host_kernel *k)
{
	struct shim *shim = shim_find(k);

	return shim && (host_irq_pending(k) || shim_work_any(shim));
}
