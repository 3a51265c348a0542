/* SPDX-License-Identifier: BSD-2-Clause */
/* stream_internal.h - what the files of the stream share: stream.c, stream_world.c. */
#ifndef FL_STREAM_INTERNAL_H
#define FL_STREAM_INTERNAL_H

#include "board/board.h"
#include "fabric/fabric.h"
#include "faultline.h"
#include "host/host.h"
#include "sim/sim.h"
#include "sim/timing.h"
#include "tools/work/stream.h"
#include "trace/trace.h"

/* One of the two programs: 0 sends, 1 receives. Lockstep: one thread runs at a time. */
struct stream_end_point {
	struct stream_world *w;
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_qp *qp;
	struct fl_mr *mr;
	struct fl_address address;
	uint8_t *mem;
	int error;
	bool here, connected, ready, over;
	uint32_t next;		/* receiver: first packet that it lacks */
};

struct stream_world {
	const struct stream *s;
	struct stream_result *r;
	struct trace *trace;
	struct timing_profile timing;
	struct sim *sim;
	struct fabric *fabric;
	struct board *board[2];
	struct host_kernel *kernel[2];
	bool driver[2];
	struct host_process *process[2];
	struct sim_thread *thread[2];
	struct stream_end_point end[2];
	uint64_t begin_ns, end_ns;	/* of all that is registered */
	uint32_t *seen;		/* a bit for each packet that came */
};

void stream_sender(void *end);
void stream_receiver(void *end);

#endif
