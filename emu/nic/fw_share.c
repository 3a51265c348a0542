// SPDX-License-Identifier: BSD-2-Clause
/*
 * How many contexts a queue pair may have, and all those of a process together. When it has
 * fewer than before, those that had to wait for that are looked at again.
 */
#include "nic/fw_internal.h"

/*
 * All queue pairs of a process together. When others have a slot they are left some, and
 * more as long as a block of this one waits for a page: who knows how long the process
 * lets it wait.
 */
bool fw_sched_slot_may(const struct fw *fw, uint32_t has, uint32_t waiting)
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

	/* As in fw_sched_may(). */
	return (!q->job_waiting || q->job_inflight < fw->cfg.waiting_share) &&
	       fw_sched_slot_may(fw, s->jobs, s->jobs_waiting);
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

	/* A context that waits for a page does not collect what others could use. */
	if (q->waiting && q->inflight >= fw->cfg.waiting_share)
		return false;
	if (fw->active_count < 2)
		return q->inflight < most;
	/* With others about, leave them something to begin with at once. */
	most = most > FW_RESERVE ? most - FW_RESERVE : 1;
	return q->inflight < most;
}
