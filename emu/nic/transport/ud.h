/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud.h - datagrams: packets that nobody acknowledges, into a ring of receives.
 *
 * A message is one packet (BTH, DETH), of at most the path's MTU. It lands in the receive of
 * its queue pair whose turn it is; receives are announced in the order in which their packets
 * came. Where a page of the receive is not in the card's table, or no receive has been posted
 * yet, the packet is lost; or, if the row of the process says so, it goes into the backup ring
 * (ud_backup.c), memory of the driver, which copies it later (NPF, ASPLOS 2017, section 5).
 *
 * A packet goes to the peer that the queue pair's connection names, or to whom its request does
 * (FL_WQE_TO). What comes is taken from anybody who has the queue pair's key.
 *
 * A simplification: no global route header stands before the data.
 *
 * Channels, bursts and time are those of rc.h: 0 sends, 1 takes what came.
 */
#ifndef FL_UD_H
#define FL_UD_H

#include "nic/transport/rc.h"

/* Bits of a ring: packets of one queue pair in the backup ring at a time, at most. */
#define UD_BITS_MAX	256
/* Packets that one queue pair has received and that are not announced yet, at most. */
#define UD_AHEAD	4096

struct ud;

struct ud_env {
	void *ctx;
	struct fw_unit_ops fw;
	/* As in rc.h. */
	enum dma_status (*burst_begin)(void *ctx, struct dma_burst *b);
	enum dma_status (*burst_end)(void *ctx, struct dma_burst *b, void *buf);
	/* RC_PARK, of what is sent; RC_DROP, RC_DIVERT, of what is received; or RC_FAIL. */
	struct rc_judged (*miss)(void *ctx, const struct rc_miss *m);
	/* No receive is posted for what came: does the row divert it? */
	bool (*diverts)(void *ctx, uint16_t qp);
	/* As in fw.h: where the backup ring and its buffers lie. */
	int (*mem_read)(void *ctx, uint64_t pa, void *buf, uint32_t len);
	int (*mem_write)(void *ctx, uint64_t pa, const void *buf, uint32_t len);
	int (*mem_publish)(void *ctx, uint64_t pa, uint32_t value);
	/* The backup ring is not empty; cause: the event of what is there, or 0. */
	void (*line)(void *ctx, bool level, uint64_t cause);
	/* Call ud_timer() at when_ns; replaces the alarm before. UINT64_MAX: none. */
	void (*alarm)(void *ctx, uint64_t when_ns);
	void *wire;
	struct wire_frame *(*frame_get)(void *wire);
	uint64_t (*frame_send)(void *wire, struct wire_frame *f);
	void (*kick)(void *ctx, unsigned int channel);
	uint64_t (*emit)(void *ctx, unsigned int ev, const struct trace_at *at,
			 uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);
};

struct ud_config {
	uint8_t node;
	bool icrc;
	uint32_t rx_frames;	/* that may wait to be taken; what comes beyond is lost */
	uint64_t packet_ns;	/* that a packet costs a channel, beside bursts and the wire */
	uint64_t store_ns;	/* putting a packet into the backup ring */
	uint64_t trigger_ns;	/* from there until the line rises */
};

/* Why a packet was dropped: UD_DROP. */
enum ud_drop_why {
	UD_DROP_BAD, UD_DROP_NO_PAIR, UD_DROP_QKEY, UD_DROP_FULL, UD_DROP_LENGTH,
	UD_DROP_NO_RECEIVE, UD_DROP_MISSING, UD_DROP_BITS, UD_DROP_BACKUP, UD_DROP_AHEAD,
	UD_DROP_WHYS
};

struct ud_stats {
	uint64_t sent, received, announced, parked, misses, diverted, resolved, stale;
	uint64_t dropped[UD_DROP_WHYS];
	uint64_t payload_sent;
	uint32_t held, held_peak;	/* packets that are diverted and not resolved */
};

struct ud *ud_create(const struct ud_config *cfg, const struct ud_env *env);
void ud_destroy(struct ud *ud);
/* The backup ring is stopped, too. */
void ud_reset(struct ud *ud);
struct fw_transport ud_transport(struct ud *ud);
/* A frame whose opcode is one of wire.def's WSTD rows for UD. Copied. */
void ud_receive(struct ud *ud, const struct wire_frame *f, uint64_t now_ns);
uint64_t ud_step(struct ud *ud, unsigned int channel, uint64_t now_ns);
void ud_timer(struct ud *ud, uint64_t now_ns);
void ud_wire_room(struct ud *ud);
/* The page that the send queue waited for has come; or, by its code, never will. */
void ud_resume(struct ud *ud, uint16_t qp, uint8_t code, uint64_t now_ns);
void ud_stats(const struct ud *ud, struct ud_stats *st);
/* What waits for a receive to be posted is no work. */
bool ud_idle(const struct ud *ud);
/* NULL, or a sentence that says what does not add up. */
const char *ud_check(const struct ud *ud);

/*
 * What the paper calls a ring's state: the oldest receive that is not announced, how many
 * behind it have their packets, and which bit is the first. For tests and the checker.
 */
struct ud_ring_state {
	uint16_t head, head_offset, bm_size, bm_index;
	uint64_t bitmap[UD_BITS_MAX / 64];
};

void ud_ring_state(const struct ud *ud, uint16_t qp, struct ud_ring_state *st);

/* Registers BAK_* and RESOLVED of the page XP. 0 or -EINVAL. */
uint64_t ud_backup_base(const struct ud *ud);
uint32_t ud_backup_slots(const struct ud *ud);
uint32_t ud_backup_cons(const struct ud *ud);
uint32_t ud_backup_given(const struct ud *ud);
uint32_t ud_backup_bits(const struct ud *ud);
int ud_backup_base_set(struct ud *ud, uint64_t base);
int ud_backup_slots_set(struct ud *ud, uint32_t slots, uint64_t now_ns);
int ud_backup_cons_set(struct ud *ud, uint32_t cons, uint64_t now_ns);
int ud_backup_given_set(struct ud *ud, uint32_t given, uint64_t now_ns);
int ud_backup_bits_set(struct ud *ud, uint32_t bits);
int ud_backup_resolved(struct ud *ud, uint32_t value, uint64_t now_ns);

#endif
