// SPDX-License-Identifier: BSD-2-Clause
/* Tries to end the judge, and all others of its user. */
#include <signal.h>
#include <unistd.h>

__attribute__((constructor)) static void cheat(void)
{
	kill(getppid(), SIGKILL);
	kill(0, SIGKILL);
}
