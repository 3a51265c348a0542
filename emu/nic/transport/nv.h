/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nv.h - NetVM's transport: WRITEs in fragments that find their own place.
 *
 * A fragment names its address, so it may come in any order. Where its page is absent it is
 * redirected into a slot of the receiver's system buffer, and the driver copies it from there
 * when it has the page. Credits keep that buffer from overflowing: a sender has no more
 * fragments on the way, or in the buffer, than it was given. A window of sequence numbers
 * puts in order again what programs see: completions, and the event counters that WRITEs
 * name. So nothing is ever sent twice for a page; the time-out, against wires that lose
 * packets, is an addition.
 *
 * There is no READ, no SEND and no atomic. A missing source parks the send queue. What a
 * missing page becomes is decided elsewhere: env.miss() says.
 *
 * It has two channels, as the engine has: 0 sends, 1 takes what came. No clock, no thread, no
 * random number: everything comes in as a parameter.
 *
 * sources: netvm
 */
#ifndef FL_NV_H
#define FL_NV_H

#include "nic/engine.h"
#include "nic/transport/transport.h"

#define NV_SLOTS_MAX	1024	/* of the system buffer */
#define NV_SLOT_BYTES	4096
#define NV_WINDOW_MAX	64	/* fragments of one pair on the way */

struct nv;

enum nv_side { NV_SENDER, NV_RECEIVER };

/* Where a page is missing, and for whom. */
struct nv_miss {
	uint16_t qp;
	uint8_t side;		/* enum nv_side */
	uint32_t key, object;
	uint64_t va;		/* first byte that is missing */
	uint32_t len;		/* of the fragment, from there, in one segment */
	uint64_t left;		/* of the WRITE, behind these, in the same segment */
	uint32_t sequence, xfer;
	uint64_t cause;
	const struct fw_work *work;	/* NV_SENDER */
};

enum nv_verdict {
	NV_PARK,	/* sender: its queue waits for nv_resume() */
	NV_REDIRECT,	/* receiver: into the system buffer */
	NV_SILENCE,	/* receiver: the fragment was never here */
	NV_FAIL,	/* the pair ends with an error */
};

struct nv_env {
	void *ctx;
	struct fw_unit_ops fw;
	/* As in rc.h. */
	enum dma_status (*burst_begin)(void *ctx, struct dma_burst *b);
	enum dma_status (*burst_end)(void *ctx, struct dma_burst *b, void *buf);
	/* NV_PARK: the report to the driver has been made. */
	enum nv_verdict (*miss)(void *ctx, const struct nv_miss *m);
	/* Data into a slot of the system buffer; false: its memory failed. */
	bool (*slot_write)(void *ctx, uint32_t slot, const void *buf, uint32_t len);
	/* The driver is to copy what is in the slot, and then comes nv_copied(). */
	void (*redirected)(void *ctx, const struct nv_miss *m, uint32_t slot);
	void *wire;
	struct wire_frame *(*frame_get)(void *wire);
	uint64_t (*frame_send)(void *wire, struct wire_frame *f);
	void (*kick)(void *ctx, unsigned int channel);
	/* Call nv_timer() at when_ns; replaces the alarm before. UINT64_MAX: none. */
	void (*alarm)(void *ctx, uint64_t when_ns);
	uint64_t (*emit)(void *ctx, unsigned int ev, const struct trace_at *at,
			 uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);
};

struct nv_config {
	uint8_t node;
	bool icrc;
	uint32_t window;	/* fragments of one pair on the way, at most NV_WINDOW_MAX */
	uint32_t credits;	/* that a pair's sender is given, if there are so many */
	uint32_t slots;		/* of the system buffer that are used, at most */
	uint32_t rx_frames;	/* that may wait to be taken; what comes beyond is lost */
	uint64_t packet_ns;	/* that a packet costs a channel, beside bursts and the wire */
	uint64_t count_ns;	/* more, to let a counter rise */
	uint64_t timeout_floor_ns;
	uint64_t probe_ns;	/* until a sender asks what has become of redirected data */
	bool greedy;		/* a sender that pays no heed to credits, for experiments */
};

struct nv_stats {
	uint64_t packets_sent, packets_received, payload_sent, resent, direct, redirected,
		 released, credit_waits, order_waits, timeouts, probes, duplicates,
		 dropped, overflows, counted, misses, bad_packets;
	uint64_t slots_used, slots_peak;	/* now, and at most */
};

struct nv *nv_create(const struct nv_config *cfg, const struct nv_env *env);
void nv_destroy(struct nv *nv);
void nv_reset(struct nv *nv);
/* For the firmware. */
struct fw_transport nv_transport(struct nv *nv);
/* Is it one of this transport's opcodes? */
bool nv_opcode_known(uint8_t opcode);
/* A frame whose opcode is. Copied. */
void nv_receive(struct nv *nv, const struct wire_frame *f, uint64_t now_ns);
/* ns until the channel's next step, or UINT64_MAX: nothing until the next kick. */
uint64_t nv_step(struct nv *nv, unsigned int channel, uint64_t now_ns);
void nv_timer(struct nv *nv, uint64_t now_ns);
void nv_wire_room(struct nv *nv);
/* The source page that the pair waits for has come; code 0, or an FL_ST_*: it never will. */
void nv_resume(struct nv *nv, uint16_t qp, uint8_t code, uint64_t now_ns);
/*
 * Register DIV_SLOTS: the system buffer has so many slots; 0: there is none. What is in it
 * now is forgotten. -EINVAL: too many, or pairs have credits for more.
 */
int nv_slots_set(struct nv *nv, uint32_t slots);
uint32_t nv_slots(const struct nv *nv);
/*
 * Register COPIED: what was in the slot is in its place; code 0, or an FL_ST_*: it never will
 * be. A slot that is empty changes nothing. -EINVAL: there is no such slot.
 */
int nv_copied(struct nv *nv, uint32_t slot, uint8_t code, uint64_t now_ns);
void nv_stats(const struct nv *nv, struct nv_stats *st);
bool nv_idle(const struct nv *nv);
/* NULL, or a sentence that says what does not add up. */
const char *nv_check(const struct nv *nv);

#endif
