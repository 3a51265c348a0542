// SPDX-License-Identifier: BSD-2-Clause
// What yosys' CXXRTL makes of fl_engine.v, behind model.h. In C++ a pin has another
// name (s_axil_bresp is p_s__axil__bresp): cxxrtl_pins.h, made from pins.def, has
// PIN_s_axil_bresp for it.
#include "model.h"

#include <cstring>

#include "cxxrtl_pins.h"
#include "fl_engine.h"

struct model {
	cxxrtl_design::p_fl__engine top;
};

// A pin that is a flip-flop's is a wire, another is a value.
template <size_t bits> static const uint32_t *words(const cxxrtl::value<bits> &v)
{
	return v.data;
}

template <size_t bits> static const uint32_t *words(const cxxrtl::wire<bits> &w)
{
	return w.curr.data;
}

struct model *model_create(void)
{
	return new model;
}

void model_destroy(struct model *m)
{
	delete m;
}

void model_settle(struct model *m, const struct model_in *in,
		  struct model_out *out)
{
	cxxrtl_design::p_fl__engine &t = m->top;

	// CXXRTL takes for granted that bits beyond a pin's width are 0.
#define IN(name, bits)		t.PIN_##name.set(in->name & ~0ull >> (64 - bits));
#define IN_WIDE(name, bits)	memcpy(t.PIN_##name.data, in->name, sizeof(in->name));
#include "pins.def"
	t.p_clk.set(0u);
	t.step();
#define OUT(name, bits)		out->name = t.PIN_##name.get<uint64_t>();
#define OUT_WIDE(name, bits)	memcpy(out->name, words(t.PIN_##name), sizeof(out->name));
#include "pins.def"
}

// One evaluation that sees the edge; what the outputs are then, model_settle() finds.
void model_edge(struct model *m)
{
	m->top.p_clk.set(1u);
	m->top.eval();
	m->top.commit();
}
