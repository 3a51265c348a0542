// SPDX-License-Identifier: BSD-2-Clause
#include "rig/fw_bench.h"

void bench_make(struct bench *b)
{
	if (b->u)
		unit_restart(b->u);
	else
		b->u = unit_rig();
	unit_side(b->u, &b->p, 1);
	b->key = rig_mr(b->u->r, 1, b->p.s.pd, RIG_VA, RIG_BYTES, 4);
}

void bench_ring(struct bench *b)
{
	EXPECT_EQ(rig_ring(b->u->r, &b->p.s), 0);
	unit_run(b->u);
}
