// SPDX-License-Identifier: BSD-2-Clause
/* The requests of a work, as a list. */
#include <string.h>

#include "tools/work/pattern.h"
#include "tools/work/work.h"

static unsigned int ops_row(const struct work *k, struct work_op *op)
{
	unsigned int i;

	for (i = 0; i < k->count; i++) {
		op[i].read = k->kind == WORK_READ;
		op[i].remote = op[i].read ? WORK_OUT : WORK_IN;
		op[i].at = op[i].local_at = (uint32_t)(i * k->bytes);
		op[i].bytes = (uint32_t)k->bytes;
		op[i].last = true;
	}
	return i;
}

static unsigned int ops_pingpong(const struct work *k, struct work_op *op)
{
	unsigned int i;

	for (i = 0; i < 2 * k->count; i++) {
		op[i].back = i % 2;
		op[i].remote = WORK_IN;
		op[i].bytes = (uint32_t)k->bytes;
		op[i].last = op[i].back;
	}
	return i;
}

static unsigned int ops_pattern(const struct work *k, uint64_t seed,
				struct work_op *op)
{
	struct pattern_access a[PATTERN_ACCESSES];
	unsigned int n, i, reads = 0;

	n = pattern_make((enum pattern)(k->kind - WORK_PATTERNS), seed, a);
	for (i = 0; i < n; i++) {
		op[i].read = a[i].read;
		op[i].remote = WORK_IN;
		op[i].at = a[i].at;
		op[i].bytes = a[i].bytes;
		op[i].local_at = a[i].read ? reads++ * PATTERN_MOST : 0;
		op[i].last = true;
	}
	return n;
}

unsigned int work_ops(const struct work *k, uint64_t seed, struct work_op *op)
{
	memset(op, 0, WORK_MOST_OPS * sizeof(*op));
	if (k->kind == WORK_STREAM)
		return 0;
	if (k->kind >= WORK_PATTERNS)
		return ops_pattern(k, seed, op);
	return k->kind == WORK_PINGPONG ? ops_pingpong(k, op) : ops_row(k, op);
}

static void size_up(uint64_t *size, uint64_t end)
{
	if (end > *size)
		*size = end;
}

void work_sizes(const struct work_op *op, unsigned int n, struct work_sizes *s)
{
	unsigned int i;
	int me, peer;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < n; i++) {
		me = op[i].back;
		peer = !me;
		size_up(op[i].read ? &s->in[me] : &s->out[me],
			(uint64_t)op[i].local_at + op[i].bytes);
		size_up(op[i].remote == WORK_IN ? &s->in[peer] : &s->out[peer],
			(uint64_t)op[i].at + op[i].bytes);
	}
}
