/* SPDX-License-Identifier: BSD-2-Clause */
/* lib_set.h - one object of each kind on the fake card. */
#ifndef FL_RIG_LIB_SET_H
#define FL_RIG_LIB_SET_H

#include "rig/lib_fake.h"

/* A device with one domain, one completion queue, one queue pair. */
struct fake_set {
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_qp *qp;
	struct fl_mr *mr;
	char buffer[256];
};

void fake_set_end(void *arg);
void fake_set_on(struct fake_set *s, struct fl_device *dev,
		 unsigned int cq_entries, unsigned int qp_entries);

static inline void fake_set_start(struct fake_set *s, unsigned int cq_entries,
				  unsigned int qp_entries)
{
	fake_set_on(s, fake_device(), cq_entries, qp_entries);
}

int fake_post(struct fake_set *s, uint64_t wr_id, int unsignaled);

/* Nothing that the library took is still taken. */
void fake_expect_empty(void);

#endif
