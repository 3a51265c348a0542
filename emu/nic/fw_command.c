// SPDX-License-Identifier: BSD-2-Clause
/*
 * Commands of the driver: one at a time, through the words CMD of the mailbox.
 */
#include "nic/fw_internal.h"

/* Members of struct fl_fw_cmd that a command uses; all others must be 0. */
enum { USES_OBJECT = 1, USES_FLAGS = 2, USES_A = 4, USES_B = 8, USES_C = 16,
       USES_D = 32, NO_COMMAND = 64 };

/* entries.def, SLOT_ROW */
#define SLOT_BITS_MAX	256

static uint8_t slot_open(struct fw *fw, const struct fl_fw_cmd *c)
{
	struct fw_slot *s = &fw->slot[c->slot];

	if (s->open)
		return FL_ST_BUSY;
	/* regs.def, CTX.STREAM: 15 bits */
	if (c->a >> 15)
		return FL_ST_BAD_ARGUMENT;
	s->open = true;
	fw->slots_open++;
	s->stream = (uint16_t)c->a;
	return FL_ST_OK;
}

/*
 * The process has died or closed its file. Nobody reads its queues any more, so
 * there are no completions and no events; blocks in flight are killed in
 * whatever state, also those that come in.
 */
static uint8_t slot_close(struct fw *fw, const struct fl_fw_cmd *c)
{
	uint32_t i;

	fw_qp_close_slot(fw, c->slot);
	fw_srq_close_slot(fw, c->slot);
	fw_counter_close_slot(fw, c->slot);
	fw_cq_close_slot(fw, c->slot);
	fw_mr_close_slot(fw, c->slot);
	fw->slot[c->slot] = (struct fw_slot){ 0 };
	if (fw->env.slot_row)
		fw->env.slot_row(fw->env.ctx, c->slot, 0, 0, 0);
	fw->slots_open--;
	/* A process that is now alone may take more contexts than before. */
	for (i = 0; i < FW_SLOTS; i++)
		fw_sched_release(fw, &fw->slot[i]);
	return FL_ST_OK;
}

/*
 * Blocks of peers that were accepted before stop; every later attempt asks again
 * and is refused. So when the command is over nobody touches these pages.
 */
static uint8_t mr_destroy(struct fw *fw, const struct fl_fw_cmd *c)
{
	uint8_t status = fw_mr_destroy(fw, c);
	const struct fw_transport *t;
	int i;

	if (status)
		return status;
	fw_rx_stop_key(fw, c->object);
	for (i = 0; i < FW_TRANSPORTS; i++) {
		t = fw->env.transport[i];
		if (t)
			t->stop_key(t->ctx, c->object);
	}
	return FL_ST_OK;
}

/* Blocks that are under way keep to what was true when they were accepted. */
static uint8_t slot_silent(struct fw *fw, const struct fl_fw_cmd *c)
{
	if (c->flags & ~(FL_SILENT_READ | FL_SILENT_WRITE) ||
	    !fw->cfg.may_be_silent)
		return FL_ST_BAD_ARGUMENT;
	fw->slot[c->slot].silent = (uint8_t)c->flags;
	return FL_ST_OK;
}

/* The same: a block that lacks a page waits, or has ended. */
static uint8_t slot_abort(struct fw *fw, const struct fl_fw_cmd *c)
{
	if (c->flags & ~(FL_ABORT_READ | FL_ABORT_WRITE))
		return FL_ST_BAD_ARGUMENT;
	fw->slot[c->slot].abort = (uint8_t)c->flags;
	return FL_ST_OK;
}

/* The card's policy for packets, which judges when it is asked. */
static uint8_t slot_row(struct fw *fw, const struct fl_fw_cmd *c)
{
	if (c->flags & ~(FL_ROW_IR | FL_ROW_IW | FL_ROW_RR | FL_ROW_RW |
			 FL_ROW_REPORT) || !fw->env.slot_row ||
	    c->a & ~(uint64_t)(FL_QUIRK_DAMMING | FL_QUIRK_CUT | FL_QUIRK_CODE25) ||
	    c->b > SLOT_BITS_MAX)
		return FL_ST_BAD_ARGUMENT;
	fw->env.slot_row(fw->env.ctx, c->slot, c->flags, c->a, c->b);
	return FL_ST_OK;
}

/* entries.def, FL_CMD_*: which members each command reads. */
static unsigned int command_uses(uint32_t opcode)
{
	switch (opcode) {
	case FL_CMD_SLOT_OPEN:
		return USES_A;
	case FL_CMD_SLOT_CLOSE:
	case FL_CMD_PD_CREATE:
		return 0;
	case FL_CMD_SLOT_SILENT:
	case FL_CMD_SLOT_ABORT:
		return USES_FLAGS;
	case FL_CMD_MR_CREATE:
		return USES_FLAGS | USES_A | USES_B | USES_C;
	case FL_CMD_CQ_CREATE:
		return USES_A | USES_B;
	case FL_CMD_QP_CREATE:
		return USES_FLAGS | USES_A | USES_B | USES_C | USES_D;
	case FL_CMD_QP_CONNECT:
		return USES_OBJECT | USES_A | USES_B;
	case FL_CMD_MR_DESTROY:
	case FL_CMD_CQ_DESTROY:
	case FL_CMD_QP_DESTROY:
	case FL_CMD_QP_RESUME:
	case FL_CMD_PD_DESTROY:
	case FL_CMD_SRQ_DESTROY:
	case FL_CMD_COUNTER_DESTROY:
		return USES_OBJECT;
	case FL_CMD_COUNTER_CREATE:
		return USES_A;
	case FL_CMD_RQ_ATTACH:
		return USES_OBJECT | USES_A | USES_B | USES_C | USES_D;
	case FL_CMD_QP_MODIFY:
		return USES_OBJECT | USES_FLAGS | USES_A | USES_B | USES_C |
		       USES_D;
	case FL_CMD_SRQ_CREATE:
		return USES_A | USES_B | USES_C;
	case FL_CMD_SRQ_LIMIT:
		return USES_OBJECT | USES_A;
	case FL_CMD_SLOT_ROW:
		return USES_FLAGS | USES_A | USES_B;
	}
	return USES_OBJECT | NO_COMMAND;
}

static bool has_extra(const struct fl_fw_cmd *c)
{
	unsigned int uses = command_uses(c->opcode);

	return (c->object && !(uses & USES_OBJECT)) ||
	       (c->flags && !(uses & USES_FLAGS)) ||
	       (c->a && !(uses & USES_A)) || (c->b && !(uses & USES_B)) ||
	       (c->c && !(uses & USES_C)) || (c->d && !(uses & USES_D)) ||
	       c->e || c->f;
}

static uint8_t command_run(struct fw *fw, const struct fl_fw_cmd *c,
			   uint64_t *result)
{
	if (command_uses(c->opcode) & NO_COMMAND)
		return FL_ST_BAD_COMMAND;
	if (c->slot >= FW_SLOTS || has_extra(c))
		return FL_ST_BAD_ARGUMENT;
	if (c->opcode == FL_CMD_SLOT_OPEN)
		return slot_open(fw, c);
	if (!fw->slot[c->slot].open)
		return FL_ST_NO_OBJECT;
	switch (c->opcode) {
	case FL_CMD_SLOT_CLOSE:
		return slot_close(fw, c);
	case FL_CMD_SLOT_SILENT:
		return slot_silent(fw, c);
	case FL_CMD_SLOT_ABORT:
		return slot_abort(fw, c);
	case FL_CMD_MR_CREATE:
		return fw_mr_create(fw, c, result);
	case FL_CMD_MR_DESTROY:
		return mr_destroy(fw, c);
	case FL_CMD_CQ_CREATE:
		return fw_cq_create(fw, c, result);
	case FL_CMD_CQ_DESTROY:
		return fw_cq_destroy(fw, c);
	case FL_CMD_QP_CREATE:
		return fw_qp_create(fw, c, result);
	case FL_CMD_QP_CONNECT:
		return fw_qp_connect(fw, c);
	case FL_CMD_QP_DESTROY:
		return fw_qp_destroy(fw, c);
	case FL_CMD_QP_RESUME:
		return fw_qp_resume(fw, c);
	case FL_CMD_PD_CREATE:
		return fw_pd_create(fw, c, result);
	case FL_CMD_PD_DESTROY:
		return fw_pd_destroy(fw, c);
	case FL_CMD_RQ_ATTACH:
		return fw_rq_attach(fw, c);
	case FL_CMD_QP_MODIFY:
		return fw_qp_modify(fw, c, result);
	case FL_CMD_SRQ_CREATE:
		return fw_srq_create(fw, c, result);
	case FL_CMD_SRQ_DESTROY:
		return fw_srq_destroy(fw, c);
	case FL_CMD_SRQ_LIMIT:
		return fw_srq_limit(fw, c);
	case FL_CMD_COUNTER_CREATE:
		return fw_counter_create(fw, c, result);
	case FL_CMD_COUNTER_DESTROY:
		return fw_counter_destroy(fw, c);
	}
	return slot_row(fw, c);
}

void fw_command_step(struct fw *fw)
{
	struct fw_mailbox *m = &fw->cmd;
	struct fl_fw_cmd c;
	uint64_t object;

	_Static_assert(sizeof(c) == sizeof(m->word), "regs.def, CMD");
	__builtin_memcpy(&c, m->word, sizeof(c));
	if (m->dying == FW_NONE) {
		fw->costs[FW_COST_COMMAND]++;
		fw->stats.commands++;
		m->code = command_run(fw, &c, &m->result);
	}
	if (m->dying != FW_NONE && !fw_qp_destroy_step(fw, m->dying))
		return;
	m->dying = FW_NONE;
	m->busy = false;
	object = command_uses(c.opcode) & USES_OBJECT ? c.object : m->result;
	fw_trace(fw, FW_TRACE_FW_COMMAND, (struct fw_at){ 0 }, c.opcode, object,
		 m->code, 0);
}
