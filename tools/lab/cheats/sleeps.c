// SPDX-License-Identifier: BSD-2-Clause
/* Never answers, and uses nothing. */
#include <unistd.h>

__attribute__((constructor)) static void cheat(void)
{
	for (;;)
		pause();
}
