// SPDX-License-Identifier: BSD-2-Clause
/* The card that the firmware on an R5 sees. */
#include "card.h"

#define ACCESSES_MAX	400000	/* in one run */

void card_log_write(struct card_log *log, uint32_t off, uint64_t value)
{
	EXPECT(log->writes < CARD_WRITES);
	log->write[log->writes++] = (struct card_write){ off, value };
}

/* ---- the engine ---- */

/* Is this half of one of 64 bits? regs.def; offsets are within a context. */
static bool engine_is_wide(uint32_t off)
{
	if (off >= NIC_RXC_BASE(0))
		off = (off - NIC_RXC_BASE(0)) % NIC_RXC_STRIDE / 8 * 8 + 0x1000;
	else
		off = (off - NIC_CTX_BASE(0)) % NIC_CTX_STRIDE / 8 * 8;
	return off == NIC_CTX_LVA || off == NIC_CTX_RVA || off == NIC_CTX_LEFT ||
	       off == 0x1000 + NIC_RXC_VA || off == 0x1000 + NIC_RXC_LEFT;
}

static uint32_t engine_read(struct card *c, uint32_t off)
{
	struct rig *r = c->rig;

	if (off == NIC_ENG_BASE + NIC_ENG_ID)
		return c->id;
	/* Whoever asks without looking at the line hears that there is none. */
	if (off == NIC_ENG_BASE + NIC_ENG_EVT_POP && r->evt_in == r->evt_out)
		return 0;
	if (off >= NIC_CTX_BASE(0) && engine_is_wide(off))
		return (uint32_t)(rig_read64(r, off / 8 * 8) >> off % 8 * 8);
	return rig_read32(r, off);
}

static void engine_write(struct card *c, uint32_t off, uint32_t value)
{
	uint64_t wide = (uint64_t)value << 32 | c->low;

	if (!engine_is_wide(off)) {
		EXPECT(!c->half);
		card_log_write(&c->log, off, value);
		rig_write32(c->rig, off, value);
		return;
	}
	if (off % 8 == 0) {
		EXPECT(!c->half);
		c->low = value;
		c->low_off = off;
		c->half = true;
		return;
	}
	EXPECT(c->half && c->low_off + 4 == off);
	c->half = false;
	card_log_write(&c->log, c->low_off, wide);
	rig_write64(c->rig, c->low_off, wide);
}

/* ---- the mailbox, at the firmware's port ---- */

static void line_update(struct card *c)
{
	c->rig->line = c->line && c->open && !c->mails;
}

static bool mail_there(const struct card *c)
{
	return c->head != c->tail;
}

static uint32_t box_read(struct card *c, uint32_t off)
{
	switch (off) {
	case NIC_BOX_OPEN:
		/* main.c: it asks this when there was nothing else. */
		if (!mail_there(c) && c->rig->evt_in == c->rig->evt_out)
			c->turns++;
		return c->open;
	case NIC_BOX_LINE:
		return c->line;
	case NIC_BOX_ADDR:
		return c->queue[c->tail % CARD_QUEUE].off |
		       (mail_there(c) ? NIC_BOX_ADDR_VALID : 0);
	case NIC_BOX_DATA:
		return c->queue[c->tail % CARD_QUEUE].value;
	}
	STEP("read of BOX 0x%x", off);
	EXPECT(false);
	return 0;
}

static void box_write(struct card *c, uint32_t off, uint32_t value)
{
	switch (off) {
	case NIC_BOX_OPEN:
		c->open = value & NIC_BOX_OPEN_OPEN;
		if (!c->open)
			c->tail = c->head = c->mails = 0;
		break;
	case NIC_BOX_LINE:
		/* A change, or it would not have been written. */
		EXPECT_NE(c->line, value);
		c->line = value;
		break;
	case NIC_BOX_DONE:
		EXPECT(mail_there(c));
		if (c->queue[c->tail++ % CARD_QUEUE].off < NIC_DB_BASE(0))
			c->mails--;
		break;
	default:
		STEP("write of BOX 0x%x", off);
		EXPECT(false);
	}
	line_update(c);
}

static uint32_t firmware_read(struct card *c, uint32_t off)
{
	if (off < NIC_FW_BASE)
		return engine_read(c, off);
	EXPECT(off >= NIC_BOX_BASE);
	return box_read(c, off - NIC_BOX_BASE);
}

static void firmware_write(struct card *c, uint32_t off, uint32_t value)
{
	if (off < NIC_FW_BASE) {
		engine_write(c, off, value);
	} else if (off < NIC_BOX_BASE) {
		EXPECT((off - NIC_FW_BASE) / 4 < CARD_WORDS);
		c->words[(off - NIC_FW_BASE) / 4] = value;
	} else {
		box_write(c, off - NIC_BOX_BASE, value);
	}
}

/* ---- time ---- */

static void card_access(struct card *c)
{
	uint32_t off = 0, value = 0;

	switch (debugger_run(c->debugger, &off, &value)) {
	case DEBUGGER_READ:
		debugger_answer(c->debugger, firmware_read(c, off));
		break;
	case DEBUGGER_TIME:
		debugger_answer(c->debugger, c->cycles);
		break;
	case DEBUGGER_WRITE:
		firmware_write(c, off, value);
		break;
	case DEBUGGER_END:
		c->ended = true;
	}
	if (!c->rig->misuse)
		return;
	STEP("%s", c->rig->misuse);
	EXPECT(!c->rig->misuse);
}

void card_run(struct card *c, uint32_t turns)
{
	uint32_t i;

	c->turns = 0;
	for (i = 0; c->turns < turns && !c->ended; i++) {
		if (i == ACCESSES_MAX)
			EXPECT(!"the firmware never comes to rest");
		card_access(c);
	}
}

void card_run_writes(struct card *c, uint32_t writes)
{
	uint32_t i;

	for (i = 0; c->log.writes < writes && !c->ended; i++) {
		if (i == ACCESSES_MAX)
			EXPECT(!"the firmware never writes");
		card_access(c);
	}
}

/* ---- the driver's port ---- */

void card_queue(struct card *c, uint32_t off, uint32_t value)
{
	if (!c->open)
		return;
	while (c->head - c->tail == CARD_QUEUE && c->open)
		card_access(c);
	c->queue[c->head % CARD_QUEUE].off = off;
	c->queue[c->head++ % CARD_QUEUE].value = value;
	c->mails += off < NIC_DB_BASE(0);
	line_update(c);
}

uint32_t card_read(struct card *c, uint32_t off)
{
	EXPECT(off >= NIC_FW_BASE && off < NIC_FW_BASE + 4 * CARD_WORDS);
	while (c->mails && c->open && !c->ended)
		card_access(c);
	return c->open ? c->words[(off - NIC_FW_BASE) / 4] : 0;
}

/* ---- the rig's firmware ---- */

static struct card *card_of(struct rig *r)
{
	return r->on_go_arg;
}

static int far_write(struct rig *r, uint32_t off, uint64_t value)
{
	EXPECT_EQ(value >> 32, 0);
	card_queue(card_of(r), off, (uint32_t)value);
	return 0;
}

static uint64_t far_read(struct rig *r, uint32_t off, unsigned int size)
{
	uint64_t value = card_read(card_of(r), off);

	if (size == 8)
		value |= (uint64_t)card_read(card_of(r), off + 4) << 32;
	return value;
}

/* Twice: in the first turn a step may have been under way. */
static void far_run(struct rig *r)
{
	card_run(card_of(r), 2);
}

static void card_free(void *arg)
{
	struct card *c = arg;

	free(c->rig);
	free(c);
}

struct card *card_start(const char *image, bool clock)
{
	static const struct rig_far far = { far_write, far_read, far_run };
	struct card *c = calloc(1, sizeof(*c));

	c->rig = calloc(1, sizeof(*c->rig));
	test_cleanup(card_free, c);
	c->debugger = debugger_start(image, clock);
	c->id = NIC_ENG_ID_RESET;
	c->rig->contexts = 8;
	c->rig->far = &far;
	c->rig->on_go_arg = c;
	c->rig->mem = debugger_memory(c->debugger);
	c->clock = (const uint64_t *)(c->rig->mem + debugger_symbol(c->debugger, "r5_clock"));
	return c;
}
