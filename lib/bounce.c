// SPDX-License-Identifier: BSD-2-Clause
/*
 * A request under system npr: the card does it as if all pages were there; then the words
 * of these pages are read, at the peer over the wire and here from memory. Where a word
 * was odd, or has changed meanwhile, the bytes may have gone nowhere, or may have come
 * from nowhere, and go again by way of pinned memory and of the CPUs at both ends.
 *
 * What each step posts is posted together, in order and with a completion each; when the
 * last of them has come, the next step begins. All with the completion queue's lock.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bounce.h"

static void *scratch_at(const struct lib_bounce *b, uint32_t at)
{
	return (char *)b->scratch.mem + at;
}

/* ---- pages of a part ---- */

static uint64_t page_of(uint64_t addr)
{
	return addr / BOUNCE_PAGE;
}

static uint32_t pages_in(uint64_t addr, uint32_t bytes)
{
	return (uint32_t)(page_of(addr + bytes - 1) - page_of(addr)) + 1;
}

static uint64_t first_word(const struct bounce_entry *e, uint64_t addr)
{
	return page_of(addr) - page_of(e->addr);
}

static uint64_t part_local(const struct lib_bounce *b,
			   const struct bounce_request *r)
{
	return (uint64_t)(uintptr_t)r->w.local + b->at;
}

static uint64_t part_remote(const struct lib_bounce *b,
			    const struct bounce_request *r)
{
	return r->w.remote + b->at;
}

static struct bounce_entry *part_peer(struct lib_bounce *b,
				      const struct bounce_request *r)
{
	return bounce_find(b->list, r->w.rkey, part_remote(b, r), b->part);
}

static struct bounce_entry *part_own(struct fl_qp *qp,
				     const struct bounce_request *r)
{
	return bounce_find(bounce_own(qp->pd), r->w.lkey,
			   part_local(qp->bounce, r), qp->bounce->part);
}

/* A peer may say any length; of what is longer nothing is remembered. */
#define SEEN_MOST (1ull << 32)

static uint32_t *part_seen(struct lib_bounce *b, const struct bounce_entry *e,
			   const struct bounce_request *r)
{
	uint32_t **seen = &b->seen[e - b->list];

	if (!*seen && e->length <= SEEN_MOST)
		*seen = calloc(pages_in(e->addr % BOUNCE_PAGE, 1) +
			       e->length / BOUNCE_PAGE + 1, sizeof(**seen));
	return *seen ? *seen + first_word(e, part_remote(b, r)) : NULL;
}

/* The driver writes them at any time. */
static void own_words(const struct bounce_entry *e, uint64_t addr, uint32_t *to,
		      uint32_t n)
{
	const uint32_t *w = (const uint32_t *)(uintptr_t)e->words +
			    first_word(e, addr);
	uint32_t i;

	for (i = 0; i < n; i++)
		to[i] = e->words ? __atomic_load_n(&w[i], __ATOMIC_ACQUIRE) : 2;
}

static bool word_good(uint32_t word)
{
	return word && !(word & 1);
}

static bool words_any(const uint32_t *w, uint32_t n, bool good)
{
	uint32_t i;

	for (i = 0; i < n && word_good(w[i]) != good; i++)
		;
	return i < n;
}

/* ---- work for the card ---- */

static void work_post(struct fl_qp *qp, struct fl_work w)
{
	struct lib_bounce *b = qp->bounce;

	w.fence = 1;	/* also where the queue pair keeps no order */
	if (!lib_post_work(qp, &w))
		b->waiting++;
	else if (!b->status)
		b->status = FL_ST_KILLED;
}

/* Between the scratch region and the peer's own memory. */
static void work_scratch(struct fl_qp *qp, enum fl_opcode opcode, uint32_t at,
			 uint32_t bytes, uint64_t remote, uint32_t rkey)
{
	work_post(qp, (struct fl_work){
		.opcode = opcode, .local = scratch_at(qp->bounce, at),
		.lkey = qp->bounce->scratch.key, .bytes = bytes,
		.remote = remote, .rkey = rkey });
}

static void work_ring(struct fl_qp *qp, enum fl_opcode opcode, uint32_t at,
		      uint32_t bytes, uint32_t place)
{
	work_scratch(qp, opcode, at, bytes, qp->bounce->peer.ring + place,
		     qp->bounce->peer.ring_key);
}

static void work_answer(struct fl_qp *qp)
{
	work_ring(qp, FL_READ, AT_ANSWER, sizeof(struct fl_ring_answer),
		  FL_RING_ANSWER);
}

static void work_words(struct fl_qp *qp, const struct bounce_request *r,
		       const struct bounce_entry *e)
{
	uint64_t remote = part_remote(qp->bounce, r);

	work_scratch(qp, FL_READ, AT_WORDS,
		     pages_in(remote, qp->bounce->part) * (uint32_t)sizeof(uint32_t),
		     e->words + first_word(e, remote) * sizeof(uint32_t),
		     e->words_key);
}

static void work_part(struct fl_qp *qp, const struct bounce_request *r,
		      uint32_t bytes)
{
	struct lib_bounce *b = qp->bounce;
	struct fl_work w = r->w;

	w.local = (char *)w.local + b->at;
	w.remote += b->at;
	w.bytes = bytes;
	w.unsignaled = 0;
	work_post(qp, w);
}

/* ---- steps ---- */

/* How the request ends. What sleeps until a completion comes gets one. */
static enum step step_end(struct fl_qp *qp, int status)
{
	struct lib_bounce *b = qp->bounce;

	b->status = status;
	work_answer(qp);
	return STEP_END;
}

static enum step step_ended(struct lib_bounce *b, struct bounce_request *r,
			    int status)
{
	r->status = status;
	b->failed |= status != FL_ST_OK;
	b->ended++;
	return STEP_IDLE;
}

static enum step step_idle(struct fl_qp *qp)
{
	struct lib_bounce *b = qp->bounce;

	b->at = 0;
	b->status = FL_ST_OK;
	b->listed = false;
	return b->failed ? step_end(qp, FL_ST_FLUSHED) : STEP_PART;
}

static enum step step_part(struct fl_qp *qp, struct bounce_request *r)
{
	struct lib_bounce *b = qp->bounce;

	b->part = r->w.bytes - b->at;
	if (!b->part)
		return step_ended(b, r, FL_ST_OK);
	if (b->part > PART_BYTES)
		b->part = PART_BYTES;
	if (part_own(qp, r) && part_peer(b, r))
		return STEP_LOOK;
	if (b->listed || !b->peer.list_key || !part_own(qp, r)) {
		work_part(qp, r, r->w.bytes - b->at);
		return STEP_RAW;
	}
	work_scratch(qp, FL_READ, AT_LIST, sizeof(b->list), b->peer.list,
		     b->peer.list_key);
	return STEP_LIST;
}

static enum step step_list(struct lib_bounce *b)
{
	const struct bounce_entry *list = scratch_at(b, AT_LIST);
	uint32_t i;

	for (i = 0; i < BOUNCE_LIST; i++) {
		if (!memcmp(&list[i], &b->list[i], sizeof(*list)))
			continue;
		free(b->seen[i]);
		b->seen[i] = NULL;
		b->list[i] = list[i];
	}
	b->listed = true;
	return STEP_PART;
}

static enum step step_look(struct fl_qp *qp, struct bounce_request *r)
{
	struct lib_bounce *b = qp->bounce;
	struct bounce_entry *e = part_peer(b, r);
	uint32_t n = pages_in(part_remote(b, r), b->part), *seen, i;

	for (i = 0; !e->words && i < n; i++)
		b->before[i] = 2;
	if (!e->words)
		return STEP_SEND;
	seen = part_seen(b, e, r);
	if (seen)
		memcpy(b->before, seen, n * sizeof(*seen));
	if (seen && !words_any(b->before, n, false))
		return STEP_SEND;
	work_words(qp, r, e);
	return STEP_WORDS;
}

static enum step step_words(struct lib_bounce *b, const struct bounce_request *r)
{
	memcpy(b->before, scratch_at(b, AT_WORDS),
	       pages_in(part_remote(b, r), b->part) * sizeof(uint32_t));
	return STEP_SEND;
}

/* This end's pages are to be where the card finds them: it is a guess, as any prefetch. */
static void bring_own(struct fl_qp *qp, const struct bounce_request *r,
		      const struct bounce_entry *e)
{
	struct lib_bounce *b = qp->bounce;
	struct fl_prefetch p = {
		.size = sizeof(p),
		.key = e->key,
		.addr = part_local(b, r),
		.length = b->part,
	};
	uint32_t n = pages_in(p.addr, b->part);

	own_words(e, p.addr, b->own_before, n);
	if (!words_any(b->own_before, n, false))
		return;
	lib_ioctl(qp->pd->dev, FL_IOC_PREFETCH, &p);
	own_words(e, p.addr, b->own_before, n);
}

static enum step step_send(struct fl_qp *qp, struct bounce_request *r)
{
	struct lib_bounce *b = qp->bounce;
	struct bounce_entry *e = part_peer(b, r), *own = part_own(qp, r);

	/* The program has ended the region under its own request. */
	if (!own)
		return step_end(qp, FL_ST_LOCAL_KEY);
	bring_own(qp, r, own);
	b->redo = 0;
	/* What a WRITE would read from nowhere the peer shall not see even for a moment. */
	b->skipped = !words_any(b->before, pages_in(part_remote(b, r), b->part),
				true) ||
		     words_any(b->own_before,
			       pages_in(part_local(b, r), b->part), false);
	if (b->skipped)
		return STEP_REDO;
	work_part(qp, r, b->part);
	if (e->words)
		work_words(qp, r, e);
	return STEP_CHECK;
}

static enum step step_check(struct fl_qp *qp, struct bounce_request *r)
{
	struct lib_bounce *b = qp->bounce;
	struct bounce_entry *e = part_peer(b, r), *own = part_own(qp, r);
	uint32_t n = pages_in(part_remote(b, r), b->part), *seen;

	if (!own)
		return step_end(qp, FL_ST_LOCAL_KEY);
	own_words(own, part_local(b, r), b->own_after,
		  pages_in(part_local(b, r), b->part));
	if (!e->words) {
		memcpy(b->after, b->before, n * sizeof(*b->after));
		return STEP_REDO;
	}
	memcpy(b->after, scratch_at(b, AT_WORDS), n * sizeof(*b->after));
	seen = part_seen(b, e, r);
	if (seen)
		memcpy(seen, b->after, n * sizeof(*seen));
	return STEP_REDO;
}

/* Did this byte of the part get where it should? *upto: so do those before it. */
static bool byte_good(const struct lib_bounce *b, const struct bounce_request *r,
		      uint32_t at, uint32_t *upto)
{
	uint64_t remote = part_remote(b, r), local = part_local(b, r);
	uint32_t i = pages_in(remote, at + 1) - 1, j = pages_in(local, at + 1) - 1;
	uint32_t to_remote = BOUNCE_PAGE - (remote + at) % BOUNCE_PAGE;
	uint32_t to_local = BOUNCE_PAGE - (local + at) % BOUNCE_PAGE;

	*upto = at + (to_remote < to_local ? to_remote : to_local);
	if (*upto > b->part)
		*upto = b->part;
	return !b->skipped && word_good(b->before[i]) &&
	       b->before[i] == b->after[i] && word_good(b->own_before[j]) &&
	       b->own_before[j] == b->own_after[j];
}

/* The next bytes that are not in place; false: all are. */
static bool find_piece(struct lib_bounce *b, const struct bounce_request *r)
{
	uint32_t upto, end;

	while (b->redo < b->part && byte_good(b, r, b->redo, &upto))
		b->redo = upto;
	for (end = b->redo; end < b->part && !byte_good(b, r, end, &upto);)
		end = upto;
	b->piece = end - b->redo;
	if (b->piece > FL_BOUNCE_BYTES)
		b->piece = FL_BOUNCE_BYTES;
	return b->piece;
}

/* Between this end's memory and the scratch region, by this end's CPU. */
static int own_copy(struct fl_qp *qp, const struct bounce_request *r, bool in)
{
	struct lib_bounce *b = qp->bounce;
	struct fl_bounce c = {
		.size = sizeof(c),
		.key = r->w.lkey,
		.addr = part_local(b, r) + b->redo,
		.buffer = (uintptr_t)scratch_at(b, AT_DATA),
		.buffer_key = b->scratch.key,
		.bytes = b->piece,
		.flags = in ? FL_BOUNCE_IN : 0,
	};

	return lib_ioctl(qp->pd->dev, FL_IOC_BOUNCE, &c);
}

static enum step step_redo(struct fl_qp *qp, struct bounce_request *r)
{
	const struct fl_sys *sys = qp->pd->dev->sys;
	struct lib_bounce *b = qp->bounce;
	struct fl_ring_call *call = scratch_at(b, AT_CALL);
	bool write = r->w.opcode == FL_WRITE;

	if (!find_piece(b, r)) {
		b->at += b->part;
		return STEP_PART;
	}
	if (sys->trace)
		sys->trace(qp->pd->dev->fd, FL_SYS_EV_REDO, r->xfer, qp->number,
			   r->w.opcode, part_remote(b, r) + b->redo, b->piece);
	if (write && own_copy(qp, r, false))
		return step_end(qp, FL_ST_LOCAL_FAULT);
	*call = (struct fl_ring_call){
		.addr = part_remote(b, r) + b->redo, .key = r->w.rkey,
		.bytes = b->piece, .write = write, .number = ++b->number,
	};
	memcpy(scratch_at(b, AT_NUMBER), &b->number, sizeof(b->number));
	work_ring(qp, FL_WRITE, AT_CALL,
		  (uint32_t)sizeof(*call) + (write ? b->piece : 0), FL_RING_CALL);
	work_ring(qp, FL_WRITE, AT_NUMBER, sizeof(b->number), FL_RING_NUMBER);
	work_ring(qp, FL_WRITE, AT_NUMBER, sizeof(b->number), FL_RING_BELL);
	work_answer(qp);
	return STEP_ANSWER;
}

static enum step step_answer(struct fl_qp *qp, const struct bounce_request *r)
{
	struct lib_bounce *b = qp->bounce;
	const struct fl_ring_answer *a = scratch_at(b, AT_ANSWER);
	struct bounce_entry *e = part_peer(b, r);
	uint32_t *seen = e->words ? part_seen(b, e, r) : NULL;

	if (a->number != b->number) {
		work_answer(qp);
		return STEP_ANSWER;
	}
	/* The peer may have written anything there. */
	if (a->status)
		return step_end(qp, a->status == FL_ST_REMOTE_FAULT ?
				FL_ST_REMOTE_FAULT : FL_ST_REMOTE_ACCESS);
	/* They have changed again, for the better. */
	if (seen)
		memset(seen, 0, pages_in(part_remote(b, r), b->part) *
				sizeof(*seen));
	if (r->w.opcode == FL_WRITE) {
		b->redo += b->piece;
		return STEP_REDO;
	}
	work_ring(qp, FL_READ, AT_DATA, b->piece, FL_RING_DATA);
	return STEP_FETCH;
}

static enum step step_fetch(struct fl_qp *qp, const struct bounce_request *r)
{
	if (own_copy(qp, r, true))
		return step_end(qp, FL_ST_LOCAL_FAULT);
	qp->bounce->redo += qp->bounce->piece;
	return STEP_REDO;
}

static enum step step_next(struct fl_qp *qp, struct bounce_request *r)
{
	struct lib_bounce *b = qp->bounce;

	if (b->status || b->step == STEP_END)
		return step_ended(b, r, b->status);
	switch (b->step) {
	case STEP_IDLE:
		return step_idle(qp);
	case STEP_PART:
		return step_part(qp, r);
	case STEP_LIST:
		return step_list(b);
	case STEP_LOOK:
		return step_look(qp, r);
	case STEP_WORDS:
		return step_words(b, r);
	case STEP_SEND:
		return step_send(qp, r);
	case STEP_CHECK:
		return step_check(qp, r);
	case STEP_REDO:
		return step_redo(qp, r);
	case STEP_ANSWER:
		return step_answer(qp, r);
	case STEP_FETCH:
		return step_fetch(qp, r);
	case STEP_RAW:
		/* It has begun or ended just now: what it did nobody can tell. */
		return step_ended(b, r, FL_ST_REMOTE_ACCESS);
	case STEP_END:
		break;
	}
	return STEP_IDLE;
}

void bounce_run(struct fl_qp *qp)
{
	struct lib_bounce *b = qp->bounce;

	while (!b->waiting && b->ended != b->posted) {
		if (b->step == STEP_IDLE)
			b->status = FL_ST_OK;
		b->step = step_next(qp, request_at(b, b->ended));
	}
}

void bounce_event(struct fl_qp *qp, const struct fl_completion *c)
{
	struct lib_bounce *b = qp->bounce;
	struct bounce_request *r = request_at(b, b->ended);

	assert(b->waiting);
	b->waiting--;
	r->resends += c->resends;
	if (!r->xfer || b->step == STEP_CHECK || b->step == STEP_RAW)
		r->xfer = r->xfer && b->step == STEP_CHECK && !b->waiting ?
			  r->xfer : c->xfer;
	/* How a request ends that has failed is known; this was its last word. */
	if (!b->status && b->step != STEP_END)
		b->status = c->status;
	if (!b->waiting)
		bounce_run(qp);
}
