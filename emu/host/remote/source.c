// SPDX-License-Identifier: BSD-2-Clause
/*
 * source.c - a file that is not this program's, for private mappings: whoever has
 * it is asked for its pages. The answer may take long, or never come.
 */
#include <stdlib.h>

#include "host/internal.h"
#include "host/remote/remote_mm.h"

struct remote_source {
	struct host_source source;
	const struct host_file_ops *ops;
	void *arg;
};

static int remote_source_read(struct host_source *source, uint64_t offset, void *page)
{
	struct remote_source *f = (struct remote_source *)source;
	int err;

	host_waits(true);
	err = f->ops->read(f->arg, offset, page);
	host_waits(false);
	return err;
}

static void remote_source_free(struct host_source *source)
{
	struct remote_source *f = (struct remote_source *)source;

	f->ops->put(f->arg);
	free(f);
}

/* -EINVAL: less than need bytes (whole pages) are there. */
static struct host_source *source_of(const struct host_file_ops *ops, void *arg,
				     uint64_t bytes, uint64_t need, int *error)
{
	struct remote_source *f;

	*error = -EINVAL;
	if (bytes <= INT64_MAX - HOST_PAGE &&
	    need > (bytes + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE)
		return NULL;
	*error = -ENOMEM;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	*f = (struct remote_source){
		.source = { remote_source_read, remote_source_free, .bytes = bytes },
		.ops = ops,
		.arg = arg,
	};
	*error = 0;
	return &f->source;
}

void *host_mmap_source(struct host_process *p, uint64_t len, int prot,
		       const struct host_file_ops *ops, void *arg,
		       uint64_t file_bytes, uint64_t offset, int *error)
{
	struct host_map m = { .prot = prot_normal(prot), .offset = offset };

	host_spend(p->k, T_CPU_SYSCALL);
	*error = check_map(&len, prot, offset);
	if (!*error && offset > INT64_MAX - len)
		*error = -EINVAL;
	if (!*error)
		*error = file_count(p->mm);
	if (!*error)
		m.file = file_counted(p->mm, source_of(ops, arg, file_bytes,
						       offset + len, error));
	if (m.file)
		return map_somewhere(p->mm, &m, len, error);
	ops->put(arg);
	return NULL;
}
