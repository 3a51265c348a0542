/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h - the engine in Verilog as a C object: pins in, pins out, a clock. All
 * that is C++ stands behind it, in shim.cpp.
 */
#ifndef FL_RTL_MODEL_H
#define FL_RTL_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct model_in {
#define IN(name, bits)		uint64_t name;
#define IN_WIDE(name, bits)	uint32_t name[(bits) / 32];
#include "pins.def"
};

struct model_out {
#define OUT(name, bits)		uint64_t name;
#define OUT_WIDE(name, bits)	uint32_t name[(bits) / 32];
#include "pins.def"
};

struct model;

struct model *model_create(void);
void model_destroy(struct model *m);
/* Clock low: what the outputs are with these inputs. */
void model_settle(struct model *m, const struct model_in *in,
		  struct model_out *out);
/* The rising edge. */
void model_edge(struct model *m);

/* The calls above, for a test that drives the pins itself. */
struct model_ops {
	/* Of model_in and model_out: built together? */
	uint32_t in_bytes, out_bytes;
	struct model *(*create)(void);
	void (*destroy)(struct model *m);
	void (*settle)(struct model *m, const struct model_in *in,
		       struct model_out *out);
	void (*edge)(struct model *m);
};

#ifdef __cplusplus
}
#endif

#endif
