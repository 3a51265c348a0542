/* SPDX-License-Identifier: BSD-2-Clause */
/* spinlock.h */
#ifndef SHIM_LINUX_SPINLOCK_H
#define SHIM_LINUX_SPINLOCK_H

#include <linux/irqflags.h>
#include <shim/shim.h>

#include "sim/sync.h"

/*
 * A spinning lock. In lockstep time may pass while a driver reaches registers under the lock,
 * and others run meanwhile, so those who wait do sleep; but nobody who holds one may ask to
 * (shim_sleeps).
 */
typedef struct {
	struct sim_mutex m;
	struct sim_spin spin;		/* in its place */
	bool spins;			/* where time is real */
	struct shim_lock rules;
} spinlock_t;

void shim_spin_init(spinlock_t *l, const char *name);
void shim_spin_lock(spinlock_t *l, const char *where);
void shim_spin_unlock(spinlock_t *l, const char *where);

#define spin_lock_init(l) shim_spin_init(l, #l)
#define spin_lock(l) shim_spin_lock(l, __func__)
#define spin_unlock(l) shim_spin_unlock(l, __func__)

#define spin_lock_irqsave(l, flags)                                           \
	do {                                                                  \
		local_irq_save(flags);                                        \
		spin_lock(l);                                                 \
	} while (0)
#define spin_unlock_irqrestore(l, flags)                                      \
	do {                                                                  \
		spin_unlock(l);                                               \
		local_irq_restore(flags);                                     \
	} while (0)

#endif
