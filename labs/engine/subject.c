// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subject of the lab: the bench of the lab "resend" with the engine in Verilog
 * on it, that is the model that Verilator made of the student's files.
 */
#include "rtl/cosim/engine_plugin.h"

extern const struct engine_plugin faultline_engine;

#define LAB_ENGINE(cfg, env, error) \
	faultline_engine.create(cfg, env, trace_emit, error)
/* A model takes some thousand cycles a step; no test here has so many steps. */
#define LAB_RUNAWAY	1000
#include "labs/resend/subject.c"
