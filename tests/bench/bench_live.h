/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_live.h - pages of live processes: faults, evictions, registrations. */
#ifndef FL_BENCH_LIVE_H
#define FL_BENCH_LIVE_H

struct across;

void bench_live(struct across *x, void *unused);	/* for across_run() */

#endif
