// SPDX-License-Identifier: BSD-2-Clause
/*
 * reproduce_stream.c - network page faults on Ethernet: streams into a ring of receives, of
 * whose packets a share misses its page, and into one that has no page at all.
 */
#include <stdio.h>

#include "tools/faultline/reproduce.h"
#include "tools/work/stream.h"

#define PACKET_BITS	(8.0 * STREAM_PACKET)
#define RING		512
/* Rarer ones do not meet: from here on a fault costs what it costs alone. */
#define APART		13
#define PACKETS_LEAST	20000u
#define OPERATIONS	10000u

static int stream_measure(const struct stream *s, struct stream_result *r)
{
	stream_run(s, r);
	if (r->end != STREAM_BROKEN)
		return 0;
	fprintf(stderr, "faultline reproduce: a stream failed: %s\n", r->problem);
	return 1;
}

static struct stream stream_of(enum fl_system system, unsigned int ring, uint32_t packets)
{
	return (struct stream){
		.system = system, .ring = ring, .packets = packets, .seed = 1,
		.profile = "ethernet",
	};
}

/* ns of a packet when none misses its page. */
static int packet_ns(double *ns)
{
	static double kept;
	struct stream s = stream_of(FL_SYSTEM_BACKUP, RING, PACKETS_LEAST);
	struct stream_result r;

	if (!kept && stream_measure(&s, &r))
		return 1;
	if (!kept)
		kept = (double)r.ns / PACKETS_LEAST;
	*ns = kept;
	return 0;
}

/* What a fault costs more, where one of 2^k packets meets one. */
static int fault_ns(enum fl_system system, bool major, int k, double *ns)
{
	static double kept[2][2][APART + 1];
	double *cost = &kept[system == FL_SYSTEM_BACKUP][major][k < APART ? k : APART], base;
	uint32_t packets = 8u << (k < APART ? k : APART);
	struct stream_result r;
	struct stream s;

	if (packets < PACKETS_LEAST)
		packets = PACKETS_LEAST;
	s = stream_of(system, RING, packets);
	s.share = (1ull << 40) >> (k < APART ? k : APART);
	s.major = major;
	if (packet_ns(&base) || (!*cost && stream_measure(&s, &r)))
		return 1;
	if (!*cost && r.dropped + r.diverted)
		*cost = ((double)r.ns - packets * base) / (double)(r.dropped + r.diverted);
	*ns = *cost;
	return 0;
}

/* Gb/s; k 0: no packet misses its page. */
static int stream_rate(enum fl_system system, bool major, int k, double *model)
{
	double base, cost = 0;

	if (packet_ns(&base) || (k && fault_ns(system, major, k, &cost)))
		return 1;
	*model = PACKET_BITS / (base + (k ? cost / (double)(1u << k) : 0));
	return 0;
}

int reproduce_stream_drop(int k, double *model)
{
	return stream_rate(FL_SYSTEM_DROPRING, false, k, model);
}

int reproduce_stream_minor(int k, double *model)
{
	return stream_rate(FL_SYSTEM_BACKUP, false, k, model);
}

int reproduce_stream_major(int k, double *model)
{
	return stream_rate(FL_SYSTEM_BACKUP, true, k, model);
}

/* How many times as fast the backup ring is. */
int reproduce_stream_times(int k, double *model)
{
	double drop, backup;

	if (reproduce_stream_drop(k, &drop) || reproduce_stream_minor(k, &backup))
		return 1;
	*model = backup / drop;
	return 0;
}

/* ---- a cold ring ---- */

/* Seconds until so many packets are there, with a ring of which no page is. */
int reproduce_cold_drop(int ring, double *model)
{
	struct stream s = stream_of(FL_SYSTEM_DROPRING, (unsigned int)ring, OPERATIONS);
	struct stream_result r;

	s.cold = true;
	if (stream_measure(&s, &r))
		return 1;
	*model = (double)r.ns / 1e9;
	return 0;
}

/* Of the same with rings of up to so many: does none ever wait for a time-out? */
static int cold_at_once(enum fl_system system, bool pinned, int most, double *model)
{
	struct stream_result r;
	struct stream s;
	int ring;

	*model = 1;
	for (ring = 16; ring <= most; ring *= 4) {
		s = stream_of(system, (unsigned int)ring, OPERATIONS);
		s.cold = true;
		s.pinned = pinned;
		if (stream_measure(&s, &r))
			return 1;
		if (r.end != STREAM_OK || r.timeouts)
			*model = 0;
	}
	return 0;
}

int reproduce_cold_backup(int most, double *model)
{
	return cold_at_once(FL_SYSTEM_BACKUP, false, most, model);
}

int reproduce_cold_pin(int most, double *model)
{
	return cold_at_once(FL_SYSTEM_DROPRING, true, most, model);
}
