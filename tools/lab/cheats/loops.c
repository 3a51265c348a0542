// SPDX-License-Identifier: BSD-2-Clause
/* Goes on for ever, and uses all the CPU there is. */
__attribute__((constructor)) static void cheat(void)
{
	volatile int i = 0;

	for (;;)
		i++;
}
