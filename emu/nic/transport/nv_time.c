// SPDX-License-Identifier: BSD-2-Clause
/*
 * Timers of the sender. NetVM needs none, as Myrinet loses nothing: this is our addition. A
 * fragment of which nothing is heard is sent again. Of one that is in the system buffer the
 * sender only asks, since data are not sent twice for a page that takes its time.
 */
#include "nic/transport/nv_internal.h"
#include "trace/event.h"

/* As InfiniBand's: 4.096 us * 2^n, 0 is never; a card may have a floor. */
static uint64_t answer_wait_ns(const struct nv *nv, const struct nv_pair *q)
{
	uint64_t ns = 4096ull << (q->p.timeout & 31);

	return ns < nv->cfg.timeout_floor_ns ? nv->cfg.timeout_floor_ns : ns;
}

static bool fragment_is_timed(const struct nv_fragment *f)
{
	return f->state == NV_FRAG_SENT && !f->again;
}

/* When something is due, and whether it is to ask for redirected data. */
static uint64_t sender_due(const struct nv *nv, struct nv_pair *q, bool *probe)
{
	struct nv_sender *s = &q->send;
	uint64_t first = NV_NEVER;
	const struct nv_fragment *f;
	bool waits = false;
	uint32_t n;

	*probe = false;
	if (!q->open || !q->p.timeout)
		return NV_NEVER;
	for (n = s->una; n != s->next; n++) {
		f = nv_fragment_at(s, n);
		if (fragment_is_timed(f) && f->sent_ns < first)
			first = f->sent_ns;
		/* One that is in its place, of which the base does not say so, may be behind. */
		waits |= f->state == NV_FRAG_REDIRECTED || f->state == NV_FRAG_PLACED;
	}
	if (first != NV_NEVER)
		return first + answer_wait_ns(nv, q);
	if (!waits || s->ask)
		return NV_NEVER;
	*probe = true;
	return s->heard_ns + nv->cfg.probe_ns;
}

void nv_time_set(struct nv *nv)
{
	uint64_t first = NV_NEVER, due;
	unsigned int i;
	bool probe;

	for (i = 0; i < nv->pairs_used; i++) {
		due = sender_due(nv, &nv->pair[i], &probe);
		if (due < first)
			first = due;
	}
	if (first == nv->alarm_ns)
		return;
	nv->alarm_ns = first;
	nv->env.alarm(nv->env.ctx, first);
}

/* Fragments were sent one after the other, and are overdue so: that is one try. */
static bool sender_tries(const struct nv *nv, struct nv_pair *q)
{
	struct nv_sender *s = &q->send;

	if (s->tried_ns && nv->now_ns < s->tried_ns + answer_wait_ns(nv, q))
		return true;
	if (!s->tries)
		return false;
	s->tries--;
	s->tried_ns = nv->now_ns;
	return true;
}

static void sender_overdue(struct nv *nv, struct nv_pair *q, bool probe)
{
	struct nv_sender *s = &q->send;
	struct nv_req *head = nv_req_at(s, s->head);
	uint64_t cause;
	uint32_t n;

	cause = nv_note(nv, EV_NV_TIMEOUT, head->work.xfer, head->work.cause, q, s->una,
			s->tries, probe);
	if (!sender_tries(nv, q)) {
		head->failed = FL_ST_NO_ANSWER;
		nv_send_settle(nv, q, cause);
		return;
	}
	nv->stats.timeouts += !probe;
	nv->stats.probes += probe;
	s->heard_ns = nv->now_ns;
	s->ask = probe;
	for (n = s->una; !probe && n != s->next; n++) {
		struct nv_fragment *f = nv_fragment_at(s, n);

		if (fragment_is_timed(f) && f->sent_ns + answer_wait_ns(nv, q) <= nv->now_ns)
			f->again = true;
	}
	nv_pair_ready(nv, q);
}

void nv_timer(struct nv *nv, uint64_t now_ns)
{
	unsigned int i;
	bool probe;

	nv->now_ns = now_ns;
	if (nv->alarm_ns <= now_ns)
		nv->alarm_ns = NV_NEVER;	/* it has rung */
	for (i = 0; i < nv->pairs_used; i++)
		if (sender_due(nv, &nv->pair[i], &probe) <= now_ns)
			sender_overdue(nv, &nv->pair[i], probe);
	nv_time_set(nv);
}
