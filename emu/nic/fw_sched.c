// SPDX-License-Identifier: BSD-2-Clause
/*
 * The scheduler: who gets the next free context.
 *
 * Queue pairs take turns, one block each. Requests and READ answers take turns
 * too, and neither may take the last contexts from the other: if requests
 * could, two boards that read from each other would wait for ever for each
 * other's answers.
 */
#include "nic/fw_internal.h"

bool fw_sched_may(const struct fw *fw, const struct fw_qp *q)
{
	uint32_t most = fw->contexts - FW_RESERVE;

	/* Who waits for a page does not collect what others could use. */
	if (q->waiting && q->inflight >= fw->cfg.waiting_share)
		return false;
	if (fw->active_count < 2)
		return q->inflight < most;
	/* With others about, leave them something to begin with at once. */
	most = most > FW_RESERVE ? most - FW_RESERVE : 1;
	return q->inflight < most;
}

static bool issue_request(struct fw *fw)
{
	if (fw->request_ctxs >= fw->contexts - FW_RESERVE)
		return false;
	while (fw->send.words) {
		uint16_t n = (uint16_t)fw_bits_next(&fw->send, fw->send_last);

		/* It was alone when it was put into the set. */
		if (!fw_sched_may(fw, &fw->qp[n])) {
			fw_bits_clear(&fw->send, n);
			continue;
		}
		fw->send_last = n;
		fw_request_issue(fw, n);
		return true;
	}
	return false;
}

static bool issue_job(struct fw *fw)
{
	return fw->job_ctxs < fw->contexts - FW_RESERVE && fw_job_issue(fw);
}

bool fw_sched_step(struct fw *fw)
{
	bool issued;

	if (!fw->jobs_queued.words)
		return issue_request(fw);
	if (fw->job_turn)
		issued = issue_job(fw) || issue_request(fw);
	else
		issued = issue_request(fw) || issue_job(fw);
	fw->job_turn = !fw->job_turn;
	return issued;
}
