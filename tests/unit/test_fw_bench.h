/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fw_bench.h - a firmware with a packet unit, one queue pair, a region only to be read. */
#ifndef FL_TEST_FW_BENCH_H
#define FL_TEST_FW_BENCH_H

#include "test_fw_unit.h"

struct bench {
	struct unit *u;
	struct unit_side p;
	uint32_t key;		/* of a region that the card may not write */
};

static inline void bench_make(struct bench *b)
{
	if (b->u)
		unit_restart(b->u);
	else
		b->u = unit_rig();
	unit_side(b->u, &b->p, 1);
	b->key = rig_mr(b->u->r, 1, b->p.s.pd, RIG_VA, RIG_BYTES, 4);
}

static inline struct unit_qp *bench_qp(struct bench *b)
{
	return &b->u->qp[FW_QP_PLACE(b->p.s.qp)];
}

static inline void bench_ring(struct bench *b)
{
	EXPECT_EQ(rig_ring(b->u->r, &b->p.s), 0);
	unit_run(b->u);
}

#endif
