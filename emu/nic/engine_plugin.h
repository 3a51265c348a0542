/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_plugin.h - which engine: the one in C, the one in Verilog (a plug-in,
 * see engine_ops.h), or both side by side.
 *
 * Both: every call goes to the C engine first, whose calls of its environment go
 * out; then to the other one, whose calls must be the same in kind, order and
 * arguments and get the same answers. The first difference ends the program
 * (exit status 1) after a report on stderr and, if the plug-in can, with the last
 * clock cycles at its pins in DIR/engine-difference-NODE.vcd.
 */
#ifndef FL_ENGINE_PLUGIN_H
#define FL_ENGINE_PLUGIN_H

#include "nic/engine_ops.h"

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
 * As engine_create(). dir: for reports, NULL: the current one. -ENOENT in
 * *error: there is no plug-in.
 */
struct engine *engine_make(enum engine_kind kind,
			   const struct engine_config *cfg,
			   const struct engine_env *env, const char *dir,
			   int *error);

/*
 * The C engine and another one. differs: called at the first difference with
 * what the report says, and must not return; NULL: report and exit(1).
 */
struct engine *engine_both(const struct engine_config *cfg,
			   const struct engine_env *env,
			   const struct engine_plugin *other, const char *dir,
			   void (*differs)(const char *report), int *error);
/* The other engine of engine_both(), for its counters. */
struct engine *engine_both_other(struct engine *both);

#endif
