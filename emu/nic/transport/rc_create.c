// SPDX-License-Identifier: BSD-2-Clause
/* The reliable connection: making and resetting a unit, what it counts, what must hold. */
#include "nic/transport/rc_internal.h"

#include <assert.h>
#include <stdlib.h>

struct rc *rc_create(const struct rc_config *cfg, const struct rc_env *env)
{
	struct rc *rc = calloc(1, sizeof(*rc));

	assert(cfg->window && cfg->window < RC_PACKETS_MAX && cfg->rx_frames);
	if (!rc)
		return NULL;
	rc->cfg = *cfg;
	rc->env = *env;
	rc->alarm_ns = RC_NEVER;
	rc->pair = calloc(RC_PAIRS, sizeof(*rc->pair));
	if (!inbox_make(&rc->inbox, cfg->rx_frames) || !rc->pair) {
		rc_destroy(rc);
		return NULL;
	}
	return rc;
}

void rc_destroy(struct rc *rc)
{
	unsigned int i;

	if (!rc)
		return;
	for (i = 0; i < rc->pairs_used; i++)
		free(rc->pair[i].req.req);
	free(rc->pair);
	inbox_end(&rc->inbox);
	free(rc);
}

void rc_reset(struct rc *rc)
{
	struct fw_transport t = rc_transport(rc);
	unsigned int i;

	for (i = 0; i < rc->pairs_used; i++)
		t.close(t.ctx, (uint16_t)i);
	rc->take.what = NULL;
	inbox_clear(&rc->inbox);
}

void rc_stats(const struct rc *rc, struct rc_stats *st)
{
	*st = rc->stats;
}

bool rc_idle(const struct rc *rc)
{
	unsigned int i;

	if (rc->inbox.oldest || rc->take.what || rc->job.active)
		return false;
	for (i = 0; i < rc->pairs_used; i++) {
		const struct rc_pair *q = &rc->pair[i];

		if (q->open && (q->req.head != q->req.tail || q->resp.answers ||
				q->resp.read.active))
			return false;
	}
	return true;
}

static const char *pair_check(const struct rc_pair *q)
{
	const struct rc_requester *r = &q->req;
	const struct rc_responder *s = &q->resp;

	if (r->tail - r->head > FW_QP_WRS)
		return "rc: more requests than there is room for";
	if (r->place - r->head > r->tail - r->head)
		return "rc: the next packet belongs to no request";
	if (rc_psn_diff(r->next, r->una) < 0 || rc_psn_diff(r->end, r->next) < 0)
		return "rc: PSNs of the requester are out of order";
	if (r->head == r->tail && r->una != r->end)
		return "rc: PSNs are on the way, and there is no request";
	if (s->answers > RC_ANSWERS)
		return "rc: more answers than there is room for";
	if (s->message == RC_MSG_SEND && !s->held && !s->dying)
		return "rc: a SEND is arriving, and there is no receive entry";
	if (!q->open && (r->head != r->tail || s->answers || s->read.active))
		return "rc: a closed pair is at work";
	return NULL;
}

const char *rc_check(const struct rc *rc)
{
	const char *wrong;
	unsigned int i;

	for (i = 0; i < rc->pairs_used; i++) {
		wrong = pair_check(&rc->pair[i]);
		if (wrong)
			return wrong;
	}
	if (!inbox_is_whole(&rc->inbox, !!rc->take.what))
		return "rc: frames that came are lost, or twice";
	return NULL;
}
