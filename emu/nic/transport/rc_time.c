// SPDX-License-Identifier: BSD-2-Clause
/* Timers: acknowledgements that do not come, and peers that are not ready. */
#include "nic/transport/rc_internal.h"
#include "trace/event.h"

/* In units of 10 us; code 0 is the longest (InfiniBand 9.7.5.2.8, table 45). */
static const uint32_t rnr_table[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

uint64_t rc_rnr_ns(unsigned int code)
{
	return rnr_table[code & 31] * 10000ull;
}

bool rc_has_quirk(const struct rc *rc, const struct rc_pair *q, unsigned int quirk)
{
	return (rc->cfg.quirks | q->p.quirks) & quirk;
}

/* How long the requester waits: at least the code's time, by the card's floor, tick and quirk. */
uint64_t rc_rnr_wait_ns(const struct rc *rc, const struct rc_pair *q, uint8_t code)
{
	uint64_t ns = rc_rnr_ns(code), tick = rc->cfg.rnr_tick_ns;

	if ((code & 31) == 25 && rc_has_quirk(rc, q, RC_QUIRK_CODE25))
		ns = 61410000;
	if (ns < rc->cfg.rnr_floor_ns)
		ns = rc->cfg.rnr_floor_ns;
	if (tick)
		ns = (ns + tick - 1) / tick * tick;
	return ns;
}

/* InfiniBand 9.7.6.1.3: 4.096 us * 2^n, 0 is never; a card may have a floor. */
static uint64_t ack_wait_ns(const struct rc *rc, const struct rc_pair *q)
{
	uint64_t ns = 4096ull << (q->p.timeout & 31);

	if (ns < rc->cfg.timeout_floor_ns)
		ns = rc->cfg.timeout_floor_ns;
	return ns;
}

/* Must there be a timer for acknowledgements? */
static bool ack_is_due(const struct rc *rc, const struct rc_pair *q)
{
	const struct rc_requester *r = &q->req;

	if (!q->open || !q->p.timeout || r->parked || r->rewinding)
		return false;
	if (r->rnr_due != RC_NEVER && !rc_has_quirk(rc, q, RC_QUIRK_CUT))
		return false;
	return r->una != r->end || r->dammed;
}

void rc_ack_timer(struct rc *rc, struct rc_pair *q, bool again)
{
	struct rc_requester *r = &q->req;

	if (!ack_is_due(rc, q))
		r->ack_due = RC_NEVER;
	else if (again || r->ack_due == RC_NEVER)
		r->ack_due = rc->now_ns + ack_wait_ns(rc, q);
}

/* Ask for the alarm that is due first. Called at the end of every entry point. */
void rc_time_set(struct rc *rc)
{
	uint64_t first = RC_NEVER;
	unsigned int i;

	for (i = 0; i < rc->pairs_used; i++) {
		const struct rc_pair *q = &rc->pair[i];

		if (!q->open)
			continue;
		if (q->req.ack_due < first)
			first = q->req.ack_due;
		if (q->req.rnr_due < first)
			first = q->req.rnr_due;
	}
	if (first == rc->alarm_ns)
		return;
	rc->alarm_ns = first;
	rc->env.alarm(rc->env.ctx, first);
}

static void wait_is_over(struct rc *rc, struct rc_pair *q)
{
	struct rc_requester *r = &q->req;
	const struct rc_req *head = rc_req_at(r, r->head);

	r->rnr_due = RC_NEVER;
	rc_req_go_back(rc, q, RC_WHY_WAITED, head->work.cause);
	/* What was posted meanwhile, or had gone behind it. */
	if (rc_has_quirk(rc, q, RC_QUIRK_DAMMING) && r->tail - r->head > 1) {
		r->dammed = true;
		r->dam = rc_psn_add(head->first, head->packets);
	}
	rc_ack_timer(rc, q, true);
}

static void answer_is_overdue(struct rc *rc, struct rc_pair *q)
{
	struct rc_requester *r = &q->req;
	const struct rc_req *head = rc_req_at(r, r->head);
	uint64_t cause;

	rc->stats.timeouts++;
	r->ack_due = RC_NEVER;
	r->dammed = false;
	r->rnr_due = RC_NEVER;	/* quirk: it is cut short */
	cause = rc_note(rc, EV_RC_TIMEOUT, head->work.xfer, head->work.cause, q, r->una,
			r->retries, 0);
	rc_req_retry(rc, q, RC_WHY_TIMEOUT, cause);
}

void rc_timer(struct rc *rc, uint64_t now_ns)
{
	unsigned int i;

	rc->now_ns = now_ns;
	if (rc->alarm_ns <= now_ns)
		rc->alarm_ns = RC_NEVER;	/* it has rung */
	for (i = 0; i < rc->pairs_used; i++) {
		struct rc_pair *q = &rc->pair[i];

		if (q->open && q->req.rnr_due <= now_ns)
			wait_is_over(rc, q);
		else if (q->open && q->req.ack_due <= now_ns)
			answer_is_overdue(rc, q);
	}
	rc_time_set(rc);
}
