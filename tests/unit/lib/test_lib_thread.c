// SPDX-License-Identifier: BSD-2-Clause
/*
 * The library's own threads, where a thread is a thread: it does its work before it is
 * joined, and without memory or without a thread nothing is left. variants: posix tsan
 */
#include <errno.h>
#include <pthread.h>

#include "rig/fail.h"
#include "sys.h"

struct work {
	pthread_t by;
	int runs;
};

static void work_run(void *arg)
{
	struct work *w = arg;

	w->by = pthread_self();
	w->runs++;
}

TEST("a thread of the library's does its work, and has done it when it is joined")
{
	struct work w = { .runs = 0 };
	void *thread = NULL;

	EXPECT_EQ(fl_sys_thread(work_run, &w, &thread), 0);
	EXPECT(thread);
	fl_sys_thread_join(thread);
	EXPECT_EQ(w.runs, 1);
	EXPECT(!pthread_equal(w.by, pthread_self()));
}

TEST("a thread that cannot be is an error, and nothing has run")
{
	struct work w = { .runs = 0 };
	void *thread = NULL;

	STEP("no memory for it");
	fail_at(FAIL_MEMORY, 1, 1, ENOMEM);
	EXPECT_EQ(fl_sys_thread(work_run, &w, &thread), -ENOMEM);
	EXPECT_EQ(fail_end(), 1);
	EXPECT(!thread);
	STEP("the system has no more threads");
	fail_at(FAIL_THREAD, 1, 1, EAGAIN);
	EXPECT_EQ(fl_sys_thread(work_run, &w, &thread), -EAGAIN);
	EXPECT_EQ(fail_end(), 1);
	EXPECT(!thread);
	EXPECT_EQ(w.runs, 0);
	STEP("and then it has");
	EXPECT_EQ(fl_sys_thread(work_run, &w, &thread), 0);
	fl_sys_thread_join(thread);
	EXPECT_EQ(w.runs, 1);
}
