// SPDX-License-Identifier: BSD-2-Clause
/* As many processes as there can be. */
#include <unistd.h>

__attribute__((constructor)) static void cheat(void)
{
	int i;

	for (i = 0; i < 6; i++)
		(void)!fork();
}
