// SPDX-License-Identifier: BSD-2-Clause
/*
 * The text form of a record, and its parser. Both go through one grammar:
 *
 *   line  = seq "<" seq " " time " " board "." UNIT " " EVENT " "
 *           xfer "." block "." attempt { " " name "=" value }
 *   seq   = [ ring ":" ] number         ring: threads mode only
 *   time  = virtual_ns | "+" wall_ns    the latter in threads mode
 *   value = number | "-" number | "0x" hex
 *
 * What the text does not hold (wall time in lockstep) is read back as 0. The
 * same record always gives the same bytes.
 */
#include "trace/merge.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

const struct trace_event_info trace_events[EV_COUNT] = {
#define EVENT(name, unit, a0, a1, a2, a3, text)				      \
	[EV_##name] = { #name, UNIT_##unit, { a0, a1, a2, a3 }, text },
#include "trace/events.def"
};

const char *const trace_unit_names[UNIT_COUNT] = {
	[UNIT_APP] = "APP",	  [UNIT_LIB] = "LIB",
	[UNIT_DRIVER] = "DRIVER", [UNIT_KERNEL] = "KERNEL",
	[UNIT_SMMU] = "SMMU",	  [UNIT_FW] = "FW",
	[UNIT_ENGINE] = "ENGINE", [UNIT_WIRE] = "WIRE",
	[UNIT_SIM] = "SIM",
};

static const char header[] = "#faultline-trace 1\n";

/* Addresses, maps, descriptors and FSRs are easier to read in hexadecimal. */
static bool is_hex(const char *name)
{
	static const char *const ends[] = { "va", "pa", "map", "desc", "fsr" };
	size_t i, n = strlen(name), e;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		e = strlen(ends[i]);
		if (n >= e && !strcmp(name + n - e, ends[i]))
			return true;
	}
	return false;
}

/* Longest line: 4 arguments of 20 digits and a name; far below this. */
#define LINE_ROOM	512

struct line {
	size_t len;
	char text[LINE_ROOM];
};

static void put_text(struct line *l, const char *text)
{
	size_t n = strlen(text);

	assert(l->len + n <= LINE_ROOM);
	memcpy(l->text + l->len, text, n);
	l->len += n;
}

static void put_number(struct line *l, uint64_t v, unsigned int base)
{
	char digit[20];
	size_t n = 0;

	do {
		digit[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	assert(l->len + n <= LINE_ROOM);
	while (n)
		l->text[l->len++] = digit[--n];
}

static void put_after(struct line *l, const char *before, uint64_t v)
{
	put_text(l, before);
	put_number(l, v, 10);
}

static void put_seq(struct line *l, uint64_t seq)
{
	if (seq_ring(seq)) {
		put_number(l, seq_ring(seq), 10);
		put_text(l, ":");
	}
	put_number(l, seq_number(seq), 10);
}

static void put_arg(struct line *l, const char *name, uint64_t v)
{
	put_text(l, " ");
	put_text(l, name);
	put_text(l, "=");
	if (is_hex(name)) {
		put_text(l, "0x");
		put_number(l, v, 16);
	} else if (v >> 63) {
		put_after(l, "-", -v);	/* an errno, mostly */
	} else {
		put_number(l, v, 10);
	}
}

void trace_header_text(FILE *f)
{
	fputs(header, f);
}

void trace_record_text(FILE *f, const struct trace_record *r)
{
	const struct trace_event_info *e;
	struct line l;
	int i;

	assert(r->event < EV_COUNT);
	e = &trace_events[r->event];
	l.len = 0;
	put_seq(&l, r->seq);
	put_text(&l, "<");
	put_seq(&l, r->cause);
	if (seq_ring(r->seq))
		put_after(&l, " +", r->wall_ns);
	else
		put_after(&l, " ", r->time_ns);
	put_after(&l, " ", r->board);
	put_text(&l, ".");
	put_text(&l, trace_unit_names[e->unit]);
	put_text(&l, " ");
	put_text(&l, e->name);
	put_after(&l, " ", r->xfer);
	put_after(&l, ".", r->block);
	put_after(&l, ".", r->attempt);
	for (i = 0; i < TRACE_ARGS; i++)
		if (*e->arg[i])
			put_arg(&l, e->arg[i], r->arg[i]);
	put_text(&l, "\n");
	fwrite(l.text, 1, l.len, f);
}

static bool text_take(const char **p, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(*p, text, n))
		return false;
	*p += n;
	return true;
}

static int digit_of(char c, unsigned int base)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (base == 16 && c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* A number at most max, as put_number() writes it: no leading zeros. */
static bool take_number(const char **p, unsigned int base, uint64_t max,
			uint64_t *v)
{
	const char *s = *p;
	int d = digit_of(*s, base);

	if (d < 0 || (!d && digit_of(s[1], base) >= 0))
		return false;
	for (*v = 0; (d = digit_of(*s, base)) >= 0; s++) {
		if ((uint64_t)d > max || *v > (max - (uint64_t)d) / base)
			return false;
		*v = *v * base + (uint64_t)d;
	}
	*p = s;
	return true;
}

static bool take_seq(const char **p, uint64_t *seq)
{
	const char *s = *p;
	uint64_t ring = 0, n;

	if (!take_number(&s, 10, SEQ_NUMBERS, &n))
		return false;
	if (*s == ':') {
		ring = n;
		if (!ring || ring > 0xffff)
			return false;
		s++;
		if (!take_number(&s, 10, SEQ_NUMBERS, &n))
			return false;
	}
	*seq = ring << RING_SHIFT | n;
	*p = s;
	return true;
}

/* One of the names, the whole word; -1 if it is none of them. */
static int take_event(const char **p)
{
	size_t n = strcspn(*p, " \n");
	int i;

	for (i = 0; i < EV_COUNT; i++) {
		if (strlen(trace_events[i].name) == n &&
		    !strncmp(trace_events[i].name, *p, n)) {
			*p += n;
			return i;
		}
	}
	return -1;
}

static bool take_arg(const char **p, const char *name, uint64_t *v)
{
	if (!text_take(p, " ") || !text_take(p, name) || !text_take(p, "="))
		return false;
	if (is_hex(name))
		return text_take(p, "0x") && take_number(p, 16, UINT64_MAX, v);
	if (!text_take(p, "-"))
		return take_number(p, 10, INT64_MAX, v);
	if (**p == '0' || !take_number(p, 10, 1ull << 63, v))
		return false;
	*v = -*v;
	return true;
}

/* seq<cause time */
static bool take_order(const char **p, struct trace_record *r)
{
	const char *start = *p;

	if (!take_seq(p, &r->seq))
		return false;
	if (!(r->seq & SEQ_NUMBERS)) {
		*p = start;	/* a sequence number is never 0 */
		return false;
	}
	if (!text_take(p, "<") || !take_seq(p, &r->cause) || !text_take(p, " "))
		return false;
	if (seq_ring(r->seq))
		return text_take(p, "+") &&
		       take_number(p, 10, UINT64_MAX, &r->wall_ns);
	return take_number(p, 10, UINT64_MAX, &r->time_ns);
}

/* board.UNIT EVENT */
static bool take_what(const char **p, struct trace_record *r)
{
	const char *unit;
	uint64_t n;
	int event;

	if (!text_take(p, " ") || !take_number(p, 10, UINT8_MAX, &n) ||
	    !text_take(p, "."))
		return false;
	r->board = (uint8_t)n;
	unit = *p;
	*p += strcspn(unit, " \n");
	if (!text_take(p, " "))
		return false;
	event = take_event(p);
	if (event < 0)
		return false;
	r->event = (uint16_t)event;
	/* The event says which unit it must be; point at the wrong unit. */
	n = strlen(trace_unit_names[trace_events[event].unit]);
	if (strncmp(unit, trace_unit_names[trace_events[event].unit], n) ||
	    unit[n] != ' ') {
		*p = unit;
		return false;
	}
	return true;
}

static bool take_where(const char **p, struct trace_record *r)
{
	uint32_t *const to[] = { &r->xfer, &r->block, &r->attempt };
	uint64_t n;
	int i;

	for (i = 0; i < 3; i++) {
		if (!text_take(p, i ? "." : " ") ||
		    !take_number(p, 10, UINT32_MAX, &n))
			return false;
		*to[i] = (uint32_t)n;
	}
	return true;
}

static bool take_args(const char **p, struct trace_record *r)
{
	const struct trace_event_info *e = &trace_events[r->event];
	int i;

	for (i = 0; i < TRACE_ARGS; i++)
		if (*e->arg[i] && !take_arg(p, e->arg[i], &r->arg[i]))
			return false;
	return true;
}

int trace_record_parse(const char *line, struct trace_record *r, int *column)
{
	const char *p = line;

	memset(r, 0, sizeof(*r));
	if (take_order(&p, r) && take_what(&p, r) && take_where(&p, r) &&
	    take_args(&p, r)) {
		text_take(&p, "\n");
		if (!*p)
			return 0;
	}
	if (column)
		*column = (int)(p - line) + 1;
	return -EINVAL;
}
