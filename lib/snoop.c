// SPDX-License-Identifier: BSD-2-Clause
/*
 * Doorbells that are memory: the driver reads them, and what was posted, before the card
 * does (faultline/snoop.h). It costs a system call only when nothing else is under way.
 */
#include <errno.h>

#include "lib_internal.h"

int lib_publish(struct fl_device *dev, uint32_t *word, uint32_t value)
{
	struct fl_snoop_call c = { .size = sizeof(c) };

	if (!__atomic_load_n(&dev->snoop->alive, __ATOMIC_RELAXED))
		return -ENODEV;
	/* Release: whoever sees the word sees the entries before it. */
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	/* Pairs with the worker's, between saying that it sleeps and its last look. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!__atomic_load_n(&dev->snoop->asleep, __ATOMIC_RELAXED))
		return 0;
	return lib_ioctl(dev, FL_IOC_SNOOP, &c);
}
