// SPDX-License-Identifier: BSD-2-Clause
/*
 * The backup ring: descriptors in memory of the driver, each with a page for a packet. The
 * card writes a packet there whose receive is not ready, says which receive of which queue
 * pair it is for, and which bit stands for it; the driver copies it, and names the bit.
 *
 * The same descriptors tell the driver that a receive has been posted for which a packet
 * waits, and that a queue pair has ended, so that it copies nothing of that any more.
 */
#include "nic/transport/ud_internal.h"

#include <stddef.h>

#include "faultline/regs.h"
#include "trace/event.h"

static bool backup_has_room(const struct ud_backup *b)
{
	return b->slots && b->prod != b->given;
}

/*
 * One descriptor is for what the driver has to hear besides, which gives it back at once:
 * otherwise packets that wait for their receives could have all pages, and nobody could say
 * that the receives are there.
 */
static bool backup_has_page(const struct ud_backup *b)
{
	return b->slots && b->given - b->prod >= 2;
}

static void backup_alarm(struct ud *ud)
{
	ud->env.alarm(ud->env.ctx, ud->backup.line_due_ns);
}

/* Something is there for the driver: it hears of it a little later. */
static void backup_ring(struct ud *ud, uint64_t later_ns, uint64_t cause)
{
	uint64_t due_ns = ud->now_ns + ud->cfg.trigger_ns + later_ns;
	struct ud_backup *b = &ud->backup;

	if (b->line || (b->line_due_ns != UD_NEVER && (!later_ns || b->line_due_ns >= due_ns)))
		return;
	if (due_ns != ud->now_ns) {
		b->line_due_ns = due_ns;
		b->line_cause = cause;
		backup_alarm(ud);
		return;
	}
	b->line = true;
	ud->env.line(ud->env.ctx, true, cause);
}

static void backup_quiet(struct ud *ud)
{
	struct ud_backup *b = &ud->backup;

	if (b->line_due_ns != UD_NEVER) {
		b->line_due_ns = UD_NEVER;
		backup_alarm(ud);
	}
	if (!b->line)
		return;
	b->line = false;
	ud->env.line(ud->env.ctx, false, 0);
}

void ud_timer(struct ud *ud, uint64_t now_ns)
{
	struct ud_backup *b = &ud->backup;

	ud->now_ns = now_ns;
	if (now_ns < b->line_due_ns)
		return;
	b->line_due_ns = UD_NEVER;
	if (b->prod == b->cons)
		return;
	b->line = true;
	ud->env.line(ud->env.ctx, true, b->line_cause);
}

/* The descriptor that is written next. */
static uint64_t backup_at(const struct ud_backup *b)
{
	return b->base + sizeof(struct fl_backup) * (uint64_t)(b->prod & (b->slots - 1));
}

/* Its page, which the driver has written there. */
static bool backup_buffer(struct ud *ud, uint64_t *buffer)
{
	return !ud->env.mem_read(ud->env.ctx,
				 backup_at(&ud->backup) + offsetof(struct fl_backup, buffer),
				 buffer, sizeof(*buffer));
}

/* There is room. The driver's own member stays as it is. Then backup_ring(). */
static bool backup_write(struct ud *ud, struct fl_backup *d)
{
	const uint32_t upto = offsetof(struct fl_backup, phase);
	struct ud_backup *b = &ud->backup;
	uint64_t pa = backup_at(b), buffer;

	if (!backup_buffer(ud, &buffer))
		return false;
	d->buffer = buffer;
	if (ud->env.mem_write(ud->env.ctx, pa, d, upto) ||
	    ud->env.mem_publish(ud->env.ctx, pa + upto, 1 + b->prod / b->slots))
		return false;
	b->prod++;
	return true;
}

static void backup_fill(const struct ud_pair *q, const struct ud_place *p, uint16_t index,
			uint16_t bit, struct fl_backup *d)
{
	const struct fw_segment *s = p->recv.segment;

	*d = (struct fl_backup){
		.slot = q->p.slot, .qp = q->p.qpn, .index = index, .bit = (uint8_t)bit,
		.serial = q->ring.serial, .len = p->arrival.length,
		.posted = p->posted, .xfer = p->recv.xfer, .imm = p->arrival.imm,
		.src_qp = p->arrival.from_qp,
	};
	if (!p->posted)
		return;
	d->segments = p->recv.segments;
	d->va0 = s[0].va;
	d->bytes0 = s[0].bytes;
	d->key0 = s[0].key;
	d->va1 = s[1].va;
	d->bytes1 = s[1].bytes;
	d->key1 = s[1].key;
	d->va2 = s[2].va;
	d->bytes2 = s[2].bytes;
	d->key2 = s[2].key;
}

bool ud_backup_store(struct ud *ud, struct ud_pair *q, const struct ud_place *place,
		     uint16_t index, uint16_t bit, uint64_t later_ns)
{
	const struct rc_packet *k = &ud->take.packet;
	struct ud_backup *b = &ud->backup;
	struct fl_backup d;
	uint64_t buffer;
	uint32_t n = b->prod;

	/* First what it has to hear of the queue pair's past. */
	if (q->ring.over_due || !backup_has_page(b))
		return false;
	if (!backup_buffer(ud, &buffer) || buffer % UD_PAGE)
		return false;
	if (k->payload_len && ud->env.mem_write(ud->env.ctx, buffer, k->payload,
						k->payload_len))
		return false;
	backup_fill(q, place, index, bit, &d);
	d.kind = FL_BACKUP_PACKET;
	d.psn = k->psn;
	if (!backup_write(ud, &d))
		return false;
	backup_ring(ud, later_ns, ud_note(ud, EV_UD_DIVERT, place->recv.xfer,
					  place->arrival.cause, q, index, bit, n));
	return true;
}

/* ---- what the driver has to hear besides ---- */

/* A receive has been posted whose packet came before. */
static void tell_receive(struct ud *ud, struct ud_pair *q, struct ud_place *p, uint16_t offset)
{
	uint16_t index = (uint16_t)(q->ring.at.head + offset);
	struct fl_backup d;

	p->told = true;
	q->ring.untold--;
	backup_fill(q, p, index, ud_ring_bit(&q->ring, offset), &d);
	d.kind = FL_BACKUP_RECEIVE;
	if (p->arrival.length > p->recv.length)
		d.status = FL_ST_LENGTH;
	if (backup_write(ud, &d))
		backup_ring(ud, 0, p->arrival.cause);
}

/* True: there was room for all, or the pair has ended over it. */
static bool tell_receives(struct ud *ud, struct ud_pair *q)
{
	struct ud_ring *r = &q->ring;
	struct ud_place *p;
	uint32_t xfer;
	uint8_t wrong;
	uint16_t i;

	for (i = 0; r->untold && i < r->at.offset && i < r->bm_size; i++) {
		p = ud_ring_place(r, (uint16_t)(r->at.head + i));
		if (!ud_ring_waits(r, ud_ring_bit(r, i)) || p->told)
			continue;
		if (!backup_has_room(&ud->backup))
			return false;
		xfer = p->recv.xfer;
		wrong = FL_ST_OK;
		if (!ud->env.fw.recv_ahead(ud->env.fw.ctx, q->place, i, &p->recv, &wrong)) {
			p->recv.xfer = xfer;
			return true;
		}
		if (wrong) {
			ud->env.fw.pair_error(ud->env.fw.ctx, q->place, wrong,
					      p->arrival.cause);
			return true;
		}
		p->posted = true;
		tell_receive(ud, q, p, i);
	}
	return true;
}

void ud_backup_tell(struct ud *ud)
{
	unsigned int i;

	for (i = 0; i < ud->pairs_used; i++) {
		struct ud_pair *q = &ud->pair[i];
		struct fl_backup d = {
			.kind = FL_BACKUP_OVER, .slot = q->p.slot, .qp = q->p.qpn,
		};

		if (q->ring.over_due) {
			if (!backup_has_room(&ud->backup))
				return;
			q->ring.over_due = false;
			if (backup_write(ud, &d))
				backup_ring(ud, 0, 0);
		}
		if (q->open && q->ring.untold && !tell_receives(ud, q))
			return;
	}
}

/* ---- registers ---- */

uint64_t ud_backup_base(const struct ud *ud)
{
	return ud->backup.base;
}

uint32_t ud_backup_slots(const struct ud *ud)
{
	return ud->backup.slots;
}

uint32_t ud_backup_cons(const struct ud *ud)
{
	return ud->backup.cons;
}

uint32_t ud_backup_given(const struct ud *ud)
{
	return ud->backup.given;
}

uint32_t ud_backup_bits(const struct ud *ud)
{
	return ud->backup.bits;
}

int ud_backup_base_set(struct ud *ud, uint64_t base)
{
	if (base % 64 || ud->backup.slots)
		return -UD_EINVAL;
	ud->backup.base = base;
	return 0;
}

int ud_backup_slots_set(struct ud *ud, uint32_t slots, uint64_t now_ns)
{
	struct ud_backup *b = &ud->backup;
	unsigned int i;

	ud->now_ns = now_ns;
	/* regs.def, BAK_SLOTS: a power of two, 2 to 4096; stopped before it begins anew */
	if (slots && (b->slots || slots < 2 || slots > 4096 || slots & (slots - 1)))
		return -UD_EINVAL;
	b->slots = slots;
	b->prod = b->cons = 0;
	b->given = slots;
	if (slots)
		return 0;
	for (i = 0; i < ud->pairs_used; i++)
		ud->pair[i].ring.over_due = false;
	backup_quiet(ud);
	return 0;
}

int ud_backup_cons_set(struct ud *ud, uint32_t cons, uint64_t now_ns)
{
	struct ud_backup *b = &ud->backup;

	ud->now_ns = now_ns;
	/* Neither back, nor beyond what there is. */
	if (cons - b->cons > b->prod - b->cons)
		return -UD_EINVAL;
	b->cons = cons;
	if (b->cons == b->prod)
		backup_quiet(ud);
	return 0;
}

int ud_backup_given_set(struct ud *ud, uint32_t given, uint64_t now_ns)
{
	struct ud_backup *b = &ud->backup;

	ud->now_ns = now_ns;
	if (given - b->given > b->slots || given - b->cons > b->slots)
		return -UD_EINVAL;
	b->given = given;
	ud_backup_tell(ud);
	return 0;
}

int ud_backup_bits_set(struct ud *ud, uint32_t bits)
{
	if (bits > UD_BITS_MAX)
		return -UD_EINVAL;
	ud->backup.bits = bits;
	return 0;
}

int ud_backup_resolved(struct ud *ud, uint32_t value, uint64_t now_ns)
{
	uint16_t bit = (value & NIC_XP_RESOLVED_BIT_MASK) >> NIC_XP_RESOLVED_BIT_SHIFT;
	uint8_t serial = (value & NIC_XP_RESOLVED_SERIAL_MASK) >> NIC_XP_RESOLVED_SERIAL_SHIFT;
	uint8_t code = (value & NIC_XP_RESOLVED_CODE_MASK) >> NIC_XP_RESOLVED_CODE_SHIFT;
	struct ud_pair *q = &ud->pair[(value & NIC_XP_RESOLVED_RING_MASK) >>
				      NIC_XP_RESOLVED_RING_SHIFT];
	struct ud_ring *r = &q->ring;
	struct ud_place *p;
	uint16_t offset;

	ud->now_ns = now_ns;
	if (value & ~(uint32_t)(NIC_XP_RESOLVED_RING_MASK | NIC_XP_RESOLVED_BIT_MASK |
				NIC_XP_RESOLVED_SERIAL_MASK | NIC_XP_RESOLVED_CODE_MASK))
		return -UD_EINVAL;
	/* An answer to what is over changes nothing. */
	if (!q->open || serial != r->serial || bit >= r->bm_size || !ud_ring_waits(r, bit)) {
		ud->stats.stale++;
		return 0;
	}
	offset = (uint16_t)((bit + r->bm_size - r->bm_index) % r->bm_size);
	p = ud_ring_place(r, (uint16_t)(r->at.head + offset));
	/* It cannot have been copied where nothing is known of. */
	if (!p->told)
		return -UD_EINVAL;
	ud_ring_mark(r, bit, false);
	r->held--;
	ud->stats.held--;
	ud->stats.resolved++;
	p->arrival.status = code;
	ud_ring_release(ud, q, p->arrival.cause);
	return 0;
}
