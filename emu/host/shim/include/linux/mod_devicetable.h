/* SPDX-License-Identifier: BSD-2-Clause */
/* mod_devicetable.h */
#ifndef SHIM_LINUX_MOD_DEVICETABLE_H
#define SHIM_LINUX_MOD_DEVICETABLE_H

struct of_device_id {
	char compatible[64];
};

#endif
