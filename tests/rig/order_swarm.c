// SPDX-License-Identifier: BSD-2-Clause
#include "rig/order_swarm.h"

__attribute__((format(printf, 2, 3))) void orders_say(struct swarm *s,
	      const char *fmt, ...)
{
	va_list ap;

	if (s->problem[0])
		return;
	va_start(ap, fmt);
	vsnprintf(s->problem, sizeof(s->problem), fmt, ap);
	va_end(ap);
}

void orders_ok(struct swarm *s, int err, const char *what)
{
	if (err && err != -ENOMEM && err != -ENOSPC && err != -EBUSY)
		orders_say(s, "%s: %s %s", what, fl_strerror(err),
			   testbed_why(s->w));
}

struct testbed_buffer *orders_buffer(struct swarm *s,
				     const struct testbed_process *p)
{
	unsigned int i;

	for (i = 0; i < s->procs; i++)
		if (s->proc[i] == p)
			/* One more often than the other: they meet there. */
			return s->buffer[i * BUFFERS + !draw_n(s, 4)];
	return NULL;
}

/* ---- building ---- */

static enum fl_system draw_system(struct swarm *s)
{
	static const enum fl_system packets[] = { FL_SYSTEM_NPF, FL_SYSTEM_ODP2,
						  FL_SYSTEM_RXE, FL_SYSTEM_DROPRC };

	/* Where time is the wall's, each page that droprc drops is a fifth of a second. */
	if (s->fragments)
		return FL_SYSTEM_NETVM;
	if (s->packets)
		return packets[draw_n(s, s->real ? 3 : 4)];
	if (s->sinking)
		return FL_SYSTEM_NPR;
	if (s->aborting && draw_n(s, 3))
		return FL_SYSTEM_ABORT;
	return draw_n(s, 4) ? FL_SYSTEM_PART : FL_SYSTEM_STALL;
}

static void build_processes(struct swarm *s)
{
	static const char *const proc[] = { "p", "q", "r", "s" };
	unsigned int i, k, n;
	uint64_t bytes;

	for (i = 0; i < s->procs; i++) {
		orders_ok(s, testbed_process_add(s->w, proc[i],
						 s->board[i % s->boards],
						 draw_system(s),
						 (enum fl_resolve)draw_n(s, 3),
						 &s->proc[i]), "process");
		for (k = 0; k < BUFFERS && !is_over(s); k++) {
			n = i * BUFFERS + k;
			snprintf(s->names[n], sizeof(s->names[n]), "%s%u",
				 proc[i], k);
			bytes = (1 + draw_n(s, k ? 20 : 4)) * PAGE;
			orders_ok(s, testbed_buffer_add(s->proc[i], s->names[n],
							bytes, NULL,
							&s->buffer[n]),
				  "buffer");
			if (is_over(s))
				return;
			if (draw_n(s, 4))
				orders_ok(s, testbed_buffer_fill(s->buffer[n],
								 TESTBED_RANDOM,
								 rng_next(&s->rng)),
					  "fill");
			orders_ok(s,
				  testbed_region_add(s->buffer[n], 0, 0, RIGHTS,
						     0), "region");
		}
	}
}

void connect_pair(struct swarm *s, struct pair *p)
{
	unsigned int a = (unsigned int)draw_n(s, s->procs);
	unsigned int b = (unsigned int)draw_n(s, s->procs);
	struct testbed_joining join = { .depth = DEPTH };

	*p = (struct pair){ 0 };
	/* Most of them between the first two, so that they meet. */
	if (draw_n(s, 3))
		a = 0, b = 1;
	s->conns++;
	join.relaxed = !draw_n(s, 4) && !s->packets;
	orders_ok(s, testbed_connect(s->proc[a], s->proc[b], "pair", &join, &p->c),
		  "connect");
}

void orders_build(struct swarm *s)
{
	static const char *const name[] = { "a", "b", "c" };
	struct testbed_board_config bc = {
		/* Queue pairs of the system npr have pinned pages of their own. */
		.frames = s->tight ? (s->sinking ? 250 : 30) + draw_n(s, 30) : 0,
		.contexts = 4 + (uint32_t)draw_n(s, 13),
		.rx_contexts = 1 + (uint32_t)draw_n(s, 16),
		.block_bytes = 4096u << draw_n(s, 5),
		.tlb_entries = 4u << draw_n(s, 7),
	};
	unsigned int i;

	for (i = 0; i < s->boards; i++) {
		orders_ok(s,
			  testbed_board_add(s->w, name[i], &bc, &s->board[i]),
			  "board");
		if (i)
			orders_ok(s, testbed_link_add(s->w, s->board[i - 1],
						      s->board[i]), "link");
	}
	if (!is_over(s))
		build_processes(s);
	for (i = 0; i < s->pairs && !is_over(s); i++)
		connect_pair(s, &s->pair[i]);
}
