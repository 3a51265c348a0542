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

/*
 * All queue pairs of a process together. When others have a slot they are left some, and
 * more as long as a block of this one waits for a page: who knows how long the process
 * lets it wait.
 */
static bool slot_may(const struct fw *fw, uint32_t has, uint32_t waiting)
{
	uint32_t most = fw->contexts - FW_RESERVE;

	if (fw->slots_open < 2)
		return true;
	most = most > FW_RESERVE ? most - FW_RESERVE : 1;
	if (waiting && most > 1)
		most /= 2;
	return has < most;
}

bool fw_sched_may_answer(const struct fw *fw, const struct fw_qp *q)
{
	const struct fw_slot *s = &fw->slot[q->slot];

	/* As below. */
	return (!q->job_waiting || q->job_inflight < fw->cfg.waiting_share) &&
	       slot_may(fw, s->jobs, s->jobs_waiting);
}

void fw_sched_release(struct fw *fw, struct fw_slot *s)
{
	uint32_t left = s->held.words, w;

	for (; left; left &= left - 1) {
		w = (uint32_t)__builtin_ctz(left);
		fw->send.word[w] |= s->held.word[w];
		s->held.word[w] = 0;
	}
	fw->send.words |= s->held.words;
	s->held.words = 0;
}

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
		if (!slot_may(fw, s->requests, s->requests_waiting)) {
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
