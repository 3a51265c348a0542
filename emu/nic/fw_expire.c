// SPDX-License-Identifier: BSD-2-Clause
/* What a deadline that has passed means: for a block, a READ job, a receive context. */
#include "nic/fw_internal.h"

/* Returns the earliest deadline that is left. */
static uint64_t job_step(struct fw *fw)
{
	struct fw_bits left = fw->jobs_queued;
	uint64_t next = FW_NEVER;

	while (left.words) {
		uint32_t n = fw_bits_next(&left, FW_BITS_MAX - 1);

		fw_bits_clear(&left, n);
		if (fw->job[n].deadline_ns <= fw->now_ns)
			fw_job_forget(fw, n);
		else if (fw->job[n].deadline_ns < next)
			next = fw->job[n].deadline_ns;
	}
	return next;
}

static void end_collect(struct fw *fw, uint32_t rxc)
{
	struct fw_rx *r = &fw->rx[rxc];
	uint32_t base = NIC_RXC_BASE(rxc), state, word;

	fw->rx_timed &= ~(1u << rxc);
	if (fw->rx_held >> rxc & 1) {
		fw_rx_put_off(fw, rxc);
		return;
	}
	state = (fw_read32(fw, base + NIC_RXC_STATE) &
		 NIC_RXC_STATE_STATE_MASK) >> NIC_RXC_STATE_STATE_SHIFT;
	word = fw_read32(fw, base + NIC_RXC_WORD);
	/* Almost always the block has landed long ago. */
	if (state != FL_RX_COLLECT || word >> 8 != r->word >> 8)
		return;
	/* The sender is trying still, and its cells are kept. */
	if (word != r->word) {
		r->word = word;
		fw_timer_collect(fw, rxc);
		return;
	}
	fw_write32(fw, base + NIC_RXC_VERDICT,
		   (uint32_t)FL_ST_NO_ANSWER << NIC_RXC_VERDICT_CODE_SHIFT |
			   (uint32_t)r->serial << NIC_RXC_VERDICT_SERIAL_SHIFT);
}

/* Returns the earliest deadline that is left. */
static uint64_t collect_step(struct fw *fw)
{
	uint32_t left = fw->rx_timed;
	uint64_t next = FW_NEVER;

	for (; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);

		if (fw->rx[i].deadline_ns <= fw->now_ns)
			end_collect(fw, i);
		/* It may have begun anew: a block that was held is accepted. */
		if (fw->rx_timed >> i & 1 && fw->rx[i].deadline_ns < next)
			next = fw->rx[i].deadline_ns;
	}
	return next;
}

static void timer_expire(struct fw *fw, struct fw_ctx *c)
{
	uint32_t n = (uint32_t)(c - fw->ctx), base = NIC_CTX_BASE(n), v, state;
	struct fw_at at = { c->xfer, c->block, c->cause };

	fw_timer_stop(fw, c);
	v = fw_read32(fw, base + NIC_CTX_STATE);
	state = (v & NIC_CTX_STATE_STATE_MASK) >> NIC_CTX_STATE_STATE_SHIFT;
	/*
	 * It has moved on this instant: a note says so, and starts what is due.
	 */
	if (state != FL_TX_FLYING && state != FL_TX_DSTFAULT)
		return;
	/* The peer may wait for earlier requests that have ended. */
	if (c->owner == FW_CTX_REQUEST && c->op == FL_OP_READ && c->behind &&
	    c->wr == fw->qp[c->qp].wr_head) {
		fw_ctx_start_again(fw, c);
		return;
	}
	if (c->put_off) {
		c->put_off = false;
		c->cause = fw_trace(fw, FW_TRACE_FW_AGAIN, at, n, FL_ST_BUSY, 0,
				    0);
		fw_write32(fw, base + NIC_CTX_CTRL, NIC_CTX_CTRL_EXPIRE);
		return;
	}
	c->tries++;
	c->asked = (uint8_t)(1 + ((v & NIC_CTX_STATE_ATTEMPT_MASK) >>
				  NIC_CTX_STATE_ATTEMPT_SHIFT));
	c->unsure = true;
	fw->stats.timeouts++;
	c->cause = fw_trace(fw, FW_TRACE_FW_TIMEOUT, at, n, c->tries, 0, 0);
	if (c->tries > fw->cfg.tries)
		fw_ctx_kill(fw, c, FL_ST_NO_ANSWER);
	else
		fw_write32(fw, base + NIC_CTX_CTRL, NIC_CTX_CTRL_EXPIRE);
}

bool fw_timer_step(struct fw *fw)
{
	uint32_t left = fw->timed;
	uint64_t next = collect_step(fw), jobs = job_step(fw);

	if (fw->tx_elder && fw->now_ns >= fw->tx_elder_until_ns)
		fw_ctx_elder_late(fw);
	if (fw->tx_elder && fw->tx_elder_until_ns < next)
		next = fw->tx_elder_until_ns;
	if (jobs < next)
		next = jobs;
	while (left) {
		struct fw_ctx *c = &fw->ctx[__builtin_ctz(left)];

		if (c->deadline_ns <= fw->now_ns) {
			timer_expire(fw, c);
			return true;
		}
		if (c->deadline_ns < next)
			next = c->deadline_ns;
		left &= left - 1;
	}
	fw_timer_alarm(fw, next);
	return false;
}
