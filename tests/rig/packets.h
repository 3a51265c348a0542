/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packets.h - what a packet unit of any transport has around it on a bench: memory is an array
 * whose pages come and go, the wire is a list of frames that left, time, the alarm and the
 * order of steps belong to the test. It knows no rule of a protocol.
 *
 * rig/rc.h, rig/ud.h and rig/nv.h have the units; in each struct rig begins with a struct
 * packets, so that what takes a struct rig here works with all of them.
 */
#ifndef FL_RIG_PACKETS_H
#define FL_RIG_PACKETS_H

#include "nic/fw.h"
#include "nic/transport/rc.h"
#include "nic/wire.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define RIG_BASE	0x10000000ull
#define RIG_PAGES	64
#define RIG_BYTES	(RIG_PAGES * 4096u)
#define RIG_KEYS	4
#define RIG_FRAMES	600
#define RIG_DONE	64
#define RIG_CHANNELS	6

/* The pair that tests use: place 5 here, its peer on node 1. */
#define RIG_QP		5
#define RIG_QPN		0x123405u
#define RIG_PEER	0x777705u

struct rig;

struct rig_key {
	uint32_t key;
	uint64_t va, bytes;
	uint8_t rights;
	bool alive;
};

struct rig_done {
	uint16_t qp;
	uint32_t wr, resends;
	uint8_t status;
};

/* The calls that every unit has. */
struct rig_unit {
	uint64_t (*step)(struct rig *g, unsigned int channel, uint64_t now_ns);
	const char *(*check)(struct rig *g);
	void (*timer)(struct rig *g, uint64_t now_ns);
	void (*receive)(struct rig *g, const struct wire_frame *f, uint64_t now_ns);
};

struct packets {
	const struct rig_unit *unit;
	struct fw_transport t;
	uint64_t now, alarm;
	uint8_t *mem;
	bool present[RIG_PAGES], read_only[RIG_PAGES];
	struct rig_key key[RIG_KEYS];
	/* bursts */
	bool open[RIG_CHANNELS];
	struct dma_burst burst[RIG_CHANNELS];
	uint64_t bursts, burst_ns;
	bool fails;		/* memory answers with an error */
	unsigned int misses;
	/* firmware */
	struct rig_done done[RIG_DONE];
	unsigned int dones;
	uint8_t error;		/* of pair_error */
	unsigned int errors;
	/* wire */
	bool no_room;
	struct wire_frame making, *out;
	unsigned int outs, out_next;
	uint64_t sent_ns;	/* the newest */
	void (*sent)(struct rig *g, const struct wire_frame *f); /* or NULL: into out */
	void (*worked)(struct rig *g, const struct rig_done *d);
	void (*ended)(struct rig *g, uint16_t qp);	/* by an error of the pair */
	bool quiet;		/* events are not steps */
	bool awake[2];
	struct trace *trace;
	uint64_t events[EV_COUNT];
};

/* All pages present, keys 0x100 and on over all of memory, nothing on the wire. */
void packets_open(struct packets *io, const struct rig_unit *unit);
void packets_close(struct packets *io);

uint8_t *rig_at(struct rig *g, uint64_t va);
struct rig_key *rig_key_find(struct rig *g, uint32_t key);
/* Memory whose every byte tells its place. */
void rig_fill(struct rig *g);

/* ---- what units ask for ---- */

/* The pages of a burst: DMA_SLVERR where one is missing, or only to be read. */
enum dma_status packets_burst_begin(struct packets *io, struct dma_burst *b);
/* Bytes move only with buf. */
enum dma_status packets_burst_end(struct packets *io, struct dma_burst *b, void *buf);
struct wire_frame *rig_frame_get(void *ctx);
uint64_t rig_frame_send(void *ctx, struct wire_frame *f);
void rig_kick(void *ctx, unsigned int channel);
void rig_alarm(void *ctx, uint64_t when_ns);
uint64_t rig_emit(void *ctx, unsigned int ev, const struct trace_at *at, uint64_t a0, uint64_t a1,
		  uint64_t a2, uint64_t a3);
void rig_work_done(void *ctx, uint16_t qp, uint32_t wr, uint8_t status, uint32_t resends,
		   uint64_t cause);
void rig_pair_error(void *ctx, uint16_t qp, uint8_t status, uint64_t cause);

/* ---- what a test does ---- */

/* The unit finds nothing wrong with itself. */
void rig_check(struct rig *g);
/* Steps until nothing is to be done before the next alarm. */
void rig_run(struct rig *g);
/* Let time pass until the alarm rings; what was due is sent. */
void rig_ring(struct rig *g);
/* Nothing has left beyond what was looked at. */
void rig_silent(struct rig *g);
/* The next frame that left. */
const struct wire_frame *rig_out_frame(struct rig *g);
void rig_post(struct rig *g, uint32_t wr, const struct fw_work *w);
void rig_is_done(struct rig *g, unsigned int n, uint32_t wr, uint8_t status);
/* Of the newest request that ended. */
uint8_t rig_status(struct rig *g);

#endif
