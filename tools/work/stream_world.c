// SPDX-License-Identifier: BSD-2-Clause
/* Two boards for a stream, in virtual time, and what became of it. */
#include "tools/work/stream_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/packets/packets.h"
#include "faultline/uapi.h"
#include "nic/transport/ud.h"

/* More than the largest ring and all else. */
#define FRAMES		16384u
#define DRAIN_NS	1000000000ull

static int world_fail(struct stream_world *w, const char *what, int error)
{
	if (error && w->r->end != STREAM_BROKEN) {
		w->r->end = STREAM_BROKEN;
		snprintf(w->r->problem, sizeof(w->r->problem), "%s: %s", what,
			 strerror(-error));
	}
	return error;
}

static int world_board(struct stream_world *w, int i)
{
	static const struct host_driver_params driver = {
		.system = FL_SYSTEM_PART, .resolve = FL_IOC_RESOLVE_BLOCK,
	};
	struct board_config board = {
		.name = i ? "b" : "a", .id = (uint8_t)i, .sim = w->sim,
		.fabric = w->fabric, .trace = w->trace, .timing = &w->timing,
	};
	struct host_config host = { .resident_pages = FRAMES,
				    .process_pages = i ? w->s->pages : 0 };
	int err = 0;

	w->board[i] = board_create(&board, &err);
	if (!w->board[i])
		return world_fail(w, "board", err);
	host.board = w->board[i];
	w->kernel[i] = host_create(&host, &err);
	if (!w->kernel[i])
		return world_fail(w, "kernel", err);
	err = host_driver_probe(w->kernel[i], &driver);
	if (err)
		return world_fail(w, "driver", err);
	w->driver[i] = true;
	w->process[i] = host_process_create(w->kernel[i], i ? "q" : "p", &err);
	return w->process[i] ? 0 : world_fail(w, "process", err);
}

static int world_make(struct stream_world *w)
{
	struct fabric_inject lost = { .loss_ppm = w->s->deaf ? 1000000 :
							      w->s->loss_ppm };
	struct trace_config trace = { .ring_records = 4096, .out = w->s->trace };
	struct sim_config sim = { .mode = SIM_LOCKSTEP, .seed = w->s->seed };
	struct fabric_config fabric = { .timing = &w->timing };
	const char *const *set = w->s->sets;
	char error[200];
	int i, err;

	err = timing_load(&w->timing, w->s->profile, error, sizeof(error));
	while (!err && set && *set)
		err = timing_set(&w->timing, *set++, error, sizeof(error));
	if (err) {
		w->r->end = STREAM_BROKEN;
		snprintf(w->r->problem, sizeof(w->r->problem), "%s", error);
		return -EINVAL;
	}
	w->seen = calloc(w->s->packets / 32 + 1, sizeof(*w->seen));
	w->trace = trace_create(&trace);
	sim.trace = fabric.trace = w->trace;
	w->sim = w->trace && w->seen ? sim_create(&sim) : NULL;
	fabric.sim = w->sim;
	w->fabric = w->sim ? fabric_create(&fabric) : NULL;
	if (!w->fabric)
		return world_fail(w, "scheduler and fabric", -ENOMEM);
	for (i = 0; i < 2 && !err; i++)
		err = world_board(w, i);
	if (!err)
		err = world_fail(w, "link", fabric_link(w->fabric, 0, 1));
	if (!err && lost.loss_ppm)
		err = world_fail(w, "link", fabric_inject(w->fabric, 0, 1, &lost));
	if (!err && w->s->loss_ppm)
		err = world_fail(w, "link", fabric_inject(w->fabric, 1, 0, &lost));
	return err;
}

static int world_go(struct stream_world *w)
{
	static void (*const program[2])(void *) = { stream_sender, stream_receiver };
	int i;

	board_faults(w->board[1], w->s->share, w->s->major);
	for (i = 0; i < 2; i++) {
		w->end[i].w = w;
		w->thread[i] = host_thread_start(w->process[i], "main", program[i],
						 &w->end[i]);
		if (!w->thread[i])
			return world_fail(w, "thread", -ENOMEM);
	}
	if (sim_run(w->sim, 0, DRAIN_NS) != SIM_FINISHED)
		return world_fail(w, "nothing goes on any more", -EDEADLK);
	for (i = 0; i < 2; i++)
		sim_thread_join(w->thread[i]);
	return 0;
}

static void world_count(struct stream_world *w)
{
	struct ud_stats st;
	const char *wrong;
	int i;

	board_ud_stats(w->board[1], &st);
	w->r->diverted = st.diverted;
	for (i = 0; i < UD_DROP_WHYS; i++)
		w->r->dropped += st.dropped[i];
	w->r->delivered = w->end[1].next;
	w->r->total_ns = w->end_ns - w->begin_ns;
	for (i = 0; i < 2; i++) {
		counts_add(&w->r->count, w->board[i], w->kernel[i], w->fabric);
		wrong = host_check(w->kernel[i], true);
		if (wrong) {
			w->r->end = STREAM_BROKEN;
			snprintf(w->r->problem, sizeof(w->r->problem), "%s", wrong);
		}
	}
}

static void world_end(struct stream_world *w)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (w->process[i])
			host_process_exit(w->process[i]);
		if (w->driver[i])
			host_driver_remove(w->kernel[i]);
	}
	if (w->sim)
		sim_stop(w->sim);
	for (i = 0; i < 2; i++) {
		if (w->kernel[i])
			host_destroy(w->kernel[i]);
		if (w->board[i])
			board_destroy(w->board[i]);
	}
	if (w->fabric)
		fabric_destroy(w->fabric);
	if (w->sim)
		sim_destroy(w->sim);
	if (w->trace)
		trace_destroy(w->trace);
	timing_free(&w->timing);
	free(w->seen);
}

void stream_run(const struct stream *s, struct stream_result *r)
{
	struct stream_world *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	memset(r, 0, sizeof(*r));
	if (!w) {
		r->end = STREAM_BROKEN;
		snprintf(r->problem, sizeof(r->problem), "out of memory");
		return;
	}
	w->s = s;
	w->r = r;
	err = world_make(w);
	if (!err)
		err = world_go(w);
	/* Threads that cannot end use it still. */
	if (err == -EDEADLK)
		return;
	if (!err)
		world_count(w);
	world_end(w);
	free(w);
}
