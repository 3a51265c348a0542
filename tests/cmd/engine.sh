#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --engine reaches every board, in each mode of each command that has boards: a plug-in whose
# engines cannot be made stops them all. Commands without boards do not have the option.
set -u
. tests/cmd/expect.inc

cat >"$dir/none.c" <<'EOF'
#include <errno.h>
#include "rtl/cosim/engine_plugin.h"

static struct engine *create(const struct engine_config *cfg, const struct engine_env *env,
			     engine_trace_emit *emit, int *error)
{
	(void)cfg, (void)env, (void)emit;
	*error = -EIO;
	return NULL;
}

const struct engine_plugin faultline_engine = {
	.version = ENGINE_PLUGIN_VERSION,
	.config_bytes = sizeof(struct engine_config),
	.env_bytes = sizeof(struct engine_env),
	.stats_bytes = sizeof(struct engine_stats),
	.create = create,
};
EOF
${CC:-cc} -shared -fPIC -Iemu -Ilib -Ikernel-ref/include -I. -o "$dir/none.so" \
	"$dir/none.c" || exit
head -c 5000 "$fl" >"$dir/file"
scenario=tests/scenario/write_cold.fl
FAULTLINE_RTL=$dir/none.so
export FAULTLINE_RTL

for e in rtl both; do
	for m in lockstep threads processes; do
		expect 1 '' "send, $m: engine $e is asked for" \
			"$fl" send --engine $e --mode $m "$dir/file"
		expect 1 '' "run, $m: engine $e is asked for" \
			"$fl" run --engine $e --mode $m $scenario
	done
	expect 1 '' "send, boards joined by UDP: engine $e is asked for" \
		"$fl" send --engine $e --mode processes --udp "$dir/file"
	expect 1 'EIO' "demo: engine $e is asked for" \
		"$fl" demo --engine $e --out "$dir/demo" "$dir/file"
	expect 1 'board a:' "board: engine $e is asked for" \
		"$fl" board --engine $e "a=$dir/a.sock"
	expect 1 'board ' "vm: engine $e is asked for" "$fl" vm --engine $e "$dir"
done
expect 0 'the two are equal' 'the engine in C needs no plug-in' \
	"$fl" send --engine c --mode processes "$dir/file"
for c in trace equal; do
	expect 2 "unknown option '--engine'" "$c has no boards" "$fl" $c --engine rtl x y
done
exit $bad
