/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream.h - a stream of bytes over datagrams, as TCP would carry one: packets are numbered,
 * the receiver acknowledges what it has without a gap, and the sender begins slowly, doubles
 * its window with each round, and begins anew when nothing was heard for too long. What a
 * ring of receives without pages does to that is what it is for.
 *
 * Not there: fast retransmission and selective acknowledgements. A card that drops what has no
 * page drops all that comes until the page is there, so there is nothing for them to go by.
 */
#ifndef FL_STREAM_H
#define FL_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "faultline/system.h"
#include "tools/work/counts.h"

struct stream {
	enum fl_system system;	/* of datagrams */
	bool pinned;		/* the ring is pinned when it is registered */
	bool cold;		/* no page of the ring is there; else all are, in the card too */
	unsigned int ring;	/* receives, each in a page of its own; a power of two */
	uint32_t packets;
	uint64_t share;		/* of packets whose page is missed all the same, of 2^40 */
	bool major;		/* as late as from storage */
	bool deaf;		/* the link loses all that goes to the receiver */
	uint32_t loss_ppm;	/* it loses so much, in both directions */
	uint64_t pages;		/* that the receiver may have; 0: as many as it wants */
	uint32_t dies;		/* the receiver ends when it has so many packets; 0: it does not */
	bool read_only;		/* the ring is, from before the first packet on */
	uint64_t seed;
	const char *profile;
	const char *const *sets;	/* as in testbed.h */
	FILE *trace;		/* or NULL */
	uint64_t limit_ns;	/* virtual time that it may take; 0: no limit */
};

#define STREAM_MOST	100000u	/* packets of a work */
#define STREAM_PACKET	1448u	/* bytes of a packet that are the stream's: RFC 7323 in 1500 */

enum stream_end {
	STREAM_OK,
	STREAM_GAVE_UP,		/* so many time-outs in a row */
	STREAM_LIMIT,
	STREAM_REFUSED,		/* a receive ended with a status, since the ring is read-only */
	STREAM_BROKEN,		/* problem says why */
};

struct stream_result {
	enum stream_end end;
	char problem[200];
	int status;		/* of REFUSED */
	uint64_t ns;		/* from the first packet to its last acknowledgement, or the end */
	uint32_t delivered;	/* in order, to the receiver */
	uint64_t sent, timeouts;
	uint64_t dropped, diverted;	/* of the receiver's card */
	uint64_t total_ns;	/* from the first registration to the last deregistration */
	struct work_counts count; /* of both boards, set-up and all */
};

void stream_run(const struct stream *s, struct stream_result *r);

#endif
