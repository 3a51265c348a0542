// SPDX-License-Identifier: BSD-2-Clause
/* The invariants (sources: rules), and counting in the trace. */
#include "tools/scenario/testbed_internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"
#include "tools/view/view.h"
#include "trace/trace.h"

static void check_look_at(struct testbed_board *b, const char *(*kernel_check)(
						struct host_kernel *k))
{
	struct testbed *w = b->testbed;
	const char *text;

	if (w->problem[0])
		return;
	if (board_stale(b->board)) {
		testbed_note_problem(w, 1,
			"a device used a translation after its frame was "
			"given to someone else (STALE_ACCESS)");
		return;
	}
	text = board_check(b->board);
	if (!text && b->kernel)
		text = kernel_check(b->kernel);
	if (text)
		testbed_note_problem(w, 5, "board %s at %llu ns: %s", b->name,
				     (unsigned long long)sim_now(w->sim), text);
}

static const char *all_of_it(struct host_kernel *k)
{
	return host_check(k, false);
}

static void check_all(void *testbed)
{
	struct testbed *w = testbed;
	unsigned int i;

	for (i = 0; i < w->boards; i++)
		check_look_at(&w->board[i], all_of_it);
}

static void check_one(void *testbed, struct sim_watch *watch)
{
	size_t off = offsetof(struct testbed_board, watch);

	(void)testbed;
	check_look_at((struct testbed_board *)(void *)((char *)watch - off),
		      host_check_changed);
}

static void check_changed(void *testbed)
{
	struct testbed *w = testbed;

	sim_each_noted(w->sim, check_one, w);
}

int testbed_check_begin(struct testbed *w, char *error, size_t error_bytes)
{
	const char *checks = getenv("FAULTLINE_CHECKS");

	if (checks && *checks && strcmp(checks, "all")) {
		snprintf(error, error_bytes, "FAULTLINE_CHECKS is '%s': all, or nothing",
			 checks);
		return -EINVAL;
	}
	w->check_all = checks && *checks;
	sim_set_check(w->sim, w->check_all ? check_all : check_changed, w);
	return 0;
}

void testbed_check_board(struct testbed_board *b)
{
	struct testbed *w = b->testbed;

	if (w->cfg.mode != SIM_LOCKSTEP || w->cfg.no_checks || w->check_all)
		return;
	board_watch(b->board, &b->watch);
	if (b->kernel)
		host_watch(b->kernel, &b->watch);
	sim_note(w->sim, &b->watch);
}

static void check_ledger(struct testbed *w)
{
	struct testbed_connection *c;
	unsigned int i;
	int side;

	for (i = 0; i < w->conns; i++) {
		c = &w->conn[i];
		for (side = 0; side < 2; side++)
			if (c->ends[side] > c->posts[side])
				testbed_note_problem(w, 2,
					"%s: %u completions for %u work "
					"requests",
					c->name, c->ends[side], c->posts[side]);
	}
}

/* At the end, in all modes; wires and cards are idle. */
void testbed_check_end(struct testbed *w)
{
	const char *text;
	unsigned int i;

	check_all(w);
	check_ledger(w);
	testbed_model_end(w);
	for (i = 0; i < w->boards; i++) {
		text = w->board[i].kernel ?
			       host_check(w->board[i].kernel, true) : NULL;
		if (text)
			testbed_note_problem(w, 5, "board %s at the end: %s",
					     w->board[i].name, text);
		text = board_busy(w->board[i].board);
		if (text)
			testbed_note_problem(w, 3,
				"board %s at the end: the %s is not idle",
				w->board[i].name, text);
	}
}

/* ---- the trace ---- */

struct trace_record *testbed_records(struct testbed *w, uint32_t *count,
				     bool *complete)
{
	uint64_t total = 0, room;
	struct trace_record *r;
	int ev;

	for (ev = 0; ev < EV_COUNT; ev++)
		total += trace_count(w->trace, (enum trace_event)ev);
	/* Threads may add more while we copy. */
	room = total + 65536;
	if (w->cfg.mode == SIM_LOCKSTEP && room > w->ring_records * (w->boards + 1ull))
		room = w->ring_records * (w->boards + 1ull);
	r = malloc((room ? room : 1) * sizeof(*r));
	if (!r)
		return NULL;
	*count = trace_snapshot(w->trace, r, (uint32_t)room);
	*complete = *count >= total;
	view_inherit(r, *count);
	return r;
}

/*
 * A work request's transfer number is chosen inside the library; the n-th event of this
 * kind of its queue pair on its board is this one.
 */
static uint32_t find_nth(const struct trace_record *r, uint32_t n,
			 const struct testbed_work *k, enum trace_event ev)
{
	uint8_t board = board_id(k->conn->process[k->side]->board->board);
	uint32_t qpn = k->conn->qpn[k->side], seen = 0, i;

	for (i = 0; i < n; i++) {
		if (r[i].event != ev || r[i].board != board ||
		    r[i].arg[0] != qpn)
			continue;
		if (seen++ == k->order)
			return r[i].xfer;
	}
	return 0;
}

/* A process whose doorbell page is memory of a guest's kernel says nothing itself. */
static uint32_t find_xfer(const struct trace_record *r, uint32_t n,
			  const struct testbed_work *k)
{
	uint32_t xfer = find_nth(r, n, k, EV_LIB_POST);

	return xfer ? xfer : find_nth(r, n, k, EV_DRV_SNOOP);
}

/* The records, if none is lost, and the request's transfer number. */
static int work_records(struct testbed *w, const struct testbed_work *k,
			struct trace_record **r, uint32_t *n, uint32_t *xfer)
{
	bool complete;

	*xfer = 0;
	if (k && k->opcode == FL_RECV) {
		testbed_why_set(w, "a receive has no events: the message has");
		return -EINVAL;
	}
	*r = testbed_records(w, n, &complete);
	if (!*r)
		return -ENOMEM;
	if (complete && k)
		*xfer = find_xfer(*r, *n, k);
	if (complete && (!k || *xfer))
		return 0;
	testbed_why_set(w, complete ? "it was never posted" :
			"the trace has lost records; count without on and of");
	free(*r);
	return complete ? -ENOENT : -EOVERFLOW;
}

int testbed_count(struct testbed *w, enum trace_event ev,
		  const struct testbed_filter *f, uint64_t *count)
{
	struct trace_record *r;
	uint32_t n, i, xfer;
	int err;

	*count = trace_count(w->trace, ev);
	if (!f->board && !f->work)
		return 0;
	err = work_records(w, f->work, &r, &n, &xfer);
	if (err)
		return err;
	*count = 0;
	for (i = 0; i < n; i++)
		*count += r[i].event == ev &&
			  (!f->board ||
			   r[i].board == board_id(f->board->board)) &&
			  (!xfer || r[i].xfer == xfer);
	free(r);
	return 0;
}

/* To memory: of a block, of a packet, or by the driver out of the system buffer. */
static bool brings_bytes(const struct trace_record *r)
{
	return r->event == EV_RX_BURST || (r->event == EV_RC_BURST && r->arg[1]) ||
	       r->event == EV_DRV_COPY;
}

int testbed_arrival(struct testbed *w, const struct testbed_work *k, uint64_t *ns)
{
	uint64_t post_ns = 0, last_ns = 0;
	struct trace_record *r;
	uint32_t n, i, xfer;
	int err;

	if (w->cfg.mode != SIM_LOCKSTEP) {
		testbed_why_set(w, "arrivals are told in virtual time alone");
		return -EOPNOTSUPP;
	}
	err = work_records(w, k, &r, &n, &xfer);
	if (err)
		return err;
	for (i = 0; i < n; i++) {
		if (r[i].xfer != xfer)
			continue;
		if (r[i].event == EV_LIB_POST)
			post_ns = r[i].time_ns;
		else if (brings_bytes(&r[i]))
			last_ns = r[i].time_ns;
	}
	free(r);
	if (!last_ns) {
		testbed_why_set(w, "it has brought no byte to memory");
		return -ENODATA;
	}
	*ns = last_ns - post_ns;
	return 0;
}
