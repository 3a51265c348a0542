// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table walk that met a fault, level by level, with the bits of each descriptor
 * (sources: smmu-ptes) in words.
 */
#include <errno.h>
#include <string.h>

#include "tools/view/view.h"
#include "trace/trace.h"

#define LEVELS_MAX 4

struct walk {
	const struct trace_record *fault;
	const struct trace_record *level[LEVELS_MAX];
	int levels;
	bool cached;	/* the first of them is not TTBR0's: SMMU_WALK_CACHE */
};

/*
 * The levels of a faulting walk are the SMMU_LEVEL records with the fault's cause that
 * come last before it; a fault without any came from a cached entry.
 */
static void find_levels(struct walk *w, const struct view_trace *t, size_t at)
{
	const struct trace_record *r;
	size_t i = at;

	while (i-- && w->levels < LEVELS_MAX) {
		r = &t->r[i];
		if (r->board != w->fault->board)
			continue;
		if (r->event == EV_SMMU_HIT || r->event == EV_SMMU_WALK ||
		    r->event == EV_SMMU_FAULT)
			break;
		if (r->event == EV_SMMU_WALK_CACHE) {
			w->cached = true;
			break;
		}
		if (r->event != EV_SMMU_LEVEL)
			continue;
		memmove(&w->level[1], &w->level[0],
			sizeof(w->level[0]) * (LEVELS_MAX - 1));
		w->level[0] = r;
		w->levels++;
		if (w->levels > 1 && w->level[0]->arg[0] >=
				     w->level[1]->arg[0]) {
			/* an earlier walk */
			memmove(&w->level[0], &w->level[1],
				sizeof(w->level[0]) * (LEVELS_MAX - 1));
			w->levels--;
			break;
		}
	}
}

/* The n-th fault; n 0: the first of those whose walk went deepest. */
static int find_walk(struct walk *w, const struct view_trace *t, uint32_t xfer,
		     unsigned int n)
{
	unsigned int seen = 0;
	struct walk one;
	size_t i;

	memset(w, 0, sizeof(*w));
	for (i = 0; i < t->n; i++) {
		if (t->r[i].event != EV_SMMU_FAULT ||
		    (xfer && t->r[i].xfer != xfer))
			continue;
		if (++seen != n && n)
			continue;
		memset(&one, 0, sizeof(one));
		one.fault = &t->r[i];
		find_levels(&one, t, i);
		if (!w->fault || one.levels > w->levels)
			*w = one;
		if (n)
			break;
	}
	return w->fault ? 0 : -ENOENT;
}

/* FSR bits, SMMU_CBn_FSR (sources: smmu-regs). */
static const char *fault_kind(uint64_t fsr)
{
	if (fsr & 2)
		return "translation fault:\\nthe descriptor is not valid";
	if (fsr & 4)
		return "access flag fault:\\nthe page was aged (AF is 0)";
	if (fsr & 8)
		return "permission fault:\\nthe access is not allowed";
	if (fsr & 16)
		return "external fault:\\nmemory did not answer the walk";
	return "fault";
}

static void put_bit(FILE *f, const char *color, const char *name,
		    const char *text)
{
	fprintf(f,
		"<tr><td align=\"left\"><font color=\"%s\">%s</font></td><td "
		"align=\"left\"><font color=\"%s\">%s</font></td></tr>",
		color, name, color, text);
}

static void put_leaf_bits(FILE *f, uint64_t d, uint64_t fsr)
{
	put_bit(f, !(d & 1ull << 10) && fsr & 4 ? VIEW_FAULT : VIEW_DARK,
		"AF [10]", d & 1ull << 10 ? "1: used lately" : "0: aged");
	put_bit(f, VIEW_DARK, "AP[1] [6]",
		d & 1 << 6 ? "1: a process may use it" : "0: kernel only");
	put_bit(f, d & 1 << 7 && fsr & 8 ? VIEW_FAULT : VIEW_DARK,
		"AP[2] [7]", d & 1 << 7 ? "1: read-only" : "0: writable");
	put_bit(f, VIEW_DARK, "DBM [51]",
		d & 1ull << 51 ? "1: may be made writable" : "0");
	put_bit(f, VIEW_DARK, "nG [11]",
		d & 1 << 11 ? "1: of this ASID" : "0: global");
}

/* Bits 1:0 say what it is. */
static const char *kind_text(int level, uint64_t d)
{
	if (!(d & 1))
		return "0: not valid";
	if (level == 3)
		return d & 2 ? "3: page" : "1: reserved at level 3";
	return d & 2 ? "3: table" : "1: block";
}

static void put_level(FILE *f, const struct walk *w, int i)
{
	const struct trace_record *r = w->level[i];
	uint64_t d = r->arg[3], fsr = w->fault->arg[2];
	int level = (int)r->arg[0];
	bool last = i == w->levels - 1;
	bool leaf = (d & 1) && (level == 3 || !(d & 2));
	const char *color = last ? VIEW_FAULT : VIEW_GOOD;
	char text[64];

	fprintf(f,
		"\tlevel%d [color=\"%s\" penwidth=%s label=<<table "
		"border=\"0\" cellborder=\"0\" cellspacing=\"0\" "
		"cellpadding=\"2\"><tr><td colspan=\"2\"><b><font "
		"color=\"%s\">level %d</font></b></td></tr>",
		i, color, last ? "3" : "1.5", color, level);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)r->arg[1]);
	put_bit(f, VIEW_DARK, "table at", text);
	snprintf(text, sizeof(text), "%llu (VA bits %d to %d)",
		 (unsigned long long)r->arg[2], 47 - 9 * level, 39 - 9 * level);
	put_bit(f, VIEW_DARK, "index", text);
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)d);
	put_bit(f, VIEW_DARK, "descriptor", text);
	put_bit(f, last && !(d & 1) ? VIEW_FAULT : VIEW_DARK, "kind [1:0]",
		kind_text(level, d));
	if (d & 1) {
		snprintf(text, sizeof(text), "0x%llx",
			 (unsigned long long)(d & 0xfffffffff000ull));
		put_bit(f, VIEW_DARK, "address", text);
	} else {
		put_bit(f, VIEW_GREY, "other bits",
			"mean nothing to the SMMU");
	}
	if (leaf)
		put_leaf_bits(f, d, fsr);
	fputs("</table>>];\n", f);
}

int view_walk(FILE *f, const struct view_trace *t, uint32_t xfer,
	      unsigned int n)
{
	const struct trace_record *r;
	struct walk w;
	int i, err = find_walk(&w, t, xfer, n);

	if (err)
		return err;
	r = w.fault;
	fprintf(f,
		"digraph walk {\n\tgraph [rankdir=LR nodesep=0.3 ranksep=0.45 "
		"bgcolor=white pad=0.2 fontname=\"Helvetica-Bold\" "
		"labelloc=t label=\"The walk of 0x%llx at %llu.%03llu us "
		"(context bank %llu)\"];\n\tnode [shape=box style=rounded "
		"fontname=\"Helvetica\" fontsize=11];\n\tedge "
		"[arrowsize=0.8];\n",
		(unsigned long long)r->arg[1],
		(unsigned long long)(r->time_ns / 1000),
		(unsigned long long)(r->time_ns % 1000),
		(unsigned long long)r->arg[0]);
	fprintf(f,
		"\tstart [color=\"" VIEW_GOOD "\" label=\"%s of\\nbank "
		"%llu\"];\n", w.cached ? "walk cache" : "TTBR0",
		(unsigned long long)r->arg[0]);
	for (i = 0; i < w.levels; i++) {
		put_level(f, &w, i);
		if (i)
			fprintf(f, "\tlevel%d -> level%d [color=\"" VIEW_GOOD
			"\"];\n",
				i - 1, i);
		else
			fputs("\tstart -> level0 [color=\"" VIEW_GOOD "\"];\n"
			, f);
	}
	fprintf(f,
		"\tfault [color=\"" VIEW_FAULT "\" fontcolor=\"" VIEW_FAULT
		"\" penwidth=3 fontname=\"Helvetica-Bold\" label=\"FAULT on a "
		"%s\\n%s\\nFSR 0x%llx\\nFSYNR0 0x%llx\"];\n",
		r->arg[3] & 1 << 4 ? "write" : "read", fault_kind(r->arg[2]),
		(unsigned long long)r->arg[2], (unsigned long long)r->arg[3]);
	if (w.levels)
		fprintf(f, "\tlevel%d -> fault", w.levels - 1);
	else
		fputs("\tstart -> fault", f);
	fputs(" [color=\"" VIEW_FAULT "\" penwidth=2.5];\n}\n", f);
	return 0;
}
