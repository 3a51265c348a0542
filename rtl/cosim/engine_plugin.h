/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_plugin.h - which engine: the one in C, the one in Verilog, or both side by
 * side.
 *
 * The engine in Verilog is a plug-in, a shared object with this symbol:
 *
 *	const struct engine_plugin faultline_engine;
 *
 * It uses nothing of the program that loads it but what create() is given, so
 * the program needs no Verilator and no C++.
 *
 * Both: every call goes to the C engine first, whose calls of its environment go
 * out; then to the other one, whose calls must be the same in kind, order and
 * arguments and get the same answers. The first difference ends the program
 * (exit status 1) after a report on stderr and, if the plug-in can, with the last
 * clock cycles at its pins in DIR/engine-difference-NODE.vcd.
 */
#ifndef FL_ENGINE_PLUGIN_H
#define FL_ENGINE_PLUGIN_H

#include <stddef.h>

#include "faultline/device.h"
#include "nic/engine.h"
#include "trace/event.h"

#define ENGINE_PLUGIN_SYMBOL	"faultline_engine"
/* And of the device: a plug-in of another stepping is not taken. */
#define ENGINE_PLUGIN_VERSION	(2 + 16 * DEV_STEPPING)

struct model_ops;	/* rtl/cosim/model.h */

/* trace_emit() of the program. */
typedef uint64_t engine_trace_emit(struct trace *t, enum trace_event ev,
				   const struct trace_at *at, uint64_t a0,
				   uint64_t a1, uint64_t a2, uint64_t a3);

struct engine_plugin {
	uint32_t version;
	/* Of engine_config, engine_env and engine_stats: built together? */
	uint32_t config_bytes, env_bytes, stats_bytes;
	/* As engine_create(). */
	struct engine *(*create)(const struct engine_config *cfg,
				 const struct engine_env *env,
				 engine_trace_emit *emit, int *error);
	/* Optional: the last clock cycles at all pins, as a VCD; 0 or -errno. */
	int (*dump)(struct engine *e, const char *path);
	/* Optional: clock cycles so far. */
	uint64_t (*cycles)(const struct engine *e);
	/* Optional: the pins (model.h), for a test that drives them itself. */
	const struct model_ops *model;
};

enum engine_kind { ENGINE_C, ENGINE_RTL, ENGINE_BOTH };

/* "c", "rtl", "both"; -1: none of them. */
int engine_kind_parse(const char *word);

/*
 * The plug-in: the file that $FAULTLINE_RTL names (build/rtl/librtl-cxxrtl.so: the
 * same Verilog in another simulator); else build/rtl/librtl.so of the build that
 * this program belongs to. NULL with a sentence in *why (which stays). Loaded
 * once, never unloaded.
 */
const struct engine_plugin *engine_plugin(const char **why);

/*
 * The call that makes such engines: engine_create(), or as that. -ENOENT in *error: there
 * is no plug-in. Both: reports go into the current folder.
 */
engine_create_fn *engine_maker(enum engine_kind kind);

/*
 * The C engine and another one. dir: for reports, NULL: the current one. differs: called
 * at the first difference with what the report says, and must not return; NULL: report
 * and exit(1).
 */
struct engine *engine_both(const struct engine_config *cfg,
			   const struct engine_env *env,
			   const struct engine_plugin *other, const char *dir,
			   void (*differs)(const char *report), int *error);
/* The other engine of engine_both(), for its counters. */
struct engine *engine_both_other(struct engine *both);

#endif
