// SPDX-License-Identifier: BSD-2-Clause
/*
 * source.c - a file that is not this program's, for private mappings: whoever has
 * it is asked for its pages. The answer may take long, or never come.
 */
#include <stdlib.h>

#include "host/internal.h"
#include "sim/sim.h"

static _Thread_local struct {
	void (*fn)(void *arg, bool waits);
	void *arg;
} on_wait;

void *source_local(size_t *bytes)
{
	*bytes = sizeof(on_wait);
	return &on_wait;
}

void host_on_wait(void (*fn)(void *arg, bool waits), void *arg)
{
	on_wait.fn = fn;
	on_wait.arg = arg;
}

int source_ask(struct host_source *f, uint64_t offset, void *page)
{
	int err;

	sim_will_wait();
	if (on_wait.fn)
		on_wait.fn(on_wait.arg, true);
	err = f->ops->read(f->arg, offset, page);
	if (on_wait.fn)
		on_wait.fn(on_wait.arg, false);
	return err;
}

struct host_source *source_of(const struct host_file_ops *ops, void *arg,
			      uint64_t bytes, uint64_t need, int *error)
{
	struct host_source *f;

	*error = -EINVAL;
	if (bytes <= INT64_MAX - HOST_PAGE &&
	    need > (bytes + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE)
		return NULL;
	*error = -ENOMEM;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	*f = (struct host_source){ .fd = -1, .ops = ops, .arg = arg,
				   .bytes = bytes };
	*error = 0;
	return f;
}
