// SPDX-License-Identifier: BSD-2-Clause
/*
 * Address handles: whom a datagram is for (ibv_create_ah(3)).
 *
 * All ports are in one subnet, so a LID is all that it takes, and no datagram has a global route
 * header: an address that asks for one is refused, and no completion says IBV_WC_GRH. The
 * first 40 bytes of a receive are kept free for one all the same, as programs expect.
 */
#include <errno.h>
#include <stdlib.h>

#include "verbs.h"

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct v_ah *a;

	if (attr->port_num != V_PORT || !attr->dlid || attr->dlid > V_LID_MAX ||
	    attr->src_path_bits)
		return v_null(EINVAL);
	if (attr->is_global)
		return v_null(EOPNOTSUPP);
	a = calloc(1, sizeof(*a));
	if (!a)
		return v_null(ENOMEM);
	a->ibv.context = pd->context;
	a->ibv.pd = pd;
	a->node = attr->dlid - 1u;
	atomic_fetch_add(&v_pd(pd)->ahs, 1);
	return &a->ibv;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	atomic_fetch_sub(&v_pd(ah->pd)->ahs, 1);
	free(ah);
	return 0;
}

/* From where the datagram came. */
int ibv_init_ah_from_wc(struct ibv_context *c, uint8_t port, struct ibv_wc *wc,
			struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	(void)c, (void)grh;
	*attr = (struct ibv_ah_attr){
		.dlid = wc->slid, .sl = wc->sl, .src_path_bits = wc->dlid_path_bits,
		.port_num = port,
	};
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
				     struct ibv_grh *grh, uint8_t port)
{
	struct ibv_ah_attr attr;

	ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr);
	return ibv_create_ah(pd, &attr);
}

void v_whom(const struct v_qp *q, const struct ibv_ah *ah, uint32_t qpn, uint32_t qkey,
	    struct fl_address *to, struct fl_work *w)
{
	*to = (struct fl_address){ .node = ((const struct v_ah *)ah)->node, .qpn = qpn };
	w->to = to;
	/* InfiniBand 10.2.5: a key with the high bit stands for that of the queue pair. */
	w->qkey = qkey >> 31 ? q->attr.qkey : qkey;
}
