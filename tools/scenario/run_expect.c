// SPDX-License-Identifier: BSD-2-Clause
/* Statements that look: expect and print. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "board/packets/packets.h"
#include "host/host.h"
#include "nic/fw.h"
#include "nic/transport/fault.h"
#include "nic/transport/nv.h"
#include "nic/transport/rc.h"
#include "tools/scenario/runner_internal.h"
#include "tools/scenario/words.h"

static void expect_got(struct run *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->got, sizeof(r->got), fmt, ap);
	va_end(ap);
}

static enum held expect_compare(struct run *r, const struct arg *op,
				uint64_t value, uint64_t want)
{
	if (!r->got[0])
		expect_got(r, "%llu", (unsigned long long)value);
	return compare_holds((enum compare)op->choice, value, want) ? HELD :
								      NOT_HELD;
}

static enum held expect_status(struct run *r, const struct statement *st)
{
	struct testbed_work *k = &r->work[st->arg[0].name];
	const struct arg *want = &st->arg[2];
	bool not = st->arg[1].set;

	if (k->error) {
		expect_got(r, "%s: the library refused it",
			   word_errno_name(k->error));
		return ((int)want->number == k->error) != not ? HELD :
								NOT_HELD;
	}
	if (!k->posted || !k->done) {
		expect_got(r, "%s",
			   k->posted ? "it is not complete (wait for it)" :
						"it was never posted");
		return NOT_HELD;
	}
	expect_got(r, "%s", word_status_name(k->status));
	return (!want->number && k->status == want->choice) != not ? HELD :
								     NOT_HELD;
}

/* What a line wants to find: byte i of its right side. */
struct wanted {
	const uint8_t *bytes;	/* or NULL: a fill */
	enum testbed_fill fill;
	uint64_t seed;
};

static enum held compare_bytes(struct run *r, const uint8_t *have,
			       const struct wanted *w, uint64_t n)
{
	uint64_t i, bad = 0, first = 0;
	uint8_t want, wanted_first = 0;

	for (i = 0; i < n; i++) {
		want = w->bytes ? w->bytes[i] :
				  testbed_fill_byte(w->fill, w->seed, i);
		if (have[i] == want)
			continue;
		if (!bad++) {
			first = i;
			wanted_first = want;
		}
	}
	if (!bad) {
		expect_got(r, "%llu byte%s equal", (unsigned long long)n,
			   n == 1 ? " is" : "s are");
		return HELD;
	}
	expect_got(r,
		   "%llu of %llu bytes differ; the first is byte %llu: 0x%02x "
	"instead of 0x%02x",
		   (unsigned long long)bad, (unsigned long long)n,
		   (unsigned long long)first, have[first], wanted_first);
	return NOT_HELD;
}

static uint64_t span_bytes(const struct testbed_buffer *b, const struct arg *a)
{
	if (a->set && a->end)
		return a->end - a->number;
	return a->number < b->bytes ? b->bytes - a->number : 0;
}

static enum held expect_data(struct run *r, const struct statement *st)
{
	static const enum testbed_fill fills[] = { TESTBED_ZERO, TESTBED_RANDOM,
						 TESTBED_PATTERN };
	struct testbed_buffer *b = r->buffer[st->arg[0].name], *other = NULL;
	uint64_t n = span_bytes(b, &st->arg[1]), m = 0;
	const struct arg *seed = statement_option(st, "seed");
	struct wanted w = { .seed = seed ? seed->number : 1 };
	uint8_t *have = malloc(n ? n : 1), *want = NULL;
	enum held held = NOT_HELD;
	int err = have ? 0 : -ENOMEM;

	if (st->arg[3].choice == 3) {
		other = r->buffer[st->arg[3].name];
		m = span_bytes(other, &st->arg[4]);
		n = m < n && !st->arg[1].end ? m : n;
		want = malloc(n ? n : 1);
		if (!want || m < n)
			err = want ? -ERANGE : -ENOMEM;
		w.bytes = want;
	} else {
		w.fill = fills[st->arg[3].choice];
	}
	if (!err && n)
		err = testbed_buffer_read(b, st->arg[1].number, have, n);
	if (!err && n && other)
		err = testbed_buffer_read(other, st->arg[4].number, want, n);
	if (err == -ERANGE && want && m < n)
		expect_got(r, "cannot compare: the right side has only %llu of %llu "
			   "bytes", (unsigned long long)m,
			   (unsigned long long)n);
	else if (!n)
		expect_got(r,
			   "nothing to compare: buffer %s has only %llu bytes",
			   b->name, (unsigned long long)b->bytes);
	else if (err)
		expect_got(r, "cannot compare: %s %s", word_errno_name(err),
			   testbed_why(r->w));
	else
		held = compare_bytes(r, have, &w, n);
	free(have);
	free(want);
	return held;
}

static enum held expect_number(struct run *r, const struct statement *st)
{
	struct testbed_buffer *b = r->buffer[st->arg[0].name];
	uint8_t bytes[8];
	uint64_t v = 0;
	int i, err = testbed_buffer_read(b, st->arg[1].number, bytes, 8);

	if (err) {
		expect_got(r, "cannot read 8 bytes there: %s %s",
			   word_errno_name(err), testbed_why(r->w));
		return NOT_HELD;
	}
	for (i = 8; i--;)
		v = v << 8 | bytes[i];
	return expect_compare(r, &st->arg[2], v, st->arg[3].number);
}

/* arg 0 event, 1 board, 2 work */
static int count_events(struct run *r, const struct statement *st, uint64_t *n)
{
	struct testbed_filter f = { 0 };

	if (st->arg[1].set)
		f.board = r->board[st->arg[1].name];
	if (st->arg[2].set)
		f.work = &r->work[st->arg[2].name];
	return testbed_count(r->w, (enum trace_event)st->arg[0].choice, &f, n);
}

/* Place of the first that the library keeps, among the words of the grammar. */
#define CACHE_COUNTERS	14

static int read_counter(struct run *r, const struct statement *st, uint64_t *v)
{
	struct testbed_process *p = r->process[st->arg[0].name];
	struct fl_cache_counters k;
	struct fl_fault_counters c;
	const uint64_t *in_order[] = {
		&c.faults, &c.faults_source, &c.faults_destination, &c.pages_in,
		&c.resolves, &c.failed, &c.spurious, &c.invalidations,
		&c.pinned_pages, &c.stalls, &c.loaded, &c.zapped, &c.raced,
		&c.advised, &k.hits, &k.misses, &k.evictions,
		&k.dropped, &k.bytes, &k.most_bytes
	};
	int err = st->arg[1].choice >= CACHE_COUNTERS ? testbed_cache(p, &k) :
							testbed_counters(p, &c);

	if (!err)
		*v = *in_order[st->arg[1].choice];
	return err;
}

static uint64_t read_stat(struct run *r, const struct statement *st)
{
	struct testbed_board *b = r->board[st->arg[0].name];
	struct engine_stats e;
	struct fabric_stats f;
	struct host_stats h = { 0 };
	struct rc_stats rc;
	struct nv_stats nv;
	struct nic_fault_stats nf;
	struct fw_stats fw;
	uint64_t unused = 0;
	const uint64_t *in_order[] = {
		&e.blocks_sent, &e.blocks_resent, &e.blocks_landed,
		&e.blocks_refused, &e.stale, &e.duplicates, &e.no_context,
		&e.wait_sent, &e.bad_packets, &e.bad_registers, &f.bytes, &f.frames, &f.lost,
		&fw.refused_key, &fw.refused_range, &fw.refused_rights,
		&fw.refused_qp, &h.page_ins, &h.evictions, &h.swap_ins, &h.swap_outs,
		&h.cpu_faults, &h.frames_free, &h.frames_pinned,
		&h.faults_minor, &h.faults_major, &h.pages_brought, &unused,
		&h.pinned_peak, &h.resident_peak,
		&rc.packets_sent, &rc.resent, &rc.rnr_sent, &rc.rnr_waits,
		&rc.timeouts, &rc.rewinds, &rc.dropped, &rc.duplicates,
		&rc.overflows, &nf.reported, &nf.suppressed,
		&nv.redirected, &nv.released, &nv.credit_waits, &nv.order_waits,
		&nv.slots_used, &nv.slots_peak, &nv.packets_sent, &nv.resent
	};

	board_engine_stats(b->board, &e);
	fabric_stats(testbed_fabric(r->w), board_id(b->board), &f);
	board_rc_stats(b->board, &rc);
	board_nv_stats(b->board, &nv);
	board_fault_stats(b->board, &nf);
	board_fw_stats(b->board, &fw);
	if (b->kernel)
		host_stats(b->kernel, &h);
	if (b->kernel)
		unused = host_pages_unused(b->kernel);
	return *in_order[st->arg[1].choice];
}

static enum held expect_time(struct run *r, const struct statement *st)
{
	struct testbed_work *k = &r->work[st->arg[0].name];
	uint64_t ns = k->done_ns - k->post_ns;

	if (!k->done) {
		expect_got(r, "it is not complete");
		return NOT_HELD;
	}
	expect_got(r, "%llu.%03llu us", (unsigned long long)(ns / 1000),
		   (unsigned long long)(ns % 1000));
	if (testbed_cfg(r->w)->mode != SIM_LOCKSTEP)
		return NOT_CHECKED;
	return expect_compare(r, &st->arg[1], ns, st->arg[2].number);
}

static enum held expect_pages(struct run *r, const struct statement *st)
{
	struct testbed_buffer *b = r->buffer[st->arg[0].name];
	uint64_t n = span_bytes(b, &st->arg[1]), there, pages, first;
	int err = testbed_buffer_resident(b, st->arg[1].number, n, &there);

	first = ((uint64_t)(uintptr_t)b->mem + st->arg[1].number) / HOST_PAGE;
	pages = n ? ((uint64_t)(uintptr_t)b->mem + st->arg[1].number + n - 1) /
		    HOST_PAGE - first + 1 : 0;
	if (err && err != -ERANGE) {
		expect_got(r, "%s %s", word_errno_name(err), testbed_why(r->w));
		return NOT_HELD;
	}
	if (err || !n) {
		expect_got(r, "no such pages: buffer %s has only %llu bytes",
			   b->name, (unsigned long long)b->bytes);
		return NOT_HELD;
	}
	expect_got(r, "%llu of %llu pages are there", (unsigned long long)there,
		   (unsigned long long)pages);
	return there == (st->verb == V_EXPECT_RESIDENT ? pages : 0) ? HELD :
								      NOT_HELD;
}

/* Did what the line looks at come to be? */
static bool is_made(struct run *r, const struct statement *st)
{
	switch (st->verb) {
	case V_EXPECT_DATA:
		return r->buffer[st->arg[0].name] &&
		       (st->arg[3].choice != 3 ||
			r->buffer[st->arg[3].name]);
	case V_EXPECT_RESIDENT: case V_EXPECT_ABSENT: case V_EXPECT_NUMBER:
		return r->buffer[st->arg[0].name];
	case V_EXPECT_COUNTER: case V_PRINT_COUNTER:
		return r->process[st->arg[0].name];
	case V_EXPECT_STAT: case V_PRINT_STAT:
		return r->board[st->arg[0].name];
	case V_EXPECT_COUNT: case V_PRINT_COUNT:
		return (!st->arg[1].set || r->board[st->arg[1].name]) &&
		       (!st->arg[2].set || r->work[st->arg[2].name].conn);
	default:
		return true;
	}
}

enum held run_expect(struct run *r, const struct statement *st)
{
	struct testbed_work *k = &r->work[0];
	uint64_t v = 0;
	int err;

	r->got[0] = 0;
	if (!is_made(r, st)) {
		expect_got(r, "what it names was never made");
		return NOT_HELD;
	}
	switch (st->verb) {
	case V_EXPECT_STATUS:
		return expect_status(r, st);
	case V_EXPECT_DATA:
		return expect_data(r, st);
	case V_EXPECT_TIME:
		return expect_time(r, st);
	case V_EXPECT_RESIDENT: case V_EXPECT_ABSENT:
		return expect_pages(r, st);
	case V_EXPECT_NUMBER:
		return expect_number(r, st);
	case V_EXPECT_COUNT:
		err = count_events(r, st, &v);
		if (!err)
			return expect_compare(r, &st->arg[3], v,
					      st->arg[4].number);
		break;
	case V_EXPECT_COUNTER:
		err = read_counter(r, st, &v);
		if (!err)
			return expect_compare(r, &st->arg[2], v,
					      st->arg[3].number);
		break;
	case V_EXPECT_STAT:
		return expect_compare(r, &st->arg[2], read_stat(r, st),
				      st->arg[3].number);
	default:
		k = &r->work[st->arg[0].name];
		err = k->done ? 0 : -ENOENT;
		v = st->verb == V_EXPECT_RESENDS ? k->resends :
		    st->verb == V_EXPECT_IMM ? k->done_imm : k->done_bytes;
		if (!err)
			return expect_compare(r, &st->arg[1], v,
					      st->arg[2].number);
		testbed_why_set(r->w, "%s", "it is not complete");
	}
	expect_got(r, "%s %s", word_errno_name(err), testbed_why(r->w));
	return NOT_HELD;
}

int run_print(struct run *r, const struct statement *st)
{
	struct testbed_work *k = &r->work[st->arg[0].name < 0 ? 0 :
							st->arg[0].name];
	uint64_t v = 0, ns = k->done_ns - k->post_ns;
	int err = is_made(r, st) ? 0 : -ENOENT;

	switch (st->verb) {
	case V_PRINT_TIME: case V_PRINT_RATE:
		if (!k->done)
			return -ENOENT;
		if (st->verb == V_PRINT_TIME)
			fprintf(r->out, "%s time_ns %llu\n", k->name,
				(unsigned long long)ns);
		else
			fprintf(r->out, "%s rate_mbps %llu\n", k->name,
				(unsigned long long)(ns ? (uint64_t)k->done_bytes *
							  8000 / ns : 0));
		return 0;
	case V_PRINT_NOTICED:
		if (!r->counter[st->arg[1].name])
			return -ENOENT;
		ns = r->counter[st->arg[1].name]->noticed_ns - k->post_ns;
		fprintf(r->out, "%s noticed_ns %llu\n", k->name, (unsigned long long)ns);
		return 0;
	case V_PRINT_ARRIVAL:
		if (!k->done)
			return -ENOENT;
		err = testbed_arrival(r->w, k, &ns);
		if (!err)
			fprintf(r->out, "%s arrival_ns %llu\n", k->name,
				(unsigned long long)ns);
		return err;
	case V_PRINT_COUNT:
		if (!err)
			err = count_events(r, st, &v);
		break;
	case V_PRINT_COUNTER:
		if (!err)
			err = read_counter(r, st, &v);
		break;
	default:
		if (!err)
			v = read_stat(r, st);
		break;
	}
	if (!err)
		fprintf(r->out, "%s %llu\n", st->text, (unsigned long long)v);
	return err;
}
