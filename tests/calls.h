/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.h - every call of uapi.h and the structure it takes, for hostile tests. */
#ifndef CALLS_H
#define CALLS_H

#include <stdint.h>

#include "faultline/uapi.h"

static const struct {
	unsigned int cmd;
	uint32_t size;
} calls[] = {
	{ FL_IOC_QUERY, sizeof(struct fl_query) },
	{ FL_IOC_POLICY, sizeof(struct fl_policy) },
	{ FL_IOC_ALLOC_PD, sizeof(struct fl_alloc_pd) },
	{ FL_IOC_DEALLOC_PD, sizeof(struct fl_destroy) },
	{ FL_IOC_REG_MR, sizeof(struct fl_reg_mr) },
	{ FL_IOC_DEREG_MR, sizeof(struct fl_destroy) },
	{ FL_IOC_CREATE_CQ, sizeof(struct fl_create_cq) },
	{ FL_IOC_DESTROY_CQ, sizeof(struct fl_destroy) },
	{ FL_IOC_CREATE_QP, sizeof(struct fl_create_qp) },
	{ FL_IOC_CONNECT_QP, sizeof(struct fl_connect_qp) },
	{ FL_IOC_DESTROY_QP, sizeof(struct fl_destroy) },
	{ FL_IOC_PREFETCH, sizeof(struct fl_prefetch) },
	{ FL_IOC_WAIT_CQ, sizeof(struct fl_wait_cq) },
	{ FL_IOC_RESUME_QP, sizeof(struct fl_resume_qp) },
	{ FL_IOC_BOUNCE, sizeof(struct fl_bounce) },
	{ FL_IOC_COUNTERS, sizeof(struct fl_counters) },
	{ FL_IOC_SNOOP, sizeof(struct fl_snoop_call) },
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

#endif
