/* SPDX-License-Identifier: BSD-2-Clause */
/* wait.h - wait queues. */
#ifndef SHIM_LINUX_WAIT_H
#define SHIM_LINUX_WAIT_H

#include <linux/err.h>
#include <linux/ktime.h>
#include <shim/rules.h>
#include <shim/shim.h>

#include "sim/sync.h"

/* seq counts wake-ups: one between a look and the sleep is not missed. */
typedef struct {
	struct sim_waitq q;
	unsigned int seq;
} wait_queue_head_t;

void init_waitqueue_head(wait_queue_head_t *w);
void wake_up_all(wait_queue_head_t *w);

unsigned int shim_wait_seq(wait_queue_head_t *w);
/* When does a wait of ns end? 0: never. */
u64 shim_wait_end(u64 ns);
/* wait_event_*() may sleep even when there is nothing to wait for. */
#define shim_wait_sleeps() shim_sleeps("wait_event_interruptible()", __func__)
/* Sleep until seq changes. 0, -ETIME, or -ERESTARTSYS: the run ends. */
int shim_wait(wait_queue_head_t *w, unsigned int seq, u64 end_ns);

#define shim_wait_event(w, cond, ns)                                          \
	({                                                                    \
		u64 wait_end_ = shim_wait_end(ns);                            \
		unsigned int wait_seq_;                                       \
		int wait_ret_ = 0;                                            \
									      \
		shim_wait_sleeps();                                           \
		for (;;) {                                                    \
			wait_seq_ = shim_wait_seq(&(w));                      \
			if (cond) {                                           \
				wait_ret_ = 0;                                \
				break;                                        \
			}                                                     \
			if (wait_ret_)                                        \
				break;                                        \
			wait_ret_ = shim_wait(&(w), wait_seq_, wait_end_);    \
		}                                                             \
		wait_ret_;                                                    \
	})
#define wait_event(w, cond) ((void)shim_wait_event(w, cond, 0))
#define wait_event_interruptible(w, cond) shim_wait_event(w, cond, 0)
#define wait_event_interruptible_hrtimeout(w, cond, timeout)                  \
	shim_wait_event(w, cond, (u64)(timeout))

#endif
