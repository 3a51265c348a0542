// SPDX-License-Identifier: BSD-2-Clause
#include "bench.h"
void bench_world(void) { }
