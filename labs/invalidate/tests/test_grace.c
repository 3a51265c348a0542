// SPDX-License-Identifier: BSD-2-Clause
/* Steps 10 to 12: grace periods, counted and of liburcu. */
#include "labs/invalidate/tests/bench.h"

static void grace_done(bool want)
{
	judge_same("is it over?", grace(LAB_GRACE_DONE, 0) ? "yes" : "no",
		   want ? "yes" : "no");
}

JUDGE(waits, "an access that is under way is waited for")
{
	grace(LAB_GRACE_NEW, 0);
	grace(LAB_GRACE_START, 0);
	grace_done(true);
	grace(LAB_GRACE_ENTER, 1);
	grace(LAB_GRACE_START, 0);
	grace_done(false);
	grace_done(false);
	grace(LAB_GRACE_EXIT, 1);
	grace_done(true);
}

JUDGE(not_later, "an access that begins later is not")
{
	grace(LAB_GRACE_NEW, 0);
	grace(LAB_GRACE_ENTER, 1);
	grace(LAB_GRACE_START, 0);
	grace(LAB_GRACE_ENTER, 0);
	grace_done(false);
	grace(LAB_GRACE_EXIT, 1);
	grace_done(true);
}

JUDGE(not_next, "nor the next one of the same channel")
{
	unsigned int i;

	grace(LAB_GRACE_NEW, 0);
	grace(LAB_GRACE_ENTER, 1);
	grace(LAB_GRACE_START, 0);
	grace_done(false);
	grace(LAB_GRACE_EXIT, 1);
	grace(LAB_GRACE_ENTER, 1);
	grace_done(true);
	for (i = 0; i < 3; i++) {
		grace(LAB_GRACE_START, 0);
		grace_done(false);
		grace(LAB_GRACE_EXIT, 1);
		grace(LAB_GRACE_ENTER, 1);
		grace_done(true);
	}
}

JUDGE(all_channels, "each of eight channels, and all of them together")
{
	unsigned int i;

	grace(LAB_GRACE_NEW, 0);
	for (i = 0; i < 8; i++) {
		grace(LAB_GRACE_ENTER, i);
		grace(LAB_GRACE_START, 0);
		grace_done(false);
		grace(LAB_GRACE_EXIT, i);
		grace_done(true);
	}
	for (i = 0; i < 8; i++)
		grace(LAB_GRACE_ENTER, i);
	grace(LAB_GRACE_START, 0);
	for (i = 0; i < 8; i++) {
		grace_done(false);
		grace(LAB_GRACE_EXIT, i);
	}
	grace_done(true);
}

JUDGE(reader_once, "a thread is registered once, and a reader in between")
{
	reader(LAB_READER_ONLINE);
	judge_equal("registered", urcu(LAB_URCU_REGISTER), 1);
	judge_equal("a reader", urcu(LAB_URCU_READER), 1);
	reader(LAB_READER_OFFLINE);
	judge_equal("a reader", urcu(LAB_URCU_READER), 0);
	reader(LAB_READER_ONLINE);
	judge_equal("registered", urcu(LAB_URCU_REGISTER), 1);
	judge_equal("a reader", urcu(LAB_URCU_READER), 1);
	reader(LAB_READER_OFFLINE);
	judge_equal("a reader", urcu(LAB_URCU_READER), 0);
	judge_equal("unregistered", urcu(LAB_URCU_UNREGISTER), 0);
}

JUDGE(reader_inside, "one board's step runs another board: a reader all the time")
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		reader(LAB_READER_ONLINE);
		judge_equal("a reader", urcu(LAB_URCU_READER), 1);
	}
	for (; i; i--) {
		judge_equal("a reader", urcu(LAB_URCU_READER), 1);
		reader(LAB_READER_OFFLINE);
	}
	judge_equal("a reader", urcu(LAB_URCU_READER), 0);
	judge_equal("registered", urcu(LAB_URCU_REGISTER), 1);
}

JUDGE(reader_thread, "another thread is registered too, and no more at its end")
{
	reader(LAB_READER_ONLINE);
	reader(LAB_READER_THREAD);
	judge_equal("registered", urcu(LAB_URCU_REGISTER), 2);
	judge_equal("unregistered", urcu(LAB_URCU_UNREGISTER), 1);
	judge_equal("a reader", urcu(LAB_URCU_READER), 1);
	reader(LAB_READER_OFFLINE);
	reader(LAB_READER_THREAD);
	judge_equal("registered", urcu(LAB_URCU_REGISTER), 3);
	judge_equal("unregistered", urcu(LAB_URCU_UNREGISTER), 2);
}

JUDGE(threads_wait, "in threads mode it is one grace period of liburcu")
{
	grace(LAB_GRACE_NEW_THREADS, 0);
	grace(LAB_GRACE_ENTER, 1);
	grace(LAB_GRACE_EXIT, 1);
	grace(LAB_GRACE_START, 0);
	judge_equal("grace periods", urcu(LAB_URCU_SYNCHRONIZE), 0);
	grace_done(true);
	judge_equal("grace periods", urcu(LAB_URCU_SYNCHRONIZE), 1);
	grace(LAB_GRACE_START, 0);
	grace_done(true);
	judge_equal("grace periods", urcu(LAB_URCU_SYNCHRONIZE), 2);
}
