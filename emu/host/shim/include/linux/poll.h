/* SPDX-License-Identifier: BSD-2-Clause */
/* poll.h */
#ifndef SHIM_LINUX_POLL_H
#define SHIM_LINUX_POLL_H

#include <linux/wait.h>
#include <poll.h>

/* The bits are those of poll(). */
#define EPOLLIN		POLLIN
#define EPOLLERR	POLLERR
#define EPOLLHUP	POLLHUP
#define EPOLLRDNORM	POLLRDNORM
#define EPOLLPRI	POLLPRI

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
