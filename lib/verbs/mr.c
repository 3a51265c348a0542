// SPDX-License-Identifier: BSD-2-Clause
/* Protection domains and memory regions. */
#include <errno.h>
#include <stdlib.h>

#include "verbs.h"

struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
	struct v_pd *p = calloc(1, sizeof(*p));
	int error;

	if (!p)
		return v_null(ENOMEM);
	error = fl_alloc_pd(v_context(c)->dev, &p->pd);
	if (error) {
		free(p);
		return v_null(error);
	}
	p->ibv.context = c;
	return &p->ibv;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int error = -EBUSY;

	if (!atomic_load(&v_pd(pd)->ahs))
		error = fl_dealloc_pd(v_pd(pd)->pd);
	if (!error)
		free(pd);
	return v_error(error);
}

#define ACCESS_KNOWN (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
		      IBV_ACCESS_ON_DEMAND)
/* Devices may have these; this one has not. */
#define ACCESS_NAMED (IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB)

unsigned int v_remote_rights(unsigned int access)
{
	return (access & IBV_ACCESS_REMOTE_WRITE ? FL_REMOTE_WRITE : 0) |
	       (access & IBV_ACCESS_REMOTE_READ ? FL_REMOTE_READ : 0) |
	       (access & IBV_ACCESS_REMOTE_ATOMIC ? FL_REMOTE_ATOMIC : 0);
}

static int access_of(unsigned int access, unsigned int *rights)
{
	*rights = 0;
	/* What is optional may be left out (ibv_reg_mr(3)). */
	access &= ~IBV_ACCESS_OPTIONAL_RANGE;
	if (access & ~(ACCESS_KNOWN | ACCESS_NAMED))
		return -EINVAL;
	/* ibv_reg_mr(3): remote writes and atomics need local write. */
	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (access & ACCESS_NAMED)
		return -EOPNOTSUPP;
	*rights = v_remote_rights(access);
	if (access & IBV_ACCESS_LOCAL_WRITE)
		*rights |= FL_LOCAL_WRITE;
	if (!(access & IBV_ACCESS_ON_DEMAND))
		*rights |= FL_PINNED;
	return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t bytes,
				uint64_t iova, unsigned int access)
{
	unsigned int rights;
	struct v_mr *m;
	int error = access_of(access, &rights);

	if (!error && iova != (uintptr_t)addr)
		error = -EOPNOTSUPP;
	if (!error && !addr && bytes == SIZE_MAX && !v_context(pd->context)->implicit)
		error = -EINVAL;
	if (error)
		return v_null(error);
	m = calloc(1, sizeof(*m));
	if (!m)
		return v_null(ENOMEM);
	error = fl_reg_mr(v_pd(pd)->pd, addr, bytes, rights, &m->mr);
	if (error) {
		free(m);
		/* Pages that may not be used so: as the kernel says it to others. */
		return v_null(error == -EACCES ? -EFAULT : error);
	}
	m->ibv = (struct ibv_mr){
		.context = pd->context, .pd = pd, .addr = addr, .length = bytes,
		.lkey = fl_mr_key(m->mr), .rkey = fl_mr_key(m->mr),
	};
	return &m->ibv;
}

/* The header has macros of these names, too. */
#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t bytes, int access)
{
	return ibv_reg_mr_iova2(pd, addr, bytes, (uintptr_t)addr, (unsigned int)access);
}

#undef ibv_reg_mr_iova
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t bytes,
			       uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, addr, bytes, iova, (unsigned int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct v_mr *m = (struct v_mr *)mr;
	int error = fl_dereg_mr(m->mr);

	if (!error)
		free(m);
	return v_error(error);
}

static int advice_of(enum ibv_advise_mr_advice advice, enum fl_mr_advice *to)
{
	switch (advice) {
	case IBV_ADVISE_MR_ADVICE_PREFETCH:
		*to = FL_PREFETCH_FOR_READ;
		return 0;
	case IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		*to = FL_PREFETCH_FOR_WRITE;
		return 0;
	case IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		*to = FL_PREFETCH_PRESENT;
		return 0;
	}
	return EINVAL;
}

/* The ranges one after the other, until one is refused. */
int v_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		struct ibv_sge *list, uint32_t n)
{
	enum fl_mr_advice to;
	int error = advice_of(advice, &to);
	uint32_t i;

	if (flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH || !n)
		error = EINVAL;
	for (i = 0; i < n && !error; i++)
		error = v_error(fl_advise_mr(v_pd(pd)->pd, to,
					     flags ? FL_ADVICE_FLUSH : 0, list[i].lkey,
					     (void *)(uintptr_t)list[i].addr,
					     list[i].length));
	return error;
}
