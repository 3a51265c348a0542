// SPDX-License-Identifier: BSD-2-Clause
/* NetVM's transport: making and resetting a unit, what it counts, what must hold. */
#include "nic/transport/nv_internal.h"

#include <assert.h>
#include <stdlib.h>

void nv_store_clear(struct nv *nv)
{
	uint32_t i;

	nv->oldest = nv->newest = NULL;
	nv->waiting = nv->spares = 0;
	for (i = nv->cfg.rx_frames; i--; )
		nv->spare[nv->spares++] = &nv->store[i];
}

struct nv *nv_create(const struct nv_config *cfg, const struct nv_env *env)
{
	struct nv *nv = calloc(1, sizeof(*nv));
	unsigned int i;

	assert(cfg->window && cfg->window <= NV_WINDOW_MAX && cfg->rx_frames);
	if (!nv)
		return NULL;
	nv->cfg = *cfg;
	nv->env = *env;
	nv->alarm_ns = NV_NEVER;
	nv->pair = calloc(NV_PAIRS, sizeof(*nv->pair));
	nv->store = malloc(cfg->rx_frames * sizeof(*nv->store));
	nv->spare = malloc(cfg->rx_frames * sizeof(*nv->spare));
	if (!nv->pair || !nv->store || !nv->spare) {
		nv_destroy(nv);
		return NULL;
	}
	for (i = 0; i < NV_PAIRS; i++)
		nv->pair[i].place = (uint16_t)i;
	nv_store_clear(nv);
	return nv;
}

void nv_destroy(struct nv *nv)
{
	unsigned int i;

	if (!nv)
		return;
	for (i = 0; nv->pair && i < NV_PAIRS; i++) {
		free(nv->pair[i].send.req);
		free(nv->pair[i].send.fragment);
		free(nv->pair[i].recv.arrived);
		free(nv->pair[i].recv.answer);
	}
	free(nv->pair);
	free(nv->store);
	free(nv->spare);
	free(nv);
}

void nv_reset(struct nv *nv)
{
	struct fw_transport t = nv_transport(nv);
	unsigned int i;

	for (i = 0; i < nv->pairs_used; i++)
		t.close(t.ctx, (uint16_t)i);
	nv->take.what = NULL;
	nv_store_clear(nv);
	nv_slots_set(nv, 0);
}

void nv_stats(const struct nv *nv, struct nv_stats *st)
{
	*st = nv->stats;
}

bool nv_idle(const struct nv *nv)
{
	unsigned int i;

	if (nv->oldest || nv->take.what || nv->job.active || nv->stats.slots_used)
		return false;
	for (i = 0; i < nv->pairs_used; i++) {
		const struct nv_pair *q = &nv->pair[i];

		if (q->open && (q->send.head != q->send.tail || q->recv.answers ||
				q->recv.state.due || q->send.ask))
			return false;
	}
	return true;
}

static const char *sender_check(const struct nv_pair *q)
{
	const struct nv_sender *s = &q->send;
	uint32_t n, used = 0;

	if (s->tail - s->head > FW_QP_WRS || s->place - s->head > s->tail - s->head)
		return "nv: the next fragment belongs to no WRITE";
	if (s->next - s->una > NV_WINDOW_MAX)
		return "nv: a sender is beyond its window";
	for (n = s->una; n != s->next; n++) {
		const struct nv_fragment *f = &s->fragment[n % NV_WINDOW_MAX];

		used += f->state != NV_FRAG_PLACED;
		if (f->state == NV_FRAG_PLACED && f->again)
			return "nv: a fragment is to be sent that is in its place";
	}
	if (used != s->used)
		return "nv: credits of a sender are miscounted";
	return NULL;
}

static const char *receiver_check(const struct nv_pair *q)
{
	const struct nv_receiver *r = &q->recv;
	uint32_t i, answers = 0, held = 0;

	for (i = 0; i < NV_WINDOW_MAX; i++) {
		const struct nv_arrived *a = &r->arrived[i];

		answers += r->answer[i].due;
		held += a->have && !a->placed && !a->bad;
	}
	if (answers != r->answers)
		return "nv: answers are miscounted";
	if (held != r->slots)
		return "nv: a fragment that is not in its place is in no slot";
	if (r->arrived[r->base % NV_WINDOW_MAX].placed)
		return "nv: a window does not move on";
	return NULL;
}

const char *nv_check(const struct nv *nv)
{
	const char *wrong = nv_credit_check(nv);
	const struct nv_waiting *w;
	uint32_t n = 0;
	unsigned int i;

	for (i = 0; !wrong && i < nv->pairs_used; i++) {
		if (!nv->pair[i].open)
			continue;
		wrong = sender_check(&nv->pair[i]);
		if (!wrong)
			wrong = receiver_check(&nv->pair[i]);
	}
	if (wrong)
		return wrong;
	for (w = nv->oldest; w; w = w->next)
		n++;
	if (n != nv->waiting || n + nv->spares + !!nv->take.what != nv->cfg.rx_frames)
		return "nv: frames that came are lost, or twice";
	return NULL;
}
