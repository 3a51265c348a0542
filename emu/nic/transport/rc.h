/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rc.h - the reliable connection: packets with sequence numbers, go-back-N.
 *
 * Requester: SEND, WRITE (both with immediate data), READ, FETCH_ADD, CMP_SWAP, cut into
 * packets of the path's MTU; acknowledged, refused or timed out, it goes back to the oldest
 * packet that is missing (InfiniBand 9.7.5, 9.9). Responder: takes what comes in the order
 * of the packet sequence numbers, carries it out once, answers duplicates from memory (9.7.4).
 * What a missing page becomes is not decided here: env.miss() says.
 *
 * It has two channels, as the engine has: 0 sends requests, READ responses and
 * acknowledgements, 1 takes what came, packet by packet. A burst lies within a page of 4 KB
 * and has two phases, so that time can pass between them. No clock, no thread, no random
 * number: everything comes in as a parameter.
 */
#ifndef FL_RC_H
#define FL_RC_H

#include "nic/engine.h"
#include "nic/transport/transport.h"

struct rc;

/* Where a page is missing, and for whom. */
enum rc_side { RC_REQUESTER, RC_RESPONDER };
struct rc_miss {
	uint16_t qp;
	uint8_t side;		/* enum rc_side */
	bool write;		/* of memory here */
	bool datagram;		/* of a pair of ud.h, where nobody can be asked to wait */
	uint8_t opcode;		/* FL_OP_*; FL_OP_RECV: a receive entry's memory */
	uint32_t wr;		/* requester: of the request */
	uint32_t key, object;
	uint64_t va;		/* first byte that is missing */
	uint32_t len;		/* of the packet, from there, in one segment */
	uint64_t left;		/* of the message, behind these, in the same segment */
	uint32_t psn, xfer;
	uint64_t cause;
	/* Requester: the request's segments, for who brings in all of them at once. */
	const struct fw_work *work;
};

enum rc_verdict {
	RC_PARK,	/* requester: the send queue waits for rc_resume() */
	RC_REWIND,	/* its READ: responses are dropped until then, and asked for again */
	RC_RNR,		/* responder: RNR NAK with the code */
	RC_DROP,	/* silence: the packet was never here */
	RC_SLEEP,	/* the channel (what receives, or, of a source, what sends) waits */
	RC_FAIL,	/* the pair ends with an error */
	RC_DIVERT,	/* datagrams only (ud.h): into the backup ring */
};
struct rc_judged {
	uint8_t verdict;	/* enum rc_verdict */
	uint8_t rnr_code;
	uint64_t later_ns;	/* RC_DIVERT: the driver hears of it so much later */
};

struct rc_env {
	void *ctx;
	struct fw_unit_ops fw;
	/*
	 * Memory by way of the card's own table: object and va are filled in, and the burst stays
	 * within a page. DMA_OK: end must follow. DMA_SLVERR: the page is missing, or may not be
	 * used so. DMA_DECERR: memory answered with an error.
	 */
	enum dma_status (*burst_begin)(void *ctx, struct dma_burst *b);
	enum dma_status (*burst_end)(void *ctx, struct dma_burst *b, void *buf);
	/* An atomic, at once, on 8 aligned bytes (little-endian) of an open burst, which ends. */
	enum dma_status (*burst_atomic)(void *ctx, struct dma_burst *b, bool compare,
					uint64_t expected, uint64_t operand,
					uint64_t *old);
	/* A page is missing. The report to the driver, if it is due, has been made. */
	struct rc_judged (*miss)(void *ctx, const struct rc_miss *m);
	/* Frames, as in engine.h. */
	void *wire;
	struct wire_frame *(*frame_get)(void *wire);
	uint64_t (*frame_send)(void *wire, struct wire_frame *f);
	void (*kick)(void *ctx, unsigned int channel);
	/* Call rc_timer() at when_ns; replaces the alarm before. UINT64_MAX: none. */
	void (*alarm)(void *ctx, uint64_t when_ns);
	uint64_t (*emit)(void *ctx, unsigned int ev, const struct trace_at *at,
			 uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);
};

/* What some cards and drivers get wrong; all off by default. */
enum {
	/* After an RNR wait only what was refused is sent again. */
	RC_QUIRK_DAMMING = FL_QUIRK_DAMMING,
	RC_QUIRK_CUT = FL_QUIRK_CUT,	/* the acknowledgement timer cuts an RNR wait short */
	RC_QUIRK_CODE25 = FL_QUIRK_CODE25,	/* 61.41 ms in place of 61.44 */
};

struct rc_config {
	uint8_t node;
	bool icrc;
	uint32_t window;	/* PSNs on the way, of one pair */
	uint32_t rx_frames;	/* that may wait to be taken; what comes beyond is lost */
	uint64_t packet_ns;	/* that a packet costs a channel, beside bursts and the wire */
	uint64_t timeout_floor_ns;
	uint64_t rnr_floor_ns, rnr_tick_ns; /* an RNR wait is no shorter; is rounded up to */
	unsigned int quirks;
};

struct rc_stats {
	uint64_t packets_sent, packets_received, resent, acks, naks_sequence, naks_fatal,
		 rnr_sent, rnr_waits, timeouts, rewinds, duplicates, dropped, overflows,
		 read_rewinds, atomics, misses, bad_packets, payload_sent;
};

struct rc *rc_create(const struct rc_config *cfg, const struct rc_env *env);
void rc_destroy(struct rc *rc);
void rc_reset(struct rc *rc);
/* For the firmware. */
struct fw_transport rc_transport(struct rc *rc);
/* A frame whose opcode is one of wire.def's WSTD rows for RC. Copied. */
void rc_receive(struct rc *rc, const struct wire_frame *f, uint64_t now_ns);
/* ns until the channel's next step, or UINT64_MAX: nothing until the next kick. */
uint64_t rc_step(struct rc *rc, unsigned int channel, uint64_t now_ns);
void rc_timer(struct rc *rc, uint64_t now_ns);
void rc_wire_room(struct rc *rc);
/*
 * What a miss waited for has come; code 0, or an FL_ST_*: it never will. psn: of the packet
 * that has missed it, for which alone a refusal is.
 */
void rc_resume(struct rc *rc, uint16_t qp, enum rc_side side, bool write, uint8_t code,
	       uint32_t psn, uint64_t now_ns);
void rc_stats(const struct rc *rc, struct rc_stats *st);
bool rc_idle(const struct rc *rc);
/* NULL, or a sentence that says what does not add up. */
const char *rc_check(const struct rc *rc);

/* ns of an RNR NAK's code; 5 bits (InfiniBand 9.7.5.2.8, table 45). */
uint64_t rc_rnr_ns(unsigned int code);

#endif
