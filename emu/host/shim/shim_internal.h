/* SPDX-License-Identifier: BSD-2-Clause */
/* shim_internal.h - what the files of the shim share. */
#ifndef SHIM_INTERNAL_H
#define SHIM_INTERNAL_H

#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/platform_device.h>
#include <linux/sched.h>

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
	struct sim *sim;
	struct host_driver_params params;
	struct platform_device pdev;
	void *window[2];
	struct shim_irq irq[IRQ_LINES];
	struct miscdevice *misc;
	struct sim_spin lock;		/* files */
	struct list_head files;
};

/* Outside of all threads of the scheduler: let it run a little. */
void shim_turn(void);
bool shim_outside(void);
/*
 * Call fn in a thread of the scheduler: at once when this is one, else in one
 * made for it. The driver may then wait for locks, workers and hardware as it
 * does on Linux.
 */
void shim_inside(struct sim *sim, void (*fn)(void *arg), void *arg);

/* cpu.c: is this what host_inject_driver_error() says? */
bool shim_refused(void);

/* io.c */
void *shim_window_create(struct board *board, u64 pa, u64 bytes);
void shim_window_destroy(void *window);

/* mm.c */
struct mm_struct *shim_mm_create(struct host_mm *host);

/* file.c: end the files that are still open */
void shim_files_end(struct shim *shim);
/* A process has it mapped: it is freed when it unmaps. */
bool shim_memory_orphan(struct shim *shim, const void *mem, dma_addr_t dma);
extern const struct host_device_ops shim_device_ops;

/* find.c */
bool shim_find_map(struct host_mm *mm, uint64_t va, uint64_t *start,
		   uint64_t *end, int *prot);
struct shim *shim_find(struct host_kernel *k);
uint64_t shim_frames(struct host_mm *mm, uint64_t *most);

#endif
