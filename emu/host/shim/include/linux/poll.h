/* SPDX-License-Identifier: BSD-2-Clause */
/* poll.h */
#ifndef SHIM_LINUX_POLL_H
#define SHIM_LINUX_POLL_H

#include <linux/wait.h>
#include <sys/epoll.h>

typedef unsigned int __poll_t;
typedef struct {
	struct sim_waitq *q;	/* out: where to wait */
} poll_table;

struct file;
static inline void poll_wait(struct file *file, wait_queue_head_t *w,
			     poll_table *t)
{
	if (t)
		t->q = &w->q;
}

#endif
