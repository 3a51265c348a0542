// SPDX-License-Identifier: BSD-2-Clause
/*
 * Timers: one deadline for each context that waits for a peer, transmit and
 * receive.
 *
 * alarm_ns is never later than the earliest deadline. It may be too early,
 * since stopping a timer does not search for the next one; the alarm then rings
 * for nothing and is set again. This makes starting and stopping cheap, and
 * almost every timer is stopped.
 */
#include "nic/fw_internal.h"

void fw_timer_alarm(struct fw *fw, uint64_t when_ns)
{
	if (when_ns == fw->alarm_ns)
		return;
	fw->alarm_ns = when_ns;
	fw->env.alarm(fw->env.ctx, when_ns);
}

/* A timer was stopped: perhaps the last one. */
static void alarm_rest(struct fw *fw)
{
	if (!fw->timed && !fw->rx_timed && !fw->jobs_queued.words &&
	    !fw->tx_elder)
		fw_timer_alarm(fw, FW_NEVER);
}

void fw_timer_start(struct fw *fw, struct fw_ctx *c, uint64_t after_ns)
{
	uint64_t when = fw->now_ns + after_ns;

	if (when < after_ns)
		when = FW_NEVER - 1;
	c->deadline_ns = when;
	fw->timed |= 1u << (c - fw->ctx);
	if (when < fw->alarm_ns)
		fw_timer_alarm(fw, when);
}

void fw_timer_stop(struct fw *fw, struct fw_ctx *c)
{
	fw->timed &= ~(1u << (c - fw->ctx));
	alarm_rest(fw);
}

static void rx_start(struct fw *fw, uint32_t rxc, uint64_t after_ns)
{
	struct fw_rx *r = &fw->rx[rxc];

	r->deadline_ns = fw->now_ns + after_ns;
	fw->rx_timed |= 1u << rxc;
	if (r->deadline_ns < fw->alarm_ns)
		fw_timer_alarm(fw, r->deadline_ns);
}

/*
 * A sender that gives up says nothing. It has done so for certain when it has
 * been silent for all its tries; only then the cells that came are thrown away.
 */
void fw_timer_collect(struct fw *fw, uint32_t rxc)
{
	rx_start(fw, rxc, (fw->cfg.tries + 2) * fw->cfg.timeout_ns);
}

void fw_timer_hold(struct fw *fw, uint32_t rxc)
{
	rx_start(fw, rxc, fw->cfg.timeout_ns / 2);
}

void fw_timer_collect_stop(struct fw *fw, uint32_t rxc)
{
	fw->rx_timed &= ~(1u << rxc);
	alarm_rest(fw);
}

void fw_timer_elder(struct fw *fw)
{
	if (fw->tx_elder_until_ns < fw->alarm_ns)
		fw_timer_alarm(fw, fw->tx_elder_until_ns);
}

/* A peer that still wants its READ asks again before. */
void fw_timer_job(struct fw *fw, uint32_t n)
{
	struct fw_job *j = &fw->job[n];

	j->deadline_ns = fw->now_ns +
			 (fw->cfg.tries + 2ull) * fw->cfg.fault_timeout_ns;
	if (j->deadline_ns < fw->alarm_ns)
		fw_timer_alarm(fw, j->deadline_ns);
}
