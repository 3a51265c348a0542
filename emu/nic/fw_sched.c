// SPDX-License-Identifier: BSD-2-Clause
/*
 * The scheduler: who gets the next free context.
 *
 * Queue pairs take turns, one block each. Requests and READ answers take turns
 * too, and neither may take the last contexts from the other: if requests
 * could, two boards that read from each other would wait for ever for each
 * other's answers. Nor may a process take them all from the others, however many
 * queue pairs it has.
 */
#include "nic/fw_internal.h"

static bool issue_request(struct fw *fw)
{
	struct fw_slot *s;

	if (fw->request_ctxs >= fw->contexts - FW_RESERVE)
		return false;
	while (fw->send.words) {
		uint16_t n = (uint16_t)fw_bits_next(&fw->send, fw->send_last);

		/* It was alone when it was put into the set. */
		if (!fw_halt_due(&fw->qp[n]) && !fw_sched_may(fw, &fw->qp[n])) {
			fw_bits_clear(&fw->send, n);
			continue;
		}
		s = &fw->slot[fw->qp[n].slot];
		if (!fw_sched_slot_may(fw, s->requests, s->requests_waiting)) {
			fw_bits_clear(&fw->send, n);
			fw_bits_set(&s->held, n);
			continue;
		}
		fw->send_last = n;
		if (fw_halt_due(&fw->qp[n]))
			fw_halt_ask(fw, n);
		else
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
