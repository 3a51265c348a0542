// SPDX-License-Identifier: BSD-2-Clause
/*
 * The system buffer, and the credits for it. A slot takes one fragment. Each pair's sender is
 * given credits when the pair opens, and all that are given out are never more than the slots
 * that nobody else can fill; so whoever keeps to them finds a slot. A credit is in use from
 * the moment a fragment is cut until the receiver has said that it is in its final place.
 *
 * An earlier fragment must not be copied over a later one: what comes for a page for which
 * data wait in a slot goes the same way, until the page has been copied.
 */
#include <errno.h>

#include "nic/transport/nv_internal.h"
#include "trace/event.h"

bool nv_credit_give(struct nv *nv, struct nv_pair *q)
{
	uint32_t given = nv->credits + nv->orphans, left, n = nv->cfg.credits;

	left = given < nv->slots ? nv->slots - given : 0;
	/* Half of what is left: so later pairs find some, if only one. */
	if (n > (left + 1) / 2)
		n = (left + 1) / 2;
	if (!n)
		return false;
	q->recv.credits = n;
	nv->credits += n;
	return true;
}

void nv_credit_close(struct nv *nv, struct nv_pair *q)
{
	uint32_t i;

	nv->credits -= q->recv.credits;
	q->recv.credits = 0;
	for (i = 0; q->recv.slots && i < nv->slots; i++) {
		struct nv_slot *s = &nv->slot[i];

		if (!s->used || s->orphan || s->qp != q->place)
			continue;
		/* The driver may be reading it. */
		s->orphan = true;
		nv->orphans++;
		q->recv.slots--;
	}
}

bool nv_credit_waits(const struct nv *nv, const struct nv_pair *q, uint64_t va)
{
	uint32_t i, left = (uint32_t)nv->stats.slots_used;

	for (i = 0; left && i < nv->slots; i++) {
		const struct nv_slot *s = &nv->slot[i];

		if (!s->used)
			continue;
		left--;
		if (s->process == q->p.slot && s->page == va / NV_PAGE)
			return true;
	}
	return false;
}

static struct nv_slot *slot_find(struct nv *nv)
{
	uint32_t i;

	for (i = 0; i < nv->slots; i++)
		if (!nv->slot[i].used)
			return &nv->slot[i];
	return NULL;
}

static void slot_fill(struct nv *nv, struct nv_pair *q, struct nv_slot *s,
		      const struct nv_miss *m)
{
	*s = (struct nv_slot){
		.used = true, .qp = q->place, .process = q->p.slot,
		.page = m->va / NV_PAGE, .sequence = m->sequence, .xfer = m->xfer,
	};
	q->recv.slots++;
	nv->stats.redirected++;
	nv->stats.slots_used++;
	if (nv->stats.slots_used > nv->stats.slots_peak)
		nv->stats.slots_peak = nv->stats.slots_used;
}

void nv_credit_redirect(struct nv *nv, struct nv_pair *q, const struct nv_miss *m)
{
	const struct nv_packet *p = &nv->take.packet;
	struct nv_arrived *a = nv_arrived_at(&q->recv, p->sequence);
	struct nv_slot *s = slot_find(nv);
	struct nv_miss told = *m;
	uint32_t slot;

	/* Only a sender that pays no heed to credits comes here. */
	if (!s || q->recv.slots >= q->recv.credits) {
		nv->stats.overflows++;
		nv_drop(nv, q, &nv->take.what->frame, p->sequence, NV_DROP_OVERFLOW);
		return;
	}
	slot = (uint32_t)(s - nv->slot);
	if (!nv->env.slot_write(nv->env.ctx, slot, p->payload, p->payload_len)) {
		nv->stats.overflows++;
		nv_drop(nv, q, &nv->take.what->frame, p->sequence, NV_DROP_OVERFLOW);
		return;
	}
	slot_fill(nv, q, s, m);
	told.cause = s->cause = nv_note(nv, EV_NV_DIVERT, m->xfer, m->cause, q, p->sequence,
					m->va, slot);
	a->have = true;
	a->cause = s->cause;
	nv_window_answer(nv, q, p->sequence, false, m->xfer, s->cause);
	nv->env.redirected(nv->env.ctx, &told, slot);
}

/* Its pair is there still: what was in the slot is in its place, or never will be. */
static void slot_over(struct nv *nv, struct nv_pair *q, const struct nv_slot *s,
		      uint8_t code, uint64_t cause)
{
	struct nv_arrived *a = nv_arrived_at(&q->recv, s->sequence);

	q->recv.slots--;
	a->cause = cause;
	if (code) {
		a->bad = FL_ST_REMOTE_FAULT;
		a->ends = FL_ST_LOCAL_FAULT;
	} else {
		a->placed = true;
	}
	nv_window_advance(nv, q);
	if (!code)
		nv_window_answer(nv, q, s->sequence, true, s->xfer, cause);
}

int nv_copied(struct nv *nv, uint32_t slot, uint8_t code, uint64_t now_ns)
{
	struct nv_slot *s, was;
	struct nv_pair *q;
	uint64_t cause;

	nv->now_ns = now_ns;
	if (slot >= nv->slots)
		return -EINVAL;
	s = &nv->slot[slot];
	if (!s->used)
		return 0;
	was = *s;
	s->used = false;
	nv->stats.slots_used--;
	nv->stats.released++;
	q = &nv->pair[was.qp];
	cause = nv_note(nv, EV_NV_RELEASE, was.xfer, was.cause, was.orphan ? NULL : q,
			was.sequence, slot, code);
	if (was.orphan)
		nv->orphans--;
	else
		slot_over(nv, q, &was, code, cause);
	nv_time_set(nv);
	return 0;
}

uint32_t nv_slots(const struct nv *nv)
{
	return nv->slots;
}

int nv_slots_set(struct nv *nv, uint32_t slots)
{
	uint32_t i;

	if (slots > NV_SLOTS_MAX)
		return -EINVAL;
	if (slots > nv->cfg.slots)
		slots = nv->cfg.slots;
	if (nv->credits > slots)
		return -EINVAL;
	for (i = 0; i < nv->slots; i++)
		if (nv->slot[i].used && !nv->slot[i].orphan)
			return -EINVAL;
	for (i = 0; i < nv->slots; i++)
		nv->slot[i].used = false;
	nv->slots = slots;
	nv->orphans = 0;
	nv->stats.slots_used = 0;
	return 0;
}

const char *nv_credit_check(const struct nv *nv)
{
	uint32_t i, used = 0, orphans = 0, credits = 0, held = 0;

	for (i = 0; i < nv->slots; i++) {
		const struct nv_slot *s = &nv->slot[i];

		used += s->used;
		orphans += s->used && s->orphan;
		if (s->used && !s->orphan && !nv->pair[s->qp].open)
			return "nv: a slot belongs to a pair that is closed";
	}
	for (i = 0; i < nv->pairs_used; i++) {
		const struct nv_receiver *r = &nv->pair[i].recv;

		credits += r->credits;
		held += r->slots;
		if (r->slots > r->credits)
			return "nv: a pair has more in the system buffer than credits";
	}
	if (used != nv->stats.slots_used || orphans != nv->orphans || held + orphans != used)
		return "nv: slots of the system buffer are miscounted";
	if (credits != nv->credits || credits + orphans > nv->slots)
		return "nv: more credits are given out than there are slots";
	return NULL;
}
