// SPDX-License-Identifier: BSD-2-Clause
/* Which engine, and the plug-in that holds another one than that in C. */
#include "rtl/cosim/engine_plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "os/os_emu.h"

#define PATH_BYTES 4096

static struct {
	pthread_once_t once;
	const struct engine_plugin *plugin;
	char why[PATH_BYTES + 300];
} loaded = { .once = PTHREAD_ONCE_INIT };

int engine_kind_parse(const char *word)
{
	static const char *const names[] = { "c", "rtl", "both" };
	int i;

	for (i = 0; i < 3; i++)
		if (!strcmp(word, names[i]))
			return i;
	return -1;
}

/* build/rtl, seen from build/plain/faultline and from build/plain/tests/x. */
static bool load_find_model(char path[PATH_BYTES])
{
	static const char tail[] = "/rtl/librtl.so";
	const char *given = getenv("FAULTLINE_RTL");
	char *end;
	int i;

	if (given) {
		snprintf(path, PATH_BYTES, "%s", given);
		return true;
	}
	if (os_program(path, PATH_BYTES - sizeof(tail)) < 0)
		return false;
	end = realpath(path, NULL);	/* /proc/self/exe is a link */
	if (!end)
		return false;
	snprintf(path, PATH_BYTES - sizeof(tail), "%s", end);
	free(end);
	for (i = 0; i < 4; i++) {
		end = strrchr(path, '/');
		if (!end)
			return false;
		strcpy(end, tail);
		if (!access(path, R_OK))
			return true;
		*end = 0;
	}
	return false;
}

static void load_model(void)
{
	const struct engine_plugin *p;
	char path[PATH_BYTES];
	const char *given;
	void *so;

	if (!load_find_model(path) || access(path, R_OK)) {
		given = getenv("FAULTLINE_RTL");
		snprintf(loaded.why, sizeof(loaded.why),
			 "the engine in Verilog is not built%s%s: 'make rtl-model' "
			 "builds it (needs verilator and g++; with SIM=cxxrtl "
			 "yosys, yosys-dev and g++)",
			 given ? ", or is not what $FAULTLINE_RTL names, " : "",
			 given ? given : "");
		return;
	}
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	p = so ? dlsym(so, ENGINE_PLUGIN_SYMBOL) : NULL;
	if (!p) {
		snprintf(loaded.why, sizeof(loaded.why),
			 "the engine in Verilog cannot be loaded: %s",
			 dlerror());
		return;
	}
	if (p->version != ENGINE_PLUGIN_VERSION ||
	    p->config_bytes != sizeof(struct engine_config) ||
	    p->env_bytes != sizeof(struct engine_env) ||
	    p->stats_bytes != sizeof(struct engine_stats)) {
		snprintf(loaded.why, sizeof(loaded.why),
			 "%s was built for another version of this program, or "
			 "for another stepping of the device: 'make rtl-model%s' "
			 "builds it anew", path,
			 DEV_STEPPING ? " STEPPING=..." : "");
		return;
	}
	loaded.plugin = p;
}

const struct engine_plugin *engine_plugin(const char **why)
{
	pthread_once(&loaded.once, load_model);
	if (why)
		*why = loaded.why;
	return loaded.plugin;
}

static struct engine *make_rtl(const struct engine_config *cfg,
			       const struct engine_env *env, int *error)
{
	const struct engine_plugin *p = engine_plugin(NULL);

	*error = -ENOENT;
	return p ? p->create(cfg, env, trace_emit, error) : NULL;
}

static struct engine *make_both(const struct engine_config *cfg,
				const struct engine_env *env, int *error)
{
	const struct engine_plugin *p = engine_plugin(NULL);

	*error = -ENOENT;
	return p ? engine_both(cfg, env, p, NULL, NULL, error) : NULL;
}

engine_create_fn *engine_maker(enum engine_kind kind)
{
	static engine_create_fn *const makers[] = {
		[ENGINE_C] = engine_create, [ENGINE_RTL] = make_rtl,
		[ENGINE_BOTH] = make_both,
	};

	return makers[kind];
}
