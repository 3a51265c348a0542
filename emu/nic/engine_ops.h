/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine_ops.h - another engine behind engine.h. Whatever is handed out as a
 * struct engine begins with struct engine_head; the calls of engine.h go to the C
 * engine where ops is NULL, and through ops everywhere else.
 *
 * The engine in Verilog is a plug-in, a shared object with this symbol:
 *
 *	const struct engine_plugin faultline_engine;
 *
 * It uses nothing of the program that loads it but what create() is given, so
 * the program needs no Verilator and no C++.
 */
#ifndef FL_ENGINE_OPS_H
#define FL_ENGINE_OPS_H

#include "faultline/device.h"
#include "nic/engine.h"
#include "trace/trace.h"

/* As the calls of engine.h with these names. */
struct engine_ops {
	void (*destroy)(struct engine *e);
	void (*reset)(struct engine *e);
	int (*reg_read)(struct engine *e, uint32_t off, unsigned int size,
			uint64_t *value);
	int (*reg_write)(struct engine *e, uint32_t off, unsigned int size,
			 uint64_t value);
	void (*reg_cause)(struct engine *e, uint64_t seq);
	uint64_t (*tx_event)(const struct engine *e, unsigned int ctx);
	uint64_t (*rx_event)(const struct engine *e, unsigned int rxc);
	uint64_t (*step)(struct engine *e, unsigned int channel,
			 uint64_t now_ns);
	void (*receive)(struct engine *e, const struct wire_frame *f,
			uint64_t now_ns);
	void (*burst_resume)(struct engine *e, unsigned int channel,
			     bool terminate);
	void (*wire_room)(struct engine *e);
	void (*stats)(const struct engine *e, struct engine_stats *st);
	bool (*idle)(const struct engine *e);
	const char *(*check)(const struct engine *e);
};

struct engine_head {
	const struct engine_ops *ops;
};

#define ENGINE_PLUGIN_SYMBOL	"faultline_engine"
/* And of the device: a plug-in of another stepping is not taken. */
#define ENGINE_PLUGIN_VERSION	(1 + 16 * DEV_STEPPING)

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
};

#endif
