/* SPDX-License-Identifier: BSD-2-Clause */
/* workqueue.h */
#ifndef SHIM_LINUX_WORKQUEUE_H
#define SHIM_LINUX_WORKQUEUE_H

#include <linux/list.h>
#include <shim/shim.h>

struct work_struct;
struct workqueue_struct;
typedef void (*work_func_t)(struct work_struct *work);

/* All but func belongs to the queue, under its lock. */
struct work_struct {
	work_func_t func;
	const char *name;	/* of its class (shim/rules.h) */
	struct list_head entry;
	struct workqueue_struct *wq;
	bool pending, running;
	u64 cause;		/* trace: what queued it */
};

#define INIT_WORK(w, fn)                                                      \
	(*(w) = (struct work_struct){ .func = (fn), .name = #w })
#define WQ_UNBOUND 2

/* Several workers; one item runs in one of them at a time. */
struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max_active);
void shim_destroy_workqueue(struct workqueue_struct *wq, const char *where);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool shim_cancel_work(struct work_struct *work, const char *where);

#define alloc_workqueue(...) SHIM_SLEEPS(alloc_workqueue, __VA_ARGS__)
#define destroy_workqueue(wq) shim_destroy_workqueue(wq, __func__)
#define cancel_work_sync(work) shim_cancel_work(work, __func__)

#endif
