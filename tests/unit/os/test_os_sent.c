// SPDX-License-Identifier: BSD-2-Clause
/*
 * SIGSEGV that somebody has sent, and no access has raised: it is nobody's page, and goes to
 * whoever was there before, as if the handler for pages were not there. variants: posix
 */
#include <signal.h>

#include "rig/os.h"

static volatile sig_atomic_t sent, sent_info, sent_nested;

static bool sent_fix(uintptr_t addr, int write)
{
	(void)addr;
	(void)write;
	return false;
}

static void sent_count(int sig)
{
	CHILD_WANT(sig == SIGSEGV);
	sent++;
}

static void sent_count_info(int sig, siginfo_t *si, void *context)
{
	CHILD_WANT(sig == SIGSEGV && context);
	CHILD_WANT(si->si_pid == getpid());
	sent_info++;
}

static void sent_again(int sig)
{
	if (!sent_nested++)
		kill(getpid(), sig);
	sent++;
}

/* The handler that is there when the one for pages comes. */
static void sent_begin(struct sigaction sa)
{
	CHILD_WANT(!sigaction(SIGSEGV, &sa, NULL));
	CHILD_WANT(!os_fault_add(sent_fix));
}

static void sent_ignored(void)
{
	sent_begin((struct sigaction){ .sa_handler = SIG_IGN });
	kill(getpid(), SIGSEGV);
	CHILD_WANT(!sigqueue(getpid(), SIGSEGV, (union sigval){ .sival_int = 3 }));
	os_fault_remove(sent_fix);
	kill(getpid(), SIGSEGV);
}

static void sent_default(void)
{
	sent_begin((struct sigaction){ .sa_handler = SIG_DFL });
	kill(getpid(), SIGSEGV);
}

static void sent_queued(void)
{
	sent_begin((struct sigaction){ .sa_handler = SIG_DFL });
	sigqueue(getpid(), SIGSEGV, (union sigval){ .sival_int = 3 });
}

TEST("what was sent is ignored where it was ignored, and kills where it killed")
{
	EXPECT_EXIT(in_child(sent_ignored), 0);
	EXPECT_DEATH(in_child(sent_default), SIGSEGV);
	EXPECT_DEATH(in_child(sent_queued), SIGSEGV);
}

static void sent_handled(void)
{
	sent_begin((struct sigaction){ .sa_handler = sent_count });
	kill(getpid(), SIGSEGV);
	kill(getpid(), SIGSEGV);
	CHILD_WANT(sent == 2);
	os_fault_remove(sent_fix);
	kill(getpid(), SIGSEGV);
	CHILD_WANT(sent == 3);
}

static void sent_handled_info(void)
{
	sent_begin((struct sigaction){ .sa_sigaction = sent_count_info, .sa_flags = SA_SIGINFO });
	kill(getpid(), SIGSEGV);
	CHILD_WANT(sent_info == 1);
}

TEST("a handler of either kind gets what was sent, each time")
{
	EXPECT_EXIT(in_child(sent_handled), 0);
	EXPECT_EXIT(in_child(sent_handled_info), 0);
}

static void sent_deferred(void)
{
	sent_begin((struct sigaction){ .sa_handler = sent_again });
	kill(getpid(), SIGSEGV);
	/* The second came when the first had ended. */
	CHILD_WANT(sent == 2 && sent_nested == 2);
}

static void sent_nodefer(void)
{
	sent_begin((struct sigaction){ .sa_handler = sent_again, .sa_flags = SA_NODEFER });
	kill(getpid(), SIGSEGV);
	CHILD_WANT(sent == 2 && sent_nested == 2);
}

TEST("one that comes while its handler runs waits, or not, as the handler wants it")
{
	EXPECT_EXIT(in_child(sent_deferred), 0);
	EXPECT_EXIT(in_child(sent_nodefer), 0);
}

static void sent_once(void)
{
	sent_begin((struct sigaction){ .sa_handler = sent_count,
				       .sa_flags = (int)SA_RESETHAND });
	kill(getpid(), SIGSEGV);
	CHILD_WANT(sent == 1);
	kill(getpid(), SIGSEGV);
}

static void sent_once_removed(void)
{
	struct sigaction now;

	sent_begin((struct sigaction){ .sa_handler = sent_count,
				       .sa_flags = (int)SA_RESETHAND });
	kill(getpid(), SIGSEGV);
	os_fault_remove(sent_fix);
	CHILD_WANT(sent == 1);
	CHILD_WANT(!sigaction(SIGSEGV, NULL, &now));
	CHILD_WANT(now.sa_handler == SIG_DFL);
}

TEST("a handler for one time has one, also when pages are handled no more")
{
	EXPECT_DEATH(in_child(sent_once), SIGSEGV);
	EXPECT_EXIT(in_child(sent_once_removed), 0);
}
