// SPDX-License-Identifier: BSD-2-Clause
#include "rig/datagram_swarm.h"

#define SOURCE_PAGES	8

__attribute__((format(printf, 2, 3))) void mails_say(struct swarm *s,
	      const char *fmt, ...)
{
	va_list ap;

	if (s->problem[0])
		return;
	va_start(ap, fmt);
	vsnprintf(s->problem, sizeof(s->problem), fmt, ap);
	va_end(ap);
}

void mails_ok(struct swarm *s, int err, const char *what)
{
	if (err && err != -ENOMEM && err != -ENOSPC && err != -EBUSY && err != -EAGAIN)
		mails_say(s, "%s: %s %s", what, fl_strerror(err), testbed_why(s->w));
}

unsigned int process_number(const struct swarm *s,
			    const struct testbed_process *p)
{
	unsigned int i;

	for (i = 0; s->proc[i] != p; i++)
		;
	return i;
}

/* ---- building ---- */

static struct testbed_buffer *build_buffer(struct swarm *s, unsigned int proc,
					   const char *word, uint64_t bytes)
{
	char *name = s->names[2 * proc + (word[0] == 'r')];
	struct testbed_buffer *b = NULL;

	snprintf(name, sizeof(s->names[0]), "%.3s%u", word, proc);
	mails_ok(s, testbed_buffer_add(s->proc[proc], name, bytes, NULL, &b), "buffer");
	if (is_over(s))
		return NULL;
	if (!b)
		mails_say(s, "there is no memory for %s", name);
	else
		mails_ok(s, testbed_buffer_fill(b, TESTBED_RANDOM, rng_next(&s->rng)),
			 "fill");
	if (!is_over(s))
		mails_ok(s, testbed_region_add(b, 0, 0, FL_LOCAL_WRITE, 0), "region");
	return b;
}

static void build_processes(struct swarm *s)
{
	static const char *const name[] = { "p", "q", "r", "s" };
	/* Which have datagrams besides, and lose as dropring does. */
	static const enum fl_system connected[] = { FL_SYSTEM_NPF, FL_SYSTEM_ODP2,
						    FL_SYSTEM_RXE, FL_SYSTEM_DROPRC };
	enum fl_system system;
	unsigned int i;

	for (i = 0; i < s->procs && !is_over(s); i++) {
		s->backup[i] = draw_n(s, 3);
		system = s->backup[i] ? FL_SYSTEM_BACKUP :
			 draw_n(s, 2) ? FL_SYSTEM_DROPRING : connected[draw_n(s, 4)];
		mails_ok(s, testbed_process_add(s->w, name[i], s->board[i % s->boards],
						system, (enum fl_resolve)draw_n(s, 3),
						&s->proc[i]), "process");
		if (!is_over(s))
			s->source[i] = build_buffer(s, i, "source", SOURCE_PAGES * PAGE);
		if (!is_over(s))
			s->ring[i] = build_buffer(s, i, "ring", RING_SLOTS * SLOT);
	}
}

void build_line(struct swarm *s, struct line *l)
{
	unsigned int a = (unsigned int)draw_n(s, s->procs);
	unsigned int b = (unsigned int)draw_n(s, s->procs);
	struct testbed_joining join = { .mask = FL_ATTR_MTU, .datagrams = true };

	*l = (struct line){ .depth = 2 + (unsigned int)draw_n(s, DEPTH_MAX - 1),
			    .mtu = 256u << draw_n(s, 5) };
	/* Most of them between the first two, so that they meet in one card. */
	if (draw_n(s, 3))
		a = 0, b = 1;
	join.depth = l->depth;
	join.attr.mtu = l->mtu;
	s->conns++;
	mails_ok(s, testbed_connect(s->proc[a], s->proc[b], "line", &join, &l->c), "connect");
	l->failed[0] = l->failed[1] = !l->c;	/* no memory: in the next round */
}

void build_all(struct swarm *s)
{
	static const char *const name[] = { "a", "b", "c" };
	struct testbed_board_config bc = {
		.frames = s->tight ? 40 + draw_n(s, 60) : 0,
	};
	unsigned int i;

	for (i = 0; i < s->boards; i++) {
		mails_ok(s, testbed_board_add(s->w, name[i], &bc, &s->board[i]), "board");
		if (i)
			mails_ok(s, testbed_link_add(s->w, s->board[i - 1], s->board[i]),
				 "link");
	}
	if (!is_over(s))
		build_processes(s);
	for (i = 0; i < s->lines && !is_over(s); i++)
		build_line(s, &s->line[i]);
}
