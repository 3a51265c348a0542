// SPDX-License-Identifier: BSD-2-Clause
#include "rig/wire_pair.h"

#include <stddef.h>

#include "os/os.h"

#define FLIGHT	4096

struct wire_pair wire;

void wire_draw(uint64_t seed, const char *name)
{
	rng_init(&wire.rng, seed, name);
	wire.flying = os_room(FLIGHT, sizeof(*wire.flying));
}

uint32_t draw_below(uint32_t n)
{
	return (uint32_t)(rng_next(&wire.rng) % n);
}

bool draw_chance(unsigned int per_1000)
{
	return draw_below(1000) < per_1000;
}

static void frame_fly(const struct wire_frame *f)
{
	struct wire_flight *x = &wire.flying[wire.flights++];

	EXPECT(wire.flights < FLIGHT);
	x->at = wire.now + wire.least_ns + draw_below((uint32_t)wire.delay_ns + 1);
	x->to = f->to;
	memcpy(&x->f, f, offsetof(struct wire_frame, bytes) + f->len);
	if (draw_chance(wire.damage))
		x->f.bytes[draw_below(f->len)] ^= (uint8_t)(1u << draw_below(8));
}

static void frame_sent(struct rig *g, const struct wire_frame *f)
{
	(void)g;
	if (!draw_chance(wire.lose))
		frame_fly(f);
	if (draw_chance(wire.twice))
		frame_fly(f);
}

uint8_t *wire_unit(unsigned int node, struct packets *io)
{
	uint8_t *copy = malloc(RIG_BYTES);
	uint32_t n;

	wire.unit[node] = io;
	wire.step_at[node][0] = wire.step_at[node][1] = NEVER;
	io->sent = frame_sent;
	io->quiet = true;
	for (n = 0; n < RIG_BYTES; n++)
		io->mem[n] = (uint8_t)rng_next(&wire.rng);
	return memcpy(copy, io->mem, RIG_BYTES);
}

void wire_end(void)
{
	os_room_end(wire.flying, FLIGHT, sizeof(*wire.flying));
	memset(&wire, 0, sizeof(wire));
}

void wire_arrive(void)
{
	struct wire_flight x;
	struct packets *io;
	unsigned int i;

	for (i = 0; i < wire.flights; )
		if (wire.flying[i].at <= wire.now) {
			x = wire.flying[i];
			wire.flying[i] = wire.flying[--wire.flights];
			io = wire.unit[x.to];
			io->unit->receive((struct rig *)io, &x.f, wire.now);
		} else {
			i++;
		}
}

/* A channel that has been woken steps at once. */
static void channel_step(struct packets *io, uint64_t *at, unsigned int ch)
{
	uint64_t ns;

	if (io->awake[ch] && *at == NEVER)
		*at = wire.now;
	if (*at > wire.now)
		return;
	ns = io->unit->step((struct rig *)io, ch, wire.now);
	io->awake[ch] = ns != NEVER;
	*at = ns == NEVER ? NEVER : wire.now + ns;
}

void wire_step(void)
{
	struct packets *io;
	unsigned int i, ch;

	for (i = 0; i < 2; i++) {
		io = wire.unit[i];
		io->now = wire.now;
		if (io->alarm <= wire.now) {
			io->alarm = NEVER;
			io->unit->timer((struct rig *)io, wire.now);
		}
		for (ch = 0; ch < 2; ch++)
			channel_step(io, &wire.step_at[i][ch], ch);
	}
}

static uint64_t time_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t wire_soonest(void)
{
	uint64_t at = NEVER;
	unsigned int i, ch;

	for (i = 0; i < wire.flights; i++)
		at = time_min(at, wire.flying[i].at);
	for (i = 0; i < 2; i++) {
		at = time_min(at, wire.unit[i]->alarm);
		for (ch = 0; ch < 2; ch++) {
			if (wire.unit[i]->awake[ch] && wire.step_at[i][ch] == NEVER)
				return wire.now;
			at = time_min(at, wire.step_at[i][ch]);
		}
	}
	return at;
}

bool wire_rests(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (wire.unit[i]->awake[0] || wire.unit[i]->awake[1])
			return false;
	return !wire.flights;
}
