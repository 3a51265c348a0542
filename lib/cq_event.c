// SPDX-License-Identifier: BSD-2-Clause
/*
 * Completion events apart from polling: one thread arms the queue and goes on to poll it,
 * another sleeps until there is something to poll. fl_wait() is both in one.
 */
#include <errno.h>

#include "lib_internal.h"

int fl_arm(struct fl_cq *cq)
{
	if (!cq)
		return -EINVAL;
	/* Before the doorbell: its event may be there at once. */
	atomic_store_explicit(&cq->armed, true, memory_order_release);
	lib_cq_tell(cq, NIC_DB_CQ_ARM);
	return 0;
}

int fl_wait_event(struct fl_cq *cq, uint64_t timeout_ns)
{
	struct fl_wait_cq w = { .size = sizeof(w), .timeout_ns = timeout_ns };
	int error;

	if (!cq)
		return -EINVAL;
	w.cq = cq->number;
	error = lib_ioctl(cq->dev, FL_IOC_WAIT_CQ, &w);
	/* With any other error there was no event, or none can come any more. */
	if (error != -ETIMEDOUT && error != -EINTR)
		atomic_store_explicit(&cq->armed, false, memory_order_release);
	return error;
}
