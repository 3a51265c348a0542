/* SPDX-License-Identifier: BSD-2-Clause */
/* rcupdate.h - what is read under it here never goes; that it is, is a rule. */
#ifndef SHIM_LINUX_RCUPDATE_H
#define SHIM_LINUX_RCUPDATE_H

#include <linux/types.h>
#include <shim/rules.h>

void shim_rcu_lock(void);
void shim_rcu_unlock(const char *where);
void shim_rcu_read(const char *what, const char *where);

#define rcu_read_lock() shim_rcu_lock()
#define rcu_read_unlock() shim_rcu_unlock(__func__)
#define rcu_dereference(p) (shim_rcu_read(#p, __func__), READ_ONCE(p))

#endif
