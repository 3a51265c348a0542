// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine's two state machines from their single source, with the number of times
 * that each transition was taken in this run; the others are grey. Arcs between the
 * same two states share one arrow.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "faultline/fsm.h"
#include "tools/scenario/words.h"
#include "tools/view/view.h"
#include "trace/trace.h"

#define STATES_MAX 8
#define EVENTS_MAX 16

struct arc {
	int from, event, to;
};

struct machine {
	const char *name, *title;
	const char *state[STATES_MAX], *event[EVENTS_MAX];
	const char *owner[STATES_MAX];
	const struct arc *arc;
	int states, arcs;
	enum trace_event ev;
	uint64_t count[STATES_MAX][EVENTS_MAX];
};

/* Those of TX, then those of RX, as they stand in fsm.def. */
static const struct arc arcs[] = {
#define ARC(m, from, ev, to, text) \
	{ FL_##m##_##from, FL_##m##_EV_##ev, FL_##m##_##to },
#include "faultline/fsm.def"
};
static_assert(sizeof(arcs) / sizeof(arcs[0]) == FL_TX_ARCS + FL_RX_ARCS,
	      "all arcs of both machines");

static void fill_names(struct machine *of_TX, struct machine *of_RX)
{
#define FSTATE(m, name, value, owns, text) \
	of_##m->state[FL_##m##_##name] = #name; \
	of_##m->owner[FL_##m##_##name] = #owns;
#define FEVENT(m, name, value, source, text) \
	of_##m->event[FL_##m##_EV_##name] = #name;
#include "faultline/fsm.def"
}

static uint64_t count_run(struct machine *m, const struct view_trace *t,
			  int board)
{
	const struct trace_record *r;
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < t->n; i++) {
		r = &t->r[i];
		if (r->event != m->ev || (board >= 0 && r->board != board) ||
		    r->arg[1] >= STATES_MAX || r->arg[2] >= EVENTS_MAX)
			continue;
		m->count[r->arg[1]][r->arg[2]]++;
		total++;
	}
	return total;
}

static bool is_fault_state(const struct machine *m, int state)
{
	return strstr(m->state[state], "FAULT") != NULL;
}

static void put_states(FILE *f, const struct machine *m)
{
	uint64_t in;
	int s, i;

	for (s = 0; s < m->states; s++) {
		for (in = 0, i = 0; i < m->arcs; i++)
			if (m->arc[i].to == s || m->arc[i].from == s)
				in += m->count[m->arc[i].from][m->arc[i].event];
		fprintf(f,
			"\t\t%s_%s [label=<<b>%s</b><br/><font "
			"point-size=\"9\">%s</font>> color=\"%s\" "
			"fontcolor=\"%s\" penwidth=%s];\n",
			m->name, m->state[s], m->state[s], m->owner[s],
			!in ? VIEW_GREY :
			is_fault_state(m, s) ? VIEW_FAULT : VIEW_GOOD,
			!in ? VIEW_GREY :
			is_fault_state(m, s) ? VIEW_FAULT : VIEW_DARK,
			in ? "2" : "1");
	}
}

/* All arcs from one state to another: one arrow, one line of label each. */
static void put_pair(FILE *f, const struct machine *m, int from, int to)
{
	/* Drawn backwards, so that SRCFAULT stands to the left of READY. */
	bool flip = m->ev == EV_TX_STATE && to == FL_TX_SRCFAULT;
	const char *color, *back;
	uint64_t n, total = 0;
	bool fault = false, any = false;
	int i;

	for (i = 0; i < m->arcs; i++) {
		if (m->arc[i].from != from || m->arc[i].to != to)
			continue;
		any = true;
		total += m->count[from][m->arc[i].event];
	}
	if (!any)
		return;
	fault = is_fault_state(m, to) && total;
	color = !total ? VIEW_GREY : fault ? VIEW_FAULT :
		is_fault_state(m, from) ? VIEW_REPAIR : VIEW_GOOD;
	/* Ways home must not pull the picture into a circle. */
	back = flip ? " dir=back" :
	       (to < from && from != FL_TX_SRCFAULT) ||
	       !strcmp(m->state[to], "FREE") ? " constraint=false" : "";
	fprintf(f,
		"\t\t%s_%s -> %s_%s [color=\"%s\" penwidth=%s%s label=<<table "
		"border=\"0\" cellborder=\"0\" cellspacing=\"0\" "
		"cellpadding=\"1\">",
		m->name, m->state[flip ? to : from], m->name,
		m->state[flip ? from : to], color, total ? (fault ? "2.5" :
		"1.8") : "0.8", back);
	for (i = 0; i < m->arcs; i++) {
		if (m->arc[i].from != from || m->arc[i].to != to)
			continue;
		n = m->count[from][m->arc[i].event];
		fprintf(f,
			"<tr><td bgcolor=\"white\" align=\"left\"><font "
			"color=\"%s\">%s%s",
			n ? color : VIEW_GREY, n ? "<b>" : "",
			m->event[m->arc[i].event]);
		if (n)
			fprintf(f, " x %llu</b>", (unsigned long long)n);
		fputs("</font></td></tr>", f);
	}
	fputs("</table>>];\n", f);
}

static void put_machine(FILE *f, const struct machine *m)
{
	int a, b;

	fprintf(f,
		"\tsubgraph cluster_%s {\n\t\tlabel=\"%s\"; "
		"fontname=\"Helvetica-Bold\"; fontsize=14; color=\"#DDDDDD\"; "
		"margin=14;\n",
		m->name, m->title);
	put_states(f, m);
	/* A fault stands beside the state that met it. */
	fputs(m->ev == EV_TX_STATE ?
		"\t\t{ rank=same; tx_SRCFAULT; tx_READY; }\n\t\t{ rank=same; "
		"tx_FLYING; tx_DSTFAULT; }\n" :
		"\t\t{ rank=same; rx_WRITE; rx_FAULT; }\n", f);
	for (a = 0; a < m->states; a++)
		for (b = 0; b < m->states; b++)
			put_pair(f, m, a, b);
	fputs("\t}\n", f);
}

int view_states(FILE *f, const struct view_trace *t, int board)
{
	struct machine tx = { .name = "tx", .title = "transmit context",
			      .arc = arcs, .states = FL_TX_STATES,
			      .arcs = FL_TX_ARCS, .ev = EV_TX_STATE };
	struct machine rx = { .name = "rx", .title = "receive context",
			      .arc = arcs + FL_TX_ARCS, .states = FL_RX_STATES,
			      .arcs = FL_RX_ARCS, .ev = EV_RX_STATE };
	uint64_t total;

	fill_names(&tx, &rx);
	total = count_run(&tx, t, board) + count_run(&rx, t, board);
	if (!total)
		return -ENOENT;
	fprintf(f,
		"digraph states {\n\tgraph [rankdir=TB nodesep=0.9 "
		"ranksep=0.55 bgcolor=white pad=0.2 "
		"fontname=\"Helvetica-Bold\" labelloc=t label=\"The engine's "
		"state machines: %llu transition%s of this run; grey: not "
		"taken\"];\n\tnode [shape=box style=rounded "
		"fontname=\"Helvetica\" fontsize=12 height=0.5];\n\tedge "
		"[fontname=\"Helvetica\" fontsize=10 arrowsize=0.8];\n",
		(unsigned long long)total, word_plural(total));
	put_machine(f, &tx);
	put_machine(f, &rx);
	fputs("}\n", f);
	return 0;
}
