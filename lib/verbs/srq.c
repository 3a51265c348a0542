// SPDX-License-Identifier: BSD-2-Clause
/* Shared receive queues (ibv_create_srq(3)). */
#include <errno.h>
#include <stdlib.h>

#include "verbs.h"

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct v_srq *s;
	int error;

	if (!v_context(pd->context)->connections)
		return v_null(EOPNOTSUPP);
	if (init->attr.max_sge > FL_RECV_SEGMENTS || !init->attr.max_wr)
		return v_null(EINVAL);
	s = calloc(1, sizeof(*s));
	if (!s)
		return v_null(ENOMEM);
	error = fl_create_srq(v_pd(pd)->pd, init->attr.max_wr, &s->srq);
	if (error) {
		free(s);
		return v_null(error);
	}
	pthread_mutex_init(&s->lock, NULL);
	s->attr = init->attr;
	s->attr.srq_limit = 0;
	s->ibv.context = pd->context;
	s->ibv.srq_context = init->srq_context;
	s->ibv.pd = pd;
	pthread_mutex_init(&s->ibv.mutex, NULL);
	pthread_cond_init(&s->ibv.cond, NULL);
	v_source_add(v_context(pd->context), &s->source, &s->ibv, s->srq, 0);
	return &s->ibv;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct v_srq *s = v_srq(srq);
	int error;

	/* Its size stays. */
	if (mask != IBV_SRQ_LIMIT)
		return mask ? EOPNOTSUPP : 0;
	/* The event may be there before the call returns. */
	pthread_mutex_lock(&s->lock);
	error = fl_limit_srq(s->srq, attr->srq_limit);
	if (!error)
		s->attr.srq_limit = attr->srq_limit;
	pthread_mutex_unlock(&s->lock);
	return v_error(error);
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct v_srq *s = v_srq(srq);

	pthread_mutex_lock(&s->lock);
	*attr = s->attr;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* A limit counts once (ibv_modify_srq(3)). */
void v_srq_limit_passed(struct ibv_srq *srq)
{
	struct v_srq *s = v_srq(srq);

	pthread_mutex_lock(&s->lock);
	s->attr.srq_limit = 0;
	pthread_mutex_unlock(&s->lock);
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct v_srq *s = v_srq(srq);
	int error = fl_destroy_srq(s->srq);

	if (error)
		return v_error(error);
	v_source_del(&s->source, &srq->mutex, &srq->cond, &srq->events_completed);
	pthread_mutex_destroy(&srq->mutex);
	pthread_cond_destroy(&srq->cond);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return 0;
}
