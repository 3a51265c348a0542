// SPDX-License-Identifier: BSD-2-Clause
/*
 * bells.c - writes to the doorbell pages where time is real. No other access comes as often,
 * and they are posted: nobody waits for what they do.
 *
 * If who rings runs the card, what a doorbell asks for may be done before the write returns.
 * If a thread of its own does (SIM_DEDICATED), a doorbell is put into a ring which that thread
 * takes from, so that the two do not wait for one another. The card sees all writes of one
 * thread in their order: before any other access to it the ring is emptied (bells_first()).
 */
#include "board/board_internal.h"
#include "faultline/regs.h"
#include "os/os.h"
#include "trace/trace.h"

#define BELLS_BYTES	(1u << 20)	/* of doorbells in a row, then others have their turn */

/* The domain is entered. True: all that it asks for is done. */
static inline bool bell_again(struct board *b, uint32_t off, const struct board_bell *bell,
			      struct board **peer)
{
	cause_firmware(&b->causes);
	if (!bell_is(off, NIC_DB_SQ))
		return false;
	cause_doorbell(&b->causes, bell->value, bell->cause);
	return resident_again(b, off, bell->value, peer);
}

/* Else; as in a step. What the card says of it. */
static int bell_write(struct board *b, uint32_t off, const struct board_bell *bell)
{
	int error = fw_reg_write(b->fw, off, 4, bell->value);

	if (bell_is(off, NIC_DB_SQ))
		resident_learn(b, off, bell->value);
	else if (bell_changes(off))
		board_changed(b);
	return error;
}

/* The domain is entered, and is left; peer: as bell_again() has left it. */
static __attribute__((noinline)) int bell_slow(struct board *b, uint32_t off,
					       const struct board_bell *bell, struct board *peer)
{
	int error;

	sim_step_begin(b->domain);
	if (peer)
		sim_try_leave(peer->domain);
	error = bell_write(b, off, bell);
	sim_step_end(b->domain);
	return error;
}

/* How many were dealt with: at least one. */
static unsigned int bells_now(struct board *b, uint32_t off, const struct board_bell *bell,
			      unsigned int n)
{
	struct board *peer = NULL;
	unsigned int done;
	uint64_t most;

	sim_enter(b->domain);
	most = b->resident.bytes + BELLS_BYTES;
	for (done = 0; done < n && b->resident.bytes < most; done++)
		if (!bell_again(b, off, &bell[done], &peer))
			break;
	if (!done) {
		bell_slow(b, off, bell, peer);
		return 1;
	}
	sim_leave(b->domain);
	if (peer)
		sim_try_leave(peer->domain);
	return done;
}

/* ---- the ring ---- */

/* False: it is full. Any thread. */
static bool ring_put(struct board_bells *r, uint32_t off, const struct board_bell *bell)
{
	unsigned int at = atomic_load_explicit(&r->put, memory_order_relaxed), turn;
	struct board_rung *s;

	for (;;) {
		s = &r->rung[at % BELLS_RING];
		turn = atomic_load_explicit(&s->turn, memory_order_acquire);
		if ((int)(turn - at) < 0)
			return false;
		if (turn != at)
			at = atomic_load_explicit(&r->put, memory_order_relaxed);
		else if (atomic_compare_exchange_weak(&r->put, &at, at + 1))
			break;
	}
	s->off = off;
	s->bell = *bell;
	/* Release: and what the doorbell is rung for. Pairs with ring_take(). */
	atomic_store_explicit(&s->turn, at + 1, memory_order_release);
	return true;
}

/* The domain is held. False: there is none, or it is being written this moment. */
static bool ring_take(struct board_bells *r, struct board_rung *rung)
{
	unsigned int at = atomic_load_explicit(&r->taken, memory_order_relaxed);
	struct board_rung *s = &r->rung[at % BELLS_RING];

	if (atomic_load_explicit(&s->turn, memory_order_acquire) != at + 1)
		return false;
	rung->off = s->off;
	rung->bell = s->bell;
	atomic_store_explicit(&s->turn, at + BELLS_RING, memory_order_release);
	atomic_store_explicit(&r->taken, at + 1, memory_order_relaxed);
	return true;
}

static void rung_serve(struct board *b, const struct board_rung *rung, struct board **peer)
{
	/* Gone since it rang. */
	if (atomic_load_explicit(&b->unplugged, memory_order_relaxed) ||
	    bell_again(b, rung->off, &rung->bell, peer))
		return;
	if (*peer)
		sim_try_leave((*peer)->domain);
	*peer = NULL;
	/* Posted: what is refused is the card's event, and no error here. */
	bell_write(b, rung->off, &rung->bell);
}

uint64_t bells_step(void *board, uint64_t now_ns)
{
	struct board *b = board, *peer = NULL;
	uint64_t most = b->resident.bytes + BELLS_BYTES;
	struct board_rung rung;
	bool more = true;

	(void)now_ns;
	while (more && b->resident.bytes < most) {
		more = ring_take(&b->bells, &rung);
		if (more)
			rung_serve(b, &rung, &peer);
	}
	if (peer)
		sim_try_leave(peer->domain);
	return more ? 0 : SIM_IDLE;
}

void bells_take(struct board *b, unsigned int until)
{
	struct board *peer = NULL;
	struct board_rung rung;

	sim_enter(b->domain);
	sim_step_begin(b->domain);
	while ((int)(until - atomic_load_explicit(&b->bells.taken, memory_order_relaxed)) > 0)
		if (ring_take(&b->bells, &rung))
			rung_serve(b, &rung, &peer);
		else
			os_yield();	/* its place was taken, but not filled yet */
	if (peer)
		sim_try_leave(peer->domain);
	sim_step_end(b->domain);
}

void bells_make(struct board *b)
{
	unsigned int i;

	for (i = 0; i < BELLS_RING; i++)
		atomic_init(&b->bells.rung[i].turn, i);
	sim_actor_init(b->domain, &b->bells.actor, "doorbells", bells_step, b);
}

static void bell_post(struct board *b, uint32_t off, const struct board_bell *bell)
{
	while (!ring_put(&b->bells, off, bell))
		bells_first(b);
	sim_kick_remote(&b->bells.actor);
}

void bells_ring(struct board *b, uint32_t off, const struct board_bell *bell, unsigned int n)
{
	unsigned int i = 0;

	/* Posted: what is refused is the card's event, and no error here. */
	while (i < n && b->at_once)
		i += bells_now(b, off, bell + i, n - i);
	for (; i < n; i++)
		bell_post(b, off, &bell[i]);
}

int bells_ring_one(struct board *b, uint32_t off, uint32_t value)
{
	struct board_bell bell = { value, trace_last_software() };
	struct board *peer = NULL;

	trace_tick(b->cfg.trace);
	if (!b->at_once) {
		bell_post(b, off, &bell);
		return 0;
	}
	sim_enter(b->domain);
	if (!bell_again(b, off, &bell, &peer))
		return bell_slow(b, off, &bell, peer);
	sim_leave(b->domain);
	if (peer)
		sim_try_leave(peer->domain);
	return 0;
}
