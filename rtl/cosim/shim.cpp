// SPDX-License-Identifier: BSD-2-Clause
// What Verilator makes of fl_engine.v, behind model.h.
#include "model.h"

#include <cstring>

#include "Vfl_engine.h"
#include "verilated.h"

struct model {
	VerilatedContext context;
	Vfl_engine top{&context};
};

// verilated.cpp asks for the time when it reports something.
double sc_time_stamp()
{
	return 0;
}

struct model *model_create(void)
{
	struct model *m = new model;

	m->top.clk = 0;
	return m;
}

void model_destroy(struct model *m)
{
	m->top.final();
	delete m;
}

void model_settle(struct model *m, const struct model_in *in,
		  struct model_out *out)
{
	Vfl_engine &t = m->top;

#define IN(name, bits)		t.name = in->name;
#define IN_WIDE(name, bits)	memcpy(&t.name, in->name, sizeof(in->name));
#include "pins.def"
	t.clk = 0;
	t.eval();
#define OUT(name, bits)		out->name = t.name;
#define OUT_WIDE(name, bits)	memcpy(out->name, &t.name, sizeof(out->name));
#include "pins.def"
}

void model_edge(struct model *m)
{
	m->top.clk = 1;
	m->top.eval();
	m->context.timeInc(1);
}
