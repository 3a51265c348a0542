// SPDX-License-Identifier: BSD-2-Clause
/* Datagrams: making and resetting a unit, what it counts, what must hold. */
#include "nic/transport/ud_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void store_clear(struct ud *ud)
{
	uint32_t i;

	ud->oldest = ud->newest = NULL;
	ud->waiting = ud->spares = 0;
	for (i = ud->cfg.rx_frames; i--; )
		ud->spare[ud->spares++] = &ud->store[i];
}

struct ud *ud_create(const struct ud_config *cfg, const struct ud_env *env)
{
	struct ud *ud = calloc(1, sizeof(*ud));
	unsigned int i;

	assert(cfg->rx_frames);
	if (!ud)
		return NULL;
	ud->cfg = *cfg;
	ud->env = *env;
	ud->backup.line_due_ns = UD_NEVER;
	ud->pair = calloc(UD_PAIRS, sizeof(*ud->pair));
	ud->store = malloc(cfg->rx_frames * sizeof(*ud->store));
	ud->spare = malloc(cfg->rx_frames * sizeof(*ud->spare));
	if (!ud->pair || !ud->store || !ud->spare) {
		ud_destroy(ud);
		return NULL;
	}
	for (i = 0; i < UD_PAIRS; i++)
		ud->pair[i].place = (uint16_t)i;
	store_clear(ud);
	return ud;
}

void ud_destroy(struct ud *ud)
{
	unsigned int i;

	if (!ud)
		return;
	for (i = 0; ud->pair && i < UD_PAIRS; i++) {
		free(ud->pair[i].req);
		free(ud->pair[i].ring.place);
	}
	free(ud->pair);
	free(ud->store);
	free(ud->spare);
	free(ud);
}

void ud_reset(struct ud *ud)
{
	struct fw_transport t = ud_transport(ud);
	unsigned int i;

	ud_backup_slots_set(ud, 0, ud->now_ns);
	for (i = 0; i < ud->pairs_used; i++)
		t.close(t.ctx, (uint16_t)i);
	ud->take.what = NULL;
	ud->backup.base = ud->backup.bits = 0;
	store_clear(ud);
}

void ud_stats(const struct ud *ud, struct ud_stats *st)
{
	*st = ud->stats;
}

void ud_ring_state(const struct ud *ud, uint16_t qp, struct ud_ring_state *st)
{
	const struct ud_ring *r = &ud->pair[FW_QP_PLACE(qp)].ring;

	*st = (struct ud_ring_state){
		.head = r->at.head, .head_offset = r->at.offset,
		.bm_size = r->bm_size, .bm_index = r->bm_index,
	};
	memcpy(st->bitmap, r->bitmap, sizeof(st->bitmap));
}

bool ud_idle(const struct ud *ud)
{
	unsigned int i;

	if (ud->oldest || ud->take.what || ud->job.active)
		return false;
	for (i = 0; i < ud->pairs_used; i++) {
		const struct ud_pair *q = &ud->pair[i];

		if (q->open && (q->head != q->tail || q->ring.held != q->ring.untold))
			return false;
	}
	return true;
}

static const char *ring_check(const struct ud_ring *r)
{
	uint32_t set = 0, near = 0, untold = 0;
	unsigned int i;

	for (i = 0; i < UD_BITS_MAX / 64; i++)
		set += (uint32_t)__builtin_popcountll(r->bitmap[i]);
	if (set != r->held || (set && set > r->bm_size))
		return "ud: more packets are diverted than the ring has bits";
	if (r->at.offset > UD_AHEAD)
		return "ud: packets are ahead of what can be remembered";
	for (i = 0; i < r->at.offset && i < r->bm_size; i++) {
		uint16_t at = (uint16_t)(r->at.head + i);

		if (!ud_ring_waits(r, ud_ring_bit(r, (uint16_t)i)))
			continue;
		near++;
		untold += !r->place[at % UD_AHEAD].told;
	}
	if (near != r->held || untold != r->untold)
		return "ud: a bit is set for a receive that no packet came for";
	if (r->at.offset && !ud_ring_waits(r, r->bm_index))
		return "ud: a receive that has its packet is not announced";
	return NULL;
}

const char *ud_check(const struct ud *ud)
{
	const struct ud_backup *b = &ud->backup;
	const struct ud_waiting *w;
	uint32_t n = 0, held = 0;
	const char *wrong;
	unsigned int i;

	for (i = 0; i < ud->pairs_used; i++) {
		const struct ud_pair *q = &ud->pair[i];

		wrong = ring_check(&q->ring);
		if (wrong)
			return wrong;
		if (!q->open && (q->head != q->tail || q->ring.at.offset))
			return "ud: a closed pair is at work";
		held += q->ring.held;
	}
	if (held != ud->stats.held)
		return "ud: diverted packets are counted wrong";
	for (w = ud->oldest; w; w = w->next)
		n++;
	if (n != ud->waiting || n + ud->spares + !!ud->take.what != ud->cfg.rx_frames)
		return "ud: frames that came are lost, or twice";
	if (b->prod - b->cons > b->slots || b->given - b->prod > b->slots)
		return "ud: the backup ring has more than there is room for";
	return NULL;
}
