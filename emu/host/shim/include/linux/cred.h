/* SPDX-License-Identifier: BSD-2-Clause */
/* cred.h - whose process it is (host_process_set_uid()). */
#ifndef SHIM_LINUX_CRED_H
#define SHIM_LINUX_CRED_H

#include <linux/uidgid.h>

kuid_t current_uid(void);

#endif
