/* SPDX-License-Identifier: BSD-2-Clause */
/* shim_internal.h - what the files of the shim share. */
#ifndef SHIM_INTERNAL_H
#define SHIM_INTERNAL_H

#include <linux/cdev.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/platform_device.h>
#include <linux/sched.h>

#include "host/host.h"
#include "sim/sim.h"
#include "sim/sync.h"

struct shim_irq {
	struct shim *shim;
	irq_handler_t handler;
	int irq;
	void *arg;
};

/* One driver on one board's kernel. */
struct shim {
	struct host_kernel *k;
	struct board *board;
	uint8_t id;			/* of the board; these are the board's, too: */
	struct sim *sim;
	struct dram *dram;
	struct trace *trace;
	const struct timing_profile *timing;
	struct host_driver_params params;
	struct platform_device pdev;
	void *io_map[3];
	struct shim_irq irq[IRQ_LINES];
	struct sim_spin lock;		/* all that follows but rules */
	struct cdev *cdev;		/* the device file; NULL: there is none */
	unsigned int numbers;		/* of devices, that are not given back */
	struct list_head files;
	struct workqueue_struct *wqs;
	struct mmu_notifier *notifiers;
	struct shim_rules rules;
};

/* Outside of all threads of the scheduler: let it run a little. */
void shim_turn(void);
static inline bool shim_outside(void)
{
	return !sim_thread_self();
}
/*
 * Call fn in a thread of the scheduler: at once when this is one, else in one
 * made for it. The driver may then wait for locks, workers and hardware as it
 * does on Linux.
 */
void shim_inside(struct shim *shim, void (*fn)(void *arg), void *arg);

/* cpu.c: is this what host_inject_driver_error() says? */
bool shim_refused(void);

/*
 * Is something in memory that is freed still in use: a work item, a notifier, an
 * argument of a handler, the device? And when the driver has gone: anything at all?
 */
void shim_in_use(struct shim *shim, const void *mem, size_t bytes,
		 const char *where);
void shim_left_behind(struct shim *shim);

/* work.c: one that waits, or that another thread runs; what it does: its name. */
const char *shim_work_in(struct shim *shim, const void *mem, size_t bytes);
/* Any at all. */
bool shim_work_any(struct shim *shim);

/* vma.c */
int shim_vmas_start(void);
void shim_vmas_end(void);
struct vm_area_struct *shim_vma_new(const struct vm_area_struct *v,
				    const char *where);
void *shim_vmas_local(size_t *bytes);	/* sim_local_add() */
bool shim_vma_mine(const struct vm_area_struct *v);
void shim_vmas_close(const char *where);

/* io.c */
void *shim_io_map_create(struct board *board, u64 pa, u64 bytes);
void shim_io_map_destroy(void *io_map);

/* mm.c */
struct mm_struct *shim_mm_create(struct shim *shim, struct host_mm *host);

/* file.c: end the files that are still open */
void shim_files_end(struct shim *shim);
/* Is it the first table of a process that has a file open? */
bool shim_is_table(struct shim *shim, phys_addr_t pa);
/* A process has it mapped: it is freed when it unmaps. */
bool shim_memory_orphan(struct shim *shim, const void *mem, dma_addr_t dma);
extern const struct host_device_ops shim_device_ops;

/* find.c */
bool shim_find_map(struct host_mm *mm, uint64_t va, uint64_t *start,
		   uint64_t *end, int *prot);
struct shim *shim_find(struct host_kernel *k);
uint64_t shim_frames(struct host_mm *mm, uint64_t *most);
void shim_evict(struct host_mm *mm, uint64_t va);
uint64_t shim_frame_pa(const struct host_frame *frame);

#endif
