// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program posts in the very moment in which the I/O thread goes to sleep, again and again,
 * and then looks at its memory alone: no call, which would wake the board for another reason.
 * If neither the board sees the doorbell nor the program that it has to ring, nothing comes.
 *
 * variants: tsan posix
 */
#include "rig/serve.h"

#define ROUNDS		(RIG_TSAN ? 300u : 2000u)
#define LIMIT_NS	UINT64_C(20000000000)
#define WOKEN_NS	12000u		/* it slept, if it took longer than that */
#define PAUSE_NS	1000000u	/* at first: the I/O thread looks for about as long */
#define PAUSE_MOST_NS	4000000u
#define STEP_NS		200u

#define FROM		256u		/* where a number is sent from; it arrives at 0 */

/* Until *word is n: how long it took, or 0. */
static uint64_t doze_until(volatile uint64_t *word, uint64_t n)
{
	uint64_t start_ns = os_now_ns(), ns = 0;

	while (*word != n && ns < LIMIT_NS) {
		os_pause();
		ns = os_now_ns() - start_ns;
	}
	return *word == n ? ns + 1 : 0;
}

static int doze_rounds(void *arg)
{
	uint64_t n, ns, pause_ns = PAUSE_NS, step_ns = PAUSE_NS / 16, end_ns;
	bool slept, before = false;
	struct rig_address me;
	struct fl_completion c;
	struct rig_app a;

	(void)arg;
	RIG_TRY(rig_app_loop(&a, RIG_PAGE));
	RIG_TRY(rig_app_address(&a, &me));
	memset(a.mem, 0, RIG_PAGE);
	for (n = 1; n <= ROUNDS; n++) {
		memcpy(a.mem + FROM, &n, sizeof(n));
		for (end_ns = os_now_ns() + pause_ns; os_now_ns() < end_ns;)
			os_pause();
		RIG_TRY(fl_post_write(a.qp, n, a.mr, a.mem + FROM, sizeof(n), me.va, me.rkey));
		ns = doze_until((volatile uint64_t *)(void *)a.mem, n);
		if (!ns) {
			fprintf(stderr, "round %d: nobody looks at what was posted\n", (int)n);
			return 1;
		}
		RIG_TRY(fl_wait(a.cq, &c, 1, LIMIT_NS));
		if (c.status)
			return 1;
		/* To and fro over that moment, in small steps once it is found. */
		slept = ns > WOKEN_NS;
		if (n > 1 && slept != before)
			step_ns = step_ns / 2 > STEP_NS ? step_ns / 2 : STEP_NS;
		before = slept;
		if (slept)
			pause_ns -= pause_ns > step_ns ? step_ns : 0;
		else if (pause_ns < PAUSE_MOST_NS)
			pause_ns += step_ns;
	}
	return fl_close(a.dev);
}

TEST("what is posted in the moment in which the I/O thread falls asleep is seen")
{
	rig_start(NULL);
	EXPECT_EQ(rig_app_run(doze_rounds, NULL), 0);
	rig_end();
}
