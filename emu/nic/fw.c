// SPDX-License-Identifier: BSD-2-Clause
/* The firmware's front door: start, one step at a time, counters. */
#include "nic/fw_internal.h"

unsigned long fw_size(void)
{
	return sizeof(struct fw);
}

static uint32_t fw_param(uint32_t value, uint32_t mask, uint32_t shift)
{
	return (value & mask) >> shift;
}

struct fw *fw_init(void *mem, const struct fw_config *cfg,
		   const struct fw_env *env)
{
	uint32_t value, contexts, log2;
	struct fw *fw = mem;
	uint64_t param64 = 0;

	if (cfg->node >= FW_NODES || !cfg->timeout_ns ||
	    !cfg->fault_timeout_ns || !cfg->busy_ns)
		return NULL;
	env->reg_read(env->engine, NIC_ENG_BASE + NIC_ENG_PARAM, 4, &param64);
	value = (uint32_t)param64;
	contexts = fw_param(value, NIC_ENG_PARAM_NCTX_MASK,
			    NIC_ENG_PARAM_NCTX_SHIFT);
	log2 = fw_param(value, NIC_ENG_PARAM_BLOCK_LOG2_MASK,
			NIC_ENG_PARAM_BLOCK_LOG2_SHIFT);
	if (contexts < 4 || contexts > FW_CTXS || log2 < 12 || log2 > 16)
		return NULL;
	__builtin_memset(fw, 0, offsetof(struct fw, wr));
	fw->cfg = *cfg;
	if (!fw->cfg.nodes || fw->cfg.nodes > FW_NODES)
		fw->cfg.nodes = FW_NODES;
	fw->env = *env;
	fw->contexts = contexts;
	fw->rx_contexts = fw_param(value, NIC_ENG_PARAM_NRXC_MASK,
				   NIC_ENG_PARAM_NRXC_SHIFT);
	fw->free = (1u << contexts) - 1;
	fw->block_log2 = (uint8_t)log2;
	fw->block_bytes = 1u << log2;
	fw->alarm_ns = FW_NEVER;
	fw->costs = fw->late;
	fw->cmd.dying = FW_NONE;
	/* So that each kind of number begins with 0. */
	fw->cq_last = FW_CQS - 1;
	fw->qp_last = FW_QPS - 1;
	fw->pd_last = FW_PDS - 1;
	fw->srq_last = FW_SRQS - 1;
	return fw;
}

/*
 * A command that destroys a queue pair takes one step for each request that is
 * still in the queue; the data path goes on meanwhile.
 */
static bool command_due(struct fw *fw)
{
	if (!fw->cmd.busy)
		return false;
	if (fw->cmd.dying == FW_NONE)
		return true;
	fw->cmd.turn = !fw->cmd.turn;
	return fw->cmd.turn;
}

void fw_engine_line(struct fw *fw, bool level)
{
	fw->event_line = level;
}

static bool step_once(struct fw *fw, uint64_t now_ns)
{
	if (command_due(fw)) {
		fw_command_step(fw);
		return true;
	}
	if (fw_event_due(fw)) {
		fw_event_step(fw);
		return true;
	}
	if ((fw->event_line && fw_ctx_step(fw)) ||
	    (fw_timer_due(fw, now_ns) && fw_timer_step(fw)) ||
	    (fw_sched_due(fw) && fw_sched_step(fw)))
		return true;
	if (fw_qp_due(fw)) {
		fw_qp_step(fw);
		return true;
	}
	return fw->cmd.busy;
}

bool fw_step(struct fw *fw, uint64_t now_ns, uint32_t costs[FW_COSTS])
{
	bool did;
	int i;

	fw->now_ns = now_ns;
	fw->costs = costs;
	did = step_once(fw, now_ns);
	for (i = 0; i < FW_COSTS; i++) {
		costs[i] += fw->late[i];
		fw->late[i] = 0;
	}
	fw->costs = fw->late;
	return did;
}

bool fw_due(const struct fw *fw, uint64_t now_ns)
{
	return fw->event_line || fw->cmd.busy || fw_event_due(fw) || fw_timer_due(fw, now_ns) ||
	       fw_sched_due(fw) || fw_qp_due(fw);
}

void fw_stats(const struct fw *fw, struct fw_stats *st)
{
	*st = fw->stats;
	st->open_slots = fw->slots_open;
}

bool fw_idle(const struct fw *fw)
{
	return fw->free == (1u << fw->contexts) - 1 && !fw->active.words &&
	       !fw->jobs_used.words && !fw->cmd.busy && !fw_event_due(fw);
}
