/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * errata.h - what software has to do about the erratum of its device (device.def):
 * for each one, one call through which the affected register goes. A device
 * without the erratum wants what the call then does.
 */
#ifndef FAULTLINE_ERRATA_H
#define FAULTLINE_ERRATA_H

#include "faultline/device.h"
#include "faultline/regs.h"
#include "faultline/types.h"

/* Bytes of the block, from what FLT_LEN reads. */
static inline __u32 fl_errata_len(__u32 flt_len)
{
	return flt_len + DEV_ERR_LEN;
}

/* What to write to FLT_POP: any value, but for the erratum. */
static inline __u32 fl_errata_pop(void)
{
	return DEV_ERR_POP ? 0 : 1;
}

/* What to write to READY, from what the register is said to take. */
static inline __u32 fl_errata_ready(__u32 ready)
{
	return DEV_ERR_READY ? ready ^ NIC_ENG_READY_SERIAL_MASK : ready;
}

#endif
