/* SPDX-License-Identifier: BSD-2-Clause */
/* rcupdate.h - what is read under it here never goes. */
#ifndef SHIM_LINUX_RCUPDATE_H
#define SHIM_LINUX_RCUPDATE_H

#include <linux/types.h>

static inline void rcu_read_lock(void)
{
}

static inline void rcu_read_unlock(void)
{
}

#define rcu_dereference(p) READ_ONCE(p)

#endif
