// SPDX-License-Identifier: BSD-2-Clause
/*
 * The registers of the firmware: the driver's mailbox and the doorbell pages.
 */
#include "nic/fw_internal.h"

#define CMD_END	(NIC_FW_CMD(0) + 4 * NIC_FW_CMD_COUNT)

/* One 32-bit word of the FW page; a 64-bit register is two. */
static int mailbox_read(const struct fw *fw, uint32_t reg, uint32_t *v)
{
	if (reg >= NIC_FW_CMD(0) && reg < CMD_END) {
		*v = fw->cmd.word[(reg - NIC_FW_CMD(0)) / 4];
		return 0;
	}
	switch (reg) {
	case NIC_FW_ID:
		*v = NIC_FW_ID_RESET;
		return 0;
	case NIC_FW_LIMITS0:
		*v = FW_QPS << NIC_FW_LIMITS0_QPS_SHIFT |
		     FW_CQS << NIC_FW_LIMITS0_CQS_SHIFT;
		return 0;
	case NIC_FW_LIMITS1:
		*v = FW_MRS << NIC_FW_LIMITS1_MRS_SHIFT |
		     FW_SLOTS << NIC_FW_LIMITS1_SLOTS_SHIFT;
		return 0;
	case NIC_FW_NODE:
		*v = fw->cfg.node;
		return 0;
	case NIC_FW_EQ_BASE:
		*v = (uint32_t)fw->eq.base;
		return 0;
	case NIC_FW_EQ_BASE + 4:
		*v = (uint32_t)(fw->eq.base >> 32);
		return 0;
	case NIC_FW_EQ_SIZE:
		*v = fw->eq.size;
		return 0;
	case NIC_FW_EQ_CONS:
		*v = fw->eq.cons;
		return 0;
	case NIC_FW_IRQ_ENABLE:
		*v = fw->eq.irq_enable;
		return 0;
	case NIC_FW_IRQ_STATUS:
		*v = fw_event_causes(fw);
		return 0;
	case NIC_FW_FEATURES:
		*v = fw->cfg.features;
		return 0;
	case NIC_FW_CMD_STATUS:
		*v = (fw->cmd.busy ? NIC_FW_CMD_STATUS_BUSY : 0) |
		     (uint32_t)fw->cmd.code << NIC_FW_CMD_STATUS_CODE_SHIFT;
		return 0;
	case NIC_FW_CMD_RESULT:
		*v = (uint32_t)fw->cmd.result;
		return 0;
	case NIC_FW_CMD_RESULT + 4:
		*v = (uint32_t)(fw->cmd.result >> 32);
		return 0;
	}
	return -FW_EINVAL;
}

static bool is_wide(uint32_t reg)
{
	return reg == NIC_FW_EQ_BASE || reg == NIC_FW_CMD_RESULT;
}

int fw_reg_read(struct fw *fw, uint32_t off, unsigned int size, uint64_t *value)
{
	uint32_t reg = off - NIC_FW_BASE, lo = 0, hi = 0;

	*value = 0;
	if (off < NIC_FW_BASE || reg >= 0x1000 || reg % 4)
		return -FW_EINVAL;
	if (size != 4 && !(size == 8 && is_wide(reg)))
		return -FW_EINVAL;
	if (mailbox_read(fw, reg, &lo))
		return -FW_EINVAL;
	if (size == 8 && mailbox_read(fw, reg + 4, &hi))
		return -FW_EINVAL;
	*value = (uint64_t)hi << 32 | lo;
	return 0;
}

static int base_write(struct fw *fw, uint64_t base)
{
	/* regs.def, EQ_BASE: 64-byte aligned */
	if (base % 64)
		return -FW_EINVAL;
	fw->eq.base = base;
	return 0;
}

static int go_write(struct fw *fw)
{
	if (fw->cmd.busy)
		return -FW_EINVAL;
	fw->cmd.busy = true;
	fw->cmd.code = FL_ST_OK;
	fw->cmd.result = 0;
	fw->env.kick(fw->env.ctx);
	return 0;
}

static int mailbox_write(struct fw *fw, uint32_t reg, uint32_t v)
{
	uint64_t base = fw->eq.base;

	if (reg >= NIC_FW_CMD(0) && reg < CMD_END) {
		if (fw->cmd.busy)
			return -FW_EINVAL;
		fw->cmd.word[(reg - NIC_FW_CMD(0)) / 4] = v;
		return 0;
	}
	switch (reg) {
	case NIC_FW_EQ_BASE:
		return base_write(fw, base >> 32 << 32 | v);
	case NIC_FW_EQ_BASE + 4:
		return base_write(fw, (uint64_t)v << 32 | (uint32_t)base);
	case NIC_FW_EQ_SIZE:
		return fw_event_start(fw, v);
	case NIC_FW_EQ_CONS:
		return fw_event_consumed(fw, v);
	case NIC_FW_IRQ_ENABLE:
		/* Without a table there is nothing to be missed in it. */
		if (v & ~(NIC_FW_IRQ_ENABLE_EVENT |
			  (fw->cfg.features & NIC_FW_FEATURES_TABLE ?
				   NIC_FW_IRQ_ENABLE_FAULT : 0)))
			return -FW_EINVAL;
		fw->eq.irq_enable = v;
		fw_event_line(fw);
		return 0;
	case NIC_FW_CMD_GO:
		return go_write(fw);
	}
	return -FW_EINVAL;
}

static int sq_doorbell(struct fw *fw, uint32_t slot, uint32_t bell, uint16_t tail)
{
	struct fw_qp *q = fw_qp_named(fw, slot, bell);
	uint32_t n = FW_QP_PLACE(bell);
	uint16_t ahead, known;
	uint64_t cause;

	if (!q)
		return -FW_EINVAL;
	ahead = (uint16_t)(tail - q->head);
	known = (uint16_t)(q->tail - q->head);
	if (ahead > 1u << q->size_log2) {
		/* More than the queue holds: its owner has lost count. */
		fw->stats.bad_wqes++;
		cause = fw_trace(fw, FW_TRACE_FW_WQE_BAD, (struct fw_at){ 0 },
				 fw_qp_number(q, n), FL_ST_BAD_ENTRY, tail, 0);
		fw_qp_break(fw, (uint16_t)n, FL_ST_BAD_ENTRY, cause);
	} else if (ahead > known) {
		q->tail = tail;
		fw_resident_serve(fw, (uint16_t)n);
		/* All of it is done already? */
		if (fw->env.at_once && !fw_due(fw, 0))
			return 0;
	}
	fw->env.kick(fw->env.ctx);
	return 0;
}

/* A page belongs to one domain slot: it reaches that slot's objects only. */
static int doorbell_write(struct fw *fw, uint32_t off, uint32_t v)
{
	uint32_t slot = off / NIC_DB_STRIDE;
	uint16_t count = (uint16_t)(v >> 16);

	switch (off % NIC_DB_STRIDE) {
	case NIC_DB_SQ:
		return sq_doorbell(fw, slot, v & NIC_DB_SQ_QPN_MASK, count);
	case NIC_DB_CQ_ARM:
		return fw_cq_arm(fw, slot, v & NIC_DB_CQ_ARM_CQN_MASK, count);
	case NIC_DB_CQ_ARM_SOLICITED:
		return fw_cq_arm_solicited(fw, slot,
					   v & NIC_DB_CQ_ARM_SOLICITED_CQN_MASK,
					   count);
	case NIC_DB_RQ:
		return fw_rq_doorbell(fw, slot, v & NIC_DB_RQ_QPN_MASK, count);
	case NIC_DB_SRQ:
		return fw_srq_doorbell(fw, slot, v & NIC_DB_SRQ_SRQN_MASK,
				       count);
	case NIC_DB_COUNTER_ARM:
		return fw_counter_arm(fw, slot,
				      v & NIC_DB_COUNTER_ARM_COUNTER_MASK, count);
	case NIC_DB_CQ_CONS:
		return fw_cq_consumed(fw, slot, v & NIC_DB_CQ_CONS_CQN_MASK,
				      count);
	}
	return -FW_EINVAL;
}

static int reg_write(struct fw *fw, uint32_t off, unsigned int size,
		     uint64_t value)
{
	uint32_t reg = off - NIC_FW_BASE, db = off - NIC_DB_BASE(0);

	if (off % 4)
		return -FW_EINVAL;
	if (size == 8 && off == NIC_FW_BASE + NIC_FW_EQ_BASE)
		return base_write(fw, value);
	if (size != 4 || value >> 32)
		return -FW_EINVAL;
	if (db < NIC_DB_STRIDE * NIC_DB_COUNT)
		return doorbell_write(fw, db, (uint32_t)value);
	if (reg < 0x1000)
		return mailbox_write(fw, reg, (uint32_t)value);
	return -FW_EINVAL;
}

int fw_reg_write(struct fw *fw, uint32_t off, unsigned int size, uint64_t value)
{
	int error = reg_write(fw, off, size, value);

	if (error)
		fw_trace(fw, FW_TRACE_ENG_BAD_REG, (struct fw_at){ 0 }, off,
			 value, 0, 0);
	return error;
}
