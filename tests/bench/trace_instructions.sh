#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Instructions of one trace record: the difference of two runs under callgrind.
set -eu
cd "$(dirname "$0")/../.."
tools/doctor --have valgrind

collected() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		"${B:-build/plain}/bench/bench_trace" --instructions "$1" 2>&1 |
		sed -n 's/.*Collected : *//p'
}

few=$(collected 10000)
many=$(collected 110000)
echo "trace record: $(((many - few) / 100000)) instructions"
